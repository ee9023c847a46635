// SPDX-License-Identifier: Apache-2.0
#include "reference/families/axis.h"

#include <vector>

namespace assay {
namespace {

// The extents of a tensor before, along and behind what makes a line.
struct Lines {
  Int before = 1, length = 1, behind = 1;
};

Lines lines_of(const Call& call) {
  const Shape& shape = call.shape(call.definition().inputs.front().name);
  const auto rank = static_cast<Int>(shape.size());
  const Int said = call.integer("axis"), axis = said < 0 ? said + rank : said;
  Lines lines;
  for (Int i = 0; i < rank; ++i) {
    const bool is_along = i == axis || (i > axis && call.definition().flattens);
    (i < axis ? lines.before : is_along ? lines.length : lines.behind) *= shape[static_cast<std::size_t>(i)];
  }
  return lines;
}

}  // namespace

void along_axis(Operator& op, int axis) {
  op.input("input", "T").output("output", "T").attribute("axis", axis);
  op.require("S1", "-r <= axis < r, r the rank of the input", [](const Call& c) {
    const Int rank = c.rank("input"), named = c.integer("axis");
    return rank == 0 || (-rank <= named && named < rank);
  });
  op.require(
      "S2", "the input has an axis", [](const Call& c) { return c.rank("input") > 0; }, "N32");
}

Kernel along_lines(void (*f)(std::span<const double> x, std::span<double> y)) {
  return [f](const Call& call, Inputs in) {
    Tensor out = Tensor::to_be_written(in[0]->type());
    const Lines lines = lines_of(call);
    std::vector<double> x(static_cast<std::size_t>(lines.length)), y(x.size());
    for_float(out.dtype(), [&]<class T>() {
      const std::span<const T> from = in[0]->as<T>();
      const std::span<T> to = out.as<T>();
      for (Int line = 0; line < lines.before * lines.behind; ++line) {
        const auto at = [&](std::size_t i) {
          const Int row = line / lines.behind * lines.length + static_cast<Int>(i);
          return static_cast<std::size_t>(row * lines.behind + line % lines.behind);
        };
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(from[at(i)]);
        f(x, y);
        for (std::size_t i = 0; i < y.size(); ++i) to[at(i)] = T(y[i]);
      }
    });
    return out;
  };
}

}  // namespace assay
