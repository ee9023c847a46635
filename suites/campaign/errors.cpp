// SPDX-License-Identifier: Apache-2.0
#include "suites/campaign/errors.h"

#include "reference/operator.h"

#include <algorithm>
#include <cmath>

namespace assay::suites {
namespace {

using oracles::State;

int bin_of(double value) {
  return std::isfinite(value) ? std::clamp(std::ilogb(value), Errors::first_bin, Errors::last_bin) : Errors::last_bin;
}

void count(std::map<int, Errors::Bin>& bins, double value, bool is_outside) {
  if (value <= 0) return;
  Errors::Bin& bin = bins[bin_of(value)];
  ++(is_outside ? bin.outside : bin.inside);
}

void merge(std::map<int, Errors::Bin>& into, const std::map<int, Errors::Bin>& from) {
  for (const auto& [number, bin] : from) {
    into[number].inside += bin.inside;
    into[number].outside += bin.outside;
  }
}

}  // namespace

void Errors::add(const oracles::Verdict& verdict) {
  const bool is_outside = verdict.state == State::below || verdict.state == State::fail;
  const bool is_inside = verdict.state == State::pass || verdict.state == State::contested;
  if (verdict.elements <= verdict.unscored || !(is_outside || is_inside)) return;
  ++cases;
  if (verdict.worst_ulp == 0) ++(is_outside ? special : exact);
  count(ulp, verdict.worst_ulp, is_outside);
  count(share, verdict.worst_share, is_outside);
}

void Errors::merge(const Errors& other) {
  cases += other.cases;
  exact += other.exact;
  special += other.special;
  suites::merge(ulp, other.ulp);
  suites::merge(share, other.share);
}

DType first_type(const Case& c) {
  if (c.definition().inputs.empty()) return c.definition().type_of(c.call(), c.definition().data());
  const auto first = c.node.inputs.find(c.definition().data().name);
  return first == c.node.inputs.end() ? DType::f32 : first->second.type.dtype;
}

}  // namespace assay::suites
