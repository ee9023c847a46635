// SPDX-License-Identifier: Apache-2.0
// Products of matrices a third time: one element of the output after the other, its operands found from its own place
// by counting axes from the last.
#include "reference/families/elementwise.h"
#include "suites/mutation/family.h"

#include <boost/multiprecision/cpp_int.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::mutation {
namespace {

using oracles::Level;

enum class Sum { forwards, backwards, fused, in_double, in_type, scales_operand, adds_c_first };
enum class Defect {
  none,
  drops_last_term,
  reads_first_matrix,
  transposes_b,
  scales_all,
  lays_c_as_column,
  ignores_a_zero,
  ignores_b_zero,
  zero_along_depth,
  saturates_pairs,
  takes_first_column,
  adds_before_scaling,
  leaves_zero_out,
  leaves_a,
  truncates,
  wraps
};

struct Manner {
  Sum sum = Sum::forwards;
  Defect defect = Defect::none;
  bool saturates = false, reads_dropped = false;
};

// A stack of matrices; a vector is one, of one row or one column.
struct Stack {
  Shape batch;
  Int rows = 1, columns = 1;
  bool is_transposed = false, is_batch_inside = false;  // rows, then the batch, then columns

  Stack(Shape shape, bool is_left, bool transposes, bool moves_batch)
      : is_transposed(transposes && shape.size() > 1), is_batch_inside(moves_batch) {
    if (shape.size() == 1) shape.insert(is_left ? shape.begin() : shape.end(), 1);
    if (is_batch_inside) std::rotate(shape.begin(), shape.begin() + 1, shape.end() - 1);
    columns = shape.back();
    shape.pop_back();
    rows = shape.back();
    shape.pop_back();
    batch = shape;
    if (is_transposed) std::swap(rows, columns);
  }
  // The place of an element of the matrix that the `number`-th of `whole` is computed from.
  Int at(const Shape& whole, Int number, Int row, Int column) const {
    Int matrix = 0, stride = 1;
    for (std::size_t back = 1; back <= whole.size(); ++back) {
      const Int extent = whole[whole.size() - back], place = number % extent;
      number /= extent;
      if (back > batch.size()) continue;
      const Int own = batch[batch.size() - back];
      matrix += (own == 1 ? 0 : place) * stride;
      stride *= own;
    }
    if (is_transposed) std::swap(row, column);
    const Int length = is_transposed ? rows : columns;
    return is_batch_inside ? (row * volume(batch) + matrix) * length + column
                           : matrix * rows * columns + row * length + column;
  }
};

struct Plan {
  Stack a, b;
  Shape batch, shape;

