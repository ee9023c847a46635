// SPDX-License-Identifier: Apache-2.0
// assay-worker-host LIBRARY [ARGUMENTS]: serves a shared library that exports assay_backend.h, as a worker. What the
// library gets wrong at the boundary ends this process with a line that says so, and the case with it.
#include "reference/onnx_io.h"
#include "reference/onnx_node.h"
#include "suites/sandbox/fork_server.h"
#include "suites/workers/frame.h"
#include "suites/workers/refusal.h"
#include "suites/workers/serving.h"
#include "tools/backends/assay_backend.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <dlfcn.h>
#include <iostream>
#include <map>
#include <optional>
#include <span>
#include <unistd.h>
#include <utility>

namespace assay {
namespace {

using Json = nlohmann::ordered_json;
using oracles::Outcome;
using suites::accepted;
using suites::RequestRefusal;

constexpr std::int64_t most_dimensions = 64, most_outputs = 1024;
constexpr std::size_t longest_reason = 2000;  // a header has its limit, and runtimes quote whole models

// The library broke the contract of assay_backend.h.
struct ContractBreach {
  std::string text;
};

const char* name_of(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash ? slash + 1 : path;
}

std::string text_of(const assay_tensor& tensor) {
  const std::span dims(tensor.dims, static_cast<std::size_t>(tensor.rank));
  return "type " + std::to_string(tensor.type) + text(dims);
}

bool is_known(std::int32_t type) { return dtype_numbered(type).has_value(); }

// Holds the size of a tensor against its type and extents, before anything is allocated.
void expect_sound(const assay_tensor& given) {
  if (given.rank < 0 || given.rank > most_dimensions || (given.rank > 0 && !given.dims))
    throw ContractBreach{"a tensor of rank " + std::to_string(given.rank)};
  const std::span dims(given.dims, static_cast<std::size_t>(given.rank));
  if (std::ranges::any_of(dims, [](Int extent) { return extent < 0; }))
    throw ContractBreach{"a tensor with a negative extent: " + text_of(given)};
  if (!is_known(given.type))
    throw ContractBreach{"a tensor of element type " + std::to_string(given.type) + ", which assay does not know"};
  if (static_cast<DType>(given.type) == DType::string) {
    if (given.bytes > 0 && !given.data) throw ContractBreach{"no data for " + text_of(given)};
    return;
  }
  Int bytes;
  if (__builtin_mul_overflow(volume(dims), static_cast<Int>(size_of(static_cast<DType>(given.type))), &bytes) ||
      message_size({static_cast<DType>(given.type), {dims.begin(), dims.end()}}) != given.bytes)
    throw ContractBreach{std::to_string(given.bytes) + " bytes for " + text_of(given)};
  if (bytes > 0 && !given.data) throw ContractBreach{"no data for " + text_of(given)};
}

// One output that the library emitted: its bytes, or where they stay.
class Emitted {
 public:
  Emitted(const assay_tensor& given, bool is_kept)
      : type_{static_cast<DType>(given.type), Shape(given.dims, given.dims + given.rank)},
        stays_(given.data),
        bytes_(given.bytes) {
    if (!is_kept) copy_.emplace(tensor());
  }

  const TensorType& type() const { return type_; }
  // Read now, unless it was copied at once.
  std::string encoded() const { return encode_tensor(copy_ ? *copy_ : tensor(), ""); }

 private:
  Tensor tensor() const {
    if (is_packed(type_.dtype)) {
      std::optional<Tensor> out = unpacked(type_, {static_cast<const char*>(stays_), bytes_});
      if (!out)
        throw ContractBreach{std::to_string(bytes_) + " bytes that do not make " + std::string(name(type_.dtype)) +
                             text(type_.shape)};
      return *std::move(out);
    }
    Tensor out(type_);
    if (!out.bytes().empty()) std::memcpy(out.bytes().data(), stays_, out.bytes().size());
    return out;
  }

