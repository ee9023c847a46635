// SPDX-License-Identifier: Apache-2.0
// LayerNormalization, BatchNormalization and their relatives a third time: every element is dealt to its group by its
// coordinates, and a group is normalized in f32 (f64 for f64), its variance in one pass, in two or by Welford's
// recurrence.
#include "reference/families/elementwise.h"
#include "suites/mutation/family.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace assay::mutation {
namespace {

using oracles::Level;

struct Normalizing {
  enum class Variance { two_passes, one_pass, running };
  Variance variance = Variance::two_passes;
  bool is_folded = false, by_reciprocal = false, in_double = false, rounds_share = false;
  // Slips.
  bool divides_by_one_fewer = false, forgets_epsilon = false, adds_epsilon_outside = false, forgets_last = false;
  bool other_axis = false, forgets_scale = false, forgets_bias = false, centers_otherwise = false,
       keeps_variance = false;
  bool other_channel = false, other_groups = false;
  bool swaps_momentum = false, uses_given = false;
  // How clauses of BatchNormalization may be read (N11, N72).
  bool saves_inverse = false, keeps_sample_variance = false;
};

// Where the elements of a tensor of X's shape belong.
struct Dealt {
  std::vector<Shape> at;
  std::vector<Int> group;
};

Shape coordinates(const Shape& shape, Int index) {
  Shape at(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) at[axis] = index % shape[axis], index /= shape[axis];
  return at;
}

Dealt dealt(const Normalizing& how, const Call& call, const Shape& x) {
  Dealt all;
  const Definition& definition = call.definition();
  Int axis = 2, together = 1;
  std::vector<bool> is_listed(x.size());
  if (definition.attribute("axes")) {
    for (const Int each : call.ints("axes"))
      is_listed[static_cast<std::size_t>(each < 0 ? each + std::ssize(x) : each)] = true;
    axis = std::ssize(x);
  } else if (definition.attribute("axis")) {
    axis = call.integer("axis");
    if (axis < 0) axis += std::ssize(x);
    if (how.other_axis) axis = std::ssize(x) - 1;
  } else if (definition.attribute("num_groups")) {
    together = x[1] / call.integer("num_groups");
  }
  for (Int i = 0; i < volume(x); ++i) {
    all.at.push_back(coordinates(x, i));
    Int group = 0;
    for (Int k = 0; k < axis; ++k) {
      const auto axis_at = static_cast<std::size_t>(k);
      if (is_listed[axis_at]) continue;
      const bool is_channel = k == 1 && axis == 2 && !definition.attribute("axis") && !definition.attribute("axes");
      const Int by = is_channel ? together : 1, channel = all.at.back()[axis_at];
      group = group * ((x[axis_at] + by - 1) / std::max<Int>(by, 1)) +
              (is_channel && how.other_groups ? channel % std::max<Int>(x[1] / by, 1) : channel / by);
    }
    all.group.push_back(group);
  }
  return all;
}

template <class S>
std::pair<S, S> moments(const Normalizing& how, const std::vector<S>& x, bool is_centered) {
  const auto n = static_cast<S>(x.size());
  S mean = 0, spread = 0;
  if (how.variance == Normalizing::Variance::running && is_centered) {
    S count = 0;
    for (const S each : x) {
      const S before = each - mean;
      mean += before / ++count;
      spread += before * (each - mean);
    }
    return {mean, spread / n};
  }
  for (const S each : x) mean += each;
  mean = is_centered ? mean / n : S(0);
  if (how.variance == Normalizing::Variance::one_pass) {
    for (const S each : x) spread += each * each;
    return {mean, spread / n - mean * mean};
  }
  for (const S each : x) spread += (each - mean) * (each - mean);
  return {mean, spread / (how.divides_by_one_fewer && n > 1 ? n - 1 : n)};
}

// Rounds to the type of a tensor.
double in_type_of(const Tensor& like, double value) {
  Tensor one({like.dtype(), {}});
  put_number(one, 0, value);
  return number_at(one, 0);
}

// The element of a parameter for an element of X.
double parameter(const Normalizing& how, const Call& call, const Tensor& of, const Shape& x, const Shape& at) {
  Int place = 0;
  const Shape& shape = of.shape();
  if (!call.definition().attribute("axis")) {
    const Int channel = how.other_channel ? x[1] - 1 - at[1] : at[1];
    return number_at(of, shape[0] == x[1] ? channel : channel / (x[1] / shape[0]));
  }
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const std::size_t axis = at.size() - shape.size() + k;
    place = place * shape[k] + (shape[k] == 1 ? 0 : how.other_channel ? x[axis] - 1 - at[axis] : at[axis]);
  }
  return number_at(of, place);
}

