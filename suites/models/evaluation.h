// SPDX-License-Identifier: Apache-2.0
// Goes through somebody's model node by node: what goes in, what arrives at a node, and what comes of it.
#pragma once

#include "reference/onnx_io.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::suites {

// Names a model as a command line does.
struct ModelSource {
  std::string file;      // empty: none
  std::string inputs;    // a folder with input_0.pb or NAME.npy …; empty: inputs are drawn
  Extents extents = {};  // what the model leaves open: "batch" or "X.0"

  std::string words() const;  // "--model FILE --dim batch=1", as a command line has them
};

struct ModelFile {
  std::string hash;                          // SHA-256
  GraphModel graph;                          // of one node at least
  std::vector<std::optional<Tensor>> given;  // of each input what the folder has
};

// Reads a model; an extent that it leaves open is that of the input that is given. Throws InputError where the file is
// no model.
ModelFile read_model(const ModelSource& source);

struct ModelValue {
  Tensor tensor;
  bool is_constant = false;  // the same whatever goes in
};
using ModelValues = std::map<std::string, ModelValue>;

// Returns the inputs, given or drawn, and the initializers. Throws InputError where what is given does not fit.
ModelValues first_values(const ModelFile& file, const ModelSource& source);

// Holds a node with what arrives at it.
struct Arrival {
  Node node;
  std::vector<const ModelValue*> operands;  // in schema order, null where left out
  bool is_constant = true;                  // constants alone arrive

  std::vector<const Tensor*> tensors(const Definition& definition) const;  // as a kernel takes them
};

// Looks up what arrives at a node that is defined; the error, which ends so, says what is not known.
inline constexpr std::string_view is_not_known = "is, is not known";
Result<Arrival> arrive(const GraphNode& node, const ModelValues& values);
Result<Arrival> arrive(const GraphNode& node, const ModelValues&& values) = delete;  // what arrives points to them

// Says why a node cannot be worked out; nothing where it can.
std::string obstacle_of(const Call& call);

// Works a node out by our own kernels.
Values computed(const GraphNode& node, const Call& call, const Arrival& arrival, int threads);

struct WorkedOut {
  Values values;
  bool is_constant;
};
// Works a node out by what is known; the error says what is not, or what the node breaks.
Result<WorkedOut> worked_out(const GraphNode& node, const ModelValues& values, int threads);

// Fills a value that nobody gave.
Tensor drawn(const TensorType& type, std::uint64_t seed);
bool fits_memory(const TensorType& type);

// Names the values that a node takes: its inputs, and what its bodies give.
std::vector<std::string> taken_by(const GraphNode& node);

// Keeps values as long as a node that is still to come takes them.
class LiveValues {
 public:
  LiveValues(const ModelFile& file, const ModelSource& source);

  const ModelValues& all() const { return values_; }
  void put(const std::string& name, Tensor tensor, bool is_constant);
  void put_all(const GraphNode& node, Values out, bool is_constant);
  // A body and the node that has it.
  struct Beginning {
    const GraphNode* owner;
    const GraphBody* body;
  };
  // Finds the bodies whose first node this is, the outer ones first.
  std::vector<Beginning> beginning_at(std::size_t node) const;
  // Puts what goes into their first turn; drawn where it is not known.
  void begin_at(std::size_t node);
  // Puts what a node that has bodies gives: of an If what is known of the branch that is taken, of a Loop and a Scan
  // what all their turns come to. Tells whether it is known.
  bool put_bodies(std::size_t node, int threads);
  // Ends those that no node behind this one takes; initializers stay.
  void end_at(std::size_t node);

 private:
  bool put_branch(const GraphNode& node);

  const GraphModel& graph_;
  ModelValues values_;
  std::map<std::string, std::size_t> last_use_;
  std::vector<std::vector<std::string>> last_used_by_;  // by node
  std::multimap<std::size_t, Beginning> beginning_;     // by node
};

}  // namespace assay::suites
