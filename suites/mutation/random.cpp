// SPDX-License-Identifier: Apache-2.0
// The random operators by a third hand: the distributions of the standard library.
#include "reference/families/elementwise.h"
#include "suites/mutation/family.h"

#include <cmath>
#include <random>

namespace assay::mutation {
namespace {

enum Defect { none, leaves_support, skews, stays_constant, tosses_fairly, counts_from_one, forgets_exponential };

using Engine = std::mt19937_64;

double number(Engine& engine, const Call& call, Inputs in, Int at, int defect) {
  const std::string& name = call.definition().version.name;
  if (name == "Bernoulli") {
    const double p = defect == tosses_fairly ? 0.5 : number_at(*in[0], at);
    return std::bernoulli_distribution(std::clamp(defect == skews ? p * p : p, 0.0, 1.0))(engine) ? 1 : 0;
  }
  if (name == "Multinomial") {
    const Int classes = in[0]->shape()[1], row = at / call.integer("sample_size");
    std::vector<double> weights;
    for (Int k = 0; k < classes; ++k) {
      const double x = number_at(*in[0], row * classes + k);
      weights.push_back(defect == forgets_exponential ? std::abs(x) + 0.01
                        : defect == skews             ? std::exp(x / 2)
                                                      : std::exp(x));
    }
    return std::discrete_distribution<int>(weights.begin(), weights.end())(engine) + (defect == counts_from_one);
  }
  if (name.starts_with("RandomUniform")) {
    const double low = call.real("low"), high = call.real("high");
    const double at01 = std::generate_canonical<double, 53>(engine);
    return defect == leaves_support ? high + at01 : low + (defect == skews ? at01 * at01 : at01) * (high - low);
  }
  const double z = std::normal_distribution<double>()(engine);
  return call.real("mean") + call.real("scale") * (defect == skews            ? std::abs(z)
                                                   : defect == leaves_support ? INFINITY
                                                                              : z);
}

Kernel rolling(int defect) {
  return [=](const Call& call, Inputs in) {
    Engine engine(7);
    Values y = outputs_of(call);
    double first = 0;
    for (Int i = 0; i < y[0]->elements(); ++i) {
      const double x = number(engine, call, in, i, defect);
      if (i == 0) first = x;
      put_number(*y[0], i, defect == stays_constant ? first : x);
    }
    return y;
  };
}

bool is_of_numbers(const std::string& op) { return op.starts_with("RandomUniform") || op.starts_with("RandomNormal"); }
bool is_random(const std::string& op) { return is_of_numbers(op) || op == "Bernoulli" || op == "Multinomial"; }

}  // namespace

std::vector<VariantKernel> random_variants(const std::string& op) {
  if (!is_random(op)) return {};
  return {variant_of("sequential", "drawn by the standard library", rolling(none))};
}

std::vector<Bug> random_bugs(const std::string& op) {
  if (!is_random(op)) return {};
  const auto bug = [&](const char* name, const char* what, Defect defect) {
    return bug_of(op, name, what, rolling(defect));
  };
  std::vector<Bug> bugs{bug("skews", "the distribution is another one", skews)};
  if (is_of_numbers(op)) {
    bugs.push_back(bug("leaves-support", "numbers are beyond those that may come", leaves_support));
    bugs.push_back(bug("stays-constant", "one number is drawn for all elements", stays_constant));
  } else if (op == "Bernoulli") {
    bugs.push_back(bug("tosses-fairly", "every probability is a half", tosses_fairly));
  } else {
    bugs.push_back(bug("counts-from-one", "the first class is number 1", counts_from_one));
    bugs.push_back(bug("forgets-exponential", "the logarithms are taken for probabilities", forgets_exponential));
  }
  return bugs;
}

}  // namespace assay::mutation
