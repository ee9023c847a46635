// SPDX-License-Identifier: Apache-2.0
// Variants: correct ways to compute Conv and AveragePool, and two honest ways that are less accurate. None of them is a
// breach, so none may ever be called `fail`; those that promise L2 may not be called `below` either.
#pragma once

#include "oracles/accuracy.h"
#include "reference/operator.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace assay::crosscheck {

struct Variant {
  std::string name;
  oracles::Level level = oracles::Level::L2;  // the level every output meets
  std::string description;
};

std::span<const Variant> variants();
// One session of the variant, for the versions of Conv and AveragePool.
std::optional<Kernel> variant(std::string_view name, const OpVersion& version);

}  // namespace assay::crosscheck
