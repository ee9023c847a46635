// SPDX-License-Identifier: Apache-2.0
#include "oracles/filter/weights.h"

#include "oracles/filter/clones.h"

#include <algorithm>

namespace assay::oracles {
namespace {

ASSAY_WIDE void widen(const float* from, Int count, double* to) {
  for (Int i = 0; i < count; ++i) to[i] = static_cast<double>(from[i]);
}

}  // namespace

double Weights::operator[](Int at) const {
  double value = 0;
  read(at, 1, &value);
  return value;
}

void Weights::read(Int first, Int count, double* to) const {
  if (!tensor_) {
    std::copy_n(values_.begin() + first, count, to);
    return;
  }
  if (tensor_->dtype() == DType::f32) return widen(tensor_->as<float>().data() + first, count, to);
  for_float(tensor_->dtype(), [&]<class T>() {
    const T* from = tensor_->as<T>().data() + first;
    for (Int i = 0; i < count; ++i) to[i] = static_cast<double>(from[i]);
  });
}

}  // namespace assay::oracles
