// SPDX-License-Identifier: Apache-2.0
#include "oracles/filter/multiply.h"

#include "oracles/filter/clones.h"
#include "oracles/filter/multiply_lanes.h"

#if ASSAY_CLONES
#define ASSAY_INSTRUCTIONS v3
#define ASSAY_TARGET __attribute__((target("arch=x86-64-v3")))
#define ASSAY_VECTOR 32
#include "oracles/filter/multiply_lanes.h"

#define ASSAY_INSTRUCTIONS v4
#define ASSAY_TARGET __attribute__((target("arch=x86-64-v4")))
#define ASSAY_VECTOR 64
#include "oracles/filter/multiply_lanes.h"
#endif

namespace assay::oracles {
namespace {

struct Multiplying {
  decltype(&portable::products<double>) doubles;
  decltype(&portable::products<float>) floats;
  decltype(&portable::products<std::int32_t>) words;
  decltype(&portable::pairs) pairs;
};

const Multiplying& multiplying() {
  static const Multiplying best = [] {
#if ASSAY_CLONES
    if (generation() == Generation::v4)
      return Multiplying{v4::products<double>, v4::products<float>, v4::products<std::int32_t>, v4::pairs};
    if (generation() == Generation::v3)
      return Multiplying{v3::products<double>, v3::products<float>, v3::products<std::int32_t>, v3::pairs};
#endif
    return Multiplying{portable::products<double>, portable::products<float>, portable::products<std::int32_t>,
                       portable::pairs};
  }();
  return best;
}

}  // namespace

void run(const Multiply<double>& job, Int maps) { multiplying().doubles(job, maps); }
void run(const Multiply<float>& job, Int maps) { multiplying().floats(job, maps); }
void run(const Multiply<std::int32_t>& job, Int maps) { multiplying().words(job, maps); }
void run(const MultiplyPairs& job) { multiplying().pairs(job); }

}  // namespace assay::oracles
