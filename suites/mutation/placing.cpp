// SPDX-License-Identifier: Apache-2.0
// Operators that copy elements to other places, a third time: a plan says of each element of the output which one of
// the inputs it is; planted bugs are slips in it.
#include "suites/mutation/family.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

namespace assay::mutation {
namespace {

using oracles::Level;

// Row-major, of all inputs one after the other; below 0 a zero.
struct Plan {
  Shape shape;
  Ints from;
  float fill = 0;  // of floats, where nothing comes from
};
// With the n-th slip; 0 is none.
using Planner = Plan (*)(const Call&, int defect);

Int count(const Shape& shape) { return std::accumulate(shape.begin(), shape.end(), Int{1}, std::multiplies()); }

const Shape& data_shape(const Call& call) { return call.shape(call.definition().inputs.front().name); }

// All elements in their order.
Plan in_order(const Call& call, Shape shape) {
  Ints from(static_cast<std::size_t>(count(data_shape(call))));
  std::iota(from.begin(), from.end(), Int{0});
  return {std::move(shape), std::move(from)};
}

Shape position(const Shape& shape, Int index) {
  Shape at(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0; index /= shape[axis]) at[axis] = index % shape[axis];
  return at;
}

Int place(const Shape& shape, const Shape& at) {
  Int index = 0, step = 1;
  for (std::size_t axis = shape.size(); axis-- > 0; step *= shape[axis]) index += at[axis] * step;
  return index;
}

// Every element of the input goes to to(its position).
template <class F>
Plan sent(const Shape& in, Shape out, F to) {
  Plan plan{std::move(out), {}};
  plan.from.assign(static_cast<std::size_t>(count(plan.shape)), -1);
  for (Int i = 0; i < count(in); ++i)
    if (const auto at = static_cast<std::size_t>(place(plan.shape, to(position(in, i)))); at < plan.from.size())
      plan.from[at] = i;
  return plan;
}

// Every element of the output comes from from(its position).
template <class F>
Plan fetched(Shape out, F from) {
  Plan plan{std::move(out), {}};
  for (Int i = 0; i < count(plan.shape); ++i) plan.from.push_back(from(position(plan.shape, i)));
  return plan;
}

Int& at(Ints& list, Int i) { return list[static_cast<std::size_t>(i)]; }
Int at(const Ints& list, Int i) { return list[static_cast<std::size_t>(i)]; }

template <class F>
Kernel planned(Planner planner, int defect, F change) {
  return [=](const Call& call, Inputs in) {
    const Plan plan = planner(call, defect);
    Tensor y({in[0]->dtype(), plan.shape});
    for_type(y.dtype(), [&]<class T>() {
      std::vector<T> pool;
      for (std::size_t i = 0; i < in.size(); ++i)
        if (in[i] && in[i]->dtype() == y.dtype() && call.definition().inputs[i].reads_as.empty())
          pool.insert(pool.end(), in[i]->as<T>().begin(), in[i]->as<T>().end());
      const std::span<T> to = y.as<T>();
      if constexpr (std::is_constructible_v<T, double> && !std::is_integral_v<T>)
        if (plan.fill != 0) std::ranges::fill(to, T(static_cast<double>(plan.fill)));
      for (std::size_t i = 0; i < std::min(to.size(), plan.from.size()); ++i)
        if (const Int from = plan.from[i]; from >= 0 && from < std::ssize(pool))
          to[i] = change(pool[static_cast<std::size_t>(from)]);
    });
    return y;
  };
}

const auto as_it_is = [](auto x) { return x; };
const auto through_double = []<class T>(T x) {
  if constexpr (std::is_integral_v<T> || !Number<T>)
    return x;
  else
    return x != x ? T(std::numeric_limits<double>::quiet_NaN()) : T(static_cast<double>(x));
};

// -- axes of one element

Plan flatten(const Call& call, int defect) {
  const Int rank = std::ssize(data_shape(call)), axis = call.integer("axis");
  Shape shape{1, 1};
  for (Int i = 0; i < rank; ++i)
    shape[i >= (axis + (axis < 0 ? rank : 0)) ? 1 : 0] *= data_shape(call)[static_cast<std::size_t>(i)];
  if (defect == 1) std::swap(shape[0], shape[1]);
  return in_order(call, shape);
}

bool lists(Ints axes, Int axis, Int rank) {
  return std::ranges::count(axes, axis) + std::ranges::count(axes, axis - rank) > 0;
}

Plan squeeze(const Call& call, int defect) {
  const Int rank = call.rank("data");
  const bool is_list = call.states("axes") && (call.has("axes") || !call.ints("axes").empty());
  Shape shape;
  for (Int axis = 0; axis < rank; ++axis) {
    const bool is_unit = call.dim("data", axis) == 1;
    const bool is_dropped = !is_list || defect == 1 || (defect == 3 && call.ints("axes").empty())
                                ? is_unit && !(defect == 2 && std::ssize(shape) == axis && !is_list)
                                : lists(call.ints("axes"), axis, rank);
    if (!is_dropped) shape.push_back(call.dim("data", axis));
  }
  return in_order(call, shape);
}

Plan unsqueeze(const Call& call, int defect) {
  Ints axes = call.ints("axes");
  const Int rank = call.rank("data") + std::ssize(axes);
  for (Int& axis : axes)
    if (axis < 0) axis += defect == 1 ? std::max<Int>(call.rank("data"), -axis) : rank;
  if (defect != 2) std::ranges::sort(axes);
  Shape shape = call.shape("data");
  for (const Int axis : axes) shape.insert(shape.begin() + std::min<Int>(axis, std::ssize(shape)), 1);
  return in_order(call, shape);
}

// -- axes in another order, repeated, cut

Plan transpose(const Call& call, int defect) {
  const Shape& data = data_shape(call);
  Ints perm(data.size());
  for (std::size_t k = 0; k < perm.size(); ++k)
    perm[k] = call.states("perm") ? call.ints("perm")[k] : std::ssize(data) - 1 - static_cast<Int>(k);
  if (defect == 1)
    for (std::size_t k = 0; const Int axis : Ints(perm)) at(perm, axis) = static_cast<Int>(k++);
  if (defect == 2 && perm.size() > 1) std::swap(perm[0], perm[1]);
  const auto moved = [&](const Shape& from) {
    Shape to;
    for (const Int axis : perm) to.push_back(at(from, axis));
    return to;
  };
  return sent(data, moved(data), moved);
}

Plan expand(const Call& call, int defect) {
  Shape out = call.ints("shape"), data = data_shape(call);
  const std::size_t rank = std::max(out.size(), data.size());
  const auto fill = [&](Shape& shape) {
    shape.insert(defect == 1 ? shape.end() : shape.begin(), rank - shape.size(), 1);
  };
  fill(out), fill(data);
  for (std::size_t axis = 0; axis < rank; ++axis)
    if (out[axis] == 1 && defect != 2) out[axis] = data[axis];
  return fetched(out, [=](Shape p) {
    for (std::size_t axis = 0; axis < rank; ++axis) p[axis] = data[axis] == 1 ? 0 : p[axis];
    return place(data, p);
  });
}

Plan tile(const Call& call, int defect) {
  const Shape data = data_shape(call);
  Ints times(data.size(), 1);
  if (call.states("repeats"))
    times = call.ints("repeats");
  else
    at(times, call.integer("axis")) = call.integer("tiles");
  if (defect == 2) std::ranges::reverse(times);
  Shape out;
  for (std::size_t axis = 0; axis < data.size(); ++axis) out.push_back(data[axis] * times[axis]);
  return fetched(out, [=](Shape p) {
    for (std::size_t axis = 0; axis < p.size(); ++axis)
      p[axis] = defect == 1 ? p[axis] / times[axis] : p[axis] % data[axis];
    return place(data, p);
  });
}

Plan concat(const Call& call, int defect) {
  std::vector<Shape> parts;
  for (const Parameter& input : call.definition().inputs)
    if (call.has(input.name)) parts.push_back(call.shape(input.name));
  const Int stated = call.states("axis") ? call.integer("axis") : 1, rank = std::ssize(parts[0]);
  const Int axis = stated < 0 ? stated + rank : stated;
  Shape out = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) at(out, axis) += at(parts[i], axis);
  Plan plan{out, Ints(static_cast<std::size_t>(count(out)))};
  Int before = 0, along = defect == 2 ? at(out, axis) : 0;
  for (const Shape& part : parts) {
    if (defect == 2) along -= at(part, axis);
    for (Int i = 0; i < count(part); ++i) {
      Shape to = position(part, i);
      at(to, axis) += along;
      at(plan.from, defect == 1 ? before + i : place(out, to)) = before + i;
    }
    if (defect != 2) along += at(part, axis);
    before += count(part);
  }
  return plan;
}

// What an axis of a slice takes, one element after the other.
Ints taken(Int extent, Int start, Int end, Int step, int defect) {
  using Wide = long double;  // of 64 bits of significand
  Wide from = start < 0 ? Wide(start) + Wide(extent) : Wide(start), to = end < 0 ? Wide(end) + Wide(extent) : Wide(end);
  if (defect == 1) step = step < 0 ? -1 : 1;
  Ints all;
  if (step > 0) {
    from = std::max<Wide>(from, 0);
    for (Wide i = from; i < std::min<Wide>(to, Wide(extent)); i += Wide(step)) all.push_back(static_cast<Int>(i));
    return all;
  }
  if (defect == 5 && (end == std::numeric_limits<Int>::max() || end == std::numeric_limits<std::int32_t>::max()))
    to = -1;
  if (defect != 4) from = std::max<Wide>(from, 0);
  from = std::min<Wide>(from, Wide(extent - 1));
  to = std::clamp<Wide>(to, -1, Wide(extent));
  for (Wide i = from; i > to && i >= 0 && extent > 0; i += Wide(step)) all.push_back(static_cast<Int>(i));
  return all;
}

Plan slice(const Call& call, int defect) {
  if (defect == 5 && call.definition().version.since_version < 11) defect = 0;  // where it is another reading (M8)
  const Shape data = data_shape(call);
  std::vector<Ints> of_axes;
  for (const Int extent : data) of_axes.push_back(taken(extent, 0, extent, 1, 0));
  const Ints starts = call.ints("starts"), ends = call.ints("ends");
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const Int stated = call.states("axes") ? call.ints("axes")[i] : static_cast<Int>(i);
    const Int axis = defect == 3 ? static_cast<Int>(i) : stated < 0 ? stated + std::ssize(data) : stated;
    const Int end = defect == 2 && ends[i] >= 0 && ends[i] < at(data, axis) ? ends[i] + 1 : ends[i];
    of_axes[static_cast<std::size_t>(axis)] =
        taken(at(data, axis), starts[i], end, call.states("steps") ? call.ints("steps")[i] : 1, defect);
  }
  Shape out;
  for (const Ints& each : of_axes) out.push_back(std::ssize(each));
  return fetched(out, [=](Shape p) {
    for (std::size_t axis = 0; axis < p.size(); ++axis) p[axis] = at(of_axes[axis], p[axis]);
    return place(data, p);
  });
}