  TensorType type_;
  const void* stays_;
  std::size_t bytes_;
  std::optional<Tensor> copy_;
};

// What the library says while it is called. Nothing is thrown through its frames: a breach is kept until it returns.
class Listener {
 public:
  explicit Listener(bool keeps_outputs = false) : keeps_outputs_(keeps_outputs) {}
  Listener(const Listener&) = delete;
  const assay_host* host() const { return &host_; }
  const std::string& because() const { return because_; }

  void expect_no_breach() const {
    if (!breach_.empty()) throw ContractBreach{breach_};
  }

  // In the order of the graph.
  std::vector<Emitted> outputs() const {
    std::vector<Emitted> all;
    for (const auto& [number, emitted] : outputs_) {
      if (std::cmp_not_equal(number, all.size()))
        throw ContractBreach{"output " + std::to_string(number) + " but no output " + std::to_string(all.size())};
      all.push_back(emitted);
    }
    return all;
  }

 private:
  static void take_reason(void* context, const char* reason) {
    static_cast<Listener*>(context)->because_ = reason ? reason : "";
  }

  static void take_output(void* context, std::int32_t number, const assay_tensor* tensor) {
    Listener& self = *static_cast<Listener*>(context);
    const std::string place = "output " + std::to_string(number) + ": ";
    try {
      if (number < 0 || number >= most_outputs || !tensor) throw ContractBreach{"no such output, or no tensor"};
      expect_sound(*tensor);
      const bool is_new = self.outputs_.emplace(number, Emitted(*tensor, self.keeps_outputs_)).second;
      if (!is_new) throw ContractBreach{"emitted twice"};
    } catch (const ContractBreach& breach) {
      if (self.breach_.empty()) self.breach_ = place + breach.text;
    } catch (const std::exception& error) {
      if (self.breach_.empty()) self.breach_ = place + error.what();
    }
  }

  assay_host host_{sizeof(assay_host), this, take_reason, take_output};
  std::string because_, breach_;
  bool keeps_outputs_;
  std::map<std::int32_t, Emitted> outputs_;
};

// Throws what the status stands for, unless that is ASSAY_OK.
void expect_ok(const char* function, std::int32_t status, const Listener& listener) {
  listener.expect_no_breach();
  if (status == ASSAY_OK) return;
  const std::string because =
      listener.because().empty() ? std::string(function) + "() gave no reason" : listener.because();
  if (status == ASSAY_REFUSED) throw RequestRefusal{Outcome::Kind::refused, because};
  if (status == ASSAY_UNSUPPORTED) throw RequestRefusal{Outcome::Kind::unsupported, because};
  throw ContractBreach{std::string(function) + "() returned " + std::to_string(status) + ", which is no status"};
}

// What the library sees of a tensor, with strings and small elements the way the header packs them.
struct Viewed {
  Tensor tensor;
  std::string bytes = is_packed(tensor.dtype()) ? packed(tensor) : std::string();

