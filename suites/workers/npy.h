// SPDX-License-Identifier: Apache-2.0
// Tensors as numpy saves them (numpy.lib.format, versions 1.0 to 3.0), from a stranger's hands.
#pragma once

#include "reference/tensor.h"

#include <optional>
#include <string_view>

namespace assay::suites {

// Either byte order and either order of elements. bfloat16 and the types of eight bits or less, which numpy does not
// know, come as ml_dtypes saves them, '<V2' and '<V1', or as their bits, '<u2' and '|u1'; which of them it is, `wanted`
// says, the type that such a tensor should have. Anything else is one clear line.
Result<Tensor> decode_npy(std::string_view bytes, std::optional<DType> wanted = std::nullopt);

}  // namespace assay::suites
