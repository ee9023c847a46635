// SPDX-License-Identifier: Apache-2.0
// assay-bench-boundary: the processor time assay itself spends on a small case, in all and by part, without the
// workers'. Names of backends and of operators as arguments; onnxruntime and reference, and every operator, where there
// are none.
#include "oracles/judging/judge.h"
#include "reference/case_view.h"
#include "reference/onnx_io.h"
#include "reference/operator.h"
#include "suites/campaign/campaign.h"
#include "suites/workers/frame.h"
#include "suites/workers/worker.h"
#include "tools/processor_time.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>

namespace assay {
namespace {

template <class F>
double seconds_of(F&& f) {
  const double start = processor_seconds();
  f();
  return processor_seconds() - start;
}

bool all_up_to(std::span<const Int> values, Int most) {
  return std::ranges::all_of(values, [=](Int value) { return 1 <= value && value <= most; });
}

bool is_list_up_to(const Case& c, const char* attribute, Int most) {
  const auto found = c.node.attributes.find(attribute);
  const Ints* values = found == c.node.attributes.end() ? nullptr : std::get_if<Ints>(&found->second);
  return !values || all_up_to(*values, most);
}

// Where shrunk findings lie: data of extents 1 to 12, kernels of 1 to 4, dilations of 1 to 3.
bool is_small(const Case& c) {
  for (const auto& [name, input] : c.node.inputs) {
    if (name == "offset" || name == "mask") continue;  // follow from the others
    if (!all_up_to(input.type.shape, 12)) return false;
  }
  return is_list_up_to(c, "kernel_shape", 4) && is_list_up_to(c, "dilations", 3);
}

// The small ones of the generated cases of seed 1, legal ones and near misses: fixed as long as generation is.
suites::Suite small_suite(const suites::SuiteRequest& request) {
  suites::Suite suite;
  suite.cases = suites::generated_cases(request);
  std::erase_if(suite.cases, [](const suites::SuiteCase& planned) { return !is_small(planned.c); });
  return suite;
}

struct Served {
  std::vector<oracles::Outcome> outcomes;  // of the reference kernels; a near miss has none
  std::vector<std::vector<std::string>> parts;
};

Served served(const suites::Suite& suite) {
  Served all;
  for (const suites::SuiteCase& planned : suite.cases) {
    oracles::Outcome& outcome = all.outcomes.emplace_back(oracles::Outcome::failure({}, ""));
    auto& parts = all.parts.emplace_back();
    const Definition& definition = planned.c.definition();
    if (const Call call = planned.c.call(); definition.violated(call).empty())
      for (int set = 0; set < data_sets; ++set) {
        const auto data = operands(planned.c, set);
        outcome.sets.push_back(definition.kernel(call, views(data)).requested());
        parts.push_back(encode_tensor(outcome.sets.back().front(), "Y"));
      }
    if (outcome.sets.empty()) outcome = oracles::Outcome::failure(oracles::Outcome::Kind::refused, "illegal");
  }
  return all;
}

void print_parts(const suites::Suite& suite, double planning) {
  const Served served_by = served(suite);
  std::vector<std::vector<Operands>> data;
  std::vector<suites::Request> asks;
  const auto each = [&](auto&& f) {
    return seconds_of([&] {
      for (std::size_t i = 0; i < suite.cases.size(); ++i) f(i);
    });
  };
  const double drawing = each([&](std::size_t i) { data.push_back(all_operands(suite.cases[i].c)); });
  double opening = 0, judging = 0;
  for (std::size_t i = 0; i < suite.cases.size(); ++i) {
    std::optional<oracles::Judge> judge;
    opening += seconds_of([&] { judge.emplace(suite.cases[i].c.call(), std::vector(data[i])); });
    judging += seconds_of([&] {
      judge->judge(served_by.outcomes[i]);
      judge.reset();
    });
  }
  const std::pair<const char*, double> parts[] = {
      {"draw the case, write its line", planning},
      {"draw the operands", drawing},
      {"model and data", each([&](std::size_t i) { asks.push_back(suites::request_of(suite.cases[i], data[i], {})); })},
      {"frame of the question", each([&](std::size_t i) { suites::run_line(asks[i]); })},
      {"frame of the answer", each([&](std::size_t i) {
         suites::parse_answer(suites::answer_line(asks[i].id, oracles::Outcome::Kind::outputs, "", {{100}, {100}}));
       })},
      {"decode the outputs", each([&](std::size_t i) {
         for (const std::string& part : served_by.parts[i]) decode_tensor(part);
       })},
      {"constraints, rulings touched", opening},
      {"exact answer and verdict", judging},
  };
  double all = 0;
  for (const auto& [part, seconds] : parts) all += seconds;
  std::printf("  %-32s %8s %6s\n", "part", "us/case", "share");
  for (const auto& [part, seconds] : parts)
    std::printf("  %-32s %8.1f %5.1f%%\n", part, 1e6 * seconds / static_cast<double>(suite.cases.size()),
                100 * seconds / all);
}

void print_run(const suites::Suite& suite, double planning, const std::string& backend, int jobs) {
  suites::RunOptions run_options;
  run_options.jobs = jobs;
  run_options.presenting = suites::VariantSampling::none;
  const auto start = std::chrono::steady_clock::now();
  const double host = seconds_of([&] {
    suites::run(
        suite, [&] { return suites::open_backend(backend, suites::Limits{}); }, run_options);
  });
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const auto count = static_cast<double>(suite.cases.size());
  std::printf("  %-20s jobs %d  host %6.1f us/case, %6.1f of it after planning  %7.0f cases/s\n", backend.c_str(), jobs,
              1e6 * (host + planning) / count, 1e6 * host / count, count / wall);
}

bool is_operator(const std::string& word) {
  return std::ranges::any_of(operators(), [&](const Operator* op) { return op->name() == word; });
}

int run(const std::vector<std::string>& words) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  suites::SuiteRequest request;
  std::vector<std::string> backends;
  for (const std::string& word : words)
    if (is_operator(word))
      request.selection.operators.insert(word);
    else
      backends.push_back(word);
  if (backends.empty()) backends = {"onnxruntime", "onnxruntime-native", "reference"};
  suites::Suite suite;
  double all_planned = 0;
  const double planning = seconds_of([&] {
    suite.cases = suites::generated_cases(request);
    all_planned = static_cast<double>(suite.cases.size());
  });
  suite = small_suite(request);
  const auto count = static_cast<double>(suite.cases.size());
  const double share = planning * count / all_planned;
  std::printf("%zu small cases of %.0f\n", suite.cases.size(), all_planned);
  print_parts(suite, share);
  for (const std::string& backend : backends) try {
      for (const int jobs : {1, 2}) print_run(suite, share, backend, jobs);
    } catch (const InputError& error) {
      std::printf("  %-20s not run: %s\n", backend.c_str(), error.what());
    }
  return 0;
}

}  // namespace
}  // namespace assay

int main(int count, char** words) {
  try {
    return assay::run({words + 1, words + count});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "assay-bench-boundary: %s\n", error.what());
    return 3;
  }
}
