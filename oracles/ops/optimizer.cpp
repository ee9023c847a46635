// SPDX-License-Identifier: Apache-2.0
// The exact answers of Momentum, Adagrad and Adam (reductions 10): trees of the formulas of the text. A rate may be
// worked out in the type of R; a power of T by a function or by T - 1 products.
#include "oracles/exact/operands.h"
#include "oracles/exact/tree.h"
#include "oracles/exact/tree_bounds.h"
#include "oracles/families/normalized.h"
#include "oracles/rules/rules.h"

#include <algorithm>
#include <cmath>

namespace assay::oracles {
namespace {

// Bounds a power that may be a product of so many factors.
class Repeated final : public TreeNode {
 public:
  Repeated(const Tree& of, double factors) : TreeNode({of}, of->fraction()), factors_(factors) {}
  double bound(const Policy& p) const override {
    const double off = operands_[0]->error(p);
    return proven(std::max(off, gamma_of(factors_, p.unit()) * size()) + factors_ * lost(p));
  }

 private:
  double factors_;
};

// Holds a value that may be no number, and whether every arithmetic agrees on which: one that underflows makes 0 of
// what is small, and 0 times an infinity is NaN; one that rounds makes 0, or the other sign, of a sum that nearly
// cancels.
struct Rough {
  double value = 0;
  bool is_sure = true;
};

bool is_far_from_ends(double x) {
  return x == 0 || !std::isfinite(x) || (std::abs(x) > 0x1p-100 && std::abs(x) < 0x1p100);
}

// Tells whether what becomes of two values is as sure as they are: NaN stays NaN beside anything.
bool are_sure(const Rough& a, const Rough& b) {
  const auto is_sure_nan = [](const Rough& x) { return x.is_sure && std::isnan(x.value); };
  return (a.is_sure && b.is_sure) || is_sure_nan(a) || is_sure_nan(b);
}

Rough operator+(const Rough& a, const Rough& b) {
  const double sum = a.value + b.value, size = std::abs(a.value) + std::abs(b.value);
  const bool is_kept = !std::isfinite(size) || size == 0 || std::abs(sum) > 0x1p-14 * size;
  return {sum, are_sure(a, b) && is_kept};
}
Rough operator-(const Rough& a, const Rough& b) { return a + Rough{-b.value, b.is_sure}; }
Rough operator*(const Rough& a, const Rough& b) {
  const double product = a.value * b.value;
  const bool is_lost = product == 0 && a.value != 0 && b.value != 0;
  return {product, are_sure(a, b) && !is_lost && is_far_from_ends(product)};
}
Rough operator/(const Rough& a, const Rough& b) {
  return a * Rough{1 / b.value, b.is_sure && is_far_from_ends(b.value)};
}

// Holds what one element is computed of. The same formulas are read with trees and, where an operand is no number, with
// rough values.
template <class V>
struct Terms {
  V rate, x, g, v, h;  // rate: R
  Int iterations = 0;
};

Tree square_root_of(const Tree& x) { return root(x); }
Rough square_root_of(const Rough& x) { return {std::sqrt(x.value), x.is_sure}; }
Tree raised_to(const Scalar& b, Int t, const Tree&) {
  return std::make_shared<Repeated>(power(operand(b), scalar(t)), static_cast<double>(t));
}
Rough raised_to(const Scalar& b, Int t, const Rough&) { return {std::pow(b.as_double(), static_cast<double>(t))}; }
Tree constant_of(const Scalar& x, const Tree&) { return operand(x); }
Rough constant_of(const Scalar& x, const Rough&) {
  const double value = is_nan(x) ? std::nan("") : x.is_finite() ? x.as_double() : x.negative ? -HUGE_VAL : HUGE_VAL;
  return {value, is_far_from_ends(value)};
}
Tree any_of(const Tree& a, const Tree& b) { return either(a, b); }
Rough any_of(const Rough& a, const Rough& b) {
  const bool is_same = a.value == b.value || (std::isnan(a.value) && std::isnan(b.value));
  return {a.value, are_sure(a, b) && is_same};
}
Tree in_type_of_rate(const Tree& x, DType type) { return type == DType::f32 ? in_format(x, type) : x; }
Rough in_type_of_rate(const Rough& x, DType) { return x; }

// Holds X', V' and H', as far as the operator has them.
template <class V>
struct Updated {
  V x, v, h;
};

class UpdateAnswer final : public TreeAnswer {
 public:
  UpdateAnswer(std::size_t which, const Call& call, const Operands& in, const Arithmetic& declared)
      : TreeAnswer(in[2]->dtype(), declared),
        call_(call),
        is_adam_(call.definition().attribute("norm_coefficient_post")) {
    for (const std::optional<Tensor>& each : in)
      if (each) cells_.emplace_back(*each);
    const std::size_t kinds = is_adam_ ? 4 : 3;
    tensors_ = (cells_.size() - 2) / kinds;
    tensor_ = which % tensors_;
    output_ = which / tensors_;
  }

  Shape shape() const override { return cell(0).shape(); }
  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all{{{hexadecimal(cells_[0].at(0))}, "R"}, {{written(cells_[1].at(0), DType::i64)}, "T"}};
    for (std::size_t kind = 0; kind < (is_adam_ ? 4 : 3); ++kind)
      all.push_back({{hexadecimal(cell(kind).at(index))}, place("input", shape(), index)});
    return all;
  }