// -- blocks, sequences and triangles

// Between the position of an element in a plane and its channel in a block.
Plan blocks(const Call& call, int defect, bool spreads) {
  const Shape in = data_shape(call);
  const Int b = defect == 2 ? 1 : call.integer("blocksize");
  const bool is_inner = call.definition().attribute("mode") && call.text("mode") == "CRD";
  const Int few = spreads ? in[1] / (b * b) : in[1];
  const auto many = [=](Int channel, Int row, Int column) {
    const Int at = defect == 1 ? column * b + row : row * b + column;
    return is_inner ? channel * b * b + at : at * few + channel;
  };
  if (!spreads)
    return sent(in, {in[0], few * b * b, in[2] / b, in[3] / b}, [=](const Shape& p) {
      return Shape{p[0], many(p[1], p[2] % b, p[3] % b), p[2] / b, p[3] / b};
    });
  return fetched({in[0], few, in[2] * b, in[3] * b}, [=](const Shape& p) {
    return place(in, {p[0], many(p[1], p[2] % b, p[3] % b), p[2] / b, p[3] / b});
  });
}

Plan depth_to_space(const Call& call, int defect) { return blocks(call, defect, true); }
Plan space_to_depth(const Call& call, int defect) { return blocks(call, defect, false); }

Plan reverse_sequence(const Call& call, int defect) {
  const Shape in = data_shape(call);
  const Int time = call.integer("time_axis"), batch = 1 - time;
  return sent(in, in, [&](Shape p) {
    const Int length =
        defect == 1 ? at(in, time) : at(call.ints("sequence_lens"), at(p, batch)) - (defect == 2 ? 1 : 0);
    if (at(p, time) < length) at(p, time) = length - 1 - at(p, time);
    return p;
  });
}

