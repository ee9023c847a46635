// SPDX-License-Identifier: Apache-2.0
#include "suites/workers/frame.h"

#include "suites/text/json_depth.h"
#include "suites/text/printable.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <initializer_list>

namespace assay::suites {
namespace {

using Json = nlohmann::ordered_json;
using oracles::Outcome;

// What a frame lacks, thrown only inside this file: each parse_… catches it.
struct Malformed {
  std::string text;
};

Json parse_line(std::string_view line) {
  if (nests_too_deep(line)) throw Malformed{"the header nests too deep: " + printable(line, 80)};
  Json json = Json::parse(line, nullptr, false);
  if (json.is_discarded()) throw Malformed{"the header is not JSON: " + printable(line, 80)};
  if (!json.is_object()) throw Malformed{"the header is not a JSON object: " + printable(line, 80)};
  return json;
}

const Json* find(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::string quoted(const char* key) { return '"' + std::string(key) + '"'; }

std::string text_of(const Json& object, const char* key, std::string otherwise = "") {
  const Json* value = find(object, key);
  if (!value) return otherwise;
  if (!value->is_string()) throw Malformed{quoted(key) + " is not a string"};
  return value->get<std::string>();
}

bool flag_of(const Json& object, const char* key) {
  const Json* value = find(object, key);
  if (!value) return false;
  if (!value->is_boolean()) throw Malformed{quoted(key) + " is neither true nor false"};
  return value->get<bool>();
}

int small_number_of(const Json& object, const char* key, int otherwise) {
  const Json* value = find(object, key);
  if (!value) return otherwise;
  if (!value->is_number_unsigned() || value->get<std::uint64_t>() > 1'000'000)
    throw Malformed{quoted(key) + " is not a small whole number"};
  return value->get<int>();
}

std::size_t size_of_part(const Json& value) {
  if (!value.is_number_unsigned())
    throw Malformed{"a size is not a whole number but a JSON " + std::string(value.type_name())};
  const auto size = value.get<std::uint64_t>();
  if (size > part_limit) throw Malformed{"a part of " + std::to_string(size) + " bytes: the limit is 2 GiB"};
  return size;
}

Sizes sizes_of(const Json& object) {
  const Json* sets = find(object, "sets");
  if (!sets || !sets->is_array()) throw Malformed{"\"sets\" is not an array of arrays of sizes"};
  Sizes sizes;
  for (const Json& set : *sets) {
    if (!set.is_array()) throw Malformed{"\"sets\" is not an array of arrays of sizes"};
    auto& parts = sizes.emplace_back();
    for (const Json& part : set) parts.push_back(size_of_part(part));
  }
  return sizes;
}

std::set<std::string> names_of(const Json& object, const char* key) {
  const Json* value = find(object, key);
  std::set<std::string> names;
  if (!value) return names;
  if (!value->is_array()) throw Malformed{quoted(key) + " is not an array of strings"};
  for (const Json& name : *value) {
    if (!name.is_string()) throw Malformed{quoted(key) + " is not an array of strings"};
    names.insert(printable(name.get<std::string>(), 80));
  }
  return names;
}

// A misspelt declaration would change verdicts in silence, so only known keys are admitted.
const Json& declarations(const Json& object, const char* key, std::initializer_list<std::string_view> known) {
  static const Json nothing = Json::object();
  const Json* value = find(object, key);
  if (!value) return nothing;
  if (!value->is_object()) throw Malformed{quoted(key) + " is not an object"};
  for (const auto& [name, ignored] : value->items()) {
    if (std::ranges::find(known, name) != known.end()) continue;
    std::string text = quoted(key) + " declares " + printable(name, 40) + "; known are";
    for (const std::string_view word : known) text.append(" ").append(word);
    throw Malformed{text};
  }
  return *value;
}

oracles::Arithmetic arithmetic_of(const Json& object) {
  const Json& declared =
      declarations(object, "arithmetic", {"accumulator", "flushes_subnormals", "tf32", "bf16_inputs", "winograd"});
  oracles::Arithmetic arithmetic;
  if (const std::string accumulator = text_of(declared, "accumulator"); !accumulator.empty()) {
    arithmetic.accumulator = dtype_named(accumulator);
    if (!arithmetic.accumulator || !is_float(*arithmetic.accumulator) || is_small(*arithmetic.accumulator))
      throw Malformed{"the accumulator is " + printable(accumulator, 40) + "; known are f16 bf16 f32 f64"};
  }
  arithmetic.flushes_subnormals = flag_of(declared, "flushes_subnormals");
  arithmetic.tf32 = flag_of(declared, "tf32");
  arithmetic.bf16_inputs = flag_of(declared, "bf16_inputs");
  arithmetic.winograd = flag_of(declared, "winograd");
  return arithmetic;
}

// Values as they are spelt, since they are sent back; they are made printable where they are shown.
std::vector<std::string> values_of(const std::string& option, const Json& values) {
  const auto wrong = [&] { return Malformed{"\"options\": " + printable(option, 40) + " is not an array of strings"}; };
  if (!values.is_array()) throw wrong();
  std::vector<std::string> known;
  for (const Json& value : values) {
    if (!value.is_string()) throw wrong();
    known.push_back(value.get<std::string>());
  }
  return known;
}

// Options that every request may have.
bool is_ours(std::string_view option) { return option == "threads" || option == "optimization" || option == "outputs"; }

std::map<std::string, std::vector<std::string>> options_of(const Json& object) {
  const Json* options = find(object, "options");
  std::map<std::string, std::vector<std::string>> known;
  if (!options) return known;
  if (!options->is_object()) throw Malformed{"\"options\" is not an object of names with their values"};
  for (const auto& [option, values] : options->items()) {
    if (option.empty() || option.find('=') != std::string::npos || is_ours(option))
      throw Malformed{"\"options\" declares \"" + printable(option, 40) +
                      "\"; a name is not empty, without =, and neither threads, optimization nor outputs"};
    known.emplace(option, values_of(option, values));
  }
  return known;
}

// Each has to mean something for at least one operator version: a misspelt name would exclude nothing, silently.
std::vector<Predicate> predicates_of(const Json& capabilities) {
  std::vector<Predicate> predicates;
  const Json* lines = find(capabilities, "excludes");
  if (!lines) return predicates;
  std::vector<const Definition*> versions;
  for (const Operator* op : operators())
    for (const Definition& definition : op->versions()) versions.push_back(&definition);
  for (const std::string& line : values_of("excludes", *lines)) {
    Result<Predicate> predicate = parse_predicate(line);
    if (!predicate) throw Malformed{"\"excludes\": " + printable(line, 80) + ": " + predicate.error()};
    if (const auto mistake = predicate->mistake(versions))
      throw Malformed{"\"excludes\": " + printable(line, 80) + ": " + mistake->text};
    predicates.push_back(*std::move(predicate));
  }
  return predicates;
}

Description description_of(const Json& json) {
  Description description;
  description.backend = printable(text_of(json, "backend"), 80);
  if (description.backend.empty()) throw Malformed{"\"backend\", its name, is missing"};
  description.version = printable(text_of(json, "version"), 80);
  description.device = printable(text_of(json, "device"), 80);
  description.arithmetic = arithmetic_of(json);
  const Json& capabilities = declarations(
      json, "capabilities", {"operators", "types", "newest_opset", "excludes", "answers", "binds_outputs"});
  description.operators = names_of(capabilities, "operators");
  description.types = names_of(capabilities, "types");
  description.newest_opset = small_number_of(capabilities, "newest_opset", 0);
  description.excludes = predicates_of(capabilities);
  const std::string answers = text_of(capabilities, "answers", "values");
  if (answers != "values" && answers != "shapes")
    throw Malformed{"\"answers\" is \"" + printable(answers, 40) + "\"; known are values shapes"};
  description.answers_shapes = answers == "shapes";
  description.binds_outputs = flag_of(capabilities, "binds_outputs");
  description.options = options_of(json);
  return description;
}

Json json_of(const oracles::Arithmetic& arithmetic) {
  Json json = Json::object();
  if (arithmetic.accumulator) json["accumulator"] = name(*arithmetic.accumulator);
  if (arithmetic.flushes_subnormals) json["flushes_subnormals"] = true;
  if (arithmetic.tf32) json["tf32"] = true;
  if (arithmetic.bf16_inputs) json["bf16_inputs"] = true;
  if (arithmetic.winograd) json["winograd"] = true;
  return json;
}

Json capabilities_of(const Description& description) {
  Json json = Json::object();
  if (!description.operators.empty()) json["operators"] = description.operators;
  if (!description.types.empty()) json["types"] = description.types;
  if (description.newest_opset > 0) json["newest_opset"] = description.newest_opset;
  for (const Predicate& predicate : description.excludes) json["excludes"].push_back(predicate.text());
  if (description.answers_shapes) json["answers"] = "shapes";
  if (description.binds_outputs) json["binds_outputs"] = true;
  return json;
}

// Invalid UTF-8 is replaced, so that writing never throws.
std::string line_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n'; }

template <class T, class F>
Result<T> caught(F&& parse) {
  try {
    return parse();
  } catch (const Malformed& malformed) {
    return Error{malformed.text};
  }
}

void read_options(const Json& options, Request& request) {
  if (!options.is_object()) throw Malformed{"\"options\" is not an object"};
  request.threads = small_number_of(options, "threads", 1);
  request.optimization = text_of(options, "optimization", "all");
  request.binds_outputs = text_of(options, "outputs") == "bound";
  for (const auto& [option, ignored] : options.items())
    if (!is_ours(option)) request.options.emplace(option, text_of(options, option.c_str()));
}

Incoming request_of(const Json& json) {
  Incoming incoming;
  const std::string request = text_of(json, "ask");
  if (request == "describe") return incoming;
  if (request != "run") throw Malformed{"unknown request " + printable(request, 40)};
  incoming.kind = Incoming::Kind::run;
  incoming.request.id = text_of(json, "id");
  if (const Json* options = find(json, "options")) read_options(*options, incoming.request);
  const Json* model = find(json, "model");
  if (!model) throw Malformed{"\"model\", its size, is missing"};
  incoming.model = size_of_part(*model);
  incoming.sets = sizes_of(json);
  return incoming;
}

AnswerHeader answer_of(const Json& json) {
  AnswerHeader answer;
  if (!find(json, "id")) throw Malformed{"\"id\" is missing"};
  answer.id = text_of(json, "id");
  const std::string outcome = text_of(json, "outcome");
  answer.because = text_of(json, "because");
  if (outcome == "outputs") {
    answer.sets = sizes_of(json);
    return answer;
  }
  if (outcome != "refused" && outcome != "unsupported")
    throw Malformed{"the outcome is \"" + printable(outcome, 40) + "\"; known are outputs refused unsupported"};
  if (answer.because.empty()) throw Malformed{outcome + " without \"because\", the reason"};
  if (find(json, "sets")) throw Malformed{outcome + " and yet \"sets\""};
  answer.kind = outcome == "refused" ? Outcome::Kind::refused : Outcome::Kind::unsupported;
  return answer;
}

}  // namespace

std::size_t total(const Sizes& sizes) {
  std::size_t bytes = 0;
  for (const auto& set : sizes)
    for (const std::size_t part : set) bytes += part;
  return bytes;
}

std::string describe_line() { return "{\"assay\":1,\"ask\":\"describe\"}\n"; }

std::string run_line(const Request& request) {
  Json json = {{"ask", "run"}, {"id", request.id}};
  json["options"] = {{"threads", request.threads}, {"optimization", request.optimization}};
  if (request.binds_outputs) json["options"]["outputs"] = "bound";
  for (const auto& [option, value] : request.options) json["options"][option] = value;
  json["model"] = request.model.size();
  json["sets"] = Json::array();
  for (const auto& set : request.sets) {
    Json& sizes = json["sets"].emplace_back(Json::array());
    for (const std::string& part : set) sizes.push_back(part.size());
  }
  return line_of(json);
}

Result<Incoming> parse_request(std::string_view line) {
  return caught<Incoming>([&] { return request_of(parse_line(line)); });
}

std::string description_line(const Description& description) {
  Json json = {{"assay", 1},
               {"backend", description.backend},
               {"version", description.version},
               {"device", description.device},
               {"arithmetic", json_of(description.arithmetic)},
               {"capabilities", capabilities_of(description)}};
  if (!description.options.empty()) json["options"] = description.options;
  return line_of(json);
}

std::string answer_line(std::string_view id, Outcome::Kind kind, std::string_view because, const Sizes& sets) {
  Json json = {{"id", id}};
  switch (kind) {
    case Outcome::Kind::outputs:
      json["outcome"] = "outputs";
      json["sets"] = sets;
      break;
    case Outcome::Kind::unsupported:
      json["outcome"] = "unsupported";
      json["because"] = because;
      break;
    default:
      json["outcome"] = "refused";
      json["because"] = because;
      break;
  }
  return line_of(json);
}

std::optional<std::string_view> last_object(std::string_view log) {
  if (log.empty() || log.back() != '\n') return std::nullopt;
  log.remove_suffix(1);
  const std::string_view line = log.substr(log.find_last_of('\n') + 1);
  if (!line.starts_with('{')) return std::nullopt;
  return line;
}

Result<Introduction> parse_introduction(std::string_view line) {
  return caught<Introduction>([&] {
    const Json json = parse_line(line);
    if (small_number_of(json, "assay", 0) != 1) throw Malformed{"\"assay\":1, the version of the protocol, is missing"};
    const std::string replies = text_of(json, "replies");
    if (replies != "" && replies != "stdout" && replies != "fd")
      throw Malformed{"\"replies\" is \"" + printable(replies, 40) + "\"; known are fd stdout"};
    return Introduction{description_of(json), replies == "stdout"};
  });
}

Result<AnswerHeader> parse_answer(std::string_view line) {
  return caught<AnswerHeader>([&] { return answer_of(parse_line(line)); });
}

}  // namespace assay::suites
