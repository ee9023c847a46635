// SPDX-License-Identifier: Apache-2.0
#include "reports/recount.h"

#include "reference/case.h"
#include "reference/operator.h"
#include "reference/sequence.h"
#include "suites/campaign/errors.h"
#include "suites/predicates/predicate.h"
#include "suites/text/printable.h"

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
constexpr std::array agreed_marks{"xfail", "xpass", "known"};

template <class List>
bool is_among(const List& list, const std::string& word) {
  return std::ranges::find(list, word) != list.end();
}

std::string text_of(const Json& json, const char* member) { return json.at(member).get<std::string>(); }

Json no_counts() {
  Json counts = Json::object();
  for (const char* word : words) counts[word] = 0;
  return counts;
}

void add(Json& counts, const std::string& word, int more = 1) {
  if (!counts.contains(word)) counts[word] = 0;
  counts[word] = counts[word].get<std::int64_t>() + more;
}

// The rows of a table, in the order of their keys.
template <class Key>
Json values_of(const std::map<Key, Json>& rows) {
  return transformed<Json>(rows, [](const auto& row) { return row.second; });
}

// Of two levels, each null or a word, the one that claims less.
Json weaker(const Json& a, const Json& b) {
  if (a.is_null() || b.is_null()) return a.is_null() ? b : a;
  const auto rank = [](const Json& level) { return std::ranges::find(levels, level.get<std::string>()); };
  return rank(a) < rank(b) ? b : a;
}

// A verdict of the report, read.
struct Read {
  std::string op, type, word, because, id;
  std::string case_class;
  Json level;
  const Json* json = nullptr;

  bool counts_special = false;  // the report says so

  bool is_near_miss() const { return case_class.starts_with("invalid"); }
  bool is_special() const { return case_class == "nonfinite" || case_class == "overflow-int"; }
  bool decides() const { return case_class.starts_with("valid-") || (counts_special && is_special()); }
  // Tells whether a state, its own or that of a session that it ended, is in no total.
  bool counts_apart(const std::string& state) const { return is_special() && !counts_special && state != "error"; }
  bool is_judged() const { return word == "pass" || word == "contested" || word == "below" || word == "fail"; }
  // Null where the verdict has none: empty as a list and as an object.
  const Json& member(const char* name) const {
    static const Json none;
    const auto found = json->find(name);
    return found == json->end() ? none : *found;
  }
  // Its word, then for each session that it ended what that counts as.
  std::vector<std::string> counted() const {
    std::vector<std::string> all{word};
    for (const Json& mark : member("marks")) {
      if (mark.at("mark") != "session" || !mark.at("breaches").get<bool>()) continue;
      const bool has_ended =
          is_among(std::array{"crashed", "timed out", "out of memory", "garbled"}, text_of(mark, "by"));
      all.emplace_back(has_ended ? "error" : "fail");
    }
    return all;
  }
};

// The type of the operator's first input as the line states it: " X=f16[1,2,3]~small:1"; of an operator without inputs,
// that of its output, which attributes give.
std::string type_in(const std::string& line, const std::string& op) {
  const std::size_t colon = op.find(':');
  const std::string name = colon == op.npos ? op : op.substr(colon + 1);
  const Definition* definition =
      find_definition({colon == op.npos ? "" : op.substr(0, colon), name.substr(0, name.rfind('-')),
                       static_cast<int>(std::stoul(name.substr(name.rfind('-') + 1)))});
  if (!definition) return "f32";
  if (definition->inputs.empty()) {
    const Result<Case> c = parse_case(line);
    return c ? std::string(assay::name(suites::first_type(*c))) : "f32";
  }
  const std::string given = " " + definition->data().name + "=";
  const std::size_t at = line.find(given);
  if (at == line.npos || line[at + given.size()] == '"') return "f32";  // absent: a near miss
  const std::size_t begin = at + given.size();
  return line.substr(begin, line.find('[', begin) - begin);
}

std::vector<Read> verdicts_of(const Json& report) {
  const bool counts_special = report.value("special_values", "apart") == "count";
  return transformed<Read>(report.at("verdicts"), [&](const Json& verdict) -> Read {
    const std::string line = text_of(verdict, "line"), op = line.substr(0, line.find(' '));
    return {op,
            type_in(line, op),
            text_of(verdict, "state"),
            text_of(verdict, "because"),
            text_of(verdict, "id"),
            text_of(verdict, "class"),
            verdict.at("level"),
            &verdict,
            counts_special};
  });
}

