// SPDX-License-Identifier: Apache-2.0
#include "oracles/judging/comparison.h"

#include <algorithm>

namespace assay::oracles {

void Variety::add(const Element& element, const Scalar& nearest) {
  ++counted;
  special |= element.terms == 0;
  zeros += nearest.is_zero() ? 1 : 0;
  see(nearest);
}

void Variety::add(const FilterResult& screening) {
  counted += screening.right;
  zeros += screening.zeros;
  maybe_zeros += screening.maybe_zeros;
  special |= screening.has_empty;
  varies |= screening.varies;
  if (screening.seen) see(scalar_of(*screening.seen));
}

void Variety::see(const Scalar& nearest) {
  if (!first) first = nearest;
  varies |= !same(*first, nearest);
}

void Comparison::add(const FilterResult& screening) {
  out_.elements += screening.right;
  out_.exact += screening.nearest;
  if (screening.weakest) weakest_ = std::max(weakest_.value_or(Level::L0), *screening.weakest);
  variety_.add(screening);
}

void Comparison::widen(const Deviation& off) {
  out_.worst_q = std::max(out_.worst_q, off.q);
  out_.worst_ulp = std::max(out_.worst_ulp, off.ulp);
  out_.worst_share = std::max(out_.worst_share, off.share);
}

void Comparison::measure(const Element& element, const Scalar& got, DType dtype) {
  widen(deviation(element, got, dtype));
}

void Comparison::count(const ElementRating& finding) {
  ++out_.elements;
  out_.exact += finding.is_nearest ? 1 : 0;
  out_.unscored += finding.kind == ElementRating::Kind::unscored ? 1 : 0;
  widen(finding.off);
  if (!finding.followed.first.empty()) {
    std::string& seen = out_.followed[finding.followed.first];
    seen = seen.empty() || seen == finding.followed.second ? finding.followed.second : "both";
  }
  if (finding.kind != ElementRating::Kind::unscored && finding.kind != ElementRating::Kind::wrong)
    weakest_ = std::max(weakest_.value_or(Level::L0), finding.level);
}

void Comparison::keep_common(const std::vector<std::string>& arithmetics) {
  if (++below_ == 1) arithmetics_ = arithmetics;
  std::erase_if(arithmetics_,
                [&](const std::string& each) { return std::ranges::find(arithmetics, each) == arithmetics.end(); });
}

namespace {

// Tells whether a right value has other bits than those it copies.
bool lost_bits(const Answer& answer, Int index, const Tensor& tensor) {
  if (!answer.keeps_bits()) return false;
  const auto [source, from] = answer.copied(index);
  const std::size_t size = size_of(tensor.dtype());
  return !std::ranges::equal(source->bytes().subspan(static_cast<std::size_t>(from) * size, size),
                             tensor.bytes().subspan(static_cast<std::size_t>(index) * size, size));
}

}  // namespace

void Comparison::add(const Answer& answer, Int index, const Element& element, const Tensor& tensor, int set,
                     int output) {
  const Scalar got = scalar(tensor, index);
  ElementRating finding = examine(answer, index, element, got);
  if (finding.kind == ElementRating::Kind::right && lost_bits(answer, index, tensor)) {
    finding.kind = ElementRating::Kind::wrong;
    finding.because = "bits";
    finding.is_nearest = false;
  }
  count(finding);
  if (finding.kind == ElementRating::Kind::unscored && unscored_reason_.empty()) unscored_reason_ = finding.because;
  const bool notable = finding.kind == ElementRating::Kind::below || finding.kind == ElementRating::Kind::wrong;
  const bool too_weak = finding.kind == ElementRating::Kind::right && finding.level > required_;
  if ((notable && finding.kind > worst_) || (too_weak && !out_.evidence)) {
    out_.evidence = evidence_of(answer, index, element, got, set);
    out_.evidence->output = output;
    out_.because = finding.because.empty() ? "value" : finding.because;
  }
  if (finding.kind == ElementRating::Kind::below) keep_common(finding.arithmetics);
  worst_ = std::max(worst_, finding.kind);
  wrong_ += finding.kind == ElementRating::Kind::wrong ? 1 : 0;
  if (element.kind != Kind::finite && element.kind != Kind::text)
    variety_.special = true;
  else if (!variety_.special)
    variety_.add(element, finding.is_nearest && got.is_finite() ? got : nearest(element, answer.dtype()));
}

Verdict Comparison::verdict() const {
  Verdict out = out_;
  out.level = worst_ == ElementRating::Kind::wrong ? std::nullopt : weakest_;
  if (worst_ == ElementRating::Kind::wrong) {
    out.state = State::fail;
  } else if (weakest_ && *weakest_ > required_) {
    out.state = State::below;
  } else if (out.elements > 0 && out.unscored == out.elements) {
    out.state = State::unscored;
    out.because = "undecidable";
    out.detail = "every element: " + unscored_reason_;
  }
  return out;
}

}  // namespace assay::oracles
