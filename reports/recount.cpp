// SPDX-License-Identifier: Apache-2.0
#include "reports/recount.h"

#include "reference/case.h"
#include "reference/operator.h"
#include "reference/sequence.h"
#include "reports/reported_verdict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

namespace assay::reports {
namespace {

using Json = nlohmann::json;

constexpr std::array words{"pass",     "contested",   "below",   "fail",  "unscored",
                           "accepted", "unsupported", "refused", "error", "not run"};
constexpr std::array levels{"L0", "L1", "L2", "L2t", "L3", "widest"};

Json no_counts() {
  Json counts = Json::object();
  for (const char* word : words) counts[word] = 0;
  return counts;
}

void add(Json& counts, const std::string& word, int more = 1) {
  if (!counts.contains(word)) counts[word] = 0;
  counts[word] = counts[word].get<std::int64_t>() + more;
}

// Returns the rows of a table, in the order of their keys.
template <class Key>
Json values_of(const std::map<Key, Json>& rows) {
  return transformed<Json>(rows, [](const auto& row) { return row.second; });
}

// Returns the level that claims less, of two that are each null or a word.
Json weaker(const Json& a, const Json& b) {
  if (a.is_null() || b.is_null()) return a.is_null() ? b : a;
  const auto rank = [](const Json& level) { return std::ranges::find(levels, level.get<std::string>()); };
  return rank(a) < rank(b) ? b : a;
}

bool has_counting_mark(const ReportedVerdict& verdict) {
  return std::ranges::any_of(own_marks(verdict), [&](const Json& mark) {
    return mark.at("breaches").get<bool>() && !is_excused(verdict, text_of(mark, "mark"));
  });
}

// Tells whether it ended a session that crashed, and nobody agreed to that: it counts whatever the class.
bool has_crashed_session(const ReportedVerdict& verdict) {
  const std::vector<std::string> all = verdict.counted();
  return std::find(all.begin() + 1, all.end(), "error") != all.end() && !is_excused(verdict, "session");
}

// "not conforming" wins over "conforms", that over "not certified".
std::string worse(const std::string& a, const std::string& b) {
  for (const char* word : {"not conforming", "conforms", "certified"})
    if (a == word || b == word) return word;
  return "not certified";
}

// Returns the power of two a measure lies at or above, within the bins a report has.
int bin_of(const Json& measure) {
  constexpr int first = -24, last = 40;
  if (measure.is_null()) return last;  // no JSON number: infinite
  int exponent = 0;
  std::frexp(measure.get<double>(), &exponent);
  return std::clamp(exponent - 1, first, last);
}

void count_bin(std::map<int, std::array<std::int64_t, 2>>& bins, const Json& measure, bool is_outside) {
  if (measure.is_null() || measure.get<double>() > 0) ++bins[bin_of(measure)][is_outside ? 1 : 0];
}

Json bins_of(const std::map<int, std::array<std::int64_t, 2>>& bins) {
  return transformed<Json>(bins, [](const auto& bin) {
    return Json{{"bin", bin.first}, {"inside", bin.second[0]}, {"outside", bin.second[1]}};
  });
}

// How far off the values of one type were.
struct Distances {
  std::int64_t cases = 0, exact = 0, special = 0;
  std::map<int, std::array<std::int64_t, 2>> ulp, share;

