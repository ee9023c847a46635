// SPDX-License-Identifier: Apache-2.0
#include "oracles/weights.h"

#include "oracles/clones.h"

#include <algorithm>

namespace assay::oracles {
namespace {

ASSAY_WIDE void interleave(const double* a, const double* b, const double* c, const double* d, Int count, double* to) {
  for (Int i = 0; i < count; ++i) {
    to[4 * i] = a[i];
    to[4 * i + 1] = b[i];
    to[4 * i + 2] = c[i];
    to[4 * i + 3] = d[i];
  }
}

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

void Weights::pack(Int row, Int block, Int terms, double* to) const {
  if (block == 1) return read(row * terms, terms, to);
  constexpr Int some = 512;
  double rows[4][some];
  for (Int done = 0; done < terms; done += some) {
    const Int here = std::min(some, terms - done);
    for (Int i = 0; i < 4; ++i) read((row + i) * terms + done, here, rows[i]);
    interleave(rows[0], rows[1], rows[2], rows[3], here, to + done * 4);
  }
}

void Weights::pack_all(Int groups, Int maps, Int terms, double* to) const {
  for (Int g = 0; g < groups; ++g)
    for (Int m = 0; m < maps; m += block_at(m, maps)) {
      const Int row = g * maps + m;
      pack(row, block_at(m, maps), terms, to + row * terms);
    }
}

}  // namespace assay::oracles
