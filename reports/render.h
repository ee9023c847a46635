// SPDX-License-Identifier: Apache-2.0
// Rendering: a report said again in another format. A renderer knows nothing that the JSON does not say.
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

namespace assay::reports {

using Json = nlohmann::ordered_json;

// What one test of JUnit stands for.
enum class Grain { cases, causes };

struct Rendering {
  Json report;                   // of certify (report.schema.json) or of fuzz (fuzz.schema.json)
  std::optional<Json> baseline;  // an earlier one of the same kind
  std::string file = {}, baseline_file = {};
  Grain grain = Grain::cases;

  bool is_fuzz() const { return report.contains("kind"); }
};

// One value of --format.
struct OutputFormat {
  std::string_view name, says;  // `says`: for --help, in a few words
  void (*write)(const Rendering& rendering, std::ostream& out);
};
std::span<const OutputFormat> formats();
const OutputFormat* find_format(std::string_view name);

// The bytes of a file, which has to be one that can be read; and what they say, null where they are no JSON of ours.
std::string bytes_of_report(const std::filesystem::path& file);
Json parsed(std::string_view bytes);
// Throws InputError where the file is no report of this schema version.
Json read_report(const std::filesystem::path& file);
Json report_of(Json parsed, const std::filesystem::path& file);  // of a file that is read already
// Throws InputError where the report lacks what the schema demands.
void render(const OutputFormat& format, const Rendering& rendering, std::ostream& out);
// Throws InputError where the two are of different kinds.
Rendering rendering(const std::filesystem::path& report, const std::string& baseline);

// One HTML file that asks for nothing: reports/page holds its parts.
void write_page(const Rendering& rendering, std::ostream& out);

// For a pull request: GitHub takes 65,536 characters, so what is too much is left out, and how much that was is said.
inline constexpr std::size_t comment_limit = 65536;
void write_markdown(const Rendering& rendering, std::ostream& out);
void write_junit(const Rendering& rendering, std::ostream& out);
void write_sarif(const Rendering& rendering, std::ostream& out);
void write_csv(const Rendering& rendering, std::ostream& out);

}  // namespace assay::reports
