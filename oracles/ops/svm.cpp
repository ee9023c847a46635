// SPDX-License-Identifier: Apache-2.0
// The exact answers of SVMRegressor and SVMClassifier (values-and-graphs 3.8): sums of products in any order
// (scores.h), of kernels that are sums themselves. With e of each operand, η and the rest of tree.h:
//   |x - s|^2    a sum of squares of differences or, larger, of x x, s s and -2 x s
//   exp(a)       E (exp(e) - 1), the row of exp (functions.h) at |a| + e, and λ
//   b^degree     of a natural number: as a power of |b|, or as a chain of products
//   p of two     e and 2^-7: iterations end at |r p[0] - (1 - r) p[1]| < 0.0025, some at 0.005 off (G36)
// A label may have most votes that none beats in those that are sure: a score's sign is where |s| > e in any
// arithmetic.
#include "oracles/exact/tree_bounds.h"
#include "oracles/families/scores.h"
#include "oracles/rules/rules.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace assay::oracles {
namespace {

class Exponential final : public TreeNode {
 public:
  explicit Exponential(const Tree& of) : TreeNode({of}) {}
  double bound(const Policy& p) const override {
    const double off = operands_[0]->error(p);
    if (!(off < 0.5)) return unproven;
    const double most = size() * std::exp(off) * raised;
    const double own = oracles::bound(Function::exp, std::array{operands_[0]->size() + off}, most, p.working);
    return proven(size() * std::expm1(off) * raised + own + p.imprecision * most + p.vanishing() + lost(p));
  }

 private:
  Real irrational(int bits) const override { return enclosed(Function::exp, std::array{operands_[0]->value(bits)}); }
};

Score open(std::string ruling) { return {operand(Scalar()), {}, false, std::move(ruling)}; }

// Tells whether the sign of a score is the same in every admitted arithmetic.
bool is_sure(const Score& score) { return score.tree->least() > worst_error(score.tree, true); }

// Holds what all machines have: numbers, and a kernel for each support vector.
class Machine : public ScoreModel {
 public:
  Machine(const Call& call, const Operands& in)
      : call_(call),
        x_(*in[0]),
        features_(x_.extent(1)),
        kernel_(call.text("kernel_type")),
        weights_(listed("coefficients")),
        vectors_(listed("support_vectors")),
        offsets_(listed("rho")),
        parameters_(listed("kernel_params")),
        supports_(std::ssize(vectors_) / features_) {}

  Int batch() const override { return x_.extent(0); }
  Int terms() const override { return (features_ + 1) * std::max<Int>(1, supports_) + 1; }
  std::string post() const override { return call_.text("post_transform"); }
  bool multiplies() const override { return true; }
  std::vector<ProofTerm> taps(Int n) const override { return row_taps(x_, n * features_, features_); }

 protected:
  std::vector<Scalar> listed(const std::string& name) const {
    std::vector<Scalar> all;
    if (call_.states(name))
      for (const float each : call_.reals(name)) all.push_back(scalar_of(static_cast<double>(each)));
    return all;
  }

  bool is_finite(Int n) const {
    for (Int j = 0; j < features_; ++j)
      if (!x_.at(n * features_ + j).is_finite()) return false;
    for (const std::vector<Scalar>& list : {weights_, vectors_, parameters_, offsets_})
      if (!std::ranges::all_of(list, &Scalar::is_finite)) return false;
    return true;
  }

  // Scores without support vectors, by a row of coefficients.
  Score linear(Int n, Int row) const {
    ScoreTerms terms;
    for (Int j = 0; j < features_; ++j)
      terms.add(x_.at(n * features_ + j), weights_[static_cast<std::size_t>(row * features_ + j)]);
    terms.add(offsets_.front(), scalar(Int{1}));
    return terms.sum();
  }

