// SPDX-License-Identifier: Apache-2.0
#include "reports/exhaust_report.h"

#include "oracles/exact/enclosure.h"
#include "oracles/exact/operands.h"
#include "oracles/filter/function_filter.h"
#include "reference/recipe.h"
#include "reports/checked_json.h"
#include "reports/page.h"
#include "reports/pieces.h"
#include "suites/text/markup.h"
#include "suites/text/printable.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <ostream>
#include <sstream>

namespace assay::reports {
namespace {

using suites::Accuracy;
using suites::Standing;

// -- JSON

std::string title_of(const Accuracy& of) { return text(of.definition->version) + " " + std::string(name(of.type)); }

Json peak_json(const Accuracy::Peak& peak, DType type) {
  return {{"pattern", peak.pattern},
          {"input", oracles::written(oracles::scalar_of(peak.input), type)},
          {"got", oracles::written(oracles::scalar_of(peak.got), type)},
          {"ulp", peak.ulp}};
}

Json breach_json(const Accuracy::Breach& breach) {
  return {{"pattern", breach.pattern},
          {"standing", suites::standings[static_cast<std::size_t>(breach.standing)]},
          {"got", breach.got},
          {"want", breach.want},
          {"because", breach.because}};
}

Json oddity_json(const Accuracy::Oddity& of) { return {{"count", of.count}, {"pattern", of.pattern}}; }

Json function_json(const Accuracy& of) {
  Json counts = Json::object(), peaks = Json::array(), breaches = Json::array();
  for (std::size_t i = 0; i < of.counts.size(); ++i) counts[std::string(suites::standings[i])] = of.counts[i];
  for (const std::optional<Accuracy::Peak>& each : of.peaks)
    if (each) peaks.push_back(peak_json(*each, of.type));
  for (const Accuracy::Breach& each : of.breaches) breaches.push_back(breach_json(each));
  return {{"op", text(of.definition->version)},
          {"type", name(of.type)},
          {"inputs", of.inputs},
          {"of", of.all_inputs()},
          {"ended", of.ended},
          {"unsupported", of.is_unsupported},
          {"conforms", of.conforms()},
          {"counts", std::move(counts)},
          {"worst", of.worst() ? peak_json(*of.worst(), of.type) : Json(nullptr)},
          {"errors", of.errors},
          {"disorders", oddity_json(of.disorders)},
          {"exits", oddity_json(of.exits)},
          {"breaches", std::move(breaches)},
          {"peaks", std::move(peaks)}};
}

double number_of(const nlohmann::json& written) { return std::strtod(written.get<std::string>().c_str(), nullptr); }

void read(const nlohmann::json& from, Accuracy& into) {
  into.inputs = from.at("inputs");
  if (into.inputs > into.all_inputs()) throw InputError("more inputs than the type has");
  for (std::size_t i = 0; i < into.counts.size(); ++i)
    into.counts[i] = from.at("counts").at(std::string(suites::standings[i]));
  into.errors = from.at("errors");
  into.disorders = {from.at("disorders").at("count"), from.at("disorders").at("pattern")};
  into.exits = {from.at("exits").at("count"), from.at("exits").at("pattern")};
  for (const nlohmann::json& each : from.at("breaches")) {
    const auto standing = std::ranges::find(suites::standings, each.at("standing").get<std::string>());
    into.breaches.push_back({each.at("pattern"), static_cast<Standing>(standing - suites::standings.begin()),
                             each.at("got"), each.at("want"), each.at("because")});
  }
  for (const nlohmann::json& each : from.at("peaks")) {
    const std::uint64_t pattern = each.at("pattern");
    const std::uint64_t per_bin = into.all_inputs() / suites::input_bins;
    if (pattern >= into.all_inputs()) throw InputError("a bit pattern that the type does not have");
    into.peaks.at(pattern / per_bin) = {pattern, number_of(each.at("input")), number_of(each.at("got")),
                                        each.at("ulp")};
  }
}

// -- words

std::string share(std::uint64_t part, std::uint64_t whole) {
  if (part == whole) return "all";
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "%.3f %%", 100 * static_cast<double>(part) / static_cast<double>(whole));
  return digits.data();
}

std::string in_ulp(double ulp) { return in_digits(ulp, 6); }

std::string worst_words(const Accuracy& of) {
  if (!of.worst()) return "no output is off";
  return "worst " + in_ulp(of.worst()->ulp) + " ulp at " +
         oracles::written(oracles::scalar_of(of.worst()->input), of.type);
}

// "99.743 % correctly rounded, 0.257 % faithful; 3 below".
std::string counted(const Accuracy& of) {
  std::string words;
  for (std::size_t i = 0; i < of.counts.size(); ++i) {
    if (of.counts[i] == 0) continue;
    const bool is_share = i <= static_cast<std::size_t>(Standing::within);
    words += (words.empty() ? ""
              : is_share    ? ", "
                            : "; ") +
             (is_share ? share(of.counts[i], of.inputs) : std::to_string(of.counts[i])) + " " +
             std::string(suites::standings[i]);
  }
  if (of.disorders.count > 0) words += "; " + std::to_string(of.disorders.count) + " in the wrong order";
  if (of.exits.count > 0) words += "; " + std::to_string(of.exits.count) + " outside of the function's range";
  return words;
}

std::string extent(const Accuracy& of) {
  return of.is_complete() ? "all " + std::to_string(of.inputs) + " inputs"
                          : std::to_string(of.inputs) + " of " + std::to_string(of.all_inputs()) + " inputs";
}

void write_replay(const ExhaustReport& report, const Accuracy& of, std::uint64_t pattern, std::uint64_t count,
                  std::ostream& out) {
  out << "    replay: " << replay_line(report.asked, suites::line_of_patterns(*of.definition, of.type, pattern, count))
      << "\n";
}

void write_function(const ExhaustReport& report, const Accuracy& of, std::ostream& out) {
  out << title_of(of) << "  " << extent(of);
  if (of.inputs > 0) out << ": " << worst_words(of) << "; " << counted(of);
  out << "\n";
  if (!of.ended.empty()) out << "  ended early: " << suites::printable(of.ended, 400) << "\n";
  for (const Accuracy::Breach& each : of.breaches) {
    const bool fails = each.standing == Standing::fail;
    out << "  " << suites::standings[static_cast<std::size_t>(each.standing)] << "  got "
        << suites::printable(each.got, 80) << "  want " << suites::printable(each.want, 80)
        << (fails ? "" : "  (" + suites::printable(each.because, 200) + ")") << "\n";
    write_replay(report, of, each.pattern, 1, out);
  }
  if (of.disorders.count > 0) {
    out << "  the first in the wrong order, second of two:\n";
    write_replay(report, of, of.disorders.pattern - 1, 2, out);
  }
  if (of.exits.count > 0) {
    out << "  the first outside of the function's range:\n";
    write_replay(report, of, of.exits.pattern, 1, out);
  }
}

// "Exp-13 bf16, Log-13 bf16".
std::string unsupported(const ExhaustReport& report) {
  std::string words;
  for (const Accuracy& each : report.functions)
    if (each.is_unsupported) words += (words.empty() ? "" : ", ") + title_of(each);
  return words;
}

std::string conclusion(const ExhaustReport& report) {
  Int right = 0, broken = 0, undone = 0;
  for (const Accuracy& each : report.functions)
    if (!each.is_unsupported) ++(each.conforms() ? right : each.breaks() ? broken : undone);
  const Int judged = right + broken + undone;
  const std::string all = std::to_string(judged) + (judged == 1 ? " function" : " functions");
  if (broken > 0) return "not conforming: " + std::to_string(broken) + " of " + all;
  if (undone > 0) return "not decided: " + std::to_string(undone) + " of " + all;
  return right > 0 ? "conforms: " + all + ", each right for every input of its type"
                   : "not decided: nothing is supported";
}

// -- the page

constexpr double width = 1024, height = 220;

// How high an error stands: 0 for half an ulp, one step for each doubling.
double level_of(double ulp) { return std::log2(std::max(ulp, 0.5)) + 1; }

// The bin that stands at a column, negative inputs first and the largest of them at the left.
std::size_t bin_at(std::size_t column) {
  constexpr std::size_t half = suites::input_bins / 2;
  return column < half ? suites::input_bins - 1 - column : column - half;
}

// Returns how many ulp are allowed about the middle of a bin.
double allowed_at(const Accuracy& of, const oracles::FunctionFilter& filter, std::size_t bin) {
  const std::uint64_t per_bin = of.all_inputs() / suites::input_bins;
  const Tensor middle = fill({"bits", std::to_string(bin * per_bin + per_bin / 2)}, {of.type, {1}});
  return filter.allowed_ulps(oracles::doubles(middle).front());
}

// Draws what L2 allows as a line, left out where the right answer is no number.
std::string bound_line(const Accuracy& of, double most, const std::function<double(double)>& y_of) {
  const Case c = *parse_case(suites::line_of_patterns(*of.definition, of.type, 0, 1));
  const auto filter = oracles::FunctionFilter::of(*oracles::oracle_of(c.version).function(c.call()), of.type);
  std::ostringstream path;
  bool is_drawing = false;
  for (std::size_t column = 0; column < suites::input_bins; ++column) {
    const double allowed = allowed_at(of, *filter, bin_at(column));
    if (std::isfinite(allowed))
      path << (is_drawing ? "L" : "M") << static_cast<double>(column) + 0.5 << " "
           << y_of(std::min(level_of(allowed), most));
    is_drawing = std::isfinite(allowed);
  }
  return "<path fill=\"none\" stroke=\"var(--off)\" stroke-width=\"1.5\" d=\"" + path.str() + "\"/>";
}

std::string plot(const Accuracy& of) {
  const double most = std::max(4.0, std::ceil(of.worst() ? level_of(of.worst()->ulp) : 1) + 1);
  const auto y_of = [&](double level) { return height * (1 - level / most); };
  std::ostringstream svg;
  svg << "<svg viewBox=\"-60 -10 1130 270\" role=\"img\" aria-label=\"error in ulp over the inputs\">";
  for (double level = 0; level <= most; ++level)
    svg << "<line x1=\"0\" x2=\"" << width << "\" y1=\"" << y_of(level) << "\" y2=\"" << y_of(level)
        << "\" stroke=\"var(--line)\"/><text x=\"-8\" y=\"" << y_of(level) + 4
        << "\" text-anchor=\"end\" font-size=\"12\" fill=\"var(--soft)\">"
        << in_ulp(std::ldexp(0.5, static_cast<int>(level))) << "</text>";
  svg << "<path fill=\"var(--inside-deep)\" d=\"M0 " << height;
  for (std::size_t column = 0; column < suites::input_bins; ++column) {
    const std::optional<Accuracy::Peak>& peak = of.peaks[bin_at(column)];
    const double level = peak ? level_of(peak->ulp) : 0;
    svg << "V" << y_of(level) << "h1";
  }
  svg << "V" << height << "Z\"/>" << bound_line(of, most, y_of);
  const oracles::Format& format = oracles::format_of(of.type);
  const int exponents = format.max_exponent - format.min_exponent + 1;
  for (const int exponent : {format.max_exponent, format.max_exponent / 2, 0, format.min_exponent / 2})
    for (const bool negative : {false, true}) {
      const double from_zero = (exponent - format.min_exponent + 1.0) / (exponents + 1) * width / 2;
      const double x = width / 2 + (negative ? -from_zero : from_zero);
      svg << "<text x=\"" << x << "\" y=\"" << height + 18
          << "\" text-anchor=\"middle\" font-size=\"12\" fill=\"var(--soft)\">" << (negative ? "-" : "")
          << (exponent == 0 ? "1" : "2^" + std::to_string(exponent)) << "</text>";
    }
  svg << "<text x=\"" << width / 2 << "\" y=\"" << height + 18
      << "\" text-anchor=\"middle\" font-size=\"12\" fill=\"var(--soft)\">0</text></svg>\n";
  return svg.str();
}

std::string errors_table(const Accuracy& of) {
  std::string table = "<table><tr><th>ulp</th>";
  for (const double end : suites::error_ends) table += "<th class=\"num\">≤ " + in_ulp(end) + "</th>";
  table += "<th class=\"num\">more</th></tr><tr><td>outputs</td>";
  for (const std::uint64_t count : of.errors) table += "<td class=\"num\">" + std::to_string(count) + "</td>";
  return table + "</tr></table>\n";
}

}  // namespace

