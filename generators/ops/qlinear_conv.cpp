// SPDX-License-Identifier: Apache-2.0
// OperatorGenerator about QLinearConv: the shapes of Conv in all eight mixes of 8-bit types, with scales chosen so that
// the requantised values lie on ties, reach the ends of the range, or are the accumulator itself (numerics 4.6, 4.8).
#include "generators/convolution.h"
#include "generators/draw.h"
#include "generators/values.h"
#include "reference/operator.h"
#include "reference/sequence.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace assay::generators {
namespace {

enum class Fill {
  full,         // the whole range of x and w
  extreme,      // the ends of the range: pairs of products that leave 16 bits
  transparent,  // a scale ratio of 1 and small values: the output is the accumulator
  tie,          // a scale ratio of 2^-j
  brimming,     // accumulators just inside 32 bits
  overflowing   // and outside
};

Fill draw_fill() {
  return weighted<Fill>({{27, Fill::full},
                         {17, Fill::extreme},
                         {20, Fill::transparent},
                         {30, Fill::tie},
                         {4, Fill::brimming},
                         {2, Fill::overflowing}});
}

bool is_near(Fill fill) { return fill >= Fill::transparent; }  // x and w stay within 8 of their zero points

constexpr Int most_accumulated = 2147483647;

Int lowest(DType type) { return type == DType::u8 ? 0 : -128; }

// Both ends of the range, its middle, and odd and even values anywhere.
Int draw_zero_point(DType type) {
  switch (weighted<int>({{30, 0}, {17, 1}, {13, 2}, {40, 3}})) {
    case 0: return lowest(type) + 128;
    case 1: return lowest(type);
    case 2: return lowest(type) + 255;
    default: return lowest(type) + between(0, 255);
  }
}

Recipe hold(const std::vector<Int>& values) {
  return {"hold", joined(values, ",", [](Int value) { return std::to_string(value); })};
}

Recipe hold(const std::vector<float>& values) {
  return {"hold", joined(values, ",", [](float value) {
            std::array<char, 32> buffer;
            const auto end =
                std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::hex).ptr;
            return "0x" + std::string(buffer.data(), end);
          })};
}

// A list of parameters that are all alike could be one parameter.
template <class T>
void refuse_equal(std::vector<T>& values, T other) {
  if (values.size() > 1 && std::ranges::adjacent_find(values, std::not_equal_to{}) == values.end())
    values.front() = other;
}

// 2^exponent; exact.
float power(Int exponent) {
  return exponent < 0 ? 1.0F / static_cast<float>(Int{1} << -exponent) : static_cast<float>(Int{1} << exponent);
}

// A full significand times 2^exponent.
float full_significand(Int exponent) {
  return static_cast<float>((Int{1} << 23) + between(0, (Int{1} << 23) - 1)) * power(-23) * power(exponent);
}

// The distribution of the differences to a zero point.
struct Spread {
  double mean = 0, square = 0;  // E[v], E[v^2]
};

// Whole bytes are uniform over 256 values, edges lie 126 to 128 from the middle, near values within 8 of the zero
// point.
Spread spread_of(Fill fill, DType type, Int zero_point) {
  if (is_near(fill)) return {0, 24};
  const double mean = static_cast<double>(lowest(type) - zero_point) + 127.5;
  return {mean, mean * mean + (fill == Fill::full ? 5461.25 : 16129)};
}

// About how large sums of so many products become.
double typical_sum(const Spread& x, const Spread& w, Int products) {
  const double count = static_cast<double>(std::max<Int>(1, products));
  const double mean = x.mean * w.mean;
  return std::max(1.0, count * std::abs(mean) + std::sqrt(count * std::max(0.0, x.square * w.square - mean * mean)));
}

// Per map or one for all.
struct Parameters {
  std::vector<Int> w_zero;
  std::vector<float> w_scale;
};

struct Quantisation {
  Fill fill = Fill::full;
  Int x_zero = 0, y_zero = 0;
  float x_scale = 1, y_scale = 1;
  Parameters w;
};

std::size_t how_many(bool per_map, Int maps) { return per_map ? static_cast<std::size_t>(std::max<Int>(1, maps)) : 1; }

