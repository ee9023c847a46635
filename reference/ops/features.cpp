// SPDX-License-Identifier: Apache-2.0
// Binarizer, Imputer, Scaler, ArrayFeatureExtractor, OneHotEncoder (ai.onnx.ml 1) -
// https://onnx.ai/onnx/operators/onnx_aionnxml_Binarizer.html
//
//   Binarizer:              Y = 1 where X > threshold, else 0
//   Imputer:                Y = the imputed value where X is the replaced one, or both are NaN, else X
//   Scaler:                 Y = (X - offset) * scale
//   ArrayFeatureExtractor:  Z[…, j] = X[…, Y[j]]
//   OneHotEncoder:          Y[…, j] = 1 where X[…] is category j, else 0; floats are truncated to integers first
//
// A feature is a place on the last axis; a list of one entry is that of every feature.
#include "reference/families/elementwise.h"
#include "reference/families/picked.h"
#include "reference/sequence.h"
#include "reference/type_lists.h"

#include <cmath>

namespace assay {
namespace {

using enum DType;
using Kind = AttributeSpec::Kind;

Int features(const Call& call) { return call.rank("X") > 0 ? call.shape("X").back() : 1; }

template <class T>
const T& of_feature(const std::vector<T>& list, Int at) {
  return list[static_cast<std::size_t>(at) % list.size()];
}

template <class T>
bool is_above(T x, float threshold) {
  if constexpr (!std::is_integral_v<T>) return x > threshold;
  if (!(std::abs(threshold) < 0x1p62F)) return threshold < 0;
  return static_cast<Int>(x) > static_cast<Int>(std::floor(threshold));
}

Kernel binarize() {
  return [](const Call& call, Inputs in) {
    Tensor y(in[0]->type());
    for_number(y.dtype(), [&]<class T>() {
      const float threshold = call.real("threshold");
      std::ranges::transform(in[0]->as<T>(), y.as<T>().begin(), [&](T x) { return T(is_above(x, threshold)); });
    });
    return y;
  };
}

template <class T, class Value>
void impute(std::span<const T> x, std::span<T> y, const std::vector<Value>& imputed, Value replaced, Int columns) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool is_missing = x[i] == T(replaced) || (x[i] != x[i] && replaced != replaced);
    y[i] = is_missing ? T(of_feature(imputed, static_cast<Int>(i) % columns)) : x[i];
  }
}

Values imputed(const Call& call, Inputs in) {
  Tensor y(in[0]->type());
  for_number(y.dtype(), [&]<class T>() {
    if constexpr (std::is_integral_v<T>)
      impute<T, Int>(in[0]->as<T>(), y.as<T>(), call.ints("imputed_value_int64s"), call.integer("replaced_value_int64"),
                     features(call));
    else
      impute<T, float>(in[0]->as<T>(), y.as<T>(), call.reals("imputed_value_floats"), call.real("replaced_value_float"),
                       features(call));
  });
  return y;
}

Values scaled(const Call& call, Inputs in) {
  Tensor y({f32, in[0]->shape()});
  const Reals offsets = call.reals("offset"), scales = call.reals("scale");
  for (Int i = 0; i < y.elements(); ++i)
    put_number(
        y, i,
        (number_at(*in[0], i) - of_feature(offsets, i % features(call))) * of_feature(scales, i % features(call)));
  return y;
}

Shape extracted(const Call& call) {
  Shape z = call.rank("X") == 1 ? Shape{1, 0} : call.shape("X");
  z.back() = volume(call.shape("Y"));
  return z;
}

Values extract(const Call& call, Inputs in) {
  const Ints places = call.ints("Y");
  return in_runs(*in[0], {in[0]->dtype(), extracted(call)}, 1, [&](Int i) {
    const Int many = std::ssize(places);
    return i / many * features(call) + places[static_cast<std::size_t>(i % many)];
  });
}

Shape encoded(const Call& call) {
  Shape y = call.shape("X");
  y.push_back(call.states("cats_strings") ? std::ssize(call.texts("cats_strings"))
                                          : std::ssize(call.ints("cats_int64s")));
  return y;
}

Values encode(const Call& call, Inputs in) {
  Tensor y({f32, encoded(call)});
  const std::size_t columns = static_cast<std::size_t>(y.shape().back());
  const auto mark = [&](std::size_t i, const auto& categories, const auto& x) {
    if (const auto at = std::ranges::find(categories, x); at != categories.end())
      y.as<float>()[i * columns + static_cast<std::size_t>(at - categories.begin())] = 1;
  };
  for (std::size_t i = 0; i < static_cast<std::size_t>(in[0]->elements()); ++i)
    if (in[0]->dtype() == string)
      mark(i, call.texts("cats_strings"), in[0]->as<std::string>()[i]);
    else if (in[0]->dtype() == i64)
      mark(i, call.ints("cats_int64s"), in[0]->as<Int>()[i]);
    else if (const double x = number_at(*in[0], static_cast<Int>(i)); std::abs(x) < 0x1p63)
      mark(i, call.ints("cats_int64s"), static_cast<Int>(x));
  return y;
}

