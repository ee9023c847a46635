// SPDX-License-Identifier: Apache-2.0
// Einsum: one to five terms of letters in either case, some twice, and ellipses before, among and behind them that
// stand for no axis up to three, broadcast or not; outputs in any order, or none stated.
#include "generators/draw.h"
#include "generators/families/elementwise.h"
#include "generators/parameters.h"
#include "generators/values.h"
#include "reference/line_words.h"
#include "reference/operator.h"
#include "reference/sequence.h"

#include <algorithm>
#include <map>
#include <set>

namespace assay::generators {
namespace {

// Holds an equation without blanks; a dot in a term stands for an ellipsis.
struct Draft {
  Names terms;
  std::optional<std::string> output;
};

std::string with_ellipsis(std::string term) {
  const std::size_t dot = term.find('.');
  return dot == std::string::npos ? term : term.replace(dot, 1, "...");
}
std::string with_dot(std::string term) {
  const std::size_t dots = term.find("...");
  return dots == std::string::npos ? term : term.replace(dots, 3, ".");
}

void write(Case& c, const Draft& draft) {
  const std::string output = draft.output ? "->" + with_ellipsis(*draft.output) : "";
  c.node.attribute("equation", joined(draft.terms, ",", with_ellipsis) + output);
}

std::optional<Draft> draft_of(const Case& c) {
  const auto stated = c.node.attributes.find("equation");
  if (stated == c.node.attributes.end()) return std::nullopt;
  std::string text = std::get<std::string>(stated->second);
  std::erase(text, ' ');
  Draft out;
  if (const std::size_t arrow = text.find("->"); arrow != std::string::npos) {
    out.output = with_dot(text.substr(arrow + 2));
    text.erase(arrow);
  }
  for (const std::string_view term : parts_of(text)) out.terms.push_back(with_dot(std::string(term)));
  return out;
}

bool has_dot(const std::string& term) { return term.find('.') != std::string::npos; }
bool has(const std::string& term, char label) { return term.find(label) != std::string::npos; }
Int under_dot(const std::string& term, const Shape& shape) { return std::ssize(shape) - std::ssize(term) + 1; }

// Returns a label for each axis: digits for those under an ellipsis, 9 for the last. Fewer where the term does not fit.
std::string labels_of(const std::string& term, const Shape& shape) {
  if (!has_dot(term)) return term;
  const auto under = static_cast<std::size_t>(std::clamp<Int>(under_dot(term, shape), 0, 10));
  return std::string(term).replace(term.find('.'), 1, std::string("0123456789").substr(10 - under));
}

std::map<char, Int> extents_of(const Case& c, const Draft& draft) {
  std::map<char, Int> all;
  const Names inputs = inputs_of(c);
  for (std::size_t i = 0; i < std::min(inputs.size(), draft.terms.size()); ++i) {
    const Shape& shape = shape_of(c, inputs[i]);
    const std::string labels = labels_of(draft.terms[i], shape);
    for (std::size_t axis = 0; axis < std::min(labels.size(), shape.size()); ++axis)
      if (Int& extent = all.try_emplace(labels[axis], 1).first->second; extent == 1) extent = shape[axis];
  }
  return all;
}

Int cost_of(const Case& c) {
  const std::optional<Draft> draft = draft_of(c);
  Int all = static_cast<Int>(draft->terms.size());
  for (const auto& [label, extent] : extents_of(c, *draft)) all *= extent;
  return all;
}

// -- drawing

std::string shuffled(std::string text) {
  for (std::size_t i = text.size(); i > 1; --i)
    std::swap(text[i - 1], text[static_cast<std::size_t>(between(0, static_cast<Int>(i) - 1))]);
  return text;
}

void insert_anywhere(std::string& term, char label) { term.insert(term.begin() + between(0, std::ssize(term)), label); }

// Draws the first term, for a shape of which an axis may become as long as another: they are a diagonal.
std::string draw_first(Shape& shape, std::string& unused, bool has_ellipsis) {
  const Int axes = std::ssize(shape), under = has_ellipsis ? between(0, std::min<Int>(axes, 3)) : 0;
  std::string term = unused.substr(0, static_cast<std::size_t>(axes - under));
  unused.erase(0, term.size());
  const std::size_t dot = static_cast<std::size_t>(between(0, std::ssize(term)));
  if (term.size() > 1 && chance(15)) {
    const auto axis_of = [&](std::size_t letter) {
      return letter + (letter < dot ? 0 : static_cast<std::size_t>(under));
    };
    const std::size_t last = term.size() - 1, other = static_cast<std::size_t>(between(0, std::ssize(term) - 2));
    term[last] = term[other];
    shape[axis_of(last)] = shape[axis_of(other)];
  }
  if (has_ellipsis) term.insert(dot, 1, '.');
  return term;
}

// Draws a further term: letters that there are, and others.
std::string draw_term(const std::map<char, Int>& extents, std::string& unused, bool has_ellipsis) {
  std::string term;
  for (const auto& [label, extent] : extents)
    if (label > '9' && chance(50)) term += label;
  for (Int more = weighted<Int>({{45, 0}, {45, 1}, {10, 2}}); more > 0 && !unused.empty(); --more) {
    term += unused.back();
    unused.pop_back();
  }
  if (!term.empty() && chance(8)) term += term.front();
  term = shuffled(term);
  if (has_ellipsis && chance(65)) insert_anywhere(term, '.');
  return term;
}

Shape draw_shape(const std::string& term, std::map<char, Int>& extents) {
  Shape shape;
  std::string labels = term, under;
  for (const auto& [label, extent] : extents)
    if (label <= '9') under += label;
  if (has_dot(term)) labels.replace(term.find('.'), 1, under);
  for (const char label : labels) {
    const bool is_new = !extents.contains(label);
    Int& extent = extents[label];
    if (is_new || (extent == 1 && label <= '9' && chance(50))) extent = chance(3) ? 0 : between(1, 5);
    shape.push_back(label <= '9' && chance(30) ? 1 : extent);
  }
  return shape;
}

std::optional<std::string> draw_output(const Draft& draft, const std::map<char, Int>& extents) {
  if (chance(25)) return std::nullopt;
  std::string output;
  const Int kept = pick<Int>({0, 40, 60, 60, 80, 100});
  for (const auto& [label, extent] : extents)
    if (label > '9' && chance(kept)) output += label;
  output = shuffled(output);
  if (std::ranges::any_of(draft.terms, has_dot)) insert_anywhere(output, '.');
  return output;
}

// Draws numbers whose products and sums mostly fit, or what does not.
Recipe draw_numbers(DType type, std::size_t input, const ConvolutionFill& fill) {
  if (!is_float(type)) return seeded(pick({"small", "small", "small", "full", "ends"}));
  if (input < 2) return input == 0 ? fill.x : fill.w;
  return seeded(pick({"sign", "small", "normal", "uniform", "quarter"}));
}

void draw_data(Case& c, const Draft& draft, DType type) {
  Int terms = 1;
  const std::string output = draft.output.value_or("");
  for (const auto& [label, extent] : extents_of(c, draft))
    if (!has(output, label)) terms *= std::max<Int>(1, extent);
  const ConvolutionFill fill = draw_convolution_fill({type, std::min<Int>(terms, 1000), false});
  std::size_t input = 0;
  for (const std::string& name : inputs_of(c)) {
    c.sources[name] = {draw_numbers(type, input, fill), input > 0 && chance(40)};
    ++input;
  }
}

Case draw(const Definition& definition, DType type, std::uint64_t stratum) {
  Shape shape = draw_extents(stratum % shape_strata);
  Case c = moving(definition, type, shape);
  std::string unused = shuffled("abijkmnxyzABIJKMNXYZ");
  const bool has_ellipsis = chance(30);
  Draft draft{{draw_first(shape, unused, has_ellipsis)}, {}};
  shape_of(c) = shape;
  std::map<char, Int> extents = extents_of(c, draft);
  const auto count = weighted<std::size_t>({{25, 1}, {48, 2}, {24, 3}, {3, 5}});
  for (std::size_t i = 1; i < count; ++i) {
    draft.terms.push_back(draw_term(extents, unused, has_ellipsis));
    c.node.input(definition.inputs[i].name, {type, draw_shape(draft.terms.back(), extents)});
  }
  draft.output = draw_output(draft, extents);
  write(c, draft);
  draw_data(c, draft, type);
  if (chance(10)) {
    std::string& text = std::get<std::string>(c.node.attributes.at("equation"));
    for (const char* mark : {",", "->"})
      if (const std::size_t at = text.find(mark); at != std::string::npos) text.insert(at, " ");
    text.append(pick<std::string>({" ", "  ", ""})).insert(0, pick<std::string>({" ", ""}));
  }
  return c;
}

// -- what follows from the first operand

// Makes labels and the extents of others fit the first operand, and drops the terms of operands that are gone. Without
// an equation the first operand is all there is.
void refit(Case& c) {
  std::optional<Draft> draft = draft_of(c);
  Names inputs = inputs_of(c);
  if (!draft) {
    for (std::size_t i = 1; i < inputs.size(); ++i) remove_input(c, inputs[i]);
    const std::string labels = std::string("abcdefghij").substr(0, shape_of(c).size());
    return write(c, {{labels}, labels});
  }
  draft->terms.resize(std::min(draft->terms.size(), inputs.size()));
  if (draft->terms.size() < inputs.size()) return;
  std::string& first = draft->terms.front();
  const std::size_t axes = shape_of(c).size();
  while (first.size() - (has_dot(first) ? 1 : 0) > axes)
    first.erase(first.back() == '.' ? first.size() - 2 : first.size() - 1, 1);
  for (std::size_t i = 1; i < inputs.size() && has_dot(first); ++i) {
    Shape& shape = shape_of(c, inputs[i]);
    const std::string& term = draft->terms[i];
    while (has_dot(term) && under_dot(term, shape) > under_dot(first, shape_of(c)))
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(term.find('.')));
  }
  if (draft->output)
    std::erase_if(*draft->output, [&](char label) {
      return std::ranges::none_of(draft->terms, [&](const std::string& term) { return has(term, label); });
    });
  write(c, *draft);
  const std::map<char, Int> extents = extents_of(c, *draft);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Shape& shape = shape_of(c, inputs[i]);
    const std::string labels = labels_of(draft->terms[i], shape);
    for (std::size_t axis = 0; axis < std::min(labels.size(), shape.size()); ++axis) {
      const bool may_be_one = labels[axis] <= '9' || i == 0;
      if (!may_be_one || shape[axis] != 1) shape[axis] = extents.at(labels[axis]);
    }
  }
}

