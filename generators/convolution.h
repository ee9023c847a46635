// SPDX-License-Identifier: Apache-2.0
// Draws what the operators of the Conv family share: channels, groups and windows, and the damages done to them. An
// operator says by its Layout which Conv a case stands for; damages are done to that Conv and written back.
#pragma once

#include "generators/operator_generator.h"
#include "generators/shapes.h"

#include <array>

namespace assay::generators {

// The spatial shapes of an operator: one stratum per theme, and how often 1, 2, 3 and 4 axes are drawn.
struct ShapeMix {
  std::vector<WindowPattern> themes;
  std::array<Int, 4> ranks;
  AxisLimits (*limits)(Int rank);
};
// Every theme of explicit padding, SAME_* and VALID; those where backends are known to err stand more than once.
const ShapeMix& conv_ground();

struct Channels {
  Int group = 1, depth = 1, maps = 1;  // depth: channels per group; maps in all
};

// The shapes of one case, channels second.
struct ConvShapes {
  Geometry geometry;
  Channels channels;
  Int batch = 1;

  Int channels_in_all() const { return channels.group * channels.depth; }
  Int terms() const { return channels.depth * taps(geometry) + 1; }  // the bias among them
  Shape x() const;
  Shape w() const;
};

// Every eleventh stratum has an axis of no extent: N, C, M or the input.
ConvShapes draw_conv_shapes(const ShapeMix& ground, std::uint64_t stratum);

// Every theme meets every empty axis.
std::uint64_t strata_of(const ShapeMix& ground);

// The attributes of the window, kernel_shape sometimes left out, and the group.
void write_conv_attributes(Node& node, const Definition& definition, const ConvShapes& shapes);

// A case of Conv, or of an operator that has its inputs, of these shapes and with data drawn.
Case draw_conv(const Definition& definition, DType type, const ConvShapes& shapes);

// B given, left out or named "".
void write_bias(Case& c, DType type, Int maps, const Recipe& recipe, bool constant_weights);

// The Conv a case stands for, as a case of Conv-11 with X, W and B, channels second; another operator's case is itself,
// of a pool with the channels second.
Case conv_of(const Case& c);
// Makes the case stand for another Conv; a case of another operator becomes it.
void stand_for(Case& c, const Case& conv);

// The case with the taps of its kernel as channels, as many terms as before, and of what quantises it the first of each
// list for all maps.
Case pointwise(Case c);

// N x C x I… as N x I… x C and back; a shape of fewer than three extents stays as it is.
Shape channels_last(const Shape& second);
Shape channels_second(const Shape& last);

// Multiply-adds of the Conv a case stands for.
Int conv_cost(const Case& c);

// What can be done to the shapes, group and kernel_shape of a Conv.
const std::vector<Mutation>& conv_damages();

}  // namespace assay::generators
