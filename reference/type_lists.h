// SPDX-License-Identifier: Apache-2.0
// Lists of element types that the texts of many operators share, under the names that ONNX's schemas have for them
// (onnx/defs/schema.h). Types that dtypes.def does not have yet are left out.
#pragma once

#include "reference/tensor.h"

namespace assay {

inline std::vector<DType> operator|(std::vector<DType> types, DType more) {
  types.push_back(more);
  return types;
}

namespace types {

inline std::vector<DType> all_float_types() { return {DType::f16, DType::f32, DType::f64}; }
// Every numeric type of the first opsets.
inline std::vector<DType> all_numeric_types() {
  using enum DType;
  return {f16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64};
}
// What sums and products were first computed in.
inline std::vector<DType> numeric_types_for_math_reduction() {
  using enum DType;
  return {f16, f32, f64, i32, i64, u32, u64};
}
inline std::vector<DType> all_integer_types() {
  using enum DType;
  return {i8, i16, i32, i64, u8, u16, u32, u64};
}
// Every type of the first opsets: the numeric ones, bool, string and complex.
inline std::vector<DType> all_tensor_types() { return all_numeric_types() | DType::boolean | DType::string; }

inline std::vector<DType> without_strings(std::vector<DType> types) {
  std::erase(types, DType::string);
  return types;
}
inline std::vector<DType> with(std::vector<DType> types, std::initializer_list<DType> others) {
  types.insert(types.begin(), others);
  return types;
}
// bfloat16 came with IR version 4.
inline std::vector<DType> all_float_types_ir4() { return with(all_float_types(), {DType::bf16}); }
inline std::vector<DType> all_float_types_ir9() {
  using enum DType;
  return with(all_float_types_ir4(), {f8e4m3fn, f8e4m3fnuz, f8e5m2, f8e5m2fnuz});
}
inline std::vector<DType> numeric_types_for_math_reduction_ir4() {
  return with(numeric_types_for_math_reduction(), {DType::bf16});
}
inline std::vector<DType> all_numeric_types_ir4() { return with(all_numeric_types(), {DType::bf16}); }
inline std::vector<DType> all_tensor_types_ir4() { return with(all_tensor_types(), {DType::bf16}); }
// Floats of 8, integers of 4, floats of 4, scales of 8, integers of 2, floats of 6 bits came one after the other.
inline std::vector<DType> all_tensor_types_ir9() {
  using enum DType;
  return with(all_tensor_types_ir4(), {f8e4m3fn, f8e4m3fnuz, f8e5m2, f8e5m2fnuz});
}
inline std::vector<DType> all_tensor_types_ir10() { return with(all_tensor_types_ir9(), {DType::u4, DType::i4}); }
inline std::vector<DType> all_tensor_types_ir11() { return with(all_tensor_types_ir10(), {DType::f4e2m1}); }
inline std::vector<DType> all_tensor_types_ir12() { return with(all_tensor_types_ir11(), {DType::f8e8m0}); }
inline std::vector<DType> all_tensor_types_ir13() { return with(all_tensor_types_ir12(), {DType::u2, DType::i2}); }
inline std::vector<DType> all_tensor_types_ir14() {
  return with(all_tensor_types_ir13(), {DType::f6e2m3, DType::f6e3m2});
}

}  // namespace types
}  // namespace assay
