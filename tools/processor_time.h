// SPDX-License-Identifier: Apache-2.0
// Processor time of this program so far, in seconds: all of its threads, without the workers'. CLOCK_PROCESS_CPUTIME_ID
// of POSIX.
#pragma once

#include <ctime>

namespace assay {

inline double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace assay
