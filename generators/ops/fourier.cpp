// SPDX-License-Identifier: Apache-2.0
// DFT: transforms of one sample, of two, of powers of two, primes and what has several factors, along every axis;
// signals that are cut and filled up, either way and one-sided; impulses, constants and alternating signs, whose bins
// are fractions. STFT: frames of every such length that overlap, touch and lie apart, the last one cut short, with a
// window and without, its length stated or not.
#include "generators/draw.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::generators {
namespace {

Recipe draw_signal() {
  if (chance(30)) return {"lit", pick({"1,1,1,0", "1,-1", "1,0,-1,0", "1,2,3,4", "0,0,1", "2,1,1", "1,0,0,0,0,0,0"})};
  return seeded(weighted<const char*>({{30, "normal"},
                                       {15, "small"},
                                       {10, "quarter"},
                                       {10, "uniform"},
                                       {8, "logu"},
                                       {8, "cancel"},
                                       {5, "subnormal"},
                                       {3, "huge"},
                                       {11, "special"}}));
}

Int draw_length(std::uint64_t stratum) {
  constexpr Int all[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 31};
  return chance(3) ? pick<Int>({60, 64, 100}) : all[stratum % std::size(all)];
}

void write_scalar(Case& c, const char* name, DType type, Int value) {
  c.node.input(name, {type, {}});
  c.sources[name] = {{}, chance(60)};
  write_out(c, name, {}, {value});
}

// Returns the axis of a signal: none of its last.
Int draw_axis(Int rank) { return chance(50) ? between(-rank, -2) : between(0, rank - 2); }

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  const Int rank = chance(10) ? between(4, 6) : between(2, 3), length = draw_length(stratum);
  const bool is_inverse = chance(40), is_onesided = chance(40), has_length = chance(45);
  const bool is_complex = is_onesided ? is_inverse : chance(50);
  const Int axis = draw_axis(rank), at = axis < 0 ? axis + rank : axis;
  Shape shape;
  for (Int i = 0; i < rank - 1; ++i) shape.push_back(chance(4) ? 0 : between(1, length > 16 || rank > 3 ? 2 : 3));
  Int& along = shape[static_cast<std::size_t>(at)];
  along = is_onesided && is_inverse ? length / 2 + 1 : length;
  if (has_length) along = std::max<Int>(0, along + between(-2, 2));
  shape.push_back(is_complex ? 2 : 1);
  Case c = moving(definition, type, shape);
  c.sources["input"].recipe = draw_signal();
  write_default(c.node, definition, "inverse", is_inverse, 0);
  write_default(c.node, definition, "onesided", is_onesided, 0);
  if (has_length) write_scalar(c, "dft_length", pick({DType::i32, DType::i64}), length);
  if (definition.attribute("axis"))
    write_default(c.node, definition, "axis", axis, 1);
  else if (at != rank - 2 || chance(50))
    write_scalar(c, "axis", DType::i64, axis);
  return c;
}

// Gives the signal the parts that the flags ask for, a length of one at least, and the first axis where there is none
// of that number.
void refit(Case& c) {
  Shape& shape = shape_of(c);
  if (shape.size() < 2) return;
  const Call call = c.call();
  const auto flag = [&](const char* name) { return call.integer(name) == 1; };
  shape.back() = flag("onesided") ? (flag("inverse") ? 2 : 1) : std::clamp<Int>(shape.back(), 1, 2);
  if (c.is_legal()) return;
  if (c.definition().attribute("axis"))
    c.node.attribute("axis", Attribute(Int{0}));
  else if (c.node.inputs.contains("axis"))
    write_out(c, "axis", {}, {0});
  if (!c.is_legal() && !c.node.inputs.contains("dft_length")) shape.front() = 2;
}

