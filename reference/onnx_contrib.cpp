// SPDX-License-Identifier: Apache-2.0
// The operators of com.microsoft as onnxruntime registers them.
//
// The inference of NhwcConv moves X to N x C x I…, runs ONNX's rule for convolutions and moves the result back; W is
// taken as M x C/group x k… there, although kernels execute M x k… x C/group. Without kernel_shape the extents it
// infers for those are wrong (A24). A product of matrices is inferred as MatMul's, of operands whose axes have been
// moved, and a pool as ONNX's, its channels where the operator has them.
#include "reference/onnx_contrib.h"

#include <onnx/defs/schema.h>
#include <onnx/defs/shape_inference.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace assay {
namespace {

using onnx::AttributeProto;
using onnx::InferenceContext;
using onnx::OpSchema;
using Extents = std::vector<std::int64_t>;

// A list attribute of `length` entries, each at least `least`.
Extents list(InferenceContext& context, const char* name, std::size_t length, std::int64_t least,
             std::int64_t default_value) {
  Extents values;
  if (!onnx::getRepeatedAttribute(context, name, values) || values.empty()) return Extents(length, default_value);
  if (values.size() != length) fail_shape_inference("Attribute ", name, " has incorrect size");
  for (const std::int64_t value : values)
    if (value < least) fail_shape_inference("Attribute ", name, " has an entry that is too small");
  return values;
}

// kernel_shape, or the last extents of W; none where one of those is not known.
std::optional<Extents> kernel_of(InferenceContext& context, std::size_t axes) {
  Extents kernel;
  if (onnx::getRepeatedAttribute(context, "kernel_shape", kernel) && !kernel.empty()) {
    if (kernel.size() != axes) fail_shape_inference("Attribute kernel_shape has incorrect size");
    return kernel;
  }
  const onnx::TensorShapeProto& w = onnx::getInputShape(context, 1);
  if (w.dim_size() != static_cast<int>(axes) + 2) fail_shape_inference("W is not of the rank of X");
  for (int axis = 2; axis < w.dim_size(); ++axis) {
    if (!w.dim(axis).has_dim_value()) return std::nullopt;
    kernel.push_back(w.dim(axis).dim_value());
  }
  return kernel;
}

struct Sliding {
  Extents kernel, strides, dilations, pads;
  bool is_same = false, is_lower = false, rounds_up = false;

  // The division rounds towards zero, as ONNX's does (A6); a window that starts behind X and its padding is dropped
  // (A8).
  std::int64_t windows(std::size_t axis, std::int64_t in) const {
    const std::int64_t stride = strides[axis], span = (kernel[axis] - 1) * dilations[axis] + 1;
    std::int64_t begin = pads[axis], padding = begin + pads[axis + kernel.size()];
    if (is_same) padding = std::max<std::int64_t>(0, span - (in % stride == 0 ? stride : in % stride));
    if (is_same) begin = (padding + (is_lower ? 1 : 0)) / 2;
    const std::int64_t room = in + padding - span, last = (room + stride - 1) / stride;
    if (!rounds_up) return room / stride + 1;
    return last * stride >= in + begin ? last : last + 1;
  }
};

// Where pads are stated they win over auto_pad (A4).
Sliding sliding(InferenceContext& context, Extents kernel) {
  const std::size_t axes = kernel.size();
  const std::string auto_pad = onnx::getAttribute(context, "auto_pad", "NOTSET");
  const bool states_pads = context.getAttribute("pads") != nullptr;
  return {.kernel = std::move(kernel),
          .strides = list(context, "strides", axes, 1, 1),
          .dilations = list(context, "dilations", axes, 1, 1),
          .pads = list(context, "pads", 2 * axes, 0, 0),
          .is_same = !states_pads && auto_pad.starts_with("SAME_"),
          .is_lower = auto_pad == "SAME_LOWER",
          .rounds_up = onnx::getAttribute(context, "ceil_mode", 0) != 0};
}

void infer_nhwc_conv(InferenceContext& context) {
  onnx::propagateElemTypeFromInputToOutput(context, 0, 0);
  if (!onnx::hasNInputShapes(context, 2)) return;
  const onnx::TensorShapeProto &x = onnx::getInputShape(context, 0), &w = onnx::getInputShape(context, 1);
  if (x.dim_size() < 3 || w.dim_size() < 1) fail_shape_inference("X has no spatial axis, or W has no maps");
  const auto axes = static_cast<std::size_t>(x.dim_size()) - 2;
  onnx::TensorShapeProto& y = *context.getOutputType(0)->mutable_tensor_type()->mutable_shape();
  *y.add_dim() = x.dim(0);
  for (std::size_t axis = 0; axis < axes; ++axis) y.add_dim();
  *y.add_dim() = w.dim(0);
  const std::optional<Extents> kernel = kernel_of(context, axes);
  if (!kernel) return;
  const Sliding how = sliding(context, *kernel);
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const int at = static_cast<int>(axis) + 1;
    if (x.dim(at).has_dim_value()) y.mutable_dim(at)->set_dim_value(how.windows(axis, x.dim(at).dim_value()));
  }
}

