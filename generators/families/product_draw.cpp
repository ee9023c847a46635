// SPDX-License-Identifier: Apache-2.0
// Draws products of matrices: vectors, matrices and batches that are broadcast; inner extents around those of vector
// registers; transposed operands, what is added, and zero points, where an operator has them.
#include "generators/draw.h"
#include "generators/families/product.h"
#include "generators/values.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::generators {
namespace {

// -- the extents of a case

bool is_flagged(const Case& c, const char* flag) {
  const auto stated = c.node.attributes.find(flag);
  return stated != c.node.attributes.end() && std::get<Int>(stated->second) != 0;
}

// Returns the shape of a stack of matrices that is operand A or B of a case: its last two axes are exchanged where it
// is transposed, and the one before the last comes first where its batch is.
Shape stack_of(const Case& c, const std::string& operand, Ints batch, Int rows, Int columns) {
  const bool is_transposed = is_flagged(c, ("trans" + operand).c_str());
  batch.push_back(is_transposed ? columns : rows);
  batch.push_back(is_transposed ? rows : columns);
  if (is_flagged(c, ("transBatch" + operand).c_str())) std::rotate(batch.begin(), batch.end() - 2, batch.end() - 1);
  return batch;
}
// The same backwards: the shape with its batch first, then its rows and columns.
Shape straightened(const Case& c, const std::string& operand, Shape stack) {
  if (stack.size() < 2) return stack;
  if (is_flagged(c, ("transBatch" + operand).c_str())) std::rotate(stack.begin(), stack.begin() + 1, stack.end() - 1);
  if (is_flagged(c, ("trans" + operand).c_str())) std::iter_swap(stack.end() - 1, stack.end() - 2);
  return stack;
}

// Makes an extent that was that of the rows or columns what it is now.
void follow(Shape& shape, std::size_t from_last, Int before, Int now) {
  if (shape.size() < from_last) return;
  Int& extent = shape[shape.size() - from_last];
  if (extent == before) extent = now;
}

}  // namespace

Shape draw_single() { return Shape(static_cast<std::size_t>(between(0, 1)), 1); }
Recipe draw_bytes() { return seeded(pick({"full", "full", "ends", "small"})); }
// Fills a type of eight bits with all that it holds, floats of moderate size for the most part.
static Recipe draw_codes(DType type) {
  if (!is_small(type)) return draw_bytes();
  return chance(10) ? Recipe{"bits", "0"} : seeded(pick({"small", "quarter", "normal", "sign"}));
}
Recipe draw_zero_point(DType type, bool is_single) {
  if (!is_single) return seeded("full");
  return {"hold", type == DType::u8 ? pick({"1", "127", "128", "255", "0"}) : pick({"1", "127", "-128", "-3", "0"})};
}

void give_or_not(Case& c, const std::string& input, TensorType type, Recipe recipe) {
  if (chance(30)) {
    if (chance(40)) c.node.empty_input(input);
    return;
  }
  c.node.input(input, std::move(type));
  c.sources[input] = {std::move(recipe), chance(50)};
}

std::string a_of(const Case& c) { return c.definition().inputs.front().name; }
std::string b_of(const Case& c) { return c.definition().input("b") ? "b" : "B"; }

bool is_scaled(const Definition& definition) { return definition.attribute("transA") && definition.input("C"); }
bool is_given(const Case& c, const std::string& input) { return c.sources.contains(input); }

std::optional<MatrixExtents> extents_of(const Case& c) {
  if (!is_given(c, a_of(c)) || !is_given(c, b_of(c))) return std::nullopt;
  Shape a = straightened(c, "A", generators::shape_of(c, a_of(c)));
  Shape b = straightened(c, "B", generators::shape_of(c, b_of(c)));
  if (a.empty() || b.empty()) return std::nullopt;
  MatrixExtents e{.a_is_vector = a.size() == 1, .b_is_vector = b.size() == 1};
  if (e.a_is_vector) a.insert(a.begin(), 1);
  if (e.b_is_vector) b.push_back(1);
  e.rows = a[a.size() - 2];
  e.a_depth = a.back();
  e.b_depth = b[b.size() - 2];
  e.columns = b.back();
  e.a_batch.assign(a.begin(), a.end() - 2);
  e.b_batch.assign(b.begin(), b.end() - 2);
  return e;
}

