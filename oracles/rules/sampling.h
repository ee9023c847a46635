// SPDX-License-Identifier: Apache-2.0
// Sampling: which places of its input an output of DeformConv reads, and what is found there, exactly (spec 1.5), any
// number of axes r:
//
//   Y[n,m,o] = B[m] + sum over c, kappa of  W * mask * beta(h),   h_a = base_a + offset_a,  base_a = o_a s_a - pb_a +
//   kappa_a d_a
//
// beta is the multilinear interpolation of the plane extended by zeros. All of it is dyadic, so the value is exact.
#pragma once

#include "oracles/exact/geometry.h"
#include "oracles/exact/operands.h"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace assay::oracles {

// How coordinates and sums are computed.
struct Machine {
  const Format* format;
  int slack_exponent = 0;                      // 1: truncating, 2u per operation
  Int spare = 0;                               // further roundings of every product
  bool converts() const { return spare > 1; }  // operands are rounded to the format first

  Dyadic unit() const { return Dyadic::power_of_two(format->unit_exponent() + slack_exponent); }
};

// One tap of one output: a weight, a mask and a sampled place of one plane.
struct Sample {
  struct Coordinate {
    Int base;
    Scalar offset;
    Dyadic at;     // base + offset
    Dyadic reach;  // |base| + |offset|

    bool is_exact(const Format& format) const;
    // What rounding may move it by: D_a of ops/deform_conv.cpp.
    Dyadic change(const Machine& machine) const;
  };

  Scalar weight;
  std::optional<Scalar> mask;  // none is 1
  Int weight_index, plane;
  std::vector<Coordinate> where;

  // Of what is sampled: W mask.
  Dyadic factor() const;
};

// What samples contribute.
struct Blend {
  static constexpr int no_granule = std::numeric_limits<int>::max();

  Dyadic value, magnitude, magnitude_lerp;  // beta, with omega, with omega = 1
  int granule = no_granule;                 // of every omega x
  int finest = no_granule;                  // of every partial product, in any order
  Dyadic largest;                           // of the intermediates of one sample, in any order
  bool nan_admitted = false, nonfinite_near = false, subnormal = false;
  bool positive_infinity = false, negative_infinity = false, nan = false;
};

class Sampling {
 public:
  Sampling(const Call& call, const Operands& in, std::vector<WindowAxis> tracks, const Readings& readings);

  const Shape& shape() const { return shape_; }  // of the output
  DType dtype() const { return dtype_; }
  std::size_t axes() const { return tracks_.size(); }
  const std::vector<WindowAxis>& tracks() const { return tracks_; }
  Int groups() const { return group_; }
  Int offset_groups() const { return offset_group_; }
  // What coordinates and sums are computed in.
  const Format& accumulator() const { return format_of(dtype_ == DType::f64 ? DType::f64 : DType::f32); }
  bool is_hard_zero() const { return hard_zero_; }  // the reading of A20

  const Cells& x() const { return x_; }
  const Cells& w() const { return w_; }
  const Cells& offset() const { return offset_; }
  const std::optional<Cells>& bias() const { return b_; }
  const std::optional<Cells>& mask() const { return mask_; }

  // The taps of one output.
  std::vector<Sample> samples(Int index) const;
  std::optional<Scalar> bias_of(Int index) const;
  // Why nothing may be claimed of these; empty where something may. Text and implementations say nothing of a weight,
  // mask or offset that is no number; hard-zero is undecidable where rounding may carry a coordinate over the border.
  std::string unscorable(const std::vector<Sample>& all) const;

  // beta of one sample and its sums over the 2^r corners.
  Blend sampled(const Sample& s) const;
  Blend sum(const std::vector<Sample>& all, const std::optional<Scalar>& bias) const;

  // The largest difference of two values in the cells within the change of each coordinate, zeros outside included.
  Dyadic range(const Sample& s, const Machine& machine) const;
  // |x| of the largest, and 1 at least.
  const Dyadic& largest_x() const;
  // A20: some sample lies outside the padded tensor, or may after rounding, and yet within one cell of the input.
  bool reaches_border(Int index) const;

 private:
  bool is_at_border(const Sample::Coordinate& c, const WindowAxis& t) const;
  bool is_near(const Sample& s) const;
  bool may_multiply_edge(const Sample& s) const;
  bool is_zero_by_reading(const Sample& s) const;
  bool may_touch_nonfinite(const Sample& s) const;
  bool has_nonfinite_x() const;
  const std::vector<double>& plain_x() const;
  template <class F>
  void around(const Sample& s, const Machine& machine, F&& f) const;
  Int flat_cell(Int plane, const std::vector<Int>& at) const;
  void add_corner(Blend& out, const Scalar& x, const Dyadic& omega, const Sample& s) const;
  void add_bias(Blend& total, const Scalar& bias) const;

  DType dtype_;
  std::vector<WindowAxis> tracks_;
  bool hard_zero_;
  Int group_, offset_group_;
  Cells x_, w_, offset_;
  std::optional<Cells> b_, mask_;
  Shape shape_;
  std::vector<Int> taps_, plane_;
  mutable std::vector<double> plain_;  // x as doubles: every T fits one
  mutable std::optional<Dyadic> largest_x_;
  mutable std::optional<bool> has_nonfinite_x_;
};

// The largest power of two that divides it, as an exponent; no_granule of 0.
int granule_of(const Dyadic& value);

}  // namespace assay::oracles