Plan trilu(const Call& call, int defect) {
  const Shape in = data_shape(call);
  const Int k = call.states("k") && defect != 1 ? call.integer("k") : 0;
  return fetched(in, [=, upper = call.integer("upper") != 0](const Shape& p) {
    Int diagonal = p.back() - p.end()[-2];
    if (defect == 2) diagonal += in.end()[-2] - in.back();
    const bool is_kept = defect == 3 && diagonal == k ? false : upper ? diagonal >= k : diagonal <= k;
    return is_kept ? place(in, p) : -1;
  });
}

// -- elements by index

Int wrapped(Int index, Int extent, int defect) { return index < 0 ? (defect == 1 ? 0 : index + extent) : index; }

Plan gather(const Call& call, int defect) {
  const Shape data = data_shape(call), indices = call.shape("indices");
  const Int stated = call.integer("axis"), axis = stated < 0 ? stated + std::ssize(data) : stated;
  const Ints said = call.ints("indices");
  const std::ptrdiff_t first = defect == 2 ? 0 : axis, many = std::ssize(indices);
  Shape out = data;
  out.erase(out.begin() + axis);
  out.insert(out.begin() + first, indices.begin(), indices.end());
  return fetched(out, [=](Shape p) {
    const Shape of_index(p.begin() + first, p.begin() + first + many);
    p.erase(p.begin() + first, p.begin() + first + many);
    p.insert(p.begin() + axis, wrapped(at(said, place(indices, of_index)), at(data, axis), defect));
    return place(data, p);
  });
}

