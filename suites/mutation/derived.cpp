// SPDX-License-Identifier: Apache-2.0
// Planted bugs and correct ways that follow from a definition alone: of every operator whose family is not that of
// sliding windows, which have their own.
#include "oracles/exact/enclosure.h"
#include "suites/mutation/creating.h"
#include "suites/mutation/pairing.h"
#include "suites/mutation/resizing.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

namespace assay::mutation {
namespace {

using oracles::Level;
using oracles::State;
Values right(const Call& call, Inputs in) { return call.definition().kernel(call, in); }

// Calls f(value) for every element and writes what it returns.
template <class F>
Tensor with_each(Tensor tensor, F&& f) {
  if (tensor.dtype() == DType::string) return tensor;
  for_value(tensor.dtype(), [&]<class T>() {
    for (T& value : tensor.as<T>()) value = f(value);
  });
  return tensor;
}

enum class Which { all, data };

// The right answer to other data.
template <class F>
Kernel reading(F change, Which which = Which::all) {
  return [=](const Call& call, Inputs in) {
    std::vector<Tensor> changed;
    const auto data = static_cast<std::size_t>(&call.definition().data() - call.definition().inputs.data());
    for (const Tensor* each : in) {
      const bool is_changed = which == Which::all || changed.size() == data;
      changed.push_back(!each ? Tensor() : is_changed ? change(*each) : *each);
    }
    std::vector<const Tensor*> inputs;
    for (std::size_t i = 0; i < in.size(); ++i) inputs.push_back(in[i] ? &changed[i] : nullptr);
    return right(call, inputs);
  };
}

// The right answer, every output changed.
template <class F>
Kernel writing(F change) {
  return [change](const Call& call, Inputs in) {
    Values y = right(call, in);
    for (std::optional<Tensor>& each : y)
      if (each) each = change(*std::move(each));
    return y;
  };
}

void copy_element(Tensor& tensor, Int from, Int to) {
  for_type(tensor.dtype(), [&]<class T>() {
    tensor.as<T>()[static_cast<std::size_t>(to)] = std::as_const(tensor).as<T>()[static_cast<std::size_t>(from)];
  });
}

Tensor zeroed_from(Tensor tensor, Int first) {
  for_type(tensor.dtype(),
           [&]<class T>() { std::ranges::fill(tensor.as<T>().subspan(static_cast<std::size_t>(first)), T()); });
  return tensor;
}

// -- what is written elsewhere, not at all, or twice

Tensor last_unwritten(Tensor y) {
  const Int elements = y.elements();
  return elements < 2 ? y : zeroed_from(std::move(y), elements - 1);
}

Tensor tail_unwritten(Tensor y) {
  const Int body = y.elements() / 8 * 8;
  return body == 0 ? y : zeroed_from(std::move(y), body);
}

Tensor first_everywhere(Tensor y) {
  for (Int i = 1; i < y.elements(); ++i) copy_element(y, 0, i);
  return y;
}

Tensor shifted_by_one(Tensor y) {
  for (Int i = y.elements(); i-- > 1;) copy_element(y, i - 1, i);
  return y;
}

Tensor backwards(Tensor y) {
  for_type(y.dtype(), [&]<class T>() { std::ranges::reverse(y.as<T>()); });
  return y;
}

// The last two axes of the output exchanged in memory.
Tensor column_major(Tensor y) {
  const Shape& shape = y.shape();
  if (shape.size() < 2) return y;
  const Int rows = shape[shape.size() - 2], columns = shape.back();
  for_type(y.dtype(), [&]<class T>() {
    const std::vector<T> before(y.as<T>().begin(), y.as<T>().end());
    const std::span<T> to = y.as<T>();
    for (std::size_t i = 0; i < to.size(); ++i) {
      const Int plane = rows * columns, at = static_cast<Int>(i) % plane, row = at / columns, column = at % columns;
      to[i] = before[i - static_cast<std::size_t>(at) + static_cast<std::size_t>(column * rows + row)];
    }
  });
  return y;
}

// -- numbers read or written as what they are not

template <class T>
T negated(T value) {
  if constexpr (std::is_same_v<T, Bool>)
    return T(value ? 0.0 : 1.0);
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(0 - static_cast<std::uint64_t>(value));
  else
    return T(-static_cast<double>(value));
}

Tensor negated_data(const Tensor& x) {
  return with_each(x, [](auto value) { return negated(value); });
}
Tensor ignored(const Tensor& x) { return Tensor(x.type()); }

// The neighbour towards zero or, of zero, the smallest number.
template <class T>
T one_ulp_off(T value) {
  if constexpr (std::is_integral_v<T> || std::is_same_v<T, Bool>) {
    return T(value ^ 1);
  } else if constexpr (sizeof(T) <= 2) {
    if (std::isfinite(static_cast<double>(value))) value.bits ^= 1;
    return value;
  } else {
    return std::isfinite(value) ? std::nextafter(value, T(value < 1 ? 2 : 0)) : value;
  }
}

Tensor one_off(Tensor y) {
  if (y.dtype() == DType::string)
    for (std::string& each : y.as<std::string>()) each += '_';
  return with_each(std::move(y), [](auto value) { return one_ulp_off(value); });
}

// An integer by way of another type; what does not fit on the way back is the largest.
template <class Through>
Tensor integers_through(Tensor x) {
  return with_each(std::move(x), []<class T>(T value) {
    if constexpr (std::is_integral_v<T> && std::is_integral_v<Through>) {
      return static_cast<T>(static_cast<Through>(value));
    } else if constexpr (std::is_integral_v<T>) {
      const auto there = static_cast<double>(static_cast<Through>(static_cast<double>(value)));
      const bool is_too_large = there >= std::ldexp(1.0, std::numeric_limits<T>::digits);
      return is_too_large ? std::numeric_limits<T>::max() : static_cast<T>(there);
    } else {
      return value;
    }
  });
}

// The same for the elements of a float tensor; others stay as they are.
template <class F>
Tensor with_each_float(Tensor tensor, F&& f) {
  return with_each(std::move(tensor), [&]<class T>(T value) {
    if constexpr (std::is_integral_v<T> || std::is_same_v<T, Bool>)
      return value;
    else
      return f(value);
  });
}

// A float by way of another one.
template <class Through>
Tensor floats_through(Tensor x) {
  return with_each_float(std::move(x), []<class T>(T value) {
    return T(static_cast<double>(static_cast<Through>(static_cast<double>(value))));
  });
}

Tensor flushed(Tensor x) {
  return with_each_float(std::move(x), []<class T>(T value) {
    const int least = sizeof(T) == 8 ? -1022 : std::is_same_v<T, Float16> ? -14 : -126;
    return std::abs(static_cast<double>(value)) < std::ldexp(1.0, least) ? T(0.0) : value;
  });
}

Tensor infinities_as_largest(Tensor x) {
  return with_each_float(std::move(x), []<class T>(T value) {
    return std::isinf(static_cast<double>(value)) ? T(value < 0 ? -60000.0 : 60000.0) : value;
  });
}

// -- the list

bool has_own_type(const Definition& d) {
  return std::ranges::find(d.inputs, d.outputs.front().type, &Parameter::type) == d.inputs.end();
}
// Of shapes, and reads no data.
bool tells(const Definition& d) { return d.shaping == Shaping::moved && has_own_type(d) && !d.ruling("E1"); }
bool copies(const Definition& d) {
  const bool is_alike = d.outputs.size() == 1 || d.outputs.back().arity == Arity::repeated;
  return d.shaping == Shaping::moved && is_alike && (!has_own_type(d) || tells(d));
}
bool hands_out_floats(const Definition& d) { return std::ranges::any_of(d.types_of(d.outputs.front().type), is_float); }

// Some of the data differ from one run to the next; what the call reads does not.
bool varies(const Definition& d) {
  return std::ranges::any_of(d.inputs, [](const Parameter& input) { return input.reads_as.empty(); });
}

bool holds_numbers(const Definition& d) { return d.types_of(d.data().type) != std::vector{DType::string}; }
bool always(const Definition&) { return true; }
bool never(const Definition&) { return false; }

struct Derivation {
  const char *name, *description;
  Kernel kernel;
  std::vector<DType> types = {};  // the data that show it; empty: any
  bool (*applies)(const Definition&) = always;
  bool (*is_weaker)(const Definition&) = never;  // then it is weaker arithmetic, and no failure
  bool is_named_arithmetic = false;              // where it is weaker
  bool is_stale = false;
};

// Where elements round, a neighbour may be as right, and of the data subnormals do not show.
bool is_exact(const Definition& d) { return !oracles::oracle_of(d.version).rounds; }

// What is chosen among or compared is not computed with: only flushed subnormals are below then, not wrong.
bool computes(const Definition& d) {
  constexpr std::string_view copying[] = {"Where",   "Identity", "Cast",       "CastLike",    "BitCast",
                                          "Dropout", "Hardmax",  "MaxRoiPool", "LabelEncoder"};
  const bool selects = (d.shaping == Shaping::window && is_exact(d)) || d.shaping == Shaping::moved ||
                       std::ranges::count(copying, d.version.name) > 0;
  return !selects && hands_out_floats(d);
}

// Every element is a function's, and no copy: coarser data may fall within what approximations are admitted, and the
// ends of the type are often where it no longer changes.
bool is_function(const Definition& d) { return !is_exact(d) && d.shaping == Shaping::one && !d.ruling("E2"); }
// What is multiplied or averaged may be read in fewer bits, as accelerators do.
bool admits_coarse_data(const Definition& d) {
  return is_function(d) || !oracles::oracle_of(d.version).factors.empty();
}
bool spreads_infinities(const Definition& d) { return hands_out_floats(d) && !is_function(d); }
bool chooses(const Definition& d) { return is_exact(d) && !copies(d); }
// BitCast keeps every bit; Imputer compares what it copies, Resize computes in other modes.
bool may_flush(const Definition& d) {
  const std::string& name = d.version.name;
  return (chooses(d) && name != "BitCast") || name == "Imputer" || name == "Resize" || name == "Upsample";
}
bool chooses_or_copies(const Definition& d) { return chooses(d) || copies(d); }

const std::vector<Derivation>& derivations() {
  using enum DType;
  // The body of ReduceL2-18 computes float64 so (N5).
  const auto in_f32 = [](const Call& call, Inputs in) {
    const Definition& definition = call.definition();
    const bool is_f64 = definition.type_of(call, definition.data()) == f64;
    return is_f64 && !call.definition().ruling("N5") ? reading(floats_through<float>)(call, in) : right(call, in);
  };
  static const std::vector<DType> floats{f16, bf16, f32, f64};
  static const std::vector<Derivation> all{
      {"leaves-last", "the last element of the output is not written", writing(last_unwritten)},
      {"leaves-tail", "elements past the last multiple of eight are not written", writing(tail_unwritten)},
      {"keeps-last", "the last element is that of the run before", right, {}, varies, never, false, true},
      {"repeats-first", "every element of the output is the first", writing(first_everywhere)},
      {"shifts-by-one", "every element of the output stands one place further on", writing(shifted_by_one)},
      {"runs-backwards", "the elements of the output stand in reverse", writing(backwards)},
      {"writes-columns", "the last two axes of the output are exchanged in memory", writing(column_major)},
      {"ignores-data", "the data are read as zeros", reading(ignored, Which::data)},
      {"negates-data",
       "the data are read with the opposite sign",
       reading(negated_data, Which::data),
       {},
       holds_numbers},
      {"ends-one-off", "every output is a neighbour of the right number", writing(one_off), {}, is_exact},
      {"reads-i64-as-i32",
       "64-bit integers are read as 32-bit ones",
       reading(integers_through<std::int32_t>),
       {i64, u64}},
      {"reads-integers-as-f32", "integers are computed in f32", reading(integers_through<float>), {i32, u32, i64, u64}},
      {"reads-integers-as-f64", "64-bit integers are computed in f64", reading(integers_through<double>), {i64, u64}},
      {"reads-integers-as-i8",
       "integers are read as 8-bit ones",
       reading(integers_through<std::int8_t>),
       {i16, u16, i32, u32, i64, u64}},
      {"rounds-data-to-f16",
       "data are rounded to f16",
       reading(floats_through<Float16>),
       {f32},
       always,
       admits_coarse_data},
      {"rounds-data-to-bf16",
       "data are rounded to bf16",
       reading(floats_through<BFloat16>),
       {f16, f32},
       always,
       admits_coarse_data},
      {"computes-f64-in-f32", "f64 is computed in f32", in_f32, {f64}, always, computes, true},
      {"flushes-subnormals", "subnormal data are read as zeros", reading(flushed), floats, chooses_or_copies, may_flush,
       true},
      {"reads-infinity-as-number", "infinities are read as large numbers", reading(infinities_as_largest, Which::data),
       floats, spreads_infinities},
  };
  return all;
}

// -- attributes read as what they are not

// Another value; none: as if the attribute were not stated.
using Change = std::function<std::optional<Attribute>(const Attribute&)>;

// What the sequential way answers with an attribute read otherwise, where that is a legal call: equivalence is told
// from its bits.
// A word that a version does not have stands for its first one, or of that for its second.
Attribute among_words(const Attribute& changed, const AttributeSpec& spec, const Attribute& before) {
  const std::string* const word = std::get_if<std::string>(&changed);
  if (!word || spec.words.size() < 2 || std::ranges::count(spec.words, *word) > 0) return changed;
  return Attribute(before == Attribute(spec.words[0]) ? spec.words[1] : spec.words[0]);
}

Kernel misreading(const std::string& name, Change change) {
  return [=](const Call& call, Inputs in) {
    const Kernel hand = *variant("sequential", call.definition().version);
    const AttributeSpec* const spec = call.definition().attribute(name);
    Node node = call.node();
    const auto stated = node.attributes.find(name);
    const bool is_stated = stated != node.attributes.end();
    if (!spec || (!is_stated && !spec->value)) return hand(call, in);
    const Attribute before = is_stated ? stated->second : *spec->value;
    const std::optional<Attribute> changed = change(before);
    node.attributes.erase(name);
    if (changed) node.attribute(name, among_words(*changed, *spec, before));
    const Call other(call.definition(), std::move(node));
    return other.definition().violated(other).empty() ? hand(other, in) : hand(call, in);
  };
}

Change of_integer(Int (*f)(Int)) {
  return [f](const Attribute& value) {
    const Int* const whole = std::get_if<Int>(&value);
    return whole ? Attribute(f(*whole)) : value;
  };
}

Change of_integers(void (*f)(Ints&)) {
  return [f](Attribute value) {
    f(std::get<Ints>(value));
    return value;
  };
}

struct Misreading {
  const char *verb, *description;
  Change change;
};

// Returns one more, around the end of the range as processors do it.
Int next(Int x) { return static_cast<Int>(static_cast<std::uint64_t>(x) + 1); }

std::vector<Misreading> misreadings(const AttributeSpec& spec) {
  using Kind = AttributeSpec::Kind;
  std::vector<Misreading> all;
  if (!spec.required)
    all.push_back({"ignores", "is read as its default", [](const Attribute&) { return std::nullopt; }});
  if (spec.kind == Kind::ints) {
    all.push_back({"increases", "is read as one more, every entry", of_integers([](Ints& entries) {
                     for (Int& each : entries) each = next(each);
                   })});
    all.push_back(
        {"reverses", "is read from the end", of_integers([](Ints& entries) { std::ranges::reverse(entries); })});
  } else if (spec.kind == Kind::integer && spec.name == "axis") {
    all.push_back({"increases", "is read as the next one", of_integer(next)});
    all.push_back({"mirrors", "is counted from the other end", of_integer([](Int axis) { return -1 - axis; })});
    all.push_back({"clamps", "is 0 where it is negative", of_integer([](Int axis) { return std::max<Int>(axis, 0); })});
  } else if (spec.words.size() > 1) {
    all.push_back({"confuses", "is read as another word", [words = spec.words](const Attribute& value) {
                     return Attribute(std::get<std::string>(value) == words[0] ? words[1] : words[0]);
                   }});
  } else if (spec.kind == Kind::real) {
    all.push_back({"negates", "is read with the opposite sign",
                   [](const Attribute& value) { return Attribute(-std::get<float>(value)); }});
  } else if (spec.kind == Kind::integer && spec.value && std::get<Int>(*spec.value) > 1) {
    all.push_back({"increases", "is read as one more", of_integer(next)});
  } else if (spec.kind == Kind::integer) {
    all.push_back({"flips", "is read as the opposite", of_integer([](Int flag) { return next(next(-1 - flag)); })});
  }
  return all;
}

// Attributes that may be read as anything, what E48 leaves without meaning and an order that sorted = 0 gives up, and
// those of which another reading leaves no legal call: these operators have bugs of their own. saturate and round_mode
// are for types that are not admitted yet, another type than the one named is no answer, and a seed is the backend's
// own.
bool is_left_out(const Operator& op, const AttributeSpec& spec) {
  constexpr std::string_view all[] = {"consumed_inputs",
                                      "sorted",
                                      "allowzero",
                                      "saturate",
                                      "round_mode",
                                      "perm",
                                      "blocksize",
                                      "block_size",
                                      "batch_axis",
                                      "time_axis",
                                      "seed",
                                      "group",
                                      "num_groups",
                                      "stash_type",
                                      "training_mode",
                                      "precision",
                                      "num_heads",
                                      "rotary_embedding_dim",
                                      "hidden_size",
                                      "layout",
                                      "output_sequence",
                                      "zeros",
                                      "q_num_heads",
                                      "kv_num_heads",
                                      "softmax_precision",
                                      "chunk_size",
                                      "K",
                                      "N",
                                      "bits",
                                      "accuracy_level",
                                      "activation_params",
                                      "weight_prepacked"};
  const bool follows = spec.kind == AttributeSpec::Kind::ints && !spec.required && spec.name == "kernel_shape";
  const bool is_of_table = op.domain() == "ai.onnx.ml" && !spec.value;  // which no model is without
  return follows || is_of_table || std::ranges::count(all, spec.name) > 0 ||
         op.versions().back().outputs.front().typed_by == spec.name;
}

// Tells of a misreading that leaves no legal call, or the same answers: num_outputs is the number of outputs, axis is
// never the first, a set of axes has no order, a circle that is written past its end cannot be a line, an epsilon is
// not negative, Constant has one attribute, strides that leave as many blocks as none leave one, and an extent is no
// flag.
bool changes_nothing(std::string_view id) {
  if (id.ends_with("-negates-epsilon") || id.ends_with("-negates-clip") || id.starts_with("constant-ignores-"))
    return true;
  if (id.starts_with("randomnormal") && id.ends_with("-negates-scale")) return true;
  constexpr std::string_view all[] = {"split-ignores-num-outputs",
                                      "split-flips-num-outputs",
                                      "meanvariancenormalization-reverses-axes",
                                      "lrn-flips-size",
                                      "multinomial-flips-sample-size",
                                      "stringnormalizer-ignores-locale",
                                      "regexfullmatch-ignores-pattern",
                                      "linearregressor-ignores-targets",
                                      "linearregressor-flips-targets",
                                      "linearclassifier-ignores-multi-class",
                                      "linearclassifier-flips-multi-class",
                                      "svmregressor-ignores-n-supports",
                                      "svmregressor-flips-n-supports",
                                      "tfidfvectorizer-ignores-pool-int64s",
                                      "tfidfvectorizer-ignores-pool-strings",
                                      "tfidfvectorizer-increases-ngram-counts",
                                      "tfidfvectorizer-reverses-ngram-counts",
                                      "tfidfvectorizer-flips-max-gram-length",
                                      "tfidfvectorizer-flips-min-gram-length",
                                      "tensorscatter-clamps-axis",
                                      "tensorscatter-ignores-mode",
                                      "tensorscatter-confuses-mode",
                                      "col2im-ignores-strides",
                                      "roialign-flips-output-height",
                                      "attention-negates-scale",
                                      "attention-negates-softcap",
                                      "roialign-flips-output-width"};
  return std::ranges::find(all, id) != std::end(all);
}

std::vector<Bug> misreading_bugs(const Operator& op) {
  std::vector<Bug> bugs;
  for (const AttributeSpec& spec : op.versions().back().attributes)
    for (const Misreading& each : misreadings(spec)) {
      if (is_left_out(op, spec)) continue;
      std::string id = lower(op.name()) + "-" + each.verb + "-" + spec.name;
      std::ranges::replace(id, '_', '-');
      if (changes_nothing(id)) continue;
      Mutant mutant{std::move(id), op.name(), spec.name + " " + each.description};
      mutant.attribute = spec.name;
      bugs.push_back({std::move(mutant), misreading(spec.name, each.change)});
    }
  return bugs;
}

// -- correct ways of single operators, written a third time

// Y[i] = f(X[i]).
template <class F>
Kernel mapping(F f) {
  return [f](const Call&, Inputs in) { return with_each(*in[0], f); };
}

template <class T>
bool is_nan(T value) {
  return value != value;
}

std::vector<VariantKernel> relu_variants() {
  return {variant_of("sequential", "one element after the other",
                     mapping([](auto x) { return x < 0 ? decltype(x)(0) : x; })),
          variant_of("positive-zeros", "every zero is +0",
                     mapping([](auto x) { return x > 0 || is_nan(x) ? x : decltype(x)(0); })),
          {{"in-double", Level::L2, "every float is computed in double"}, mapping([]<class T>(T x) {
             if constexpr (std::is_integral_v<T>)
               return std::max<T>(x, 0);
             else
               return T(std::fmax(static_cast<double>(x), 0.0) + (is_nan(x) ? static_cast<double>(x) : 0.0));
           })},
          {{"masks-bits", Level::L2, "the sign decides by a mask"}, mapping([]<class T>(T x) {
             if constexpr (std::is_integral_v<T>)
               return static_cast<T>(x & ~(x >> (8 * sizeof(T) - 1)));
             else
               return std::signbit(static_cast<double>(x)) && !is_nan(x) ? T(0.0) : x;
           })},
          {{"in-f32", Level::L2, "f16 and bf16 are computed in f32"}, mapping([]<class T>(T x) {
             if constexpr (is_narrow<T>)
               return T(static_cast<double>(std::max(static_cast<float>(static_cast<double>(x)), 0.0F)));
             else
               return x < 0 ? T(0) : x;
           })},
          {{"maximum-drops-nan", Level::L2, "a maximum that returns the other operand of NaN", "E12", "zero"},
           mapping([](auto x) { return x > 0 ? x : decltype(x)(0); })}};
}

std::vector<VariantKernel> in_sequence(Kernel kernel) {
  return {{{"sequential", Level::L2, "one element after the other"}, std::move(kernel)}};
}

std::vector<VariantKernel> sign_variants(const std::string& name) {
  if (name == "Neg") return in_sequence(mapping([](auto x) { return negated(x); }));
  if (name == "Abs")
    return in_sequence(mapping([]<class T>(T x) {
      if constexpr (std::is_integral_v<T>)
        return x < T(0) ? negated(x) : x;
      else
        return T(std::fabs(static_cast<double>(x)));
    }));
  if (name != "Sign") return {};
  return in_sequence(mapping([]<class T>(T x) {
    if constexpr (std::is_unsigned_v<T>)
      return static_cast<T>(x > 0);
    else
      return x > T(0) ? T(1) : x < T(0) ? T(-1) : x;
  }));
}

std::vector<VariantKernel> not_variants() {
  return {{{"sequential", Level::L2, "one element after the other"}, mapping([]<class T>(T x) { return T(x == T()); })},
          {{"by-difference", Level::L2, "1 - x"},
           mapping([](auto x) { return decltype(x)(1.0 - static_cast<double>(x)); })}};
}

std::vector<VariantKernel> complement_variants() {
  return in_sequence(mapping([]<class T>(T x) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(T(-1) - x);
    else
      return x;
  }));
}

std::vector<VariantKernel> variants_by_name(const std::string& name) {
  if (name == "Not") return not_variants();
  if (name == "BitwiseNot") return complement_variants();
  if (name == "Reshape") return reshaping_variants();
  if (name == "TopK") return ranking_variants();
  if (name == "Relu") return relu_variants();
  if (name == "MaxPool") return selecting_variants();
  if (name == "ConvInteger") return integer_convolution_variants();
  if (name == "Softmax") return softmax_variants();
  if (name == "LogSoftmax") return log_softmax_variants();
  if (name == "Resize" || name == "Upsample") return resizing_variants();
  for (const auto variants_of_group :
       {integer_pool_variants, activating_variants,  global_variants,      norm_variants,       product_variants,
        transposing_variants,  word_variants,        random_variants,      feature_variants,    grid_variants,
        extreme_variants,      prefix_variants,      operand_variants,     creating_variants,   placing_variants,
        reducing_variants,     normalizing_variants, response_variants,    quantizing_variants, loss_variants,
        windowing_variants,    rotating_variants,    recurring_variants,   folding_variants,    determinant_variants,
        region_variants,       suppressing_variants, contracting_variants, causal_variants,     transforming_variants,
        optimizing_variants,   attending_variants,   forest_variants,      machine_variants,    remembering_variants,
        computing_variants})
    if (std::vector<VariantKernel> variants = variants_of_group(name); !variants.empty()) return variants;
  std::vector<VariantKernel> variants = sign_variants(name);
  return variants.empty() ? broadcast_variants(name) : variants;
}

std::vector<Bug> bugs_by_name(const std::string& name) {
  if (name == "MaxPool") return selecting_bugs();
  if (name == "ConvInteger") return integer_convolution_bugs();
  if (name == "Softmax") return softmax_bugs();
  if (name == "LogSoftmax") return log_softmax_bugs();
  if (name == "Reshape") return reshaping_bugs();
  if (name == "TopK") return ranking_bugs();
  if (name == "Resize") return resizing_bugs();
  if (name == "Upsample") return upsampling_bugs();
  for (const auto bugs_of_group :
       {integer_pool_bugs, activating_bugs,  global_bugs,      norm_bugs,      product_bugs,      transposing_bugs,
        word_bugs,         random_bugs,      feature_bugs,     grid_bugs,      extreme_bugs,      prefix_bugs,
        operand_bugs,      creating_bugs,    placing_bugs,     reducing_bugs,  normalizing_bugs,  response_bugs,
        loss_bugs,         windowing_bugs,   rotating_bugs,    recurring_bugs, folding_bugs,      determinant_bugs,
        region_bugs,       suppressing_bugs, contracting_bugs, causal_bugs,    transforming_bugs, optimizing_bugs,
        attending_bugs,    quantizing_bugs,  remembering_bugs, forest_bugs,    machine_bugs})
    if (std::vector<Bug> bugs = bugs_of_group(name); !bugs.empty()) return bugs;
  return computing_bugs(name);
}

// Not one of those that have bugs of their own.
bool is_later(const Operator& op) {
  constexpr std::string_view own[] = {"Conv", "AveragePool", "DeformConv", "QLinearConv", "NhwcConv"};
  return std::ranges::find(own, op.name()) == std::end(own);
}

// Tells what is no bug of an operator: even functions, a sign that rounding keeps, subnormals that round to 0, f32 in
// which a version computes all it has, squares, what its data never are, axes that its output does not have.
bool is_no_bug(const Operator& op, std::string_view derivation) {
  constexpr std::pair<std::string_view, std::string_view> all[] = {{"Abs", "negates-data"},
                                                                   {"Cos", "negates-data"},
                                                                   {"Cosh", "negates-data"},
                                                                   {"Sign", "reads-integers-as-f32"},
                                                                   {"Sign", "reads-integers-as-f64"},
                                                                   {"Sign", "reads-infinity-as-number"},
                                                                   {"IsNaN", "negates-data"},
                                                                   {"IsNaN", "computes-f64-in-f32"},
                                                                   {"IsNaN", "rounds-data-to-bf16"},
                                                                   {"IsNaN", "rounds-data-to-f16"},
                                                                   {"IsNaN", "flushes-subnormals"},
                                                                   {"IsInf", "flushes-subnormals"},
                                                                   {"Round", "flushes-subnormals"},
                                                                   {"Sign", "rounds-data-to-bf16"},
                                                                   {"Celu", "computes-f64-in-f32"},
                                                                   {"LpPool", "negates-data"},
                                                                   {"GlobalLpPool", "negates-data"},
                                                                   {"ReduceSumSquare", "negates-data"},
                                                                   {"OneHot", "reads-infinity-as-number"},
                                                                   {"Range", "writes-columns"},
                                                                   {"QLinearGlobalAveragePool", "writes-columns"},
                                                                   {"StringNormalizer", "writes-columns"},
                                                                   {"HannWindow", "writes-columns"},
                                                                   {"HammingWindow", "writes-columns"},
                                                                   {"BlackmanWindow", "writes-columns"},
                                                                   {"Range", "flushes-subnormals"},
                                                                   {"Range", "reads-infinity-as-number"},
                                                                   {"LinearAttention", "reads-infinity-as-number"},
                                                                   {"QuantizeLinear", "reads-integers-as-f32"},
                                                                   {"DequantizeLinear", "reads-integers-as-f32"},
                                                                   {"ReduceL2", "reads-integers-as-f32"},
                                                                   {"ReduceL2", "reads-integers-as-f64"},
                                                                   {"GridSample", "flushes-subnormals"},
                                                                   {"NonMaxSuppression", "flushes-subnormals"},
                                                                   {"Scaler", "reads-integers-as-f32"},
                                                                   {"Binarizer", "reads-integers-as-f64"},
                                                                   {"Imputer", "reads-integers-as-f64"},
                                                                   {"TfIdfVectorizer", "reads-integers-as-f64"},
                                                                   {"CategoryMapper", "reads-integers-as-f64"},
                                                                   {"LabelEncoder", "reads-integers-as-f64"},
                                                                   {"Scaler", "reads-integers-as-f64"},
                                                                   {"Normalizer", "reads-integers-as-f32"},
                                                                   {"Normalizer", "reads-integers-as-f64"},
                                                                   {"Normalizer", "computes-f64-in-f32"},
                                                                   {"LinearRegressor", "reads-integers-as-f32"},
                                                                   {"LinearRegressor", "reads-integers-as-f64"},
                                                                   {"LinearRegressor", "computes-f64-in-f32"},
                                                                   {"LinearClassifier", "reads-integers-as-f32"},
                                                                   {"LinearClassifier", "reads-integers-as-f64"},
                                                                   {"LinearClassifier", "computes-f64-in-f32"},
                                                                   {"SVMRegressor", "writes-columns"},
                                                                   {"SVMRegressor", "reads-integers-as-f32"},
                                                                   {"SVMRegressor", "reads-integers-as-f64"},
                                                                   {"SVMRegressor", "computes-f64-in-f32"},
                                                                   {"SVMClassifier", "reads-integers-as-f32"},
                                                                   {"SVMClassifier", "reads-integers-as-f64"},
                                                                   {"SVMClassifier", "computes-f64-in-f32"},
                                                                   {"TreeEnsembleRegressor", "reads-integers-as-f32"},
                                                                   {"TreeEnsembleRegressor", "reads-integers-as-f64"},
                                                                   {"TreeEnsembleRegressor", "computes-f64-in-f32"},
                                                                   {"TreeEnsembleClassifier", "reads-integers-as-f32"},
                                                                   {"TreeEnsembleClassifier", "reads-integers-as-f64"},
                                                                   {"TreeEnsembleClassifier", "computes-f64-in-f32"},
                                                                   {"TreeEnsemble", "computes-f64-in-f32"},
                                                                   {"Scaler", "computes-f64-in-f32"}};
  // ConstantOfShape reads its input as a shape, and writes one element everywhere.
  constexpr std::string_view of_order[] = {"repeats-first", "shifts-by-one", "runs-backwards", "writes-columns"};
  if (op.name() == "ConstantOfShape" && std::ranges::count(of_order, derivation) > 0) return true;
  // All inputs of these are read by the call.
  constexpr std::string_view of_calls[] = {"ConstantOfShape", "HannWindow",      "HammingWindow",
                                           "BlackmanWindow",  "MelWeightMatrix", "StringNormalizer"};
  const bool reads_data = std::ranges::count(of_calls, op.name()) == 0 && !op.versions().back().inputs.empty();
  const bool is_of_data = derivation.starts_with("reads-") || derivation.find("data") != derivation.npos ||
                          derivation == "computes-f64-in-f32" || derivation == "flushes-subnormals";
  if (!reads_data && is_of_data) return true;
  return std::ranges::find(all, std::pair<std::string_view, std::string_view>(op.name(), derivation)) != std::end(all);
}

std::vector<Bug> made_bugs(const Operator& op) {
  std::vector<Bug> bugs;
  for (const Derivation& each : derivations()) {
    const Definition& newest = op.versions().back();
    if (newest.ruling("G20") || is_no_bug(op, each.name)) continue;  // nobody says which numbers come
    if (tells(newest) && std::string_view(each.name) != "ends-one-off") continue;
    if (!each.applies(newest) || !shows(newest, each.types)) continue;
    const bool is_weaker = each.is_weaker(newest);
    Mutant mutant{lower(op.name()) + "-" + each.name, op.name(), each.description,
                  is_weaker ? State::below : State::fail, is_weaker && each.is_named_arithmetic};
    mutant.types = each.types;
    if (each.is_stale) mutant.severity = Severity::state;
    bugs.push_back({std::move(mutant), each.kernel, each.is_stale});
  }
  std::ranges::move(misreading_bugs(op), std::back_inserter(bugs));
  std::ranges::move(bugs_by_name(op.name()), std::back_inserter(bugs));
  if (op.versions().back().shaping == Shaping::broadcast)
    std::ranges::move(broadcast_bugs(op), std::back_inserter(bugs));
  return bugs;
}

}  // namespace

std::string lower(std::string text) {
  for (char& letter : text) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return text;
}

bool shows(const Definition& definition, std::span<const DType> types) {
  const std::vector<DType>& admitted = definition.types_of(definition.data().type);
  return types.empty() || std::ranges::find_first_of(admitted, types) != admitted.end();
}

std::span<const VariantKernel> later_variants(const Operator& op) {
  static const std::map<std::string, std::vector<VariantKernel>> all = [] {
    std::map<std::string, std::vector<VariantKernel>> made;
    for (const Operator* each : operators()) made.emplace(each->name(), variants_by_name(each->name()));
    return made;
  }();
  return all.at(op.name());
}

std::span<const Bug> derived_bugs(const Operator& op) {
  static const std::map<std::string, std::vector<Bug>> all = [] {
    std::map<std::string, std::vector<Bug>> made;
    for (const Operator* each : operators())
      if (is_later(*each)) made.emplace(each->name(), made_bugs(*each));
    return made;
  }();
  const auto found = all.find(op.name());
  return found == all.end() ? std::span<const Bug>{} : std::span<const Bug>(found->second);
}

}  // namespace assay::mutation
