// SPDX-License-Identifier: Apache-2.0
// The exact answers of NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss: what is taken of each target, added up in
// any order and divided (reductions 5). The logarithm of a share is that of LogSoftmax; the bodies round every node.
#include "oracles/exact/composite.h"
#include "oracles/exact/operands.h"
#include "oracles/families/axis.h"
#include "oracles/families/normalized.h"
#include "oracles/rules/rules.h"
#include "oracles/rules/totals.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace assay::oracles {
namespace {

class LossAnswer final : public TreeAnswer {
 public:
  LossAnswer(std::size_t output, const Call& call, const Operands& in, const Readings& readings,
             const Arithmetic& declared)
      : TreeAnswer(in[0]->dtype(), declared),
        call_(call),
        readings_(readings),
        output_(output),
        x_(*in[0]),
        target_(*in[1]),
        takes_softmax_(call.definition().outputs.size() > 1),
        classes_(x_.extent(1)),
        area_(volume(std::span(x_.shape()).subspan(2))) {
    if (in.size() > 2 && in[2]) weight_.emplace(*in[2]);
    if (call.states("ignore_index")) ignored_ = call.integer("ignore_index");
  }

  Shape shape() const override {
    if (output_ > 0) return x_.shape();
    return is_reduced() ? Shape{} : target_.shape();
  }

  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all;
    const auto add = [&](Int at) {
      all.push_back({{hexadecimal(x_.at(at))}, place(call_.definition().inputs[0].name, x_.shape(), at)});
    };
    if (output_ > 0) add(index);
    for (const Int sample : output_ > 0 ? std::vector<Int>() : counted(index)) add(place_of(sample));
    return all;
  }

 private:
  // What a target takes of its class: a number that is computed, one that is exact, or nothing that can be said.
  struct Taken {
    std::optional<Tree> tree;
    Scalar weight, strange;
  };

  bool is_reduced() const { return call_.text("reduction") != "none"; }
  Int terms() const override { return output_ > 0 || !is_reduced() ? classes_ : target_.tensor().elements(); }
  Int class_of(Int sample) const { return target_.at(sample).as_integer(); }
  Int place_of(Int sample) const { return (sample / area_ * classes_ + class_of(sample)) * area_ + sample % area_; }

  // The samples that one element of the loss is of, without those that are ignored.
  std::vector<Int> counted(Int index) const {
    std::vector<Int> all;
    for (Int i = is_reduced() ? 0 : index; i < (is_reduced() ? target_.tensor().elements() : index + 1); ++i)
      if (!ignored_ || class_of(i) != *ignored_) all.push_back(i);
    return all;
  }

  TreeValue log_prob(Int at) const {
    if (!takes_softmax_) {
      const Scalar x = x_.at(at);
      return x.is_finite() ? TreeValue(operand(x)) : exactly(x, dtype());
    }
    const Along along{classes_, area_};
    const Int number = along.line_of(at);
    auto line = lines_.find(number);
    if (line == lines_.end()) {
      std::vector<Scalar> x;
      for (Int c = 0; c < classes_; ++c) x.push_back(x_.at(along.index(number, c)));
      line = lines_.emplace(number, OperandLine(std::move(x))).first;
    }
    LineValue value = logarithm_of_share({call_, readings_, dtype(), line->second, along.at(at)});
    if (Element* const element = std::get_if<Element>(&value)) return std::move(*element);
    return leaf(std::move(std::get<1>(value)));
  }

  Taken taken(Int sample) const {
    const TreeValue value = log_prob(place_of(sample));
    Taken out{{}, weight_ ? weight_->at(class_of(sample)) : scalar(Int{1}), {}};
    const Scalar& w = out.weight;
    if (const Element* const element = std::get_if<Element>(&value)) {
      const bool is_nan = element->kind == Kind::nan || oracles::is_nan(w), is_open = element->kind == Kind::one_of;
      if (is_nan || (w.is_zero() && !is_open)) out.strange = nan();
      if (is_nan || is_open || w.is_zero() || !w.is_finite() || w.is_subnormal(format_of(dtype()))) return out;
      out.strange = infinity((element->kind == Kind::negative_infinity) == w.negative);
      return out;
    }
    if (!w.is_finite()) {
      if (oracles::is_nan(w)) out.strange = nan();
      return out;
    }
    const Tree loss = negative(std::get<Tree>(value));
    out.tree = weight_ ? loss * operand(w) : loss;
    return out;
  }

  TreeValue value_at(Int index) const override {
    if (output_ > 0) return log_prob(index);
    std::vector<Taken> all;
    for (const Int sample : counted(index)) all.push_back(taken(sample));
    if (all.empty() && !(call_.text("reduction") == "mean")) return exactly(Scalar(), dtype());
    if (all.empty()) {
      if (target_.tensor().elements() == 0) return undefined("N46", "the mean of no element");
      return exactly(nan(), dtype());
    }
    if (std::ranges::any_of(all, [](const Taken& each) { return is_nan(each.strange); }))
      return exactly(nan(), dtype());
    return std::ranges::all_of(all, [](const Taken& each) { return each.tree.has_value(); }) ? total(all)
                                                                                             : infinite(all);
  }

  TreeValue total(const std::vector<Taken>& all) const {
    std::vector<Tree> losses, weights;
    for (const Taken& each : all) {
      losses.push_back(*each.tree);
      weights.push_back(operand(each.weight));
    }
    if (!is_reduced()) return losses.front();
    if (call_.text("reduction") == "sum") return sum_of(losses);
    if (!weight_) return mean_of(losses);
    const Tree whole = sum_of(weights);
    if (std::ranges::all_of(all, [](const Taken& each) { return each.weight.is_zero(); }))
      return exactly(nan(), dtype());
    if (whole->fraction()->is_zero()) return unscored("weights that cancel");
    return sum_of(losses) / whole;
  }

  // Infinities of both signs make NaN; of one they stay where nothing else may overflow.
  TreeValue infinite(const std::vector<Taken>& all) const {
    bool has_least = false, has_most = false, has_open = false, has_negative = false;
    double sizes = 0;
    for (const Taken& each : all) {
      has_least |= is_infinite(each.strange) && each.strange.negative;
      has_most |= is_infinite(each.strange) && !each.strange.negative;
      has_open |= !each.tree && !is_infinite(each.strange);
      has_negative |= each.weight.negative;
      if (each.tree) sizes += (*each.tree)->size();
      if (weight_ && each.weight.is_finite()) sizes += std::abs(each.weight.as_double());
    }
    if (has_open || (has_negative && call_.text("reduction") == "mean"))
      return unscored("infinities by way of what may be anything");
    if (!(sizes < summable(dtype()))) return unscored("a partial sum may overflow");
    return exactly(has_least && has_most ? nan() : infinity(has_least), dtype());
  }

  Call call_;
  Readings readings_;
  std::size_t output_;
  Cells x_, target_;
  std::optional<Cells> weight_;
  bool takes_softmax_;
  Int classes_, area_;
  std::optional<Int> ignored_;
  mutable std::map<Int, OperandLine> lines_;
};

Oracle losses() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
    return answers_of<LossAnswer>(call, in, readings, declared);
  };
  oracle.shape = [](const Call& call, const Readings&) {
    return std::optional(call.text("reduction") == "none" ? call.shape(call.definition().inputs[1].name) : Shape{});
  };
  return with_touched(std::move(oracle));
}

}  // namespace

Oracle negative_log_likelihood_loss() { return losses(); }
Oracle softmax_cross_entropy_loss() { return losses(); }

}  // namespace assay::oracles
