// SPDX-License-Identifier: Apache-2.0
// Exhaust: a function of one operand over every number of its type, 65,536 or 4,294,967,296 of them. What comes out is
// a theorem about the backend: no input is left to chance.
#pragma once

#include "reference/operator.h"
#include "suites/campaign/campaign.h"
#include "suites/campaign/run_options.h"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::suites {

// What an output is to the right answer, the best first. `unexamined` are beyond what the filter can decide and past
// the most that the definition is evaluated on in one part.
enum class Closeness { nearest, faithful, within, below, fail, unscored, unexamined };
inline constexpr std::array<std::string_view, 7> standings{
    "correctly rounded", "faithful", "within the bound", "below", "fail", "unscored", "not examined"};

// The upper ends of the bins of errors, in ulp of the exact value; one more bin holds what lies above.
inline constexpr std::array<double, 12> error_ends{0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 1 << 20};
// The inputs of one sign and of adjacent exponents: bit patterns whose first ten bits agree.
inline constexpr int input_bins = 1024;

struct Accuracy {
  // One input whose output is off, and by how many ulp.
  struct Peak {
    std::uint64_t pattern = 0;
    double input = 0, got = 0, ulp = 0;
  };
  // One that is below or fails.
  struct Breach {
    std::uint64_t pattern = 0;
    Closeness standing = Closeness::fail;
    std::string got, want, because;
  };

  const Definition* definition = nullptr;
  DType type = DType::f32;
  std::uint64_t inputs = 0;  // judged, in the order of their bit patterns
  std::array<std::uint64_t, standings.size()> counts{};
  std::array<std::uint64_t, error_ends.size() + 1> errors{};  // of outputs that are numbers
  std::array<std::optional<Peak>, input_bins> peaks;          // the largest error of each bin
  // Outputs that break a property of the function, and the first input of them.
  struct Oddity {
    std::uint64_t count = 0, pattern = 0;
    void note(std::uint64_t at) {
      if (count++ == 0) pattern = at;
    }
  };
  Oddity disorders;  // outputs that go down from the last input's where the function rises, or up where it falls; the
                     // last inputs of one model and the first of the next are not compared
  Oddity exits;      // outputs outside of the function's range
  std::vector<Breach> breaches;  // the first few
  std::string contested;         // the reading of an unclear clause that outputs fit which are otherwise wrong
  std::string ended;             // why it ended early; empty where it did not
  bool is_unsupported = false;   // that is because the backend has no implementation

  std::uint64_t count(Closeness standing) const { return counts[static_cast<std::size_t>(standing)]; }
  std::uint64_t all_inputs() const;  // 2^16 or 2^32
  bool is_complete() const { return inputs == all_inputs(); }
  bool breaks() const {
    return count(Closeness::below) + count(Closeness::fail) > 0 || (!ended.empty() && !is_unsupported);
  }
  bool conforms() const { return is_complete() && !breaks() && count(Closeness::unexamined) == 0; }
  const Peak* worst() const;
  oracles::Level level() const;  // the strongest that all outputs meet of which something is known
};

// Tells whether an operator is such a function of that type.
bool is_exhaustible(const Definition& definition, DType type);

// Goes on with what is there, part by part and several at a time, until it is complete, `stop` is set or the backend
// gives no output; `keep` is called after each part, by one thread at a time.
void exhaust(Accuracy& accuracy, WorkerPool& pool, const RunOptions& run_options,
             const std::function<void(const Accuracy&)>& keep);

// Lists functions by operator and type: the newest version that is asked for and that the backend takes.
std::vector<Accuracy> exhaustible(const Selection& selection, const Description& backend);

// Runs such functions of 16 bits side by side, each whole. What breaks is run again alone, first in a fresh process,
// and that decides; a refusal is no more than a function that is not there. Those that an interrupt cut off have no
// inputs.
void exhaust_all(std::vector<Accuracy>& functions, WorkerPool& pool, const RunOptions& run_options);

}  // namespace assay::suites
