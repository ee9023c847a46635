// SPDX-License-Identifier: Apache-2.0
#include "suites/doctor/tested_worker.h"

#include "reference/case.h"
#include "reference/onnx_io.h"
#include "suites/text/printable.h"

#include <algorithm>

namespace assay::suites::doctor {
namespace {

using Kind = oracles::Outcome::Kind;

constexpr int newest_opset_of_ir_8 = 20;

std::string one(std::string_view input, DType type, std::string_view shape, std::string_view value) {
  return " " + std::string(input) + "=" + std::string(name(type)) + std::string(shape) + "~hold:" + std::string(value);
}

// Everything of a quantised convolution but its data: scales 1, zero points 0, weight 1.
std::string quantised(DType type, const std::string& source) {
  const DType f32 = DType::f32;
  return one("x_scale", f32, "[]", "1") + source + one("x_zero_point", type, "[]", "0") + source +
         one("w", type, "[1,1,1,1]", "1") + source + one("w_scale", f32, "[]", "1") + source +
         one("w_zero_point", type, "[]", "0") + source + one("y_scale", f32, "[]", "1") + source +
         one("y_zero_point", type, "[]", "0") + source;
}

std::string in_words(const TensorType& type) { return std::string(name(type.dtype)) + text(type.shape); }

// The bits a worker answers that took bfloat16 for float16, with bfloat16's 1 for the weight.
bool is_read_as_f16(const Tensor& got, const Tensor& wanted) {
  if (wanted.dtype() != DType::bf16 || got.type() != wanted.type()) return false;
  const auto widened = [](BFloat16 value) { return static_cast<double>(std::bit_cast<Float16>(value)); };
  const double weight = widened(BFloat16(1.0));
  return std::ranges::equal(got.as<BFloat16>(), wanted.as<BFloat16>(), [&](BFloat16 g, BFloat16 w) {
    return std::bit_cast<std::uint16_t>(Float16(widened(w) * weight)) == std::bit_cast<std::uint16_t>(g);
  });
}

std::string bytes_in_words(const Tensor& tensor) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string words;
  for (const std::byte byte : tensor.bytes().first(std::min<std::size_t>(tensor.bytes().size(), 16)))
    words += {digits[std::to_integer<std::size_t>(byte) >> 4], digits[std::to_integer<std::size_t>(byte) & 15]};
  return words + (tensor.bytes().size() > 16 ? "…" : "");
}

[[noreturn]] void report_difference(const std::string& what, const Tensor& got, const Tensor& wanted) {
  if (got.dtype() != wanted.dtype())
    throw wrong(
        what,
        "an output of type " + std::string(name(got.dtype())) + ", the model says " + std::string(name(wanted.dtype())),
        "keep the element type of what the runtime returns; bf16 and f16 travel as 16-bit patterns, and only "
        "data_type tells them apart");
  if (got.shape() != wanted.shape())
    throw wrong(what, "an output " + in_words(got.type()) + ", the model says " + in_words(wanted.type()),
                "dims of the output TensorProto are the shape as the runtime has it; none for a scalar, 0 for an "
                "extent without elements");
  if (is_read_as_f16(got, wanted))
    throw wrong(what, "the values that come of reading bf16 as f16",
                "bf16 (data_type 16) and f16 (10) have the same size and different bits: look at data_type");
  throw wrong(what,
              "the bytes " + bytes_in_words(got) + ", expected were those of the input, " + bytes_in_words(wanted),
              "hand the bytes of raw_data to the runtime in their type, little-endian, and its result back");
}

// Of a worker that answers shapes: an extent of -1 is one it does not know.
void check_type(const std::string& what, const Result<TensorType>& got, const TensorType& wanted) {
  if (!got)
    throw wrong(what, "a part that is no TensorProto: " + printable(got.error()),
                "each part is one serialised onnx.TensorProto with dims and data_type");
  const auto fits = [](Int g, Int w) { return g == -1 || g == w; };
  if (got->dtype != wanted.dtype || !std::ranges::equal(got->shape, wanted.shape, fits))
    throw wrong(what, "an output " + in_words(*got) + ", the model says " + in_words(wanted),
                "say what the runtime infers, and -1 for an extent it does not know");
}

}  // namespace

