// SPDX-License-Identifier: Apache-2.0
// The exact answers of SVMRegressor (values-and-graphs 3.8): a sum of products in any order (scores.h), of kernels that
// are sums themselves. With e of each operand, η and the rest of tree.h:
//   |x - s|^2    a sum of squares of differences or, larger, of x x, s s and -2 x s
//   exp(a)       E (exp(e) - 1), the row of exp (functions.h) at |a| + e, and λ
//   b^degree     of a natural number: as a power of |b|, or as a chain of products
#include "oracles/exact/tree_bounds.h"
#include "oracles/families/scores.h"
#include "oracles/rules/rules.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace assay::oracles {
namespace {

class Exponential final : public Node {
 public:
  explicit Exponential(const Tree& of) : Node({of}) { measure(); }
  double error(const Policy& p) const override {
    const double off = operands_[0]->error(p);
    if (!(off < 0.5)) return unproven;
    const double most = size() * std::exp(off) * raised;
    const double own = oracles::bound(Function::exp, std::array{operands_[0]->size() + off}, most, p.working);
    return proven(size() * std::expm1(off) * raised + own + p.imprecision * most + p.vanishing() + lost(p));
  }

 private:
  Real irrational(int bits) const override { return enclosed(Function::exp, std::array{operands_[0]->value(bits)}); }
};

class Machine final : public ScoreModel {
 public:
  Machine(const Call& call, const Operands& in)
      : call_(call),
        x_(*in[0]),
        features_(x_.extent(1)),
        supports_(call.integer("n_supports")),
        kernel_(call.text("kernel_type")),
        weights_(listed("coefficients")),
        vectors_(supports_ == 0 ? weights_ : listed("support_vectors")),
        parameters_(listed("kernel_params")) {}

  Int batch() const override { return x_.extent(0); }
  Int columns() const override { return 1; }
  Int terms() const override { return (features_ + 1) * std::max<Int>(1, supports_) + 1; }
  std::string post() const override { return call_.text("post_transform"); }
  bool multiplies() const override { return true; }

  ScoreRow row(Int n, const Readings&) const override { return {{score(n)}}; }

  std::vector<ProofTerm> taps(Int n) const override { return row_taps(x_, n * features_, features_); }

 private:
  std::vector<Scalar> listed(const std::string& name) const {
    std::vector<Scalar> all;
    if (call_.states(name))
      for (const float each : call_.reals(name)) all.push_back(scalar_of(static_cast<double>(each)));
    return all;
  }

  bool is_finite(Int n) const {
    for (Int j = 0; j < features_; ++j)
      if (!x_.at(n * features_ + j).is_finite()) return false;
    for (const std::vector<Scalar>& list : {weights_, vectors_, parameters_, listed("rho")})
      if (!std::ranges::all_of(list, &Scalar::is_finite)) return false;
    return true;
  }

  Score score(Int n) const {
    if (supports_ == 0) return linear(n);
    if (!is_finite(n)) return {operand(Scalar()), {}, false, "G53"};
    std::vector<Tree> terms{operand(listed("rho").front())};
    for (Int i = 0; i < supports_; ++i) {
      const Tree kernel = kernel_at(n, i);
      if (!kernel) return {operand(Scalar()), {}, false, "G76"};
      terms.push_back(operand(weights_[static_cast<std::size_t>(i)]) * kernel);
    }
    return {sum_of(terms), {}, false, {}};
  }

  Score linear(Int n) const {
    ScoreTerms terms;
    for (Int j = 0; j < features_; ++j) terms.add(x_.at(n * features_ + j), weights_[static_cast<std::size_t>(j)]);
    terms.add(listed("rho").front(), scalar(Int{1}));
    return terms.sum();
  }

  void products(Int n, Int support, std::vector<Tree>& terms) const {
    for (Int j = 0; j < features_; ++j)
      terms.push_back(operand(x_.at(n * features_ + j)) *
                      operand(vectors_[static_cast<std::size_t>(support * features_ + j)]));
  }

