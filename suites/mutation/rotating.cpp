// SPDX-License-Identifier: Apache-2.0
// RotaryEmbedding by a third hand: every element of the output is looked up by its batch, head, token and place.
#include "reference/families/elementwise.h"
#include "suites/mutation/family.h"

#include <algorithm>
#include <cmath>

namespace assay::mutation {
namespace {

struct Rotating {
  bool rounds_products = false, is_fused = false, in_double = false;
  // Slips.
  bool turns_back = false, takes_first_batch = false, swaps_axes = false, drops_rest = false,
       takes_row_of_token = false;
};

template <class S>
Values turn(const Rotating& how, const Call& call, Inputs in) {
  Values y = outputs_of(call);
  const Shape& shape = in[0]->shape();
  const bool has_heads = shape.size() == 4;
  const Int heads = has_heads ? shape[1] : call.integer("num_heads"), tokens = has_heads ? shape[2] : shape[1];
  const Int size = has_heads ? shape[3] : shape[2] / heads;
  const Int width = call.integer("rotary_embedding_dim") > 0 ? call.integer("rotary_embedding_dim") : size;
  const bool is_interleaved = call.integer("interleaved") == 1;
  const auto rounded = [&](S value) {
    Tensor one({in[0]->dtype(), {}});
    put_number(one, 0, static_cast<double>(value));
    return how.rounds_products ? static_cast<S>(number_at(one, 0)) : value;
  };
  for (Int b = 0; b < shape[0]; ++b)
    for (Int h = 0; h < heads; ++h)
      for (Int t = 0; t < tokens; ++t)
        for (Int k = 0; k < size; ++k) {
          const bool is_by_head = has_heads != how.swaps_axes;
          const Int first = is_by_head ? ((b * heads + h) * tokens + t) * size : ((b * tokens + t) * heads + h) * size;
          const auto x = [&](Int at) { return static_cast<S>(number_at(*in[0], first + at)); };
          if (k >= width) {
            put_number(*y[0], first + k, how.drops_rest ? 0 : static_cast<double>(x(k)));
            continue;
          }
          const Int j = is_interleaved ? k / 2 : k % (width / 2);
          const Int p = is_interleaved ? 2 * j : j, q = is_interleaved ? 2 * j + 1 : j + width / 2;
          Int row = (how.takes_first_batch ? 0 : b * tokens) + t;
          if (in.size() > 3 && in[3]) row = how.takes_row_of_token ? t : static_cast<Int>(number_at(*in[3], row));
          row = std::min(row, in[1]->elements() / (width / 2) - 1);
          const S cosine = static_cast<S>(number_at(*in[1], row * (width / 2) + j));
          const S sine = static_cast<S>(number_at(*in[2], row * (width / 2) + j)) * S(how.turns_back ? -1 : 1);
          const S a = k == p ? -sine : sine, b_of = k == p ? x(q) : x(p), c = k == p ? x(p) : x(q);
          const S sum = how.is_fused ? std::fma(a, b_of, cosine * c) : rounded(cosine * c) + rounded(a * b_of);
          put_number(*y[0], first + k, static_cast<double>(sum));
        }
  return y;
}

Kernel turning(Rotating how) {
  return [how](const Call& call, Inputs in) {
    return how.in_double ? turn<double>(how, call, in) : turn<float>(how, call, in);
  };
}

}  // namespace

std::vector<VariantKernel> rotating_variants(const std::string& op) {
  if (op != "RotaryEmbedding") return {};
  return {variant_of("sequential", "two products and a sum in float32", turning({})),
          variant_of("rounds-nodes", "products are rounded to the type", turning({.rounds_products = true})),
          variant_of("fused", "a product and a fused multiply-add", turning({.is_fused = true})),
          variant_of("in-double", "everything in double", turning({.in_double = true}))};
}

std::vector<Bug> rotating_bugs(const std::string& op) {
  if (op != "RotaryEmbedding") return {};
  const auto bug = [&](const char* name, const char* what, Rotating how) {
    return bug_of(op, name, what, turning(how));
  };
  return {bug("turns-back", "the other way round", {.turns_back = true}),
          bug("takes-first-batch", "the positions of the first item", {.takes_first_batch = true}),
          bug("swaps-axes", "heads stand where tokens do", {.swaps_axes = true}),
          bug("drops-rest", "what is not rotated becomes 0", {.drops_rest = true}),
          bug("takes-row-of-token", "positions are not read", {.takes_row_of_token = true})};
}

}  // namespace assay::mutation
