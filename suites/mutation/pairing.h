// SPDX-License-Identifier: Apache-2.0
// Writes inputs out at every element of the output, and makes a kernel of a function of two elements: shared by the
// third hands of operators with several inputs.
#pragma once

#include "suites/mutation/family.h"

#include <type_traits>
#include <vector>

namespace assay::mutation {

// How an input is laid along the output.
enum class Laying { right, by_flat_index, first_everywhere, from_the_left };

Shape output_of(const Call& call);
// The inputs that are there, written out, the last one as `laying` says.
std::vector<Tensor> all_written_out(const Call& call, Inputs in, Laying laying);

// C[i] = f(A[i], B[i]), of the type of C.
template <class F>
Kernel pairing(F f) {
  return [f](const Call& call, Inputs in) {
    const std::vector<Tensor> all = all_written_out(call, in, Laying::right);
    Tensor c({call.definition().type_of(call, call.definition().outputs.front()), output_of(call)});
    for_type(all[0].dtype(), [&]<class T>() {
      if constexpr (std::is_invocable_v<F, T, T>) {
        using Made = std::conditional_t<std::is_same_v<std::invoke_result_t<F, T, T>, T>, T, Bool>;
        for (std::size_t i = 0; i < c.as<Made>().size(); ++i)
          c.as<Made>()[i] = Made(f(all[0].as<T>()[i], all[1].as<T>()[i]));
      }
    });
    return Values(std::move(c));
  };
}

// The correct ways of one operator.
struct Pairing {
  const char* op;
  Kernel direct, roundabout;
  Kernel but_for_equal = {};  // wrong where both are equal
  Kernel in_f32 = {}, by_halves = {};
  Kernel saturating = {};
  const char* overflow = "";  // the ruling that lets it
  bool is_ordered = false;    // the operands may not be exchanged
};

// Of operators that compute, none of the others; and what is special to one of them.
const Pairing* arithmetic_of(const std::string& op);
std::vector<VariantKernel> arithmetic_variants(const std::string& op);
std::vector<Bug> arithmetic_bugs(const Operator& op);
// Of operators whose operands differ in type or in role.
std::vector<VariantKernel> operand_variants(const std::string& op);
std::vector<Bug> operand_bugs(const std::string& op);
// Of Cast and CastLike.
std::vector<VariantKernel> cast_variants();
std::vector<Bug> cast_bugs(const std::string& op);
// Of Dropout: see dropout.cpp.
std::vector<VariantKernel> dropout_variants();
std::vector<Bug> dropout_bugs();

}  // namespace assay::mutation
