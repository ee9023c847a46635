// SPDX-License-Identifier: Apache-2.0
#include "suites/text/printable.h"

#include <catch2/catch.hpp>

namespace assay::suites {

TEST_CASE("printable: text stays as it is, white space becomes single blanks", "[printable]") {
  CHECK(printable("") == "");
  CHECK(printable("Gänsefüßchen „…“ 模型 🦆") == "Gänsefüßchen „…“ 模型 🦆");
  CHECK(printable("  a\t\tb\r\n  c \n") == "a b c");
}

TEST_CASE("printable: controls, hidden marks and what reorders text are escaped", "[printable]") {
  CHECK(printable(std::string("\0\x1b[2J\x7f", 6)) == "\\u{0000}\\u{001b}[2J\\u{007f}");
  CHECK(printable("\xc2\x9b") == "\\u{009b}");  // CSI as one C1 control
  CHECK(printable("\xe2\x80\xae"
                  "x") == "\\u{202e}x");            // right-to-left override
  CHECK(printable("\xe2\x80\xa8") == "\\u{2028}");  // line separator
  CHECK(printable("\xef\xbb\xbf") == "\\u{feff}");
}

TEST_CASE("printable: bytes that are not UTF-8 are escaped one by one", "[printable]") {
  CHECK(printable("\xff\xfe") == "\\xff\\xfe");
  CHECK(printable("\xc0\x80") == "\\xc0\\x80");                    // overlong
  CHECK(printable("\xe0\x80\x80") == "\\xe0\\x80\\x80");           // overlong
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // a surrogate
  CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // above U+10FFFF
  CHECK(printable("a\xe2\x82") == "a\\xe2\\x82");                  // cut short
}

TEST_CASE("printable: what is cut is marked, never in the middle of a character, and fits", "[printable]") {
  CHECK(printable("abcdef", 6) == "abcdef");
  CHECK(printable("abcdefg", 6) == "abc...");
  CHECK(printable("ääää", 8) == "ääää");
  CHECK(printable("äääää", 8) == "ää...");  // 5 bytes left: two of two each
  CHECK(printable("abcdef", 2) == "..");
}

}  // namespace assay::suites
