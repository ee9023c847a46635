// SPDX-License-Identifier: Apache-2.0
#include "suites/planning/stream.h"

#include "generators/generators.h"
#include "reference/operator.h"
#include "suites/planning/coverage.h"

#include <map>
#include <set>

namespace assay::suites {
namespace {

// One operator version at one type.
struct Share {
  const Definition* definition;
  DType type;
  std::vector<std::string> breakable;
  std::uint64_t sibling, siblings;  // its place among the shares of its version, and how many there are

  // The constraint of the n-th near miss. The types of a version take turns, and go on to other ones in each round.
  const std::string& constraint(std::uint64_t n) const {
    const std::uint64_t turn = n * siblings + sibling, count = breakable.size();
    return breakable[(turn + turn / count) % count];
  }
};

// Makes the last of every eight cases of a share break a constraint.
constexpr std::uint64_t near_miss_turn = 8;
constexpr std::uint64_t candidates = 4;

// What an index stands for: the n-th legal case or near miss of its share.
struct Place {
  const Share* share;
  bool is_near_miss;
  std::uint64_t number;
};

// Seeds are small numbers, and those of the certified suite as well: these draws have nothing in common with them.
std::uint64_t stirred(std::uint64_t seed, std::uint64_t with) {
  return Generator(Generator(seed).next() ^ with).next();
}

// Generators make the parameters of an operator constant together, or none of them. Every fourth case has it otherwise.
constexpr std::uint64_t mixed_turn = 4;

// One case in so many is drawn to be what most models are and draws seldom give; by chance, so that none of the strata
// is left out.
constexpr std::uint64_t one_is_deployed = 8;

void mix_constants(Case& c, std::uint64_t seed) {
  Generator coin(seed);
  const std::string& first = c.definition().data().name;
  for (auto& [name, source] : c.sources)
    if (name != first) source.initializer = coin.below(2) == 1;
}

}  // namespace

struct Stream::State {
  std::uint64_t named_seed, seed;  // the one asked for, the one drawn with
  std::uint64_t steered = steered_indices;
  std::uint64_t index = 0;
  std::vector<std::vector<Share>> operators;

  // Everything before `epoch` is in `coverage`; `drawn` are the legal cases of that epoch, in which nothing counts yet.
  Coverage coverage;
  std::uint64_t epoch = 0;
  std::uint64_t covered_at = 0;  // the epoch that `covered`, the share of the pairs seen, was worked out at
  double covered = 0;
  std::map<std::uint64_t, std::pair<Case, CoverageValues>> drawn;

