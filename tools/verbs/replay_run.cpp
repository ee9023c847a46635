// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/replay_run.h"

#include "reference/onnx_io.h"
#include "reference/sequence.h"
#include "suites/text/json_depth.h"
#include "suites/text/printable.h"
#include "suites/triage/finding_folder.h"
#include "suites/workers/catalogue.h"
#include "suites/workers/vector_folder.h"
#include "suites/workers/worker_names.h"
#include "tools/verbs/positional.h"
#include "tools/verbs/words.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <ranges>

namespace assay::tools {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using suites::SuiteCase;
using Words = std::map<Positional, std::vector<std::string>>;

constexpr std::uintmax_t most_report = std::uintmax_t{1} << 32;
// So many values of a model are written into a case line, so that it can be shrunk and saved.
constexpr Int most_written = 4096;

// -- the words

bool looks_like_a_line(const std::vector<std::string>& words) {
  return std::ranges::any_of(words, [](const std::string& word) { return word.find('=') != std::string::npos; });
}

Words sorted(const std::vector<std::string>& words) {
  if (words.size() > 1 && looks_like_a_line(words) &&
      std::ranges::none_of(words, [](const std::string& word) { return kind_of(word) == Positional::line; }))
    throw InputError("a case line goes in quotes: assay replay '" + suites::printable(words.front(), 80) + " …'");
  Words out;
  for (const std::string& word : words) out[kind_of(word)].push_back(word);
  for (const auto& [kind, each] : out)
    if (each.size() > 1 && kind != Positional::tensor)
      throw InputError("two words name " + std::string(name(kind)) + ": " + suites::printable(each[0], 80) + " and " +
                       suites::printable(each[1], 80));
  return out;
}

// What is looked at: exactly one of these.
Positional matter_of(const Words& words) {
  std::vector<Positional> found;
  for (const Positional kind : {Positional::line, Positional::report, Positional::folder, Positional::model})
    if (words.contains(kind)) found.push_back(kind);
  if (found.size() > 1)
    throw InputError("both " + std::string(name(found[0])) + " and " + std::string(name(found[1])) +
                     " are named; replay takes one of them");
  if (!found.empty()) return found.front();
  const auto backend = words.find(Positional::backend);
  const auto& known = suites::worker_names();
  if (backend != words.end() && std::ranges::find(known, backend->second.front()) == known.end())
    throw InputError(
        "there is no folder " + suites::printable(backend->second.front(), 80) +
        "; name a case line in quotes, a report.json and a number, the folder of a finding, or a model.onnx");
  throw InputError("name a case line in quotes, a report.json and a number, the folder of a finding, or a model.onnx");
}

// -- how it was run

// Names that a file may make us run: none that is a command or code of its own.
bool is_safe(const std::string& backend) {
  if (suites::find_entry(suites::catalogue(), backend)) return true;
  return backend.starts_with("reference") || backend.starts_with("mutant:") || backend.starts_with("variant:");
}

struct Invocation {
  std::string backend;
  int threads;
  std::string optimization;
  std::map<std::string, std::string> options;
  std::string level;
};

using IsGiven = std::function<bool(const std::string&)>;

void take_over(const Invocation& invocation, Subject& subject, const IsGiven& is_given) {
  const bool is_another = !subject.backend.empty() && subject.backend != invocation.backend;
  if (subject.backend.empty()) {
    if (!is_safe(invocation.backend))
      throw InputError("it was run on " + suites::printable(invocation.backend, 80) +
                       ", which a file does not start: name it with --backend");
    subject.backend = invocation.backend;
  }
  if (!is_given("--threads")) subject.threads = std::clamp(invocation.threads, 1, 4096);
  if (!is_given("--optimization")) subject.optimization = optimization_of(invocation.optimization);
  if (!is_given("--level")) subject.level = invocation.level;
  if (!is_given("--set") && !is_another)  // options are a backend's own
    for (const auto& [option, value] : invocation.options) subject.settings.push_back(option + "=" + value);
}

Json json_in(const fs::path& file) {
  const Result<std::string> text = suites::file_contents(file, most_report);
  if (!text) throw InputError(text.error());
  Json json = suites::nests_too_deep(*text) ? Json(Json::value_t::discarded) : Json::parse(*text, nullptr, false);
  if (!json.is_object()) throw InputError(file.string() + " is no JSON object");
  return json;
}

// -- a case

ReplayRun run_of(SuiteCase planned) {
  const Call call = planned.c.call();
  std::string title = planned.line;
  std::vector<Operands> sets = all_operands(planned.c);
  return {std::move(title), std::move(planned), call, std::move(sets)};
}

// What stands before the line wins over the options.
suites::Settings together(suites::Settings options, const suites::Settings& own) {
  if (own.threads != 1) options.threads = own.threads;
  if (own.optimization != "all") options.optimization = own.optimization;
  options.names = own.names;
  options.binds_outputs = own.binds_outputs;
  return options;
}

// A case, or a session that ends with one.
ReplayRun run_of(const std::string& text, std::string origin) {
  Result<suites::Steps> steps = suites::parse_session(text);
  if (!steps) throw InputError(steps.error());
  suites::Steps before = *std::move(steps);
  const suites::Step last = std::move(before.back());
  before.pop_back();
  ReplayRun case_run = run_of(SuiteCase{*parse_case(last.line), last.line, std::move(origin), std::nullopt});
  case_run.before = std::move(before);
  case_run.settings = last.settings;
  return case_run;
}

// -- a report

// The line of the cause or finding with that number, as printed: the first is 1.
std::string numbered_line(const Json& report, std::size_t number, const std::string& file) {
  const char* list = report.contains("causes") ? "causes" : "findings";
  const Json all = report.value(list, Json::array());
  const std::string what = std::string(list).substr(0, std::string(list).size() - 1);
  if (number < 1 || number > all.size())
    throw InputError(file + " has " + (all.empty() ? "no " + what : what + "s 1 to " + std::to_string(all.size())));
  const Json& cause = all[number - 1];
  if (cause.contains("session")) return cause.at("session").get<std::string>();
  if (!cause.contains("smallest")) return cause.at("line").get<std::string>();  // of graphs
  const Json& smallest = cause.at("smallest");
  return smallest.is_string() ? smallest.get<std::string>() : smallest.at("line").get<std::string>();
}

// What a report has under a number, and how it was run there.
std::pair<std::string, Invocation> reported(const Words& words) {
  const std::string& file = words.at(Positional::report).front();
  const auto number = words.find(Positional::number);
  if (number == words.end())
    throw InputError("which one? name the number of a cause or finding behind " + suites::printable(file, 80));
  const Json report = json_in(file);
  try {
    const std::size_t which = number->second.front().size() > 9 ? 0 : std::stoul(number->second.front());
    std::string found = numbered_line(report, which, suites::printable(file, 80));
    const Json &backend = report.at("backend"), &options = backend.at("options");
    const std::string level = report.value("level", "L2");
    return {std::move(found), Invocation{backend.at("spec"), options.at("threads"), options.at("optimization"),
                                         options.at("set"), level}};
  } catch (const Json::exception&) {
    throw InputError(suites::printable(file, 80) + " is no report of this version of assay");
  }
}

ReplayRun of_report(const Words& words, Subject& subject, const IsGiven& is_given) {
  const auto [found, invocation] = reported(words);
  take_over(invocation, subject, is_given);
  return run_of(found, words.at(Positional::report).front() + " " + words.at(Positional::number).front());
}

// -- a model

const std::string& schema_name(const Served& served, const std::string& graph_input) {
  const auto at = std::ranges::find(served.operand_names, graph_input);
  if (at == served.operand_names.end()) throw InputError("the graph input " + graph_input + " goes into no node");
  return served.schema_names[static_cast<std::size_t>(at - served.operand_names.begin())];
}

bool is_read(const Served& served, const std::string& schema_name) {
  const Parameter* const parameter = find_definition(served.version)->input(schema_name);
  return parameter && !parameter->reads_as.empty();
}

// The types and recipes of a model become a case; its data are those of the first set.
class ModelReader {
 public:
  ModelReader(std::string model, const std::string& name) : model_(std::move(model)), name_(name) {
    Result<Served> served = parse_model(model_);
    if (!served)
      throw InputError(suites::printable(name, 80) + ": " + served.error() +
                       "; replay takes a model of one node of an operator version that `assay list` shows");
    served_ = *std::move(served);
  }

