// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear and its relatives, one element at a time from its position.
#include "reference/families/elementwise.h"
#include "suites/mutation/family.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::mutation {
namespace {

enum class Defect {
  none,
  by_reciprocal,
  in_double,
  adds_first,
  // bugs
  ignores_zero_point,
  takes_first_scale,
  takes_first_zero_point,
  scales_along_last,
  counts_blocks_from_end,
  multiplies,
  wraps,
  by_way_of_int32,
  clamps_first,
  truncates,
  floors,
  rounds_half_away,
  adds_zero_point,
  wraps_difference,
  leaves_zero_out,
  spreads_over_256,
  truncates_zero_point,
  takes_first_row,
  takes_first_column,
  ignores_y_scale,
  converts,
  high_bits_first,
  ignores_groups
};

Int attribute(const Call& call, const char* name) { return call.definition().attribute(name) ? call.integer(name) : 0; }

// Where the scale of an element stands.
Int scale_at(const Call& call, const Tensor& scale, Int index, Defect defect) {
  if (scale.elements() == 1) return 0;
  const Shape& x = call.shape("x");
  const Int rank = std::ssize(x), said = attribute(call, "axis"), block = attribute(call, "block_size");
  const std::size_t axis = static_cast<std::size_t>((said + rank) % rank);
  Shape at(x.size());
  for (std::size_t i = x.size(); i-- > 0; index /= x[i]) at[i] = index % x[i];
  const bool is_blocked = block > 0 && scale.shape().size() == x.size();
  if (!is_blocked && defect == Defect::scales_along_last && x.back() == x[axis]) return at.back();
  if (!is_blocked) return at[axis];
  at[axis] = defect == Defect::counts_blocks_from_end ? scale.shape()[axis] - 1 - (x[axis] - 1 - at[axis]) / block
                                                      : at[axis] / block;
  Int flat = 0;
  for (std::size_t i = 0; i < at.size(); ++i) flat = flat * scale.shape()[i] + at[i];
  return flat;
}

struct Operands {
  double x, scale, zero;
};
Operands operands(const Call& call, Inputs in, Int i, Defect defect) {
  const Int at = scale_at(call, *in[1], i, defect);
  const bool has_zero = in.size() > 2 && in[2] && defect != Defect::ignores_zero_point;
  return {number_at(*in[0], i), number_at(*in[1], defect == Defect::takes_first_scale ? 0 : at),
          has_zero ? number_at(*in[2], defect == Defect::takes_first_zero_point ? 0 : at) : 0};
}

DType division_type(const Call& call) {
  if (const Int stated = attribute(call, "precision"); stated != 0) return static_cast<DType>(stated);
  for (const char* input : {"y_scale", "x"})
    if (const DType type = call.type(input).dtype; is_float(type) && !is_small(type)) return type;
  return DType::f32;
}

template <class D>
double quotient(const Operands& of, Defect defect) {
  const D x = D(of.x), s = D(of.scale);
  if (defect == Defect::in_double) return static_cast<double>(x) / static_cast<double>(s);
  if (defect == Defect::multiplies) return static_cast<double>(x) * static_cast<double>(s);
  const D reciprocal = D(1 / static_cast<double>(s));
  if (defect == Defect::by_reciprocal && std::isfinite(static_cast<double>(reciprocal)))
    return static_cast<double>(D(static_cast<double>(x) * static_cast<double>(reciprocal)));
  return static_cast<double>(D(static_cast<double>(x) / static_cast<double>(s)));
}

double rounded(double q, Defect defect) {
  switch (defect) {
    case Defect::truncates: return std::trunc(q);
    case Defect::floors: return std::floor(q);
    case Defect::rounds_half_away: return std::round(q);
    default: return std::nearbyint(q);
  }
}

template <class T>
constexpr std::pair<double, double> ends() {
  if constexpr (SmallWhole<T>)
    return {T::lowest, T::highest};
  else
    return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
}

template <class T>
T whole(double q, double zero, Defect defect) {
  const auto [least, most] = ends<T>();
  if (q != q) return T(least);
  if (defect == Defect::by_way_of_int32 && !(std::abs(q) < 0x1p31)) q = -0x1p31;
  q = std::clamp(q, -0x1p40, 0x1p40);
  if (defect == Defect::clamps_first) q = std::clamp(q, least, most);
  double value = defect == Defect::adds_first ? std::nearbyint(q + zero)
                 : defect == Defect::converts ? std::trunc(q + zero)
                                              : rounded(q, defect) + zero;
  if (defect == Defect::wraps || defect == Defect::clamps_first || defect == Defect::converts)
    value -= std::floor((value - least) / (most - least + 1)) * (most - least + 1);
  return T(std::clamp(value, least, most));
}

Kernel quantizing(Defect defect) {
  return [defect](const Call& call, Inputs in) {
    Tensor y({call.definition().type_of(call, call.definition().outputs.front()), call.shape("x")});
    const bool saturates = !call.definition().attribute("saturate") || call.integer("saturate") != 0;
    for_value(y.dtype(), [&]<class T>() {
      for (Int i = 0; i < y.elements(); ++i) {
        const Operands of = operands(call, in, i, defect);
        const double q = for_float(division_type(call), [&]<class D>() { return quotient<D>(of, defect); });
        if constexpr ((std::is_integral_v<T> && sizeof(T) <= 2) || SmallWhole<T>)
          y.as<T>()[static_cast<std::size_t>(i)] = whole<T>(q, of.zero, defect);
        else if constexpr (Small<T> && !std::is_same_v<T, Float8E8M0>)
          y.as<T>()[static_cast<std::size_t>(i)] = T(q + of.zero, saturates);
      }
    });
    return y;
  };
}

Kernel dequantizing(Defect defect) {
  return [defect](const Call& call, Inputs in) {
    Tensor y({call.definition().type_of(call, call.definition().outputs.front()), call.shape("x")});
    for_float(y.dtype(), [&]<class T>() {
      for (Int i = 0; i < y.elements(); ++i) {
        const Operands of = operands(call, in, i, defect);
        double difference = defect == Defect::adds_zero_point ? of.x + of.zero : of.x - of.zero;
        if (defect == Defect::wraps_difference && in[0]->dtype() == DType::u8)
          difference -= std::floor(difference / 256) * 256;
        const double product = defect == Defect::by_reciprocal  // f32 throughout
                                   ? static_cast<double>(static_cast<float>(difference) * static_cast<float>(of.scale))
                                   : difference * of.scale;
        y.as<T>()[static_cast<std::size_t>(i)] = T(product);
      }
    });
    return y;
  };
}

// All three outputs of DynamicQuantizeLinear.
Kernel ranging(Defect defect) {
  return [defect](const Call&, Inputs in) {
    const std::span<const float> x = in[0]->as<float>();
    const auto [least, most] = std::ranges::minmax_element(x);
    const bool counts_zero = defect != Defect::leaves_zero_out || x.empty();
    const float low = x.empty() ? 0 : counts_zero ? std::fmin(*least, 0.0F) : *least;
    const float high = x.empty() ? 0 : counts_zero ? std::fmax(*most, 0.0F) : *most;
    const float scale = (high - low) / (defect == Defect::spreads_over_256 ? 256.0F : 255.0F);
    const float start = -low / scale;
    const double exact = static_cast<double>(defect == Defect::truncates_zero_point ? std::trunc(start) : start);
    const double zero = start != start ? 0 : std::clamp(std::nearbyint(exact), 0.0, 255.0);
    Tensor y({DType::u8, in[0]->shape()}), of({DType::f32, {}}), from({DType::u8, {}});
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double q = quotient<float>({static_cast<double>(x[i]), static_cast<double>(scale), zero}, defect);
      y.as<std::uint8_t>()[i] = whole<std::uint8_t>(q, zero, defect);
    }
    of.as<float>()[0] = scale;
    from.as<std::uint8_t>()[0] = static_cast<std::uint8_t>(zero);
    Values all;
    for (Tensor* each : {&y, &of, &from}) all.emplace_back(std::move(*each));
    return all;
  };
}

