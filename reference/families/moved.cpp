// SPDX-License-Identifier: Apache-2.0
#include "reference/families/moved.h"

#include "reference/fast/engine.h"
#include "reference/type_lists.h"

#include <algorithm>

namespace assay {
namespace {

// Returns where in the input the i-th position stands.
Int place(const Strides& at, Int i) {
  Int place = at.first;
  for (std::size_t axis = at.extents.size(); axis-- > 0; i /= at.extents[axis])
    place += i % at.extents[axis] * at.steps[axis];
  return place;
}

// Copies a matrix whose elements lie so many steps apart; where rows lie closer than columns, in tiles, so that all of
// what is read with an element is used while it is at hand.
template <class T>
void copy_matrix(const T* from, Int rows, Int columns, Int row_step, Int column_step, T* to) {
  using Lane = std::conditional_t<sizeof(T) == sizeof(float), float, double>;
  if constexpr (std::is_trivially_copyable_v<T> && sizeof(T) == sizeof(Lane))
    if (row_step == 1 && column_step == rows)
      return engine::transpose(reinterpret_cast<const Lane*>(from), columns, rows, reinterpret_cast<Lane*>(to),
                               columns);
  const Int tile = std::abs(row_step) < std::abs(column_step) ? 16 : std::max(rows, columns);
  for (Int top = 0; top < rows; top += tile)
    for (Int left = 0; left < columns; left += tile)
      for (Int row = top; row < std::min(rows, top + tile); ++row)
        for (Int column = left; column < std::min(columns, left + tile); ++column)
          to[row * columns + column] = from[row * row_step + column * column_step];
}

// Copies what is no run: elements that lie apart along the last axis.
Tensor scattered(const Tensor& x, TensorType type, Strides at) {
  const auto take = [](Ints& all) {
    const Int last = all.back();
    all.pop_back();
    return last;
  };
  const Int columns = take(at.extents), column_step = take(at.steps);
  const Int rows = at.extents.empty() ? 1 : take(at.extents), row_step = at.steps.empty() ? 0 : take(at.steps);
  Tensor y = Tensor::to_be_written(std::move(type));
  for_type(y.dtype(), [&]<class T>() {
    T* to = y.as<T>().data();
    for (Int i = 0; to != y.as<T>().data() + y.elements(); ++i, to += rows * columns)
      copy_matrix(x.as<T>().data() + place(at, i), rows, columns, row_step, column_step, to);
  });
  return y;
}

// Makes one of neighbouring axes that lie in the input as in the output.
void merge_axes(Strides& at) {
  for (std::size_t axis = at.extents.size(); axis-- > 1;) {
    if (at.steps[axis - 1] != at.steps[axis] * at.extents[axis]) continue;
    at.steps[axis - 1] = at.steps[axis];
    at.extents[axis - 1] *= at.extents[axis];
    at.steps.erase(at.steps.begin() + static_cast<std::ptrdiff_t>(axis));
    at.extents.erase(at.extents.begin() + static_cast<std::ptrdiff_t>(axis));
  }
}

}  // namespace

Inference moved_to(ShapeFunction shape) {
  return [shape = std::move(shape)](const Call& call) {
    const Definition& definition = call.definition();
    return Types{TensorType{definition.type_of(call, definition.outputs.front()), shape(call)}};
  };
}

void small_types(Operator& op) {
  const std::vector<DType>& before = op.versions().back().types_of("T");
  const bool has_float8 = std::ranges::find(before, DType::f8e4m3fn) != before.end();
  op.since(21, has_float8 ? "T admits integers of 4 bits" : "T admits float8 and integers of 4 bits")
      .type("T", types::all_tensor_types_ir10())
      .since(23, "T admits floats of 4 bits")
      .type("T", types::all_tensor_types_ir11())
      .since(24, "T admits powers of two of 8 bits")
      .type("T", types::all_tensor_types_ir12())
      .since(25, "T admits integers of 2 bits")
      .type("T", types::all_tensor_types_ir13());
}

Ints steps_of(const Shape& shape) {
  Ints steps(shape.size(), 1);
  for (std::size_t axis = shape.size(); axis-- > 1;) steps[axis - 1] = steps[axis] * shape[axis];
  return steps;
}

Tensor in_runs(const Tensor& x, TensorType type, Int run, const std::function<Int(Int)>& source) {
  Tensor y = Tensor::to_be_written(std::move(type));
  for_type(y.dtype(), [&]<class T>() {
    const std::span<T> to = y.as<T>();
    auto next = to.begin();
    for (Int i = 0; next != to.end(); ++i, next += run) {
      const Int at = source(i);
      if (at < 0)
        std::fill_n(next, run, T());
      else
        std::copy_n(x.as<T>().begin() + at, run, next);
    }
  });
  return y;
}

Tensor in_runs(const Tensor& x, TensorType type, Int run, const Ints& places, Int block) {
  Tensor y = Tensor::to_be_written(std::move(type));
  for_type(y.dtype(), [&]<class T>() {
    const T* from = x.as<T>().data();
    for (T *to = y.as<T>().data(), *end = to + y.elements(); to != end; from += block)
      for (const Int place : places) to = run == 1 ? (*to = from[place], to + 1) : std::copy_n(from + place, run, to);
  });
  return y;
}

Kernel strided(Strides (*of)(const Call&)) {
  return [of](const Call& call, Inputs in) {
    Strides at = of(call);
    merge_axes(at);
    Int run = 1;
    for (; !at.extents.empty() && (at.steps.back() == run || at.extents.back() == 1); at.steps.pop_back()) {
      run *= at.extents.back();
      at.extents.pop_back();
    }
    if (run == 1 && !at.extents.empty()) return scattered(*in[0], *call.definition().infer(call).front(), at);
    return in_runs(*in[0], *call.definition().infer(call).front(), run, [&](Int i) { return place(at, i); });
  };
}

Kernel viewed() {
  return [](const Call& call, Inputs in) {
    Tensor y = Tensor::to_be_written({in[0]->dtype(), call.definition().shape(call)});
    for_type(y.dtype(), [&]<class T>() { std::ranges::copy(in[0]->as<T>(), y.as<T>().begin()); });
    return y;
  };
}

Ints no_entries(const Call&) { return {}; }

Int bounded_volume(const Shape& shape) {
  constexpr Int most = Int{1} << 62;
  if (std::ranges::find(shape, 0) != shape.end()) return 0;
  Int product = 1;
  for (const Int extent : shape)
    if (extent > 0 && (__builtin_mul_overflow(product, extent, &product) || product > most)) return most;
  return product;
}

}  // namespace assay