  // Reads graph inputs off files, in their order.
  void read(const std::vector<std::string>& files) {
    std::vector<Tensor> tensors;
    for (const std::string& file : files) {
      std::optional<DType> declared;
      if (tensors.size() < served_.graph_inputs.size()) declared = declared_type(tensors.size()).dtype;
      Result<Tensor> tensor = suites::tensor_in(file, declared);
      if (!tensor) throw InputError(tensor.error());
      tensors.push_back(*std::move(tensor));
    }
    give({std::move(tensors)});
  }

  // Graph inputs in their order, one data set after the other.
  void give(std::vector<std::vector<Tensor>> sets) {
    for (const std::vector<Tensor>& set : sets)
      if (set.size() != served_.graph_inputs.size())
        throw InputError(std::to_string(set.size()) + " tensors for the " +
                         std::to_string(served_.graph_inputs.size()) + " inputs of " + suites::printable(name_, 80));
    given_ = std::move(sets);
    for (const std::vector<Tensor>& set : given_)
      for (std::size_t i = 0; i < set.size(); ++i)
        if (is_read(served_, schema_name(served_, served_.graph_inputs[i])) && set[i] != given_.front()[i])
          throw InputError("the input " + served_.graph_inputs[i] + " of " + suites::printable(name_, 80) +
                           " decides what the outputs are, and is not the same in every data set: replay one of them");
    for (std::size_t i = 0; i < served_.graph_inputs.size(); ++i)
      served_.node.input(schema_name(served_, served_.graph_inputs[i]), given_.front()[i].type());
  }

