// SPDX-License-Identifier: Apache-2.0
#include "suites/campaign/exhaust.h"

#include "oracles/exact/enclosure.h"
#include "oracles/exact/operands.h"
#include "oracles/filter/function_lanes.h"
#include "oracles/judging/finding.h"
#include "oracles/judging/judge.h"
#include "reference/parallel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <future>

namespace assay::suites {
namespace {

using oracles::ElementRating;
using oracles::FunctionFilter;
using oracles::Lanes;

constexpr std::uint64_t part_size = 1 << 21;  // inputs of one model
constexpr std::size_t most_examined = 4096;   // of one part, by the definition
constexpr std::size_t most_breaches = 8, samples = 64;
constexpr double unsure = 0x1p-15;  // how far the filter's ulp may be off

int bits_of(DType type) { return static_cast<int>(8 * size_of(type)); }

Case case_of(const Definition& definition, DType type, std::uint64_t pattern, std::uint64_t count) {
  return *parse_case(line_of_patterns(definition, type, pattern, count));
}

double value_of(const Tensor& tensor, std::size_t i) {
  double value = 0;
  for_float(tensor.dtype(), [&]<class T>() { value = static_cast<double>(tensor.as<T>()[i]); });
  return value;
}

std::size_t bin_of(double ulp) {
  constexpr std::size_t doubling = 10;  // ends, from 0.5 to 256
  if (ulp > error_ends[doubling - 1])
    return static_cast<std::size_t>(std::ranges::lower_bound(error_ends, ulp) - error_ends.begin());
  const auto exponent = static_cast<std::int64_t>((std::bit_cast<std::uint64_t>(std::max(ulp, 0.5)) - 1) >> 52);
  return static_cast<std::size_t>(exponent - 1023 + 2);
}
bool is_near_an_end(double ulp, std::size_t bin) {
  return (bin < error_ends.size() && error_ends[bin] - ulp <= unsure) ||
         (bin > 0 && ulp - error_ends[bin - 1] <= unsure);
}

Closeness standing_of(const ElementRating& rating) {
  switch (rating.kind) {
    case ElementRating::Kind::wrong: return Closeness::fail;
    case ElementRating::Kind::below: return Closeness::below;
    case ElementRating::Kind::unscored: return Closeness::unscored;
    case ElementRating::Kind::right: break;
  }
  if (rating.is_nearest) return Closeness::nearest;
  return rating.level <= oracles::Level::L1 ? Closeness::faithful : Closeness::within;
}

Closeness standing_of(const oracles::Decided& decided) {
  if (decided.is_nearest) return Closeness::nearest;
  return decided.level == oracles::Level::L1 ? Closeness::faithful : Closeness::within;
}

// The numbers of one part and what came back for them.
class Part {
 public:
  Part(const Definition& definition, DType type, std::uint64_t first, std::uint64_t count)
      : requested_(case_of(definition, type, first, count)),
        operands_(operands(requested_, 0)),
        input_(&*operands_.front()),
        first_(first),
        filter_(filter_of(requested_)) {
    out_.definition = &definition;
    out_.type = type;
    out_.inputs = count;
  }

  // Runs a case on a backend and judges what comes back.
  Accuracy accuracy(Backend& backend, const RunOptions& run_options, bool is_fresh = false) {
    const SuiteCase planned{requested_, line(requested_), "", {}};
    Request request = request_of(planned, {operands_}, run_options);
    request.fresh = is_fresh;
    const oracles::Outcome outcome = backend.run(request);
    if (!is_answer(outcome)) {
      out_.inputs = 0;
      return out_;
    }
    got_ = &outcome.sets.front().front();
    judge();
    const oracles::Judgement whole{run_options.level, backend.describe().arithmetic};
    if (out_.breaks()) heed(oracles::judge(requested_.call(), {operands_}, outcome, whole));
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
    Lanes lanes(filter_, oracles::oracle_of(requested_.version).function(requested_.call())->function, out_.type);
    std::vector<std::size_t> undecided;
    for (std::size_t first = 0; first < out_.inputs; first += Lanes::most) {
      const std::size_t count = std::min<std::size_t>(Lanes::most, out_.inputs - first);
      if (next_sample_ < first) next_sample_ += out_.inputs / samples + 1;  // more than a block
      if (lanes.look(*input_, *got_, first, count)) {
        for (std::size_t i = 0; i < count; ++i) sort(lanes, i, first + i, undecided);
        continue;
      }
      count_nearest(count);
      if (next_sample_ < first + count) sample(next_sample_, Closeness::nearest);
    }
    examine(undecided);
  }

