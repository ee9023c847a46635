// SPDX-License-Identifier: Apache-2.0
// Says what kind of case it is: the rulings that have a say in its answer, and its class.
#pragma once

#include "oracles/exact/enclosure.h"
#include "reference/case.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::oracles {

// Limits the elements of an output that are looked at for what touches a case.
constexpr Int most_touched = 1 << 10;
// The rulings with several readings that influence a legal case, in id order.
std::vector<std::string> touched(const Case& c);
// The same without a Case: operands in schema order, per data set; read only where they decide.
std::vector<std::string> touched(const Call& call, const std::vector<Operands>& sets, Int most_elements);

// Both, and the constraints it breaks, each worked out once.
struct Classification {
  std::vector<std::string> violated, touched;  // touched: of a legal case
  std::string_view case_class;
};
// `known`: what touches it, where that was worked out.
Classification nature_of(const Case& c, const std::optional<std::vector<std::string>>& known = {});

// The class of a case (spec B.1), one label each: "valid-core", "valid-contested", "valid-degenerate", "nonfinite",
// "overflow-int", "invalid-static".
std::string_view class_of(const Case& c);
// The class of a legal case that touches these; saves working them out again.
std::string_view class_of(const Case& c, const std::vector<std::string>& touched);
// Tells whether a class is one of special values: NaN, infinities, integer overflow.
bool is_special(std::string_view case_class);

}  // namespace assay::oracles
