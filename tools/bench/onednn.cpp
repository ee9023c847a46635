// SPDX-License-Identifier: Apache-2.0
// The layers of kernels.cpp and products on oneDNN, for bench_peers.py and bench_operators.py: a shared library.
// Weights are brought into the layout that oneDNN likes best when a layer is opened; x and y are row-major as ONNX has
// them, so what it takes to reorder those counts.
//
//   g++ -std=c++20 -O2 -fPIC -shared tools/bench/onednn.cpp -ldnnl -lgomp -o onednn.so   (libdnnl-dev 2.6)
#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <unordered_map>
#include <vector>

extern "C" void omp_set_num_threads(int);

namespace {

using dnnl::memory;
using Dims = memory::dims;
using Kind = memory::data_type;

const dnnl::engine& engine() {
  static const dnnl::engine one(dnnl::engine::kind::cpu, 0);
  return one;
}
dnnl::stream& stream() {
  static dnnl::stream one(engine());
  return one;
}

struct Step {
  dnnl::primitive primitive;
  std::unordered_map<int, memory> arguments;
};

struct Layer {
  std::vector<Step> steps;
};

// Describes a layer, as Python does; Conv, ConvTranspose, QLinearConv and MatMulInteger (u8 data, i8 weights), MatMul
// and AveragePool, f32 but for the bytes.
struct Description {
  const char* op;
  std::int64_t rank;              // of x, w and y
  const std::int64_t *x, *w, *y;  // extents; w of the kernel alone for AveragePool
  const std::int64_t *strides, *pads;
  std::int64_t group;
  const void *x_data, *w_data;
  void* y_data;
  float output_scale;  // QLinearConv: x_scale * w_scale / y_scale
  std::int32_t x_zero, y_zero, w_zero;
};

memory::desc any(const Dims& dims, Kind kind) { return {dims, kind, memory::format_tag::any}; }
memory rows(const Dims& dims, Kind kind, void* data, memory::format_tag tag = memory::format_tag::nchw) {
  return {{dims, kind, tag}, engine(), data};
}

// A step that brings `from` into the layout of `to`, where they differ; the memory that then holds the data.
memory brought(Layer& layer, const memory& from, const memory& to) {
  if (from.get_desc() == to.get_desc()) return from;
  layer.steps.push_back({dnnl::reorder(from, to), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}});
  return to;
}

void run_all(Layer& layer) {
  for (Step& step : layer.steps) step.primitive.execute(stream(), step.arguments);
  stream().wait();
}

// All steps: x in, the primitive, y out.
void add_steps(Layer& layer, const dnnl::primitive& primitive, std::unordered_map<int, memory> others, const memory& x,
               const memory& y, const memory::desc& source, const memory::desc& target) {
  others.emplace(DNNL_ARG_SRC, brought(layer, x, memory(source, engine())));
  const memory written = y.get_desc() == target ? y : memory(target, engine());
  others.emplace(DNNL_ARG_DST, written);
  layer.steps.push_back({primitive, std::move(others)});
  brought(layer, written, y);
}

void open_pool(Layer& layer, const Description& d) {
  const Dims x(d.x, d.x + 4), y(d.y, d.y + 4);
  const dnnl::pooling_forward::primitive_desc pool(
      {dnnl::prop_kind::forward_inference, dnnl::algorithm::pooling_avg_exclude_padding,
       rows(x, Kind::f32, nullptr).get_desc(), any(y, Kind::f32), Dims(d.strides, d.strides + 2), Dims(d.w, d.w + 2),
       Dims(d.pads, d.pads + 2), Dims(d.pads + 2, d.pads + 4)},
      engine());
  add_steps(layer, dnnl::pooling_forward(pool), {}, rows(x, Kind::f32, const_cast<void*>(d.x_data)),
            rows(y, Kind::f32, d.y_data), pool.src_desc(), pool.dst_desc());
}

