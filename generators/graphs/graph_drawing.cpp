// SPDX-License-Identifier: Apache-2.0
#include "generators/graphs/graph_drawing.h"

#include "generators/draw.h"
#include "generators/graphs/growth.h"

#include <array>

namespace assay::generators {
namespace {

// Lists what optimisers look for (graphs.md 9); a line adds a pattern. A star stands behind nodes that share their
// operand; "phases" are the four slices by 2 that make SpaceToDepth.
constexpr auto patterns = std::to_array<std::string_view>({
    // Nodes that do nothing.
    "Identity Relu",
    "Dropout Conv",
    "Cast Cast",
    "Cast Add Cast",
    "Expand Add",
    "Slice Slice",
    "Unsqueeze Squeeze",
    "Squeeze Unsqueeze",
    "Reshape Reshape",
    "Transpose Transpose",
    "Concat Slice",
    "Pad Slice",
    "Resize Add",
    "Tile Slice",
    // A scale or a shift before or behind a product.
    "Conv Add",
    "Conv Mul",
    "Conv Sub",
    "Conv Div",
    "Conv Mul Add",
    "Conv BatchNormalization",
    "Conv BatchNormalization Relu",
    "ConvTranspose Add",
    "ConvTranspose Mul",
    "ConvTranspose BatchNormalization",
    "BatchNormalization Conv",
    "Mul Conv",
    "Add Conv",
    "MatMul Add",
    "MatMul Mul",
    "MatMul Div",
    "MatMul Sub",
    "MatMul BatchNormalization",
    "MatMul Reshape Add",
    "MatMul Reshape BatchNormalization",
    "MatMul Transpose BatchNormalization",
    "MatMul Add Relu",
    "Mul MatMul",
    "Div MatMul",
    "Transpose MatMul",
    "MatMul Transpose",
    "Reshape MatMul Reshape",
    "MatMul MatMul",
    "Gemm Add",
    "Gemm Sum",
    "Gemm Mul",
    "Gemm Transpose",
    "Transpose Gemm",
    "Gemm BatchNormalization",
    "Div Mul",
    "Mul Div",
    "Mul Mul",
    "Mul Add",
    "Add Add",
    "Sub Add",
    "Add Sub",
    "Neg Add",
    "Max Max",
    "Sum Sum",
    "BatchNormalization BatchNormalization",
    // An activation.
    "Conv Relu",
    "Conv Clip",
    "Conv LeakyRelu",
    "Conv PRelu",
    "Conv Sigmoid",
    "Conv Tanh",
    "Conv HardSigmoid",
    "Conv Add Relu",
    "Conv Sum Relu",
    "ConvTranspose Relu",
    "Gemm Relu",
    "Gemm LeakyRelu",
    "Gemm Clip",
    "Gemm Add Relu",
    "MatMul Relu",
    "MatMul LeakyRelu",
    "Relu Clip",
    "Clip Relu",
    "Clip Clip",
    "Relu Relu",
    "Relu MaxPool",
    "MaxPool Relu",
    "Mul MaxPool",
    "MaxPool Add",
    "Relu Mul",
    "Mul ReduceMax",
    "Add Clip",
    "Mul Clip",
    "BatchNormalization Relu",
    "Where Relu",
    "PRelu LeakyRelu",
    "Abs Neg",
    // Padding.
    "Pad Conv",
    "Pad ConvTranspose",
    "Pad MaxPool",
    "Pad AveragePool",
    "Pad Pad",
    "Pad Relu Conv",
    "Pad Transpose Conv",
    "Relu Pad MaxPool",
    // Moves.
    "Transpose Relu Transpose",
    "Transpose Add Transpose",
    "Transpose Mul Transpose",
    "Transpose Concat Transpose",
    "Transpose Split Concat",
    "Transpose ReduceSum Transpose",
    "Transpose ReduceMax",
    "Transpose ReduceMean",
    "Transpose Pad Transpose",
    "Transpose Slice Transpose",
    "Transpose Squeeze",
    "Transpose Unsqueeze Transpose",
    "Transpose Softmax Transpose",
    "Transpose Reshape Transpose",
    "Transpose MaxPool Transpose",
    "Transpose Resize Transpose",
    "Transpose BatchNormalization Transpose",
    "Transpose PRelu Transpose",
    "Transpose Where Transpose",
    "Transpose Tile Transpose",
    "Transpose Gather Transpose",
    "Transpose DepthToSpace Transpose",
    "Transpose Conv Transpose",
    "Transpose GlobalAveragePool Transpose",
    "Transpose Flatten",
    "Reshape Transpose Reshape",
    "Slice Concat",
    "Slice Relu Slice",
    "Gather Gather",
    "Gather* Concat",
    "Gather* Sum",
    "phases Concat",
    "phases Concat Conv",
    "Slice* Concat",
    "Slice* Add",
    "Conv* Concat",
    "Conv* Add",
    "Relu* Add",
    "Cast* Add",
    "Transpose* Concat",
    "Transpose* Add",
    "Reshape* Concat",
    "Unsqueeze* Concat",
    "MatMul* Add",
    "MatMul* Concat",
    "Identity* Concat",
    "ReduceMax* Concat",
    "Split Concat Split",
    "Gather Add",
    "Gather Concat",
    "Split Concat",
    "Split Add Concat",
    "Concat Split",
    "Concat Conv",
    "Concat MatMul",
    "Concat Concat",
    "DepthToSpace SpaceToDepth",
    "SpaceToDepth Conv",
    "Resize Resize",
    "Resize Conv",
    "Expand Transpose",
    "Flatten Gemm",
    "Reshape Gemm",
    "GlobalAveragePool Flatten Gemm",
    "GlobalMaxPool Squeeze",
    "Squeeze MatMul Unsqueeze",
    // Layouts.
    "Conv Conv",
    "Conv MaxPool Conv",
    "Conv AveragePool Conv",
    "Conv Concat Conv",
    "Conv Relu Conv Add Relu",
    "Conv Resize Conv",
    "Conv Transpose Conv",
    "Conv GlobalAveragePool",
    "MaxPool MaxPool",
    "MaxPool Conv",
    "AveragePool AveragePool",
    // Reductions.
    "ReduceSum ReduceSum",
    "ReduceMax ReduceMax",
    "ReduceSum Squeeze",
    "ReduceMean Reshape",
    "ReduceSum Unsqueeze",
    "Mul ReduceSum",
    "ReduceSum MatMul",
    "ReduceMax Expand",
    "ReduceMin Squeeze",
    "ReduceMax Unsqueeze",
    // Choices and flags.
    "Min Max",
    "Max Min",
    "Clip Min",
    "Greater Where",
    "Less Not Where",
    "Equal Not Where",
    "Greater And Where",
    "Less Not Not",
    "Less Cast Mul",
    "Greater Cast Cast",
    "Floor Cast Cast",
    "Cast Cast Add",
    "Sign Mul",
    "Ceil Relu",
    "ArgMax Cast",
    "Transpose ArgMax",
    "Transpose ReduceMin",
    "Transpose Min Transpose",
    "Transpose Greater Not Transpose",
    "Transpose CumSum Transpose",
    "Transpose Trilu Transpose",
    "Transpose GatherElements Transpose",
    "Transpose ScatterElements Transpose",
    "Transpose LeakyRelu Transpose",
    "Transpose Sub Transpose",
    "Transpose Div Transpose",
    "Transpose Max Transpose",
    "Transpose Sum Transpose",
    "Transpose Expand Transpose",
    "Transpose Split Transpose",
    "Transpose Shape Gather",
    "Shape Gather Cast",
    "Shape Slice Concat",
    "CumSum Slice",
    "GatherElements Add",
    "ScatterElements Add",
    "Trilu Mul",
    // Functions that round, at the end.
    "Sigmoid Mul",
    "Add Softmax",
    "Mul Softmax",
    "Add Tanh",
    "MatMul Sigmoid",
    "Gemm Tanh",
    "Transpose Softmax",
    // Quantised.
    "Clip QuantizeLinear DequantizeLinear",
    "Relu QuantizeLinear DequantizeLinear",
    "Add Relu QuantizeLinear DequantizeLinear",
    "Relu Clip QuantizeLinear DequantizeLinear Add",
    "Clip QuantizeLinear DequantizeLinear Conv Clip QuantizeLinear DequantizeLinear",
    "Clip QuantizeLinear DequantizeLinear Conv Relu Clip QuantizeLinear DequantizeLinear",
    "Clip QuantizeLinear DequantizeLinear Transpose QuantizeLinear DequantizeLinear",
    "Clip QuantizeLinear DequantizeLinear Reshape QuantizeLinear DequantizeLinear",
    "Clip QuantizeLinear DequantizeLinear Slice QuantizeLinear DequantizeLinear",
    "Clip QuantizeLinear DequantizeLinear MaxPool QuantizeLinear DequantizeLinear",
    "Clip QuantizeLinear DequantizeLinear Concat QuantizeLinear DequantizeLinear",
    "Clip QuantizeLinear DequantizeLinear Pad QuantizeLinear DequantizeLinear",
    "Clip QuantizeLinear DequantizeLinear Gather QuantizeLinear DequantizeLinear",
    "Clip QuantizeLinear DequantizeLinear Resize QuantizeLinear DequantizeLinear",
    "Clip QuantizeLinear DequantizeLinear Where QuantizeLinear DequantizeLinear",
    "Clip QuantizeLinear DequantizeLinear Split QuantizeLinear DequantizeLinear",
    "Clip QuantizeLinear DequantizeLinear Relu QuantizeLinear DequantizeLinear",
    "Clip QuantizeLinear DequantizeLinear Add Clip QuantizeLinear DequantizeLinear",
    "Clip QuantizeLinear DequantizeLinear Mul Clip QuantizeLinear DequantizeLinear",
    "Clip QuantizeLinear DequantizeLinear MatMul Clip QuantizeLinear DequantizeLinear",
    "Clip QuantizeLinear DequantizeLinear Gemm Clip QuantizeLinear DequantizeLinear",
    "Clip QuantizeLinear DequantizeLinear QuantizeLinear DequantizeLinear",
    "Clip QuantizeLinear Transpose DequantizeLinear",
    "Clip QuantizeLinear Reshape DequantizeLinear",
    "Clip QuantizeLinear MaxPool DequantizeLinear",
});

// Lists what may stand between the nodes of a pattern, before and behind it.
const std::vector<std::string>& free_operators() {
  static const std::vector<std::string> all{
      "Relu",    "Add",  "Mul",       "Transpose", "Reshape",   "Slice",   "Concat",    "Identity", "Conv",
      "MatMul",  "Pad",  "Clip",      "MaxPool",   "Unsqueeze", "Squeeze", "Split",     "Gather",   "Max",
      "Neg",     "Sub",  "Flatten",   "ReduceSum", "Tile",      "Expand",  "LeakyRelu", "Where",    "Resize",
      "Dropout", "Cast", "ReduceMax", "Min",       "Sign",      "CumSum"};
  return all;
}

// Grows the nodes of a pattern; false where one does not fit.
bool grow_pattern(Growth& growth, std::string_view pattern) {
  while (!pattern.empty()) {
    const std::size_t end = std::min(pattern.find(' '), pattern.size());
    const std::string word(pattern.substr(0, end));
    const bool fits = word == "phases"      ? growth.phases()
                      : word.ends_with('*') ? growth.branch(word.substr(0, word.size() - 1))
                                            : growth.grow(word);
    if (!fits) return false;
    pattern.remove_prefix(std::min(end + 1, pattern.size()));
    if (!pattern.empty() && chance(3)) growth.grow(pick(free_operators()));
  }
  return true;
}

// Lets something that computes what the graph does stand around it, and names that.
std::string_view put_inside(GraphCase& graph) {
  graph.inside = pick({Wrapper::branch, Wrapper::loop, Wrapper::function});
  return graph.inside == Wrapper::branch ? "inside If"
         : graph.inside == Wrapper::loop ? "inside Loop"
                                         : "inside a function";
}

std::optional<DrawnGraph> drawn(std::string_view pattern) {
  Growth growth(weighted<int>({{4, static_cast<int>(between(7, 23))}, {1, 13}, {1, 17}, {1, 21}}));
  while (chance(20)) growth.grow(pick(free_operators()));
  if (!grow_pattern(growth, pattern)) return std::nullopt;
  // Another one behind it, as far as it fits.
  if (chance(40)) grow_pattern(growth, pick<std::string_view>({patterns.begin(), patterns.end()}));
  while (chance(25)) growth.grow(pick(free_operators()));
  while (chance(30)) growth.tap();
  if (chance(8)) growth.repeat();
  GraphCase graph = growth.finish();
  if (chance(10)) graph.declared = pick({DeclaredShapes::symbolic, DeclaredShapes::absent});
  std::set<std::string_view> hazards = growth.hazards();
  if (chance(6)) hazards.insert(put_inside(graph));
  return DrawnGraph{std::move(graph), pattern, std::move(hazards)};
}

}  // namespace

std::span<const std::string_view> graph_patterns() { return patterns; }

DrawnGraph draw_graph(std::uint64_t seed, std::uint64_t index) {
  const std::string_view pattern = patterns[index % patterns.size()];
  for (std::uint64_t trial = 0;; ++trial) {
    const rc::Random random(Generator(Generator(Generator(seed).next() ^ index).next() ^ trial).next());
    const Drawing drawing(random);
    if (auto found = drawn(pattern)) return *std::move(found);
    if (trial == 10'000) throw BrokenPromise("no graph of the pattern " + std::string(pattern) + " fits");
  }
}

}  // namespace assay::generators
