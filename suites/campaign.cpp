// SPDX-License-Identifier: Apache-2.0
#include "suites/campaign.h"

#include "oracles/judge.h"
#include "reference/nearest.h"
#include "reference/onnx_io.h"
#include "suites/inquiry.h"
#include "suites/printable.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <tuple>
#include <utility>

namespace assay::suites {
namespace {

using Batch = std::vector<std::size_t>;

bool can_be_packed(const Planned& planned, const Description& backend) {
  return planned.c.definition().violated(planned.c.call()).empty() && excluded_by(backend, planned.c).empty();
}

// Which cases are asked in one model: a function of the suite, the capabilities and the size of a pack alone.
std::vector<Batch> batches(const Suite& suite, const Description& backend, int pack) {
  std::vector<Batch> all;
  std::map<std::tuple<int, int, std::string>, std::size_t> growing;  // by what the cases of one model share
  for (std::size_t i = 0; i < suite.cases.size(); ++i) {
    const Case& c = suite.cases[i].c;
    if (pack <= 1 || !can_be_packed(suite.cases[i], backend)) {
      all.push_back({i});
      continue;
    }
    const std::tuple key{c.opset, c.ir_version, c.version.domain};
    const auto [place, fresh] = growing.try_emplace(key, all.size());
    if (fresh) all.emplace_back();
    Batch& batch = all[place->second];
    batch.push_back(i);
    if (batch.size() == static_cast<std::size_t>(pack)) growing.erase(place);
  }
  return all;
}

// A question on its way; the backend reads it in place.
struct Asked {
  Question question;
  Ask ask;
};

// What the jobs of one campaign share.
class Work {
 public:
  Work(const Suite& suite, const Conduct& conduct, Campaign& campaign,
       const std::function<void(const Conclusion&)>& keep)
      : suite_(suite),
        conduct_(conduct),
        campaign_(campaign),
        keep_(keep),
        batches_(batches(suite, campaign.backend, conduct.pack)) {
    progress_.total = suite.cases.size();
  }

  // Works through cases until there is none left, the run is stopped or a job failed. While the backend works on one
  // question the next is made, and the answer before it is judged.
  void proceed(Backend& backend) {
    Inquiry inquiry(suite_, conduct_, campaign_.backend);
    std::unique_ptr<Asked> under_way;
    while (!is_over()) {
      std::unique_ptr<Asked> next = prepared(inquiry);
      if (!next && !under_way) return;
      std::optional<oracles::Outcome> outcome;
      if (under_way) outcome = answer_to(under_way->question, backend);
      if (is_over()) return;  // an interrupt reaches the worker as well: what it did then is no finding
      if (under_way) under_way->ask.sets.clear();  // it is answered; of large tensors this is a copy
      const std::unique_ptr<Asked> answered = std::exchange(under_way, std::move(next));
      if (under_way) backend.ask(under_way->ask);
      if (answered)
        for (Conclusion& each : inquiry.conclude(std::move(answered->question), *std::move(outcome)))
          record(std::move(each));
    }
  }

  // Keeps the first failure of ours; the others end at their next case.
  void fail(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
    failed_ = true;
  }
  void rethrow_failure() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  bool is_over() const { return failed_ || (conduct_.stop && *conduct_.stop); }

  oracles::Outcome answer_to(const Question& question, Backend& backend) const {
    try {
      return backend.answer();
    } catch (const std::logic_error& broken) {
      throw BrokenPromise("case " + suite_.cases[question.cases.front()].line + ": " + broken.what());
    }
  }

  // What is owed comes before what is new.
  std::unique_ptr<Asked> prepared(Inquiry& inquiry) {
    std::optional<Question> question = inquiry.next();
    if (!question) {
      if (conduct_.enough && *conduct_.enough) return nullptr;
      const std::size_t index = next_++;
      if (index >= batches_.size()) return nullptr;
      inquiry.take(batches_[index]);
      question = inquiry.next();
    }
    Ask ask = inquiry.ask_of(*question);
    return std::make_unique<Asked>(Asked{*std::move(question), std::move(ask)});
  }

  void record(Conclusion conclusion) {
    const std::lock_guard lock(mutex_);
    if (keep_) keep_(conclusion);
    ++progress_.done;
    ++progress_.states[conclusion.verdict.state];
    campaign_.verdicts[conclusion.index] = std::move(conclusion.verdict);
    campaign_.marks[conclusion.index] = std::move(conclusion.marks);
    if (conduct_.progress) conduct_.progress(progress_);
  }