template <class S>
Values normalize(const Normalizing& how, const Call& call, Inputs in) {
  const Tensor& x = *in[0];
  const bool is_centered = (call.definition().version.name == "RMSNormalization") == how.centers_otherwise;
  const Dealt where = dealt(how, call, x.shape());
  std::map<Int, std::vector<S>> groups;
  for (Int i = 0; i < x.elements(); ++i)
    groups[where.group[static_cast<std::size_t>(i)]].push_back(static_cast<S>(number_at(x, i)));
  std::map<Int, std::pair<S, S>> statistics;
  const bool is_plain = call.definition().attribute("axes");  // and adds its epsilon to the root
  const auto epsilon = static_cast<S>(how.forgets_epsilon ? 0.0F : is_plain ? 1e-9F : call.real("epsilon"));
  for (auto& [group, elements] : groups) {
    if (how.forgets_last && elements.size() > 1) elements.pop_back();
    auto [mean, variance] = moments(how, elements, is_centered);
    const S deviation = how.keeps_variance                     ? variance + epsilon
                        : how.adds_epsilon_outside != is_plain ? std::sqrt(variance) + epsilon
                                                               : std::sqrt(variance + epsilon);
    statistics[group] = {mean, deviation};
  }
  Values y = outputs_of(call);
  for (Int i = 0; i < x.elements(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const auto [mean, deviation] = statistics[where.group[at]];
    const auto k =
        static_cast<S>(how.forgets_scale || is_plain ? 1.0 : parameter(how, call, *in[1], x.shape(), where.at[at]));
    const bool has_bias = in.size() > 2 && in[2] && !how.forgets_bias;
    const auto b = static_cast<S>(has_bias ? parameter(how, call, *in[2], x.shape(), where.at[at]) : 0.0);
    const auto own = static_cast<S>(number_at(x, i));
    S share = how.by_reciprocal ? (own - mean) * (1 / deviation) : (own - mean) / deviation;
    if (how.rounds_share) share = static_cast<S>(in_type_of(x, static_cast<double>(share)));
    const S folded = own * (k / deviation) + (b - mean * (k / deviation));
    put_number(*y[0], i, static_cast<double>(how.is_folded ? folded : share * k + b));
    if (y.size() > 1 && y[1]) put_number(*y[1], where.group[at] % y[1]->elements(), static_cast<double>(mean));
    if (y.size() > 1 && y[2]) put_number(*y[2], where.group[at] % y[2]->elements(), static_cast<double>(1 / deviation));
  }
  return y;
}

// -- BatchNormalization: a group for each channel, or for each place of one

bool trains(const Call& call) {
  const Definition& d = call.definition();
  if (d.attribute("training_mode")) return call.integer("training_mode") == 1;
  return d.attribute("is_test") ? call.integer("is_test") == 0 : !call.node().outputs.empty();
}

template <class S>
Values normalize_batch(const Normalizing& how, const Call& call, Inputs in) {
  const Shape& shape = in[0]->shape();
  const bool is_spatial = !call.definition().attribute("spatial") || call.integer("spatial") == 1;
  const auto group_of = [&](Int i) {
    const Shape at = coordinates(shape, i);
    Int group = 0;
    for (std::size_t axis = 1; axis < (is_spatial ? std::min<std::size_t>(2, at.size()) : at.size()); ++axis)
      group = group * shape[axis] + at[axis];
    return group;
  };
  std::map<Int, std::vector<S>> groups;
  for (Int i = 0; i < in[0]->elements(); ++i) groups[group_of(i)].push_back(static_cast<S>(number_at(*in[0], i)));
  Values y = outputs_of(call);
  const auto given = [&](std::size_t input, Int group) {
    const Int count = in[input]->elements();
    return static_cast<S>(number_at(*in[input], how.other_channel ? count - 1 - group : group));
  };
  const auto epsilon = static_cast<S>(how.forgets_epsilon ? 0.0F : call.real("epsilon"));
  const auto momentum = static_cast<S>(how.swaps_momentum ? 1 - call.real("momentum") : call.real("momentum"));
  const bool is_unsettled = call.definition().ruling("N72");
  std::map<Int, std::pair<S, S>> statistics;
  for (Int group = 0; group < in[3]->elements(); ++group) {
    const S own_mean = static_cast<S>(number_at(*in[3], group)),
            own_variance = static_cast<S>(number_at(*in[4], group));
    if (!trains(call)) {
      statistics[group] = {given(3, group), given(4, group)};
      continue;
    }
    std::vector<S> elements = groups[group];
    if (how.forgets_last && elements.size() > 1) elements.pop_back();
    const auto [mean, variance] = moments(how, elements, true);
    statistics[group] = {mean, variance};
    const auto mixed = [&](S before, S now) { return before * momentum + now * (1 - momentum); };
    const S n = static_cast<S>(elements.size()), of_sample = n > 1 ? variance * n / (n - 1) : variance;
    put_number(*y[1], group, static_cast<double>(mixed(own_mean, mean)));
    put_number(
        *y[2], group,
        static_cast<double>(mixed(own_variance, how.keeps_sample_variance && is_unsettled ? of_sample : variance)));
    if (y.size() > 3) put_number(*y[3], group, static_cast<double>(mean));
    if (y.size() > 3)
      put_number(*y[4], group, static_cast<double>(how.saves_inverse ? 1 / std::sqrt(variance + epsilon) : variance));
    if (how.uses_given) statistics[group] = {own_mean, own_variance};
  }
  for (Int i = 0; i < in[0]->elements(); ++i) {
    const Int group = group_of(i);
    const auto [mean, variance] = statistics[group];
    const S deviation = how.adds_epsilon_outside ? std::sqrt(variance) + epsilon : std::sqrt(variance + epsilon);
    const S k = how.forgets_scale ? S(1) : given(1, group), b = how.forgets_bias ? S(0) : given(2, group);
    const auto own = static_cast<S>(number_at(*in[0], i));
    const S factor = k / deviation, folded = own * factor + (b - mean * factor);
    put_number(*y[0], i, static_cast<double>(how.is_folded ? folded : (own - mean) * (1 / deviation) * k + b));
  }
  return y;
}

Kernel normalizing(Normalizing how) {
  return [how](const Call& call, Inputs in) {
    const bool is_wide = how.in_double || in[0]->dtype() == DType::f64;
    if (call.definition().version.name == "BatchNormalization")
      return is_wide ? normalize_batch<double>(how, call, in) : normalize_batch<float>(how, call, in);
    return is_wide ? normalize<double>(how, call, in) : normalize<float>(how, call, in);
  };
}

// -- MeanVarianceNormalization, whose groups are of any axes

std::vector<VariantKernel> plain_variants() {
  using Variance = Normalizing::Variance;
  return {variant_of("sequential", "the mean, then the variance", normalizing({})),
          variant_of("by-reciprocal", "a product with 1 over the deviation", normalizing({.by_reciprocal = true})),
          variant_of("in-double", "every float is computed in double", normalizing({.in_double = true})),
          variant_of("one-pass", "the mean of squares less the squared mean",
                     normalizing({.variance = Variance::one_pass})),
          variant_of("running", "Welford's recurrence", normalizing({.variance = Variance::running})),
          VariantKernel{{"forgets-epsilon", Level::L2, "nothing is added to the deviation", "N10", "no-epsilon"},
                        normalizing({.forgets_epsilon = true})}};
}

std::vector<Bug> plain_bugs(const std::string& op) {
  const auto bug = [&](const char* name, const char* what, Normalizing how) {
    return bug_of(op, name, what, normalizing(how));
  };
  return {bug("adds-epsilon-inside", "1e-9 is added to the variance", {.adds_epsilon_outside = true}),
          bug("forgets-last", "statistics miss the last element", {.forgets_last = true}),
          bug("takes-no-root", "divides by the variance", {.keeps_variance = true}),
          bug("keeps-mean", "the mean is not subtracted", {.centers_otherwise = true}),
          bug("divides-by-one-fewer", "the variance of a sample", {.divides_by_one_fewer = true})};
}

std::vector<VariantKernel> batch_variants() {
  using Variance = Normalizing::Variance;
  const auto reading = [](const char* name, const char* what, const char* ruling, const char* read, Normalizing how) {
    return VariantKernel{{name, Level::L2, what, ruling, read}, normalizing(how)};
  };
  return {variant_of("sequential", "the mean, then the variance", normalizing({})),
          variant_of("in-double", "every float is computed in double", normalizing({.in_double = true})),
          variant_of("one-pass", "the mean of squares less the squared mean",
                     normalizing({.variance = Variance::one_pass})),
          variant_of("folded", "x k + (b - mean k)", normalizing({.is_folded = true})),
          variant_of("folded-running", "the same by Welford's recurrence",
                     normalizing({.variance = Variance::running, .is_folded = true})),
          reading("saves-inverse", "what is saved is 1 / sqrt(variance + epsilon)", "N11", "inverse-std",
                  {.saves_inverse = true}),
          reading("keeps-sample-variance", "the running variance is that of a sample", "N72", "sample",
                  {.keeps_sample_variance = true}),
          reading("saves-inverse-of-sample", "both, as cuDNN has it", "N11 N72", "inverse-std sample",
                  {.saves_inverse = true, .keeps_sample_variance = true})};
}

std::vector<Bug> batch_bugs(const std::string& op) {
  const auto bug = [&](const char* name, const char* what, Normalizing how) {
    return bug_of(op, name, what, normalizing(how));
  };
  return {bug("forgets-epsilon", "epsilon is not added", {.forgets_epsilon = true}),
          bug("adds-epsilon-outside", "epsilon is added to the root", {.adds_epsilon_outside = true}),
          bug("forgets-last", "statistics miss the last element", {.forgets_last = true}),
          bug("forgets-scale", "scale is 1", {.forgets_scale = true}),
          bug("forgets-bias", "the bias is not added", {.forgets_bias = true}),
          bug("takes-other-channel", "parameters from the end", {.other_channel = true}),
          bug("divides-by-one-fewer", "Y by the variance of a sample", {.divides_by_one_fewer = true}),
          bug("swaps-momentum", "the share of the batch is momentum", {.swaps_momentum = true}),
          bug("uses-given-statistics", "in training Y is of the given statistics", {.uses_given = true})};
}

bool is_normalization(const std::string& op) {
  return op == "LayerNormalization" || op == "RMSNormalization" || op == "InstanceNormalization" ||
         op == "GroupNormalization";
}

}  // namespace

