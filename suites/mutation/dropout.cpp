// SPDX-License-Identifier: Apache-2.0
// Dropout by a third hand: what is kept is drawn by the standard library, and multiplied by what 1 - ratio goes into 1.
#include "suites/mutation/pairing.h"

#include <random>

namespace assay::mutation {
namespace {

struct Dropping {
  bool scales = true;
  double keeps_more = 0;  // of the share that is dropped, kept all the same
  bool tells_dropped = false;
};

// The ratio, in inference 0.
double ratio_of(const Call& call, Inputs in) {
  if (call.definition().attribute("is_test")) return call.integer("is_test") == 0 ? double{call.real("ratio")} : 0;
  if (!call.has("training_mode") || in[2]->as<Bool>()[0] == Bool(0.0)) return 0;
  if (!in[1]) return 0.5;
  return for_value(in[1]->dtype(), [&]<class T>() { return static_cast<double>(in[1]->as<T>()[0]); });
}

Kernel dropping(Dropping how) {
  return [how](const Call& call, Inputs in) -> Values {
    const double ratio = ratio_of(call, in), scale = how.scales ? 1 / (1 - ratio) : 1;
    std::minstd_rand generator(7);
    std::bernoulli_distribution drops(ratio * (1 - how.keeps_more));
    std::vector<bool> dropped(static_cast<std::size_t>(in[0]->elements()));
    for (std::size_t i = 0; i < dropped.size(); ++i) dropped[i] = drops(generator);
    Values y{*in[0], std::nullopt};
    if (ratio > 0)
      for_number(in[0]->dtype(), [&]<class T>() {
        for (std::size_t i = 0; i < dropped.size(); ++i)
          y[0]->template as<T>()[i] = T(dropped[i] ? 0.0 : static_cast<double>(in[0]->as<T>()[i]) * scale);
      });
    if (!call.requests("mask")) return y;
    y[1] = Tensor({call.definition().type_of(call, *call.definition().output("mask")), in[0]->shape()});
    for_number(y[1]->dtype(), [&]<class M>() {
      for (std::size_t i = 0; i < dropped.size(); ++i)
        y[1]->template as<M>()[i] = M(dropped[i] == (how.tells_dropped && ratio > 0) ? 1.0 : 0.0);
    });
    return y;
  };
}

}  // namespace

std::vector<VariantKernel> dropout_variants() {
  return {variant_of("sequential", "drawn by the standard library", dropping({}))};
}

std::vector<Bug> dropout_bugs() {
  return {
      bug_of("Dropout", "leaves-unscaled", "what is kept is not scaled", dropping({.scales = false})),
      bug_of("Dropout", "drops-too-few", "a tenth of what is to be dropped is kept", dropping({.keeps_more = 0.1})),
      bug_of("Dropout", "tells-dropped", "mask holds where an element is dropped", dropping({.tells_dropped = true}))};
}

}  // namespace assay::mutation