std::vector<Bug> ranging_bugs(const std::string& op) {
  const auto bug = [&](const char* name, const char* what, Defect defect) {
    return bug_of(op, name, what, ranging(defect));
  };
  return {bug("leaves-zero-out", "the range need not hold 0", Defect::leaves_zero_out),
          bug("spreads-over-256", "256 steps make the range", Defect::spreads_over_256),
          bug("truncates-zero-point", "the zero point is truncated", Defect::truncates_zero_point),
          bug("truncates", "y is rounded towards zero", Defect::truncates),
          bug("rounds-half-away", "ties go away from zero", Defect::rounds_half_away)};
}

// Where one number of a list for the rows of `of` (1 from the end) or its columns (2) stands.
Int beside(const Tensor& list, const Shape& of, std::size_t axis, Int matrix, Int line) {
  if (list.elements() == 1) return 0;
  return list.shape().size() < 2 ? line : matrix * of[of.size() - (axis == 1 ? 2 : 1)] + line;
}

// QLinearMatMul, each term from the places of its factors.
template <class F>
Kernel multiplying(Defect defect) {
  return [defect](const Call& call, Inputs in) {
    Tensor y({in[7]->dtype(), call.definition().requested_types(call).front().shape});
    Shape a = call.shape("a"), b = call.shape("b");
    if (a.size() == 1) a.insert(a.begin(), 1);
    if (b.size() == 1) b.push_back(1);
    const Int rows = a[a.size() - 2], depth = a.back(), columns = b.back();
    Shape batch = y.shape();
    for (const char* operand : {"a", "b"})
      if (call.rank(operand) > 1) batch.pop_back();
    // The matrix of an operand, whose axes of 1 are read again.
    const auto matrix_of = [&](const Shape& own, Int number) {
      Int matrix = 0, stride = 1;
      for (std::size_t back = 1; back <= batch.size(); ++back) {
        const Int place = number % batch[batch.size() - back];
        number /= batch[batch.size() - back];
        if (back + 2 > own.size()) continue;
        const Int extent = own[own.size() - 2 - back];
        matrix += (extent == 1 ? 0 : place) * stride;
        stride *= extent;
      }
      return matrix;
    };
    for (Int i = 0; i < y.elements(); ++i) {
      const Int row = i / columns % rows, column = i % columns, matrix = i / (rows * columns);
      const Int of_a = matrix_of(a, matrix), of_b = matrix_of(b, matrix);
      const auto at = [&](std::size_t input) {
        const bool is_left = input < 3;
        const bool is_first = defect == (is_left ? Defect::takes_first_row : Defect::takes_first_column);
        const Int place = is_left ? beside(*in[input], a, 1, of_a, row) : beside(*in[input], b, 2, of_b, column);
        return number_at(*in[input], is_first ? 0 : place);
      };
      double sum = 0;
      for (Int k = 0; k < depth; ++k)
        sum +=
            (number_at(*in[0], (of_a * rows + row) * depth + k) - (defect == Defect::ignores_zero_point ? 0 : at(2))) *
            (number_at(*in[3], (of_b * depth + k) * columns + column) - at(5));
      const double zero = number_at(*in[7], 0);
      const F scaled = static_cast<F>(static_cast<F>(sum) * static_cast<F>(at(1))) * static_cast<F>(at(4));
      const double value = static_cast<double>(
          defect == Defect::ignores_y_scale ? scaled : static_cast<F>(scaled / static_cast<F>(number_at(*in[6], 0))));
      for_value(y.dtype(), [&]<class T>() {
        if constexpr (std::is_integral_v<T> && sizeof(T) == 1)
          y.as<T>()[static_cast<std::size_t>(i)] = whole<T>(value, zero, defect);
        else if constexpr (Small<T>)
          y.as<T>()[static_cast<std::size_t>(i)] = T(value + zero);
      });
    }
    return y;
  };
}

