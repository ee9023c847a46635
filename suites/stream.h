// SPDX-License-Identifier: Apache-2.0
// Stream: the endless suite of a fuzz campaign. The case of an index is a function of the selection, the seed and the
// index, and of nothing that a backend did (decisions 7).
#pragma once

#include "suites/suite.h"

#include <cstdint>
#include <memory>

namespace assay::suites {

class Stream {
 public:
  // Throws InputError where the selection is empty.
  Stream(const Selection& selection, std::uint64_t seed);
  ~Stream();
  Stream(Stream&&) noexcept;

  std::uint64_t index() const;  // of the case that next() gives
  Planned next();
  void skip();  // passes that case over

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace assay::suites
