// SPDX-License-Identifier: Apache-2.0
#include "suites/graphs/graph_campaign.h"

#include "generators/graphs/graph_drawing.h"
#include "reference/sequence.h"
#include "suites/campaign/signature.h"
#include "suites/graphs/graph_shrink.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <tuple>

namespace assay::suites {
namespace {

using oracles::State;
using Clock = std::chrono::steady_clock;

constexpr int most_tries = 1500;  // of shrinking a graph

bool has_cure(const std::optional<std::string>& cure) { return cure && !cure->empty(); }

bool holds(std::vector<std::string> all, std::vector<std::string> some) {
  std::ranges::sort(all);
  std::ranges::sort(some);
  return std::ranges::includes(all, some);
}

// One graph that was run.
struct Ran {
  generators::DrawnGraph drawn;
  oracles::GraphVerdict verdict;
};

class GraphRunner {
 public:
  GraphRunner(const GraphPlan& plan, WorkerPool& pool, const RunOptions& run_options)
      : plan_(plan), pool_(pool), run_options_(run_options), started_(Clock::now()) {}

  GraphHarvest run() && {
    in_parallel(pool_, [&](Backend& backend) {
      for (std::uint64_t index; goes_on(index = next_++);) run_one(index, backend);
    });
    out_.complete = !is_stopped();
    std::vector<std::uint64_t> wrong;
    for (const auto& [index, ran] : failed_) wrong.push_back(index);
    std::ranges::stable_sort(wrong, {}, [&](std::uint64_t index) { return !has_cure(failed_.at(index).verdict.cure); });
    shrink(wrong);
    sort_into_causes(out_);
    return std::move(out_);
  }

 private:
  bool is_stopped() const { return run_options_.stop && *run_options_.stop; }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - started_).count(); }
  bool is_late(double share) const {
    return plan_.budget && seconds() > share * static_cast<double>(plan_.budget->count());
  }
  bool goes_on(std::uint64_t index) const {
    return !is_stopped() && !is_late(0.75) && !(plan_.graphs && index >= *plan_.graphs);
  }

  void run_one(std::uint64_t index, Backend& backend) {
    Ran ran{generators::draw_graph(plan_.seed, index), {}};
    ran.verdict = run_graph(ran.drawn.graph, backend, run_options_);
    const std::scoped_lock lock(mutex_);
    if (is_stopped()) return;
    count(ran);
    if (is_finding(ran.verdict.state)) failed_.emplace(index, std::move(ran));
  }

  void count(const Ran& ran) {
    const State state = ran.verdict.state;
    ++out_.graphs;
    ++out_.states[state];
    if (state == State::unscored) ++out_.obstacles[reason_pattern(ran.verdict.detail)];
    const auto add = [&](std::string_view hazard) {
      GraphCell& cell = out_.cells[{ran.drawn.pattern, hazard}];
      ++cell.graphs;
      cell.judged += state != State::unscored && state != State::unsupported;
      cell.wrong += is_finding(state);
    };
    add("");
    for (const std::string_view hazard : ran.drawn.hazards) add(hazard);
    if (!run_options_.progress) return;
    Progress progress;
    progress.stage = "graphs";
    progress.done = out_.graphs;
    progress.total = plan_.graphs.value_or(0);
    progress.states.insert(out_.states.begin(), out_.states.end());
    run_options_.progress(progress);
  }

  // Makes small what fails; what a rewriting did first.
  void shrink(const std::vector<std::uint64_t>& wrong) {
    std::vector<std::optional<GraphFinding>> found(wrong.size());
    std::atomic<std::size_t> next = 0;
    in_parallel(pool_, [&](Backend& backend) {
      for (std::size_t i; (i = next++) < wrong.size() && !is_stopped() && !is_late(1);)
        found[i] = small(wrong[i], failed_.at(wrong[i]), backend);
    });
    for (std::optional<GraphFinding>& each : found) {
      out_.unsorted += !each;
      if (each) out_.findings.push_back(*std::move(each));
    }
    std::ranges::sort(out_.findings, {}, &GraphFinding::index);
  }

  GraphFinding small(std::uint64_t index, const Ran& ran, Backend& backend) const {
    const GraphSymptom symptom = symptom_of(ran.verdict);
    const auto still_fails = [&](const GraphCase& graph) {
      return !is_late(1) && has_symptom(graph, symptom, backend, run_options_);
    };
    GraphCase graph = shrunk(ran.drawn.graph, still_fails, has_cure(symptom.cure) ? most_tries : most_tries / 8);
    oracles::GraphVerdict verdict = run_graph(graph, backend, run_options_);
    if (symptom_of(verdict) != symptom) graph = ran.drawn.graph, verdict = ran.verdict;
    return {index, line(graph), line(ran.drawn.graph), std::move(verdict), operators_of(graph)};
  }

  const GraphPlan& plan_;
  WorkerPool& pool_;
  const RunOptions& run_options_;
  const Clock::time_point started_;
  std::atomic<std::uint64_t> next_ = 0;
  std::mutex mutex_;
  std::map<std::uint64_t, Ran> failed_;
  GraphHarvest out_;
};

}  // namespace

std::vector<std::string> operators_of(const GraphCase& graph) {
  return transformed<std::string>(graph.steps, [](const GraphStep& step) { return step.c.version.name; });
}

std::string in_words(const GraphCause& cause) {
  const std::string what = cause.symptom.state == State::fail      ? "wrong values"
                           : cause.symptom.state == State::refused ? "refused: " + cause.symptom.reason
                                                                   : cause.symptom.reason;
  const std::string graph = joined(cause.operators, " > ") + ": " + what;
  if (!cause.symptom.cure) return graph;
  return graph +
         (has_cure(cause.symptom.cure) ? "; right with " + *cause.symptom.cure : "; at every level of optimization");
}

void sort_into_causes(GraphHarvest& harvest) {
  std::vector<std::size_t> order(harvest.findings.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    return std::pair(harvest.findings[i].operators.size(), harvest.findings[i].line.size());
  });
  for (const std::size_t i : order) {
    const GraphFinding& finding = harvest.findings[i];
    const GraphSymptom symptom = symptom_of(finding.verdict);
    const auto cause = std::ranges::find_if(harvest.causes, [&](const GraphCause& each) {
      return each.symptom == symptom && (symptom.state == State::refused || holds(finding.operators, each.operators));
    });
    if (cause == harvest.causes.end())
      harvest.causes.push_back({symptom, finding.operators, {i}});
    else
      cause->members.push_back(i);
  }
  std::ranges::stable_sort(harvest.causes, {}, [](const GraphCause& cause) {
    // Puts last what is wrong at every level: no optimizer did that.
    return std::tuple(!has_cure(cause.symptom.cure), gravity(cause.symptom.state), -std::ssize(cause.members));
  });
}

void expect_values(const Description& backend) {
  if (backend.answers_shapes)
    throw InputError("--graphs: " + backend.backend +
                     " answers types and shapes, and of a graph the values are judged");
}

GraphHarvest run_graphs(const GraphPlan& plan, WorkerPool& pool, const RunOptions& run_options) {
  expect_values(pool.describe());
  return GraphRunner(plan, pool, run_options).run();
}

}  // namespace assay::suites
