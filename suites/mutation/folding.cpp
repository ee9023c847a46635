// SPDX-License-Identifier: Apache-2.0
// Col2Im a third time: every element of the input is added to the cell that its row and column say.
#include "suites/mutation/family.h"

#include <numeric>

namespace assay::mutation {
namespace {

struct Folding {
  bool backwards = false, in_double = false;
  // Slips.
  bool forgets_dilation = false, interleaves_maps = false, counts_columns = false, pairs_pads = false,
       overwrites = false;
};

Int product(const Shape& extents) { return std::accumulate(extents.begin(), extents.end(), Int{1}, std::multiplies()); }

// Takes a number apart into one per extent, the last being the fastest or, of columns, the first.
Ints taken_apart(Int number, const Shape& extents, bool by_columns = false) {
  Ints at(extents.size());
  for (std::size_t i = extents.size(); i-- > 0;) {
    const std::size_t axis = by_columns ? extents.size() - 1 - i : i;
    at[axis] = number % extents[axis];
    number /= extents[axis];
  }
  return at;
}

struct Image {
  Ints extents, block, strides, dilations, pads;
  Shape blocks;

  explicit Image(const Call& call)
      : extents(call.ints("image_shape")),
        block(call.ints("block_shape")),
        strides(call.ints("strides")),
        dilations(call.ints("dilations")),
        pads(call.ints("pads")) {
    for (std::size_t i = 0; i < extents.size(); ++i) {
      const Int last = extents[i] + pads[i] + pads[i + extents.size()] - dilations[i] * (block[i] - 1) - 1;
      blocks.push_back(last / strides[i] + 1);
    }
  }

  // Returns the cell of a tap of a block; below 0 outside.
  Int cell(const Folding& how, Int tap, Int column) const {
    const Ints k = taken_apart(tap, block), l = taken_apart(column, blocks, how.counts_columns);
    Int flat = 0;
    for (std::size_t i = 0; i < k.size(); ++i) {
      const Int dilation = how.forgets_dilation && i + 1 < k.size() ? 1 : dilations[i];
      const Int at = l[i] * strides[i] + k[i] * dilation - pads[how.pairs_pads ? 2 * i : i];
      if (at < 0 || at >= extents[i]) return -1;
      flat = flat * extents[i] + at;
    }
    return flat;
  }
};

template <class T, class Sum>
void fold(const Folding& how, const Call& call, std::span<const T> x, std::span<T> y) {
  const Image image(call);
  const Int rows = call.dim("input", 1), columns = call.dim("input", 2), taps = product(image.block);
  const Int plane = product(image.extents), maps = rows / taps;
  std::vector<Sum> sums(y.size());
  for (Int n = 0, count = std::ssize(x); n < count; ++n) {
    const Int i = how.backwards ? count - 1 - n : n, row = i / columns % rows;
    const Int map = how.interleaves_maps ? row % maps : row / taps,
              tap = how.interleaves_maps ? row / maps : row % taps;
    const Int cell = image.cell(how, tap, i % columns);
    if (cell < 0) continue;
    Sum& sum = sums[static_cast<std::size_t>((i / columns / rows * maps + map) * plane + cell)];
    const auto next = static_cast<Sum>(x[static_cast<std::size_t>(i)]);
    if constexpr (std::is_same_v<Sum, Bool>)
      sum = how.overwrites || next ? next : sum;
    else
      sum = how.overwrites ? next : sum + next;
  }
  for (std::size_t i = 0; i < y.size(); ++i) {
    if constexpr (std::is_floating_point_v<Sum>)
      y[i] = T(static_cast<double>(sums[i]));
    else
      y[i] = static_cast<T>(sums[i]);
  }
}

Kernel folding(Folding how) {
  return [how](const Call& call, Inputs in) {
    Tensor y(*call.definition().infer(call).front());
    for_type(y.dtype(), [&]<class T>() {
      const std::span<const T> x = in[0]->as<T>();
      if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, Bool>)
        fold<T, T>(how, call, x, y.as<T>());
      else if constexpr (!Number<T>)
        return;
      else if constexpr (std::is_integral_v<T>)
        fold<T, std::uint64_t>(how, call, x, y.as<T>());
      else if (how.in_double || sizeof(T) == 8)
        fold<T, double>(how, call, x, y.as<T>());
      else
        fold<T, float>(how, call, x, y.as<T>());
    });
    return y;
  };
}

}  // namespace

std::vector<VariantKernel> folding_variants(const std::string& op) {
  if (op != "Col2Im") return {};
  return {variant_of("sequential", "one element after the other", folding({})),
          variant_of("backwards", "the last element first", folding({.backwards = true})),
          variant_of("in-double", "every float is computed in double", folding({.in_double = true}))};
}

std::vector<Bug> folding_bugs(const std::string& op) {
  if (op != "Col2Im") return {};
  const auto bug = [&](const char* name, const char* what, Folding how) {
    return bug_of(op, name, what, folding(how));
  };
  return {bug("forgets-dilation", "the last axis alone is dilated", {.forgets_dilation = true}),
          bug("interleaves-maps", "rows of one tap stand together", {.interleaves_maps = true}),
          bug("counts-columns", "blocks are counted column by column", {.counts_columns = true}),
          bug("pairs-pads", "pads are read as pairs, one per axis", {.pairs_pads = true}),
          bug("overwrites", "what comes last is kept", {.overwrites = true})};
}

}  // namespace assay::mutation
