// SPDX-License-Identifier: Apache-2.0
// oneDNN 2 (libdnnl-dev of Debian 12): Conv, AveragePool and QLinearConv. The pattern for a library of kernels that
// does not read ONNX: the node comes parsed, what the kernels cannot say is answered "unsupported", and the extents and
// paddings that the standard derives are worked out here. Compiled by build.sh when the backend is installed.
//
// Options: `layout` is `any` (the kernels choose theirs, and tensors are reordered; the default) or `plain`; `isa`
// limits the instruction set for the life of the process.
#include "tools/backends/native/adapter.h"

#include <array>
#include <cstdio>
#include <map>
#include <oneapi/dnnl/dnnl.hpp>
#include <utility>

extern "C" void omp_set_num_threads(int);

namespace assay::native {
namespace {

using Dims = dnnl::memory::dims;
using Kind = dnnl::memory::data_type;

struct Type {
  std::int32_t onnx;
  Kind kind;
  std::size_t size;
};
constexpr std::array<Type, 6> types{{{1, Kind::f32, 4},
                                     {10, Kind::f16, 2},
                                     {16, Kind::bf16, 2},
                                     {2, Kind::u8, 1},
                                     {3, Kind::s8, 1},
                                     {6, Kind::s32, 4}}};

[[noreturn]] void lack(const std::string& what) { throw Refused{ASSAY_UNSUPPORTED, what}; }
[[noreturn]] void refuse(const std::string& what) { throw Refused{ASSAY_REFUSED, what}; }

const Type& type_of(const assay_tensor& tensor) {
  for (const Type& type : types)
    if (type.onnx == tensor.type) return type;
  lack("oneDNN has no type for element type " + std::to_string(tensor.type));
}

Dims dims_of(const assay_tensor& tensor) { return Dims(tensor.dims, tensor.dims + tensor.rank); }

std::int64_t volume(const Dims& dims) {
  std::int64_t product = 1;
  for (const std::int64_t dim : dims) product *= dim;
  return product;
}

const dnnl::engine& engine() {
  static const dnnl::engine one(dnnl::engine::kind::cpu, 0);
  return one;
}

dnnl::stream& stream() {
  static dnnl::stream one(engine());
  return one;
}

// Row-major, as ONNX has it.
dnnl::memory::desc plain(const Dims& dims, Kind kind) {
  Dims strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * std::max<std::int64_t>(dims[i], 1);
  return {dims, kind, strides};
}

// A description for a primitive: its own choice of layout, or row-major.
dnnl::memory::desc wanted(const Dims& dims, Kind kind, bool is_plain) {
  return is_plain ? plain(dims, kind) : dnnl::memory::desc(dims, kind, dnnl::memory::format_tag::any);
}

dnnl::memory reordered(const dnnl::memory& from, const dnnl::memory::desc& layout) {
  if (from.get_desc() == layout) return from;
  dnnl::memory to(layout, engine());
  dnnl::reorder(from, to).execute(stream(), const_cast<dnnl::memory&>(from), to);
  stream().wait();
  return to;
}

dnnl::memory memory_of(const assay_tensor& tensor, const Dims& dims) {
  return {plain(dims, type_of(tensor).kind), engine(), const_cast<void*>(tensor.data)};
}

// One spatial axis.
struct SpatialAxis {
  std::int64_t in = 0, kernel = 1, stride = 1, dilation = 1, begin = 0, end = 0, out = 0;
  std::int64_t span() const { return (kernel - 1) * dilation + 1; }
};

struct Window {
  std::vector<SpatialAxis> axes;
  bool ceil = false;

