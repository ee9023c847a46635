// SPDX-License-Identifier: Apache-2.0
// The operators of ai.onnx.ml a third time: each element of the output by itself, the tables walked from their ends.
#include "reference/families/elementwise.h"
#include "reference/families/picked.h"
#include "suites/mutation/family.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace assay::mutation {
namespace {

enum Defect {
  none,
  includes_equal,
  uses_first_feature,
  ignores_nan,
  scales_first,
  wraps_features,
  rounds_categories,
  marks_first_for_unknown,
  keeps_unknown,
  divides_by_zero,
  starts_maximum_at_zero,
  normalizes_whole,
  forgets_root,
  stacks_inputs,
  transposes_coefficients,
  forgets_intercepts,
  repeats_first_intercept,
  takes_smallest,
  exchanges_two_labels,
  takes_last_columns,
  first_key_counts,
  misses_last_key,
  counts_from_one
};

Int columns_of(const Call& call) { return call.rank("X") == 0 ? 1 : call.shape("X").back(); }

template <class List>
auto entry(const List& list, Int column, int defect) {
  return list.at(defect == uses_first_feature || list.size() == 1 ? 0 : static_cast<std::size_t>(column));
}

// Writes f(element, column) for every element of X, of the same type.
template <class F>
Tensor each_feature(const Call& call, const Tensor& x, F f) {
  Tensor y(x.type());
  for_number(x.dtype(), [&]<class T>() {
    for (std::size_t i = 0; i < y.as<T>().size(); ++i)
      y.as<T>()[i] = f(x.as<T>()[i], static_cast<Int>(i) % columns_of(call));
  });
  return y;
}

Kernel binarizing(int defect) {
  return [=](const Call& call, Inputs in) -> Values {
    const double limit = static_cast<double>(call.real("threshold"));
    return each_feature(call, *in[0], [&]<class T>(T x, Int) {
      if constexpr (std::is_integral_v<T>) {
        const double down = std::floor(limit);
        const bool is_equal = static_cast<double>(x) == limit;
        return T(Int(x) > static_cast<Int>(down) || (defect == includes_equal && is_equal));
      } else {
        return T(defect == includes_equal ? !(static_cast<double>(x) < limit) : static_cast<double>(x) > limit);
      }
    });
  };
}

Kernel imputing(int defect) {
  return [=](const Call& call, Inputs in) -> Values {
    const bool is_whole = is_integer(in[0]->dtype());
    return each_feature(call, *in[0], [&]<class T>(T x, Int column) {
      if constexpr (std::is_integral_v<T>) {
        return static_cast<Int>(x) == call.integer("replaced_value_int64")
                   ? T(entry(call.ints("imputed_value_int64s"), column, defect))
                   : x;
      } else {
        const auto replaced = static_cast<T>(call.real("replaced_value_float"));
        return is_whole || x != replaced ? x : T(entry(call.reals("imputed_value_floats"), column, defect));
      }
    });
  };
}

Kernel scaling(int defect) {
  return [=](const Call& call, Inputs in) -> Values {
    Tensor y({DType::f32, in[0]->shape()});
    for (Int i = 0; i < y.elements(); ++i) {
      const Int column = i % columns_of(call);
      const float offset = entry(call.reals("offset"), column, defect),
                  scale = entry(call.reals("scale"), column, defect), x = static_cast<float>(number_at(*in[0], i));
      y.as<float>()[static_cast<std::size_t>(i)] = defect == scales_first ? x * scale - offset : (x - offset) * scale;
    }
    return y;
  };
}

Kernel normalizing_rows(int defect) {
  return [=](const Call& call, Inputs in) -> Values {
    Tensor y({DType::f32, in[0]->shape()});
    const std::string norm = call.text("norm");
    const Int length = defect == normalizes_whole ? y.elements() : columns_of(call);
    for (Int first = 0; first < y.elements(); first += length) {
      double largest = defect == starts_maximum_at_zero ? 0 : -INFINITY, sizes = 0, squares = 0;
      for (Int i = first; i < first + length; ++i) {
        const double x = number_at(*in[0], i);
        largest = std::fmax(largest, x);
        sizes += std::fabs(x);
        squares += x * x;
      }
      const double by = norm == "MAX"            ? largest
                        : norm == "L1"           ? sizes
                        : defect == forgets_root ? squares
                                                 : std::sqrt(squares);
      const bool divides = by != 0 || defect == divides_by_zero;
      for (Int i = first; i < first + length; ++i) put_number(y, i, number_at(*in[0], i) / (divides ? by : 1));
    }
    return y;
  };
}

Kernel joining_columns(int defect) {
  return [=](const Call& call, Inputs in) -> Values {
    std::vector<std::vector<double>> rows(static_cast<std::size_t>(call.rank("X_0") == 1 ? 1 : call.dim("X_0", 0)));
    std::vector<double> stacked;
    for (std::size_t k = 0; k < in.size() && in[k]; ++k) {
      const Int width = in[k]->shape().back();
      const Int taken = call.states("inputdimensions") ? call.ints("inputdimensions")[k] : width;
      for (std::size_t row = 0; row < rows.size(); ++row)
        for (Int j = 0; j < taken; ++j) {
          const Int from = defect == takes_last_columns ? width - taken + j : j;
          rows[row].push_back(number_at(*in[k], static_cast<Int>(row) * width + from));
          stacked.push_back(rows[row].back());
        }
    }
    Tensor y({DType::f32, {std::ssize(rows), rows.empty() ? 0 : std::ssize(rows[0])}});
    if (rows.empty()) return Tensor({DType::f32, call.definition().shape(call)});
    std::vector<double> all;
    for (const std::vector<double>& row : rows) all.insert(all.end(), row.begin(), row.end());
    if (defect == stacks_inputs) all = stacked;
    for (std::size_t i = 0; i < all.size(); ++i) y.as<float>()[i] = static_cast<float>(all[i]);
    return y;
  };
}

Kernel extracting(int defect) {
  return [=](const Call& call, Inputs in) -> Values {
    const Ints places = call.ints("Y");
    const Int rows = columns_of(call) == 0 ? 0 : in[0]->elements() / columns_of(call);
    Shape shape = in[0]->shape();
    shape.back() = std::ssize(places);
    if (shape.size() == 1) shape.insert(shape.begin(), 1);
    Tensor z({in[0]->dtype(), shape});
    for_type(z.dtype(), [&]<class T>() {
      std::size_t at = 0;
      for (Int row = 0; row < rows; ++row)
        for (const Int place : places) {
          const Int from = defect == wraps_features ? (place + 1) % columns_of(call) : place;
          z.as<T>()[at++] = in[0]->as<T>()[static_cast<std::size_t>(row * columns_of(call) + from)];
        }
    });
    return z;
  };
}

Kernel marking_categories(int defect) {
  return [=](const Call& call, Inputs in) -> Values {
    std::map<std::string, std::size_t> by_text;
    std::map<Int, std::size_t> by_number;
    if (call.states("cats_strings"))
      for (const std::string& each : call.texts("cats_strings")) by_text.emplace(each, by_text.size());
    else
      for (const Int each : call.ints("cats_int64s")) by_number.emplace(each, by_number.size());
    const std::size_t many = by_text.size() + by_number.size();
    Shape shape = in[0]->shape();
    shape.push_back(static_cast<Int>(many));
    Tensor y({DType::f32, shape});
    for (std::size_t i = 0; i < static_cast<std::size_t>(in[0]->elements()); ++i) {
      const auto mark = [&](const auto& table, const auto& key) {
        const auto found = table.find(key);
        if (found != table.end() || defect == marks_first_for_unknown)
          y.as<float>()[i * many + (found == table.end() ? 0 : found->second)] = 1;
      };
      if (in[0]->dtype() == DType::string) {
        mark(by_text, in[0]->as<std::string>()[i]);
      } else if (in[0]->dtype() == DType::i64) {
        mark(by_number, in[0]->as<Int>()[i]);
      } else if (const double x = number_at(*in[0], static_cast<Int>(i)); std::abs(x) < 1e18) {
        mark(by_number, static_cast<Int>(defect == rounds_categories ? std::rint(x) : x));
      }
    }
    return y;
  };
}

// -- linear models

std::vector<double> row_of_scores(const Call& call, const Tensor& x, Int n, Int rows, int defect) {
  const Reals weights = call.reals("coefficients");
  const Int many = columns_of(call);
  std::vector<double> all(static_cast<std::size_t>(rows), 0.0);
  for (Int j = many; j-- > 0;)
    for (Int k = 0; k < rows; ++k) {
      const Int at = defect == transposes_coefficients ? j * rows + k : k * many + j;
      all[static_cast<std::size_t>(k)] +=
          static_cast<double>(weights[static_cast<std::size_t>(at)]) * number_at(x, n * many + j);
    }
  if (call.states("intercepts") && defect != forgets_intercepts)
    for (std::size_t k = 0; k < all.size(); ++k)
      all[k] += static_cast<double>(call.reals("intercepts")[defect == repeats_first_intercept ? 0 : k]);
  return all;
}

Kernel regressing(int defect) {
  return [=](const Call& call, Inputs in) -> Values {
    const Int targets = call.integer("targets"), many = call.dim("X", 0);
    Tensor y({DType::f32, {many, targets}});
    for (Int n = 0; n < many; ++n) {
      std::vector<double> row = row_of_scores(call, *in[0], n, targets, defect);
      apply_post(call.text("post_transform"), row);
      for (Int k = 0; k < targets; ++k) put_number(y, n * targets + k, row[static_cast<std::size_t>(k)]);
    }
    return y;
  };
}

Kernel classifying(int defect) {
  return [=](const Call& call, Inputs in) -> Values {
    const bool is_text = call.states("classlabels_strings");
    const Int classes =
        is_text ? std::ssize(call.texts("classlabels_strings")) : std::ssize(call.ints("classlabels_ints"));
    const Int many = call.rank("X") == 1 ? 1 : call.dim("X", 0);
    const Int rows = std::ssize(call.reals("coefficients")) / columns_of(call);
    Tensor y({is_text ? DType::string : DType::i64, {many}}), z({DType::f32, {many, classes}});
    for (Int n = 0; n < many; ++n) {
      std::vector<double> row = row_of_scores(call, *in[0], n, rows, defect);
      if (rows < classes) row.insert(row.begin(), -row[0]);
      if (defect == exchanges_two_labels && rows < classes) std::swap(row[0], row[1]);
      std::size_t best = 0;
      for (std::size_t k = 1; k < row.size(); ++k)
        if (defect == takes_smallest ? row[k] < row[best] : row[k] > row[best]) best = k;
      put_class(y, n, call, "classlabels_ints", best);
      apply_post(call.text("post_transform"), row);
      for (Int k = 0; k < classes; ++k) put_number(z, n * classes + k, row[static_cast<std::size_t>(k)]);
    }
    return {y, z};
  };
}

// -- tables

template <class T>
Tensor tensor_of(const std::vector<T>& list) {
  Tensor out({dtype_of<T>(), {std::ssize(list)}});
  std::ranges::copy(list, out.as<T>().begin());
  return out;
}

std::optional<Tensor> listed(const Call& call, const std::string& stem) {
  if (call.states(stem + "int64s")) return tensor_of(call.ints(stem + "int64s"));
  if (call.states(stem + "floats")) return tensor_of(call.reals(stem + "floats"));
  if (call.states(stem + "strings")) return tensor_of(call.texts(stem + "strings"));
  if (call.states(stem + "tensor")) return call.tensor(stem + "tensor");
  return std::nullopt;
}

Tensor unknown(const Call& call, DType type) {
  if (call.states("default_tensor") && call.tensor("default_tensor").dtype() == type)
    return call.tensor("default_tensor");
  if (type == DType::string) return tensor_of(Texts{call.text("default_string")});
  if (type == DType::i64) return tensor_of(Ints{call.integer("default_int64")});
  if (type == DType::f32 && call.definition().attribute("default_float"))
    return tensor_of(Reals{call.real("default_float")});
  Tensor out({type, {1}});
  put_number(out, 0, is_float(type) ? -0.0 : -1.0);
  return out;
}

std::pair<Tensor, Tensor> table_of(const Call& call, int defect) {
  if (call.definition().attribute("keys_floats")) return {*listed(call, "keys_"), *listed(call, "values_")};
  const bool has_numbers = call.definition().attribute("cats_int64s") != nullptr;
  const Texts texts = call.texts(has_numbers ? "cats_strings" : "classes_strings");
  Ints numbers;
  for (Int i = 0; i < std::ssize(texts); ++i) numbers.push_back(i + (defect == counts_from_one));
  if (has_numbers) numbers = call.ints("cats_int64s");
  const bool is_text = call.type("X").dtype == DType::string;
  return is_text ? std::pair{tensor_of(texts), tensor_of(numbers)} : std::pair{tensor_of(numbers), tensor_of(texts)};
}

Kernel looking_up(int defect) {
  return [=](const Call& call, Inputs in) -> Values {
    const auto [keys, values] = table_of(call, defect);
    const Tensor otherwise = unknown(call, values.dtype());
    Tensor y({values.dtype(), in[0]->shape()});
    for_type(in[0]->dtype(), [&]<class T>() {
      for (std::size_t i = 0; i < in[0]->as<T>().size(); ++i) {
        const T x = in[0]->as<T>()[i];
        Int found = -1;
        const Int many = keys.elements() - (defect == misses_last_key);
        for (Int k = 0; k < many; ++k) {
          const T key = keys.template as<T>()[static_cast<std::size_t>(k)];
          const bool is_it = key == x || (defect != ignores_nan && key != key && x != x);
          if (is_it && (found < 0 || defect != first_key_counts)) found = k;
        }
        for_type(y.dtype(), [&]<class V>() {
          y.as<V>()[i] = found < 0 ? otherwise.as<V>()[0] : values.template as<V>()[static_cast<std::size_t>(found)];
          if constexpr (std::is_same_v<T, V>)
            if (found < 0 && defect == keeps_unknown) y.as<V>()[i] = x;
        });
      }
    });
    return y;
  };
}

struct Feature {
  const char* op;
  Kernel (*kernel)(int defect);
  struct Named {
    const char *name, *what;
    Defect defect;
  };
  std::vector<Named> slips;
};

const std::vector<Feature>& features() {
  static const std::vector<Feature> all{
      {"Binarizer", binarizing, {{"includes-threshold", "what equals the threshold is 1", includes_equal}}},
      {"Imputer", imputing, {{"uses-first-feature", "every feature has the value of the first", uses_first_feature}}},
      {"Scaler",
       scaling,
       {{"uses-first-feature", "every feature has the entries of the first", uses_first_feature},
        {"scales-first", "X is multiplied before the offset is taken off", scales_first}}},
      {"Normalizer",
       normalizing_rows,
       {{"divides-by-zero", "a row of zeros is divided by 0", divides_by_zero},
        {"starts-maximum-at-zero", "no maximum is below 0", starts_maximum_at_zero},
        {"normalizes-whole", "all rows are one", normalizes_whole},
        {"forgets-root", "L2 divides by the sum of squares", forgets_root}}},
      {"FeatureVectorizer",
       joining_columns,
       {{"stacks-inputs", "the inputs stand one after the other, not beside each other", stacks_inputs},
        {"takes-last-columns", "of fewer columns the last are taken", takes_last_columns}}},
      {"LinearRegressor",
       regressing,
       {{"transposes-coefficients", "the coefficients of a feature are contiguous", transposes_coefficients},
        {"forgets-intercepts", "no intercept is added", forgets_intercepts},
        {"repeats-first-intercept", "every target has the first intercept", repeats_first_intercept}}},
      {"LinearClassifier",
       classifying,
       {{"transposes-coefficients", "the coefficients of a feature are contiguous", transposes_coefficients},
        {"forgets-intercepts", "no intercept is added", forgets_intercepts},
        {"takes-smallest", "the label is that of the smallest score", takes_smallest},
        {"exchanges-two-labels", "of two labels the first has the score", exchanges_two_labels}}},
      {"ArrayFeatureExtractor", extracting, {{"counts-from-minus-one", "the next feature is taken", wraps_features}}},
      {"OneHotEncoder",
       marking_categories,
       {{"rounds-floats", "floats are rounded to the nearest category", rounds_categories},
        {"marks-unknown", "what is no category is the first", marks_first_for_unknown}}},
      {"CategoryMapper", looking_up, {{"misses-last-key", "the last entry is not found", misses_last_key}}},
      {"LabelEncoder",
       looking_up,
       {{"misses-last-key", "the last key is not found", misses_last_key},
        {"first-key-counts", "of a key that stands twice the first value counts", first_key_counts},
        {"ignores-nan", "NaN is found by no key", ignores_nan},
        {"counts-from-one", "the first class is number 1", counts_from_one},
        {"keeps-unknown", "what has no key stays as it is", keeps_unknown}}}};
  return all;
}

const Feature* feature(const std::string& op) {
  const auto found = std::ranges::find(features(), op, &Feature::op);
  return found == features().end() ? nullptr : &*found;
}

}  // namespace

