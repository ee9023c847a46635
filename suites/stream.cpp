// SPDX-License-Identifier: Apache-2.0
#include "suites/stream.h"

#include "generators/generators.h"

namespace assay::suites {
namespace {

// One operator version at one type.
struct Share {
  const Definition* definition;
  DType type;
  std::vector<std::string> breakable;
};

// An eighth of the questions breaks a constraint.
constexpr std::uint64_t near_miss_turn = 8;

std::vector<Share> shares_of(const Operator& op, const Selection& selection) {
  std::vector<Share> shares;
  for (const Definition& definition : op.versions())
    for (DType type : definition.types_of(definition.inputs.front().type))
      if (selection.admits(definition, type)) shares.push_back({&definition, type, generators::breakable(definition)});
  return shares;
}

}  // namespace

struct Stream::State {
  std::uint64_t seed = 1, index = 0;
  std::vector<std::vector<Share>> operators;
};

Stream::Stream(const Selection& selection, std::uint64_t seed) : state_(new State{seed, 0, {}}) {
  for (const Operator* op : operators())
    if (std::vector<Share> shares = shares_of(*op, selection); !shares.empty())
      state_->operators.push_back(std::move(shares));
  if (state_->operators.empty())
    throw InputError("no case is selected; `assay list` shows what --ops and --types can name");
}

Stream::~Stream() = default;
Stream::Stream(Stream&&) noexcept = default;

std::uint64_t Stream::index() const { return state_->index; }
void Stream::skip() { ++state_->index; }

Planned Stream::next() {
  const std::uint64_t index = state_->index++, turn = index / state_->operators.size();
  const std::vector<Share>& shares = state_->operators[index % state_->operators.size()];
  const Share& share = shares[turn % shares.size()];
  const std::uint64_t own = turn / shares.size();
  std::optional<Case> c;
  if (own % near_miss_turn == near_miss_turn - 1 && !share.breakable.empty())
    c = generators::near_miss(*share.definition, share.type,
                              share.breakable[own / near_miss_turn % share.breakable.size()], state_->seed, own);
  if (!c) c = generators::legal(*share.definition, share.type, state_->seed, own);
  std::string canonical = line(*c);
  return {
      *std::move(c), std::move(canonical), "fuzz " + std::to_string(state_->seed) + ":" + std::to_string(index), {}};
}

}  // namespace assay::suites
