// SPDX-License-Identifier: Apache-2.0
// Sums of 27, 576 and 4,608 terms, one engine with and one without weaker arithmetic. The bounds of levels L2 and wider
// grow with the terms; on exact data they stay points, which is what still tells at any length (numerics 2.4).
#include "generators/values.h"
#include "suites/mutation/kernel_trial.h"
#include "suites/mutation/strength.h"
#include "suites/mutation/variants.h"

#include <sstream>

namespace assay::mutation {
namespace {

using oracles::State;

struct Probe {
  std::string line;
  bool is_dense = false;
};

std::string number(Int value) { return std::to_string(value); }

// 3 x 3 weights over a plane of 4 x 4.
std::string conv_shapes(const std::string& op, const std::string& type, Int terms, const std::string& x,
                        const std::string& w) {
  const std::string channels = number(terms / 9);
  return op + " opset=22 ir=10 X=" + type + "[1," + channels + ",4,4]~" + x + " W=" + type + "[1," + channels +
         ",3,3]~" + w;
}

// The first `values`, then zeros.
std::string sparse(std::string values, Int given, Int count) {
  for (Int i = given; i < count; ++i) values += ",0";
  return "lit:" + values;
}

std::vector<Probe> conv_probes(Int terms) {
  const std::string op = "Conv-22", only = "onehot:" + number(terms / 2);
  const generators::Widths bits = *generators::exact_widths(24, 24, terms);
  const std::string x = "odd" + number(bits.x) + ":1", w = "odd" + number(bits.w) + ":5", third = number(terms / 3);
  const std::string bias = terms == 27    ? "0x1.81p+11"
                           : terms == 576 ? "0x1.81p+13"
                                          : "0x1.81p+15";  // as large as the sums
  return {
      {conv_shapes(op, "f32", terms, x, w)},
      {conv_shapes(op, "f32", terms, "odd24:1", only)},
      {conv_shapes(op, "f32", terms, "subnormal:1", only)},
      {conv_shapes(op, "bf16", terms, "odd6:1", "odd5:5") + " B=bf16[1]~lit:" + bias},
      // Numerics 3.3: 1 + 2^-11 + 2^-30 is a tie once rounded to float.
      {op + " opset=22 ir=10 X=f16[2," + third + ",3]~lit:1,0x1p-11,0x1p-15 W=f16[1," + third + ",3]~" +
       sparse("1,1,0x1p-15", 3, terms)},
      {conv_shapes(op, "f32", terms, "normal:1", "normal:5"), true},
      {conv_shapes(op, "bf16", terms, "normal:1", "normal:5") + " B=bf16[1]~normal:9", true},
      {conv_shapes(op, "f32", terms, "subnormal:1", "sign:5"), true},
  };
}

// A few cells under windows that reach far into counted padding: K taps, a short exact sum, a divisor of K.
std::vector<Probe> pool_probes(Int terms) {
  const Int high = terms == 27 ? 3 : terms == 576 ? 24 : 64, wide = terms / high;
  const std::string window = " kernel_shape=" + number(high) + "," + number(wide);
  const auto padded = [&](const std::string& type, const std::string& x, const std::string& plane = "5,5") {
    return "AveragePool-22 opset=22 ir=10 X=" + type + "[1,1," + plane + "]~" + x + window +
           " pads=" + number(high - 2) + "," + number(wide - 2) + "," + number(high - 2) + "," + number(wide - 2) +
           " strides=" + number((high - 1) / 2) + "," + number((wide - 1) / 2) + " count_include_pad=1";
  };
  const auto filled = [&](const std::string& type, const std::string& x) {
    return "AveragePool-22 opset=22 ir=10 X=" + type + "[1,1," + number(high + 1) + "," + number(wide + 1) + "]~" + x +
           window;
  };
  // K (1 + 2^-11) + 2^-24, over K: a tie once rounded to float.
  std::ostringstream tie;
  tie << "lit:" << terms << ",0x" << std::hex << terms << "p-11,0x1p-24,0";
  return {{padded("f32", "odd24:1")},          {padded("f32", "normal:1")},         {padded("f32", "subnormal:1")},
          {padded("bf16", "normal:1")},        {padded("f16", tie.str(), "2,2")},   {filled("f32", "uniform:1"), true},
          {filled("bf16", "uniform:1"), true}, {filled("f32", "subnormal:1"), true}};
}

std::vector<Probe> qlinear_probes(Int terms) {
  const auto with = [&](const std::string& x, const std::string& w, const std::string& scale) {
    const std::string channels = number(terms / 9);
    return "QLinearConv-10 opset=10 ir=8 x=u8[1," + channels + ",6,6]~" + x +
           " x_scale=f32[]~hold:1 x_zero_point=u8[]~hold:128 w=i8[1," + channels + ",3,3]~" + w +
           " w_scale=f32[]~hold:" + scale + " w_zero_point=i8[]~hold:0 y_scale=f32[]~hold:1 y_zero_point=i8[]~hold:3";
  };
  // Sums of small integers: every fourth is a tie at 1/4, and a little beyond it at (1 + 2^-17)/4.
  return {{with("around128:1", "sign:5", "0x1p-2")},
          {with("around128:1", "sign:5", "0x1.00008p-2")},
          {with("byte:1", "byte:5", terms > 1000 ? "0x1.234568p-13" : "0x1.234568p-11"), true}};
}

std::vector<Probe> deform_probes(Int terms) {
  const auto with = [&](const std::string& type, const std::string& x, const std::string& w, const std::string& off) {
    return conv_shapes("DeformConv-22", type, terms, x, w) + " offset=" + type + "[1,18,2,2]~" + off;
  };
  const std::string only = "onehot:" + number(terms / 2);
  return {{with("bf16", "odd6:1", "odd5:5", "const:0")},
          {with("bf16", "odd6:1", only, "uniform:9")},
          {with("f16", "odd6:1", only, "uniform:9")},
          {with("bf16", "normal:1", "normal:5", "uniform:9"), true}};
}

std::vector<Probe> probes(const std::string& op, Int terms) {
  if (op == "Conv") return conv_probes(terms);
  if (op == "AveragePool") return pool_probes(terms);
  if (op == "QLinearConv") return qlinear_probes(terms);
  return op == "DeformConv" ? deform_probes(terms) : std::vector<Probe>{};
}

// One case of a length, and what the engine is found to keep.
struct Sounded {
  KernelTrial exam;
  bool is_dense = false;
};

int rank(const oracles::Verdict& verdict) {
  return verdict.state == State::fail ? 100 : verdict.level ? static_cast<int>(*verdict.level) : -1;
}

std::string word(const oracles::Verdict& verdict) {
  return verdict.state == State::fail ? "fail" : verdict.level ? std::string(name(*verdict.level)) : "nothing";
}

// The weakest level said, and the strongest it should have been; 0 where there is no difference.
int drop(const oracles::Verdict& right, const oracles::Verdict& said) {
  return rank(said) > rank(right) ? 100 * rank(said) - rank(right) : 0;
}

AccuracyProbe sounded(const Mutant& bug, Int terms, std::vector<Sounded>& cases) {
  AccuracyProbe out{.mutant = &bug, .terms = terms};
  int worst = -1, worst_dense = -1;
  for (Sounded& one : cases) {
    const OpVersion& version = one.exam.tested_case().version;
    const char* way = bug.expected == State::pass ? "f64" : "sequential";
    const oracles::Verdict right = one.exam.mark(one.exam.answer(*variant(way, version)));
    const oracles::Verdict said = one.exam.mark(one.exam.answer(*mutant(bug.id, version)));
    expects(right.level.has_value() && right.state == State::pass, "a sounding passes without the bug");
    int& least = one.is_dense ? worst_dense : worst;
    if (drop(right, said) <= least) continue;
    least = drop(right, said);
    (one.is_dense ? out.dense : out.said) = word(least > 0 ? said : right);
    if (one.is_dense) continue;
    out.right = word(right);
    out.line = line(one.exam.tested_case());
  }
  return out;
}

}  // namespace

std::vector<AccuracyProbe> accuracy_probes(const std::string& mutant) {
  std::vector<AccuracyProbe> list;
  for (const Operator* op : operators())
    for (const Int terms : {Int{27}, Int{576}, Int{4'608}}) {
      std::vector<Sounded> cases;
      for (const Mutant& bug : mutants()) {
        if (bug.op != op->name() || bug.severity != Severity::precision || (!mutant.empty() && bug.id != mutant))
          continue;
        if (cases.empty())
          for (const Probe& probe : probes(op->name(), terms)) {
            Result<Case> c = parse_case(probe.line);
            expects(static_cast<bool>(c), probe.line.substr(0, 200).c_str());
            cases.push_back({KernelTrial(*std::move(c)), probe.is_dense});
          }
        if (!cases.empty()) list.push_back(sounded(bug, terms, cases));
      }
    }
  return list;
}

}  // namespace assay::mutation
