// SPDX-License-Identifier: Apache-2.0
// The false-alarm test: implementations that are right by construction may never be called wrong.
#include "suites/mutation/variants.h"

#include "generators/generators.h"
#include "reference/sequence.h"
#include "reference/testing/run_size.h"
#include "suites/mutation/kernel_trial.h"
#include "suites/planning/suite.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>

namespace assay::mutation {
namespace {

using oracles::State;

constexpr std::uint64_t seed = 20261121;

// Each of them meets the level asked for under the rulings; the reference kernel is one of them.
std::vector<std::pair<std::string, Kernel>> correct_pupils(const Definition& definition) {
  std::vector<std::pair<std::string, Kernel>> implementations{{"reference", definition.kernel}};
  for (const Variant& v : variants())
    if (v.level == oracles::Level::L2 && v.reading.empty())
      if (auto kernel = variant(v.name, definition.version)) implementations.emplace_back(v.name, *std::move(kernel));
  return implementations;
}

bool has(const Variant& v, const Operator& op) { return variant(v.name, op.versions().back().version).has_value(); }

// The operators that have the variant, each with its share of the cases.
std::vector<std::pair<TypedVersion, std::uint64_t>> syllabus_of(const Variant& v, std::size_t count) {
  const auto ops = filtered(operators(), [&](const Operator* op) { return has(v, *op); });
  std::vector<std::pair<TypedVersion, std::uint64_t>> list;
  for (const Operator* op : ops)
    for (const auto& one : sampled_versions(op->name(), count / ops.size() + 1)) list.push_back(one);
  return list;
}

constexpr std::size_t all_pairs = 20'000;

std::size_t pairs_wanted() {
  const char* required = std::getenv("ASSAY_FALSE_ALARM_PAIRS");
  return required ? std::stoul(required) : thinned(all_pairs);
}

std::uint64_t seed_wanted() {
  const char* required = std::getenv("ASSAY_FALSE_ALARM_SEED");
  return required ? std::stoull(required) : seed;
}

// Tells whether pairs of an operator are asked for: ASSAY_FALSE_ALARM_FAMILY=elements leaves those that map elements,
// a list such as "Conv,MatMul" the operators of those names, any other word those of that domain.
bool is_requested(const Definition& definition) {
  const char* const family = std::getenv("ASSAY_FALSE_ALARM_FAMILY");
  if (!family) return true;
  const bool maps_elements = definition.shaping == Shaping::one || definition.shaping == Shaping::broadcast;
  if (std::string_view(family) == "elements") return maps_elements;
  const OpVersion& version = definition.version;
  const std::string names = "," + std::string(family) + ",";
  return version.domain == family || names.find("," + version.name + ",") != std::string::npos;
}

struct Tally {
  std::map<std::string, std::map<State, std::size_t>> rows;  // "Conv-22 bf16" -> state -> pairs
  std::size_t pairs = 0, unscored_elements = 0, elements = 0;

