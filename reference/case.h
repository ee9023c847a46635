// SPDX-License-Identifier: Apache-2.0
// Case: one node with its data, as one line of text. Nothing outside the line changes the model or the data.
//
//   AveragePool-19 opset=19 ir=8 X=f32[1,1,1,4]~small:7 kernel_shape=1,3 pads=0,1,0,1 strides=1,2 ceil_mode=1
//   Conv-22 opset=22 ir=10 X=bf16[1,2,5]~odd5:1 W=bf16[2,2,3]~sign:2@init B="" auto_pad=SAME_UPPER shapes=symbolic
//
// Tokens are separated by one space: the operator version, the model's opset and IR version, the inputs in schema
// order, the attributes written on the node in schema order, the optional outputs asked for (outputs=Indices), the
// presentation. An input whose data the call reads has them written out: shape=i64[2]~values:-1,0. So has an attribute
// that is a tensor: value=f32[1]~values:0.5. A list without entries is [].
#pragma once

#include "reference/call.h"
#include "reference/operator.h"
#include "reference/recipe.h"

#include <string>
#include <string_view>
#include <vector>

namespace assay {

// How the model declares the extents of its graph inputs: by numbers, by symbols, or not at all. Their rank is always
// declared: graph inputs are required to have a shape (onnx/docs/IR.md, "Graphs").
enum class DeclaredShapes { fixed, symbolic, absent };

// A given input that is an initializer is a constant of the model; the others are graph inputs.
struct Source {
  Recipe recipe;
  bool initializer = false;
  bool operator==(const Source&) const = default;
};

struct Case {
  OpVersion version;
  int opset = 1, ir_version = 8;
  Node node;
  std::map<std::string, Source, std::less<>> sources;  // one per given input
  DeclaredShapes declared = DeclaredShapes::fixed;

  Case();
  Case(const Case&);
  Case(Case&&) noexcept;
  Case& operator=(const Case&);
  Case& operator=(Case&&) noexcept;
  ~Case();
  bool operator==(const Case&) const;

  const Definition& definition() const;
  Call call() const;  // with the data of the inputs that it reads
  // Tells whether the model is legal: a near miss breaks a constraint of its version.
  bool is_legal() const { return definition().violated(call()).empty(); }
};

// The canonical line; two cases are the same exactly when their lines are.
std::string line(const Case& c);
std::string attribute_text(const Attribute& attribute);  // as the line has it
std::string source_text(const TensorType& type, const Source& source);
Result<Case> parse_case(std::string_view line);

// The first 128 bits of SHA-256 of the line, in hexadecimal.
std::string case_id(std::string_view line);
std::string sha256(std::string_view bytes);  // hexadecimal

// Every model runs on `data_sets` sets of data in one session, so a stale buffer shows.
inline constexpr int data_sets = 2;
// Initializers hold the same data in every set.
Operands operands(const Case& c, int set);
bool has_nonfinite_data(const Case& c);  // as far as its recipes tell
// Of every set.
std::vector<Operands> all_operands(const Case& c);

}  // namespace assay
