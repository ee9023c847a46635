// SPDX-License-Identifier: Apache-2.0
#include "suites/places.h"

#include "reference/result.h"
#include "suites/printable.h"

#include <cstdlib>

namespace assay::suites {
namespace {

namespace fs = std::filesystem;

const char* const marker = "tools/backends/assay_worker.py";

fs::path running_program() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored);
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

// Null where it is not set or empty.
const char* environment(const char* name) {
  const char* given = std::getenv(name);
  return given && *given ? given : nullptr;
}

fs::path home() {
  if (const char* given = std::getenv("ASSAY_HOME")) {
    if (is_file(fs::path(given) / marker)) return given;
    throw InputError("ASSAY_HOME is " + printable(given) + ", but there is no " + marker + " in it");
  }
  for (fs::path folder = running_program().parent_path(); folder.has_relative_path(); folder = folder.parent_path())
    if (is_file(folder / marker)) return folder;
  if (const fs::path sources = fs::path(__FILE__).parent_path().parent_path(); is_file(sources / marker))
    return sources;
  throw InputError(std::string(marker) + " is not found: set ASSAY_HOME to the folder of the project");
}

}  // namespace

fs::path backends_folder() { return home() / "tools/backends"; }

fs::path reports_folder() { return home() / "reports"; }

fs::path programs_folder() {
  const fs::path beside = running_program().parent_path();
  for (const fs::path& folder : {beside, beside / "tools"})
    if (is_file(folder / "assay-worker-reference")) return folder;
  throw InputError("assay-worker-reference is not found beside " + running_program().filename().string() +
                   ": build the target of that name");
}

std::string python() {
  if (const char* given = environment("ASSAY_PYTHON")) return given;
  const fs::path ours = home() / ".deps/venv/bin/python";
  return is_file(ours) ? ours.string() : "python3";
}

fs::path cache_folder() {
  if (const char* given = environment("ASSAY_CACHE")) return fs::absolute(given);
  if (const char* given = environment("XDG_CACHE_HOME")) return fs::path(given) / "assay";
  if (const char* given = environment("HOME")) return fs::path(given) / ".cache/assay";
  throw InputError("neither ASSAY_CACHE nor HOME is set: set ASSAY_CACHE to the folder for installed backends");
}

}  // namespace assay::suites
