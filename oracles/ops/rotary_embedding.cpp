// SPDX-License-Identifier: Apache-2.0
// The exact answer of RotaryEmbedding: two products and their sum, whose nodes the body rounds (reductions 8.1).
#include "oracles/exact/composite.h"
#include "oracles/exact/operands.h"
#include "oracles/families/normalized.h"
#include "oracles/rules/rules.h"
#include "oracles/rules/totals.h"

#include <algorithm>

namespace assay::oracles {
namespace {

class RotatedAnswer final : public TreeAnswer {
 public:
  RotatedAnswer(std::size_t, const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared)
      : TreeAnswer(in[0]->dtype(), declared), x_(*in[0]), cosines_(*in[1]), sines_(*in[2]) {
    if (in.size() > 3 && in[3]) positions_.emplace(*in[3]);
    const Shape& x = x_.shape();
    head_ = x.size() == 4 ? x[3] : x[2] / call.integer("num_heads");
    width_ = call.integer("rotary_embedding_dim");
    if (width_ == 0) width_ = head_;
    const Int flag = call.integer("interleaved");
    is_interleaved_ = readings.of("N42") == "only-one" ? flag == 1 : flag != 0;
  }

  Shape shape() const override { return x_.shape(); }

  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all;
    for (const auto& [table, from] : factors(index))
      all.push_back({{hexadecimal(table), hexadecimal(x_.at(from))}, place("X", x_.shape(), from)});
    return all;
  }

 private:
  struct Factor {
    Scalar of_table;
    Int from;
  };

  Int terms() const override { return 2; }

  // What one element is the sum of; nothing of one that stays.
  std::vector<Factor> factors(Int index) const {
    const Shape at = position(x_.shape(), index);
    const Int in_head = at.back() % head_;
    if (in_head >= width_) return {};
    const Int half = width_ / 2;
    const bool is_first = is_interleaved_ ? in_head % 2 == 0 : in_head < half;
    const Int j = is_interleaved_ ? in_head / 2 : in_head % half;
    const Int other = index + (is_first ? 1 : -1) * (is_interleaved_ ? 1 : half);
    const Int tokens = x_.extent(at.size() - 2);
    Int row = at.size() == 4 ? at[0] * tokens + at[2] : at[0] * tokens + at[1];
    if (positions_) row = positions_->at(row).as_integer();
    const Scalar sine = sines_.at(row * half + j);
    return {{cosines_.at(row * half + j), index}, {is_first ? negated(sine) : sine, other}};
  }

  TreeValue value_at(Int index) const override {
    const Scalar own = x_.at(index);
    const std::vector<Factor> all = factors(index);
    if (all.empty()) return own.is_finite() ? TreeValue(operand(own)) : exactly(own, dtype());
    bool has_nan = false, has_least = false, has_most = false, vanishes = false;
    std::vector<Tree> terms;
    for (const auto& [table, from] : all) {
      const Scalar x = x_.at(from);
      const bool is_strange = !table.is_finite() || !x.is_finite(), is_negative = table.negative != x.negative;
      has_nan |= is_nan(table) || is_nan(x) || (is_strange && (table.is_zero() || x.is_zero()));
      vanishes |= is_strange && (table.is_subnormal(format_of(dtype())) || x.is_subnormal(format_of(dtype())));
      has_least |= is_strange && is_negative;
      has_most |= is_strange && !is_negative;
      if (!is_strange) terms.push_back(operand(table) * operand(x));
    }
    if (has_nan || (has_least && has_most)) return exactly(nan(), dtype());
    if (vanishes) return unscored("a subnormal meets an infinity");
    if (terms.size() == all.size()) return terms[0] + terms[1];
    if (std::ranges::any_of(terms, [&](const Tree& each) { return !(each->size() < summable(dtype())); }))
      return unscored("a product may overflow beside an infinity");
    return exactly(infinity(has_least), dtype());
  }

  Cells x_, cosines_, sines_;
  std::optional<Cells> positions_;
  Int head_ = 0, width_ = 0;
  bool is_interleaved_ = false;
};

}  // namespace

Oracle rotary_embedding() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
    return answers_of<RotatedAnswer>(call, in, readings, declared);
  };
  oracle.shape = [](const Call& call, const Readings&) { return std::optional(call.shape("X")); };
  return with_touched(std::move(oracle));
}

}  // namespace assay::oracles
