// SPDX-License-Identifier: Apache-2.0
// Which elements of broadcast inputs make an element of the output (elementwise 2.1, 2.2).
#pragma once

#include "oracles/exact/enclosure.h"
#include "oracles/exact/operands.h"
#include "reference/call.h"
#include "reference/rulings.h"

#include <optional>
#include <vector>

namespace assay::oracles {

class Meeting {
 public:
  // Of a legal call; none where a reading makes it illegal. Of an operator of one data input the others do not count.
  static std::optional<Meeting> of(const Call& call, const Readings& readings);

  const Shape& shape() const { return shape_; }  // of the output
  // Returns which element of an input makes that of the output, both counted row by row.
  Int cell(std::size_t input, Int index) const;

 private:
  bool fits(const Shape& first) const;  // makes no other shape, and no axis of two extents

  struct Placed {
    Shape shape;
    std::vector<std::size_t> along;  // the axis of the output that each axis of the input lies along
    std::size_t blocked = 0;         // of scales: the axis on which so many elements share one
    Int block = 1;
  };
  static Placed scales(const Call& call, const Shape& shape, const Readings& readings);
  Shape shape_;
  std::vector<Placed> inputs_;
};

// The inputs that are there, element by element of the output.
class MetInputs {
 public:
  MetInputs(const Call& legal, const Operands& in, const Readings& readings);

  const Shape& shape() const { return meeting_.shape(); }  // of the output
  const Tensor& first() const { return given_.front().cells.tensor(); }
  std::vector<Scalar> at(Int index) const;
  std::vector<ProofTerm> taps(Int index) const;

 private:
  struct Given {
    std::string name;
    std::size_t input;  // in schema order
    Cells cells;
  };
  Meeting meeting_;
  std::vector<Given> given_;
};

// Returns the shape of the output; none where a reading makes the call illegal.
std::optional<Shape> shape_of_meeting(const Call& call, const Readings& readings);

}  // namespace assay::oracles