  Tree distance(Int n, Int support) const {
    std::vector<Tree> squares, parts;
    for (Int j = 0; j < features_; ++j) {
      const Tree x = operand(x_.at(n * features_ + j)),
                 s = operand(vectors_[static_cast<std::size_t>(support * features_ + j)]), off = x - s;
      squares.push_back(off * off);
      parts.insert(parts.end(), {x * x, s * s, negative(operand(scalar(Int{2})) * (x * s))});
    }
    return either(sum_of(squares), sum_of(parts));
  }

  // Returns none of what is near the end of a power's domain.
  Tree kernel_at(Int n, Int support) const {
    if (kernel_ == "RBF")
      return std::make_shared<Exponential>(negative(operand(parameters_[0]) * distance(n, support)));
    std::vector<Tree> terms;
    products(n, support, terms);
    const Tree dot = sum_of(terms);
    if (kernel_ == "LINEAR") return dot;
    const Tree moved = operand(parameters_[0]) * dot + operand(parameters_[1]);
    return kernel_ == "SIGMOID" ? function_of(Function::tanh, moved) : raised_to(moved, parameters_[2]);
  }
  static Tree raised_to(const Tree& base, const Scalar& degree) {
    const double times = degree.as_double();
    if (times != std::floor(times) || times < 0 || times > 8 || !base->fraction()) return nullptr;
    if (times == 0) return operand(scalar(Int{1}));
    Tree chain = base;
    for (int i = 1; i < static_cast<int>(times); ++i) chain = chain * base;
    if (times == 1) return chain;
    if (base->least() < 1e-2) return nullptr;
    const bool is_negative = *base->fraction() < Ratio{};
    const Tree whole = power(is_negative ? negative(base) : base, degree);
    return either(is_negative && static_cast<int>(times) % 2 == 1 ? negative(whole) : whole, chain);
  }

  Call call_;
  Cells x_;
  Int features_, supports_;
  std::string kernel_;
  std::vector<Scalar> weights_, vectors_, parameters_;
};

// Answers whether a row is of the one class.
class ClassAnswer final : public TreeAnswer {
 public:
  ClassAnswer(std::shared_ptr<const Machine> machine, const Arithmetic& declared)
      : TreeAnswer(DType::f32, declared), machine_(std::move(machine)) {}
  Shape shape() const override { return {machine_->batch(), 1}; }
  std::vector<ProofTerm> taps(Int index) const override { return machine_->taps(index); }

 private:
  Int terms() const override { return machine_->terms(); }
  TreeValue value_at(Int index) const override {
    if (machine_->post() != "NONE") return undefined("G76", "a class that is transformed");
    const Score score = machine_->row(index, Readings()).scores.front();
    if (!score.open_by.empty()) return undefined(score.open_by, "a sum that nothing is said of");
    if (!score.tree) return undefined("G53", "a sum that is no number");
    std::vector<Policy> policies = required_policies(DType::f32);
    std::ranges::copy(wider_policies(DType::f32), std::back_inserter(policies));
    double off = 0x1p-7 * score.tree->size();
    for (const Policy& p : policies) off = std::max(off, score.tree->error(p));
    if (!(score.tree->least() > off)) return one_of("G75", {scalar(Int{1}), scalar(Int{-1})});
    return exactly(scalar(score.tree->value(96).is_positive() ? Int{1} : Int{-1}), DType::f32);
  }

  std::shared_ptr<const Machine> machine_;
};

}  // namespace

Oracle svm_regressor() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
    const auto machine = std::make_shared<const Machine>(call, in);
    if (call.integer("one_class") != 0) return Answers(std::make_unique<ClassAnswer>(machine, declared));
    return Answers(scores_answer(machine, readings, declared));
  };
  oracle.shape = [](const Call& call, const Readings&) { return std::optional(Shape{call.dim("X", 0), 1}); };
  oracle.factors = {"X"};
  return with_touched(std::move(oracle));
}

}  // namespace assay::oracles