// -- near misses

template <class F>
Mutation redrafted(std::string_view what, F change) {
  return {what, [change](Case& c) {
            std::optional<Draft> draft = draft_of(c);
            if (!draft || !change(c, *draft)) return false;
            write(c, *draft);
            return true;
          }};
}

bool a_stray_character(Case& c) {
  std::string& text = std::get<std::string>(c.node.attributes.at("equation"));
  if (chance(10)) return text = " ", true;
  insert_anywhere(text, pick({'1', '.', '-', '>', '_'}));
  return true;
}

// Makes one of the axes of a letter 1, or another extent.
bool another_extent_of_a_letter(Case& c, const Draft& draft) {
  const Names inputs = inputs_of(c);
  const std::size_t i = static_cast<std::size_t>(between(0, std::ssize(inputs) - 1));
  Shape& shape = shape_of(c, inputs[i]);
  if (shape.empty() || i >= draft.terms.size()) return false;
  const auto axis = static_cast<std::size_t>(between(0, std::ssize(shape) - 1));
  shape[axis] = chance(60) ? 1 : shape[axis] + between(1, 2);
  return true;
}

bool another_ellipsis(Case& c, const Draft& draft) {
  if (std::ranges::count_if(draft.terms, has_dot) < 2) return false;
  const Names inputs = inputs_of(c);
  for (std::size_t i = inputs.size(); i-- > 0;)
    if (has_dot(draft.terms[i])) {
      Shape& shape = shape_of(c, inputs[i]);
      shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(draft.terms[i].find('.')), between(1, 2));
      return true;
    }
  return false;
}

