// SPDX-License-Identifier: Apache-2.0
// Certificates are made of a small report that has every word in it, and then tampered with in every place.
#include "reports/verify.h"

#include "oracles/judging/case_class.h"
#include "reference/testing/run_size.h"
#include "reports/certificate.h"
#include "reports/checked_json.h"
#include "reports/contradictions.h"
#include "reports/pieces.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>
#include <sstream>

namespace assay::reports {
namespace {

using oracles::Level;
using oracles::State;
using oracles::Verdict;

const char* const version = "0.1.0";

const char* const ledger_text = R"({"ledger": 1, "entries": [{"id": "stride", "operators": ["AveragePool-19"],
  "when": "any(strides) > 2", "states": ["refused"], "reason": "known", "link": "https://example.org/1", "owner": "me",
  "expires": "2999-01-01"}]})";

struct Told {
  std::string line;
  State state = State::pass;
  std::string because = {};
  std::optional<Level> level = {};
  std::map<std::string, std::string, std::less<>> readings = {};
  std::vector<suites::Mark> marks = {};
};

const std::vector<Told>& told() {
  static const std::vector<Told> all{
      {"AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2", State::pass, "", Level::L0},
      {"AveragePool-19 opset=19 ir=8 X=f16[1,1,5]~iota:1 kernel_shape=2", State::pass, "", Level::L1},
      {"AveragePool-19 opset=19 ir=8 X=f32[1,1,5]~iota:1 kernel_shape=3 strides=3", State::refused, "refused"},
      {"AveragePool-19 opset=19 ir=8 X=f32[1,1,2]~lit:nan,1 kernel_shape=2", State::pass},
      {"AveragePool-19 opset=19 ir=8 X=f64[1,1,6]~iota:1 kernel_shape=2", State::unsupported, "declared"},
      {"AveragePool-19 opset=19 ir=8 X=f32[1,1,6]~iota:1 kernel_shape=2 ceil_mode=1 strides=2 pads=1,1",
       State::contested,
       "reading",
       Level::L0,
       {{"A8", "keep"}}},
      {"AveragePool-19 opset=19 ir=8 X=f32[1,1,7]~iota:1 kernel_shape=2",
       State::pass,
       "",
       Level::L2,
       {},
       {{"unstable", "repeated", "pass, then fail", true, ""}, {"differs", "shapes=absent", "also", false, ""}}},
      {"Conv-11 opset=11 ir=8 X=f32[1,1,4]~iota:1 W=f32[1,1,2]~lit:1,10",
       State::fail,
       "value",
       {},
       {},
       {{"session", "special", "fail (special) after 1 case", true,
         "Conv-11 opset=11 ir=8 X=f32[1,1,5]~iota:1 W=f32[1,1,2]~lit:1,10 ; "
         "Conv-11 opset=11 ir=8 X=f32[1,1,4]~iota:1 W=f32[1,1,2]~lit:1,10"}}},
      {"Conv-11 opset=11 ir=8 X=f32[1,1,5]~iota:1 W=f32[1,1,2]~lit:1,10", State::below, "value", Level::L3},
      {"Conv-11 opset=11 ir=8 X=f16[1,1,5]~iota:1 W=f16[1,1,2]~lit:1,10", State::unscored, "vacuous", Level::L0},
      {"Conv-11 opset=11 ir=8 X=f32[1,3,4]~iota:1 W=f32[2,1,2]~sign:1 group=3", State::pass, "refused"},
      {"Conv-11 opset=11 ir=8 X=f32[1,3,5]~iota:1 W=f32[2,1,2]~sign:1 group=3", State::accepted, "accepted"},
      {"Exp-13 opset=13 ir=8 input=f16[2]~iota:1", State::pass, "", Level::L0}};
  return all;
}

