// SPDX-License-Identifier: Apache-2.0
// The named accuracy levels (numerics 2.7) and what a backend declares about its arithmetic.
#pragma once

#include "reference/tensor.h"

#include <optional>
#include <string_view>

namespace assay::oracles {

// From the strongest claim to the weakest. Each is a statement about every element judged.
enum class Level {
  L0,      // correctly rounded: RN_T(y)
  L1,      // faithful: RD_T(y) or RU_T(y)
  L2,      // any order, round to nearest, f32 accumulator (f64 for f64), one rounding to T
  L2t,     // the same with truncating or merely faithful accumulators (2u)
  L3,      // every operation in T
  widest,  // TF32 or bf16 inputs, flushed subnormals, Winograd F(2,3) and F(4,3), f32 for f64, or as declared
};
std::string_view name(Level level);
std::optional<Level> level_named(std::string_view name);

// What a backend says of its own arithmetic; admitted into the widest interval, never into the default level.
struct Arithmetic {
  std::optional<DType> accumulator;  // f16, bf16, f32 or f64
  bool flushes_subnormals = false;
  bool tf32 = false;         // f32 operands rounded to 11 bits
  bool bf16_inputs = false;  // f32 operands rounded to 8 bits
  bool winograd = false;     // F(2,3) or F(4,3) in the accumulator type
  bool operator==(const Arithmetic&) const = default;
};

}  // namespace assay::oracles
