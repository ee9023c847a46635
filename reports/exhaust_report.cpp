// SPDX-License-Identifier: Apache-2.0
#include "reports/exhaust_report.h"

#include "oracles/exact/enclosure.h"
#include "oracles/exact/operands.h"
#include "oracles/filter/function_filter.h"
#include "reference/recipe.h"
#include "reference/sequence.h"
#include "reports/checked_json.h"
#include "reports/page.h"
#include "reports/pieces.h"
#include "reports/terminal.h"
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
using suites::Closeness;

std::string title_of(const Accuracy& of) { return text(of.definition->version) + " " + std::string(name(of.type)); }

// -- JSON

double number_of(const nlohmann::json& written) { return std::strtod(written.get<std::string>().c_str(), nullptr); }

void read(const nlohmann::json& from, Accuracy& into) {
  into.inputs = from.at("inputs");
  if (into.inputs > into.all_inputs()) throw InputError("more inputs than the type has");
  for (std::size_t i = 0; i < into.counts.size(); ++i)
    into.counts[i] = from.at("counts").at(std::string(suites::standings[i]));
  into.errors = from.at("errors");
  into.contested = from.value("contested", "");
  into.disorders = {from.at("disorders").at("count"), from.at("disorders").at("pattern")};
  into.exits = {from.at("exits").at("count"), from.at("exits").at("pattern")};
  for (const nlohmann::json& each : from.at("breaches")) {
    const auto standing = std::ranges::find(suites::standings, each.at("standing").get<std::string>());
    into.breaches.push_back({each.at("pattern"), static_cast<Closeness>(standing - suites::standings.begin()),
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
    const bool is_share = i <= static_cast<std::size_t>(Closeness::within);
    words += (words.empty() ? ""
              : is_share    ? ", "
                            : "; ") +
             (is_share ? share(of.counts[i], of.inputs) : std::to_string(of.counts[i])) + " " +
             std::string(suites::standings[i]);
  }
  if (of.disorders.count > 0) words += "; " + std::to_string(of.disorders.count) + " in the wrong order";
  if (of.exits.count > 0) words += "; " + std::to_string(of.exits.count) + " outside of the function's range";
  if (!of.contested.empty()) words += "; contested: " + suites::printable(of.contested, 400);
  return words;
}

std::string extent(const Accuracy& of) {
  return of.is_complete() ? "all " + std::to_string(of.inputs) + " inputs"
                          : std::to_string(of.inputs) + " of " + std::to_string(of.all_inputs()) + " inputs";
}

void write_replay(const Invocation& invocation, const Accuracy& of, std::uint64_t pattern, std::uint64_t count,
                  std::ostream& out) {
  out << "    replay: " << replay_line(invocation, suites::line_of_patterns(*of.definition, of.type, pattern, count))
      << "\n";
}

void write_breach(const Invocation& invocation, const Accuracy& of, const Accuracy::Breach& breach, std::ostream& out) {
  const bool fails = breach.standing == Closeness::fail;
  out << "  " << suites::standings[static_cast<std::size_t>(breach.standing)] << "  got "
      << suites::printable(breach.got, 80) << "  want " << suites::printable(breach.want, 80)
      << (fails ? "" : "  (" + suites::printable(breach.because, 200) + ")") << "\n";
  write_replay(invocation, of, breach.pattern, 1, out);
}

void write_function(const Invocation& invocation, const Accuracy& of, std::ostream& out) {
  out << title_of(of) << "  " << extent(of);
  if (of.inputs > 0) out << ": " << worst_words(of) << "; " << counted(of);
  out << "\n";
  if (!of.ended.empty()) out << "  ended early: " << suites::printable(of.ended, 400) << "\n";
  for (const Accuracy::Breach& each : of.breaches) write_breach(invocation, of, each, out);
  if (of.disorders.count > 0) {
    out << "  the first in the wrong order, second of two:\n";
    write_replay(invocation, of, of.disorders.pattern - 1, 2, out);
  }
  if (of.exits.count > 0) {
    out << "  the first outside of the function's range:\n";
    write_replay(invocation, of, of.exits.pattern, 1, out);
  }
}

// "Exp-13 bf16, Log-13 bf16".
std::string unsupported(const std::vector<Accuracy>& functions) {
  return joined(filtered(functions, &Accuracy::is_unsupported), ", ", title_of);
}

// "every f16 input: 23 functions, worst 24.2 ulp (Swish-24), 1 of them breaks the bound: Exp-13".
void write_type(const Report& report, DType type, std::ostream& out) {
  std::size_t functions = 0, breaking = 0, absent = 0;
  const Accuracy* worst = nullptr;
  std::string names;
  for (const Accuracy& each : report.every_input) {
    if (each.type != type) continue;
    absent += each.is_unsupported;
    functions += !each.is_unsupported;
    if (each.breaks()) names += (breaking++ == 0 ? ": " : ", ") + text(each.definition->version);
    if (each.worst() && (!worst || worst->worst()->ulp < each.worst()->ulp)) worst = &each;
  }
  if (functions + absent == 0) return;
  out << "  every " << name(type) << " input: ";
  if (functions > 0) out << functions << (functions == 1 ? " function" : " functions");
  if (worst)
    out << ", worst " << in_digits(worst->worst()->ulp, 4) << " ulp (" << text(worst->definition->version) << ")";
  if (functions > 0)
    out << ", " << (breaking == 0 ? "all" : std::to_string(breaking) + " not") << " within the bound" << names;
  if (absent > 0)
    out << (functions > 0 ? "; " : "") << absent << (absent == 1 ? " function" : " functions") << " unsupported";
  out << "\n";
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

// Draws what L2 allows as a line, left out where the right answer is no number.
std::string bound_line(const Accuracy& of, double most, const std::function<double(double)>& y_of) {
  const std::vector<double> all = allowed_ulps(*of.definition, of.type);
  std::ostringstream path;
  bool is_drawing = false;
  for (std::size_t column = 0; column < suites::input_bins; ++column) {
    const double allowed = all[bin_at(column)];
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

std::vector<double> allowed_ulps(const Definition& definition, DType type) {
  const Case c = *parse_case(suites::line_of_patterns(definition, type, 0, 1));
  const auto filter = oracles::FunctionFilter::of(*oracles::oracle_of(c.version).function(c.call()), type);
  const std::uint64_t per_bin = (std::uint64_t{1} << 8 * size_of(type)) / suites::input_bins;
  std::vector<double> all;
  for (std::uint64_t bin = 0; bin < suites::input_bins; ++bin) {
    const Tensor middle = fill({"bits", std::to_string(bin * per_bin + per_bin / 2)}, {type, {1}});
    all.push_back(filter->allowed_ulps(oracles::doubles(middle).front()));
  }
  return all;
}

void write_every_input(const Report& report, Colour colour, std::ostream& out) {
  for (const DType type : {DType::f16, DType::bf16}) write_type(report, type, out);
  for (const Accuracy& each : report.every_input) {
    if (!each.breaks()) continue;
    const bool is_error = !each.ended.empty(), fails = each.count(Closeness::fail) > 0;
    out << painted(padded(is_error ? "ERROR"
                          : fails  ? "FAIL"
                                   : "BELOW",
                          13),
                   colour)
        << " " << text(each.definition->version) << " over every " << name(each.type)
        << " input: " << (is_error ? suites::printable(each.ended, 400) : counted(each)) << "\n";
    if (is_error) write_replay(report.invocation, each, 0, each.all_inputs(), out);
    if (!each.breaches.empty()) write_breach(report.invocation, each, each.breaches.front(), out);
  }
}

bool ExhaustReport::conforms() const { return conclusion(*this).starts_with("conforms"); }

void write_json(const ExhaustReport& report, std::ostream& out) {
  Document document(out);
  document.member("schema", 1);
  document.member("kind", "exhaust");
  document.member("tool", tool_json(report.invocation));
  document.member("standard", standard_json());
  document.member("judgement", judgement_json());
  document.member("backend", backend_json(report.invocation, report.backend));
  document.list("functions", report.functions,
                [&](const Accuracy& each) { return accuracy_json(each, report.invocation); });
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
  if (Json(document->at("backend")) != Json(nlohmann::json(backend_json(report.invocation, report.backend))) ||
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
    if (!each.is_unsupported) write_function(report.invocation, each, out);
  if (const std::string none = unsupported(report.functions); !none.empty()) out << "unsupported: " << none << "\n";
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
  if (const std::string none = unsupported(report.functions); !none.empty())
    body += "<section><p class=\"soft\">Unsupported: " + suites::html_text(none) + ".</p></section>\n";
  const std::string title = suites::html_text(report.invocation.backend + ": error over every input");
  const std::string hash = page::source_hash(page::css);
  page::write(page::exhaust, {{"css", page::css}, {"css-hash", hash}, {"title", title}, {"functions", body}}, out);
}

}  // namespace assay::reports
