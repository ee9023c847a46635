// SPDX-License-Identifier: Apache-2.0
#include "suites/golden/archive.h"

#include "suites/sandbox/process.h"
#include "suites/workers/vector_folder.h"

#include <catch2/catch.hpp>

#include <cstdlib>

namespace assay::suites {

TEST_CASE("An archive is the same bytes whenever it is written, and tar takes it apart", "[archive]") {
  const TemporaryDirectory here;
  for (const char* name : {"a.tar", "b.tar", "c.tar.gz"}) {
    Archive archive(here.path() / name);
    archive.add("golden/MANIFEST.json", "{}\n");
    archive.add("golden/valid/empty", "");
    archive.add("golden/valid/" + std::string(86, 'x'), std::string(1024, 'y'));
    archive.finish();
  }
  const std::string a = *file_contents(here.path() / "a.tar", 1 << 20);
  CHECK(a == *file_contents(here.path() / "b.tar", 1 << 20));
  CHECK(a.size() == std::size_t{512} * (2 + 1 + 3 + 2));
  for (const std::string name : {"a.tar", "c.tar.gz"}) {
    REQUIRE(std::system(("cd " + here.path().string() + " && rm -rf golden && tar -xf " + name).c_str()) == 0);
    CHECK(*file_contents(here.path() / "golden/MANIFEST.json", 1 << 20) == "{}\n");
    CHECK(file_contents(here.path() / "golden/valid/empty", 1 << 20)->empty());
    CHECK(*file_contents(here.path() / ("golden/valid/" + std::string(86, 'x')), 1 << 20) == std::string(1024, 'y'));
  }
  CHECK_THROWS_AS(Archive(here.path() / "nowhere" / "a.tar"), InputError);
  CHECK_THROWS_AS(Archive("/dev/full").add("x", std::string(1 << 20, 'x')), InputError);
}

}  // namespace assay::suites