std::vector<Mutation> equation_damages() {
  return {{"a stray character", a_stray_character},
          redrafted("a term more", [](Case&, Draft& draft) { return draft.terms.push_back(pick(draft.terms)), true; }),
          redrafted("a term fewer",
                    [](Case&, Draft& draft) {
                      if (draft.terms.size() > 1) draft.terms.pop_back();
                      return true;
                    }),
          redrafted("a letter more", [](Case&, Draft& draft) { return insert_anywhere(pick(draft.terms), 'q'), true; }),
          redrafted("another extent of a letter", another_extent_of_a_letter),
          redrafted("another ellipsis", another_ellipsis),
          redrafted("another output",
                    [](Case&, Draft& draft) {
                      if (!draft.output) draft.output = "";
                      const std::string letters = joined(draft.terms, "") + "Q";
                      draft.output->push_back(letters[static_cast<std::size_t>(between(0, std::ssize(letters) - 1))]);
                      return true;
                    }),
          redrafted("an ellipsis more or fewer in the output",
                    [](Case&, Draft& draft) {
                      if (draft.output && std::erase(*draft.output, '.') == 0) draft.output->push_back('.');
                      return draft.output.has_value();
                    }),
          {"one input of another type", [](Case& c) {
             if (!c.node.inputs.contains(c.definition().inputs[1].name)) return false;
             DType& type = c.node.inputs.at(c.definition().inputs[1].name).type.dtype;
             type = type == DType::f32 ? DType::f64 : DType::f32;
             return true;
           }}};
}