OpSchema contrib(const char* name) { return OpSchema().SetName(name).SetDomain("com.microsoft").SinceVersion(1); }

// Returns the schema of an operator with the attributes, inputs and output of Conv.
OpSchema conv(const char* name) {
  constexpr bool optional = false;
  return contrib(name)
      .Attr("auto_pad", "", AttributeProto::STRING, std::string("NOTSET"))
      .Attr("kernel_shape", "", AttributeProto::INTS, optional)
      .Attr("dilations", "", AttributeProto::INTS, optional)
      .Attr("strides", "", AttributeProto::INTS, optional)
      .Attr("pads", "", AttributeProto::INTS, optional)
      .Attr("group", "", AttributeProto::INT, static_cast<std::int64_t>(1))
      .Input(0, "X", "", "T")
      .Input(1, "W", "", "T")
      .Input(2, "B", "", "T", OpSchema::Optional)
      .Output(0, "Y", "", "T")
      .TypeConstraint("T", {"tensor(float16)", "tensor(float)", "tensor(double)"}, "");
}

OpSchema fused_conv() {
  constexpr bool optional = false;
  return conv("FusedConv")
      .Attr("activation", "", AttributeProto::STRING, optional)
      .Attr("activation_params", "", AttributeProto::FLOATS, optional)
      .Input(3, "Z", "", "T", OpSchema::Optional)
      .TypeAndShapeInferenceFunction([](InferenceContext& context) {
        onnx::propagateElemTypeFromInputToOutput(context, 0, 0);
        onnx::convPoolShapeInference(context, true, false, 0, 1);
      });
}

OpSchema nhwc_conv() { return conv("NhwcConv").TypeAndShapeInferenceFunction(infer_nhwc_conv); }

// Infers a pool, over the plane where it has no kernel_shape; the channels of X stand second or last.
void infer_pool(InferenceContext& context, bool is_channel_last) {
  onnx::propagateElemTypeFromInputToOutput(context, 0, 0);
  if (!onnx::hasInputShape(context, 0)) return;
  const onnx::TensorShapeProto& x = onnx::getInputShape(context, 0);
  if (x.dim_size() < 3) fail_shape_inference("X has no spatial axis");
  const auto axes = static_cast<std::size_t>(x.dim_size()) - 2;
  const bool is_global = context.getAttribute("kernel_shape") == nullptr;
  Extents kernel;
  onnx::getRepeatedAttribute(context, "kernel_shape", kernel);
  if (!is_global && kernel.size() != axes) fail_shape_inference("Attribute kernel_shape has incorrect size");
  const Sliding how = sliding(context, std::move(kernel));
  onnx::TensorShapeProto& y = *context.getOutputType(0)->mutable_tensor_type()->mutable_shape();
  y = x;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const int at = static_cast<int>(axis) + (is_channel_last ? 1 : 2);
    y.mutable_dim(at)->Clear();
    if (is_global)
      y.mutable_dim(at)->set_dim_value(1);
    else if (x.dim(at).has_dim_value())
      y.mutable_dim(at)->set_dim_value(how.windows(axis, x.dim(at).dim_value()));
  }
}
void infer_pool_as_said(InferenceContext& context) {
  infer_pool(context, onnx::getAttribute(context, "channels_last", 0) != 0);
}

// The attributes of a pool's windows.
OpSchema pool(const char* name) {
  constexpr bool optional = false, required = true;
  return contrib(name)
      .Attr("auto_pad", "", AttributeProto::STRING, std::string("NOTSET"))
      .Attr("ceil_mode", "", AttributeProto::INT, static_cast<std::int64_t>(0))
      .Attr("kernel_shape", "", AttributeProto::INTS, required)
      .Attr("strides", "", AttributeProto::INTS, optional)
      .Attr("pads", "", AttributeProto::INTS, optional);
}

