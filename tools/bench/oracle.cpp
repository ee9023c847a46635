// SPDX-License-Identifier: Apache-2.0
// assay-bench-oracle: what a complete verdict costs beside the float convolution it is about, on Google Benchmark.
//
//   NAME/kernel    one layer of a well-known shape through the reference engine, one thread
//   NAME/verdict   the verdict on what came of it: bound checked, level recorded; its parts kept from run to run as for
//                  several outcomes of one case, its answers worked out anew
//
// Counters of a verdict: `ratio` to the kernel in the same run, ns per term, and the share of outputs that the filter
// left to the exact oracle.
#include "oracles/filter/filter.h"
#include "oracles/judging/judge.h"
#include "reference/operator.h"
#include "tools/bench/layer.h"
#include "tools/held_memory.h"

#include <benchmark/benchmark.h>
#include <chrono>
#include <iostream>
#include <map>

namespace assay {
namespace {

constexpr NamedLine layers[] = {
    {"conv-3x3-f32", "Conv-22 opset=22 ir=10 X=f32[1,64,56,56]~normal:1 W=f32[64,64,3,3]~normal:2 pads=1,1,1,1"},
    {"conv-1x1-f32", "Conv-22 opset=22 ir=10 X=f32[1,256,56,56]~normal:1 W=f32[64,256,1,1]~normal:2"},
    {"conv-3x3-deep-f32", "Conv-22 opset=22 ir=10 X=f32[1,512,7,7]~normal:1 W=f32[512,512,3,3]~normal:2 pads=1,1,1,1"},
    {"conv-depthwise-f32",
     "Conv-22 opset=22 ir=10 X=f32[1,64,56,56]~normal:1 W=f32[64,1,3,3]~normal:2 group=64 pads=1,1,1,1"},
    {"conv-3x3-f16", "Conv-22 opset=22 ir=10 X=f16[1,64,56,56]~normal:1 W=f16[64,64,3,3]~normal:2 pads=1,1,1,1"},
    {"conv-3x3-bf16", "Conv-22 opset=22 ir=10 X=bf16[1,64,56,56]~normal:1 W=bf16[64,64,3,3]~normal:2 pads=1,1,1,1"},
    {"conv-3x3-f64", "Conv-22 opset=22 ir=10 X=f64[1,64,56,56]~normal:1 W=f64[64,64,3,3]~normal:2 pads=1,1,1,1"},
    {"deform-3x3-f32",
     "DeformConv-22 opset=22 ir=10 X=f32[1,64,56,56]~normal:1 W=f32[64,64,3,3]~normal:2 "
     "offset=f32[1,18,56,56]~uniform:3 B=f32[64]~normal:4 mask=f32[1,9,56,56]~uniform:5 pads=1,1,1,1"},
    {"deform-3x3-f64",
     "DeformConv-22 opset=22 ir=10 X=f64[1,64,28,28]~normal:1 W=f64[64,64,3,3]~normal:2 "
     "offset=f64[1,18,28,28]~uniform:3 B=f64[64]~normal:4 mask=f64[1,9,28,28]~uniform:5 pads=1,1,1,1"},
    {"qlinear-3x3",
     "QLinearConv-10 opset=22 ir=10 x=u8[1,64,56,56]~byte:1 x_scale=f32[]~hold:0.1 x_zero_point=u8[]~hold:128 "
     "w=i8[64,64,3,3]~byte:2 w_scale=f32[]~hold:0.1 w_zero_point=i8[]~hold:0 y_scale=f32[]~hold:20 "
     "y_zero_point=u8[]~hold:128 pads=1,1,1,1"},
    {"pool-3x3-f32", "AveragePool-22 opset=22 ir=10 X=f32[1,64,112,112]~normal:1 kernel_shape=3,3 pads=1,1,1,1"},
    {"pool-3x3-f64", "AveragePool-22 opset=22 ir=10 X=f64[1,64,112,112]~normal:1 kernel_shape=3,3 pads=1,1,1,1"},
};

// A layer, and what the engine makes of it.
struct JudgedLayer : Layer {
  oracles::Outcome outcome;

  explicit JudgedLayer(const std::string& line) : Layer(line) { outcome.sets = {{answer()}}; }
  oracles::Verdict verdict() const {
    return oracles::judge(c.call(), {data}, outcome, {oracles::Level::L2, {}, oracles::Tier::fast});
  }
  double undecided() const {
    const Tensor& got = outcome.sets[0][0];
    const auto answering = std::move(oracles::oracle_of(c.version).answer(c.call(), data, {}, {}).front());
    const std::optional<oracles::FilterResult> screening = answering->screen(got, {});
    return screening ? static_cast<double>(screening->undecided.size()) / static_cast<double>(got.elements()) : 1;
  }
};

using Clock = std::chrono::steady_clock;

// The fastest of the runs that Google Benchmark asks for: others share the machine.
template <class F>
double fastest(benchmark::State& state, F&& f) {
  double best = 0;
  for (auto _ : state) {
    const auto start = Clock::now();
    benchmark::DoNotOptimize(f());
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    best = best == 0 ? seconds : std::min(best, seconds);
  }
  return best;
}

void register_layer(const NamedLine& named) {
  static std::map<std::string, double> kernel_seconds;
  const std::string name = named.name, line = named.line;
  benchmark::RegisterBenchmark((name + "/kernel").c_str(), [=](benchmark::State& state) {
    const JudgedLayer layer(line);
    kernel_seconds[name] = fastest(state, [&] { return layer.answer(); });
    state.counters["ns_per_term"] = 1e9 * kernel_seconds[name] / layer.terms();
  })->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark((name + "/verdict").c_str(), [=](benchmark::State& state) {
    const JudgedLayer layer(line);
    if (layer.verdict().state != oracles::State::pass) return state.SkipWithError("the engine does not pass");
    const double seconds = fastest(state, [&] { return layer.verdict(); });
    state.counters["ns_per_term"] = 1e9 * seconds / layer.terms();
    if (kernel_seconds.contains(name)) state.counters["ratio"] = seconds / kernel_seconds[name];
    state.counters["undecided"] = layer.undecided();
  })->Unit(benchmark::kMillisecond);
}

}  // namespace
}  // namespace assay

int main(int count, char** words) {
  assay::hold_freed_memory();
  try {
    for (const assay::NamedLine& layer : assay::layers) assay::register_layer(layer);
    benchmark::Initialize(&count, words);
    if (benchmark::ReportUnrecognizedArguments(count, words)) return 2;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "assay-bench-oracle: " << error.what() << "\n";
    return 2;
  }
}
