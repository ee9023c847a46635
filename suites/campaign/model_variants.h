// SPDX-License-Identifier: Apache-2.0
// Presentations: the same case written another way. Backends take different paths by them, and must agree in shape,
// type, acceptance and state (decisions 7). Bits need no rule of their own: where the exactness certificate holds the
// interval is a point, so two passes are the same bits, up to the sign of zero, which is never judged.
#pragma once

#include "suites/campaign/run_options.h"
#include "suites/planning/suite.h"

#include <string>
#include <vector>

namespace assay::suites {

struct ModelVariant {
  enum class Aspect { weights, shapes, opset, ir_version, settings };
  Aspect aspect = Aspect::shapes;
  // "weights=inputs", "shapes=absent", "opset=20", "ir=3", "optimization=none", "threads=2", "names=7", "outputs=bound"
  std::string name;
  Case c;
  Settings settings;

  // Constants hold the data of the first set in every set, so only that set is the same case.
  bool shares_all_data() const { return aspect != Aspect::weights; }
};

// The other ways to run a legal case, in the order of the aspects; those which the backend's capabilities exclude are
// left out. `sample` takes one way for about an eighth of the cases, picked by the id of the case, and what a suite
// sets for the first cases of every version.
std::vector<ModelVariant> presentations(const SuiteCase& planned, const Settings& requested, const Description& backend,
                                        VariantSampling presenting);

}  // namespace assay::suites