  assay_tensor view() const {
    const bool is_other = is_packed(tensor.dtype());
    return {static_cast<std::int32_t>(tensor.dtype()), static_cast<std::int32_t>(tensor.shape().size()),
            tensor.shape().data(), is_other ? static_cast<const void*>(bytes.data()) : tensor.bytes().data(),
            is_other ? bytes.size() : tensor.bytes().size()};
  }
};

assay_attribute view(const StatedAttribute& attribute) {
  assay_attribute seen{attribute.name.c_str(), ASSAY_OTHER, 0, nullptr, nullptr, nullptr};
  const auto as = [&seen](std::int32_t kind, std::size_t count) {
    seen.kind = kind;
    seen.count = static_cast<std::int64_t>(count);
  };
  if (const auto* value = std::get_if<Int>(&attribute.value)) {
    as(ASSAY_INT, 1);
    seen.ints = value;
  } else if (const auto* real = std::get_if<float>(&attribute.value)) {
    as(ASSAY_FLOAT, 1);
    seen.floats = real;
  } else if (const auto* words = std::get_if<std::string>(&attribute.value)) {
    as(ASSAY_STRING, words->size());
    seen.text = words->c_str();
  } else if (const auto* ints = std::get_if<std::vector<Int>>(&attribute.value)) {
    as(ASSAY_INTS, ints->size());
    seen.ints = ints->data();
  } else if (const auto* reals = std::get_if<std::vector<float>>(&attribute.value)) {
    as(ASSAY_FLOATS, reals->size());
    seen.floats = reals->data();
  }
  return seen;
}

// `constant` is the operand's, if it is one.
assay_operand view(const StatedOperand& operand, const Viewed* constant) {
  if (constant) return {operand.name.c_str(), -1, constant->view()};
  const assay_tensor declared{operand.data_type, operand.shape ? static_cast<std::int32_t>(operand.shape->size()) : -1,
                              operand.shape ? operand.shape->data() : nullptr, nullptr, 0};
  return {operand.name.c_str(), operand.graph_input, declared};
}

// One request in the words of the header; it keeps what those point to.
class RequestView {
 public:
  RequestView(const suites::Request& request, bool wants_node) : threads_(std::to_string(request.threads)) {
    options_ = {{"threads", threads_.c_str()}, {"optimization", request.optimization.c_str()}};
    for (const auto& [key, value] : request.options) options_.push_back({key.c_str(), value.c_str()});
    if (wants_node) parse(request.model);
    model_ = {sizeof(assay_model),
              request.model.data(),
              request.model.size(),
              options_.data(),
              static_cast<std::int32_t>(options_.size()),
              wants_node ? &node_ : nullptr};
  }
  RequestView(const RequestView&) = delete;

  const assay_model* model() const { return &model_; }

 private:
  void parse(std::string_view bytes) {
    stated_ = accepted(stated_model(bytes));
    if (!stated_.node)
      throw RequestRefusal{Outcome::Kind::unsupported, "a library for single nodes: " + stated_.because};
    const StatedNode& stated = *stated_.node;
    for (const StatedAttribute& attribute : stated.attributes) attributes_.push_back(view(attribute));
    for (const StatedOperand& operand : stated.operands)
      operands_.push_back(
          view(operand, operand.constant ? &constants_.emplace_back(Viewed{*operand.constant}) : nullptr));
    node_ = {sizeof(assay_node),
             stated.domain.c_str(),
             stated.op.c_str(),
             stated.since_version,
             stated.opset,
             static_cast<std::int32_t>(attributes_.size()),
             static_cast<std::int32_t>(operands_.size()),
             stated.outputs,
             attributes_.data(),
             operands_.data()};
  }

  std::string threads_;
  std::vector<assay_option> options_;
  StatedModel stated_;
  std::vector<assay_attribute> attributes_;
  std::deque<Viewed> constants_;
  std::vector<assay_operand> operands_;
  assay_node node_{};
  assay_model model_{};
};

// What the table has beyond its first version; a library that was built against that one ends before.
template <class T>
T optional_member(const assay_backend& backend, T assay_backend::*member) {
  const auto offset = reinterpret_cast<const char*>(&(backend.*member)) - reinterpret_cast<const char*>(&backend);
  return static_cast<std::size_t>(offset) + sizeof(T) <= backend.size ? backend.*member : T{};
}

// A buffer for an output between guard bytes, all of it filled with a canary.
class Guarded {
 public:
  explicit Guarded(const TensorType& type) : type_(type), size_(message_size(type)) {
    bytes_.assign(size_ + 2 * guard + alignment, canary);
    const auto address = reinterpret_cast<std::uintptr_t>(bytes_.data()) + guard;
    start_ = guard + (alignment - address % alignment) % alignment;
  }

  assay_buffer view() {
    return {static_cast<std::int32_t>(type_.dtype), static_cast<std::int32_t>(type_.shape.size()), type_.shape.data(),
            bytes_.data() + start_, size_};
  }

