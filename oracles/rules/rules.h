// SPDX-License-Identifier: Apache-2.0
// Rules: oracles written as the value of one element, from which the answer, its bound and the rulings touched follow.
#pragma once

#include "oracles/exact/enclosure.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::oracles {

// The operands of one element of an output, and how the clauses are read.
struct ElementPoint {
  const Call& call;
  const Readings& readings;
  std::span<const Scalar> x;  // one per input that is there

  bool reads(std::string_view ruling, std::string_view reading) const { return readings.of(ruling) == reading; }
  const Scalar* find(std::string_view input) const;  // null where that input is absent
};

// Returns the oracle of an operator that selects, copies or compares: an element of the output is exactly the rule of
// the elements of the inputs that meet there, which are broadcast. A ruling is touched where another reading of it
// gives another element. Flushed subnormals and f64 computed in f32 are below the level, not wrong (elementwise 5.3).
Oracle pointwise(Scalar (*rule)(const ElementPoint&));

// Finishes an oracle whose rulings are touched where another reading gives another answer.
Oracle with_touched(Oracle oracle);
// The same of one that copies, compares or selects.
Oracle without_rounding(Oracle oracle);

// Elements: exactly one value, one of several that a ruling admits, and nothing claimed.
Element exactly(const Scalar& value, DType dtype);
Element exactly(std::string text);  // that no tensor holds
Element one_of(std::string ruling, std::vector<Scalar> options);
Element unscored(std::string why);
// One that the text leaves open, by a ruling: any value is admitted, and a refusal of the whole case.
Element undefined(std::string ruling, const std::string& why);
// The ends of an integer type, and an integer of 64 bits at most as an operand.
std::pair<Integer, Integer> ends_of(DType type);
Scalar integer(const Integer& value);
// An integer of an integer type: whether it fits, its lower bits, and the nearest that fits.
bool fits(DType type, const Integer& value);
Scalar wrapped(DType type, const Integer& value);
Scalar saturated(DType type, const Integer& value);
Scalar truth(bool holds);       // of a bool
Scalar lowest_of(DType dtype);  // the lowest number of the type

// A tolerance beyond L2.
Tolerance beyond(std::string arithmetic);
// Admits what hardware may select that reads subnormals as zeros: 0, and any operand that compares equal to it.
Tolerance flushing(const Element& element, const std::vector<Scalar>& operands, DType type);
// Admits of an element that is copied by an operator that computes others: flushed subnormals, and f64 that becomes
// f32.
std::vector<Tolerance> wider_of_copies(const Element& element, DType type);

// A tap of a window that falls inside X: its value, and where in X it stands.
struct ExactTap {
  Scalar value;
  Int at;
};

// One window of one channel, and how the clauses are read.
struct WindowPoint {
  const Call& call;
  const Readings& readings;
  DType dtype;
  const Shape& x;                  // the shape of X
  std::span<const ExactTap> taps;  // in the order of a scan

  bool reads(std::string_view ruling, std::string_view reading) const { return readings.of(ruling) == reading; }
};

// Returns the oracle of an operator that selects under a sliding window, each channel by itself: one rule per output in
// the order of the schema.
Oracle over_windows(std::vector<Element (*)(const WindowPoint&)> rules);

// One element of an output that is a copy, and how the clauses are read.
struct CopyPoint {
  const Call& call;
  const Readings& readings;
  const Shape& shape;  // of the output
  Int index;           // in it

  Shape at() const;  // where that is
};

// Where an element is copied from: its row-major place in one of the inputs; below 0 it is zero instead.
struct Origin {
  Int place;
  std::size_t input = 0;
};
Origin origin(const Shape& shape, const Shape& at, std::size_t input = 0);

using ShapeRule = std::optional<Shape> (*)(const Call&, const Readings&);

// Returns the oracle of an operator whose output holds elements of its inputs, bit for bit. `shape` is that of the
// output; none where a reading leaves no output. Subnormals survive, but where a backend declares that it flushes them
// (movement 2).
Oracle moved(ShapeRule shape, Origin (*of)(const CopyPoint&));

// Returns the oracle of an operator that hands out integers, whatever the data are.
Oracle told(ShapeRule shape, Int (*number)(const Call&, Int index));

// Where an axis of a tensor of that rank stands, counted from either end.
inline std::size_t axis_in(Int rank, Int axis) { return static_cast<std::size_t>((axis + rank) % rank); }

}  // namespace assay::oracles
