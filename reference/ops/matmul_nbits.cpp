// SPDX-License-Identifier: Apache-2.0
// com.microsoft MatMulNBits (1) - https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
//
//   Y[…,n] = bias[n] + sum over k of  A[…,k] * (q[n,k] - z[n,g(k)]) * scales[n,g(k)]
//
// q[n,k] is `bits` bits of B: B[n] has a row of bytes for each block of block_size numbers, the lower bits of a byte
// first. z is packed alike, a row of bytes for each n, or given as numbers; 2^(bits - 1) where it is left out. g(k) is
// the block of k, or what g_idx says.
#include "reference/families/elementwise.h"

namespace assay {
namespace {

Int blocks_of(const Call& c) {
  const Int block = c.integer("block_size");
  return c.integer("K") / block + (c.integer("K") % block == 0 ? 0 : 1);
}
Int packed_bytes(const Call& c, Int count) { return (count * c.integer("bits") + 7) / 8; }

Shape output_shape(const Call& c) {
  Shape shape = c.shape("A");
  shape.back() = c.integer("N");
  return shape;
}

// The at-th number of so many bits of a row of bytes.
Int unpacked(std::span<const std::uint8_t> row, Int at, Int bits) {
  const Int each = 8 / bits;
  return row[static_cast<std::size_t>(at / each)] >> (bits * (at % each)) & ((1 << bits) - 1);
}

std::vector<double> weights(const Call& call, Inputs in) {
  const Int K = call.integer("K"), N = call.integer("N"), bits = call.integer("bits"),
            block = call.integer("block_size");
  const Int blocks = blocks_of(call), bytes = block * bits / 8;
  const Tensor* const zeros = in.size() > 3 ? in[3] : nullptr;
  const Ints groups = call.has("g_idx") ? call.ints("g_idx") : Ints();
  const std::span<const std::uint8_t> b = in[1]->as<std::uint8_t>();
  const auto zero_of = [&](Int n, Int group) {
    if (!zeros) return static_cast<double>(1 << (bits - 1));
    if (zeros->dtype() != DType::u8) return number_at(*zeros, n * blocks + group);
    const auto row = static_cast<std::size_t>(packed_bytes(call, blocks));
    return static_cast<double>(
        unpacked(zeros->as<std::uint8_t>().subspan(static_cast<std::size_t>(n) * row, row), group, bits));
  };
  std::vector<double> all;
  for (Int n = 0; n < N; ++n)
    for (Int k = 0; k < K; ++k) {
      const Int group = groups.empty() ? k / block : groups[static_cast<std::size_t>(k)];
      const auto row = static_cast<std::size_t>((n * blocks + k / block) * bytes);
      const Int code = unpacked(b.subspan(row, static_cast<std::size_t>(bytes)), k % block, bits);
      all.push_back((static_cast<double>(code) - zero_of(n, group)) * number_at(*in[2], n * blocks + group));
    }
  return all;
}

Tensor compute(const Call& call, Inputs in) {
  const std::vector<double> w = weights(call, in);
  const Int K = call.integer("K"), N = call.integer("N");
  const Tensor* const bias = in.size() > 5 ? in[5] : nullptr;
  Tensor y = Tensor::to_be_written({in[0]->dtype(), output_shape(call)});
  for_float(y.dtype(), [&]<class T>() {
    using A = accumulator_t<T>;
    const std::span<const T> a = in[0]->as<T>();
    for (Int at = 0; at < y.elements(); ++at) {
      const Int n = at % N, row = at / N;
      A sum = bias ? static_cast<A>(bias->as<T>()[static_cast<std::size_t>(n)]) : A(0);
      for (Int k = 0; k < K; ++k)
        sum += static_cast<A>(a[static_cast<std::size_t>(row * K + k)]) *
               static_cast<A>(w[static_cast<std::size_t>(n * K + k)]);
      y.as<T>()[static_cast<std::size_t>(at)] = written<T>(sum);
    }
  });
  return y;
}

bool is_well_formed(const Call& c) {
  const Int bits = c.integer("bits"), block = c.integer("block_size");
  return (bits == 2 || bits == 4 || bits == 8) && block >= 16 && (block & (block - 1)) == 0 && block <= Int{1} << 20;
}

// A table of a row for each n, or its numbers in a row.
bool is_table(const Call& c, const char* input, Int columns) {
  return c.shape(input) == Shape{c.integer("N"), columns} || c.shape(input) == Shape{c.integer("N") * columns};
}
bool zero_points_fit(const Call& c) {
  if (!c.has("zero_points") || !is_well_formed(c)) return true;
  const DType type = c.type("zero_points").dtype;
  if (type != DType::u8 && type != c.type("A").dtype) return false;
  return is_table(c, "zero_points", type == DType::u8 ? packed_bytes(c, blocks_of(c)) : blocks_of(c));
}
bool groups_fit(const Call& c) {
  if (!c.has("g_idx") || !is_well_formed(c)) return true;
  if (c.shape("g_idx") != Shape{c.integer("K")}) return false;
  return std::ranges::all_of(c.ints("g_idx"), [&](Int group) { return group >= 0 && group < blocks_of(c); });
}

}  // namespace

// clang-format off
Operator matmul_nbits() {
  using enum DType;
  return Operator("MatMulNBits", "com.microsoft")
      .input("A", "T1").input("B", "T2").input("scales", "T1").input("zero_points", "T3", Arity::optional)
      .parameter("g_idx", "T4", "g_idx", Arity::optional).input("bias", "T1", Arity::optional).output("Y", "T1")
      .required_integer("K").required_integer("N").required_integer("block_size")
      .attribute("bits", 4).attribute("accuracy_level", 0).attribute("weight_prepacked", 0)
      .require("C1", "bits is 2, 4 or 8, block_size a power of two from 16 on", is_well_formed)
      .require("C2", "K and N are positive, and the last axis of A has K elements",
               [](auto& c) { return c.integer("K") > 0 && c.integer("N") > 0 && c.rank("A") > 0 && c.shape("A").back() == c.integer("K"); })
      .require("C3", "B is N x blocks of K x the bytes of a block",
               [](auto& c) { return !is_well_formed(c) || c.shape("B") == Shape{c.integer("N"), blocks_of(c), packed_bytes(c, c.integer("block_size"))}; })
      .require("C4", "scales has one number for each n and block", [](auto& c) { return !is_well_formed(c) || is_table(c, "scales", blocks_of(c)); })
      .require("C5", "zero_points is packed as B is, or of the type of A with one number for each n and block", zero_points_fit)
      .require("C6", "g_idx names a block for each k", groups_fit)
      .require("C7", "bias has one number for each n", [](auto& c) { return !c.has("bias") || c.shape("bias") == Shape{c.integer("N")}; })
      .require("C8", "accuracy_level is 0 to 4, weight_prepacked is 0",
               [](auto& c) { return c.integer("accuracy_level") >= 0 && c.integer("accuracy_level") <= 4 && c.integer("weight_prepacked") == 0; })
      .rulings({"A26", "A29"})
      .since(1)
          .type("T1", {f32, f16, bf16}).type("T2", {u8}).type("T3", {u8, f16, f32, bf16}).type("T4", {i32})
      .shaping(Shaping::normalized).shape(output_shape).kernel(compute);
}
// clang-format on

}  // namespace assay
