// SPDX-License-Identifier: Apache-2.0
// What a lying worker may write is in worker_test.cpp; here is that both directions fit together.
#include "suites/workers/frame.h"

#include <catch2/catch.hpp>

namespace assay::suites {

using Kind = oracles::Outcome::Kind;

TEST_CASE("frame: a run request is the line of the protocol", "[frame]") {
  Request request{.id = "5f0c",
                  .model = "model",
                  .sets = {{"abc", ""}, {"abcd", ""}},
                  .threads = 2,
                  .optimization = "none",
                  .options = {{"precision", "f32"}}};
  CHECK(run_line(request) ==
        R"({"ask":"run","id":"5f0c","options":{"threads":2,"optimization":"none","precision":"f32"},)"
        R"("model":5,"sets":[[3,0],[4,0]]})"
        "\n");
}

TEST_CASE("frame: a worker reads back what the host wrote", "[frame]") {
  const Request request{.id = "a\"\n\xc3\xa4",
                        .model = "model",
                        .sets = {{"abc", ""}, {}},
                        .threads = 3,
                        .optimization = "basic",
                        .options = {{"isa", "avx2"}, {"layout", "a=\"b\""}}};
  const Result<Incoming> incoming = parse_request(run_line(request));
  REQUIRE(incoming);
  CHECK(incoming->kind == Incoming::Kind::run);
  CHECK(incoming->request.id == request.id);
  CHECK(incoming->request.threads == 3);
  CHECK(incoming->request.optimization == "basic");
  CHECK(incoming->request.options == request.options);
  CHECK(incoming->model == 5);
  CHECK(incoming->sets == Sizes{{3, 0}, {}});
  CHECK(parse_request(describe_line())->kind == Incoming::Kind::describe);
}

TEST_CASE("frame: the host reads back what a worker wrote", "[frame]") {
  const Result<AnswerHeader> outputs = parse_answer(answer_line("id", Kind::outputs, "", {{7}, {8, 0}}));
  REQUIRE(outputs);
  CHECK(outputs->id == "id");
  CHECK(outputs->sets == Sizes{{7}, {8, 0}});
  CHECK(total(outputs->sets) == 15);
  const Result<AnswerHeader> refusal = parse_answer(answer_line("id", Kind::refused, "because \xff", {}));
  REQUIRE(refusal);
  CHECK(refusal->kind == Kind::refused);
  CHECK(refusal->because == "because \xef\xbf\xbd");  // invalid UTF-8 is replaced
  CHECK(parse_answer(answer_line("id", Kind::unsupported, "x", {}))->kind == Kind::unsupported);
}

TEST_CASE("frame: an exclusion that means nothing is an error, with its column", "[frame]") {
  const auto said = [](const std::string& predicate) {
    return parse_introduction(R"({"assay":1,"backend":"b","capabilities":{"excludes":[")" + predicate + R"("]}})")
        .error();
  };
  CHECK_THAT(said("any(dilatoins) > 1"), Catch::Contains("excludes") && Catch::Contains("dilatoins"));
  CHECK_THAT(said("rank(X) >"), Catch::Contains("column"));
}

TEST_CASE("frame: a description keeps every declaration", "[frame]") {
  Description description;
  description.backend = "b";
  description.arithmetic = {
      .accumulator = DType::f16, .flushes_subnormals = true, .tf32 = true, .bf16_inputs = true, .winograd = true};
  description.operators = {"Conv-1"};
  description.types = {"f16", "f32"};
  description.newest_opset = 22;
  description.answers_shapes = true;
  description.excludes = {*parse_predicate("auto_pad in (SAME_UPPER, SAME_LOWER) and any(dilations) > 1")};
  description.options = {{"layout", {}}, {"precision", {"f32", "bf16"}}};
  const Result<Introduction> introduction = parse_introduction(description_line(description));
  REQUIRE(introduction);
  CHECK(introduction->description.arithmetic == description.arithmetic);
  CHECK(introduction->description.operators == description.operators);
  CHECK(introduction->description.types == description.types);
  CHECK(introduction->description.newest_opset == 22);
  CHECK(introduction->description.answers_shapes);
  REQUIRE(introduction->description.excludes.size() == 1);
  CHECK(introduction->description.excludes[0].text() == description.excludes[0].text());
  CHECK(introduction->description.options == description.options);
  CHECK_FALSE(introduction->replies_on_stdout);
}

TEST_CASE("frame: options that are declared in a way nobody could ask for are an error", "[frame]") {
  struct Wrong {
    std::string options, why;
  };
  const auto wrong = GENERATE(values<Wrong>({
      {R"(["precision"])", "\"options\" is not an object of names with their values"},
      {R"({"precision":"f32"})", "\"options\": precision is not an array of strings"},
      {R"({"precision":[32]})", "\"options\": precision is not an array of strings"},
      {R"({"":[]})", "a name is not empty"},
      {R"({"a=b":[]})", "\"options\" declares \"a=b\""},
      {R"({"threads":["1"]})", "neither threads, optimization nor outputs"},
  }));
  const auto introduction = parse_introduction(R"({"assay":1,"backend":"b","options":)" + wrong.options + "}");
  REQUIRE_FALSE(introduction);
  CHECK_THAT(introduction.error(), Catch::Matchers::Contains(wrong.why));
}

TEST_CASE("frame: a request whose options are no texts is malformed", "[frame]") {
  const auto parsed = [](const std::string& options) {
    return parse_request(R"({"ask":"run","id":"i","options":)" + options + R"(,"model":0,"sets":[]})");
  };
  CHECK(parsed(R"({"precision":"f32"})"));
  CHECK_FALSE(parsed(R"({"precision":32})"));
  CHECK_FALSE(parsed(R"([])"));
}

TEST_CASE("frame: the largest part is 2 GiB, to the byte", "[frame]") {
  const auto line = [](const char* size) {
    return std::string(R"({"id":"i","outcome":"outputs","sets":[[)") + size + "]]}";
  };
  CHECK(parse_answer(line("2147483648")));
  CHECK_FALSE(parse_answer(line("2147483649")));
  CHECK_FALSE(parse_answer(line("18446744073709551616")));
}

// A byte of a good line replaced by any other is an answer or an error, never more.
TEST_CASE("frame: no byte of a header can do more than make it malformed", "[frame]") {
  const std::string good = answer_line("id", Kind::outputs, "", {{7}, {8}});
  for (std::size_t at = 0; at < good.size(); ++at)
    for (int byte = 0; byte < 256; ++byte) {
      std::string line = good;
      line[at] = static_cast<char>(byte);
      const Result<AnswerHeader> answer = parse_answer(line);
      if (!answer) CHECK_FALSE(answer.error().empty());
    }
}

}  // namespace assay::suites
