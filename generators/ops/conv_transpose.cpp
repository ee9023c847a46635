// SPDX-License-Identifier: Apache-2.0
// ConvTranspose: kernels shorter than a stride and dilated ones under strides, output_shape with an odd cell under each
// auto_pad and larger than all that is reached, output_padding, groups of several maps with a bias, pads beyond what a
// kernel reaches (windows-and-products 6).
#include "generators/convolution.h"
#include "generators/draw.h"
#include "generators/families/window.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::generators {
namespace {

// Holds what is stated of the spatial axes, one entry each.
struct Lists {
  Ints in, kernel, strides, dilations, more, begin, end, shape;
};

void draw_axis(Lists& all, Int rank, bool is_given) {
  const Int kernel = between(1, rank < 3 ? 4 : 2), in = chance(12) ? 1 : between(1, rank == 1 ? 6 : 4 - rank / 2);
  const Int stride = weighted<Int>({{35, 1}, {30, 2}, {20, 3}, {15, 5}}),
            dilation = weighted<Int>({{60, 1}, {25, 2}, {15, 3}});
  const Int more = chance(35) ? between(0, std::max(stride, dilation) - 1) : 0;
  const Int full = stride * (in - 1) + (kernel - 1) * dilation + 1 + more;
  all.in.push_back(in);
  all.kernel.push_back(kernel);
  all.strides.push_back(stride);
  all.dilations.push_back(dilation);
  all.more.push_back(more);
  const Int begin = std::min(full - 1, chance(15) ? between(3, 7) : between(0, 2));
  all.begin.push_back(begin);
  all.end.push_back(std::min(full - 1 - begin, chance(15) ? between(3, 7) : between(0, 2)));
  if (is_given) all.shape.push_back(std::max<Int>(1, full - between(-2, 5)));
}

bool any_not(const Ints& values, Int otherwise) {
  return std::ranges::any_of(values, [=](Int value) { return value != otherwise; });
}

void state_or_not(Case& c, const char* list, const Ints& values, Int otherwise) {
  if (any_not(values, otherwise) || chance(25)) c.node.attribute(list, values);
}

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  const Int rank = weighted<Int>({{45, 1}, {38, 2}, {17, 3}}), group = weighted<Int>({{50, 1}, {30, 2}, {20, 3}});
  const char* const words[] = {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"};
  const bool is_given = stratum % 3 == 1;
  const std::string word = words[stratum / 3 % 8 < 4 ? 0 : stratum / 3 % 4];
  Lists lists;
  for (Int i = 0; i < rank; ++i) draw_axis(lists, rank, is_given);
  const Int depth = chance(3) ? 0 : between(1, 3), maps = chance(3) ? 0 : between(1, 3);
  Shape x{weighted<Int>({{4, 0}, {60, 1}, {36, 2}}), group * depth}, w{group * depth, maps};
  x.insert(x.end(), lists.in.begin(), lists.in.end());
  w.insert(w.end(), lists.kernel.begin(), lists.kernel.end());
  if (chance(2)) x.back() = 0;
  Case c = blank(definition);
  const ConvolutionFill data = draw_convolution_fill({type, depth * volume(lists.kernel) + 1, true});
  const bool is_constant = chance(50), meets_zeros = chance(6);  // infinities do
  c.node.input("X", {type, x}).input("W", {type, w});
  c.sources["X"] = {meets_zeros ? Recipe{"lit", "inf,1,-inf,2,-1"} : data.x, false};
  c.sources["W"] = {meets_zeros  ? Recipe{"hold", "0,1,0,-2"}
                    : chance(10) ? Recipe{"lit", "1,10,100"}
                                 : data.w,
                    is_constant};
  write_bias(c, type, maps * group, data.b, is_constant);
  if (word != "NOTSET" || chance(10)) c.node.attribute("auto_pad", word);
  if (chance(35)) c.node.attribute("kernel_shape", lists.kernel);
  state_or_not(c, "strides", lists.strides, 1);
  state_or_not(c, "dilations", lists.dilations, 1);
  state_or_not(c, "output_padding", lists.more, 0);
  if (is_given) c.node.attribute("output_shape", lists.shape);
  Ints pads = lists.begin;
  pads.insert(pads.end(), lists.end.begin(), lists.end.end());
  if (word == "NOTSET" && (!is_given || chance(25)) && chance(75)) c.node.attribute("pads", pads);
  write_default(c.node, definition, "group", group, 1);
  return c;
}

// Channels and axes of W follow those of X, the bias and the lists those of W.
void refit(Case& c) {
  if (!c.node.inputs.contains("W")) return;
  const Shape& x = shape_of(c);
  Shape& w = shape_of(c, "W");
  if (x.size() < 3 || w.size() < 2) return;
  w.resize(x.size(), 1);
  w[0] = x[1];
  const std::size_t axes = x.size() - 2;
  for (const char* list : {"kernel_shape", "strides", "dilations", "output_padding", "output_shape"})
    if (const auto found = c.node.attributes.find(list); found != c.node.attributes.end())
      std::get<Ints>(found->second).resize(axes, 1);
  if (c.node.attributes.contains("kernel_shape")) c.node.attribute("kernel_shape", Ints(w.begin() + 2, w.end()));
  if (const auto found = c.node.attributes.find("pads"); found != c.node.attributes.end())
    std::get<Ints>(found->second).resize(2 * axes, 0);
  if (c.sources.contains("B")) shape_of(c, "B") = {w[1] * c.call().integer("group")};
}

bool changed(Case& c, const char* input, std::size_t axis, Int by) {
  if (!c.sources.contains(input) || shape_of(c, input).size() <= axis) return false;
  return (shape_of(c, input)[axis] += by) >= 0;
}

Int cost(const Case& c) {
  const Shape &x = shape_of(c), &w = shape_of(c, "W");
  return volume(x) * volume(w) / std::max<Int>(1, w[0]);
}

}  // namespace

