// SPDX-License-Identifier: Apache-2.0
// The operators of ai.onnx.ml that map elements or select features: tables of none, one and many entries, elements that
// are in them and that are not, lists for every feature and for each.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/operator.h"
#include "reference/recipe.h"
#include "reference/sequence.h"

#include <algorithm>
#include <cmath>

namespace assay::generators {
namespace {

using Words = std::vector<std::string>;

// A case whose X has that shape and holds some of those values.
Case holding(const Definition& definition, DType type, const Shape& shape, const Words& values) {
  Case c = blank(definition);
  c.node.input("X", {type, shape});
  if (type != DType::string) {
    c.sources["X"] = {{chance(70) ? "lit" : "hold", joined(values, ",", [](const std::string& each) { return each; })},
                      false};
    return c;
  }
  Words all;
  for (Int i = 0; i < volume(shape); ++i) all.push_back(pick(values));
  const auto is_other = [&](const std::string& each) { return each != all.front(); };
  if (all.size() > 1) all[1] = *std::ranges::find_if(values, is_other);
  c.sources["X"] = {assay::stated(all), false};
  return c;
}

Shape with_features(std::uint64_t stratum) {
  Shape shape = draw_extents(stratum % shape_strata);
  if (shape.empty()) shape = {1};
  return shape;
}

// Draws so many different values.
template <class T>
std::vector<T> some(std::vector<T> from, Int many) {
  std::vector<T> all;
  while (many-- > 0 && !from.empty()) {
    const auto at = from.begin() + between(0, std::ssize(from) - 1);
    all.push_back(*at);
    from.erase(at);
  }
  return all;
}

// A list of one entry, or of one for each feature.
template <class T>
std::vector<T> per_feature(const Shape& x, const std::vector<T>& from) {
  std::vector<T> all;
  for (Int left = chance(50) ? 1 : std::max<Int>(1, x.back()); left > 0; --left) all.push_back(pick(from));
  return all;
}

const Reals floats{0.0F, 1.0F, -1.0F, 0.5F, 2.5F, 100.0F, 0.3F, 0x1p-140F, INFINITY};
const Ints integers{0, 1, -1, 2, 7, 100, 16777216};
const Texts words{"a", "b", "", "aa", "B", "\xc3\xa9", "a b"};

// Numbers of the lists, and others that fewer bits make of them.
Words numbers_of(DType type) {
  if (type == DType::f64)
    return {"0", "1", "-1", "0.1", "2.5", "-0", "100", "nan", "inf", "7", "0x1p-1070", "0x1.0000001p0"};
  if (is_float(type)) return {"0", "1", "-1", "0.3", "2.5", "-0", "100", "nan", "inf", "7", "0x1p-140", "0.5"};
  if (type == DType::i16) return {"0", "1", "-1", "2", "7", "100", "258", "-3"};
  if (type == DType::i32) return {"0", "1", "-1", "2", "7", "100", "258", "16777217"};
  return {"0", "1", "-1", "2", "7", "100", "258", "4294967298", "16777217"};
}

Case draw_binarizer(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = holding(definition, type, draw_extents(stratum % shape_strata), numbers_of(type));
  if (chance(80)) c.node.attribute("threshold", Attribute(pick({0.0F, 0.5F, 1.0F, -2.0F, 16777216.0F, 1e5F, 0.3F})));
  return c;
}

Case draw_imputer(const Definition& definition, DType type, std::uint64_t stratum) {
  const Shape shape = with_features(stratum);
  Case c = holding(definition, type, shape, numbers_of(type));
  if (is_float(type)) {
    c.node.attribute("imputed_value_floats", per_feature(shape, floats));
    if (chance(80)) c.node.attribute("replaced_value_float", Attribute(pick(floats)));
  } else {
    c.node.attribute("imputed_value_int64s", per_feature(shape, integers));
    if (chance(80)) c.node.attribute("replaced_value_int64", Attribute(pick(integers)));
  }
  return c;
}

Case draw_scaler(const Definition& definition, DType type, std::uint64_t stratum) {
  const Shape shape = with_features(stratum);
  Case c = blank(definition);
  c.node.input("X", {type, shape});
  c.sources["X"] = {draw_data(definition, type), false};
  const Reals offsets =
      per_feature(shape.size() == 2 ? shape : Shape{1}, Reals{0.0F, 1.0F, -2.5F, 0.1F, 1e-3F, 1000.3F});
  Reals scales;
  for (std::size_t i = 0; i < offsets.size(); ++i) scales.push_back(pick({1.0F, 0.5F, -3.0F, 0.1F, 1.7F, 1e-4F}));
  c.node.attribute("offset", offsets).attribute("scale", scales);
  return c;
}

// Draws a row, or rows.
Shape with_rows(std::uint64_t stratum) {
  const Shape shape = with_features(stratum);
  return shape.size() < 3 ? shape : Shape{volume(std::span(shape).first(shape.size() - 1)), shape.back()};
}

Case draw_normalizer(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = blank(definition);
  c.node.input("X", {type, with_rows(stratum)});
  const bool is_whole = !is_float(type);
  Recipe recipe = seeded(is_whole ? "small" : pick({"normal", "small", "quarter", "uniform", "logu", "normal"}));
  if (chance(35))
    recipe = {chance(50) ? "lit" : "hold", pick({"1,-2,0,3,4", "-1,-3,-2", "0,0,0,5", "0,-1,-7,0,-4", "3,4"})};
  if (type == DType::i64 && chance(30)) recipe = {"hold", pick({"4294967298,1,-3,7", "1,-4294967297,2"})};
  if (chance(20)) recipe = {"hold", is_whole ? "258,-300,2,65536" : "2.5,inf,-1,nan,3,0.5,-inf,8,1"};
  c.sources["X"] = {recipe, false};
  if (chance(85)) c.node.attribute("norm", pick<std::string>({"MAX", "L1", "L2"}));
  return c;
}

Case draw_vectorizer(const Definition& definition, DType type, std::uint64_t stratum) {
  Case c = blank(definition);
  const Shape first = with_rows(stratum);
  const Int rows = first.size() == 1 ? 1 : first[0];
  Ints taken;
  for (Int i = 0, many = weighted<Int>({{20, 1}, {45, 2}, {25, 3}, {10, 8}}); i < many; ++i) {
    const std::string& name = definition.inputs[static_cast<std::size_t>(i)].name;
    Shape shape = i == 0 ? first : Shape{rows, between(chance(15) ? 0 : 1, 4)};
    if (rows == 1 && chance(50)) shape = {shape.back()};
    c.node.input(name, {type, shape});
    c.sources[name] = {chance(60) ? Recipe{"hold", joined(numbers_of(type), ",")} : draw_selection_fill(type),
                       chance(20)};
    taken.push_back(chance(10) ? between(0, shape.back()) : shape.back());
  }
  if (chance(90)) c.node.attribute("inputdimensions", taken);
  return c;
}

// Gives all inputs as many rows as the first, and takes all their columns.
void refit_columns(Case& c) {
  const Shape first = shape_of(c);
  Ints taken;
  for (const Parameter& input : c.definition().inputs) {
    const auto found = c.node.inputs.find(input.name);
    if (found == c.node.inputs.end() || first.empty()) break;
    Shape& shape = found->second.type.shape;
    if (shape.size() == 2 && first.size() == 2) shape[0] = first[0];
    if (shape.size() == 2 && first.size() == 1) shape[0] = 1;
    if (shape.size() == 1 && first.size() == 2 && first[0] != 1) shape.insert(shape.begin(), first[0]);
    if (!shape.empty()) taken.push_back(shape.back());
  }
  if (c.node.attributes.contains("inputdimensions")) c.node.attribute("inputdimensions", taken);
}

Case draw_extractor(const Definition& definition, DType type, std::uint64_t stratum) {
  Shape shape = with_features(stratum);
  if (shape.back() == 0) shape.back() = 1;
  Case c = moving(definition, type, shape);
  Ints places;
  for (Int left = between(1, 5); left > 0; --left) places.push_back(between(0, shape.back() - 1));
  write_out(c, "Y", chance(50) ? Shape{std::ssize(places)} : Shape{1, std::ssize(places)}, places);
  return c;
}

Case draw_one_hot(const Definition& definition, DType type, std::uint64_t stratum) {
  const bool is_text = type == DType::string, knows_all = chance(30);
  const Int many = between(knows_all ? 2 : 1, 5);
  const Texts texts = some(words, many);
  const Ints whole = some(integers, many);
  Words values = is_text ? texts : Words();
  if (!is_text)
    for (const Int each : whole) values.push_back(std::to_string(each));
  if (!knows_all)
    for (const std::string& each : is_text ? words : numbers_of(type)) values.push_back(each);
  if (!knows_all && is_float(type)) values.insert(values.end(), {"1.9", "-0.9", "2.5"});
  Case c = holding(definition, type, draw_extents(stratum % shape_strata), values);
  if (is_text)
    c.node.attribute("cats_strings", texts);
  else
    c.node.attribute("cats_int64s", whole);
  if (knows_all || chance(30)) c.node.attribute("zeros", Attribute(between(0, 1)));
  return c;
}

// States what stands for an unknown key of CategoryMapper and LabelEncoder-1.
void draw_default(Case& c, bool is_text) {
  if (!chance(60)) return;
  if (is_text)
    c.node.attribute("default_int64", Attribute(pick(integers)));
  else
    c.node.attribute("default_string", Attribute(pick(words)));
}

Case draw_mapper(const Definition& definition, DType type, std::uint64_t stratum) {
  const bool is_text = type == DType::string;
  const Int many = between(0, 5);
  Case c = holding(definition, type, draw_extents(stratum % shape_strata), is_text ? words : numbers_of(type));
  c.node.attribute("cats_int64s", some(integers, many)).attribute("cats_strings", some(words, many));
  draw_default(c, is_text);
  return c;
}

// Writes a list of that type as the attribute that is called so, or as a tensor.
void state_list(Case& c, const std::string& stem, DType type, Int many, bool is_of_keys) {
  const auto plain = [&](DType of) { return of == DType::string || of == DType::i64 || of == DType::f32; };
  const bool is_tensor = !plain(type) || (c.definition().attribute(stem + "tensor") && chance(40));
  if (is_tensor) {
    const Words small{"0", "1", "-1", "2", "7", "100", "-3"}, real{"0", "1", "inf", "100", "7"};
    Words from = is_float(type) ? real : small;
    if (type == DType::f32) from.insert(from.end(), {"0x1.333334p-2", "0x1p-140"});
    if (type == DType::f64) from.insert(from.end(), {"0x1.999999999999ap-4", "0x1p-1070", "1"});
    if (type == DType::i64) from.insert(from.end(), {"16777216"});
    Words chosen = some(from, many);
    if (is_of_keys && is_float(type) && chance(40) && !chosen.empty()) chosen.front() = "nan";
    const Recipe recipe = type == DType::string
                              ? assay::stated(some(words, many))
                              : Recipe{"values", joined(chosen, ",", [](const std::string& each) { return each; })};
    c.node.attribute(stem + "tensor", fill(recipe, {type, {many}}));
  } else if (type == DType::string) {
    c.node.attribute(stem + "strings", some(words, many));
  } else if (type == DType::i64) {
    c.node.attribute(stem + "int64s", some(integers, many));
  } else {
    c.node.attribute(stem + "floats", some(floats, many));
  }
}

// Repeats a key where the version says which counts.
void repeat_key(Case& c) {
  for (const char* const name : {"keys_int64s", "keys_strings", "keys_floats"})
    if (const auto found = c.node.attributes.find(name); found != c.node.attributes.end())
      std::visit(
          [](auto& list) {
            if constexpr (requires { list.back() = list.front(); }) list.back() = list.front();
          },
          found->second);
}

Case draw_encoder(const Definition& definition, DType type, std::uint64_t stratum) {
  const bool is_text = type == DType::string;
  Case c = holding(definition, type, draw_extents(stratum % shape_strata), is_text ? words : numbers_of(type));
  if (definition.attribute("classes_strings")) {
    c.node.attribute("classes_strings", some(words, between(0, 6)));
    draw_default(c, is_text);
    return c;
  }
  const Int many = between(1, 6);
  const DType values = pick(definition.types_of("T2"));
  state_list(c, "keys_", type, many, true);
  state_list(c, "values_", values, many, false);
  if (chance(15)) repeat_key(c);
  if (chance(50)) {
    if (values == DType::string) c.node.attribute("default_string", Attribute(pick(words)));
    if (values == DType::i64) c.node.attribute("default_int64", Attribute(pick(integers)));
    if (values == DType::f32) c.node.attribute("default_float", Attribute(pick(floats)));
    if (definition.attribute("default_tensor") && values != DType::string && values != DType::i64 &&
        values != DType::f32)
      c.node.attribute("default_tensor", fill({"values", "7"}, {values, {1}}));
  }
  return c;
}

// -- damages

// Takes an entry from a list, or adds one.
bool another_length(Case& c, const char* name) {
  const auto found = c.node.attributes.find(name);
  if (found == c.node.attributes.end()) return false;
  return std::visit(
      [](auto& list) {
        if constexpr (requires {
                        list.push_back(list.front());
                        list.pop_back();
                      }) {
          if (list.empty()) return false;
          chance(50) ? list.pop_back() : list.push_back(list.front());
          return true;
        } else {
          return false;
        }
      },
      found->second);
}

Mutation longer(const char* name) {
  return {"a list of another length", [name](Case& c) { return another_length(c, name); }};
}
Mutation without(const char* name) {
  return {"a list left out", [name](Case& c) { return c.node.attributes.erase(name) > 0; }};
}
Mutation without_axes() {
  return {"no axis", [](Case& c) { shape_of(c).clear(); }};
}

// Lists of one entry for each feature are as long as there are features.
void refit(Case& c) {
  if (!c.node.inputs.contains("X") || shape_of(c).empty()) return;
  const auto features = static_cast<std::size_t>(std::max<Int>(1, shape_of(c).back()));
  for (auto& [name, value] : c.node.attributes)
    std::visit(
        [&](auto& list) {
          if constexpr (requires { list.resize(features, list.front()); })
            if (list.size() > 1 && list.size() != features) list.resize(features, list.front());
        },
        value);
}

std::pair<Int, Int> rows_alone(const Definition&) { return {1, 2}; }

OperatorGenerator made(Case (*draw)(const Definition&, DType, std::uint64_t), std::vector<Mutation> damages,
                       Ranks ranks = axes<0>) {
  OperatorGenerator all = moving_generator(draw);
  all.ranks = ranks;
  if (ranks == axes<1>) all.refit = refit;
  all.damages = std::move(damages);
  return all;
}

}  // namespace

const OperatorGenerator& binarizer() {
  static const OperatorGenerator all = made(draw_binarizer, {});
  return all;
}
const OperatorGenerator& imputer() {
  static const OperatorGenerator all =
      made(draw_imputer,
           {longer("imputed_value_floats"),
            longer("imputed_value_int64s"),
            without("imputed_value_floats"),
            without("imputed_value_int64s"),
            without_axes(),
            {"a value of another kind",
             [](Case& c) {
               c.node.attribute("replaced_value_float", Attribute(1.0F)).attribute("replaced_value_int64", 1);
             }},
            {"a value that does not fit",
             [](Case& c) {
               if (c.node.inputs.at("X").type.dtype != DType::i32) return false;
               c.node.attribute("replaced_value_int64", Attribute(Int{1} << 40));
               return true;
             }}},
           axes<1>);
  return all;
}
const OperatorGenerator& scaler() {
  static const OperatorGenerator all = made(
      draw_scaler, {longer("offset"), longer("scale"), without("offset"), without("scale"), without_axes()}, axes<1>);
  return all;
}
const OperatorGenerator& normalizer() {
  static const OperatorGenerator all = made(draw_normalizer,
                                            {{"another rank",
                                              [](Case& c) {
                                                shape_of(c) = chance(50) ? Shape{} : Shape{1, 1, 2};
                                              }}},
                                            rows_alone);
  return all;
}
const OperatorGenerator& feature_vectorizer() {
  static const OperatorGenerator all = [] {
    OperatorGenerator generator = made(
        draw_vectorizer, {{"another rank",
                           [](Case& c) {
                             shape_of(c) = chance(50) ? Shape{} : Shape{1, 1, 2};
                           }},
                          {"another number of rows",
                           [](Case& c) {
                             shape_of(c) = {3, 1};
                             c.node.attributes.erase("inputdimensions");
                             return c.node.inputs.size() > 1;
                           }},
                          {"more columns than there are", [](Case& c) {
                             Ints taken =
                                 c.call().states("inputdimensions") ? c.call().ints("inputdimensions") : Ints{};
                             chance(50) || taken.empty() ? taken.push_back(1) : static_cast<void>(taken.back() += 9);
                             c.node.attribute("inputdimensions", taken);
                           }}});
    generator.refit = refit_columns;
    generator.ranks = rows_alone;
    return generator;
  }();
  return all;
}
const OperatorGenerator& array_feature_extractor() {
  static const OperatorGenerator all =
      made(draw_extractor,
           {without_axes(),
            {"a place out of range",
             [](Case& c) {
               write_out(c, "Y", {1}, {pick({shape_of(c).empty() ? 1 : shape_of(c).back(), Int{-1}})});
             }}},
           axes<1>);
  return all;
}
const OperatorGenerator& one_hot_encoder() {
  static const OperatorGenerator all = made(
      draw_one_hot, {without("cats_strings"),
                     without("cats_int64s"),
                     {"categories of both kinds",
                      [](Case& c) { c.node.attribute("cats_strings", Texts{"a"}).attribute("cats_int64s", Ints{1}); }},
                     {"a category twice", [](Case& c) {
                        for (const char* const name : {"cats_strings", "cats_int64s"})
                          if (c.node.attributes.contains(name)) another_length(c, name);
                      }}});
  return all;
}
const OperatorGenerator& category_mapper() {
  static const OperatorGenerator all = made(
      draw_mapper,
      {longer("cats_strings"),
       longer("cats_int64s"),
       without("cats_strings"),
       without("cats_int64s"),
       {"a default of the other kind",
        [](Case& c) { c.node.attribute("default_int64", 1).attribute("default_string", Attribute(std::string("x"))); }},
       {"an entry twice", [](Case& c) {
          c.node.attribute("cats_int64s", Ints{1, 1}).attribute("cats_strings", Texts{"a", "b"});
        }}});
  return all;
}
const OperatorGenerator& label_encoder() {
  static const OperatorGenerator all = made(
      draw_encoder,
      {longer("keys_int64s"),
       longer("keys_strings"),
       longer("keys_floats"),
       longer("values_floats"),
       without("classes_strings"),
       without("keys_int64s"),
       without("keys_strings"),
       without("values_strings"),
       {"a default of another kind",
        [](Case& c) { c.node.attribute("default_int64", 1).attribute("default_string", Attribute(std::string("x"))); }},
       {"keys of another kind", [](Case& c) {
          for (const char* const name : {"keys_int64s", "keys_strings", "keys_floats", "keys_tensor"})
            c.node.attributes.erase(name);
          if (!c.definition().attribute("keys_floats")) return false;
          const bool is_text = c.node.inputs.at("X").type.dtype == DType::string;
          is_text ? c.node.attribute("keys_int64s", Ints{1}) : c.node.attribute("keys_strings", Texts{"a"});
          return true;
        }}});
  return all;
}

}  // namespace assay::generators
