// SPDX-License-Identifier: Apache-2.0
#include "suites/workers/catalogue.h"

#include "reference/case.h"
#include "reference/nearest.h"
#include "suites/text/printable.h"
#include "suites/workers/places.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <set>

namespace assay::suites {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Words = std::vector<std::string>;
using Kind = CatalogueEntry::Kind;

constexpr std::array<std::string_view, 4> kinds{"venv", "npm", "cargo", "apt"};

// What is wrong with the catalogue, thrown only inside this file: parse_catalogue catches it.
struct Malformed {
  std::string text;
};

bool is_name(const std::string& text) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-'; };
  return !text.empty() && text[0] != '.' && text[0] != '-' && std::ranges::all_of(text, fits);
}

Kind kind_named(const std::string& text) {
  const auto found = std::ranges::find(kinds, text);
  if (found == kinds.end())
    throw Malformed{"unknown kind " + printable(text, 40) + suggestion(text, Words(kinds.begin(), kinds.end()))};
  return static_cast<Kind>(found - kinds.begin());
}

// Reads every key once and complains of those nobody asked for.
class Reader {
 public:
  explicit Reader(const Json& object) : object_(object) {}

  template <class T>
  void read(const char* key, T& value) {
    known_.emplace_back(key);
    const auto found = object_.find(key);
    if (found == object_.end()) return;
    try {
      value = found->get<T>();
    } catch (const Json::exception&) {
      throw Malformed{'"' + std::string(key) + "\" is of the wrong type"};
    }
  }

  void finish() const {
    for (const auto& [key, ignored] : object_.items())
      if (std::ranges::find(known_, key) == known_.end())
        throw Malformed{"unknown key " + printable(key, 40) + suggestion(key, known_)};
  }

 private:
  const Json& object_;
  Words known_;
};

void check(const CatalogueEntry& entry) {
  if (!is_name(entry.name)) throw Malformed{"a name is made of small letters, digits, dots and hyphens"};
  if (entry.command.empty()) throw Malformed{"\"command\" is missing"};
  if ((entry.kind == Kind::venv) == entry.lock.empty()) throw Malformed{"\"lock\" goes with \"kind\":\"venv\""};
  if (entry.kind != Kind::venv && !entry.modules.empty()) throw Malformed{"\"modules\" goes with \"kind\":\"venv\""};
  if (entry.kind == Kind::apt && entry.apt.empty()) throw Malformed{"\"kind\":\"apt\" needs \"apt\", its packages"};
  if (entry.suite != "default" && entry.suite != "short") throw Malformed{"\"suite\" is default or short"};
  if (entry.pack < 1 || entry.recycle < 0) throw Malformed{"\"pack\" is at least 1, \"recycle\" at least 0"};
}

CatalogueEntry entry_of(const Json& object) {
  if (!object.is_object()) throw Malformed{"an entry is not an object"};
  CatalogueEntry entry;
  std::string kind;
  Reader reader(object);
  reader.read("name", entry.name);
  reader.read("about", entry.about);
  reader.read("package", entry.package);
  reader.read("kind", kind);
  reader.read("needs", entry.needs);
  reader.read("lock", entry.lock);
  reader.read("modules", entry.modules);
  reader.read("apt", entry.apt);
  reader.read("sources", entry.sources);
  reader.read("build", entry.build);
  reader.read("command", entry.command);
  reader.read("script", entry.script);
  reader.read("environment", entry.environment);
  reader.read("pack", entry.pack);
  reader.read("recycle", entry.recycle);
  reader.read("suite", entry.suite);
  reader.read("note", entry.note);
  reader.finish();
  entry.kind = kind_named(kind);
  check(entry);
  return entry;
}

std::string place_of(const Json& object, std::size_t index) {
  const auto name = object.is_object() ? object.find("name") : object.end();
  if (object.is_object() && name != object.end() && name->is_string()) return printable(name->get<std::string>(), 80);
  return "entry " + std::to_string(index);
}

