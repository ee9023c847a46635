// SPDX-License-Identifier: Apache-2.0
#include "suites/triage/fuzz.h"

#include "oracles/judging/case_class.h"
#include "oracles/judging/judge.h"
#include "reference/sequence.h"
#include "suites/campaign/case_runner.h"
#include "suites/expectations/ledger.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <thread>

namespace assay::suites {
namespace {

using oracles::State;

// Cases planned at once: few enough to lie in memory, many enough that jobs seldom wait for the last of them.
constexpr std::size_t block_size = 2048;

std::string padded(std::uint64_t index) {
  const std::string digits = std::to_string(index);
  return std::string(20 - std::min<std::size_t>(20, digits.size()), '0') + digits;
}

// The store keeps what a failure looks like under the index of its case.
std::string signature_key(std::uint64_t index) { return "signature " + padded(index); }

// A signature as text and back: fields between tabs, which a printable text does not have.
std::string written(const Signature& signature) {
  return text(signature.version) + "\t" + std::string(name(signature.state)) + "\t" + signature.because + "\t" +
         signature.pattern;
}

[[noreturn]] void damaged(const std::string& what) {
  throw InputError("the store is damaged: it holds " + what + "; begin a new one, without --resume");
}

Signature signature_read(const std::string& text, const OpVersion& version) {
  std::vector<std::string> fields(1);
  for (char letter : text) {
    if (letter == '\t' && fields.size() < 4)
      fields.emplace_back();
    else
      fields.back() += letter;
  }
  if (fields.size() != 4) damaged("a signature of " + std::to_string(fields.size()) + " fields");
  return {version, oracles::state_named(fields[1]).value_or(State::fail), fields[2], fields[3]};
}

std::string hash_of(const std::vector<SuiteCase>& cases) {
  return sha256(joined(cases, "", [](const SuiteCase& planned) { return planned.line + "\n"; }));
}

std::string arithmetic_text(const oracles::Arithmetic& arithmetic) {
  std::string words = arithmetic.accumulator ? std::string(name(*arithmetic.accumulator)) : "any";
  if (arithmetic.flushes_subnormals) words += " flushes";
  if (arithmetic.tf32) words += " tf32";
  if (arithmetic.bf16_inputs) words += " bf16";
  if (arithmetic.winograd) words += " winograd";
  return words;
}

// Says when the budget is used up.
class Alarm {
 public:
  Alarm(std::optional<std::chrono::duration<double>> budget, std::atomic<bool>& rings) {
    if (budget)
      waiter_ = std::thread([this, until = Clock::now() + std::chrono::ceil<Clock::duration>(*budget), &rings] {
        std::unique_lock lock(mutex_);
        if (!cancelled_.wait_until(lock, until, [&] { return is_cancelled_; })) rings = true;
      });
  }
  ~Alarm() {
    {
      const std::lock_guard lock(mutex_);
      is_cancelled_ = true;
    }
    cancelled_.notify_all();
    if (waiter_.joinable()) waiter_.join();
  }
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  std::mutex mutex_;
  std::condition_variable cancelled_;
  bool is_cancelled_ = false;
  std::thread waiter_;
};

// The plan, a block at a time.
class Blocks {
 public:
  Blocks(const FuzzPlan& plan, const Store& store) : plan_(plan), store_(store), stream_(plan.selection, plan.seed) {}

  struct Block {
    Suite suite;
    std::vector<std::uint64_t> indices;
  };
  double coverage() const { return stream_.coverage(); }

  // Empty when there are no more.
  Block next() {
    Block found;
    while (found.indices.size() < block_size && !is_at_end()) {
      const std::uint64_t index = next_++;
      const bool is_regression = index < plan_.regressions.size();
      if (!plan_.shard.holds(index) || store_.has(index)) {
        if (!is_regression) stream_.skip();
        continue;
      }
      found.suite.cases.push_back(is_regression ? plan_.regressions[index] : stream_.next());
      found.indices.push_back(index);
    }
    return found;
  }

 private:
  bool is_at_end() const { return plan_.cases && next_ >= plan_.regressions.size() + *plan_.cases; }

