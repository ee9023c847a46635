// SPDX-License-Identifier: Apache-2.0
// The exact answers of BatchNormalization: of given statistics by products in any order or folded into x k + (b - m k);
// in training of those of the batch, as other normalizations have them (reductions 3.4, 6). No body rounds its nodes.
#include "oracles/exact/operands.h"
#include "oracles/families/normalized.h"
#include "oracles/rules/rules.h"

#include <algorithm>
#include <map>

namespace assay::oracles {
namespace {

// The places of X that share their statistics are those of one parameter.
struct Batch {
  Int count, area, batches;  // parameters, elements of one in an item, items

  explicit Batch(const Call& call) {
    const Shape& x = call.shape("X");
    const bool is_spatial = !call.definition().attribute("spatial") || call.integer("spatial") != 0;
    batches = x[0];
    count = x.size() < 2 ? 1 : is_spatial ? x[1] : volume(std::span(x).subspan(1));
    area = x.size() < 2 || !is_spatial ? 1 : volume(std::span(x).subspan(2));
  }
  Int parameter(Int index) const { return index / area % count; }
};

bool trains(const Call& call, const Readings& readings) {
  const Definition& d = call.definition();
  if (d.attribute("training_mode")) return call.integer("training_mode") != 0;
  const bool requests = call.requests(d.outputs[1].name);
  return d.attribute("is_test") && readings.of("N13") != "outputs-decide" ? call.integer("is_test") == 0 : requests;
}

class BatchAnswer final : public TreeAnswer {
 public:
  BatchAnswer(std::size_t output, const Call& call, const Operands& in, const Readings& readings,
              const Arithmetic& declared)
      : TreeAnswer(call.definition().type_of(call, call.definition().outputs[output]), declared),
        call_(call),
        readings_(readings),
        batch_(call),
        output_(output),
        trains_(trains(call, readings)) {
    for (const std::optional<Tensor>& each : in) in_.emplace_back(*each);
  }

  Shape shape() const override { return in_[output_ == 0 ? 0 : 3].shape(); }

  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all;
    const auto add = [&](std::size_t input, Int at) {
      all.push_back(
          {{hexadecimal(in_[input].at(at))}, place(call_.definition().inputs[input].name, in_[input].shape(), at)});
    };
    const Int k = output_ == 0 ? batch_.parameter(index) : index;
    if (output_ == 0) add(0, index);
    for (std::size_t input = 1; input < in_.size(); ++input) add(input, k);
    return all;
  }

 private:
  Int terms() const override { return trains_ ? batch_.batches * batch_.area : 1; }

  const Together& statistics(Int k) const {
    const auto known = known_.find(k);
    if (known != known_.end()) return known->second;
    std::vector<Scalar> x;
    for (Int n = 0; n < batch_.batches; ++n)
      for (Int i = 0; i < batch_.area; ++i) x.push_back(in_[0].at((n * batch_.count + k) * batch_.area + i));
    return known_.emplace(k, Together(std::move(x))).first->second;
  }

  // Everything may be worked out in f32 where X is no wider, whatever the types of the others.
  std::optional<DType> stash() const {
    return in_[0].tensor().dtype() == DType::f64 ? std::nullopt : std::optional(DType::f32);
  }

  Tree number(const char* attribute) const { return operand(scalar_of(static_cast<double>(call_.real(attribute)))); }

  TreeValue value_at(Int index) const override {
    const Int k = output_ == 0 ? batch_.parameter(index) : index;
    if (output_ > 0) return statistic(k);
    std::vector<Scalar> all{in_[0].at(index), in_[1].at(k), in_[2].at(k)};
    if (!trains_) all.insert(all.end(), {in_[3].at(k), in_[4].at(k)});
    if (trains_ && !statistics(k).group) return exactly(nan(), dtype());
    if (std::ranges::any_of(all, is_nan)) return exactly(nan(), dtype());
    if (!std::ranges::all_of(all, &Scalar::is_finite)) return unscored("an infinity, whose share may be 0 times it");
    if (!trains_) {
      if (ratio(all[4]) < Ratio()) return unscored("what is given as a variance is negative");
      if (all[4].is_zero() && call_.real("epsilon") == 0) return unscored("a variance of 0 without epsilon");
    }
    return normalized(channel(k), operand(all[0]));
  }

  // Holds what the elements of one parameter share.
  struct Channel {
    Tree mean, spread, scale, b, factor, shift;
  };

  const Channel& channel(Int k) const {
    const auto known = channels_.find(k);
    if (known != channels_.end()) return known->second;
    const Tree mean = trains_ ? statistics(k).group->mean() : operand(in_[3].at(k));
    const Tree variance = trains_ ? statistics(k).group->variance() : operand(in_[4].at(k));
    const Tree scale = operand(in_[1].at(k)), b = operand(in_[2].at(k));
    const Tree spread = variance + number("epsilon"), factor = scale * inverse_root(spread);
    return channels_.emplace(k, Channel{mean, spread, scale, b, factor, b - mean * factor}).first->second;
  }

  Tree normalized(const Channel& of, const Tree& x) const {
    const Tree apart = over_root(x - of.mean, of.spread) * of.scale + of.b;
    const Tree together = trains_ ? folded(x, of.mean, of.factor, of.b) : x * of.factor + of.shift;
    return in_format(either(apart, together), stash());
  }

  // given m + current (1 - m), or given + (current - given)(1 - m); what is saved is the current one.
  TreeValue statistic(Int k) const {
    const bool is_mean = output_ % 2 == 1, is_saved = output_ > 2;
    const Together& of = statistics(k);
    if (of.x.empty()) return undefined("N46", "the mean of no element");
    const Scalar given = in_[is_mean ? 3 : 4].at(k);
    if (!of.group) return unscored("statistics of infinities or NaN");
    if (!is_saved && !given.is_finite())
      return is_nan(given) ? exactly(nan(), dtype()) : unscored("an infinity is given");
    Tree current = is_mean ? of.group->mean() : of.group->variance();
    const auto n = static_cast<Int>(of.x.size());
    if (!is_mean && readings_.of("N72") == "sample" && !is_saved && n > 1)
      current = current * operand(scalar(n)) / operand(scalar(n - 1));
    if (!is_mean && readings_.of("N11") == "inverse-std" && is_saved)
      current = inverse_root(current + number("epsilon"));
    if (is_saved) return in_format(current, stash());
    const Tree kept = number("momentum"), taken = operand(scalar(Int{1})) - kept, before = operand(given);
    return in_format(either(before * kept + current * taken, before + (current - before) * taken), stash());
  }

  Call call_;
  Readings readings_;
  Batch batch_;
  std::size_t output_;
  bool trains_;
  std::vector<Cells> in_;
  mutable std::map<Int, Together> known_;
  mutable std::map<Int, Channel> channels_;
};

}  // namespace

Oracle batch_normalization() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
    return answers_of<BatchAnswer>(call, in, readings, declared);
  };
  oracle.shape = [](const Call& call, const Readings&) { return std::optional(call.shape("X")); };
  return with_touched(std::move(oracle));
}

}  // namespace assay::oracles