 private:
  Int terms() const override { return 4; }
  const Cells& cell(std::size_t kind) const { return cells_[2 + kind * tensors_ + tensor_]; }
  Scalar stated(const char* name) const { return scalar_of(double{call_.real(name)}); }

  template <class V>
  Updated<V> updated(const Terms<V>& in) const {
    const V one = constant_of(scalar(Int{1}), in.x);
    const auto number = [&](const char* name) { return constant_of(stated(name), in.x); };
    const V g = number("norm_coefficient") * in.x + in.g;
    const DType of_rate = cells_[0].tensor().dtype();
    if (call_.definition().attribute("mode")) {
      const V alpha = number("alpha"), v = alpha * in.v + (in.iterations > 0 ? number("beta") : one) * g;
      return {in.x - in.rate * (call_.text("mode") == "nesterov" ? g + alpha * v : v), v, v};
    }
    const auto stepped = [&](const V& rate, const V& along, const V& h) -> V {
      const V size = square_root_of(h) + number("epsilon");
      return in.x - any_of(rate * along / size, rate * (along / size));
    };
    if (!is_adam_) {
      const V h = in.h + g * g, t = constant_of(scalar(in.iterations), in.x);
      return {stepped(in_type_of_rate(in.rate / (one + t * number("decay_factor")), of_rate), g, h), h, h};
    }
    const V alpha = number("alpha"), beta = number("beta");
    const V v = alpha * in.v + (one - alpha) * g, h = beta * in.h + (one - beta) * g * g;
    V rate = in.rate;
    if (in.iterations > 0) {
      const auto missing = [&](const char* name) {
        return stated(name).is_zero() ? one : one - raised_to(stated(name), in.iterations, in.x);
      };
      rate = in_type_of_rate(in.rate * square_root_of(missing("beta")) / missing("alpha"), of_rate);
    }
    return {(one - number("norm_coefficient_post")) * stepped(rate, v, h), v, h};
  }

  // Chooses the value that this output has of them.
  template <class V>
  V chosen(const Updated<V>& all) const {
    if (output_ == 0) return all.x;
    return is_adam_ && output_ == 1 ? all.v : all.h;
  }

  TreeValue value_at(Int index) const override {
    const Scalar rate = cells_[0].at(0), x = cell(0).at(index), g = cell(1).at(index),
                 last = cell(is_adam_ ? 3 : 2).at(index), v = cell(2).at(index);
    const Int t = cells_[1].at(0).as_integer();
    constexpr Int far = 1 << 20;
    if (t > far || t < -far) return unscored("an iteration that a float does not count exactly");
    if (is_adam_)
      for (const char* const name : {"alpha", "beta"})
        if (const double value = stated(name).as_double(); !(value >= 0 && value < 1))
          return unscored("powers of what is negative, or of 1 and more");
    if (!call_.definition().attribute("mode") && last.is_finite() && last.negative && !last.is_zero())
      return unscored("squares that are negative");
    const std::vector<Scalar> all{rate, x, g, v, last};
    if (!std::ranges::all_of(all, &Scalar::is_finite)) return of_no_number(all, t);
    return chosen(updated(Terms<Tree>{operand(rate), operand(x), operand(g), operand(v), operand(last), t}));
  }

  // Tells what becomes of an infinity or NaN beside numbers; a coefficient of 0 may leave it out.
  TreeValue of_no_number(const std::vector<Scalar>& all, Int t) const {
    const auto is_left_out = [&](const char* name) {
      return call_.definition().attribute(name) && stated(name).is_zero();
    };
    if ((!all[1].is_finite() && is_left_out("norm_coefficient")) || is_left_out("alpha") || is_left_out("beta"))
      return unscored("0 times no number, or nothing");
    if (!all[0].is_finite() && output_ > 0) {
      std::vector<Scalar> others = all;
      others[0] = scalar(Int{1});
      if (!std::ranges::all_of(others, &Scalar::is_finite)) return of_no_number(others, t);
      return chosen(updated(
          Terms<Tree>{operand(others[0]), operand(all[1]), operand(all[2]), operand(all[3]), operand(all[4]), t}));
    }
    const auto roughly = [](const Scalar& of) { return constant_of(of, Rough()); };
    const auto [value, is_sure] = chosen(
        updated(Terms<Rough>{roughly(all[0]), roughly(all[1]), roughly(all[2]), roughly(all[3]), roughly(all[4]), t}));
    if (!is_sure) return unscored("an infinity beside what may overflow, underflow or cancel");
    if (std::isnan(value)) return exactly(nan(), dtype());
    if (std::isinf(value)) return exactly(infinity(value < 0), dtype());
    return unscored("a quotient by an infinity");
  }

  Call call_;
  bool is_adam_;
  std::vector<Cells> cells_;
  std::size_t tensors_ = 1, tensor_ = 0, output_ = 0;
};

Oracle updates() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands& in, const Readings&, const Arithmetic& declared) {
    return answers_of<UpdateAnswer>(call, in, declared);
  };
  oracle.shape = [](const Call& call, const Readings&) { return std::optional(call.shape("inputs_0")); };
  return with_touched(std::move(oracle));
}

}  // namespace

Oracle momentum() { return updates(); }
Oracle adagrad() { return updates(); }
Oracle adam() { return updates(); }

}  // namespace assay::oracles