std::vector<CatalogueEntry> entries_of(const Json& json) {
  if (!json.is_array()) throw Malformed{"not an array of entries"};
  std::vector<CatalogueEntry> entries;
  std::set<std::string> names;
  for (const Json& object : json) {
    try {
      entries.push_back(entry_of(object));
      if (!names.insert(entries.back().name).second) throw Malformed{"the name stands twice"};
    } catch (const Malformed& malformed) {
      throw Malformed{place_of(object, entries.size()) + ": " + malformed.text};
    }
  }
  return entries;
}

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InputError("cannot read " + file.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

// The files of a source folder, without what npm and cargo put there.
std::vector<fs::path> files_in(const fs::path& folder) {
  static const std::set<std::string> made{"node_modules", "target", "Cargo.lock"};
  std::vector<fs::path> files;
  for (auto at = fs::recursive_directory_iterator(folder); at != fs::recursive_directory_iterator(); ++at) {
    if (made.contains(at->path().filename().string()))
      at.disable_recursion_pending();
    else if (at->is_regular_file())
      files.push_back(at->path());
  }
  std::ranges::sort(files);
  return files;
}

// Name and content of each, in order.
std::string all_of(const fs::path& root, const std::string& source) {
  const fs::path path = root / source;
  if (!fs::exists(path)) throw InputError("the catalogue names " + source + ", which is not in " + root.string());
  if (!fs::is_directory(path)) return source + '\n' + content_of(path);
  std::string text;
  for (const fs::path& file : files_in(path)) text += file.lexically_relative(root).string() + '\n' + content_of(file);
  return text;
}

// Notes and workers may change without a new installation.
std::string identity_of(const CatalogueEntry& entry) {
  std::string text = Json({name(entry.kind), entry.apt, entry.build}).dump();
  Words sources = entry.sources;
  if (!entry.lock.empty()) sources.push_back(entry.lock);
  if (entry.kind == Kind::npm) sources.push_back("node/" + entry.name);
  if (entry.kind == Kind::cargo) sources.push_back("rust/" + entry.name);
  for (const std::string& source : sources) text += all_of(backends_folder(), source);
  return text;
}

void replace_all(std::string& text, std::string_view from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

}  // namespace

std::string_view name(CatalogueEntry::Kind kind) { return kinds[static_cast<std::size_t>(kind)]; }

Result<std::vector<CatalogueEntry>> parse_catalogue(std::string_view json) {
  const Json parsed = Json::parse(json, nullptr, false);
  if (parsed.is_discarded()) return Error{"not JSON"};
  try {
    return entries_of(parsed);
  } catch (const Malformed& malformed) {
    return Error{malformed.text};
  }
}

const std::vector<CatalogueEntry>& catalogue() {
  static const std::vector<CatalogueEntry> entries = [] {
    const fs::path file = backends_folder() / "catalogue.json";
    Result<std::vector<CatalogueEntry>> parsed = parse_catalogue(content_of(file));
    if (!parsed) throw InputError(file.string() + ": " + parsed.error());
    return *std::move(parsed);
  }();
  return entries;
}

const CatalogueEntry* find_entry(const std::vector<CatalogueEntry>& catalogue, std::string_view name) {
  const auto found = std::ranges::find(catalogue, name, &CatalogueEntry::name);
  return found == catalogue.end() ? nullptr : &*found;
}

fs::path install_folder(const CatalogueEntry& entry) {
  return cache_folder() / "backends" / (entry.name + "-" + sha256(identity_of(entry)).substr(0, 12));
}

bool is_at_hand(const CatalogueEntry& entry) { return !entry.modules.empty() && python_has(entry.modules); }

bool is_installed(const CatalogueEntry& entry) {
  std::error_code ignored;
  return fs::is_regular_file(install_folder(entry) / "stamp", ignored);
}

Words filled_in(const CatalogueEntry& entry, const Words& words) {
  Words filled = words;
  const auto fill = [&](std::string_view placeholder, auto&& value) {
    for (std::string& word : filled)
      if (word.find(placeholder) != std::string::npos) replace_all(word, placeholder, value());
  };
  fill("{python}", [&] {
    const bool is_own = entry.kind == Kind::venv && !is_at_hand(entry);
    return is_own ? (install_folder(entry) / "bin/python").string() : python();
  });
  fill("{backends}", [] { return backends_folder().string(); });
  fill("{install}", [&] { return install_folder(entry).string(); });
  fill("{bin}", [] { return programs_folder().string(); });
  return filled;
}

Words command_of(const CatalogueEntry& entry) {
  if (!is_at_hand(entry) && !is_installed(entry))
    throw InputError(entry.name + " is not installed: assay backends install " + entry.name);
  Words command;
  if (!entry.environment.empty()) command.push_back("env");
  for (const auto& [key, value] : entry.environment) command.push_back(key + "=" + value);
  std::ranges::copy(entry.command, std::back_inserter(command));
  return filled_in(entry, command);
}

}  // namespace assay::suites