std::vector<Bug> multiplying_bugs(const std::string& op) {
  const auto bug = [&](const char* name, const char* what, Defect defect) {
    return bug_of(op, name, what, multiplying<double>(defect));
  };
  return {bug("ignores-a-zero-point", "a has no zero point", Defect::ignores_zero_point),
          bug("takes-first-row", "the first scale and zero point of a are those of all rows", Defect::takes_first_row),
          bug("takes-first-column", "those of b are those of all columns", Defect::takes_first_column),
          bug("ignores-y-scale", "y_scale has no effect", Defect::ignores_y_scale),
          bug("wraps-output", "the output wraps around where it should saturate", Defect::wraps),
          bug("truncates", "rounds towards zero", Defect::truncates)};
}

// -- QLinearAdd and QLinearMul

// Where an element of an operand stands that is broadcast to one of `whole`, counted from the last axis on.
Int broadcast_cell(const Shape& own, const Shape& whole, Int index) {
  Int cell = 0, stride = 1;
  for (std::size_t back = 1; back <= whole.size(); ++back) {
    const Int place = index % whole[whole.size() - back];
    index /= whole[whole.size() - back];
    if (back > own.size()) break;
    const Int extent = own[own.size() - back];
    cell += (extent == 1 ? 0 : place) * stride;
    stride *= extent;
  }
  return cell;
}