Verdict verdict_of(const Told& each, const Case& c) {
  Verdict verdict;
  verdict.state = each.state;
  verdict.because = each.because;
  verdict.detail = each.because.empty() ? "" : "as it happened";
  verdict.level = each.level;
  verdict.readings = Readings(each.readings);
  verdict.violated = c.definition().violated(c.call());
  verdict.elements = 3;
  if (verdict.violated.empty())
    for (const std::string& id : oracles::touched(c)) verdict.followed[id] = verdict.readings.of(id);
  for (const auto& [id, reading] : each.readings) verdict.followed[id] = reading;
  if (each.state == State::fail)
    verdict.evidence = oracles::Evidence{0, 0, {0, 0, 2}, "0x1p+0", "0x1p+1", "", "", "", "", "", {}};
  return verdict;
}

const std::string within =
    "Conv-11 opset=11 ir=8 X=f32[1,4,5,5]~small:1 W=f32[4,4,3,3]~small:2 auto_pad=NOTSET dilations=1,1 group=1 "
    "kernel_shape=3,3 pads=0,0,0,0 strides=";

suites::Suite suite_of(const suites::SuiteRequest& request) {
  suites::Suite suite;
  if (request.profile) {
    suite.profile = request.profile;
    suite.name = "assay sonnx";
    suite.version = suites::suite_version;
    for (const char* strides : {"1,1", "2,1"})
      suite.cases.push_back(suites::read_cases(within + strides, "example").front());
    suite.hash = sha256("limited");
    return suite;
  }
  suite.version = suites::suite_version;
  suite.complete = request.generated >= suites::default_generated;
  for (const Told& each : told()) suite.cases.push_back(suites::read_cases(each.line, "example").front());
  suite.hash = sha256(std::to_string(request.seed) + " " + std::to_string(request.generated));
  return suite;
}

Invocation invocation() {
  Invocation invocation;
  invocation.tool_version = version;
  invocation.backend = "exec:./worker --fast";
  invocation.options = {{"precision", "f32"}};
  invocation.timeout_seconds = 2.5;
  invocation.memory_mib = 512;
  invocation.every_input = true;
  return invocation;
}

// A function over every input, wrong at one of them.
suites::Accuracy wrong_once() {
  suites::Accuracy all;
  all.definition = find_definition({"", "Exp", 13});
  all.type = DType::f16;
  all.inputs = 65536;
  all.counts = {65534, 1, 0, 0, 1, 0, 0};
  all.breaches.push_back({0x3c00, suites::Closeness::fail, "0x1p+2", "0x1.5cp+1", "value"});
  all.peaks[std::size_t{15} * 16] = {{0x3c00, 1, 4, 650}};
  return all;
}

Report report_of(int jobs = 1, bool is_conforming = false) {
  suites::Suite suite = suite_of({});
  suites::Campaign campaign;
  campaign.backend = {"example", "1.0", "cpu", {}, {}, {"f16", "f32"}, 0, {}, false, {}, false};
  for (std::size_t i = 0; i < suite.cases.size(); ++i) {
    const Told plain{told()[i].line, State::pass, "", Level::L0};
    const bool is_near_miss = !suite.cases[i].c.is_legal();
    campaign.verdicts.push_back(verdict_of(is_conforming && !is_near_miss ? plain : told()[i], suite.cases[i].c));
    campaign.marks.push_back(is_conforming ? std::vector<suites::Mark>{} : told()[i].marks);
  }
  Expectations agreed;
  if (!is_conforming) {
    agreed.ledger = suites::parse_ledger(ledger_text, "known.json");
    agreed.settlement = suites::settle(*agreed.ledger, suite, campaign, {}, suites::today());
  }
  const Run run{"2026-01-01T00:00:0" + std::to_string(jobs) + "Z", 1.5 * jobs, jobs, "any"};
  std::vector<suites::Accuracy> every_input(is_conforming ? 0 : 1, wrong_once());
  std::vector<suites::Finding> sessions;
  for (std::size_t i = 0; i < suite.cases.size(); ++i)
    for (const suites::Mark& mark : campaign.marks[i])
      if (auto finding = suites::finding_of_session(suite.cases[i], mark)) sessions.push_back(*std::move(finding));
  suites::Sorted sorted = suites::sorted({}, std::move(sessions), {});
  return report(std::move(suite), std::move(campaign), invocation(), run, std::move(agreed), std::move(sorted),
                std::move(every_input));
}