  // Returns the kernel of each support vector; none where a number is infinite or NaN.
  std::vector<Tree> kernels(Int n) const {
    std::vector<Tree> all;
    for (Int i = 0; i < supports_ && is_finite(n); ++i) all.push_back(kernel_at(n, i));
    return all;
  }
  // Sums up the kernels that terms name, with coefficients.
  struct Term {
    Int vector, weight;  // their places
  };
  Score score(std::size_t offset, const std::vector<Tree>& kernels, const std::vector<Term>& of) const {
    if (kernels.empty()) return open("G53");
    std::vector<Tree> terms{operand(offsets_[offset])};
    for (const Term& each : of) {
      const Tree& kernel = kernels[static_cast<std::size_t>(each.vector)];
      if (!kernel) return open("G76");
      terms.push_back(operand(weights_[static_cast<std::size_t>(each.weight)]) * kernel);
    }
    return {sum_of(terms), {}, false, {}};
  }

  Call call_;
  Cells x_;
  Int features_;
  std::string kernel_;
  std::vector<Scalar> weights_, vectors_, offsets_, parameters_;
  Int supports_;

 private:
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
};

class Regressor final : public Machine {
 public:
  using Machine::Machine;
  Int columns() const override { return 1; }
  ScoreRow row(Int n, const Readings&) const override { return {{own(n)}}; }

 private:
  Score own(Int n) const {
    std::vector<Term> all;
    for (Int i = 0; i < supports_; ++i) all.push_back({i, i});
    return all.empty() ? linear(n, 0) : score(0, kernels(n), all);
  }
};

// Holds a probability that the iteration of a runtime may miss.
class Coupled final : public TreeNode {
 public:
  explicit Coupled(const Tree& of) : TreeNode({of}) {}
  double bound(const Policy& p) const override { return proven(operands_[0]->error(p) + 0x1p-7); }
};

class Classifier final : public Machine {
 public:
  Classifier(const Call& call, const Operands& in, const Readings& readings)
      : Machine(call, in),
        labels_(count_classes(call, "classlabels_ints")),
        has_pairs_(labels_ > 2 && supports_ > 0 && !call.states("prob_a")),
        is_by_class_(has_pairs_ && readings.of("G77") == "classes") {
    if (supports_ == 0) return;
    Int first = 0;
    for (const Int many : call.ints("vectors_per_class")) {
      first_.push_back(first);
      first += many;
    }
    first_.push_back(first);
  }

  Int columns() const override { return has_pairs_ && !is_by_class_ ? labels_ * (labels_ - 1) / 2 : labels_; }

  ScoreRow row(Int n, const Readings& readings) const override {
    const bool is_open = call_.states("prob_a") && (labels_ > 2 || post() != "NONE");
    if (is_by_class_ || is_open)
      return {std::vector(static_cast<std::size_t>(columns()), open(is_by_class_ ? "G77" : "G36"))};
    std::vector<Score> all = scores(n);
    if (supports_ == 0 || has_pairs_) return {all};
    const Score s = all.front();
    if (call_.states("prob_a")) return {probabilities(s)};
    Score other = opposite(s);
    if (readings.of("G77") == "winner") return {{s, other}, "G77"};
    if (readings.of("G77") == "complement" && post() == "NONE") other.tree = operand(scalar(Int{1})) - s.tree;
    return {{other, s}, "G77"};
  }

  Choice choice(Int n, const Readings& readings) const override {
    if (call_.states("prob_a") && readings.of("G78") == "likeliest") return undefined("G78", "the likeliest label");
    Choice own = supports_ == 0 ? Machine::choice(n, readings) : voted(n);
    if (own.index() == 1 || labels_ > 2 || readings.of("G78") != "second") return own;
    std::vector<std::size_t>& all = std::get<0>(own);
    if (std::ranges::count(all, 1U) == 0) all.insert(all.begin(), 1);
    return own;
  }

