// SPDX-License-Identifier: Apache-2.0
// MatMul through the engine: the rows of B are the channels of an image of one axis, a row of A holds the weights of a
// map with one tap. MatMulInteger: with a the bytes of A as ones with a sign and b those of B as ones without, four
// rows of B to a lane,
//
//   sum of (a - a_zero)(b - b_zero)  =  sum of a b - a_zero sum of b - b_zero sum of a + K a_zero b_zero
#include "reference/families/products.h"
#include "reference/fast/engine.h"
#include "reference/fast/kernels.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

namespace assay::fast {
namespace {

engine::Extent extent_of(const Matrices& meet, Int depth) { return {1, 1, meet.rows, depth}; }

Window window_of(const Matrices& meet) {
  Window window;
  window.axes = {Axis{.in = meet.columns, .out = meet.columns}};
  return window;
}

std::size_t sized(Int count) { return static_cast<std::size_t>(count); }

// The bits of one operand of MatMulInteger, those of the other sign flipped, which moves its zero points as far.
struct Bytes {
  std::vector<std::uint8_t> all;
  std::vector<std::int32_t> zeros;  // one for all, or one for each row of A or column of B

  Bytes(const Tensor& from, const Tensor* zero_points, bool has_sign) : all(sized(from.elements())) {
    const bool flips = (from.dtype() == DType::i8) != has_sign;
    const auto* const given = reinterpret_cast<const std::uint8_t*>(from.bytes().data());
    const std::uint8_t sign = flips ? 128 : 0;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = given[i] ^ sign;
    for (Int i = 0; zero_points && i < zero_points->elements(); ++i) {
      const auto bits = std::to_integer<std::uint8_t>(zero_points->bytes()[sized(i)]);
      const int moved = flips ? bits ^ 128 : bits;
      zeros.push_back(has_sign ? static_cast<std::int8_t>(moved) : moved);
    }
    if (!zero_points) zeros = {flips ? (has_sign ? -128 : 128) : 0};
  }

  std::uint32_t zero(Int at) const {
    return static_cast<std::uint32_t>(zeros.size() == 1 ? zeros[0] : zeros[sized(at)]);
  }
};

// Two matrices of MatMulInteger that meet, as the engine has them, and what their zero points take away.
struct IntegerProduct {
  const Matrices& meet;
  const Bytes &a, &b;
  std::size_t number;  // which of the output's matrices

  const std::uint8_t* row_of_a(Int i) const { return a.all.data() + meet.a[number] + i * meet.depth; }

  std::vector<engine::Quad> weights(Int lanes) const {
    std::vector<engine::Quad> quads(sized(meet.rows * lanes));
    for (Int i = 0; i < meet.rows; ++i) std::memcpy(quads.data() + i * lanes, row_of_a(i), sized(meet.depth));
    return quads;
  }

  // Returns row k of B, behind the last one that: its weights are 0.
  const std::uint8_t* row(Int k) const {
    return b.all.data() + meet.b[number] + std::min(k, meet.depth - 1) * meet.columns;
  }

  std::vector<std::uint32_t> sums_of_columns() const {
    std::vector<std::uint32_t> sums(sized(meet.columns));
    for (Int k = 0; k < meet.depth; ++k)
      for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += row(k)[j];
    return sums;
  }

  std::vector<std::uint32_t> sums_of_rows() const {
    std::vector<std::uint32_t> sums(sized(meet.rows));
    for (Int i = 0; i < meet.rows; ++i) {
      const auto* const row = reinterpret_cast<const std::int8_t*>(row_of_a(i));
      sums[sized(i)] = static_cast<std::uint32_t>(std::accumulate(row, row + meet.depth, 0));
    }
    return sums;
  }

