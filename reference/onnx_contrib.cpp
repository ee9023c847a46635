// SPDX-License-Identifier: Apache-2.0
// com.microsoft NhwcConv 1 as onnxruntime registers it: the attributes and inputs of Conv, X and Y with the channels
// last. Its inference moves X to N x C x I…, runs ONNX's rule for convolutions and moves the result back; W is taken as
// M x C/group x k… there, although kernels execute M x k… x C/group. Without kernel_shape the extents it infers for
// those are wrong (A24).
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
  bool is_same = false;

  // The division rounds towards zero, as ONNX's does (A6).
  std::int64_t windows(std::size_t axis, std::int64_t in) const {
    const std::int64_t stride = strides[axis], span = (kernel[axis] - 1) * dilations[axis] + 1;
    std::int64_t padding = pads[axis] + pads[axis + kernel.size()];
    if (is_same) padding = std::max<std::int64_t>(0, span - (in % stride == 0 ? stride : in % stride));
    return (in + padding - span) / stride + 1;
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
          .is_same = !states_pads && auto_pad.starts_with("SAME_")};
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

OpSchema nhwc_conv() {
  constexpr bool optional = false;
  return OpSchema()
      .SetName("NhwcConv")
      .SetDomain("com.microsoft")
      .SinceVersion(1)
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
      .TypeConstraint("T", {"tensor(float16)", "tensor(float)", "tensor(double)"}, "")
      .TypeAndShapeInferenceFunction(infer_nhwc_conv);
}

}  // namespace

void register_contrib_schemas() {
  static const bool registered = [] {
    onnx::OpSchemaRegistry::DomainToVersionRange::Instance().AddDomainToVersion("com.microsoft", 1, 1);
    onnx::RegisterSchema(nhwc_conv());
    return true;
  }();
  (void)registered;
}

}  // namespace assay
