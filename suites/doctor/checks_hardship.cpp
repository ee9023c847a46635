// SPDX-License-Identifier: Apache-2.0
// Pipes as they are, requests that cannot be answered, and the end.
#include "reference/case.h"
#include "reference/onnx_io.h"
#include "reference/onnx_node.h"
#include "suites/doctor/checks.h"
#include "suites/text/printable.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace assay::suites::doctor {
namespace {

using namespace std::chrono_literals;
using Status = Observation::Status;
using State = Reply::State;

constexpr auto reading = 2s;
constexpr auto to_end = 5s;    // after stdin was closed; a runtime of Python takes its time
constexpr auto grace = 500ms;  // what assay gives it in a campaign

// All of it but its last byte. A reader that has room for more takes what is there.
std::string without_last_byte(RawSession& worker, const Request& request) {
  std::string all = run_line(request) + request.model;
  for (const auto& set : request.sets)
    for (const std::string& part : set) all += part;
  std::string last = all.substr(all.size() - 1);
  all.pop_back();
  worker.send(std::move(all));
  return last;
}

CheckResult reads_before_it_answers(TestedWorker& under_test) {
  const IdentityRequest echo = under_test.of_shape({1, 256, 256}, 2);
  RawSession& worker = under_test.worker();
  const std::string last = without_last_byte(worker, echo.request);
  worker.is_read(reading);
  const bool is_early = worker.has_more(settling);
  worker.send(last);
  const Reply reply = worker.answer();
  if (is_early)
    return under_test.dismiss(),
           wrong(echo.what + ", without its last byte", "the beginning of an answer",
                 "read the whole request first: where both sides write and nobody reads, both wait for ever");
  under_test.check_complete(echo, reply);
  return ok();
}

CheckResult takes_pieces(TestedWorker& under_test) {
  const IdentityRequest echo = under_test.good();
  const std::string header = run_line(echo.request);
  const std::string& model = echo.request.model;
  const std::size_t half = header.size() / 2;
  RawSession& worker = under_test.worker();
  for (const std::string& piece :
       {header.substr(0, 1), header.substr(1, half), header.substr(half + 1, header.size() - half - 2),
        std::string("\n"), model.substr(0, model.size() / 2), model.substr(model.size() / 2)}) {
    worker.send(piece);
    worker.is_read(settling);
  }
  for (const std::string& part : echo.request.sets.at(0)) {
    worker.send(part.substr(0, 1));
    worker.is_read(settling);
    worker.send(part.substr(1));
  }
  const Reply reply = worker.answer();
  if (reply.is_complete()) return under_test.check_outputs(echo, reply), ok();
  return wrong(echo.what + ", in small pieces", reply.problem,
               "a read may return fewer bytes than asked for: read again until all are there");
}

CheckResult takes_a_queue(TestedWorker& under_test) {
  const IdentityRequest first = under_test.good(), second = under_test.good(2);
  RawSession& worker = under_test.worker();
  worker.send(first.request);
  worker.send(describe_line());
  worker.send(second.request);
  const std::string what = "a request, `describe` and a request at once";
  under_test.check_outputs(first, worker.answer());
  const Reply description = worker.introduction();
  const Reply last = description.is_complete() ? worker.answer() : description;
  if (!last.is_complete())
    return wrong(what, last.problem, "keep what was read beyond one request: it is the beginning of the next");
  if (parse_answer(description.line))
    return wrong(what, printable(description.line, 120) + " in the second place",
                 "answer in the order of the requests");
  under_test.check_outputs(second, last);
  return ok();
}

// A request that deserves a refusal. Death is not forbidden, and yet a refusal says more.
CheckResult refused(TestedWorker& under_test, const IdentityRequest& echo, const Reply& reply, Status if_outputs,
                    const std::string& advice) {
  if (reply.state == State::ended)
    return note(echo.what, reply.problem,
                "assay starts it again and calls the case an `error`; a refusal with the runtime's words says more");
  under_test.check_complete(echo, reply);
  if (has_outputs(reply) && under_test.description().answers_shapes &&
      echo.request.model == under_test.good().request.model)
    return ok("it answers shapes, and sees no data");
  if (has_outputs(reply)) return {if_outputs, echo.what, "outputs", advice};
  under_test.must_answer(under_test.good());
  return ok(in_words(reply.answer));
}

CheckResult refuses(TestedWorker& under_test, const IdentityRequest& echo, Status if_outputs,
                    const std::string& advice) {
  return refused(under_test, echo, under_test.worker().submit(echo.request), if_outputs, advice);
}

const char* const not_for_the_runtime =
    "hand everything to the runtime as it came, and report its failure: a worker never answers in its place";

// The good request, with another model.
IdentityRequest with_model(TestedWorker& under_test, const std::string& what, const std::string& model) {
  IdentityRequest echo = under_test.good();
  echo.what = what;
  echo.request.model = model;
  return echo;
}

CheckResult unknown_operator(TestedWorker& under_test) {
  const IdentityRequest echo = with_model(under_test, "a model of the operator NobodyKnowsThis",
                                          with_operator(under_test.good().request.model, "NobodyKnowsThis"));
  const Status if_outputs = under_test.description().answers_shapes ? Status::note : Status::wrong;
  return refuses(under_test, echo, if_outputs, not_for_the_runtime);
}

CheckResult long_reason(TestedWorker& under_test) {
  std::string name = "No\"body\\knows\nthis\r\n\t\u00e9";
  while (name.size() < 1'500'000) name += "x\"\n";
  const IdentityRequest echo =
      with_model(under_test, "a model of an operator whose name has 1.5 million letters, quotes and newlines",
                 with_operator(under_test.good().request.model, name));
  const Reply reply = under_test.worker().submit(echo.request);
  if (reply.state == State::garbled)
    return wrong(echo.what, reply.problem,
                 "the words of a runtime may be long and hold anything: cut them to some 2000 letters, and let a JSON "
                 "library write them");
  if (reply.state == State::ended) return note(echo.what, reply.problem, "a refusal says more than a death");
  under_test.check_complete(echo, reply);
  under_test.must_answer(under_test.good());
  return ok();
}

CheckResult refuses_model(TestedWorker& under_test, const std::string& what, const std::string& model) {
  return refuses(under_test, with_model(under_test, what, model), Status::wrong, not_for_the_runtime);
}

CheckResult no_model(TestedWorker& under_test) {
  return refuses_model(under_test, "40 bytes 0xFF for a model", std::string(40, '\xff'));
}

CheckResult half_a_model(TestedWorker& under_test) {
  const std::string model = under_test.good().request.model;
  return refuses_model(under_test, "the first half of a model", model.substr(0, model.size() / 2));
}

// It parses, as a graph without nodes: no outputs are an answer too.
CheckResult empty_model(TestedWorker& under_test) {
  const IdentityRequest echo = with_model(under_test, "a model of 0 bytes", "");
  const Reply reply = under_test.worker().submit(echo.request);
  if (has_outputs(reply) && total(reply.answer.sets) == 0) return ok("no outputs");
  return refused(under_test, echo, reply, Status::wrong, not_for_the_runtime);
}

CheckResult half_a_tensor(TestedWorker& under_test) {
  IdentityRequest echo = under_test.good();
  std::string& part = echo.request.sets.at(0).at(0);
  part.resize(part.size() / 2);
  echo.what += ", with the first half of its first TensorProto";
  return refuses(under_test, echo, Status::wrong, "a TensorProto that cannot be parsed is a refusal");
}

CheckResult short_tensor(TestedWorker& under_test) {
  IdentityRequest echo = under_test.good();
  std::string& part = echo.request.sets.at(0).at(0);
  const std::size_t bytes = echo.wanted.at(0).bytes().size(), element = size_of(under_test.probe().type);
  char& length = part.at(part.size() - bytes - 1);  // of raw_data, which our encoder writes last
  expects(static_cast<std::size_t>(length) == bytes, "raw_data stands at the end");
  length = static_cast<char>(bytes - element);
  part.resize(part.size() - element);
  echo.what += ", with dims of 4 elements and raw_data of 3";
  return refuses(under_test, echo, Status::wrong,
                 "compare the bytes of raw_data with dims before a runtime reads beyond their end");
}

CheckResult an_input_too_few(TestedWorker& under_test) {
  IdentityRequest echo = under_test.good();
  echo.request.sets.at(0).clear();
  echo.what += ", without any input";
  return refuses(under_test, echo, Status::wrong, "an input that has no part and no initializer is missing: refuse");
}

CheckResult an_input_too_many(TestedWorker& under_test) {
  IdentityRequest echo = under_test.good();
  echo.request.sets.at(0).push_back(echo.request.sets.at(0).at(0));
  echo.what += ", with one input too many";
  return refuses(under_test, echo, Status::note, "there are more parts than graph inputs: a strict worker refuses");
}

CheckResult another_type(TestedWorker& under_test) {
  IdentityRequest echo = under_test.good();
  Tensor other({under_test.probe().type == DType::f64 ? DType::f32 : DType::f64, echo.wanted.at(0).shape()});
  echo.request.sets.at(0).at(0) = encode_tensor(other, "X");
  echo.what += ", with data in " + std::string(name(other.dtype()));
  return refuses(under_test, echo, Status::note,
                 "the data are not of the type the model declares: a strict worker refuses");
}

// A line that is no request to answer, and `describe` behind it.
CheckResult turns_away(TestedWorker& under_test, const std::string& line) {
  RawSession& worker = under_test.worker();
  worker.send(line + "\n" + describe_line());
  const Reply reply = worker.introduction();
  const bool is_one = reply.line == under_test.description_line() && !worker.has_more(settling);
  under_test.dismiss();
  if (reply.state == State::ended) return ok("it ends");
  if (!reply.is_complete())
    return wrong(line + " and then " + describe_line(), reply.problem,
                 "a line that is no request: say so on stderr and end with an exit code that is not 0");
  if (is_one) return ok("it ignores it");
  return note(line, printable(reply.line, 120),
              "an answer to no request is taken for the next one: end with an exit code that is not 0");
}

CheckResult line_that_is_no_json(TestedWorker& under_test) { return turns_away(under_test, "hello {"); }
CheckResult unknown_request(TestedWorker& under_test) { return turns_away(under_test, R"({"assay":1,"ask":"dance"})"); }

CheckResult says_farewell(const Exit& farewell, const std::string& sent) {
  if (!farewell.by_itself)
    return wrong(
        sent, "it lives on after " + std::to_string(to_end / 1s) + " s",
        "reading stdin tells when it has ended (0 bytes, null, EOF): then end as well, and do not wait for more");
  if (farewell.took > grace)
    return note(sent, "it ended after " + std::to_string(farewell.took.count()) + " ms",
                "after 500 ms assay kills it, which is no harm to verdicts");
  return ok(farewell.ending);
}

CheckResult ends_with_stdin(TestedWorker& under_test) {
  RawSession& worker = under_test.worker();
  const std::string sent = "the end of stdin, after a request was answered";
  const Exit farewell = worker.close(to_end);
  CheckResult seen = says_farewell(farewell, sent);
  if (seen.status == Status::ok && farewell.failed)
    return note(sent, "it " + farewell.ending, "the end of stdin is no mistake: end with exit code 0");
  return seen;
}

CheckResult ends_within_a_request(TestedWorker& under_test) {
  const IdentityRequest echo = under_test.good();
  RawSession& worker = under_test.worker();
  worker.send(run_line(echo.request) + echo.request.model.substr(0, 10));
  worker.is_read(reading);
  return says_farewell(worker.close(to_end), "a header and 10 bytes of the model, then the end of stdin");
}

CheckResult two_side_by_side(TestedWorker& under_test) {
  const IdentityRequest echo = under_test.good(2);
  const std::unique_ptr<RawSession> other = under_test.another();
  for (int round = 0; round < 2; ++round) {
    under_test.worker().send(echo.request);
    other->send(echo.request);
    under_test.check_outputs(echo, other->answer());
    under_test.check_outputs(echo, under_test.worker().answer());
  }
  return ok();
}

std::set<std::string> names_here() {
  std::set<std::string> names;
  std::error_code gone;
  for (std::filesystem::directory_iterator entry(".", gone), end; !gone && entry != end; entry.increment(gone))
    names.insert(entry->path().filename().string());
  return names;
}

CheckResult leaves_nothing_behind(TestedWorker& under_test) {
  const std::set<std::string> before = names_here();
  under_test.dismiss();
  RawSession& worker = under_test.worker();
  if (under_test.has_probe()) under_test.must_answer(under_test.good());
  const Exit farewell = worker.close(to_end);
  if (!farewell.survivors.empty())
    return wrong("the end of stdin",
                 std::to_string(farewell.survivors.size()) + " of its processes had left its process group",
                 "do not detach processes (setsid, daemon): whoever starts them in its own group has them cleaned up");
  std::string left;
  for (const std::string& name : names_here())
    if (!before.contains(name)) left += " " + printable(name, 60);
  if (!left.empty())
    return note("a request and the end of stdin", "new in the current folder:" + left,
                "write into the folder TMPDIR names: it is the worker's own, and removed behind it");
  return ok();
}

}  // namespace

std::vector<Check> checks_of_hardship() {
  using enum Prerequisite;
  return {{"reads before it answers", "Run", reads_before_it_answers},
          {"requests in pieces", "Frames", takes_pieces},
          {"requests in a queue", "Frames", takes_a_queue},
          {"an unknown operator", "Outcomes", unknown_operator},
          {"a long reason", "Outcomes", long_reason},
          {"bytes that are no model", "Outcomes", no_model},
          {"half a model", "Outcomes", half_a_model},
          {"an empty model", "Outcomes", empty_model},
          {"half a tensor", "Outcomes", half_a_tensor},
          {"a tensor too short", "Outcomes", short_tensor},
          {"an input too few", "Outcomes", an_input_too_few},
          {"an input too many", "Outcomes", an_input_too_many},
          {"data of another type", "Outcomes", another_type},
          {"a line that is no JSON", "End", line_that_is_no_json, description},
          {"an unknown ask", "End", unknown_request, description},
          {"stdin ends", "End", ends_with_stdin, description},
          {"stdin ends within a request", "End", ends_within_a_request},
          {"two side by side", "End", two_side_by_side},
          {"leaves nothing behind", "End", leaves_nothing_behind, description}};
}

}  // namespace assay::suites::doctor