  Dims each(std::int64_t SpatialAxis::*member, std::int64_t less = 0) const {
    Dims all;
    for (const SpatialAxis& axis : axes) all.push_back(axis.*member - less);
    return all;
  }
};

// The attribute as the node states it, with as many entries as there have to be; `otherwise` where it is left out.
Dims ints_of(const assay_node& node, const char* name, std::size_t count, std::int64_t otherwise, std::int64_t least) {
  const assay_attribute* stated = assay_attribute_of(&node, name);
  if (!stated) return Dims(count, otherwise);
  if (stated->kind != ASSAY_INTS || static_cast<std::size_t>(stated->count) != count)
    refuse(std::string(name) + " has not one entry per axis");
  Dims values(stated->ints, stated->ints + count);
  for (const std::int64_t value : values)
    if (value < least || value > (1 << 24)) refuse(std::string(name) + " has an entry out of range");
  return values;
}

std::string auto_pad_of(const assay_node& node) {
  const assay_attribute* stated = assay_attribute_of(&node, "auto_pad");
  const std::string text = !stated || stated->kind != ASSAY_STRING ? "NOTSET" : stated->text;
  if (text != "NOTSET" && text != "VALID" && text != "SAME_UPPER" && text != "SAME_LOWER")
    refuse("auto_pad is " + text);
  if (text != "NOTSET" && assay_attribute_of(&node, "pads")) refuse("pads and auto_pad exclude each other");
  return text;
}

void place_same(SpatialAxis& axis, bool is_upper) {
  axis.out = (axis.in + axis.stride - 1) / axis.stride;
  const std::int64_t padding = std::max<std::int64_t>(0, (axis.out - 1) * axis.stride + axis.span() - axis.in);
  axis.begin = is_upper ? padding / 2 : padding - padding / 2;
  axis.end = padding - axis.begin;
}

// Rounded down, or up.
std::int64_t quotient(std::int64_t a, std::int64_t b, bool up) {
  const std::int64_t floor = a >= 0 ? a / b : -((-a + b - 1) / b);
  return up && floor * b != a ? floor + 1 : floor;
}

// A last window that ceil_mode would start in the end padding is dropped.
void place(SpatialAxis& axis, bool ceil) {
  axis.out = quotient(axis.in + axis.begin + axis.end - axis.span(), axis.stride, ceil) + 1;
  if (ceil && axis.out > 1 && (axis.out - 1) * axis.stride >= axis.in + axis.begin) --axis.out;
  if (axis.out < 1) refuse("X is smaller than the kernel");
}

Window window_of(const assay_node& node, const Dims& x, const Dims& kernel) {
  const std::size_t count = kernel.size();
  if (count < 1 || count > 3) lack("oneDNN has kernels of 1 to 3 spatial axes");
  if (x.size() != count + 2) refuse("X has not two axes more than the kernel");
  if (volume(x) == 0 || volume(kernel) == 0) lack("oneDNN does nothing where a tensor is empty");
  const std::string auto_pad = auto_pad_of(node);
  const Dims strides = ints_of(node, "strides", count, 1, 1), dilations = ints_of(node, "dilations", count, 1, 1);
  const Dims pads = ints_of(node, "pads", 2 * count, 0, 0);
  Window window;
  window.ceil = assay_int_of(&node, "ceil_mode", 0) != 0;
  for (std::size_t i = 0; i < count; ++i) {
    SpatialAxis& axis = window.axes.emplace_back(
        SpatialAxis{x[i + 2], kernel[i], strides[i], dilations[i], pads[i], pads[i + count], 0});
    if (auto_pad.starts_with("SAME"))
      place_same(axis, auto_pad == "SAME_UPPER");
    else
      place(axis, window.ceil);
  }
  return window;
}

Dims output_dims(const Window& window, std::int64_t n, std::int64_t maps) {
  Dims y{n, maps};
  for (const SpatialAxis& axis : window.axes) y.push_back(axis.out);
  return y;
}

// Padding at the end such that oneDNN, which rounds down, counts the same windows.
Dims end_padding(const Window& window) {
  Dims all;
  for (const SpatialAxis& axis : window.axes)
    all.push_back(std::max(axis.end, (axis.out - 1) * axis.stride + axis.span() - axis.in - axis.begin));
  return all;
}

class Kernel : public RuntimeSession {
 public:
  Kernel(const assay_model& model)
      : node_(*model.node),
        is_plain_(std::string_view(assay_option_of(&model, "layout", "any")) == "plain"),
        threads_(std::atoi(assay_option_of(&model, "threads", "1"))) {}

  void run(InputTensors inputs, const Host& host) override {
    ::omp_set_num_threads(std::max(1, threads_));
    try {
      compute(inputs, host);
    } catch (const dnnl::error& error) {
      const bool is_missing = error.status == dnnl_unimplemented;
      throw Refused{is_missing ? ASSAY_UNSUPPORTED : ASSAY_REFUSED, error.what()};
    }
  }

