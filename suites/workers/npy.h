// SPDX-License-Identifier: Apache-2.0
// Tensors as numpy saves them (numpy.lib.format, versions 1.0 to 3.0), from a stranger's hands.
#pragma once

#include "reference/tensor.h"

#include <string_view>

namespace assay::suites {

// Either byte order and either order of elements. bfloat16, which numpy does not know, comes as ml_dtypes saves it,
// '<V2', or as its bits, '<u2'. Anything else is one clear line.
Result<Tensor> decode_npy(std::string_view bytes);

}  // namespace assay::suites
