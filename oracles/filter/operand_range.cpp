// SPDX-License-Identifier: Apache-2.0
#include "oracles/filter/operand_range.h"

#include "oracles/filter/clones.h"

#include <algorithm>
#include <array>

namespace assay::oracles {
namespace {

// Of numbers without a sign the bits are ordered as the numbers are; g++ takes the least of integers side by side, of
// floats one by one, for the sake of NaN.
ASSAY_WIDE void survey_floats(const float* from, Int count, OperandRange& out) {
  constexpr std::uint32_t none = 0x7f800000u;
  std::uint32_t finest = none, coarsest = 0, largest = 0, least = none;
  for (Int i = 0; i < count; ++i) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(from[i]) & 0x7fffffffu;
    const float size = std::bit_cast<float>(bits), without = std::bit_cast<float>(bits & (bits - 1));
    const std::uint32_t below = std::bit_cast<std::uint32_t>(size - without);
    const std::uint32_t lowest = (bits & 0x7fffffu) == 0 ? bits : below;
    const std::uint32_t counted = bits == 0 ? none : lowest, present = bits == 0 ? none : bits;
    finest = counted < finest ? counted : finest;
    coarsest = counted > coarsest ? counted : coarsest;
    least = present < least ? present : least;
    largest = bits > largest ? bits : largest;
  }
  out.finite &= largest < none;
  out.finest = std::min(out.finest, static_cast<double>(std::bit_cast<float>(finest)));
  out.coarsest = std::max(out.coarsest, static_cast<double>(std::bit_cast<float>(coarsest)));
  out.least = std::min(out.least, static_cast<double>(std::bit_cast<float>(least)));
  out.largest = std::max(out.largest, static_cast<double>(std::bit_cast<float>(largest)));
}

ASSAY_WIDE void survey_doubles(const double* from, Int count, OperandRange& out) {
  constexpr std::int64_t none = std::int64_t{0x7ff} << 52;
  std::int64_t finest = none, coarsest = 0, largest = 0, least = none;
  for (Int i = 0; i < count; ++i) {
    const std::int64_t bits = std::bit_cast<std::int64_t>(from[i]) & INT64_MAX;
    const std::int64_t lowest = std::bit_cast<std::int64_t>(lowest_bit(from[i])), present = bits == 0 ? none : bits;
    finest = lowest < finest ? lowest : finest;
    coarsest = lowest > coarsest ? lowest : coarsest;
    least = present < least ? present : least;
    largest = bits > largest ? bits : largest;
  }
  out.finite &= largest < none;
  out.finest = std::min(out.finest, std::bit_cast<double>(finest));
  out.coarsest = std::max(out.coarsest, std::bit_cast<double>(coarsest));
  out.least = std::min(out.least, std::bit_cast<double>(least));
  out.largest = std::max(out.largest, std::bit_cast<double>(largest));
}

// Of a run of a tensor of floats.
void add(const Tensor& tensor, Int first, Int count, OperandRange& out) {
  if (tensor.dtype() == DType::f64) return survey_doubles(tensor.as<double>().data() + first, count, out);
  if (tensor.dtype() == DType::f32) return survey_floats(tensor.as<float>().data() + first, count, out);
  constexpr Int most = 256;
  std::array<float, most> wide;
  for_float(tensor.dtype(), [&]<class T>() {
    const T* from = tensor.as<T>().data() + first;
    for (Int done = 0; done < count; done += most) {
      const Int some = std::min(most, count - done);
      for (Int i = 0; i < some; ++i)
        wide[static_cast<std::size_t>(i)] = static_cast<float>(static_cast<double>(from[done + i]));
      survey_floats(wide.data(), some, out);
    }
  });
}

ASSAY_WIDE void widen(const float* from, Int count, double* to) {
  for (Int i = 0; i < count; ++i) to[i] = static_cast<double>(from[i]);
}

}  // namespace

Weights Weights::ones(Int count) {
  Weights out;
  out.ones_ = count;
  return out;
}

double Weights::operator[](Int at) const {
  double value = 0;
  read(at, 1, &value);
  return value;
}

void Weights::read(Int first, Int count, double* to) const {
  if (ones_ > 0) {
    std::fill_n(to, count, 1.0);
    return;
  }
  if (!tensor_) {
    std::copy_n(values_.begin() + first, count, to);
    return;
  }
  if (tensor_->dtype() == DType::f32) return widen(tensor_->as<float>().data() + first, count, to);
  for_float(tensor_->dtype(), [&]<class T>() {
    const T* from = tensor_->as<T>().data() + first;
    for (Int i = 0; i < count; ++i) to[i] = static_cast<double>(from[i]);
  });
}

OperandRange Weights::survey(Int first, Int count) const {
  constexpr double one = 1;
  OperandRange out;
  if (ones_ > 0)
    survey_doubles(&one, 1, out);
  else if (tensor_)
    add(*tensor_, first, count, out);
  else
    survey_doubles(values_.data() + first, count, out);
  return out;
}

void DoubleReader::load(Int at) {
  constexpr Int most = 4096;
  first_ = at;
  block_.resize(static_cast<std::size_t>(std::min(most, of_.size() - at)));
  of_.read(at, std::ssize(block_), block_.data());
}

OperandRange survey(std::span<const double> values) {
  OperandRange out;
  survey_doubles(values.data(), static_cast<Int>(values.size()), out);
  return out;
}

OperandRange survey(const Tensor& tensor) {
  OperandRange out;
  add(tensor, 0, tensor.elements(), out);
  return out;
}

SurveyedWeights survey(const Weights& weights, Int maps, Int row) {
  SurveyedWeights out;
  for (Int map = 0; map < maps; ++map) {
    const OperandRange of_map = weights.survey(map * row, row);
    out.coarsest.push_back(of_map.coarsest);
    out.all.finite &= of_map.finite;
    out.all.finest = std::min(out.all.finest, of_map.finest);
    out.all.least = std::min(out.all.least, of_map.least);
    out.all.largest = std::max(out.all.largest, of_map.largest);
  }
  return out;
}

}  // namespace assay::oracles
