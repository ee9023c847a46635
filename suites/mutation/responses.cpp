// SPDX-License-Identifier: Apache-2.0
// LRN a third time: squares are added to the bases of those around them, the sum of a place in several ways.
#include "reference/families/elementwise.h"
#include "suites/mutation/family.h"

#include <cmath>
#include <vector>

namespace assay::mutation {
namespace {

struct Responding {
  enum class Order { forwards, backwards, carried };
  Order order = Order::forwards;
  bool by_logarithm = false, in_double = false, divides_first = false;
  // Slips.
  bool reaches_below = false, is_cut = false, forgets_size = false, leaves_root = false, of_places = false;
};

template <class A>
A base_of(const Responding& how, const Call& call, const std::vector<A>& x, Int at) {
  const Int size = call.integer("size"), short_side = (size - 1) / 2, long_side = size / 2;
  const Int below = how.reaches_below ? long_side : short_side, above = how.reaches_below ? short_side : long_side;
  A sum = 0, count = 0;
  const Int n = std::ssize(x);
  const auto square = [&](Int k) { return x[static_cast<std::size_t>(k)] * x[static_cast<std::size_t>(k)]; };
  const auto is_around = [&](Int k, Int of) { return k >= of - below && k <= of + above; };
  if (how.order == Responding::Order::carried)
    for (Int of = 0; of <= at; ++of)
      for (Int k = 0; k < n; ++k) {
        const bool was = of > 0 && is_around(k, of - 1), is = is_around(k, of);
        if (was != is) sum += was ? -square(k) : square(k);
      }
  for (Int i = 0; i < n; ++i) {
    const Int k = how.order == Responding::Order::backwards ? n - 1 - i : i;
    if (!is_around(k, at)) continue;
    ++count;
    if (how.order != Responding::Order::carried) sum += square(k);
  }
  const A alpha = static_cast<A>(call.real("alpha")), bias = static_cast<A>(call.real("bias"));
  const A over = how.forgets_size ? A(1) : how.is_cut ? count : static_cast<A>(size);
  return bias + (how.divides_first ? alpha * (sum / over) : alpha / over * sum);
}

template <class A>
Values respond(const Responding& how, const Call& call, Inputs in) {
  const Shape& shape = in[0]->shape();
  Int area = 1;
  for (std::size_t axis = 2; axis < shape.size(); ++axis) area *= shape[axis];
  const bool of_places = how.of_places && area > 1;
  const Int step = of_places ? 1 : area, n = of_places ? area : shape[1];
  Values y = outputs_of(call);
  const A beta = static_cast<A>(call.real("beta"));
  for (Int i = 0; i < in[0]->elements(); ++i) {
    const Int at = i / step % n;
    std::vector<A> x;
    for (Int k = 0; k < n; ++k) x.push_back(static_cast<A>(number_at(*in[0], i + (k - at) * step)));
    const A base = base_of(how, call, x, at), own = x[static_cast<std::size_t>(at)];
    const A power = how.leaves_root ? base : static_cast<A>(std::pow(base, beta));
    put_number(*y[0], i, static_cast<double>(how.by_logarithm ? own * std::exp(-beta * std::log(base)) : own / power));
  }
  return y;
}

Kernel responding(Responding how) {
  return [how](const Call& call, Inputs in) {
    const bool is_wide = how.in_double || in[0]->dtype() == DType::f64;
    return is_wide ? respond<double>(how, call, in) : respond<float>(how, call, in);
  };
}

}  // namespace

std::vector<VariantKernel> response_variants(const std::string& op) {
  if (op != "LRN") return {};
  using Order = Responding::Order;
  return {variant_of("sequential", "squares from the first channel on", responding({})),
          variant_of("reversed", "squares from the last channel on", responding({.order = Order::backwards})),
          variant_of("by-logarithm", "a product with exp(-beta log(base))", responding({.by_logarithm = true})),
          variant_of("mean-first", "alpha times the mean square", responding({.divides_first = true})),
          variant_of("in-double", "every float is computed in double", responding({.in_double = true}))};
}

std::vector<Bug> response_bugs(const std::string& op) {
  if (op != "LRN") return {};
  const auto bug = [&](const char* name, const char* what, Responding how) {
    return bug_of(op, name, what, responding(how));
  };
  return {bug("reaches-below", "of an even size one channel more stands below", {.reaches_below = true}),
          bug("divides-by-channels", "the mean is of the channels that there are", {.is_cut = true}),
          bug("forgets-size", "alpha is not divided by size", {.forgets_size = true}),
          bug("leaves-power", "divides by the base", {.leaves_root = true}),
          bug("takes-places", "those around an element stand beside it in its plane", {.of_places = true}),
          bug("carries-sums", "a sum is carried from channel to channel", {.order = Responding::Order::carried})};
}

}  // namespace assay::mutation