Plan gather_elements(const Call& call, int defect) {
  const Shape data = data_shape(call), indices = call.shape("indices");
  const Int stated = call.integer("axis"), axis = stated < 0 ? stated + std::ssize(data) : stated;
  const Ints said = call.ints("indices");
  return fetched(indices, [=](Shape p) {
    const Int index = at(said, place(indices, p));
    at(p, axis) = wrapped(index, at(data, axis), defect);
    return place(defect == 2 ? indices : data, p);
  });
}

Plan gather_nd(const Call& call, int defect) {
  const Shape data = data_shape(call), indices = call.shape("indices");
  const Int many = std::ssize(indices) - 1, width = indices.back();
  const Int batch = call.states("batch_dims") ? call.integer("batch_dims") : 0;
  const Ints said = call.ints("indices");
  Shape out(indices.begin(), indices.end() - 1);
  out.insert(out.end(), data.begin() + batch + width, data.end());
  return fetched(out, [=](const Shape& p) {
    Shape from(p.begin(), p.begin() + batch);
    if (defect == 3) std::ranges::fill(from, 0);
    const Int first = place({indices.begin(), indices.end() - 1}, {p.begin(), p.begin() + many}) * width;
    for (Int k = 0; k < width; ++k)
      from.push_back(wrapped(at(said, first + (defect == 2 ? width - 1 - k : k)), at(data, batch + k), defect));
    from.insert(from.end(), p.begin() + many, p.end());
    return place(data, from);
  });
}

// -- ends

// Extents, and how many elements stand before each axis.
Plan framed(const Shape& data, const Shape& out, const Ints& before, const std::string& mode, Int constant) {
  return fetched(out, [=](Shape p) {
    for (std::size_t axis = 0; axis < p.size(); ++axis) {
      Int& i = p[axis];
      const Int n = data[axis], last = n - 1;
      i -= before[axis];
      if (i >= 0 && i < n) continue;
      if (mode == "constant") return constant;
      for (bool is_up = i < 0; mode == "reflect" && n > 1 && (i < 0 || i > last); is_up = !is_up)
        i = is_up ? 0 - i : last - (i - last);
      if (mode == "wrap") i = i < 0 ? last - (-i - 1) % n : i % n;
      i = std::clamp<Int>(i, 0, last);
    }
    return place(data, p);
  });
}

