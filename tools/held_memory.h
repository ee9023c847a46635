// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>  // defines __GLIBC__
#include <limits>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace assay {

// What is freed stays with the process, 128 MiB of it, instead of being given back and fetched anew, page by page and
// set to zero, for every case with a tensor of a megabyte. Tensors of more than 8 MiB go back at once.
inline void hold_freed_memory() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 8 << 20);
  mallopt(M_TRIM_THRESHOLD, 128 << 20);
#endif
}

// Keeps all of it, of tensors of any size too.
inline void hold_all_freed_memory() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
}

}  // namespace assay
