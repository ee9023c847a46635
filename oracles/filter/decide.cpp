// SPDX-License-Identifier: Apache-2.0
#include "oracles/filter/decide.h"

#include "oracles/filter/clones.h"
#include "oracles/filter/decide_lanes.h"

#include <bit>

#if ASSAY_CLONES
#define ASSAY_INSTRUCTIONS v3
#define ASSAY_TARGET __attribute__((target("arch=x86-64-v3")))
#define ASSAY_VECTOR 32
#include "oracles/filter/decide_lanes.h"

#define ASSAY_INSTRUCTIONS v4
#define ASSAY_TARGET __attribute__((target("arch=x86-64-v4")))
#define ASSAY_VECTOR 64
#include "oracles/filter/decide_lanes.h"
#endif

namespace assay::oracles {
namespace {

ASSAY_WIDE void read_doubles(const double* from, Int step, Chunk& c) {
  for (Int i = 0; i < c.count; ++i) c.got[static_cast<std::size_t>(i)] = from[i * step];
  for (Int i = 0; i < c.count; ++i)
    c.odd[static_cast<std::size_t>(i)] = std::bit_cast<std::int64_t>(from[i * step]) & 1;
}

ASSAY_WIDE void read_floats(const float* from, Int step, Chunk& c) {
  for (Int i = 0; i < c.count; ++i) c.got[static_cast<std::size_t>(i)] = static_cast<double>(from[i * step]);
  for (Int i = 0; i < c.count; ++i)
    c.odd[static_cast<std::size_t>(i)] = std::bit_cast<std::int32_t>(from[i * step]) & 1;
}

ASSAY_WIDE void read_halves(const Float16* from, Int step, Chunk& c) {
  for (Int i = 0; i < c.count; ++i) {
    const std::uint32_t bits = from[i * step].bits;
    const bool finite = (bits & 0x7c00u) != 0x7c00u;
    const float magnitude = std::bit_cast<float>((bits & 0x7fffu) << 13) * 0x1p112f;
    const std::uint32_t known = finite ? std::bit_cast<std::uint32_t>(magnitude) : 0x7fc00000u;
    c.got[static_cast<std::size_t>(i)] = static_cast<double>(std::bit_cast<float>(known | (bits & 0x8000u) << 16));
    c.odd[static_cast<std::size_t>(i)] = bits & 1u;
  }
}

ASSAY_WIDE void read_brains(const BFloat16* from, Int step, Chunk& c) {
  for (Int i = 0; i < c.count; ++i) {
    const std::uint32_t bits = from[i * step].bits;
    c.got[static_cast<std::size_t>(i)] = static_cast<double>(std::bit_cast<float>(bits << 16));
    c.odd[static_cast<std::size_t>(i)] = bits & 1u;
  }
}

struct Deciding {
  decltype(&portable::nearest) nearest;
  decltype(&portable::right) right;
};

const Deciding& deciding() {
  static const Deciding best = [] {
#if ASSAY_CLONES
    if (generation() == Generation::v4) return Deciding{v4::nearest, v4::right};
    if (generation() == Generation::v3) return Deciding{v3::nearest, v3::right};
#endif
    return Deciding{portable::nearest, portable::right};
  }();
  return best;
}

}  // namespace

NearestCount mark_nearest(Chunk& c, const MapBounds& m, Enclosing how) { return deciding().nearest(c, m, how); }

Rest mark_right(Chunk& c, const MapBounds& m, const Worst& worst, Enclosing how) {
  return deciding().right(c, m, worst, how);
}

Measures measure(const Chunk& c, const MapBounds& m, std::size_t i, Enclosing how) {
  if (how.deforms)
    return how.in_pairs ? portable::measures_of<true, true>(c, m, i) : portable::measures_of<false, true>(c, m, i);
  return how.in_pairs ? portable::measures_of<true, false>(c, m, i) : portable::measures_of<false, false>(c, m, i);
}

void read_outputs(const Tensor& got, Int first, Int step, Chunk& c) {
  switch (got.dtype()) {
    case DType::f16: return read_halves(got.as<Float16>().data() + first, step, c);
    case DType::bf16: return read_brains(got.as<BFloat16>().data() + first, step, c);
    case DType::f64: return read_doubles(got.as<double>().data() + first, step, c);
    default: return read_floats(got.as<float>().data() + first, step, c);
  }
}

}  // namespace assay::oracles