  void draw(const std::string& text) {
    Result<Recipe> recipe = parse_recipe(text);
    if (!recipe) throw InputError("--data: " + recipe.error());
    std::vector<std::vector<Tensor>> sets(data_sets);
    for (const std::string& input : served_.graph_inputs) {
      if (is_read(served_, schema_name(served_, input)))
        throw InputError("the input " + input + " decides what the outputs are: give a file for every input");
      TensorType type = served_.node.inputs.at(schema_name(served_, input)).type;
      for (std::size_t axis = 0; axis < type.shape.size(); ++axis)
        if (type.shape[axis] < 0) type.shape[axis] = assumed_extent(axis);
      for (int set = 0; set < data_sets; ++set) sets[static_cast<std::size_t>(set)].push_back(fill(*recipe, type, set));
    }
    recipe_ = *std::move(recipe);
    give(std::move(sets));
  }

  ReplayRun case_run() const {
    const Definition* definition = find_definition(served_.version);
    expects(definition, "a served node has a definition");
    Node node = served_.node;
    const Operands first = operands_of(*definition, given_.front());
    for (std::size_t i = 0; i < first.size(); ++i)
      if (first[i]) node.value(definition->inputs[i], *first[i]);
    ReplayRun case_run{name_, std::nullopt, Call(*definition, std::move(node)), {}, model_, {}};
    for (const std::vector<Tensor>& set : given_) {
      case_run.sets.push_back(operands_of(*definition, set));
      case_run.parts.emplace_back();
      for (std::size_t i = 0; i < set.size(); ++i)
        case_run.parts.back().push_back(encode_tensor(set[i], served_.graph_inputs[i]));
    }
    case_run.planned = as_case();
    return case_run;
  }

 private:
  const Tensor* operand(const std::string& name, const std::vector<Tensor>& set) const {
    if (const auto constant = served_.initializers.find(name); constant != served_.initializers.end())
      return &constant->second;
    const auto input = std::ranges::find(served_.graph_inputs, name);
    return input == served_.graph_inputs.end() ? nullptr
                                               : &set[static_cast<std::size_t>(input - served_.graph_inputs.begin())];
  }

