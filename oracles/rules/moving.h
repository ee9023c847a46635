// SPDX-License-Identifier: Apache-2.0
// Oracles of operators that copy elements and fill what is left, or copy them into several outputs.
#pragma once

#include "oracles/rules/rules.h"

#include <optional>
#include <vector>

namespace assay::oracles {

// As `moved`, but an element without an origin is what `fill` says, if anything, rounded to the type.
Oracle moved_into(ShapeRule shape, Origin (*of)(const CopyPoint&), std::optional<float> (*fill)(const Call&));

// As `moved`, but of which elements they are copies the data say as well.
Oracle moved_by_data(ShapeRule shape, Origin (*of)(const CopyPoint&, const Operands& in));

// The same of several outputs: `shapes` are those of the ones that are asked for.
using ShapesRule = std::optional<std::vector<Shape>> (*)(const Call&, const Readings&);
Oracle moved_apart(ShapesRule shapes, Origin (*of)(const CopyPoint&, std::size_t output));

}  // namespace assay::oracles
