// SPDX-License-Identifier: Apache-2.0
// Unique (ai.onnx 11, 28) - https://onnx.ai/onnx/operators/onnx__Unique.html
//
//   Y holds the elements of X without their repetitions, or its slices along axis: in ascending order, slices by their
//   first elements that differ, or with sorted = 0 in the order in which they are met. Of each, indices says where it
//   stands first and counts how often; of each of X, inverse_indices says which of Y it is.
//
// NaN is one value, more than any number (M35). Strings are ordered by their bytes.
#include "reference/families/picked.h"
#include "reference/type_lists.h"

#include <algorithm>
#include <numeric>

namespace assay {
namespace {

bool has_axis(const Call& call) { return !call.states("axis") || is_axis(call.integer("axis"), call.rank("X")); }
std::size_t axis_of(const Call& call) {
  return static_cast<std::size_t>(from_front(call.integer("axis"), call.rank("X")));
}

// The slices of X: how many there are, of which runs of elements.
struct Slices {
  Int outer = 1, count, inner = 1;
  explicit Slices(const Call& call) : count(volume(call.shape("X"))) {
    if (!call.states("axis")) return;
    const std::span<const Int> shape = call.shape("X");
    outer = volume(shape.first(axis_of(call)));
    count = shape[axis_of(call)];
    inner = volume(shape.subspan(axis_of(call) + 1));
  }
  std::size_t at(Int slice, Int element) const {
    return static_cast<std::size_t>((element / inner * count + slice) * inner + element % inner);
  }
};

struct Found {
  Ints first, inverse, counts;
};

template <class T>
bool is_before(const T& a, const T& b) {
  return a < b || (a == a && b != b);
}

template <class T>
Found found(const Call& call, std::span<const T> x) {
  const Slices slices(call);
  const auto is_less = [&](Int a, Int b) {
    for (Int i = 0; i < slices.outer * slices.inner; ++i) {
      const T &mine = x[slices.at(a, i)], &other = x[slices.at(b, i)];
      if (is_before(mine, other) || is_before(other, mine)) return is_before(mine, other);
    }
    return false;
  };
  Ints order(static_cast<std::size_t>(slices.count));
  std::iota(order.begin(), order.end(), Int{0});
  std::ranges::stable_sort(order, is_less);
  std::vector<Ints> groups;
  for (const Int slice : order) {
    if (groups.empty() || is_less(groups.back().front(), slice)) groups.emplace_back();
    groups.back().push_back(slice);
  }
  if (call.integer("sorted") == 0) std::ranges::sort(groups, {}, [](const Ints& group) { return group.front(); });
  Found all{{}, Ints(order.size()), {}};
  for (const Ints& group : groups) {
    for (const Int slice : group) all.inverse[static_cast<std::size_t>(slice)] = std::ssize(all.first);
    all.first.push_back(group.front());
    all.counts.push_back(std::ssize(group));
  }
  return all;
}

Found found(const Call& call, const Tensor& x) {
  return for_type(x.dtype(), [&]<class T>() -> Found {
    if constexpr (Small<T>)
      throw BrokenPromise("a type that Unique does not admit");
    else
      return found(call, x.as<T>());
  });
}

Values keep_first(const Call& call, Inputs in) {
  const Found all = found(call, *in[0]);
  const Slices slices(call);
  const Int count = std::ssize(all.first);
  Shape shape = in[0]->shape();
  if (call.states("axis"))
    shape[axis_of(call)] = count;
  else
    shape = {count};
  Values out(4);
  out[0] = in_runs(*in[0], {in[0]->dtype(), shape}, slices.inner, [&](Int i) {
    return static_cast<Int>(slices.at(all.first[static_cast<std::size_t>(i % count)], i / count * slices.inner));
  });
  const Ints* const told[] = {&all.first, &all.inverse, &all.counts};
  for (std::size_t i = 1; i < out.size(); ++i)
    if (call.requests(call.definition().outputs[i].name)) {
      out[i] = Tensor({DType::i64, {std::ssize(*told[i - 1])}});
      std::ranges::copy(*told[i - 1], out[i]->as<Int>().begin());
    }
  return out;
}

Types kept(const Call& call) {
  Types types;
  const Tensor& x = data_of(call, "X");
  const std::vector<const Tensor*> in{&x};
  for (const std::optional<Tensor>& each : keep_first(call, in))
    types.push_back(each ? std::optional(each->type()) : std::nullopt);
  return types;
}

}  // namespace

// clang-format off
Operator unique() {
  return Operator("Unique")
      .parameter("X", "T", "X").output("Y", "T").output("indices", "i64", Arity::optional)
      .output("inverse_indices", "i64", Arity::optional).output("counts", "i64", Arity::optional)
      .optional_int("axis").attribute("sorted", 1).rulings({"A29", "E1", "M35", "M36"})
      .require("C1", "axis is in [-rank(X), rank(X) - 1]", has_axis)
      .require("C2", "sorted is 0 or 1", [](auto& c) { return c.integer("sorted") == 0 || c.integer("sorted") == 1; })
      .since(11).type("T", types::all_tensor_types())
      .since(28, "T admits bfloat16").type("T", types::all_tensor_types_ir4())
      .shaping(Shaping::moved).infer(kept).kernel(keep_first);
}
// clang-format on

}  // namespace assay