Plan pad(const Call& call, int defect) {
  const Shape data = data_shape(call);
  const std::string mode = defect == 1 && call.text("mode") == "wrap" ? "edge" : call.text("mode");
  const Ints pads = call.ints(call.definition().attribute("paddings") ? "paddings" : "pads");
  const std::size_t many = pads.size() / 2;
  Shape out = data;
  Ints before(data.size());
  for (std::size_t i = 0; i < many; ++i) {
    const Int stated = call.states("axes") && defect != 2 ? call.ints("axes")[i] : static_cast<Int>(i);
    const Int axis = stated < 0 ? stated + std::ssize(data) : stated;
    const bool is_swapped = defect == 3;
    at(before, axis) = pads[is_swapped ? i + many : i];
    at(out, axis) += pads[i] + pads[i + many];
  }
  const bool has_value = call.has("constant_value") && defect != 4;
  Plan plan = framed(data, out, before, mode, has_value ? count(data) : -1);
  if (call.definition().attribute("value")) plan.fill = defect == 4 ? 0 : call.real("value");
  return plan;
}

Plan center_crop_pad(const Call& call, int defect) {
  const Shape data = data_shape(call);
  Shape out = data;
  Ints before(data.size());
  for (std::size_t i = 0; i < call.ints("shape").size(); ++i) {
    const Int stated = call.states("axes") ? call.ints("axes")[i] : static_cast<Int>(i);
    const Int axis = stated < 0 ? stated + std::ssize(data) : stated, more = call.ints("shape")[i] - at(data, axis);
    at(out, axis) += more;
    at(before, axis) = more < 0 ? -((-more + (defect == 1 ? 1 : 0)) / 2) : (more + (defect == 2 ? 1 : 0)) / 2;
  }
  return framed(data, out, before, "constant", -1);
}

Plan tensor_scatter(const Call& call, int defect) {
  const Shape past = data_shape(call), update = call.shape("update");
  const Int stated = call.integer("axis"), axis = stated < 0 ? stated + std::ssize(past) : stated;
  Plan plan = in_order(call, past);
  for (Int i = 0; i < count(update); ++i) {
    Shape p = position(update, i);
    Int& to = at(p, axis);
    if (call.states("write_indices")) to += at(call.ints("write_indices"), defect == 1 ? 0 : p[0]);
    if (defect == 2 && to >= at(past, axis)) continue;
    to %= at(past, axis);
    at(plan.from, place(past, p)) = count(past) + i;
  }
  return plan;
}

// Another reading counts indices in the shape that is inferred, where they fit (slip 1).
Plan max_unpool(const Call& call, int defect) {
  const Shape x = data_shape(call);
  const Ints kernel = call.ints("kernel_shape"), strides = call.ints("strides"), pads = call.ints("pads");
  Shape inferred = x;
  for (std::size_t i = 0; i < kernel.size(); ++i)
    inferred[i + 2] = strides[i] * (x[i + 2] - 1) + kernel[i] - (pads[i] + pads[i + kernel.size()]);
  const Shape out = call.states("output_shape") && defect != 3 ? call.ints("output_shape") : inferred;
  Plan plan{out, Ints(static_cast<std::size_t>(count(out)), -1)};
  bool fits = std::ranges::equal(out, inferred, std::greater_equal()) && std::ranges::min(inferred) > 0;
  for (const Int to : call.ints("I")) fits = fits && to < count(inferred);
  const Int planes = std::max<Int>(1, x[0] * x[1]), plane = count(out) / planes, cells = count(x) / planes;
  for (Int i = 0; i < count(x); ++i) {
    Int to = at(call.ints("I"), i);
    if (defect == 1 && fits) to = place(out, position(inferred, to));
    if (defect == 2) to = i / cells * plane + to % plane;
    if (defect == 4) to = place(out, position({out.rbegin(), out.rend()}, to));
    if (to < std::ssize(plan.from)) at(plan.from, to) = i;
  }
  return plan;
}

// -- parts

