// SPDX-License-Identifier: Apache-2.0
// Pool: what every output of a pool is read from, each channel by itself.
#pragma once

#include "oracles/exact/geometry.h"
#include "oracles/exact/operands.h"
#include "oracles/rules/rules.h"

namespace assay::oracles {

std::optional<Shape> pooled_shape(const Call& call, const Readings& readings);

struct Pool {
  Pool(const Call& legal, const Operands& in, const Readings& read);

  Call call;
  Readings readings;
  std::vector<WindowAxis> tracks;
  Cells x;
  Shape shape;

  // The taps of one output that fall inside X, in the order of a scan.
  std::vector<ExactTap> taps(Int index) const;
  // How many taps of it fall inside X or its padding.
  Int counted(Int index) const;
};

}  // namespace assay::oracles
