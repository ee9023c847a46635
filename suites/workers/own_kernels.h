// SPDX-License-Identifier: Apache-2.0
// Own kernels: the reference kernels behind models as a backend gets them, so that presentations are requests to them
// as well. They answer in a process of their own (tools/backends/reference.cpp) or, as InProcess, in this one.
#pragma once

#include "reference/operator.h"
#include "suites/workers/backend.h"

#include <functional>
#include <string>
#include <vector>

namespace assay::suites {

// Which kernel serves a node; chosen once for each node of a model, so that a kernel may keep the state of a session.
using OpenKernel = std::function<FastKernel(const Definition&)>;

// What the kernels did with a request. A model or data they do not take are refusals; what a kernel throws for other
// reasons is thrown.
struct KernelAnswer {
  oracles::Outcome outcome;
  std::vector<std::string> names;  // of the outputs, in the order of the nodes
};
KernelAnswer kernel_answer(const Request& request, const OpenKernel& open);

Description own_description(std::string backend);

// Without a process, a pipe or a frame in between: nothing holds it to limits of time and memory, and a kernel that
// crashes takes assay with it. For campaigns over our own kernels, and to measure what assay itself costs.
class InProcess : public Backend {
 public:
  InProcess(std::string name, OpenKernel open);
  const Description& describe() override { return description_; }
  void submit(const Request& request) override;
  // What a kernel throws is an outcome, as of a worker that ended so.
  oracles::Outcome answer() override;

 private:
  Description description_;
  OpenKernel open_;
  const Request* requested_ = nullptr;
};

}  // namespace assay::suites
