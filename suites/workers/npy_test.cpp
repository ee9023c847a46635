// SPDX-License-Identifier: Apache-2.0
#include "suites/workers/npy.h"

#include <catch2/catch.hpp>

namespace assay::suites {
namespace {

// As numpy.save writes it; without the blanks that align the data.
std::string npy(const std::string& header, const std::string& data, char version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += {version, '\0', static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  if (version > 1) bytes += {'\0', '\0'};
  return bytes + header + data;
}

std::string header(const std::string& descr, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }   \n";
}

std::string refusal(const std::string& bytes) {
  const Result<Tensor> tensor = decode_npy(bytes);
  REQUIRE_FALSE(tensor);
  CHECK(tensor.error().find('\n') == std::string::npos);
  return tensor.error();
}

constexpr char two_floats[] = "\x00\x00\x80\x3f\x00\x00\x00\xc0";  // 1, -2
const std::string floats(two_floats, 8);

template <class T>
std::vector<double> values(const Tensor& tensor) {
  return {tensor.as<T>().begin(), tensor.as<T>().end()};
}

}  // namespace

TEST_CASE("numpy's files are tensors, in every version, type and order", "[npy]") {
  for (const char version : {'\1', '\2', '\3'}) {
    const Result<Tensor> tensor = decode_npy(npy(header("<f4", "(1, 2)"), floats, version));
    REQUIRE(tensor);
    CHECK(tensor->type() == TensorType{DType::f32, {1, 2}});
    CHECK(values<float>(*tensor) == std::vector<double>{1, -2});
  }
  CHECK(values<float>(*decode_npy(npy(header(">f4", "(1,)"), std::string("\x3f\x80\x00\x00", 4)))) ==
        std::vector<double>{1});
  CHECK(decode_npy(npy(header("<f8", "()"), floats))->type() == TensorType{DType::f64, {}});
  CHECK(values<std::int8_t>(*decode_npy(npy(header("|i1", "(3,)"), "\x01\xff\x80"))) ==
        std::vector<double>{1, -1, -128});
  CHECK(values<std::uint8_t>(*decode_npy(npy(header("|u1", "(1,1)"), "\xff"))) == std::vector<double>{255});
  CHECK(decode_npy(npy(header("<i4", "(2,)"), floats))->dtype() == DType::i32);
  CHECK(decode_npy(npy(header("<i8", "(1,)"), floats))->dtype() == DType::i64);
  CHECK(values<Float16>(*decode_npy(npy(header("<f2", "(1,)"), std::string("\x00\x3c", 2)))) == std::vector<double>{1});
  for (const char* descr : {"<V2", "|V2", "<u2"})
    CHECK(values<BFloat16>(*decode_npy(npy(header(descr, "(1,)"), "\x80\x3f"), DType::bf16)) == std::vector<double>{1});
  CHECK(values<std::uint16_t>(*decode_npy(npy(header("<u2", "(1,)"), "\x80\x3f"))) == std::vector<double>{0x3f80});
  for (const char* descr : {"<V1", "|V1", "|u1"})
    CHECK(values<Int4>(*decode_npy(npy(header(descr, "(2,)"), "\x0f\x07"), DType::i4)) == std::vector<double>{-1, 7});
  CHECK(decode_npy(npy(header("<f4", "(0, 3)"), ""))->shape() == Shape{0, 3});
  CHECK(decode_npy(npy("{\"shape\":(1,),\"fortran_order\":False,\"descr\":\"|u1\"}", "x")));
}

TEST_CASE("Columns first becomes rows first", "[npy]") {
  const Result<Tensor> tensor = decode_npy(npy(header("|u1", "(2, 3)", "True"), std::string("\0\x03\1\x04\2\x05", 6)));
  REQUIRE(tensor);
  CHECK(values<std::uint8_t>(*tensor) == std::vector<double>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("What is no file of numpy's, or only a part of one, is refused in one line", "[npy]") {
  const std::string good = npy(header("<f4", "(1, 2)"), floats);
  for (std::size_t size = 0; size < good.size(); ++size) refusal(good.substr(0, size));
  refusal(good + "x");
  CHECK(refusal(npy(header("<V1", "(2,)"), "ab")).find("not admitted") != std::string::npos);
  const Result<Tensor> stray = decode_npy(npy(header("|u1", "(2,)"), "\x0f\x10"), DType::i4);
  CHECK((!stray && stray.error().starts_with("a byte 16 is no code of i4")));
  CHECK(refusal("PK\3\4 this is an npz").find("does not begin") != std::string::npos);
  CHECK(refusal(npy(header("<f4", "(1, 2)"), floats, '\t')).find("another version") != std::string::npos);
  for (const char* descr : {"<c8", "|O", "<U1", "f4", "<f", "", "=f4", "|f4", "<f16", "[('a', '<f4')]", "\x1b[0m"})
    CHECK(refusal(npy(header(descr, "(2,)"), floats)) != "");
  for (const char* shape : {"(2)", "2", "(2,", "(-2,)", "(2 1)", "(,)", "(2,,)", "(1,2", "(9223372036854775807, 4)",
                            "(4611686018427387904,)", "(99999999999999999999,)", "[2]", "(0x2,)", "(2L,)"})
    CHECK(refusal(npy(header("<f4", shape), floats)) != "");
  for (const char* bad :
       {"", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}",
        "{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}", "{'descr"})
    CHECK(refusal(npy(bad, floats)).find("the header is not") != std::string::npos);
}

}  // namespace assay::suites
