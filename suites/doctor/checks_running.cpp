// SPDX-License-Identifier: Apache-2.0
// OperatorGenerator a worker shall answer, and what shall come back of each tensor.
#include "reference/case.h"
#include "suites/doctor/checks.h"
#include "suites/text/printable.h"

#include <nlohmann/json.hpp>

namespace assay::suites::doctor {
namespace {

using Json = nlohmann::json;
using Status = Observation::Status;

std::string kib(std::size_t bytes) { return std::to_string(bytes >> 10) + " KiB"; }

CheckResult answers_a_model(TestedWorker& under_test) {
  std::string last;
  int tried = 0;
  for (const DType type : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::u8, DType::i8})
    for (const Probe& probe : probes(under_test.description(), type))
      for (const auto weights : {Probe::Weights::constant, Probe::Weights::given}) {
        const std::string line = probe.line({1, 2, 2}, weights);
        const IdentityRequest echo = under_test.echo(line, 1);
        const Reply reply = under_test.submit(echo);
        ++tried;
        if (!has_outputs(reply)) {
          last = line + ", " + in_words(reply.answer);
          continue;
        }
        under_test.choose(probe, weights);
        under_test.check_outputs(echo, reply);
        return ok(line);
      }
  if (tried == 0)
    return skipped("what it declares to support excludes every model assay could try: only its frames were seen");
  return skipped("it turned away all " + std::to_string(tried) +
                 " models that were tried, so only its frames were seen; the last: " + last);
}

CheckResult nothing_but_frames(TestedWorker& under_test) {
  under_test.dismiss();  // the surplus of earlier answers would be taken for a header
  under_test.must_answer(under_test.good());
  RawSession& worker = under_test.worker();
  if (!worker.has_more(settling)) return ok();
  const std::string surplus(worker.untaken());
  under_test.dismiss();
  return wrong(
      "a request, and after its answer nothing",
      std::to_string(surplus.size()) + " bytes more: " + printable(surplus, 80),
      "after the header come exactly the bytes its sizes state: no newline behind them, no log, no second answer");
}

CheckResult takes_weights(TestedWorker& under_test, Probe::Weights weights) {
  if (under_test.probe().definition->version.name == "AveragePool") return skipped("AveragePool has no weights");
  const std::string line = under_test.probe().line({1, 2, 2}, weights);
  const IdentityRequest echo = under_test.echo(line, 1);
  const Reply reply = under_test.submit(echo);
  if (has_outputs(reply)) return under_test.check_outputs(echo, reply), ok();
  if (weights == Probe::Weights::given)
    return note(echo.what, in_words(reply.answer),
                "the weights are graph inputs here and come as parts; if the runtime cannot, all is well");
  return wrong(echo.what, in_words(reply.answer),
               "the weights are initializers here: they stand in the model, and no part comes for them");
}

CheckResult weights_in_the_model(TestedWorker& under_test) {
  return takes_weights(under_test, Probe::Weights::constant);
}
CheckResult weights_as_parts(TestedWorker& under_test) { return takes_weights(under_test, Probe::Weights::given); }

CheckResult several_sets(TestedWorker& under_test) {
  under_test.must_answer(under_test.good(2));
  under_test.must_answer(under_test.good(3));
  return ok();
}

CheckResult odd_ids(TestedWorker& under_test) {
  IdentityRequest echo = under_test.good();
  for (const char* id : {"0", "a \"quoted\\ id\"\n\t/", "caf\u00e9 \u6f22\u5b57 \U0001F600", "{\"id\":1}"}) {
    echo.request.id = id;
    under_test.must_answer(echo);
  }
  echo.request.id = std::string(10'000, 'x');
  under_test.must_answer(echo);
  // The same JSON strings, written in ASCII.
  echo.request.id = "caf\u00e9 \U0001F600";
  std::string header = run_line(echo.request);
  header.replace(header.find(echo.request.id), echo.request.id.size(), R"(caf\u00e9 \ud83d\ude00)");
  under_test.worker().send(header);
  under_test.worker().send_body(echo.request);
  under_test.check_outputs(echo, under_test.worker().answer());
  return ok();
}

// What the header says is rewritten; the request stays the same.
struct Rewritten {
  const char *from, *to;
};

Reply send_rewritten(TestedWorker& under_test, IdentityRequest& echo, const Rewritten& change) {
  std::string header = run_line(echo.request);
  const std::size_t at = header.find(change.from);
  expects(at != std::string::npos, "the header has what is to be replaced");
  header.replace(at, std::string_view(change.from).size(), change.to);
  echo.what += ", in its header " + std::string(change.to) + "…";
  under_test.worker().send(header);
  under_test.worker().send_body(echo.request);
  return under_test.worker().answer();
}

CheckResult ignores_new_keys(TestedWorker& under_test) {
  for (const Rewritten& change : {Rewritten{R"({"ask")", R"({"later":["sets",{"model":7}],"ask")"},
                                  Rewritten{R"("options":{)", R"("options":{"later":"x",)"}}) {
    IdentityRequest echo = under_test.good();
    const Reply reply = send_rewritten(under_test, echo, change);
    under_test.check_outputs(echo, reply);
  }
  return ok();
}

CheckResult reads_any_spelling(TestedWorker& under_test) {
  const IdentityRequest echo = under_test.good();
  Json json = Json::parse(run_line(echo.request));
  std::string header = "{ ";
  for (auto item = json.rbegin(); item != json.rend(); ++item)
    header += (item == json.rbegin() ? "" : " ,\t") + ('"' + item.key()) + "\" : " + item.value().dump();
  under_test.worker().send(header + " }\n");
  under_test.worker().send_body(echo.request);
  under_test.check_outputs(echo, under_test.worker().answer());
  return ok();
}

// Any complete answer will do, and then the old request again.
CheckResult lives_through(TestedWorker& under_test, const IdentityRequest& echo, const Reply& reply) {
  under_test.check_complete(echo, reply);
  if (has_outputs(reply)) under_test.check_outputs(echo, reply);
  under_test.must_answer(under_test.good());
  return has_outputs(reply) ? ok() : ok(in_words(reply.answer));
}

CheckResult usual_options(TestedWorker& under_test) {
  for (const char* level : {"all", "extended", "basic", "none"}) {
    IdentityRequest echo = under_test.good();
    echo.what += R"( with "optimization":")" + std::string(level) + '"';
    echo.request.optimization = level;
    under_test.must_answer(echo);
  }
  IdentityRequest echo = under_test.good();
  echo.what += R"( with "threads":2)";
  echo.request.threads = 2;
  under_test.must_answer(echo);
  return ok();
}

CheckResult strange_options(TestedWorker& under_test) {
  IdentityRequest echo = under_test.good();
  const Reply reply = send_rewritten(under_test, echo, {R"("all")", R"("turbo")"});
  return lives_through(under_test, echo, reply);
}

CheckResult declared_options(TestedWorker& under_test) {
  int runs = 0;
  std::string refusals;
  for (const auto& [key, values] : under_test.description().options)
    for (const std::string& value : values) {
      IdentityRequest echo = under_test.good();
      echo.what += " with \"" + key + "\":\"" + value + '"';
      echo.request.options[key] = value;
      const Reply reply = under_test.submit(echo);
      ++runs;
      if (!has_outputs(reply))
        refusals += (refusals.empty() ? "" : "; ") + key + "=" + value + " " + in_words(reply.answer);
    }
  if (!refusals.empty())
    return note("each option it declares", refusals, "declare only the values that this installation can serve");
  return runs == 0 ? skipped("it declares no option with a list of values") : ok(std::to_string(runs) + " asked");
}

template <DType type>
CheckResult keeps(TestedWorker& under_test) {
  const std::vector<Probe> all = probes(under_test.description(), type);
  std::string why;
  for (const Probe& probe : all)
    for (const auto weights : {Probe::Weights::constant, Probe::Weights::given}) {
      const IdentityRequest echo = under_test.echo(probe.line({1, 2, 3}, weights), 2);
      const Reply reply = under_test.submit(echo);
      if (has_outputs(reply)) return under_test.check_outputs(echo, reply), ok();
      if (why.empty()) why = in_words(reply.answer);
    }
  return skipped(why.empty() ? "it declares that it does not take " + std::string(name(type)) : why);
}

// x + B, with both far from what a float would be.
CheckResult keeps_i32(TestedWorker& under_test) {
  IdentityRequest echo = under_test.echo(
      "QLinearConv-10 opset=13 ir=8 x=u8[1,1,1,4]~hold:1,20,30,200 x_scale=f32[]~hold:1@init "
      "x_zero_point=u8[]~hold:0@init "
      "w=u8[1,1,1,1]~hold:1@init w_scale=f32[]~hold:1@init w_zero_point=u8[]~hold:0@init y_scale=f32[]~hold:1@init "
      "y_zero_point=u8[]~hold:0@init B=i32[1]~hold:7 kernel_shape=1,1 strides=1,1",
      1);
  const auto& description = under_test.description();
  if (!description.operators.empty() && !description.operators.contains("QLinearConv-10"))
    return skipped("it declares no QLinearConv");
  for (std::uint8_t& value : echo.wanted.at(0).as<std::uint8_t>()) value = static_cast<std::uint8_t>(value + 7);
  const Reply reply = under_test.submit(echo);
  if (!has_outputs(reply)) return skipped(in_words(reply.answer));
  return under_test.check_outputs(echo, reply), ok();
}

CheckResult takes_an_empty_extent(TestedWorker& under_test) {
  const IdentityRequest echo = under_test.of_shape({0, 2, 2}, 2);
  const Reply reply = under_test.submit(echo);
  if (!has_outputs(reply)) return lives_through(under_test, echo, reply);
  try {
    under_test.check_outputs(echo, reply);
  } catch (const CheckResult& seen) {  // may be the runtime's own doing: `certify` will say
    return note(seen.sent, seen.got, seen.advice);
  }
  return ok();
}

CheckResult takes_an_absent_input(TestedWorker& under_test) {
  const auto& name = under_test.probe().definition->version.name;
  const bool has_bias = name != "AveragePool";
  const Probe::Bias bias = has_bias ? Probe::Bias::given : Probe::Bias::none;
  IdentityRequest echo = under_test.echo(under_test.probe().line({1, 2, 2}, under_test.weights(), bias), 1);
  echo.what += std::string(", with size 0 for ") + (has_bias ? "B" : "X");
  echo.request.sets.at(0).back().clear();
  const Reply reply = under_test.submit(echo);
  if (has_outputs(reply) && !has_bias)
    return wrong(echo.what, "outputs", "size 0 says that this input is absent: do not make one up");
  return lives_through(under_test, echo, reply);
}

CheckResult takes_megabytes(TestedWorker& under_test) {
  const IdentityRequest echo = under_test.of_shape({1, 1024, 1024}, 2);
  const Reply reply = under_test.submit(echo);
  if (!has_outputs(reply)) return lives_through(under_test, echo, reply);
  under_test.check_outputs(echo, reply);
  return ok(kib(echo.request.sets[0][0].size() * 2) + " each way");
}

}  // namespace