void write(Case& c, const MatrixExtents& before, const MatrixExtents& now) {
  Shape &a = generators::shape_of(c, a_of(c)), &b = generators::shape_of(c, b_of(c));
  a = now.a_is_vector ? Shape{now.a_depth} : stack_of(c, "A", now.a_batch, now.rows, now.a_depth);
  b = now.b_is_vector ? Shape{now.b_depth} : stack_of(c, "B", now.b_batch, now.b_depth, now.columns);
  if (is_given(c, "C")) {
    follow(generators::shape_of(c, "C"), 2, before.rows, now.rows);
    follow(generators::shape_of(c, "C"), 1, before.columns, now.columns);
  }
  if (is_given(c, "bias")) follow(generators::shape_of(c, "bias"), 1, before.columns, now.columns);
  const auto lay_along = [&](const char* zeros, const Shape& matrices, std::size_t axis, Int was, Int is) {
    if (!is_given(c, zeros)) return;
    Shape& shape = generators::shape_of(c, zeros);
    const bool is_per_matrix = shape.size() > 1;
    if (is_per_matrix) shape = matrices;
    if (is_per_matrix && axis <= shape.size()) shape[shape.size() - axis] = 1;
    if (shape.size() == 1 && shape[0] != 1) follow(shape, 1, was, is);
  };
  for (const char* of_a : {"a_zero_point", "a_scale"}) lay_along(of_a, a, 1, before.rows, now.rows);
  for (const char* of_b : {"b_zero_point", "b_scale"}) lay_along(of_b, b, 2, before.columns, now.columns);
}

namespace {

// -- drawing

constexpr std::pair<Int, Int> rank_pairs[] = {{2, 2}, {1, 1}, {2, 3}, {1, 2}, {3, 2}, {2, 1}, {3, 3},
                                              {1, 4}, {2, 2}, {4, 1}, {4, 3}, {3, 1}, {1, 3}};
constexpr std::uint64_t empty_every = 11;

Int draw_extent() {
  return weighted<Int>(
      {{20, 1}, {55, between(2, 7)}, {15, pick<Int>({8, 9, 15, 16, 17})}, {10, pick<Int>({31, 32, 33})}});
}
Int draw_depth() {
  return weighted<Int>({{12, 1},
                        {50, between(2, 7)},
                        {20, pick<Int>({8, 15, 16, 17})},
                        {12, pick<Int>({31, 32, 33, 63, 65})},
                        {6, pick<Int>({127, 128, 129, 1000})}});
}

// Extents of the axes before the last two, some of which an operand has 1 of.
Ints draw_batch(const Ints& whole, Int axes) {
  Ints batch(whole.end() - axes, whole.end());
  for (Int& extent : batch)
    if (chance(35)) extent = 1;
  return batch;
}

MatrixExtents draw_extents(const Definition& definition, std::uint64_t stratum) {
  const auto [a_rank, b_rank] =
      is_scaled(definition) ? std::pair<Int, Int>{2, 2} : rank_pairs[stratum % std::size(rank_pairs)];
  Ints batch;
  for (int axis = 0; axis < 2; ++axis) batch.push_back(between(1, 3));
  MatrixExtents e{.a_batch = draw_batch(batch, std::max<Int>(0, a_rank - 2)),
                  .b_batch = draw_batch(batch, std::max<Int>(0, b_rank - 2)),
                  .rows = a_rank == 1 ? 1 : draw_extent(),
                  .columns = b_rank == 1 ? 1 : draw_extent(),
                  .a_is_vector = a_rank == 1,
                  .b_is_vector = b_rank == 1};
  e.a_depth = e.b_depth = draw_depth();
  if (stratum % empty_every != 6) return e;
  switch (between(0, 3)) {
    case 0: e.a_depth = e.b_depth = 0; break;
    case 1: e.rows = e.a_is_vector ? 1 : 0; break;
    case 2: e.columns = e.b_is_vector ? 1 : 0; break;
    default:
      if (!e.a_batch.empty()) e.a_batch.back() = 0;
      if (!e.b_batch.empty() && (e.a_batch.empty() || chance(50)))
        e.b_batch.back() = e.a_batch.empty() || chance(50) ? 0 : 1;
  }
  return e;
}

// Integers whose products and sums mostly fit, near the bits that narrower accumulators have.
Recipe draw_integers(DType type, Int depth) {
  const bool is_wide = size_of(type) == 8;
  const bool is_unsigned = type == DType::u32 || type == DType::u64;
  if (chance(15)) return seeded(pick({"full", "ends"}));
  if (depth > 100 || chance(45)) return seeded("small");
  if (is_unsigned) return seeded("around" + std::to_string(is_wide ? pick({12, 40, 100}) : pick({9, 12})));
  return seeded("odd" + std::to_string(is_wide ? pick({14, 26, 28}) : pick({8, 12})));
}

// The shape of what belongs to the rows of A (axis 1 from the end) or the columns of B (axis 2): one, or one for each.
Shape draw_beside(const Case& c, const std::string& of, std::size_t axis, Int count) {
  Shape shape = generators::shape_of(c, of);
  if (shape.size() == 1 || chance(40)) return draw_single();
  if (shape.size() == 2) return {count};
  shape[shape.size() - axis] = 1;
  return shape;
}

void draw_zero_points(Case& c, const MatrixExtents& e) {
  const auto zero_point = [&](const char* name, const char* of, std::size_t axis, bool is_vector, Int count) {
    const DType type = c.node.inputs.at(of).type.dtype;
    const bool is_single = is_vector || chance(40);
    Shape shape = is_single ? draw_single() : generators::shape_of(c, of);
    if (!is_single && shape.size() == 2) shape = {count};
    if (!is_single && shape.size() > 2) shape[shape.size() - axis] = 1;
    give_or_not(c, name, {type, std::move(shape)}, draw_zero_point(type, is_single));
  };
  zero_point("a_zero_point", "A", 1, e.a_is_vector, e.rows);
  zero_point("b_zero_point", "B", 2, e.b_is_vector, e.columns);
  if (c.node.inputs.contains("b_zero_point") && !c.node.inputs.contains("a_zero_point"))
    c.node.empty_input("a_zero_point");
}

// Scales of which the product is a power of two as often as not, so that ties are ties; zero points of 0 for floats.
void draw_quantization(Case& c, const MatrixExtents& e) {
  const Definition& definition = c.definition();
  const DType scale = pick(definition.types_of(definition.input("a_scale")->type));
  const auto add = [&](const std::string& name, TensorType type, Recipe recipe) {
    c.node.input(name, std::move(type));
    c.sources[name] = {std::move(recipe), chance(50)};
  };
  const auto zero = [](DType type, const Shape& shape) {
    const bool is_list = volume(shape) > 1;
    return is_float(type) ? Recipe{"hold", is_list      ? "0,0.5"
                                           : chance(80) ? "0"
                                                        : "0.5"}
                          : draw_zero_point(type, !is_list);
  };
  const auto beside = [&](const std::string& of, std::size_t axis, Int count) {
    const DType type = c.node.inputs.at(of).type.dtype;
    const Shape shape = draw_beside(c, of, axis, count), zeros = chance(70) ? shape : draw_beside(c, of, axis, count);
    const bool is_list = volume(shape) > 1;
    add(of + "_scale", {scale, shape},
        {"hold", is_list ? pick({"0.25,0.5,2", "0.1,0.3,0.7", "0.5,1"}) : pick({"0.5", "1", "0.25", "0.1", "0.01"})});
    add(of + "_zero_point", {type, zeros}, zero(type, zeros));
  };
  beside("a", 1, e.rows);
  beside("b", 2, e.columns);
  const DType y = pick(definition.types_of(definition.input("y_zero_point")->type));
  const Recipe y_scale{"hold", pick({"1", "2", "64", "256", "0.3", "1000", "3.7", "16"})};
  add("y_scale", {scale, draw_single()}, y_scale);
  const Recipe y_zero_point = zero(y, {});
  add("y_zero_point", {y, draw_single()}, y_zero_point);
}

}  // namespace

