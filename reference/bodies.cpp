// SPDX-License-Identifier: Apache-2.0
#include "reference/bodies.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace assay {
namespace {

constexpr Int most_nodes = 10'000, most_collected = Int{1} << 28;  // elements

// Returns the value of that name, or an error that says so.
Result<Tensor> value_of(const BodyRunner::Named& values, const std::string& name) {
  const auto found = values.find(name);
  if (found == values.end()) return Error{"what " + name + " is, is not known"};
  return found->second;
}

Result<bool> truth_of(const Tensor& condition) {
  if (condition.dtype() != DType::boolean || condition.elements() != 1) return Error{"a condition that is no boolean"};
  return static_cast<bool>(condition.as<Bool>()[0]);
}

Tensor turn_number(Int turn) {
  Tensor tensor(TensorType{DType::i64, {}});
  tensor.as<Int>()[0] = turn;
  return tensor;
}

Tensor truth() {
  Tensor tensor(TensorType{DType::boolean, {}});
  tensor.as<Bool>()[0] = Bool(true);
  return tensor;
}

// Counts the inputs of a Scan that are cut into slices, the last ones; none of a Scan of before version 9.
std::size_t cut_by(const GraphNode& node) {
  const auto given = node.node.attributes.find("num_scan_inputs");
  const Int* const count = given == node.node.attributes.end() ? nullptr : std::get_if<Int>(&given->second);
  return count && *count > 0 && *count <= std::ssize(node.inputs) ? static_cast<std::size_t>(*count) : 0;
}

// Returns the i-th number of a list that may be left out, which is 0 throughout.
Int listed(const GraphNode& node, const char* name, std::size_t i) {
  const auto given = node.node.attributes.find(name);
  const Ints* const list = given == node.node.attributes.end() ? nullptr : std::get_if<Ints>(&given->second);
  return list && i < list->size() ? (*list)[i] : 0;
}

// Says how a Scan cuts an input into slices, or puts slices together: along which axis, and whether from the end.
struct ScanAxis {
  std::size_t axis = 0;
  bool is_reversed = false;
};

std::optional<ScanAxis> scan_axis(const GraphNode& node, const char* axes, const char* directions, std::size_t i,
                                  std::size_t rank) {
  Int axis = listed(node, axes, i);
  if (axis < 0) axis += static_cast<Int>(rank);
  if (axis < 0 || axis >= static_cast<Int>(rank)) return std::nullopt;
  return ScanAxis{static_cast<std::size_t>(axis), listed(node, directions, i) != 0};
}

// Collects what a body gives turn by turn.
class Collected {
 public:
  // Tells whether they are still few enough to keep.
  bool add(std::span<const std::optional<Tensor>> slices) {
    of_output_.resize(slices.size());
    for (std::size_t i = 0; i < slices.size(); ++i) {
      of_output_[i].push_back(*slices[i]);
      elements_ += slices[i]->elements();
    }
    return elements_ <= most_collected;
  }

  // Puts them together, those of one output along `axis_of`(which, rank).
  template <class F>
  Result<Values> all(std::size_t outputs, F&& axis_of) {
    Values out;
    if (of_output_.size() < outputs) return Error{"of a body that never runs a type is not known"};
    for (std::size_t i = 0; i < outputs; ++i) {
      std::vector<Tensor>& slices = of_output_[i];
      const auto is_other = [&](const Tensor& each) { return each.type() != slices.front().type(); };
      if (slices.front().dtype() == DType::string || std::ranges::any_of(slices, is_other))
        return Error{"slices of which no tensor can be made"};
      const std::optional<ScanAxis> at = axis_of(i, slices.front().shape().size() + 1);
      if (!at) return Error{"an axis that is none"};
      if (at->is_reversed) std::ranges::reverse(slices);
      out.push_back(stacked(slices, at->axis));
    }
    return out;
  }

 private:
  std::vector<std::vector<Tensor>> of_output_;
  Int elements_ = 0;
};

}  // namespace