// Near values fit one recipe for all maps, so their zero points lie close together.
std::vector<Int> draw_w_zero(Fill fill, DType type, std::size_t count) {
  std::vector<Int> zeros(count, draw_zero_point(type));
  for (Int& zero : zeros)
    zero = is_near(fill) ? std::clamp(zero + between(-2, 2), lowest(type), lowest(type) + 255) : draw_zero_point(type);
  refuse_equal(zeros, zeros.back() == lowest(type) ? lowest(type) + 1 : zeros.back() - 1);
  return zeros;
}

// ChildSpec of magnitude apart; the middle of the range is what y_scale is chosen for.
std::vector<float> draw_w_scale(Fill fill, std::size_t count) {
  std::vector<float> scales(count);
  const Int base = between(-7, 1);
  const bool powers = is_near(fill) || chance(20);
  for (float& scale : scales) {
    const Int exponent = base + (count == 1                  ? 0
                                 : fill == Fill::transparent ? pick({0, 0, 1, -1})
                                                             : pick({0, 0, -1, 1, -3, -6, 2}));
    scale = powers ? power(exponent) : full_significand(exponent);
  }
  refuse_equal(scales, scales.back() * 2);
  return scales;
}

// What one unit of the output is worth, so that outputs use their range.
float draw_y_scale(const Quantisation& q, double typical) {
  const double unit = static_cast<double>(q.x_scale) * static_cast<double>(q.w.w_scale.front());
  return static_cast<float>(unit * typical / static_cast<double>(between(40, q.fill == Fill::extreme ? 200 : 120)));
}

// A ratio of 2^-j, with j as large as sums of this size leave visible.
Int draw_shift(double typical) {
  Int shift = 1;
  while (shift < 6 && typical > 64 * static_cast<double>(Int{1} << shift)) ++shift;
  return shift + between(0, 1);
}

// x_scale and y_scale share their significand half of the time: the ratio stays exact, and not every order of
// evaluation finds it exactly.
void write_ratio(Quantisation& q, Int shift) {
  const float scale = q.fill == Fill::tie && chance(50) ? full_significand(0) : 1.0F;
  const Int exponent = between(-5, 1);
  q.x_scale = scale * power(exponent);
  q.y_scale = scale * power(exponent + shift) * q.w.w_scale.front();
}

// Sums that lie on one side of zero need a zero point that leaves room there.
Int draw_y_zero(const Quantisation& q, DType type, double mean, double typical) {
  if (mean > typical / 2) return lowest(type) + between(0, 60);
  if (mean < -typical / 2) return lowest(type) + 255 - between(0, 60);
  return is_near(q.fill) && chance(70) ? lowest(type) + between(96, 160) : draw_zero_point(type);
}

Quantisation draw_quantisation(Fill fill, const ConvShapes& shapes, DType x, DType w, DType y) {
  Quantisation q;
  q.fill = fill;
  q.x_zero = draw_zero_point(x);
  const int who = weighted<int>({{36, 0}, {34, 1}, {20, 2}, {10, 3}});  // one for all, per map, scale only, zero only
  const Int maps = shapes.channels.maps;
  q.w.w_zero = draw_w_zero(fill, w, how_many(who == 1 || who == 3, maps));
  q.w.w_scale = draw_w_scale(fill, how_many(who == 1 || who == 2, maps));
  if (fill == Fill::extreme && chance(50)) {  // full activations, weights at both ends
    q.x_zero = lowest(x);
    q.w.w_zero.assign(q.w.w_zero.size(), lowest(w) + 128);
    refuse_equal(q.w.w_zero, lowest(w) + 127);
  }
  const Spread sx = spread_of(fill, x, q.x_zero), sw = spread_of(fill, w, q.w.w_zero.front());
  const double typical = typical_sum(sx, sw, shapes.terms() - 1);
  switch (fill) {
    case Fill::transparent: write_ratio(q, 0); break;
    case Fill::tie: write_ratio(q, draw_shift(typical)); break;
    case Fill::brimming: write_ratio(q, between(24, 25)); break;        // 2^31 becomes 128 or 64
    case Fill::overflowing: write_ratio(q, pick({24, 25, 32})); break;  // or a tie, which a sum cut off there misses
    default: q.x_scale = full_significand(between(-8, 1)); q.y_scale = draw_y_scale(q, typical);
  }
  q.y_zero = draw_y_zero(q, y, static_cast<double>(shapes.terms() - 1) * sx.mean * sw.mean, typical);
  return q;
}

