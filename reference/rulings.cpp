// SPDX-License-Identifier: Apache-2.0
#include "reference/rulings.h"

#include "reference/result.h"

#include <algorithm>

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
       "The text is silent: NaN spreads, as in onnx.reference and onnxruntime. Or the number wins, or either operand "
       "of "
       "a comparison that fails (onnx #6003), the same in the whole output.",
       {"nan", "number", "second", "first"},
       nonfinite},
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
      {"M4",
       "[1] where one element is asked for, and a scalar where a list of one is",
       "What the text names is legal; the other is another reading (onnx #2212).",
       {"strict", "scalar-lenient"}},
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
      {"E35",
       "BitShift by the width of the type or more",
       "Text 11 is silent, 28 says that no bit is left: 0. Processors take the shift modulo 32, or the width.",
       {"zero", "modulo", "modulo-32"}},
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
      {"E40", "ThresholdedRelu of NaN", "'0 otherwise': NaN is not greater than alpha.", {"zero", "nan"}, nonfinite},
      {"E41",
       "NaN in a clamp: HardSigmoid, Celu",
       "NaN spreads; by other maxima and minima it is swallowed by either clamp.",
       {"nan", "one", "zero"},
       nonfinite},
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
      {"E54",
       "Celu-12 of a scalar",
       "The output has the shape of X; the body, where alpha is a list of one, makes a list of one of it.",
       {"shape-of-X", "body"}},
  };
  return all;
}

}  // namespace

std::span<const Ruling> rulings() { return table(); }

const Ruling* find_ruling(std::string_view id) {
  const auto found = std::ranges::find(table(), id, &Ruling::id);
  return found == table().end() ? nullptr : &*found;
}

std::string_view Readings::of(std::string_view id) const {
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
