// SPDX-License-Identifier: Apache-2.0
#include "suites/workers/catalogue.h"

#include "suites/workers/places.h"
#include "suites/workers/worker_names.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <fstream>
#include <unistd.h>

namespace assay::suites {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Words = std::vector<std::string>;

// ASSAY_CACHE is an empty folder while it lives.
class EmptyCache {
 public:
  EmptyCache() {
    if (const char* given = std::getenv("ASSAY_CACHE")) before_ = given;
    std::string name = (fs::temp_directory_path() / "assay-cache-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    path_ = name;
    setenv("ASSAY_CACHE", name.c_str(), 1);
  }
  ~EmptyCache() {
    fs::remove_all(path_);
    before_.empty() ? unsetenv("ASSAY_CACHE") : setenv("ASSAY_CACHE", before_.c_str(), 1);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  std::string before_;
};

std::string one(const std::string& fields) { return R"([{"name":"x","kind":"npm","command":["a"])" + fields + "}]"; }

std::string complaint(const std::string& json) {
  const auto parsed = parse_catalogue(json);
  return parsed ? "" : parsed.error();
}

CatalogueEntry sample() {
  CatalogueEntry entry;
  entry.name = "sample";
  entry.kind = CatalogueEntry::Kind::venv;
  entry.lock = "locks/tract.txt";
  entry.command = {"{python}", "{backends}/tract.py", "{install}/x", "plain"};
  return entry;
}

}  // namespace

TEST_CASE("catalogue: an entry is read, every key of it", "[catalogue]") {
  const auto parsed = parse_catalogue(R"([{"name":"a-1.b","about":"A","package":"a 1","kind":"apt","apt":["p"],
      "sources":["s"],"build":["make"],"command":["{bin}/x","y"],"script":"scripts/a.py","environment":{"K":"V"},"pack":50,"recycle":7,
      "suite":"short","note":"n","needs":"m"}])");
  REQUIRE(parsed);
  const CatalogueEntry& entry = parsed->at(0);
  CHECK(entry.name == "a-1.b");
  CHECK(entry.kind == CatalogueEntry::Kind::apt);
  CHECK(entry.apt == Words{"p"});
  CHECK(entry.build == Words{"make"});
  CHECK(entry.command == Words{"{bin}/x", "y"});
  CHECK(entry.script == "scripts/a.py");
  CHECK(entry.environment.at("K") == "V");
  CHECK(entry.pack == 50);
  CHECK(entry.recycle == 7);
  CHECK(entry.suite == "short");
  CHECK(entry.note + entry.needs + entry.about + entry.package + entry.sources.at(0) == "nmAa 1s");
}

TEST_CASE("catalogue: a mistake is one line that names the entry", "[catalogue]") {
  CHECK(complaint(one("")) == "");
  CHECK(complaint("{") == "not JSON");
  CHECK(complaint("{}") == "not an array of entries");
  CHECK(complaint("[1]") == "entry 0: an entry is not an object");
  CHECK(complaint(one(R"(,"pacK":2)")) == "x: unknown key pacK; did you mean pack?");
  CHECK(complaint(one(R"(,"pack":"2")")) == "x: \"pack\" is of the wrong type");
  CHECK(complaint(one(R"(,"pack":0)")) == "x: \"pack\" is at least 1, \"recycle\" at least 0");
  CHECK(complaint(one(R"(,"suite":"long")")) == "x: \"suite\" is default or short");
  CHECK(complaint(one(R"(,"lock":"l")")) == "x: \"lock\" goes with \"kind\":\"venv\"");
  CHECK(complaint(R"([{"name":"x","kind":"venv","command":["a"]}])") == "x: \"lock\" goes with \"kind\":\"venv\"");
  CHECK(complaint(R"([{"name":"x","kind":"crgo","command":["a"]}])") == "x: unknown kind crgo; did you mean cargo?");
  CHECK(complaint(R"([{"name":"x","kind":"apt","command":["a"]}])") ==
        "x: \"kind\":\"apt\" needs \"apt\", its packages");
  CHECK(complaint(R"([{"name":"x","kind":"npm"}])") == "x: \"command\" is missing");
  CHECK_THAT(complaint(R"([{"name":"../x","kind":"npm","command":["a"]}])"), Contains("small letters"));
  const std::string entry = one("").substr(1, one("").size() - 2);
  CHECK(complaint("[" + entry + "," + entry + "]") == "x: the name stands twice");
}

