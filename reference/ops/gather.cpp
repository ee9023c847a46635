// SPDX-License-Identifier: Apache-2.0
// Gather (ai.onnx 1, 11, 13) - https://onnx.ai/onnx/operators/onnx__Gather.html
// GatherElements (ai.onnx 11, 13) - https://onnx.ai/onnx/operators/onnx__GatherElements.html
// GatherND (ai.onnx 11, 12, 13) - https://onnx.ai/onnx/operators/onnx__GatherND.html
// Scatter (ai.onnx 9, 11) - https://onnx.ai/onnx/operators/onnx__Scatter.html
// ScatterElements (ai.onnx 11, 13, 16, 18) - https://onnx.ai/onnx/operators/onnx__ScatterElements.html
// ScatterND (ai.onnx 11, 13, 16, 18) - https://onnx.ai/onnx/operators/onnx__ScatterND.html
//
//   Gather:          output[a, i, b] = data[a, indices[i], b], where a and b are the axes before and after `axis`
//   GatherElements:  output[o] = data[o, with indices[o] along axis]
//   GatherND:        output[b, m, s] = data[b, indices[b, m, :], s], where b are the first batch_dims axes
//
//   Scatter, ScatterElements, ScatterND:  data, where every element that GatherElements or GatherND would take becomes
//                                         f(what it is, the element of updates in the place it would be taken to)
//
// Negative indices count from the end. f gives the update, or by `reduction` the sum, product, maximum or minimum.
#include "reference/families/moved.h"
#include "reference/type_lists.h"

#include <algorithm>
#include <map>

namespace assay {
namespace {

bool has_axis(const Call& call) { return is_axis(call.integer("axis"), call.rank("data")); }
std::size_t axis_of(const Call& call) {
  return static_cast<std::size_t>(from_front(call.integer("axis"), call.rank("data")));
}
Int extent(const Call& call) { return call.shape("data")[axis_of(call)]; }

bool are_within(const Call& call) {
  if (!has_axis(call)) return true;
  return std::ranges::all_of(call.ints("indices"), [&](Int index) { return is_axis(index, extent(call)); });
}

bool are_not_negative(const Call& call) {
  return !are_within(call) || std::ranges::none_of(call.ints("indices"), [](Int index) { return index < 0; });
}

bool has_one_rank(const Call& call) { return call.rank("indices") == call.rank("data"); }

bool fits_off_axis(const Call& call) {
  for (std::size_t axis = 0; has_one_rank(call) && has_axis(call) && axis < call.shape("data").size(); ++axis)
    if (axis != axis_of(call) && call.shape("indices")[axis] > call.shape("data")[axis]) return false;
  return true;
}

Shape gathered(const Call& call) {
  Shape shape = call.shape("data");
  const Shape& indices = call.shape("indices");
  const auto at = shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis_of(call)));
  shape.insert(at, indices.begin(), indices.end());
  return shape;
}

Values gather_slices(const Call& call, Inputs in) {
  const Int run = volume(std::span(in[0]->shape()).subspan(axis_of(call) + 1)), slices = extent(call);
  Ints places = call.ints("indices");
  for (Int& index : places) index = run * from_front(index, slices);
  return in_runs(*in[0], {in[0]->dtype(), gathered(call)}, run, places, run * slices);
}

// Returns where in data the element stands that each index names.
Ints places_of_each(const Call& call) {
  const Ints indices = call.ints("indices"), steps = steps_of(call.shape("data"));
  const Shape& shape = call.shape("indices");
  Ints places;
  for (Int index : indices) {
    Int place = from_front(index, extent(call)) * steps[axis_of(call)], i = std::ssize(places);
    for (std::size_t axis = shape.size(); axis-- > 0; i /= shape[axis])
      if (axis != axis_of(call)) place += i % shape[axis] * steps[axis];
    places.push_back(place);
  }
  return places;
}

Values gather_each(const Call& call, Inputs in) {
  const Ints places = places_of_each(call);
  return in_runs(*in[0], {in[0]->dtype(), call.shape("indices")}, 1,
                 [&](Int i) { return places[static_cast<std::size_t>(i)]; });
}

// -- GatherND

Int batch_axes(const Call& call) { return call.states("batch_dims") ? call.integer("batch_dims") : 0; }
std::span<const Int> axes_from(const Shape& shape, Int axis) {
  return std::span(shape).subspan(static_cast<std::size_t>(axis));
}

bool leaves_batches(const Call& call) {
  return batch_axes(call) >= 0 && batch_axes(call) < std::min(call.rank("data"), call.rank("indices"));
}

bool has_one_batch(const Call& call) {
  return !leaves_batches(call) || std::equal(call.shape("data").begin(), call.shape("data").begin() + batch_axes(call),
                                             call.shape("indices").begin());
}

