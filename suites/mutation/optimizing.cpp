// SPDX-License-Identifier: Apache-2.0
// Momentum, Adagrad and Adam by a third hand: each kind of output by itself, and slips.
#include "reference/families/elementwise.h"
#include "suites/mutation/family.h"

#include <cmath>

namespace assay::mutation {
namespace {

struct Optimizing {
  bool in_double = false, divides_first = false, multiplies_powers = false;
  // Slips.
  bool forgets_norm = false, forgets_first = false, adds_inside = false, forgets_root = false, climbs = false,
       counts_one_more = false, mixes_tensors = false, swaps_kinds = false, takes_old_state = false;
};

template <class S>
class Optimizer {
 public:
  Optimizer(const Optimizing& how, const Call& call, Inputs in) : how_(how), call_(call), in_(in) {
    const auto given = [](const Tensor* each) { return each != nullptr; };
    is_adam_ = call.definition().attribute("norm_coefficient_post") != nullptr;
    tensors_ = static_cast<std::size_t>(std::ranges::count_if(in, given) - 2) / (is_adam_ ? 4 : 3);
    t_ = static_cast<Int>(number_at(*in[1], 0)) + (how.counts_one_more ? 1 : 0);
    rate_ = static_cast<S>(number_at(*in[0], 0));
  }

  Values updated() {
    Values y = outputs_of(call_);
    for (std::size_t tensor = 0; tensor < tensors_; ++tensor)
      for (Int i = 0; i < in_[2 + tensor]->elements(); ++i) {
        x_ = at(0, tensor, i), g_ = at(1, tensor, i), v_ = at(2, tensor, i), h_ = at(is_adam_ ? 3 : 2, tensor, i);
        update();
        put(y, 0, tensor, i, x_);
        if (is_adam_) put(y, how_.swaps_kinds ? 2 : 1, tensor, i, v_);
        put(y, is_adam_ && !how_.swaps_kinds ? 2 : 1, tensor, i, call_.definition().attribute("mode") ? v_ : h_);
      }
    return y;
  }

 private:
  S real(const char* name) const { return static_cast<S>(call_.real(name)); }
  S at(std::size_t kind, std::size_t tensor, Int i) const {
    const std::size_t other = tensors_ - 1 - tensor;
    const bool mixes = how_.mixes_tensors && kind > 0 && in_[2 + kind * tensors_ + other]->elements() > i;
    return static_cast<S>(number_at(*in_[2 + kind * tensors_ + (mixes ? other : tensor)], i));
  }
  void put(Values& y, std::size_t kind, std::size_t tensor, Int i, S value) const {
    put_number(*y[kind * tensors_ + tensor], i, static_cast<double>(value));
  }

  S raised(S b) const {
    if (!how_.multiplies_powers) return std::pow(b, static_cast<S>(t_));
    S product = 1;
    for (Int i = 0; i < t_; ++i) product *= b;
    return product;
  }

  void step(S rate, S along) {
    const S epsilon = real("epsilon");
    const S root = how_.forgets_root ? h_ : std::sqrt(h_ + (how_.adds_inside ? epsilon : S(0)));
    const S size = root + (how_.adds_inside ? S(0) : epsilon);
    const S change = how_.divides_first ? rate * (along / size) : rate * along / size;
    x_ = how_.climbs ? x_ + change : x_ - change;
  }

  void update() {
    const S before = v_, g = (how_.forgets_norm ? S(0) : real("norm_coefficient") * x_) + g_;
    if (call_.definition().attribute("mode")) {
      v_ = real("alpha") * v_ + (t_ > 0 || how_.forgets_first ? real("beta") : S(1)) * g;
      const S used = how_.takes_old_state ? before : v_;
      const S change = rate_ * (call_.text("mode") == "nesterov" ? g + real("alpha") * used : used);
      x_ = how_.climbs ? x_ + change : x_ - change;
      return;
    }
    if (!is_adam_) {
      const S sum = h_ + g * g;
      if (!how_.takes_old_state) h_ = sum;
      step(how_.forgets_first ? rate_ : rate_ / (1 + static_cast<S>(t_) * real("decay_factor")), g);
      h_ = sum;
      return;
    }
    v_ = real("alpha") * v_ + (1 - real("alpha")) * g;
    h_ = real("beta") * h_ + (1 - real("beta")) * g * g;
    const bool corrects = t_ > 0 && !how_.forgets_first;
    step(corrects ? rate_ * std::sqrt(1 - raised(real("beta"))) / (1 - raised(real("alpha"))) : rate_,
         how_.takes_old_state ? before : v_);
    x_ = (1 - real("norm_coefficient_post")) * x_;
  }

  const Optimizing& how_;
  const Call& call_;
  Inputs in_;
  bool is_adam_ = false;
  std::size_t tensors_ = 1;
  Int t_ = 0;
  S rate_ = 0, x_ = 0, g_ = 0, v_ = 0, h_ = 0;
};

Kernel optimizing(Optimizing how) {
  return [how](const Call& call, Inputs in) {
    const bool is_double = how.in_double || in[2]->dtype() == DType::f64;
    return is_double ? Optimizer<double>(how, call, in).updated() : Optimizer<float>(how, call, in).updated();
  };
}

bool is_optimizer(const std::string& op) { return op == "Momentum" || op == "Adagrad" || op == "Adam"; }

}  // namespace

std::vector<VariantKernel> optimizing_variants(const std::string& op) {
  if (!is_optimizer(op)) return {};
  std::vector<VariantKernel> all{variant_of("sequential", "the formulas in float32", optimizing({})),
                                 variant_of("in-double", "everything in double", optimizing({.in_double = true}))};
  if (op != "Momentum")
    all.push_back(
        variant_of("divides-first", "the step is divided before it is scaled", optimizing({.divides_first = true})));
  if (op == "Adam")
    all.push_back(variant_of("multiplies-powers", "powers are products", optimizing({.multiplies_powers = true})));
  return all;
}

std::vector<Bug> optimizing_bugs(const std::string& op) {
  if (!is_optimizer(op)) return {};
  const auto bug = [&](const char* name, const char* what, Optimizing how) {
    return bug_of(op, name, what, optimizing(how));
  };
  std::vector<Bug> all{bug("forgets-norm", "norm_coefficient is not looked at", {.forgets_norm = true}),
                       bug("climbs", "the step is added", {.climbs = true}),
                       bug("mixes-tensors", "the gradients and states of the other tensor", {.mixes_tensors = true}),
                       bug("takes-old-state", "the state is read before it is updated", {.takes_old_state = true}),
                       bug("forgets-first", "T is not looked at", {.forgets_first = true})};
  if (op != "Momentum")
    for (Bug each : {bug("adds-inside", "epsilon is added under the root", {.adds_inside = true}),
                     bug("forgets-root", "no root is taken", {.forgets_root = true})})
      all.push_back(std::move(each));
  if (op == "Adam") all.push_back(bug("swaps-kinds", "squares stand before gradients", {.swaps_kinds = true}));
  all.push_back(bug("counts-one-more", "T counts from 1", {.counts_one_more = true}));
  return all;
}

}  // namespace assay::mutation