void apply_post(const std::string& post, std::vector<double>& row) {
  if (post == "LOGISTIC")
    for (double& each : row) each = (1 + std::tanh(each / 2)) / 2;
  if (post == "PROBIT")
    for (double& each : row) each = 0;
  if (!post.starts_with("SOFTMAX")) return;
  const std::vector<double> before = row;
  for (std::size_t i = 0; i < row.size(); ++i) {
    double sum = 0;
    for (const double other : before)
      if (other != 0 || post == "SOFTMAX") sum += std::exp(other - before[i]);
    row[i] = before[i] == 0 && post != "SOFTMAX" ? 0 : 1 / sum;
  }
}

void put_class(Tensor& to, Int row, const Call& call, const char* integers, std::size_t label) {
  if (to.dtype() == DType::string)
    to.as<std::string>()[static_cast<std::size_t>(row)] = call.texts("classlabels_strings")[label];
  else
    to.as<Int>()[static_cast<std::size_t>(row)] = call.ints(integers)[label];
}

std::vector<VariantKernel> feature_variants(const std::string& op) {
  const Feature* const known = feature(op);
  if (!known) return {};
  return {variant_of("sequential", "one element after the other", known->kernel(none))};
}

std::vector<Bug> feature_bugs(const std::string& op) {
  const Feature* const known = feature(op);
  std::vector<Bug> bugs;
  if (known)
    for (const Feature::Named& each : known->slips)
      bugs.push_back(bug_of(op, each.name, each.what, known->kernel(each.defect)));
  return bugs;
}

}  // namespace assay::mutation