// Writes every part by itself.
template <class F>
Kernel splitting(int defect, F change) {
  return [=](const Call& call, Inputs in) {
    const Shape data = data_shape(call);
    const bool is_known = call.states("axis") || call.definition().attribute("axis")->value;
    const Int stated = is_known ? call.integer("axis") : 0, axis = stated < 0 ? stated + std::ssize(data) : stated;
    const Int many = std::ssize(call.requested_outputs());
    Ints lengths;
    if (call.definition().input("split") || call.definition().attribute("split"))
      if (call.states("split")) lengths = call.ints("split");
    for (Int i = 0, left = at(data, axis); lengths.empty() || i < many; ++i) {
      if (i == 0 && !lengths.empty()) break;
      const Int each = defect == 2 ? at(data, axis) / many : (at(data, axis) + many - 1) / many;
      lengths.push_back(i == many - 1 ? left : each);
      left -= lengths.back();
    }
    if (defect == 1) std::ranges::reverse(lengths);
    Values out;
    Int before = 0;
    for (const Int length : lengths) {
      Shape shape = data;
      at(shape, axis) = length;
      Tensor& y = *out.emplace_back(Tensor({in[0]->dtype(), shape}));
      for_type(y.dtype(), [&]<class T>() {
        for (Int i = 0; i < y.elements(); ++i) {
          Shape p = position(shape, i);
          at(p, axis) += defect == 3 ? 0 : before;
          y.as<T>()[static_cast<std::size_t>(i)] = change(in[0]->as<T>()[static_cast<std::size_t>(place(data, p))]);
        }
      });
      before += length;
    }
    return out;
  };
}

// -- updates by index

// Where each element of updates goes.
Ints landings(const Call& call, int defect) {
  const Shape data = data_shape(call), indices = call.shape("indices"), updates = call.shape("updates");
  const Shape tuples(indices.begin(), indices.end() - 1);
  const Ints said = call.ints("indices");
  const bool is_along = call.definition().attribute("axis");
  const Int stated = is_along ? call.integer("axis") : 0, axis = stated < 0 ? stated + std::ssize(data) : stated;
  Ints all;
  for (Int i = 0; i < count(updates); ++i) {
    Shape p = position(updates, i), to(p.begin() + std::ssize(tuples), p.end());
    const Int width = indices.back(), first = is_along ? 0 : place(tuples, {p.begin(), p.begin() + std::ssize(tuples)});
    if (is_along) at(to = p, axis) = wrapped(at(said, i), at(data, axis), defect);
    for (Int k = 0; !is_along && k < width; ++k)
      to.insert(to.begin() + k,
                wrapped(at(said, first * width + (defect == 2 ? width - 1 - k : k)), at(data, k), defect));
    all.push_back(place(is_along && defect == 2 ? indices : data, to));
  }
  return all;
}

enum { forgets_data = 3, drops_last = 4, goes_backward = 5 };

// Reduces the updates one after the other, in as many bits as there are.
Kernel scattering(int defect) {
  return [=](const Call& call, Inputs in) {
    Tensor y = *in[0];
    const std::string how = call.definition().attribute("reduction") ? call.text("reduction") : "none";
    const Ints to = landings(call, defect);
    for_type(y.dtype(), [&]<class T>() {
      using Wide = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;
      std::map<Int, Wide> sums;
      for (Int n = 0, last = std::ssize(to) - 1; n <= last - (defect == drops_last ? 1 : 0); ++n) {
        const Int i = defect == goes_backward ? last - n : n;
        if (at(to, i) < 0 || at(to, i) >= y.elements()) continue;
        T& held = y.as<T>()[static_cast<std::size_t>(at(to, i))];
        const T& next = in[2]->as<T>()[static_cast<std::size_t>(i)];
        if constexpr (Number<T> || std::is_same_v<T, Bool>) {
          const auto [entry, is_first] = sums.try_emplace(at(to, i), static_cast<Wide>(held));
          Wide& sum = entry->second;
          const auto wide = static_cast<Wide>(next);
          const bool is_taken = how == "none" || (is_first && defect == forgets_data) || next != next ||
                                (how == "max" && held < next) || (how == "min" && next < held);
          if (is_taken) {
            sum = wide;
            held = next;
          } else if (how == "add" || how == "mul") {
            sum = how == "add" ? sum + wide : sum * wide;
            held = T(sum);
          }
        } else {
          held = next;
        }
      }
    });
    return y;
  };
}

// -- the list

// Without a name it is another reading.
struct Defect {
  const char *name = nullptr, *description = nullptr;
};
struct Placing {
  Planner planner;
  std::vector<Defect> slips;
};