  Operands operands_of(const Definition& definition, const std::vector<Tensor>& set) const {
    Operands out;
    for (const Parameter& parameter : definition.inputs) {
      const auto at = std::ranges::find(served_.schema_names, parameter.name);
      const std::size_t index = static_cast<std::size_t>(at - served_.schema_names.begin());
      const Tensor* found = at == served_.schema_names.end() ? nullptr : operand(served_.operand_names[index], set);
      out.push_back(found ? std::optional(*found) : std::nullopt);
    }
    return out;
  }

  static Recipe written_out(const Tensor& tensor, const char* family) {
    return {family, joined(std::views::iota(Int{0}, tensor.elements()), ",",
                           [&](Int i) { return oracles::written(oracles::scalar(tensor, i), tensor.dtype()); })};
  }

  // The same node and the same first data set as a case; none where there is too much to write into a line.
  std::optional<SuiteCase> as_case() const {
    Case c;
    c.version = served_.version;
    c.opset = served_.opset;
    c.ir_version = c.opset < 21 ? 8 : 10;
    c.node = served_.node;
    Int written = 0;
    for (std::size_t i = 0; i < served_.schema_names.size(); ++i) {
      const std::string& name = served_.operand_names[i];
      if (name.empty()) continue;
      const Tensor* tensor = operand(name, given_.front());
      const bool is_constant = served_.initializers.contains(name);
      if (!is_constant && recipe_) {
        c.sources[served_.schema_names[i]] = {*recipe_, false};
        continue;
      }
      const bool decides = is_read(served_, served_.schema_names[i]);
      if (!tensor || (tensor->elements() == 0 && !decides) || (written += tensor->elements()) > most_written)
        return std::nullopt;
      const char* const family = decides ? "values" : is_constant || !is_float(tensor->dtype()) ? "hold" : "lit";
      c.sources[served_.schema_names[i]] = {written_out(*tensor, family), is_constant};
    }
    const Result<Case> read = parse_case(line(c));
    if (!read || *read != c) return std::nullopt;
    return SuiteCase{c, line(c), name_, std::nullopt};
  }

  const TensorType& declared_type(std::size_t input) const {
    return served_.node.inputs.at(schema_name(served_, served_.graph_inputs[input])).type;
  }

  std::string model_, name_;
  Served served_;
  std::vector<std::vector<Tensor>> given_;
  std::optional<Recipe> recipe_;
};

ReplayRun of_model(const Words& words, const std::string& recipe) {
  const std::string& file = words.at(Positional::model).front();
  Result<std::string> model = suites::file_contents(file, suites::most_message);
  if (!model) throw InputError(model.error());
  ModelReader reader(*std::move(model), file);
  const auto files = words.find(Positional::tensor);
  if (files == words.end()) {
    reader.draw(recipe);
    return reader.case_run();
  }
  reader.read(files->second);
  return reader.case_run();
}

// -- a folder

// In the layout of ONNX's backend tests, from anybody's hands.
ReplayRun of_vector(const fs::path& folder) {
  const fs::path whole = fs::absolute(folder).lexically_normal();
  const fs::path named = whole.has_filename() ? whole : whole.parent_path();
  const suites::TestVector vector = suites::read_vector(named.parent_path(), named.filename().string());
  if (!vector.problems.empty()) throw InputError(text(vector.problems.front()));
  ModelReader reader(vector.model, folder.string());
  std::vector<std::vector<Tensor>> sets;
  for (const suites::VectorSet& set : vector.sets) {
    sets.emplace_back();
    for (const std::optional<Tensor>& input : set.inputs) sets.back().push_back(input.value());
  }
  if (sets.empty()) throw InputError(folder.string() + " has no test_data_set_0");
  reader.give(std::move(sets));
  return reader.case_run();
}

ReplayRun of_folder(const fs::path& folder, Subject& subject, const IsGiven& is_given) {
  std::error_code ignored;
  if (fs::exists(folder / "case.json", ignored)) {
    const Json json = json_in(folder / "case.json");
    if (!json.contains("line") || !json["line"].is_string())
      throw InputError((folder / "case.json").string() + " has no \"line\"");
    return run_of(json["line"].get<std::string>(), folder.string());
  }
  if (!fs::exists(folder / "finding.json", ignored) && fs::exists(folder / "model.onnx", ignored))
    return of_vector(folder);
  Result<SuiteCase> read = suites::read_finding(folder);
  if (!read) throw InputError(read.error());
  const Json json = json_in(folder / "finding.json");
  try {
    const Json& backend = json.at("backend");
    take_over({backend.at("asked"), backend.at("threads"), backend.at("optimization"), backend.at("options"),
               json.at("level")},
              subject, is_given);
  } catch (const Json::exception&) {
    // Which backend ran is not said: then the command line has to.
  }
  const auto session = json.find("session");
  if (session != json.end() && session->is_string()) return run_of(session->get<std::string>(), folder.string());
  return run_of(*std::move(read));
}

void name_backend(const Words& words, Subject& subject) {
  const auto backend = words.find(Positional::backend);
  if (backend == words.end()) return;
  if (!subject.backend.empty())
    throw InputError("two backends are named: " + suites::printable(subject.backend, 80) + " and " +
                     suites::printable(backend->second.front(), 80));
  subject.backend = backend->second.front();
}

}  // namespace

