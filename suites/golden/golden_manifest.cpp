// SPDX-License-Identifier: Apache-2.0
#include "reference/sequence.h"
#include "suites/golden/golden_folder.h"
#include "suites/golden/golden_graphs.h"
#include "suites/text/json_depth.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <stdexcept>

namespace assay::suites {
namespace {

using Json = nlohmann::ordered_json;

// -- writing: one line per case and file, so that two manifests can be compared with diff

Json case_json(const Listed& listed) {
  Json json{
      {"name", listed.name}, {"shelf", name(listed.golden_kind)}, {"line", listed.line}, {"origin", listed.origin}};
  if (!listed.because.empty()) json["because"] = listed.because;
  if (listed.expected) json["expected"] = *listed.expected;
  return json;
}

Json counts_json(const Manifest& manifest) {
  Json counts{{"cases", manifest.cases.size()}};
  for (const GoldenKind golden_kind : all_shelves) counts[std::string(name(golden_kind))] = 0;
  for (const Listed& listed : manifest.cases) {
    Json& count = counts[std::string(name(listed.golden_kind))];
    count = count.get<std::size_t>() + 1;
  }
  if (!manifest.graphs.empty()) counts["graphs"] = manifest.graphs.size();
  std::uint64_t bytes = 0;
  for (const auto& [path, seal] : manifest.files) bytes += seal.size;
  counts["files"] = manifest.files.size();
  counts["bytes"] = bytes;
  return counts;
}

std::string seals_text(const Seals& seals) {
  std::string out = "{";
  for (const auto& [path, seal] : seals)
    out += (out.size() > 1 ? ",\n" : "\n") + Json(path).dump() + ": " +
           Json{{"sha256", seal.sha256}, {"size", seal.size}}.dump();
  return out + "\n}";
}

std::string cases_text(const std::vector<Listed>& cases) {
  std::string out = "[";
  for (const Listed& listed : cases) out += (out.size() > 1 ? ",\n" : "\n") + case_json(listed).dump();
  return out + "\n]";
}

// Left out where there are none, as in manifests of older versions.
std::string graphs_text(const std::vector<std::string>& graphs) {
  if (graphs.empty()) return "";
  return ",\n\"graphs\": [" + joined(graphs, ",", [](const std::string& each) { return "\n" + Json(each).dump(); }) +
         "\n]";
}

// -- reading

Seals seals_in(const Json& json) {
  Seals seals;
  for (const auto& [path, seal] : json.items()) {
    if (!is_plain_path(path)) throw std::invalid_argument("a path leaves the folder or is not plain");
    seals.emplace(path, Sealed{seal.at("sha256").get<std::string>(), seal.at("size").get<std::uint64_t>()});
  }
  return seals;
}

GoldenKind shelf_in(const Json& json) {
  for (const GoldenKind golden_kind : all_shelves)
    if (json == name(golden_kind)) return golden_kind;
  throw std::invalid_argument("there is no such shelf");
}

Listed case_in(const Json& json) {
  Listed listed{json.at("name").get<std::string>(),   json.at("line").get<std::string>(),
                json.at("origin").get<std::string>(), std::nullopt,
                shelf_in(json.at("shelf")),           json.value("because", "")};
  if (json.contains("expected")) listed.expected = json.at("expected").get<std::string>();
  return listed;
}

Manifest manifest_in(const Json& json) {
  if (json.at("assay") != 1) throw std::invalid_argument("another version of the layout");
  const Json& suite = json.at("suite");
  Manifest manifest;
  manifest.digest = json.at("digest").get<std::string>();
  manifest.suite_name = suite.at("name").get<std::string>();
  manifest.suite_version = suite.at("version").get<std::string>();
  manifest.suite_hash = suite.at("hash").get<std::string>();
  manifest.complete = suite.at("complete").get<bool>();
  manifest.seed = suite.at("seed").get<std::uint64_t>();
  manifest.judgement_hash = json.at("judgement").get<std::string>();
  manifest.tool_version = json.at("tool").get<std::string>();
  for (const Json& each : json.at("cases")) manifest.cases.push_back(case_in(each));
  if (json.contains("graphs")) manifest.graphs = json.at("graphs").get<std::vector<std::string>>();
  manifest.files = seals_in(json.at("files"));
  manifest.runner = seals_in(json.at("runner"));
  return manifest;
}

}  // namespace

Seals seals_of(const std::vector<GoldenFile>& files) {
  Seals seals;
  for (const GoldenFile& file : files) seals.emplace(file.path, Sealed{sha256(file.bytes), file.bytes.size()});
  return seals;
}

std::string golden_digest(const Seals& files) {
  std::vector<std::string> lines;
  for (const auto& [path, seal] : files) lines.push_back(seal.sha256 + "  " + path + "\n");
  std::ranges::sort(lines);
  return sha256(joined(lines, ""));
}

std::map<OpVersion, std::string> version_digests(const Manifest& manifest) {
  std::map<std::string, OpVersion, std::less<>> version_of;  // by the name of the case's folder
  for (const Listed& listed : manifest.cases)
    if (const Result<Case> c = parse_case(listed.line)) version_of[listed.name] = c->version;
  std::map<OpVersion, Seals> files;
  for (const auto& [path, seal] : manifest.files) {
    const std::size_t begin = path.find('/') + 1;
    const auto found = version_of.find(std::string_view(path).substr(begin, path.find('/', begin) - begin));
    if (found != version_of.end()) files[found->second][path] = seal;
  }
  std::map<OpVersion, std::string> digests;
  for (const auto& [version, seals] : files) digests[version] = golden_digest(seals);
  return digests;
}

std::string text(const Manifest& manifest) {
  const Json suite{{"name", manifest.suite_name},
                   {"version", manifest.suite_version},
                   {"hash", manifest.suite_hash},
                   {"complete", manifest.complete},
                   {"seed", manifest.seed}};
  return "{\n\"assay\": 1,\n\"digest\": " + Json(manifest.digest).dump() + ",\n\"suite\": " + suite.dump() +
         ",\n\"judgement\": " + Json(manifest.judgement_hash).dump() +
         ",\n\"tool\": " + Json(manifest.tool_version).dump() + ",\n\"counts\": " + counts_json(manifest).dump() +
         ",\n\"cases\": " + cases_text(manifest.cases) + graphs_text(manifest.graphs) +
         ",\n\"files\": " + seals_text(manifest.files) + ",\n\"runner\": " + seals_text(manifest.runner) + "\n}\n";
}

Result<Manifest> parse_manifest(std::string_view bytes) {
  if (nests_too_deep(bytes)) return Error{"it is no manifest of this version of assay"};
  try {
    Manifest manifest = manifest_in(Json::parse(bytes));
    // What is written twice, or otherwise than we write it, may read otherwise elsewhere.
    if (text(manifest) != bytes) return Error{"it is not written as `assay golden write` writes it"};
    return manifest;
  } catch (const nlohmann::json::exception&) {
    return Error{"it is no manifest of this version of assay"};
  } catch (const std::invalid_argument& wrong) {
    return Error{wrong.what()};
  }
}

Result<Suite> suite_of(const Manifest& manifest) {
  Suite suite{.name = manifest.suite_name,
              .version = manifest.suite_version,
              .cases = {},
              .length = length_of(manifest.suite_name),
              .complete = manifest.complete,
              .hash = manifest.suite_hash};
  std::set<std::string_view> names;
  for (const Listed& listed : manifest.cases) {
    Result<Case> c = parse_case(listed.line);
    if (!c) return Error{c.error()};
    if (!names.insert(listed.name).second) return Error{listed.name + " is listed twice"};
    std::string canonical = line(*c);
    if (canonical != listed.line) return Error{"the line of " + listed.name + " is not canonical"};
    suite.cases.push_back({*std::move(c), std::move(canonical), listed.origin, listed.expected});
    if (golden_name(suite.cases.back()) != listed.name) return Error{listed.name + " is not the name of its line"};
  }
  if (suite_hash(suite.cases) != manifest.suite_hash) return Error{"the suite hash is not that of the cases"};
  return suite;
}

Result<std::vector<GraphCase>> graphs_of(const Manifest& manifest) {
  std::vector<GraphCase> graphs;
  std::set<std::string> names;
  for (const std::string& each : manifest.graphs) {
    Result<GraphCase> graph = parse_graph_case(each);
    if (!graph) return Error{graph.error()};
    const std::string name = golden_name(*graph);
    if (!names.insert(name).second) return Error{name + " is listed twice"};
    graphs.push_back(*std::move(graph));
  }
  return graphs;
}

bool is_plain_path(std::string_view path) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.' || c == '/';
  };
  if (path.empty() || path.size() > 255 || path.front() == '/' || path.back() == '/') return false;
  if (!std::ranges::all_of(path, is_plain)) return false;
  return path.front() != '.' && path.find("/.") == path.npos && path.find("//") == path.npos;
}

}  // namespace assay::suites
