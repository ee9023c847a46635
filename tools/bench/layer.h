// SPDX-License-Identifier: Apache-2.0
// Layer: one layer of a well-known shape with its data, as the benchmarks put it to the kernels.
#pragma once

#include "reference/case_view.h"
#include "reference/onnx_io.h"

#include <filesystem>
#include <fstream>
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

  // The first output asked for.
  Tensor answer() const { return c.definition().fast(c.call(), in, 1).requested().front(); }
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

inline void write_file(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  if (!file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())))
    throw InputError("cannot write " + path.string());
}

// Writes a layer for what reads ONNX: model.onnx, input_N.pb of what is no constant, and the answer, output.pb.
inline void write_layer(const Layer& layer, const Tensor& answer, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  write_file(folder / "model.onnx", model_of(layer.c));
  write_file(folder / "output.pb", encode_tensor(answer, "Y"));
  int number = 0;
  for (const std::string& input : graph_inputs(layer.c, 0))
    write_file(folder / ("input_" + std::to_string(number++) + ".pb"), input);
}

}  // namespace assay