void open_conv(Layer& layer, const Description& d, bool quantized) {
  const Kind data = quantized ? Kind::u8 : Kind::f32, weight = quantized ? Kind::s8 : Kind::f32;
  const Dims x(d.x, d.x + 4), y(d.y, d.y + 4);
  Dims w(d.w, d.w + 4);
  if (d.group > 1) w = {d.group, d.w[0] / d.group, d.w[1], d.w[2], d.w[3]};
  dnnl::primitive_attr attributes;
  if (quantized) {
    attributes.set_output_scales(0, {d.output_scale});
    attributes.set_zero_points(DNNL_ARG_SRC, 0, {d.x_zero});
    attributes.set_zero_points(DNNL_ARG_DST, 0, {d.y_zero});
  }
  const dnnl::convolution_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, any(x, data), any(w, weight),
       any(y, data), Dims(d.strides, d.strides + 2), Dims(d.pads, d.pads + 2), Dims(d.pads + 2, d.pads + 4)},
      attributes, engine());
  Layer once;
  const memory::format_tag tag = d.group > 1 ? memory::format_tag::goihw : memory::format_tag::oihw;
  const memory weights =
      brought(once, rows(w, weight, const_cast<void*>(d.w_data), tag), memory(forward.weights_desc(), engine()));
  run_all(once);
  add_steps(layer, dnnl::convolution_forward(forward), {{DNNL_ARG_WEIGHTS, weights}},
            rows(x, data, const_cast<void*>(d.x_data)), rows(y, data, d.y_data), forward.src_desc(),
            forward.dst_desc());
}

// The weights of ONNX are C x M x k…, those of oneDNN M x C x k….
void open_transposed(Layer& layer, const Description& d) {
  const Dims x(d.x, d.x + 4), y(d.y, d.y + 4), w{d.w[1], d.w[0], d.w[2], d.w[3]};
  const dnnl::deconvolution_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_inference, dnnl::algorithm::deconvolution_direct, any(x, Kind::f32), any(w, Kind::f32),
       any(y, Kind::f32), Dims(d.strides, d.strides + 2), Dims(d.pads, d.pads + 2), Dims(d.pads + 2, d.pads + 4)},
      engine());
  Layer once;
  const memory weights = brought(once, rows(w, Kind::f32, const_cast<void*>(d.w_data), memory::format_tag::iohw),
                                 memory(forward.weights_desc(), engine()));
  run_all(once);
  add_steps(layer, dnnl::deconvolution_forward(forward), {{DNNL_ARG_WEIGHTS, weights}},
            rows(x, Kind::f32, const_cast<void*>(d.x_data)), rows(y, Kind::f32, d.y_data), forward.src_desc(),
            forward.dst_desc());
}

// Both matrices are data: neither is brought into another layout.
void open_matmul(Layer& layer, const Description& d, bool of_integers) {
  const memory::format_tag tag = d.rank == 2 ? memory::format_tag::ab : memory::format_tag::abc;
  const memory a = rows({d.x, d.x + d.rank}, of_integers ? Kind::u8 : Kind::f32, const_cast<void*>(d.x_data), tag),
               b = rows({d.w, d.w + d.rank}, of_integers ? Kind::s8 : Kind::f32, const_cast<void*>(d.w_data), tag),
               y = rows({d.y, d.y + d.rank}, of_integers ? Kind::s32 : Kind::f32, d.y_data, tag);
  dnnl::primitive_attr attributes;
  if (of_integers) {
    attributes.set_zero_points(DNNL_ARG_SRC, 0, {d.x_zero});
    attributes.set_zero_points(DNNL_ARG_WEIGHTS, 0, {d.w_zero});
  }
  const dnnl::matmul::primitive_desc product({a.get_desc(), b.get_desc(), y.get_desc()}, attributes, engine());
  layer.steps.push_back({dnnl::matmul(product), {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, y}}});
}

thread_local std::string because;

}  // namespace

extern "C" {

const char* bench_because() { return because.c_str(); }

const char* bench_version() {
  const dnnl_version_t* const v = dnnl_version();
  static const std::string text =
      std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
  return text.c_str();
}

// Null where oneDNN cannot; the reason is bench_because().
void* bench_open(const Description* d) try {
  omp_set_num_threads(1);
  auto layer = std::make_unique<Layer>();
  const std::string op = d->op;
  if (op == "AveragePool")
    open_pool(*layer, *d);
  else if (op == "ConvTranspose")
    open_transposed(*layer, *d);
  else if (op.starts_with("MatMul"))
    open_matmul(*layer, *d, op == "MatMulInteger");
  else
    open_conv(*layer, *d, op == "QLinearConv");
  return layer.release();
} catch (const dnnl::error& error) {
  because = error.what();
  return nullptr;
}

void bench_run(void* layer) { run_all(*static_cast<Layer*>(layer)); }

void bench_close(void* layer) { delete static_cast<Layer*>(layer); }
}
