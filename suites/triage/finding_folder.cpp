// SPDX-License-Identifier: Apache-2.0
#include "suites/triage/finding_folder.h"

#include "oracles/judging/expected.h"
#include "reference/tensor_store.h"
#include "suites/text/json_depth.h"
#include "suites/workers/vector_folder.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace assay::suites {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::uintmax_t most_text = 1 << 20, most_model = 64 << 20;

// -- writing

void write_data_set(const fs::path& folder, const Case& c, int set) {
  const std::vector<std::string> inputs = graph_inputs(c, set);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    write_file(folder / tensor_name("input", static_cast<int>(i)), inputs[i]);
  const std::optional<std::vector<Tensor>> outputs = oracles::expected(c, set);
  const std::vector<std::string> names = c.call().requested_outputs();
  for (std::size_t i = 0; outputs && i < outputs->size(); ++i)
    write_file(folder / tensor_name("output", static_cast<int>(i)), encode_tensor((*outputs)[i], names[i]));
}

Json evidence_json(const oracles::Evidence& e) {
  return {{"set", e.set},       {"output", e.output},        {"index", e.index}, {"got", e.got},
          {"want", e.want},     {"lower", e.lower},          {"upper", e.upper}, {"exact", e.exact},
          {"budget", e.budget}, {"arithmetic", e.arithmetic}};
}

Json verdict_json(const oracles::Verdict& verdict) {
  Json json{{"state", name(verdict.state)}, {"because", verdict.because}, {"detail", verdict.detail}};
  if (!verdict.readings.departures().empty()) json["readings"] = text(verdict.readings);
  if (!verdict.violated.empty()) json["breaks"] = verdict.violated;
  if (verdict.evidence) json["evidence"] = evidence_json(*verdict.evidence);
  return json;
}

Json backend_json(const Provenance& p) {
  return {{"asked", p.backend},
          {"name", p.description.backend},
          {"version", p.description.version},
          {"device", p.description.device},
          {"threads", p.run_options.settings.threads},
          {"optimization", p.run_options.settings.optimization},
          {"options", p.run_options.options}};
}

Json finding_json(const Finding& finding, const Provenance& provenance) {
  Json json{{"assay", 1}, {"line", finding.line}, {"id", case_id(finding.line)}};
  if (!finding.session.empty()) json["session"] = finding.session;
  json["found"] = finding.found;
  json["origin"] = finding.origin;
  json["level"] = oracles::name(provenance.run_options.level);
  json["verdict"] = verdict_json(finding.answered.verdict);
  json["comes_again"] = finding.comes_again;
  json["signature"] = text(finding.signature);
  json["needs"] = finding.predicate;
  json["explained_by"] = finding.diagnosis.models;
  json["backend"] = backend_json(provenance);
  json["tool"] = provenance.tool_version;
  return json;
}

void write_words(const fs::path& folder, const Finding& finding, const Provenance& provenance) {
  const Account account = account_of(finding, provenance);
  write_file(folder / "README.md", readme_text(account, finding.replayed(), provenance));
  write_file(folder / "ISSUE.md", issue_text(account));
  if (!account.script) return;
  write_file(folder / "repro.py", account.script->text);
  for (const auto& [path, bytes] : account.script->files) write_file(folder / path, bytes);
}

// -- reading

Result<std::string> contents(const fs::path& path, std::uintmax_t most) {
  Result<std::string> bytes = file_contents(path, most);
  if (!bytes) return Error{bytes.error() + "; a finding is a folder that `assay replay --save` wrote"};
  return bytes;
}

Result<std::string> line_of(const fs::path& path) {
  Result<std::string> bytes = contents(path, most_text);
  if (!bytes) return bytes;
  const Json json = nests_too_deep(*bytes) ? Json() : Json::parse(*bytes, nullptr, false);
  if (!json.is_object() || !json.contains("line") || !json["line"].is_string())
    return Error{path.string() + " is no JSON object with a \"line\""};
  return json["line"].get<std::string>();
}

}  // namespace

std::string folder_name(const Finding& finding) {
  std::string words = text(finding.signature.version) + " " + std::string(name(finding.signature.state)) + " " +
                      finding.signature.because + " " + (finding.session.empty() ? "" : "session ") +
                      case_id(finding.replayed()).substr(0, 12);
  std::ranges::replace(words, ' ', '-');
  std::ranges::replace(words, ':', '.');
  return words;
}

void write_finding(const fs::path& folder, const Finding& finding, const Provenance& provenance) {
  std::error_code ignored;
  for (const char* file : {"finding.json", "repro.py"}) fs::remove(folder / file, ignored);
  write_file(folder / "model.onnx", model_of(finding.c));
  for (int set = 0; set < data_sets; ++set) write_data_set(folder / data_set_name(set), finding.c, set);
  if (is_finding(finding.answered.verdict.state)) write_words(folder, finding, provenance);
  constexpr int indent = 1;
  write_file(folder / "finding.json",
             finding_json(finding, provenance).dump(indent, ' ', false, Json::error_handler_t::replace) + "\n");
}

namespace {

// Stores the tensors of a folder, which its line may name by what they hold.
void store_data(const fs::path& folder) {
  const fs::path whole = fs::absolute(folder / "").lexically_normal().parent_path();
  const TestVector vector = read_vector(whole.parent_path(), whole.filename().string());
  for (const VectorSet& set : vector.sets)
    for (const std::optional<Tensor>& input : set.inputs)
      if (input && input->dtype() != DType::string) store(*input);
  if (const Result<Served> served = parse_model(vector.model))
    for (const auto& [name, tensor] : served->initializers)
      if (tensor.dtype() != DType::string) store(tensor);
}

}  // namespace

Result<SuiteCase> read_finding(const fs::path& folder) {
  const Result<std::string> text = line_of(folder / "finding.json");
  if (!text) return Error{text.error()};
  Result<Case> c = parse_case(*text);
  if (!c) return Error{(folder / "finding.json").string() + ": " + c.error()};
  const Result<std::string> model = contents(folder / "model.onnx", most_model);
  if (!model) return Error{model.error()};
  if (text->find("~stored:") != text->npos) store_data(folder);
  if (*model != model_of(*c))
    return Error{(folder / "model.onnx").string() + " is not the model of the line in finding.json; replay the line"};
  std::string canonical = line(*c);
  return SuiteCase{*std::move(c), std::move(canonical), folder.string(), std::nullopt};
}

}  // namespace assay::suites
