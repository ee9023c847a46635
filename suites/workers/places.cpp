// SPDX-License-Identifier: Apache-2.0
#include "suites/workers/places.h"

#include "reference/result.h"
#include "suites/text/printable.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <spawn.h>
#include <sys/wait.h>
#include <system_error>

namespace assay::suites {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

fs::path running_program() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored);
}

namespace {

const char* const marker = "tools/backends/assay_worker.py";

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
  for (fs::path above = running_program().parent_path(); above.has_relative_path(); above = above.parent_path())
    for (const fs::path& folder : {above, above / "share/assay"})
      if (is_file(folder / marker)) return folder;
  throw InputError(std::string(marker) + " is not found: set ASSAY_HOME to the folder of the project");
}

fs::path own_python() { return home() / ".deps/venv/bin/python"; }

// Tells whether the interpreter can be started and finds all of these modules.
bool finds(const std::vector<std::string>& command) {
  try {
    return exit_code_of(command, Streams::none) == 0;
  } catch (const InputError&) {
    return false;
  }
}

// Looks for modules without importing them, and not in the current folder.
const char* const finder =
    "import importlib.util, sys; sys.exit(any(importlib.util.find_spec(name) is None for name in sys.argv[1:]))";

}  // namespace

fs::path backends_folder() { return home() / "tools/backends"; }

fs::path reports_folder() { return home() / "reports"; }

fs::path programs_folder() {
  const fs::path beside = running_program().parent_path();
  for (const fs::path& folder : {beside, beside / "tools", beside.parent_path() / "libexec/assay"})
    if (is_file(folder / "assay-worker-reference")) return folder;
  throw InputError("assay-worker-reference is not found beside " + running_program().filename().string() +
                   ": build the target of that name");
}

std::string python() {
  if (const char* given = environment("ASSAY_PYTHON")) return given;
  const fs::path ours = own_python();
  return is_file(ours) ? ours.string() : "python3";
}

bool python_has(const std::vector<std::string>& modules) {
  const std::string interpreter = python();
  if (fs::path(interpreter).parent_path() == own_python().parent_path()) return true;
  static std::mutex mutex;
  static std::map<std::vector<std::string>, bool> known;
  std::vector<std::string> command{interpreter, "-I", "-c", finder};
  command.insert(command.end(), modules.begin(), modules.end());
  const std::lock_guard lock(mutex);
  const auto [at, is_new] = known.try_emplace(command);
  if (is_new) at->second = finds(command);
  return at->second;
}

int exit_code_of(const std::vector<std::string>& command, Streams streams) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t redirections;
  posix_spawn_file_actions_init(&redirections);
  if (streams == Streams::none)
    for (const int descriptor : {0, 1, 2})
      posix_spawn_file_actions_addopen(&redirections, descriptor, "/dev/null", O_RDWR, 0);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], &redirections, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&redirections);
  if (error != 0) throw InputError("cannot start " + command[0] + ": " + std::generic_category().message(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

fs::path cache_folder() {
  if (const char* given = environment("ASSAY_CACHE")) return fs::absolute(given);
  if (const char* given = environment("XDG_CACHE_HOME")) return fs::path(given) / "assay";
  if (const char* given = environment("HOME")) return fs::path(given) / ".cache/assay";
  throw InputError("neither ASSAY_CACHE nor HOME is set: set ASSAY_CACHE to the folder for installed backends");
}

}  // namespace assay::suites
