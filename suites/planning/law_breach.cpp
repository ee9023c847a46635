// SPDX-License-Identifier: Apache-2.0
// Whether answers keep a law. With e_i the exact values, g_i what came and f_i the factors of an equation, a law says
// sum f_i e_i = 0, so a correct backend has sum f_i g_i = sum f_i (g_i - e_i), and each g_i - e_i lies between the ends
// of its enclosure less e_i. That is all that is compared: the e_i cancel.
#include "oracles/exact/enclosure.h"
#include "oracles/exact/operands.h"
#include "oracles/judging/finding.h"
#include "reference/onnx_io.h"
#include "reference/operator.h"
#include "suites/planning/laws.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>

namespace assay::suites {
namespace {

using oracles::Answer;
using oracles::Dyadic;
using oracles::Element;
using oracles::Ratio;
using oracles::Scalar;
using oracles::Tolerance;

// How far what came may lie from the exact value.
struct Room {
  Ratio below, above;

  void join(const Room& other) {
    below = std::min(below, other.below);
    above = std::max(above, other.above);
  }
};

// Tells whether some result is small enough to be flushed to zero.
bool meets_subnormals(const oracles::Interval& range, const oracles::Format& format) {
  const Dyadic smallest = Dyadic::power_of_two(format.min_exponent);
  return range.lower.value() < smallest && range.upper.value() > -smallest;
}

// Nothing where a tolerance proves nothing.
std::optional<Room> room_of(const Element& element, const Tolerance& tolerance, DType dtype) {
  if (tolerance.vacuous || tolerance.may_overflow || tolerance.blurs_nonfinite) return std::nullopt;
  const oracles::Interval range = oracles::interval(element, tolerance, dtype);
  if (!range.lower.is_finite() || !range.upper.is_finite()) return std::nullopt;
  const Ratio exact = element.nearest ? Ratio{element.nearest->value(), 1} : element.value;
  Room room{Ratio{range.lower.value(), 1} - exact, Ratio{range.upper.value(), 1} - exact};
  if (tolerance.flushes_output && is_float(dtype) && meets_subnormals(range, oracles::format_of(dtype))) {
    const Ratio to_zero = Ratio{} - exact;
    room.join({to_zero, to_zero});
  }
  return room;
}

// The answer of the oracle to one case; worked out where it is asked for.
class Side {
 public:
  Side(const Case& c, const oracles::Arithmetic& declared) : c_(c), declared_(declared) {}

  std::optional<Room> required(Int index) { return room(index, false); }
  std::optional<Room> widest(Int index) { return room(index, true); }

 private:
  std::optional<Room> room(Int index, bool with_wider) {
    if (!answer_)
      answer_ = std::move(oracles::oracle_of(c_.version).answer(c_.call(), operands(c_, 0), {}, declared_).front());
    const Element element = answer_->element(index);
    if (element.kind != oracles::Kind::finite || !element.nan_admitted.empty()) return std::nullopt;
    std::optional<Room> all = room_of(element, element.required, answer_->dtype());
    if (!all || !with_wider) return all;
    for (const Tolerance& wider : answer_->wider(index)) {
      const std::optional<Room> room = room_of(element, wider, answer_->dtype());
      if (!room) return std::nullopt;
      all->join(*room);
    }
    return all;
  }

  const Case& c_;
  const oracles::Arithmetic& declared_;
  std::unique_ptr<Answer> answer_;
};

class LawCheck {
 public:
  LawCheck(const Case& c, const RelatedCases& relation, std::span<const Tensor> answers,
           const oracles::Arithmetic& declared)
      : relation_(relation), answers_(answers) {
    sides_.emplace_back(c, declared);
    for (const Case& related : relation.related) sides_.emplace_back(related, declared);
  }

  std::string shapes() const {
    for (std::size_t i = 0; i < relation_.related.size(); ++i) {
      const Case& related = relation_.related[i];
      const Shape shape = related.definition().shape(related.call());
      const Tensor& got = answers_[i + 1];
      if (got.shape() != shape) return "shape " + assay::text(got.shape()) + " instead of " + assay::text(shape);
      if (got.dtype() != answers_[0].dtype()) return "another type: " + std::string(name(got.dtype()));
    }
    return "";
  }

  std::string values() {
    for (const Equation& equation : relation_.equations)
      if (is_broken(equation)) return in_words(equation);
    return "";
  }

 private:
  Scalar got(const Link& link) const { return oracles::scalar(answers_[link.case_index], link.element); }

  bool is_broken(const Equation& equation) {
    bool is_finite = true;
    Dyadic sum;
    for (const Link& link : equation) {
      const Scalar value = got(link);
      is_finite &= value.is_finite();
      if (is_finite) sum += Dyadic{link.factor, 0} * value.value();
    }
    if (is_finite && sum.is_zero()) return false;
    // Most differences fit what is asked for; what else is admissible costs more to find out.
    return !fits(equation, is_finite, sum, &Side::required) && !fits(equation, is_finite, sum, &Side::widest);
  }

  bool fits(const Equation& equation, bool is_finite, const Dyadic& sum, std::optional<Room> (Side::*room_at)(Int)) {
    Ratio least, most;
    for (const Link& link : equation) {
      const std::optional<Room> room = (sides_[link.case_index].*room_at)(link.element);
      if (!room) return true;
      const Dyadic factor{std::abs(link.factor), 0};
      const Ratio below = room->below * factor, above = room->above * factor;
      least = link.factor > 0 ? least + below : least - above;
      most = link.factor > 0 ? most + above : most - below;
    }
    return is_finite && least <= Ratio{sum, 1} && Ratio{sum, 1} <= most;
  }

  std::string in_words(const Equation& equation) const {
    std::string words;
    for (const Link& link : equation) {
      const Tensor& answer = answers_[link.case_index];
      words += link.factor > 0 ? (words.empty() ? "" : " + ") : " - ";
      if (std::abs(link.factor) != 1) words += std::to_string(std::abs(link.factor)) + " ";
      words += oracles::written(got(link), answer.dtype()) + " (" +
               (link.case_index == 0 ? "Y" : "Y" + std::string(link.case_index, '\'')) +
               oracles::place("", answer.shape(), link.element) + ")";
    }
    return words + " is not 0";
  }

  const RelatedCases& relation_;
  std::span<const Tensor> answers_;
  std::vector<Side> sides_;
};

}  // namespace

std::string breach_of_law(const Case& c, const RelatedCases& relation, std::span<const Tensor> answers,
                          const oracles::Arithmetic& declared) {
  expects(answers.size() == relation.related.size() + 1, "an answer to every case of a law");
  LawCheck check(c, relation, answers, declared);
  std::string breach = check.shapes();
  if (breach.empty()) breach = check.values();
  return breach.empty() ? "" : std::string(law(relation.law).formula) + ": " + breach;
}

std::string inference_against_text(const Case& c) {
  const Inferred inferred = infer(model_of(c));
  const Shape shape = c.definition().shape(c.call());
  if (!inferred.shape) return "";
  const auto agrees = [](const std::optional<Int>& said, Int extent) { return !said || *said == extent; };
  if (std::ranges::equal(*inferred.shape, shape, agrees)) return "";
  std::string said;
  for (const std::optional<Int>& extent : *inferred.shape)
    said += (said.empty() ? "" : ",") + (extent ? std::to_string(*extent) : "?");
  return "ONNX's shape inference says [" + said + "]; by the text it is " + assay::text(shape);
}

}  // namespace assay::suites