std::vector<VariantKernel> normalizing_variants(const std::string& op) {
  if (op == "BatchNormalization") return batch_variants();
  if (op == "MeanVarianceNormalization") return plain_variants();
  if (!is_normalization(op)) return {};
  using Variance = Normalizing::Variance;
  const auto variant = [](const char* name, const char* what, Normalizing how, Level level = Level::L2) {
    return variant_of(name, what, normalizing(how), level);
  };
  std::vector<VariantKernel> variants{
      variant("sequential", "the mean, then the variance", {}),
      variant("by-inverse-root", "a product with 1 / root", {.by_reciprocal = true}),
      variant("in-double", "every float is computed in double", {.in_double = true}),
      variant("rounds-share", "what is normalized is rounded to the type", {.rounds_share = true})};
  if (op == "InstanceNormalization") variants.pop_back();
  if (op == "RMSNormalization") return variants;
  variants.push_back(
      variant("one-pass", "the mean of squares less the squared mean", {.variance = Variance::one_pass}));
  variants.push_back(variant("running", "Welford's recurrence", {.variance = Variance::running}));
  variants.push_back(variant("folded", "x k + (b - mean k)", {.is_folded = true}));
  variants.push_back(variant("folded-running", "the same by Welford's recurrence",
                             {.variance = Variance::running, .is_folded = true}));
  return variants;
}