std::string Probe::line(Shape batch_rows_columns, Weights weights, Bias bias) const {
  const std::string source = weights == Weights::constant ? "@init" : "";
  const Int n = batch_rows_columns.at(0), rows = batch_rows_columns.at(1), columns = batch_rows_columns.at(2);
  const std::string& op = definition->version.name;
  const Shape shape = op == "NhwcConv" ? Shape{n, rows, columns, 1} : Shape{n, 1, rows, columns};
  const std::string data = std::string(name(type)) + text(shape) + (is_float(type) ? "~odd7:5" : "~byte:5");
  std::string line = text(definition->version) + " opset=" + std::to_string(opset) +
                     (opset > newest_opset_of_ir_8 ? " ir=10" : " ir=8");
  const std::string window =
      " kernel_shape=1,1 strides=1,1";  // as exporters write them, for runtimes that miss defaults
  const std::string weight = one("W", type, "[1,1,1,1]", "1") + source;
  if (op == "AveragePool") return line + " X=" + data + window;
  if (op == "QLinearConv") {
    line += " x=" + data + quantised(type, source);
    return (bias == Bias::none ? line : line + one("B", DType::i32, "[1]", "0")) + window;
  }
  line += " X=" + data + weight;
  if (op == "DeformConv") line += one("offset", type, text(Shape{n, 2, rows, columns}), "0");
  return (bias == Bias::none ? line : line + one("B", type, "[1]", "0")) + window;
}

std::vector<Probe> probes(const Description& description, DType type) {
  struct Candidate {
    const char *domain, *name;
    std::vector<int> opsets;
  };
  static const std::vector<Candidate> candidates = {{"", "Conv", {13, 22, 10}},
                                                    {"", "AveragePool", {13, 22, 19, 10, 7}},
                                                    {"", "QLinearConv", {13}},
                                                    {"", "DeformConv", {19, 22}},
                                                    {"com.microsoft", "NhwcConv", {1}}};
  const auto& types = description.types;
  std::vector<Probe> all;
  if (!types.empty() && !types.contains(std::string(name(type)))) return all;
  for (const Candidate& candidate : candidates)
    for (const int opset : candidate.opsets) {
      const Definition* definition = find_operator(candidate.domain, candidate.name)->at(opset);
      const auto& operators = description.operators;
      if (!operators.empty() && !operators.contains(text(definition->version))) continue;
      if (description.newest_opset > 0 && opset > description.newest_opset) continue;
      const auto takes = [&](const TypeVariable& variable) { return std::ranges::count(variable.types, type) > 0; };
      const auto named = [&](const TypeVariable& v) { return v.name == definition->inputs.at(0).type && takes(v); };
      if (std::ranges::any_of(definition->types, named)) all.push_back({definition, opset, type});
    }
  return all;
}

TestedWorker::TestedWorker(const std::vector<std::string>& command, const Limits& limits)
    : command_(command), limits_(limits) {}

std::unique_ptr<RawSession> TestedWorker::another() const {
  auto session = std::make_unique<RawSession>(command_, limits_);
  session->send(describe_line());
  const Reply reply = session->introduction();
  if (!reply.is_complete())
    throw wrong("the program a second time, and " + describe_line(), reply.problem,
                "assay starts a worker again after each crash, and several side by side: it may hold no lock, no port "
                "and no file of its own");
  return session;
}

RawSession& TestedWorker::worker() {
  if (!has_worker()) interview_.reset();
  if (!interview_) interview_ = another();
  return *interview_;
}

void TestedWorker::admit(std::unique_ptr<RawSession> session, std::string line, const Description& description) {
  interview_ = std::move(session);
  line_ = std::move(line);
  description_ = description;
}

