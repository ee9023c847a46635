// SPDX-License-Identifier: Apache-2.0
// assay-bench-case: one case through our kernel and, with what comes of it, through the judge, for bench_operators.py.
//
//   assay-bench-case LINE FOLDER   writes the case and its answer into FOLDER, and says so with a line
//
// Then a line of input, `kernel SECONDS` or `verdict SECONDS`, is answered with the processor time of the fastest call
// of as many as fit into so many seconds. A verdict is complete: bound checked, level recorded.
#include "oracles/judging/judge.h"
#include "tools/bench/layer.h"
#include "tools/held_memory.h"
#include "tools/processor_time.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <limits>

namespace assay {
namespace {

// Times three calls at least, where those do not take seconds: the first ones fetch pages.
template <class F>
double fastest(double seconds, F&& call) {
  double best = std::numeric_limits<double>::infinity(), all = 0;
  for (int calls = 0; calls == 0 || all < seconds || (calls < 3 && all < 1); ++calls) {
    const double start = processor_seconds();
    call();
    const double took = processor_seconds() - start;
    best = std::min(best, took);
    all += std::max(took, 1e-6);
  }
  return best;
}

void answer(const Layer& layer, const std::filesystem::path& folder) {
  oracles::Outcome outcome;
  outcome.sets = {{layer.answer()}};
  write_layer(layer, outcome.sets[0][0], folder);
  std::cout << "written" << std::endl;
  const auto verdict = [&] {
    const oracles::Verdict given =
        oracles::judge(layer.c.call(), {layer.data}, outcome, {oracles::Level::L2, {}, oracles::Tier::fast});
    if (given.state != oracles::State::pass) throw InputError("our kernel does not pass");
  };
  std::string what;
  for (double seconds = 0; std::cin >> what >> seconds;) {
    std::printf("%.9f\n", what == "verdict" ? fastest(seconds, verdict) : fastest(seconds, [&] { layer.answer(); }));
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace assay

int main(int count, char** words) {
  assay::hold_all_freed_memory();
  try {
    if (count != 3) throw assay::InputError("which case, and where to? assay-bench-case LINE FOLDER");
    assay::answer(assay::Layer(words[1]), words[2]);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "assay-bench-case: " << error.what() << "\n";
    return 2;
  }
}
