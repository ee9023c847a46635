// SPDX-License-Identifier: Apache-2.0
// Backend: the thing under test, behind one question and one answer. It never sees a Case or an expectation.
#pragma once

#include "oracles/verdict.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace assay::suites {

// What a backend says of itself: provenance for the report, arithmetic and capabilities for the judge.
struct Description {
  std::string backend = "unknown", version, device;
  oracles::Arithmetic arithmetic;
  // Capabilities: where a set is empty nothing is excluded. Operator versions as "Conv-11", types as "f32".
  std::set<std::string> operators, types;
  int newest_opset = 0;  // 0: no limit declared
};

struct Ask {
  std::string id;                              // the case's id
  std::string model;                           // ModelProto
  std::vector<std::vector<std::string>> sets;  // per data set, one TensorProto per graph input; "" where absent
  int threads = 1;
  std::string optimization = "all";  // all, extended, basic or none
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual const Description& describe() = 0;
  // Never throws for what the backend did: a dead, hanging or lying worker is an Outcome.
  virtual oracles::Outcome run(const Ask& ask) = 0;
};

}  // namespace assay::suites
