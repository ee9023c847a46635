// SPDX-License-Identifier: Apache-2.0
// CumSum (ai.onnx 11, 14) - https://onnx.ai/onnx/operators/onnx__CumSum.html
// CumProd (ai.onnx 26) - https://onnx.ai/onnx/operators/onnx__CumProd.html
//
//   y[j] is, along axis, the sum or the product of all x[i] with i <= j, with exclusive = 1 of those with i < j;
//   with reverse = 1 of those with i >= j or i > j. Of nothing the sum is 0, the product 1.
#include "reference/families/broadcast.h"
#include "reference/families/elementwise.h"
#include "reference/families/moved.h"
#include "reference/type_lists.h"

namespace assay {
namespace {

bool has_one_axis(const Call& call) { return volume(call.shape("axis")) == 1; }

// What the elements of a type are joined in: integers wrap, floats are rounded once.
template <Number T>
using Wide = std::conditional_t<std::is_same_v<ComputedIn<T>, float>, double, ComputedIn<T>>;

template <class F>
Kernel joining(int of_nothing, F join) {
  return [=](const Call& call, Inputs in) {
    Tensor y = Tensor::to_be_written(in[0]->type());
    const Int axis = from_front(call.integer("axis"), call.rank("x")), n = call.dim("x", axis);
    const bool is_exclusive = call.integer("exclusive") != 0, is_reverse = call.integer("reverse") != 0;
    for_number(y.dtype(), [&]<class T>() {
      if constexpr (Number<T>)
        for_each_line(y.shape(), axis, [&](Int, Int first, Int step) {
          auto total = static_cast<Wide<T>>(of_nothing);
          for (Int i = 0; i < n; ++i) {
            const auto at = static_cast<std::size_t>(first + (is_reverse ? n - 1 - i : i) * step);
            const auto before = total;
            total = join(total, static_cast<Wide<T>>(in[0]->as<T>()[at]));
            y.as<T>()[at] = T(is_exclusive ? before : total);
          }
        });
    });
    return y;
  };
}

// clang-format off
Operator prefixes(const char* name, Kernel kernel) {
  return std::move(Operator(name)
      .input("x", "T").parameter("axis", "T2", "axis").output("y", "T").type("T2", {DType::i32, DType::i64})
      .attribute("exclusive", 0).attribute("reverse", 0).rulings({"A29", "E17", "M4"})
      .require("C1", "axis is in [-rank(x), rank(x) - 1]", [](auto& c) {
        return !has_one_axis(c) || is_axis(c.integer("axis"), c.rank("x")); })
      .require("C2", "axis is a scalar", [](auto& c) { return c.rank("axis") == 0 || !has_one_axis(c); }, "M4")
      .require("C3", "axis has one element", has_one_axis)
      .shaping(Shaping::axis).shape(same_as("x")).kernel(std::move(kernel)));
}

// What is summed first, and later.
std::vector<DType> summed() { return {DType::f32, DType::f64, DType::i32, DType::i64, DType::u32, DType::u64}; }
std::vector<DType> summed_ir4() { return types::numeric_types_for_math_reduction_ir4(); }

}  // namespace

Operator cum_sum() {
  return prefixes("CumSum", joining(0, [](auto a, auto b) { return a + b; }))
      .since(11).type("T", summed())
      .since(14, "T admits float16 and bfloat16").type("T", summed_ir4());
}

Operator cum_prod() {
  return prefixes("CumProd", joining(1, [](auto a, auto b) { return a * b; })).since(26).type("T", summed_ir4());
}
// clang-format on

}  // namespace assay