bool has_tuples(const Call& call) {
  const Int most = call.rank("data") - batch_axes(call);
  return !leaves_batches(call) || (call.shape("indices").back() >= 1 && call.shape("indices").back() <= most);
}

bool are_tuples_within(const Call& call) {
  if (!leaves_batches(call) || !has_tuples(call)) return true;
  const Ints indices = call.ints("indices");
  const Int width = call.shape("indices").back();
  for (Int i = 0; i < std::ssize(indices); ++i)
    if (!is_axis(indices[static_cast<std::size_t>(i)], call.dim("data", batch_axes(call) + i % width))) return false;
  return true;
}

Shape gathered_by_tuples(const Call& call) {
  Shape shape = call.shape("indices");
  const auto rest = axes_from(call.shape("data"), batch_axes(call) + shape.back());
  shape.pop_back();
  shape.insert(shape.end(), rest.begin(), rest.end());
  return shape;
}

// The elements of data that a tuple names, and where in data the first of them stands for each.
Int run_of_tuple(const Call& call) {
  return volume(axes_from(call.shape("data"), batch_axes(call) + call.shape("indices").back()));
}

Ints places_of_tuples(const Call& call) {
  const Shape& data = call.shape("data");
  const Ints indices = call.ints("indices"), steps = steps_of(data);
  const Int batch = batch_axes(call), width = call.shape("indices").back();
  const Int tuples = volume(axes_from(call.shape("indices"), batch)) / width, block = volume(axes_from(data, batch));
  Ints places;
  for (Int i = 0; i < std::ssize(indices); ++i) {
    const Int axis = batch + i % width;
    if (axis == batch) places.push_back(i / width / tuples * block);
    places.back() += from_front(indices[static_cast<std::size_t>(i)], call.dim("data", axis)) *
                     steps[static_cast<std::size_t>(axis)];
  }
  return places;
}

Values gather_tuples(const Call& call, Inputs in) {
  const Ints places = places_of_tuples(call);
  return in_runs(*in[0], {in[0]->dtype(), gathered_by_tuples(call)}, run_of_tuple(call),
                 [&](Int i) { return places[static_cast<std::size_t>(i)]; });
}

// -- Scatter

bool has_update_per_index(const Call& call) { return call.shape("updates") == call.shape("indices"); }
bool has_update_per_tuple(const Call& call) {
  return !leaves_batches(call) || !has_tuples(call) || call.shape("updates") == gathered_by_tuples(call);
}

// Writes one run of updates after the other. Sums and products are kept as they are computed in, and rounded wherever
// they are written; of truth values they are "or" and "and" (M27).
Values scattered(const Call& call, Inputs in, const Ints& places, Int run) {
  const std::string how = call.definition().attribute("reduction") ? call.text("reduction") : "none";
  Tensor y = *in[0];
  for_type(y.dtype(), [&]<class T>() {
    std::map<Int, double> totals;
    std::map<Int, std::uint64_t> wholes;
    const auto total = [&]<class Wide>(std::map<Int, Wide>& all, Int place, const auto& held, const auto& next) {
      Wide& sum = all.try_emplace(place, static_cast<Wide>(held)).first->second;
      return sum = how == "add" ? sum + static_cast<Wide>(next) : sum * static_cast<Wide>(next);
    };
    for (Int i = 0; const T& next : std::span<const T>(in[2]->as<T>())) {
      const Int place = places[static_cast<std::size_t>(i / run)] + i % run;
      T& held = y.as<T>()[static_cast<std::size_t>(place)];
      ++i;
      if constexpr (Number<T> || std::is_same_v<T, Bool>) {
        if (how == "max" || (!Number<T> && how == "add")) {
          held = held < next || next != next ? next : held;
          continue;
        }
        if (how == "min" || (!Number<T> && how == "mul")) {
          held = next < held || next != next ? next : held;
          continue;
        }
      }
      if constexpr (Number<T>)
        if (how != "none") {
          if constexpr (std::is_integral_v<T>)
            held = static_cast<T>(total(wholes, place, held, next));
          else
            held = T(total(totals, place, held, next));
          continue;
        }
      held = next;
    }
  });
  return y;
}

// clang-format off

// What the operators have in common that scatter.
Operator scattering(const char* name, const char* index_type) {
  return Operator(name)
      .input("data", "T").parameter("indices", index_type, "indices").input("updates", "T").output("output", "T")
      .type("T", types::all_tensor_types()).rulings({"A29", "E1", "M24"})
      .shaping(Shaping::moved).infer(moved_to([](const Call& c) { return c.shape("data"); }));
}

