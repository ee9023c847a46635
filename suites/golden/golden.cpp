// SPDX-License-Identifier: Apache-2.0
#include "suites/golden/golden.h"

#include "oracles/judging/case_class.h"
#include "oracles/judging/expected.h"
#include "suites/workers/vector_folder.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>

namespace assay::suites {
namespace {

using Json = nlohmann::ordered_json;

// Ascending numbers as runs: [[0,3],[7,7]].
Json runs(const std::vector<Int>& numbers) {
  Json all = Json::array();
  for (const Int number : numbers) {
    if (!all.empty() && all.back()[1] == number - 1)
      all.back()[1] = number;
    else
      all.push_back({number, number});
  }
  return all;
}

// What the intervals of one data set cannot say.
Json exceptions_json(const oracles::Admissible& set) {
  Json json = Json::object();
  if (!set.or_zero.empty()) json["or_zero"] = runs(set.or_zero);
  for (const auto& [ruling, elements] : set.or_nan) json["or_nan"][ruling] = runs(elements);
  if (!set.widest_or_nonfinite.empty()) json["widest_or_nonfinite"] = runs(set.widest_or_nonfinite);
  return json;
}

// A folder under construction.
struct GoldenCaseBuilder {
  const SuiteCase& planned;
  GoldenCase golden;

  const Case& c() const { return planned.c; }

  void add(const std::string& file, std::string bytes) {
    golden.files.push_back({golden.folder() + "/" + file, std::move(bytes)});
  }

  void add_case() {
    add("model.onnx", model_of(c()));
    for (int set = 0; set < data_sets; ++set) {
      std::vector<std::string> inputs = graph_inputs(c(), set);
      for (std::size_t i = 0; i < inputs.size(); ++i)
        add(data_set_name(set) + "/" + tensor_name("input", static_cast<int>(i)), std::move(inputs[i]));
    }
  }

  void add_answer(int set, int output, const std::string& name, const oracles::Admissible& admissible) {
    const std::string bounds = "bounds_" + std::to_string(set) + "/";
    add(data_set_name(set) + "/" + tensor_name("output", output), encode_tensor(admissible.output, name));
    add(bounds + tensor_name("lower", output), encode_tensor(admissible.lower, name));
    add(bounds + tensor_name("upper", output), encode_tensor(admissible.upper, name));
    add(bounds + tensor_name("widest_lower", output), encode_tensor(admissible.widest_lower, name));
    add(bounds + tensor_name("widest_upper", output), encode_tensor(admissible.widest_upper, name));
  }

  Json head() const {
    return {{"assay", 1},
            {"line", planned.line},
            {"id", case_id(planned.line)},
            {"operator", text(c().version)},
            {"class", oracles::class_of(c())}};
  }

  void add_json(const Json& json) {
    constexpr int indent = 1;
    add("case.json", json.dump(indent) + "\n");
  }

  void reject(const std::vector<std::string>& violated) {
    golden.golden_kind = GoldenKind::rejected;
    Json json = head();
    for (const std::string& id : violated) {
      const std::string constraint = c().version.name + "." + id;
      golden.because += (golden.because.empty() ? "" : " ") + constraint;
      json["breaks"].push_back(constraint);
    }
    add_case();
    add_json(json);
  }

  void leave_unscored(const std::string& why) {
    golden.golden_kind = GoldenKind::unscored;
    golden.because = why;
    add_case();
    Json json = head();
    json["rulings"] = oracles::touched(c());
    json["unscored"] = why;
    add_json(json);
  }

  // Per data set, per output.
  void accept(const std::vector<std::vector<oracles::Admissible>>& sets) {
    add_case();
    std::set<std::string> arithmetic, widest;
    Json exceptions = Json::array();
    const std::vector<std::string> names = c().call().requested_outputs();
    for (std::size_t set = 0; set < sets.size(); ++set) {
      Json of_outputs = Json::array();
      for (std::size_t output = 0; output < sets[set].size(); ++output) {
        const oracles::Admissible& one = sets[set][output];
        add_answer(static_cast<int>(set), static_cast<int>(output), names[output], one);
        arithmetic.insert(one.arithmetic.begin(), one.arithmetic.end());
        widest.insert(one.widest_arithmetic.begin(), one.widest_arithmetic.end());
        of_outputs.push_back(exceptions_json(one));
      }
      exceptions.push_back(names.size() == 1 ? of_outputs.front() : of_outputs);
    }
    Json json = head();
    json["rulings"] = oracles::touched(c());
    json["level"] = level_of(sets.front().front().output.dtype());
    json["arithmetic"] = arithmetic;
    json["widest_arithmetic"] = widest;
    json["sets"] = exceptions;
    add_json(json);
  }

  std::string_view level_of(DType type) const {
    if (!oracles::oracle_of(c().version).rounds) return oracles::name(oracles::Level::L0);
    return is_float(type) ? oracles::name(oracles::Level::L2) : "Q1";
  }
};

}  // namespace

std::string_view name(GoldenKind golden_kind) {
  switch (golden_kind) {
    case GoldenKind::valid: return "valid";
    case GoldenKind::unscored: return "unscored";
    case GoldenKind::rejected: return "rejected";
  }
  throw BrokenPromise("a shelf without a name");
}

std::string GoldenCase::folder() const { return std::string(suites::name(golden_kind)) + "/" + name; }

std::string golden_name(const SuiteCase& planned) {
  const OpVersion& version = planned.c.version;
  std::string words = version.domain + (version.domain.empty() ? "" : "_") + version.name;
  for (char& letter : words)
    letter = letter == '.' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return "test_" + words + "_" + std::to_string(version.since_version) + "_" +
         case_id(planned.line).substr(0, digits_of_id);
}

GoldenCase golden_case(const SuiteCase& planned) {
  GoldenCaseBuilder folding{planned, {GoldenKind::valid, golden_name(planned), "", {}}};
  if (const auto violated = planned.c.definition().violated(planned.c.call()); !violated.empty()) {
    folding.reject(violated);
    return std::move(folding.golden);
  }
  std::vector<std::vector<oracles::Admissible>> sets;
  for (int set = 0; set < data_sets; ++set) {
    Result<std::vector<oracles::Admissible>> admissible = oracles::admissible(planned.c, set);
    if (!admissible) {
      folding.leave_unscored(admissible.error());
      return std::move(folding.golden);
    }
    sets.push_back(*std::move(admissible));
  }
  folding.accept(sets);
  return std::move(folding.golden);
}

}  // namespace assay::suites