Tensor slice_of(const Tensor& tensor, std::size_t axis, Int index) {
  Shape shape = tensor.shape();
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  Tensor slice = Tensor::to_be_written({tensor.dtype(), shape});
  const std::size_t run =
      size_of(tensor.dtype()) * static_cast<std::size_t>(volume(std::span(tensor.shape()).subspan(axis + 1)));
  const std::size_t pitch = run * static_cast<std::size_t>(tensor.shape()[axis]);
  const std::span<std::byte> to = slice.bytes();
  for (std::size_t at = 0, from = run * static_cast<std::size_t>(index); at < to.size(); at += run, from += pitch)
    std::ranges::copy(tensor.bytes().subspan(from, run), to.begin() + static_cast<std::ptrdiff_t>(at));
  return slice;
}

Tensor stacked(std::span<const Tensor> slices, std::size_t axis) {
  Shape shape = slices.front().shape();
  const std::size_t run =
      size_of(slices.front().dtype()) * static_cast<std::size_t>(volume(std::span<const Int>(shape).subspan(axis)));
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), std::ssize(slices));
  Tensor all = Tensor::to_be_written({slices.front().dtype(), shape});
  auto to = all.bytes().begin();
  for (std::size_t from = 0; to != all.bytes().end(); from += run)
    for (const Tensor& slice : slices) to = std::ranges::copy(slice.bytes().subspan(from, run), to).out;
  return all;
}

std::map<std::string, std::size_t> turn_axes(const GraphModel& model) {
  std::map<std::string, std::size_t> all{{"", 0}};
  for (auto node = model.nodes.rbegin(); node != model.nodes.rend(); ++node) {
    const bool turns = node->op == "Loop" || (node->op == "Scan" && cut_by(*node) > 0);
    const auto around = all.find(node->body);
    if (around == all.end() || (!turns && node->op != "If")) continue;
    for (const GraphBody& body : node->bodies) all[body.name] = around->second + (turns ? 1 : 0);
  }
  return all;
}

Result<Tensor> goes_in(const GraphNode& node, std::size_t i, Int turn, const Tensor* operand) {
  if (node.op == "Loop" && i < 2) return i == 0 ? turn_number(turn) : truth();
  if (!operand) return Error{"an operand that is not known"};
  const std::size_t carried = node.inputs.size() - cut_by(node);
  if (node.op == "Loop" || i < carried) return *operand;
  const std::optional<ScanAxis> at =
      scan_axis(node, "scan_input_axes", "scan_input_directions", i - carried, operand->shape().size());
  if (!at || operand->dtype() == DType::string) return Error{"an input that cannot be cut"};
  const Int turns = operand->shape()[at->axis];
  if (turn >= turns) return Error{"an input of too few slices"};
  return slice_of(*operand, at->axis, at->is_reversed ? turns - 1 - turn : turn);
}

void put(const GraphNode& node, Values out, BodyRunner::Named& values) {
  for (std::size_t i = 0; i < node.outputs.size() && i < out.size(); ++i)
    if (out[i] && !node.outputs[i].empty()) values[node.outputs[i]] = *std::move(out[i]);
}

Result<Values> BodyRunner::run(std::size_t node, const Named& values) {
  left_ = most_nodes;
  return any(node, values);
}

Result<Values> BodyRunner::any(std::size_t node, const Named& values) {
  const GraphNode& it = model_.nodes[node];
  if (it.op == "If") return branch(it, values);
  if ((it.op == "Loop" || it.op == "Scan") && it.bodies.size() == 1) return turns(it, values);
  return it.definition ? compute_(node, values) : Error{it.because};
}

Result<Values> BodyRunner::body(const GraphBody& body, std::span<const Tensor> inputs, Named& values) {
  if (inputs.size() != body.inputs.size()) return Error{"a body of another number of inputs"};
  for (std::size_t i = 0; i < inputs.size(); ++i) values[body.inputs[i]] = inputs[i];
  for (std::size_t at = body.first; at < body.last; ++at) {
    const GraphNode& node = model_.nodes[at];
    if (node.body != body.name) continue;  // of a body within, whose node runs it
    if (left_-- <= 0) return Error{"a body that runs too many nodes"};
    Result<Values> out = any(at, values);
    if (!out) return out;
    put(node, *std::move(out), values);
  }
  Values out;
  for (const std::string& name : body.outputs) {
    Result<Tensor> value = value_of(values, name);
    if (!value) return Error{value.error()};
    out.push_back(*std::move(value));
  }
  return out;
}

