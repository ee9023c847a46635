// SPDX-License-Identifier: Apache-2.0
// How a worker starts, and what it says of itself.
#include "suites/doctor/checks.h"
#include "suites/text/printable.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace assay::suites::doctor {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;
using Status = Observation::Status;

struct Begun {
  std::unique_ptr<RawSession> session;
  std::string line;
};

// What it printed on stdout although replies go elsewhere: the commonest first mistake.
std::string where_it_replied(const RawSession& session) {
  const std::string_view log = session.log();
  if (log.find("\"backend\"") == std::string_view::npos) return "";
  return "; on stdout it wrote " + printable(log, 120);
}

CheckResult starts(TestedWorker& under_test) {
  try {
    RawSession session(under_test.command(), under_test.limits());
    session.close(0ms);
    return ok();
  } catch (const InputError& error) {
    return wrong("the command " + printable(under_test.command().at(0)), error.what(),
                 "a worker is a program: give it a first line that names its interpreter, or name both in exec:");
  }
}

// Everything but the declarations, which have checks of their own.
Result<Introduction> parse_bare(const std::string& line) {
  Json json = Json::parse(line, nullptr, false);
  if (json.is_object())
    for (const char* key : {"arithmetic", "capabilities", "options"}) json.erase(key);
  return parse_introduction(json.is_object() ? json.dump(-1, ' ', false, Json::error_handler_t::replace) : line);
}

Description description_of(const std::string& line) {
  if (Result<Introduction> whole = parse_introduction(line)) return whole->description;
  return parse_bare(line)->description;
}

// Says what to do about a worker that does not describe itself. A Python class is served by onnx_backend.py, whose last
// words say why there is none to serve; whoever wrote the class has written no worker.
std::string how_to_describe(const std::vector<std::string>& command, std::string_view problem) {
  const auto says = [&](std::string_view words) { return problem.find(words) != std::string_view::npos; };
  if (command.size() == 3 && says("cannot import " + command.back())) {
    const std::string module = command.back().substr(0, command.back().find(':'));
    return "the module does not import: run doctor where " + module +
           " lies, or set PYTHONPATH to that folder; install what it imports for this Python, or name another with "
           "ASSAY_PYTHON; it is well when this runs: " +
           printable(command.front()) + " -c 'import " + printable(module) + "'";
  }
  if (command.size() == 3 && says("say MODULE:CLASS"))
    return "say which class is the backend: --backend python:" + printable(command.back()) + ":CLASS";
  if (says("it ended with"))
    return "run the command by hand and mend what its last words say; a worker goes on until stdin is closed";
  return "write one line of JSON and a newline to the descriptor that ASSAY_REPLY_FD names, and flush it";
}

CheckResult describes_itself(TestedWorker& under_test) {
  auto session = std::make_unique<RawSession>(under_test.command(), under_test.limits());
  session->send(describe_line());
  const Reply reply = session->introduction();
  if (!reply.is_complete())
    return wrong(describe_line(), reply.problem + where_it_replied(*session),
                 how_to_describe(under_test.command(), reply.problem));
  const Result<Introduction> parsed = parse_bare(reply.line);
  if (!parsed) return wrong(describe_line(), parsed.error(), R"(answer with at least {"assay":1,"backend":"a name"})");
  if (parsed->replies_on_stdout && !session->replies_on_stdout())
    return wrong(describe_line(), R"("replies":"stdout", but not on stdout)",
                 "leave \"replies\" out, or write everything to stdout");
  const Description description = description_of(reply.line);
  under_test.admit(std::move(session), reply.line, description);
  return ok(description.backend + " " + description.version +
            (description.device.empty() ? "" : ", " + description.device) +
            (parsed->replies_on_stdout ? ", replies on stdout" : ""));
}

CheckResult declares(TestedWorker& under_test, const char* key, const char* advice) {
  const Json json = Json::parse(under_test.description_line(), nullptr, false);
  if (!json.contains(key)) return ok("none");
  const Json bare = {{"assay", 1}, {"backend", "x"}, {key, json[key]}};
  const Result<Introduction> parsed = parse_introduction(bare.dump(-1, ' ', false, Json::error_handler_t::replace));
  return parsed ? ok() : wrong(describe_line(), parsed.error(), advice);
}

CheckResult arithmetic(TestedWorker& under_test) {
  return declares(under_test, "arithmetic",
                  "declare only what the runtime's documents say, in the keys of the table; leave the rest out");
}

CheckResult options_declared(TestedWorker& under_test) {
  return declares(under_test, "options",
                  R"(write "options":{"precision":["f32","bf16"],"layout":[]}: an empty list admits any value)");
}

bool is_version(const std::string& name) {
  const std::size_t dash = name.rfind('-');
  return dash != std::string::npos && dash > 0 && dash + 1 < name.size() &&
         name.find_first_not_of("0123456789", dash + 1) == std::string::npos;
}

CheckResult capabilities(TestedWorker& under_test) {
  CheckResult seen =
      declares(under_test, "capabilities",
               "leave out what excludes nothing; a key that is not known would change verdicts in silence");
  if (seen.status != Status::ok) return seen;
  const Description& description = under_test.description();
  for (const std::string& name : description.operators)
    if (!is_version(name))
      return wrong(describe_line(), "the operator " + printable(name),
                   R"(name operator versions by the opset they appeared in: "Conv-11", "com.microsoft:NhwcConv-1")");
  std::string strange;
  for (const std::string& name : description.types)
    if (!dtype_named(name)) strange += " " + printable(name, 40);
  const std::string advice = "types are f16 bf16 f32 f64 u8 i8 i32 i64; others exclude nothing that is run";
  if (!strange.empty() &&
      std::ranges::none_of(description.types, [](const auto& t) { return dtype_named(t).has_value(); }))
    return wrong(describe_line(), "no type that is ever used, but" + strange, advice);
  if (!strange.empty()) return note(describe_line(), "the types" + strange, advice);
  return seen;
}

CheckResult describes_itself_again(TestedWorker& under_test) {
  RawSession& worker = under_test.worker();
  worker.send(describe_line());
  const Reply reply = worker.introduction();
  if (!reply.is_complete())
    return wrong(describe_line() + " a second time", reply.problem, "`describe` may come at any time, and often");
  if (Json::parse(reply.line, nullptr, false) == Json::parse(under_test.description_line(), nullptr, false))
    return ok();
  return wrong(describe_line() + " a second time", printable(reply.line),
               "the description is the same each time: a report is about one backend");
}

CheckResult ignores_new_keys_in_describe(TestedWorker& under_test) {
  const std::string request = R"({"ask":"describe","assay":1,"later":{"a":["}",null]}})"
                              "\n";
  RawSession& worker = under_test.worker();
  worker.send(request);
  const Reply reply = worker.introduction();
  if (reply.is_complete() && parse_bare(reply.line)) return ok();
  return wrong(request, reply.is_complete() ? printable(reply.line) : reply.problem,
               "parse the line as JSON, take the keys you know by name, ignore the others");
}

}  // namespace

std::vector<Check> checks_of_starting() {
  using enum Prerequisite;
  return {{"starts", "Start", starts, none, program},
          {"describes itself", "Describe", describes_itself, program, description},
          {"arithmetic", "Describe", arithmetic, description},
          {"capabilities", "Describe", capabilities, description},
          {"options it declares", "Options", options_declared, description},
          {"describes itself again", "Describe", describes_itself_again, description},
          {"ignores new keys in describe", "Frames", ignores_new_keys_in_describe, description}};
}

}  // namespace assay::suites::doctor
