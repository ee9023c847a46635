// SPDX-License-Identifier: Apache-2.0
// Layer: one layer of a well-known shape with its data, as the benchmarks put it to the kernels.
#pragma once

#include "reference/case_view.h"

#include <string>
#include <vector>

namespace assay {

struct NamedLine {
  const char* name;
  const char* line;
};

struct Layer {
  Case c;
  Operands data;
  std::vector<const Tensor*> in;

  explicit Layer(const std::string& line) : c(case_of(line)), data(operands(c, 0)), in(views(data)) {}
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  Tensor answer() const { return c.definition().fast(c.call(), in, 1).only(); }
  // Products of the formula, or a pool's sums, padding included; the elements of what maps elements.
  double terms() const {
    const Call call = c.call();
    const Definition& definition = call.definition();
    const char* w = definition.input("w") ? "w" : "W";
    const double outputs = static_cast<double>(volume(definition.shape(call)));
    if (!definition.input(w) && !definition.attribute("kernel_shape")) return outputs;
    return outputs * static_cast<double>(definition.input(w) ? volume(call.shape(w)) / call.dim(w, 0)
                                                             : volume(call.ints("kernel_shape")));
  }
};

}  // namespace assay