// A list that is there has one entry, or one for each feature.
template <class List>
bool fits(const Call& call, const List& list) {
  return list.size() == 1 || (!list.empty() && std::ssize(list) == features(call));
}

bool imputes_its_kind(const Call& call) {
  const bool is_whole = is_integer(call.type("X").dtype);
  const auto states_either = [&](const char* list, const char* value) {
    return call.states(list) || call.states(value);
  };
  return call.states(is_whole ? "imputed_value_int64s" : "imputed_value_floats") &&
         (is_whole ? !states_either("imputed_value_floats", "replaced_value_float")
                   : !states_either("imputed_value_int64s", "replaced_value_int64"));
}

bool imputes_each(const Call& call) {
  return (!call.states("imputed_value_int64s") || fits(call, call.ints("imputed_value_int64s"))) &&
         (!call.states("imputed_value_floats") || fits(call, call.reals("imputed_value_floats")));
}

bool fits_i32(Int value) { return value == static_cast<std::int32_t>(value); }

bool imputes_in_range(const Call& call) {
  if (call.type("X").dtype != i32) return true;
  return fits_i32(call.integer("replaced_value_int64")) &&
         (!call.states("imputed_value_int64s") || std::ranges::all_of(call.ints("imputed_value_int64s"), fits_i32));
}

bool scales_each(const Call& call) {
  if (!call.states("scale") || !call.states("offset")) return false;
  if (call.reals("scale").size() > 1 && call.rank("X") != 2) return false;
  return fits(call, call.reals("scale")) && call.reals("scale").size() == call.reals("offset").size();
}

bool has_categories_of_its_kind(const Call& call) {
  const bool is_text = call.type("X").dtype == string;
  return call.states(is_text ? "cats_strings" : "cats_int64s") &&
         !call.states(is_text ? "cats_int64s" : "cats_strings");
}

bool names_categories_once(const Call& call) {
  return (!call.states("cats_strings") || are_different(call.texts("cats_strings"))) &&
         (!call.states("cats_int64s") || are_different(call.ints("cats_int64s")));
}

bool has_an_axis(const Call& call) { return call.rank("X") >= 1; }
const std::vector<DType> numbers{f32, f64, i64, i32};

}  // namespace

// clang-format off
Operator binarizer() {
  return Operator("Binarizer", "ai.onnx.ml")
      .input("X", "T").output("Y", "T").type("T", numbers).attribute("threshold", 0.0F).ruling("G31")
      .since(1)
      .shaping(Shaping::one).shape(same_as("X")).kernel(binarize());
}

Operator imputer() {
  return Operator("Imputer", "ai.onnx.ml")
      .input("X", "T").output("Y", "T").type("T", numbers).rulings({"A29", "E1", "E2"})
      .optional_attribute("imputed_value_floats", Kind::reals).optional_ints("imputed_value_int64s")
      .attribute("replaced_value_float", 0.0F).attribute("replaced_value_int64", 0)
      .require("I1", "the imputed values are of the kind of X, and no others are stated", imputes_its_kind)
      .require("I2", "there is one imputed value, or one for each feature", imputes_each)
      .require("I3", "the values fit the type of X", imputes_in_range)
      .require("I4", "rank(X) >= 1", has_an_axis)
      .since(1)
      .shaping(Shaping::moved).shape(same_as("X")).kernel(imputed);
}

Operator scaler() {
  return Operator("Scaler", "ai.onnx.ml")
      .input("X", "T").output("Y", "f32").type("T", numbers)
      .optional_attribute("offset", Kind::reals).optional_attribute("scale", Kind::reals).ruling("A29")
      .require("SC1", "offset and scale are there, of one entry or, of [N,F], one for each feature", scales_each)
      .require("SC2", "rank(X) >= 1", has_an_axis)
      .since(1)
      .shaping(Shaping::normalized).shape(same_as("X")).kernel(scaled);
}

Operator array_feature_extractor() {
  return Operator("ArrayFeatureExtractor", "ai.onnx.ml")
      .input("X", "T").parameter("Y", "i64", "Y").output("Z", "T").type("T", {f32, f64, i64, i32, string})
      .rulings({"A29", "E1", "G30", "G46"})
      .require("AF1", "0 <= Y < the last extent of X", [](auto& c) {
        return std::ranges::all_of(c.ints("Y"), [&](Int at) { return at >= 0 && at < features(c); }); }, "G30")
      .require("AF2", "rank(X) >= 1", has_an_axis)
      .since(1)
      .shaping(Shaping::moved).infer(moved_to(extracted)).kernel(extract);
}

Operator one_hot_encoder() {
  return Operator("OneHotEncoder", "ai.onnx.ml")
      .input("X", "T").output("Y", "f32").type("T", {string, i64, i32, f32, f64})
      .optional_ints("cats_int64s").optional_attribute("cats_strings", Kind::texts).attribute("zeros", 1).ruling("G44")
      .require("OH1", "categories are of the kind of X, and no others are stated", has_categories_of_its_kind)
      .require("OH2", "no category is listed twice", names_categories_once)
      .since(1)
      .shaping(Shaping::moved).infer(moved_to(encoded)).kernel(encode);
}
// clang-format on

}  // namespace assay
