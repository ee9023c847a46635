// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/progress.h"

#include <cstdlib>
#include <iostream>
#include <string_view>
#include <unistd.h>

namespace assay::tools {
namespace {

constexpr std::chrono::milliseconds between_updates{100};

bool is_capable_terminal(int descriptor) {
  const char* kind = std::getenv("TERM");
  return ::isatty(descriptor) && kind && std::string_view(kind) != "dumb";
}

std::string counted(const suites::Progress& progress) {
  using oracles::State;
  std::string words;
  for (State state : {State::fail, State::below, State::refused, State::error, State::contested})
    if (const auto found = progress.states.find(state); found != progress.states.end())
      words += "  " + std::to_string(found->second) + " " + std::string(oracles::name(state));
  return words;
}

}  // namespace

ProgressLine::ProgressLine() : is_terminal_(is_capable_terminal(STDERR_FILENO)) {}

ProgressLine::~ProgressLine() {
  if (is_terminal_) std::cerr << "\r\033[K" << std::flush;
}

void ProgressLine::show(const suites::Progress& progress) {
  const auto now = Clock::now();
  if (!is_terminal_ || now - shown_ < between_updates) return;
  shown_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = static_cast<double>(progress.done) / seconds;
  const double left = static_cast<double>(progress.total - progress.done) / rate;
  std::cerr << "\r\033[K  " << progress.done << " of " << progress.total << "  " << static_cast<Int>(rate) << "/s  "
            << static_cast<Int>(left) + 1 << " s left" << counted(progress) << std::flush;
}

bool is_coloured(int descriptor) {
  const char* refused = std::getenv("NO_COLOR");
  return is_capable_terminal(descriptor) && !(refused && *refused);
}

}  // namespace assay::tools