suites::Request ReplayRun::submit(const suites::RunOptions& run_options) const {
  if (model.empty()) {
    suites::Request of_case =
        suites::request_of(planned->c, planned->line, sets, run_options, together(run_options.settings, settings));
    if (planned->c.is_legal()) of_case.allowance = suites::time_to_move(suites::moved_bytes(planned->c));
    return of_case;
  }
  suites::Request request;
  request.id = case_id(title);
  request.model = model;
  request.sets = parts;
  request.threads = run_options.settings.threads;
  request.optimization = run_options.settings.optimization;
  request.options = run_options.options;
  return request;
}

oracles::Verdict ReplayRun::judged(const oracles::Outcome& outcome, const suites::Description& backend,
                                   oracles::Level level) const {
  if (model.empty()) return suites::judged(*planned, sets, outcome, backend, level);
  return oracles::judge(call, sets, outcome, suites::judgement_of(level, backend.arithmetic));
}

std::optional<GraphCase> graph_of(const Said& said, Subject& subject, const IsGiven& is_given) {
  const Words words = sorted(said.words);
  std::string line;
  if (std::ranges::any_of(said.words, is_graph_line)) {
    matter_of(words);
    name_backend(words, subject);
    line = words.at(Positional::line).front();
  } else if (words.contains(Positional::report) && words.contains(Positional::number)) {
    Invocation invocation;
    std::tie(line, invocation) = reported(words);
    if (!is_graph_line(line)) return std::nullopt;
    name_backend(words, subject);
    take_over(invocation, subject, is_given);
  } else {
    return std::nullopt;
  }
  Result<GraphCase> graph = parse_graph_case(line);
  if (!graph) throw InputError(graph.error());
  return *std::move(graph);
}

ReplayRun run_of(const Said& said, Subject& subject, const IsGiven& is_given) {
  const Words words = sorted(said.words);
  const Positional matter = matter_of(words);
  name_backend(words, subject);
  const auto expect_no = [&](Positional kind, Positional with) {
    if (words.contains(kind) && matter != with)
      throw InputError(std::string(name(kind)) + " goes with " + std::string(name(with)));
  };
  expect_no(Positional::tensor, Positional::model);
  expect_no(Positional::number, Positional::report);
  switch (matter) {
    case Positional::report: return of_report(words, subject, is_given);
    case Positional::folder: return of_folder(words.at(matter).front(), subject, is_given);
    case Positional::model: return of_model(words, said.recipe);
    default: return run_of(words.at(matter).front(), "command line");
  }
}

}  // namespace assay::tools
