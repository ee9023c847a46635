// SPDX-License-Identifier: Apache-2.0
// Expression: what a composite operator computes of one element, as exact real operations. From it follow the exact
// value and, under each policy, how far from it a legitimate evaluation may land (reductions 3).
#pragma once

#include "oracles/exact/enclosure.h"
#include "oracles/exact/real.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay::oracles {

// PolicyName: names a policy, and gives it a key by which bounds are remembered that are worked out under it.
class PolicyName {
 public:
  PolicyName(std::string text = {})
      : text_(std::make_shared<const std::string>(std::move(text))), key_(std::hash<std::string>()(*text_)) {}
  PolicyName(const char* text) : PolicyName(std::string(text)) {}

  const std::string& text() const { return *text_; }
  std::uint64_t key() const { return key_; }
  PolicyName& operator+=(const std::string& more) { return *this = *text_ + more; }
  // Tells this policy from the one that it is a part of, which nobody reads of.
  void tell_apart(int by) { key_ = (key_ ^ static_cast<std::uint64_t>(by)) * 0x9e3779b97f4a7c15; }

 private:
  std::shared_ptr<const std::string> text_;
  std::uint64_t key_;
};

// PerPolicy: remembers what is worked out under each policy, of the first few at hand.
template <class T>
class PerPolicy {
 public:
  template <class F>
  T of(const PolicyName& name, F&& work_out) const {
    for (int i = 0; i < count_; ++i)
      if (first_[i].first == name.key()) return first_[i].second;
    for (const auto& [key, value] : more_)
      if (key == name.key()) return value;
    const T value = work_out();
    if (count_ < std::ssize(first_))
      first_[count_++] = {name.key(), value};
    else
      more_.emplace_back(name.key(), value);
    return value;
  }

 private:
  mutable std::pair<std::uint64_t, T> first_[2];
  mutable int count_ = 0;
  mutable std::vector<std::pair<std::uint64_t, T>> more_;
};

// Policy: how a composite operator may be evaluated, as far as rounding is concerned (reductions 3.1, 3.7). An
// expression has an error under each; it never shrinks where any part of a policy grows.
struct Policy {
  Level level = Level::L2;
  PolicyName arithmetic;    // as a Tolerance names it
  Format working{};         // of functions and sums
  Format nodes{};           // what every node of the body is rounded to; `working` where they are fused
  double truncation = 1;    // 2 where operations need not round to nearest
  Int most_rescalings = 0;  // of an online softmax: reductions 3.4
  double most_ulps = 0;     // of a function, where that is cut
  // A function errs by that much more, relatively; and by 2u of the operands that were scaled before a subtraction.
  double imprecision = 0;
  bool scales_operands = false;
  double input_error = 0, lost_input = 0;  // of inputs, relative and absolute
  bool flushes = false;                    // subnormals of the type, in and out
  bool is_unshifted = false;               // no maximum is subtracted before exp
  bool takes_logarithm = false;            // of a quotient that is rounded, where the logarithms could be subtracted

  double unit() const;       // of a node, truncation included
  double sum_unit() const;   // of an addition
  double smallest() const;   // η of a node
  double vanishing() const;  // what a function may lose absolutely, as its caller hides it: λ
  bool is_fused() const { return nodes.precision == working.precision; }
};

// Those that are asked for at L2, of an operator whose body stands in the registry: fused in f32 (f64 for f64), or
// every node in the type.
const std::vector<Policy>& required_policies(DType type);
// Those beyond, the strongest first.
const std::vector<Policy>& wider_policies(DType type);
// Float64 that is computed in float32, which a body may say (N5).
Policy in_single();
// Those that a backend declares of itself.
std::vector<Policy> declared_policies(DType type, const Arithmetic& declared);

// A double, and how far from it the value may lie that it stands for; NaN where nothing is known.
struct Near {
  double value = std::numeric_limits<double>::quiet_NaN(), off = 0;
};

class Expression {
 public:
  virtual ~Expression() = default;
  // Encloses the value, which is strictly between the ends unless it is exact.
  virtual Real value(int bits) const = 0;
  // Returns what double and the C library tell of it (filter/near_filter.h); nothing where that is not worked out.
  virtual Near near() const { return {}; }
  // No less than |computed - exact|; infinite where nothing is proven.
  virtual double error(const Policy& policy) const = 0;
  // Tells whether an intermediate may overflow, or all of a sum vanish: NaN, infinities and 0 may come of that.
  virtual bool breaks_down(const Policy& policy) const = 0;
  // Tells whether it may be evaluated so: nodes are rounded one by one where the registry has a body.
  virtual bool is_met_by(const Policy& policy) const { return !policy.takes_logarithm; }
};

// No bound at all.
inline constexpr double unproven = std::numeric_limits<double>::infinity();
// Returns γ(n, u), what n roundings of relative size u add up to; unproven from n u = 1/2 on.
double gamma_of(double roundings, double unit);
// Returns a double that is no less than |value|.
double size_of(const Ratio& value);

// An error and what a stand-in may be off, as the short fraction that budgets are, rounded up.
Ratio budget_of(double error, const Ratio& blur);

// Returns how far an evaluation under these policies may miss the value, infinite where nothing is proven; none where
// one of them breaks down.
std::optional<double> required_error(const Expression& of, const std::vector<Policy>& required);

// Makes the element whose value the expression has, asked for at L2; and what is admitted of it beyond.
Element computed(const Expression& of, DType type);
Element computed(const Expression& of, DType type, const std::vector<Policy>& required);
std::vector<Tolerance> tolerances(const Expression& of, const Element& element, DType type, const Arithmetic& declared);

}  // namespace assay::oracles
