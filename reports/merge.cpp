// SPDX-License-Identifier: Apache-2.0
#include "reports/merge.h"

#include "reference/sequence.h"
#include "reports/pieces.h"
#include "reports/render.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>

namespace assay::reports {
namespace {

namespace fs = std::filesystem;
using Shards = std::vector<ShardReport>;

// What shards of one campaign do not share; all else has to be equal, members this version does not know included.
const std::set<std::string, std::less<>> own_members = {
    "clauses", "coverage", "peaks",      "conforms", "totals", "special", "marks",      "operators",     "rulings",
    "causes",  "findings", "signatures", "failures", "marked", "run",     "plan/asked", "plan/complete", "plan/shard"};

// -- whether they belong together

// The first member in which two reports differ though they may not, in words.
std::string difference(const Json& there, const Json& here, const std::string& path) {
  if (own_members.contains(path) || there == here) return "";
  if (!there.is_object() || !here.is_object())
    return path + " is " + dumped(there).substr(0, 60) + " there and " + dumped(here).substr(0, 60) + " here";
  std::set<std::string> names;
  for (const Json* each : {&there, &here})
    for (const auto& item : each->items()) names.insert(item.key());
  for (const std::string& name : names)
    if (std::string words =
            difference(there.value(name, Json()), here.value(name, Json()), path.empty() ? name : path + "/" + name);
        !words.empty())
      return words;
  return "";
}

suites::Shard shard_of(const ShardReport& shard) {
  return suites::shard_named(shard.report.at("plan").at("shard").get<std::string>());
}

void check_complete(const ShardReport& shard) {
  const Json& plan = shard.report.at("plan");
  if (plan.at("cases").is_null())
    throw InputError(shard.file +
                     " is of a campaign with a --budget, whose shards end at different cases; only those "
                     "with --cases make a whole");
  if (!plan.at("complete").get<bool>())
    throw InputError(shard.file + " is of a run that was interrupted; go on with its --store by --resume");
}

void check_together(const Shards& shards) {
  const ShardReport& first = shards.front();
  const std::uint64_t count = shard_of(first).count;
  std::map<std::uint64_t, std::string> files;
  for (const ShardReport& shard : shards) {
    check_complete(shard);
    if (const std::string words = difference(first.report, shard.report, ""); !words.empty())
      throw InputError(shard.file + " is of another campaign than " + first.file + ": " + words);
    const suites::Shard which = shard_of(shard);
    if (which.count != count)
      throw InputError(shard.file + " is shard " + text(which) + ", and " + first.file + " is " +
                       text(shard_of(first)) + "; merge the shards of one campaign");
    if (const auto [known, is_new] = files.emplace(which.number, shard.file); !is_new)
      throw InputError("shard " + text(which) + " is in " + known->second + " and in " + shard.file);
  }
  for (std::uint64_t number = 1; number <= count; ++number)
    if (!files.contains(number))
      throw InputError("shard " + text(suites::Shard{number, count}) + " is missing; name the reports of all shards");
}

// -- what adds up

void add(Json& into, const Json& counts) {
  for (const auto& [name, count] : counts.items()) into[name] = into.value(name, Int{0}) + count.get<Int>();
}

Json sum(const Shards& shards, const char* member) {
  Json whole = Json::object();
  for (const ShardReport& shard : shards) add(whole, shard.report.at(member));
  return whole;
}

// By name, as a report has it.
Json sorted(const Json& object) {
  const auto by_name = object.get<std::map<std::string, Json>>();
  return by_name.empty() ? Json::object() : Json(by_name);
}

OpVersion version_named(const std::string& words) {
  const std::size_t colon = words.find(':'), dash = words.rfind('-');
  const std::size_t begin = colon == words.npos ? 0 : colon + 1;
  if (dash == words.npos || dash < begin) throw std::invalid_argument("operator version");
  return {words.substr(0, colon == words.npos ? 0 : colon), words.substr(begin, dash - begin),
          std::stoi(words.substr(dash + 1))};
}

// Rows that a key names, their counts added.
template <class Key>
Json rows(const Shards& shards, const char* member, const char* key, const char* counts, Key&& key_of) {
  std::map<std::decay_t<decltype(key_of(std::string()))>, Json> by_key;
  for (const ShardReport& shard : shards)
    for (const Json& row : shard.report.at(member)) {
      const auto [at, is_new] = by_key.emplace(key_of(row.at(key).get<std::string>()), row);
      if (!is_new) add(at->second[counts], row.at(counts));
    }
  Json all = Json::array();
  for (auto& [ignored, row] : by_key) all.push_back(std::move(row));
  return all;
}

DType type_named(const std::string& name) {
  const auto type = dtype_named(name);
  if (!type) throw std::invalid_argument("type");
  return *type;
}

// With what is told of each type, added as well.
Json operators(const Shards& shards) {
  Json all = rows(shards, "operators", "op", "counts", version_named);
  for (Json& row : all) {
    std::map<DType, Json> types;
    std::map<DType, suites::Errors> errors;
    for (const ShardReport& shard : shards)
      for (const Json& each : shard.report.at("operators")) {
        if (each.at("op") != row.at("op")) continue;
        for (const auto& [name, counts] : each.at("types").items())
          add(types.try_emplace(type_named(name), Json::object()).first->second, counts);
        for (const auto& [type, own] : errors_of(each.at("errors"))) errors[type].merge(own);
      }
    row["types"] = Json::object();
    for (const auto& [type, counts] : types) row["types"][std::string(name(type))] = counts;
    row["errors"] = errors_json(errors);
  }
  return all;
}

// Of the shards' clauses, those that the merged report still names.
Json clauses(const Json& whole) {
  std::set<std::string> ids;
  for (const Json& row : whole.at("rulings")) ids.insert(row.at("id").get<std::string>());
  for (const Json& finding : whole.at("findings"))
    for (const Json& id : finding.at("clauses")) ids.insert(id.get<std::string>());
  return clauses_json(ids);
}

Json rulings(const Shards& shards) {
  Json all = rows(shards, "rulings", "id", "followed", [](std::string id) { return id; });
  for (Json& row : all) row["followed"] = sorted(row["followed"]);
  return all;
}

// As much of a table as merging needs.
suites::CoverageRow coverage_row_of(const Json& json) {
  suites::CoverageRow row;
  row.version = version_named(json.at("op").get<std::string>());
  json.at("legal").get_to(row.legal);
  json.at("near_misses").get_to(row.near_misses);
  json.at("values").get_to(row.values);
  json.at("pairs").at("bits").get_to(row.pairs);
  json.at("constraints").at("broken").get_to(row.broken);
  json.at("rulings").at("touched").get_to(row.touched);
  json.at("rulings").at("followed").get_to(row.followed);
  return row;
}

Json coverage(const Shards& shards) {
  suites::Coverage whole;
  for (const ShardReport& shard : shards) {
    suites::CoverageTable table;
    for (const Json& row : shard.report.at("coverage")) table.rows.push_back(coverage_row_of(row));
    whole.merge(suites::Coverage::of(table));
  }
  return transformed<Json>(whole.table().rows, [](const suites::CoverageRow& row) { return coverage_json(row); });
}

Json by_number(const Shards& shards, const char* member, const char* number) {
  std::vector<Json> all;
  for (const ShardReport& shard : shards)
    for (const Json& each : shard.report.at(member)) all.push_back(each);
  std::ranges::sort(all, {}, [=](const Json& each) { return each.at(number).get<std::uint64_t>(); });
  return all;
}

Json plan(const Shards& shards) {
  Json whole = shards.front().report.at("plan");
  std::uint64_t cases_run = 0;
  for (const ShardReport& shard : shards) cases_run += shard.report.at("plan").at("asked").get<std::uint64_t>();
  const auto planned = whole.at("cases").get<std::uint64_t>() + whole.at("regressions").get<std::uint64_t>();
  if (cases_run != planned)
    throw InputError("the reports speak of " + std::to_string(cases_run) + " cases, and the campaign has " +
                     std::to_string(planned) + "; write those of all shards again");
  whole["asked"] = cases_run;
  whole["shard"] = text(suites::Shard{});
  return whole;
}

// What the shards did one after the other would have taken so long.
Json run(const Shards& shards, std::uint64_t cases_run) {
  Json whole = shards.front().report.at("run");
  double seconds = 0, host = 0;
  std::set<std::string> processors;
  for (const ShardReport& shard : shards) {
    const Json& each = shard.report.at("run");
    seconds += each.at("seconds").get<double>();
    host += each.at("host_microseconds_per_case").get<double>() * shard.report.at("plan").at("asked").get<double>();
    processors.insert(each.at("cpu").get<std::string>());
    whole["started"] = std::min(whole["started"].get<std::string>(), each.at("started").get<std::string>());
    whole["jobs"] = std::max(whole["jobs"].get<int>(), each.at("jobs").get<int>());
  }
  whole["seconds"] = seconds;
  whole["cases_per_second"] = seconds > 0 ? static_cast<double>(cases_run) / seconds : 0.0;
  whole["host_microseconds_per_case"] = cases_run > 0 ? host / static_cast<double>(cases_run) : 0.0;
  const std::string names = joined(processors, "; ");
  whole["cpu"] = names;
  return whole;
}

// -- what has to be worked out again

Case case_of(const std::string& line) {
  Result<Case> parsed = parse_case(line);
  if (!parsed) throw InputError("a report holds a case this assay cannot read: " + parsed.error());
  return *std::move(parsed);
}

oracles::State state_of(const Json& json) {
  const auto state = oracles::state_named(json.at("state").get<std::string>());
  if (!state) throw std::invalid_argument("state");
  return *state;
}

suites::Signature signature_of(const Json& json, const OpVersion& version) {
  return {version, state_of(json), json.at("because").get<std::string>(), json.at("pattern").get<std::string>()};
}

// As much of them as their signatures and examples need.
std::vector<suites::Failure> failures_of(const Json& list) {
  std::vector<suites::Failure> failures;
  for (const Json& each : list) {
    suites::Failure failure;
    failure.index = each.at("index").get<std::uint64_t>();
    failure.planned.line = each.at("line").get<std::string>();
    failure.signature = signature_of(each, case_of(failure.planned.line).version);
    failures.push_back(std::move(failure));
  }
  return failures;
}

// As much of it as its cause needs.
suites::Finding finding_of(const Json& json) {
  suites::Finding finding;
  finding.found = json.at("found").get<std::string>();
  finding.line = json.at("line").get<std::string>();
  finding.c = case_of(finding.line);
  finding.signature = signature_of(json, finding.c.version);
  finding.predicate = json.at("needs").get<std::vector<std::string>>();
  finding.diagnosis = {json.at("models").get<std::vector<std::string>>(), json.at("by_shape").get<bool>(),
                       json.at("confirmed").get<bool>()};
  finding.is_shrunk = json.at("shrunk").get<bool>();
  finding.session = json.value("session", "");
  finding.answered.verdict.detail = json.at("detail").get<std::string>();
  finding.stands_for = json.at("stands_for").get<Int>();
  return finding;
}

// The findings that one machine would have kept, in its order, each with what it stands for there: those of failures,
// then those of sessions, by the case that each ended with.
std::vector<Json> findings(const Shards& shards, std::span<const suites::Failure> failures, const Json& marked) {
  std::map<std::string, const Json*> by_origin;
  std::map<std::string, std::vector<const Json*>> sessions;
  for (const ShardReport& shard : shards)
    for (const Json& each : shard.report.at("findings")) {
      const std::string origin = each.at("origin").get<std::string>();
      if (each.contains("session"))
        sessions[origin].push_back(&each);
      else
        by_origin[origin] = &each;
    }
  std::vector<Json> kept;
  for (const suites::Example& example : suites::examples_of(failures, suites::Sorting().examples)) {
    const auto found = by_origin.find(suites::origin_of(example.failure->index));
    if (found == by_origin.end())
      throw InputError("no report says more of the failure of " + suites::origin_of(example.failure->index) +
                       "; write the report of its shard again: --store … --resume --report …");
    kept.push_back(*found->second);
    kept.back()["stands_for"] = example.stands_for;
  }
  for (const Json& each : marked)
    for (const Json* session : sessions[suites::origin_of(each.at("index").get<std::uint64_t>())])
      kept.push_back(*session);
  return kept;
}

// Writes the causes into the report, and their numbers beside its findings and failures.
void sort_into_causes(Json& whole, std::span<const suites::Failure> failures,
                      std::span<const suites::WrongModel> models) {
  whole["causes"] = Json::array();  // a new member moves those that are there
  Json& findings = whole["findings"];
  std::vector<suites::Finding> read;
  std::ranges::transform(findings, std::back_inserter(read), finding_of);
  const std::vector<suites::Cause> causes = suites::causes_of(read, models);
  for (std::size_t i = 0; i < causes.size(); ++i) {
    const suites::Cause& cause = causes[i];
    whole["causes"].push_back(cause_json(cause, read, findings[cause.smallest].at("replay").get<std::string>()));
    for (const std::size_t member : cause.members) findings[member]["cause"] = i + 1;
  }
  const std::vector<std::size_t> cause_of = suites::cause_of_each(failures, read, causes);
  for (std::size_t i = 0; i < cause_of.size(); ++i) {
    whole["failures"][i].erase("cause");
    if (cause_of[i] != suites::no_cause) whole["failures"][i]["cause"] = cause_of[i] + 1;
  }
}

bool conforms(const Json& whole) {
  const auto is_excused = [](const Json& failure) { return failure.at("excused").get<bool>(); };
  return std::ranges::all_of(whole.at("failures"), is_excused) &&
         std::ranges::all_of(whole.at("marks"), [](const Json& count) { return count.get<Int>() == 0; });
}

Json whole_of(const Shards& shards, std::span<const suites::WrongModel> models) {
  check_together(shards);
  Json whole = shards.front().report;  // with its members in their order
  whole["plan"] = plan(shards);
  whole["totals"] = sum(shards, "totals");
  whole["special"] = sum(shards, "special");
  whole["marks"] = sorted(sum(shards, "marks"));
  whole["operators"] = operators(shards);
  whole["rulings"] = rulings(shards);
  whole["coverage"] = coverage(shards);
  whole["peaks"] = by_number(shards, "peaks", "island");
  whole["failures"] = by_number(shards, "failures", "index");
  whole["marked"] = by_number(shards, "marked", "index");
  const std::vector<suites::Failure> failures = failures_of(whole["failures"]);
  const std::vector<Json> kept = findings(shards, failures, whole["marked"]);
  whole["findings"] = kept;
  whole["clauses"] = clauses(whole);
  sort_into_causes(whole, failures, models);
  whole["signatures"] = Json::array();
  for (const auto& signature : signatures_of(failures)) whole["signatures"].push_back(signature_json(signature));
  whole["conforms"] = conforms(whole);
  whole["run"] = run(shards, whole["plan"]["asked"].get<std::uint64_t>());
  return whole;
}

[[noreturn]] void refuse(const std::string& file) {
  throw InputError(file + " is no fuzz report of this version of assay; write one with fuzz --report");
}

}  // namespace

ShardReport read_shard_report(const fs::path& file) {
  ShardReport shard{file.string(), parsed(bytes_of_report(file))};
  const Json& report = shard.report;
  if (report.is_object() && report.contains("verdicts") && report.contains("suite"))
    throw InputError(file.string() +
                     " is a report of certify, which runs the whole suite on one machine and needs no "
                     "merge; merge takes what the shards of fuzz wrote");
  if (!report.is_object() || report.value("kind", Json()) != "fuzz" || report.value("schema", Json()) != schema_version)
    refuse(file.string());
  return shard;
}

Json merged(const Shards& shards, std::span<const suites::WrongModel> models) {
  if (shards.empty()) throw InputError("no report to merge; name the reports of the shards");
  try {
    return whole_of(shards, models);
  } catch (const nlohmann::json::exception&) {
    refuse(shards.front().file + " or another of them");
  } catch (const std::invalid_argument&) {  // a word that is not known
    refuse(shards.front().file + " or another of them");
  } catch (const std::out_of_range&) {
    refuse(shards.front().file + " or another of them");
  }
}

void write_json(const Json& report, std::ostream& out) {
  Document document(out);
  for (const auto& [name, value] : report.items()) {
    if (value.is_array())
      document.list(name, value, [](const Json& each) -> const Json& { return each; });
    else
      document.member(name, value);
  }
}

void write_causes(const Json& report, std::ostream& out) {
  std::size_t number = 0;
  for (const Json& cause : report.at("causes"))
    out << "CAUSE " << ++number << "  " << cause.at("sentence").get<std::string>()
        << "\n      smallest: " << cause.at("smallest").get<std::string>()
        << "\n      replay: " << cause.at("replay").get<std::string>() << "\n";
}

}  // namespace assay::reports