 protected:
  virtual void compute(InputTensors inputs, const Host& host) = 0;

  const assay_node& node() const { return node_; }
  bool is_plain() const { return is_plain_; }

  const assay_tensor* optional(std::int32_t operand, InputTensors inputs) const {
    return assay_value_of(&node_, operand, inputs.data());
  }
  const assay_tensor& required(std::int32_t operand, InputTensors inputs) const {
    const assay_tensor* tensor = optional(operand, inputs);
    if (!tensor) refuse("operand " + std::to_string(operand) + " is missing");
    return *tensor;
  }

  // Runs it and emits what it wrote, as `type`.
  void finish(const dnnl::primitive& primitive, std::unordered_map<int, dnnl::memory> arguments,
              const dnnl::memory::desc& layout, const Dims& y, const Type& type, const Host& host) {
    dnnl::memory written(layout, engine());
    arguments.emplace(DNNL_ARG_DST, written);
    primitive.execute(stream(), arguments);
    stream().wait();
    const dnnl::memory& result = kept_.emplace_back(reordered(written, plain(y, type.kind)));
    host.emit(0, type.onnx, std::vector<std::int64_t>(y.begin(), y.end()), result.get_data_handle(),
              static_cast<std::size_t>(volume(y)) * type.size);
  }

 private:
  const assay_node& node_;  // valid until unload()
  bool is_plain_;
  int threads_;
  std::vector<dnnl::memory> kept_;  // what was emitted
};

class AveragePool : public Kernel {
 public:
  using Kernel::Kernel;

 private:
  void compute(InputTensors inputs, const Host& host) override {
    const assay_tensor& x = required(0, inputs);
    const assay_attribute* kernel = assay_attribute_of(&node(), "kernel_shape");
    if (!kernel || kernel->kind != ASSAY_INTS) refuse("kernel_shape is required");
    const Dims sizes = ints_of(node(), "kernel_shape", static_cast<std::size_t>(kernel->count), 1, 1);
    const Window window = window_of(node(), dims_of(x), sizes);
    const bool counts_padding = assay_int_of(&node(), "count_include_pad", 0) != 0;
    const Dims end = end_padding(window);
    for (std::size_t i = 0; i < end.size(); ++i) {
      const SpatialAxis& axis = window.axes[i];
      if (std::max(axis.begin, end[i]) >= axis.span() || axis.dilation > axis.in)
        lack("oneDNN has no pooling with a padding as large as the window, or a dilation larger than X");
    }
    if (counts_padding && end != window.each(&SpatialAxis::end))
      lack("oneDNN would count taps behind the padding, where ceil_mode lets the last window end");
    const Dims y = output_dims(window, x.dims[0], x.dims[1]);
    const Type& type = type_of(x);
    const dnnl::pooling_v2_forward::primitive_desc pool(
        {dnnl::prop_kind::forward_inference,
         counts_padding ? dnnl::algorithm::pooling_avg_include_padding : dnnl::algorithm::pooling_avg_exclude_padding,
         plain(dims_of(x), type.kind), wanted(y, type.kind, is_plain()), window.each(&SpatialAxis::stride),
         window.each(&SpatialAxis::kernel), window.each(&SpatialAxis::dilation, 1), window.each(&SpatialAxis::begin),
         end},
        engine());
    const dnnl::memory source = reordered(memory_of(x, dims_of(x)), pool.src_desc());
    finish(dnnl::pooling_v2_forward(pool), {{DNNL_ARG_SRC, source}}, pool.dst_desc(), y, type, host);
  }
};

// What Conv and QLinearConv share: X, W and B by their numbers, shapes that fit together.
struct Operands {
  const assay_tensor &x, &w;
  const assay_tensor* bias;
  Dims weights;  // with the groups as an axis of their own
  std::int64_t maps, group;
  Window window;
};

Operands operands_of(const assay_node& node, const assay_tensor& x, const assay_tensor& w, const assay_tensor* bias) {
  if (w.rank < 3 || x.rank != w.rank) refuse("X and W are not of one rank of at least 3");
  const std::int64_t group = assay_int_of(&node, "group", 1), maps = w.dims[0];
  if (group < 1 || maps % group != 0 || x.dims[1] != w.dims[1] * group) refuse("the channels do not fit the groups");
  if (bias && (bias->rank != 1 || bias->dims[0] != maps)) refuse("B has not one element per map");
  const Dims kernel(w.dims + 2, w.dims + w.rank);
  if (ints_of(node, "kernel_shape", kernel.size(), 1, 1) != kernel && assay_attribute_of(&node, "kernel_shape"))
    refuse("kernel_shape is not that of W");
  Dims weights{maps / group, w.dims[1]};
  if (group > 1) weights.insert(weights.begin(), group);
  weights.insert(weights.end(), kernel.begin(), kernel.end());
  if (volume(weights) == 0) lack("oneDNN does nothing where a tensor is empty");
  return {x, w, bias, weights, maps, group, window_of(node, dims_of(x), kernel)};
}

class Convolution : public Kernel {
 public:
  using Kernel::Kernel;

