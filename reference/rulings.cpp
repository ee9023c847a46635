// SPDX-License-Identifier: Apache-2.0
#include "reference/rulings.h"

#include "reference/result.h"
#include "reference/sequence.h"

#include <unordered_map>
#include <utility>

namespace assay {
namespace {

const std::vector<Ruling>& table() {
  using enum Ruling::Kind;
  static const std::vector<Ruling> all{
      {"A1",
       "SAME_* with stride > 1 in the oldest texts",
       "Conv-1 and the auto_pad text of AveragePool-1/7/10 pad so that the output 'matches the input'; the summaries "
       "of "
       "the same pages and every implementation say ceil(in / stride) (onnx #3153, clarified by #3188).",
       {"ceil", "match-input"}},
      {"A2",
       "SAME_* with dilation > 1",
       "Padding is computed from the dilated kernel (onnx #2043); AveragePool states it, Conv is silent.",
       {}},
      {"A3",
       "SAME_* where the effective kernel is smaller than the stride",
       "The total padding (out - 1) * stride + kernel - in is negative; it is clamped at 0, as ONNX's inference does "
       "(onnx #2023).",
       {"clamp0", "signed-trunc", "signed-floor"}},
      {"A4",
       "auto_pad and pads both present",
       "'Cannot be used simultaneously' is read as: such a model is invalid (onnx #1988, #3259).",
       {"reject", "auto-wins", "pads-win"}},
      {"A5", "an auto_pad that is none of the four words", "'Must be one of': such a model is invalid.", {}},
      {"A6",
       "no window fits: an output extent of 0 or less",
       "Division rounds towards minus infinity everywhere, and a model without a window is invalid; there is never a "
       "phantom window in floor mode.",
       {"reject", "zero-size"}},
      {"A7",
       "VALID with ceil_mode = 1",
       "ceil_mode is honoured: ceil((in - kernel) / stride) + 1 (onnx #5248). The printed formula "
       "ceil((in - kernel + 1) / stride) is floor-mode arithmetic.",
       {"ceil", "text-floor"}},
      {"A8",
       "windows of ceil_mode that start in the end padding",
       "The last window is dropped when it would start at or beyond the first cell of the end padding, one at most, in "
       "every version (onnx #5741; only AveragePool-22 has it in the text).",
       {"drop-one", "keep", "drop-all"}},
      {"A9",
       "the average of a window without any input cell",
       "0 divided by 0 elements: NaN and 0 are both accepted (onnx #1922).",
       {"nan-or-zero", "nan", "zero"},
       set},
      {"A10",
       "the floor formulas of AveragePool-11",
       "floor(in / stride) for SAME_* and floor((in - kernel + 1) / stride) for VALID contradict the auto_pad text of "
       "the same page and are corrected in 19; read as 19 (onnx #5250).",
       {"ceil", "literal-floor"}},
      {"A11", "AveragePool-11 mentions dilations", "The attribute exists from 19; before, dilation is 1.", {}},
      {"A12",
       "direction, padding value and VALID",
       "Cross-correlation, padding contributes no term (integers: the zero point), VALID is no padding (onnx #3254).",
       {}},
      {"A13", "the shape of the bias", "One-dimensional, of length dim(W,0).", {"strict-M", "allow-1"}},
      {"A14",
       "an infinite or NaN weight over padding",
       "'0 times w' (NaN) and an absent term are both accepted.",
       {"either", "multiply", "skip"},
       set},
      {"A15", "pads as large as the kernel or larger", "'Any value >= 0': valid.", {}},
      {"A16",
       "QLinearConv: rounding and adding the zero point",
       "The text gives no formula; QuantizeLinear and DynamicQuantizeLinear round, then add (onnxruntime #25045).",
       {"round-then-add", "add-then-round"}},
      {"A17",
       "QLinearConv: an accumulator beyond 32 bits",
       "The sum is a number, not an int32; wrapping and saturating are recognised.",
       {"exact", "wrap32", "saturate32"},
       overflow},
      {"A18",
       "the shapes of a scale and its zero point",
       "Scalars and one-element vectors mean the same, and a per-channel scale may meet a scalar zero point.",
       {}},
      {"A19",
       "DeformConv: the channels of the mask in n-D",
       "offset_group * prod(kernel): the factor n of the n-D text contradicts the 2-D text (onnx #7337).",
       {}},
      {"A20",
       "DeformConv: a sample within one cell outside the input",
       "Neighbours outside the input are zero and blend with those inside; zero outside the padded tensor is the "
       "letter.",
       {"blend", "hard-zero"}},
      {"A21",
       "DeformConv: an infinity next to a sample",
       "A neighbour outside the input contributes exactly 0. One inside with weight 0 may be skipped or give NaN.",
       {"either", "multiply", "skip"},
       set},
      {"A22", "DeformConv: kernel_shape unlike W, offset of another extent", "Such a model is invalid.", {}},
      {"A23",
       "DeformConv: offsets in a narrow type",
       "They are exact inputs; coordinates are exact in the oracle and budgeted for the backend's arithmetic.",
       {}},
      {"A24",
       "NhwcConv: the layout of W",
       "M x k… x C/group, which every kernel executes; the schema's inference reads M x C/group x k….",
       {"OHWI", "OIHW"}},
      {"A25", "NhwcConv: 'N x C x H x W'", "A copy of Conv's text; X and Y are channels-last.", {}},
      {"A26",
       "accumulation type, order and intermediate rounding",
       "The text promises no accuracy; levels state what was met (oracles/README.md).",
       {}},
      {"A27",
       "AveragePool: sum then divide, or divide then sum",
       "Both are inside the bound; infinity is excused only where the sum overflows in the declared accumulator.",
       {}},
      {"A28", "NaN in the input of AveragePool", "Propagates.", {}},
      {"A29", "the sign of zero", "Recorded, never judged.", {}},
      {"A30", "the divisor of AveragePool with dilation", "Taps are counted, not the cells they span.", {}},
      {"A31", "SAME_* over an empty axis", "ceil(0 / stride) = 0 windows.", {}},
      {"A32", "'FILTER_IN_CHANNEL equals DATA_CHANNEL' with group > 1", "dim(X,1) = dim(W,1) * group.", {}},
      {"E1", "payload, sign and quieting of NaN in a copy", "NaN is NaN; which bits it has is recorded.", {}},
      {"E2", "subnormals in copies and selections", "Preserved; flushed is below the level, not wrong.", {}},
      {"E3",
       "Max and Min of NaN",
       "The text is silent: NaN spreads, as in onnx.reference and onnxruntime. Or the number wins, or either "
       "operand of a comparison that fails (onnx #6003), the same in the whole output.",
       {"nan", "number", "second", "first"},
       nonfinite},
      {"E4",
       "NaN in Clip",
       "The text is silent: NaN stays NaN, as in onnx.reference and onnxruntime, or becomes what comparisons that fail "
       "leave, a number or the upper bound (onnx #6003), the same in the whole output. A bound that is NaN makes NaN, "
       "or is ignored.",
       {"nan", "number", "maximum"},
       nonfinite},
      {"E5",
       "Clip of an infinity without a bound",
       "A bound that is absent is the last number of the type, says the text, or no bound, as the body of 13 has it.",
       {"either", "stays", "last-number"},
       set | nonfinite},
      {"E6",
       "Clip where min is larger than max, before 13",
       "The output is max, as text 13 says, or min where the lower bound comes last; or there is no such range.",
       {"max", "min", "refuse"}},
      {"E7",
       "the default bounds of Clip in float64",
       "'numeric_limits' of the type where a bound is left out, the attribute where it is stated; or the largest "
       "float32 either way, or no bound either way, which a loader cannot tell apart.",
       {"as-stated", "float-limits", "type-limits"}},
      {"E8",
       "bounds of Clip with one element that are no scalars",
       "'A scalar' of 'an empty shape': such a model is invalid; a list of one is taken by some.",
       {"scalar", "one-element"}},
      {"E9",
       "limited broadcasting: an axis that is negative or stated without broadcast = 1",
       "Texts 1 and 6 are silent: a negative axis counts from the end, and without broadcast the axis is ignored.",
       {"from-the-end", "axis-invalid"}},
      {"E10",
       "the shape of slope before opset 7",
       "'If of size 1, shared across channels': one element, or [C] along axis 1; or broadcast as numpy does.",
       {"per-channel", "numpy"}},
      {"E11",
       "PRelu as max(0, x) + slope min(0, x)",
       "The text selects: slope has no say where x is not negative. Added up, an infinite slope gives NaN there.",
       {"select", "blend"},
       nonfinite},
      {"E12",
       "Relu of NaN",
       "max(0, NaN) is NaN, as onnx.reference and onnxruntime have it (tvm #19572, mxnet #11115).",
       {"nan", "zero"},
       nonfinite},
      {"W9",
       "MaxPool: NaN among the taps of a window",
       "The text is silent: NaN and the largest of the others are both accepted; so is the place of either.",
       {"nan-or-maximum", "nan", "maximum"},
       set},
      {"W10",
       "MaxPool: a window of nothing but -inf, of NaN or of no cell",
       "-inf is the largest of -inf; kernels that begin with the lowest number give that. Of NaN alone or of no cell "
       "-inf, the lowest number and NaN are accepted.",
       {"-inf", "lowest"},
       nonfinite},
      {"W11",
       "MaxPool: Indices where several taps are the largest",
       "The first in the order of a scan, under either storage_order, as onnx.reference and onnxruntime have it.",
       {"first", "last", "any"}},
      {"W12",
       "MaxPool: storage_order = 1",
       "'Column major' says how a tuple becomes a number (text of 12): within a plane, planes one after the other.",
       {"plane", "whole-tensor"}},
      {"N1",
       "a negative axis where the text gives no range",
       "It counts from the end, as later texts say and all backends have it.",
       {"from-end", "refuse"}},
      {"N25",
       "Softmax of a line with NaN or +inf",
       "exp(x) / sum: of +inf NaN where it stands, elsewhere NaN or 0, since the sum is infinite; a NaN makes every "
       "element NaN, or by another reading its own alone and the others 0.",
       {"nan", "skip"},
       nonfinite},
      {"N26",
       "Softmax of a line of nothing but -inf",
       "0 / 0: NaN, as the formula has it; 0 is accepted, as masked lines of attention have it.",
       {"nan-or-zero", "nan", "zero"},
       set | nonfinite},
      {"N32",
       "Softmax of a scalar",
       "No axis is in [-r, r-1] where r = 0: such a model is invalid.",
       {"reject", "one"}},
      {"M1",
       "A negative axis where the text says nothing of one",
       "Texts that admit them say so: such a model is invalid. Most implementations count from the end.",
       {"reject", "wrap-axis"}},
      {"M2",
       "A negative index where the text says nothing of one",
       "Gather of version 1 asks for indices within bounds: such a model is invalid. Implementations count from the "
       "end.",
       {"reject", "wrap-index"}},
      {"M3",
       "Squeeze of a list of no axes",
       "A list that is given names no axis (onnx.reference, tract); onnxruntime and DirectML read it as one that is "
       "left "
       "out (onnxruntime #12649, #13635). Each is as right.",
       {"none", "all"},
       set | chosen_once},
      {"M4",
       "[1] where one element is asked for, and a scalar where a list of one is",
       "What the text names is legal; the other is another reading (onnx #2212).",
       {"strict", "scalar-lenient"}},
      {"M5",
       "Squeeze of an axis that is listed twice",
       "No text forbids it, as those of Unsqueeze do: invalid, or a set of axes.",
       {"reject", "set-of-axes"}},
      {"M7",
       "Slice: a start before the first element, going backward",
       "Text 13 clamps it to the first element, which is taken (onnx #3063, #4115); numpy takes nothing. The texts "
       "before do "
       "not say.",
       {"text", "numpy"}},
      {"M8",
       "Slice: the largest integer as end, going backward",
       "It stands for the last element, as every end beyond it, so nothing is taken (onnx #2433, onnxruntime #11107). "
       "Version 10 recommends it for an end that is unknown, whatever the direction.",
       {"text", "max-is-open"}},
      {"M9",
       "Slice without axes, of fewer axes than data has",
       "The first axes are meant, as the text of version 1 says; that of 10 and later speaks of all axes.",
       {"first-axes", "all-axes"}},
      {"M10",
       "Tile of version 1",
       "tiles and axis are floats of the type of input: scalars and whole numbers, which repeat one axis. No runtime "
       "has it.",
       {}},
      {"M15",
       "GatherElements: indices shorter than data off the axis",
       "The equations need no more than that they are not longer; onnx.reference and OpenVINO refuse them.",
       {"shorter", "equal-off-axis"}},
      {"M29",
       "TopK of no element",
       "'The number of top elements' is positive; every implementation gives empty outputs for k = 0.",
       {"reject", "empty"}},
      {"M30",
       "TopK: NaN in a line",
       "The text orders no NaN (onnx #4716). Nothing is claimed but that every value stands at its index; NaN as the "
       "greatest number is named where it is followed, as onnx.reference has it.",
       {"any-order", "nan-greatest"},
       set | nonfinite},
      {"M53",
       "TopK with sorted = 0",
       "The pairs of value and index are those of sorted = 1, in any order. That of equal ones the lower index is "
       "taken "
       "is said of an order that sorted = 0 gives up: any of those equal to the last is another reading.",
       {"same-pairs", "tie-any"}},
      {"E13",
       "Sign of NaN",
       "None of the three conditions holds: NaN and 0 are both accepted.",
       {"nan-or-zero", "nan", "zero"},
       set | nonfinite},
      {"E15",
       "division of integers by zero",
       "The text is silent, or leaves it to the platform: any value or refusal is admitted, a crash is not.",
       {}},
      {"E16",
       "the lowest integer divided by -1",
       "The quotient does not fit: it wraps to the lowest integer, or saturates.",
       {"wrap", "saturate"},
       overflow},
      {"E17",
       "integer overflow",
       "Two's complement wraps: in int8 127 + 1 is -128, and the magnitude of -128 is -128.",
       {"wrap", "saturate"},
       overflow},
      {"E18",
       "Mod with fmod = 1 on integers in opset 13",
       "Texts 10 and 28, ONNX's own test and every implementation have it; only the text of 13 says it is for floats.",
       {"legal", "float-only"}},
      {"E21",
       "Mod of floats by the formula in the type",
       "The remainder is a number of the type; x - trunc(x / y) y with rounded operations is below the level.",
       {}},
      {"E22",
       "Pow where the types of base and exponent differ, or are integers",
       "The exponent is taken exactly and the power of an integer is exact; or the exponent is rounded to the type of "
       "the base, or the power is computed in float64 and converted.",
       {"exact", "via-double", "exponent-in-type"}},
      {"E23",
       "the fraction of a float that becomes an integer",
       "No text says: it is cut off, as most implementations do (onnx #2285, #5004); or rounded to the nearest.",
       {"truncate", "nearest-even", "nearest-away"}},
      {"E24",
       "a float beyond the range of the integer it becomes",
       "'Undefined': any value or refusal is admitted, a crash is not.",
       {}},
      {"E27",
       "an integer that does not fit, before Cast-13",
       "The upper bits are discarded, as text 13 says, or it saturates.",
       {"wrap", "saturate"},
       overflow},
      {"E28",
       "a number that becomes bool, before Cast-13",
       "Whether it is not 0; '36 may produce 1 because we truncate bits' lets the lowest bit decide.",
       {"nonzero", "low-bit"}},
      {"E29",
       "an infinity that becomes float8 without one, saturating, before version 24",
       "The largest number, as text 24 says; the tables of 19 to 23 say NaN (onnx #6220, #7085, called a correction).",
       {"saturate", "nan"}},
      {"E30", "NaN that becomes a float of 4 or 6 bits", "The format has none: any code is admitted.", {}},
      {"E31",
       "what float8e8m0 cannot hold",
       "The text says what becomes of it under `up`, saturating, and under `nearest`, not saturating; elsewhere the "
       "end "
       "of the range and NaN are both accepted. Of numbers below zero it says nothing.",
       {"end-or-nan", "round-first"},
       set | nonfinite},
      {"E32",
       "a string that becomes a number",
       "Decimal literals, NaN and INF are what they say, rounded once; of any other string the text says nothing. As a "
       "bool it is whether that is not 0, or whether there is any text.",
       {"numeric", "non-empty"}},
      {"E33",
       "a number that becomes a string",
       "'Plain floating-point representation' of no stated length: any decimal literal that rounds to the number; or "
       "the number rounded to eight digits or more. A bool becomes 0 and 1, or False and True.",
       {"number", "digits-8"}},
      {"E35",
       "BitShift by the width of the type or more",
       "Text 11 is silent, 28 says that no bit is left: 0. Processors take the shift modulo 32, or the width.",
       {"zero", "modulo", "modulo-32"}},
      {"E36",
       "BitCast to bool of a byte that is neither 0 nor 1",
       "Only these two are values of bool: of other bytes any value is admitted.",
       {}},
      {"E37",
       "the constant 1/6 of HardSwish",
       "The text says 1/6; a body gives it as a float32, in float64 too, or rounds it to the type.",
       {"sixth", "float32", "rounded"},
       set | chosen_once},
      {"E38",
       "constants in float16 and bfloat16",
       "An attribute is a float32 and taken as it is, or rounded to the type first, as bodies that cast it have it.",
       {"exact", "rounded"},
       set | chosen_once},
      {"E39",
       "Celu with a negative alpha",
       "The formula max(0, x) + min(0, alpha (exp(x / alpha) - 1)) of the text; the body takes alpha Elu(x / alpha).",
       {"prose", "body"}},
      {"E40",
       "ThresholdedRelu and Shrink of NaN",
       "'0 otherwise': NaN is not greater than alpha.",
       {"zero", "nan"},
       nonfinite},
      {"E41",
       "NaN in a clamp: HardSigmoid, Celu",
       "NaN spreads; by other maxima and minima it is swallowed by either clamp.",
       {"nan", "one", "zero"},
       nonfinite},
      {"E42",
       "Shrink of integers with a fractional lambd or bias",
       "The sum is exact and truncated; the body casts both attributes to the type first.",
       {"exact", "cast-attributes"}},
      {"E43", "mask of Dropout in inference, before version 12", "No text says what it holds: nothing is claimed.", {}},
      {"E44",
       "Dropout in training without a ratio, before version 22",
       "Its default is 0.5; 'if not set, output is a simple copy' is as right.",
       {"half", "copy"},
       set | chosen_once},
      {"E47",
       "Erf of integers",
       "The value as an integer is truncated: 0. Read otherwise it is rounded from float32, where it may be 1.",
       {"truncated", "rounded"}},
      {"E48", "consumed_inputs", "A hint of the first opsets; any value is ignored.", {}},
      {"E50",
       "an infinite argument where the formula is inf / inf or inf * 0",
       "NaN, as the formula has it, and the limit are both accepted.",
       {"nan-or-limit", "nan", "limit"},
       set | nonfinite},
      {"E51", "a sigmoid below 0, a sine above 1", "Inside the bound: accuracy, not a breach.", {}},
      {"E52",
       "the constants of Gelu by tanh in float64",
       "0.044715 and the square root of 2/pi are exact; the body takes float32 values of 0.044715 and 2/pi.",
       {"exact", "body-constants"}},
      {"E53",
       "round_mode of CastLike",
       "It is that of Cast, as the text describes it; the body casts without it, and so always up.",
       {"stated", "body"}},
      {"E54",
       "Celu-12 of a scalar",
       "The output has the shape of X; the body, where alpha is a list of one, makes a list of one of it.",
       {"shape-of-X", "body"}},
      {"E55",
       "Pow of -inf to 1/2",
       "+inf, as IEEE 754 has it; computed as a square root it is NaN.",
       {"infinite", "sqrt"},
       nonfinite},
  };
  return all;
}

}  // namespace

std::span<const Ruling> rulings() { return table(); }

const Ruling* find_ruling(std::string_view id) {
  static const auto by_id = [] {
    std::unordered_map<std::string_view, const Ruling*> map;
    for (const Ruling& ruling : table()) map.emplace(ruling.id, &ruling);
    return map;
  }();
  const auto found = by_id.find(id);
  return found == by_id.end() ? nullptr : found->second;
}

static thread_local ReadRulings* watching = nullptr;

ReadRulings::ReadRulings() : outer_(std::exchange(watching, this)) {}
ReadRulings::~ReadRulings() { watching = outer_; }

void Readings::note_read(std::string_view id) {
  for (ReadRulings* each = watching; each; each = each->outer_)
    if (const Ruling* ruling = find_ruling(id)) each->ids_.insert(ruling->id);
}

std::string_view Readings::of(std::string_view id) const {
  note_read(id);
  if (const auto found = departures_.find(id); found != departures_.end()) return found->second;
  const Ruling* ruling = find_ruling(id);
  expects(ruling && !ruling->readings.empty(), "the reading of a ruling that has none");
  return ruling->readings.front();
}

Readings Readings::with(std::string id, std::string reading) const {
  Readings changed = *this;
  changed.departures_[std::move(id)] = std::move(reading);
  return changed;
}

std::string text(const Readings& readings) {
  std::string out;
  for (const auto& [id, reading] : readings.departures()) out += (out.empty() ? "" : " ") + id + "=" + reading;
  return out;
}

}  // namespace assay
