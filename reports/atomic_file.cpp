// SPDX-License-Identifier: Apache-2.0
#include "reports/atomic_file.h"

#include "reference/result.h"

#include <unistd.h>

namespace assay::reports {
namespace {

namespace fs = std::filesystem;

// Where the link leads, so that a finished draft replaces the file and not the link.
fs::path resolved(const fs::path& target) {
  std::error_code ignored;
  return fs::is_symlink(target, ignored) ? fs::weakly_canonical(target, ignored) : target;
}

}  // namespace

AtomicFile::AtomicFile(const fs::path& target) : target_(resolved(target)), temporary_(target_) {
  if (!is_named()) return;
  std::error_code failure;
  const fs::file_status status = fs::status(target_, failure);
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw InputError("cannot write " + target.string() + ": it is not a regular file; name a file");
  temporary_ += "." + std::to_string(::getpid()) + ".part";
  file_.open(temporary_, std::ios::binary | std::ios::trunc);
  if (!file_) throw InputError("cannot write " + target.string() + "; check that its folder exists and may be written");
}

AtomicFile::~AtomicFile() {
  file_.close();
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove(temporary_, ignored);
}

void AtomicFile::finish() {
  if (!is_named()) return;
  file_.close();
  std::error_code failure;
  if (file_) fs::rename(temporary_, target_, failure);
  if (!file_ || failure) throw InputError("cannot finish " + target_.string() + "; check the space on its disk");
  temporary_.clear();
}

}  // namespace assay::reports
