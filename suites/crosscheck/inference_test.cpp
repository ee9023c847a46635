// SPDX-License-Identifier: Apache-2.0
// Three hands at the output shape: the definition, the oracle and the inference inside the ONNX package. The first two
// agree always; the third differs only where a ruling says why, and then in the way the ruling says.
#include "generators/convolution.h"
#include "generators/generators.h"
#include "oracles/exact/enclosure.h"
#include "reference/onnx_io.h"
#include "reference/operator.h"
#include "reference/testing/run_size.h"
#include "reference/window.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <limits>

namespace assay {
namespace {

constexpr std::uint64_t seed = 1;

// Per operator version and type of its first input: 43 pairs of those.
std::uint64_t draws() { return thinned(count(150, 2'000)); }

// One spatial axis, with what decides how the inference counts its windows.
struct Situation {
  int since = 1;
  bool same = false, ceil = false;
  Axis axis;
  std::optional<Int> misread_kernel = {};  // the extent the inference takes for the kernel's, of W in another layout

  Int room() const { return axis.in + axis.begin + axis.end - axis.effective_kernel(); }
  // SAME_* where the padding that the formula asks for is negative (A3): some cells are stepped over.
  bool steps_over() const { return same && (axis.out - 1) * axis.stride + axis.effective_kernel() < axis.in; }
};

std::vector<Situation> situations(const Case& c) {
  const Case conv = generators::conv_of(c);
  const Call call = conv.call();
  const bool ceil = call.definition().attribute("ceil_mode") && call.integer("ceil_mode") != 0;
  const bool same = call.text("auto_pad").starts_with("SAME");
  const bool misreads = c.version.name == "NhwcConv" && !c.node.attributes.contains("kernel_shape");
  std::vector<Situation> all;
  for (const Axis& axis : Window::of(call).axes) {
    const Int taken = misreads ? c.call().dim("W", static_cast<Int>(all.size()) + 2) : axis.kernel;
    all.push_back({c.version.domain.empty() ? c.version.since_version : 22, same, ceil, axis,
                   taken == axis.kernel ? std::nullopt : std::optional(taken)});
  }
  return all;
}

// The windows of another kernel, with the padding SAME_* gives it.
Int of_misread_kernel(const Situation& s) {
  const Int span = (*s.misread_kernel - 1) * s.axis.dilation + 1;
  if (!s.same) return (s.axis.in + s.axis.begin + s.axis.end - span) / s.axis.stride + 1;
  const Int windows = ceil_div(s.axis.in, s.axis.stride);
  const Int padding = std::max<Int>(0, (windows - 1) * s.axis.stride + span - s.axis.in);
  return (s.axis.in + padding - span) / s.axis.stride + 1;
}

// The formula of the inference of ONNX 1.23.2, read off its behaviour. C++ division rounds towards zero. Before 22
// ceil_mode rounds a quotient of floats up; from 22 on it divides integers and drops a window that starts in the end
// padding.
Int as_inferred(const Situation& s) {
  const Int stride = s.axis.stride;
  if (s.misread_kernel) return of_misread_kernel(s);
  if (!s.ceil) return s.room() / stride + 1;
  if (s.since < 22) return ceil_div(s.room(), stride) + 1;
  const Int last = (s.room() + stride - 1) / stride;
  return last * stride >= s.axis.in + s.axis.begin ? last : last + 1;
}

// Where that formula is known to differ from what is ruled.
struct Defect {
  const char *ruling, *what;
  std::function<bool(const Situation&)> applies;
  bool meets_legal_cases = false;
};

// The first that applies explains the axis.
const std::vector<Defect>& defects() {
  static const std::vector<Defect> known{
      {"A24", "NhwcConv without kernel_shape: the extents of W are read as M x C/group x k…",
       [](const Situation& s) { return s.misread_kernel.has_value(); }, true},
      {"A31", "SAME_* over an empty axis: rounding towards zero makes a window over nothing",
       [](const Situation& s) { return s.same && s.axis.in == 0 && as_inferred(s) == 1; }},
      {"A8",
       "SAME_* with ceil_mode before 22: one window more than ceil(in / stride) where the kernel steps over cells",
       [](const Situation& s) { return s.steps_over() && s.ceil && s.since < 22; }, true},
      {"A8", "ceil_mode before 22: a window that starts in the end padding is kept",
       [](const Situation& s) {
         return !s.same && s.ceil && s.since < 22 &&
                ceil_div(s.room(), s.axis.stride) * s.axis.stride >= s.axis.in + s.axis.begin;
       },
       true},
      {"A6", "a kernel larger than its padded input: rounding towards zero makes a phantom window",
       [](const Situation& s) { return !s.same && s.axis.out < 1 && as_inferred(s) == 1; }},
      {"A6", "a kernel much larger than its padded input: a negative extent",
       [](const Situation& s) { return !s.same && s.axis.out < 1 && as_inferred(s) < 0; }},
  };
  return known;
}

const Defect* defect_at(const Situation& s) {
  for (const Defect& defect : defects())
    if (defect.applies(s)) return &defect;
  return nullptr;
}

// How often each defect was met, by index into defects().
struct Tally {
  Int cases = 0, axes_as_ruled = 0;
  std::vector<Int> seen = std::vector<Int>(defects().size(), 0);
};

std::string printed(const Tally& tally) {
  std::string out =
      std::to_string(tally.cases) + ", " + std::to_string(tally.axes_as_ruled) + " axes inferred as ruled";
  for (std::size_t i = 0; i < defects().size(); ++i)
    out += "\n" + std::to_string(tally.seen[i]) + " by " + defects()[i].ruling + ": " + defects()[i].what;
  return out;
}

std::string printed(const Inferred& inferred) {
  if (!inferred.error.empty()) return "an error: " + inferred.error;
  if (!inferred.shape) return "no shape";
  std::string out = "[";
  for (const std::optional<Int>& extent : *inferred.shape)
    out += (out.size() > 1 ? "," : "") + (extent ? std::to_string(*extent) : "?");
  return out + "]";
}

// The definition says by how much no window fits; under A6 = zero-size such an extent is 0.
Shape at_least_zero(Shape shape) {
  for (Int& extent : shape) extent = std::max<Int>(extent, 0);
  return shape;
}

// The schemas of the first opsets that say nothing of their outputs' shapes: those with the hint of that time, or whose
// type a word names, and some of those that floats or a default decide, pool or multiply.
bool has_no_inference(const OpVersion& version) {
  const Definition& definition = *find_definition(version);
  const AttributeSpec* const named = definition.attribute(definition.outputs.front().typed_by);
  constexpr std::string_view silent[] = {"Concat-1", "Tile-1",         "Pad-1",  "Split-1",
                                         "LpPool-1", "GlobalLpPool-1", "Gemm-1", "Upsample-1"};
  return definition.attribute("consumed_inputs") || std::ranges::count(silent, text(version)) > 0 ||
         (named && named->kind == AttributeSpec::Kind::text);
}

// Squeeze-1 drops the axes that are listed in ascending order alone.
bool lists_axes_out_of_order(const Case& c) {
  const auto axes = c.node.attributes.find("axes");
  return text(c.version) == "Squeeze-1" && axes != c.node.attributes.end() &&
         !std::ranges::is_sorted(std::get<Ints>(axes->second));
}

// Of axes of 32 bits of Pad it reads 64, and fails.
bool has_short_axes(const Case& c) {
  return c.version.name == "Pad" && c.call().has("axes") && c.call().type("axes").dtype == DType::i32;
}

// Of Y it infers the type of X, whatever scale is (N12).
bool has_a_scale_of_its_own(const Case& c) {
  return c.definition().ruling("N12") && c.call().type("X").dtype != c.call().type("scale").dtype;
}

// Those whose data decide the extents, Range of 16-bit integers, OneHot, whose depth it does not read, layers that step
// through time, whose hidden_size may be left out, MelWeightMatrix without bins, and STFT whose length is the signal's;
// nor has ai.onnx.ml much of it.
bool is_open(const OpVersion& version) {
  constexpr std::string_view all[] = {"Compress",
                                      "NonZero",
                                      "Unique",
                                      "Range",
                                      "OneHot",
                                      "StringSplit",
                                      "RNN",
                                      "GRU",
                                      "LSTM",
                                      "MelWeightMatrix",
                                      "NonMaxSuppression",
                                      "StringNormalizer",
                                      "STFT"};
  return version.domain == "ai.onnx.ml" || std::ranges::count(all, version.name) > 0;
}

// It refuses indices of OneHot without axes.
bool has_scalar_indices(const Case& c) {
  return c.definition().ruling("M64") && c.call().rank(c.definition().inputs.front().name) == 0;
}

// It adds output_padding to what SAME_* says (W3).
bool adds_output_padding(const Case& c) {
  return c.definition().ruling("W3") && c.call().text("auto_pad").starts_with("SAME") &&
         !c.call().states("output_shape");
}

// Of an output_shape that is smaller than the input it drops an extent.
bool requests_less(const Case& c) {
  if (!c.definition().ruling("W5") || !c.call().states("output_shape")) return false;
  const Ints stated = c.call().ints("output_shape");
  for (std::size_t i = 0; i < stated.size(); ++i)
    if (stated[i] < c.call().shape("X")[i + 2]) return true;
  return false;
}

// It refuses no strings at all, and a row of them whose extents are symbols (G49).
bool is_no_list_of_strings(const Case& c) {
  return c.definition().ruling("G49") && (c.call().rank("X") == 2 || volume(c.call().shape("X")) == 0);
}

// It refuses windows of no element.
bool is_of_no_element(const Case& c) {
  const Parameter* const size = c.definition().input("size");
  return size && !size->reads_as.empty() && c.call().ints("size") == Ints{0};
}

// It infers both sides where STFT, whose default is one, does not say so.
bool leaves_side_out(const Case& c) {
  return c.definition().input("frame_step") && !c.node.attributes.contains("onesided");
}

// It takes a list of one alone as the value of ConstantOfShape (M66).
bool has_a_value_that_is_no_list(const Case& c) {
  return c.definition().ruling("M66") && c.call().states("value") && c.call().tensor("value").shape().size() != 1;
}

// Under an ellipsis it keeps an extent of 1 that a later operand has a symbol for, or 0.
bool has_an_ellipsis(const Case& c) {
  return c.definition().ruling("W26") && c.call().text("equation").find("...") != std::string::npos;
}
bool has_empty_operands(const Case& c) {
  return std::ranges::any_of(c.node.inputs, [](const auto& input) { return volume(input.second.type.shape) == 0; });
}

// It refuses a decay or a beta that the rule does not use (N44).
bool has_more_than_its_rule_uses(const Case& c) {
  if (!c.definition().ruling("N44")) return false;
  const Call call = c.call();
  const std::string rule = call.text("update_rule");
  return (call.has("decay") && !rule.starts_with("gated")) || (call.has("beta") && !rule.ends_with("delta"));
}

// Makes the inputs constants that the call reads: of others inference knows nothing.
Case with_constants(Case c) {
  for (const Parameter& input : c.definition().inputs)
    if (const auto source = c.sources.find(input.name); !input.reads_as.empty() && source != c.sources.end())
      source->second.initializer = true;
  return c;
}

// ONNX infers MeanVarianceNormalization through its body, which is of float32 alone (N50), and has no axes where none
// are stated.
bool has_no_body(const Case& c) {
  if (!c.definition().ruling("N50")) return false;
  return !c.call().states("axes") || c.call().type(c.definition().data().name).dtype != DType::f32;
}

// Where inference differs from `ruled`, a listed defect must say so and say by how much.
void compare(const Case& c, const Shape& ruled, Tally& tally) {
  // ONNX adds steps up without a look at the ends of the integers: by the farthest it walks until no memory is left.
  constexpr Int far = std::numeric_limits<std::int32_t>::max();
  const auto is_far = [](Int step) { return step >= far || step <= -far; };
  if (c.version.name == "Slice" && c.call().states("steps") && std::ranges::any_of(c.call().ints("steps"), is_far))
    return;
  Case fixed = with_constants(c);
  fixed.declared = DeclaredShapes::fixed;
  const Inferred inferred = infer(model_of(fixed));
  INFO("ONNX infers " << printed(inferred) << ", ruled " << text(ruled));
  if (has_no_body(c)) return;
  CHECK(inferred.error.empty());
  if (!inferred.error.empty()) return;
  if (has_no_inference(c.version)) {
    CHECK(!inferred.shape);
    return;
  }
  CHECK(inferred.dtype == c.definition().type_of(c.call(), c.definition().outputs.front()));
  // Of Slice-1 ONNX infers an extent, or any shape, only where no bound is negative or out of range.
  // Of Pad none where no axis is listed.
  const bool lists_none = c.version.name == "Pad" && c.call().states("axes") && c.call().ints("axes").empty();
  const bool resizes = c.version.name == "Resize";  // of which it infers no extent of 0
  // Of GroupNormalization none where the body has to reshape what is symbolic.
  // Of MaxUnpool none where output_shape is an input, or named "".
  const bool may_be_open = c.version == OpVersion{"", "Slice", 1} || c.node.inputs.contains("output_shape") ||
                           c.version.name == "GroupNormalization" || lists_none || is_open(c.version);
  // It gives the outputs of these their axes one by one: a scalar has no shape then.
  const bool has_its_axes = c.version.name == "Transpose" || c.version.name == "GatherND" ||
                            c.version.name == "MatMul" || c.version.name == "MatMulInteger";
  if (!inferred.shape && (may_be_open || (has_its_axes && ruled.empty()))) return;
  CHECK(inferred.shape);
  if (!inferred.shape) return;
  CHECK(inferred.shape->size() == ruled.size());
  if (inferred.shape->size() != ruled.size()) return;
  if (c.definition().shaping != Shaping::window || !c.definition().attribute("strides")) {
    for (std::size_t i = 0; i < ruled.size(); ++i)
      if ((*inferred.shape)[i] || (!may_be_open && !(resizes && ruled[i] == 0)))
        CHECK((*inferred.shape)[i] == ruled[i]);
    ++tally.cases;
    return;
  }
  const bool is_last = c.call().has_channels_last();
  const std::size_t first = is_last ? 1 : 2, maps = is_last ? ruled.size() - 1 : 1;
  CHECK((*inferred.shape)[0] == ruled[0]);
  CHECK((*inferred.shape)[maps] == ruled[maps]);
  const std::vector<Situation> axes = situations(c);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Defect* const defect = defect_at(axes[i]);
    CHECK((*inferred.shape)[first + i] == (defect ? as_inferred(axes[i]) : ruled[first + i]));
    ++(defect ? tally.seen[static_cast<std::size_t>(defect - defects().data())] : tally.axes_as_ruled);
  }
  ++tally.cases;
}

// Of a model with symbolic shapes inference may know less, and never anything else.
void compare_symbolic(const Case& c, const Shape& ruled) {
  Case symbolic = c;
  symbolic.declared = DeclaredShapes::symbolic;
  const Inferred inferred = infer(model_of(symbolic));
  INFO("ONNX infers " << printed(inferred) << " from symbolic shapes, ruled " << text(ruled));
  if (has_no_body(c)) return;
  CHECK(inferred.error.empty());
  if (!inferred.error.empty()) return;
  if (!inferred.shape) return;
  REQUIRE(inferred.shape->size() == ruled.size());
  for (std::size_t i = 0; i < ruled.size(); ++i)
    if ((*inferred.shape)[i]) CHECK((*inferred.shape)[i] == ruled[i]);
}

Shape oracle_shape(const Call& call, const Readings& readings = {}) {
  return oracles::oracle_of(call.definition().version).shape(call, readings).value();
}

// f(definition, type, index) for every operator version, type and index.
template <class F>
void for_each_case(std::uint64_t count, F&& f) {
  for (const Operator* op : operators())
    for (const Definition& definition : op->versions())
      for (const DType type : definition.types_of(definition.data().type))
        for (std::uint64_t index = 0; index < count; ++index) f(definition, type, index);
}

TEST_CASE("Inference: on legal cases definition, oracle and ONNX agree on the shape, but for A8 and A24",
          "[inference]") {
  Tally tally;
  for_each_case(draws(), [&](const Definition& definition, DType type, std::uint64_t index) {
    const Case c = generators::legal(definition, type, seed, index);
    INFO(line(c));
    const Shape ruled = definition.shape(c.call());
    CHECK(oracle_shape(c.call()) == ruled);
    if (lists_axes_out_of_order(c) || has_short_axes(c) || has_a_scale_of_its_own(c) || has_scalar_indices(c) ||
        definition.ruling("M54") || adds_output_padding(c) || has_a_value_that_is_no_list(c) || requests_less(c) ||
        is_of_no_element(c) || has_more_than_its_rule_uses(c) || is_no_list_of_strings(c) || leaves_side_out(c) ||
        (has_an_ellipsis(c) && has_empty_operands(c)))
      return;  // of a deprecated version it infers nothing
    compare(c, ruled, tally);
    // Of sizes that are no constant it counts none, and fails.
    if (index % 8 == 0 && !has_an_ellipsis(c) && !(definition.version.name == "Resize" && c.call().states("sizes")))
      compare_symbolic(c, ruled);
  });
  for (std::size_t i = 0; i < defects().size(); ++i) {
    INFO(defects()[i].ruling << ", " << defects()[i].what);
    // Without a window a case is not legal, so the other defects are met by the next test.
    const bool is_seen = tally.seen[i] > 0;
    if (is_seen || one_in() == 1) CHECK(is_seen == defects()[i].meets_legal_cases);
  }
  WARN("legal cases: " << printed(tally));
}

TEST_CASE("Inference: where no window fits, ONNX declares phantom windows or negative extents (A6, A31)",
          "[inference]") {
  Tally tally;
  for_each_case(draws() / 2, [&](const Definition& definition, DType type, std::uint64_t index) {
    if (!definition.constraint("W8")) return;
    const std::optional<Case> c = generators::near_miss(definition, type, "W8", seed, index);
    if (!c) return;
    INFO(line(*c));
    const Shape ruled = at_least_zero(definition.shape(c->call()));
    CHECK(oracle_shape(c->call(), Readings().with("A6", "zero-size")) == ruled);
    compare(*c, ruled, tally);
  });
  for (std::size_t i = 0; i < defects().size(); ++i) {
    INFO(defects()[i].ruling << ", " << defects()[i].what);
    if (!defects()[i].meets_legal_cases && one_in() == 1) CHECK(tally.seen[i] > 0);
  }
  WARN("cases without a window: " << printed(tally));
}

TEST_CASE("Inference: of auto_pad and pads together ONNX follows pads, and lets the model pass (A4)", "[inference]") {
  const Readings pads_win = Readings().with("A4", "pads-win");
  Int seen = 0;
  for_each_case(draws() / 4, [&](const Definition& definition, DType type, std::uint64_t index) {
    if (!definition.constraint("W2") || !definition.constraint("W8")) return;  // of ConvTranspose it refuses both
    std::optional<Case> c = generators::near_miss(definition, type, "W2", seed, index);
    if (!c) return;
    INFO(line(*c));
    if (!definition.violated(c->call(), pads_win).empty()) return;
    Case without = *c;  // what it reads as, a case of its own
    without.node.attributes.erase("auto_pad");
    if (!definition.violated(without.call()).empty()) return;
    CHECK(oracle_shape(c->call(), pads_win) == definition.shape(without.call()));
    c->declared = without.declared = DeclaredShapes::fixed;
    const Inferred both = infer(model_of(*c)), alone = infer(model_of(without));
    CHECK(both.error.empty());
    CHECK(both.shape == alone.shape);
    ++seen;
  });
  CHECK(seen > 0);
  WARN(seen << " cases with auto_pad and pads are inferred as with pads alone");
}

}  // namespace
}  // namespace assay
