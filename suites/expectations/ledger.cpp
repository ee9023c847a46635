// SPDX-License-Identifier: Apache-2.0
#include "suites/expectations/ledger.h"

#include "reference/nearest.h"
#include "suites/text/json_depth.h"
#include "suites/text/printable.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <map>

namespace assay::suites {
namespace {

using Json = nlohmann::json;
using oracles::State;
using oracles::Verdict;

// The breaches an entry may expect: states, then marks.
const std::vector<std::string> breach_words{"fail",     "below",   "refused", "error",         "contested",
                                            "unstable", "session", "differs", "stale session", "breaks law"};

// Every operator version that a word of an entry may mean: "AveragePool-19", or "AveragePool" for all of its versions.
std::map<std::string, std::vector<const Definition*>> versions_by_name() {
  std::map<std::string, std::vector<const Definition*>> known;
  for (const Operator* op : operators())
    for (const Definition& definition : op->versions()) {
      const std::string version = text(definition.version);
      known[version].push_back(&definition);
      known[version.substr(0, version.rfind('-'))].push_back(&definition);
    }
  return known;
}

// Reads one entry; what it throws names the entry.
class EntryReader {
 public:
  EntryReader(const Json& json, std::string place) : json_(json), place_(std::move(place)) {}

  Entry read() {
    if (!json_.is_object()) fail("it is no object");
    check_keys();
    Entry entry;
    entry.id = word("id");
    place_ += " (" + entry.id.substr(0, 80) + ")";
    entry.versions = versions();
    entry.when = when(entry.versions);
    entry.states = states();
    if (json_.contains("because")) entry.because = words("because");
    entry.reason = stated_by_somebody("reason");
    entry.link = stated_by_somebody("link");
    entry.owner = stated_by_somebody("owner");
    entry.expires = expiry();
    return entry;
  }

  [[noreturn]] void fail(const std::string& why) const { throw InputError(place_ + ": " + why); }

 private:
  static const std::vector<std::string>& keys() {
    static const std::vector<std::string> all{"id",     "operators", "when",  "states", "because",
                                              "reason", "link",      "owner", "expires"};
    return all;
  }
  void check_keys() const {
    for (const auto& [key, value] : json_.items())
      if (std::ranges::find(keys(), key) == keys().end()) fail("unknown key '" + key + "'" + suggestion(key, keys()));
  }

  std::string word(const std::string& key) const {
    if (!json_.contains(key)) fail("'" + key + "' is missing");
    const Json& value = json_.at(key);
    // On one line and as it looks, since it is shown in many places.
    std::string words = value.is_string() ? printable(value.get<std::string>(), std::string::npos) : "";
    if (words.empty()) fail("'" + key + "' is text that is not empty");
    return words;
  }
  std::set<std::string> words(const std::string& key) const {
    if (!json_.contains(key)) fail("'" + key + "' is missing");
    std::set<std::string> all;
    const Json& list = json_.at(key);
    const auto is_word = [](const Json& each) { return each.is_string() && !each.get<std::string>().empty(); };
    if (!list.is_array() || list.empty() || !std::ranges::all_of(list, is_word))
      fail("'" + key + "' is a list of words that is not empty");
    for (const Json& each : list) all.insert(each.get<std::string>());
    return all;
  }

  std::vector<const Definition*> versions() const {
    static const auto known = versions_by_name();
    std::vector<const Definition*> all;
    for (const std::string& name : words("operators")) {
      const auto found = known.find(name);
      if (found == known.end()) {
        std::vector<std::string> names;
        for (const auto& [each, definitions] : known) names.push_back(each);
        fail("there is no operator version '" + name + "'" + suggestion(name, names));
      }
      for (const Definition* each : found->second)
        if (std::ranges::find(all, each) == all.end()) all.push_back(each);
    }
    return all;
  }

  Predicate when(const std::vector<const Definition*>& about) const {
    if (!json_.contains("when")) return {};
    const Result<Predicate> read = parse_predicate(word("when"));
    if (!read) fail("'when', " + read.error());
    if (const auto mistake = read->mistake(about)) fail("'when', " + mistake->text);
    return *read;
  }

  std::set<std::string> states() const {
    std::set<std::string> all = words("states");
    for (const std::string& word : all)
      if (std::ranges::find(breach_words, word) == breach_words.end())
        fail("'" + word + "' is no breach" + suggestion(word, breach_words) +
             " (fail, below, refused, error, contested, unstable, differs, stale session, breaks law)");
    return all;
  }

