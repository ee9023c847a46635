// SPDX-License-Identifier: Apache-2.0
// OpenVINO's CPU plugin by the C++ API whose headers its pip wheel holds: what openvino.py does, without Python.
// Compiled by build.sh when the backend is installed.
//
// Options: `precision` is the hint INFERENCE_PRECISION_HINT, f32 where none is asked for, because the plugin's own
// choice is bf16 on processors that have it; `isa` limits the instruction set (ONEDNN_MAX_CPU_ISA) for the life of the
// process.
#include "tools/backends/native/adapter.h"

#include <array>
#include <cctype>
#include <cstring>
#include <iostream>
#include <openvino/openvino.hpp>

namespace assay::native {
namespace {

using Kind = ov::element::Type_t;

struct Type {
  std::int32_t onnx;
  Kind ov;
};
constexpr std::array<Type, 13> types{{{1, Kind::f32},
                                      {2, Kind::u8},
                                      {3, Kind::i8},
                                      {4, Kind::u16},
                                      {5, Kind::i16},
                                      {6, Kind::i32},
                                      {7, Kind::i64},
                                      {9, Kind::boolean},
                                      {10, Kind::f16},
                                      {11, Kind::f64},
                                      {12, Kind::u32},
                                      {13, Kind::u64},
                                      {16, Kind::bf16}}};

std::int32_t onnx_type_of(const ov::element::Type& type) {
  const auto found = std::ranges::find(types, Kind(type), &Type::ov);
  return found == types.end() ? 0 : found->onnx;
}

// Loads the plugin at the first model.
ov::Core& core() {
  static ov::Core one;
  return one;
}

ov::Tensor tensor_of(const ov::Output<const ov::Node>& port, const assay_tensor& given) {
  const ov::element::Type& type = port.get_element_type();
  if (onnx_type_of(type) != given.type) throw Refused{.because = "the input has become " + type.get_type_name()};
  ov::Tensor tensor(type, ov::Shape(given.dims, given.dims + given.rank));
  if (given.bytes > 0) std::memcpy(tensor.data(), given.data, std::min(given.bytes, tensor.get_byte_size()));
  return tensor;
}

void emit(const Host& host, std::int32_t number, const ov::Tensor& tensor) {
  const std::int32_t type = onnx_type_of(tensor.get_element_type());
  if (type == 0) throw Refused{.because = "an output of type " + tensor.get_element_type().get_type_name()};
  const ov::Shape& shape = tensor.get_shape();
  const std::size_t bytes = tensor.get_byte_size();
  host.emit(number, type, std::vector<std::int64_t>(shape.begin(), shape.end()), bytes ? tensor.data() : nullptr,
            bytes);
}

// Not implemented, as OpenVINO words it.
bool is_missing(std::string_view text) {
  for (const char* words :
       {"No conversion rule found for operations", "Not Implemented", "Unsupported operation of type"})
    if (text.find(words) != std::string_view::npos) return true;
  return false;
}

template <class F>
auto told(F&& act) {
  try {
    return act();
  } catch (const ov::Exception& error) {
    throw Refused{is_missing(error.what()) ? ASSAY_UNSUPPORTED : ASSAY_REFUSED, error.what()};
  }
}

class Loaded : public RuntimeSession {
 public:
  explicit Loaded(ov::CompiledModel model) : model_(std::move(model)) {}

  void run(InputTensors inputs, const Host& host) override {
    told([&] { infer(inputs, host); });
  }

 private:
  void infer(InputTensors inputs, const Host& host) {
    const auto& ports = model_.inputs();
    if (ports.size() != inputs.size())
      throw Refused{.because = std::to_string(ports.size()) + " inputs are left of " + std::to_string(inputs.size())};
    ov::InferRequest& request = kept_.emplace_back(model_.create_infer_request());
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].type != 0) request.set_input_tensor(i, tensor_of(ports[i], inputs[i]));
    request.infer();
    for (std::size_t i = 0; i < model_.outputs().size(); ++i)
      emit(host, static_cast<std::int32_t>(i), request.get_output_tensor(i));
  }

  ov::CompiledModel model_;
  std::vector<ov::InferRequest> kept_;  // each keeps its outputs
};

// The plugin reads it once, so a process has one.
void settle(std::string isa) {
  static const std::string settled = isa;
  if (isa != settled) {
    std::cerr << "isa=" << isa << " asked of a process that was started with isa=" << settled << std::endl;
    std::_Exit(2);
  }
  for (char& c : isa) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (!isa.empty()) ::setenv("ONEDNN_MAX_CPU_ISA", isa.c_str(), 1);
}

std::unique_ptr<RuntimeSession> load(const assay_model& model) {
  settle(assay_option_of(&model, "isa", ""));
  const ov::AnyMap settings{{"INFERENCE_PRECISION_HINT", std::string(assay_option_of(&model, "precision", "f32"))},
                            {"INFERENCE_NUM_THREADS", std::atoi(assay_option_of(&model, "threads", "1"))},
                            {"NUM_STREAMS", std::string("1")}};
  return told([&] {
    const std::string bytes(static_cast<const char*>(model.onnx), model.onnx_bytes);
    return std::make_unique<Loaded>(core().compile_model(core().read_model(bytes, ov::Tensor()), "CPU", settings));
  });
}

std::string describe(Arguments) {
  return described("openvino-native", ov::get_openvino_version().buildNumber,
                   "\"arithmetic\":{\"accumulator\":\"f32\"},\"options\":{\"precision\":[\"f32\",\"bf16\",\"f16\","
                   "\"dynamic\"],\"isa\":[\"sse41\",\"avx2\",\"avx512_core\",\"avx512_core_vnni\",\"avx512_core_bf16\","
                   "\"avx512_core_amx\"]}");
}

}  // namespace
}  // namespace assay::native

extern "C" ASSAY_EXPORT const assay_backend* assay_backend_v1(void) {
  return assay::native::table<assay::native::describe, assay::native::load>();
}