  void count(const TypedVersion& subject, const oracles::Verdict& verdict) {
    ++rows[text(subject.definition->version) + " " + std::string(name(subject.type))][verdict.state];
    ++pairs;
    elements += static_cast<std::size_t>(verdict.elements);
    unscored_elements += static_cast<std::size_t>(verdict.unscored);
  }
};

std::ostream& operator<<(std::ostream& out, const Tally& tally) {
  for (const auto& [row, states] : tally.rows) {
    out << "  " << std::left << std::setw(24) << row << std::right;
    for (const auto& [state, pairs] : states) out << "  " << name(state) << ' ' << pairs;
    out << '\n';
  }
  return out << "  " << tally.pairs << " pairs; " << tally.unscored_elements << " of " << tally.elements
             << " elements unscored\n";
}

// NaN equals NaN: the sign and payload of the NaN that 0/0 gives are the machine's.
bool same_values(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type() || !is_float(a.dtype())) return a == b;
  return for_value(a.dtype(), [&]<class T>() {
    const std::span<const T> left = a.as<T>(), right = b.as<T>();
    for (std::size_t i = 0; i < left.size(); ++i) {
      const double l = static_cast<double>(left[i]), r = static_cast<double>(right[i]);
      if (std::bit_cast<std::uint64_t>(l) != std::bit_cast<std::uint64_t>(r) && !(l != l && r != r)) return false;
    }
    return true;
  });
}

// The same case over data on which every order of float additions is exact: products of at most 64 in units of
// one, and as many terms as the generator admits stay below 2^24. Float16 and bfloat16 round at most once, at the end.
// Displacements by quarters cost two bits per axis. QLinearConv sums integers, whatever the data.
Case over_exact_data(Case c) {
  if (c.version.name == "QLinearConv") return c;
  for (auto& [input, source] : c.sources) {
    if (!c.definition().input(input)->reads_as.empty()) continue;
    source.recipe = {"small", "5"};
    // e^0 is 1 and e^-4000 nothing: shares of 1.
    if (c.definition().shaping == Shaping::axis) source.recipe = {"lit", "0,-4000,0,0,-4000"};
    if (input == "offset") source.recipe = {"lit", "0,0.5,-0.25,1,-0.75"};
    if (input == "mask") source.recipe = {"sign", "5"};
  }
  return c;
}

// Returns the share of the pairs that a single variant gets: a quarter of it, but under ASSAY_FULL.
std::size_t share(std::size_t part) { return pairs_wanted() / part / (is_full_run() ? 1 : 4); }

std::vector<Case> cases_with_pinned(const Variant& v, std::size_t count) {
  static const std::vector<suites::SuiteCase> pinned = suites::pinned_cases("suites");
  std::vector<Case> list;
  for (const suites::SuiteCase& planned : pinned)
    if (variant(v.name, planned.c.version) && planned.c.is_legal()) list.push_back(planned.c);
  for (const auto& [subject, index] : syllabus_of(v, count))
    list.push_back(generators::legal(*subject.definition, subject.type, seed + 3, index));
  return list;
}

// Tells whether a verdict names the reading of a variant. Where it follows one of each of two rulings, either will do:
// the data need not tell both.
bool names(const oracles::Verdict& verdict, const Variant& v) {
  std::istringstream rulings(v.ruling), readings(v.reading);
  for (std::string ruling, reading; rulings >> ruling && readings >> reading;) {
    const auto follows = [&](const Readings& r) { return r.of(ruling) == reading; };
    if (follows(verdict.readings) || std::ranges::any_of(verdict.also, follows)) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("No correct way to compute an operator is called fail, below or contested", "[variants]") {
  std::size_t implementations = 0, versions = 0;  // every version has the same share of the cases
  for (const Operator* op : operators())
    for (const Definition& definition : op->versions()) {
      implementations += is_requested(definition) ? correct_pupils(definition).size() : 0;
      ++versions;
    }
  Tally tally;
  for (const auto& [subject, index] : sampled_versions("", pairs_wanted() * versions / implementations + versions)) {
    if (!is_requested(*subject.definition)) continue;
    KernelTrial exam(generators::legal(*subject.definition, subject.type, seed_wanted(), index));
    for (const auto& [who, kernel] : correct_pupils(*subject.definition)) {
      const oracles::Verdict& verdict = exam.mark(exam.answer(kernel));
      tally.count(subject, verdict);
      if (verdict.state == State::pass || verdict.state == State::unscored) continue;
      FAIL_CHECK(who << ": " << name(verdict.state) << " (" << verdict.because << ": " << verdict.detail << ") on\n"
                     << line(exam.tested_case()));
    }
  }
  std::cout << "correct variants, seed " << seed_wanted() << ":\n" << tally;
  CHECK(tally.pairs >= pairs_wanted());
}

TEST_CASE("Every correct variant passes every pinned case that is legal", "[variants]") {
  for (const suites::SuiteCase& planned : suites::pinned_cases("suites")) {
    const Definition& definition = planned.c.definition();
    if (!definition.violated(planned.c.call()).empty()) continue;
    KernelTrial exam(planned.c);
    for (const auto& [who, kernel] : correct_pupils(definition)) {
      const oracles::Verdict& verdict = exam.mark(exam.answer(kernel));
      INFO(planned.origin << "\n" << planned.line << "\n" << who << ": " << verdict.because << ": " << verdict.detail);
      CHECK((verdict.state == State::pass || verdict.state == State::unscored));
    }
  }
}

TEST_CASE("Arithmetic that is less accurate by design is below the level, never a breach", "[variants]") {
  for (const Variant& v : variants()) {
    if (v.level == oracles::Level::L2) continue;
    Tally tally;
    std::size_t below = 0;
    for (const auto& [subject, index] : syllabus_of(v, share(4))) {
      KernelTrial exam(generators::legal(*subject.definition, subject.type, seed + 1, index));
      const oracles::Verdict& verdict = exam.mark(exam.answer(*variant(v.name, subject.definition->version)));
      tally.count(subject, verdict);
      below += verdict.state == State::below;
      if (verdict.state == State::pass || verdict.state == State::unscored || verdict.state == State::below) continue;
      FAIL_CHECK(v.name << ": " << name(verdict.state) << " (" << verdict.because << ": " << verdict.detail << ") on\n"
                        << line(exam.tested_case()));
    }
    std::cout << v.name << ", seed " << seed + 1 << ":\n" << tally;
    INFO(v.name);
    if (pairs_wanted() >= all_pairs) CHECK(below > 0);  // fewer need not show it
  }
}

TEST_CASE("Another admissible reading is contested by its name, never a breach", "[variants]") {
  for (const Variant& v : variants()) {
    if (v.reading.empty()) continue;
    Tally tally;
    std::size_t contested = 0;
    for (const Case& c : cases_with_pinned(v, share(8))) {
      KernelTrial exam(c);
      const oracles::Verdict& verdict = exam.mark(exam.answer(*variant(v.name, c.version)));
      tally.count({&c.definition(), c.definition().type_of(c.call(), c.definition().data())}, verdict);
      contested += verdict.state == State::contested;
      if (verdict.state == State::pass || verdict.state == State::unscored) continue;
      if (verdict.state == State::contested && names(verdict, v)) continue;
      FAIL_CHECK(v.name << ": " << name(verdict.state) << " (" << verdict.because << ": " << verdict.detail << ") on\n"
                        << line(c));
    }
    std::cout << v.name << ", seed " << seed + 3 << ":\n" << tally;
    INFO(v.name);
    CHECK(contested > 0);
  }
}

// Cosines, exponentials, the logistic function and fractions of an extent are in these, whatever the data are.
constexpr std::string_view rounding[] = {"HannWindow",
                                         "HammingWindow",
                                         "BlackmanWindow",
                                         "MelWeightMatrix",
                                         "RNN",
                                         "GRU",
                                         "LSTM",
                                         "SoftmaxCrossEntropyLoss",
                                         "AffineGrid",
                                         "Attention",
                                         "LinearAttention",
                                         "CausalConvWithState",
                                         "DFT",
                                         "STFT",
                                         "TreeEnsembleClassifier",
                                         "TreeEnsembleRegressor",
                                         "TreeEnsemble",
                                         "SVMRegressor",
                                         "SVMClassifier",
                                         "DynamicQuantizeMatMul"};

TEST_CASE("The reference kernel and the sequential variant agree in shape and bits on exact data", "[variants]") {
  for (const auto& [subject, index] : sampled_versions("", 2'000)) {
    // Functions of two libraries need not round alike.
    const bool is_function = subject.definition->shaping == Shaping::one || subject.definition->attribute("alpha") ||
                             subject.definition->attribute("p") || subject.definition->attribute("epsilon");
    if (is_function && !subject.definition->ruling("E2")) continue;
    if (std::ranges::count(rounding, subject.definition->version.name) > 0) continue;
    if (subject.definition->ruling("E24")) continue;  // what does not fit may be anything
    if (subject.definition->ruling("M62")) continue;  // coordinates round, whatever the data are
    if (subject.definition->ruling("N8") || subject.definition->version.name.starts_with("ReduceLog"))
      continue;  // so do roots
    const KernelTrial exam(over_exact_data(generators::legal(*subject.definition, subject.type, seed + 2, index)));
    if (oracles::is_random(exam.tested_case().call())) continue;
    const oracles::Outcome reference = exam.answer(subject.definition->kernel);
    const oracles::Outcome sequential = exam.answer(*variant("sequential", subject.definition->version));
    INFO(line(exam.tested_case()));
    REQUIRE(reference.sets.size() == sequential.sets.size());
    for (std::size_t set = 0; set < reference.sets.size(); ++set)
      CHECK(same_values(reference.sets[set][0], sequential.sets[set][0]));
  }
}

TEST_CASE("Every operator is computed sequentially by a variant; others have names of their own", "[variants]") {
  for (const Operator* op : operators()) CHECK(variant("sequential", op->versions().back().version));
  CHECK(variant("f32-multiplier", {"", "QLinearConv", 10}));
  CHECK_FALSE(variant("f32-multiplier", {"", "Conv", 11}));
  CHECK_FALSE(variant("sequential", {"", "Nothing", 22}));
  CHECK_FALSE(variant("sequential", {"com.microsoft", "Conv", 1}));
  CHECK_FALSE(variant("careful", {"", "Conv", 11}));
}

}  // namespace assay::mutation
