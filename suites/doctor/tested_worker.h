// SPDX-License-Identifier: Apache-2.0
// TestedWorker: the worker a doctor examines, started afresh whenever a check has spoiled it, and the requests it
// can be run whose outputs are their first input: a convolution with the weight 1, an average over windows of one
// element.
#pragma once

#include "suites/doctor/doctor.h"
#include "suites/doctor/raw_session.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace assay::suites::doctor {

// What a check has seen. Thrown where it sees enough early, and caught by the doctor.
struct CheckResult {
  Observation::Status status = Observation::Status::ok;
  std::string sent, got, advice;
};
inline CheckResult ok(std::string remark = "") { return {Observation::Status::ok, "", std::move(remark), ""}; }
inline CheckResult skipped(std::string why) { return {Observation::Status::skipped, "", std::move(why), ""}; }
inline CheckResult note(std::string sent, std::string got, std::string advice) {
  return {Observation::Status::note, std::move(sent), std::move(got), std::move(advice)};
}
inline CheckResult wrong(std::string sent, std::string got, std::string advice) {
  return {Observation::Status::wrong, std::move(sent), std::move(got), std::move(advice)};
}

// A request whose answer is its first input.
struct IdentityRequest {
  std::string what;  // for a person
  Request request;
  std::vector<Tensor> wanted;  // per data set
};

// An operator version that may pass its first input through.
struct Probe {
  const Definition* definition = nullptr;
  int opset = 0;
  DType type = DType::f32;

  enum class Weights { constant, given };  // initializers, or graph inputs
  enum class Bias { none, given };
  // One channel, `rows` by `columns`.
  std::string line(Shape batch_rows_columns, Weights weights, Bias bias = Bias::none) const;
};
std::vector<Probe> probes(const Description& description, DType type);

class TestedWorker {
 public:
  TestedWorker(const std::vector<std::string>& command, const Limits& limits);

  const std::vector<std::string>& command() const { return command_; }
  const Limits& limits() const { return limits_; }

  // A worker that has described itself.
  RawSession& worker();
  std::unique_ptr<RawSession> another() const;
  void dismiss() { interview_.reset(); }
  bool has_worker() const { return interview_ && interview_->is_usable(); }

  // The first worker of all: the description is kept.
  void admit(std::unique_ptr<RawSession> session, std::string line, const Description& description);
  const Description& description() const { return *description_; }
  const std::string& description_line() const { return line_; }

  // The probe that the worker has answered, and how it takes weights.
  void choose(const Probe& probe, Probe::Weights weights) { probe_ = probe, weights_ = weights; }
  bool has_probe() const { return probe_.has_value(); }
  const Probe& probe() const { return *probe_; }
  Probe::Weights weights() const { return weights_; }

  IdentityRequest echo(const std::string& line, std::size_t sets);
  // The smallest one it has answered before.
  IdentityRequest good(std::size_t sets = 1);
  IdentityRequest of_shape(Shape batch_rows_columns, std::size_t sets);

  // Throws CheckResult unless the reply is a complete answer to this request.
  void check_complete(const IdentityRequest& echo, const Reply& reply) const;
  // Throws CheckResult unless the outputs are the first inputs, bit by bit.
  void check_outputs(const IdentityRequest& echo, const Reply& reply) const;
  Reply submit(const IdentityRequest& echo);
  void must_answer(const IdentityRequest& echo);

 private:
  std::vector<std::string> command_;
  Limits limits_;
  std::unique_ptr<RawSession> interview_;
  std::optional<Description> description_;
  std::string line_;
  std::optional<Probe> probe_;
  Probe::Weights weights_ = Probe::Weights::constant;
  int requested_ = 0;
};

bool has_outputs(const Reply& reply);
// "refused: no kernel", for a remark.
std::string in_words(const AnswerHeader& answer);
// What to do about a reply that is not complete.
std::string advice_for(const Reply& reply, bool on_stdout);

}  // namespace assay::suites::doctor