 protected:
  void convolve(const Operands& in, const Type& type, const dnnl::primitive_attr& attributes, const Host& host) {
    using Forward = dnnl::convolution_forward;
    const Dims y = output_dims(in.window, in.x.dims[0], in.maps);
    const dnnl::memory::desc source = wanted(dims_of(in.x), type_of(in.x).kind, is_plain());
    const dnnl::memory::desc weights = wanted(in.weights, type_of(in.w).kind, is_plain());
    const dnnl::memory::desc bias = in.bias ? plain({in.maps}, type_of(*in.bias).kind) : dnnl::memory::desc();
    const Forward::primitive_desc forward(
        Forward::desc(dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, source, weights, bias,
                      wanted(y, type.kind, is_plain()), in.window.each(&SpatialAxis::stride),
                      in.window.each(&SpatialAxis::dilation, 1), in.window.each(&SpatialAxis::begin),
                      in.window.each(&SpatialAxis::end)),
        attributes, engine());
    std::unordered_map<int, dnnl::memory> arguments{
        {DNNL_ARG_SRC, reordered(memory_of(in.x, dims_of(in.x)), forward.src_desc())},
        {DNNL_ARG_WEIGHTS, reordered(memory_of(in.w, in.weights), forward.weights_desc())}};
    if (in.bias) arguments.emplace(DNNL_ARG_BIAS, memory_of(*in.bias, {in.maps}));
    finish(Forward(forward), std::move(arguments), forward.dst_desc(), y, type, host);
  }
};

class Conv : public Convolution {
 public:
  using Convolution::Convolution;

 private:
  void compute(InputTensors inputs, const Host& host) override {
    const Operands in = operands_of(node(), required(0, inputs), required(1, inputs), optional(2, inputs));
    convolve(in, type_of(in.x), dnnl::primitive_attr(), host);
  }
};

// y = saturate(round(output_scale[m] * (B[m] + sum (x - x_zero_point) * w)) + y_zero_point) is what oneDNN computes,
// with signed weights without a zero point: the w of ONNX less their zero points, where that is a number of 8 bits.
class QLinearConv : public Convolution {
 public:
  using Convolution::Convolution;

 private:
  void compute(InputTensors inputs, const Host& host) override {
    const std::vector<std::int8_t> weights = signed_weights(inputs);
    assay_tensor w = required(3, inputs);
    w.type = 3;
    w.data = weights.data();
    const Operands in = operands_of(node(), required(0, inputs), w, optional(8, inputs));
    const std::vector<float> output_scales = scales(in, inputs);
    dnnl::primitive_attr attributes;
    attributes.set_output_scales(output_scales.size() > 1 ? 1 << 1 : 0, output_scales);
    attributes.set_zero_points(DNNL_ARG_SRC, 0, {zero_point_at(2, 0, inputs)});
    attributes.set_zero_points(DNNL_ARG_DST, 0, {zero_point_at(7, 0, inputs)});
    convolve(in, type_of(required(7, inputs)), attributes, host);
  }