// Works out the ratios of the scales and what does not depend on the elements first, in F.
template <class F>
Kernel combining(bool multiplies, Defect defect) {
  return [=](const Call& call, Inputs in) {
    Tensor c({in[0]->dtype(), call.definition().requested_types(call).front().shape});
    const auto number = [&](std::size_t place) {
      return in.size() > place && in[place] ? static_cast<F>(number_at(*in[place], 0)) : F(0);
    };
    const F a_zero = defect == Defect::ignores_zero_point ? F(0) : number(2), b_zero = number(5), zero = number(7);
    const F c_scale = defect == Defect::ignores_y_scale ? F(1)
                      : defect == Defect::multiplies    ? F(1) / number(6)
                                                        : number(6);
    const F a_ratio = number(1) / c_scale, b_ratio = number(4) / c_scale, both = number(1) * number(4) / c_scale;
    const F rest = -(a_ratio * a_zero + b_ratio * b_zero);
    for (Int i = 0; i < c.elements(); ++i) {
      const F a = static_cast<F>(number_at(*in[0], broadcast_cell(in[0]->shape(), c.shape(), i)));
      const F b = static_cast<F>(number_at(*in[3], broadcast_cell(in[3]->shape(), c.shape(), i)));
      const F steps = multiplies ? (a - a_zero) * (b - b_zero) * both : rest + a * a_ratio + b * b_ratio;
      if (c.dtype() == DType::u8)
        c.as<std::uint8_t>()[static_cast<std::size_t>(i)] =
            whole<std::uint8_t>(static_cast<double>(steps), static_cast<double>(zero), defect);
      else
        c.as<std::int8_t>()[static_cast<std::size_t>(i)] =
            whole<std::int8_t>(static_cast<double>(steps), static_cast<double>(zero), defect);
    }
    return c;
  };
}

bool is_combination(const std::string& op) { return op == "QLinearAdd" || op == "QLinearMul"; }

std::vector<Bug> combining_bugs(const std::string& op) {
  const auto bug = [&](const char* name, const char* what, Defect defect) {
    return bug_of(op, name, what, combining<double>(op == "QLinearMul", defect));
  };
  return {bug("ignores-a-zero-point", "A has no zero point", Defect::ignores_zero_point),
          bug("ignores-c-scale", "C_scale has no effect", Defect::ignores_y_scale),
          bug("multiplies-by-c-scale", "multiplies by C_scale instead of dividing", Defect::multiplies),
          bug("truncates", "rounds towards zero", Defect::truncates),
          bug("wraps-output", "the output wraps around where it should saturate", Defect::wraps),
          bug("converts-output", "the output is cut off and wraps around, zero point and all", Defect::converts)};
}

// -- MatMulNBits

