// SPDX-License-Identifier: Apache-2.0
#include "suites/campaign/exhaust.h"

#include "oracles/exact/enclosure.h"
#include "oracles/exact/operands.h"
#include "oracles/filter/function_filter.h"
#include "oracles/judging/finding.h"
#include "oracles/judging/judge.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <thread>

namespace assay::suites {
namespace {

using oracles::ElementRating;
using oracles::FunctionFilter;

constexpr std::uint64_t part_size = 1 << 21;  // inputs of one model
constexpr std::size_t most_examined = 4096;   // of one part, by the definition
constexpr std::size_t most_breaches = 8;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double unsure = 0x1p-15;  // how far the filter's ulp may be off

int bits_of(DType type) { return static_cast<int>(8 * size_of(type)); }

Case case_of(const Definition& definition, DType type, std::uint64_t pattern, std::uint64_t count) {
  return *parse_case(line_of_patterns(definition, type, pattern, count));
}

std::size_t bin_of(double ulp) {
  return static_cast<std::size_t>(std::ranges::lower_bound(error_ends, ulp) - error_ends.begin());
}
bool is_near_an_end(double ulp) {
  return std::ranges::any_of(error_ends, [&](double end) { return std::abs(ulp - end) <= unsure; });
}

Standing standing_of(const ElementRating& rating) {
  switch (rating.kind) {
    case ElementRating::Kind::wrong: return Standing::fail;
    case ElementRating::Kind::below: return Standing::below;
    case ElementRating::Kind::unscored: return Standing::unscored;
    case ElementRating::Kind::right: break;
  }
  if (rating.is_nearest) return Standing::nearest;
  return rating.level <= oracles::Level::L1 ? Standing::faithful : Standing::within;
}

Standing standing_of(const FunctionFilter::Rated& decided) {
  if (decided.is_nearest) return Standing::nearest;
  return decided.level == oracles::Level::L1 ? Standing::faithful : Standing::within;
}

// The numbers of one part and what came back for them.
class Part {
 public:
  Part(const Definition& definition, DType type, std::uint64_t first, std::uint64_t count)
      : asked_(case_of(definition, type, first, count)),
        operands_(operands(asked_, 0)),
        input_(&*operands_.front()),
        first_(first),
        filter_(filter_of(asked_)) {
    out_.definition = &definition;
    out_.type = type;
    out_.inputs = count;
  }

  // Asks a backend and judges what comes back.
  Accuracy accuracy(Backend& backend, const RunOptions& run_options) {
    const Ask ask = ask_of({asked_, line(asked_), "", {}}, {operands_}, run_options);
    const oracles::Outcome outcome = backend.run(ask);
    if (!is_answer(outcome)) {
      out_.inputs = 0;
      return out_;
    }
    got_ = &outcome.sets.front().front();
    judge();
    return std::move(out_);
  }

 private:
  static FunctionFilter filter_of(const Case& c) {
    const Call call = c.call();
    return *FunctionFilter::of(*oracles::oracle_of(c.version).function(call),
                               c.definition().type_of(call, c.definition().outputs.front()));
  }

  bool is_answer(const oracles::Outcome& outcome) {
    if (outcome.kind != oracles::Outcome::Kind::outputs) {
      out_.is_unsupported = outcome.kind == oracles::Outcome::Kind::unsupported;
      out_.ended = std::string(name(outcome.kind)) + (outcome.because.empty() ? "" : ": " + outcome.because);
      return false;
    }
    const bool is_one = outcome.sets.size() == 1 && outcome.sets.front().size() == 1;
    if (is_one && outcome.sets.front().front().type() == input_->type()) return true;
    out_.ended = "what came back has another type or shape";
    return false;
  }