std::string text_of(const Report& report) {
  std::ostringstream out;
  write_json(report, out);
  return out.str();
}

std::string certificate_of(const Report& report) {
  const suites::Artefacts artefacts{{{"file", "worker", "", sha256("worker")}, {"python-package", "numpy", "2.4", ""}},
                                    {"what these files load while they run"}};
  const std::string ledger = report.agreed.ledger ? "known.json" : "";
  std::ostringstream out;
  write_certificate(report, {sha256("tool"), artefacts, suites::default_generated, ledger, report_identity(report)},
                    out);
  return out.str();
}

// "" where it holds, else "where: why".
std::string broken(const std::string& certificate, const std::string& report = "") {
  Verification verification(certificate, version);
  std::optional<Broken> first = verification.broken_by_itself();
  if (!first) first = verification.broken_by_tool(suite_of);
  if (!first && !report.empty()) first = verification.broken_by_report(report);
  return first ? first->where + ": " + first->why : "";
}

// The text of members as assay writes them, one a line.
std::string rendered(const Json& document) {
  std::string text = "{";
  for (const auto& [name, value] : document.items())
    text += (text == "{" ? "\n  \"" : ",\n  \"") + name + "\": " + dumped(value);
  return text + "\n}\n";
}

// With the digest it would have if nobody had touched it.
std::string resealed(Json certificate) {
  certificate.erase("digest");
  certificate["digest"] = std::string(64, '0');
  std::string text = rendered(certificate);
  return text.replace(text.size() - 68, 64, certificate_digest(text).value_or(std::string(64, '0')));
}

Json changed(const Json& value) {
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number_integer()) return value.get<Int>() + 1;
  if (value.is_number()) return value.get<double>() + 0.5;
  if (value.is_null()) return "L0";
  if (!value.is_string()) return 7;
  std::string text = value;
  if (text.empty()) return "x";
  text.back() = text.back() == '1' ? '2' : '1';
  return text;
}

// Goes over the documents that differ from `document` in one place: a value changed, a member or an element gone or
// added. Under the sanitizers one in so many is enough.
void for_each_tampering(const Json& document, const std::function<void(const Json&, const std::string& place)>& look) {
  std::size_t number = 0;
  const auto f = [&](const Json& other, const std::string& place) {
    if (number++ % one_in() == 0) look(other, place);
  };
  const std::function<void(const Json::json_pointer&)> visit = [&](const Json::json_pointer& at) {
    const Json& value = document.at(at);
    std::string place;  // without the indices of lists
    std::istringstream steps(at.to_string());
    for (std::string step; std::getline(steps, step, '/');)
      if (!step.empty()) place += "/" + (step.find_first_not_of("0123456789") == step.npos ? "*" : step);
    if (!at.empty()) {
      Json other = document;
      other[at] = changed(value);
      f(other, place);
    }
    if (!value.is_structured()) return;
    Json more = document;
    if (value.is_object())
      more[at]["surplus"] = 1;
    else
      more[at].push_back(value.empty() ? Json("surplus") : value.back());
    f(more, place + "+");
    for (const auto& [key, ignored] : value.items()) {
      const Json::json_pointer inside = value.is_object() ? at / key : at / static_cast<std::size_t>(std::stoul(key));
      Json less = document;
      value.is_object() ? static_cast<void>(less[at].erase(key)) : less[at].erase(std::stoul(key));
      f(less, place + (value.is_object() ? "/" + key : "/*") + "-");
      visit(inside);
    }
  };
  visit(Json::json_pointer());
}

TEST_CASE("a certificate holds, by itself and with its report", "[certificate]") {
  for (const bool is_conforming : {false, true}) {
    const Report report = report_of(1, is_conforming);
    const std::string certificate = certificate_of(report);
    CHECK(broken(certificate) == "");
    CHECK(broken(certificate, text_of(report)) == "");
    const Json json = Json::parse(certificate);
    CHECK(json.at("conclusion") == (is_conforming ? "conforms" : "not conforming"));
    CHECK(resealed(json).size() > 1000);
    CHECK(broken(resealed(json), text_of(report)) == "");
  }
}

