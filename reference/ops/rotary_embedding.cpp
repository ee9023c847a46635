// SPDX-License-Identifier: Apache-2.0
// RotaryEmbedding (ai.onnx 23) - https://onnx.ai/onnx/operators/onnx__RotaryEmbedding.html
//
//   Y[p] = cos * X[p] - sin * X[q],  Y[q] = sin * X[p] + cos * X[q]
//
// p and q are a pair of the first D elements of a head: j and j + D/2 or, interleaved, 2j and 2j + 1. cos and sin are
// the j-th of the row that the position of the token names or, without positions, of the token's own row. What stands
// behind D stays as it is. A token's heads stand side by side in its line where X has three axes, and D is a whole head
// where none is said.
#include "reference/families/elementwise.h"
#include "reference/type_lists.h"

#include <algorithm>
#include <optional>

namespace assay {
namespace {

struct Heads {
  Int count = 0, size = 0, width = 0;  // width: D
  Int batches = 0, tokens = 0;
};

// None where X has no heads.
std::optional<Heads> heads_of(const Call& call) {
  const Shape& x = call.shape("X");
  Heads heads;
  if (x.size() == 4)
    heads = {x[1], x[3], 0, x[0], x[2]};
  else if (x.size() == 3 && call.states("num_heads") && call.integer("num_heads") > 0 &&
           x[2] % call.integer("num_heads") == 0)
    heads = {call.integer("num_heads"), x[2] / call.integer("num_heads"), 0, x[0], x[1]};
  else
    return std::nullopt;
  const Int stated = call.integer("rotary_embedding_dim");
  heads.width = stated == 0 ? heads.size : stated;
  return heads;
}

bool has_pairs(const Call& call) {
  const auto heads = heads_of(call);
  return !heads || (heads->width > 0 && heads->width % 2 == 0 && heads->width <= heads->size && heads->size % 2 == 0) ||
         heads->size == 0;
}

bool fits_tables(const Call& call) {
  const auto heads = heads_of(call);
  if (!heads || !has_pairs(call)) return true;
  const Shape tokens{heads->batches, heads->tokens};
  Shape table = call.shape("cos_cache");
  if (table != call.shape("sin_cache") || table.empty() || table.back() != heads->width / 2) return false;
  table.pop_back();
  return call.has("position_ids") ? table.size() == 1 && call.shape("position_ids") == tokens : table == tokens;
}

bool names_rows(const Call& call) {
  if (!call.has("position_ids") || !fits_tables(call) || call.rank("cos_cache") == 0) return true;
  return std::ranges::all_of(call.ints("position_ids"),
                             [&](Int row) { return row >= 0 && row < call.dim("cos_cache", 0); });
}

Values rotate(const Call& call, Inputs in) {
  const Heads heads = *heads_of(call);
  const Tensor &x = *in[0], &cosines = *in[1], &sines = *in[2];
  const Ints positions = call.has("position_ids") ? call.ints("position_ids") : Ints{};
  const bool is_interleaved = call.integer("interleaved") != 0, is_by_head = x.shape().size() == 4;
  Tensor y = x;
  for (Int line = 0; heads.size > 0 && line < x.elements() / heads.size; ++line) {
    const Int token =
        is_by_head ? line / heads.count / heads.tokens * heads.tokens + line % heads.tokens : line / heads.count;
    const Int row = positions.empty() ? token : positions[static_cast<std::size_t>(token)];
    for (Int j = 0; j < heads.width / 2; ++j) {
      const Int p = line * heads.size + (is_interleaved ? 2 * j : j), q = p + (is_interleaved ? 1 : heads.width / 2);
      const double cosine = number_at(cosines, row * heads.width / 2 + j);
      const double sine = number_at(sines, row * heads.width / 2 + j);
      put_number(y, p, cosine * number_at(x, p) - sine * number_at(x, q));
      put_number(y, q, sine * number_at(x, p) + cosine * number_at(x, q));
    }
  }
  return y;
}

}  // namespace

// clang-format off
Operator rotary_embedding() {
  using enum DType;
  return Operator("RotaryEmbedding")
      .input("X", "T").input("cos_cache", "T").input("sin_cache", "T")
      .parameter("position_ids", "M", "position_ids", Arity::optional).output("Y", "T")
      .optional_int("num_heads").attribute("rotary_embedding_dim", 0).attribute("interleaved", 0)
      .type("T", {f32, f16, bf16}).type("M", {i64}).rulings({"A29", "N42"})
      .require("E1", "a head is even, and so is the part that is rotated, no wider than a head", has_pairs)
      .require("E2", "cos_cache and sin_cache have half that width, a row per position or, without positions, per token", fits_tables)
      .require("E3", "every position is a row", names_rows)
      .require("E4", "X has four axes, or three that num_heads divides", [](auto& c) { return heads_of(c).has_value(); })
      .require("E5", "interleaved is 0 or 1", [](auto& c) { return c.integer("interleaved") == 0 || c.integer("interleaved") == 1; }, "N42")
      .since(23)
      .shaping(Shaping::normalized).shape(same_as("X")).kernel(rotate);
}
// clang-format on

}  // namespace assay
