// SPDX-License-Identifier: Apache-2.0
// One portable binary that is fast: functions compiled for several generations of x86-64 and chosen at run time. All
// give the same bits, since nothing is contracted or reordered. Only for functions that are no templates. A build for
// one machine (-march=native) needs no other: g++ inlines nothing from one target into another.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__AVX__)
#define ASSAY_CLONES 1
#define ASSAY_WIDE [[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]]
#else
#define ASSAY_CLONES 0
#define ASSAY_WIDE
#endif

namespace assay::oracles {

// The x86-64 whose instructions a loop uses that is written once for each: the latest that this machine is, or less
// where ASSAY_INSTRUCTIONS in the environment names less (avx2, portable). Elsewhere always the first.
enum class Generation { v1, v3, v4 };
Generation generation();

}  // namespace assay::oracles