  explicit Plan(const Call& call)
      : a(call.shape("A"), true, flag(call, "transA"), flag(call, "transBatchA")),
        b(call.shape("B"), false, flag(call, "transB"), flag(call, "transBatchB")) {
    batch.assign(std::max(a.batch.size(), b.batch.size()), 1);
    for (const Shape* each : {&a.batch, &b.batch})
      for (std::size_t back = 1; back <= each->size(); ++back)
        if (const Int extent = (*each)[each->size() - back]; extent != 1) batch[batch.size() - back] = extent;
    shape = batch;
    if (call.rank("A") > 1) shape.push_back(a.rows);
    if (call.rank("B") > 1) shape.push_back(b.columns);
  }
  static bool flag(const Call& call, const char* name) {
    return call.definition().attribute(name) && call.integer(name) != 0;
  }
};

// Calls f(at, matrix, row, column) for every element of the output.
template <class F>
void each_output(const Plan& plan, F&& f) {
  const Int plane = plan.a.rows * plan.b.columns, count = volume(plan.shape);
  for (Int at = 0; at < count; ++at)
    f(static_cast<std::size_t>(at), at / plane, at % plane / plan.b.columns, at % plan.b.columns);
}

// The places in A and B of the terms of one element.
std::vector<std::pair<Int, Int>> terms_of(const Plan& plan, Int matrix, Int row, Int column, const Manner& how) {
  std::vector<std::pair<Int, Int>> terms;
  const Int of_b = how.defect == Defect::reads_first_matrix ? 0 : matrix;
  const bool swaps = how.defect == Defect::transposes_b && plan.b.rows == plan.b.columns;
  for (Int k = 0; k < plan.a.columns; ++k)
    terms.emplace_back(plan.a.at(plan.batch, matrix, row, k),
                       swaps ? plan.b.at(plan.batch, of_b, column, k) : plan.b.at(plan.batch, of_b, k, column));
  if (how.defect == Defect::drops_last_term && !terms.empty()) terms.pop_back();
  if (how.sum == Sum::backwards) std::ranges::reverse(terms);
  return terms;
}

// Where C is read, or -1.
Int place_in_c(const Call& call, Int row, Int column, const Manner& how) {
  if (!call.definition().input("C") || !call.has("C")) return -1;
  const Shape& c = call.shape("C");
  if (c.empty()) return 0;
  const bool turns = how.defect == Defect::lays_c_as_column && c.size() == 1;
  const Int last = c.back() == 1 ? 0 : turns ? std::min(row, c.back() - 1) : column;
  return c.size() == 1 ? last : (c[0] == 1 ? 0 : row) * c[1] + last;
}

float factor(const Call& call, const char* name) { return call.definition().attribute(name) ? call.real(name) : 1.0F; }

template <class A, class T>
A summed(const Plan& plan, const Call& call, Inputs in, const Manner& how, Int matrix, Int row, Int column) {
  const std::span<const T> a = in[0]->as<T>(), b = in[1]->as<T>();
  const A alpha = static_cast<A>(static_cast<double>(factor(call, "alpha"))),
          beta = static_cast<A>(static_cast<double>(factor(call, "beta")));
  const Int from = place_in_c(call, row, column, how);
  const bool adds = from >= 0 && (how.reads_dropped || factor(call, "beta") != 0);
  const A c = adds ? static_cast<A>(in[2]->as<T>()[static_cast<std::size_t>(from)]) : A(0.0);
  const bool scales_operand = how.sum == Sum::scales_operand;
  A sum = adds && how.sum == Sum::adds_c_first ? static_cast<A>(beta * c) : A(0.0);
  for (const auto& [left, right] : terms_of(plan, matrix, row, column, how)) {
    A x = static_cast<A>(a[static_cast<std::size_t>(left)]);
    const A y = static_cast<A>(b[static_cast<std::size_t>(right)]);
    if (scales_operand || how.sum == Sum::adds_c_first) x = static_cast<A>(alpha * x);
    if constexpr (std::is_floating_point_v<A>) {
      if (how.sum == Sum::fused) {
        sum = std::fma(x, y, sum);
        continue;
      }
    }
    sum = static_cast<A>(sum + static_cast<A>(x * y));
  }
  if (how.sum == Sum::adds_c_first) return sum;
  if (how.defect == Defect::scales_all && adds)
    return static_cast<A>(alpha * static_cast<A>(sum + static_cast<A>(beta * c)));
  if (!scales_operand) sum = static_cast<A>(alpha * sum);
  return adds ? static_cast<A>(sum + static_cast<A>(beta * c)) : sum;
}

// Integers modulo 2^64; or the nearest that fits.
template <class T>
T whole(const Plan& plan, const Call& call, Inputs in, const Manner& how, Int matrix, Int row, Int column) {
  const std::span<const T> a = in[0]->as<T>(), b = in[1]->as<T>();
  const auto alpha = static_cast<Int>(factor(call, "alpha")), beta = static_cast<Int>(factor(call, "beta"));
  boost::multiprecision::cpp_int size = 0;
  std::uint64_t sum = 0;
  for (const auto& [left, right] : terms_of(plan, matrix, row, column, how)) {
    const T x = a[static_cast<std::size_t>(left)], y = b[static_cast<std::size_t>(right)];
    sum += static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y);
    size += boost::multiprecision::cpp_int(x) * y;
  }
  sum *= static_cast<std::uint64_t>(alpha);
  size *= alpha;
  if (const Int from = place_in_c(call, row, column, how); from >= 0) {
    const T c = in[2]->as<T>()[static_cast<std::size_t>(from)];
    const Int times = how.defect == Defect::scales_all ? beta * alpha : beta;
    sum += static_cast<std::uint64_t>(c) * static_cast<std::uint64_t>(times);
    size += boost::multiprecision::cpp_int(c) * times;
  }
  using Limits = std::numeric_limits<T>;
  if (how.saturates && size > Limits::max()) return Limits::max();
  if (how.saturates && size < Limits::min()) return Limits::min();
  return static_cast<T>(sum);
}

