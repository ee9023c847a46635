// SPDX-License-Identifier: Apache-2.0
// Adapter: what the C++ adapters of this folder share. It turns the functions of assay_backend.h into a class and its
// exceptions into statuses, and finds a shared library within a Python environment.
#pragma once

#include "tools/backends/assay_backend.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::native {

using Arguments = std::span<const char* const>;
using InputTensors = std::span<const assay_tensor>;

// A refusal on its way to assay; any other exception is one as well.
struct Refused {
  std::int32_t status = ASSAY_REFUSED;
  std::string because;
};

// Refuses strings, whose bytes are not those of the runtime's tensor (assay_backend.h).
inline void refuse_strings(std::int32_t type) {
  constexpr std::int32_t string = 8;
  if (type == string) throw Refused{ASSAY_UNSUPPORTED, "this worker hands no strings over"};
}

class Host {
 public:
  explicit Host(const assay_host* host) : host_(host) {}

  void because(const std::string& reason) const { host_->because(host_->context, reason.c_str()); }
  void emit(std::int32_t output, std::int32_t type, const std::vector<std::int64_t>& dims, const void* data,
            std::size_t bytes) const {
    refuse_strings(type);
    const assay_tensor tensor{type, static_cast<std::int32_t>(dims.size()), dims.data(), data, bytes};
    host_->emit(host_->context, output, &tensor);
  }

 private:
  const assay_host* host_;
};

using Buffers = std::span<const assay_buffer>;

// What it emits has to stay until it is destroyed.
class RuntimeSession {
 public:
  virtual ~RuntimeSession() = default;
  virtual void run(InputTensors inputs, const Host& host) = 0;
  // Of an adapter whose table says that it binds outputs.
  virtual void run_into(InputTensors, Buffers) {}
};

// What describe() returns; `rest` is more of the object.
inline std::string described(const std::string& backend, const std::string& version, const std::string& rest) {
  return "{\"backend\":\"" + backend + "\",\"version\":\"" + version + "\",\"device\":\"cpu\"," + rest + "}";
}

template <class F>
std::int32_t status_of(const assay_host* host, F&& act) {
  const Host told(host);
  try {
    act(told);
    return ASSAY_OK;
  } catch (const Refused& refusal) {
    told.because(refusal.because);
    return refusal.status;
  } catch (const std::bad_alloc&) {
    throw;  // says nothing about the model: ends the process
  } catch (const std::exception& error) {
    told.because(error.what());
    return ASSAY_REFUSED;
  }
}

// Tensors as an adapter takes them: numbers, whose bytes lie side by side.
inline InputTensors numbers(const assay_tensor* inputs, std::int32_t count) {
  const InputTensors all(inputs, static_cast<std::size_t>(count));
  for (const assay_tensor& each : all) refuse_strings(each.type);
  return all;
}

// The table of an adapter that has `std::string describe(Arguments)` and
// `std::unique_ptr<Session> load(const assay_model&)`.
enum class Binding { none, outputs };
template <auto describe, auto load>
const assay_backend* table(bool wants_node = false, Binding binding = Binding::none) {
  static const assay_backend backend{
      ASSAY_BACKEND_ABI,
      sizeof(assay_backend),
      wants_node,
      [](const assay_host* host, int argc, const char* const* argv) -> const char* {
        static std::string text;
        const std::int32_t status =
            status_of(host, [&](const Host&) { text = describe(Arguments(argv, static_cast<std::size_t>(argc))); });
        return status == ASSAY_OK ? text.c_str() : nullptr;
      },
      [](const assay_model* model, void** session, const assay_host* host) {
        return status_of(host, [&](const Host&) { *session = load(*model).release(); });
      },
      [](void* session, const assay_tensor* inputs, std::int32_t count, const assay_host* host) {
        return status_of(host, [&](const Host& told) {
          static_cast<RuntimeSession*>(session)->run(numbers(inputs, count), told);
        });
      },
      [](void* session) { delete static_cast<RuntimeSession*>(session); },
      1,
      binding == Binding::none ? nullptr
                               : +[](void* session, const assay_tensor* inputs, std::int32_t count,
                                     const assay_buffer* outputs, std::int32_t output_count, const assay_host* host) {
                                   return status_of(host, [&](const Host&) {
                                     static_cast<RuntimeSession*>(session)->run_into(
                                         numbers(inputs, count),
                                         Buffers(outputs, static_cast<std::size_t>(output_count)));
                                   });
                                 },
  };
  return &backend;
}

// The library that the environment variable names; or that whose file name begins with `stem` in `folder` of the Python
// environment whose interpreter is the first argument.
inline std::string library_of_wheel(Arguments arguments, const char* variable, const std::string& folder,
                                    std::string_view stem) {
  namespace fs = std::filesystem;
  if (const char* given = std::getenv(variable); given && *given) return given;
  if (arguments.empty())
    throw Refused{.because = std::string(variable) + " is not set, nor is an interpreter given whose packages have it"};
  const fs::path libraries = fs::path(arguments[0]).parent_path().parent_path() / "lib";
  std::error_code ignored;
  for (const fs::directory_entry& python : fs::directory_iterator(libraries, ignored))
    for (const fs::directory_entry& file : fs::directory_iterator(python.path() / "site-packages" / folder, ignored)) {
      const std::string name = file.path().filename().string();
      if (name.starts_with(stem) && name.find(".so") != std::string::npos) return file.path().string();
    }
  throw Refused{.because = "there is no " + folder + "/" + std::string(stem) + "*.so* below " + libraries.string() +
                           "; set " + variable + " to the library"};
}

}  // namespace assay::native
