// SPDX-License-Identifier: Apache-2.0
// The exact answers of the operators of ai.onnx.ml that map each element of X by itself, or select features of it
// (values-and-graphs 3.8).
#include "oracles/exact/operands.h"
#include "oracles/families/elementwise.h"
#include "oracles/families/normalized.h"
#include "oracles/judging/finding.h"
#include "oracles/rules/rules.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::oracles {
namespace {

// One element of the output: that of X it is made of, on which feature, and which column of it this is.
struct FeaturePoint {
  const Call& call;
  const Readings& readings;
  Scalar x;
  Int feature, column;
  bool flushes = false;  // subnormal keys are zeros as well

  DType type() const { return call.type("X").dtype; }
  // The entry of a list that stands for this feature.
  template <class T>
  const T& of(const std::vector<T>& list) const {
    return list.size() == 1 ? list.front() : list.at(static_cast<std::size_t>(feature));
  }
};

Int last_extent(const Call& call) { return call.rank("X") == 0 ? 1 : call.dim("X", call.rank("X") - 1); }

using FeatureRule = Element (*)(const FeaturePoint&);

class FeaturesAnswer final : public Answer {
 public:
  FeaturesAnswer(const Call& call, const Tensor& x, const Readings& readings, FeatureRule rule, TensorType type,
                 Int columns)
      : call_(call), x_(x), readings_(readings), rule_(rule), type_(std::move(type)), columns_(columns) {}

  Shape shape() const override { return type_.shape; }
  DType dtype() const override { return type_.dtype; }
  Element element(Int index) const override {
    Element out = at(index, x_.at(index / columns_));
    const auto is_tolerable = [&](const Element& other) {
      return (out.kind == Kind::finite && other.kind == Kind::finite) || wanted(out, dtype()) == wanted(other, dtype());
    };
    if (std::ranges::all_of(flushed(index), is_tolerable)) return out;
    return unscored("hardware that flushes subnormals looks another value up");
  }
  std::vector<Tolerance> wider(Int index) const override {
    std::vector<Tolerance> all;
    const Scalar x = x_.at(index / columns_);
    if (is_float(dtype()) && x_.tensor().dtype() == dtype()) all.push_back(flushing(at(index, x), {x}, dtype()));
    for (const Element& other : flushed(index)) {
      if (other.kind != Kind::finite) continue;
      all.push_back(beyond("subnormals flushed"));
      all.back().range = Interval{nearest(other, dtype()), nearest(other, dtype())};
    }
    return all;
  }
  std::vector<ProofTerm> taps(Int index) const override {
    const Int at = index / columns_;
    return {{{written(x_.at(at), x_.tensor().dtype())}, place("X", x_.shape(), at)}};
  }

 private:
  Element at(Int index, const Scalar& x, bool flushes = false) const {
    return rule_({call_, readings_, x, index / columns_ % last_extent(call_), index % columns_, flushes});
  }
  // Returns the element where subnormals of X are read as zeros, and where those of keys are as well; none where that
  // changes nothing.
  std::vector<Element> flushed(Int index) const {
    const Scalar x = x_.at(index / columns_);
    const bool may_change = is_float(x_.tensor().dtype()) && x.is_finite() &&
                            (x.is_zero() || x.is_subnormal(format_of(x_.tensor().dtype())));
    if (!may_change) return {};
    const Scalar zero{Scalar::Class::finite, x.negative, 0, 0};
    return {at(index, zero), at(index, zero, true)};
  }