OpSchema nhwc_max_pool() {
  constexpr bool optional = false;
  return pool("NhwcMaxPool")
      .Attr("dilations", "", AttributeProto::INTS, optional)
      .Input(0, "X", "", "T")
      .Output(0, "Y", "", "T")
      .TypeConstraint("T", {"tensor(int8)", "tensor(uint8)"}, "")
      .TypeAndShapeInferenceFunction([](InferenceContext& context) { infer_pool(context, true); });
}

// A mean of integers, whose zero points may be left out or not.
OpSchema of_quantized(OpSchema schema, OpSchema::FormalParameterOption zero_points) {
  return schema.Attr("channels_last", "", AttributeProto::INT, static_cast<std::int64_t>(0))
      .Input(0, "X", "", "T")
      .Input(1, "x_scale", "", "tensor(float)")
      .Input(2, "x_zero_point", "", "T", zero_points)
      .Input(3, "y_scale", "", "tensor(float)")
      .Input(4, "y_zero_point", "", "T", zero_points)
      .Output(0, "Y", "", "T")
      .TypeConstraint("T", {"tensor(int8)", "tensor(uint8)"}, "")
      .TypeAndShapeInferenceFunction(infer_pool_as_said);
}

OpSchema qlinear_average_pool() {
  return of_quantized(
      pool("QLinearAveragePool").Attr("count_include_pad", "", AttributeProto::INT, static_cast<std::int64_t>(0)),
      OpSchema::Optional);
}
OpSchema qlinear_global_average_pool() { return of_quantized(contrib("QLinearGlobalAveragePool"), OpSchema::Single); }

using Axes = onnx::TensorShapeProto;

// An operand of a product as it is multiplied: its first axis moved before the last, its last two exchanged.
Axes moved(const Axes& from, bool moves_first, bool exchanges_last) {
  std::vector<Axes::Dimension> axes(from.dim().begin(), from.dim().end());
  if (moves_first && axes.size() > 2) std::rotate(axes.begin(), axes.begin() + 1, axes.end() - 1);
  if (exchanges_last && axes.size() > 1) std::iter_swap(axes.end() - 1, axes.end() - 2);
  Axes to;
  for (const Axes::Dimension& axis : axes) *to.add_dim() = axis;
  return to;
}

Axes without_last_two(const Axes& from) {
  Axes to;
  for (int axis = 0; axis + 2 < from.dim_size(); ++axis) *to.add_dim() = from.dim(axis);
  return to;
}

// Infers the shape of MatMul's product of two inputs; a vector is one row of the first or one column of the second.
void infer_product(InferenceContext& context, std::size_t a, std::size_t b) {
  if (!onnx::hasInputShape(context, a) || !onnx::hasInputShape(context, b)) return;
  const auto says = [&](const char* flag) { return onnx::getAttribute(context, flag, 0) != 0; };
  const Axes left = moved(onnx::getInputShape(context, a), says("transBatchA"), says("transA"));
  const Axes right = moved(onnx::getInputShape(context, b), says("transBatchB"), says("transB"));
  if (left.dim_size() == 0 || right.dim_size() == 0) fail_shape_inference("A scalar cannot be multiplied so");
  const int left_end = left.dim_size() - 1, right_end = right.dim_size() - 1;
  const Axes::Dimension &of_a = left.dim(left_end), &of_b = right.dim(std::max(0, right_end - 1));
  if (of_a.has_dim_value() && of_b.has_dim_value() && of_a.dim_value() != of_b.dim_value())
    fail_shape_inference("The columns of A are not as many as the rows of B");
  Axes& y = *context.getOutputType(0)->mutable_tensor_type()->mutable_shape();
  onnx::bidirectionalBroadcastShapeInference(without_last_two(left), without_last_two(right), y);
  if (left_end > 0) *y.add_dim() = left.dim(left_end - 1);
  if (right_end > 0) *y.add_dim() = right.dim(right_end);
}

// Infers a product of a type of its own, or of that of another input.
auto product_in(std::size_t a, std::size_t b, int type) {
  return [=](InferenceContext& context) {
    context.getOutputType(0)->mutable_tensor_type()->set_elem_type(type);
    infer_product(context, a, b);
  };
}
auto product_as(std::size_t a, std::size_t b, std::size_t typed) {
  return [=](InferenceContext& context) {
    onnx::propagateElemTypeFromInputToOutput(context, typed, 0);
    infer_product(context, a, b);
  };
}