Recipe data_of(Fill fill, Int zero_point) {
  switch (fill) {
    case Fill::full: return seeded("byte");
    case Fill::extreme: return seeded("edge");
    case Fill::overflowing: return seeded("byte");  // as far beyond 2^31 as no order of scales rounds off
    default: return seeded("around" + std::to_string(zero_point));
  }
}

// Products are at most 2^6 near, and 2^16 else; the bias is as large as the sum of a few.
Recipe draw_bias(Fill fill, const ConvShapes& shapes) {
  if (fill != Fill::brimming && fill != Fill::overflowing)
    return is_near(fill) ? seeded(pick({"small", "odd5"})) : seeded("odd" + std::to_string(between(8, 14)));
  std::vector<Int> values(how_many(true, shapes.channels.maps));
  const Int products = 128 * shapes.terms();  // per-map zero points add up to 2 to each factor
  for (Int& value : values) {
    const Int size =
        fill == Fill::brimming ? most_accumulated - products - between(0, 4000) : most_accumulated - between(0, 20);
    value = chance(50) ? size : -size;
  }
  refuse_equal(values, -values.back());
  return hold(values);
}

Shape draw_single() { return chance(65) ? Shape{} : Shape{1}; }

Shape parameter_shape(std::size_t count, Int maps) { return count > 1 || maps == 0 ? Shape{maps} : draw_single(); }

struct Types {
  DType x, w, y;
};

// The stratum takes the mixes in turn, and every theme meets each of them.
Types types_of(DType x, std::uint64_t stratum) {
  const std::uint64_t mix = stratum + stratum / conv_ground().themes.size();
  return {x, mix % 2 ? DType::u8 : DType::i8, mix / 2 % 2 ? DType::i8 : DType::u8};
}

void write(Case& c, const char* input, TensorType type, Recipe recipe, bool initializer) {
  c.node.input(input, std::move(type));
  c.sources[input] = {std::move(recipe), initializer};
}

// Constants together, inputs together, or each by itself, as where activations are quantised when the model runs.
void write_parameters(Case& c, const Quantisation& q, const Types& types, Int maps) {
  const int given = weighted<int>({{54, 0}, {28, 1}, {18, 2}});
  const auto constant = [given] { return given == 0 || (given == 2 && chance(50)); };
  // One draw after the other: the arguments of a call are evaluated in the order that a compiler likes.
  const auto parameter = [&](const char* input, DType type, const auto& draw_shape, Recipe recipe) {
    const bool initializer = constant();
    Shape shape = draw_shape();
    write(c, input, {type, std::move(shape)}, std::move(recipe), initializer);
  };
  const Shape one_x = draw_single(), one_y = draw_single();
  const auto near = [](const Shape& one) { return [&one] { return chance(80) ? one : draw_single(); }; };
  const auto list = [maps](std::size_t count) { return [count, maps] { return parameter_shape(count, maps); }; };
  const auto the = [](const Shape& one) { return [&one] { return one; }; };
  parameter("x_scale", DType::f32, the(one_x), hold(std::vector{q.x_scale}));
  parameter("x_zero_point", types.x, near(one_x), hold(std::vector{q.x_zero}));
  parameter("w_scale", DType::f32, list(q.w.w_scale.size()), hold(q.w.w_scale));
  parameter("w_zero_point", types.w, list(q.w.w_zero.size()), hold(q.w.w_zero));
  parameter("y_scale", DType::f32, the(one_y), hold(std::vector{q.y_scale}));
  parameter("y_zero_point", types.y, near(one_y), hold(std::vector{q.y_zero}));
}

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  const ConvShapes shapes = draw_conv_shapes(conv_ground(), stratum);
  const Types types = types_of(type, stratum);
  const Fill fill = draw_fill();
  const Quantisation q = draw_quantisation(fill, shapes, types.x, types.w, types.y);
  Case c = blank(definition);
  write_conv_attributes(c.node, definition, shapes);
  const bool constant_weights = chance(55);
  write(c, "x", {types.x, shapes.x()}, data_of(fill, q.x_zero), false);
  write(c, "w", {types.w, shapes.w()}, data_of(fill, q.w.w_zero.front()), constant_weights);
  write_parameters(c, q, types, shapes.channels.maps);
  const Recipe bias = draw_bias(fill, shapes);
  write_bias(c, DType::i32, shapes.channels.maps, bias, constant_weights);
  if (bias.family == "hold") write(c, "B", {DType::i32, {shapes.channels.maps}}, bias, constant_weights);
  return c;
}

