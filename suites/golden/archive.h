// SPDX-License-Identifier: Apache-2.0
// A tar archive (POSIX ustar) with the same bytes for the same files: no owners, no times, mode 0644. A name ending in
// .gz compresses it; then the bytes are those of the installed zlib.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

namespace assay::suites {

class Archive {
 public:
  // Throws InputError where the file cannot be written; so do the others.
  explicit Archive(const std::filesystem::path& file);
  ~Archive();
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  // Names of at most 100 bytes, '/' between folders.
  void add(std::string_view name, std::string_view bytes);
  void finish();

 private:
  void write(std::string_view bytes);

  struct Stream;
  std::filesystem::path file_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace assay::suites
