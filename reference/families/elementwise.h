// SPDX-License-Identifier: Apache-2.0
// Kernels of operators that map elements one by one, whatever their type.
#pragma once

#include "reference/operator.h"

#include <algorithm>
#include <type_traits>

namespace assay {

// Returns the kernel of Y[i] = f(X[i]), Y of the type and shape of X. `f` takes and returns any element type that the
// operator admits.
template <class F>
Kernel each(F f) {
  return [f](const Call&, std::span<const Tensor* const> in) {
    Tensor y = Tensor::to_be_written(in[0]->type());
    for_number(y.dtype(), [&]<class T>() { std::ranges::transform(in[0]->as<T>(), y.as<T>().begin(), f); });
    return y;
  };
}

// Returns what the call infers of its outputs, to be written.
Values outputs_of(const Call& call);
// Reads and writes one element as a double, which is rounded once.
double number_at(const Tensor& tensor, Int at);
// Returns the first number of an input, 0 where it is left out.
inline double number_of(Inputs in, std::size_t place) {
  return in.size() > place && in[place] ? number_at(*in[place], 0) : 0;
}
void put_number(Tensor& tensor, Int at, double value);

// f, or f(call) where it reads attributes.
template <class F>
auto applied(F f, const Call& call) {
  if constexpr (std::is_invocable_v<F, const Call&>)
    return f(call);
  else
    return f;
}

// Returns the kernel of Y[i] = f(X[i]) or, where f reads attributes, f(call)(X[i]). `f` takes and returns a double:
// other floats are rounded once, and what becomes an integer is truncated.
template <class F>
Kernel each_in_double(F f) {
  return [f](const Call& call, std::span<const Tensor* const> in) {
    Tensor y = Tensor::to_be_written(in[0]->type());
    const auto of = applied(f, call);
    for_number(y.dtype(), [&]<class T>() {
      std::ranges::transform(in[0]->as<T>(), y.as<T>().begin(),
                             [&](T x) { return static_cast<T>(of(static_cast<double>(x))); });
    });
    return y;
  };
}

// The same of a predicate: a tensor of bool.
template <class F>
Kernel each_holds(F f) {
  return [f](const Call& call, std::span<const Tensor* const> in) {
    Tensor y = Tensor::to_be_written({DType::boolean, in[0]->shape()});
    const auto holds = applied(f, call);
    for_value(in[0]->dtype(), [&]<class T>() {
      std::ranges::transform(in[0]->as<T>(), y.as<Bool>().begin(),
                             [&](T x) { return Bool(holds(static_cast<double>(x)) ? 1.0 : 0.0); });
    });
    return y;
  };
}

// Gives the first version of an operator the hint that the one after it takes back.
void consumed_inputs(Operator& op);
void without_consumed_inputs(Operator& op);

// Tells whether the attribute that names the type of the first output names one of its types, or what counts where none
// is named is one.
bool names_a_type(const Call& call);

// Makes a tensor of what an attribute states: a list has one axis, a scalar has none.
Tensor tensor_of(const Attribute& value);

// The shape of an input.
ShapeFunction same_as(std::string input);

}  // namespace assay
