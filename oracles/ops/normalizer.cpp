// SPDX-License-Identifier: Apache-2.0
// The exact answer of Normalizer (values-and-graphs 3.8): an element over the largest of its row, the sum of their
// sizes or the root of the sum of their squares. Of L2 the text takes the root of a quotient, others a quotient of
// roots: the bound is the larger of the two. Where the divisor, or a square, is near the ends of float32, nothing is
// claimed.
#include "oracles/exact/composite.h"
#include "oracles/exact/operands.h"
#include "oracles/families/normalized.h"
#include "oracles/rules/rules.h"

#include <algorithm>
#include <map>

namespace assay::oracles {
namespace {

class RowsAnswer final : public TreeAnswer {
 public:
  RowsAnswer(std::size_t, const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared)
      : TreeAnswer(DType::f32, declared), norm_(call.text("norm")), reading_(readings.of("G35")), x_(*in[0]) {}

  Shape shape() const override { return x_.shape(); }
  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all;
    for (Int at = index - index % columns(), i = 0; i < columns(); ++i)
      all.push_back({{written(x_.at(at + i), x_.tensor().dtype())}, place("X", x_.shape(), at + i)});
    return all;
  }

 private:
  Int columns() const { return x_.shape().back(); }
  Int terms() const override { return columns(); }

  // Finds the row of an element, and what it is divided by but of L2.
  struct Row {
    explicit Row(std::vector<Scalar> elements) : together(std::move(elements)) {}
    Together together;
    Scalar largest;
    Tree divisor;
  };

  static bool is_larger(const Scalar& a, const Scalar& b, bool by_size) {
    return by_size ? abs(a.value()) > abs(b.value()) : a.value() > b.value();
  }

  const Row& row_of(Int index) const {
    const Int number = index / columns();
    if (const auto found = rows_.find(number); found != rows_.end()) return found->second;
    std::vector<Scalar> x;
    for (Int i = 0; i < columns(); ++i) x.push_back(x_.at(number * columns() + i));
    Row row(std::move(x));
    const std::vector<Scalar>& all = row.together.x;
    if (row.together.group) {
      row.largest = all.front();
      for (const Scalar& each : all)
        if (is_larger(each, row.largest, reading_ == "max-abs")) row.largest = each;
      if (reading_ == "max-abs") row.largest.negative = false;
      std::vector<Tree> terms;
      for (const Scalar& each : all) terms.push_back(operand(each));
      row.divisor = norm_ == "MAX"             ? operand(row.largest)
                    : norm_ == "L2"            ? row.together.group->sum_of_squares()
                    : reading_ == "signed-sum" ? sum_of(terms)
                                               : row.together.group->sum_of_sizes();
    }
    return rows_.emplace(number, std::move(row)).first->second;
  }

  TreeValue value_at(Int index) const override {
    const Row& row = row_of(index);
    const Scalar own = x_.at(index);
    if (!row.together.group) {
      const bool spreads = norm_ != "MAX" && (is_infinite(own) || std::ranges::any_of(row.together.x, is_nan));
      return spreads ? exactly(nan(), dtype()) : undefined("G50", "NaN or an infinity in the row");
    }
    const Ratio& divisor = *row.divisor->fraction();
    if (divisor.is_zero()) {
      const bool is_near = norm_ == "L1" && !std::ranges::all_of(row.together.x, &Scalar::is_zero);
      return is_near ? TreeValue(unscored("a sum that cancels")) : operand(own);
    }
    const Ratio least{Dyadic::power_of_two(-100), 1}, most{Dyadic::power_of_two(124), 1};
    if (abs(divisor) < least || abs(divisor) > most) return unscored("a divisor near the ends of float32");
    if (own.is_zero()) return exactly(own, dtype());
    if (norm_ != "L2") return operand(own) / row.divisor;
    const Tree square = operand(own) * operand(own), root_of_quotient = root(square / row.divisor);
    const bool is_negative = own.negative && reading_ != "unsigned";
    if (abs(ratio(own)) < Ratio{Dyadic::power_of_two(-60), 1}) return unscored("a square that vanishes in float32");
    const Tree quotient = over_root(is_negative == own.negative ? operand(own) : operand(negated(own)), row.divisor);
    return either(quotient, is_negative ? negative(root_of_quotient) : root_of_quotient);
  }

  std::string norm_, reading_;
  Cells x_;
  mutable std::map<Int, Row> rows_;
};

}  // namespace

Oracle normalizer() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
    return answers_of<RowsAnswer>(call, in, readings, declared);
  };
  oracle.shape = [](const Call& call, const Readings&) { return std::optional(call.shape("X")); };
  return with_touched(std::move(oracle));
}

}  // namespace assay::oracles