  Call call_;
  Cells x_;
  Readings readings_;
  FeatureRule rule_;
  TensorType type_;
  Int columns_;
};

// The oracle of an operator whose output has so many columns for each element of X.
Oracle of_features(FeatureRule rule, std::optional<Int> (*columns)(const Call&) = nullptr) {
  Oracle oracle;
  oracle.shape = [columns](const Call& call, const Readings&) {
    Shape y = call.shape("X");
    if (columns) y.push_back(*columns(call));
    return std::optional(std::move(y));
  };
  oracle.answer = [=, shape = oracle.shape](const Call& call, const Operands& in, const Readings& readings,
                                            const Arithmetic&) {
    const Definition& definition = call.definition();
    TensorType type{definition.type_of(call, definition.outputs.front()), *shape(call, readings)};
    return std::make_unique<FeaturesAnswer>(call, *in.at(0), readings, rule, std::move(type),
                                            std::max<Int>(1, columns ? *columns(call) : 1));
  };
  return without_rounding(std::move(oracle));
}

Scalar real(float value) { return scalar_of(static_cast<double>(value)); }

ElementValue binarized(const ElementPoint& p) {
  if (is_nan(p.x[0])) return undefined("G31", "NaN is above no threshold, and may be refused");
  return scalar(Int{is_less(real(p.call.real("threshold")), p.x[0])});
}

Element imputed(const FeaturePoint& p) {
  const bool is_whole = !is_float(p.type());
  const Scalar replaced =
      is_whole ? scalar(p.call.integer("replaced_value_int64")) : real(p.call.real("replaced_value_float"));
  const bool is_missing = is_nan(replaced) ? is_nan(p.x) : !is_nan(p.x) && same(replaced, p.x);
  if (!is_missing) return exactly(p.x, p.type());
  return exactly(
      is_whole ? scalar(p.of(p.call.ints("imputed_value_int64s"))) : real(p.of(p.call.reals("imputed_value_floats"))),
      p.type());
}

// The category of an element: a string, an integer or what a float is truncated to.
std::optional<Int> category(const FeaturePoint& p) {
  const auto place_in = [](const auto& list, const auto& value) {
    const auto at = std::ranges::find(list, value);
    return at == list.end() ? std::nullopt : std::optional<Int>(at - list.begin());
  };
  if (p.x.text) return place_in(p.call.texts("cats_strings"), *p.x.text);
  if (!is_float(p.type())) return place_in(p.call.ints("cats_int64s"), p.x.as_integer());
  return place_in(p.call.ints("cats_int64s"), integer(truncated(ratio(p.x))).as_integer());
}

std::optional<Int> categories(const Call& call) {
  return call.states("cats_strings") ? std::ssize(call.texts("cats_strings")) : std::ssize(call.ints("cats_int64s"));
}

Element encoded(const FeaturePoint& p) {
  const bool is_number =
      p.x.text || !is_float(p.type()) || (p.x.is_finite() && fits(DType::i64, truncated(ratio(p.x))));
  if (!is_number) return undefined("G44", "NaN and what no integer holds are no category");
  const std::optional<Int> found = category(p);
  if (!found && p.call.integer("zeros") == 0) return undefined("G44", "'the operator will fail'");
  return exactly(scalar(Int{found == p.column}), DType::f32);
}

// -- features selected

std::optional<Shape> extracted(const Call& call, const Readings& readings) {
  const Int many = volume(call.shape("Y"));
  if (many == 0 && readings.of("G46") == "refuse") return std::nullopt;
  Shape z(call.shape("X").begin(), call.shape("X").end() - 1);
  if (z.empty()) z.push_back(1);
  z.push_back(many);
  return z;
}

Origin source(const CopyPoint& p) {
  const Int many = p.shape.back(), from = p.call.ints("Y")[static_cast<std::size_t>(p.index % many)],
            extent = last_extent(p.call);
  return {p.index / many * extent + (from + extent) % extent};
}

// -- features scaled

class ScaledAnswer final : public TreeAnswer {
 public:
  ScaledAnswer(std::size_t, const Call& call, const Operands& in, const Arithmetic& declared)
      : TreeAnswer(DType::f32, declared), offsets_(call.reals("offset")), scales_(call.reals("scale")), x_(*in[0]) {}
  Shape shape() const override { return x_.shape(); }
  std::vector<ProofTerm> taps(Int index) const override {
    return {{{written(x_.at(index), x_.tensor().dtype())}, place("X", x_.shape(), index)}};
  }

 private:
  Int terms() const override { return 1; }
  TreeValue value_at(Int index) const override {
    const auto feature = static_cast<std::size_t>(index % x_.shape().back());
    const Scalar offset = real(offsets_[offsets_.size() == 1 ? 0 : feature]),
                 scale = real(scales_[scales_.size() == 1 ? 0 : feature]), x = x_.at(index);
    if (x.is_finite() && offset.is_finite() && scale.is_finite())
      return (operand(x) - operand(offset)) * operand(scale);
    // Of infinities and NaN, which double adds and multiplies as exactly.
    const auto number = [](const Scalar& s) {
      return is_nan(s) ? std::nan("") : is_infinite(s) ? (s.negative ? -INFINITY : INFINITY) : s.as_double();
    };
    return exactly(scalar_of((number(x) - number(offset)) * number(scale)), DType::f32);
  }

