// SPDX-License-Identifier: Apache-2.0
// Altered: our own worker, with what it answers changed.
#pragma once

#include "suites/campaign/campaign.h"
#include "suites/workers/worker.h"

#include <functional>
#include <memory>
#include <utility>

namespace assay::suites {

class Altered : public Backend {
 public:
  using Change = std::function<oracles::Outcome(const Request&, oracles::Outcome)>;
  explicit Altered(Change change) : worker_(open_backend("reference")), change_(std::move(change)) {}
  const Description& describe() override { return worker_->describe(); }
  void submit(const Request& request) override { worker_->submit(*(requested_ = &request)); }
  oracles::Outcome answer() override { return change_(*requested_, worker_->answer()); }

 private:
  std::unique_ptr<Backend> worker_;
  Change change_;
  const Request* requested_ = nullptr;
};

inline OpenBackend altered(Altered::Change change) {
  return [change = std::move(change)] { return std::make_unique<Altered>(change); };
}

}  // namespace assay::suites
