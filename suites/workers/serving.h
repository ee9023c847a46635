// SPDX-License-Identifier: Apache-2.0
// Serving: the worker's side of the protocol, for the workers of this project that are written in C++.
#pragma once

#include "suites/workers/backend.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::suites {

// Reads requests on stdin until it ends and replies on `descriptor`: `description` is the line that describes the
// backend, `answer` gives a whole frame. Throws InputError where the host stops in the middle or does not listen.
void serve(int descriptor, const std::string& description, const std::function<std::string(const Request&)>& answer);

// The frame of an answer: per data set, the TensorProtos of the outputs.
std::string outputs_frame(std::string_view id, const std::vector<std::vector<std::string>>& sets);

}  // namespace assay::suites