Kernel multiplying(const Manner& how) {
  return [how](const Call& call, Inputs in) {
    const Plan plan(call);
    Tensor y({in[0]->dtype(), plan.shape});
    for_number(y.dtype(), [&]<class T>() {
      const std::span<T> to = y.as<T>();
      each_output(plan, [&](std::size_t at, Int matrix, Int row, Int column) {
        if constexpr (std::is_integral_v<T>)
          to[at] = whole<T>(plan, call, in, how, matrix, row, column);
        else if (how.sum == Sum::in_double)
          to[at] = T(static_cast<double>(summed<std::conditional_t<std::is_same_v<T, double>, long double, double>, T>(
              plan, call, in, how, matrix, row, column)));
        else if (how.sum == Sum::in_type)
          to[at] = T(static_cast<double>(summed<T, T>(plan, call, in, how, matrix, row, column)));
        else
          to[at] = T(static_cast<double>(summed<accumulator_t<T>, T>(plan, call, in, how, matrix, row, column)));
      });
    });
    return y;
  };
}

Int read(const Tensor* tensor, Int at) {
  if (!tensor) return 0;
  const auto place = static_cast<std::size_t>(tensor->elements() == 1 ? 0 : at);
  return for_number(tensor->dtype(),
                    [&]<class T>() { return static_cast<Int>(static_cast<double>(tensor->as<T>()[place])); });
}

// Products of integers less their zero points.
Kernel multiplying_integers(const Manner& how) {
  return [how](const Call& call, Inputs in) {
    const Plan plan(call);
    const Tensor* const a_zero = in.size() > 2 && how.defect != Defect::ignores_a_zero ? in[2] : nullptr;
    const Tensor* const b_zero = in.size() > 3 && how.defect != Defect::ignores_b_zero ? in[3] : nullptr;
    Tensor y({DType::i32, plan.shape});
    const Int depth = plan.a.columns, columns = plan.b.columns;
    each_output(plan, [&](std::size_t out, Int matrix, Int row, Int column) {
      Int sum = 0, k = 0;
      std::vector<Int> products;
      for (const auto& [left, right] : terms_of(plan, matrix, row, column, how)) {
        const bool is_along_depth = how.defect == Defect::zero_along_depth && depth == plan.a.rows;
        const Int of_row = is_along_depth ? k : left / depth;
        const Int of_column = right / (depth * columns) * columns + right % columns;
        products.push_back(((in[0]->elements() == 1 ? read(in[0], 0) : read(in[0], left)) - read(a_zero, of_row)) *
                           (read(in[1], right) - read(b_zero, of_column)));
        ++k;
      }
      for (std::size_t i = 0; i < products.size(); i += 2) {
        const Int pair = products[i] + (i + 1 < products.size() ? products[i + 1] : 0);
        sum += how.defect == Defect::saturates_pairs ? std::clamp<Int>(pair, -32768, 32767) : pair;
      }
      using Limits = std::numeric_limits<std::int32_t>;
      if (how.saturates) sum = std::clamp<Int>(sum, Limits::min(), Limits::max());
      y.as<std::int32_t>()[out] =
          static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::uint64_t>(sum)));
    });
    return y;
  };
}

// -- the products of com.microsoft that are scaled

// Reads an element of an input by its name, or the only one.
struct Named {
  const Call& call;
  Inputs in;

  const Tensor* find(std::string_view name) const {
    const std::vector<Parameter>& all = call.definition().inputs;
    for (std::size_t i = 0; i < all.size() && i < in.size(); ++i)
      if (all[i].name == name) return in[i];
    return nullptr;
  }
  double at(std::string_view name, Int index, double absent) const {
    const Tensor* const tensor = find(name);
    return tensor ? number_at(*tensor, tensor->elements() == 1 ? 0 : index) : absent;
  }
};

// Returns A less its zero point, and the scale: as they are given or, of floats, as their range says, in F.
template <class F>
std::pair<std::vector<double>, F> steps_of(const Named& inputs, Defect defect) {
  const Tensor& a = *inputs.find("A");
  std::vector<double> steps;
  if (inputs.find("a_scale")) {
    const double zero = defect == Defect::ignores_a_zero ? 0 : inputs.at("a_zero_point", 0, 0);
    for (Int i = 0; i < a.elements(); ++i) steps.push_back(number_at(a, i) - zero);
    return {steps, static_cast<F>(inputs.at("a_scale", 0, 1))};
  }
  const std::span<const float> x = a.as<float>();
  if (defect == Defect::leaves_a) return {{x.begin(), x.end()}, F(1)};
  F low = 0, high = 0;
  if (defect == Defect::leaves_zero_out && !x.empty()) low = high = x.front();
  for (const float each : x) low = std::min<F>(low, each), high = std::max<F>(high, each);
  const F scale = (high - low) / 255, reciprocal = scale != 0 ? 1 / scale : 0;
  const double zero = std::clamp(std::nearbyint(static_cast<double>(-low * reciprocal)), 0.0, 255.0);
  for (const float each : x)
    steps.push_back(std::clamp(std::nearbyint(static_cast<double>(each * reciprocal)) + zero, 0.0, 255.0) - zero);
  return {steps, scale};
}