// Damages to the parameters. Lists need recipes of as many different values.
bool reshape(Case& c, const char* input, Shape shape) {
  shape_of(c, input) = std::move(shape);
  return true;
}

const char* draw_x_parameter() { return pick({"x_scale", "x_zero_point"}); }
const char* draw_w_parameter() { return pick({"w_scale", "w_zero_point"}); }
const char* draw_y_parameter() { return pick({"y_scale", "y_zero_point"}); }

Int maps_of(const Case& c) { return shape_of(c, "w").front(); }

// Lists per map follow the number of maps.
void refit(Case& c) {
  for (const char* input : {"w_scale", "w_zero_point"}) {
    const auto found = c.node.inputs.find(input);
    if (found != c.node.inputs.end() && found->second.type.shape.size() == 1 && found->second.type.shape[0] != 1)
      found->second.type.shape = {maps_of(c)};
  }
}

// What a case lies in, besides its shapes.
DType dtype(const Case& c, const char* input) { return c.node.inputs.at(input).type.dtype; }
Tensor data(const Case& c, const char* input) { return fill(c.sources.at(input).recipe, c.node.inputs.at(input).type); }
bool is_per_map(const Case& c, const char* input) {
  return shape_of(c, input).size() == 1 && shape_of(c, input)[0] > 1;
}

Int zero_point(const Case& c, const char* input) {
  const Tensor zero = data(c, input);
  if (zero.elements() == 0) return 1;
  return zero.dtype() == DType::u8 ? zero.as<std::uint8_t>()[0] : zero.as<std::int8_t>()[0];
}

bool is_at_an_end(const Case& c, const char* input) {
  const Int above = zero_point(c, input) - lowest(dtype(c, input));
  return above == 0 || above == 255;
}

std::vector<float> scales(const Case& c) {
  const Tensor w = data(c, "w_scale");
  return {w.as<float>().begin(), w.as<float>().end()};
}

// For some map, x_scale * w_scale / y_scale = 2^-shift: products of two f32 are exact in double.
bool has_ratio(const Case& c, int shift) {
  const double x = static_cast<double>(data(c, "x_scale").as<float>()[0]),
               y = static_cast<double>(data(c, "y_scale").as<float>()[0]);
  return std::ranges::any_of(
      scales(c), [&](float w) { return x * static_cast<double>(w) * static_cast<double>(Int{1} << shift) == y; });
}

bool has_ties(const Case& c) {
  for (int shift = 1; shift <= 8; ++shift)
    if (has_ratio(c, shift)) return true;
  return false;
}

bool scales_differ(const Case& c) {
  const std::vector<float> w = scales(c);
  return !w.empty() && *std::ranges::max_element(w) >= 16 * *std::ranges::min_element(w);
}

bool brims(const Case& c) {
  const auto bias = c.sources.find("B");
  return bias != c.sources.end() && bias->second.recipe.family == "hold";
}

std::vector<CoverageTag> mixes() {
  std::vector<CoverageTag> all;
  for (const DType x : {DType::i8, DType::u8})
    for (const DType w : {DType::i8, DType::u8})
      for (const DType y : {DType::i8, DType::u8}) {
        const std::string mix = std::string(name(x)) + " " + std::string(name(w)) + " " + std::string(name(y));
        all.push_back({"x w y " + mix, [=](const Case& c) {
                         return dtype(c, "x") == x && dtype(c, "w") == w && dtype(c, "y_zero_point") == y;
                       }});
      }
  return all;
}