// Reads bit by bit, the lowest of the first byte first.
Int number_of_bits(const Tensor& bytes, Int first_byte, Int at, Int bits, bool is_reversed) {
  Int number = 0;
  for (Int i = 0; i < bits; ++i) {
    const Int place = is_reversed ? (at / (8 / bits) + 1) * 8 - (at % (8 / bits) + 1) * bits + i : at * bits + i;
    const auto byte = static_cast<std::size_t>(first_byte + place / 8);
    number |= static_cast<Int>(bytes.as<std::uint8_t>()[byte] >> (place % 8) & 1) << i;
  }
  return number;
}

// Writes the numbers down in F, block by block, and adds up in F.
template <class F>
Kernel unpacking(Defect defect) {
  return [defect](const Call& call, Inputs in) {
    const Int depth = call.integer("K"), columns = call.integer("N"), bits = call.integer("bits");
    const Int block = call.integer("block_size"), blocks = (depth + block - 1) / block;
    const Tensor* const zeros = in.size() > 3 && defect != Defect::ignores_zero_point ? in[3] : nullptr;
    const Tensor* const groups = in.size() > 4 && defect != Defect::ignores_groups ? in[4] : nullptr;
    const Tensor* const bias = in.size() > 5 ? in[5] : nullptr;
    const bool is_reversed = defect == Defect::high_bits_first;
    Tensor y({in[0]->dtype(), call.definition().requested_types(call).front().shape});
    const auto weight = [&](Int n, Int k) {
      const Int group = groups ? static_cast<Int>(number_at(*groups, k)) : k / block;
      const Int code =
          number_of_bits(*in[1], (n * blocks + k / block) * block * bits / 8, k % block, bits, is_reversed);
      F zero = static_cast<F>(Int{1} << (bits - 1));
      if (zeros && zeros->dtype() == DType::u8)
        zero = static_cast<F>(number_of_bits(*zeros, n * ((blocks * bits + 7) / 8), group, bits, is_reversed));
      else if (zeros)
        zero = static_cast<F>(number_at(*zeros, n * blocks + group));
      const Int of = defect == Defect::takes_first_scale ? n * blocks : n * blocks + group;
      return (static_cast<F>(code) - zero) * static_cast<F>(number_at(*in[2], of));
    };
    for_float(y.dtype(), [&]<class T>() {
      for (Int i = 0; i < y.elements(); ++i) {
        const Int n = i % columns;
        F sum = 0;
        for (Int k = depth - 1; k >= 0; --k)
          sum += static_cast<F>(number_at(*in[0], i / columns * depth + k)) * weight(n, k);
        const F added = bias ? static_cast<F>(number_at(*bias, n)) : F(0);
        y.as<T>()[static_cast<std::size_t>(i)] = T(static_cast<double>(sum + added));
      }
    });
    return y;
  };
}

std::vector<Bug> unpacking_bugs(const std::string& op) {
  const auto bug = [&](const char* name, const char* what, Defect defect) {
    return bug_of(op, name, what, unpacking<double>(defect));
  };
  return {bug("reads-high-bits-first", "the first number of a byte has its highest bits", Defect::high_bits_first),
          bug("ignores-zero-points", "the zero point is half of the range", Defect::ignores_zero_point),
          bug("takes-first-scale", "the scale of the first block is that of all", Defect::takes_first_scale),
          bug("ignores-groups", "each block has its own scale, whatever g_idx says", Defect::ignores_groups)};
}

}  // namespace

