// SPDX-License-Identifier: Apache-2.0
// MaxUnpool: indices as MaxPool hands them out and in any order, some of them several times; output_shape left out,
// what is inferred, more and less, of several channels (windows-and-products 6).
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "reference/operator.h"

#include <algorithm>
#include <numeric>

namespace assay::generators {
namespace {

// Returns indices of the elements of an output, one for each of X.
Ints draw_indices(const Case& c, const Shape& output) {
  const Shape& x = shape_of(c);
  const Int count = volume(x), places = volume(output), plane = volume(std::span(x).subspan(2));
  Ints all(static_cast<std::size_t>(places));
  std::iota(all.begin(), all.end(), Int{0});
  const Int way = places < count ? 2 : weighted<Int>({{40, 0}, {40, 1}, {20, 2}});
  if (way == 1) all = any_order(all, 0, false);
  Ints indices;
  const Int room = count > 0 ? places / (count / std::max<Int>(plane, 1)) : 0;
  for (Int i = 0; i < count; ++i) {
    const Int cell = i % plane * (room / plane) + between(0, std::max<Int>(room / plane - 1, 0));
    indices.push_back(way == 0   ? i / plane * room + cell
                      : way == 1 ? all[static_cast<std::size_t>(i)]
                                 : between(0, places - 1));
  }
  return indices;
}

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  const Int axes = weighted<Int>({{35, 1}, {45, 2}, {20, 3}});
  Shape x{chance(3) ? 0 : between(1, 2), chance(3) ? 0 : between(1, 3)};
  Ints kernel, strides, begin, end;
  Shape output = x;
  for (Int i = 0; i < axes; ++i) {
    x.push_back(between(1, axes == 1 ? (chance(20) ? 16 : 6) : axes == 2 ? 3 : 2));
    kernel.push_back(between(1, 3));
    strides.push_back(between(1, 3));
    begin.push_back(chance(30) ? between(0, 2) : 0);
    end.push_back(chance(30) ? between(0, 2) : 0);
    output.push_back((x.back() - 1) * strides.back() + kernel.back() - begin.back() - end.back());
  }
  begin.insert(begin.end(), end.begin(), end.end());
  Case c = moving(definition, type, x);
  c.node.attribute("kernel_shape", kernel);
  const auto state_or_not = [&](const char* list, const Ints& values, Int otherwise) {
    const bool is_default = std::ranges::all_of(values, [=](Int value) { return value == otherwise; });
    if (!is_default || chance(25)) c.node.attribute(list, values);
  };
  state_or_not("strides", strides, 1);
  state_or_not("pads", begin, 0);
  const Shape inferred = output;
  const Int way = static_cast<Int>(stratum % 4);  // output_shape: none, what is inferred, more, anything
  if (way >= 2)
    for (std::size_t i = 2; i < output.size(); ++i) output[i] += between(way == 2 ? 0 : -2, 3);
  for (std::size_t i = 2; i < output.size(); ++i) output[i] = std::max<Int>(output[i], 1);
  c.node.input("I", {DType::i64, x});
  c.sources["I"] = {{}, chance(30)};
  const bool has_inferred = std::ranges::none_of(inferred, [](Int extent) { return extent < 1; });
  write_out(c, "I", x, draw_indices(c, way == 2 && has_inferred && chance(60) ? inferred : output));
  if (way > 0)
    state(c, "output_shape", output);
  else if (chance(20))
    c.node.empty_input("output_shape");
  return c;
}

// Lists follow the axes of X, its batch and channels those of output_shape, and indices stay within the output.
void refit(Case& c) {
  const Shape x = shape_of(c);
  if (x.size() < 3 || !c.sources.contains("I") || !c.node.attributes.contains("kernel_shape")) return;
  const std::size_t axes = x.size() - 2;
  for (const char* list : {"kernel_shape", "strides", "pads"})
    if (const auto found = c.node.attributes.find(list); found != c.node.attributes.end()) {
      Ints& values = std::get<Ints>(found->second);
      if (found->first == "pads" && values.size() > 2 * axes)  // those that are left of either end
        std::ranges::rotate(values.begin() + static_cast<Int>(axes), values.begin() + std::ssize(values) / 2,
                            values.end());
      values.resize(found->first == "pads" ? 2 * axes : axes, found->first != "pads");
    }
  if (c.sources.contains("output_shape")) {
    Ints shape = stated(c, "output_shape");
    shape.resize(x.size(), 1);
    shape[0] = x[0], shape[1] = x[1];
    state(c, "output_shape", shape);
  }
  Ints indices = stated(c, "I");
  indices.resize(static_cast<std::size_t>(volume(x)));
  const Shape output = c.definition().shape(c.call());
  if (std::ranges::any_of(output, [](Int extent) { return extent < 0; })) return;
  const Int places = std::max<Int>(volume(output), 1);
  for (Int& at : indices) at %= places;
  write_out(c, "I", x, indices);
}

bool index_out_of_range(Case& c) {
  Ints indices = stated(c, "I");
  if (indices.empty()) return false;
  pick(indices) = pick({volume(output_shape(c)), Int{-1}});
  write_out(c, "I", shape_of(c), indices);
  return true;
}

bool no_spatial_axis(Case& c) {
  Shape& x = shape_of(c);
  x.resize(2);
  remove_input(c, "output_shape");
  for (const char* list : {"pads", "strides"}) c.node.attributes.erase(list);
  c.node.attribute("kernel_shape", Ints());
  write_out(c, "I", x, Ints(static_cast<std::size_t>(volume(x))));
  return true;
}

bool a_negative_pad(Case& c) {
  Ints pads = c.call().ints("pads");
  if (pads.empty()) return false;
  pick(pads) = -between(1, 2);
  c.node.attribute("pads", pads);
  return true;
}

bool another_batch(Case& c) {
  if (!c.sources.contains("output_shape")) return false;
  Ints shape = stated(c, "output_shape");
  shape[static_cast<std::size_t>(between(0, 1))] += 1;
  state(c, "output_shape", shape);
  return true;
}

bool pads_beyond(Case& c) {
  remove_input(c, "output_shape");
  Ints pads = c.call().ints("pads");
  if (pads.empty()) return false;
  pick(pads) += between(3, 9);
  c.node.attribute("pads", pads);
  write_out(c, "I", shape_of(c), Ints(static_cast<std::size_t>(volume(shape_of(c)))));
  return true;
}

}  // namespace

const OperatorGenerator& max_unpool() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = placing_generator(draw, axes<3, 5>, refit);
    const std::vector<Mutation> own{{"an index out of range", index_out_of_range},
                                    {"an output of another batch", another_batch},
                                    {"no spatial axis", no_spatial_axis},
                                    {"a negative pad", a_negative_pad},
                                    {"pads beyond the output", pads_beyond},
                                    {"indices of another shape", [](Case& c) {
                                       const Ints indices = stated(c, "I");
                                       Shape shape = shape_of(c);
                                       if (chance(50))
                                         shape.push_back(1);
                                       else
                                         std::ranges::reverse(shape);
                                       write_out(c, "I", shape, indices);
                                     }}};
    std::ranges::copy(own, std::back_inserter(made.damages));
    return made;
  }();
  return all;
}

}  // namespace assay::generators
