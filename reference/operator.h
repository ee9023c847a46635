// SPDX-License-Identifier: Apache-2.0
// The definition language. One Operator is one readable text: what every version takes, demands and means. A `since`
// block states what changed from that version on; everything above it is inherited.
//
//   Operator("Conv").input("X", "T").attribute("group", 1)
//       .require("C3", "dim(X,1) = dim(W,1) * group", [](const Call& c) { … })
//       .since(1).type("T", {f16, f32, f64})
//       .since(22, "T admits bfloat16").type("T", {bf16, f16, f32, f64})
//       .shape(output_shape).kernel(compute).fast(compute_fast);
#pragma once

#include "reference/call.h"
#include "reference/rulings.h"

#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Repeated: one more of a variadic input, there only where all before it are.
enum class Arity { required, optional, repeated };

struct Parameter {
  std::string name, type;  // type: the variable of the type constraint, "T", or a type itself, "i64"
  Arity arity = Arity::required;
  // Of an input whose data the call reads: the name it reads them by, that of the attribute in versions that have one.
  std::string reads_as = {};
  // Of an output: the attribute that names its type.
  std::string typed_by = {};
};

// Computes a default that depends on the call, for attributes whose schema has none: ones(rank) and the like.
using Derived = std::function<Ints(const Call&)>;

struct AttributeSpec {
  enum class Kind { integer, real, text, ints, reals, texts, tensor };  // in the order of Attribute's alternatives
  std::string name;
  Kind kind = Kind::ints;
  bool required = false;
  std::optional<Attribute> value;       // the default the schema states
  Derived derived;                      // the default the text states
  std::vector<std::string> words = {};  // of text: those that are legal, where a constraint lists them
};

// A condition every legal call meets. Predicates are total: they may be checked on any call that has the required
// inputs, and hold where a more basic constraint is the one that is broken.
struct Constraint {
  std::string id, text;  // "C6"; reports write "Conv.C6"
  std::function<bool(const Call&)> holds;
  std::string ruling;  // if not empty: another reading of this ruling lifts the constraint
  // If any, it is checked on the call that this gives, the one the operator's own call stands for.
  Call (*stands_for)(const Call&) = nullptr;
};

struct RulingUse {
  std::string id;
  std::vector<std::string_view> readings;  // admissible in this version, the ruling first
  std::string note;
};

struct TypeVariable {
  std::string name;
  std::vector<DType> types;
};

// How the shapes of an operator's inputs belong together; what generic services know of it is a family
// (generators/family.h).
enum class Shaping {
  one,         // an element of the one input makes an element of the output
  broadcast,   // elements of several inputs make one of the output, repeated along axes where they are fewer
  moved,       // elements of the first input stand elsewhere in the output, by what attributes and parameters say
  window,      // windows slide over the spatial axes of N x C x D1 … Dr
  transposed,  // windows slide over the spatial axes of the output
  axis,        // lines along the axis that an attribute names, each by itself
  reduced,     // the elements along some axes of the first input make one of the output
  normalized,  // each element of the first input is measured by those around it
  product,     // rows of the first input meet columns of the second
};

// Of every output in schema order; empty where it is not asked for.
using Types = std::vector<std::optional<TensorType>>;
struct Values : std::vector<std::optional<Tensor>> {
  using vector::vector;
  Values(Tensor only) { emplace_back(std::move(only)); }
  std::vector<Tensor> requested() &&;  // those that are there
  Tensor only() &&;                    // of an operator with one output
};

// Works out the types of the outputs of a legal call.
using Inference = std::function<Types(const Call&)>;
using ShapeFunction = std::function<Shape(const Call&)>;
// Inputs in schema order, null where absent. Reads the call's rulings as ruled.
using Inputs = std::span<const Tensor* const>;
using Kernel = std::function<Values(const Call&, Inputs)>;
// The same to the bit, faster, on so many threads at most.
using FastKernel = std::function<Values(const Call&, Inputs, int threads)>;