Case draw_frames(const Definition& definition, DType type, std::uint64_t stratum) {
  const Int length = std::min<Int>(draw_length(stratum), 31),
            step = chance(20) ? length + between(1, 2) : between(1, length);
  const Int frames = between(1, 3), rest = chance(50) ? between(0, step - 1) : 0;
  const bool has_window = chance(60), has_length = chance(60), is_complex = chance(30);
  const Int samples = has_window || has_length ? length + (frames - 1) * step + rest : length;
  Case c = moving(definition, type, {chance(4) ? 0 : between(1, 2), samples, is_complex ? 2 : 1});
  c.sources["signal"].recipe = draw_signal();
  const DType of_counts = pick({DType::i32, DType::i64});
  write_scalar(c, "frame_step", of_counts, step);
  if (has_window) {
    c.node.input("window", {type, {length}});
    const Recipe recipe = chance(40) ? Recipe{"lit", pick({"0,0.5,1,0.5", "0.5,1", "1,2,0", "1,1,0.5"})}
                                     : seeded(pick({"uniform", "uniform", "normal", "small", "special"}));
    c.sources["window"] = {recipe, chance(60)};
  }
  if (has_length) write_scalar(c, "frame_length", of_counts, length);
  write_default(c.node, definition, "onesided", is_complex ? 0 : between(0, 1), 1);
  return c;
}

// Leaves three axes and, where the length is stated, as many samples and a window of that.
void refit_frames(Case& c) {
  Shape& shape = shape_of(c);
  if (shape.size() != 3 || c.is_legal()) return;
  shape[2] = c.call().integer("onesided") == 1 ? 1 : std::clamp<Int>(shape[2], 1, 2);
  shape[1] = std::max<Int>(shape[1], 1);
  if (c.node.inputs.contains("window"))
    shape_of(c, "window") = {std::clamp<Int>(volume(shape_of(c, "window")), 1, shape[1])};
  if (!c.node.inputs.contains("frame_length")) return;
  const Ints given = stated(c, "frame_length");
  const Int samples = given.empty() ? 1 : std::clamp<Int>(given.front(), 1, shape[1]);
  const Int length = c.node.inputs.contains("window") ? shape_of(c, "window").front() : samples;
  write_out(c, "frame_length", {}, {length});
}

bool another_scalar(Case& c, const char* name) {
  if (!c.node.inputs.contains(name)) return false;
  const Int value = pick<Int>({-1, 0, -7, 7, 3});
  const Shape shape = pick<Shape>({{}, {}, {1}, {2}});
  write_out(c, name, shape, Ints(static_cast<std::size_t>(volume(shape)), value));
  return true;
}

Mutation another_number_of_parts() {
  return {"another number of parts", [](Case& c) {
            if (shape_of(c).empty()) return false;
            shape_of(c).back() = pick<Int>({0, 1, 2, 3});
            return true;
          }};
}

}  // namespace

const OperatorGenerator& stft() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = placing_generator(draw_frames, axes<3, 3>, refit_frames);
    made.damages.push_back(another_number_of_parts());
    made.damages.push_back({"another flag", [](Case& c) {
                              c.node.attribute("onesided", Attribute(pick<Int>({0, 1, 2, -1})));
                            }});
    made.damages.push_back({"another scalar", [](Case& c) {
                              return another_scalar(c, pick({"frame_step", "frame_length"}));
                            }});
    made.damages.push_back(
        {"another window", [](Case& c) {
           if (!c.node.inputs.contains("window")) return false;
           Shape& shape = shape_of(c, "window");
           const Int length = volume(shape);
           shape = pick<Shape>({{length + 1}, {length, 1}, {1, length}, {0}, {std::max<Int>(length - 1, 0)}, {}});
           return true;
         }});
    return made;
  }();
  return all;
}

const OperatorGenerator& dft() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = placing_generator(draw, axes<2>, refit);
    made.damages.push_back(another_number_of_parts());
    made.damages.push_back({"another flag", [](Case& c) {
                              const Int flag = pick<Int>({0, 1, 2, -1});
                              c.node.attribute(pick({"inverse", "onesided"}), Attribute(flag));
                            }});
    made.damages.push_back({"another scalar", [](Case& c) { return another_scalar(c, pick({"axis", "dft_length"})); }});
    made.damages.push_back({"no sample", [](Case& c) {
                              if (c.node.inputs.contains("dft_length")) return false;
                              for (Int& extent : shape_of(c)) extent = std::min<Int>(extent, 2);
                              shape_of(c).front() = pick<Int>({0, 1});
                              return true;
                            }});
    return made;
  }();
  return all;
}

}  // namespace assay::generators