Shape draw_added(const MatrixExtents& e) {
  const auto [m, n] = std::pair(e.rows, e.columns);
  return pick(std::vector<Shape>{{m, n}, {m, n}, {m, n}, {1, n}, {n}, {m, 1}, {1, 1}, {1}, {}});
}

float draw_factor(DType type) {
  if (is_float(type)) return pick({1.0F, 1.0F, 0.0F, -1.0F, 0.5F, 3.0F, 0.3F, -0.0625F, 1.25F});
  return chance(8) ? 0.5F : pick({1.0F, 1.0F, 0.0F, -1.0F, 2.0F, 3.0F});
}

namespace {

void draw_scaled(Case& c, const Definition& definition, DType type, const MatrixExtents& e, Recipe added) {
  const Parameter& input = *definition.input("C");
  const Shape whole{e.rows, e.columns};
  Shape shape = draw_added(e);
  const bool limited = definition.attribute("broadcast") != nullptr;
  if (limited && chance(40)) shape = whole;
  const bool repeats = limited && shape != whole;
  if (limited && (repeats || chance(50))) c.node.attribute("broadcast", repeats || chance(40) ? 1 : 0);
  if (input.arity == Arity::optional) {
    give_or_not(c, "C", {type, std::move(shape)}, std::move(added));
  } else {
    c.node.input("C", {type, std::move(shape)});
    c.sources["C"] = {std::move(added), chance(50)};
  }
  for (const char* factor : {"alpha", "beta"})
    if (const float value = draw_factor(type); value != 1 || chance(30)) c.node.attribute(factor, Attribute(value));
}

// -- near misses

bool another_inner_extent(Case& c) {
  const std::optional<MatrixExtents> before = extents_of(c);
  if (!before) return false;
  MatrixExtents now = *before;
  (chance(50) ? now.a_depth : now.b_depth) += between(1, 2);
  write(c, *before, now);
  return true;
}

bool another_batch(Case& c) {
  const std::optional<MatrixExtents> before = extents_of(c);
  if (!before || before->a_batch.empty() || before->b_batch.empty()) return false;
  MatrixExtents now = *before;
  now.a_batch.back() = between(2, 3);
  now.b_batch.back() = now.a_batch.back() + between(1, 2);
  write(c, *before, now);
  return true;
}

bool another_rank(Case& c) {
  Shape& shape = generators::shape_of(c, pick({a_of(c), b_of(c)}));
  if (shape.empty() || !is_scaled(c.definition()) || chance(50))
    shape.clear();
  else
    shape.insert(shape.begin(), 1);
  return true;
}

// Makes the shape of an input that is added or subtracted another one.
bool another_shape_beside(Case& c) {
  const std::optional<MatrixExtents> e = extents_of(c);
  Names names;
  for (const char* input :
       {"C", "a_zero_point", "b_zero_point", "a_scale", "b_scale", "y_scale", "y_zero_point", "bias"})
    if (is_given(c, input)) names.emplace_back(input);
  if (!e || names.empty()) return false;
  const std::string& input = pick(names);
  Shape& shape = generators::shape_of(c, input);
  const Int count = (input.starts_with("a_") ? e->rows : e->columns) + 1;
  switch (between(0, 3)) {
    case 0: shape = {count}; break;
    case 1: shape.insert(shape.begin(), 3 - std::min<std::size_t>(2, shape.size()), 1); break;
    case 2: shape = {e->rows, 1}; break;
    default: shape = {e->rows + 1, e->columns};
  }
  return true;
}

bool loses_an_input(Case& c) {
  remove_input(c, pick({b_of(c), std::string("C")}));
  return true;
}

bool another_type(Case& c) {
  Names names;
  for (const auto& [name, source] : c.sources)
    if (name != a_of(c)) names.push_back(name);
  if (names.empty()) return false;
  const std::string& input = pick(names);
  const std::string& type = c.definition().input(input)->type;
  c.node.inputs.at(input).type.dtype = pick(c.definition().types_of(type));
  return true;
}

}  // namespace

