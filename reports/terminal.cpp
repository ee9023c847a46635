// SPDX-License-Identifier: Apache-2.0
#include "reports/terminal.h"

#include "oracles/exact/exact.h"

#include <algorithm>
#include <sstream>
#include <utility>

namespace assay::reports {
namespace {

using oracles::State;

constexpr std::size_t columns = 112;
constexpr std::size_t most_letters = 3 * columns;  // of a backend's message
constexpr std::size_t most_predicates = 2;
constexpr std::string_view indent = "     ";

std::string shortened(const std::string& words) {
  if (words.size() <= most_letters) return words;
  return words.substr(0, columns) + " … " + words.substr(words.size() - (most_letters - columns));
}

std::string_view kind_of(State state) {
  switch (state) {
    case State::fail: return "WRONG";
    case State::error: return "CRASH";
    case State::refused: return "REFUSED";
    case State::below: return "PRECISION";
    default: return "UNCLEAR";
  }
}

std::string place(const Case& c, const oracles::Evidence& evidence) {
  const auto& outputs = c.definition().outputs;
  const auto output = static_cast<std::size_t>(evidence.output);
  std::string place = output < outputs.size() ? outputs[output].name : "output " + std::to_string(evidence.output);
  place += text(evidence.index);
  return evidence.set == 0 ? place : place + " of data set " + std::to_string(evidence.set);
}

// The element of the verdict, and others of the same output where they are not too many to look through.
std::vector<oracles::Evidence> wrong_elements(const suites::Finding& finding, const oracles::Judgement& judgement) {
  constexpr std::size_t most_shown = 3;
  constexpr Int most_looked_at = 4096;
  const auto& [outcome, verdict] = finding.answered;
  std::vector<oracles::Evidence> shown{*verdict.evidence};
  const auto set = static_cast<std::size_t>(shown[0].set), output = static_cast<std::size_t>(shown[0].output);
  if (set >= outcome.sets.size() || output >= outcome.sets[set].size()) return shown;
  if (outcome.sets[set][output].elements() > most_looked_at) return shown;
  const oracles::Judge bench(finding.c, judgement);
  for (const oracles::Offender& each : bench.offenders(outcome, verdict)) {
    if (shown.size() == most_shown) break;
    if (each.set != shown[0].set || each.output != shown[0].output) continue;
    oracles::Evidence other = bench.evidence(each, verdict);
    if (other.index != shown[0].index) shown.push_back(std::move(other));
  }
  return shown;
}

// "Y[0,0,1] of data set 1  got 0.5 (0x1p-1)  want 0.75 (0x1.8p-1)"
void write_evidence(const suites::Finding& finding, const oracles::Judgement& judgement, std::ostream& out) {
  const auto& sets = finding.answered.outcome.sets;
  for (const oracles::Evidence& evidence : wrong_elements(finding, judgement)) {
    const auto set = static_cast<std::size_t>(evidence.set), output = static_cast<std::size_t>(evidence.output);
    const bool is_kept = set < sets.size() && output < sets[set].size();
    const DType type = is_kept ? sets[set][output].dtype() : DType::f64;
    const auto number = [&](const std::string& written) { return oracles::readable(written, type); };
    out << indent << " " << place(finding.c, evidence) << "  got " << number(evidence.got) << "  want "
        << number(evidence.want);
    if (!evidence.arithmetic.empty()) out << "  (" << evidence.arithmetic << ")";
    out << "\n";
  }
}

}  // namespace

std::string painted(const std::string& text, Colour colour) {
  return colour == Colour::terminal ? "\033[1;31m" + text + "\033[0m" : text;
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char letter) { return (static_cast<unsigned char>(letter) & 0xC0) != 0x80; }));
}

std::string padded(std::string text, std::size_t width) {
  const std::size_t own = width_of(text);
  return own < width ? std::move(text) + std::string(width - own, ' ') : text;
}