bool is_strict(const Json& report) { return report.at("mode") == "strict"; }

bool breaks(const std::string& word, bool strict) {
  return word == "fail" || word == "below" || word == "refused" || word == "error" || (strict && word == "contested");
}

// Tells whether a breach of this word is expected by the ledger or known by the baseline, as a mark says.
bool is_excused(const Read& verdict, const std::string& word) {
  for (const Json& mark : verdict.member("marks"))
    if ((mark.at("mark") == "xfail" || mark.at("mark") == "known") && mark.at("detail") == word) return true;
  return false;
}

// Marks made by running variants, not by agreement.
std::vector<Json> own_marks(const Read& verdict) {
  return filtered(verdict.member("marks"),
                  [&](const Json& mark) { return !is_among(agreed_marks, text_of(mark, "mark")); });
}

bool has_counting_mark(const Read& verdict) {
  return std::ranges::any_of(own_marks(verdict), [&](const Json& mark) {
    return mark.at("breaches").get<bool>() && !is_excused(verdict, text_of(mark, "mark"));
  });
}

// Tells whether it ended a session that crashed, and nobody agreed to that: it counts whatever the class.
bool has_crashed_session(const Read& verdict) {
  const std::vector<std::string> all = verdict.counted();
  return std::find(all.begin() + 1, all.end(), "error") != all.end() && !is_excused(verdict, "session");
}

// "not conforming" wins over "conforms", that over "not certified".
std::string worse(const std::string& a, const std::string& b) {
  for (const char* word : {"not conforming", "conforms", "certified"})
    if (a == word || b == word) return word;
  return "not certified";
}