std::vector<Bug> normalizing_bugs(const std::string& op) {
  if (op == "BatchNormalization") return batch_bugs(op);
  if (op == "MeanVarianceNormalization") return plain_bugs(op);
  if (!is_normalization(op)) return {};
  const auto bug = [&](const char* name, const char* what, Normalizing how) {
    return bug_of(op, name, what, normalizing(how));
  };
  std::vector<Bug> bugs{
      bug("forgets-epsilon", "epsilon is not added", {.forgets_epsilon = true}),
      bug("adds-epsilon-outside", "epsilon is added to the root", {.adds_epsilon_outside = true}),
      bug("forgets-last", "statistics miss the last element", {.forgets_last = true}),
      bug("forgets-scale", "scale is 1", {.forgets_scale = true}),
      bug("takes-no-root", "divides by the variance", {.keeps_variance = true}),
      bug("centers-otherwise", "the mean is subtracted where it should stay, or stays", {.centers_otherwise = true}),
      bug("takes-other-channel", "scale and bias from the end", {.other_channel = true})};
  if (op != "RMSNormalization") {
    bugs.push_back(bug("divides-by-one-fewer", "the variance of a sample", {.divides_by_one_fewer = true}));
    bugs.push_back(bug("forgets-bias", "the bias is not added", {.forgets_bias = true}));
  }
  if (op == "LayerNormalization" || op == "RMSNormalization")
    bugs.push_back(bug("takes-last-axis", "the last axis alone is normalized", {.other_axis = true}));
  if (op == "GroupNormalization")
    bugs.push_back(bug("interleaves-groups", "a group takes every other channel", {.other_groups = true}));
  return bugs;
}

}  // namespace assay::mutation
