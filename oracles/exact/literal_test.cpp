// SPDX-License-Identifier: Apache-2.0
#include "oracles/exact/literal.h"

#include <catch2/catch.hpp>

namespace assay::oracles {
namespace {

TEST_CASE("Literal: what decimals say, exactly", "[literal]") {
  const auto says = [](std::string_view text, const Ratio& value) { return read_literal(text).number == value; };
  CHECK(says("7", {{7, 0}, 1}));
  CHECK(says("-0.5", {{-1, -1}, 1}));
  CHECK(says(".1", {{1, 0}, 10}));
  CHECK(says("5.", {{5, 0}, 1}));
  CHECK(says("+1e3", {{1000, 0}, 1}));
  CHECK(says("25E-2", {{1, -2}, 1}));
  CHECK(says("0089", {{89, 0}, 1}));
  CHECK(says("-000", {}));
  CHECK(says("000.010", {{1, 0}, 100}));
}

TEST_CASE("Literal: words, and what is none", "[literal]") {
  CHECK(read_literal("NaN").special->is == Scalar::Class::nan);
  CHECK(read_literal("+INF").special->is == Scalar::Class::infinite);
  CHECK(read_literal("-inf").special->negative);
  for (const std::string_view none :
       {"", "+", ".", "1e", "1e+", "1,5", " 1", "0x10", "1_000", "+nan", "Infinity", "--1"}) {
    INFO(none);
    CHECK_FALSE(read_literal(none).number);
    CHECK_FALSE(read_literal(none).special);
  }
}

TEST_CASE("Literal: an exponent beyond every format is as good as a smaller one", "[literal]") {
  CHECK(Ratio{Dyadic::power_of_two(2000), 1} < *read_literal("1e123456789").number);
  CHECK(*read_literal("1e-123456789").number < Ratio{Dyadic::power_of_two(-2000), 1});
  CHECK(*read_literal("1e-400").number < Ratio{Dyadic::power_of_two(-1300), 1});
}

}  // namespace
}  // namespace assay::oracles