// The power of two a measure lies at or above, within the bins a report has.
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

  void add(const Read& verdict) {
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

Json errors_of(const std::vector<const Read*>& verdicts) {
  std::map<std::optional<DType>, Distances> by_type;  // in the order reports have types in
  for (const Read* verdict : verdicts) by_type[dtype_named(verdict->type)].add(*verdict);
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

// What one verdict does to what is certified.
void stand(Json& standing, const Read& verdict, bool strict) {
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

// What the report says of one operator version.
Json report_row(const std::string& op, const std::vector<const Read*>& verdicts, bool strict) {
  Json row = no_standing();
  row.update({{"op", op},
              {"counts", no_counts()},
              {"types", Json::object()},
              {"standings", Json::object()},
              {"errors", errors_of(verdicts)}});
  for (const Read* verdict : verdicts) {
    if (!row["types"].contains(verdict->type)) {
      row["types"][verdict->type] = no_counts();
      row["standings"][verdict->type] = no_standing();
    }
    for (const std::string& word : verdict->counted())
      if (!verdict->counts_apart(word)) add(row["counts"], word), add(row["types"][verdict->type], word);
    stand(row, *verdict, strict);
    stand(row["standings"][verdict->type], *verdict, strict);
  }
  for (const Read* verdict : verdicts) {
    if (!verdict->decides() || verdict->word != "not run") continue;
    for (Json* standing : {&row, &row["standings"][verdict->type]})
      if (standing->at("certified") == "conforms") (*standing)["certified"] = "not certified";
  }
  return row;
}

// Functions that were run over every input; none where that was not asked for.
Json functions_of(const Json& report) { return report.value("every_input", Json::array()); }

bool breaks(const Json& function) {
  const Json& counts = function.at("counts");
  return counts.at("below") != 0 || counts.at("fail") != 0 ||
         (function.at("ended") != "" && !function.at("unsupported"));
}

// The level that all outputs meet.
const char* level_over(const Json& function) {
  const Json& counts = function.at("counts");
  const bool is_faithful = counts.at("within the bound") == 0 && counts.at("below") == 0 && counts.at("fail") == 0;
  return !is_faithful ? "L2" : counts.at("faithful") != 0 ? "L1" : "L0";
}

// What is known of every input, added to what the report says of an operator version.
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

// The same of what a certificate says of a type.
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

// By operator version, in the order of their names and numbers, as reports have them.
std::vector<std::pair<std::string, std::vector<const Read*>>> by_operator(const Json& report,
                                                                          const std::vector<Read>& verdicts) {
  std::vector<std::pair<std::string, std::vector<const Read*>>> groups;
  for (const Json& row : report.at("operators")) groups.push_back({text_of(row, "op"), {}});
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < groups.size(); ++i) places.emplace(groups[i].first, i);
  for (const Read& verdict : verdicts) {
    const auto [place, is_new] = places.emplace(verdict.op, groups.size());
    if (is_new) groups.push_back({verdict.op, {}});
    groups[place->second].second.push_back(&verdict);
  }
  std::erase_if(groups, [](const auto& group) { return group.second.empty(); });
  return groups;
}

Json totals_of(const std::vector<Read>& verdicts, bool apart = false) {
  Json totals = no_counts();
  for (const Read& verdict : verdicts)
    for (const std::string& word : verdict.counted())
      if (verdict.counts_apart(word) == apart) add(totals, word);
  return totals;
}

Json rulings_of(const std::vector<Read>& verdicts) {
  std::map<std::pair<std::size_t, std::string>, Json> rows;  // A3 before A10
  for (const Read& verdict : verdicts)
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

Json constraints_of(const std::vector<Read>& verdicts) {
  const std::map<std::string, std::string> columns{{"pass", "refused"},
                                                   {"accepted", "accepted"},
                                                   {"contested", "contested"},
                                                   {"unsupported", "unsupported"},
                                                   {"error", "error"}};
  std::map<std::tuple<std::string, std::size_t, std::string>, Json> rows;
  for (const Read& verdict : verdicts)
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

Json classes_of(const std::vector<Read>& verdicts) {
  Json classes = Json::object();
  for (const Read& verdict : verdicts) {
    Json& counts = classes[verdict.case_class];
    if (counts.is_null()) counts = no_counts();
    for (const std::string& word : verdict.counted()) add(counts, word);
    counts["decides"] = verdict.decides();
  }
  return classes;
}

Json marks_of(const std::vector<Read>& verdicts) {
  Json counts = Json::object();
  for (const Read& verdict : verdicts)
    for (const Json& mark : own_marks(verdict)) {
      const std::string word = text_of(mark, "mark");
      add(counts, word, mark.at("breaches").get<bool>() && !is_excused(verdict, word) ? 1 : 0);
    }
  return counts;
}

// The breaches of the deciding cases that are excused, or that are not.
Json breaches_of(const std::vector<const Read*>& verdicts, bool strict, bool excused) {
  std::map<std::pair<std::string, std::string>, Json> groups;
  const auto tell = [&](const Read& verdict, const std::string& word, const std::string& because) {
    if (is_excused(verdict, word) != excused) return;
    Json& group = groups[{word, because}];
    if (group.is_null()) group = {{"word", word}, {"because", because}, {"cases", 0}, {"first", verdict.id}};
    add(group, "cases");
  };
  for (const Read* verdict : verdicts) {
    if (breaks(verdict->word, strict)) tell(*verdict, verdict->word, verdict->because);
    for (const Json& mark : own_marks(*verdict))
      if (mark.at("breaches").get<bool>()) tell(*verdict, text_of(mark, "mark"), text_of(mark, "by"));
  }
  return values_of(groups);
}

// "A3=signed-trunc A4=auto-wins"
std::string departures_of(const Read& verdict) {
  return joined(verdict.member("readings").items(), " ",
                [](const auto& each) { return each.key() + "=" + each.value().template get<std::string>(); });
}

std::string state_in(const Json& row) {
  if (!row.at("breaches").empty()) return "not conforming";
  const bool is_cut = row.at("counts").at("not run") != 0;
  return row.at("judged") > 0 && !is_cut ? "certified" : "not certified";
}

Json type_row(const std::string& type, const std::vector<const Read*>& all, bool strict) {
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
  std::vector<const Read*> deciding;
  for (const Read* verdict : all) {
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

// Types in the order reports and certificates list them: that of the enumeration.
std::vector<std::string> types_among(const std::vector<const Read*>& verdicts) {
  std::set<DType> types;
  for (const Read* verdict : verdicts)
    if (const auto type = dtype_named(verdict->type); type && !verdict->is_near_miss()) types.insert(*type);
  return transformed<std::string>(types, [](DType type) { return std::string(name(type)); });
}

Json near_misses_of(const std::vector<const Read*>& verdicts) {
  Json row{{"refused", 0}, {"accepted", 0}, {"contested", 0}, {"unsupported", 0}};
  for (const Read* verdict : verdicts) {
    if (!verdict->is_near_miss()) continue;
    if (verdict->word == "pass") add(row, "refused");
    if (verdict->word != "refused" && row.contains(verdict->word)) add(row, verdict->word);
  }
  return row;
}

Json certificate_row(const Json& report, const std::string& op, const std::vector<const Read*>& verdicts) {
  const bool strict = is_strict(report);
  Json types = Json::array(), level;
  std::string state = "not certified";
  std::int64_t legal = 0, judged = 0;
  bool has_failed = false;
  for (const std::string& type : types_among(verdicts)) {
    const auto own =
        filtered(verdicts, [&](const Read* verdict) { return !verdict->is_near_miss() && verdict->type == type; });
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

std::string shortened(const Json& json) {
  return suites::printable(json.dump(-1, ' ', false, Json::error_handler_t::replace), 80);
}

// As the report has them: `wrong_exception` holds them against the verdicts.
Json exceptions_in(const Json& report, const std::string& op) {
  for (const Json& row : report.at("operators"))
    if (row.at("op") == op) return row.value("exceptions", Json::array());
  return Json::array();
}

// What is wrong with one exception, of these verdicts of its operator version; empty where nothing is.
std::string wrong_exception(const Json& exception, const std::vector<const Read*>& verdicts) {
  std::vector<suites::Predicate> when;
  for (const Json& each : exception.at("when")) {
    const std::string text = each;
    const Result<suites::Predicate> read = suites::stated_predicate(text);
    if (!read) return read.error();
    when.push_back(*read);
  }
  std::int64_t cases = 0, others = 0;
  std::vector<std::int64_t> covered(when.size(), 0);
  for (const Read* verdict : verdicts) {
    const bool is_of_it = verdict->json->value("cause", 0) == exception.at("cause").get<int>();
    for (const Json& mark : verdict->member("marks"))  // no predicate is about sessions
      cases += mark.value("cause", 0) == exception.at("cause").get<int>() && when.empty();
    const bool passes = !verdict->is_near_miss() && (verdict->word == "pass" || verdict->word == "contested") &&
                        verdict->json->value("cause", 0) == 0;
    if (!is_of_it && !passes) continue;
    const Result<Case> c = parse_case(text_of(*verdict->json, "line"));
    if (!c) return c.error();
    bool is_covered = false;
    for (std::size_t i = 0; i < when.size(); ++i)
      if (when[i].holds(*c)) {
        if (passes) return "'" + when[i].text() + "' holds for a case that passes";
        ++covered[i];
        is_covered = true;
      }
    cases += is_of_it;
    others += is_of_it && !is_covered;
  }
  if (std::ranges::count(covered, 0) > 0) return "a predicate holds for no case";
  if (cases != exception.at("cases")) return "there are " + std::to_string(cases) + " cases";
  return others == exception.at("others") ? "" : "for " + std::to_string(others) + " of its cases no predicate holds";
}

}  // namespace

std::string wrong_exception(const Json& report) {
  const std::vector<Read> verdicts = verdicts_of(report);
  const std::size_t causes = report.value("causes", Json::array()).size();
  for (const auto& [op, own] : by_operator(report, verdicts))
    for (const Json& exception : exceptions_in(report, op)) {
      if (exception.at("cause").get<std::size_t>() > causes)
        return op + ": there is no cause " + exception.at("cause").dump();
      if (const std::string wrong = wrong_exception(exception, own); !wrong.empty()) return op + ": " + wrong;
    }
  return "";
}

std::string wrong_function(const Json& report) {
  std::set<std::string> titles;
  for (const Json& function : functions_of(report)) {
    const std::string title = text_of(function, "op") + " " + text_of(function, "type");
    if (!titles.insert(title).second) return title + ": it is there twice";
    const Json& counts = function.at("counts");
    std::int64_t sum = 0;
    for (const auto& [word, count] : counts.items()) sum += count.get<std::int64_t>();
    if (sum != function.at("inputs")) return title + ": its counts are of " + std::to_string(sum) + " inputs";
    const bool is_whole = function.at("inputs") == 65536;
    if (function.at("ended") == "" ? !is_whole : function.at("inputs") != 0) return title + ": it did not end so";
    if (function.at("conforms") != (is_whole && !breaks(function) && counts.at("not examined") == 0))
      return title + ": whether it conforms does not follow from its counts";
    if (function.at("breaches").empty() != (counts.at("below") == 0 && counts.at("fail") == 0))
      return title + ": what breaks is not named";
    Json worst;
    for (const Json& peak : function.at("peaks"))
      if (worst.is_null() || worst.at("ulp") < peak.at("ulp")) worst = peak;
    if (function.at("worst") != worst) return title + ": its worst error is another one";
    for (const Json& breach : function.at("breaches"))
      if (!text_of(breach, "line").starts_with(text_of(function, "op") + " "))
        return title + ": a breach is of another version";
  }
  return "";
}

Json recounted_report(const Json& report) {
  const std::vector<Read> verdicts = verdicts_of(report);
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
  const std::vector<Read> verdicts = verdicts_of(report);
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

std::string wrong_finding(const Json& report) {
  std::map<std::string, Read> by_id;
  std::map<std::tuple<std::string, std::string, std::string>, std::int64_t> told, found;  // op, word, mark
  for (const Read& verdict : verdicts_of(report)) {
    by_id.emplace(verdict.id, verdict);
    if (breaks(verdict.word, is_strict(report)) && !is_excused(verdict, verdict.word))
      ++found[{verdict.op, verdict.word, ""}];
    std::vector<std::string> counted = verdict.counted();
    for (const Json& mark : own_marks(verdict)) {
      if (!is_excused(verdict, text_of(mark, "mark"))) ++found[{verdict.op, "", text_of(mark, "mark")}];
      const bool is_counted = text_of(mark, "mark") == "session" && mark.at("breaches").get<bool>();
      if (is_counted != mark.contains("counts_as") || (is_counted && mark.at("counts_as") != counted[1]))
        return "a session counts otherwise than it ended: " + shortened(mark);
      if (is_counted) counted.erase(counted.begin() + 1);
    }
  }
  for (const Json& finding : report.at("findings")) {
    const std::string op = text_of(finding, "op"), word = text_of(finding, "state"), mark = finding.value("mark", "");
    const auto first = by_id.find(text_of(finding, "first"));
    if (first == by_id.end() || first->second.op != op || first->second.word != word ||
        (mark.empty() && first->second.because != text_of(finding, "because")))
      return "its first case has no such verdict: " + shortened(finding);
    told[{op, mark.empty() ? word : "", mark}] += finding.at("count").get<std::int64_t>();
  }
  for (const auto& [key, count] : found)
    if (told[key] != count) {
      const auto& [op, word, mark] = key;
      return std::to_string(told[key]) + " " + word + mark + " of " + op + " told, " + std::to_string(count) +
             " among the verdicts";
    }
  return told.size() == found.size() ? "" : "more is told than the verdicts say";
}

std::string wrong_ledger(const Json& report) {
  std::map<std::string, std::int64_t> covered, passed;  // by entry
  std::map<std::string, std::set<std::string>> ids;
  for (const Read& verdict : verdicts_of(report))
    for (const Json& mark : verdict.member("marks")) {
      const std::string by = text_of(mark, "by");
      if (mark.at("mark") == "xfail" && ids[by].insert(verdict.id).second) ++covered[by];
      if (mark.at("mark") == "xpass") ++passed[by];
    }
  const Json& ledger = report.at("ledger");
  if (ledger.is_null())
    return covered.empty() && passed.empty() ? "" : "verdicts are marked by a ledger that is not there";
  for (const Json& entry : ledger.at("entries")) {
    const std::string id = text_of(entry, "id");
    if (entry.at("covered") != covered[id])
      return "entry " + suites::printable(id, 60) + ": covers " + entry.at("covered").dump() + ", and " +
             std::to_string(covered[id]) + " verdicts are marked so";
    covered.erase(id);
  }
  for (const auto& [id, count] : covered)
    if (count > 0) return "verdicts are marked by an entry that is not there: " + suites::printable(id, 60);
  return "";
}

std::string first_difference(const Json& found, const Json& derived, const std::string& path) {
  if (found == derived) return "";
  if (found.is_object() && derived.is_object()) {
    for (const auto& [name, value] : derived.items()) {
      if (!found.contains(name)) return path + "/" + suites::printable(name, 60) + ": missing";
      if (std::string inside = first_difference(found.at(name), value, path + "/" + suites::printable(name, 60));
          !inside.empty())
        return inside;
    }
    for (const auto& [name, value] : found.items())
      if (!derived.contains(name)) return path + "/" + suites::printable(name, 60) + ": one too many";
  }
  if (found.is_array() && derived.is_array()) {
    for (std::size_t i = 0; i < std::min(found.size(), derived.size()); ++i)
      if (std::string inside = first_difference(found[i], derived[i], path + "/" + std::to_string(i)); !inside.empty())
        return inside;
    return path + ": " + std::to_string(found.size()) + " elements instead of " + std::to_string(derived.size());
  }
  return path + ": " + shortened(found) + " instead of " + shortened(derived);
}

}  // namespace assay::reports