const std::vector<std::string> bytes{"tensor(int8)", "tensor(uint8)"}, single{"tensor(float)"};

OpSchema matmul_integer16() {
  return contrib("MatMulInteger16")
      .Input(0, "A", "", "T1")
      .Input(1, "B", "", "T2")
      .Output(0, "Y", "", "T3")
      .TypeConstraint("T1", {"tensor(int16)"}, "")
      .TypeConstraint("T2", {"tensor(int16)"}, "")
      .TypeConstraint("T3", {"tensor(int32)"}, "")
      .TypeAndShapeInferenceFunction(product_in(0, 1, onnx::TensorProto::INT32));
}

OpSchema matmul_integer_to_float() {
  return contrib("MatMulIntegerToFloat")
      .Input(0, "A", "", "T1")
      .Input(1, "B", "", "T2")
      .Input(2, "a_scale", "", "T3")
      .Input(3, "b_scale", "", "T3")
      .Input(4, "a_zero_point", "", "T1", OpSchema::Optional)
      .Input(5, "b_zero_point", "", "T2", OpSchema::Optional)
      .Input(6, "bias", "", "T3", OpSchema::Optional)
      .Output(0, "Y", "", "T3")
      .TypeConstraint("T1", bytes, "")
      .TypeConstraint("T2", bytes, "")
      .TypeConstraint("T3", {"tensor(float16)", "tensor(float)"}, "")
      .TypeAndShapeInferenceFunction(product_as(0, 1, 2));
}

OpSchema dynamic_quantize_matmul() {
  return contrib("DynamicQuantizeMatMul")
      .Input(0, "A", "", "T1")
      .Input(1, "B", "", "T2")
      .Input(2, "b_scale", "", "T1")
      .Input(3, "b_zero_point", "", "T2", OpSchema::Optional)
      .Input(4, "bias", "", "T1", OpSchema::Optional)
      .Output(0, "Y", "", "T1")
      .TypeConstraint("T1", single, "")
      .TypeConstraint("T2", bytes, "")
      .TypeAndShapeInferenceFunction(product_as(0, 1, 0));
}

// A product of operands that may be transposed, scaled.
OpSchema scaled(const char* name) {
  return contrib(name)
      .Attr("alpha", "", AttributeProto::FLOAT, 1.0F)
      .Attr("transA", "", AttributeProto::INT, static_cast<std::int64_t>(0))
      .Attr("transB", "", AttributeProto::INT, static_cast<std::int64_t>(0));
}

OpSchema qgemm() {
  return scaled("QGemm")
      .Input(0, "A", "", "TA")
      .Input(1, "a_scale", "", "T")
      .Input(2, "a_zero_point", "", "TA")
      .Input(3, "B", "", "TB")
      .Input(4, "b_scale", "", "T")
      .Input(5, "b_zero_point", "", "TB")
      .Input(6, "C", "", "TC", OpSchema::Optional)
      .Input(7, "y_scale", "", "T", OpSchema::Optional)
      .Input(8, "y_zero_point", "", "TYZ", OpSchema::Optional)
      .Output(0, "Y", "", "TY")
      .TypeConstraint("T", single, "")
      .TypeConstraint("TA", bytes, "")
      .TypeConstraint("TB", bytes, "")
      .TypeConstraint("TC", {"tensor(int32)"}, "")
      .TypeConstraint("TYZ", bytes, "")
      .TypeConstraint("TY", {"tensor(float)", "tensor(int8)", "tensor(uint8)"}, "")
      .TypeAndShapeInferenceFunction([](InferenceContext& context) {
        const bool is_requantized = context.getNumInputs() > 8 && context.getInputType(8) != nullptr;
        if (is_requantized)
          onnx::propagateElemTypeFromInputToOutput(context, 8, 0);
        else
          context.getOutputType(0)->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
        infer_product(context, 0, 3);
      });
}

