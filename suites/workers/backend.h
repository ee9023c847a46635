// SPDX-License-Identifier: Apache-2.0
// Backend: the thing under test, behind one request and one answer at a time. It never sees a Case or an expectation.
#pragma once

#include "oracles/judging/verdict.h"
#include "suites/predicates/predicate.h"

#include <chrono>
#include <map>
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
  int newest_opset = 0;             // 0: no limit declared
  std::vector<Predicate> excludes;  // cases it says it does not take
  bool answers_shapes = false;      // and no values: its outputs are types with extents, -1 where it knows none
  // Free options it knows, with the values each may have; an empty list: any value.
  std::map<std::string, std::vector<std::string>> options;
  bool binds_outputs = false;  // it can write outputs into buffers that are there before
};

struct Request {
  std::string id;                              // the case's id
  std::string model;                           // ModelProto
  std::vector<std::vector<std::string>> sets;  // per data set, one TensorProto per graph input; "" where absent
  int threads = 1;
  std::string optimization = "all";                 // all, extended, basic or none
  std::map<std::string, std::string> options = {};  // only such as the backend declared
  bool binds_outputs = false;                       // only of a backend that can
  bool fresh = false;                               // as the first case of a fresh process, where there are processes
  std::chrono::milliseconds limit{0};               // for the answer; 0: the backend's own
  std::chrono::milliseconds allowance{0};           // on top of it, for large data to be moved
  std::size_t memory_share = 1;                     // of the memory it may use one part in so many
};

// What the processes of a backend came to: how many there were, and how much memory those that were not killed gained
// from their first answer to their last.
struct ResourceUse {
  Int processes = 0, answers = 0, grown_bytes = 0;

  ResourceUse& operator+=(const ResourceUse& other) {
    processes += other.processes;
    answers += other.answers;
    grown_bytes += other.grown_bytes;
    return *this;
  }
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual const Description& describe() = 0;
  // How what it does is kept from the rest of the machine, in words; empty where it is not, or has not begun.
  virtual std::string isolation() const { return ""; }
  virtual ResourceUse upkeep() const { return {}; }
  // The number of the process that takes the requests, which rises whenever another one takes over.
  virtual int session() const { return 0; }
  // Tells whether another process costs milliseconds.
  virtual bool begins_afresh_quickly() const { return false; }
  // Tells whether what was ended last, being late, used next to no processor time: others may wait beside the like.
  virtual bool was_asleep() const { return false; }
  // Sends one request, which has to live until its answer. Returns when it is sent or the backend takes no more of it
  // for now, so that the host works while the backend does. No second request before the answer to the first.
  virtual void submit(const Request& request) = 0;
  // Waits for the answer. Never throws for what the backend did: a dead, hanging or lying worker is an Outcome.
  virtual oracles::Outcome answer() = 0;
  oracles::Outcome run(const Request& request) {
    submit(request);
    return answer();
  }
};

}  // namespace assay::suites
