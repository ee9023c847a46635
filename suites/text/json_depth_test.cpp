// SPDX-License-Identifier: Apache-2.0
#include "suites/text/json_depth.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <string>

namespace assay::suites {
namespace {

using Json = nlohmann::json;

std::string nested(std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); }

TEST_CASE("JSON nests as deep as its brackets outside strings", "[json]") {
  CHECK_FALSE(nests_too_deep(""));
  CHECK_FALSE(nests_too_deep(nested(deepest_json)));
  CHECK(nests_too_deep(nested(deepest_json + 1)));
  CHECK(nests_too_deep(std::string(1'000'000, '[')));
  std::string objects;
  for (int i = 0; i <= deepest_json; ++i) objects += "{\"a\":";
  CHECK(nests_too_deep(objects));
  CHECK_FALSE(nests_too_deep(Json(std::string(1000, '[')).dump()));
  CHECK_FALSE(nests_too_deep(Json("\"\\" + std::string(1000, '[')).dump()));
  CHECK(nests_too_deep("[\"\\\\\"," + nested(deepest_json) + "]"));
  std::string wide = "[";
  for (int i = 0; i < 1000; ++i) wide += "[[]],";
  CHECK_FALSE(nests_too_deep(wide + "0]"));
}

TEST_CASE("CBOR nests as deep as its lists and maps, and ends no stack", "[json]") {
  const auto cbor = [](const std::string& json) {
    std::string bytes;
    Json::to_cbor(Json::parse(json), bytes);
    return bytes;
  };
  CHECK_FALSE(cbor_nests_too_deep(""));
  CHECK_FALSE(cbor_nests_too_deep("not cbor"));
  CHECK_FALSE(cbor_nests_too_deep(cbor(nested(deepest_json))));
  CHECK(cbor_nests_too_deep(cbor(nested(deepest_json + 1))));
  CHECK_FALSE(cbor_nests_too_deep(cbor("{\"a\":[1,2.5,null,true,\"x\",-3]}")));
  CHECK(cbor_nests_too_deep(std::string(8'000'000, '\x81')));
  CHECK(cbor_nests_too_deep(std::string(8'000'000, '\x9f')));
}

}  // namespace
}  // namespace assay::suites