  std::uint32_t zero_of_row(Int i) const { return a.zero(meet.a[number] / meet.depth + i); }
  std::uint32_t zero_of_column(Int j) const { return b.zero(meet.b[number] / meet.depth + j); }
};

void multiply(const IntegerProduct& product, std::int32_t* to, int threads) {
  const Matrices& meet = product.meet;
  const Window window = window_of(meet);
  const Int lanes = (meet.depth + 3) / 4;
  engine::Plan plan = engine::plan(window, extent_of(meet, lanes));
  if (plan.packing == engine::Plan::Packing::in_place) plan.packing = engine::Plan::Packing::planes;
  const std::vector<engine::Quad> weights = product.weights(lanes);
  const std::vector<std::uint32_t> columns = product.sums_of_columns(), rows = product.sums_of_rows();
  engine::Task<engine::Quad> task{.plan = plan, .weights = weights};
  task.pack = [&](const engine::Piece& piece, engine::Quad* lane, Int pitch) {
    engine::pack(plan, window, piece, lane, pitch, [&](Int c) {
      return [a = product.row(4 * c), b = product.row(4 * c + 1), c2 = product.row(4 * c + 2),
              d = product.row(4 * c + 3)](Int j) {
        return engine::Quad{a[j], b[j], c2[j], d[j]};
      };
    });
  };
  task.finish = [&](Int, Int i, Int first, std::span<const std::int32_t> sums) {
    const std::uint32_t zero = product.zero_of_row(i),
                        times = static_cast<std::uint32_t>(meet.depth) * zero - rows[sized(i)];
    for (Int j = first; const std::int32_t sum : sums) {
      to[i * meet.columns + j] = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) - zero * columns[sized(j)] +
                                                           times * product.zero_of_column(j));
      ++j;
    }
  };
  engine::run(task, threads);
}

// Returns the matrices of A one after the other, as many as Y has: copies of those that meet several of B.
template <class Lane>
std::span<const Lane> one_for_each(const Matrices& meet, std::span<const Lane> a, std::vector<Lane>& room) {
  const Int size = meet.rows * meet.depth;
  Int next = 0;
  const bool is_stack = std::ranges::all_of(meet.a, [&](Int first) { return first == size * next++; });
  if (is_stack) return a;
  for (const Int first : meet.a) {
    const auto matrix = a.subspan(sized(first), sized(size));
    room.insert(room.end(), matrix.begin(), matrix.end());
  }
  return room;
}

}  // namespace

Tensor matmul(const Call& call, Inputs in, int threads) {
  const Matrices meet = Matrices::of(call.shape("A"), call.shape("B"));
  const Window window = window_of(meet);
  engine::Extent extent = extent_of(meet, meet.depth);
  if (!is_float(in[0]->dtype()) || !engine::pays(window, extent)) return call.definition().kernel(call, in).only();
  extent.group = static_cast<Int>(meet.a.size());
  Tensor y = Tensor::to_be_written({in[0]->dtype(), meet.shape});
  const engine::Plan plan = engine::plan(window, extent);
  for_float(y.dtype(), [&]<class T>() {
    using Accumulator = accumulator_t<T>;
    std::vector<Accumulator> a_room, b_room, stacked;
    const auto a = engine::lanes(in[0]->as<T>(), a_room), b = engine::lanes(in[1]->as<T>(), b_room);
    engine::Task<Accumulator> task{.plan = plan, .weights = one_for_each(meet, a, stacked)};
    task.data = [&](const engine::Piece& piece) { return b.data() + meet.b[sized(piece.group)]; };
    task.pack = [&](const engine::Piece& piece, Accumulator* lanes, Int pitch) {
      engine::pack(plan, window, piece, lanes, pitch, task.data(piece));
    };
    task.finish = [&, to = y.as<T>()](Int, Int row, Int j, std::span<const Accumulator> sums) {
      engine::write(sums, to.subspan(sized(row * meet.columns + j), sums.size()));
    };
    engine::run(task, threads);
  });
  return y;
}

Tensor matmul_integer(const Call& call, Inputs in, int threads) {
  constexpr Int most_depth = std::numeric_limits<std::int32_t>::max() / (128 * 255);  // a sum of more could overflow
  const Matrices meet = Matrices::of(call.shape("A"), call.shape("B"));
  if (!engine::pays(window_of(meet), extent_of(meet, meet.depth)) || meet.depth > most_depth)
    return call.definition().kernel(call, in).only();
  Tensor y = Tensor::to_be_written({DType::i32, meet.shape});
  const Bytes a(*in[0], in.size() > 2 ? in[2] : nullptr, true), b(*in[1], in.size() > 3 ? in[3] : nullptr, false);
  for (std::size_t matrix = 0; matrix < meet.a.size(); ++matrix)
    multiply({meet, a, b, matrix}, y.as<std::int32_t>().data() + matrix * sized(meet.rows * meet.columns), threads);
  return y;
}

}  // namespace assay::fast