  std::string encoded(std::size_t output) const {
    const auto is_canary = [](unsigned char byte) { return byte == canary; };
    const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(start_),
               end = begin + static_cast<std::ptrdiff_t>(size_);
    if (!std::all_of(bytes_.begin(), begin, is_canary) || !std::all_of(end, bytes_.end(), is_canary))
      throw ContractBreach{"it wrote outside the buffer that was bound for output " + std::to_string(output)};
    if (is_packed(type_.dtype)) return encode_tensor(*unpacked(type_, std::string(begin, end)), "");
    Tensor tensor(type_);
    if (size_ > 0) std::memcpy(tensor.bytes().data(), &*begin, size_);
    return encode_tensor(tensor, "");
  }

 private:
  static constexpr std::size_t guard = 256, alignment = 64;
  static constexpr unsigned char canary = 0xa5;
  TensorType type_;
  std::size_t size_, start_ = 0;
  std::vector<unsigned char> bytes_;
};

std::vector<std::string> encoded(const std::vector<Emitted>& outputs) {
  std::vector<std::string> all;
  for (const Emitted& each : outputs) all.push_back(each.encoded());
  return all;
}

// Calls f with the data of one set, as the library gets them.
template <class F>
auto with_inputs(const std::vector<std::string>& parts, F&& f) {
  std::deque<Viewed> tensors;
  std::vector<assay_tensor> inputs;
  for (const std::string& part : parts)
    inputs.push_back(part.empty() ? assay_tensor{}
                                  : tensors.emplace_back(Viewed{accepted(decode_tensor(part))}).view());
  return f(inputs.data(), static_cast<std::int32_t>(inputs.size()));
}

// A model that the library has loaded.
class Session {
 public:
  Session(const assay_backend& backend, const assay_model* model) : backend_(backend) {
    const Listener listener;
    expect_ok("load", backend.load(model, &session_, listener.host()), listener);
  }
  Session(const Session&) = delete;
  ~Session() { backend_.unload(session_); }

  std::vector<Emitted> run(const std::vector<std::string>& parts) {
    return with_inputs(parts, [&](const assay_tensor* inputs, std::int32_t count) {
      const Listener listener(optional_member(backend_, &assay_backend::keeps_outputs) != 0);
      expect_ok("run", backend_.run(session_, inputs, count, listener.host()), listener);
      return listener.outputs();
    });
  }

  // Runs once to learn types and extents, then into buffers that are there before.
  std::vector<Guarded> run_into(const std::vector<std::string>& parts) {
    std::vector<Guarded> buffers;
    for (const Emitted& each : run(parts)) {
      if (each.type().dtype == DType::string)
        throw RequestRefusal{Outcome::Kind::unsupported, "strings cannot be bound"};
      buffers.emplace_back(each.type());
    }
    std::vector<assay_buffer> views;
    for (Guarded& each : buffers) views.push_back(each.view());
    return with_inputs(parts, [&](const assay_tensor* inputs, std::int32_t count) {
      const Listener listener;
      const std::int32_t status = optional_member(backend_, &assay_backend::run_into)(
          session_, inputs, count, views.data(), static_cast<std::int32_t>(views.size()), listener.host());
      expect_ok("run_into", status, listener);
      return std::move(buffers);
    });
  }