TEST_CASE("catalogue: ours names what is there, and every backend once", "[catalogue]") {
  REQUIRE(find_entry(catalogue(), "onnxruntime"));
  CHECK_FALSE(find_entry(catalogue(), "onnxruntim"));
  for (const CatalogueEntry& entry : catalogue()) {
    INFO(entry.name);
    CHECK_FALSE(entry.about.empty());
    CHECK(entry.package.find(' ') != std::string::npos);  // its version
    CHECK_NOTHROW(install_folder(entry));                 // the lock and the sources are there
    for (const std::string& word : entry.command)
      if (word.starts_with("{backends}/")) CHECK(fs::exists(filled_in(entry, {word}).at(0)));
  }
}

TEST_CASE("catalogue: what is not installed says how to install it", "[catalogue]") {
  const EmptyCache cache;
  CHECK_FALSE(is_installed(sample()));
  CHECK_THROWS_WITH(command_of(sample()), Catch::Equals("sample is not installed: assay backends install sample"));
  CHECK_THROWS_AS(command_of("tract"), InputError);  // through the names of --backend
}

TEST_CASE("catalogue: only the stamp makes an installation, and its words are filled in", "[catalogue]") {
  const EmptyCache cache;
  const fs::path folder = install_folder(sample());
  CHECK(folder.parent_path() == cache.path() / "backends");
  CHECK(folder.filename().string().size() == std::string("sample-").size() + 12);
  fs::create_directories(folder / "bin");
  CHECK_FALSE(is_installed(sample()));
  std::ofstream(folder / "stamp") << "{}";
  CHECK(is_installed(sample()));
  const std::string at = folder.string();
  CHECK(command_of(sample()) ==
        Words{at + "/bin/python", (backends_folder() / "tract.py").string(), at + "/x", "plain"});
}

TEST_CASE("catalogue: an interpreter that has the modules goes before an installation", "[catalogue]") {
  const EmptyCache cache;
  CatalogueEntry entry = sample();
  entry.modules = {"json"};
  CHECK(is_at_hand(entry));
  CHECK_FALSE(is_installed(entry));
  CHECK(filled_in(entry, {"{python}"}) == Words{python()});
  CHECK_FALSE(is_at_hand(sample()));
}

TEST_CASE("places: a stranger's interpreter is asked for modules", "[places]") {
  const char* given = std::getenv("ASSAY_PYTHON");
  const std::string before = given ? given : "";
  setenv("ASSAY_PYTHON", "/usr/bin/python3", 1);
  CHECK(python_has({"json", "ctypes"}));
  CHECK_FALSE(python_has({"json", "no_such_module_of_assay"}));
  setenv("ASSAY_PYTHON", "/no/such/interpreter", 1);
  CHECK_FALSE(python_has({"json"}));
  before.empty() ? unsetenv("ASSAY_PYTHON") : setenv("ASSAY_PYTHON", before.c_str(), 1);
}

TEST_CASE("catalogue: the environment of an entry goes before its program", "[catalogue]") {
  const EmptyCache cache;
  CatalogueEntry entry = sample();
  fs::create_directories(install_folder(entry));
  std::ofstream(install_folder(entry) / "stamp") << "{}";
  entry.command = {"program"};
  entry.environment = {{"A", "1"}, {"B", "{install}"}};
  CHECK(command_of(entry) == Words{"env", "A=1", "B=" + install_folder(entry).string(), "program"});
}

TEST_CASE("catalogue: another lock is another folder, another note is not", "[catalogue]") {
  const fs::path folder = install_folder(sample());
  CatalogueEntry other = sample();
  other.note = "slow";
  CHECK(install_folder(other) == folder);
  other.lock = "locks/opencv.txt";
  CHECK(install_folder(other) != folder);
  other = sample();
  other.build = {"make"};
  CHECK(install_folder(other) != folder);
  other = sample();
  other.sources = {"README.md"};
  CHECK(install_folder(other) != folder);
  other.sources = {"no/such/source"};
  CHECK_THROWS_WITH(install_folder(other), Contains("the catalogue names no/such/source"));
}

TEST_CASE("places: the cache is where the environment says", "[places]") {
  const EmptyCache cache;
  CHECK(cache_folder() == cache.path());
}

}  // namespace assay::suites
