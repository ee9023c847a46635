// SPDX-License-Identifier: Apache-2.0
#include "oracles/judging/whole_output.h"

#include "oracles/judging/finding.h"
#include "reference/operator.h"

#include <algorithm>
#include <cstring>

namespace assay::oracles {
namespace {

// Each element more is one more exact sum; what does not fit shows early.
constexpr Int most_elements = 4096;

// Changes the bits of every element of a factor.
using Change = std::uint64_t (*)(std::uint64_t bits, const Format& format, int width);

std::uint64_t low_bits(int count) { return (std::uint64_t{1} << count) - 1; }

bool is_finite(std::uint64_t bits, const Format& format, int width) {
  const std::uint64_t exponent = low_bits(width - 1) & ~low_bits(format.precision - 1);
  return (bits & exponent) != exponent;
}

std::uint64_t flushed(std::uint64_t bits, const Format& format, int width) {
  const std::uint64_t sign = bits & (std::uint64_t{1} << (width - 1));
  const bool is_subnormal = (bits & low_bits(width - 1)) < (std::uint64_t{1} << (format.precision - 1));
  return is_subnormal ? sign : bits;
}

std::uint64_t kept(std::uint64_t bits, const Format&, int) { return bits; }

// Drops `Dropped` bits of the significand of an f32.
template <int Dropped>
std::uint64_t truncated(std::uint64_t bits, const Format& format, int width) {
  return is_finite(bits, format, width) ? bits & ~low_bits(Dropped) : bits;
}

// Rounds an f32 to nearest, ties to even, with `Dropped` bits of the significand fewer.
template <int Dropped>
std::uint64_t rounded_off(std::uint64_t bits, const Format& format, int width) {
  if (!is_finite(bits, format, width)) return bits;
  const std::uint64_t half = low_bits(Dropped - 1) + ((bits >> Dropped) & 1);
  return (bits + half) & ~low_bits(Dropped);
}

template <class Bits>
void change_each(Tensor& tensor, Change change) {
  const std::span<std::byte> bytes = tensor.bytes();
  const Format& format = format_of(tensor.dtype());
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(Bits)) {
    Bits bits;
    std::memcpy(&bits, &bytes[at], sizeof bits);
    bits = static_cast<Bits>(change(bits, format, 8 * static_cast<int>(sizeof(Bits))));
    std::memcpy(&bytes[at], &bits, sizeof bits);
  }
}

Tensor changed(Tensor tensor, Change change) {
  switch (size_of(tensor.dtype())) {
    case 2: change_each<std::uint16_t>(tensor, change); break;
    case 4: change_each<std::uint32_t>(tensor, change); break;
    case 8: change_each<std::uint64_t>(tensor, change); break;
    default: break;
  }
  return tensor;
}

// Changes what is multiplied; of an operator that multiplies no two inputs its data.
Operands with_factors_changed(const Call& call, Operands operands, Change change) {
  std::vector<std::string> factors = oracle_of(call.definition().version).factors;
  if (factors.empty()) factors = {call.definition().data().name};
  for (std::size_t i = 0; i < operands.size() && i < call.definition().inputs.size(); ++i)
    if (operands[i] && is_float(operands[i]->dtype()) &&
        std::ranges::find(factors, call.definition().inputs[i].name) != factors.end())
      operands[i] = changed(*std::move(operands[i]), change);
  return operands;
}

struct Hypothesis {
  Change inputs;
  bool flushes_output = false;
  bool keeps_budget = false;  // what the arithmetic itself may be off by is admitted too
};

bool is_flush(std::string_view arithmetic) { return arithmetic.starts_with("subnormals flushed"); }

// Returns what hardware of that name is known to do with inputs; nothing where the name does not say.
std::vector<Hypothesis> hypotheses(std::string_view arithmetic) {
  if (arithmetic == "TF32 inputs") return {{rounded_off<13>}, {truncated<13>}};
  if (arithmetic == "bf16 inputs") return {{rounded_off<16>}, {truncated<16>}};
  if (is_flush(arithmetic)) return {{flushed, true}, {kept, true}, {flushed, false}};
  return {};
}

// Tells whether arithmetic changes nearly every element it touches: functions of few bits do, and inputs cut short; a
// second rounding shows in few.
bool changes_most(std::string_view arithmetic) {
  return arithmetic.starts_with("functions of") || arithmetic.starts_with("bf16 inputs");
}

// One element of the answer over the changed inputs: within its bound, or within that of truncating sums.
bool admits_one(const Answer& answer, Int index, const Scalar& got, std::string_view arithmetic,
                const Hypothesis& hypothesis) {
  const Element element = answer.element(index);
  if (element.kind != Kind::finite) return true;  // nothing rounds there
  const DType dtype = answer.dtype();
  if (hypothesis.flushes_output && is_float(dtype) && got.is_subnormal(format_of(dtype))) return false;
  Tolerance required = element.required;
  required.flushes_output = hypothesis.flushes_output;
  if (admits(required, element, got, dtype)) return true;
  return std::ranges::any_of(answer.wider(index), [&](Tolerance wider) {
    const bool only_rounds = wider.level == Level::L2t || wider.level == Level::L3;
    if (!only_rounds && !(hypothesis.keeps_budget && wider.arithmetic == arithmetic)) return false;
    wider.flushes_output = hypothesis.flushes_output;
    return admits(wider, element, got, dtype);
  });
}

bool fits(std::string_view arithmetic, const Hypothesis& hypothesis, const Computed& one) {
  const Answers answers = oracle_of(one.call.definition().version)
                              .answer(one.call, with_factors_changed(one.call, one.operands, hypothesis.inputs),
                                      one.readings, one.declared);
  if (answers.at(one.output)->shape() != one.got.shape()) return false;
  for (Int i = 0; i < std::min(one.got.elements(), most_elements); ++i)
    if (!admits_one(*answers.at(one.output), i, scalar(one.got, i), arithmetic, hypothesis)) return false;
  return true;
}

}  // namespace

bool fits_whole(std::string_view arithmetic, const std::vector<Computed>& outputs, bool are_most_off) {
  const std::vector<Hypothesis> all = hypotheses(arithmetic);
  if (all.empty() || outputs.empty()) return are_most_off || !changes_most(arithmetic);
  // Over factors that are changed already the budget of the arithmetic itself holds its sums alone. Elsewhere it holds
  // what the change did, and admits one spoilt element as well as all.
  const bool is_product = oracle_of(outputs.front().call.definition().version).factors.size() > 1;
  return std::ranges::any_of(all, [&](Hypothesis hypothesis) {
    hypothesis.keeps_budget = hypothesis.inputs != kept && (is_product || are_most_off);
    return std::ranges::all_of(outputs, [&](const Computed& one) { return fits(arithmetic, hypothesis, one); });
  });
}

}  // namespace assay::oracles