  void judge() {
    x_ = oracles::doubles(*input_);
    came_ = oracles::doubles(*got_);
    const auto [least, most] = oracles::range(oracles::oracle_of(asked_.version).function(asked_.call())->function);
    const double lower = filter_.rounded(least), upper = filter_.rounded(most);
    std::vector<std::size_t> undecided;
    double value_before = nan, got_before = nan;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      const double x = x_[i], got = came_[i], value = filter_.value(x);
      const FunctionFilter::Rated rated = filter_.rate(x, value, got);
      // Outside of the domain, and at NaN, the answer is NaN.
      if (std::isnan(value) && !std::isinf(x) && std::isnan(got))
        count(Standing::nearest);
      else if (!rated.is_decided || (!rated.is_sharp && is_near_an_end(rated.ulp)))
        undecided.push_back(i);
      else
        note(i, standing_of(rated), rated.ulp);
      if (!std::isnan(value) && (got < lower || upper < got)) out_.exits.note(first_ + i);
      if (is_disorder(value - value_before, value, got - got_before)) out_.disorders.note(first_ + i);
      value_before = value;
      got_before = got;
    }
    examine(undecided);
  }

  // Tells whether outputs go another way than the exact values do, as far as these are numbers and known to differ.
  static bool is_disorder(double rise, double value, double change) {
    return std::abs(rise) > std::abs(value) * 0x1p-38 && rise * change < 0;
  }

  void count(Standing standing) { ++out_.counts[static_cast<std::size_t>(standing)]; }

  void note(std::size_t i, Standing standing, double ulp) {
    count(standing);
    ++out_.errors[standing == Standing::nearest ? 0 : bin_of(ulp)];
    if (standing == Standing::nearest) return;
    const std::uint64_t pattern = first_ + i;
    std::optional<Accuracy::Peak>& peak = out_.peaks[pattern >> (bits_of(out_.type) - 10)];
    if (!peak || peak->ulp < ulp) peak = Accuracy::Peak{pattern, x_[i], came_[i], ulp};
  }

  // Rates by the definition what the filter leaves, and the largest errors again, of which it knows about how large
  // they are.
  void examine(const std::vector<std::size_t>& undecided) {
    const std::size_t examined = std::min(undecided.size(), most_examined);
    out_.counts[static_cast<std::size_t>(Standing::unexamined)] += undecided.size() - examined;
    std::vector<std::size_t> all(undecided.begin(), undecided.begin() + static_cast<std::ptrdiff_t>(examined));
    for (const std::optional<Accuracy::Peak>& peak : out_.peaks)
      if (peak) all.push_back(peak->pattern - first_);
    if (all.empty()) return;
    const TensorType type{out_.type, {static_cast<Int>(all.size())}};
    Tensor some(type);
    for (std::size_t i = 0; i < all.size(); ++i)
      std::ranges::copy(input_->bytes().subspan(all[i] * size_of(out_.type), size_of(out_.type)),
                        some.bytes().subspan(i * size_of(out_.type)).begin());
    Case few = asked_;
    few.node.inputs.begin()->second.type = type;
    const oracles::Answers answers = oracles::oracle_of(few.version).answer(few.call(), {some}, {}, {});
    for (std::size_t i = 0; i < all.size(); ++i) rate(*answers.front(), static_cast<Int>(i), all[i], i >= examined);
  }

  void rate(const oracles::Answer& answer, Int index, std::size_t i, bool is_peak) {
    const oracles::Element element = answer.element(index);
    const oracles::Scalar got = oracles::scalar(*got_, static_cast<Int>(i));
    const ElementRating rating = oracles::examine(answer, index, element, got);
    const Standing standing = standing_of(rating);
    if (is_peak) {
      Accuracy::Peak& peak = *out_.peaks[(first_ + i) >> (bits_of(out_.type) - 10)];
      if (peak.pattern == first_ + i) peak.ulp = rating.off.ulp;  // else a larger one was found since
      return;
    }
    if (got.is_finite() && element.kind == oracles::Kind::finite)
      note(i, standing, rating.off.ulp);
    else
      count(standing);
    const bool is_breach = standing == Standing::below || standing == Standing::fail;
    if (is_breach && out_.breaches.size() < most_breaches)
      out_.breaches.push_back({first_ + i, standing, oracles::written(got, out_.type),
                               oracles::wanted(element, out_.type),
                               standing == Standing::below ? rating.arithmetics.front() : rating.because});
  }

