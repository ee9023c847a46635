// SPDX-License-Identifier: Apache-2.0
#include "oracles/families/axis.h"

#include "oracles/exact/operands.h"
#include "oracles/filter/near_filter.h"
#include "oracles/rules/rules.h"
#include "reference/operator.h"

#include <algorithm>
#include <map>

namespace assay::oracles {
static const std::string& data_of(const Call& call) { return call.definition().inputs.front().name; }

std::optional<Int> axis_of(const Call& call, const Readings& readings) {
  const Int said = call.integer("axis"), rank = call.rank(data_of(call));
  const bool may_refuse = call.definition().ruling("N1") != nullptr;
  if (said < 0 && may_refuse && readings.of("N1") == "refuse") return std::nullopt;
  return rank == 0 ? 0 : (said + rank) % rank;
}

Along along(const Call& call, Int axis) {
  const Shape& shape = call.shape(data_of(call));
  const auto first = shape.begin() + std::min(axis, static_cast<Int>(shape.size()));
  Along out;
  if (call.definition().flattens)
    for (auto extent = first; extent != shape.end(); ++extent) out.length *= *extent;
  else if (first != shape.end()) {
    out.length = *first;
    for (auto extent = first + 1; extent != shape.end(); ++extent) out.step *= *extent;
  }
  return out;
}

namespace {

using LineRule = LineValue (*)(const LinePoint&);

// So many elements of lines are kept.
constexpr std::size_t most_kept = 1 << 18;

class LinesAnswer final : public Answer {
 public:
  LinesAnswer(LineRule rule, const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared)
      : rule_(rule),
        call_(call),
        readings_(readings),
        declared_(declared),
        x_(*in.front()),
        along_(along(call_, *axis_of(call_, readings))) {}

  Shape shape() const override { return x_.shape(); }
  DType dtype() const override { return x_.tensor().dtype(); }

  Element element(Int index) const override {
    LineValue value = value_at(index);
    Element* const known = std::get_if<Element>(&value);
    Element out = known ? *known : computed(*std::get<1>(value), dtype());
    out.terms = along_.length;
    return out;
  }

  // Leaves out what is computed of a line, which is the same under all readings.
  Element decided(Int index) const override {
    LineValue value = value_at(index, lines_in_double_, true);
    Element* const known = std::get_if<Element>(&value);
    return known ? *std::move(known) : Element{};
  }

  std::vector<Tolerance> wider(Int index) const override {
    const LineValue value = value_at(index);
    if (std::holds_alternative<Element>(value)) return {};
    return tolerances(*std::get<1>(value), element(index), dtype(), declared_);
  }

  std::optional<FilterResult> screen(const Tensor& got, const FilterOptions& how) const override {
    std::map<Int, OperandLine> lines;
    const auto expression_at = [&](Int index) -> std::shared_ptr<const Expression> {
      LineValue value = value_at(index, lines, true);
      return value.index() == 1 ? std::move(std::get<1>(value)) : nullptr;
    };
    return screened(expression_at, got, how);
  }

  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all;
    for (Int at = 0; at < along_.length; ++at) {
      const Int from = along_.index(along_.line_of(index), at);
      all.push_back({{hexadecimal(x_.at(from))}, place(data_of(call_), x_.shape(), from)});
    }
    return all;
  }

 private:
  LineValue value_at(Int index) const { return value_at(index, lines_, false); }
  LineValue value_at(Int index, std::map<Int, OperandLine>& lines, bool in_double) const {
    const Int number = along_.line_of(index);
    if (lines.size() * static_cast<std::size_t>(along_.length) > most_kept) lines.clear();
    auto line = lines.find(number);
    if (line == lines.end()) line = lines.emplace(number, OperandLine(line_at(number), in_double)).first;
    return rule_({call_, readings_, dtype(), line->second, along_.at(index)});
  }

  std::vector<Scalar> line_at(Int number) const {
    std::vector<Scalar> x;
    for (Int at = 0; at < along_.length; ++at) x.push_back(x_.at(along_.index(number, at)));
    return x;
  }

  LineRule rule_;
  Call call_;
  Readings readings_;
  Arithmetic declared_;
  Cells x_;
  Along along_;
  mutable std::map<Int, OperandLine> lines_, lines_in_double_;
};

}  // namespace

OperandLine::OperandLine(std::vector<Scalar> values, bool is_for_filter)
    : x(std::move(values)), in_double(is_for_filter) {
  const auto is_infinite = [](const Scalar& each, bool negative) {
    return each.is == Scalar::Class::infinite && each.negative == negative;
  };
  has_nan = std::ranges::any_of(x, [](const Scalar& each) { return each.is == Scalar::Class::nan; });
  has_infinity = std::ranges::any_of(x, [&](const Scalar& each) { return is_infinite(each, false); });
  is_all_lowest = std::ranges::all_of(x, [&](const Scalar& each) { return is_infinite(each, true); });
}

const Exponentials* OperandLine::exponentials() const {
  if (has_nan || has_infinity || is_all_lowest) return nullptr;
  if (!exponentials_) exponentials_.emplace(x, in_double);
  return &*exponentials_;
}

const Group& OperandLine::group() const {
  if (!group_) group_.emplace(x);
  return *group_;
}

template <bool takes_logarithm>
static LineValue share(const LinePoint& p) {
  const OperandLine& line = p.line;
  const Scalar nothing = takes_logarithm ? infinity(true) : Scalar();
  if (const Exponentials* const exponentials = line.exponentials()) {
    if (!takes_logarithm) return exponentials->share(p.at);
    return p.own().is_finite() ? LineValue(exponentials->logarithm_of_share(p.at)) : exactly(nothing, p.dtype);
  }
  if (line.is_all_lowest) return one_of("N26", {nan(), nothing});
  const bool is_finite_or_lowest = p.own().is_finite() || (p.own().is == Scalar::Class::infinite && p.own().negative);
  const bool spreads = line.has_nan && !p.reads("N25", "skip");
  return spreads || !is_finite_or_lowest ? exactly(nan(), p.dtype) : one_of("N25", {nan(), nothing});
}

LineValue share_of(const LinePoint& p) { return share<false>(p); }
LineValue logarithm_of_share(const LinePoint& p) { return share<true>(p); }

Oracle along_lines(LineRule rule) {
  Oracle oracle;
  oracle.answer = [rule](const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
    return Answers(std::make_unique<LinesAnswer>(rule, call, in, readings, declared));
  };
  oracle.shape = [](const Call& call, const Readings& readings) -> std::optional<Shape> {
    if (!axis_of(call, readings)) return std::nullopt;
    return call.shape(data_of(call));
  };
  return with_touched(std::move(oracle));
}

}  // namespace assay::oracles
