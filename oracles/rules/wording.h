// SPDX-License-Identifier: Apache-2.0
// Says which texts are a number (elementwise E33).
#pragma once

#include "oracles/exact/enclosure.h"

namespace assay::oracles {

// Returns what an element of a type may become as a string: a string itself; of an integer its decimal digits; of a
// float any decimal literal that rounds to it in its type or, where digits may be lost, one that is it rounded to eight
// digits or more.
Element in_words(const Scalar& value, DType type, bool may_lose_digits);

}  // namespace assay::oracles