TEST_CASE("a certificate states level, share, readings, breaches and excuses per version and type", "[certificate]") {
  const Json json = Json::parse(certificate_of(report_of()));
  const Json& pool = json.at("operators").at(0);
  REQUIRE(pool.at("op") == "AveragePool-19");
  CHECK(pool.at("state") == "not conforming");
  const Json& f32 = pool.at("types").at(0);
  REQUIRE(f32.at("type") == "f32");
  CHECK(f32.at("legal") == 4);  // the case with a NaN is shown apart
  CHECK(f32.at("judged") == 3);
  CHECK(f32.at("level") == "L2");
  CHECK(f32.at("apart").at("nonfinite").at("pass") == 1);
  CHECK(f32.at("contested") == Json{{"A8=keep", 1}});
  CHECK(f32.at("readings").at("A8") == Json{{"keep", 1}});
  CHECK(f32.at("excused").at(0).at("word") == "refused");
  CHECK(f32.at("breaches").size() == 1);
  CHECK(f32.at("breaches").at(0).at("word") == "unstable");
  CHECK(pool.at("types").at(1).at("state") == "certified");
  CHECK(pool.at("types").at(1).at("level") == "L1");
  const Json& f64 = pool.at("types").at(2);
  CHECK(f64.at("state") == "not certified");
  CHECK(f64.at("level").is_null());
  CHECK(f64.at("unsupported") == Json{{"declared", 1}});
  const Json& conv = json.at("operators").at(1);
  CHECK(conv.at("level").is_null());                           // one case failed
  CHECK(conv.at("types").at(0).at("counts").at("fail") == 2);  // and a session
  CHECK(conv.at("exceptions").at(0).at("cause") == 1);
  CHECK(conv.at("near_misses") == Json{{"refused", 1}, {"accepted", 1}, {"contested", 0}, {"unsupported", 0}});
  const Json& exp = json.at("operators").at(2);
  CHECK(exp.at("state") == "not conforming");
  CHECK(exp.at("level").is_null());
  CHECK(exp.at("types").at(0).at("breaches").at(0).at("because") == "over every input");
  CHECK(json.at("ledger").at("entries").at(0).at("covered") == 1);
  CHECK(json.at("command") ==
        "assay certify --backend 'exec:./worker --fast' --suite default --seed 1 --cases 4000 --level L2 --threads 1 "
        "--optimization all --set precision=f32 --pack 1 --presentations sample --laws none --timeout 2.5 --memory 512 "
        "--expectations known.json --report report.json --certificate certificate.json");
}

Report limited_report() {
  suites::SuiteRequest request;
  request.profile = find_profile("sonnx");
  suites::Suite suite = suite_of(request);
  suites::Campaign campaign;
  campaign.backend.backend = "example";
  for (const suites::SuiteCase& each : suite.cases) {
    campaign.verdicts.push_back(verdict_of({each.line, State::pass, "", Level::L0}, each.c));
    campaign.marks.emplace_back();
  }
  Invocation how = invocation();
  how.profile = "sonnx";
  return report(std::move(suite), std::move(campaign), std::move(how), {"2026-01-01T00:00:00Z", 1.5, 1, "any"});
}

TEST_CASE("the certificate of a limited suite carries the restrictions, and they are derived again",
          "[certificate][profile]") {
  const Report report = limited_report();
  const std::string certificate = certificate_of(report), text = text_of(report);
  CHECK(broken(certificate, text) == "");
  const Json json = Json::parse(certificate), told = Json::parse(text);
  CHECK(json["suite"]["profile"]["name"] == "sonnx");
  REQUIRE(json["suite"]["profile"]["restrictions"].size() == 5);
  CHECK(json["suite"]["profile"]["restrictions"][2]["id"] == "Conv.R3");
  CHECK_THAT(json["command"].get<std::string>(), Catch::Contains(" --profile sonnx "));
  CHECK(told["profile"] == "sonnx");
  CHECK(told["verdicts"][0]["restrictions"] == Json({"Conv.R1", "Conv.R2", "Conv.R3", "Conv.R4", "Conv.R5"}));
  CHECK(Json::parse(certificate_of(report_of()))["suite"].contains("profile") == false);
}

