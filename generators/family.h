// SPDX-License-Identifier: Apache-2.0
// Family: what the generic services know of how the shapes of an operator's inputs belong together. Near misses,
// coverage, shrinking, variation and the regions of an output are a family's; an operator adds what is its own.
#pragma once

#include "generators/operator_generator.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::generators {

using Names = std::vector<std::string>;

// One dimension of the space an operator version spans, with the values a legal case can have.
struct Dimension {
  std::string name;  // "strides", "rank", "W"
  Names values;
};

// A dimension of an attribute, and which value a legal call has: an index, or -1 for one the dimension does not list.
struct AttributeDimension {
  Dimension dimension;
  std::function<int(const Call&)> value_of;
};

struct CoverageValue {
  std::string dimension, value;
};

// No legal case has a value of the first dimension together with one of the second.
struct Exclusion {
  std::string_view a;
  std::vector<std::string_view> of_a;
  std::string_view b;
  std::vector<std::string_view> of_b;
};

// Says what an input is for: data show something only where they vary, weights may all be 1, others may be 0.
enum class Role { data, weights, other };

// A part of an output that errors may be confined to.
struct Region {
  std::string_view name;  // "in the last column"
  std::function<bool(const Shape& position)> holds;
};

class Family {
 public:
  Family() = default;
  virtual ~Family() = default;
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;

  // Returns what the generators know of an operator that has no file of its own; none where each needs one.
  virtual const OperatorGenerator* generator() const { return nullptr; }

  // Damages every operator of the family admits; `own` says what is known of this one.
  virtual std::vector<Mutation> damages(const OperatorGenerator& own) const = 0;
  // Tells whether a case of this version can break the constraint and no other.
  virtual bool is_breakable(const Definition&, std::string_view constraint) const;

  // Returns the dimension of an attribute, where the family knows more of it than its kind.
  virtual std::optional<AttributeDimension> attribute(const AttributeSpec&) const { return std::nullopt; }
  // The dimensions of the shapes, and a legal case's value in each.
  virtual std::vector<Dimension> dimensions(const Definition&) const = 0;
  virtual std::vector<int> features(const Case& legal) const = 0;
  virtual std::span<const Exclusion> exclusions() const { return {}; }
  // Tells whether every case with that feature has no elements or too many axes to be an ordinary one.
  virtual bool is_degenerate(const CoverageValue& feature) const = 0;
  // Cells of shapes and attributes that no dimension has, and those of a legal case (traits.h).
  virtual Names cells(const Definition&) const { return {}; }
  virtual Names traits(const Case&) const { return {}; }

  // Steps that remove whole axes and the like, and those that make extents and attributes smaller.
  virtual std::span<const ShrinkStep> coarse_steps() const { return {}; }
  virtual std::span<const ShrinkStep> fine_steps() const { return {}; }
  // Returns a plainer value of an attribute that cannot be left out.
  virtual std::optional<Attribute> plainer(const Case&, const std::string&) const { return std::nullopt; }
  virtual Role role(const Case& c, const std::string& input) const;

  // The inputs whose values an output is computed from with rounding.
  virtual Names summed(const Case& c) const;
  // Changes the shapes of a case in the n-th of eight ways; false where there is no such way.
  virtual bool vary(Case&, Generator&, std::uint64_t) const { return false; }

  // The regions of an output of that shape that are not all of it, the narrowest first.
  virtual std::vector<Region> regions(const Case& c, const Shape& output) const = 0;
  // Rulings of one reading that decide a legal case.
  virtual Names settled(const Case&) const { return {}; }
};

const Family& family_of(const Definition& definition);

// The families (generators/families).
const Family& one_family();
const Family& broadcast_family();
const Family& window_family();
const Family& axis_family();
const Family& moved_family();
const Family& product_family();

}  // namespace assay::generators
