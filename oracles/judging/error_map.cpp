// SPDX-License-Identifier: Apache-2.0
#include "oracles/judging/error_map.h"

#include "oracles/exact/operands.h"
#include "oracles/judging/finding.h"
#include "reference/flat_index.h"
#include "reference/operator.h"

#include <algorithm>
#include <limits>
#include <set>

namespace assay::oracles {
namespace {

std::vector<std::string> axes_of(const OpVersion& version, std::size_t rank) {
  const Definition& definition = *find_definition(version);
  if (definition.shaping != Shaping::window || definition.attribute("channels_last")) {
    std::vector<std::string> numbered;
    for (std::size_t axis = 0; axis < rank; ++axis) numbered.push_back("axis " + std::to_string(axis));
    return numbered;
  }
  std::vector<std::string> axes{"N"};
  for (std::size_t axis = 1; axis + 1 < rank; ++axis) axes.push_back("D" + std::to_string(axis));
  if (rank > 1) axes.insert(version.name.starts_with("Nhwc") ? axes.end() : axes.begin() + 1, "C");
  return axes;
}

// Halves the longest axis until few enough are left, around `centre`.
void choose_window(ErrorMap& picture, const Shape& centre, Int most) {
  picture.extent = picture.shape;
  while (volume(picture.extent) > most) {
    Int& longest = *std::ranges::max_element(picture.extent);
    longest = (longest + 1) / 2;
  }
  for (std::size_t axis = 0; axis < centre.size(); ++axis)
    picture.begin.push_back(
        std::clamp<Int>(centre[axis] - picture.extent[axis] / 2, 0, picture.shape[axis] - picture.extent[axis]));
}

// Farther than any number where one side is none.
double distance(const std::optional<double>& ulp) { return ulp.value_or(std::numeric_limits<double>::infinity()); }

// One data set of an answered call, and the judge's word on its elements.
struct Sight {
  const Answer& answer;
  const Tensor& got;
  std::set<Int> wrong, weak;

  std::optional<double> ulp(Int index) const {
    const Element element = answer.element(index);
    const Scalar value = scalar(got, index);
    if (element.kind != Kind::finite || !value.is_finite()) return std::nullopt;
    return ulps(element, value, answer.dtype());
  }

  char cell(Int index, const std::optional<double>& off) const {
    if (wrong.contains(index)) return off ? 'w' : 's';
    if (weak.contains(index)) return 'b';
    if (answer.element(index).kind == Kind::unscored) return 'u';
    return off.value_or(0) > 0 ? 'i' : '.';
  }

  ErrorMap::Drawn drawn(Int index) const {
    const Element element = answer.element(index);
    ErrorMap::Drawn out{position(answer.shape(), index),
                        written(scalar(got, index), answer.dtype()),
                        wanted(element, answer.dtype()),
                        "",
                        "",
                        ulp(index)};
    if (element.kind != Kind::finite) return out;
    const Interval range = interval(element, element.required, answer.dtype());
    out.lower = written(range.lower, answer.dtype());
    out.upper = written(range.upper, answer.dtype());
    return out;
  }
};

// The offenders of one data set, the farthest off first.
std::vector<std::pair<double, Int>> by_distance(const Sight& sight) {
  std::vector<std::pair<double, Int>> all;
  std::set<Int> offenders = sight.wrong;
  offenders.insert(sight.weak.begin(), sight.weak.end());
  for (const Int index : offenders) {
    const double off = distance(sight.ulp(index));
    all.emplace_back(sight.wrong.contains(index) ? off : off / std::numeric_limits<double>::max(), index);
  }
  std::ranges::stable_sort(all, std::ranges::greater(), &std::pair<double, Int>::first);
  return all;
}

Verdict read_as(State state, const Readings& readings) {
  Verdict verdict;
  verdict.state = state;
  verdict.readings = readings;
  return verdict;
}

bool has_values(const Outcome& outcome) {
  return outcome.kind == Outcome::Kind::outputs && outcome.sets.size() == static_cast<std::size_t>(data_sets) &&
         std::ranges::none_of(outcome.sets, &std::vector<Tensor>::empty);
}

void describe(ErrorMap& picture, const Case& c, int output, const Answer& answer) {
  picture.output = output;
  picture.shape = answer.shape();
  picture.dtype = answer.dtype();
  picture.axes = axes_of(c.version, picture.shape.size());
}

}  // namespace

std::optional<ErrorMap> picture(const Case& c, const Outcome& outcome, const Verdict& verdict,
                                const Judgement& judgement, Int most_elements, std::size_t most_worst) {
  if (!has_values(outcome) || !c.is_legal()) return std::nullopt;
  const Readings readings = verdict.state == State::contested ? Readings() : verdict.readings;
  if (!oracle_of(c.version).shape(c.call(), readings)) return std::nullopt;
  const auto answers_to = [&](int set) {
    return oracle_of(c.version).answer(c.call(), operands(c, set), readings, judgement.arithmetic);
  };
  ErrorMap picture;
  // A shape that is another one is all there is to see.
  const Answers first = answers_to(0);
  for (const std::vector<Tensor>& set : outcome.sets)
    for (std::size_t output = 0; output < std::min(set.size(), first.size()); ++output)
      if (!picture.answered && set[output].shape() != first[output]->shape()) {
        describe(picture, c, static_cast<int>(output), *first[output]);
        picture.dtype = set[output].dtype();
        picture.answered = set[output].shape();
      }
  if (picture.answered) return picture;
  const Judge bench(c, judgement);
  const std::vector<Offender> wrong = bench.offenders(outcome, read_as(State::fail, readings));
  const std::vector<Offender> weak = bench.offenders(outcome, read_as(State::below, readings));
  if (weak.empty()) return std::nullopt;
  const Offender& shown = wrong.empty() ? weak.front() : wrong.front();
  picture.set = shown.set;
  const Answers answers = answers_to(shown.set);
  const Answer& answer = *answers.at(static_cast<std::size_t>(shown.output));
  describe(picture, c, shown.output, answer);
  const auto is_shown = [&](const Offender& each) { return each.set == shown.set && each.output == shown.output; };
  Sight sight{
      answer, outcome.sets[static_cast<std::size_t>(shown.set)][static_cast<std::size_t>(shown.output)], {}, {}};
  for (const Offender& each : wrong)
    if (is_shown(each)) sight.wrong.insert(each.index);
  for (const Offender& each : weak)
    if (is_shown(each) && !sight.wrong.contains(each.index)) sight.weak.insert(each.index);
  const std::vector<std::pair<double, Int>> worst = by_distance(sight);
  choose_window(picture, position(picture.shape, worst.front().second), most_elements);
  for (Int i = 0; i < volume(picture.extent); ++i) {
    Shape index = position(picture.extent, i);
    for (std::size_t axis = 0; axis < index.size(); ++axis) index[axis] += picture.begin[axis];
    const Int flat = flat_index(picture.shape, index);
    picture.ulp.push_back(sight.ulp(flat));
    picture.cells += sight.cell(flat, picture.ulp.back());
  }
  for (std::size_t i = 0; i < std::min(most_worst, worst.size()); ++i)
    picture.worst.push_back(sight.drawn(worst[i].second));
  return picture;
}

}  // namespace assay::oracles