const OperatorGenerator& conv_transpose() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = placing_generator(draw, axes<3, 5>, refit);
    made.cost = cost;
    std::ranges::copy(window_damages(), std::back_inserter(made.damages));
    const std::vector<Mutation> own{{"W of other channels",
                                     [](Case& c) {
                                       return changed(c, "W", 0, pick({1, -1}));
                                     }},
                                    {"a bias of another length",
                                     [](Case& c) {
                                       return changed(c, "B", 0, pick({1, -1}));
                                     }},
                                    {"no W", [](Case& c) { remove_input(c, "W"); }},
                                    {"a kernel of nothing", [](Case& c) { shape_of(c, "W").back() = 0; }},
                                    {"W of another rank", [](Case& c) { shape_of(c, "W").push_back(1); }},
                                    {"groups that do not divide",
                                     [](Case& c) {
                                       c.node.attribute("group", Attribute(pick<Int>({0, -1, shape_of(c)[1] + 1})));
                                     }},
                                    {"another kernel_shape",
                                     [](Case& c) {
                                       Ints kernel = c.call().ints("kernel_shape");
                                       if (kernel.empty()) return false;
                                       ++pick(kernel);
                                       c.node.attribute("kernel_shape", kernel);
                                       return true;
                                     }},
                                    {"too much output_padding",
                                     [](Case& c) {
                                       Ints more = c.call().ints("strides");
                                       if (more.empty()) return false;
                                       pick(more) = pick<Int>({-1, 5, 6});
                                       c.node.attribute("output_padding", more);
                                       return true;
                                     }},
                                    {"an output_shape with batch and channels",
                                     [](Case& c) {
                                       const Shape y = c.definition().shape(c.call());
                                       c.node.attribute("output_shape", Ints(y.begin(), y.end()));
                                     }},
                                    {"an output_shape of nothing",
                                     [](Case& c) {
                                       const Shape y = c.definition().shape(c.call());
                                       Ints shape(y.begin() + 2, y.end());
                                       pick(shape) = -between(0, 1);
                                       c.node.attribute("output_shape", shape);
                                     }},
                                    {"pads beyond the output", [](Case& c) {
                                       if (c.call().text("auto_pad") != "NOTSET") return false;
                                       c.node.attributes.erase("output_shape");
                                       const Shape y = c.definition().shape(c.call());
                                       Ints pads = c.call().ints("pads");
                                       pads.front() += y[2] + between(0, 1);
                                       c.node.attribute("pads", pads);
                                       return true;
                                     }}};
    std::ranges::copy(own, std::back_inserter(made.damages));
    return made;
  }();
  return all;
}

}  // namespace assay::generators
