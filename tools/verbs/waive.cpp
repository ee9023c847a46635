// SPDX-License-Identifier: Apache-2.0
// assay waive: drafts ledger entries for the breaches of a report, or checks a ledger.
#include "reports/atomic_file.h"
#include "suites/expectations/waivers.h"
#include "tools/verbs/verbs.h"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>

namespace assay::tools {
namespace {

namespace fs = std::filesystem;

constexpr auto customary = std::chrono::days(90);

struct Options {
  std::string from, out, check, reason, link, owner, expires;
};

suites::Stand stand_of(const Options& options) {
  const suites::Date in_time = std::chrono::sys_days(suites::today()) + customary;
  const auto expires = options.expires.empty() ? in_time : suites::date_named(options.expires);
  if (!expires) throw InputError("--expires is a day as 2027-06-30, not '" + options.expires + "'");
  return {options.reason, options.link, options.owner, *expires};
}

std::string contents_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InputError("cannot read " + file + "; --from names a report, written with certify or fuzz --report");
  return {std::istreambuf_iterator<char>(in), {}};
}

void print(const suites::Waiver& waiver, std::ostream& out) {
  out << waiver.id << ": " << waiver.covers << " cases";
  if (waiver.also > 0) out << ", and " << waiver.also << " that pass";
  out << "; " << (waiver.when.empty() ? "every case" : waiver.when) << "\n";
  if (!waiver.says.empty()) out << "    " << waiver.says << "\n";
}

bool is_draft(const suites::Stand& stand) { return stand.reason.empty() || stand.link.empty() || stand.owner.empty(); }

void write(const std::string& text, const std::string& file) {
  if (fs::exists(file)) throw InputError(file + " is there already, and somebody may stand for it; name another file");
  reports::AtomicFile draft(file);
  (draft.is_named() ? draft.out() : std::cout) << text;
  draft.finish();
}

int check(const std::string& file) {
  const suites::Ledger ledger = suites::read_ledger(file);
  for (const suites::Entry& entry : ledger.entries)
    std::cout << entry.id << ": until " << suites::text(entry.expires) << ", " << entry.owner
              << (entry.is_expired(suites::today()) ? "  EXPIRED\n" : "\n");
  std::cout << file << ": " << ledger.entries.size() << " entries\n";
  const auto expired = [](const suites::Entry& entry) { return entry.is_expired(suites::today()); };
  return std::ranges::any_of(ledger.entries, expired) ? not_conforming : conforms;
}

int waive(const Options& options) {
  if (options.from.empty() == options.check.empty())
    throw InputError("name a report with --from, or a ledger with --check");
  if (!options.check.empty()) return check(options.check);
  const suites::Stand stand = stand_of(options);
  const suites::WaiverDraft draft = suites::draft_waivers(contents_of(options.from), options.from);
  write(suites::ledger_text(draft.waivers, stand), options.out);
  for (const suites::Waiver& each : draft.waivers) print(each, std::cerr);
  if (!draft.about_passing.empty()) std::cerr << "note: " << draft.about_passing << "\n";
  std::cerr << draft.waivers.size() << " entries until " << suites::text(stand.expires)
            << (is_draft(stand) ? "; a draft: fill in what says TODO, and judge each predicate\n"
                                : "; judge each predicate\n");
  return conforms;
}

}  // namespace

Verb waive_verb(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("waive", "draft a ledger of expected breaches from a report, or check one");
  command->add_option("--from", options->from, "the report, written with certify or fuzz --report");
  command->add_option("--out", options->out, "write the ledger to this file instead of printing it");
  command->add_option("--check", options->check, "read a ledger instead: exit 1 where an entry has expired");
  command->add_option("--reason", options->reason, "of every entry; TODO where it is left out");
  command->add_option("--link", options->link, "where the breaches are tracked");
  command->add_option("--owner", options->owner, "who answers for the entries");
  command->add_option("--expires", options->expires, "their last day, as 2027-06-30 (default: in 90 days)");
  return {command, [options] { return waive(*options); }};
}

}  // namespace assay::tools