DrawnProduct draw_operands(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = blank(definition);
  const MatrixExtents e = draw_extents(definition, stratum);
  if (definition.attribute("transA"))
    for (const char* flag : {"transA", "transB"}) write_default(c.node, definition, flag, chance(45) ? 1 : 0, 0);
  for (const auto& [flag, batch] : {std::pair("transBatchA", &e.a_batch), std::pair("transBatchB", &e.b_batch)})
    if (definition.attribute(flag) && !batch->empty()) write_default(c.node, definition, flag, chance(50) ? 1 : 0, 0);
  const std::string a_name = a_of(c), b_name = b_of(c), b_type = definition.input(b_name)->type;
  const std::string& a_type = definition.inputs.front().type;
  const bool shares = b_type == a_type;
  const DType left = a_type == definition.data().type ? type : pick(definition.types_of(a_type));
  const DType other = b_type == definition.data().type ? type : pick(definition.types_of(b_type));
  const Int terms = std::max<Int>(1, e.a_depth) + (is_scaled(definition) ? 1 : 0);
  const ConvolutionFill data =
      is_small(left) || is_small(other) ? ConvolutionFill{draw_codes(left), draw_codes(other), {}}
      : is_float(left)                  ? draw_convolution_fill({left, terms, is_scaled(definition)})
      : shares ? ConvolutionFill{draw_integers(type, terms), draw_integers(type, terms), seeded("small")}
               : ConvolutionFill{draw_bytes(), draw_bytes(), {}};
  c.node.input(a_name, {left, {1}}).input(b_name, {other, {1}});
  c.sources[a_name] = {data.x, false};
  c.sources[b_name] = {data.w, chance(50)};
  write(c, e, e);
  return {std::move(c), e, data.b};
}

Case draw_product(const Definition& definition, DType type, std::uint64_t stratum) {
  auto [c, e, added] = draw_operands(definition, type, stratum);
  if (is_scaled(definition)) draw_scaled(c, definition, type, e, added);
  if (definition.input("y_scale"))
    draw_quantization(c, e);
  else if (definition.input("a_zero_point"))
    draw_zero_points(c, e);
  return c;
}

std::vector<Mutation> product_damages() {
  return {{"another inner extent", another_inner_extent},
          {"another batch", another_batch},
          {"an operand of another rank", another_rank},
          {"another shape beside", another_shape_beside},
          {"an input left out", loses_an_input},
          {"an input of another type", another_type},
          {"no broadcast", [](Case& c) { return c.node.attributes.erase("broadcast") > 0; }}};
}

}  // namespace assay::generators