bool ExhaustReport::conforms() const { return conclusion(*this).starts_with("conforms"); }

void write_json(const ExhaustReport& report, std::ostream& out) {
  Document document(out);
  document.member("schema", 1);
  document.member("kind", "exhaust");
  document.member("tool", tool_json(report.asked));
  document.member("standard", standard_json());
  document.member("judgement", judgement_json());
  document.member("backend", backend_json(report.asked, report.backend));
  document.list("functions", report.functions, function_json);
  document.member("run", run_json(report.run, 0));
}

void resume(ExhaustReport& report, const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw InputError(file.string() + " cannot be read; without --resume a run begins anew");
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const Result<nlohmann::json> document = parse_stranger(bytes);
  if (!document) throw InputError(file.string() + ": " + document.error());
  if (const std::string breach = breach_of_schema(*document, "exhaust.schema.json"); !breach.empty())
    throw InputError(file.string() + " is no report of exhaust: " + breach);
  if (Json(document->at("backend")) != Json(nlohmann::json(backend_json(report.asked, report.backend))) ||
      Json(document->at("judgement")) != Json(nlohmann::json(judgement_json())))
    throw InputError(file.string() +
                     " is of another backend, configuration or assay; without --resume a run begins anew");
  for (Accuracy& function : report.functions)
    for (const nlohmann::json& each : document->at("functions"))
      if (each.at("op") == text(function.definition->version) && each.at("type") == name(function.type)) try {
          read(each, function);
        } catch (const InputError& wrong) {
          throw InputError(file.string() + " says of " + title_of(function) + " what cannot be: " + wrong.what());
        }
}