  Reals offsets_, scales_;
  Cells x_;
};

// -- keys looked up

// A list of attributes whose names begin so.
struct List {
  Scalar operator[](Int at) const { return scalar(tensor, at); }
  Int size() const { return tensor.elements(); }
  Tensor tensor;
};

template <class T>
Tensor as_tensor(const std::vector<T>& values) {
  Tensor out({dtype_of<T>(), {std::ssize(values)}});
  std::ranges::copy(values, out.as<T>().begin());
  return out;
}

Tensor tensor_of(const Call& call, const std::string& attribute) {
  using enum AttributeSpec::Kind;
  switch (call.definition().attribute(attribute)->kind) {
    case integer: return as_tensor<Int>({call.integer(attribute)});
    case assay::AttributeSpec::Kind::real: return as_tensor<float>({call.real(attribute)});
    case text: return as_tensor<std::string>({call.text(attribute)});
    case ints: return as_tensor(call.ints(attribute));
    case reals: return as_tensor(call.reals(attribute));
    case texts: return as_tensor(call.texts(attribute));
    case tensor: return call.tensor(attribute);
  }
  throw BrokenPromise("a kind of attribute");
}

// The attribute that is stated of those with that stem.
std::optional<Tensor> stated(const Call& call, std::string_view stem) {
  for (const AttributeSpec& spec : call.definition().attributes)
    if (spec.name.starts_with(stem) && call.states(spec.name)) return tensor_of(call, spec.name);
  return std::nullopt;
}

// Whether an element is found by a key: equal, to the bit by one reading (G45), where that is NaN by what the version
// says of it (G32).
bool finds(const FeaturePoint& p, Scalar key) {
  if (p.x.text) return *key.text == *p.x.text;
  if (p.flushes && key.is_finite() && key.is_subnormal(format_of(p.type()))) key.significand = 0, key.exponent = 0;
  if (is_nan(key) || is_nan(p.x)) return is_nan(key) && is_nan(p.x);
  const bool may_differ = p.readings.of("G45") != "bits" || !key.is_zero();
  return same(key, p.x) && (may_differ || key.negative == p.x.negative);
}

Element value_of(const Tensor& values, Int at) {
  if (values.dtype() == DType::string) return exactly(values.as<std::string>()[static_cast<std::size_t>(at)]);
  return exactly(scalar(values, at), values.dtype());
}

Element otherwise(const FeaturePoint& p, DType type) {
  if (const std::optional<Tensor> given = stated(p.call, "default_"); given && given->dtype() == type)
    return value_of(*given, 0);
  if (type == DType::string) return value_of(as_tensor<std::string>({"_Unused"}), 0);
  return exactly(is_float(type) ? scalar_of(-0.0) : scalar(Int{-1}), type);
}

// Looks an element up; where a key stands twice the last value counts, or by a ruling the first may (G33).
Element looked_up(const FeaturePoint& p, const Tensor& keys, const Tensor& values) {
  std::vector<Int> found;
  for (Int at = 0; at < keys.elements(); ++at)
    if (finds(p, scalar(keys, at))) found.push_back(at);
  if (found.empty()) return otherwise(p, values.dtype());
  const bool may_be_first = p.call.definition().ruling("G33") != nullptr;
  const Element last = value_of(values, found.back()), first = value_of(values, found.front());
  if (!may_be_first || found.size() == 1) return last;
  return undefined("G33", "nobody says which of two values a key has");
}

Element encoded_label(const FeaturePoint& p) {
  return looked_up(p, *stated(p.call, "keys_"), *stated(p.call, "values_"));
}

Element mapped_category(const FeaturePoint& p) {
  const Tensor whole = as_tensor(p.call.ints("cats_int64s")), words = as_tensor(p.call.texts("cats_strings"));
  return p.x.text ? looked_up(p, words, whole) : looked_up(p, whole, words);
}

// Classes are numbered by their places; of a class that is listed twice any place may be told.
Element numbered_class(const FeaturePoint& p) {
  const Texts classes = p.call.texts("classes_strings");
  if (!p.x.text) {
    const Int place = p.x.as_integer();
    if (place < 0 || place >= std::ssize(classes)) return otherwise(p, DType::string);
    return value_of(as_tensor(classes), place);
  }
  const auto found = std::ranges::find(classes, *p.x.text);
  if (found == classes.end()) return otherwise(p, DType::i64);
  return exactly(scalar(Int{found - classes.begin()}), DType::i64);
}

}  // namespace

Oracle binarizer() { return exact_elementwise(binarized); }
Oracle imputer() { return of_features(imputed); }
Oracle one_hot_encoder() { return of_features(encoded, categories); }
Oracle array_feature_extractor() { return moved(extracted, source); }
Oracle category_mapper() { return of_features(mapped_category); }
Oracle label_encoder() {
  return of_features([](const FeaturePoint& p) {
    return p.call.definition().attribute("classes_strings") ? numbered_class(p) : encoded_label(p);
  });
}
Oracle scaler() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands& in, const Readings&, const Arithmetic& declared) {
    return answers_of<ScaledAnswer>(call, in, declared);
  };
  oracle.shape = [](const Call& call, const Readings&) { return std::optional(call.shape("X")); };
  return with_touched(std::move(oracle));
}

}  // namespace assay::oracles
