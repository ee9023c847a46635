// SPDX-License-Identifier: Apache-2.0
// Einsum (ai.onnx 12, 28) - https://onnx.ai/onnx/operators/onnx__Einsum.html
//
//   Output[output term] = sum over the labels that the output term lacks of  Inputs_0[term 0] * Inputs_1[term 1] * …
//
// A letter is one extent wherever it stands; twice in a term it walks along the diagonal. An ellipsis stands for axes
// that are broadcast, the last ones together. Where no output term is stated it is the ellipsis, then the letters that
// stand once in all terms, in the order of ASCII.
#include "reference/families/moved.h"
#include "reference/families/products.h"
#include "reference/type_lists.h"

#include <algorithm>
#include <map>
#include <set>

namespace assay {
namespace {

// The letters of a term, and before which of them an ellipsis stands.
struct Term {
  std::string letters;
  std::optional<std::size_t> ellipsis = {};
};

struct Equation {
  std::vector<Term> terms;
  Term output;
  bool states_output = false;
};

Term term_of(std::string text) {
  const std::size_t ellipsis = text.find("...");
  if (ellipsis == std::string::npos) return {std::move(text)};
  return {text.erase(ellipsis, 3), ellipsis};
}

Equation equation_of(const Call& call) {
  std::string text = call.text("equation");
  std::erase(text, ' ');
  Equation out;
  if (const std::size_t arrow = text.find("->"); arrow != std::string::npos) {
    out.output = term_of(text.substr(arrow + 2));
    out.states_output = true;
    text.erase(arrow);
  }
  for (std::size_t comma; (comma = text.find(',')) != std::string::npos; text.erase(0, comma + 1))
    out.terms.push_back(term_of(text.substr(0, comma)));
  out.terms.push_back(term_of(text));
  if (out.states_output) return out;
  std::map<char, int> counts;
  for (const Term& term : out.terms) {
    for (const char letter : term.letters) ++counts[letter];
    if (term.ellipsis) out.output.ellipsis = 0;
  }
  for (const auto& [letter, count] : counts)
    if (count == 1) out.output.letters += letter;
  return out;
}

std::vector<Shape> operands_of(const Call& call) {
  std::vector<Shape> all;
  for (const Parameter& input : call.definition().inputs)
    if (call.has(input.name)) all.push_back(call.shape(input.name));
  return all;
}

// The labels of so many axes: letters, and -1, -2 … from the last on of those that an ellipsis stands for.
using Labels = std::vector<int>;
Labels labels_of(const Term& term, Int axes) {
  Labels all(term.letters.begin(), term.letters.end());
  for (int i = 1; term.ellipsis && std::ssize(all) < axes; ++i)
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(*term.ellipsis), -i);
  return all;
}

Int under_ellipsis(const Term& term, const Shape& shape) { return std::ssize(shape) - std::ssize(term.letters); }

// What an equation makes of operands that fit it.
struct Contraction {
  std::vector<Labels> terms;
  Labels output, summed;
  std::map<int, Int> extents;
  Shape shape;

  explicit Contraction(const Call& call) {
    const Equation equation = equation_of(call);
    const std::vector<Shape> operands = operands_of(call);
    Int most = 0;  // axes under an ellipsis
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Term& term = equation.terms[i];
      terms.push_back(labels_of(term, std::ssize(operands[i])));
      if (term.ellipsis) most = std::max(most, under_ellipsis(term, operands[i]));
      for (std::size_t axis = 0; axis < operands[i].size(); ++axis)
        if (Int& extent = extents.try_emplace(terms[i][axis], 1).first->second; extent == 1) extent = operands[i][axis];
    }
    output = labels_of(equation.output, std::ssize(equation.output.letters) + most);
    for (const int label : output) shape.push_back(extents.at(label));
    for (const auto& [label, extent] : extents)
      if (std::ranges::find(output, label) == output.end()) summed.push_back(label);
  }

  // Where in an operand the positions along these labels lead, row by row, from its first element on.
  Ints places(const Labels& along, std::size_t term, const Shape& operand) const {
    const Ints steps = steps_of(operand);
    Ints all{0};
    for (const int label : along) {
      Int step = 0;
      for (std::size_t axis = 0; axis < operand.size(); ++axis)
        if (terms[term][axis] == label && operand[axis] != 1) step += steps[axis];
      Ints next;
      for (const Int at : all)
        for (Int i = 0; i < extents.at(label); ++i) next.push_back(at + i * step);
      all = std::move(next);
    }
    return all;
  }
};

Shape output_shape(const Call& call) { return Contraction(call).shape; }

