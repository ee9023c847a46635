// SPDX-License-Identifier: Apache-2.0
#include "suites/models/locating.h"

#include "oracles/exact/operands.h"
#include "oracles/judging/judge.h"
#include "reference/bodies.h"
#include "reference/sequence.h"
#include "suites/campaign/signature.h"
#include "suites/graphs/graph_campaign.h"
#include "suites/graphs/graph_run.h"
#include "suites/models/unseen_rounding.h"
#include "suites/text/printable.h"
#include "suites/workers/vector_folder.h"

#include <algorithm>
#include <filesystem>
#include <functional>

namespace assay::suites {
namespace {

using oracles::Outcome;
using oracles::Verdict;

std::vector<std::string> named(const std::vector<std::string>& values) {
  std::vector<std::string> all;
  std::ranges::copy_if(values, std::back_inserter(all), [](const std::string& value) { return !value.empty(); });
  return all;
}

constexpr Int most_turns = 8;  // that are looked at from either end

// Moves every element to the next place, the last to the first: other data of the same kind.
Tensor turned(const Tensor& tensor) {
  Tensor other = tensor;
  if (tensor.dtype() == DType::string) return other;
  const std::span<std::byte> bytes = other.bytes();
  std::ranges::rotate(bytes, bytes.end() - static_cast<std::ptrdiff_t>(bytes.empty() ? 0 : size_of(tensor.dtype())));
  return other;
}

// Runs a model once per node, and judges the node by what earlier runs gave.
class Locator {
 public:
  Locator(const ModelSource& source, WorkerPool& pool, const RunOptions& run_options)
      : file_(read_model(source)),
        pool_(pool),
        run_options_(run_options),
        values_(file_, source),
        turn_axes_(turn_axes(file_.graph)) {
    const Result<std::string> bytes = file_contents(source.file, most_message);
    if (!bytes) throw InputError(bytes.error());
    Result<std::string> settled =
        settled_model(*bytes, std::filesystem::path(source.file).parent_path(), source.extents);
    if (!settled) throw InputError(printable(source.file, 80) + ": " + settled.error());
    settled_ = *std::move(settled);
    // Other data first, so that a buffer that keeps what it held shows.
    request_.sets.resize(2);
    for (const auto& [name, type] : file_.graph.inputs) {
      const Tensor& given = values_.all().at(name).tensor;
      request_.sets.front().push_back(encode_tensor(turned(given), name));
      request_.sets.back().push_back(encode_tensor(given, name));
    }
    request_.threads = run_options.settings.threads;
    request_.optimization = run_options.settings.optimization;
    request_.options = run_options.options;
  }

  Location run(bool finds_all) {
    expect_values(pool_.describe());
    expect_declared(pool_.describe(), run_options_.options);
    expect_runs();
    Progress progress;
    progress.stage = "nodes of the model";
    progress.total = file_.graph.nodes.size();
    std::vector<std::size_t> open;
    for (std::size_t at = 0; at < progress.total; ++at)
      if (is_shown(file_.graph.nodes[at])) open.push_back(at);
    location_.of = open.size();
    Backend& backend = pool_.first();
    std::size_t next = 0;
    Request sent;
    const auto submit = [&] {
      if (next < open.size()) backend.submit(sent = showing(named(file_.graph.nodes[open[next++]].outputs)));
    };
    submit();
    for (std::size_t at = 0; at < progress.total && !(run_options_.stop && *run_options_.stop); ++at) {
      const GraphNode& node = file_.graph.nodes[at];
      for (const auto& [owner, body] : values_.beginning_at(at)) look_into(*body);
      if (!is_shown(node)) {
        work_out(node);
        if (!node.inputs.empty()) location_.not_judged.push_back(described(node, "its body shows no values"));
      } else {
        // The backend is at the next node while this one is judged.
        const Outcome outcome = backend.answer();
        submit();
        ++location_.nodes;
        look_at(node, outcome);
      }
      values_.end_at(at);
      progress.done = at + 1;
      if (run_options_.progress) run_options_.progress(progress);
      if (!finds_all && !location_.wrong.empty() && location_.wrong.back().verdict.state == oracles::State::fail) break;
    }
    return std::move(location_);
  }

