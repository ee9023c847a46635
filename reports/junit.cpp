// SPDX-License-Identifier: Apache-2.0
// JUnit XML, in the narrowest reading of the format: valid by the schema of Ant's tasks and by that of Jenkins, so that
// any service shows it. A suite per operator version; a test is red where the case breaks the result of the run.
#include "reference/sequence.h"
#include "reports/render.h"
#include "reports/report.h"
#include "reports/rows.h"

#include <algorithm>
#include <map>
#include <pugixml.hpp>

namespace assay::reports {
namespace {

constexpr const char *failure = "failure", *error = "error";

// One <testsuite>; the numbers are its attributes once all tests are in.
class Suite {
 public:
  Suite(pugi::xml_node parent, const std::string& name, const Json& report)
      : node_(parent.append_child("testsuite")), name_(name) {
    set("name", name);
    set("package", "assay");
    set("id", std::distance(parent.begin(), parent.end()) - 1);
    const Json& run = report.at("run");
    set("timestamp", words(run, "started").substr(0, 19));  // no time zone is admitted
    set("hostname", "localhost");                           // a report does not say whose
    properties_ = node_.append_child("properties");
    property("backend", backend_text(report));
    property("configuration", configuration_text(report));
    property("tool", "assay " + words(report.at("tool"), "version"));
    property("judgement", words(report.at("judgement"), "hash"));
    if (report.contains("suite")) property("suite", words(report.at("suite"), "hash"));
    property("run.seconds", run.at("seconds").dump());
  }

  void property(const std::string& name, const std::string& value) {
    pugi::xml_node property = properties_.append_child("property");
    property.append_attribute("name") = name.c_str();
    property.append_attribute("value") = value.c_str();
  }

  void passes(const std::string& test) { add(test); }
  void skips(const std::string& test, const std::string& why) {
    ++skipped_;
    add(test).append_child("skipped").append_attribute("message") = why.c_str();
  }
  // `outcome`: failure or error.
  void breaks(const std::string& test, const char* outcome, const std::string& type, const std::string& why,
              const std::string& text) {
    ++(outcome == failure ? failures_ : errors_);
    pugi::xml_node node = add(test).append_child(outcome);
    node.append_attribute("type") = type.c_str();
    node.append_attribute("message") = why.c_str();
    node.text().set(text.c_str());
  }

  void finish(const std::string& said) {
    set("tests", tests_);
    set("failures", failures_);
    set("errors", errors_);
    set("skipped", skipped_);
    set("time", 0);  // cases are not timed one by one; the property run.seconds is of all suites together
    node_.append_child("system-out").text().set(said.c_str());
    node_.append_child("system-err");
  }

 private:
  template <class T>
  void set(const char* name, const T& value) {
    if constexpr (std::is_arithmetic_v<T>)
      node_.append_attribute(name) = static_cast<long long>(value);
    else
      node_.append_attribute(name) = std::string(value).c_str();
  }

  pugi::xml_node add(const std::string& name) {
    ++tests_;
    pugi::xml_node test = node_.append_child("testcase");
    test.append_attribute("name") = name.c_str();
    test.append_attribute("classname") = name_.c_str();
    test.append_attribute("time") = "0";
    return test;
  }

