// SPDX-License-Identifier: Apache-2.0
// Scores of models of ai.onnx.ml, and what post_transform makes of a row of them.
#pragma once

#include "reference/operator.h"

#include <string>
#include <vector>

namespace assay {

using Row = std::vector<double>;
// Transforms a row by the word: NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT.
void transform(const std::string& post, Row& row);
// Writes a row of a matrix.
void put(Tensor& to, Int row, const Row& values);
// The words, in the order of their numbers.
std::vector<std::string> post_transforms();

// Labels of classes, strings or the integers of an attribute of that name.
Int count_labels(const Call& call, const std::string& integers);
bool has_labels(const Call& call, const std::string& integers);  // of one kind
DType type_of_label(const Call& call);
// Writes the label of the largest score.
void put_label(Tensor& to, Int row, const Row& values, const Call& call, const std::string& integers);

}  // namespace assay