 private:
  const assay_backend& backend_;
  void* session_ = nullptr;
};

// The outputs of every set, read after the last run: a buffer that is used again shows.
std::vector<std::vector<std::string>> run_all(Session& session, const suites::Request& request) {
  std::vector<std::vector<std::string>> all;
  if (request.binds_outputs) {
    std::vector<std::vector<Guarded>> results;
    for (const auto& parts : request.sets) results.push_back(session.run_into(parts));
    for (const auto& buffers : results) {
      auto& set = all.emplace_back();
      for (std::size_t i = 0; i < buffers.size(); ++i) set.push_back(buffers[i].encoded(i));
    }
    return all;
  }
  std::vector<std::vector<Emitted>> results;
  for (const auto& parts : request.sets) results.push_back(session.run(parts));
  for (const auto& outputs : results) all.push_back(encoded(outputs));
  return all;
}

std::string answer(const assay_backend& backend, const suites::Request& request) {
  try {
    const RequestView view(request, backend.wants_node != 0);
    Session session(backend, view.model());
    return suites::outputs_frame(request.id, run_all(session, request));
  } catch (const RequestRefusal& refusal) {
    return suites::answer_line(request.id, refusal.kind, std::string_view(refusal.because).substr(0, longest_reason),
                               {});
  }
}

// The description in one line, with the version of the protocol in front. What its keys say is checked by assay.
std::string description_line(const assay_backend& backend, int argc, char** argv) {
  const Listener listener;
  const char* text = backend.describe(listener.host(), argc, argv);
  if (!text) throw InputError(listener.because().empty() ? "describe() gave no reason" : listener.because());
  const Json described = Json::parse(text, nullptr, false);
  if (!described.is_object()) throw InputError("what describe() returns is no JSON object");
  Json line = {{"assay", 1}};
  for (const auto& [key, value] : described.items()) line[key] = value;
  if (optional_member(backend, &assay_backend::run_into)) line["capabilities"]["binds_outputs"] = true;
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

const assay_backend& load(const char* path) {
  // A name without a slash would be looked up in the system's folders.
  const std::string file = std::strchr(path, '/') ? path : std::string("./") + path;
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw InputError(std::string("cannot be loaded: ") + ::dlerror());
  using Entry = const assay_backend*();
  auto* entry = reinterpret_cast<Entry*>(::dlsym(library, "assay_backend_v1"));
  if (!entry) throw InputError("exports no assay_backend_v1 (assay_backend.h)");
  const assay_backend* backend = entry();
  if (!backend) throw InputError("assay_backend_v1() returned NULL");
  if (backend->abi != ASSAY_BACKEND_ABI)
    throw InputError("was built for version " + std::to_string(backend->abi) +
                     " of the ABI, this assay serves version " + std::to_string(ASSAY_BACKEND_ABI));
  if (backend->size < offsetof(assay_backend, keeps_outputs) || !backend->describe || !backend->load || !backend->run ||
      !backend->unload)
    throw InputError("assay_backend_v1() gives a table with a wrong size or without all four functions");
  return *backend;
}

// Buffers of the library are flushed, its destructors do not run: they crash more often than they help.
int end(int code) {
  std::fflush(nullptr);
  std::cerr.flush();
  ::_exit(code);
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  const char* descriptor = std::getenv("ASSAY_REPLY_FD");
  if (argc < 2 || !descriptor) {
    std::cerr << "assay starts this program: assay certify --backend ./libmine.so; by hand: ASSAY_REPLY_FD=1 "
                 "assay-worker-host ./libmine.so\n";
    return 2;
  }
  const std::string name = std::string(assay::name_of(argv[1])) + ": ";
  std::ios::sync_with_stdio(false);
  try {
    const assay_backend& backend = assay::load(argv[1]);
    const std::string description = assay::description_line(backend, argc - 2, argv + 2);
    assay::suites::fork_on_request();
    assay::suites::serve(std::atoi(descriptor), description,
                         [&](const assay::suites::Request& request) { return assay::answer(backend, request); });
    assay::end(0);
  } catch (const assay::InputError& error) {
    std::cerr << name << error.what() << std::endl;
    assay::end(2);
  } catch (const assay::ContractBreach& breach) {
    std::cerr << name << "breaks assay_backend.h: " << breach.text << std::endl;
    assay::end(4);
  } catch (const std::exception& error) {
    std::cerr << name << error.what() << std::endl;
    assay::end(3);
  }
}