  // What only a person can know: a draft holds a note to do it.
  std::string stated_by_somebody(const std::string& key) const {
    std::string words = word(key);
    if (words.starts_with(to_do)) fail("a draft; write its '" + key + "' before it is applied");
    return words;
  }

  Date expiry() const {
    const std::string words = word("expires");
    const std::optional<Date> date = date_named(words);
    if (!date) fail("'expires' is a day as 2027-06-30, not '" + words.substr(0, 40) + "'");
    return *date;
  }

  const Json& json_;
  std::string place_;
};

Json parsed(std::string_view text, std::string_view name) {
  if (nests_too_deep(text)) throw InputError(std::string(name) + ": no ledger; it nests too deep");
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw InputError(std::string(name) + ": no JSON at byte " + std::to_string(error.byte) +
                     "; a ledger looks like suites/expectations/ledger.schema.json says");
  } catch (const Json::exception&) {
    throw InputError(std::string(name) + ": it holds a number that no computer has");
  }
}

void check_header(const Json& json, const std::string& name) {
  if (!json.is_object() || !json.contains("ledger") || json.at("ledger") != 1 || !json.contains("entries") ||
      !json.at("entries").is_array())
    throw InputError(name + R"(: no ledger; it begins {"ledger":1,"entries":[)");
  const std::vector<std::string> known{"ledger", "about", "entries"};
  for (const auto& [key, value] : json.items())
    if (std::ranges::find(known, key) == known.end())
      throw InputError(name + ": unknown key '" + key + "'" + suggestion(key, known));
  if (json.contains("about") && !json.at("about").is_string()) throw InputError(name + ": 'about' is text");
}

bool are_selected(const Entry& entry, const Selection& selection) {
  return selection.types.empty() &&
         std::ranges::all_of(entry.versions, [&](const Definition* each) { return selection.admits(*each); });
}

bool passes(const Verdict& verdict) { return verdict.state == State::pass || verdict.state == State::contested; }

// One entry against one run.
class EntryTally {
 public:
  EntryTally(const Entry& entry, bool is_expired) : entry_(entry), is_expired_(is_expired) { use.entry = entry.id; }

  void tell(std::size_t index, const Case& c, const std::optional<Verdict>& verdict, const std::vector<Mark>& marks,
            std::vector<Expectation>& expectations) {
    if (!entry_.meets(c)) return;
    ++use.met;
    if (!verdict) {
      ++use.unreached;
      return;
    }
    bool covers = false, is_broken = false;
    for (const Breach& breach : breaches(*verdict, marks)) {
      is_broken |= breach.word != "contested";
      if (!entry_.expects(breach)) continue;
      covers = true;
      const auto is_same = [&](const Expectation& each) { return each.breach == breach; };
      if (!is_expired_ && std::ranges::none_of(expectations, is_same))
        expectations.push_back({Expectation::Kind::xfail, entry_.id, breach});
    }
    if (covers) {
      ++use.covered;
    } else if (!is_broken && passes(*verdict)) {
      ++use.passed;
      passing_.push_back(index);
    } else {
      ++otherwise_[verdict->state];
    }
  }

  // After every case was told.
  void conclude(bool is_selected, LedgerResult& settlement) const {
    if (is_expired_) return complain(Complaint::Kind::expired, expired(), settlement);
    if (!is_selected || use.covered > 0 || use.unreached > 0) return;
    if (use.passed == 0) return complain(Complaint::Kind::unused, unused(), settlement);
    for (const std::size_t index : passing_)
      settlement.expectations[index].push_back({Expectation::Kind::xpass, entry_.id, {}});
    complain(Complaint::Kind::passing, cases(use.passed) + " it expects to break, none does; remove it", settlement);
  }

  Use use;

 private:
  static std::string cases(Int count) { return std::to_string(count) + (count == 1 ? " case" : " cases"); }
  void complain(Complaint::Kind kind, std::string detail, LedgerResult& settlement) const {
    settlement.complaints.push_back({kind, entry_.id, std::move(detail)});
  }
  std::string expired() const {
    return "on " + text(entry_.expires) + "; " + cases(use.covered) + " it excused count again: renew it (" +
           entry_.owner + ") or remove it";
  }
  std::string unused() const {
    if (use.met == 0) return "no case that was run meets it; remove it or mend its predicate";
    std::string states;
    for (const auto& [state, count] : otherwise_)
      states += (states.empty() ? "" : ", ") + std::to_string(count) + " " + std::string(oracles::name(state));
    return cases(use.met) + " it meets end otherwise (" + states + "); remove it or mend it";
  }