std::vector<VariantKernel> quantizing_variants(const std::string& op) {
  if (op == "QLinearMatMul")
    return {variant_of("sequential", "one term after the other", multiplying<double>(Defect::none)),
            variant_of("product-in-f32", "the sum is scaled in f32", multiplying<float>(Defect::none)),
            {{"add-then-round", oracles::Level::L2, "the zero point is added before rounding", "A16", "add-then-round"},
             multiplying<double>(Defect::adds_first)}};
  if (op == "MatMulNBits")
    return {variant_of("sequential", "from the last term to the first, in f64", unpacking<double>(Defect::none)),
            variant_of("in-f32", "the numbers of B are f32, and so are the sums", unpacking<float>(Defect::none))};
  if (is_combination(op))
    return {
        variant_of("ratios-in-f32", "the ratios of the scales first",
                   combining<float>(op == "QLinearMul", Defect::none)),
        variant_of("adds-zero-first", "the zero point is added before rounding",
                   combining<float>(op == "QLinearMul", Defect::adds_first)),
        variant_of("sequential", "one element after the other", combining<double>(op == "QLinearMul", Defect::none))};
  if (op == "DynamicQuantizeLinear")
    return {variant_of("sequential", "one element after the other", ranging(Defect::none)),
            variant_of("by-reciprocal", "x times 1 / y_scale, each rounded", ranging(Defect::by_reciprocal)),
            {{"add-then-round", oracles::Level::L2, "the zero point is added before rounding", "A16", "add-then-round"},
             ranging(Defect::adds_first)}};
  if (op == "DequantizeLinear")
    return {
        variant_of("sequential", "one element after the other", dequantizing(Defect::none)),
        variant_of("product-in-f32", "the difference and the product are f32", dequantizing(Defect::by_reciprocal))};
  if (op != "QuantizeLinear") return {};
  return {variant_of("sequential", "one element after the other", quantizing(Defect::none)),
          variant_of("by-reciprocal", "x times 1 / y_scale, each rounded", quantizing(Defect::by_reciprocal)),
          variant_of("quotient-in-double", "the quotient is not rounded to its type", quantizing(Defect::in_double)),
          {{"add-then-round", oracles::Level::L2, "the zero point is added before rounding", "A16", "add-then-round"},
           quantizing(Defect::adds_first)}};
}

std::vector<Bug> quantizing_bugs(const std::string& op) {
  if (op == "DynamicQuantizeLinear") return ranging_bugs(op);
  if (op == "QLinearMatMul") return multiplying_bugs(op);
  if (is_combination(op)) return combining_bugs(op);
  if (op == "MatMulNBits") return unpacking_bugs(op);
  const bool is_forward = op == "QuantizeLinear";
  if (!is_forward && op != "DequantizeLinear") return {};
  const auto bug = [&](const char* name, const char* what, Defect defect, const char* of = "") {
    Bug made = bug_of(op, name, what, is_forward ? quantizing(defect) : dequantizing(defect));
    made.mutant.attribute = of;
    return made;
  };
  std::vector<Bug> all{
      bug("ignores-zero-point", "there is no zero point", Defect::ignores_zero_point),
      bug("takes-first-scale", "the first scale is that of all", Defect::takes_first_scale, "axis"),
      bug("takes-first-zero-point", "the first zero point is that of all", Defect::takes_first_zero_point, "axis"),
      bug("scales-along-last", "the scales run along the last axis where it is as long", Defect::scales_along_last,
          "axis"),
      bug("counts-blocks-from-end", "the first block is the short one", Defect::counts_blocks_from_end, "block_size")};
  if (!is_forward) {
    all.push_back(bug("adds-zero-point", "x + x_zero_point", Defect::adds_zero_point));
    all.push_back(bug("wraps-difference", "the difference of uint8 is uint8", Defect::wraps_difference));
    return all;
  }
  all.push_back(bug("multiplies", "x times y_scale", Defect::multiplies));
  all.push_back(bug("wraps-output", "the output wraps around where it should saturate", Defect::wraps));
  all.push_back(bug("rounds-by-int32", "a quotient beyond int32 is its lowest", Defect::by_way_of_int32));
  all.push_back(bug("clamps-before-zero-point", "clamped, then the zero point is added", Defect::clamps_first));
  all.push_back(bug("truncates", "rounds towards zero", Defect::truncates));
  all.push_back(bug("floors", "rounds down", Defect::floors));
  all.push_back(bug("rounds-half-away", "ties go away from zero", Defect::rounds_half_away));
  return all;
}

}  // namespace assay::mutation