const std::map<std::string, Placing>& placings() {
  static const std::map<std::string, Placing> all{
      {"Flatten", {flatten, {{"swaps-rows", "rows and columns are exchanged"}}}},
      {"Squeeze",
       {squeeze,
        {{"drops-all", "every axis of one element is dropped, whatever is listed"},
         {"keeps-first", "where no axis is listed, axes of one element in front are kept"}}}},
      {"Transpose",
       {transpose,
        {{"inverts-perm", "axis perm[k] of the output is axis k of data"},
         {"swaps-first", "the first two axes of the output are exchanged"}}}},
      {"Expand",
       {expand, {{"aligns-left", "axes are counted from the first"}, {"shrinks", "an entry of 1 makes an axis of 1"}}}},
      {"Tile",
       {tile,
        {{"repeats-elements", "every element is repeated by itself"}, {"reverses", "repeats are read from the end"}}}},
      {"Concat",
       {concat,
        {{"appends", "the inputs stand one after the other in memory"}, {"reverses", "the last input comes first"}}}},
      {"Slice",
       {slice,
        {{"ignores-steps", "every element is taken"},
         {"takes-end", "the element at end is taken as well"},
         {"ignores-axes", "the first axes are meant, whatever is listed"},
         {},
         {"opens-end", "the largest integer as end stands for before the first element, going backward"}}}},
      {"DepthToSpace",
       {depth_to_space,
        {{"swaps-block", "rows and columns of a block are exchanged"}, {"copies", "blocksize is read as 1"}}}},
      {"SpaceToDepth",
       {space_to_depth,
        {{"swaps-block", "rows and columns of a block are exchanged"}, {"copies", "blocksize is read as 1"}}}},
      {"ReverseSequence",
       {reverse_sequence,
        {{"reverses-all", "all there is of time is reversed"}, {"forgets-last", "every sequence is one shorter"}}}},
      {"Trilu",
       {trilu,
        {{"ignores-k", "k is 0"},
         {"counts-from-corner", "diagonals are counted from the last element"},
         {"drops-diagonal", "the k-th diagonal is zero as well"}}}},
      {"Gather",
       {gather, {{"clamps-negative", "negative indices are 0"}, {"puts-in-front", "the axes of indices come first"}}}},
      {"GatherElements",
       {gather_elements,
        {{"clamps-negative", "negative indices are 0"},
         {"strides-by-indices", "data is read as if of the shape of indices"}}}},
      {"GatherND",
       {gather_nd,
        {{"clamps-negative", "negative indices are 0"},
         {"reverses-tuples", "the last of a tuple is the index of the first axis"},
         {"reads-first-batch", "every batch gathers from the first"}}}},
      {"Pad",
       {pad,
        {{"wraps-edge", "mode wrap repeats the edge"},
         {"ignores-axes", "the first axes are meant, whatever is listed"},
         {"swaps-ends", "what is to stand at the end stands at the beginning"},
         {"ignores-constant", "the constant is zero"}}}},
      {"TensorScatter",
       {tensor_scatter,
        {{"reads-first-index", "every batch is written from the index of the first"},
         {"stops-at-end", "what would stand beyond the end is left out"}}}},
      {"MaxUnpool",
       {max_unpool,
        {{},
         {"stays-in-plane", "every plane is written to its own, whatever the index says"},
         {"ignores-shape", "the shape is inferred, whatever is stated"},
         {"counts-columns", "indices are counted column by column"}}}},
      {"CenterCropPad",
       {center_crop_pad,
        {{"crops-late", "of an odd number more is cut at the beginning"},
         {"pads-late", "of an odd number more is added at the beginning"}}}},
      {"Unsqueeze",
       {unsqueeze,
        {{"counts-in-data", "negative axes are counted from the end of data"},
         {"goes-in-order", "axes are put in in the order in which they are listed"}}}},
  };
  return all;
}

// -- Shape and Size, which copy nothing

Kernel telling(Ints (*numbers)(const Call&), bool is_list) {
  return [=](const Call& call, Inputs) {
    const Ints told = numbers(call);
    Tensor y({DType::i64, is_list ? Shape{std::ssize(told)} : Shape()});
    std::ranges::copy(told, y.as<Int>().begin());
    return y;
  };
}