TEST_CASE("a limited suite is not taken for another one", "[certificate][profile][tampering]") {
  const Report report = limited_report();
  const Json certificate = Json::parse(certificate_of(report));
  const auto changed = [&](const std::function<void(Json&)>& change) {
    Json json = certificate;
    change(json);
    return broken(resealed(json), text_of(report));
  };
  CHECK_THAT(changed([](Json& json) { json["suite"].erase("profile"); }), Catch::Contains("certificate /suite/hash"));
  CHECK_THAT(changed([](Json& json) { json["suite"]["profile"]["restrictions"].erase(3); }),
             Catch::Contains("certificate /suite/profile/restrictions"));
  CHECK_THAT(changed([](Json& json) { json["suite"]["profile"]["restrictions"][1]["text"] = "auto_pad is VALID"; }),
             Catch::Contains("certificate /suite/profile/restrictions/1/text"));
  CHECK_THAT(changed([](Json& json) { json["suite"]["profile"]["name"] = "mine"; }), Catch::Contains("/suite/profile"));
  CHECK_THAT(changed([](Json& json) { json["suite"]["name"] = "assay"; }), Catch::Contains("certificate /suite/name"));
  CHECK_THAT(changed([](Json& json) { json["command"] = "assay certify"; }), Catch::Contains("certificate /command"));
}

TEST_CASE("the same verdicts give the same certificate, whenever and with however many jobs", "[certificate]") {
  const Report once = report_of(1), again = report_of(3);
  CHECK(text_of(once) != text_of(again));
  CHECK(certificate_of(once) == certificate_of(again));
  CHECK(broken(certificate_of(once), text_of(again)) == "");
}

TEST_CASE("what stands in the way of a certificate", "[certificate]") {
  Report report = report_of();
  CHECK_FALSE(obstacle(report));
  Report part = report;
  part.suite.complete = false;
  CHECK_THAT(obstacle(part).value_or(""), Catch::Contains("whole suite"));
  Report cut = report;
  cut.campaign.verdicts.back().reset();
  CHECK_THAT(obstacle(cut).value_or(""), Catch::Contains("interrupted"));
  Report crashed = report;
  crashed.totals[State::error] = 1;
  CHECK_THAT(obstacle(crashed).value_or(""), Catch::Contains("1 case ended in an error"));
  Report shapes = report;
  shapes.campaign.backend.answers_shapes = true;
  CHECK_THAT(obstacle(shapes).value_or(""), Catch::Contains("no value was judged"));
  Report old = report;
  old.agreed.baseline.emplace();
  CHECK_THAT(obstacle(old).value_or(""), Catch::Contains("baseline"));
}

TEST_CASE("any edit of a certificate shows in its digest", "[certificate][tampering]") {
  const std::string certificate = certificate_of(report_of());
  const Json json = Json::parse(certificate);
  std::size_t seen = 0;
  for_each_tampering(json, [&](const Json& other, const std::string& place) {
    INFO(place);
    CHECK(broken(rendered(other)) != "");
    ++seen;
  });
  CHECK(seen > 400 / one_in());
  for (std::size_t i = 0; i < certificate.size(); i += 7 * one_in()) {  // one bit of the text
    std::string flipped = certificate;
    flipped[i] = static_cast<char>(flipped[i] ^ 1);
    INFO(i);
    CHECK(broken(flipped) != "");
  }
}

TEST_CASE("a certificate that was sealed again is caught by its report, but for what no report says",
          "[certificate][tampering]") {
  const Report report = report_of();
  const std::string report_text = text_of(report);
  std::set<std::string> unseen;
  for_each_tampering(Json::parse(certificate_of(report)), [&](const Json& other, const std::string& place) {
    if (broken(resealed(other), report_text).empty()) unseen.insert(place);
  });
  // Which program and which files were run only a signature vouches for, or --backend.
  const std::set<std::string> vouched{"/tool/sha256",
                                      "/artefacts+",
                                      "/artefacts/*-",
                                      "/artefacts/*/name",
                                      "/artefacts/*/version",
                                      "/artefacts/*/sha256",
                                      "/not_recorded+",
                                      "/not_recorded/*-",
                                      "/not_recorded/*",
                                      "/digest",
                                      "/digest-"};
  CHECK(std::ranges::includes(vouched, unseen));
  if (one_in() == 1) CHECK(unseen == vouched);
}

