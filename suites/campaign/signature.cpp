// SPDX-License-Identifier: Apache-2.0
#include "suites/campaign/signature.h"

#include "generators/family.h"
#include "generators/traits.h"
#include "oracles/exact/operands.h"

#include <algorithm>
#include <cctype>

namespace assay::suites {
namespace {

using oracles::Offender;
using oracles::State;

// -- where

// Names the narrowest part of the output that holds every offender, "anywhere" where none does; they are of one output.
std::string region_of(const Case& c, const Shape& shape, const std::vector<Offender>& offenders) {
  if (std::ranges::all_of(offenders, [](const Offender& o) { return o.set > 0; })) return "in the second data set";
  std::vector<Shape> places;
  for (const Offender& offender : offenders) places.push_back(oracles::position(shape, offender.index));
  for (const generators::Region& region : generators::family_of(c.definition()).regions(c, shape))
    if (std::ranges::all_of(places, region.holds)) return std::string(region.name);
  return "anywhere";
}

// -- how

bool is_at_end(const oracles::Scalar& value, DType type) {
  if (type != DType::u8 && type != DType::i8) return false;
  const oracles::Scalar low = oracles::scalar(type == DType::u8 ? 0 : -128),
                        high = oracles::scalar(type == DType::u8 ? 255 : 127);
  return value.value() == low.value() || value.value() == high.value();
}

bool is_one_off(const Offender& o, DType type) {
  return !is_float(type) && o.want && o.got.is_finite() &&
         oracles::abs(o.got.value() - o.want->value()) == oracles::Dyadic::power_of_two(0);
}

// What all wrong values have in common.
std::string likeness(const std::vector<Offender>& offenders, DType type) {
  using Class = oracles::Scalar::Class;
  const auto all = [&](auto&& holds) { return std::ranges::all_of(offenders, holds); };
  if (all([](const Offender& o) { return o.got.is == Class::nan; })) return "NaN ";
  if (all([](const Offender& o) { return o.got.is == Class::infinite; })) return "infinite ";
  if (all([&](const Offender& o) { return is_one_off(o, type); })) return "off by one ";
  if (all([&](const Offender& o) { return is_at_end(o.got, type); })) return "at the end of the range ";
  if (all([](const Offender& o) { return o.got.is_zero(); })) return "zero ";
  return "";
}

std::string value_pattern(const Case& c, const Answered& answered, const oracles::Judgement& judgement) {
  std::vector<Offender> offenders = oracles::Judge(c, judgement).offenders(answered.outcome, answered.verdict);
  if (offenders.empty()) return "";
  // The first output that has any tells; of another one than the first by its name.
  const int output = std::ranges::min(offenders, {}, &Offender::output).output;
  std::erase_if(offenders, [&](const Offender& each) { return each.output != output; });
  const std::string of = output == 0 ? "" : c.call().requested_outputs().at(static_cast<std::size_t>(output)) + " ";
  const Tensor& first = answered.outcome.sets.front().at(static_cast<std::size_t>(output));
  // Where not all were looked at, the others may be anywhere.
  const bool is_all = static_cast<Int>(offenders.size()) < judgement.most_wrong;
  return of + likeness(offenders, first.dtype()) + (is_all ? region_of(c, first.shape(), offenders) : "anywhere");
}

// -- shapes and reasons

std::string shape_pattern(const Case& c, const oracles::Outcome& outcome) {
  const auto want = oracles::oracle_of(c.version).shape(c.call(), {});
  if (!want || outcome.sets.empty() || outcome.sets.front().empty()) return "";
  const Shape& got = outcome.sets.front().front().shape();
  if (got.size() != want->size()) return "of another rank";
  bool larger = false, smaller = false;
  for (std::size_t axis = 0; axis < got.size(); ++axis) {
    larger |= got[axis] > (*want)[axis];
    smaller |= got[axis] < (*want)[axis];
  }
  return larger && smaller ? "other extents" : larger ? "larger" : "smaller";
}

// Traits that a case without them would be simpler; the others only say what is plain about a case.
constexpr std::pair<std::string_view, std::string_view> all_special[] = {
    {"rank 2", "two spatial axes"},
    {"rank 3", "three spatial axes"},
    {"rank 4", "four spatial axes"},
    {"batch > 1", "more than one item in the batch"},
    {"explicit padding", "padding by the attribute pads"},
    {"pads asymmetric", "other padding at the beginning of an axis than at its end"},
    {"pads >= ek", "padding as wide as the dilated kernel, or wider"},
    {"stride > 1", "a stride above 1"},
    {"ek < s", "the dilated kernel is smaller than the stride"},
    {"dilation > 1", "a dilation above 1"},
    {"ceil", "ceil_mode=1"},
    {"overhang >= 2", "under ceil_mode the last window ends two cells or more behind the padding"},
    {"trailing 1", "under ceil_mode one window would start in the padding at the end"},
    {"trailing >= 2", "under ceil_mode several windows would start in the padding at the end"},
    {"n < 0 with ceil", "under ceil_mode the dilated kernel is larger than the padded input"},
    {"a window without input", "a window that covers padding alone"},
    {"1 < group < C", "several groups of several channels each"},
    {"group depthwise", "as many groups as channels"},
    {"maps > 1", "more than one output channel"},
    {"bias given", "a bias"},
    {"bias empty name", "the bias left out by an empty name"},
    {"weights initializer", "the weights are a constant of the model"},
    {"parameters initializers", "scales and zero points are constants of the model"},
    {"N = 0", "an empty batch"},
    {"C = 0", "no input channel"},
    {"M = 0", "no output channel"},
    {"I = 0 with pads", "an empty spatial axis with padding"},
    {"shapes symbolic", "the model declares extents by symbols"},
    {"mask given", "a mask"},
    {"a sample blended with the outside", "a sample between cells of the image and the outside"},
    {"a sample far away", "a sample far outside the image"},
    {"offset_group unlike group", "offset_group is not group"},
    {"w_scale and w_zero_point per map", "a w_scale and a w_zero_point for each output channel"},
    {"w_scale per map, one w_zero_point", "a w_scale for each output channel and one w_zero_point"},
    {"one w_scale, w_zero_point per map", "one w_scale and a w_zero_point for each output channel"},
    {"data nonfinite", "NaN or infinities in the data"},
};

}  // namespace

Signature signature_of(const Case& c, const Answered& answered, const oracles::Judgement& judgement) {
  const oracles::Verdict& verdict = answered.verdict;
  Signature signature{c.version, verdict.state, verdict.because, ""};
  switch (verdict.state) {
    case State::fail:
      signature.pattern = verdict.because == "shape" ? shape_pattern(c, answered.outcome)
                          : verdict.because == "value" || verdict.because == "special"
                              ? value_pattern(c, answered, judgement)
                              : verdict.detail;
      break;
    case State::contested: signature.pattern = text(verdict.readings); break;
    case State::refused:
    case State::error: signature.pattern = reason_pattern(verdict); break;
    default: break;
  }
  return signature;
}

std::string reason_pattern(std::string_view reason) {
  constexpr std::size_t longest = 120;
  std::string out;
  for (const char c : reason) {
    const bool is_number = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (is_number && out.ends_with('#')) continue;
    out += is_number ? '#' : c;
    for (const std::string_view list : {"#,#", "#, #", "# #", "#.#", "-#"})
      if (out.ends_with(list)) out.replace(out.size() - list.size(), list.size(), "#");
    if (out.size() > longest) break;
  }
  return out;
}

std::string reason_pattern(const oracles::Verdict& verdict) {
  const bool was_ended = verdict.because == "timed out" || verdict.because == "out of memory";
  const std::string_view words = verdict.detail;
  return reason_pattern(was_ended ? words.substr(0, words.find("; its last words: ")) : words);
}

std::string text(const Signature& signature) {
  std::string out = text(signature.version) + " " + std::string(name(signature.state));
  for (const std::string& part : {signature.because, signature.pattern})
    if (!part.empty()) out += " " + part;
  return out;
}

int gravity(State state) {
  switch (state) {
    case State::fail: return 0;
    case State::error: return 1;
    case State::refused: return 2;
    case State::below: return 3;
    default: return 4;
  }
}

bool is_finding(State state) {
  return state == State::fail || state == State::below || state == State::refused || state == State::error;
}

std::vector<std::string> predicate_of(const Case& c) {
  std::vector<std::string> out;
  const Call call = c.call();
  if (call.states("auto_pad") && call.text("auto_pad") != "NOTSET") out.push_back(call.text("auto_pad"));
  if (call.states("count_include_pad") && call.integer("count_include_pad") != 0) out.emplace_back("count_include_pad");
  for (std::string& trait : generators::traits(c))
    if (trait.starts_with("breaks ") ||
        std::ranges::find(all_special, trait, &std::pair<std::string_view, std::string_view>::first) !=
            std::end(all_special))
      out.push_back(std::move(trait));
  return out;
}

std::span<const std::pair<std::string_view, std::string_view>> special_traits() { return all_special; }

}  // namespace assay::suites