  // Counts what lanes decide, and leaves the rest to the filter.
  void sort(const Lanes& lanes, std::size_t lane, std::size_t i, std::vector<std::size_t>& undecided) {
    const std::int64_t marks = lanes.marks(lane);
    if (marks & Lanes::outside) out_.exits.note(first_ + i);
    if (marks & Lanes::out_of_order) out_.disorders.note(first_ + i);
    if (!(marks & Lanes::unsure)) return count_nearest(1), sample(i, Closeness::nearest);
    const double x = lanes.x(lane), value = lanes.value(lane), got = lanes.got(lane);
    const oracles::Decided rated = filter_.rate(x, value, got);
    // Outside of the domain, and at NaN, the answer is NaN.
    if (std::isnan(value) && !std::isinf(x) && std::isnan(got))
      ++out_.counts[static_cast<std::size_t>(Closeness::nearest)];
    else if (!rated.is_decided || (!rated.is_sharp && is_near_an_end(rated.ulp, bin_of(rated.ulp))))
      undecided.push_back(i);
    else
      note(i, x, got, standing_of(rated), rated.ulp), sample(i, standing_of(rated));
  }

  // Keeps one decision now and then, to be held against the definition.
  void sample(std::size_t i, Closeness standing) {
    if (i == next_sample_) sampled_.emplace_back(i, standing);
  }

  // Admits what the whole output fits: the arithmetic that the backend declares, or another reading.
  void heed(const oracles::Verdict& verdict) {
    if (verdict.state != oracles::State::pass && verdict.state != oracles::State::contested) return;
    if (verdict.state == oracles::State::contested) out_.contested = text(verdict.readings);
    for (const Closeness each : {Closeness::below, Closeness::fail}) {
      out_.counts[static_cast<std::size_t>(Closeness::within)] += out_.count(each);
      out_.counts[static_cast<std::size_t>(each)] = 0;
    }
    out_.breaches.clear();
  }

  void count_nearest(std::size_t count) {
    out_.counts[static_cast<std::size_t>(Closeness::nearest)] += count;
    out_.errors[0] += count;
  }

  void note(std::size_t i, double x, double got, Closeness standing, double ulp) {
    if (standing == Closeness::nearest) return count_nearest(1);
    ++out_.counts[static_cast<std::size_t>(standing)];
    ++out_.errors[bin_of(ulp)];
    const std::uint64_t pattern = first_ + i;
    std::optional<Accuracy::Peak>& peak = out_.peaks[pattern >> (bits_of(out_.type) - 10)];
    if (!peak || peak->ulp < ulp) peak = Accuracy::Peak{pattern, x, got, ulp};
  }

  // Rates by the definition what the filter leaves, what is sampled of the rest, and the largest errors again, of which
  // it knows about how large they are.
  void examine(const std::vector<std::size_t>& undecided) {
    const std::size_t examined = std::min(undecided.size(), most_examined);
    out_.counts[static_cast<std::size_t>(Closeness::unexamined)] += undecided.size() - examined;
    std::vector<std::size_t> all(undecided.begin(), undecided.begin() + static_cast<std::ptrdiff_t>(examined));
    for (const std::optional<Accuracy::Peak>& peak : out_.peaks)
      if (peak) all.push_back(peak->pattern - first_);
    for (const auto& [i, standing] : sampled_) all.push_back(i);
    if (all.empty()) return;
    const TensorType type{out_.type, {static_cast<Int>(all.size())}};
    Tensor some(type);
    for (std::size_t i = 0; i < all.size(); ++i)
      std::ranges::copy(input_->bytes().subspan(all[i] * size_of(out_.type), size_of(out_.type)),
                        some.bytes().subspan(i * size_of(out_.type)).begin());
    Case few = requested_;
    few.node.inputs.begin()->second.type = type;
    const oracles::Answers answers = oracles::oracle_of(few.version).answer(few.call(), {some}, {}, {});
    const std::size_t peaks_end = all.size() - sampled_.size();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const oracles::Element element = answers.front()->element(static_cast<Int>(i));
      const ElementRating rating = oracles::examine(*answers.front(), static_cast<Int>(i), element,
                                                    oracles::scalar(*got_, static_cast<Int>(all[i])));
      if (i < examined)
        settle(element, rating, all[i]);
      else if (i < peaks_end)
        measure(rating.off.ulp, first_ + all[i]);
      else if (standing_of(rating) != sampled_[i - peaks_end].second)
        throw BrokenPromise("the filter and the definition disagree on " + case_of_input(all[i]));
    }
  }

  std::string case_of_input(std::size_t i) const {
    return line_of_patterns(*out_.definition, out_.type, first_ + i, 1);
  }

  void measure(double ulp, std::uint64_t pattern) {
    Accuracy::Peak& peak = *out_.peaks[pattern >> (bits_of(out_.type) - 10)];
    if (peak.pattern == pattern) peak.ulp = ulp;  // else a larger one was found since
  }

