// SPDX-License-Identifier: Apache-2.0
#include "suites/workers/worker_names.h"

#include "suites/workers/worker.h"

#include <catch2/catch.hpp>

namespace assay::suites {

using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Words = std::vector<std::string>;

TEST_CASE("worker names: a command is split as a shell does, without expansion", "[worker_names]") {
  CHECK(*split_command("") == Words{});
  CHECK(*split_command("  a  b\tc\n") == Words{"a", "b", "c"});
  CHECK(*split_command("a 'b c' \"d e\"f") == Words{"a", "b c", "d ef"});
  CHECK(*split_command("a '' \"\"") == Words{"a", "", ""});
  CHECK(*split_command(R"(a\ b '\' "\"\\\n" $HOME *)") == Words{"a b", "\\", "\"\\\\n", "$HOME", "*"});
  CHECK_THAT(split_command("a 'b").error(), Contains("lacks a closing '"));
  CHECK_THAT(split_command("a \\").error(), Contains("ends in a backslash"));
  CHECK_FALSE(split_command(std::string_view("a\0b", 3)));
}

TEST_CASE("worker names: each name stands for a command", "[worker_names]") {
  CHECK(command_of("exec:./mine --fast 'a b'") == Words{"./mine", "--fast", "a b"});
  CHECK_THAT(command_of("onnxruntime").at(1), EndsWith("tools/backends/onnxruntime.py"));
  const Words python = command_of("python:package.module:Class");
  CHECK_THAT(python.at(1), EndsWith("tools/backends/onnx_backend.py"));
  CHECK(python.at(2) == "package.module:Class");
}

TEST_CASE("worker names: a shared library is served by the host, by its absolute path", "[worker_names]") {
  CHECK_THROWS_WITH(command_of("./no_such_library.so"), Contains("there is no library ./no_such_library.so"));
  CHECK_THROWS_WITH(command_of("no_such_library.so.1.2"), Contains("give the path of a file"));
  CHECK(command_of("exec:./mine.so") == Words{"./mine.so"});
}

TEST_CASE("worker names: an unknown name is an input error that names the nearest and all", "[worker_names]") {
  CHECK_THROWS_AS(open_backend("onxruntime"), InputError);
  CHECK_THROWS_WITH(open_backend("onxruntime"), Contains("unknown backend onxruntime; did you mean onnxruntime?") &&
                                                    Contains("python:MODULE exec:COMMAND ./LIBRARY.so"));
  CHECK_THROWS_WITH(open_backend("perl:x\x1b"), Contains("unknown backend perl:x\\u{001b}"));
  CHECK_THROWS_WITH(open_backend("python:"), Contains("something has to stand after the colon"));
  CHECK_THROWS_WITH(open_backend("exec: "), Contains("needs a command"));
  CHECK_THROWS_WITH(open_backend("exec:'"), Contains("lacks a closing '"));
}

}  // namespace assay::suites
