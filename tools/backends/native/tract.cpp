// SPDX-License-Identifier: Apache-2.0
// tract by the C interface of the library that its pip wheel holds (api/ffi of github.com/sonos/tract).
//
// tract wants to be told the shapes of inputs where the model leaves them open, so a model becomes runnable when its
// first data are there, and is told theirs.
#include "tools/backends/native/adapter.h"

#include <array>
#include <cstdint>
#include <dlfcn.h>
#include <utility>

namespace assay::native {
namespace {

// Objects of tract; it hands out and takes back pointers to them.
struct Onnx;
struct InferenceModel;
struct Fact;
struct Model;
struct Runnable;
struct Value;

struct Interface {
  const char* (*version)();
  const char* (*last_error)();
  int (*onnx_create)(Onnx**);
  int (*onnx_load_buffer)(const Onnx*, const void*, std::size_t, InferenceModel**);
  int (*input_count)(const InferenceModel*, std::size_t*);
  int (*fact_parse)(InferenceModel*, const char*, Fact**);
  int (*set_input_fact)(InferenceModel*, std::size_t, const Fact*);
  int (*into_model)(InferenceModel**, Model**);
  int (*into_runnable)(Model**, Runnable**);
  int (*output_count)(const Runnable*, std::size_t*);
  int (*run)(Runnable*, Value**, Value**);
  int (*tensor_from_bytes)(std::uint32_t, std::size_t, const std::size_t*, const void*, Value**);
  int (*tensor_as_bytes)(Value*, std::uint32_t*, std::size_t*, const std::size_t**, const void**);
  int (*fact_destroy)(Fact**);
  int (*inference_model_destroy)(InferenceModel**);
  int (*runnable_release)(Runnable**);
  int (*tensor_destroy)(Value**);
};

Interface tract;
Onnx* onnx = nullptr;

struct Type {
  std::int32_t onnx;
  std::uint32_t tract;  // DatumType
  std::size_t size;
  const char* fact;
};
constexpr std::array<Type, 12> types{{{9, 0x01, 1, "bool"},
                                      {2, 0x11, 1, "u8"},
                                      {4, 0x12, 2, "u16"},
                                      {12, 0x14, 4, "u32"},
                                      {13, 0x18, 8, "u64"},
                                      {3, 0x21, 1, "i8"},
                                      {5, 0x22, 2, "i16"},
                                      {6, 0x24, 4, "i32"},
                                      {7, 0x28, 8, "i64"},
                                      {10, 0x32, 2, "f16"},
                                      {1, 0x34, 4, "f32"},
                                      {11, 0x38, 8, "f64"}}};

const Type& type_of(const assay_tensor& tensor) {
  for (const Type& type : types)
    if (type.onnx == tensor.type) return type;
  throw Refused{ASSAY_UNSUPPORTED, tensor.type == 0
                                       ? "the C interface has no inputs that are absent"
                                       : "the C interface has no tensors of type " + std::to_string(tensor.type)};
}

// Not implemented, as tract words it.
bool is_missing(std::string_view text) {
  for (const char* words : {"Unimplemented(", "not implemented", "not supported"})
    if (text.find(words) != std::string_view::npos) return true;
  return false;
}

void check(int result) {
  if (result == 0) return;
  const char* said = tract.last_error();
  std::string text = said ? said : "tract gave no reason";
  text.resize(std::min(text.size(), text.find("Stack backtrace")));
  throw Refused{is_missing(text) ? ASSAY_UNSUPPORTED : ASSAY_REFUSED, text};
}

template <class T, int (*Interface::*destroy)(T**)>
struct Deleter {
  void operator()(T* object) const { (tract.*destroy)(&object); }
};
using OwnedInference = std::unique_ptr<InferenceModel, Deleter<InferenceModel, &Interface::inference_model_destroy>>;
using OwnedFact = std::unique_ptr<Fact, Deleter<Fact, &Interface::fact_destroy>>;
using OwnedRunnable = std::unique_ptr<Runnable, Deleter<Runnable, &Interface::runnable_release>>;
using OwnedValue = std::unique_ptr<Value, Deleter<Value, &Interface::tensor_destroy>>;

std::string fact_of(const assay_tensor& tensor) {
  std::string text;
  for (std::int32_t axis = 0; axis < tensor.rank; ++axis) text += std::to_string(tensor.dims[axis]) + ",";
  return text + type_of(tensor).fact;
}

OwnedValue value_of(const assay_tensor& tensor) {
  std::vector<std::size_t> shape(tensor.dims, tensor.dims + tensor.rank);
  shape.reserve(1);  // Rust's slices want an address even where they are empty
  static constexpr std::max_align_t nothing{};
  Value* value = nullptr;
  check(tract.tensor_from_bytes(type_of(tensor).tract, static_cast<std::size_t>(tensor.rank), shape.data(),
                                tensor.bytes > 0 ? tensor.data : &nothing, &value));
  return OwnedValue(value);
}

void emit(const Host& host, std::int32_t number, Value* value) {
  std::uint32_t kind = 0;
  std::size_t rank = 0;
  const std::size_t* shape = nullptr;
  const void* data = nullptr;
  check(tract.tensor_as_bytes(value, &kind, &rank, &shape, &data));
  const auto type = std::ranges::find(types, kind, &Type::tract);
  if (type == types.end()) throw Refused{.because = "an output of tract's type " + std::to_string(kind)};
  std::vector<std::int64_t> dims(shape, shape + rank);
  std::size_t bytes = type->size;
  for (const std::int64_t dim : dims) bytes *= static_cast<std::size_t>(dim);
  host.emit(number, type->onnx, dims, data, bytes);
}

class Loaded : public RuntimeSession {
 public:
  explicit Loaded(OwnedInference model) : model_(std::move(model)) {}

