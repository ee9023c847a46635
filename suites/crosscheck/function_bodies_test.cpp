// SPDX-License-Identifier: Apache-2.0
// Function bodies: ONNX's registry writes some operators as graphs of others. ONNX's own library expands the node, our
// kernels of the inner operators compute the graph, and the result is judged as anybody's: a hand that knows nothing of
// the outer operator's kernel or oracle. A body with an inner operator that has no kernel here is listed, not passed.
#include "generators/generators.h"
#include "oracles/exact/enclosure.h"
#include "reference/case_view.h"
#include "reference/onnx_io.h"
#include "reference/onnx_io_message.h"
#include "reference/sequence.h"
#include "reference/testing/run_size.h"
#include "suites/mutation/family.h"
#include "suites/mutation/kernel_trial.h"

#include <catch2/catch.hpp>
#include <onnx/defs/attr_proto_util.h>
#include <onnx/defs/schema.h>

#include <algorithm>
#include <array>
#include <set>

namespace assay::mutation {
namespace {

using oracles::State;

constexpr std::uint64_t seed = 10;

std::uint64_t draws() { return count(600, 5'000); }

// Which kernel an inner operator gets.
using Hands = std::function<Kernel(const Definition&)>;
Kernel own_hand(const Definition& inner) { return inner.kernel; }

using Attributes = std::map<std::string, onnx::AttributeProto>;
using Missing = std::set<std::string>;

bool has_body(const onnx::OpSchema& schema) { return schema.HasFunction() || schema.HasContextDependentFunction(); }

// The opsets from which on a schema has another body.
std::set<int> body_opsets(const onnx::OpSchema& schema) {
  std::set<int> opsets;
  for (const int opset : schema.function_opset_versions()) opsets.insert(opset);
  for (const int opset : schema.context_dependent_function_opset_versions()) opsets.insert(opset);
  return opsets;
}

const onnx::OpSchema* schema_of(const OpVersion& version) {
  return onnx::OpSchemaRegistry::Schema(version.name, version.since_version, version.domain);
}

std::optional<Attribute> attribute_of(const onnx::AttributeProto& proto) {
  switch (proto.type()) {
    case onnx::AttributeProto::INT: return Attribute(Int{proto.i()});
    case onnx::AttributeProto::FLOAT: return Attribute(proto.f());
    case onnx::AttributeProto::STRING: return Attribute(proto.s());
    case onnx::AttributeProto::INTS: return Attribute(Ints(proto.ints().begin(), proto.ints().end()));
    case onnx::AttributeProto::TENSOR: return Attribute(*decode_tensor(proto.t().SerializeAsString()));
    default: return std::nullopt;
  }
}

// The attributes of an inner node; one that refers to an attribute of the outer node has its value, or is left out.
Attributes attributes_of(const onnx::NodeProto& node, const Attributes& outer) {
  Attributes all;
  for (const onnx::AttributeProto& each : node.attribute()) {
    const std::string& from = each.ref_attr_name();
    if (from.empty())
      all[each.name()] = each;
    else if (const auto found = outer.find(from); found != outer.end())
      all[each.name()] = found->second;
  }
  return all;
}

onnx::TypeProto type_of(const Tensor& tensor) {
  onnx::TensorProto as_message;
  REQUIRE(as_message.ParseFromString(encode_tensor(tensor, "")));
  onnx::TypeProto type;
  type.mutable_tensor_type()->set_elem_type(as_message.data_type());
  for (const Int extent : tensor.shape()) type.mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(extent);
  return type;
}

using Given = std::vector<const Tensor*>;  // null where absent or not known
using Made = std::vector<std::optional<Tensor>>;

using Names = std::vector<std::string>;

// What ONNX's library expands a node to at an opset; nothing where it has no body or its types are not known.
// `outputs`: of the node, "" where one is not asked for.
std::optional<onnx::FunctionProto> body_of(const onnx::OpSchema& schema, const std::string& op, const Names& outputs,
                                           const Attributes& attributes, const Given& given, int opset) {
  if (const onnx::FunctionProto* fixed = schema.GetFunction(opset)) return *fixed;
  if (!schema.HasContextDependentFunction()) return std::nullopt;
  onnx::NodeProto node;
  node.set_op_type(op);
  for (const std::string& output : outputs) node.add_output(output);
  std::vector<onnx::TypeProto> types;
  for (const Tensor* each : given) {
    node.add_input(each ? "given_" + std::to_string(types.size()) : "");
    types.push_back(each ? type_of(*each) : onnx::TypeProto());
  }
  for (const auto& [name, value] : attributes) {
    *node.add_attribute() = value;
    node.mutable_attribute()->rbegin()->set_name(name);
  }
  onnx::FunctionProto built;
  const onnx::FunctionBodyBuildContextImpl context(node, types);
  if (!schema.BuildContextDependentFunction(context, built, opset)) return std::nullopt;
  return built;
}

// Computes graphs of inner operators.
class Expansion {
 public:
  explicit Expansion(Hands hands) : hands_(std::move(hands)) {}

  const Missing& missing() const { return missing_; }

  // The outputs of a body; of one with a missing operator some are not known.
  Made run(const onnx::FunctionProto& body, const Attributes& outer, const Given& given, int opset) {
    std::map<std::string, Tensor> values;
    for (std::size_t i = 0; i < given.size() && i < static_cast<std::size_t>(body.input_size()); ++i)
      if (given[i]) values[body.input(static_cast<int>(i))] = *given[i];
    for (const onnx::NodeProto& node : body.node()) {
      Given inputs;
      for (const std::string& name : node.input()) inputs.push_back(values.contains(name) ? &values[name] : nullptr);
      Made made = result(node, attributes_of(node, outer), inputs, opset);
      for (std::size_t i = 0; i < made.size(); ++i)
        if (made[i]) values[node.output(static_cast<int>(i))] = *std::move(made[i]);
    }
    Made outputs;
    for (const std::string& name : body.output())
      outputs.push_back(values.contains(name) ? std::optional(values[name]) : std::nullopt);
    return outputs;
  }

 private:
  Made result(const onnx::NodeProto& node, const Attributes& attributes, const Given& given, int opset) {
    if (node.op_type() == "Constant") return {constant(attributes)};
    const Operator* const op = find_operator(node.domain(), node.op_type());
    const Definition* const inner = op ? op->at(opset) : nullptr;
    const bool is_known =
        std::ranges::count(given, nullptr) == std::ranges::count(node.input(), std::string());  // but for absent ones
    if (inner) return is_known ? computed(*inner, node, attributes, given) : Made{};
    const onnx::OpSchema* const schema = onnx::OpSchemaRegistry::Schema(node.op_type(), opset, node.domain());
    REQUIRE(schema);
    if (is_known && has_body(*schema))
      if (const auto body =
              body_of(*schema, node.op_type(), {node.output().begin(), node.output().end()}, attributes, given, opset))
        return run(*body, attributes, given, opset);
    missing_.insert(node.op_type());
    return {};
  }

  static Tensor constant(const Attributes& attributes) {
    REQUIRE(attributes.size() == 1);
    const auto& [name, proto] = *attributes.begin();
    INFO(name);
    const std::optional<Attribute> value = attribute_of(proto);
    REQUIRE(value);
    if (const auto* const given = std::get_if<Tensor>(&*value)) return *given;
    const auto* const list = std::get_if<Ints>(&*value);
    Tensor tensor(std::get_if<float>(&*value) ? TensorType{DType::f32, {}}
                                              : TensorType{DType::i64, list ? Shape{Int(list->size())} : Shape{}});
    if (const auto* real = std::get_if<float>(&*value)) tensor.as<float>()[0] = *real;
    if (const auto* integer = std::get_if<Int>(&*value)) tensor.as<Int>()[0] = *integer;
    if (list) std::ranges::copy(*list, tensor.as<Int>().begin());
    return tensor;
  }

  Made computed(const Definition& inner, const onnx::NodeProto& node, const Attributes& attributes,
                const Given& given) const {
    Node written;
    for (std::size_t i = 0; i < given.size(); ++i)
      given[i] ? written.value(inner.inputs.at(i), *given[i]) : written.empty_input(inner.inputs.at(i).name);
    for (const auto& [name, proto] : attributes) {
      const std::optional<Attribute> value = attribute_of(proto);
      REQUIRE(value);
      written.attribute(name, *value);
    }
    for (std::size_t i = 0; i < inner.outputs.size() && i < static_cast<std::size_t>(node.output_size()); ++i)
      if (inner.outputs[i].arity != Arity::required && !node.output(static_cast<int>(i)).empty())
        written.output(inner.outputs[i].name);
    const Call call(inner, std::move(written));
    if (!inner.violated(call).empty()) return {};  // Clip-13 of bfloat16 by Where-9, which does not admit it
    Given all = given;
    all.resize(inner.inputs.size(), nullptr);
    Values values = hands_(inner)(call, all);
    return Made(std::make_move_iterator(values.begin()), std::make_move_iterator(values.end()));
  }

  Hands hands_;
  Missing missing_;
};

// The attributes of a call, defaults written out: what a body refers to.
Attributes attributes_of(const Call& call) {
  Attributes all;
  const auto set = [&](const std::string& name, const Attribute& value) {
    all[name] = std::visit(
        [&]<class T>(const T& each) {
          if constexpr (std::is_same_v<T, Tensor>)
            return onnx::MakeAttribute(name, messages::proto_of(each, name));
          else
            return onnx::MakeAttribute(name, each);
        },
        value);
  };
  for (const AttributeSpec& spec : call.definition().attributes)
    if (spec.value || spec.derived) set(spec.name, spec.value ? *spec.value : Attribute(spec.derived(call)));
  for (const auto& [name, value] : call.node().attributes) set(name, value);
  return all;
}

Made expanded(const Call& call, Inputs in, int opset, Expansion& expansion) {
  const onnx::OpSchema& schema = *schema_of(call.definition().version);
  const Attributes attributes = attributes_of(call);
  const Given given(in.begin(), in.end());
  const std::vector<Parameter>& outputs = call.definition().outputs;
  Names requested;
  for (const Parameter& output : outputs) requested.push_back(call.requests(output.name) ? output.name : "");
  while (!requested.empty() && requested.back().empty()) requested.pop_back();
  const auto body = body_of(schema, call.definition().version.name, requested, attributes, given, opset);
  Made made = body ? expansion.run(*body, attributes, given, opset) : Made{};
  for (std::size_t i = 0; i < made.size() && i < outputs.size(); ++i)
    if (!call.requests(outputs[i].name)) made[i].reset();
  return made;
}

// The body as a kernel, for one whose inner operators all have kernels.
Kernel body_kernel(int opset, const Hands& hands) {
  return [=](const Call& call, Inputs in) {
    Expansion expansion(hands);
    Made made = expanded(call, in, opset, expansion);
    Values values;
    std::ranges::move(made, std::back_inserter(values));
    return values;
  };
}

Case tested_case(const Definition& definition, std::uint64_t index) {
  std::vector<DType> types = definition.types_of(definition.data().type);
  if (definition.ruling("N50")) types = {DType::f32};  // which alone its body is of
  return generators::legal(definition, types[index % types.size()], seed, index / types.size());
}

// The inner operators without a kernel, as one case meets them.
Missing missing_in(const Definition& definition, int opset) {
  const Case c = tested_case(definition, 0);
  const oracles::Operands data = operands(c, 0);
  Expansion expansion(own_hand);
  expanded(c.call(), views(data), opset, expansion);
  return expansion.missing();
}

// One body of one of our operator versions.
struct Body {
  const Definition* definition;
  int opset;
  Missing missing;
};

const std::vector<Body>& bodies() {
  static const std::vector<Body> all = [] {
    std::vector<Body> list;
    for (const Operator* op : operators())
      for (const Definition& definition : op->versions()) {
        const onnx::OpSchema* const schema = schema_of(definition.version);
        if (!schema || !has_body(*schema)) continue;
        for (const int opset : body_opsets(*schema))
          list.push_back({&definition, opset, missing_in(definition, opset)});
      }
    return list;
  }();
  return all;
}

std::string listed(const Missing& words) {
  return joined(words, "", [](const std::string& word) { return " " + word; });
}

// Tells whether Scale or B of LayerNormalization has other axes than the normalized ones, to all of which the text
// broadcasts it: the body lays it out along the normalized ones, and computes something else.
bool has_other_axes(const Case& c) {
  if (c.version.name != "LayerNormalization") return false;
  const Call call = c.call();
  const Int axis = (call.integer("axis") + call.rank("X")) % call.rank("X");
  return std::ranges::any_of(std::array{"Scale", "B"}, [&](const char* name) {
    if (!call.has(name)) return false;
    const Shape shape = call.shape(name);
    const Int others = std::max<Int>(0, std::ssize(shape) - (call.rank("X") - axis));
    return std::ranges::any_of(shape.begin(), shape.begin() + others, [](Int extent) { return extent != 1; });
  });
}

// A body is as right as the prose: it passes, or follows another reading that is named after it. Below the level, never
// wrong, is that of f16 and bf16 every operation rounds to the type, and that an inner one overflows (elementwise 2.4).
bool is_admitted(const oracles::Verdict& verdict, const Case& c) {
  const DType type = c.definition().type_of(c.call(), c.definition().data());
  const bool is_narrow = type == DType::f16 || type == DType::bf16;
  const auto is_of_the_body = [&](const auto& departure) {
    return departure.second == "body" || departure.second == "body-constants" ||
           departure.second == "cast-attributes" || departure.second == "f32-body" ||
           departure.second == "function-body";
  };
  if (verdict.state == State::contested) return std::ranges::any_of(verdict.readings.departures(), is_of_the_body);
  const bool overflows = verdict.detail.find("overflow of an intermediate") != std::string::npos;
  const bool is_in_f32 = c.definition().ruling("N5") && type == DType::f64;  // as the body of ReduceL2 says
  // The body of ReduceLogSumExp subtracts no maximum: `below` where an exponential overflows or vanishes
  // (reductions 3.4).
  const bool is_unshifted = c.definition().ruling("N47") && verdict.detail.ends_with("no maximum subtracted");
  return verdict.state == State::pass || verdict.state == State::unscored ||
         (verdict.state == State::below && (is_narrow || overflows || is_unshifted || is_in_f32));
}

TEST_CASE("Function bodies: what ONNX expands an operator to lies within the oracle's bound", "[function-bodies]") {
  std::set<OpVersion> with_body, compared;
  Missing missing;
  const std::uint64_t most = thinned(draws());
  std::size_t cases = 0;
  std::string report;
  for (const Body& body : bodies()) {
    const OpVersion& version = body.definition->version;
    with_body.insert(version);
    missing.insert(body.missing.begin(), body.missing.end());
    report += "\n" + text(version) + ", body of opset " + std::to_string(body.opset) + ": ";
    if (!body.missing.empty()) {
      report += "not comparable without" + listed(body.missing);
      continue;
    }
    std::size_t passed = 0, illegal = 0, integers = 0;
    for (std::uint64_t index = 0; index < most; ++index) {
      const Case c = tested_case(*body.definition, index);
      if (version.name == "ReduceLogSum" && is_integer(c.call().type("data").dtype)) {  // its Log is of floats (N8)
        ++integers;
        continue;
      }
      KernelTrial exam(c);
      const oracles::Outcome outcome = exam.answer(body_kernel(body.opset, own_hand));
      // Of a type or a shape that an inner operator does not admit: Shrink of u8 by Neg, a Scale of all axes by Mul.
      if (outcome.sets.at(0).size() < c.call().requested_outputs().size()) {
        ++illegal;
        continue;
      }
      const oracles::Verdict& verdict = exam.mark(outcome);
      INFO(line(exam.tested_case()) << "\n" << verdict.because << ": " << verdict.detail);
      if (!has_other_axes(c)) CHECK(is_admitted(verdict, exam.tested_case()));
      passed += verdict.state == State::pass;
    }
    CHECK(passed > (most - illegal - integers) / 3);
    CHECK(illegal < 2 * most / 3);  // Attention's adds masks of one type to scores of another
    illegal += integers;
    compared.insert(version);
    cases += most;
    report += std::to_string(most) + " cases, " + std::to_string(passed) + " pass and the others show nothing" +
              (illegal == 0 ? "" : ", but for " + std::to_string(illegal) + " that the body does not admit");
  }
  // Their bodies are of comparisons and logic alone.
  for (const char* op : {"GreaterOrEqual", "LessOrEqual"})
    for (const int since : {12, 16}) CHECK(compared.contains({"", op, since}));
  std::size_t versions = 0, registered = 0;
  for (const Operator* op : operators()) versions += op->versions().size();
  for (const onnx::OpSchema& schema : onnx::OpSchemaRegistry::get_all_schemas_with_history())
    registered += has_body(schema);
  WARN(with_body.size() << " of our " << versions << " versions have a body, of " << registered << " in the registry; "
                        << compared.size() << " compared over " << cases
                        << " cases; inner operators without a kernel:" << listed(missing) << report);
}

// The inner operators of a body that have all their kernels, as its cases meet them.
std::set<OpVersion> inner_operators(const Body& body) {
  std::set<OpVersion> inner;
  const Hands noting = [&](const Definition& each) {
    inner.insert(each.version);
    return each.kernel;
  };
  KernelTrial(tested_case(*body.definition, 0)).answer(body_kernel(body.opset, noting));
  return inner;
}

State worst_with(const Body& body, const Hands& hands) {
  State worst = State::pass;
  for (std::uint64_t index = 0; index < draws() && worst != State::fail; ++index) {
    KernelTrial exam(tested_case(*body.definition, index));
    const State state = exam.mark(exam.answer(body_kernel(body.opset, hands))).state;
    if (weight(state) > weight(worst)) worst = state;
  }
  return worst;
}

TEST_CASE("Function bodies: a bug planted in an inner operator is a fail of the outer one", "[function-bodies]") {
  std::size_t planted = 0;
  for (const Body& body : bodies()) {
    if (!body.missing.empty()) continue;
    const std::vector<Parameter>& inputs = body.definition->inputs;
    const bool is_of_a_length = inputs.size() == 1 && !inputs.front().reads_as.empty();
    if (is_of_a_length || body.definition->ruling("G20")) continue;  // or of chance
    const bool is_moved = body.definition->shaping == Shaping::moved;
    for (const OpVersion& inner : inner_operators(body)) {
      if (inner.name == "CastLike" || inner.name == "Sqrt") continue;  // of constants, which these bugs do not change
      if (inner.name == "ReduceMax") continue;                         // any shift of the logits is as right, or below
      if (is_moved && inner.name != "Reshape" && inner.name != "Transpose") continue;  // of shapes, not of the data
      for (const char* const bug : {"-leaves-last", "-repeats-first", "-ignores-data"}) {
        // Of scalars, which are first and last.
        if (body.definition->version.name == "DynamicQuantizeLinear" && bug != std::string_view("-ignores-data"))
          continue;
        const std::optional<Kernel> planted_kernel = mutant(lower(inner.name) + bug, inner);
        if (!planted_kernel) continue;
        const Hands hands = [&](const Definition& each) {
          return each.version == inner ? *planted_kernel : each.kernel;
        };
        INFO(text(body.definition->version) << ", of opset " << body.opset << ": " << inner.name << bug);
        CHECK(worst_with(body, hands) == State::fail);
        ++planted;
      }
    }
  }
  CHECK(planted >= 36);  // three defects of three inner operators of four bodies
}

// Tells whether a kernel and a body give different bits for any of the cases.
bool differ(const Kernel& kernel, const Body& body) {
  for (std::uint64_t index = 0; index < draws(); ++index) {
    const KernelTrial exam(tested_case(*body.definition, index));
    const oracles::Outcome expanded = exam.answer(body_kernel(body.opset, own_hand));
    if (!expanded.sets.at(0).empty() && exam.answer(kernel).sets != expanded.sets) return true;
  }
  return false;
}

TEST_CASE("Function bodies: where nothing rounds, a kernel gives the bits of its body and no planted bug does",
          "[function-bodies]") {
  std::size_t told = 0, number = 0;
  for (const Body& body : bodies()) {
    const Definition& definition = *body.definition;
    if (!body.missing.empty() || oracles::oracle_of(definition.version).rounds) continue;
    INFO(text(definition.version));
    CHECK_FALSE(differ(definition.kernel, body));
    for (const Mutant& bug : mutants()) {
      if (bug.op != definition.version.name || bug.severity != Severity::semantic || number++ % one_in() != 0) continue;
      INFO(bug.id);
      CHECK(differ(*mutant(bug.id, definition.version), body));
      ++told;
    }
  }
  CHECK(told >= 60 / one_in());
}

}  // namespace
}  // namespace assay::mutation
