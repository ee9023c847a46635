// SPDX-License-Identifier: Apache-2.0
// DFT and STFT by a third hand: a direct sum, a fast transform of mixed radix, Bluestein's convolution, and slips.
#include "reference/families/elementwise.h"
#include "suites/mutation/family.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace assay::mutation {
namespace {

struct Transforming {
  enum class Way { direct, mixed_radix, bluestein } way = Way::direct;
  bool in_double = false, reduces_angles = true, keeps_bins = false;
  // Slips.
  bool turns_back = false, forgets_length = false, divides_always = false, forgets_conjugate = false,
       takes_next_axis = false, pads_before = false, cuts_before = false, drops_imaginary = false, swaps_parts = false,
       forgets_window = false, steps_by_one = false, shifts_window = false, counts_to_half = false;
};

template <class S>
struct Pair {
  S re = 0, im = 0;
};
template <class S>
Pair<S> operator+(Pair<S> a, Pair<S> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class S>
Pair<S> operator*(Pair<S> a, Pair<S> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class S>
using Line = std::vector<Pair<S>>;

// e^(i sign 2 pi k / n).
template <class S>
Pair<S> turned(Int k, Int n, bool reduces, int sign) {
  const S angle = 2 * std::numbers::pi_v<S> * static_cast<S>(reduces ? k % n : k) / static_cast<S>(n);
  return {std::cos(angle), static_cast<S>(sign) * std::sin(angle)};
}

template <class S>
Line<S> direct_sum(const Line<S>& x, int sign, bool reduces) {
  const Int n = std::ssize(x);
  Line<S> y(x.size());
  for (Int k = 0; k < n; ++k)
    for (Int i = 0; i < n; ++i)
      y[static_cast<std::size_t>(k)] =
          y[static_cast<std::size_t>(k)] + x[static_cast<std::size_t>(i)] * turned<S>(k * i, n, reduces, sign);
  return y;
}

template <class S>
Line<S> mixed(const Line<S>& x, int sign) {
  const Int n = std::ssize(x);
  Int p = 2;
  while (p < n && n % p != 0) ++p;
  if (p >= n) return direct_sum(x, sign, true);
  const Int m = n / p;
  std::vector<Line<S>> parts;
  for (Int r = 0; r < p; ++r) {
    Line<S> part;
    for (Int i = 0; i < m; ++i) part.push_back(x[static_cast<std::size_t>(i * p + r)]);
    parts.push_back(mixed(part, sign));
  }
  Line<S> y(x.size());
  for (Int k = 0; k < n; ++k)
    for (Int r = 0; r < p; ++r)
      y[static_cast<std::size_t>(k)] =
          y[static_cast<std::size_t>(k)] +
          parts[static_cast<std::size_t>(r)][static_cast<std::size_t>(k % m)] * turned<S>(k * r, n, true, sign);
  return y;
}

// e^(i sign pi n^2 / N) turns a transform into a convolution, which two transforms of a power of two make a product.
template <class S>
Line<S> convolved(const Line<S>& x, int sign) {
  const Int n = std::ssize(x);
  Int m = 1;
  while (m < 2 * n - 1) m *= 2;
  Line<S> a(static_cast<std::size_t>(m)), b(static_cast<std::size_t>(m)), chirps;
  for (Int i = 0; i < n; ++i) chirps.push_back(turned<S>(i * i % (2 * n), 2 * n, true, sign));
  for (Int i = 0; i < n; ++i) {
    const auto chirp = chirps[static_cast<std::size_t>(i)];
    a[static_cast<std::size_t>(i)] = x[static_cast<std::size_t>(i)] * chirp;
    b[static_cast<std::size_t>(i)] = b[static_cast<std::size_t>((m - i) % m)] = {chirp.re, -chirp.im};
  }
  Line<S> left = mixed(a, -1), y;
  const Line<S> right = mixed(b, -1);
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = left[i] * right[i];
  left = mixed(left, 1);
  for (std::size_t k = 0; k < x.size(); ++k) {
    const Pair<S> sum{left[k].re / static_cast<S>(m), left[k].im / static_cast<S>(m)};
    y.push_back(sum * chirps[k]);
  }
  return y;
}

template <class S>
Line<S> transformed(const Transforming& how, const Line<S>& x, bool is_inverse) {
  const int sign = is_inverse != how.turns_back ? 1 : -1;
  using enum Transforming::Way;
  Line<S> y = how.way == mixed_radix ? mixed(x, sign)
              : how.way == bluestein ? convolved(x, sign)
                                     : direct_sum(x, sign, how.reduces_angles);
  if ((is_inverse && !how.forgets_length) || how.divides_always)
    for (Pair<S>& each : y) each = {each.re / static_cast<S>(x.size()), each.im / static_cast<S>(x.size())};
  return y;
}

// Fills up what the other side of a spectrum has.
template <class S>
void fill_other_side(const Transforming& how, Line<S>& x, std::size_t given) {
  const std::size_t n = x.size();
  if (!how.keeps_bins)
    for (std::size_t k = n / 2 + 1; k < n; ++k) x[k] = {};
  for (std::size_t k = n / 2 + 1; k < n; ++k)
    if (const Pair<S> other = x[n - k]; !how.keeps_bins || k >= given)
      x[k] = {other.re, how.forgets_conjugate ? other.im : -other.im};
  if (!how.keeps_bins) x[0].im = 0;
  if (n % 2 == 0 && !how.keeps_bins) x[n / 2].im = 0;
}

template <class S>
Values transform(const Transforming& how, const Call& call, Inputs in) {
  Values y = outputs_of(call);
  const Shape &from = in[0]->shape(), &to = y[0]->shape();
  const bool is_inverse = call.integer("inverse") == 1, is_onesided = call.integer("onesided") == 1;
  const auto rank = std::ssize(from);
  Int axis = call.states("axis") || call.definition().attribute("axis") ? call.integer("axis") : -2;
  if (axis < 0) axis += rank;
  // The slip works along another axis of the same extent.
  if (const auto next = static_cast<std::size_t>(axis + 1); how.takes_next_axis && axis + 2 < rank)
    if (from[next] == from[next - 1] && to[next] == to[next - 1]) ++axis;
  const auto at = static_cast<std::size_t>(axis);
  const Int given = from[at];
  const Int length = call.has("dft_length")      ? call.integer("dft_length")
                     : is_inverse && is_onesided ? 2 * (given - 1)
                                                 : given;
  Int inner = 1, outer = 1;
  for (std::size_t i = 0; i < at; ++i) outer *= from[i];
  for (std::size_t i = at + 1; i + 1 < from.size(); ++i) inner *= from[i];
  for (Int before = 0; before < outer; ++before)
    for (Int after = 0; after < inner; ++after) {
      Line<S> x(static_cast<std::size_t>(length));
      const Int count = std::min(given, length);
      for (Int i = 0; i < count; ++i) {
        const Int source = how.cuts_before ? i + given - count : i, target = how.pads_before ? i + length - count : i;
        const Int place = ((before * given + source) * inner + after) * from.back();
        const bool has_two = from.back() == 2 && !how.drops_imaginary;
        x[static_cast<std::size_t>(target)] = {static_cast<S>(number_at(*in[0], place)),
                                               has_two ? static_cast<S>(number_at(*in[0], place + 1)) : S(0)};
      }
      if (is_inverse && is_onesided) fill_other_side(how, x, static_cast<std::size_t>(count));
      const Line<S> bins = transformed(how, x, is_inverse);
      for (Int k = 0; k < to[at]; ++k) {
        const Pair<S> bin = how.counts_to_half && k == to[at] - 1 && k > 0 && is_onesided && !is_inverse
                                ? Pair<S>{}
                                : bins[static_cast<std::size_t>(k)];
        const Int place = ((before * to[at] + k) * inner + after) * to.back();
        put_number(*y[0], place, static_cast<double>(how.swaps_parts ? bin.im : bin.re));
        if (to.back() == 2) put_number(*y[0], place + 1, static_cast<double>(how.swaps_parts ? bin.re : bin.im));
      }
    }
  return y;
}

template <class S>
Values transform_frames(const Transforming& how, const Call& call, Inputs in) {
  Values y = outputs_of(call);
  const Shape &from = in[0]->shape(), &to = y[0]->shape();
  const bool has_window = call.has("window"), is_onesided = call.integer("onesided") == 1;
  const Int length = call.has("frame_length") ? call.integer("frame_length") : has_window ? in[2]->elements() : from[1];
  const Int step = how.steps_by_one ? 1 : call.integer("frame_step");
  for (Int batch = 0; batch < to[0]; ++batch)
    for (Int frame = 0; frame < to[1]; ++frame) {
      Line<S> x;
      for (Int n = 0; n < length; ++n) {
        const Int place = (batch * from[1] + frame * step + n) * from[2];
        const Int of_window = how.shifts_window ? (n + 1) % length : n;
        const S weight = has_window && !how.forgets_window ? static_cast<S>(number_at(*in[2], of_window)) : S(1);
        const bool has_two = from[2] == 2 && !how.drops_imaginary;
        x.push_back({weight * static_cast<S>(number_at(*in[0], place)),
                     has_two ? weight * static_cast<S>(number_at(*in[0], place + 1)) : S(0)});
      }
      const Line<S> bins = transformed(how, x, false);
      for (Int k = 0; k < to[2]; ++k) {
        const bool is_left = how.counts_to_half && k == to[2] - 1 && k > 0 && is_onesided;
        const Pair<S> bin = is_left ? Pair<S>{} : bins[static_cast<std::size_t>(k)];
        const Int place = ((batch * to[1] + frame) * to[2] + k) * 2;
        put_number(*y[0], place, static_cast<double>(how.swaps_parts ? bin.im : bin.re));
        put_number(*y[0], place + 1, static_cast<double>(how.swaps_parts ? bin.re : bin.im));
      }
    }
  return y;
}

template <class S>
Values transform_either(const Transforming& how, const Call& call, Inputs in) {
  return call.definition().input("signal") ? transform_frames<S>(how, call, in) : transform<S>(how, call, in);
}

Kernel transforming(Transforming how) {
  return [how](const Call& call, Inputs in) {
    const bool is_double = how.in_double || in[0]->dtype() == DType::f64;
    return is_double ? transform_either<double>(how, call, in) : transform_either<float>(how, call, in);
  };
}

}  // namespace

std::vector<VariantKernel> transforming_variants(const std::string& op) {
  using oracles::Level;
  using enum Transforming::Way;
  if (op != "DFT" && op != "STFT") return {};
  std::vector<VariantKernel> all{
      variant_of("sequential", "a direct sum in float32", transforming({})),
      variant_of("mixed-radix", "a fast transform by the prime factors of the length",
                 transforming({.way = mixed_radix})),
      variant_of("bluestein", "a convolution by chirps whose angles are reduced", transforming({.way = bluestein})),
      variant_of("in-double", "everything in double", transforming({.in_double = true})),
      variant_of("unreduced-angles", "angles are not reduced", transforming({.reduces_angles = false}), Level::widest)};
  if (op == "DFT")
    all.push_back({{"keeps-bins", Level::L2, "bins beyond half the length are used", "N27", "as-given"},
                   transforming({.keeps_bins = true})});
  return all;
}

std::vector<Bug> transforming_bugs(const std::string& op) {
  if (op != "DFT" && op != "STFT") return {};
  const auto bug = [&](const char* name, const char* what, Transforming how) {
    return bug_of(op, name, what, transforming(how));
  };
  std::vector<Bug> all{bug("turns-back", "the exponent has the opposite sign", {.turns_back = true}),
                       bug("drops-imaginary", "imaginary parts are read as 0", {.drops_imaginary = true}),
                       bug("swaps-parts", "imaginary parts stand first", {.swaps_parts = true}),
                       bug("counts-to-half", "the last bin of one side is not written", {.counts_to_half = true}),
                       bug("divides-always", "every sum is divided by the length", {.divides_always = true})};
  if (op == "DFT")
    for (Bug each : {bug("forgets-length", "the inverse is not divided", {.forgets_length = true}),
                     bug("forgets-conjugate", "the other side is no conjugate", {.forgets_conjugate = true}),
                     bug("takes-next-axis", "the axis is one further", {.takes_next_axis = true}),
                     bug("pads-before", "zeros stand before the signal", {.pads_before = true}),
                     bug("cuts-before", "the last samples are taken", {.cuts_before = true})})
      all.push_back(std::move(each));
  if (op == "STFT")
    for (Bug each : {bug("forgets-window", "the window is not applied", {.forgets_window = true}),
                     bug("shifts-window", "the window stands one further", {.shifts_window = true}),
                     bug("steps-by-one", "every frame is one sample further", {.steps_by_one = true})})
      all.push_back(std::move(each));
  return all;
}

}  // namespace assay::mutation
