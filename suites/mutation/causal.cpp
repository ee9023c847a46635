// SPDX-License-Identifier: Apache-2.0
// CausalConvWithState a third time: each element from the cells at and before its own time, which may be negative.
#include "suites/mutation/family.h"

#include <cmath>

namespace assay::mutation {
namespace {

using oracles::Level;

enum class Sum { bias_first, bias_last, newest_first, fused, in_double, in_type };
enum class Defect {
  none,
  flips_kernel,
  forgets_state,
  keeps_first_cells,
  forgets_old_state,
  adds_bias_behind,
  gates_by_tanh,
  takes_first_kernel,
  looks_ahead
};

struct Manner {
  Sum sum = Sum::bias_first;
  bool rounds_first = false;
  Defect defect = Defect::none;
};

// The extents of a call, and where in the inputs the cell of a time stands: from 0 on in input, before in past_state.
struct Sequences {
  Int batch, channels, length, taps;
  bool has_past;

  explicit Sequences(const Call& call)
      : batch(call.dim("input", 0)),
        channels(call.dim("input", 1)),
        length(call.dim("input", 2)),
        taps(call.dim("weight", 2)),
        has_past(call.has("past_state")) {}

  template <class T>
  T cell(Inputs in, Int line, Int time) const {
    if (time >= length) return T();
    if (time >= 0) return in[0]->as<T>()[static_cast<std::size_t>(line * length + time)];
    return has_past ? in[3]->as<T>()[static_cast<std::size_t>(line * (taps - 1) + taps - 1 + time)] : T();
  }
};

template <class A, class T>
A convolved(const Sequences& s, Inputs in, Int line, Int time, const Manner& how) {
  const Int c = line % s.channels;
  const bool has_bias = in.size() > 2 && in[2];
  const A bias = has_bias ? static_cast<A>(in[2]->as<T>()[static_cast<std::size_t>(c)]) : A(0.0);
  const bool is_late = how.sum == Sum::bias_last || how.defect == Defect::adds_bias_behind;
  A sum = is_late ? A(0.0) : bias;
  for (Int k = 0; k < s.taps; ++k) {
    const Int j = how.sum == Sum::newest_first ? s.taps - 1 - k : k;
    Int from = time - (s.taps - 1) + j;
    if (how.defect == Defect::looks_ahead) ++from;
    const Int tap = how.defect == Defect::flips_kernel ? s.taps - 1 - j : j;
    const Int map = how.defect == Defect::takes_first_kernel ? 0 : c;
    if (from < 0 && how.defect == Defect::forgets_state) continue;
    const A x = static_cast<A>(s.cell<T>(in, line, from));
    const A w = static_cast<A>(in[1]->as<T>()[static_cast<std::size_t>(map * s.taps + tap)]);
    if constexpr (std::is_floating_point_v<A>) {
      if (how.sum == Sum::fused) {
        sum = std::fma(x, w, sum);
        continue;
      }
    }
    sum = static_cast<A>(sum + static_cast<A>(x * w));
  }
  return is_late && how.defect != Defect::adds_bias_behind ? static_cast<A>(sum + bias) : sum;
}

template <class A, class T>
T output_of(const Call& call, const Sequences& s, Inputs in, Int line, Int time, const Manner& how) {
  double z = static_cast<double>(convolved<A, T>(s, in, line, time, how));
  if (how.rounds_first) z = static_cast<double>(T(z));
  if (call.text("activation") != "none") {
    const auto narrow = static_cast<float>(z);
    z = how.defect == Defect::gates_by_tanh ? z * std::tanh(z) : static_cast<double>(narrow / (1 + std::exp(-narrow)));
  }
  if (how.defect == Defect::adds_bias_behind && in.size() > 2 && in[2])
    z += static_cast<double>(in[2]->as<T>()[static_cast<std::size_t>(line % s.channels)]);
  return T(z);
}

Kernel convolving(const Manner& how) {
  return [how](const Call& call, Inputs in) -> Values {
    const Sequences s(call);
    const DType type = in[0]->dtype();
    Tensor output({type, in[0]->shape()}), state({type, {s.batch, s.channels, s.taps - 1}});
    for_float(type, [&]<class T>() {
      for (Int line = 0; line < s.batch * s.channels; ++line) {
        for (Int t = 0; t < s.length; ++t)
          output.as<T>()[static_cast<std::size_t>(line * s.length + t)] =
              how.sum == Sum::in_double ? output_of<double, T>(call, s, in, line, t, how)
              : how.sum == Sum::in_type ? output_of<T, T>(call, s, in, line, t, how)
                                        : output_of<accumulator_t<T>, T>(call, s, in, line, t, how);
        for (Int i = 0; i + 1 < s.taps; ++i) {
          const Int time = how.defect == Defect::keeps_first_cells ? i - (s.taps - 1) : s.length - (s.taps - 1) + i;
          const bool is_lost = time < 0 && how.defect == Defect::forgets_old_state;
          state.as<T>()[static_cast<std::size_t>(line * (s.taps - 1) + i)] = is_lost ? T() : s.cell<T>(in, line, time);
        }
      }
    });
    Values out;
    out.emplace_back(std::move(output));
    out.emplace_back(std::move(state));
    return out;
  };
}

}  // namespace

std::vector<VariantKernel> causal_variants(const std::string& op) {
  if (op != "CausalConvWithState") return {};
  return {
      variant_of("sequential", "the bias, then the oldest cell", convolving({})),
      variant_of("bias-last", "the oldest cell, at the end the bias", convolving({.sum = Sum::bias_last})),
      variant_of("newest-first", "the bias, then the newest cell", convolving({.sum = Sum::newest_first})),
      variant_of("fma", "fused multiply-add in sequence", convolving({.sum = Sum::fused})),
      variant_of("f64", "a wider accumulator", convolving({.sum = Sum::in_double})),
      variant_of("rounds-first", "rounded to the type before the activation", convolving({.rounds_first = true})),
      variant_of("in-type", "every operation of the sum in the type", convolving({.sum = Sum::in_type}), Level::L3)};
}

std::vector<Bug> causal_bugs(const std::string& op) {
  if (op != "CausalConvWithState") return {};
  const auto bug = [&](const char* name, const char* what, Defect defect) {
    return bug_of(op, name, what, convolving({.defect = defect}));
  };
  return {bug("flips-kernel", "the kernel is read from its end", Defect::flips_kernel),
          bug("forgets-state", "the output begins with zeros, whatever the state is", Defect::forgets_state),
          bug("keeps-first-cells", "the state is the first cells, not the last", Defect::keeps_first_cells),
          bug("forgets-old-state", "nothing of a state outlives a short sequence", Defect::forgets_old_state),
          bug("adds-bias-behind", "the bias is added behind the activation", Defect::adds_bias_behind),
          bug("gates-by-tanh", "the gate is the hyperbolic tangent", Defect::gates_by_tanh),
          bug("takes-first-kernel", "every channel has the kernel of the first", Defect::takes_first_kernel),
          bug("looks-ahead", "each element sees a cell of the time after it", Defect::looks_ahead)};
}

}  // namespace assay::mutation
