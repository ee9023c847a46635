// SPDX-License-Identifier: Apache-2.0
#include "generators/graphs/graph_drawing.h"

#include <catch2/catch.hpp>

#include <map>

namespace assay::generators {
namespace {

TEST_CASE("Every drawn graph is legal and canonical", "[graphs]") {
  for (std::uint64_t index = 0; index < 40 * graph_patterns().size(); ++index) {
    const std::string text = line(draw_graph(7, index).graph);
    INFO(text);
    const Result<GraphCase> read = parse_graph_case(text);
    REQUIRE(read);
    if (index % 8 == 0) {
      CHECK(line(tidied(*read)) == text);
      CHECK(line(draw_graph(7, index).graph) == text);
    }
  }
}

TEST_CASE("Graphs of one pattern differ, and hazards occur", "[graphs]") {
  std::set<std::string> lines;
  std::map<std::string_view, int> hazards;
  constexpr std::uint64_t rounds = 20;
  for (std::uint64_t index = 0; index < rounds * graph_patterns().size(); ++index) {
    const DrawnGraph drawn = draw_graph(1, index);
    lines.insert(line(drawn.graph));
    for (const std::string_view each : drawn.hazards) ++hazards[each];
  }
  CHECK(lines.size() > rounds * graph_patterns().size() * 99 / 100);
  CHECK(hazards.size() >= 20);
  for (const auto& [hazard, count] : hazards) {
    INFO(hazard);
    CHECK(count >= 5);
  }
}

}  // namespace
}  // namespace assay::generators