  Case asked_;
  Operands operands_;
  std::vector<double> x_, came_;  // as numbers
  const Tensor* input_;
  const Tensor* got_ = nullptr;
  std::uint64_t first_;
  FunctionFilter filter_;
  Accuracy out_;
};

void add(Accuracy::Oddity& sum, const Accuracy::Oddity& part) {
  if (sum.count == 0) sum.pattern = part.pattern;
  sum.count += part.count;
}

void add(Accuracy& sum, Accuracy part) {
  sum.inputs += part.inputs;
  for (std::size_t i = 0; i < sum.counts.size(); ++i) sum.counts[i] += part.counts[i];
  for (std::size_t i = 0; i < sum.errors.size(); ++i) sum.errors[i] += part.errors[i];
  for (std::size_t i = 0; i < sum.peaks.size(); ++i)
    if (part.peaks[i] && (!sum.peaks[i] || sum.peaks[i]->ulp < part.peaks[i]->ulp)) sum.peaks[i] = part.peaks[i];
  add(sum.disorders, part.disorders);
  add(sum.exits, part.exits);
  for (Accuracy::Breach& breach : part.breaches)
    if (sum.breaches.size() < most_breaches) sum.breaches.push_back(std::move(breach));
  sum.ended = std::move(part.ended);
  sum.is_unsupported = part.is_unsupported;
}

// Runs the next parts, as many as there are workers, at once.
std::vector<Accuracy> run_parts(const Accuracy& so_far, WorkerPool& pool, const RunOptions& run_options) {
  const std::uint64_t left = so_far.all_inputs() - so_far.inputs;
  const auto count = std::min(static_cast<std::size_t>(run_options.jobs), (left + part_size - 1) / part_size);
  std::vector<Accuracy> parts(count);
  std::vector<std::exception_ptr> broken(count);
  const auto run_one = [&](std::size_t i, Backend& backend) {
    try {
      const std::uint64_t first = so_far.inputs + i * part_size;
      const std::uint64_t size = std::min(part_size, so_far.all_inputs() - first);
      parts[i] = Part(*so_far.definition, so_far.type, first, size).accuracy(backend, run_options);
    } catch (...) {
      broken[i] = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < count; ++i) others.emplace_back(run_one, i, std::ref(pool.member(i)));
  run_one(0, pool.first());
  for (std::thread& other : others) other.join();
  for (const std::exception_ptr& each : broken)
    if (each) std::rethrow_exception(each);
  return parts;
}

}  // namespace

std::uint64_t Accuracy::all_inputs() const { return std::uint64_t{1} << bits_of(type); }

const Accuracy::Peak* Accuracy::worst() const {
  const Peak* worst = nullptr;
  for (const std::optional<Peak>& each : peaks)
    if (each && (!worst || worst->ulp < each->ulp)) worst = &*each;
  return worst;
}

bool is_exhaustible(const Definition& definition, DType type) {
  const oracles::Oracle& oracle = oracles::oracle_of(definition.version);
  const std::vector<DType>& admitted = definition.types_of(definition.data().type);
  const bool is_small = type == DType::f16 || type == DType::bf16 || type == DType::f32;
  if (!oracle.function || !is_small || std::ranges::count(admitted, type) == 0) return false;
  const Case c = case_of(definition, type, 0, 1);
  const std::optional<oracles::FunctionCall> function = oracle.function(c.call());
  return function && FunctionFilter::of(*function, type);
}

void exhaust(Accuracy& accuracy, WorkerPool& pool, const RunOptions& run_options,
             const std::function<void(const Accuracy&)>& keep) {
  const auto stops = [&] { return run_options.stop && *run_options.stop; };
  while (!accuracy.is_complete() && accuracy.ended.empty() && !stops()) {
    for (Accuracy& part : run_parts(accuracy, pool, run_options)) {
      if (!accuracy.ended.empty()) break;
      add(accuracy, std::move(part));
    }
    keep(accuracy);
  }
}

}  // namespace assay::suites