  const FuzzPlan& plan_;
  const Store& store_;
  Stream stream_;
  std::uint64_t next_ = 0;
};

// `kinds` are the signatures seen so far.
void keep(Store& store, std::uint64_t index, const SuiteCase& planned, const CaseResult& done,
          const oracles::Judgement& judgement, std::set<std::string>& kinds) {
  if (!breaches(done.verdict, {}).empty()) {
    const std::string signature = written(signature_of(planned.c, {done.outcome, done.verdict}, judgement));
    store.put_finding(signature_key(index), signature);
    kinds.insert(signature);
  }
  store.put(index, planned.line, {done.verdict, done.marks});
}

// Beyond what any campaign runs.
constexpr std::uint64_t first_peak = std::uint64_t{1} << 48;

// What the backend says it does not take: such a case is answered otherwise once that changes.
std::string capabilities_text(const Description& description) {
  std::string words = joined(description.operators, ",") + "; " + joined(description.types, ",") + "; opset " +
                      std::to_string(description.newest_opset);
  for (const Predicate& excluded : description.excludes) words += "; not " + excluded.text();
  return words + (description.answers_shapes ? "; shapes only" : "");
}

}  // namespace

Identity identity_of(const FuzzPlan& plan, const std::string& backend, const Description& description,
                     const RunOptions& run_options, std::string_view tool_version) {
  std::set<std::string, std::less<>> types;
  for (DType type : plan.selection.types) types.insert(std::string(name(type)));
  Identity identity{{"tool", std::string(tool_version)},
                    {"backend", backend},
                    {"version", description.backend + " " + description.version},
                    {"arithmetic", arithmetic_text(description.arithmetic)},
                    {"capabilities", capabilities_text(description)},
                    {"level", std::string(oracles::name(run_options.level))},
                    {"threads", std::to_string(run_options.settings.threads)},
                    {"optimization", run_options.settings.optimization},
                    {"exhaustive", run_options.exhaustive ? "yes" : "no"},
                    {"pack", std::to_string(run_options.pack)},
                    {"presentations", std::to_string(static_cast<int>(run_options.presenting))},
                    {"laws", std::to_string(static_cast<int>(run_options.laws))},
                    {"seed", std::to_string(plan.seed)},
                    {"operators", joined(plan.selection.operators, ",")},
                    {"types", joined(types, ",")},
                    {"regressions", plan.regressions.empty() ? "none" : hash_of(plan.regressions)}};
  if (plan.shard.count > 1) identity["shard"] = text(plan.shard);  // the merged store is that of the whole
  if (plan.cases) identity["cases"] = std::to_string(plan.regressions.size() + *plan.cases);
  for (const auto& [option, value] : run_options.options) identity["option " + option] = value;
  return identity;
}

// Goes on where an earlier run of the same campaign was ended: what it was not run is planned again, and the breaker
// learns what that one's had learnt.
static Progression progression_of(Store& store) {
  Progression progression;
  std::vector<std::size_t> not_run;
  store.each([&](std::size_t index, const Kept& each) {
    if (each.told.verdict.state == State::not_run) {
      not_run.push_back(index);
      return;
    }
    if (Result<Case> c = parse_case(each.line))
      progression.note({*std::move(c), each.line, "", {}}, index, each.told.verdict);
  });
  for (const std::size_t index : not_run) store.remove(index);
  return progression;
}

std::chrono::duration<double> time_to_run(std::chrono::duration<double> budget, std::chrono::milliseconds limit) {
  return std::clamp<std::chrono::duration<double>>(budget - 2 * limit, budget / 4, budget * 3 / 4);
}

bool fuzz(const FuzzPlan& plan, WorkerPool& pool, const RunOptions& run_options, Store& store) {
  std::atomic<bool> enough = false;
  std::optional<std::chrono::duration<double>> running;
  if (plan.budget) running = time_to_run(*plan.budget, plan.limit);
  const Alarm alarm(running, enough);
  RunOptions own = run_options;
  own.enough = &enough;
  own.exhaustive = run_options.exhaustive || plan.shard.count > 1;  // a shard knows too little of the others
  const oracles::Judgement judgement = judgement_of(run_options.level, pool.describe().arithmetic);
  Progression progression = progression_of(store);
  Blocks blocks(plan, store);
  Blocks::Block put_last;
  std::set<std::string> kinds;
  for (const auto& [index, signature] : store.findings()) kinds.insert(signature);
  Progress all;
  all.total = plan.cases ? (plan.regressions.size() + *plan.cases) / plan.shard.count : 0;
  const auto run_block = [&](const Blocks::Block& block, auto&& run) {
    const double coverage = run_options.progress ? blocks.coverage() : 0;
    own.progress = [&](const Progress& progress) {
      if (!run_options.progress) return;
      Progress sum = all;
      sum.done += progress.done;
      sum.kinds = kinds.size();
      sum.coverage = coverage;
      for (const auto& [state, count] : progress.states) sum.states[state] += count;
      run_options.progress(sum);
    };
    Campaign campaign;
    run(campaign, [&](const CaseResult& done) {
      keep(store, block.indices[done.index], block.suite.cases[done.index], done, judgement, kinds);
    });
    for (const auto& verdict : campaign.verdicts)
      if (verdict) {
        ++all.done;
        ++all.states[verdict->state];
      }
  };
  while (!enough && !(run_options.stop && *run_options.stop)) {
    const Blocks::Block next = blocks.next();
    if (next.indices.empty()) break;
    run_block(next, [&](Campaign& campaign, const Keep& keep) {
      for (const std::size_t i : run(next.suite, pool, own, keep, progression, campaign)) {
        put_last.suite.cases.push_back(next.suite.cases[i]);
        put_last.indices.push_back(next.indices[i]);
      }
    });
  }
  run_block(put_last, [&](Campaign& campaign, const Keep& keep) {
    std::vector<std::size_t> indices(put_last.indices.size());
    std::iota(indices.begin(), indices.end(), std::size_t{0});
    run_last(put_last.suite, std::move(indices), pool, own, keep, progression, campaign);
  });
  return !(run_options.stop && *run_options.stop);
}

Harvest harvest(const Store& store, bool strict, bool counts_special) {
  Harvest harvest;
  const std::map<std::string, std::string> kept = store.findings();
  store.each([&](std::size_t index, const Kept& each) {
    Result<Case> parsed = parse_case(each.line);
    if (!parsed) throw InputError("the store holds a case this assay cannot read: " + parsed.error());
    Tally& tally = harvest.tally;
    ++tally.runs;
    const State state = each.told.verdict.state;
    const DType type = first_type(*parsed);
    const oracles::Classification nature = oracles::nature_of(*parsed);
    const bool is_apart = oracles::is_special(nature.case_class) && !strict && !counts_special && state != State::error;
    auto& of_version = tally.states[parsed->version];
    auto& of_type = tally.types[parsed->version][type];
    if (is_apart)
      ++tally.special[state];
    else
      ++of_version[state], ++of_type[state];
    tally.errors[parsed->version][type].add(each.told.verdict);
    harvest.coverage.add(*parsed, nature);
    for (const auto& [ruling, reading] : each.told.verdict.followed) {
      ++tally.followed[ruling][reading];
      harvest.coverage.follow(parsed->version, ruling, reading);
    }
    for (const Mark& mark : each.told.marks) {
      tally.marks[mark.name] += mark.breaches ? 1 : 0;
      if (const auto of_session = session_state(mark)) ++of_version[*of_session], ++of_type[*of_session];
    }
    const bool fails = !is_apart && !breaches(each.told.verdict, {}).empty() && (strict || state != State::contested);
    if (!fails && each.told.marks.empty()) return;
    Failure failure{index, {*std::move(parsed), each.line, origin_of(index), {}}, each.told, {}};
    if (!each.told.marks.empty()) harvest.marked.push_back(failure);
    if (!fails) return;
    const auto signature = kept.find(signature_key(index));
    if (signature == kept.end()) damaged("no signature of the failure at index " + std::to_string(index));
    failure.signature = signature_read(signature->second, failure.planned.c.version);
    harvest.failures.push_back(std::move(failure));
  });
  return harvest;
}

std::vector<WorstCase> seek(const FuzzPlan& plan, WorkerPool& pool, const RunOptions& run_options,
                            std::optional<std::chrono::steady_clock::time_point> until) {
  std::vector<std::optional<WorstCase>> slots(plan.islands);
  side_by_side(pool, run_options, "islands climbed", slots.size(), [&](std::size_t island, Backend& backend) {
    const bool is_late = until && std::chrono::steady_clock::now() >= *until;
    if (plan.shard.holds(island) && !is_late)
      slots[island] = climb(plan.selection, plan.seed, island, run_case(backend, run_options));
  });
  std::vector<WorstCase> all;
  for (std::optional<WorstCase>& slot : slots)
    if (slot) all.push_back(*std::move(slot));
  return all;
}

std::string origin_of(std::uint64_t index) {
  return index < first_peak ? "index " + std::to_string(index) : "island " + std::to_string(index - first_peak);
}

void add_peaks(Harvest& harvest, const std::vector<WorstCase>& peaks, const oracles::Judgement& judgement,
               bool strict) {
  for (const WorstCase& peak : peaks) {
    const oracles::Verdict& verdict = peak.answered.verdict;
    if (breaches(verdict, {}).empty() || (!strict && verdict.state == State::contested)) continue;
    const std::uint64_t index = first_peak + peak.island;
    harvest.failures.push_back({index,
                                {peak.c, line(peak.c), origin_of(index), {}},
                                {verdict, {}},
                                signature_of(peak.c, peak.answered, judgement)});
  }
}

}  // namespace assay::suites
