// SPDX-License-Identifier: Apache-2.0
// MelWeightMatrix (ai.onnx 17) - https://onnx.ai/onnx/operators/onnx__MelWeightMatrix.html
//
//   output[k, i] rises from 0 at b(i) to 1 at b(i + 1), and falls to 0 at b(i + 2); 1 at b(i + 1) where that is b(i)
//   b(i) = floor((dft_length + 1) hz(i) / sample_rate), hz(i) at i steps of the mel scale above lower_edge_hertz
//
// There are num_mel_bins + 2 steps up to upper_edge_hertz (N24); mel(f) = 2595 log10(1 + f / 700).
#include "reference/families/elementwise.h"
#include "reference/functions.h"
#include "reference/type_lists.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace assay {
namespace {

constexpr std::array counts{"num_mel_bins", "dft_length", "sample_rate"};
constexpr std::array edges{"lower_edge_hertz", "upper_edge_hertz"};

bool has_numbers(const Call& call) {
  const auto is_one = [&](const char* input) { return volume(call.shape(input)) == 1; };
  return std::ranges::all_of(counts, is_one) && std::ranges::all_of(edges, is_one);
}
bool has_scalars(const Call& call) {
  const auto is_scalar = [&](const char* input) { return call.rank(input) == 0; };
  return !has_numbers(call) || (std::ranges::all_of(counts, is_scalar) && std::ranges::all_of(edges, is_scalar));
}

bool has_band(const Call& call) {
  if (!has_numbers(call)) return true;
  const double low = call.real("lower_edge_hertz"), high = call.real("upper_edge_hertz");
  return low >= 0 && low < high && 2 * high <= static_cast<double>(call.integer("sample_rate"));
}

Types inferred(const Call& call) {
  const Definition& definition = call.definition();
  return {TensorType{definition.type_of(call, definition.outputs.front()),
                     {call.integer("dft_length") / 2 + 1, call.integer("num_mel_bins")}}};
}

Values triangles(const Call& call, Inputs) {
  Values y = outputs_of(call);
  const Int bins = call.integer("num_mel_bins");
  const auto length = static_cast<double>(call.integer("dft_length")),
             rate = static_cast<double>(call.integer("sample_rate"));
  const double low = logarithm_of_one_more(double{call.real("lower_edge_hertz")} / 700);
  const double high = logarithm_of_one_more(double{call.real("upper_edge_hertz")} / 700);
  const auto place = [&](Int i) {
    const double mel = low + (high - low) / static_cast<double>(bins + 2) * static_cast<double>(i);
    return static_cast<Int>(std::floor((length + 1) * (700 * exponential_less_one(mel)) / rate));
  };
  for (Int i = 0; i < bins; ++i) {
    const Int first = place(i), centre = place(i + 1), last = place(i + 2);
    for (Int k = 0; k < y[0]->shape()[0]; ++k) {
      double weight = 0;
      if (k >= first && k < centre) weight = static_cast<double>(k - first) / static_cast<double>(centre - first);
      if (k >= centre && k < last) weight = static_cast<double>(last - k) / static_cast<double>(last - centre);
      put_number(*y[0], k * bins + i, k == centre ? 1 : weight);
    }
  }
  return y;
}

}  // namespace

// clang-format off
Operator mel_weight_matrix() {
  return Operator("MelWeightMatrix")
      .parameter("num_mel_bins", "T1", "num_mel_bins").parameter("dft_length", "T1", "dft_length")
      .parameter("sample_rate", "T1", "sample_rate").parameter("lower_edge_hertz", "T2", "lower_edge_hertz")
      .parameter("upper_edge_hertz", "T2", "upper_edge_hertz").output_typed_by("output_datatype", "output", "T3")
      .attribute("output_datatype", 1).rulings({"A29", "M4", "N24"})
      .type("T1", {DType::i32, DType::i64}).type("T2", types::all_float_types_ir4()).type("T3", types::all_numeric_types_ir4())
      .require("M1", "0 <= lower_edge_hertz < upper_edge_hertz <= sample_rate / 2", has_band)
      .require("M2", "num_mel_bins and dft_length are not negative", [](auto& c) {
        return !has_numbers(c) || (c.integer("num_mel_bins") >= 0 && c.integer("dft_length") >= 0); })
      .require("C3", "all are scalars", has_scalars, "M4")
      .require("C4", "each has one element", has_numbers)
      .require("C5", "output_datatype names a type of T3", names_a_type)
      .since(17)
      .shaping(Shaping::normalized).infer(inferred).kernel(triangles);
}
// clang-format on

}  // namespace assay
