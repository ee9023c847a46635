// SPDX-License-Identifier: Apache-2.0
#include "suites/triage/fuzz.h"

#include <catch2/catch.hpp>

namespace assay::suites {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a budget leaves time for a case that hangs at the end of the running", "[fuzz]") {
  CHECK(time_to_run(600s, 10s) == 450s);
  CHECK(time_to_run(45s, 10s) == 25s);  // in its session and alone
  CHECK(time_to_run(20s, 10s) == 5s);   // something is run, whatever the limit
}

}  // namespace
}  // namespace assay::suites
