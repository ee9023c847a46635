// SPDX-License-Identifier: Apache-2.0
// Questions about AveragePool: those about any pool, over data whose sums prove something.
#include "generators/families/pool.h"

namespace assay::generators {

const Questions& average_pool();

namespace {

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  return draw_pool(definition, type, stratum, draw_average_fill);
}

}  // namespace

const Questions& average_pool() {
  static const Questions questions = pool_questions(draw);
  return questions;
}

}  // namespace assay::generators
