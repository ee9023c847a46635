// SPDX-License-Identifier: Apache-2.0
// onnxruntime by the C API of the library that its pip wheel holds: what onnxruntime.py does, without Python.
//
// The wheel brings no header. OrtApi is a table of function pointers to which versions only append
// (onnxruntime_c_api.h: "NO REORDERING"), so a function has a number; those in use are named below.
#include "tools/backends/native/adapter.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

namespace assay::native {
namespace {

constexpr std::uint32_t api_version = 17;

// OrtErrorCode, OrtLoggingLevel, OrtAllocatorType and OrtMemType, as far as used.
constexpr int not_implemented = 9, fatal_only = 4, arena_allocator = 1, default_memory = 0;

struct Status;
struct Env;
struct MemoryInfo;
struct OrtSession;
struct Value;
struct Options;
struct TypeAndShape;
struct Allocator;

// A function of the table: its number and its type.
template <int number, class Signature>
struct Function;
template <int number, class R, class... A>
struct Function<number, R(A...)> {
  static R call(const void* api, A... arguments) {
    void* entry;
    std::memcpy(static_cast<void*>(&entry), static_cast<const char*>(api) + number * sizeof(void*), sizeof entry);
    return reinterpret_cast<R (*)(A...)>(entry)(arguments...);
  }
};

using GetErrorCode = Function<1, int(const Status*)>;
using GetErrorMessage = Function<2, const char*(const Status*)>;
using CreateEnv = Function<3, Status*(int, const char*, Env**)>;
using CreateSessionFromArray = Function<8, Status*(const Env*, const void*, std::size_t, const Options*, OrtSession**)>;
using Run = Function<9, Status*(OrtSession*, const void*, const char* const*, const Value* const*, std::size_t,
                                const char* const*, std::size_t, Value**)>;
using CreateSessionOptions = Function<10, Status*(Options**)>;
using SetSessionLogSeverityLevel = Function<22, Status*(Options*, int)>;
using SetSessionGraphOptimizationLevel = Function<23, Status*(Options*, int)>;
using SetIntraOpNumThreads = Function<24, Status*(Options*, int)>;
using SetInterOpNumThreads = Function<25, Status*(Options*, int)>;
using SessionGetInputCount = Function<30, Status*(const OrtSession*, std::size_t*)>;
using SessionGetOutputCount = Function<31, Status*(const OrtSession*, std::size_t*)>;
using SessionGetInputName = Function<36, Status*(const OrtSession*, std::size_t, Allocator*, char**)>;
using SessionGetOutputName = Function<37, Status*(const OrtSession*, std::size_t, Allocator*, char**)>;
using CreateTensorWithDataAsOrtValue =
    Function<49, Status*(const MemoryInfo*, void*, std::size_t, const std::int64_t*, std::size_t, int, Value**)>;
using GetTensorMutableData = Function<51, Status*(Value*, void**)>;
using GetTensorElementType = Function<60, Status*(const TypeAndShape*, int*)>;
using GetDimensionsCount = Function<61, Status*(const TypeAndShape*, std::size_t*)>;
using GetDimensions = Function<62, Status*(const TypeAndShape*, std::int64_t*, std::size_t)>;
using GetTensorShapeElementCount = Function<64, Status*(const TypeAndShape*, std::size_t*)>;
using GetTensorTypeAndShape = Function<65, Status*(const Value*, TypeAndShape**)>;
using CreateCpuMemoryInfo = Function<69, Status*(int, int, MemoryInfo**)>;
using AllocatorFree = Function<76, Status*(Allocator*, void*)>;
using GetAllocatorWithDefaultOptions = Function<78, Status*(Allocator**)>;
using ReleaseStatus = Function<93, void(Status*)>;
using ReleaseSession = Function<95, void(OrtSession*)>;
using ReleaseValue = Function<96, void(Value*)>;
using ReleaseTensorTypeAndShapeInfo = Function<99, void(TypeAndShape*)>;
using ReleaseSessionOptions = Function<100, void(Options*)>;

struct ApiBase {
  const void* (*get_api)(std::uint32_t version);
  const char* (*get_version)();
};

// Set once, by describe().
const void* api = nullptr;
Env* environment = nullptr;
MemoryInfo* memory = nullptr;
Allocator* allocator = nullptr;

template <class F, class... A>
auto call(A... arguments) {
  return F::call(api, arguments...);
}

// Calls a function that returns a status.
template <class F, class... A>
void check(A... arguments) {
  Status* status = F::call(api, arguments...);
  if (!status) return;
  const std::string text = call<GetErrorMessage>(static_cast<const Status*>(status));
  const bool is_missing = call<GetErrorCode>(static_cast<const Status*>(status)) == not_implemented ||
                          text.find("NOT_IMPLEMENTED") != std::string::npos ||
                          text.find("Could not find an implementation") != std::string::npos;
  call<ReleaseStatus>(status);
  throw Refused{is_missing ? ASSAY_UNSUPPORTED : ASSAY_REFUSED, text};
}

template <class T, class Release>
struct Deleter {
  void operator()(T* object) const { call<Release>(object); }
};
template <class T, class Release>
using Owned = std::unique_ptr<T, Deleter<T, Release>>;

using OwnedSession = Owned<OrtSession, ReleaseSession>;
using OwnedValue = Owned<Value, ReleaseValue>;

// GraphOptimizationLevel of onnxruntime_c_api.h.
int level_of(std::string_view optimization) {
  if (optimization == "none") return 0;
  if (optimization == "basic") return 1;
  if (optimization == "extended") return 2;
  return 99;
}

// Convert the number of an element type: onnxruntime counts uint2, int2, float8e8m0 from 24 on, ONNX float8e8m0, uint2,
// int2 (onnxruntime_c_api.h, onnx.proto).
int number_here(std::int32_t onnx) { return onnx == 24 ? 26 : onnx == 25 || onnx == 26 ? onnx - 1 : onnx; }
int number_in_onnx(int here) { return here == 26 ? 24 : here == 24 || here == 25 ? here + 1 : here; }

// Bits of an ONNX element type; 0 where it has none.
std::size_t width_of(int type) {
  constexpr std::array<std::size_t, 29> widths{0,   32, 8, 8, 16, 16, 32, 64, 0, 8, 16, 64, 32, 64, 64,
                                               128, 16, 8, 8, 8,  8,  4,  4,  4, 8, 2,  2,  6,  6};
  return type > 0 && static_cast<std::size_t>(type) < widths.size() ? widths[static_cast<std::size_t>(type)] : 0;
}

template <class Count, class Name>
std::vector<std::string> names(const OrtSession* session) {
  std::size_t count = 0;
  check<Count>(session, &count);
  std::vector<std::string> all;
  for (std::size_t i = 0; i < count; ++i) {
    char* name = nullptr;
    check<Name>(session, i, allocator, &name);
    all.emplace_back(name);
    check<AllocatorFree>(allocator, static_cast<void*>(name));
  }
  return all;
}

std::vector<const char*> pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> all;
  for (const std::string& text : texts) all.push_back(text.c_str());
  return all;
}

OwnedValue value_of(std::int32_t type, std::int32_t rank, const std::int64_t* dims, void* data, std::size_t bytes) {
  static char nothing = 0;  // OrtValue wants an address even where there is nothing
  Value* value = nullptr;
  check<CreateTensorWithDataAsOrtValue>(static_cast<const MemoryInfo*>(memory),
                                        bytes > 0 ? data : static_cast<void*>(&nothing), bytes, dims,
                                        static_cast<std::size_t>(rank), number_here(type), &value);
  return OwnedValue(value);
}

void emit(const Host& host, std::int32_t number, Value* value) {
  TypeAndShape* found = nullptr;
  check<GetTensorTypeAndShape>(static_cast<const Value*>(value), &found);
  const Owned<TypeAndShape, ReleaseTensorTypeAndShapeInfo> held(found);
  const TypeAndShape* info = found;
  int type = 0;
  std::size_t rank = 0, elements = 0;
  void* data = nullptr;
  check<GetTensorElementType>(info, &type);
  check<GetDimensionsCount>(info, &rank);
  check<GetTensorShapeElementCount>(info, &elements);
  check<GetTensorMutableData>(value, &data);
  std::vector<std::int64_t> dims(rank);
  check<GetDimensions>(info, dims.data(), rank);
  type = number_in_onnx(type);
  host.emit(number, type, dims, data, (elements * width_of(type) + 7) / 8);
}

class Loaded : public RuntimeSession {
 public:
  explicit Loaded(OwnedSession session)
      : session_(std::move(session)),
        inputs_(names<SessionGetInputCount, SessionGetInputName>(session_.get())),
        outputs_(names<SessionGetOutputCount, SessionGetOutputName>(session_.get())) {}