  std::vector<std::int8_t> signed_weights(InputTensors inputs) const {
    const assay_tensor& w = required(3, inputs);
    const std::int64_t zero_points = volume(dims_of(required(5, inputs)));
    if (w.rank < 1 || (zero_points != 1 && zero_points != w.dims[0])) refuse("w_zero_point does not fit w");
    const std::int64_t count = volume(dims_of(w)), per_map = w.dims[0] > 0 ? count / w.dims[0] : 0;
    std::vector<std::int8_t> all;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t map = zero_points == 1 ? 0 : i / per_map;
      const std::int32_t value = integer_at(w, i) - integer_at(required(5, inputs), map);
      if (value < -128 || value > 127) lack("oneDNN has weights of 8 bits without a zero point");
      all.push_back(static_cast<std::int8_t>(value));
    }
    return all;
  }

  static std::int32_t integer_at(const assay_tensor& tensor, std::int64_t i) {
    if (tensor.type == 2) return static_cast<const std::uint8_t*>(tensor.data)[i];
    if (tensor.type == 3) return static_cast<const std::int8_t*>(tensor.data)[i];
    refuse("a quantised operand is not of 8 bits");
  }

  std::int32_t zero_point_at(std::int32_t operand, std::int64_t i, InputTensors inputs) const {
    if (required(operand, inputs).bytes == 0) refuse("a zero point is empty");
    return integer_at(required(operand, inputs), i);
  }

  std::vector<float> floats(std::int32_t operand, std::int64_t most, InputTensors inputs) const {
    const assay_tensor& tensor = required(operand, inputs);
    const std::int64_t count = volume(dims_of(tensor));
    if (tensor.type != 1 || tensor.rank > 1 || (count != 1 && count != most)) refuse("a scale is no f32 of that size");
    const auto* data = static_cast<const float*>(tensor.data);
    return {data, data + count};
  }

  std::vector<float> scales(const Operands& in, InputTensors inputs) const {
    const float x = floats(1, 1, inputs)[0], y = floats(6, 1, inputs)[0];
    std::vector<float> all = floats(4, in.maps, inputs);
    for (float& scale : all) scale = x * scale / y;
    return all;
  }
};

// oneDNN reads it once, so a process has one.
void settle(const std::string& isa) {
  static const std::map<std::string, dnnl::cpu_isa> known{{"", dnnl::cpu_isa::all},
                                                          {"sse41", dnnl::cpu_isa::sse41},
                                                          {"avx2", dnnl::cpu_isa::avx2},
                                                          {"avx512_core", dnnl::cpu_isa::avx512_core},
                                                          {"avx512_core_vnni", dnnl::cpu_isa::avx512_core_vnni},
                                                          {"avx512_core_bf16", dnnl::cpu_isa::avx512_core_bf16}};
  static const std::string settled = [&] {
    dnnl::set_max_cpu_isa(known.at(isa));
    return isa;
  }();
  if (isa == settled) return;
  std::fprintf(stderr, "isa=%s asked of a process that was started with isa=%s\n", isa.c_str(), settled.c_str());
  std::_Exit(2);
}

std::unique_ptr<RuntimeSession> load(const assay_model& model) {
  settle(assay_option_of(&model, "isa", ""));
  const std::string_view op = model.node->op;
  if (*model.node->domain == 0 && op == "Conv") return std::make_unique<Conv>(model);
  if (*model.node->domain == 0 && op == "AveragePool") return std::make_unique<AveragePool>(model);
  if (*model.node->domain == 0 && op == "QLinearConv") return std::make_unique<QLinearConv>(model);
  lack("this adapter has Conv, AveragePool and QLinearConv");
}

std::string describe(Arguments) {
  const dnnl_version_t* version = dnnl_version();
  const std::string text =
      std::to_string(version->major) + "." + std::to_string(version->minor) + "." + std::to_string(version->patch);
  return described("onednn", text,
                   "\"arithmetic\":{\"accumulator\":\"f32\"},\"options\":{\"layout\":[\"any\",\"plain\"],\"isa\":["
                   "\"sse41\",\"avx2\",\"avx512_core\",\"avx512_core_vnni\",\"avx512_core_bf16\"]}");
}

}  // namespace
}  // namespace assay::native

extern "C" ASSAY_EXPORT const assay_backend* assay_backend_v1(void) {
  return assay::native::table<assay::native::describe, assay::native::load>(true);
}