template <class T>
T whole_step(double value, Defect defect) {
  const double least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  if (defect == Defect::wraps) value -= std::floor((value - least) / 256) * 256;
  return static_cast<T>(std::clamp(value, least, most));
}

// MatMulIntegerToFloat, DynamicQuantizeMatMul and QGemm: what scales is multiplied first, in F.
template <class F>
Kernel scaling(Defect defect) {
  return [defect](const Call& call, Inputs in) {
    const Plan plan(call);
    const Named inputs{call, in};
    const auto [a, a_scale] = steps_of<F>(inputs, defect);
    const Tensor& b = *inputs.find("B");
    Tensor y({call.definition().requested_types(call).front().dtype, plan.shape});
    const Manner how{.defect = defect};
    each_output(plan, [&](std::size_t out, Int matrix, Int row, Int column) {
      const Int of = defect == Defect::takes_first_column ? 0 : column;
      const double b_zero = defect == Defect::ignores_b_zero ? 0 : inputs.at("b_zero_point", of, 0);
      double sum = 0;
      for (const auto& [left, right] : terms_of(plan, matrix, row, column, how))
        sum += a[static_cast<std::size_t>(left)] * (number_at(b, right) - b_zero);
      if (const Tensor* const c = inputs.find("C"))
        sum += number_at(*c, c->shape().empty() ? 0 : place_in_c(call, row, column, how));
      const F bias = static_cast<F>(inputs.at("bias", column, 0));
      const F by = static_cast<F>(factor(call, "alpha")) * (a_scale * static_cast<F>(inputs.at("b_scale", of, 1)));
      if (is_float(y.dtype()))
        return for_float(y.dtype(), [&]<class T>() {
          const F value = defect == Defect::adds_before_scaling ? (static_cast<F>(sum) + bias) * by
                                                                : static_cast<F>(sum) * by + bias;
          y.as<T>()[out] = T(static_cast<double>(value));
        });
      const F value = static_cast<F>(sum) * (by / static_cast<F>(inputs.at("y_scale", 0, 1)));
      const double step = static_cast<double>(value),
                   near = defect == Defect::truncates ? std::trunc(step) : std::nearbyint(step);
      const double zero = inputs.at("y_zero_point", 0, 0);
      if (y.dtype() == DType::u8)
        y.as<std::uint8_t>()[out] = whole_step<std::uint8_t>(near + zero, defect);
      else
        y.as<std::int8_t>()[out] = whole_step<std::int8_t>(near + zero, defect);
    });
    return y;
  };
}

bool is_scaled_product(const std::string& op) {
  return op == "MatMulIntegerToFloat" || op == "DynamicQuantizeMatMul" || op == "QGemm";
}

Bug keeping_vector_axis(const std::string& op, Kernel right) {
  return bug_of(op, "keeps-vector-axis", "an axis of 1 stays where B is a vector",
                [right = std::move(right)](const Call& call, Inputs in) {
                  const Tensor product = right(call, in).only();
                  Shape shape = product.shape();
                  if (call.rank("B") == 1) shape.push_back(1);
                  Tensor y({product.dtype(), std::move(shape)});
                  std::ranges::copy(product.bytes(), y.bytes().begin());
                  return y;
                });
}

std::vector<Bug> scaling_bugs(const std::string& op) {
  const auto bug = [&](const char* name, const char* what, Defect defect) {
    return bug_of(op, name, what, scaling<double>(defect));
  };
  std::vector<Bug> bugs{bug("drops-last-term", "the last term of every sum is left out", Defect::drops_last_term),
                        bug("ignores-b-zero-point", "B has no zero point", Defect::ignores_b_zero),
                        bug("takes-first-column", "the first scale and zero point of B are those of all columns",
                            Defect::takes_first_column)};
  if (op != "QGemm")
    bugs.push_back(bug("scales-the-bias", "the bias is added before the sum is scaled", Defect::adds_before_scaling));
  if (op != "QGemm") bugs.push_back(keeping_vector_axis(op, scaling<double>(Defect::none)));
  if (op != "DynamicQuantizeMatMul") {
    bugs.push_back(bug("ignores-a-zero-point", "A has no zero point", Defect::ignores_a_zero));
  } else {
    bugs.push_back(bug("leaves-zero-out", "the range need not hold 0", Defect::leaves_zero_out));
    bugs.push_back(bug("leaves-a", "A is multiplied as it is, not quantized", Defect::leaves_a));
  }
  if (op != "QGemm") return bugs;
  bugs.push_back(bug("truncates", "rounds towards zero", Defect::truncates));
  bugs.push_back(bug("wraps-output", "the output wraps around where it should saturate", Defect::wraps));
  return bugs;
}