void write_session(const ExhaustReport& report, std::string_view file, std::ostream& out) {
  for (const Accuracy& each : report.functions)
    if (!each.is_unsupported) write_function(report, each, out);
  if (const std::string none = unsupported(report); !none.empty()) out << "unsupported: " << none << "\n";
  out << conclusion(report) << (file.empty() ? "; no report written" : "; report: " + std::string(file)) << "\n";
}

void write_page(const ExhaustReport& report, std::ostream& out) {
  std::string body;
  for (const Accuracy& each : report.functions) {
    if (each.is_unsupported) continue;
    body += "<section><h2>" + suites::html_text(title_of(each)) + "</h2><p>" + suites::html_text(extent(each));
    if (each.inputs > 0) body += ": " + suites::html_text(worst_words(each) + "; " + counted(each)) + ".";
    body += each.ended.empty() ? "</p>\n" : " Ended early: " + suites::html_text(each.ended) + "</p>\n";
    if (each.inputs > 0) body += plot(each) + errors_table(each);
    body += "</section>\n";
  }
  if (const std::string none = unsupported(report); !none.empty())
    body += "<section><p class=\"soft\">Unsupported: " + suites::html_text(none) + ".</p></section>\n";
  const std::string title = suites::html_text(report.asked.backend + ": error over every input");
  const std::string hash = page::source_hash(page::css);
  page::write(page::exhaust, {{"css", page::css}, {"css-hash", hash}, {"title", title}, {"functions", body}}, out);
}

}  // namespace assay::reports
