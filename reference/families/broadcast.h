// SPDX-License-Identifier: Apache-2.0
// Kernels of operators whose inputs are broadcast: an input that has fewer elements than the output is read again along
// the axes it lacks.
#pragma once

#include "reference/families/elementwise.h"

#include <type_traits>
#include <vector>

namespace assay {

// Gives an operator of two inputs what limited broadcasting takes and demands (elementwise 2.2): the second input may
// be a single element or a run of axes of the first one, `axis` says which.
void limited_broadcast(Operator& op);
// Gives an operator what multidirectional broadcasting demands (elementwise 2.1); in the version that takes back the
// limited kind the second.
void multidirectional_broadcast(Operator& op);
void multidirectional_instead(Operator& op);

// Returns the type of the one output.
Types broadcast_types(const Call& call);

// Gives PRelu what its first versions demand of slope (E10); in the version that takes that back, that it is broadcast
// to the first input.
void broadcast_per_channel(Operator& op);
void broadcast_to_first_instead(Operator& op);

// Gives an operator of several inputs what the first opsets demand: that they have one shape.
void same_shapes(Operator& op);

// How the elements of the inputs meet in the output.
struct Broadcast {
  Shape shape;  // of the output
  std::vector<Ints>
      strides;  // of each input along each axis of the output, in elements; 0 where it is read again or absent

  static Broadcast of(const Call& call);

  // Calls row(out, offsets) for every run along the last axis: where it starts in the output and in each input.
  template <class F>
  void for_each_row(F&& row) const {
    const std::size_t axes = shape.empty() ? 0 : shape.size() - 1;
    Ints offsets(strides.size(), 0);
    Shape at(axes, 0);
    const Int length = shape.empty() ? 1 : shape.back();
    for (Int out = 0, count = volume(shape); out < count; out += length) {
      row(out, offsets);
      for (std::size_t axis = axes; axis-- > 0;) {
        const bool wraps = ++at[axis] == shape[axis];
        for (std::size_t i = 0; i < strides.size(); ++i) offsets[i] += strides[i][axis] * (wraps ? 1 - shape[axis] : 1);
        if (!wraps) break;
        at[axis] = 0;
      }
    }
  }
  Int length() const { return shape.empty() ? 1 : shape.back(); }
  // The element of an input that meets the i-th of a row.
  std::size_t cell(std::size_t input, const Ints& offsets, Int i) const {
    return static_cast<std::size_t>(offsets[input] + i * step(input));
  }
  Int step(std::size_t input) const { return shape.empty() ? 0 : strides[input].back(); }
};

// Calls row(step of a, step of b) with constants, 1 or 0 where an element is read again all along the row: so a loop
// over elements that lie side by side vectorises.
template <class F>
void with_steps(Int a, Int b, F&& row) {
  constexpr std::integral_constant<Int, 0> again;
  constexpr std::integral_constant<Int, 1> next;
  if (a == 0 && b == 0)
    row(again, again);
  else if (a == 0)
    row(again, next);
  else if (b == 0)
    row(next, again);
  else
    row(next, next);
}

// Returns the kernel of C[i] = f(… f(f(A[i], B[i]), …), …) over the inputs that are there.
template <class F>
Kernel folded(F f) {
  return [f](const Call& call, Inputs in) {
    const Broadcast meet = Broadcast::of(call);
    Tensor c = Tensor::to_be_written({in[0]->dtype(), meet.shape});
    for_number(c.dtype(), [&]<class T>() {
      const std::span<T> to = c.as<T>();
      for (std::size_t input = 0; input < in.size() && in[input]; ++input) {
        const std::span<const T> read = in[input]->as<T>();
        const Int length = meet.length();
        meet.for_each_row([&](Int out, const Ints& from) {
          const T* const next = &read[static_cast<std::size_t>(from[input])];
          T* const held = &to[static_cast<std::size_t>(out)];
          with_steps(1, meet.step(input), [&](auto, auto step) {
            if (input == 0)
              for (Int i = 0; i < length; ++i) held[i] = next[i * step];
            else
              for (Int i = 0; i < length; ++i) held[i] = f(held[i], next[i * step]);
          });
        });
      }
    });
    return c;
  };
}

// Returns the kernel of y[i] = f(the sum of the inputs at i, how many there are), of floats: summed in double, rounded
// once.
template <class F>
Kernel summed(F f) {
  return [f](const Call& call, Inputs in) {
    const Broadcast meet = Broadcast::of(call);
    const auto given = static_cast<std::size_t>(std::ranges::count_if(in, [](const Tensor* each) { return each; }));
    std::vector<double> totals(static_cast<std::size_t>(volume(meet.shape)), -0.0);
    Tensor y = Tensor::to_be_written({in[0]->dtype(), meet.shape});
    for_float(y.dtype(), [&]<class T>() {
      for (std::size_t input = 0; input < given; ++input) {
        const std::span<const T> read = in[input]->as<T>();
        meet.for_each_row([&](Int out, const Ints& from) {
          double* const total = &totals[static_cast<std::size_t>(out)];
          const T* const next = &read[static_cast<std::size_t>(from[input])];
          with_steps(1, meet.step(input), [&, length = meet.length()](auto, auto step) {
            for (Int i = 0; i < length; ++i) total[i] += static_cast<double>(next[i * step]);
          });
        });
      }
      std::ranges::transform(totals, y.as<T>().begin(), [&](double total) { return T(f(total, given)); });
    });
    return y;
  };
}

// What a sum or a product of two elements is computed in: a double is rounded to float16 and bfloat16 as if there were
// no double, and integers are taken modulo 2^64.
template <Number T>
using ComputedIn = std::conditional_t<std::is_integral_v<T>, std::uint64_t,
                                      std::conditional_t<std::is_same_v<T, float>, float, double>>;

// Returns the kernel of C[i] = f(A[i], B[i]) or, where f reads attributes, f(call)(A[i], B[i]), A and B of one type: of
// bool where that returns bool, else of theirs.
template <class F>
Kernel pairwise(F rule) {
  return [rule](const Call& call, Inputs in) {
    const Broadcast meet = Broadcast::of(call);
    const auto f = applied(rule, call);
    return for_type(in[0]->dtype(), [&]<class T>() -> Values {
      if constexpr (Small<T>) {
        throw BrokenPromise("a small type where numbers are computed");
      } else if constexpr (!std::is_invocable_v<decltype(f), T, T>) {
        throw BrokenPromise("an element type that the operator does not admit");
      } else {
        using Made = std::conditional_t<std::is_same_v<decltype(f(T(), T())), bool>, Bool, T>;
        Tensor c = Tensor::to_be_written({dtype_of<Made>(), meet.shape});
        const std::span<const T> a = in[0]->as<T>(), b = in[1]->as<T>();
        const std::span<Made> to = c.as<Made>();
        const Int length = meet.length();
        meet.for_each_row([&](Int out, const Ints& from) {
          Made* const made = &to[static_cast<std::size_t>(out)];
          const T *const left = &a[static_cast<std::size_t>(from[0])], *const right =
                                                                           &b[static_cast<std::size_t>(from[1])];
          with_steps(meet.step(0), meet.step(1), [&](auto step_a, auto step_b) {
            for (Int i = 0; i < length; ++i) made[i] = Made(f(left[i * step_a], right[i * step_b]));
          });
        });
        return c;
      }
    });
  };
}

}  // namespace assay