  pugi::xml_node node_, properties_;
  std::string name_;
  Int tests_ = 0, failures_ = 0, errors_ = 0, skipped_ = 0;
};

void add_line(std::string& text, const std::string& name, const std::string& value) {
  if (!value.empty()) text += name + value + "\n";
}

std::string index_text(const Json& evidence) {
  return "Y[" + joined(evidence.at("index"), ",", [](const Json& each) { return each.dump(); }) + "] of data set " +
         evidence.at("set").dump();
}

// What a person needs who sees only this test.
std::string story(const CaseRow& row) {
  std::string text = row.line + "\n" + row.state + in_brackets(row.because) + "\n";
  add_line(text, "cause: ", row.cause);
  add_line(text, "", row.detail);
  if (const auto evidence = row.json->find("evidence"); evidence != row.json->end()) {
    text += index_text(*evidence) + ": got " + words(*evidence, "got") + ", want " + words(*evidence, "want") + "\n";
    if (const std::string lower = words(*evidence, "lower"); !lower.empty())
      text += "admitted: [" + lower + ", " + words(*evidence, "upper") + "]\n";
  }
  add_line(text, "marks: ", row.marks());
  add_line(text, "replay: ", row.replay());
  if (row.replay().empty() && row.json->contains("marks"))  // the case passes, a variant of it does not
    for (const Json& mark : row.json->at("marks")) add_line(text, "replay: ", words(mark, "replay", 1 << 16));
  return text;
}

std::string reason(const CaseRow& row) {
  if (row.standing == RowOutcome::expected) return "expected: " + row.marks();
  if (row.standing == RowOutcome::apart)
    return words(*row.json, "class") + " does not decide on conformance; " + row.state + in_brackets(row.because);
  return row.state + in_brackets(row.detail.empty() ? row.because : row.detail);
}

void add_case(Suite& suite, const CaseRow& row) {
  const bool is_marked = row.state == "pass" && !row.marks().empty();
  const std::string type = is_marked ? row.marks() : row.state + in_brackets(row.because);
  const std::string why = row.detail.empty() ? row.marks() : row.detail;
  switch (row.standing) {
    case RowOutcome::passes: return suite.passes(row.line);
    case RowOutcome::breaches: return suite.breaks(row.line, failure, type, why, story(row));
    case RowOutcome::error: return suite.breaks(row.line, error, type, why, story(row));
    default: return suite.skips(row.line, reason(row));
  }
}

void add_cause(Suite& suite, const CauseRow& cause, Int count) {
  const std::string type = (cause.mark.empty() ? cause.state : cause.mark) + in_brackets(cause.because);
  const std::string text = cause.sentence + "\n" + std::to_string(count) +
                           (cause.mark == every_input ? " inputs\n" : " cases here\n") + cause.line +
                           "\nreplay: " + cause.replay + "\n";
  suite.breaks(cause.sentence, cause.state == "error" && cause.mark.empty() ? error : failure, type, cause.detail,
               text);
}

Int total(const Json& counts) {
  Int sum = 0;
  for (const auto& [state, count] : counts.items()) sum += count.get<Int>();
  return sum;
}

// By operator version, in the order of the report.
class Document {
 public:
  explicit Document(const Rendering& rendering) : rendering_(rendering), causes_(causes_of(rendering)) {
    if (rendering.grain == Grain::cases) {
      listed_.emplace(rendering);
      for (const CaseRow& row : listed_->rows()) by_version_[row.op].push_back(&row);
    }
  }

  void write(std::ostream& out) {
    root_ = document_.append_child("testsuites");
    if (rendering_.report.contains("nodes"))
      add_nodes();
    else
      for (const Json& row : rendering_.report.at("operators")) add_version(row);
    if (rendering_.report.contains("graphs")) add_graphs();
    add_ledger();
    add_result();
    document_.save(out, " ", pugi::format_default, pugi::encoding_utf8);
  }

 private:
  // Adds a test per node of a model, by its name, and one per window.
  void add_nodes() {
    const Json& report = rendering_.report;
    Suite suite(root_, words(report.at("model"), "file"), report);
    for (const Json& node : report.at("nodes")) {
      const std::string name = words(node, "name"), state = words(node, "state"), why = words(node, "because");
      const std::optional<oracles::State> found = oracles::state_named(state);
      if (found == oracles::State::pass || found == oracles::State::contested)
        suite.passes(name);
      else if (!found || !breaks_conformance(*found, report.at("mode") == "strict"))
        suite.skips(name, state + in_brackets(why));
      else
        suite.breaks(name, state == "error" ? error : failure, state, why,
                     words(node, "op") + ": " + why + "\n" + replay_of(node));
    }
    for (const Json& window : member(report, "windows")) {
      const std::string name = joined(window.at("nodes").get<std::vector<std::string>>(), " > "),
                        state = words(window, "state");
      const std::string why = words(window, "because");
      if (state == "pass")
        suite.passes(name);
      else if (!window.contains("replay"))
        suite.skips(name, state + in_brackets(why));
      else
        suite.breaks(name, state == "error" ? error : failure, state, why,
                     "replay: " + words(window, "replay", 1 << 16) + "\n");
    }
    suite.finish("nodes of a model\n");
  }