 private:
  Request showing(const std::vector<std::string>& values) const {
    Request request = request_;
    request.model = model_giving(settled_, values);
    request.id = case_id(joined(values, " ", std::identity()));
    return request;
  }

  // Tells whether a node takes something in, and its outputs can be shown.
  bool is_shown(const GraphNode& node) const { return !node.inputs.empty() && turn_axes_.contains(node.body); }

  // Notes what goes into the turns of a body.
  void look_into(const GraphBody& body) {
    const auto turns = turn_axes_.find(body.name);
    if (body.inputs.empty() || turns == turn_axes_.end()) return;
    const auto got = taken(pool_.second(0).run(showing(body.inputs)), body.inputs, body.inputs);
    for (std::size_t i = 0; got && i < body.inputs.size(); ++i) put(body.inputs[i], (*got)[i], false, turns->second);
  }

  // Notes a value, all turns of it where it is one of a body.
  void put(const std::string& name, const Tensor& tensor, bool is_constant, std::size_t turn_axes) {
    values_.put(name, tensor, is_constant);
    if (turn_axes > 0) in_turns_[name] = turn_axes;
  }

  // Throws InputError in the backend's words.
  void expect_runs() {
    const Outcome outcome = pool_.first().run(showing({}));
    if (outcome.kind != Outcome::Kind::outputs)
      throw InputError("the backend does not run this model (" + std::string(oracles::name(outcome.kind)) + ": " +
                       printable(outcome.because, 200) + "); `assay certify MODEL.onnx` says of which node");
  }

  // Takes values out of an answer, in the order of `wanted`; none where it is not what was asked for.
  std::optional<std::vector<Tensor>> taken(const Outcome& outcome, const std::vector<std::string>& shown,
                                           const std::vector<std::string>& wanted) const {
    if (outcome.kind != Outcome::Kind::outputs || outcome.sets.size() != request_.sets.size()) return std::nullopt;
    std::vector<std::string> order = file_.graph.outputs;
    for (const std::string& value : shown)
      if (std::ranges::find(order, value) == order.end()) order.push_back(value);
    if (outcome.sets.back().size() != order.size()) return std::nullopt;
    std::vector<Tensor> out;
    for (const std::string& value : wanted)
      out.push_back(outcome.sets.back()[static_cast<std::size_t>(std::ranges::find(order, value) - order.begin())]);
    return out;
  }

  Verdict judged(const Call& call, const Arrival& arrival, const std::vector<Tensor>& outputs) {
    Operands operands;
    for (const Tensor* const each : arrival.tensors(call.definition()))
      operands.push_back(each ? std::optional(*each) : std::nullopt);
    Outcome outcome;
    outcome.sets.push_back(outputs);
    return oracles::judge(call, {std::move(operands)}, outcome,
                          judgement_of(run_options_.level, pool_.describe().arithmetic));
  }

  // Holds what a node gives in one turn of the bodies that it stands in, and what arrives there.
  struct Turn {
    std::string number;  // "" of a node of the model itself
    Call call;
    Arrival arrival;
    std::vector<Tensor> outputs;
  };

  // Shows the turns of a node until `see` says that it has seen enough. `outputs`: what is shown of the node; `beside`:
  // what the same run shows of its operands, if anything. Says why there is nothing to see.
  template <class See>
  std::string each_turn(const GraphNode& node, const std::vector<Tensor>& outputs, const ModelValues& beside,
                        See&& see) const {
    if (!node.definition) return node.because;
    if (outputs.empty()) return "it gives nothing";
    const std::size_t axes = turn_axes_.at(node.body);
    const Shape& shape = outputs.front().shape();
    if (shape.size() < axes) return "its turns are not shown";
    const Shape turns(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axes));
    const Int count = volume(turns), left_out = std::max<Int>(count - 2 * most_turns, 0);
    std::string because = "its body runs no turn";
    for (Int i = 0; i < count - left_out; ++i) {
      const Shape turn = oracles::position(turns, i < most_turns ? i : i + left_out);
      const std::string number = joined(turn, ".", [](Int each) { return std::to_string(each); });
      std::vector<Tensor> given;
      for (const Tensor& each : outputs)
        if (std::optional<Tensor> one = in_turn(each, turn, axes)) given.push_back(*std::move(one));
      if (given.size() < outputs.size()) return "its turns are not shown";
      because = "its branch is not taken";
      if (given.front().shape() == of_no_branch) continue;
      const ModelValues operands = operands_in(node, turn, beside);  // which what arrives points to
      Result<Arrival> arrival = arrive(node, operands);
      if (!arrival) return arrival.error();
      Call call(*node.definition, arrival->node);
      if (because = obstacle_of(call); !because.empty()) return because;
      if (see(Turn{number, std::move(call), *std::move(arrival), std::move(given)})) break;
    }
    return because;
  }

