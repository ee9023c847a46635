// SPDX-License-Identifier: Apache-2.0
// The inside of Real, for the files that compute with it.
#pragma once

#include "oracles/exact/real.h"

#include <mpfi.h>

namespace assay::oracles {

// Frees, when its thread ends, the constants that the library keeps for each thread.
struct ThreadConstants {
  ~ThreadConstants() { mpfr_free_cache(); }
};

struct Ends {
  mpfi_t value;

  explicit Ends(int bits) {
    static thread_local ThreadConstants freed_at_the_end;
    mpfi_init2(value, bits);
  }
  ~Ends() { mpfi_clear(value); }
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;

  // Mutable in the hands of the library, which takes no constant pointers to the ends.
  mpfr_srcptr left() const { return &value->left; }
  mpfr_srcptr right() const { return &value->right; }
};

// Makes a number of what `f` writes into an mpfi_t.
template <class F>
Real made(int bits, F&& f) {
  auto ends = std::make_shared<Ends>(bits);
  f(ends->value);
  return Real(std::move(ends));
}

}  // namespace assay::oracles