  State(const Selection& selection, std::uint64_t relation);
  Place place(std::uint64_t at) const;
  Case draw(const Place& place, std::uint64_t candidate) const;
  Case near_miss(const Place& place) const;
  void draw_epoch();
  const Case& steered_case(std::uint64_t at);
};

Stream::State::State(const Selection& selection, std::uint64_t relation)
    : named_seed(relation), seed(stirred(relation, 0x66757a7a)) {
  for (const Operator* op : assay::operators()) {
    std::vector<Share> shares;
    for (const Definition& definition : op->versions()) {
      if (!selection.admits(definition)) continue;
      const std::vector<std::string> breakable = generators::breakable(definition);
      std::vector<DType> types = definition.types_of(definition.data().type);
      std::erase_if(types, [&](DType type) { return !selection.admits(definition, type); });
      for (std::size_t i = 0; i < types.size(); ++i)
        shares.push_back({&definition, types[i], breakable, i, types.size()});
    }
    if (!shares.empty()) operators.push_back(std::move(shares));
  }
  if (operators.empty()) throw InputError("no case is selected; `assay list` shows what --ops and --types can name");
}

Place Stream::State::place(std::uint64_t at) const {
  const std::vector<Share>& shares = operators[at % operators.size()];
  const std::uint64_t turn = at / operators.size(), own = turn / shares.size();
  const Share& share = shares[turn % shares.size()];
  const bool is_near_miss = own % near_miss_turn == near_miss_turn - 1 && !share.breakable.empty();
  // Legal cases are counted by themselves: their number walks through the strata, and no stratum may be left out.
  return {&share, is_near_miss, is_near_miss ? own / near_miss_turn : own - own / near_miss_turn};
}

// Candidate 0 walks through the strata; the others are of strata further on, and of seeds of their own.
Case Stream::State::draw(const Place& place, std::uint64_t candidate) const {
  Case c = generators::legal(*place.share->definition, place.share->type,
                             candidate == 0 ? seed : stirred(seed, candidate), place.number + 37 * candidate);
  if ((place.number + candidate) % mixed_turn == 0) mix_constants(c, stirred(seed, place.number));
  const bool is_deployed = Generator(stirred(seed, ~place.number)).below(one_is_deployed) == 0;
  return is_deployed ? generators::deployed(std::move(c)) : c;
}

// A constraint that this draw cannot break leaves its turn to a legal case.
Case Stream::State::near_miss(const Place& place) const {
  std::optional<Case> c = generators::near_miss(*place.share->definition, place.share->type,
                                                place.share->constraint(place.number), seed, place.number);
  return c ? *std::move(c) : draw({place.share, false, place.number}, candidates);
}

// The legal cases of the epoch: of the candidates whose line is new in it, the one that adds most to all before it.
void Stream::State::draw_epoch() {
  std::set<std::string> lines;
  for (std::uint64_t at = epoch * steering_epoch; at < (epoch + 1) * steering_epoch; ++at) {
    const Place here = place(at);
    if (here.is_near_miss) continue;
    std::optional<std::pair<Case, CoverageValues>> best;
    std::string best_line;
    std::size_t most = 0;
    for (std::uint64_t i = 0; i < candidates; ++i) {
      Case c = draw(here, i);
      std::string canonical = line(c);
      if (best && lines.contains(canonical)) continue;
      CoverageValues aspects = aspects_of(c);
      const std::size_t gain = coverage.gain(aspects);
      if (best && gain <= most && !lines.contains(best_line)) continue;
      most = gain;
      best_line = std::move(canonical);
      best.emplace(std::move(c), std::move(aspects));
    }
    lines.insert(std::move(best_line));
    drawn.insert_or_assign(at, *std::move(best));
  }
}

const Case& Stream::State::steered_case(std::uint64_t at) {
  if (drawn.empty()) draw_epoch();
  for (const std::uint64_t wanted = at / steering_epoch; epoch < wanted;) {
    for (const auto& each : drawn) coverage.add(each.second.second);
    drawn.clear();
    ++epoch;
    draw_epoch();
  }
  return drawn.at(at).first;
}

Stream::Stream(const Selection& selection, std::uint64_t seed, Steering steering) : state_(new State(selection, seed)) {
  if (steering == Steering::off) state_->steered = 0;
}

Stream::~Stream() = default;
Stream::Stream(Stream&&) noexcept = default;

std::uint64_t Stream::index() const { return state_->index; }
void Stream::skip() { ++state_->index; }

double Stream::coverage() const {
  if (state_->covered_at != state_->epoch) {
    Int seen = 0, possible = 0;
    for (const CoverageRow& row : state_->coverage.table(0).rows) {
      seen += row.seen;
      possible += row.possible;
    }
    state_->covered = possible == 0 ? 0 : static_cast<double>(seen) / static_cast<double>(possible);
    state_->covered_at = state_->epoch;
  }
  return state_->covered;
}

SuiteCase Stream::next() {
  const std::uint64_t at = state_->index++;
  const Place place = state_->place(at);
  Case c = place.is_near_miss     ? state_->near_miss(place)
           : at < state_->steered ? state_->steered_case(at)
                                  : state_->draw(place, 0);
  std::string canonical = line(c);
  return {std::move(c), std::move(canonical), "fuzz " + std::to_string(state_->named_seed) + ":" + std::to_string(at),
          std::nullopt};
}

}  // namespace assay::suites
