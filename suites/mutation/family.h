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
struct VariantKernel {
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
std::vector<VariantKernel> selecting_variants();
std::vector<Bug> selecting_bugs();
std::vector<VariantKernel> softmax_variants();
std::vector<Bug> softmax_bugs();
std::vector<VariantKernel> log_softmax_variants();
std::vector<Bug> log_softmax_bugs();

// FusedConv.
std::vector<VariantKernel> activating_variants(const std::string& op);
std::vector<Bug> activating_bugs(const std::string& op);
std::optional<Kernel> windowed_sums(const std::string& op, const GatherDeviation& deviation);

// NhwcMaxPool, and com.microsoft's means of integers.
std::vector<VariantKernel> integer_pool_variants(const std::string& op);
std::vector<Bug> integer_pool_bugs(const std::string& op);
std::optional<Kernel> windowed_integers(const std::string& op, const GatherDeviation& deviation);
// A tensor with its channels moved to the second place or the last; its bytes as they lie, under the shape of the
// first.
Tensor channels_second(const Tensor& in);
Tensor channels_last(const Tensor& in);
Tensor as_if_second(const Tensor& in);

// Pools over whole planes.
std::vector<VariantKernel> global_variants(const std::string& op);
std::vector<Bug> global_bugs(const std::string& op);

// Products of matrices.
std::vector<VariantKernel> product_variants(const std::string& op);
std::vector<Bug> product_bugs(const std::string& op);

// Einsum.
std::vector<VariantKernel> contracting_variants(const std::string& op);
std::vector<Bug> contracting_bugs(const std::string& op);

// CausalConvWithState.
std::vector<VariantKernel> causal_variants(const std::string& op);
std::vector<Bug> causal_bugs(const std::string& op);

// LpPool, GlobalLpPool and LpNormalization.
std::vector<VariantKernel> norm_variants(const std::string& op);
std::vector<Bug> norm_bugs(const std::string& op);

// The random operators, and those of ai.onnx.ml.
std::vector<VariantKernel> random_variants(const std::string& op);
std::vector<Bug> random_bugs(const std::string& op);
std::vector<VariantKernel> feature_variants(const std::string& op);
std::vector<Bug> feature_bugs(const std::string& op);
// Transforms scores, and writes a label that stands in classlabels_strings or in an attribute of that name.
void apply_post(const std::string& post, std::vector<double>& row);
void put_class(Tensor& to, Int row, const Call& call, const char* integers, std::size_t label);

// TreeEnsemble and its relatives.
std::vector<VariantKernel> forest_variants(const std::string& op);
std::vector<Bug> forest_bugs(const std::string& op);

// SVMRegressor and SVMClassifier.
std::vector<VariantKernel> machine_variants(const std::string& op);
std::vector<Bug> machine_bugs(const std::string& op);

// GridSample.
std::vector<VariantKernel> grid_variants(const std::string& op);
std::vector<Bug> grid_bugs(const std::string& op);

// StringConcat and StringSplit.
std::vector<VariantKernel> word_variants(const std::string& op);
std::vector<Bug> word_bugs(const std::string& op);

// ConvTranspose.
std::vector<VariantKernel> transposing_variants(const std::string& op);
std::vector<Bug> transposing_bugs(const std::string& op);

// ConvInteger.
std::vector<VariantKernel> integer_convolution_variants();
std::vector<Bug> integer_convolution_bugs();

// QuantizeLinear and its relatives.
std::vector<VariantKernel> quantizing_variants(const std::string& op);
std::vector<Bug> quantizing_bugs(const std::string& op);

// ArgMax, ArgMin and Hardmax.
std::vector<VariantKernel> extreme_variants(const std::string& op);
std::vector<Bug> extreme_bugs(const std::string& op);

// ReduceSum and its relatives.
std::vector<VariantKernel> reducing_variants(const std::string& op);
std::vector<Bug> reducing_bugs(const std::string& op);

// LayerNormalization and its relatives.
std::vector<VariantKernel> normalizing_variants(const std::string& op);
std::vector<Bug> normalizing_bugs(const std::string& op);

// LRN.
std::vector<VariantKernel> response_variants(const std::string& op);
std::vector<Bug> response_bugs(const std::string& op);

// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss.
std::vector<VariantKernel> loss_variants(const std::string& op);
std::vector<Bug> loss_bugs(const std::string& op);

// HannWindow and its relatives.
std::vector<VariantKernel> windowing_variants(const std::string& op);
std::vector<Bug> windowing_bugs(const std::string& op);

// RotaryEmbedding.
std::vector<VariantKernel> rotating_variants(const std::string& op);
std::vector<Bug> rotating_bugs(const std::string& op);

// DFT and STFT.
std::vector<VariantKernel> transforming_variants(const std::string& op);
std::vector<Bug> transforming_bugs(const std::string& op);

// Momentum, Adagrad and Adam.
std::vector<VariantKernel> optimizing_variants(const std::string& op);
std::vector<Bug> optimizing_bugs(const std::string& op);

// RNN, GRU and LSTM.
std::vector<VariantKernel> recurring_variants(const std::string& op);
std::vector<Bug> recurring_bugs(const std::string& op);

// Attention.
std::vector<VariantKernel> attending_variants(const std::string& op);
std::vector<Bug> attending_bugs(const std::string& op);

// LinearAttention.
std::vector<VariantKernel> remembering_variants(const std::string& op);
std::vector<Bug> remembering_bugs(const std::string& op);

// Col2Im.
std::vector<VariantKernel> folding_variants(const std::string& op);
std::vector<Bug> folding_bugs(const std::string& op);

// Det.
std::vector<VariantKernel> determinant_variants(const std::string& op);
std::vector<Bug> determinant_bugs(const std::string& op);

// RoiAlign and MaxRoiPool.
std::vector<VariantKernel> region_variants(const std::string& op);
std::vector<Bug> region_bugs(const std::string& op);

// CumSum and CumProd.
std::vector<VariantKernel> prefix_variants(const std::string& op);
std::vector<Bug> prefix_bugs(const std::string& op);

// Operators that compute each element by itself.
std::vector<VariantKernel> computing_variants(const std::string& op);
std::vector<Bug> computing_bugs(const std::string& op);

// Operators whose inputs are broadcast: the bugs of any, and the correct ways of single ones.
std::vector<Bug> broadcast_bugs(const Operator& op);
std::vector<VariantKernel> broadcast_variants(const std::string& op);

// "maxpool".
std::string lower(std::string text);

inline VariantKernel variant_of(const char* name, const char* what, Kernel kernel,
                                oracles::Level level = oracles::Level::L2) {
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
std::vector<VariantKernel> reshaping_variants();
std::vector<Bug> reshaping_bugs();
std::vector<VariantKernel> ranking_variants();
std::vector<Bug> ranking_bugs();

// Operators that copy elements to other places, and those that tell a shape.
std::vector<VariantKernel> placing_variants(const std::string& op);
std::vector<Bug> placing_bugs(const std::string& op);

// The kernel of an operator whose windows the gather engine lays out, with a deviation; none of any other.
std::optional<Kernel> windowed(const OpVersion& version, const GatherDeviation& deviation);
// Adds the gather engine's bugs of these names, of the operator of that prefix (conv, pool, max), as bugs of another.
void borrow(std::vector<Bug>& bugs, const OpVersion& version, const std::string& prefix,
            std::span<const std::string_view> names);

// What variants.cpp and mutants.cpp list.
std::span<const VariantKernel> variants_of(const OpVersion& version);
std::span<const Bug> bugs_of(const OpVersion& version);
std::vector<OpVersion> family();  // one version of each

std::span<const VariantKernel> quantized_variants();
std::span<const Bug> quantized_bugs();
std::span<const VariantKernel> deformed_variants();
std::span<const Bug> deformed_bugs();
// Of an operator that is none of these, nor Conv or AveragePool.
std::span<const VariantKernel> later_variants(const Operator& op);
std::span<const Bug> derived_bugs(const Operator& op);
std::span<const VariantKernel> channels_last_variants();
std::span<const Bug> channels_last_bugs();

// The Conv call whose windows these are: channels first, with the attributes both operators have.
Call standing_for(const Call& call, TensorType x, TensorType w);

}  // namespace assay::mutation