TEST_CASE("any edit of a report shows in the certificate, but for its circumstances", "[certificate][tampering]") {
  const Report report = report_of();
  const std::string certificate = certificate_of(report);
  Json json = Json::parse(text_of(report));
  std::set<std::string> unseen;
  for_each_tampering(json, [&](const Json& other, const std::string& place) {
    if (broken(certificate, rendered(other)).empty()) unseen.insert(place.substr(0, place.find('/', 1)));
  });
  CHECK(unseen.size() <= 1);
}

TEST_CASE("a report and a certificate rewritten together are caught where numbers do not follow",
          "[certificate][tampering]") {
  const Report report = report_of();
  const Json certificate = Json::parse(certificate_of(report));
  std::set<std::string> unseen;
  for_each_tampering(Json::parse(text_of(report)), [&](const Json& other, const std::string& place) {
    const std::string text = rendered(other);
    const auto identity = report_identity(text);
    if (!identity || place.starts_with("/run")) return;
    Json bound = certificate;
    bound["report"]["sha256"] = *identity;
    if (broken(resealed(bound), text).empty()) unseen.insert(place);
  });
  // Words, evidence and measures beside the verdicts, and what was run: nothing is counted from them.
  for (const std::string& place : unseen) {
    INFO(place);
    const bool is_beside = place.starts_with("/verdicts/*/") || place.starts_with("/findings/*/") ||
                           place.starts_with("/ledger/entries/*/") || place.starts_with("/ledger/complaints") ||
                           place.starts_with("/coverage") || place.starts_with("/clauses") ||
                           place.starts_with("/causes/") || place == "/causes+" || place.starts_with("/every_input/*/");
    CHECK(is_beside);
    for (const char* derived : {"/verdicts/*/state",
                                "/verdicts/*/line",
                                "/verdicts/*/id",
                                "/verdicts/*/class",
                                "/verdicts/*/origin",
                                "/verdicts/*/readings",
                                "/verdicts/*/followed",
                                "/verdicts/*/violated",
                                "/verdicts/*/marks/*/mark",
                                "/verdicts/*/marks/*/breaches",
                                "/verdicts/*/marks/*/counts_as",
                                "/findings/*/count",
                                "/findings/*/first",
                                "/findings/*/op",
                                "/every_input/*/op",
                                "/every_input/*/type",
                                "/every_input/*/inputs",
                                "/every_input/*/counts",
                                "/every_input/*/conforms",
                                "/every_input/*/ended",
                                "/causes/*/sentence",
                                "/ledger/entries/*/covered",
                                "/ledger/entries/*/reason",
                                "/ledger/entries/*/expires"})
      CHECK_FALSE(place.starts_with(derived));
  }
}

TEST_CASE("a count changed alike in the report and in the certificate", "[certificate][tampering]") {
  const Report report = report_of();
  Json told = Json::parse(text_of(report)), certificate = Json::parse(certificate_of(report));
  for (Json* each : {&told, &certificate}) {
    (*each)["totals"]["fail"] = 0;
    (*each)["totals"]["pass"] = (*each)["totals"]["pass"].get<Int>() + 1;
  }
  const std::string text = rendered(told);
  CHECK_THAT(broken(resealed(certificate), text), Catch::Contains("certificate /report/sha256"));
  certificate["report"]["sha256"] = report_identity(text).value();
  CHECK(broken(resealed(certificate), text) == "report /totals/fail: 0 instead of 2");
}

TEST_CASE("the report of another run is another report", "[certificate][tampering]") {
  CHECK_THAT(broken(certificate_of(report_of()), text_of(report_of(1, true))),
             Catch::Contains("certificate /report/sha256: this report has"));
}

