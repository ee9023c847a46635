// SPDX-License-Identifier: Apache-2.0
// Pieces: members that more than one kind of report has, as JSON.
#pragma once

#include "oracles/judging/error_map.h"
#include "reports/report.h"
#include "suites/triage/account.h"
#include "suites/triage/fuzz.h"

#include <nlohmann/json.hpp>

#include <map>
#include <ostream>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace assay::reports {

using Json = nlohmann::ordered_json;

// Rounded to so many digits: "0.743".
std::string in_digits(double value, int digits);
std::string dumped(const Json& json);                          // a backend's words may be any bytes
std::string_view name_of(suites::VariantSampling presenting);  // "sample"
std::string_view name_of(suites::LawSampling laws);
Json counts_json(const Counts& counts);
Json tool_json(const Invocation& invocation);
Json standard_json();
Json judgement_json();
// Its name, source and restrictions with their tags.
Json profile_json(const Profile& profile);
Json backend_json(const Invocation& invocation, const suites::Description& described);
Json evidence_json(const oracles::Evidence& evidence);
Json run_json(const Run& run, std::size_t reached);
Json mark_json(const Invocation& invocation, std::string_view line, const suites::Mark& mark,
               std::size_t cause = suites::no_cause);
// `replay`: of its smallest finding.
Json cause_json(const suites::Cause& cause, std::span<const suites::Finding> findings, std::string_view replay);
// "Conforms except where", of one operator version and one cause.
Json exception_json(const Exception& exception);
Json errors_json(const std::map<DType, suites::Errors>& errors);
std::map<DType, suites::Errors> errors_of(const Json& errors);
Json ruling_json(const RulingRow& row);
Json level_json(std::optional<oracles::Level> level);
Json types_json(const std::map<DType, Counts>& types);
// What one function gives over every input of a type, and how to see what is wrong with it again.
Json accuracy_json(const suites::Accuracy& of, const Invocation& invocation);
// Adds what a finding is explained by: its clauses, the evidence, the picture of its errors, the account.
void add_explanation(Json& json, const Invocation& invocation, const suites::Description& described,
                     const suites::Finding& finding);
// Constraints and rulings by id, "Conv.C6" and "A8", in their order: the words of `assay explain`.
Json clauses_json(const std::set<std::string>& ids);
Json coverage_json(const suites::CoverageRow& row);
// What came back was held against the right answer.
bool is_judged(oracles::State state);
std::map<suites::Signature, Int> signatures_of(std::span<const suites::Failure> failures);
Json signature_json(const std::pair<const suites::Signature, Int>& signature);

// Members in order, elements of lists on lines of their own, so that two reports can be compared with diff.
class Document {
 public:
  explicit Document(std::ostream& out) : out_(out) { out_ << "{"; }
  ~Document() { out_ << "\n}\n"; }
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  void member(std::string_view name, const Json& value) {
    begin(name);
    out_ << dumped(value);
  }
  template <class List, class F>
  void list(std::string_view name, const List& list, F&& element) {
    begin(name);
    std::string_view separator = "[\n";
    for (const auto& each : list) {
      out_ << separator << "    " << dumped(element(each));
      separator = ",\n";
    }
    out_ << (separator == "[\n" ? "[]" : "\n  ]");
  }

 private:
  void begin(std::string_view name) {
    out_ << (first_ ? "\n  " : ",\n  ") << '"' << name << "\": ";
    first_ = false;
  }
  std::ostream& out_;
  bool first_ = true;
};

}  // namespace assay::reports
