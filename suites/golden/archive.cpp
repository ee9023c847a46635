// SPDX-License-Identifier: Apache-2.0
#include "suites/golden/archive.h"

#include "reference/result.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>
#include <zlib.h>

namespace assay::suites {
namespace {

constexpr std::size_t block = 512, longest_name = 100;

using Header = std::array<char, block>;

void put(Header& header, std::size_t at, std::string_view text) {
  std::ranges::copy(text, header.begin() + static_cast<std::ptrdiff_t>(at));
}

// POSIX.1-1988 ustar: octal numbers, and a sum of the header's bytes with blanks in the place of the sum.
Header header_of(std::string_view name, std::size_t size) {
  expects(name.size() <= longest_name, "a name fits an archive");
  Header header{};
  char octal[12];
  std::snprintf(octal, sizeof octal, "%011zo", size);
  put(header, 0, name);
  put(header, 100, "0000644");
  put(header, 108, "0000000");
  put(header, 116, "0000000");
  put(header, 124, octal);
  put(header, 136, "00000000000");
  put(header, 148, "        ");
  put(header, 156, "0");
  put(header, 257,
      std::string_view("ustar\0"
                       "00",
                       8));
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  std::snprintf(octal, sizeof octal, "%06o", sum);
  put(header, 148, std::string_view(octal, 7));
  return header;
}

}  // namespace

struct Archive::Stream {
  gzFile file;
  ~Stream() {
    if (file) gzclose(file);
  }
};

Archive::Archive(const std::filesystem::path& file)
    : file_(file), stream_(new Stream{gzopen(file.c_str(), file.extension() == ".gz" ? "wb9" : "wbT")}) {
  if (!stream_->file) throw InputError("cannot write " + file.string() + "; check that its folder may be written");
}

Archive::~Archive() = default;

void Archive::write(std::string_view bytes) {
  if (!bytes.empty() && gzfwrite(bytes.data(), 1, bytes.size(), stream_->file) != bytes.size())
    throw InputError("cannot write " + file_.string() + "; the disk may be full");
}

void Archive::add(std::string_view name, std::string_view bytes) {
  constexpr std::size_t largest = std::size_t{1} << 33;  // eleven octal digits
  expects(bytes.size() < largest, "a file fits an archive");
  const Header header = header_of(name, bytes.size());
  write({header.data(), header.size()});
  write(bytes);
  write(std::string((block - bytes.size() % block) % block, '\0'));
}

void Archive::finish() {
  write(std::string(2 * block, '\0'));
  if (gzclose(std::exchange(stream_->file, nullptr)) != Z_OK)
    throw InputError("cannot write " + file_.string() + "; the disk may be full");
}

}  // namespace assay::suites