  void run(InputTensors inputs, const Host& host) override {
    std::vector<OwnedValue> held;
    std::vector<Value*> values;
    for (const assay_tensor& input : inputs) values.push_back(held.emplace_back(value_of(input)).get());
    if (!runnable_) prepare(inputs);
    std::size_t count = 0;
    check(tract.output_count(runnable_.get(), &count));
    std::vector<Value*> results(count);
    check(tract.run(runnable_.get(), values.data(), results.data()));
    for (std::size_t i = 0; i < count; ++i) {
      kept_.emplace_back(results[i]);
      emit(host, static_cast<std::int32_t>(i), results[i]);
    }
  }

 private:
  void prepare(InputTensors inputs) {
    if (!model_) throw Refused{.because = "the model was refused before"};
    std::size_t count = 0;
    check(tract.input_count(model_.get(), &count));
    if (count != inputs.size())
      throw Refused{.because = std::to_string(count) + " inputs are left of " + std::to_string(inputs.size())};
    for (std::size_t i = 0; i < count; ++i) {
      Fact* fact = nullptr;
      check(tract.fact_parse(model_.get(), fact_of(inputs[i]).c_str(), &fact));
      check(tract.set_input_fact(model_.get(), i, OwnedFact(fact).get()));
    }
    // Both take what they are given, whether they succeed or not.
    InferenceModel* inference = model_.release();
    Model* model = nullptr;
    check(tract.into_model(&inference, &model));
    Runnable* runnable = nullptr;
    check(tract.into_runnable(&model, &runnable));
    runnable_.reset(runnable);
  }

  OwnedInference model_;
  OwnedRunnable runnable_;
  std::vector<OwnedValue> kept_;
};

std::unique_ptr<RuntimeSession> load(const assay_model& model) {
  InferenceModel* inference = nullptr;
  check(tract.onnx_load_buffer(onnx, model.onnx, model.onnx_bytes, &inference));
  return std::make_unique<Loaded>(OwnedInference(inference));
}

// A function of the library, as whatever its pointer is to be.
struct Exported {
  void* function;
  template <class F>
  operator F*() const {
    return reinterpret_cast<F*>(function);
  }
};

void open(const std::string& file) {
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw Refused{.because = ::dlerror()};
  const auto find = [&](const std::string& name) {
    void* const function = ::dlsym(library, ("tract_" + name).c_str());
    if (!function) throw Refused{.because = "the library of tract exports no tract_" + name};
    return Exported{function};
  };
  // In the order of Interface.
  tract = {find("version"),
           find("get_last_error"),
           find("onnx_create"),
           find("onnx_load_buffer"),
           find("inference_model_input_count"),
           find("inference_fact_parse"),
           find("inference_model_set_input_fact"),
           find("inference_model_into_model"),
           find("model_into_runnable"),
           find("runnable_output_count"),
           find("runnable_run"),
           find("tensor_from_bytes"),
           find("tensor_as_bytes"),
           find("inference_fact_destroy"),
           find("inference_model_destroy"),
           find("runnable_release"),
           find("tensor_destroy")};
}

std::string describe(Arguments arguments) {
  open(library_of_wheel(arguments, "ASSAY_TRACT", "tract", "tract."));
  check(tract.onnx_create(&onnx));
  // The interface has no tensors of bfloat16; README.md of tract claims no newest opset.
  return described("tract-native", tract.version(),
                   "\"capabilities\":{\"types\":[\"f16\",\"f32\",\"f64\",\"u8\",\"i8\",\"i32\",\"i64\"]}");
}

}  // namespace
}  // namespace assay::native

extern "C" ASSAY_EXPORT const assay_backend* assay_backend_v1(void) {
  return assay::native::table<assay::native::describe, assay::native::load>();
}