  void run(InputTensors inputs, const Host& host) override {
    std::vector<Value*> results(outputs_.size());
    run_session(inputs, results);
    for (std::size_t i = 0; i < results.size(); ++i) {
      kept_.emplace_back(results[i]);
      emit(host, static_cast<std::int32_t>(i), results[i]);
    }
  }

  void run_into(InputTensors inputs, Buffers outputs) override {
    std::vector<OwnedValue> held;
    std::vector<Value*> results;
    for (const assay_buffer& each : outputs)
      results.push_back(held.emplace_back(value_of(each.type, each.rank, each.dims, each.data, each.bytes)).get());
    run_session(inputs, results);
  }

 private:
  // Results that are null are made by the session.
  void run_session(InputTensors inputs, std::vector<Value*>& results) {
    if (inputs.size() != inputs_.size())
      throw Refused{.because = "the session has " + std::to_string(inputs_.size()) + " inputs, the model " +
                               std::to_string(inputs.size())};
    std::vector<OwnedValue> held;
    std::vector<const char*> fed;
    std::vector<const Value*> values;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].type == 0) continue;
      fed.push_back(inputs_[i].c_str());
      const assay_tensor& input = inputs[i];
      values.push_back(
          held.emplace_back(value_of(input.type, input.rank, input.dims, const_cast<void*>(input.data), input.bytes))
              .get());
    }
    const std::vector<const char*> wanted = pointers(outputs_);
    check<Run>(session_.get(), static_cast<const void*>(nullptr), fed.data(), values.data(), values.size(),
               wanted.data(), wanted.size(), results.data());
  }

  OwnedSession session_;
  std::vector<OwnedValue> kept_;
  std::vector<std::string> inputs_, outputs_;
};