  void add(const ReportedVerdict& verdict) {
    const bool is_outside = verdict.word == "below" || verdict.word == "fail";
    const Json& elements = verdict.member("elements");
    if (!verdict.is_judged() || elements.is_null() || elements <= verdict.member("unscored")) return;
    ++cases;
    const Json& off = verdict.member("worst_ulp");
    if (off.is_number() && off == 0.0) ++(is_outside ? special : exact);
    count_bin(ulp, off, is_outside);
    count_bin(share, verdict.member("worst_share"), is_outside);
  }
};

Json errors_of(const std::vector<const ReportedVerdict*>& verdicts) {
  std::map<std::optional<DType>, Distances> by_type;  // in the order reports have types in
  for (const ReportedVerdict* verdict : verdicts) by_type[dtype_named(verdict->type)].add(*verdict);
  Json all = Json::array();
  for (const auto& [type, own] : by_type)
    if (type && own.cases > 0)
      all.push_back({{"type", name(*type)},
                     {"cases", own.cases},
                     {"exact", own.exact},
                     {"special", own.special},
                     {"ulp", bins_of(own.ulp)},
                     {"share", bins_of(own.share)}});
  return all;
}

Json no_standing() { return {{"certified", "not certified"}, {"legal", 0}, {"judged", 0}, {"level", nullptr}}; }

// Adds what one verdict does to what is certified.
void stand(Json& standing, const ReportedVerdict& verdict, bool strict) {
  const bool breach = breaks(verdict.word, strict) && !is_excused(verdict, verdict.word);
  std::string said = "not certified";
  if (breach && (verdict.decides() || verdict.word == "error")) said = "not conforming";
  if (has_crashed_session(verdict)) said = "not conforming";
  if (verdict.decides()) {
    add(standing, "legal");
    if (has_counting_mark(verdict)) said = "not conforming";
    if (verdict.is_judged()) {
      add(standing, "judged");
      said = worse(said, "conforms");
      if (verdict.word == "pass") standing["level"] = weaker(standing["level"], verdict.level);
    }
  }
  standing["certified"] = worse(text_of(standing, "certified"), said);
}

// Returns what the report says of one operator version.
Json report_row(const std::string& op, const std::vector<const ReportedVerdict*>& verdicts, bool strict) {
  Json row = no_standing();
  row.update({{"op", op},
              {"counts", no_counts()},
              {"types", Json::object()},
              {"standings", Json::object()},
              {"errors", errors_of(verdicts)}});
  for (const ReportedVerdict* verdict : verdicts) {
    if (!row["types"].contains(verdict->type)) {
      row["types"][verdict->type] = no_counts();
      row["standings"][verdict->type] = no_standing();
    }
    for (const std::string& word : verdict->counted())
      if (!verdict->counts_apart(word)) add(row["counts"], word), add(row["types"][verdict->type], word);
    stand(row, *verdict, strict);
    stand(row["standings"][verdict->type], *verdict, strict);
  }
  for (const ReportedVerdict* verdict : verdicts) {
    if (!verdict->decides() || verdict->word != "not run") continue;
    for (Json* standing : {&row, &row["standings"][verdict->type]})
      if (standing->at("certified") == "conforms") (*standing)["certified"] = "not certified";
  }
  return row;
}

// Returns the level that all outputs meet.
const char* level_over(const Json& function) {
  const Json& counts = function.at("counts");
  const bool is_faithful = counts.at("within the bound") == 0 && counts.at("below") == 0 && counts.at("fail") == 0;
  return !is_faithful ? "L2" : counts.at("faithful") != 0 ? "L1" : "L0";
}

// Adds what is known of every input to what the report says of an operator version.
void add_every_input(const Json& report, Json& row) {
  for (const Json& function : functions_of(report)) {
    if (function.at("op") != row.at("op") || function.at("unsupported")) continue;
    const auto type = row["standings"].find(text_of(function, "type"));
    for (Json* standing : {&row, type == row["standings"].end() ? nullptr : &*type}) {
      if (!standing) continue;
      if (breaks(function)) (*standing)["certified"] = "not conforming";
      if (function.at("inputs") != 0) (*standing)["level"] = weaker(standing->at("level"), level_over(function));
    }
  }
}

// Adds the same to what a certificate says of a type.
void add_every_input(const Json& report, const std::string& op, Json& row) {
  for (const Json& function : functions_of(report)) {
    if (function.at("op") != op || function.at("type") != row.at("type") || function.at("inputs") == 0) continue;
    row["level"] = row["counts"]["fail"] != 0 || function.at("counts").at("fail") != 0
                       ? Json()
                       : weaker(row["level"], level_over(function));
    for (const char* word : {"below", "fail"})
      if (function.at("counts").at(word) != 0)
        row["breaches"].push_back({{"word", word},
                                   {"because", "over every input"},
                                   {"cases", function.at("counts").at(word)},
                                   {"first", case_id(text_of(function.at("breaches").at(0), "line"))}});
    std::sort(row["breaches"].begin(), row["breaches"].end(), [](const Json& a, const Json& b) {
      return std::pair(text_of(a, "word"), text_of(a, "because")) <
             std::pair(text_of(b, "word"), text_of(b, "because"));
    });
  }
}

Json totals_of(const std::vector<ReportedVerdict>& verdicts, bool apart = false) {
  Json totals = no_counts();
  for (const ReportedVerdict& verdict : verdicts)
    for (const std::string& word : verdict.counted())
      if (verdict.counts_apart(word) == apart) add(totals, word);
  return totals;
}

Json rulings_of(const std::vector<ReportedVerdict>& verdicts) {
  std::map<std::pair<std::size_t, std::string>, Json> rows;  // A3 before A10
  for (const ReportedVerdict& verdict : verdicts)
    for (const auto& [id, reading] : verdict.member("followed").items()) {
      Json& row = rows[{id.size(), id}];
      const Ruling* ruling = find_ruling(id);
      if (row.is_null()) row = {{"id", id}, {"title", ruling ? ruling->title : ""}, {"followed", Json::object()}};
      add(row["followed"], reading.get<std::string>());
    }
  return values_of(rows);
}

std::string constraint_text(const std::string& op, const std::string& id) {
  const std::size_t dot = id.rfind('.');
  for (const Constraint& each : general_constraints())
    if (each.id == id.substr(dot + 1)) return each.text;
  for (const Operator* candidate : operators())
    for (const Definition& definition : candidate->versions())
      if (text(definition.version) == op)
        if (const Constraint* constraint = definition.constraint(id.substr(dot + 1))) return constraint->text;
  return "";
}

Json constraints_of(const std::vector<ReportedVerdict>& verdicts) {
  const std::map<std::string, std::string> columns{{"pass", "refused"},
                                                   {"accepted", "accepted"},
                                                   {"contested", "contested"},
                                                   {"unsupported", "unsupported"},
                                                   {"error", "error"}};
  std::map<std::tuple<std::string, std::size_t, std::string>, Json> rows;
  for (const ReportedVerdict& verdict : verdicts)
    for (const Json& each : verdict.member("violated")) {
      const std::string id = each.get<std::string>();
      Json& row = rows[{id.substr(0, id.rfind('.')), id.size(), id}];
      if (row.is_null())
        row = {{"id", id},       {"text", ""},       {"refused", 0}, {"accepted", 0},
               {"contested", 0}, {"unsupported", 0}, {"error", 0}};
      if (row["text"] == "") row["text"] = constraint_text(verdict.op, id);
      if (const auto column = columns.find(verdict.word); column != columns.end()) add(row, column->second);
    }
  return values_of(rows);
}

Json classes_of(const std::vector<ReportedVerdict>& verdicts) {
  Json classes = Json::object();
  for (const ReportedVerdict& verdict : verdicts) {
    Json& counts = classes[verdict.case_class];
    if (counts.is_null()) counts = no_counts();
    for (const std::string& word : verdict.counted()) add(counts, word);
    counts["decides"] = verdict.decides();
  }
  return classes;
}

Json marks_of(const std::vector<ReportedVerdict>& verdicts) {
  Json counts = Json::object();
  for (const ReportedVerdict& verdict : verdicts)
    for (const Json& mark : own_marks(verdict)) {
      const std::string word = text_of(mark, "mark");
      add(counts, word, mark.at("breaches").get<bool>() && !is_excused(verdict, word) ? 1 : 0);
    }
  return counts;
}

// Returns the breaches of the deciding cases that are excused, or that are not.
Json breaches_of(const std::vector<const ReportedVerdict*>& verdicts, bool strict, bool excused) {
  std::map<std::pair<std::string, std::string>, Json> groups;
  const auto tell = [&](const ReportedVerdict& verdict, const std::string& word, const std::string& because) {
    if (is_excused(verdict, word) != excused) return;
    Json& group = groups[{word, because}];
    if (group.is_null()) group = {{"word", word}, {"because", because}, {"cases", 0}, {"first", verdict.id}};
    add(group, "cases");
  };
  for (const ReportedVerdict* verdict : verdicts) {
    if (breaks(verdict->word, strict)) tell(*verdict, verdict->word, verdict->because);
    for (const Json& mark : own_marks(*verdict))
      if (mark.at("breaches").get<bool>()) tell(*verdict, text_of(mark, "mark"), text_of(mark, "by"));
  }
  return values_of(groups);
}

// "A3=signed-trunc A4=auto-wins"
std::string departures_of(const ReportedVerdict& verdict) {
  return joined(verdict.member("readings").items(), " ",
                [](const auto& each) { return each.key() + "=" + each.value().template get<std::string>(); });
}

std::string state_in(const Json& row) {
  if (!row.at("breaches").empty()) return "not conforming";
  const bool is_cut = row.at("counts").at("not run") != 0;
  return row.at("judged") > 0 && !is_cut ? "certified" : "not certified";
}

Json type_row(const std::string& type, const std::vector<const ReportedVerdict*>& all, bool strict) {
  Json row{{"type", type},
           {"legal", 0},
           {"judged", 0},
           {"counts", no_counts()},
           {"level", nullptr},
           {"apart", Json::object()},
           {"readings", Json::object()},
           {"contested", Json::object()},
           {"unsupported", Json::object()},
           {"unscored", Json::object()}};
  std::vector<const ReportedVerdict*> deciding;
  for (const ReportedVerdict* verdict : all) {
    if (!verdict->decides()) {
      Json& counts = row["apart"][verdict->case_class];
      if (counts.is_null()) counts = no_counts();
      add(counts, verdict->word);
      continue;
    }
    deciding.push_back(verdict);
    for (const std::string& word : verdict->counted()) add(row["counts"], word);
    for (const auto& [id, reading] : verdict->member("followed").items()) {
      if (!row["readings"].contains(id)) row["readings"][id] = Json::object();
      add(row["readings"][id], reading.get<std::string>());
    }
    if (verdict->word == "contested") add(row["contested"], departures_of(*verdict));
    if (verdict->word == "unsupported" || verdict->word == "unscored") add(row[verdict->word], verdict->because);
    if (verdict->is_judged()) add(row, "judged"), row["level"] = weaker(row["level"], verdict->level);
  }
  row["legal"] = deciding.size();
  if (row["counts"]["fail"] != 0) row["level"] = nullptr;
  row["breaches"] = breaches_of(deciding, strict, false);
  row["excused"] = breaches_of(deciding, strict, true);
  row["state"] = state_in(row);
  return row;
}

// Lists types in the order reports and certificates list them: that of the enumeration.
std::vector<std::string> types_among(const std::vector<const ReportedVerdict*>& verdicts) {
  std::set<DType> types;
  for (const ReportedVerdict* verdict : verdicts)
    if (const auto type = dtype_named(verdict->type); type && !verdict->is_near_miss()) types.insert(*type);
  return transformed<std::string>(types, [](DType type) { return std::string(name(type)); });
}

Json near_misses_of(const std::vector<const ReportedVerdict*>& verdicts) {
  Json row{{"refused", 0}, {"accepted", 0}, {"contested", 0}, {"unsupported", 0}};
  for (const ReportedVerdict* verdict : verdicts) {
    if (!verdict->is_near_miss()) continue;
    if (verdict->word == "pass") add(row, "refused");
    if (verdict->word != "refused" && row.contains(verdict->word)) add(row, verdict->word);
  }
  return row;
}

Json certificate_row(const Json& report, const std::string& op, const std::vector<const ReportedVerdict*>& verdicts) {
  const bool strict = is_strict(report);
  Json types = Json::array(), level;
  std::string state = "not certified";
  std::int64_t legal = 0, judged = 0;
  bool has_failed = false;
  for (const std::string& type : types_among(verdicts)) {
    const auto own = filtered(
        verdicts, [&](const ReportedVerdict* verdict) { return !verdict->is_near_miss() && verdict->type == type; });
    Json row = type_row(type, own, strict);
    add_every_input(report, op, row);
    row["state"] = state_in(row);
    legal += row.at("legal").get<std::int64_t>();
    judged += row.at("judged").get<std::int64_t>();
    state = worse(state, text_of(row, "state"));
    has_failed |= row["counts"]["fail"] != 0 ||
                  std::ranges::any_of(row["breaches"], [](const Json& breach) { return breach.at("word") == "fail"; });
    level = weaker(level, row["level"]);
    types.push_back(std::move(row));
  }
  return {{"op", op},       {"state", state},   {"level", has_failed ? Json() : level},
          {"legal", legal}, {"judged", judged}, {"near_misses", near_misses_of(verdicts)},
          {"types", types}};
}

}  // namespace

Json recounted_report(const Json& report) {
  const std::vector<ReportedVerdict> verdicts = verdicts_of(report);
  Json rows = Json::array();
  std::string certified = "not certified";
  for (const auto& [op, own] : by_operator(report, verdicts)) {
    rows.push_back(report_row(op, own, is_strict(report)));
    add_every_input(report, rows.back());
    rows.back()["exceptions"] = exceptions_in(report, op);
    certified = worse(certified, text_of(rows.back(), "certified"));
  }
  for (const Json& window : report.value("windows", Json::array()))
    if (breaks(text_of(window, "state"), is_strict(report))) certified = worse(certified, "not conforming");
  if (report.contains("graphs")) {
    const Json& graphs = report.at("graphs");
    if (!graphs.at("causes").empty() || graphs.at("unsorted") != 0) certified = worse(certified, "not conforming");
  }
  return {{"totals", totals_of(verdicts)},
          {"special", totals_of(verdicts, true)},
          {"marks", marks_of(verdicts)},
          {"classes", classes_of(verdicts)},
          {"operators", rows},
          {"rulings", rulings_of(verdicts)},
          {"constraints", constraints_of(verdicts)},
          {"certified", certified}};
}

Json recounted_certificate(const Json& report) {
  const std::vector<ReportedVerdict> verdicts = verdicts_of(report);
  Json rows = Json::array();
  for (const auto& [op, own] : by_operator(report, verdicts)) {
    rows.push_back(certificate_row(report, op, own));
    rows.back()["exceptions"] = exceptions_in(report, op);
    for (Json& each : rows.back()["exceptions"])
      each["sentence"] = report.at("causes").at(each.at("cause").get<std::size_t>() - 1).at("sentence");
  }
  return {{"conclusion", recounted_report(report).at("certified")},
          {"totals", totals_of(verdicts)},
          {"operators", rows},
          {"rulings", rulings_of(verdicts)}};
}

}  // namespace assay::reports
