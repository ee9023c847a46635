// SPDX-License-Identifier: Apache-2.0
// Activated: a function of what another answer is, as a convolution that is followed by its activation.
#pragma once

#include "oracles/exact/expression.h"

#include <functional>
#include <memory>

namespace assay::oracles {

struct ActivationRule {
  // Makes the function of a number that an evaluation misses by its policy's input_error, and may round to the type.
  std::function<std::unique_ptr<Expression>(const Ratio& z)> of;
  std::function<Element(const Scalar& z)> of_special;  // of NaN and of an infinity
  bool keeps_nan = true;                               // what is NaN stays NaN, or may
};

std::unique_ptr<Answer> activated(std::unique_ptr<Answer> z, ActivationRule activation, const Arithmetic& declared);

}  // namespace assay::oracles