 private:
  // Scores each two labels, or each label.
  std::vector<Score> scores(Int n) const {
    std::vector<Score> all;
    const std::vector<Tree> known = kernels(n);
    for (Int i = 0; i < labels_; ++i) {
      if (supports_ == 0) all.push_back(linear(n, i));
      for (Int j = i + 1; j < labels_ && supports_ > 0; ++j) {
        std::vector<Term> terms;
        for (const auto& [label, other] : {std::pair(i, j - 1), std::pair(j, i)})
          for (Int v = first_[static_cast<std::size_t>(label)]; v < first_[static_cast<std::size_t>(label) + 1]; ++v)
            terms.push_back({v, other * supports_ + v});
        all.push_back(score(all.size(), known, terms));
      }
    }
    return all;
  }

  std::vector<Score> probabilities(const Score& s) const {
    if (!s.open_by.empty()) return {s, s};
    const std::vector<Scalar> a = listed("prob_a"), b = listed("prob_b");
    if (!a[0].is_finite() || !b[0].is_finite()) return std::vector(2, open("G53"));
    const Tree moved = operand(a[0]) * s.tree + operand(b[0]);
    const auto share = [](const Tree& of) { return std::make_shared<Coupled>(function_of(Function::sigmoid, of)); };
    return {Score{share(negative(moved)), {}, false, {}}, Score{share(moved), {}, false, {}}};
  }

  // Chooses the labels that may have most votes.
  Choice voted(Int n) const {
    const auto many = static_cast<std::size_t>(labels_);
    Ints exact(many), least(many), most(many);
    const std::vector<Score> all = scores(n);
    auto next = all.begin();
    for (std::size_t i = 0; i < many; ++i)
      for (std::size_t j = i + 1; j < many; ++j) {
        const Score& s = *next++;
        if (!s.open_by.empty()) return undefined(s.open_by, "a score that nothing is said of");
        const std::size_t winner = s.tree->value(96).is_positive() ? i : j;
        const bool is_certain = is_sure(s);
        ++exact[winner], least[winner] += is_certain;
        for (const std::size_t each : {i, j}) most[each] += !is_certain || each == winner;
      }
    const auto beats = [&](std::size_t a, std::size_t b) {
      return least[a] > most[b] || (least[a] == most[b] && a < b);
    };
    const auto best = static_cast<std::size_t>(std::ranges::max_element(exact) - exact.begin());
    std::vector<std::size_t> right{best};
    for (std::size_t k = 0; k < many; ++k) {
      bool is_beaten = k == best;
      for (std::size_t other = 0; other < many; ++other) is_beaten = is_beaten || (other != k && beats(other, k));
      if (!is_beaten) right.push_back(k);
    }
    return right;
  }

  Int labels_;
  bool has_pairs_, is_by_class_;
  Ints first_;  // the first support vector of each label, and how many there are
};

// Answers whether a row is of the one class.
class ClassAnswer final : public TreeAnswer {
 public:
  ClassAnswer(std::shared_ptr<const Regressor> machine, const Arithmetic& declared)
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
    if (!is_sure(score)) return one_of("G75", {scalar(Int{1}), scalar(Int{-1})});
    return exactly(scalar(score.tree->value(96).is_positive() ? Int{1} : Int{-1}), DType::f32);
  }

  std::shared_ptr<const Regressor> machine_;
};

}  // namespace

Oracle svm_regressor() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
    const auto machine = std::make_shared<const Regressor>(call, in);
    if (call.integer("one_class") != 0) return Answers(std::make_unique<ClassAnswer>(machine, declared));
    return Answers(scores_answer(machine, readings, declared));
  };
  oracle.shape = [](const Call& call, const Readings&) { return std::optional(Shape{call.dim("X", 0), 1}); };
  oracle.factors = {"X"};
  return with_touched(std::move(oracle));
}

Oracle svm_classifier() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands& in, const Readings& readings, const Arithmetic& declared) {
    const auto machine = std::make_shared<const Classifier>(call, in, readings);
    Answers all(labels_answer(machine, call, "classlabels_ints", readings));
    all.push_back(scores_answer(machine, readings, declared));
    return all;
  };
  oracle.shape = [](const Call& call, const Readings&) { return std::optional(Shape{call.dim("X", 0)}); };
  oracle.factors = {"X"};
  return with_touched(std::move(oracle));
}

}  // namespace assay::oracles
