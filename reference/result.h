// SPDX-License-Identifier: Apache-2.0
// Errors as values where they are expected, and the two exceptions that are not (house rule: README of this folder).
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace assay {

// Why something a stranger wrote cannot be used; one line that says what to do.
struct Error {
  std::string text;
};

// A value or the reason there is none. g++ 12: no <expected>; remove with g++ 13.
template <class T>
class Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Error error) : state_(std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  const T& operator*() const& { return std::get<0>(state_); }
  T& operator*() & { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  const T* operator->() const { return &std::get<0>(state_); }
  const std::string& error() const { return std::get<1>(state_).text; }

 private:
  std::variant<T, Error> state_;
};

// Bad command line, unreadable file, malformed case: caught once in main, exit 2.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Our own bug: caught once in main, exit 3.
struct BrokenPromise : std::logic_error {
  using std::logic_error::logic_error;
};

// Throws BrokenPromise, naming the place.
[[noreturn]] void break_promise(const char* what, std::source_location where);

// An assertion that is on in every build.
inline void expects(bool promise, const char* what, std::source_location where = std::source_location::current()) {
  if (!promise) break_promise(what, where);
}

}  // namespace assay
