// SPDX-License-Identifier: Apache-2.0
#include "suites/workers/serving.h"

#include "suites/workers/frame.h"

#include <iostream>
#include <string_view>
#include <unistd.h>

namespace assay::suites {
namespace {

std::string read_part(std::size_t size) {
  std::string part(size, '\0');
  if (!std::cin.read(part.data(), static_cast<std::streamsize>(size)))
    throw InputError("assay stopped in the middle of a request");
  return part;
}

void reply(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::write(descriptor, bytes.data(), bytes.size());
    if (sent < 0) throw InputError("assay does not listen any more");
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

}  // namespace

std::string outputs_frame(std::string_view id, const std::vector<std::vector<std::string>>& sets) {
  Sizes sizes;
  std::string body;
  for (const auto& parts : sets) {
    auto& set = sizes.emplace_back();
    for (const std::string& part : parts) {
      set.push_back(part.size());
      body += part;
    }
  }
  return answer_line(id, oracles::Outcome::Kind::outputs, "", sizes) + body;
}

void serve(int descriptor, const std::string& description, const std::function<std::string(const Request&)>& answer) {
  for (std::string line; std::getline(std::cin, line);) {
    Result<Incoming> incoming = parse_request(line);
    if (!incoming) throw InputError(incoming.error());
    if (incoming->kind == Incoming::Kind::describe) {
      reply(descriptor, description);
      continue;
    }
    Request& request = (*incoming).request;
    request.model = read_part(incoming->model);
    for (const auto& sizes : incoming->sets) {
      auto& parts = request.sets.emplace_back();
      for (const std::size_t size : sizes) parts.push_back(read_part(size));
    }
    reply(descriptor, answer(request));
  }
}

}  // namespace assay::suites