IdentityRequest TestedWorker::echo(const std::string& line, std::size_t sets) {
  const Result<Case> parsed = parse_case(line);
  expects(static_cast<bool>(parsed), "the doctor's own models are legal");
  IdentityRequest echo{"the model " + line, {}, {}};
  echo.request.id = "question " + std::to_string(++requested_);
  echo.request.model = model_of(*parsed);
  for (int set = 0; set < static_cast<int>(sets); ++set) {
    echo.request.sets.push_back(graph_inputs(*parsed, set));
    echo.wanted.push_back(operands(*parsed, set).at(0).value());
  }
  return echo;
}

IdentityRequest TestedWorker::of_shape(Shape batch_rows_columns, std::size_t sets) {
  return echo(probe().line(std::move(batch_rows_columns), weights_), sets);
}

IdentityRequest TestedWorker::good(std::size_t sets) { return of_shape({1, 2, 2}, sets); }

void TestedWorker::check_complete(const IdentityRequest& echo, const Reply& reply) const {
  const bool on_stdout = interview_ && interview_->replies_on_stdout();
  if (!reply.is_complete()) throw wrong(echo.what, reply.problem, advice_for(reply, on_stdout));
  if (reply.answer.id != echo.request.id)
    throw wrong(echo.what + ", id " + printable(echo.request.id),
                "an answer with the id " + printable(reply.answer.id, 80),
                "repeat the \"id\" of the request, as the JSON string it was");
  if (has_outputs(reply) && reply.sets.size() != echo.request.sets.size())
    throw wrong(echo.what + " with " + std::to_string(echo.request.sets.size()) + " data sets",
                "\"sets\" with " + std::to_string(reply.sets.size()),
                "\"sets\" of an answer holds one list for each list in \"sets\" of the request");
}

void TestedWorker::check_outputs(const IdentityRequest& echo, const Reply& reply) const {
  check_complete(echo, reply);
  if (!has_outputs(reply))
    throw wrong(echo.what, in_words(reply.answer), "it has answered the same kind of request before; why not now?");
  for (std::size_t set = 0; set < reply.sets.size(); ++set) {
    const std::string what = echo.what + ", data set " + std::to_string(set);
    if (reply.sets[set].size() != 1)
      throw wrong(what, std::to_string(reply.sets[set].size()) + " parts, the graph has 1 output",
                  "one TensorProto per graph output");
    if (description_->answers_shapes) {
      check_type(what, decode_type(reply.sets[set][0]), echo.wanted[set].type());
      continue;
    }
    const Result<Tensor> got = decode_tensor(reply.sets[set][0]);
    if (!got)
      throw wrong(what, "a part that is no TensorProto: " + printable(got.error()),
                  "each part is one serialised onnx.TensorProto: dims, data_type, raw_data");
    if (set > 0 && *got == echo.wanted[0] && *got != echo.wanted[set])
      throw wrong(what, "the answer to data set 0 again",
                  "run the sets one after the other, and copy each result before the next run overwrites it");
    if (*got != echo.wanted[set]) report_difference(what, *got, echo.wanted[set]);
  }
}

Reply TestedWorker::submit(const IdentityRequest& echo) {
  Reply reply = worker().submit(echo.request);
  check_complete(echo, reply);
  return reply;
}

void TestedWorker::must_answer(const IdentityRequest& echo) { check_outputs(echo, worker().submit(echo.request)); }

bool has_outputs(const Reply& reply) { return reply.is_complete() && reply.answer.kind == Kind::outputs; }

std::string in_words(const AnswerHeader& answer) {
  return std::string(oracles::name(answer.kind)) +
         (answer.because.empty() ? "" : ": " + printable(answer.because, 160));
}

std::string advice_for(const Reply& reply, bool on_stdout) {
  using State = Reply::State;
  switch (reply.state) {
    case State::silent:
      return "answer every request, with one frame, and flush it; read exactly the bytes whose sizes the header "
             "states, no more and no fewer";
    case State::ended: return "catch what the runtime throws and answer `refused` with its words";
    default: break;
  }
  if (on_stdout)
    return "where replies are on stdout nothing else may be there: point descriptor 1 at stderr, and keep a copy of it "
           "for the replies";
  return "the header is one line of JSON, made by a JSON library; the parts follow it at once, and nothing else is "
         "written to that descriptor";
}

}  // namespace assay::suites::doctor