  // Adds a test per cause of drawn graphs, and one that the others pass.
  void add_graphs() {
    const Json& graphs = rendering_.report.at("graphs");
    Suite suite(root_, "drawn graphs", rendering_.report);
    for (const Json& cause : graphs.at("causes")) {
      const std::string state = words(cause, "state"), text = words(cause, "text", 4000);
      suite.breaks(text, state == "error" ? error : failure, state, words(cause, "detail"),
                   "replay: " + words(cause, "replay", 1 << 16) + "\n");
    }
    if (graphs.at("totals").at("pass") > 0) suite.passes("graphs with one right answer");
    suite.finish(graphs.at("graphs").dump() + " graphs drawn\n");
  }

  // The line that replays the cause of a node.
  std::string replay_of(const Json& node) const {
    if (!node.contains("cause")) return "";
    const Json& cause = rendering_.report.at("causes").at(node.at("cause").get<std::size_t>() - 1);
    return words(cause, "sentence") + "\nreplay: " + words(cause, "replay", 1 << 16) + "\n";
  }

  void add_version(const Json& row) {
    const std::string op = words(row, "op");
    const Json& counts = row.at("counts");
    Suite suite(root_, op, rendering_.report);
    std::string said = op + ": ";
    if (!rendering_.is_fuzz()) said += words(row, "certified") + ", ";
    said += cases(total(counts)) + ":";
    for (const auto& [state, count] : counts.items())
      if (count != 0) said += " " + count.dump() + " " + state;
    rendering_.grain == Grain::cases ? add_cases(suite, op, total(counts)) : add_causes(suite, op, counts);
    suite.finish(said + "\n");
  }

  void add_cases(Suite& suite, const std::string& op, Int invocation) {
    const auto& rows = by_version_[op];
    for (const CaseRow* row : rows) add_case(suite, *row);
    for (const CauseRow& cause : causes_)
      if (cause.mark == every_input && cause.versions.contains(op)) add_cause(suite, cause, cause.count);
    const Int others = invocation - static_cast<Int>(rows.size());
    if (others > 0) suite.passes(cases(others) + " in which nothing was found");  // of a campaign
  }

  void add_causes(Suite& suite, const std::string& op, const Json& counts) {
    Int told = 0;
    for (const CauseRow& cause : causes_) {
      const auto found = cause.versions.find(op);
      if (found == cause.versions.end()) continue;
      add_cause(suite, cause, found->second);
      told += cause.mark.empty() ? found->second : 0;
    }
    const Int skipped =
        counts.value("unsupported", Int{0}) + counts.value("unscored", Int{0}) + counts.value("not run", Int{0});
    if (skipped > 0) suite.skips(cases(skipped) + " unsupported, unscored or not run", "nothing was found out");
    if (total(counts) > told + skipped)
      suite.passes(cases(total(counts) - told - skipped) + " in which nothing was found that counts");
  }

  // An entry that is expired, unused or passing breaks the run, so it is red here too.
  void add_ledger() {
    const auto ledger = rendering_.report.find("ledger");
    if (ledger == rendering_.report.end() || !ledger->is_object()) return;
    Suite suite(root_, "ledger", rendering_.report);
    for (const Json& entry : ledger->at("entries")) {
      const std::string id = words(entry, "id");
      const auto& complaints = ledger->at("complaints");
      const auto complaint =
          std::ranges::find_if(complaints, [&](const Json& each) { return words(each, "entry") == id; });
      if (complaint == complaints.end()) {
        suite.passes(id);
      } else {
        const std::string detail = words(*complaint, "detail");
        suite.breaks(id, failure, words(*complaint, "kind"), detail,
                     detail + "\nreason: " + words(entry, "reason") + "\n");
      }
    }
    suite.finish("entries of the ledger of expected breaches\n");
  }

  // A run in which nothing could be judged must not be green.
  void add_result() {
    if (result_text(rendering_) != "not certified") return;
    Suite suite(root_, "certificate", rendering_.report);
    suite.breaks("something was judged", failure, "not certified", "no case that decides could be judged", "");
    suite.finish("not certified\n");
  }

  const Rendering& rendering_;
  std::vector<CauseRow> causes_;
  std::optional<CaseRows> listed_;
  std::map<std::string, std::vector<const CaseRow*>> by_version_;
  pugi::xml_document document_;
  pugi::xml_node root_;
};

}  // namespace

void write_junit(const Rendering& rendering, std::ostream& out) { Document(rendering).write(out); }

}  // namespace assay::reports