Ints extents(const Call& call, bool counts_end, bool wraps) {
  Ints told;
  const Int rank = call.rank("data");
  Int start = call.states("start") ? call.integer("start") : 0, end = call.states("end") ? call.integer("end") : rank;
  if (start < 0 && !wraps) start = std::max<Int>(0, rank + start);
  if (start < 0) start = (start % std::max<Int>(rank, 1) + rank) % std::max<Int>(rank, 1);
  if (end < 0) end = rank + end + (counts_end ? 1 : 0);
  for (Int axis = 0; axis < rank; ++axis)
    if (axis >= start && axis < end) told.push_back(call.dim("data", axis));
  return told;
}

}  // namespace

std::vector<VariantKernel> placing_variants(const std::string& op) {
  if (op == "Shape")
    return {variant_of("sequential", "one extent after the other",
                       telling([](const Call& call) { return extents(call, false, false); }, true))};
  if (op == "Size")
    return {variant_of("sequential", "extents multiplied",
                       telling([](const Call& call) { return Ints{count(data_shape(call))}; }, false))};
  if (op.starts_with("Scatter"))
    return {variant_of("sequential", "one update after the other", scattering(0)),
            variant_of("backward", "the last update first", scattering(goes_backward))};
  if (op == "Split")
    return {variant_of("sequential", "one element after the other", splitting(0, as_it_is)),
            variant_of("in-double", "every float goes through double, which loses payloads of NaN",
                       splitting(0, through_double))};
  const auto found = placings().find(op);
  if (found == placings().end()) return {};
  const Planner planner = found->second.planner;
  std::vector<VariantKernel> variants{
      variant_of("sequential", "one element after the other", planned(planner, 0, as_it_is)),
      variant_of("in-double", "every float goes through double, which loses payloads of NaN",
                 planned(planner, 0, through_double))};
  if (op == "Squeeze")
    variants.push_back(
        variant_of("drops-all-of-none", "of a list of no axes all are dropped", planned(planner, 3, as_it_is)));
  if (op == "MaxUnpool")
    variants.push_back({{"counts-in-inferred", Level::L2, "indices count in what is inferred", "W17", "inferred-space"},
                        planned(planner, 1, as_it_is)});
  if (op == "Slice")
    variants.push_back(
        {{"starts-before", Level::L2, "nothing is taken backward from before the first element", "M7", "numpy"},
         planned(planner, 4, as_it_is)});
  return variants;
}

std::vector<Bug> placing_bugs(const std::string& op) {
  if (op == "Shape")
    return {bug_of(op, "counts-end", "a negative end is one more",
                   telling([](const Call& call) { return extents(call, true, false); }, true)),
            bug_of(op, "wraps-start", "a start before the first axis counts from the end again",
                   telling([](const Call& call) { return extents(call, false, true); }, true))};
  if (op == "Size")
    return {bug_of(op, "forgets-first", "the first extent is not counted",
                   telling(
                       [](const Call& call) {
                         const Shape& data = data_shape(call);
                         return Ints{data.empty() ? 1 : count({data.begin() + 1, data.end()})};
                       },
                       false))};
  if (op.starts_with("Scatter")) {
    std::vector<Bug> bugs{
        bug_of(op, "clamps-negative", "negative indices are 0", scattering(1)),
        op == "ScatterND"
            ? bug_of(op, "reverses-tuples", "the last of a tuple is the index of the first axis", scattering(2))
            : bug_of(op, "strides-by-indices", "data is written as if of the shape of indices", scattering(2)),
        bug_of(op, "drops-last", "the last update is left out", scattering(drops_last))};
    if (op != "Scatter")
      bugs.push_back(bug_of(op, "forgets-data", "only updates are reduced", scattering(forgets_data)));
    return bugs;
  }
  if (op == "Split")
    return {bug_of(op, "reverses-lengths", "the lengths are read from the end", splitting(1, as_it_is)),
            bug_of(op, "rounds-down", "parts of one length are as short as they may be", splitting(2, as_it_is)),
            bug_of(op, "starts-over", "every part begins at the first element", splitting(3, as_it_is))};
  const auto found = placings().find(op);
  if (found == placings().end()) return {};
  std::vector<Bug> bugs;
  int number = 0;
  for (const Defect& defect : found->second.slips)
    if (++number; defect.name)
      bugs.push_back(bug_of(op, defect.name, defect.description, planned(found->second.planner, number, as_it_is)));
  return bugs;
}

}  // namespace assay::mutation
