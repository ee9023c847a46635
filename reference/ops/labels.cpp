// SPDX-License-Identifier: Apache-2.0
// CategoryMapper (ai.onnx.ml 1) - https://onnx.ai/onnx/operators/onnx_aionnxml_CategoryMapper.html
// LabelEncoder (ai.onnx.ml 1, 2, 4) - https://onnx.ai/onnx/operators/onnx_aionnxml_LabelEncoder.html
//
//   Y[i] = the value whose key is X[i], or the default where there is none
//
// CategoryMapper and version 1 of LabelEncoder map strings to integers and back; a class is numbered by its place.
#include "reference/families/elementwise.h"
#include "reference/sequence.h"

#include <algorithm>

namespace assay {
namespace {

using enum DType;
using enum AttributeSpec::Kind;

// The keys, the values, and what stands for a key that is not there.
struct Table {
  Tensor keys, values, otherwise;
};

const Attribute* stated(const Call& call, std::string_view stem) {
  for (const auto& [name, value] : call.node().attributes)
    if (name.starts_with(stem)) return &value;
  return nullptr;
}

// What stands for an unknown key among values of that type, as the schema has it.
Tensor default_for(const Call& call, DType type) {
  if (const Attribute* const given = stated(call, "default_"); given && tensor_of(*given).dtype() == type)
    return tensor_of(*given);
  if (type == string) return tensor_of(Attribute(std::string("_Unused")));
  Tensor value({type, {1}});
  put_number(value, 0, is_float(type) ? -0.0 : -1.0);
  return value;
}

bool maps_strings(const Call& call) { return call.type("X").dtype == string; }
DType other_kind(const Call& call) { return maps_strings(call) ? i64 : string; }

Table category_table(const Call& call) {
  const Tensor whole = tensor_of(Attribute(call.ints("cats_int64s"))),
               words = tensor_of(Attribute(call.texts("cats_strings")));
  const Tensor otherwise = default_for(call, other_kind(call));
  return maps_strings(call) ? Table{words, whole, otherwise} : Table{whole, words, otherwise};
}

Table class_table(const Call& call) {
  const Texts classes = call.texts("classes_strings");
  Ints places;
  for (Int place = 0; place < std::ssize(classes); ++place) places.push_back(place);
  const Tensor whole = tensor_of(Attribute(places)), words = tensor_of(Attribute(classes));
  const Tensor otherwise = default_for(call, other_kind(call));
  return maps_strings(call) ? Table{words, whole, otherwise} : Table{whole, words, otherwise};
}

bool has_classes(const Call& call) { return call.definition().attribute("classes_strings") != nullptr; }

Table label_table(const Call& call) {
  if (has_classes(call)) return class_table(call);
  const Tensor values = tensor_of(*stated(call, "values_"));
  return {tensor_of(*stated(call, "keys_")), values, default_for(call, values.dtype())};
}

template <class T>
bool is_key(const T& key, const T& x) {
  return key == x || (key != key && x != x);
}

// Of a key that is listed twice the last value counts.
Kernel looked_up(Table (*table_of)(const Call&)) {
  return [=](const Call& call, Inputs in) {
    const Table table = table_of(call);
    Tensor y({table.values.dtype(), in[0]->shape()});
    for_type(in[0]->dtype(), [&]<class T>() {
      const std::span<const T> keys = table.keys.as<T>();
      for (std::size_t i = 0; i < in[0]->as<T>().size(); ++i) {
        std::size_t at = keys.size();
        while (at-- > 0)
          if (is_key(keys[at], in[0]->as<T>()[i])) break;
        for_type(y.dtype(), [&]<class V>() {
          y.as<V>()[i] = at < keys.size() ? table.values.as<V>()[at] : table.otherwise.as<V>()[0];
        });
      }
    });
    return y;
  };
}

DType type_of_label(const Call& call) {
  if (has_classes(call)) return other_kind(call);
  const Attribute* const values = stated(call, "values_");
  return values ? tensor_of(*values).dtype() : i64;
}

bool states_no_other_default(const Call& call) {
  return !call.states(maps_strings(call) ? "default_string" : "default_int64");
}

bool has_categories(const Call& call) {
  return call.states("cats_int64s") && call.states("cats_strings") &&
         call.ints("cats_int64s").size() == call.texts("cats_strings").size();
}
bool maps_one_to_one(const Call& call) {
  return !has_categories(call) ||
         (are_different(call.ints("cats_int64s")) && are_different(call.texts("cats_strings")));
}

std::ptrdiff_t count_stated(const Call& call, std::string_view stem) {
  return std::ranges::count_if(call.node().attributes, [&](const auto& each) { return each.first.starts_with(stem); });
}

bool has_one_table(const Call& call) { return count_stated(call, "keys_") == 1 && count_stated(call, "values_") == 1; }
bool has_keys_of_its_type(const Call& call) {
  return !has_one_table(call) || tensor_of(*stated(call, "keys_")).dtype() == call.type("X").dtype;
}
bool has_as_many_values(const Call& call) {
  if (!has_one_table(call)) return true;
  const Tensor keys = tensor_of(*stated(call, "keys_")), values = tensor_of(*stated(call, "values_"));
  return keys.elements() == values.elements() && keys.shape().size() == 1 && values.shape().size() == 1;
}
bool has_matching_default(const Call& call) {
  if (!has_one_table(call) || count_stated(call, "default_") == 0) return true;
  const Tensor given = tensor_of(*stated(call, "default_"));
  return count_stated(call, "default_") == 1 && given.elements() == 1 &&
         given.dtype() == tensor_of(*stated(call, "values_")).dtype();
}

void defaults(Operator& op) { op.attribute("default_int64", -1).attribute("default_string", "_Unused"); }

}  // namespace

// clang-format off
Operator category_mapper() {
  return Operator("CategoryMapper", "ai.onnx.ml")
      .input("X", "T1").output("Y", "T2").type("T1", {string, i64}).type("T2", {string, i64})
      .optional_ints("cats_int64s").optional_attribute("cats_strings", texts).with(defaults)
      .require("CM1", "cats_int64s and cats_strings are as long", has_categories)
      .require("CM2", "nothing is listed twice", maps_one_to_one)
      .require("CM3", "the default stated is of the kind of Y", states_no_other_default)
      .since(1)
      .shaping(Shaping::one).typed(other_kind).shape(same_as("X")).kernel(looked_up(category_table));
}

Operator label_encoder() {
  return Operator("LabelEncoder", "ai.onnx.ml")
      .input("X", "T1").output("Y", "T2").with(defaults)
      .since(1).type("T1", {string, i64}).type("T2", {string, i64}).optional_attribute("classes_strings", texts)
          .require("LE1", "classes_strings is there", [](auto& c) { return c.states("classes_strings"); })
          .require("LE2", "the default stated is of the kind of Y", states_no_other_default)
      .since(2, "keys and values of each kind").type("T1", {string, i64, f32}).type("T2", {string, i64, f32})
          .without("classes_strings").without("LE1").without("LE2").attribute("default_float", -0.0F)
          .optional_attribute("keys_floats", reals).optional_ints("keys_int64s").optional_attribute("keys_strings", texts)
          .optional_attribute("values_floats", reals).optional_ints("values_int64s").optional_attribute("values_strings", texts)
          .require("LE3", "one list of keys and one of values are stated", has_one_table)
          .require("LE4", "the keys are of the type of X", has_keys_of_its_type)
          .require("LE5", "there are as many values as keys", has_as_many_values)
          .require("LE6", "the default stated is of the type of the values", has_matching_default)
          .rulings({"G33", "G45"})
      .since(4, "keys and values are tensors, of more types; NaN is a key; the last key counts")
          .type("T1", {string, i64, f32, i32, i16, f64}).type("T2", {string, i64, f32, i32, i16, f64})
          .optional_attribute("keys_tensor", tensor).optional_attribute("values_tensor", tensor).optional_attribute("default_tensor", tensor)
          .settled("G33")
      .shaping(Shaping::one).typed(type_of_label).shape(same_as("X")).kernel(looked_up(label_table));
}
// clang-format on

}  // namespace assay
