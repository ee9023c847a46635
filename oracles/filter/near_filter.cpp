// SPDX-License-Identifier: Apache-2.0
#include "oracles/filter/near_filter.h"

#include "oracles/filter/function_filter.h"
#include "oracles/filter/operand_range.h"

#include <algorithm>
#include <array>
#include <vector>

namespace assay::oracles {
namespace {

// Keeps whatever may be the largest of some measure, each of them known to 2^-12 of it or 2^-15.
class Largest {
 public:
  void see(Int index, double measure) {
    constexpr double relative = 0x1p-12, absolute = 0x1p-15;
    if (measure * (1 + relative) + absolute < least_) return;
    least_ = std::max(least_, measure * (1 - relative) - absolute);
    seen_.emplace_back(index, measure * (1 + relative) + absolute);
  }
  void add_to(std::vector<Int>& all) const {
    for (const auto& [index, most] : seen_)
      if (most >= least_) all.push_back(index);
  }

 private:
  double least_ = 0;
  std::vector<std::pair<Int, double>> seen_;
};

// Holds the C library against the enclosures of what expressions take from it, once.
void expect_promised() {
  [[maybe_unused]] static const std::array held{FunctionFilter::of({Function::exp, {}}, DType::f32),
                                                FunctionFilter::of({Function::log, {}}, DType::f32)};
}

}  // namespace

double NearFilter::gap_towards(double got, double value) const {
  const double here = quantum(got);
  const bool shrinks = std::abs(value) < std::abs(got) || std::signbit(value) != std::signbit(got);
  const bool is_power = (std::bit_cast<std::uint64_t>(got) << 12) == 0 && std::abs(got) > smallest_normal_;
  return shrinks && is_power ? here / 2 : here;
}

Decided NearFilter::rate(const Near& y, double got, double budget) const {
  const double size = std::abs(y.value);
  if (!(y.off <= 0x1p-30 * std::max(size, smallest_normal_))) return {};  // nor is anything known of NaN
  const Rounded nearest = rounded(y.value, y.off);
  if (!nearest.is_certain || !std::isfinite(nearest.number)) return {};
  if (got == nearest.number) return {true, true, Level::L0, 0, 0, 0, true};
  const double off = std::abs(got - y.value), gap = gap_towards(got, y.value);
  const bool is_faithful = off + y.off < gap, is_unclear = !is_faithful && off - y.off <= gap;
  if (!std::isfinite(got) || is_unclear || !(size > y.off) || off + y.off > budget * (1 - 0x1p-30)) return {};
  return {.is_decided = true,
          .level = is_faithful ? Level::L1 : Level::L2,
          .ulp = off / quantum(y.value),
          .q = off / (size * 0x1p-24),
          .share = std::max(0.0, off - gap / 2) / budget};
}

FilterResult screened(Int count, const std::function<DecidedElement(Int)>& rate, const FilterOptions& how) {
  FilterResult out;
  Sampler sampler(how.seed);
  Largest ulp, q, share;
  for (Int index = 0; index < count; ++index) {
    const auto [rated, nearest] = rate(index);
    if (!rated.is_decided || (how.only_nearest && !rated.is_nearest)) {
      out.undecided.push_back(index);
      continue;
    }
    ++out.right;
    out.nearest += rated.is_nearest;
    out.weakest = std::max(out.weakest.value_or(Level::L0), rated.level);
    out.zeros += nearest == 0;
    out.varies |= nearest != out.seen.value_or(nearest);
    if (!out.seen) out.seen = nearest;
    sampler.next(1, [&](std::size_t) {
      if (std::ssize(out.sampled) < most_sampled) out.sampled.push_back({index, rated.is_nearest, rated.level});
    });
    if (rated.is_nearest) continue;
    ulp.see(index, rated.ulp);
    q.see(index, rated.q);
    share.see(index, rated.share);
  }
  for (const Largest* each : {&ulp, &q, &share}) each->add_to(out.worst);
  std::ranges::sort(out.worst);
  out.worst.erase(std::unique(out.worst.begin(), out.worst.end()), out.worst.end());
  return out;
}

std::optional<FilterResult> screened(const std::function<std::shared_ptr<const Expression>(Int)>& element,
                                     const Tensor& got, const FilterOptions& how) {
  if (!NearFilter::serves(got.dtype()) || got.elements() < least_screened) return std::nullopt;
  const std::shared_ptr<const Expression> first = element(0);
  if (first && std::isnan(first->near().value)) return std::nullopt;
  expect_promised();
  const NearFilter filter(got.dtype());
  DoubleReader came(got);
  const auto rate = [&](Int index) -> DecidedElement {
    const std::shared_ptr<const Expression> own = element(index);
    if (!own) return {};
    const Near y = own->near();
    const std::optional<double> error = required_error(*own, required_policies(got.dtype()));
    if (!error || !std::isfinite(*error)) return {};
    return {filter.rate(y, came[index], *error), filter.rounded(y.value, y.off).number};
  };
  return screened(got.elements(), rate, how);
}

}  // namespace assay::oracles