std::unique_ptr<RuntimeSession> load(const assay_model& model) {
  Options* options = nullptr;
  check<CreateSessionOptions>(&options);
  const Owned<Options, ReleaseSessionOptions> held(options);
  check<SetSessionLogSeverityLevel>(options, fatal_only);
  check<SetIntraOpNumThreads>(options, std::atoi(assay_option_of(&model, "threads", "1")));
  check<SetInterOpNumThreads>(options, 1);
  check<SetSessionGraphOptimizationLevel>(options, level_of(assay_option_of(&model, "optimization", "all")));
  OrtSession* session = nullptr;
  check<CreateSessionFromArray>(static_cast<const Env*>(environment), model.onnx, model.onnx_bytes,
                                static_cast<const Options*>(options), &session);
  return std::make_unique<Loaded>(OwnedSession(session));
}

const ApiBase& open(const std::string& file) {
  ::setenv("ORT_DISABLE_TELEMETRY", "1", 0);  // a test reports to nobody, and its thread could not be forked
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw Refused{.because = ::dlerror()};
  auto* base = reinterpret_cast<const ApiBase* (*)()>(::dlsym(library, "OrtGetApiBase"));
  if (!base) throw Refused{.because = file + " exports no OrtGetApiBase"};
  return *base();
}

std::string describe(Arguments arguments) {
  const ApiBase& base = open(library_of_wheel(arguments, "ASSAY_ONNXRUNTIME", "onnxruntime/capi", "libonnxruntime.so"));
  api = base.get_api(api_version);
  if (!api) throw Refused{.because = std::string("onnxruntime ") + base.get_version() + " has no API of version 17"};
  check<CreateEnv>(fatal_only, "assay", &environment);
  check<CreateCpuMemoryInfo>(arena_allocator, default_memory, &memory);
  check<GetAllocatorWithDefaultOptions>(&allocator);
  // Newer opsets are refused as "under development"; arithmetic as in onnxruntime.py.
  return described("onnxruntime-native", base.get_version(),
                   "\"arithmetic\":{\"accumulator\":\"f32\"},\"capabilities\":{\"newest_opset\":26}");
}

}  // namespace
}  // namespace assay::native

extern "C" ASSAY_EXPORT const assay_backend* assay_backend_v1(void) {
  return assay::native::table<assay::native::describe, assay::native::load>(false, assay::native::Binding::outputs);
}
