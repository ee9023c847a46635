// SPDX-License-Identifier: Apache-2.0
// The operators besides Conv and AveragePool, each with its correct ways and its planted bugs. QLinearConv, DeformConv
// and NhwcConv, a convolution underneath, borrow the windows of the gather engine, and nothing from the kernels or the
// oracles. Those of the others are derived from their definitions.
#pragma once

#include "suites/mutation/mutants.h"
#include "suites/mutation/variants.h"

#include <span>

namespace assay::mutation {

// A correct variant, or a planted bug, of one operator.
struct Way {
  Variant variant;
  Kernel kernel;
};
struct Bug {
  Mutant mutant;
  Kernel kernel;
  bool keeps_last = false;  // from the run before
};

// MaxPool by the windows of the gather engine.
Kernel selecting(GatherDeviation deviation);
std::vector<Way> selecting_ways();
std::vector<Bug> selecting_bugs();
std::vector<Way> softmax_ways();
std::vector<Bug> softmax_bugs();
std::vector<Way> log_softmax_ways();
std::vector<Bug> log_softmax_bugs();

// Pools over whole planes.
std::vector<Way> global_ways(const std::string& op);
std::vector<Bug> global_bugs(const std::string& op);

// Products of matrices.
std::vector<Way> product_ways(const std::string& op);
std::vector<Bug> product_bugs(const std::string& op);

// LpPool, GlobalLpPool and LpNormalization.
std::vector<Way> norm_ways(const std::string& op);
std::vector<Bug> norm_bugs(const std::string& op);

// The random operators, and those of ai.onnx.ml.
std::vector<Way> random_ways(const std::string& op);
std::vector<Bug> random_bugs(const std::string& op);
std::vector<Way> feature_ways(const std::string& op);
std::vector<Bug> feature_bugs(const std::string& op);

// GridSample.
std::vector<Way> grid_ways(const std::string& op);
std::vector<Bug> grid_bugs(const std::string& op);

// StringConcat and StringSplit.
std::vector<Way> word_ways(const std::string& op);
std::vector<Bug> word_bugs(const std::string& op);

// ConvTranspose.
std::vector<Way> transposing_ways(const std::string& op);
std::vector<Bug> transposing_bugs(const std::string& op);

// ConvInteger.
std::vector<Way> integer_convolution_ways();
std::vector<Bug> integer_convolution_bugs();

// QuantizeLinear and its relatives.
std::vector<Way> quantizing_ways(const std::string& op);
std::vector<Bug> quantizing_bugs(const std::string& op);

// ArgMax, ArgMin and Hardmax.
std::vector<Way> extreme_ways(const std::string& op);
std::vector<Bug> extreme_bugs(const std::string& op);

// ReduceSum and its relatives.
std::vector<Way> reducing_ways(const std::string& op);
std::vector<Bug> reducing_bugs(const std::string& op);

// LayerNormalization and its relatives.
std::vector<Way> normalizing_ways(const std::string& op);
std::vector<Bug> normalizing_bugs(const std::string& op);

// LRN.
std::vector<Way> response_ways(const std::string& op);
std::vector<Bug> response_bugs(const std::string& op);

// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss.
std::vector<Way> loss_ways(const std::string& op);
std::vector<Bug> loss_bugs(const std::string& op);

// HannWindow and its relatives.
std::vector<Way> windowing_ways(const std::string& op);
std::vector<Bug> windowing_bugs(const std::string& op);

// RotaryEmbedding.
std::vector<Way> rotating_ways(const std::string& op);
std::vector<Bug> rotating_bugs(const std::string& op);

// RNN, GRU and LSTM.
std::vector<Way> recurring_ways(const std::string& op);
std::vector<Bug> recurring_bugs(const std::string& op);

// Col2Im.
std::vector<Way> folding_ways(const std::string& op);
std::vector<Bug> folding_bugs(const std::string& op);

// Det.
std::vector<Way> determinant_ways(const std::string& op);
std::vector<Bug> determinant_bugs(const std::string& op);

// RoiAlign and MaxRoiPool.
std::vector<Way> region_ways(const std::string& op);
std::vector<Bug> region_bugs(const std::string& op);

// CumSum and CumProd.
std::vector<Way> prefix_ways(const std::string& op);
std::vector<Bug> prefix_bugs(const std::string& op);

// Operators that compute each element by itself.
std::vector<Way> computing_ways(const std::string& op);
std::vector<Bug> computing_bugs(const std::string& op);

// Operators whose inputs are broadcast: the bugs of any, and the correct ways of single ones.
std::vector<Bug> broadcast_bugs(const Operator& op);
std::vector<Way> broadcast_ways(const std::string& op);

// "maxpool".
std::string lower(std::string text);

inline Way way_of(const char* name, const char* what, Kernel kernel, oracles::Level level = oracles::Level::L2) {
  return {{name, level, what}, std::move(kernel)};
}
// A bug of that operator, whose id is "maxpool-" and its name.
inline Bug bug_of(const std::string& op, const std::string& name, const char* what, Kernel kernel) {
  return {{lower(op) + "-" + name, op, what}, std::move(kernel)};
}

// Floats of 16 bits, which machines without their arithmetic compute in f32.
template <class T>
inline constexpr bool is_narrow = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

// Reshape and TopK.
std::vector<Way> reshaping_ways();
std::vector<Bug> reshaping_bugs();
std::vector<Way> ranking_ways();
std::vector<Bug> ranking_bugs();

// Operators that copy elements to other places, and those that tell a shape.
std::vector<Way> placing_ways(const std::string& op);
std::vector<Bug> placing_bugs(const std::string& op);

// The kernel of an operator whose windows the gather engine lays out, with a deviation; none of any other.
std::optional<Kernel> windowed(const OpVersion& version, const GatherDeviation& deviation);

// What variants.cpp and mutants.cpp list.
std::span<const Way> ways_of(const OpVersion& version);
std::span<const Bug> bugs_of(const OpVersion& version);
std::vector<OpVersion> family();  // one version of each

std::span<const Way> quantized_ways();
std::span<const Bug> quantized_bugs();
std::span<const Way> deformed_ways();
std::span<const Bug> deformed_bugs();
// Of an operator that is none of these, nor Conv or AveragePool.
std::span<const Way> later_ways(const Operator& op);
std::span<const Bug> derived_bugs(const Operator& op);
std::span<const Way> channels_last_ways();
std::span<const Bug> channels_last_bugs();

// The Conv call whose windows these are: channels first, with the attributes both operators have.
Call standing_for(const Call& call, TensorType x, TensorType w);

}  // namespace assay::mutation
