// SPDX-License-Identifier: Apache-2.0
// assay-bench-kernels: what the reference kernels cost, on Google Benchmark.
//
//   layer/NAME            one layer of a well-known shape through the engine, one thread
//   naive/NAME            the same by the naive loop, where that ends within a second
//   scaling/WHAT/N        one extent grows and the others stay
//   peak/…                what this core can do at most: registers only, or a copy beyond the second cache
//
// --write FOLDER writes each layer as NAME/model.onnx and NAME/input_N.pb instead, for bench_peers.py.
#include "reference/fast/engine.h"
#include "reference/operator.h"
#include "tools/bench/layer.h"
#include "tools/held_memory.h"

#include <algorithm>
#include <benchmark/benchmark.h>
#include <iostream>

namespace assay {
namespace {

// Shapes of ResNet-50, MobileNet and DCNv2; weights are constants, as runtimes expect.
constexpr NamedLine layers[] = {
    {"conv-3x3", "Conv-22 opset=22 ir=10 X=f32[1,64,56,56]~normal:1 W=f32[64,64,3,3]~normal:2@init pads=1,1,1,1"},
    {"conv-3x3-deep", "Conv-22 opset=22 ir=10 X=f32[1,512,7,7]~normal:1 W=f32[512,512,3,3]~normal:2@init pads=1,1,1,1"},
    {"conv-1x1", "Conv-22 opset=22 ir=10 X=f32[1,64,56,56]~normal:1 W=f32[256,64,1,1]~normal:2@init"},
    {"conv-7x7-stem",
     "Conv-22 opset=22 ir=10 X=f32[1,3,224,224]~normal:1 W=f32[64,3,7,7]~normal:2@init pads=3,3,3,3 strides=2,2"},
    {"conv-3x3-stride",
     "Conv-22 opset=22 ir=10 X=f32[1,64,56,56]~normal:1 W=f32[128,64,3,3]~normal:2@init pads=1,1,1,1 strides=2,2"},
    {"conv-depthwise",
     "Conv-22 opset=22 ir=10 X=f32[1,64,56,56]~normal:1 W=f32[64,1,3,3]~normal:2@init group=64 pads=1,1,1,1"},
    {"conv-3x3-f16", "Conv-22 opset=22 ir=10 X=f16[1,64,56,56]~normal:1 W=f16[64,64,3,3]~normal:2@init pads=1,1,1,1"},
    {"conv-3x3-f64", "Conv-22 opset=22 ir=10 X=f64[1,64,56,56]~normal:1 W=f64[64,64,3,3]~normal:2@init pads=1,1,1,1"},
    {"qlinear-3x3",
     "QLinearConv-10 opset=22 ir=10 x=u8[1,64,56,56]~byte:1 x_scale=f32[]~hold:0.1@init "
     "x_zero_point=u8[]~hold:128@init "
     "w=i8[64,64,3,3]~byte:2@init w_scale=f32[]~hold:0.1@init w_zero_point=i8[]~hold:0@init "
     "y_scale=f32[]~hold:20@init y_zero_point=u8[]~hold:128@init pads=1,1,1,1"},
    {"qlinear-1x1",
     "QLinearConv-10 opset=22 ir=10 x=u8[1,64,56,56]~byte:1 x_scale=f32[]~hold:0.1@init "
     "x_zero_point=u8[]~hold:128@init "
     "w=i8[256,64,1,1]~byte:2@init w_scale=f32[]~hold:0.1@init w_zero_point=i8[]~hold:0@init "
     "y_scale=f32[]~hold:20@init y_zero_point=u8[]~hold:128@init"},
    {"deform-3x3",
     "DeformConv-22 opset=22 ir=10 X=f32[1,64,56,56]~normal:1 W=f32[64,64,3,3]~normal:2@init "
     "offset=f32[1,18,56,56]~uniform:3 B=f32[64]~normal:4@init mask=f32[1,9,56,56]~uniform:5 pads=1,1,1,1"},
    {"pool-3x3", "AveragePool-22 opset=22 ir=10 X=f32[1,64,112,112]~normal:1 kernel_shape=3,3 pads=1,1,1,1"},
    {"pool-3x3-stride",
     "AveragePool-22 opset=22 ir=10 X=f32[1,64,112,112]~normal:1 kernel_shape=3,3 pads=1,1,1,1 strides=2,2"},
    {"pool-2x2-stride", "AveragePool-22 opset=22 ir=10 X=f32[1,64,112,112]~normal:1 kernel_shape=2,2 strides=2,2"},
};

// The same by the naive loop.
Tensor naive_answer(const Layer& layer) { return layer.c.definition().kernel(layer.c.call(), layer.in).only(); }

// Of all inputs.
std::size_t bytes_of(const Layer& layer) {
  std::size_t all = 0;
  for (const Tensor* tensor : layer.in) all += tensor ? tensor->bytes().size() : 0;
  return all;
}

// Multiplications and additions of the formula, padding included.
double operations_of(const Layer& layer) {
  const Definition& definition = layer.c.definition();
  return (definition.input("w") || definition.input("W") ? 2 : 1) * layer.terms();
}

void measure(benchmark::State& state, const std::string& line, bool naive) {
  const Layer layer(line);
  for (auto _ : state) benchmark::DoNotOptimize(naive ? naive_answer(layer) : layer.answer());
  state.counters["operations"] =
      benchmark::Counter(operations_of(layer), benchmark::Counter::kIsIterationInvariantRate);
}

// --- The most this core can do: independent chains in registers, nothing loaded. ---

#if defined(__x86_64__)
#define ASSAY_PEAK(name, target_, bytes, ...)                                    \
  __attribute__((target(target_), noinline)) float name(int rounds) {            \
    typedef float Vector __attribute__((vector_size(bytes)));                    \
    constexpr int chains = bytes == 64 ? 24 : 12;                                \
    Vector sum[chains], x = Vector{} + 1.0001f, w = Vector{} + 0.9999f;          \
    _Pragma("GCC unroll 24") for (int c = 0; c < chains; ++c) sum[c] = Vector{}; \
    for (int i = 0; i < rounds; ++i) {                                           \
      asm volatile("" : "+v"(x), "+v"(w));                                       \
      _Pragma("GCC unroll 24") for (int c = 0; c < chains; ++c) {                \
        [[maybe_unused]] Vector product;                                         \
        __VA_ARGS__;                                                             \
      }                                                                          \
    }                                                                            \
    float all = 0;                                                               \
    _Pragma("GCC unroll 24") for (int c = 0; c < chains; ++c) all += sum[c][0];  \
    return all;                                                                  \
  }
#define ASSAY_FUSED asm volatile("vfmadd231ps %2, %1, %0" : "+v"(sum[c]) : "v"(x), "v"(w))
#define ASSAY_TWO(multiply, add)                                         \
  asm volatile(multiply " %2, %1, %0" : "=v"(product) : "v"(x), "v"(w)); \
  asm volatile(add " %1, %0, %0" : "+v"(sum[c]) : "v"(product))
#define ASSAY_FOUR asm volatile("vpdpbusd %2, %1, %0" : "+v"(sum[c]) : "v"(x), "v"(w))

ASSAY_PEAK(fused_avx512, "avx512f,fma", 64, ASSAY_FUSED)
ASSAY_PEAK(fused_avx2, "avx2,fma", 32, ASSAY_FUSED)
ASSAY_PEAK(separate_avx512, "avx512f,fma", 64, ASSAY_TWO("vmulps", "vaddps"))
ASSAY_PEAK(separate_avx2, "avx2,fma", 32, ASSAY_TWO("vmulps", "vaddps"))
ASSAY_PEAK(bytes_vnni, "avx512f,avx512vnni", 64, ASSAY_FOUR)
ASSAY_PEAK(bytes_avx512, "avx512f,avx512bw", 64, ASSAY_TWO("vpmaddwd", "vpaddd"))
ASSAY_PEAK(bytes_avx2, "avx2", 32, ASSAY_TWO("vpmaddwd", "vpaddd"))

// `products` of each lane and round, counted twice as everywhere.
void add_peak(const char* name, float (*loop)(int), int lanes, int products) {
  benchmark::RegisterBenchmark(name, [=](benchmark::State& state) {
    constexpr int rounds = 10000;
    for (auto _ : state) benchmark::DoNotOptimize(loop(rounds));
    state.counters["operations"] = benchmark::Counter(2.0 * rounds * (lanes == 16 ? 24 : 12) * lanes * products,
                                                      benchmark::Counter::kIsIterationInvariantRate);
  });
}

void add_peaks() {
  const std::string instructions = engine::instructions();
  const bool wide = instructions.starts_with("avx512");
  add_peak("peak/fused", wide ? fused_avx512 : fused_avx2, wide ? 16 : 8, 1);
  add_peak("peak/separate", wide ? separate_avx512 : separate_avx2, wide ? 16 : 8, 1);
  if (instructions == "avx512-vnni")
    add_peak("peak/bytes", bytes_vnni, 16, 4);
  else
    add_peak("peak/bytes", wide ? bytes_avx512 : bytes_avx2, wide ? 16 : 8, 2);
}
#else
void add_peaks() {}
#endif

// As much as the pooling layers read and write: beyond the second cache.
void measure_copy(benchmark::State& state) {
  const std::vector<float> from(1 << 20, 1.f);
  std::vector<float> to(from.size());
  for (auto _ : state) {
    std::ranges::copy(from, to.begin());
    benchmark::ClobberMemory();
  }
  state.counters["operations"] = benchmark::Counter(2.0 * sizeof(float) * static_cast<double>(from.size()),
                                                    benchmark::Counter::kIsIterationInvariantRate);
}

void register_all() {
  const auto add = [](const std::string& name, const std::string& line, bool naive) {
    benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
      measure(state, line, naive);
    })->Unit(benchmark::kMicrosecond);
  };
  for (const NamedLine& layer : layers) add(std::string("layer/") + layer.name, layer.line, false);
  for (const NamedLine& layer : layers) add(std::string("naive/") + layer.name, layer.line, true);
  const auto conv = [](Int channels, Int maps, Int side, Int kernel) {
    const std::string c = std::to_string(channels), m = std::to_string(maps), s = std::to_string(side);
    const std::string k = std::to_string(kernel), pad = std::to_string(kernel / 2);
    return "Conv-22 opset=22 ir=10 X=f32[1," + c + "," + s + "," + s + "]~normal:1 W=f32[" + m + "," + c + "," + k +
           "," + k + "]~normal:2@init pads=" + pad + "," + pad + "," + pad + "," + pad;
  };
  for (const Int n : {16, 32, 64, 128, 256}) add("scaling/channels/" + std::to_string(n), conv(n, 48, 28, 3), false);
  for (const Int n : {12, 24, 48, 96, 192}) add("scaling/maps/" + std::to_string(n), conv(64, n, 28, 3), false);
  for (const Int n : {14, 28, 56, 112, 224}) add("scaling/side/" + std::to_string(n), conv(16, 48, n, 3), false);
  for (const Int n : {1, 3, 5, 7, 9, 11}) add("scaling/kernel/" + std::to_string(n), conv(16, 48, 56, n), false);
  add("small/conv-1x1x4", "Conv-22 opset=22 ir=10 X=f32[1,1,4]~normal:1 W=f32[1,1,2]~normal:2", false);
  add("small/conv-2x5x5", "Conv-22 opset=22 ir=10 X=f32[1,2,5,5]~normal:1 W=f32[4,2,3,3]~normal:2", false);
  add("small/conv-4x9x9", "Conv-22 opset=22 ir=10 X=f32[1,4,9,9]~normal:1 W=f32[4,4,3,3]~normal:2", false);
  add("small-naive/conv-4x9x9", "Conv-22 opset=22 ir=10 X=f32[1,4,9,9]~normal:1 W=f32[4,4,3,3]~normal:2", true);
  add_peaks();
  benchmark::RegisterBenchmark("peak/copy", measure_copy);
}

void write_layers(const std::filesystem::path& folder) {
  for (const auto& [name, line] : layers) {
    const Layer layer(line);
    const Tensor output = layer.answer();
    write_layer(layer, output, folder / name);
    write_file(folder / name / "operations", std::to_string(operations_of(layer)));
    write_file(folder / name / "bytes", std::to_string(bytes_of(layer) + output.bytes().size()));
  }
}

}  // namespace
}  // namespace assay

int main(int count, char** words) {
  assay::hold_all_freed_memory();
  try {
    if (count == 3 && words[1] == std::string("--write")) {
      assay::write_layers(words[2]);
      return 0;
    }
    assay::register_all();
    benchmark::AddCustomContext("instructions", assay::engine::instructions());
    benchmark::Initialize(&count, words);
    if (benchmark::ReportUnrecognizedArguments(count, words)) return 2;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "assay-bench-kernels: " << error.what() << "\n";
    return 2;
  }
}
