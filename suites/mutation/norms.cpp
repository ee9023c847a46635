// SPDX-License-Identifier: Apache-2.0
// LpPool by the windows of the gather engine, GlobalLpPool plane by plane, and LpNormalization line by line.
#include "suites/mutation/family.h"
#include "suites/mutation/gather.h"

#include <algorithm>
#include <cmath>

namespace assay::mutation {
namespace {

enum class Order { forwards, backwards, scaled, in_double };
enum class Defect { none, forgets_magnitude, leaves_root, averages, forgets_last, divides_by_nothing };

double power_of(const Call& call) {
  const bool is_real = call.definition().attribute("p")->kind == AttributeSpec::Kind::real;
  return is_real ? static_cast<double>(call.real("p")) : static_cast<double>(call.integer("p"));
}

template <class A>
A raised(A base, double p) {
  return p == 1 ? base : p == 2 ? base * base : static_cast<A>(std::pow(base, static_cast<A>(p)));
}

template <class A>
A norm(std::vector<A> x, double p, Order order, Defect defect) {
  if (defect == Defect::forgets_last && x.size() > 1) x.pop_back();
  if (order == Order::backwards) std::ranges::reverse(x);
  const bool is_odd = p == 1 || p == 3 || p == 7;
  A sum = 0, most = 0;
  for (const A each : x) most = std::max(most, std::fabs(each));
  const A unit = order == Order::scaled && p != 1 && most > 0 && std::isfinite(most) ? most : A(1);
  for (const A each : x) {
    const A power = raised(static_cast<A>(std::fabs(each)) / unit, p);
    sum += defect == Defect::forgets_magnitude && is_odd && each < 0 ? -power : power;
  }
  if (defect == Defect::averages && !x.empty()) sum /= static_cast<A>(x.size());
  if (p == 1 || defect == Defect::leaves_root) return unit * sum;
  return unit * (p == 2 ? std::sqrt(sum) : static_cast<A>(std::pow(sum, static_cast<A>(1) / static_cast<A>(p))));
}

// The places of X that each element of the output is computed from.
std::vector<std::vector<Int>> places_of(const Call& call, Shape& shape) {
  std::vector<std::vector<Int>> all;
  if (call.definition().attribute("kernel_shape")) {
    const GatherPlan plan = plan_of(call, {});
    shape = plan.output();
    for (std::size_t flat = 0; flat < static_cast<std::size_t>(volume(shape)); ++flat) {
      all.emplace_back();
      for (const Gathered::Term& term : gathered_at(plan, flat, {}).terms) all.back().push_back(term.x);
    }
    return all;
  }
  shape = call.shape("X");
  Int plane = 1;
  for (std::size_t axis = 2; axis < shape.size(); ++axis) plane *= std::exchange(shape[axis], 1);
  for (Int channel = 0; channel < shape[0] * shape[1]; ++channel) {
    all.emplace_back();
    for (Int cell = 0; cell < plane; ++cell) all.back().push_back(channel * plane + cell);
  }
  return all;
}

Kernel taking_norms(Order order, Defect defect = Defect::none) {
  return [=](const Call& call, Inputs in) {
    Shape shape;
    const std::vector<std::vector<Int>> places = places_of(call, shape);
    Tensor y({in[0]->dtype(), shape});
    for_float(y.dtype(), [&]<class T>() {
      const std::span<const T> x = in[0]->as<T>();
      const auto of = [&]<class A>(const std::vector<Int>& taps, A) {
        std::vector<A> values;
        for (const Int place : taps) values.push_back(static_cast<A>(x[static_cast<std::size_t>(place)]));
        return T(static_cast<double>(norm<A>(std::move(values), power_of(call), order, defect)));
      };
      for (std::size_t i = 0; i < places.size(); ++i)
        y.as<T>()[i] = order == Order::in_double ? of(places[i], 0.0) : of(places[i], accumulator_t<T>());
    });
    return y;
  };
}

// -- LpNormalization

Kernel dividing_by_norms(Order order, Defect defect = Defect::none) {
  return [=](const Call& call, Inputs in) {
    const Shape& shape = in[0]->shape();
    const Int rank = std::ssize(shape), axis = (call.integer("axis") + rank) % rank,
              n = shape[static_cast<std::size_t>(axis)];
    Int step = 1;
    for (Int i = axis + 1; i < rank; ++i) step *= shape[static_cast<std::size_t>(i)];
    Tensor y(in[0]->type());
    for_float(y.dtype(), [&]<class T>() {
      const auto divide = [&]<class A>(A) {
        for (Int line = 0; n > 0 && line < y.elements() / n; ++line) {
          std::vector<A> values;
          const auto at = [&](Int i) { return static_cast<std::size_t>((line / step * n + i) * step + line % step); };
          for (Int i = 0; i < n; ++i) values.push_back(static_cast<A>(in[0]->as<T>()[at(i)]));
          const A whole = norm<A>(values, power_of(call), order, defect), inverse = 1 / whole;
          for (Int i = 0; i < n; ++i) {
            const A own = values[static_cast<std::size_t>(i)],
                    share = order == Order::scaled ? own * inverse : own / whole;
            y.as<T>()[at(i)] =
                T(static_cast<double>(whole == 0 && defect != Defect::divides_by_nothing ? A(0) : share));
          }
        }
      };
      order == Order::in_double ? divide(0.0) : divide(accumulator_t<T>());
    });
    return y;
  };
}

std::vector<VariantKernel> line_variants() {
  return {variant_of("sequential", "one element after the other", dividing_by_norms(Order::forwards)),
          variant_of("reversed", "from the last element to the first", dividing_by_norms(Order::backwards)),
          variant_of("scaled", "every element over the largest first, and a product with 1 / norm",
                     dividing_by_norms(Order::scaled)),
          variant_of("f64", "added up in f64", dividing_by_norms(Order::in_double))};
}

std::vector<Bug> line_bugs(const std::string& op) {
  const auto bug = [&](const char* name, const char* what, Defect defect) {
    return bug_of(op, name, what, dividing_by_norms(Order::forwards, defect));
  };
  return {bug("forgets-magnitude", "a sum of sizes keeps signs", Defect::forgets_magnitude),
          bug("leaves-root", "no root is taken", Defect::leaves_root),
          bug("averages", "the sum is divided by the number of elements", Defect::averages),
          bug("forgets-last-element", "the last element of a line is not in the norm", Defect::forgets_last),
          bug("divides-by-nothing", "a line of zeros is 0 / 0", Defect::divides_by_nothing)};
}

}  // namespace

std::vector<VariantKernel> norm_variants(const std::string& op) {
  if (op == "LpNormalization") return line_variants();
  if (op != "LpPool" && op != "GlobalLpPool") return {};
  return {variant_of("sequential", "one tap after the other", taking_norms(Order::forwards)),
          variant_of("reversed", "from the last tap to the first", taking_norms(Order::backwards)),
          variant_of("scaled", "every tap over the largest, and the norm times that", taking_norms(Order::scaled)),
          variant_of("f64", "added up in f64", taking_norms(Order::in_double))};
}

std::vector<Bug> norm_bugs(const std::string& op) {
  if (op == "LpNormalization") return line_bugs(op);
  if (op != "LpPool" && op != "GlobalLpPool") return {};
  const auto bug = [&](const char* name, const char* what, Defect defect) {
    return bug_of(op, name, what, taking_norms(Order::forwards, defect));
  };
  return {bug("forgets-magnitude", "odd powers keep the sign of a tap", Defect::forgets_magnitude),
          bug("leaves-root", "no root is taken", Defect::leaves_root),
          bug("averages", "the sum is divided by the number of taps", Defect::averages),
          bug("forgets-last-tap", "the last tap of a window is not read", Defect::forgets_last)};
}

}  // namespace assay::mutation
