// SPDX-License-Identifier: Apache-2.0
// Fast kernels: what the operator of that name computes, the same to the bit, through the engine. Where that does not
// pay, or would not be exact, they run the operator's own loop.
#pragma once

#include "reference/operator.h"

#include <span>

namespace assay::fast {

using Inputs = std::span<const Tensor* const>;

Tensor average_pool(const Call& call, Inputs in, int threads);
Tensor conv(const Call& call, Inputs in, int threads);
Tensor conv_transpose(const Call& call, Inputs in, int threads);
Tensor deform_conv(const Call& call, Inputs in, int threads);
Tensor matmul(const Call& call, Inputs in, int threads);
Tensor matmul_integer(const Call& call, Inputs in, int threads);
Tensor qlinear_conv(const Call& call, Inputs in, int threads);

}  // namespace assay::fast
