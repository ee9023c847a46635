// SPDX-License-Identifier: Apache-2.0
// Frame: what host and worker send each other, one JSON line that states the sizes of the parts that follow it. The
// protocol is tools/backends/README.md. Here are both directions, since our own reference is a worker as well.
#pragma once

#include "suites/workers/backend.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace assay::suites {

inline constexpr std::size_t header_limit = std::size_t{1} << 20;
inline constexpr std::size_t part_limit = std::size_t{1} << 31;

using Sizes = std::vector<std::vector<std::size_t>>;  // per data set, the bytes of each TensorProto
std::size_t total(const Sizes& sizes);

// From the host. Each line ends in a newline.
std::string describe_line();
std::string run_line(const Request& request);

struct Incoming {
  enum class Kind { describe, run };
  Kind kind = Kind::describe;
  Request request;  // without model and sets, whose bytes follow
  std::size_t model = 0;
  Sizes sets;
};
Result<Incoming> parse_request(std::string_view line);

// From the worker.
std::string description_line(const Description& description);
std::string answer_line(std::string_view id, oracles::Outcome::Kind kind, std::string_view because, const Sizes& sets);

struct Introduction {
  Description description;
  bool replies_on_stdout = false;
};
Result<Introduction> parse_introduction(std::string_view line);
// The last line of a log, where it may be meant as a header: it begins like an object and is ended.
std::optional<std::string_view> last_object(std::string_view log);

struct AnswerHeader {
  std::string id;
  oracles::Outcome::Kind kind = oracles::Outcome::Kind::outputs;  // outputs, refused or unsupported
  std::string because;
  Sizes sets;
};
Result<AnswerHeader> parse_answer(std::string_view line);

}  // namespace assay::suites