// One version of one operator, everything inherited. Like Operator, Node and Tensor it is copied in its own file, so
// that those that use it compile in two thirds of the time.
struct Definition {
  OpVersion version;
  std::string change;  // what this version says is new
  std::vector<Parameter> inputs, outputs;
  std::vector<AttributeSpec> attributes;
  std::vector<Constraint> constraints;
  std::vector<RulingUse> rulings;
  std::vector<TypeVariable> types;
  Shaping shaping = Shaping::one;
  bool flattens = false;  // of `axis`: all axes from the named one on make one line together
  Inference infer;
  std::function<DType(const Call&)> typed;  // of the first output, where neither a variable nor an attribute says it
  bool keeps_rank = false;                  // every output has the rank of the first input
  Kernel kernel;                            // the naive loop: the specification
  FastKernel fast;                          // through the engine (engine.h)

  Definition();
  Definition(const Definition&);
  Definition(Definition&&) noexcept;
  Definition& operator=(const Definition&);
  Definition& operator=(Definition&&) noexcept;
  ~Definition();

  Shape shape(const Call& legal) const;  // of the first output
  std::vector<TensorType> requested_types(const Call& legal) const;
  // The type of an output: what its attribute names, or that of the inputs that share its variable.
  DType type_of(const Call& call, const Parameter& output) const;
  // The input that a case has its type from: the first that may be of several, else the first.
  const Parameter& data() const;
  // Tells whether the elements of an input make those of the output; where one input is mapped, others lend a type.
  bool counts(std::string_view input) const { return shaping != Shaping::one || input == inputs.front().name; }
  const AttributeSpec* attribute(std::string_view name) const;
  const Parameter* input(std::string_view name) const;
  const Parameter* output(std::string_view name) const;
  bool is_variadic() const { return !inputs.empty() && inputs.back().arity == Arity::repeated; }
  const RulingUse* ruling(std::string_view id) const;
  const std::vector<DType>& types_of(std::string_view variable) const;
  std::vector<std::string> type_names() const;  // of every variable
  const Constraint* constraint(std::string_view id) const;
  // Ids of the constraints the call breaks, under the given readings. Empty: the call is legal. The ones every
  // operator has come first, and where one of them is broken the others are not checked:
  //   G1 every required input and attribute is there      G2 no input or attribute this version does not have
  //   G3 every attribute is of its kind                    G4 types are admitted, and equal where the variable is
  std::vector<std::string> violated(const Call& call, const Readings& readings = {}) const;
  // Tells whether `violated` is that one constraint; checked on it first, so that most calls are told apart at once.
  bool breaks_only(const Call& call, std::string_view constraint) const;
};

// The type that an attribute names, by its number or, in the first opset, by its name in TensorProto.DataType, or that
// a tensor has; none where it names none.
std::optional<DType> type_named_by(const Call& call, const std::string& attribute);

// G1 … G4, which every operator has.
const std::vector<Constraint>& general_constraints();

class Operator {
 public:
  explicit Operator(std::string_view name, std::string_view domain = "");
  Operator(const Operator&);
  Operator(Operator&&) noexcept;
  Operator& operator=(const Operator&);
  Operator& operator=(Operator&&) noexcept;
  ~Operator();