  // Counts what the definition decides.
  void settle(const oracles::Element& element, const ElementRating& rating, std::size_t i) {
    const oracles::Scalar got = oracles::scalar(*got_, static_cast<Int>(i));
    const Closeness standing = standing_of(rating);
    if (got.is_finite() && element.kind == oracles::Kind::finite)
      note(i, value_of(*input_, i), value_of(*got_, i), standing, rating.off.ulp);
    else
      ++out_.counts[static_cast<std::size_t>(standing)];
    const bool is_breach = standing == Closeness::below || standing == Closeness::fail;
    if (is_breach && out_.breaches.size() < most_breaches)
      out_.breaches.push_back({first_ + i, standing, oracles::written(got, out_.type),
                               oracles::wanted(element, out_.type),
                               standing == Closeness::below ? rating.arithmetics.front() : rating.because});
  }

  Case requested_;
  Operands operands_;
  std::vector<std::pair<std::size_t, Closeness>> sampled_;
  std::size_t next_sample_ = 17;
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
  if (sum.contested.empty()) sum.contested = std::move(part.contested);
  sum.ended = std::move(part.ended);
  sum.is_unsupported = part.is_unsupported;
}

// Runs the next parts, as many as there are workers, at once.
std::vector<Accuracy> run_parts(const Accuracy& so_far, WorkerPool& pool, const RunOptions& run_options) {
  const std::uint64_t left = so_far.all_inputs() - so_far.inputs;
  const auto count = std::min(static_cast<std::size_t>(run_options.jobs), (left + part_size - 1) / part_size);
  const auto run_one = [&](std::size_t i, Backend& backend) {
    const std::uint64_t first = so_far.inputs + i * part_size;
    const std::uint64_t size = std::min(part_size, so_far.all_inputs() - first);
    return Part(*so_far.definition, so_far.type, first, size).accuracy(backend, run_options);
  };
  std::vector<std::future<Accuracy>> others;
  for (std::size_t i = 1; i < count; ++i)
    others.push_back(std::async(std::launch::async, run_one, i, std::ref(pool.member(i))));
  std::vector<Accuracy> parts{run_one(0, pool.first())};
  for (std::future<Accuracy>& other : others) parts.push_back(other.get());
  return parts;
}

// Runs all inputs of a function in one model.
Accuracy whole(const Accuracy& of, Backend& backend, const RunOptions& run_options, bool is_fresh) {
  Accuracy all = Part(*of.definition, of.type, 0, of.all_inputs()).accuracy(backend, run_options, is_fresh);
  all.is_unsupported |= all.ended.starts_with(name(oracles::Outcome::Kind::refused));
  return all;
}

bool is_stopped(const RunOptions& run_options) { return run_options.stop && *run_options.stop; }

}  // namespace

std::uint64_t Accuracy::all_inputs() const { return std::uint64_t{1} << bits_of(type); }

const Accuracy::Peak* Accuracy::worst() const {
  const Peak* worst = nullptr;
  for (const std::optional<Peak>& each : peaks)
    if (each && (!worst || worst->ulp < each->ulp)) worst = &*each;
  return worst;
}

oracles::Level Accuracy::level() const {
  if (count(Closeness::within) + count(Closeness::below) + count(Closeness::fail) > 0) return oracles::Level::L2;
  return count(Closeness::faithful) > 0 ? oracles::Level::L1 : oracles::Level::L0;
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
  while (!accuracy.is_complete() && accuracy.ended.empty() && !is_stopped(run_options)) {
    for (Accuracy& part : run_parts(accuracy, pool, run_options)) {
      if (!accuracy.ended.empty()) break;
      add(accuracy, std::move(part));
    }
    keep(accuracy);
  }
}

std::vector<Accuracy> exhaustible(const Selection& selection, const Description& backend) {
  std::vector<Accuracy> all;
  for (const Operator* op : operators())
    for (const DType type : selection.types) {
      const auto takes = [&](const Definition& each) {
        return selection.admits(each, type) && is_exhaustible(each, type) &&
               excluded_by(backend, case_of(each, type, 0, 1)).empty();
      };
      const auto found = std::find_if(op->versions().rbegin(), op->versions().rend(), takes);
      if (found == op->versions().rend()) continue;
      all.emplace_back().definition = &*found;
      all.back().type = type;
    }
  return all;
}

void exhaust_all(std::vector<Accuracy>& functions, WorkerPool& pool, const RunOptions& run_options) {
  std::vector<char> has_begun(pool.size());  // nothing that the process did before is held against a function
  in_parallel(functions.size(), pool.size(), [&](std::size_t i, std::size_t job) {
    if (is_stopped(run_options)) return;
    Accuracy one = whole(functions[i], pool.member(job), run_options, !std::exchange(has_begun[job], true));
    if (one.breaks()) one = whole(functions[i], pool.second(job), run_options, true);
    if (!is_stopped(run_options)) functions[i] = std::move(one);  // an interrupt reaches the worker too
  });
}

}  // namespace assay::suites
