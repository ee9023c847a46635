// SPDX-License-Identifier: Apache-2.0
// Elementary functions for kernels, by additions and multiplications alone: the same to the bit on every machine, which
// no libm promises.
#pragma once

namespace assay {

// e^x within 1 ulp (suites/crosscheck/functions_test.cpp); NaN of NaN.
double exponential(double x);

}  // namespace assay
