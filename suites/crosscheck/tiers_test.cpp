// SPDX-License-Identifier: Apache-2.0
// The filter says to the byte what the exact oracle says: of right outputs, of honest weaker ones, of every planted bug
// and of answers that are off by a little, over the pinned cases and over generated ones of every version and type.
#include "generators/generators.h"
#include "oracles/exact/operands.h"
#include "oracles/filter/filter.h"
#include "oracles/judging/judge.h"
#include "reference/testing/run_size.h"
#include "suites/campaign/verdict_bytes.h"
#include "suites/mutation/kernel_trial.h"
#include "suites/mutation/mutants.h"
#include "suites/mutation/variants.h"
#include "suites/planning/suite.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

namespace assay::mutation {
namespace {

using oracles::Outcome;
using oracles::Tier;

std::string bytes_of(const oracles::Verdict& verdict) { return suites::bytes_of({verdict, {}}); }

// One case judged by both tiers.
class Both {
 public:
  explicit Both(const Case& c)
      : exact_(c, {oracles::Level::L2, {}, Tier::exact}), fast_(c, {oracles::Level::L2, {}, Tier::fast}) {}

  bool agree(const Outcome& outcome) const {
    const oracles::Verdict exact = exact_.judge(outcome), fast = fast_.judge(outcome);
    const auto same = [](const oracles::Offender& a, const oracles::Offender& b) {
      return a.set == b.set && a.index == b.index && hexadecimal(a.got) == hexadecimal(b.got);
    };
    return bytes_of(exact) == bytes_of(fast) &&
           std::ranges::equal(exact_.offenders(outcome, exact), fast_.offenders(outcome, fast), same);
  }

 private:
  oracles::Judge exact_, fast_;
};

// Some numbers one step up or down in their bits: next to right, signs, infinities and NaN included.
Outcome shaken(Outcome outcome, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::vector<Tensor>& set : outcome.sets)
    for (Tensor& tensor : set) {
      if (tensor.dtype() == DType::string) continue;
      const std::size_t size = size_of(tensor.dtype());
      const std::uint64_t mask = seed % 4 == 0 ? 0xff : seed % 4 == 1 ? 1 : 3;
      for (std::size_t at = 0; at < tensor.bytes().size(); at += size) {
        if (random() % 4 != 0) continue;
        std::byte& low = tensor.bytes()[at];
        low = static_cast<std::byte>(std::to_integer<std::uint64_t>(low) + (random() & mask));
        if (random() % 64 == 0) tensor.bytes()[at + size - 1] ^= static_cast<std::byte>(0x80);
      }
    }
  return outcome;
}

// Counts what the filter decided, and what it left to the exact oracle of numbers: NaN and infinities always are.
struct Share {
  Int right = 0, undecided = 0;
};

// The filters of these bound a row or a band of weights together, and leave a sixth and more to the exact oracle.
bool leaves_much(const std::string& op) { return op == "Attention" || op == "MelWeightMatrix"; }

void put(const Case& c, std::uint64_t turn, Share& share) {
  INFO(line(c));
  KernelTrial exam(c);
  const Both both(c);
  const Outcome right = exam.answer(c.definition().kernel);
  REQUIRE(both.agree(right));
  if (right.kind != Outcome::Kind::outputs) return;
  REQUIRE(both.agree(shaken(right, turn)));
  for (int set = 0; set < data_sets; ++set) {
    const oracles::Operands in = operands(c, set);
    const Tensor& output = right.sets[static_cast<std::size_t>(set)][0];
    const auto screening = oracles::oracle_of(c.version).answer(c.call(), in, {}, {}).front()->screen(output, {});
    if (!screening || screening->has_empty) continue;  // an average over no cell is not the filter's to decide
    if (leaves_much(c.version.name)) continue;
    share.right += screening->right;
    share.undecided +=
        std::ranges::count_if(screening->undecided, [&](Int at) { return oracles::scalar(output, at).is_finite(); });
  }
  const auto& all = variants();
  const Variant& variant_now = all[turn % all.size()];
  if (const auto kernel = variant(variant_now.name, c.version)) {
    INFO(variant_now.name);
    REQUIRE(both.agree(exam.answer(*kernel)));
  }
  for (std::size_t i = 0; i < mutants().size(); ++i) {
    const Mutant& m = mutants()[i];
    if (m.op != c.version.name || (turn + i) % 16 != 0) continue;
    INFO(m.id);
    REQUIRE(both.agree(exam.answer(*mutant(m.id, c.version))));
  }
}

}  // namespace

TEST_CASE("Both tiers say the same of the pinned cases", "[tiers]") {
  Share share;
  std::uint64_t turn = 0;
  for (const suites::SuiteCase& planned : suites::pinned_cases("suites"))
    if (planned.c.is_legal()) put(planned.c, ++turn, share);
  CHECK(share.right > 1'000);
}

TEST_CASE("Both tiers say the same of generated cases of every version and type", "[tiers]") {
  Share share;
  std::uint64_t turn = 0;
  for (const auto& [subject, index] : sampled_versions("", count(1'500, 40'000)))
    put(generators::legal(*subject.definition, subject.type, 11, index), ++turn, share);
  INFO(share.right << " decided, " << share.undecided << " not");
  CHECK(share.right > 20 * share.undecided);  // those left are mostly exact ties, of which this data is full
}

}  // namespace assay::mutation
