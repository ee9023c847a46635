// SPDX-License-Identifier: Apache-2.0
// The laws, checked on ourselves: the exact answers keep them exactly, the reference kernels and every correct variant
// keep them within the enclosures, and each law is broken by planted bugs although no right answer is consulted.
#include "suites/planning/laws.h"

#include "generators/generators.h"
#include "oracles/exact/enclosure.h"
#include "reference/case_view.h"
#include "reference/testing/run_size.h"
#include "suites/mutation/kernel_trial.h"
#include "suites/mutation/mutants.h"
#include "suites/mutation/variants.h"

#include <catch2/catch.hpp>

#include <iostream>
#include <map>
#include <set>

namespace assay::mutation {
namespace {

using suites::LawSampling;
using suites::RelatedCases;

constexpr std::uint64_t seed = 11;

// A case with every law that applies to it.
struct Bound {
  Case c;
  std::vector<RelatedCases> laws;
};

std::vector<Bound> bound(std::string_view op, std::size_t cases) {
  std::vector<Bound> list;
  for (const auto& [subject, index] : sampled_versions(op, cases)) {
    Case c = generators::legal(*subject.definition, subject.type, seed, index);
    std::vector<RelatedCases> laws = suites::related_cases(c, case_id(line(c)), LawSampling::all);
    list.push_back({std::move(c), std::move(laws)});
  }
  return list;
}

std::optional<Tensor> answer_of(const Kernel& kernel, const Case& c) {
  const oracles::Operands data = operands(c, 0);
  try {
    return kernel(c.call(), views(data)).only();
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

bool is_finite(const Tensor& tensor) {
  for (Int i = 0; i < tensor.elements(); ++i)
    if (!oracles::scalar(tensor, i).is_finite()) return false;
  return true;
}

// How one law is broken; empty where it is kept or a case is not answered. The related cases take another path
// in `other`, as they may in a runtime.
std::string breach(const Kernel& kernel, const Kernel& other, const Case& c, const RelatedCases& relation) {
  std::vector<Tensor> answers;
  for (std::size_t i = 0; i <= relation.related.size(); ++i) {
    std::optional<Tensor> answer = i == 0 ? answer_of(kernel, c) : answer_of(other, relation.related[i - 1]);
    if (!answer) return "";
    // Laws are run beside a case that passes: the right shape, and finite where the data are.
    if (i == 0 && (answer->shape() != c.definition().shape(c.call()) || !is_finite(*answer))) return "";
    answers.push_back(*std::move(answer));
  }
  return suites::breach_of_law(c, relation, answers, {});
}

// What the exact answers leave of an equation; nothing where one of them is no number.
std::optional<oracles::Ratio> rest(const std::vector<std::unique_ptr<oracles::Answer>>& answers,
                                   const suites::Equation& equation) {
  oracles::Ratio sum;
  for (const suites::Link& link : equation) {
    const oracles::Element element = answers[link.case_index]->element(link.element);
    if (element.kind != oracles::Kind::finite) return std::nullopt;
    sum = sum + element.value * oracles::Dyadic{link.factor, 0};
  }
  return sum;
}

std::vector<std::unique_ptr<oracles::Answer>> exact_answers(const Case& c, const RelatedCases& relation) {
  std::vector<std::unique_ptr<oracles::Answer>> answers;
  const auto add = [&](const Case& tested_case) {
    oracles::Answers outputs =
        oracles::oracle_of(tested_case.version).answer(tested_case.call(), operands(tested_case, 0), Readings(), {});
    answers.push_back(std::move(outputs.front()));
  };
  add(c);
  for (const Case& related : relation.related) add(related);
  return answers;
}

constexpr std::string_view subjects[] = {"Conv", "AveragePool", "DeformConv", "QLinearConv", "NhwcConv"};

}  // namespace

TEST_CASE("the exact answers keep every law exactly, and the related requests are what their lines say",
          "[laws][metamorphic]") {
  std::map<std::string_view, std::size_t> spoken;
  std::size_t checked = 0;
  for (const std::string_view op : subjects)
    for (const Bound& each : bound(op, count(40, 400)))
      for (const RelatedCases& relation : each.laws) {
        ++spoken[relation.law];
        INFO(relation.law << " of " << line(each.c));
        for (const Case& related : relation.related) {
          const auto parsed = parse_case(line(related));
          REQUIRE(bool(parsed));
          CHECK(operands(*parsed, 0) == operands(related, 0));
        }
        const auto answers = exact_answers(each.c, relation);
        for (std::size_t i = 0; i < relation.equations.size(); i += 1 + relation.equations.size() / 16)
          if (const auto left = rest(answers, relation.equations[i])) {
            ++checked;
            CHECK(left->is_zero());
          }
      }
  CHECK(spoken.size() == suites::laws().size());
  CHECK(checked > 1000);
}

TEST_CASE("the reference kernels break no law", "[laws][metamorphic]") {
  std::map<std::string_view, std::size_t> kept;
  for (const std::string_view op : subjects)
    for (const Bound& each : bound(op, count(120, 500)))
      for (const RelatedCases& relation : each.laws) {
        ++kept[relation.law];
        INFO(line(each.c));
        CHECK(breach(each.c.definition().kernel, each.c.definition().kernel, each.c, relation) == "");
      }
  for (const suites::MetamorphicRelation& law : suites::laws()) {
    INFO(law.id);
    CHECK(kept[law.id] >= 10);
  }
}

// Winograd, narrow accumulation, truncation and the like among them: none is a breach.
TEST_CASE("no correct variant breaks a law, whichever variant answers the related requests", "[laws][variants]") {
  std::size_t pairs = 0, at = 0;
  for (const std::string_view op : subjects)
    for (const Bound& each : bound(op, count(60, 1000))) {
      std::vector<std::pair<std::string, Kernel>> implementations{{"reference", each.c.definition().kernel}};
      for (const Variant& v : variants())
        if (v.reading.empty())
          if (auto kernel = variant(v.name, each.c.version)) implementations.emplace_back(v.name, *std::move(kernel));
      for (const RelatedCases& relation : each.laws)
        for (std::size_t i = 0; i < 4; ++i, at += 5) {
          const auto &first = implementations[at % implementations.size()],
                     &second = implementations[(at / implementations.size()) % implementations.size()];
          INFO(first.first << " and " << second.first << ": " << line(each.c));
          CHECK(breach(first.second, second.second, each.c, relation) == "");
          ++pairs;
        }
    }
  CHECK(pairs > 1000);
}

TEST_CASE("every law is broken by a planted bug, with no right answer consulted", "[laws][mutants]") {
  std::map<std::string_view, std::set<std::string>> broken;
  std::map<std::string_view, std::vector<Bound>> cases;
  for (const std::string_view op : subjects) cases[op] = bound(op, count(60, 300));
  for (const Mutant& bug : mutants())
    for (const Bound& each : cases[bug.op])
      for (const RelatedCases& relation : each.laws) {
        if (broken[relation.law].size() >= 12) continue;  // is enough
        const std::optional<Kernel> kernel = mutant(bug.id, each.c.version);
        if (kernel && !breach(*kernel, *kernel, each.c, relation).empty()) broken[relation.law].insert(bug.id);
      }
  for (const suites::MetamorphicRelation& law : suites::laws()) {
    std::string bugs;
    for (const std::string& id : broken[law.id]) bugs += " " + id;
    INFO(law.id);
    std::cout << "  " << law.id << ":" << bugs << '\n';
    CHECK_FALSE(broken[law.id].empty());
  }
}

}  // namespace assay::mutation
