// SPDX-License-Identifier: Apache-2.0
// Softmax, LogSoftmax (ai.onnx 1, 11, 13) - https://onnx.ai/onnx/operators/onnx__Softmax.html
//
//   Softmax     exp(X[i]) / sum over the line of exp(X[j]) = exp(X[i] - M) / sum of exp(X[j] - M),  M the largest X[j]
//   LogSoftmax  log of that = X[i] - M - log of the sum of exp(X[j] - M)
//
// A line lies along one axis; before 13 all axes from the named one on make one line.
#include "reference/families/axis.h"
#include "reference/families/elementwise.h"
#include "reference/functions.h"

#include <algorithm>

namespace assay {
namespace {

void share(std::span<const double> x, std::span<double> y) {
  if (x.empty()) return;
  const double most = *std::ranges::max_element(x);
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += y[i] = exponential(x[i] - most);
  for (double& each : y) each /= sum;
}

void log_of_share(std::span<const double> x, std::span<double> y) {
  if (x.empty()) return;
  const double most = *std::ranges::max_element(x);
  double sum = 0;
  for (const double each : x) sum += exponential(each - most);
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = (x[i] - most) - logarithm(sum);
}

Operator of_lines(const char* name, void (*f)(std::span<const double> x, std::span<double> y)) {
  using enum DType;
  // clang-format off
  return Operator(name)
      .with([](Operator& o) { along_axis(o, 1); })
      .rulings({"A29", "N25", "N26", "N32"})
      .since(1)
      .type("T", {f16, f32, f64}).flattens(true).ruling("N1")
      .since(11, "a negative axis counts from the end").settled("N1")
      .since(13, "a line lies along one axis; the default is the last; T admits bfloat16")
      .type("T", {bf16, f16, f32, f64}).flattens(false).attribute("axis", -1)
      .shaping(Shaping::axis).shape(same_as("input"))
      .kernel(along_lines(f));
  // clang-format on
}

}  // namespace

Operator softmax() { return of_lines("Softmax", share); }
Operator log_softmax() { return of_lines("LogSoftmax", log_of_share); }

}  // namespace assay
