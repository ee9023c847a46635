// SPDX-License-Identifier: Apache-2.0
// Variants: correct ways to compute an operator, honest ways that are less accurate, and ways that follow another
// admissible reading. None of them is a breach, so none may ever be called `fail`; those that promise L2 may not be
// called `below` either, and `contested` only those with another reading, by its name.
#pragma once

#include "oracles/exact/accuracy.h"
#include "reference/operator.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace assay::mutation {

struct Variant {
  std::string name;
  oracles::Level level = oracles::Level::L2;  // the level every output meets
  std::string description;
  std::string ruling = "", reading = "";  // "A16", "add-then-round": the reading it follows where it is not as ruled
};

std::span<const Variant> variants();
std::span<const Variant> gathered_variants();  // of these, the ones of Conv and AveragePool
// One session of the variant, for the operators that have it.
std::optional<Kernel> variant(std::string_view name, const OpVersion& version);

}  // namespace assay::mutation
