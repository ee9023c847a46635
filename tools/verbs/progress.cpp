// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <unistd.h>

namespace assay::tools {
namespace {

constexpr std::chrono::milliseconds between_updates{100};
constexpr std::chrono::seconds between_lines{30};

bool is_capable_terminal(int descriptor) {
  const char* kind = std::getenv("TERM");
  return ::isatty(descriptor) && kind && std::string_view(kind) != "dumb";
}

// Tells whether failures are shrunk when this stage is over, which takes a time that nobody knows yet.
bool leaves_failures(const suites::Progress& progress) {
  using oracles::State;
  return progress.stage == "run" && std::ranges::any_of(progress.states, [](const auto& each) {
           return each.first == State::fail || each.first == State::error;
         });
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

std::string duration_text(double seconds) {
  const auto whole = static_cast<Int>(std::ceil(std::max(0.0, seconds)));
  const Int minutes = whole / 60, rest = minutes % 60;
  if (whole < 120) return std::to_string(whole) + " s";
  if (minutes < 120) return std::to_string(minutes) + " min";
  return std::to_string(minutes / 60) + " h " + (rest < 10 ? "0" : "") + std::to_string(rest) + " min";
}

std::string described(const suites::Progress& progress, double seconds, std::optional<std::chrono::seconds> budget) {
  const double rate = seconds > 0 ? static_cast<double>(progress.done) / seconds : 0;
  std::string words = std::to_string(progress.done);
  if (progress.total > 0) words += " of " + std::to_string(progress.total);
  words += " " + std::string(progress.stage) + "  " + std::to_string(std::lround(rate)) + "/s";
  std::optional<double> left;
  if (progress.total > 0 && rate > 0)
    left = static_cast<double>(progress.total - std::min(progress.done, progress.total)) / rate;
  if (budget) {
    const double of_budget = static_cast<double>(budget->count()) - seconds;
    left = left ? std::min(*left, of_budget) : of_budget;
  }
  if (left) words += "  " + duration_text(*left) + " left";
  if (left && !budget && leaves_failures(progress)) words += ", then failures are shrunk";
  if (progress.coverage) words += "  " + std::to_string(std::lround(100 * *progress.coverage)) + " % of pairs covered";
  if (progress.kinds > 0)
    words += "  " + std::to_string(progress.kinds) + (progress.kinds == 1 ? " kind" : " kinds") + " of failure";
  return words + counted(progress);
}

ProgressLine::ProgressLine(std::optional<std::chrono::seconds> budget)
    : is_terminal_(is_capable_terminal(STDERR_FILENO)), budget_(budget) {
  if (is_terminal_) shown_ = {};  // the first line at once
}

ProgressLine::~ProgressLine() {
  if (is_terminal_) std::cerr << "\r\033[K" << std::flush;
}

void ProgressLine::show(const suites::Progress& progress) {
  const auto now = Clock::now();
  if (progress.stage != stage_) {
    if (!stage_.empty() && budget_) *budget_ -= std::chrono::duration_cast<std::chrono::seconds>(now - start_);
    if (!stage_.empty()) start_ = now;
    stage_ = progress.stage;
  }
  if (now - shown_ < (is_terminal_ ? Clock::duration(between_updates) : Clock::duration(between_lines))) return;
  shown_ = now;
  const std::string words = described(progress, std::chrono::duration<double>(now - start_).count(), budget_);
  if (is_terminal_)
    std::cerr << "\r\033[K  " << words << std::flush;
  else
    std::cerr << "assay: " << words << std::endl;
}

bool is_coloured(int descriptor) {
  const char* refused = std::getenv("NO_COLOR");
  return is_capable_terminal(descriptor) && !(refused && *refused);
}

}  // namespace assay::tools