Result<Values> BodyRunner::branch(const GraphNode& node, Named values) {
  const Result<Tensor> condition = value_of(values, node.inputs.empty() ? "" : node.inputs.front());
  if (!condition) return Error{condition.error()};
  const Result<bool> is_taken = truth_of(*condition);
  if (!is_taken) return Error{is_taken.error()};
  const auto taken = std::ranges::find(node.bodies, *is_taken ? "then_branch" : "else_branch", &GraphBody::attribute);
  if (taken == node.bodies.end()) return Error{"a branch that is not there"};
  return body(*taken, {}, values);
}

namespace {

// Counts the turns of a Loop or a Scan, but for what a condition ends.
Result<Int> turns_of(const GraphNode& node, std::span<const std::optional<Tensor>> operands) {
  if (node.op == "Scan") {
    const std::size_t cut = cut_by(node), first = node.inputs.size() - cut;
    if (cut == 0 || !operands[first]) return Error{"a Scan that cuts nothing, or of before version 9"};
    const Shape& shape = operands[first]->shape();
    const std::optional<ScanAxis> at = scan_axis(node, "scan_input_axes", "scan_input_directions", 0, shape.size());
    return at ? Result<Int>(shape[at->axis]) : Error{"an axis that is none"};
  }
  if (operands.empty() || !operands[0]) return std::numeric_limits<Int>::max();
  if (operands[0]->dtype() != DType::i64 || operands[0]->elements() != 1)
    return Error{"a number of turns that is none"};
  return operands[0]->as<Int>()[0];
}

}  // namespace

// Runs a Loop or a Scan. What is carried comes behind the number of a turn and the condition in a Loop, first in a
// Scan; what is collected comes last in both.
Result<Values> BodyRunner::turns(const GraphNode& node, Named values) {
  const GraphBody& its = node.bodies.front();
  const bool is_loop = node.op == "Loop";
  std::vector<std::optional<Tensor>> operands(std::max(node.inputs.size(), its.inputs.size()));
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (!node.inputs[i].empty()) {
      Result<Tensor> value = value_of(values, node.inputs[i]);
      if (!value) return Error{value.error()};
      operands[i] = *std::move(value);
    }
  const Result<Int> most = turns_of(node, operands);
  if (!most) return Error{most.error()};
  Result<bool> goes_on = is_loop && operands.size() > 1 && operands[1] ? truth_of(*operands[1]) : true;
  if (!goes_on) return Error{goes_on.error()};

  const std::size_t first_in = is_loop ? 2 : 0, first_out = is_loop ? 1 : 0;
  if (its.inputs.size() != operands.size() || operands.size() < first_in) return Error{"a body of other inputs"};
  const std::size_t carried = operands.size() - first_in - (is_loop ? 0 : cut_by(node));
  if (its.outputs.size() < first_out + carried) return Error{"a body of too few outputs"};
  Collected collected;
  for (Int turn = 0; turn < *most && *goes_on; ++turn) {
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const bool is_carried = i >= first_in && i < first_in + carried;
      Result<Tensor> input = is_carried && operands[i] ? Result<Tensor>(*operands[i])
                                                       : goes_in(node, i, turn, operands[i] ? &*operands[i] : nullptr);
      if (!input) return Error{input.error()};
      inputs.push_back(*std::move(input));
    }
    if (left_-- <= 0) return Error{"a body that runs too many nodes"};
    const Result<Values> out = body(its, inputs, values);
    if (!out) return out;
    if (is_loop) goes_on = truth_of(*out->front());
    if (!goes_on) return Error{goes_on.error()};
    for (std::size_t i = 0; i < carried; ++i) operands[first_in + i] = (*out)[first_out + i];
    if (!collected.add(std::span(*out).subspan(first_out + carried))) return Error{"more slices than can be kept"};
  }
  Result<Values> slices = collected.all(its.outputs.size() - first_out - carried, [&](std::size_t i, std::size_t rank) {
    return is_loop ? ScanAxis{} : scan_axis(node, "scan_output_axes", "scan_output_directions", i, rank);
  });
  if (!slices) return slices;
  Values all;
  std::ranges::move(std::span(operands).subspan(first_in, carried), std::back_inserter(all));
  std::ranges::move(*slices, std::back_inserter(all));
  return all;
}

}  // namespace assay