std::vector<Check> checks_of_running() {
  using enum Prerequisite;
  return {{"answers a model", "Run", answers_a_model, description, model},
          {"nothing but frames", "Frames", nothing_but_frames, model, model},
          {"weights in the model", "Run", weights_in_the_model},
          {"weights as parts", "Run", weights_as_parts},
          {"several data sets", "Run", several_sets},
          {"ids come back", "Run", odd_ids},
          {"ignores new keys", "Frames", ignores_new_keys},
          {"any spelling of JSON", "Frames", reads_any_spelling},
          {"options", "Options", usual_options},
          {"options with strange values", "Options", strange_options},
          {"each option it declares", "Options", declared_options},
          {"f32 comes back", "Tensors", keeps<DType::f32>},
          {"f64 comes back", "Tensors", keeps<DType::f64>},
          {"f16 comes back", "Tensors", keeps<DType::f16>},
          {"bf16 comes back", "Tensors", keeps<DType::bf16>},
          {"u8 comes back", "Tensors", keeps<DType::u8>},
          {"i8 comes back", "Tensors", keeps<DType::i8>},
          {"i32 goes in", "Tensors", keeps_i32},
          {"an extent of 0", "Tensors", takes_an_empty_extent},
          {"an absent input", "Run", takes_an_absent_input},
          {"megabytes both ways", "Run", takes_megabytes}};
}

}  // namespace assay::suites::doctor
