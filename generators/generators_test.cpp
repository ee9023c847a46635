// SPDX-License-Identifier: Apache-2.0
#include "generators/generators.h"

#include "generators/family.h"
#include "generators/traits.h"
#include "generators/values.h"
#include "reference/operator.h"
#include "reference/testing/run_size.h"

#include <catch2/catch.hpp>
#include <rapidcheck/catch.h>

#include <algorithm>
#include <array>
#include <set>
#include <thread>

namespace assay::generators {
namespace {

// All of them; under the sanitizers one in so many.
std::vector<const Definition*> definitions() {
  std::vector<const Definition*> all;
  std::size_t number = 0;
  for (const Operator* op : operators())
    for (const Definition& definition : op->versions())
      if (number++ % one_in() == 0) all.push_back(&definition);
  return all;
}

// Those of the first input, by which a case is asked for.
const std::vector<DType>& types(const Definition& definition) { return definition.types_of(definition.data().type); }

const Definition& definition(const char* name, int since) { return *find_definition({"", name, since}); }

std::vector<std::string> ids(const Definition& definition) {
  std::vector<std::string> all;
  for (const Constraint& constraint : general_constraints()) all.push_back(constraint.id);
  for (const Constraint& constraint : definition.constraints) all.push_back(constraint.id);
  return all;
}

}  // namespace

TEST_CASE("Generators: a legal case is legal, small and of the type asked for", "[generators]") {
  for (const Definition* d : definitions())
    for (const DType type : types(*d))
      for (std::uint64_t index = 0; index < 150; ++index) {
        const Case c = legal(*d, type, 11, index);
        INFO(line(c));
        REQUIRE(c.version == d->version);
        REQUIRE(d->violated(c.call()).empty());
        REQUIRE(d->type_of(c.call(), d->data()) == type);
        REQUIRE(find_operator(d->version.domain, d->version.name)->at(c.opset) == d);
        REQUIRE(volume(d->shape(c.call())) <= generator_of(d->version).most_outputs);
      }
}

TEST_CASE("Generators: a property is checked on legal cases, whatever its size", "[generators][property]") {
  for (const Definition* d : definitions())
    rc::prop(text(d->version), [&] { RC_ASSERT(d->violated((*legal(*d, types(*d).back())).call()).empty()); });
}

TEST_CASE("Generators: a case is the text of its line, and its seed and index", "[generators]") {
  for (const Definition* d : definitions())
    for (std::uint64_t index = 0; index < 60; ++index) {
      const Case c = legal(*d, types(*d).back(), 12, index);
      const Result<Case> parsed = parse_case(line(c));
      INFO(line(c));
      REQUIRE(parsed);
      REQUIRE(*parsed == c);
      REQUIRE(line(legal(*d, types(*d).back(), 12, index)) == line(c));
    }
}

TEST_CASE("Generators: another seed draws other cases", "[generators]") {
  const Definition& d = definition("Conv", 22);
  int same = 0;
  for (std::uint64_t index = 0; index < 100; ++index)
    same += line(legal(d, DType::f32, 1, index)) == line(legal(d, DType::f32, 2, index));
  CHECK(same == 0);
}

TEST_CASE("Generators: no tensor of two elements or more is constant", "[generators]") {
  for (const Definition* d : definitions())
    for (std::uint64_t index = 0; index < 100; ++index) {
      const Case c = legal(*d, types(*d).front(), 13, index);
      INFO(line(c));
      for (int set = 0; set < data_sets; ++set)
        for (const Parameter& input : d->inputs) {
          const std::optional<Tensor> tensor = operands(c, set)[static_cast<std::size_t>(&input - d->inputs.data())];
          if (!tensor || tensor->elements() < 2 || !input.reads_as.empty()) continue;
          Tensor constant = *tensor;
          for_type(tensor->dtype(), [&]<class T>() { std::ranges::fill(constant.as<T>(), T(constant.as<T>()[0])); });
          REQUIRE(!(constant == *tensor));
        }
    }
}

TEST_CASE("Generators: threads draw side by side what each would draw alone", "[generators]") {
  const Definition& d = find_operator("", "Conv")->versions().back();
  const auto lines = [&](std::uint64_t first) {
    std::string all;
    for (std::uint64_t index = first; index < first + 60; ++index) all += line(legal(d, DType::f32, 3, index)) + "\n";
    return all;
  };
  std::vector<std::string> alone, together(4);
  for (std::uint64_t job = 0; job < together.size(); ++job) alone.push_back(lines(60 * job));
  std::vector<std::thread> threads;
  for (std::uint64_t job = 0; job < together.size(); ++job)
    threads.emplace_back([&, job] { together[job] = lines(60 * job); });
  for (std::thread& thread : threads) thread.join();
  CHECK(together == alone);
}

TEST_CASE("Generators: a near miss breaks exactly the constraint asked for", "[generators]") {
  for (const Definition* d : definitions())
    for (const std::string& id : breakable(*d))
      for (std::uint64_t index = 0; index < 12; ++index) {
        const std::optional<Case> c = near_miss(*d, types(*d).back(), id, 14, index);
        INFO(text(d->version) << " " << id << " " << index);
        REQUIRE(c);
        INFO(line(*c));
        REQUIRE(d->violated(c->call()) == std::vector{id});
        const Result<Case> parsed = parse_case(line(*c));
        INFO((parsed ? "" : parsed.error()));
        REQUIRE(parsed);
        REQUIRE(*parsed == *c);
      }
}

TEST_CASE("Generators: what is not listed as breakable is broken alone by none of the first near misses",
          "[generators]") {
  for (const Definition* d : definitions()) {
    const std::vector<std::string> listed = breakable(*d);
    for (const std::string& id : ids(*d)) {
      if (std::ranges::find(listed, id) != listed.end()) continue;
      for (std::uint64_t index = 0; index < 4; ++index) {
        INFO(text(d->version) << " " << id);
        const std::optional<Case> c = near_miss(*d, types(*d).back(), id, 1, index);
        INFO((c ? line(*c) : ""));
        CHECK_FALSE(c);
      }
    }
  }
}

TEST_CASE("Generators: every cell and every value of a shape's dimension is reached within 2,000 cases of each version",
          "[generators]") {
  for (const Definition* d : definitions()) {
    const Family& family = family_of(*d);
    const std::vector<Dimension> table = family.dimensions(*d);
    const bool is_never_empty = d->version.name == "AffineGrid" ||  // C2, as ArgMax.C3
                                (d->version.since_version == 11 && d->version.name.starts_with("Arg"));
    constexpr std::string_view of_several[] = {"RotaryEmbedding", "NonMaxSuppression", "AffineGrid"};
    const bool is_even = std::ranges::count(of_several, d->version.name) > 0;  // a head, a box, a matrix of one is none
    Names wanted = cells(*d);
    for (const Dimension& dimension : table)
      for (const std::string& value : dimension.values)
        if (dimension.name != "operands" && !(is_never_empty && (value == "an empty axis" || value == "0")) &&
            !(is_even && (value == "all 1" || value == "1")))
          wanted.push_back(dimension.name + " " + value);  // cells: not all are legal
    if (table.front().values != Names{"0"}) wanted.emplace_back("a tail past a multiple of 8");
    if (d->shaping == Shaping::axis) wanted.emplace_back("a line of more than 1,000");
    std::set<std::string> reached;
    for (std::uint64_t index = 0; index < 2000; ++index) {
      const Case c = legal(*d, types(*d)[index % types(*d).size()], 15, index);
      for (const std::string& trait : traits(c)) reached.insert(trait);
      const std::vector<int> values = family.features(c);
      for (std::size_t i = 0; i < table.size(); ++i)
        if (values[i] >= 0) reached.insert(table[i].name + " " + table[i].values[static_cast<std::size_t>(values[i])]);
      const Shape shape = generator_of(d->version).describes_output ? d->shape(c.call()) : shape_of(c);
      if (volume(shape) > 8 && volume(shape) % 8 != 0) reached.insert("a tail past a multiple of 8");
      if (!shape.empty() && std::ranges::max(shape) > 1000) reached.insert("a line of more than 1,000");
    }
    for (const std::string& cell : wanted) {
      INFO(text(d->version) << ": " << cell);
      CHECK(reached.contains(cell));
    }
  }
}

TEST_CASE("Generators: a list that says a shape has no entry, entries of 0 and negative ones", "[generators]") {
  for (const Definition& d : find_operator("", "Reshape")->versions()) {
    std::array<bool, 3> reached{};
    for (std::uint64_t index = 0; index < 2000; ++index) {
      const Case c = legal(d, DType::f32, 15, index);
      if (!c.call().states("shape")) continue;
      const Ints entries = c.call().ints("shape");
      reached[0] |= entries.empty();
      reached[1] |= std::ranges::count(entries, 0) > 0;
      reached[2] |= std::ranges::any_of(entries, [](Int entry) { return entry < 0; });
    }
    CHECK(std::ranges::count(reached, true) == 3);
  }
}

// Spec B.2: these are worth a fifth of all cases each.
TEST_CASE("Generators: what finds most is drawn most", "[generators]") {
  const auto share = [](const Definition& d, const std::string& cell) {
    int count = 0;
    for (std::uint64_t index = 0; index < 1000; ++index)
      count += std::ranges::count(traits(legal(d, types(d).back(), 16, index)), cell) > 0;
    return count;
  };
  for (const char* cell :
       {"ek < s", "pads >= ek", "1 < group < C", "group depthwise", "weights initializer", "weights graph input"}) {
    INFO("Conv-22 " << cell);
    CHECK(share(definition("Conv", 22), cell) >= 200);
  }
  for (const char* cell : {"ek < s", "pads >= ek", "n < 0 with ceil", "overhang >= 2", "trailing >= 2"}) {
    INFO("AveragePool-22 " << cell);
    CHECK(share(definition("AveragePool", 22), cell) >= 200);
  }
  for (const char* cell : {"ties: scale ratio 2^-j", "w_scale and w_zero_point per map", "y_zero_point odd"}) {
    INFO("QLinearConv-10 " << cell);
    CHECK(share(definition("QLinearConv", 10), cell) >= 200);
  }
  CHECK(share(definition("QLinearConv", 10), "bias near 2^31") >= 20);
  for (const char* cell : {"offset_group unlike group", "mask given", "a sample blended with the outside"}) {
    INFO("DeformConv-22 " << cell);
    CHECK(share(definition("DeformConv", 22), cell) >= 200);
  }
}

// 9 terms need 4 bits, which leaves 20 of 24 for the product: 2^10 * 2^10 * 9 < 2^24.
TEST_CASE("Generators: odd integers stay within the bits every order can add exactly", "[generators][values]") {
  const std::optional<Widths> widths = exact_widths(24, 24, 9);
  REQUIRE(widths);
  CHECK(widths->x == 10);
  CHECK(widths->w == 10);
  CHECK(widths->b == 20);
  CHECK(exact_widths(24, 8, 9)->x == 8);    // bfloat16 stores no more
  CHECK_FALSE(exact_widths(8, 8, 65));      // 7 bits of 8 go to the sum
  CHECK(exact_widths(53, 53, 1)->b == 52);  // no family of odd integers is wider
}

}  // namespace assay::generators