void with_reductions(Operator& op) {
  op.since(13, "T admits bfloat16").type("T", types::all_tensor_types_ir4())
      .since(16, "updates may be added or multiplied")
      .word("reduction", {"none", "add", "mul"}, "C5").rulings({"E17", "M27"})
      .since(18, "the largest or the smallest may be kept")
      .without("C5").word("reduction", {"none", "add", "mul", "max", "min"}, "C5").rulings({"M25"});
}

Operator scattering_elements(const char* name) {
  return scattering(name, "Tind").attribute("axis", 0)
      .type("Tind", {DType::i32, DType::i64})
      .require("C1", "data and indices have one rank", has_one_rank)
      .require("C2", "updates and indices have one shape", has_update_per_index)
      .require("C3", "off the axis indices are no longer than data", fits_off_axis)
      .require("C4", "axis is in [-rank(data), rank(data) - 1]", has_axis)
      .require("I1", "indices are in [-s, s - 1], s being the extent along axis", are_within)
      .kernel([](const Call& call, Inputs in) { return scattered(call, in, places_of_each(call), 1); });
}

}  // namespace

Operator gather() {
  using enum DType;
  return Operator("Gather")
      .input("data", "T").parameter("indices", "Tind", "indices").output("output", "T").attribute("axis", 0)
      .type("T", types::all_tensor_types()).type("Tind", {i32, i64}).rulings({"A29", "E1", "M2"})
      .require("C1", "axis is in [-rank(data), rank(data) - 1]", has_axis)
      .require("I1", "indices are in [-s, s - 1], s being the extent along axis", are_within)
      .require("I2", "indices are not negative", are_not_negative, "M2")
      .since(1)
      .since(11, "indices may count from the end").without("I2").settled("M2")
      .since(13, "T admits bfloat16").type("T", types::all_tensor_types_ir4())
      .shaping(Shaping::moved).infer(moved_to(gathered)).kernel(gather_slices);
}

Operator gather_elements() {
  using enum DType;
  return Operator("GatherElements")
      .input("data", "T").parameter("indices", "Tind", "indices").output("output", "T").attribute("axis", 0)
      .type("T", types::all_tensor_types()).type("Tind", {i32, i64}).rulings({"A29", "E1", "M15"})
      .require("C1", "data and indices have one rank", has_one_rank)
      .require("C2", "off the axis indices are no longer than data", fits_off_axis)
      .require("C3", "axis is in [-rank(data), rank(data) - 1]", has_axis)
      .require("I1", "indices are in [-s, s - 1], s being the extent along axis", are_within)
      .since(11)
      .since(13, "T admits bfloat16").type("T", types::all_tensor_types_ir4())
      .shaping(Shaping::moved).infer(moved_to([](const Call& c) { return c.shape("indices"); })).kernel(gather_each);
}

Operator gather_nd() {
  return Operator("GatherND")
      .input("data", "T").parameter("indices", "i64", "indices").output("output", "T")
      .type("T", types::all_tensor_types()).rulings({"A29", "E1"})
      .require("C1", "the last extent of indices is in [1, rank(data) - batch_dims]", has_tuples)
      .require("C3", "batch_dims, or 0, is in [0, min(rank(data), rank(indices)) - 1]", leaves_batches)
      .require("I1", "indices are in [-s, s - 1], s being the extent along the axis they are of", are_tuples_within)
      .since(11)
      .since(12, "leading axes may be batches").attribute("batch_dims", 0)
      .require("C2", "the first batch_dims extents of data and indices are equal", has_one_batch)
      .since(13, "T admits bfloat16").type("T", types::all_tensor_types_ir4())
      .shaping(Shaping::moved).infer(moved_to(gathered_by_tuples)).kernel(gather_tuples);
}

Operator scatter() {
  return scattering_elements("Scatter")
      .require("I2", "indices are not negative", are_not_negative, "M2").ruling("M2")
      .since(9)
      .since(11, "deprecated; indices may count from the end").without("I2").settled("M2").ruling("M54");
}

Operator scatter_elements() { return scattering_elements("ScatterElements").since(11).with(with_reductions); }

Operator scatter_nd() {
  return scattering("ScatterND", "i64")
      .require("C1", "the last extent of indices is in [1, rank(data)]", has_tuples)
      .require("C2", "updates have the axes of indices but the last, then those of data that no tuple names",
               has_update_per_tuple)
      .require("C3", "data and indices have an axis", leaves_batches)
      .require("I1", "indices are in [-s, s - 1], s being the extent along the axis they are of", are_tuples_within)
      .kernel([](const Call& call, Inputs in) { return scattered(call, in, places_of_tuples(call), run_of_tuple(call)); })
      .since(11)
      .with(with_reductions);
}
// clang-format on

}  // namespace assay
