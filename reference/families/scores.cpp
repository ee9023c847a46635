// SPDX-License-Identifier: Apache-2.0
#include "reference/families/scores.h"

#include "reference/families/elementwise.h"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

// Finds where the normal distribution has that share below, by halving.
double probit(double share) {
  if (!(share > 0 && share < 1)) return share == 0 ? -INFINITY : share == 1 ? INFINITY : NAN;
  double low = -40, high = 40;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(-middle / std::sqrt(2.0)) / 2 < share ? low : high) = middle;
  }
  return low;
}

// Makes shares of scores; SOFTMAX_ZERO keeps a score of 0 as it is and gives it none.
void share(Row& row, bool keeps_zeros) {
  if (row.empty()) return;
  const double most = std::ranges::max(row);
  double sum = 0;
  for (double& each : row) sum += each = keeps_zeros && each == 0 ? 0 : std::exp(each - most);
  for (double& each : row) each /= sum;
}

}  // namespace

void transform(const std::string& post, Row& row) {
  if (post.starts_with("SOFTMAX")) share(row, post == "SOFTMAX_ZERO");
  for (double& each : row) {
    if (post == "LOGISTIC") each = 1 / (1 + std::exp(-each));
    if (post == "PROBIT") each = probit(each);
  }
}

void put(Tensor& to, Int row, const Row& values) {
  for (std::size_t k = 0; k < values.size(); ++k)
    put_number(to, row * std::ssize(values) + static_cast<Int>(k), values[k]);
}

std::vector<std::string> post_transforms() { return {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"}; }

Int count_labels(const Call& call, const std::string& integers) {
  return call.states("classlabels_strings") ? std::ssize(call.texts("classlabels_strings"))
                                            : std::ssize(call.ints(integers));
}

bool has_labels(const Call& call, const std::string& integers) {
  return call.states(integers) != call.states("classlabels_strings") && count_labels(call, integers) >= 1;
}

DType type_of_label(const Call& call) { return call.states("classlabels_strings") ? DType::string : DType::i64; }

void put_label(Tensor& to, Int row, const Row& values, const Call& call, const std::string& integers) {
  const auto best = static_cast<std::size_t>(std::ranges::max_element(values) - values.begin());
  if (to.dtype() == DType::string)
    to.as<std::string>()[static_cast<std::size_t>(row)] = call.texts("classlabels_strings")[best];
  else
    to.as<Int>()[static_cast<std::size_t>(row)] = call.ints(integers)[best];
}

}  // namespace assay
