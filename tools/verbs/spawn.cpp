// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/spawn.h"

#include "reference/result.h"

#include <cerrno>
#include <spawn.h>
#include <sys/wait.h>
#include <system_error>

namespace assay::tools {

int exit_code_of(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (const int error = posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ); error != 0)
    throw InputError("cannot start " + command[0] + ": " + std::generic_category().message(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace assay::tools
