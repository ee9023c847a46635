// SPDX-License-Identifier: Apache-2.0
#include "suites/models/unseen_rounding.h"

#include "oracles/exact/exact.h"
#include "oracles/graphs/exactness.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

namespace assay::suites {
namespace {

// Returns how far an operand is moved, as a share of its elements: 2^13 roundings of float32 at least, 2^6 of what is
// narrower. No legal rewriting adds up so many.
double share_moved(DType type) {
  return std::max(0x1p-11, std::ldexp(1, 6 + oracles::format_of(type).unit_exponent()));
}

double largest_of(const Tensor& tensor) {
  double largest = 0;
  for (Int i = 0; i < tensor.elements(); ++i)
    if (const double size = std::abs(oracles::number_in(tensor, i)); std::isfinite(size))
      largest = std::max(largest, size);
  return largest;
}

// Bounds how far an element is moved. One that is small beside others may be what is left of large terms.
double step_of(double element, double largest, double share) {
  return share * std::max(std::abs(element), largest / 16);
}

// Moves every number up or down: floats by their step, codes of quantized numbers by one.
Tensor moved(Tensor tensor, std::uint64_t seed) {
  const Tensor signs = fill({"sign", std::to_string(seed)}, {DType::f32, tensor.shape()});
  const auto sign = [&](Int i) { return oracles::number_in(signs, i); };
  if (is_float(tensor.dtype())) {
    const double share = share_moved(tensor.dtype()), largest = largest_of(tensor);
    for_float(tensor.dtype(), [&]<class T>() {
      Int i = 0;
      for (T& each : tensor.as<T>()) {
        const double value = static_cast<double>(each);
        each = T(value + sign(i++) * step_of(value, largest, share));
      }
    });
  }
  const auto step_codes = [&]<class T>(std::span<T> codes) {
    Int i = 0;
    for (T& each : codes)
      each = static_cast<T>(std::clamp<int>(each + static_cast<int>(sign(i++)), std::numeric_limits<T>::min(),
                                            std::numeric_limits<T>::max()));
  };
  if (tensor.dtype() == DType::u8) step_codes(tensor.as<std::uint8_t>());
  if (tensor.dtype() == DType::i8) step_codes(tensor.as<std::int8_t>());
  return tensor;
}

Values on_moved(const GraphNode& node, const Call& call, const Arrival& arrival, std::uint64_t seed, int threads) {
  Arrival other = arrival;
  std::vector<ModelValue> values(arrival.operands.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    if (const ModelValue* const given = arrival.operands[i]; given && node.definition->inputs[i].reads_as.empty()) {
      values[i] = {
          given->is_constant && !is_float(given->tensor.dtype()) ? given->tensor : moved(given->tensor, seed + i),
          given->is_constant};
      other.operands[i] = &values[i];
    }
  return computed(node, call, other, threads);
}

// Tells whether an output may differ from the right one because what arrives at the node was not rounded, or rounded
// otherwise: no element is further off than four times what moved operands make of it.
bool may_be_rounding(const Tensor& got, const Tensor& right, const std::vector<Tensor>& others) {
  if (got.type() != right.type() || right.dtype() == DType::string) return false;
  const double largest = largest_of(right), share = is_float(right.dtype()) ? share_moved(right.dtype()) : 0;
  for (Int i = 0; i < right.elements(); ++i) {
    const double exact = oracles::number_in(right, i), is = oracles::number_in(got, i);
    if (is == exact || (std::isnan(is) && std::isnan(exact))) continue;
    double most = std::isfinite(exact) ? step_of(exact, largest, share) : 0;
    bool is_any = false;
    for (const Tensor& other : others) {
      const double there = oracles::number_in(other, i);
      is_any |= !std::isfinite(there) || !std::isfinite(exact) ? there != exact : false;
      most = std::max(most, 4 * std::abs(there - exact));
    }
    if (!is_any && !(std::abs(is - exact) <= most)) return false;
  }
  return true;
}

}  // namespace

bool may_be_rounding(const GraphNode& node, const Call& call, const Arrival& arrival, const std::vector<Tensor>& got,
                     int threads) {
  constexpr std::uint64_t turns = 8;
  const Values right = computed(node, call, arrival, threads);
  std::vector<Values> moved;
  for (std::uint64_t turn = 1; turn <= turns; ++turn)
    moved.push_back(on_moved(node, call, arrival, turn << 8, threads));
  std::size_t k = 0;
  for (std::size_t i = 0; i < right.size() && k < got.size(); ++i) {
    if (!right[i] || (i < node.outputs.size() && node.outputs[i].empty())) continue;
    std::vector<Tensor> others;
    for (const Values& each : moved)
      if (each[i] && each[i]->type() == right[i]->type()) others.push_back(*each[i]);
    // Compares nothing where the extents of an output depend on the data.
    if (others.size() == turns && !may_be_rounding(got[k], *right[i], others)) return false;
    ++k;
  }
  return true;
}

}  // namespace assay::suites