// -- coverage

template <class F>
CoverageTag tag(const char* name, F holds) {
  return {name, [holds](const Case& c) { return holds(c, draft_of(c).value()); }};
}

std::vector<CoverageTag> tags() {
  const auto has_twice = [](const std::string& term) {
    return std::ranges::any_of(term, [&](char label) { return std::ranges::count(term, label) > 1; });
  };
  return {
      tag("one term", [](const Case&, const Draft& d) { return d.terms.size() == 1; }),
      tag("two terms", [](const Case&, const Draft& d) { return d.terms.size() == 2; }),
      tag("three terms or more", [](const Case&, const Draft& d) { return d.terms.size() > 2; }),
      tag("no output stated", [](const Case&, const Draft& d) { return !d.output; }),
      tag("a letter twice in a term",
          [=](const Case&, const Draft& d) { return std::ranges::any_of(d.terms, has_twice); }),
      tag("an ellipsis", [](const Case&, const Draft& d) { return std::ranges::any_of(d.terms, has_dot); }),
      tag("an ellipsis for no axis",
          [](const Case& c, const Draft& d) { return has_dot(d.terms[0]) && under_dot(d.terms[0], shape_of(c)) == 0; }),
      tag("an ellipsis among letters",
          [](const Case&, const Draft& d) {
            return std::ranges::any_of(d.terms, [](const std::string& term) {
              return has_dot(term) && term.front() != '.' && term.back() != '.';
            });
          }),
      tag("an operand summed alone",
          [](const Case& c, const Draft& d) {
            const std::string all = joined(d.terms, "") + d.output.value_or("");
            return d.output && d.terms.size() > 1 && std::ranges::any_of(extents_of(c, d), [&](const auto& each) {
                     return each.second > 1 && std::ranges::count(all, each.first) == 1;
                   });
          }),
      tag("letters of both cases", [](const Case&, const Draft& d) {
        const std::string all = joined(d.terms, "");
        return std::ranges::any_of(
            all, [&](char label) { return label > '9' && has(all, static_cast<char>(label ^ 0x20)); });
      })};
}

}  // namespace

const OperatorGenerator& einsum() {
  static const OperatorGenerator all = [] {
    OperatorGenerator made = placing_generator(draw, axes<0>, refit);
    std::ranges::move(equation_damages(), std::back_inserter(made.damages));
    made.cost = cost_of;
    made.traits = tags();
    return made;
  }();
  return all;
}

}  // namespace assay::generators