  // Takes what arrives at a node in one turn: what the same run shows, else what is known.
  ModelValues operands_in(const GraphNode& node, const Shape& turn, const ModelValues& beside) const {
    ModelValues operands;
    for (const std::string& input : named(node.inputs)) {
      const ModelValues& from = beside.contains(input) ? beside : values_.all();
      const auto found = from.find(input);
      if (found == from.end()) continue;
      const auto axes = in_turns_.find(input);
      std::optional<Tensor> one = in_turn(found->second.tensor, turn, axes == in_turns_.end() ? 0 : axes->second);
      if (one) operands[input] = {*std::move(one), found->second.is_constant};
    }
    return operands;
  }

  // Takes one turn out of all that are shown; none where it is not there, and of strings.
  static std::optional<Tensor> in_turn(Tensor tensor, const Shape& turn, std::size_t axes) {
    for (std::size_t i = 0; i < axes; ++i) {
      const Shape& shape = tensor.shape();
      if (shape.empty() || turn[i] >= shape.front() || tensor.dtype() == DType::string) return std::nullopt;
      tensor = slice_of(tensor, 0, turn[i]);
    }
    return tensor;
  }

  void look_at(const GraphNode& node, const Outcome& outcome) {
    const std::vector<std::string> shown = named(node.outputs);
    const std::optional<std::vector<Tensor>> outputs = taken(outcome, shown, shown);
    bool is_constant = false;
    std::string because = node.because;
    if (outputs) {
      std::size_t turns = 0;
      because = each_turn(node, *outputs, {}, [&](const Turn& turn) {
        is_constant = turn.arrival.is_constant && turn.number.empty();
        location_.judged += turns++ == 0 ? 1 : 0;
        return judge(node, turn);
      });
      if (turns > 0) because.clear();  // a branch that is taken in some turns
    } else if (node.definition) {
      because = "with its outputs shown the model does not run: " + printable(outcome.because, 120);
    }
    if (!because.empty()) location_.not_judged.push_back(described(node, because));
    if (!outputs) return work_out(node);
    for (std::size_t i = 0; i < shown.size(); ++i) put(shown[i], (*outputs)[i], is_constant, turn_axes_.at(node.body));
  }

  // Works a node out by our own kernels, where the backend does not show it. Of a body only what is the same in every
  // turn is worked out.
  void work_out(const GraphNode& node) {
    const auto turns = turn_axes_.find(node.body);
    const bool is_alike = turns != turn_axes_.end() && (turns->second == 0 || node.inputs.empty());
    if (!is_alike) return;
    if (Result<WorkedOut> out = worked_out(node, values_.all(), run_options_.jobs))
      values_.put_all(node, std::move((*out).values), (*out).is_constant);
  }

  // Judges a turn of a node; tells whether it is wrong, so that no other turn is looked at.
  bool judge(const GraphNode& node, const Turn& turn) {
    LocatedNode located{described(node, ""), judged(turn.call, turn.arrival, turn.outputs), turn.number};
    if (!is_finding(located.verdict.state)) return false;
    const std::optional<Case> alone = case_of(node, turn.arrival);
    if (alone) located.node.lines.push_back(line(*alone));
    if ((alone && is_wrong_alone(*alone, located)) ||
        is_wrong(
            showing(with_operands(node)), Scope::in_model,
            [&](const Request& request) { return wrong_beside(node, request); }, located) ||
        is_wrong(
            showing(named(node.outputs)), Scope::unseen,
            [&](const Request& request) { return wrong_apart(node, request); }, located)) {
      location_.wrong.push_back(std::move(located));
      return true;
    }
    return false;
  }