OpSchema scaled_matmul(const char* name) {
  return scaled(name)
      .Input(0, "A", "", "T")
      .Input(1, "B", "", "T")
      .Output(0, "Y", "", "T")
      .TypeConstraint("T", {"tensor(bfloat16)", "tensor(float16)", "tensor(float)", "tensor(double)"}, "")
      .TypeAndShapeInferenceFunction(product_as(0, 1, 0));
}
OpSchema fused_matmul() {
  return scaled_matmul("FusedMatMul")
      .Attr("transBatchA", "", AttributeProto::INT, static_cast<std::int64_t>(0))
      .Attr("transBatchB", "", AttributeProto::INT, static_cast<std::int64_t>(0));
}

OpSchema matmul_nbits() {
  constexpr bool required = true;
  const std::vector<std::string> floats{"tensor(float)", "tensor(float16)", "tensor(bfloat16)"};
  return contrib("MatMulNBits")
      .Attr("K", "", AttributeProto::INT, required)
      .Attr("N", "", AttributeProto::INT, required)
      .Attr("block_size", "", AttributeProto::INT, required)
      .Attr("bits", "", AttributeProto::INT, static_cast<std::int64_t>(4))
      .Attr("accuracy_level", "", AttributeProto::INT, static_cast<std::int64_t>(0))
      .Attr("weight_prepacked", "", AttributeProto::INT, static_cast<std::int64_t>(0))
      .Input(0, "A", "", "T1")
      .Input(1, "B", "", "T2")
      .Input(2, "scales", "", "T1")
      .Input(3, "zero_points", "", "T3", OpSchema::Optional)
      .Input(4, "g_idx", "", "T4", OpSchema::Optional)
      .Input(5, "bias", "", "T1", OpSchema::Optional)
      .Output(0, "Y", "", "T1")
      .TypeConstraint("T1", floats, "")
      .TypeConstraint("T2", {"tensor(uint8)"}, "")
      .TypeConstraint("T3", {"tensor(uint8)", "tensor(float16)", "tensor(float)", "tensor(bfloat16)"}, "")
      .TypeConstraint("T4", {"tensor(int32)"}, "")
      .TypeAndShapeInferenceFunction([](InferenceContext& context) {
        onnx::propagateElemTypeFromInputToOutput(context, 0, 0);
        if (!onnx::hasInputShape(context, 0)) return;
        const Axes& a = onnx::getInputShape(context, 0);
        if (a.dim_size() == 0) fail_shape_inference("A has no axis");
        Axes& y = *context.getOutputType(0)->mutable_tensor_type()->mutable_shape();
        for (int axis = 0; axis + 1 < a.dim_size(); ++axis) *y.add_dim() = a.dim(axis);
        y.add_dim()->set_dim_value(onnx::getAttribute(context, "N", 0));
      });
}

OpSchema of_two_quantized(const char* name) {
  return contrib(name)
      .Input(0, "A", "", "T")
      .Input(1, "A_scale", "", "tensor(float)")
      .Input(2, "A_zero_point", "", "T", OpSchema::Optional)
      .Input(3, "B", "", "T")
      .Input(4, "B_scale", "", "tensor(float)")
      .Input(5, "B_zero_point", "", "T", OpSchema::Optional)
      .Input(6, "C_scale", "", "tensor(float)")
      .Input(7, "C_zero_point", "", "T", OpSchema::Optional)
      .Output(0, "C", "", "T")
      .TypeConstraint("T", bytes, "")
      .TypeAndShapeInferenceFunction([](InferenceContext& context) {
        onnx::propagateElemTypeFromInputToOutput(context, 0, 0);
        if (onnx::hasInputShape(context, 0) && onnx::hasInputShape(context, 3))
          onnx::bidirectionalBroadcastShapeInference(onnx::getInputShape(context, 0), onnx::getInputShape(context, 3),
                                                     *context.getOutputType(0)->mutable_tensor_type()->mutable_shape());
      });
}

}  // namespace

void register_contrib_schemas() {
  static const bool registered = [] {
    onnx::OpSchemaRegistry::DomainToVersionRange::Instance().AddDomainToVersion("com.microsoft", 1, 1);
    for (const OpSchema& schema :
         {nhwc_conv(), matmul_integer16(), matmul_integer_to_float(), dynamic_quantize_matmul(), qgemm(),
          fused_matmul(), scaled_matmul("TransposeMatMul"), matmul_nbits(), of_two_quantized("QLinearAdd"),
          of_two_quantized("QLinearMul"), fused_conv(), nhwc_max_pool(), qlinear_average_pool(),
          qlinear_global_average_pool()})
      onnx::RegisterSchema(schema);
    return true;
  }();
  (void)registered;
}

}  // namespace assay
