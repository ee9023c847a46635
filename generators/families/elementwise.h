// SPDX-License-Identifier: Apache-2.0
// What operators that map elements have in common, of one input or of several.
#pragma once

#include "generators/family.h"

namespace assay::generators {

// Draws the shape of an output: 24 strata from a scalar and vectors of every length to seven axes and empty ones.
inline constexpr std::uint64_t shape_strata = 24;
Shape draw_extents(std::uint64_t stratum);
// Draws that many axes of so many elements: the prime factors spread over them or, of none, one of them empty.
Shape spread(Int elements, Int rank);

// Draws the data of what copies or selects, which has to say what it does with subnormals (E2), or computes.
Recipe draw_data(const Definition& definition, DType type);
// Writes an attribute as the node may state it, or leaves it out.
void draw_attribute(Node& node, const Definition& definition, const AttributeSpec& spec);

Names inputs_of(const Case& c);  // those that are there, in schema order
// The shape of the output of a legal case.
Shape output_shape(const Case& c);
// How many axes the longest input has.
int axis_count(const Case& c);

class Elementwise : public Family {
 public:
  const OperatorGenerator* generator() const override;
  std::vector<Mutation> damages(const OperatorGenerator&) const override { return {}; }
  bool is_breakable(const Definition& definition, std::string_view constraint) const override;
  std::vector<Dimension> dimensions(const Definition&) const override;
  std::vector<int> features(const Case& legal) const override;
  std::span<const Exclusion> exclusions() const override;
  bool is_degenerate(const CoverageValue& feature) const override;
  std::span<const ShrinkStep> coarse_steps() const override;
  std::span<const ShrinkStep> fine_steps() const override;
  bool vary(Case& c, Generator& draw, std::uint64_t which) const override;
  std::vector<Region> regions(const Case&, const Shape& output) const override;
};

// Returns the simpler cases of an axis: the extent of every input along it made smaller.
Cases smaller_axis(const Case& c, int axis);

}  // namespace assay::generators