  // Runs a node as a model of its own.
  bool is_wrong_alone(const Case& c, LocatedNode& located) {
    const SuiteCase planned{c, located.node.lines.front(), "", std::nullopt, {}, moved_bytes(c)};
    Request request = request_of(planned, run_options_);
    request.fresh = true;
    Verdict verdict = suites::judged(planned, pool_.second(0).run(request), pool_.describe(), run_options_.level);
    if (verdict.state != oracles::State::fail && verdict.state != oracles::State::below) return false;
    located.verdict = std::move(verdict);
    return true;
  }

  // Runs a request and returns what is wrong.
  using Look = std::function<std::optional<Verdict>(const Request&)>;

  // Looks first in a fresh process; then for a setting that cures it.
  bool is_wrong(Request request, Scope scope, const Look& look, LocatedNode& located) {
    request.fresh = true;
    std::optional<Verdict> verdict = look(request);
    if (!verdict) return false;
    request.fresh = false;
    located.verdict = *std::move(verdict);
    located.scope = scope;
    located.cure = cure_of(request, pool_.describe(), [&](const Request& other) { return !look(other); });
    return true;
  }

  // Judges the outputs of a node by what the same run shows of its operands.
  std::optional<Verdict> wrong_beside(const GraphNode& node, const Request& request) {
    const std::vector<std::string> shown = with_operands(node);
    const auto got = taken(pool_.second(0).run(request), shown, shown);
    if (!got) return std::nullopt;
    const std::size_t outputs = named(node.outputs).size();
    ModelValues beside;
    for (std::size_t i = outputs; i < shown.size(); ++i) beside[shown[i]] = {(*got)[i]};
    return wrong(node, {got->begin(), got->begin() + static_cast<std::ptrdiff_t>(outputs)}, beside);
  }

  // Judges them by what other runs showed of its operands, which this one may have rounded otherwise.
  std::optional<Verdict> wrong_apart(const GraphNode& node, const Request& request) {
    const std::vector<std::string> outputs = named(node.outputs);
    const auto got = taken(pool_.second(0).run(request), outputs, outputs);
    return got ? wrong(node, *got, {}) : std::nullopt;
  }

  // Returns what is wrong and no rounding: a rewriting may compute what is shown twice, rounded otherwise.
  std::optional<Verdict> wrong(const GraphNode& node, const std::vector<Tensor>& outputs, const ModelValues& beside) {
    std::optional<Verdict> found;
    each_turn(node, outputs, beside, [&](const Turn& turn) {
      Verdict verdict = judged(turn.call, turn.arrival, turn.outputs);
      if (!is_finding(verdict.state) || may_be_rounding(node, turn.call, turn.arrival, turn.outputs, run_options_.jobs))
        return false;
      found = std::move(verdict);
      return true;
    });
    return found;
  }

  // Names the outputs of a node, and what arrives there and is computed.
  std::vector<std::string> with_operands(const GraphNode& node) const {
    std::vector<std::string> all = named(node.outputs);
    for (const std::string& input : named(node.inputs)) {
      const auto is_it = [&](const auto& each) { return each.first == input; };
      if (!file_.graph.initializers.contains(input) && std::ranges::none_of(file_.graph.inputs, is_it) &&
          std::ranges::find(all, input) == all.end())
        all.push_back(input);
    }
    return all;
  }

  ModelFile file_;
  std::string settled_;
  WorkerPool& pool_;
  const RunOptions& run_options_;
  LiveValues values_;
  std::map<std::string, std::size_t> turn_axes_;  // of bodies whose values can be shown
  std::map<std::string, std::size_t> in_turns_;   // of values of which all turns are known
  Request request_;
  Location location_;
};

}  // namespace

Location locate(const ModelSource& source, bool finds_all, WorkerPool& pool, const RunOptions& run_options) {
  return Locator(source, pool, run_options).run(finds_all);
}

}  // namespace assay::suites