std::string upper(std::string_view word) {
  std::string loud(word);
  for (char& letter : loud) letter = letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
  return loud;
}

void Table::add(std::vector<std::string> cells, std::set<std::size_t> loud) {
  rows_.push_back(std::move(cells));
  loud_.push_back(std::move(loud));
}

void Table::write(Colour colour, std::ostream& out) const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (std::size_t row = 1; row < rows_.size(); ++row)
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], width_of(rows_[row][i]));
  for (std::size_t i = 0; i < widths.size(); ++i)
    if (widths[i] > 0) widths[i] = std::max(widths[i], width_of(rows_.front()[i]));
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (widths[i] == 0) continue;
      const std::string& cell = rows_[row][i];
      const std::string blanks(widths[i] - width_of(cell), ' ');
      const std::string shown = loud_[row].contains(i) ? painted(cell, colour) : cell;
      const bool is_text = i == 0 || i + 1 == widths.size();
      line += "  " + (is_text ? shown + blanks : blanks + shown);
    }
    out << line.substr(0, line.find_last_not_of(' ') + 1) << "\n";
  }
}

void write_list(std::string_view title, const std::vector<std::string>& items, std::string_view separator,
                std::size_t most_lines, std::ostream& out) {
  constexpr std::size_t reserve = 12;  // for "and 123 more"
  if (items.empty()) return;
  std::string line = "  " + std::string(title) + ":";
  std::size_t lines = 1;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string item = items[i] + std::string(i + 1 < items.size() ? separator : "");
    if (width_of(line) + width_of(item) + (lines == most_lines ? reserve : 0) > columns) {
      if (lines++ == most_lines) {
        out << line << " and " << items.size() - i << " more\n";
        return;
      }
      out << std::exchange(line, "   ") << "\n";
    }
    line += " " + item;
  }
  out << line << "\n";
}

void write_wrapped(const std::string& words, std::ostream& out) {
  std::istringstream stream(shortened(words));
  std::string line(indent);
  for (std::string word; stream >> word; line += " " + word)
    if (line.size() + word.size() > columns) out << std::exchange(line, std::string(indent)) << "\n";
  out << line << "\n";
}

void write_cause(const ShownCause& told, std::size_t number, const Invocation& invocation, Colour colour,
                 std::ostream& out) {
  const oracles::Verdict& verdict = told.smallest.answered.verdict;
  out << painted(padded(std::to_string(number), 3) + " " + padded(std::string(kind_of(told.cause.state)), 9), colour)
      << " " << told.cause.sentence << "\n";
  const bool is_said = told.cause.sentence.find(verdict.detail) != std::string::npos;
  if (!is_said && !verdict.evidence) write_wrapped(verdict.detail, out);
  for (std::size_t i = 0; i < std::min(told.where.size(), most_predicates); ++i)
    out << indent << (told.where[i].empty() ? " in every case" : " where " + told.where[i]) << "\n";
  if (told.where.size() > most_predicates)
    out << indent << " and " << told.where.size() - most_predicates << " more such predicates, in the report\n";
  if (told.others > 0)
    out << indent << (told.where.empty() ? " in " : " and in ") << told.others
        << (told.others == 1 ? " case" : " cases") << " that no condition tells from those that pass\n";
  if (verdict.evidence) write_evidence(told.smallest, told.judgement, out);
  out << indent << " replay: " << replay_line(invocation, told.smallest.replayed()) << "\n";
}

void write_special(const Counts& special, std::ostream& out) {
  std::string words;
  for (const oracles::State state : oracles::all_states)
    if (const Int cases = count(special, state); cases > 0)
      words += (words.empty() ? "" : ", ") + std::to_string(cases) + " " + std::string(name(state));
  if (!words.empty())
    out << "  special values (NaN, infinities, integer overflow): " << words << "; they count with --special-values\n";
}

void write_more(std::size_t causes, std::ostream& out) {
  if (causes > 0) out << indent << " " << causes << " more: --show all\n";
}

}  // namespace assay::reports