  const Entry& entry_;
  bool is_expired_;
  std::vector<std::size_t> passing_;
  std::map<State, Int> otherwise_;
};

}  // namespace

std::optional<Date> date_named(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  const auto number = [&](std::size_t at, std::size_t length) {
    unsigned value = 0;
    const char* const last = text.data() + at + length;
    const auto [end, error] = std::from_chars(text.data() + at, last, value);
    return error == std::errc() && end == last ? std::optional(value) : std::nullopt;
  };
  const auto year = number(0, 4), month = number(5, 2), day = number(8, 2);
  if (!year || !month || !day) return std::nullopt;
  const Date date{std::chrono::year(static_cast<int>(*year)), std::chrono::month(*month), std::chrono::day(*day)};
  return date.ok() ? std::optional(date) : std::nullopt;
}

std::string text(Date date) {
  const auto padded = [](unsigned number, std::size_t width) {
    const std::string digits = std::to_string(number);
    return std::string(width - std::min(width, digits.size()), '0') + digits;
  };
  return padded(static_cast<unsigned>(static_cast<int>(date.year())), 4) + "-" +
         padded(static_cast<unsigned>(date.month()), 2) + "-" + padded(static_cast<unsigned>(date.day()), 2);
}

Date today() { return Date(std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now())); }

bool Entry::meets(const Case& c) const {
  return std::ranges::any_of(versions, [&](const Definition* each) { return each->version == c.version; }) &&
         when.holds(c);
}

bool Entry::expects(const Breach& breach) const {
  return states.contains(breach.word) && (because.empty() || because.contains(breach.because));
}

std::vector<Breach> breaches(const Verdict& verdict, const std::vector<Mark>& marks) {
  std::vector<Breach> all;
  const std::string word(oracles::name(verdict.state));
  if (std::ranges::find(breach_words, word) != breach_words.end()) all.push_back({word, verdict.because});
  for (const Mark& mark : marks)
    if (mark.breaches) all.push_back({mark.name, mark.by});
  return all;
}

Ledger parse_ledger(std::string_view json, std::string_view name) {
  const std::string file(name);
  const Json document = parsed(json, name);
  check_header(document, file);
  Ledger ledger{file, sha256(json), {}};
  std::set<std::string> ids;
  for (const Json& each : document.at("entries")) {
    EntryReader reader(each, file + ": entry " + std::to_string(ledger.entries.size() + 1));
    ledger.entries.push_back(reader.read());
    if (!ids.insert(ledger.entries.back().id).second) reader.fail("another entry has this id");
  }
  return ledger;
}

Ledger read_ledger(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InputError("cannot read the ledger " + file.string() + "; `assay waive --from REPORT` drafts one");
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  return parse_ledger(bytes, file.string());
}

std::string_view name(Expectation::Kind kind) { return kind == Expectation::Kind::xfail ? "xfail" : "xpass"; }

std::string_view name(Complaint::Kind kind) {
  switch (kind) {
    case Complaint::Kind::expired: return "expired";
    case Complaint::Kind::unused: return "unused";
    default: return "passing";
  }
}

bool LedgerResult::excuses(std::size_t index, std::string_view word) const {
  return std::ranges::any_of(expectations[index], [&](const Expectation& each) {
    return each.kind == Expectation::Kind::xfail && each.breach.word == word;
  });
}

LedgerResult settle(const Ledger& ledger, const Suite& suite, const Campaign& campaign, const Selection& selection,
                    Date day) {
  const std::size_t cases = suite.cases.size();
  assay::expects(cases == campaign.verdicts.size() && cases == campaign.marks.size(), "one verdict per planned case");
  LedgerResult settlement;
  settlement.expectations.resize(cases);
  std::vector<EntryTally> tallies;
  for (const Entry& entry : ledger.entries) tallies.emplace_back(entry, entry.is_expired(day));
  for (std::size_t i = 0; i < cases; ++i)
    for (EntryTally& tally : tallies)
      tally.tell(i, suite.cases[i].c, campaign.verdicts[i], campaign.marks[i], settlement.expectations[i]);
  for (std::size_t i = 0; i < tallies.size(); ++i) {
    tallies[i].conclude(are_selected(ledger.entries[i], selection), settlement);
    settlement.uses.push_back(tallies[i].use);
  }
  return settlement;
}

}  // namespace assay::suites
