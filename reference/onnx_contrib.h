// SPDX-License-Identifier: Apache-2.0
// The schemas of com.microsoft, which ONNX's registry does not have: ours to register, so that checker and inference
// work for them.
#pragma once

namespace assay {

// Registers them in ONNX's registry, the first time it is called.
void register_contrib_schemas();

}  // namespace assay
