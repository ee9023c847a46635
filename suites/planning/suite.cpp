// SPDX-License-Identifier: Apache-2.0
#include "suites/planning/suite.h"

#include "generators/generators.h"
#include "oracles/exact/enclosure.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <span>

namespace assay::suites {
namespace {

constexpr Int near_miss_percent = 12;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// "file:31" and what is wrong there.
[[noreturn]] void refuse(const std::string& place, const std::string& what) { throw InputError(place + ": " + what); }

// Takes "[label]" off the front of a line; returns "" or " [label]".
std::string take_label(std::string_view& text, const std::string& place) {
  if (!text.starts_with('[')) return "";
  const auto end = text.find_first_of("[]", 1);
  if (end == std::string_view::npos || text[end] == '[')
    refuse(place, "the label has no closing bracket; write [label] CASE");
  std::string label = " " + std::string(text.substr(0, end + 1));
  text = trimmed(text.substr(end + 1));
  return label;
}

// Takes "=> v,v,v" off the end of a line.
std::optional<std::string> take_expectation(std::string_view& text, const std::string& place) {
  const auto arrow = text.find("=>");
  if (arrow == std::string_view::npos) return std::nullopt;
  const std::string expected(trimmed(text.substr(arrow + 2)));
  if (expected.find_first_of(" \t") != std::string::npos)
    refuse(place, "the expectation after => must be values separated by commas, without spaces");
  text = trimmed(text.substr(0, arrow));
  return expected;
}

SuiteCase planned(std::string_view text, const std::string& place) {
  const std::string label = take_label(text, place);
  std::optional<std::string> expected = take_expectation(text, place);
  Result<Case> parsed = parse_case(text);
  if (!parsed) refuse(place, parsed.error());
  std::string canonical = line(*parsed);
  return {*std::move(parsed), std::move(canonical), place + label, std::move(expected)};
}

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError("cannot read " + path.string() + "; check that it exists and may be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

// The type variable every input of these operators shares is that of the first input.
const std::vector<DType>& types_of(const Definition& definition) { return definition.types_of(definition.data().type); }

DType type_of(const Case& c) {
  const Definition& definition = c.definition();
  if (definition.inputs.empty()) return definition.type_of(c.call(), definition.data());
  const auto first = c.node.inputs.find(definition.data().name);
  return first == c.node.inputs.end() ? types_of(definition).front() : first->second.type.dtype;
}

// One operator version at one type, and how many generated cases it gets.
struct Share {
  const Definition* definition;
  DType type;
  std::vector<std::string> breakable;
  Int cases = 0;
  Int turn = 0;   // its place among the shares: lets near misses of small runs still reach different constraints
  Int first = 0;  // index of its first legal case

  std::string origin(std::uint64_t seed, std::string_view what, Int index) const {
    return "seed " + std::to_string(seed) + ": " + text(definition->version) + " " + std::string(name(type)) + " " +
           std::string(what) + std::to_string(index);
  }
};

// The first operators share the number asked for evenly.
constexpr std::size_t first_operators = 5;

bool is_first(const Definition& definition) {
  const std::span<const Operator* const> first(operators().data(), first_operators);
  return std::ranges::any_of(first, [&](const Operator* op) {
    return op->domain() == definition.version.domain && op->name() == definition.version.name;
  });
}

// Returns how many cases a later operator's version gets in a suite of `generated`: of the default number 40 to 160, by
// what its definition lists.
Int cases_of(const Definition& definition, Int generated) {
  const std::size_t space = 16 * types_of(definition).size() + 8 * definition.attributes.size() +
                            8 * definition.constraints.size() + 8 * definition.inputs.size();
  return std::clamp<Int>(static_cast<Int>(space), 40, 160) * generated / default_generated;
}

void spread(std::vector<Share>& shares, const SuiteRequest& request) {
  const auto first = std::ranges::count_if(shares, [](const Share& share) { return is_first(*share.definition); });
  for (Share& share : shares) {
    if (is_first(*share.definition)) {
      share.cases = request.generated / first + (share.turn < request.generated % first ? 1 : 0);
      continue;
    }
    // The types of a version take its strata in turn.
    const std::vector<DType>& types = types_of(*share.definition);
    const Int all = cases_of(*share.definition, request.generated), count = static_cast<Int>(types.size());
    const Int sibling = std::ranges::find(types, share.type) - types.begin();
    share.cases = all / count + (sibling < all % count ? 1 : 0);
    share.first = sibling * (all / count + 1);
  }
}

// Those of the selected operator versions, each as large as in the whole suite. All types of a version are drawn: a
// near miss of one type may have a first input of another.
std::vector<Share> shares(const SuiteRequest& request) {
  std::vector<Share> all;
  for (const Operator* op : operators())
    for (const Definition& definition : op->versions())
      if (!request.profile || request.profile->part(definition.version))
        for (DType type : types_of(definition)) all.push_back({&definition, type, {}, 0, static_cast<Int>(all.size())});
  spread(all, request);
  std::erase_if(all, [&](const Share& share) { return !request.selection.admits(*share.definition); });
  for (Share& share : all) share.breakable = generators::breakable(*share.definition);
  return all;
}

// Lets through what lies within a profile, spelt out; without a profile everything, as it is.
class Gate {
 public:
  Gate(const Profile* profile, std::map<std::string, Int>* left_out) : profile_(profile), left_out_(left_out) {}

  std::optional<Case> admit(Case c) const {
    if (!profile_) return c;
    Case full = spelt_out(c);
    std::vector<std::string> reasons = outside(*profile_, full);
    // A near miss may break by what it leaves out.
    if (reasons.empty() && c.definition().violated(c.call()) != full.definition().violated(full.call()))
      reasons.push_back("is another case spelt out");
    if (reasons.empty()) return full;
    for (const std::string& reason : left_out_ ? reasons : std::vector<std::string>{}) ++(*left_out_)[reason];
    return std::nullopt;
  }

  bool is_narrow() const { return profile_ != nullptr; }

 private:
  const Profile* profile_;
  std::map<std::string, Int>* left_out_;
};

// Collects cases whose line is new.
class Gathering {
 public:
  Gathering(std::vector<SuiteCase>& cases, const Gate& gate) : cases_(cases), gate_(gate) {}

  bool take(Case drawn, std::string origin) {
    std::optional<Case> c = gate_.admit(std::move(drawn));
    if (!c) return false;
    std::string canonical = line(*c);
    if (!seen_.insert(canonical).second) return false;
    cases_.push_back({*std::move(c), std::move(canonical), std::move(origin), std::nullopt});
    return true;
  }

  // Small domains repeat themselves, and few cases lie within a profile: after this many cases in vain a share
  // stays short.
  Int attempts(Int wanted) const { return (4 * wanted + 64) * (gate_.is_narrow() ? 16 : 1); }

 private:
  std::vector<SuiteCase>& cases_;
  const Gate& gate_;
  std::set<std::string> seen_;
};

void gather_legal(const Share& share, Int wanted, std::uint64_t seed, Gathering& into) {
  for (Int index = share.first, taken = 0; taken < wanted && index - share.first < into.attempts(wanted); ++index)
    taken += into.take(generators::legal(*share.definition, share.type, seed, static_cast<std::uint64_t>(index)),
                       share.origin(seed, "#", index));
}

void gather_near_misses(const Share& share, Int wanted, std::uint64_t seed, Gathering& into) {
  if (share.breakable.empty()) return;
  for (Int index = 0, taken = 0; taken < wanted && index < into.attempts(wanted); ++index) {
    const auto turn = static_cast<std::size_t>(index + share.turn * wanted) % share.breakable.size();
    std::optional<Case> miss = generators::near_miss(*share.definition, share.type, share.breakable[turn], seed,
                                                     static_cast<std::uint64_t>(index));
    if (miss) taken += into.take(*std::move(miss), share.origin(seed, "breaks " + share.breakable[turn] + " #", index));
  }
}

Int near_misses_of(const Share& share) {
  const Int breakable = static_cast<Int>(share.breakable.size());
  if (breakable == 0) return 0;
  return std::max(share.cases * near_miss_percent / 100, std::min(breakable, share.cases / 4));
}

void keep_selected(std::vector<SuiteCase>& cases, const Selection& selection) {
  std::erase_if(cases, [&](const SuiteCase& p) { return !selection.admits(p.c.definition(), type_of(p.c)); });
}

// The first of equal lines stays. Two expectations for one line are a mistake of ours in the files.
std::vector<SuiteCase> each_once(std::vector<SuiteCase> cases) {
  std::map<std::string, std::size_t> seen;
  std::vector<SuiteCase> unique;
  for (SuiteCase& p : cases) {
    const auto [entry, is_new] = seen.emplace(p.line, unique.size());
    if (is_new) {
      unique.push_back(std::move(p));
      continue;
    }
    SuiteCase& first = unique[entry->second];
    if (first.expected && p.expected && first.expected != p.expected)
      refuse(p.origin, "the same case is expected otherwise at " + first.origin + "; keep one of them");
    if (!first.expected) first.expected = std::move(p.expected);
  }
  return unique;
}

std::vector<SuiteCase> with_generated(std::vector<SuiteCase> pinned, const SuiteRequest& request,
                                      std::map<std::string, Int>* left_out = nullptr) {
  std::ranges::move(generated_cases(request, left_out), std::back_inserter(pinned));
  return each_once(std::move(pinned));
}

// Those of the cases that lie within the profile, spelt out; their expectations are those of the same cases.
std::vector<SuiteCase> within(const Profile* profile, const std::vector<SuiteCase>& cases,
                              std::map<std::string, Int>& left_out) {
  const Gate gate(profile, &left_out);
  std::vector<SuiteCase> kept;
  for (const SuiteCase& each : cases) {
    std::optional<Case> c = gate.admit(each.c);
    if (!c) continue;
    std::string canonical = line(*c);
    const std::string how = canonical == each.line ? "" : ", spelt out";
    kept.push_back({*std::move(c), std::move(canonical), each.origin + how, each.expected});
  }
  return kept;
}

bool is_generated(const SuiteCase& each) { return each.origin.starts_with("seed "); }

// Keeps every fourth generated case of a version: all of its types and constraints stay.
void thin_out(std::vector<SuiteCase>& cases) {
  std::map<OpVersion, Int> seen;
  std::erase_if(cases, [&](const SuiteCase& each) { return is_generated(each) && seen[each.c.version]++ % 4 != 0; });
}

// Returns the part of the default suite that is short: of the first operators the pinned cases, and generated ones,
// spread evenly, that make the number.
std::vector<SuiteCase> abridged(std::vector<SuiteCase> pinned) {
  std::vector<SuiteCase> later = with_generated(std::move(pinned), SuiteRequest()), first;
  const auto is_later = [](const SuiteCase& each) { return !is_first(each.c.definition()); };
  const auto middle = std::ranges::stable_partition(later, is_later).begin();
  std::ranges::move(middle, later.end(), std::back_inserter(first));
  later.erase(middle, later.end());
  thin_out(later);
  const auto drawn = std::ranges::stable_partition(first, [](const SuiteCase& each) { return !is_generated(each); });
  const auto kept = static_cast<std::size_t>(drawn.begin() - first.begin());
  expects(kept < short_cases && first.size() >= short_cases, "the short suite holds all pinned cases and some more");
  const std::size_t wanted = short_cases - kept;
  std::vector<SuiteCase> cases(first.begin(), drawn.begin());
  for (std::size_t i = 0; i < wanted; ++i)
    cases.push_back(std::move(*(drawn.begin() + static_cast<std::ptrdiff_t>(i * drawn.size() / wanted))));
  std::ranges::move(later, std::back_inserter(cases));
  return cases;
}

// Adds every finite input of functions of one operand in types of 16 bits: a case for each sign.
void gather_every_input(const SuiteRequest& request, std::vector<SuiteCase>& cases) {
  const Gate gate(request.profile, nullptr);
  Gathering gathering(cases, gate);
  for (const Operator* op : operators())
    for (const Definition& definition : op->versions())
      for (const auto& [type, finite] : {std::pair{DType::f16, 0x7c00}, std::pair{DType::bf16, 0x7f80}}) {
        const bool is_function = oracles::oracle_of(definition.version).function != nullptr;
        if (!is_function || std::ranges::count(types_of(definition), type) == 0) continue;
        const auto count = static_cast<std::uint64_t>(finite);
        for (const std::uint64_t sign : {std::uint64_t{0}, std::uint64_t{0x8000}})
          gathering.take(*parse_case(line_of_patterns(definition, type, sign, count)), "every input");
      }
}

// Returns the cases of `default`, those of the same seed that ten times the number has besides, and those of every
// input.
std::vector<SuiteCase> enlarged(std::vector<SuiteCase> pinned, SuiteRequest request,
                                std::map<std::string, Int>& left_out) {
  std::vector<SuiteCase> cases = with_generated(std::move(pinned), request);
  request.generated *= full_factor;
  cases = with_generated(std::move(cases), request, &left_out);
  gather_every_input(request, cases);
  return cases;
}

}  // namespace

std::size_t moved_bytes(const Case& c) {
  const Call call = c.call();
  std::size_t bytes = 0;
  const auto add = [&](const TensorType& type) {
    if (type.dtype != DType::string) bytes += message_size(type) * data_sets;
  };
  for (const auto& [name, input] : c.node.inputs)
    if (input.presence == Input::Presence::given) add(input.type);
  for (const TensorType& type : c.definition().requested_types(call)) add(type);
  return bytes;
}

std::chrono::milliseconds time_to_move(std::size_t bytes) {
  constexpr std::size_t bytes_in_a_millisecond = (std::size_t{32} << 20) / 1000;
  return std::chrono::milliseconds(bytes / bytes_in_a_millisecond);
}

std::string_view name(Length length) {
  return length == Length::abridged ? "short" : length == Length::full ? "full" : "default";
}

std::optional<Length> length_named(std::string_view word) {
  for (const Length length : {Length::abridged, Length::standard, Length::full})
    if (word == name(length)) return length;
  return std::nullopt;
}

Length length_of(std::string_view suite_name) {
  for (const Length length : {Length::abridged, Length::full})
    if (suite_name.starts_with("assay " + std::string(name(length)))) return length;
  return Length::standard;
}

bool Selection::admits(const Definition& definition) const {
  const std::string version = text(definition.version);
  return operators.empty() || operators.contains(version) || operators.contains(version.substr(0, version.rfind('-')));
}

bool Selection::admits(const Definition& definition, DType type) const {
  return admits(definition) && (types.empty() || types.contains(type));
}

std::string line_of_patterns(const Definition& definition, DType type, std::uint64_t pattern, std::uint64_t count) {
  const int opset = definition.version.since_version;
  return text(definition.version) + " opset=" + std::to_string(opset) + " ir=" + (opset < 21 ? "8" : "10") + " " +
         definition.inputs.front().name + "=" + std::string(name(type)) + "[" + std::to_string(count) +
         "]~bits:" + std::to_string(pattern);
}

std::vector<SuiteCase> read_cases(std::string_view text, std::string_view name) {
  std::vector<SuiteCase> cases;
  int number = 0;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view row = trimmed(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    ++number;
    if (!row.empty() && !row.starts_with('#'))
      cases.push_back(planned(row, std::string(name) + ":" + std::to_string(number)));
  }
  return cases;
}

std::vector<SuiteCase> read_case_file(const std::filesystem::path& file) {
  return read_cases(content(file), file.string());
}

std::vector<SuiteCase> pinned_cases(const std::filesystem::path& suites) {
  std::vector<SuiteCase> cases;
  for (const char* folder : {"conformance", "regressions"}) {
    std::set<std::filesystem::path> files;
    if (std::filesystem::is_directory(suites / folder))
      for (const auto& entry : std::filesystem::directory_iterator(suites / folder))
        if (entry.path().extension() == ".cases") files.insert(entry.path());
    for (const auto& file : files)
      std::ranges::move(read_cases(content(file), std::string(folder) + "/" + file.filename().string()),
                        std::back_inserter(cases));
  }
  return cases;
}

std::vector<SuiteCase> generated_cases(const SuiteRequest& request, std::map<std::string, Int>* left_out) {
  std::vector<SuiteCase> cases;
  const Gate gate(request.profile, left_out);
  Gathering gathering(cases, gate);
  if (request.generated <= 0) return cases;
  for (const Share& share : shares(request)) {
    const Int near = near_misses_of(share);
    gather_legal(share, share.cases - near, request.seed, gathering);
    gather_near_misses(share, near, request.seed, gathering);
  }
  keep_selected(cases, request.selection);
  return cases;
}

namespace {

// Has the first legal cases of every version run under other names and into bound outputs: a backend that knows assay
// by its names, or writes past a buffer, shows in each.
void present(std::vector<SuiteCase>& cases) {
  std::map<OpVersion, std::size_t> seen;
  for (SuiteCase& each : cases) {
    std::size_t& count = seen[each.c.version];
    if (count == 2 || !each.c.is_legal()) continue;
    each.presented_by = count++ == 0 ? "names=" : "outputs=";
  }
}

}  // namespace

Suite plan(const std::filesystem::path& suites, const SuiteRequest& request) {
  const bool is_short = request.length == Length::abridged;
  const bool is_full = request.length == Length::full;
  if (is_short && request.profile)
    throw InputError("the short suite has no profile; take --suite default with --profile " +
                     std::string(request.profile->name));
  Suite suite;
  suite.length = request.length;
  if (is_short || is_full) suite.name += " " + std::string(name(request.length));
  if (request.profile) suite.name += " " + std::string(request.profile->name);
  suite.profile = request.profile;
  suite.version = suite_version;
  suite.complete = !is_short && request.selection.is_everything() && request.generated >= default_generated;
  std::vector<SuiteCase> pinned = within(request.profile, pinned_cases(suites), suite.left_out);
  suite.cases = is_short  ? abridged(std::move(pinned))
                : is_full ? enlarged(std::move(pinned), request, suite.left_out)
                          : with_generated(std::move(pinned), request, &suite.left_out);
  present(suite.cases);
  keep_selected(suite.cases, request.selection);
  if (suite.cases.empty()) throw InputError("no case is selected; `assay list` shows what --ops and --types can name");
  suite.hash = suite_hash(suite.cases);
  return suite;
}

std::map<OpVersion, std::string> version_hashes(const std::vector<SuiteCase>& cases) {
  std::map<OpVersion, std::vector<std::string>> lines;
  for (const SuiteCase& p : cases) lines[p.c.version].push_back(p.expected ? p.line + " => " + *p.expected : p.line);
  std::map<OpVersion, std::string> hashes;
  for (auto& [version, own] : lines) {
    std::ranges::sort(own);
    std::string all;
    for (const std::string& each : own) all += each + "\n";
    hashes[version] = sha256(all);
  }
  return hashes;
}

std::string suite_hash(const std::vector<SuiteCase>& cases) {
  std::string all;
  for (const auto& [version, hash] : version_hashes(cases)) all += hash + "  " + text(version) + "\n";
  return sha256(all);
}

}  // namespace assay::suites