std::vector<VariantKernel> integer_variants() {
  return {variant_of("sequential", "one term after the other", multiplying_integers({})),
          {{"saturates-32-bits", Level::L2, "a sum beyond 32 bits is the nearest that fits", "W7", "saturate32"},
           multiplying_integers({.saturates = true})}};
}

}  // namespace

std::vector<VariantKernel> product_variants(const std::string& op) {
  if (op == "MatMulInteger" || op == "MatMulInteger16") return integer_variants();
  if (is_scaled_product(op))
    return {variant_of("sequential", "one term after the other, scaled by one factor", scaling<double>(Defect::none)),
            variant_of("scales-in-f32", "one factor, in f32", scaling<float>(Defect::none))};
  const bool is_scaled = op == "FusedMatMul" || op == "TransposeMatMul";
  if (op != "MatMul" && op != "Gemm" && !is_scaled) return {};
  std::vector<VariantKernel> variants{
      variant_of("sequential", "one term after the other", multiplying({})),
      variant_of("reversed", "from the last term to the first", multiplying({.sum = Sum::backwards})),
      variant_of("fma", "fused multiply-add in sequence", multiplying({.sum = Sum::fused})),
      variant_of("f64", "a wider accumulator, one rounding", multiplying({.sum = Sum::in_double})),
      variant_of("in-type", "every operation in the type", multiplying({.sum = Sum::in_type}), Level::L3)};
  if (op != "MatMul")
    variants.push_back(variant_of("scales-operand", "alpha times A first", multiplying({.sum = Sum::scales_operand})));
  if (is_scaled) return variants;
  variants.push_back(
      {{"saturates-products", Level::L2, "integers that do not fit are the nearest that fit", "W20", "saturate"},
       multiplying({.saturates = true})});
  if (op == "MatMul") return variants;
  variants.push_back(
      variant_of("adds-c-first", "beta C, then the terms, each of A scaled", multiplying({.sum = Sum::adds_c_first})));
  variants.push_back(variant_of("reads-dropped", "C is read where beta is 0", multiplying({.reads_dropped = true})));
  return variants;
}

std::vector<Bug> product_bugs(const std::string& op) {
  const auto bug = [&](const char* name, const char* what, Defect defect) {
    const Manner how{.defect = defect};
    return bug_of(op, name, what, op.starts_with("MatMulInteger") ? multiplying_integers(how) : multiplying(how));
  };
  if (is_scaled_product(op)) return scaling_bugs(op);
  constexpr std::string_view all[] = {"MatMul",          "Gemm",        "MatMulInteger",
                                      "MatMulInteger16", "FusedMatMul", "TransposeMatMul"};
  if (std::ranges::count(all, op) == 0) return {};
  std::vector<Bug> bugs{bug("drops-last-term", "the last term of every sum is left out", Defect::drops_last_term),
                        bug("transposes-b", "a square B is read as its transpose", Defect::transposes_b)};
  if (op != "Gemm")
    bugs.push_back(bug("reads-first-matrix", "B is its first matrix for all of a batch", Defect::reads_first_matrix));
  if (op == "FusedMatMul" || op == "TransposeMatMul") bugs.push_back(keeping_vector_axis(op, multiplying({})));
  if (op == "Gemm") {
    bugs.push_back(bug("scales-all", "alpha multiplies what is added, too", Defect::scales_all));
    bugs.push_back(bug("lays-c-as-column", "a vector C lies along the rows", Defect::lays_c_as_column));
  }
  if (op == "MatMulInteger") {
    bugs.push_back(bug("ignores-a-zero-point", "A has no zero point", Defect::ignores_a_zero));
    bugs.push_back(bug("ignores-b-zero-point", "B has no zero point", Defect::ignores_b_zero));
    bugs.push_back(
        bug("takes-zero-along-depth", "the zero points of rows lie along those of A", Defect::zero_along_depth));
    bugs.push_back(bug("saturates-pairs", "sums of two products saturate at 16 bits", Defect::saturates_pairs));
  }
  return bugs;
}

}  // namespace assay::mutation