  // Adds an input or, where the version before has one of that name, says it anew.
  Operator& input(std::string_view name, std::string_view type, Arity arity = Arity::required);
  // Adds as many inputs as there are elements of a list, at least one: data_0, data_1 … up to data_7, where the
  // standard has no end.
  Operator& variadic(std::string_view name, std::string_view type);
  // An input that Call::integer, ints and the like read as they would an attribute called `reads_as`.
  Operator& parameter(std::string_view name, std::string_view type, std::string_view reads_as,
                      Arity arity = Arity::required);
  Operator& output(std::string_view name, std::string_view type, Arity arity = Arity::required);
  // An output whose type an attribute names (type_named_by).
  Operator& output_typed_by(std::string_view attribute, std::string_view name, std::string_view type);
  Operator& attribute(std::string_view name, int value);
  Operator& attribute(std::string_view name, float value);
  Operator& attribute(std::string_view name, const char* value);
  // One of several words: the first by default, or one that is required. A constraint of that id demands it.
  Operator& word(std::string_view name, std::vector<std::string> words, std::string_view constraint);
  Operator& required_word(std::string_view name, std::vector<std::string> words, std::string_view constraint);
  Operator& optional_word(std::string_view name, std::vector<std::string> words,
                          std::string_view constraint);         // no default
  Operator& attribute(std::string_view name, Derived derived);  // ints, no default in the schema
  Operator& required_integer(std::string_view name);
  Operator& required_ints(std::string_view name);
  Operator& required_text(std::string_view name);
  Operator& optional_int(std::string_view name);  // without a default
  Operator& optional_real(std::string_view name);
  Operator& optional_ints(std::string_view name);
  // Of any kind, without a default.
  Operator& required_attribute(std::string_view name, AttributeSpec::Kind kind);
  Operator& optional_attribute(std::string_view name, AttributeSpec::Kind kind);
  Operator& require(std::string_view id, std::string_view text, std::function<bool(const Call&)> holds,
                    std::string_view ruling = "");
  Operator& require(Constraint constraint);
  // Other readings of the ruling lift the constraint.
  Operator& lifted(std::string_view id, std::string_view ruling);
  // Constraints several operators share, under their own ids.
  Operator& with(const std::function<void(Operator&)>& constraints);
  // The ruling matters from here on; `readings` are the admissible ones, the ruling first.
  Operator& ruling(std::string_view id, std::vector<std::string_view> readings = {}, std::string_view note = "");
  // Several rulings with all their readings.
  Operator& rulings(std::initializer_list<const char*> ids);
  Operator& settled(std::string_view id);  // this version's text settles the ruling
  Operator& type(std::string_view variable, std::initializer_list<DType> types);
  Operator& type(std::string_view variable, std::vector<DType> types);
  Operator& since(int version, std::string_view change = "");
  // Takes back what the version before has: an attribute, an input, an output, a constraint or a type variable.
  Operator& without(std::string_view name);
  Operator& shaping(Shaping shaping);
  Operator& flattens(bool flattens);  // from this version on
  Operator& infer(Inference infer);
  Operator& typed(std::function<DType(const Call&)> typed);
  Operator& shape(ShapeFunction shape);  // of the one output, of as many axes as the first input
  Operator& kernel(Kernel kernel);
  Operator& fast(FastKernel kernel);

  const std::string& name() const { return name_; }
  const std::string& domain() const { return domain_; }
  // One per since_version, ascending.
  const std::vector<Definition>& versions() const { return versions_; }
  // The version in force at an opset; null before the first.
  const Definition* at(int opset) const;
  // Every attribute of any version, in the order in which versions bring them.
  std::vector<const AttributeSpec*> attributes_ever() const;

  Call call(int since_version, Node node) const;
  std::vector<std::string> violated(const Node& node, int since_version, const Readings& readings = {}) const;

 private:
  Definition& current();  // the block being written
  Operator& one_of(AttributeSpec spec, std::string_view constraint);
  template <class F>
  Operator& everywhere(F&& f);
  std::string name_, domain_;
  Definition base_;
  std::vector<Definition> versions_;
};

// Defaults the text states.
Ints ones(const Call& call);            // one per spatial axis of the first input
Ints zeros(const Call& call);           // two per spatial axis
Derived extents_of(std::string input);  // the spatial extents of an input

const std::vector<const Operator*>& operators();
const Operator* find_operator(std::string_view domain, std::string_view name);
const Definition* find_definition(const OpVersion& version);
// The opset at which the next version of the operator takes over; one beyond the newest opset of its domain for the
// newest version.
int end_opset(const OpVersion& version);
inline constexpr std::string_view standard_release = "1.23.2";
inline constexpr int newest_opset = 28;        // of ai.onnx in that release of ONNX
int newest_opset_of(std::string_view domain);  // com.microsoft has opset 1
// Where its text stands on the web.
std::string page_of(const OpVersion& version);

}  // namespace assay