// Adds up the products in the order of the labels that are summed over, one rounding per operation.
Values compute(const Call& call, Inputs in) {
  const Contraction contraction(call);
  const std::vector<Shape> operands = operands_of(call);
  std::vector<Ints> first, further;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    first.push_back(contraction.places(contraction.output, i, operands[i]));
    further.push_back(contraction.places(contraction.summed, i, operands[i]));
  }
  Tensor y = Tensor::to_be_written({in[0]->dtype(), contraction.shape});
  for_number(y.dtype(), [&]<class T>() {
    using A = product_t<T>;
    std::vector<std::span<const T>> x;
    for (std::size_t i = 0; i < operands.size(); ++i) x.push_back(in[i]->as<T>());
    for (std::size_t at = 0; at < first[0].size(); ++at) {
      A sum{};
      for (std::size_t k = 0; k < further[0].size(); ++k) {
        A product = static_cast<A>(1);
        for (std::size_t i = 0; i < x.size(); ++i)
          product *= static_cast<A>(x[i][static_cast<std::size_t>(first[i][at] + further[i][k])]);
        sum += product;
      }
      y.as<T>()[at] = finished<T>(sum);
    }
  });
  return y;
}

// -- constraints

bool is_well_formed(const Call& call) {
  const auto is_letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
  const auto has_letters = [&](const Term& term) { return std::ranges::all_of(term.letters, is_letter); };
  const Equation equation = equation_of(call);
  const bool is_blank = call.text("equation").find_first_not_of(' ') == std::string::npos;
  return !is_blank && has_letters(equation.output) && std::ranges::all_of(equation.terms, has_letters);
}

bool has_a_term_each(const Call& call) {
  return !is_well_formed(call) || equation_of(call).terms.size() == operands_of(call).size();
}

// Calls f(term, shape) for every operand; holds where there is not a term for each.
template <class F>
bool each_term(const Call& call, F&& f) {
  if (!is_well_formed(call) || !has_a_term_each(call)) return true;
  const Equation equation = equation_of(call);
  const std::vector<Shape> operands = operands_of(call);
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (!f(equation.terms[i], operands[i])) return false;
  return true;
}

bool has_a_label_each(const Call& call) {
  return each_term(call, [](const Term& term, const Shape& shape) {
    const Int more = under_ellipsis(term, shape);
    return term.ellipsis ? more >= 0 : more == 0;
  });
}

// The extents of all axes of one label, of letters or of those under an ellipsis.
std::map<int, std::set<Int>> extents_of(const Call& call) {
  std::map<int, std::set<Int>> all;
  if (!has_a_label_each(call)) return all;
  each_term(call, [&](const Term& term, const Shape& shape) {
    const Labels labels = labels_of(term, std::ssize(shape));
    for (std::size_t axis = 0; axis < shape.size(); ++axis) all[labels[axis]].insert(shape[axis]);
    return true;
  });
  return all;
}

bool can_be_broadcast(const Call& call) {
  return std::ranges::all_of(extents_of(call),
                             [](const auto& each) { return each.second.size() - each.second.count(1) < 2; });
}

bool has_one_extent_each(const Call& call) {
  return !can_be_broadcast(call) || std::ranges::all_of(extents_of(call), [](const auto& each) {
    return each.first < 0 || each.second.size() < 2;
  });
}

bool has_ellipses_alike(const Call& call) {
  std::set<Int> counts;
  if (has_a_label_each(call))
    each_term(call, [&](const Term& term, const Shape& shape) {
      if (term.ellipsis) counts.insert(under_ellipsis(term, shape));
      return true;
    });
  return counts.size() < 2;
}

bool outputs_labels_once(const Call& call) {
  const Equation equation = equation_of(call);
  if (!is_well_formed(call)) return true;
  const std::string& output = equation.output.letters;
  return std::ranges::all_of(output, [&](char letter) {
    return std::ranges::count(output, letter) == 1 && std::ranges::any_of(equation.terms, [&](auto& term) {
             return std::ranges::count(term.letters, letter) > 0;
           });
  });
}

bool keeps_the_ellipsis(const Call& call) {
  const Equation equation = equation_of(call);
  const auto has_one = [](const Term& term) { return term.ellipsis.has_value(); };
  return !is_well_formed(call) || has_one(equation.output) == std::ranges::any_of(equation.terms, has_one);
}

}  // namespace

// clang-format off
Operator einsum() {
  return Operator("Einsum")
      .variadic("Inputs", "T").output("Output", "T").required_text("equation")
      .require("ES1", "there is a term for each input", has_a_term_each)
      .require("ES2", "a term has a letter for each axis, or an ellipsis for those that have none", has_a_label_each)
      .require("ES3", "axes of one letter have one extent", has_one_extent_each, "W27")
      .require("ES4", "the output has each letter once, and of those alone that terms have", outputs_labels_once)
      .require("ES5", "every ellipsis stands for as many axes", has_ellipses_alike, "W26")
      .require("ES6", "equation is letters, commas, blanks, an ellipsis in a term and one arrow at most", is_well_formed)
      .require("ES7", "the output has an ellipsis where a term has one, and there alone", keeps_the_ellipsis, "W28")
      .require("ES8", "axes of one letter, or of ellipses, can be broadcast together", can_be_broadcast)
      .rulings({"A26", "A29", "W20", "W25", "W26", "W27", "W28"})
      .since(12)
          .type("T", types::all_numeric_types())
      .since(28, "T admits bfloat16")
          .type("T", types::all_numeric_types_ir4())
      .shaping(Shaping::reduced).infer(moved_to(output_shape)).kernel(compute);
}
// clang-format on

}  // namespace assay