TEST_CASE("a certificate or report cut short anywhere does not hold", "[certificate][tampering]") {
  const Report report = report_of();
  const std::string certificate = certificate_of(report), text = text_of(report);
  for (std::size_t end = 0; end < certificate.size(); end += one_in()) {
    INFO(end);
    CHECK(broken(certificate.substr(0, end)) != "");
  }
  for (std::size_t end = 1; end + 2 < text.size(); end += 13 * one_in()) {
    INFO(end);
    CHECK(broken(certificate, text.substr(0, end)) != "");
  }
}

TEST_CASE("hostile documents get one line", "[certificate][tampering]") {
  const std::string deep(100'000, '['), wide = "{\"a\":\"" + std::string(100'000, 'a') + "\"}";
  Json long_name = Json::parse(certificate_of(report_of()));
  long_name["operators"][0]["op"] = std::string(longest_string, 'a');  // a regular expression reads it
  Json huge = long_name;
  huge["operators"][0]["op"] = "Conv-11";
  huge["suite"]["generated"] = 18'446'744'073'709'551'615ull;
  for (const std::string& text :
       {std::string(), std::string("null"), std::string("[]"), deep, wide, std::string("{\"a\":1e999}"),
        std::string("{\"a\":1,\"a\":2}"), std::string("{\"a\":\"\xff\"}"), std::string("{\"a\":\0}", 7),
        std::string("{\"a\":\"\x1b[31m\"}"), resealed(long_name), resealed(huge)}) {
    const std::string said = broken(text);
    CHECK(said != "");
    CHECK(said.size() < 600);
    CHECK(said.find_first_of("\n\x1b") == said.npos);
  }
  CHECK_THAT(broken("{\"a\":{\"b\":1,\"b\":1}}"), Catch::Contains("is there twice"));
  CHECK(broken("{\"a\":[{\"b\":1},{\"b\":1}]}").find("twice") == std::string::npos);
}

TEST_CASE("a certificate of another version of assay is for that one to verify", "[certificate]") {
  Json json = Json::parse(certificate_of(report_of()));
  json["tool"]["version"] = "0.9.0";
  CHECK(broken(resealed(json)) == "");  // suite and judgement are the same: it can be verified
  json["suite"]["hash"] = std::string(64, 'b');
  CHECK_THROWS_WITH(broken(resealed(json)), Catch::Contains("verify it with assay 0.9.0"));
  json["tool"]["version"] = version;
  CHECK_THAT(broken(resealed(json)), Catch::Contains("certificate /suite/hash"));
}

TEST_CASE("which cases are run again depends on a seed that the forger does not know", "[certificate]") {
  const suites::Suite suite = suite_of({});
  CHECK(sample(suite, 3, 1).size() == 3);
  CHECK(sample(suite, 3, 1) == sample(suite, 3, 1));
  CHECK(sample(suite, 3, 1) != sample(suite, 3, 2));
  CHECK(sample(suite, 1000, 1).size() == suite.cases.size());
}

TEST_CASE("an exception that holds everywhere is one, where no case of its version passes", "[verify]") {
  const auto report = [](const std::string& when, const std::string& state) {
    const std::string start = R"({"line":"AveragePool-19 opset=19 ir=8 X=f32[1,1,)",
                      level = R"(,"level":null,"id":"1"})";
    return Json::parse(
        R"({"causes":[{}],"operators":[{"op":"AveragePool-19","exceptions":[{"cause":1,"cases":1,"when":[")" + when +
        R"("],"others":0}]}],"verdicts":[)" + start +
        R"(4]~iota:1 kernel_shape=2","state":"fail","because":"value","class":"valid-core","cause":1)" + level + "," +
        start + R"(5]~iota:1 kernel_shape=2","because":"","class":"valid-core","state":")" + state + '"' + level +
        "]}");
  };
  CHECK(wrong_exception(report("", "unsupported")).empty());
  CHECK_THAT(wrong_exception(report("", "pass")), Catch::Matchers::Contains("holds for a case that passes"));
  CHECK_THAT(wrong_exception(report("strides", "unsupported")), Catch::Matchers::Contains("column"));
}

}  // namespace
}  // namespace assay::reports
