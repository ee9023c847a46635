// SPDX-License-Identifier: Apache-2.0
// The floating-point environment that the filter's proof rests on. A library that was linked with -ffast-math flushes
// subnormals for the whole thread as soon as it is loaded, and a compiler that contracts breaks every error-free sum.
#pragma once

#include <string>

namespace assay::oracles {

// What is wrong with the environment of this thread, in one line; empty where nothing is. A few nanoseconds.
std::string unsound_environment();
// Throws BrokenPromise with that line.
void expect_sound_environment();

}  // namespace assay::oracles
