// SPDX-License-Identifier: Apache-2.0
// Elementary functions for kernels, by additions, multiplications, divisions and square roots alone: the same to the
// bit on every machine, which no libm promises. All but the first round a value of about 100 bits.
#pragma once

namespace assay {

// e^x within 1 ulp (suites/crosscheck/functions_test.cpp); NaN of NaN.
double exponential(double x);

// Within 0.51 ulp, or 1 where they are subnormal; NaN outside of their domains, limits and poles as IEEE 754 has them.
double exponential_less_one(double x);  // e^x - 1
double logarithm(double x);
double logarithm_of_one_more(double x);  // log(1 + x)
double sine(double x);
double cosine(double x);
double tangent(double x);
double arc_sine(double x);
double arc_cosine(double x);
double arc_tangent(double x);
double hyperbolic_sine(double x);
double hyperbolic_cosine(double x);
double hyperbolic_tangent(double x);
double inverse_hyperbolic_sine(double x);
double inverse_hyperbolic_cosine(double x);
double inverse_hyperbolic_tangent(double x);
double error_function(double x);
double power(double x, double y);  // x^y, also where either is special

// 1 / (1 + e^-x) and log(1 + e^x), within 4 ulp.
double logistic(double x);
double softened(double x);

}  // namespace assay