  const Suite& suite_;
  const Conduct& conduct_;
  Campaign& campaign_;
  const std::function<void(const Conclusion&)>& keep_;
  std::vector<Batch> batches_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  Progress progress_;
  std::exception_ptr failure_;
};

// One job. It opens its session itself, so that sessions start up side by side.
void labour(Work& work, Crew& crew, std::size_t job) {
  try {
    work.proceed(crew.member(job));
  } catch (...) {
    work.fail(std::current_exception());
  }
}

std::string listed(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += " " + printable(word, 60);
  return all;
}

}  // namespace

void expect_declared(const Description& backend, const std::map<std::string, std::string>& options) {
  std::vector<std::string> known;
  for (const auto& [key, values] : backend.options) known.push_back(key);
  for (const auto& [key, value] : options) {
    const auto found = backend.options.find(key);
    if (found == backend.options.end())
      throw InputError(printable(backend.backend) + " has no option '" + printable(key, 60) + "'" +
                       suggestion(key, known) +
                       (known.empty() ? "; it declares none" : "; it declares" + listed(known)));
    if (!found->second.empty() && std::ranges::find(found->second, value) == found->second.end())
      throw InputError(printable(backend.backend) + ": the option " + key + " is not '" + printable(value, 60) +
                       "' but one of" + listed(found->second));
  }
}

bool Campaign::is_complete() const {
  return std::ranges::all_of(verdicts, [](const auto& verdict) { return verdict.has_value(); });
}

Ask ask_of(const Planned& planned, const Conduct& conduct) { return ask_of(planned, all_operands(planned.c), conduct); }

Ask ask_of(const Planned& planned, const std::vector<Operands>& data, const Conduct& conduct) {
  Ask ask;
  ask.id = case_id(planned.line);
  ask.model = model_of(planned.c, data.front());
  for (const Operands& set : data) ask.sets.push_back(graph_inputs(planned.c, set));
  ask.threads = conduct.threads;
  ask.optimization = conduct.optimization;
  ask.options = conduct.options;
  return ask;
}

std::string excluded_by(const Description& backend, const Case& c) {
  if (!backend.operators.empty() && !backend.operators.contains(text(c.version)))
    return text(c.version) + " is not among the declared operators";
  for (const auto& [input, given] : c.node.inputs)
    if (given.presence == Input::Presence::given && !backend.types.empty() &&
        !backend.types.contains(std::string(name(given.type.dtype))))
      return std::string(name(given.type.dtype)) + " is not among the declared types";
  if (backend.newest_opset > 0 && c.opset > backend.newest_opset)
    return "opset " + std::to_string(c.opset) + " is newer than the declared " + std::to_string(backend.newest_opset);
  for (const Predicate& predicate : backend.excludes)
    if (predicate.holds(c)) return "declared: " + predicate.text();
  return "";
}

oracles::Verdict judged(const Planned& planned, oracles::Outcome outcome, const Description& backend,
                        oracles::Level level) {
  return judged(planned, all_operands(planned.c), std::move(outcome), backend, level);
}

oracles::Verdict judged(const Planned& planned, std::vector<Operands> data, oracles::Outcome outcome,
                        const Description& backend, oracles::Level level) {
  const std::string excluded = excluded_by(backend, planned.c);
  const bool declared = outcome.kind == oracles::Outcome::Kind::refused && !excluded.empty();
  if (declared) outcome.kind = oracles::Outcome::Kind::unsupported;
  oracles::Verdict verdict = oracles::judge(planned.c.call(), std::move(data), outcome, {level, backend.arithmetic});
  if (declared && verdict.state == oracles::State::unsupported) {
    verdict.because = "declared";
    verdict.detail = excluded;
  }
  return verdict;
}

oracles::Verdict certify(const Planned& planned, Backend& backend, const Conduct& conduct) {
  expect_declared(backend.describe(), conduct.options);
  // The question is forgotten before its answer is judged: of large tensors it is a copy.
  oracles::Outcome outcome = backend.run(ask_of(planned, conduct));
  return judged(planned, std::move(outcome), backend.describe(), conduct.level);
}

Crew::Crew(OpenBackend open, int jobs) : open_(std::move(open)) {
  members_.push_back(open_());
  members_.resize(static_cast<std::size_t>(std::max(1, jobs)));
}

Backend& Crew::member(std::size_t job) {
  if (!members_[job]) members_[job] = open_();
  return *members_[job];
}

Upkeep Crew::upkeep() const {
  Upkeep all;
  for (const std::unique_ptr<Backend>& member : members_)
    if (member) all += member->upkeep();
  return all;
}

Campaign run(const Suite& suite, const OpenBackend& open, const Conduct& conduct) {
  Crew crew(open, conduct.jobs);
  return run(suite, crew, conduct);
}

Campaign run(const Suite& suite, Crew& crew, const Conduct& conduct,
             const std::function<void(const Conclusion&)>& keep) {
  expect_declared(crew.describe(), conduct.options);
  Campaign campaign{crew.describe(), {}, {}, {}};
  campaign.verdicts.resize(suite.cases.size());
  campaign.marks.resize(suite.cases.size());
  Work work(suite, conduct, campaign, keep);
  std::vector<std::thread> others;
  for (std::size_t job = 1; job < crew.size(); ++job) others.emplace_back(labour, std::ref(work), std::ref(crew), job);
  labour(work, crew, 0);
  for (std::thread& other : others) other.join();
  work.rethrow_failure();
  campaign.isolation = crew.first().isolation();
  campaign.upkeep = crew.upkeep();
  return campaign;
}

}  // namespace assay::suites