std::vector<CoverageTag> all_traits() {
  std::vector<CoverageTag> all = mixes();
  const std::vector<CoverageTag> others{
      {"scale []", [](const Case& c) { return shape_of(c, "x_scale").empty(); }},
      {"scale [1]", [](const Case& c) { return shape_of(c, "x_scale").size() == 1; }},
      {"scale [] and zero point [1]",
       [](const Case& c) { return shape_of(c, "x_scale").empty() && !shape_of(c, "x_zero_point").empty(); }},
      {"one w_scale, one w_zero_point",
       [](const Case& c) { return !is_per_map(c, "w_scale") && !is_per_map(c, "w_zero_point"); }},
      {"w_scale and w_zero_point per map",
       [](const Case& c) { return is_per_map(c, "w_scale") && is_per_map(c, "w_zero_point"); }},
      {"w_scale per map, one w_zero_point",
       [](const Case& c) { return is_per_map(c, "w_scale") && !is_per_map(c, "w_zero_point"); }},
      {"one w_scale, w_zero_point per map",
       [](const Case& c) { return !is_per_map(c, "w_scale") && is_per_map(c, "w_zero_point"); }},
      {"w_scale varies 16 times", scales_differ},
      {"x_zero_point at an end", [](const Case& c) { return is_at_an_end(c, "x_zero_point"); }},
      {"w_zero_point at an end", [](const Case& c) { return is_at_an_end(c, "w_zero_point"); }},
      {"y_zero_point at an end", [](const Case& c) { return is_at_an_end(c, "y_zero_point"); }},
      {"w_zero_point not 0", [](const Case& c) { return zero_point(c, "w_zero_point") != 0; }},
      {"y_zero_point odd", [](const Case& c) { return zero_point(c, "y_zero_point") % 2 != 0; }},
      {"y_zero_point even", [](const Case& c) { return zero_point(c, "y_zero_point") % 2 == 0; }},
      {"scale ratio 1", [](const Case& c) { return has_ratio(c, 0); }},
      {"ties: scale ratio 2^-j", has_ties},
      {"ties and odd y_zero_point",
       [](const Case& c) { return has_ties(c) && zero_point(c, "y_zero_point") % 2 != 0; }},
      {"bias near 2^31", brims},
      {"parameters initializers", [](const Case& c) { return c.sources.at("w_scale").initializer; }},
      {"parameters graph inputs", [](const Case& c) { return !c.sources.at("w_scale").initializer; }}};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

}  // namespace

const OperatorGenerator& qlinear_conv() {
  static const OperatorGenerator generator{
      .draw = draw,
      .strata = strata_of(conv_ground()),
      .cost = conv_cost,
      .damages =
          {{"x_scale or x_zero_point per channel",
            [](Case& c) { return reshape(c, draw_x_parameter(), {std::max<Int>(2, shape_of(c, "x").at(1))}); }},
           {"x_scale or x_zero_point of rank 2",
            [](Case& c) {
              return reshape(c, draw_x_parameter(), {1, 1});
            }},
           {"w_scale or w_zero_point too long",
            [](Case& c) { return reshape(c, draw_w_parameter(), {maps_of(c) + 1}); }},
           {"w_scale or w_zero_point too short",
            [](Case& c) { return maps_of(c) > 2 && reshape(c, draw_w_parameter(), {maps_of(c) - 1}); }},
           {"w_scale or w_zero_point of rank 2",
            [](Case& c) {
              return reshape(c, draw_w_parameter(), {maps_of(c), 1});
            }},
           {"y_scale or y_zero_point per map",
            [](Case& c) { return reshape(c, draw_y_parameter(), {std::max<Int>(2, maps_of(c))}); }},
           {"y_scale or y_zero_point of rank 2",
            [](Case& c) {
              return reshape(c, draw_y_parameter(), {1, 1});
            }},
           {"a parameter left out",
            [](Case& c) {
              remove_input(c, pick({"x_scale", "x_zero_point", "w_scale", "w_zero_point", "y_scale", "y_zero_point"}));
            }},
           {"a zero point of another type",
            [](Case& c) {
              DType& type = c.node.inputs.at(pick({"x_zero_point", "w_zero_point"})).type.dtype;
              type = type == DType::u8 ? DType::i8 : DType::u8;
            }},
           {"a scale of another type",
            [](Case& c) {
              c.node.inputs.at(pick({"x_scale", "w_scale", "y_scale"})).type.dtype = pick({DType::f16, DType::f64});
            }},
           {"a bias of another type",
            [](Case& c) {
              if (!c.sources.contains("B")) return false;
              c.node.inputs.at("B").type.dtype = pick({DType::f32, DType::i64, DType::i8});
              return true;
            }}},
      .layout = Layout{.x = "x", .w = "w"},
      .traits = all_traits(),
      .refit = refit};
  return generator;
}

}  // namespace assay::generators
