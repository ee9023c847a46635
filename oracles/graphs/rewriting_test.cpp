// SPDX-License-Identifier: Apache-2.0
// The theorem of graphs.md 1.2, attacked at random: no legal rewriting of a graph that is called exact rounds, though
// every operation is rounded to float16; and rewritings of the others do, or the test would show nothing.
#include "oracles/graphs/exactness.h"

#include <catch2/catch.hpp>

#include <memory>

namespace assay::oracles {
namespace {

// One scalar as an expression. A factor or a summand of a sum of several products stays where it is: it is never moved
// through a maximum or a minimum (1.3).
struct Term;
using TermPtr = std::shared_ptr<const Term>;
struct Term {
  char op = 'c';  // c: a constant; + * M (maximum) m (minimum)
  double value = 0;
  TermPtr a = nullptr, b = nullptr;
  bool is_of_dot = false;
};

TermPtr constant(double value) { return std::make_shared<Term>(Term{'c', value}); }
TermPtr made(char op, TermPtr a, TermPtr b, bool is_of_dot = false) {
  return std::make_shared<Term>(Term{op, 0, std::move(a), std::move(b), is_of_dot});
}

using Row = std::vector<TermPtr>;

// Expresses what a step gives, element by element, of rows of four; a matrix has four rows.
Row expressed(const GraphStep& step, const std::map<std::string, Row>& known) {
  const std::string& op = step.c.version.name;
  const Row& a = known.at(step.operands[0]);
  const auto other = [&](std::size_t operand, std::size_t i) {
    const Row& row = known.at(step.operands[operand]);
    return row[row.size() == 1 ? 0 : i];
  };
  Row out;
  for (std::size_t i = 0; i < 4; ++i) {
    if (op == "Relu") out.push_back(made('M', a[i], constant(0)));
    if (op == "Clip") out.push_back(made('m', made('M', a[i], other(1, i)), other(2, i)));
    if (op == "Add") out.push_back(made('+', a[i], other(1, i)));
    if (op == "Sub") out.push_back(made('+', a[i], made('*', constant(-1), other(1, i))));
    if (op == "Mul") out.push_back(made('*', a[i], other(1, i)));
    if (op == "Max") out.push_back(made('M', a[i], other(1, i)));
    if (op != "MatMul") continue;
    TermPtr sum;
    for (std::size_t k = 0; k < 4; ++k) {
      const TermPtr product = made('*', a[k], known.at(step.operands[1])[4 * k + i], true);
      sum = sum ? made('+', sum, product, true) : product;
    }
    out.push_back(sum);
  }
  return out;
}

bool is_choice(const Term& t) { return t.op == 'M' || t.op == 'm'; }

// Applies one law at the root, or none.
TermPtr law(const TermPtr& t, Generator& draw) {
  const Term &a = *t->a, &b = *t->b;
  const bool is_free = !t->is_of_dot;
  switch (draw.below(6)) {
    case 0: return made(t->op, t->b, t->a, t->is_of_dot);
    case 1:  // (x o y) o z = x o (y o z)
      if (a.op == t->op)
        return made(t->op, a.a, made(t->op, a.b, t->b, t->is_of_dot || a.is_of_dot), t->is_of_dot || a.is_of_dot);
      return t;
    case 2:  // x (y + z) = x y + x z
      if (t->op == '*' && b.op == '+')
        return made('+', made('*', t->a, b.a, !is_free || b.is_of_dot), made('*', t->a, b.b, !is_free || b.is_of_dot),
                    !is_free || b.is_of_dot);
      return t;
    case 3:  // x y + x z = x (y + z)
      if (t->op == '+' && a.op == '*' && b.op == '*' && a.a == b.a)
        return made('*', a.a, made('+', a.b, b.b, !is_free || a.is_of_dot), !is_free || a.is_of_dot);
      return t;
    case 4:  // k max(x, y) = max(k x, k y), k > 0
      if (is_free && t->op == '*' && a.op == 'c' && a.value > 0 && is_choice(b))
        return made(b.op, made('*', t->a, b.a), made('*', t->a, b.b));
      return t;
    default:  // s + max(x, y) = max(s + x, s + y)
      if (is_free && t->op == '+' && is_choice(b)) return made(b.op, made('+', t->a, b.a), made('+', t->a, b.b));
      return t;
  }
}

// Rewrites here and there.
TermPtr rewritten(const TermPtr& t, Generator& draw) {
  if (t->op == 'c') return t;
  TermPtr out = made(t->op, rewritten(t->a, draw), rewritten(t->b, draw), t->is_of_dot);
  while (draw.below(3) != 0) out = law(out, draw);
  return out;
}

double rounded(double value) { return static_cast<double>(Float16(value)); }

double evaluated(const Term& t) {
  if (t.op == 'c') return t.value;
  const double a = evaluated(*t.a), b = evaluated(*t.b);
  if (t.op == 'M') return std::max(a, b);
  if (t.op == 'm') return std::min(a, b);
  return rounded(t.op == '+' ? a + b : a * b);
}

// A chain of two to eight steps over a row of four in float16.
std::string drawn(Generator& draw) {
  const auto pick = [&](std::initializer_list<const char*> words) {
    return *(words.begin() + draw.below(words.size()));
  };
  std::string leaves =
      " a=f16[1,4]~" + std::string(pick({"small", "odd5", "quarter"})) + ":" + std::to_string(draw.below(1000));
  std::vector<std::string> steps;
  std::size_t names = 1;
  const auto leaf = [&](const std::string& text) {
    leaves += " " + value_name(names) + "=" + text;
    return value_name(names++);
  };
  const auto seeded = [&](const char* family) { return std::string(family) + ":" + std::to_string(draw.below(1000)); };
  const std::size_t count = 2 + draw.below(7);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string op = pick({"Add", "Sub", "Mul", "Mul", "Max", "Relu", "Clip", "Clip", "MatMul"});
    std::string operands;
    if (op == "Clip") {
      operands = "," + leaf("f16[]~values:" + std::string(pick({"0", "-1", "-0.25", "-6"})) + "@init");
      operands += "," + leaf("f16[]~values:" + std::string(pick({"0.25", "1", "6", "40"})) + "@init");
    } else if (op == "MatMul") {
      operands = "," + leaf("f16[4,4]~" + seeded(pick({"sign", "small", "odd4"})) + "@init");
    } else if (op == "Mul") {
      operands = "," + leaf("f16[]~values:" + std::string(pick({"2", "3", "7", "13", "0.5", "1.25", "-1"})) + "@init");
    } else if (op != "Relu") {
      operands = "," + leaf("f16[1,4]~" + seeded(pick({"sign", "small", "quarter"})) + "@init");
    }
    steps.push_back(op + "(@" + operands + ")");
  }
  std::string all, last = "a";
  for (const std::string& step : steps) {
    const std::string name = value_name(names++);
    all += " " + name + "=" + step;
    all.replace(all.rfind('@'), 1, last);
    last = name;
  }
  return "graph opset=13 ir=8" + leaves + all + " out=" + last;
}

TEST_CASE("No rewriting of an exact graph rounds", "[graphs]") {
  Generator draw(20);
  int exact = 0, rounding = 0, by_one_bit = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::string text = drawn(draw);
    const Result<GraphCase> graph = parse_graph_case(text);
    INFO(text << " " << (graph ? "" : graph.error()));
    REQUIRE(graph);
    const GraphData leaves = leaves_of(*graph, 0);
    const auto [outputs, obstacle, rounded, coarse] = exactness_of(*graph, leaves, 1);
    std::map<std::string, Row> known;
    for (const GraphLeaf& leaf : graph->leaves)
      for (const Float16 each : leaves.find(leaf.name)->second.as<Float16>())
        known[leaf.name].push_back(constant(static_cast<double>(each)));
    for (const GraphStep& step : graph->steps) known[step.results.front()] = expressed(step, known);
    const auto right = outputs.find(graph->outputs.front())->second.as<Float16>();
    bool differs = false;
    for (int trial = 0; trial < 20; ++trial)
      for (std::size_t at = 0; at < 4; ++at) {
        const double got = evaluated(*rewritten(known.at(graph->outputs.front())[at], draw));
        differs |= got != static_cast<double>(right[at]);
      }
    if (obstacle.empty()) CHECK_FALSE(differs);
    exact += obstacle.empty();
    rounding += differs;
    by_one_bit += differs && obstacle.find("may need 12 bits of 11") != std::string::npos;
  }
  CAPTURE(exact, rounding, by_one_bit);
  CHECK(exact > 1000);
  CHECK(rounding > 50);
  CHECK(by_one_bit > 0);  // with a bit less the condition would not do
}

}  // namespace
}  // namespace assay::oracles
