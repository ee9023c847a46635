// SPDX-License-Identifier: Apache-2.0
#include "suites/campaign/run_options.h"

#include "oracles/judging/judge.h"
#include "reference/nearest.h"
#include "reference/onnx_io.h"
#include "suites/text/printable.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace assay::suites {
namespace {

std::string listed(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += " " + printable(word, 60);
  return all;
}

}  // namespace

void expect_declared(const Description& backend, const std::map<std::string, std::string>& options) {
  std::vector<std::string> known;
  for (const auto& [key, values] : backend.options) known.push_back(key);
  for (const auto& [key, value] : options) {
    const auto found = backend.options.find(key);
    if (found == backend.options.end())
      throw InputError(printable(backend.backend) + " has no option '" + printable(key, 60) + "'" +
                       suggestion(key, known) +
                       (known.empty() ? "; it declares none" : "; it declares" + listed(known)));
    if (!found->second.empty() && std::ranges::find(found->second, value) == found->second.end())
      throw InputError(printable(backend.backend) + ": the option " + key + " is not '" + printable(value, 60) +
                       "' but one of" + listed(found->second));
  }
}

std::optional<oracles::State> session_state(const Mark& mark) {
  if (mark.name != "session" || !mark.breaches) return std::nullopt;
  constexpr std::string_view ends[] = {"crashed", "timed out", "out of memory", "garbled"};
  return std::ranges::find(ends, mark.by) == std::end(ends) ? oracles::State::fail : oracles::State::error;
}

std::string text(const Settings& settings) {
  std::string words;
  const auto add = [&](const std::string& word) { words += (words.empty() ? "" : " ") + word; };
  if (settings.threads != 1) add("threads=" + std::to_string(settings.threads));
  if (settings.optimization != "all") add("optimization=" + settings.optimization);
  if (settings.names != 0) add("names=" + std::to_string(settings.names));
  if (settings.binds_outputs) add("outputs=bound");
  return words;
}

bool read_setting(std::string_view word, Settings& settings) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view key = word.substr(0, equals), value = word.substr(equals + 1);
  const auto number = [&](int& into) {
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), into);
    return error == std::errc() && end == value.data() + value.size() && into >= 0 && into <= 4096;
  };
  if (key == "threads") return number(settings.threads) && settings.threads > 0;
  if (key == "names") return number(settings.names);
  if (key == "outputs") return settings.binds_outputs = value == "bound";
  if (key != "optimization") return false;
  settings.optimization = value;
  return value == "all" || value == "extended" || value == "basic" || value == "none";
}

Request request_of(const SuiteCase& planned, const RunOptions& run_options) {
  return request_of(planned, all_operands(planned.c), run_options);
}

Request request_of(const SuiteCase& planned, std::vector<Operands> data, const RunOptions& run_options) {
  Request request = request_of(planned.c, planned.line, std::move(data), run_options, run_options.settings);
  request.allowance = time_to_move(planned.moved_bytes);
  return request;
}

Request request_of(const Case& c, std::string_view line, std::vector<Operands> data, const RunOptions& run_options,
                   const Settings& settings) {
  Request request;
  const bool is_named = settings.names == 0;  // under other names nothing tells what case it is
  request.id = case_id(is_named ? std::string(line) : text(settings) + " " + std::string(line));
  request.model = model_of(c, data.front(), settings.names);
  for (Operands& set : data) request.sets.push_back(graph_inputs(c, std::exchange(set, {}), is_named));
  request.threads = settings.threads;
  request.optimization = settings.optimization;
  request.binds_outputs = settings.binds_outputs;
  request.options = run_options.options;
  return request;
}

std::string excluded_by(const Description& backend, const Case& c) {
  if (!backend.operators.empty() && !backend.operators.contains(text(c.version)))
    return text(c.version) + " is not among the declared operators";
  for (const auto& [input, given] : c.node.inputs) {
    // Types are those of data: a list of extents is int64 whatever a backend computes in.
    const Parameter* const parameter = c.definition().input(input);
    if (parameter && !parameter->reads_as.empty()) continue;
    if (given.presence == Input::Presence::given && !backend.types.empty() &&
        !backend.types.contains(std::string(name(given.type.dtype))))
      return std::string(name(given.type.dtype)) + " is not among the declared types";
  }
  if (backend.newest_opset > 0 && c.opset > backend.newest_opset)
    return "opset " + std::to_string(c.opset) + " is newer than the declared " + std::to_string(backend.newest_opset);
  for (const Predicate& predicate : backend.excludes)
    if (predicate.holds(c)) return "declared: " + predicate.text();
  return "";
}

oracles::Judgement judgement_of(oracles::Level level, const oracles::Arithmetic& arithmetic) {
  return {.level = level, .arithmetic = arithmetic, .most_elements = Int{1} << 12};
}

oracles::Verdict judged(const SuiteCase& planned, oracles::Outcome outcome, const Description& backend,
                        oracles::Level level) {
  return judged(planned, all_operands(planned.c), std::move(outcome), backend, level);
}

oracles::Verdict judged(const SuiteCase& planned, std::vector<Operands> data, oracles::Outcome outcome,
                        const Description& backend, oracles::Level level) {
  const std::string excluded = excluded_by(backend, planned.c);
  const bool declared = outcome.kind == oracles::Outcome::Kind::refused && !excluded.empty();
  if (declared) outcome.kind = oracles::Outcome::Kind::unsupported;
  oracles::Verdict verdict =
      oracles::judge(planned.c.call(), std::move(data), outcome, judgement_of(level, backend.arithmetic));
  if (declared && verdict.state == oracles::State::unsupported) {
    verdict.because = "declared";
    verdict.detail = excluded;
  }
  return verdict;
}

oracles::Verdict certify(const SuiteCase& planned, Backend& backend, const RunOptions& run_options) {
  expect_declared(backend.describe(), run_options.options);
  // The case is forgotten before its answer is judged: of large tensors it is a copy.
  oracles::Outcome outcome = backend.run(request_of(planned, run_options));
  return judged(planned, std::move(outcome), backend.describe(), run_options.level);
}

}  // namespace assay::suites
