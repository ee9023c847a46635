// SPDX-License-Identifier: Apache-2.0
// RequestRefusal: a worker's refusal of a request on its way to assay, thrown.
#pragma once

#include "reference/result.h"
#include "suites/workers/backend.h"

#include <string>
#include <utility>

namespace assay::suites {

struct RequestRefusal {
  oracles::Outcome::Kind kind = oracles::Outcome::Kind::refused;
  std::string because;
};

// Takes what was read of a request, or refuses it for what is wrong with it.
template <class T>
T accepted(Result<T> result) {
  if (!result) throw RequestRefusal{.because = result.error()};
  return *std::move(result);
}

}  // namespace assay::suites
