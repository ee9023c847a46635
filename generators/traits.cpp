// SPDX-License-Identifier: Apache-2.0
#include "generators/traits.h"

#include "generators/convolution.h"
#include "reference/operator.h"
#include "reference/window.h"

#include <algorithm>

namespace assay::generators {
namespace {

using Names = std::vector<std::string>;

// A legal case with its geometry worked out: what the table below looks at.
struct Seen {
  const Case& k;
  Case v = conv_of(k);
  Call c = v.call();
  Window w = Window::of(c);
};

struct Row {
  const char* name;
  bool (*holds)(const Seen&);
  bool (*exists)(const Definition&);
};

bool always(const Definition&) { return true; }
bool has_dilations(const Definition& d) { return d.attribute("dilations"); }
bool has_ceil_mode(const Definition& d) { return d.attribute("ceil_mode"); }
bool counts_padding(const Definition& d) { return d.attribute("count_include_pad"); }
bool has_weights(const Definition& d) { return d.inputs.size() > 1; }
bool has_auto_pad(const Definition& d) { return d.attribute("auto_pad"); }
// DeformConv is asked on three axes at most: 2^r corners per tap.
bool has_four_axes(const Definition& d) { return !d.input("offset"); }
bool has_group(const Definition& d) { return d.attribute("group"); }
bool counts_padding_of_dilation(const Definition& d) {
  return has_dilations(d) && counts_padding(d) && has_ceil_mode(d);
}
bool has_ceil_and_dilations(const Definition& d) { return has_dilations(d) && has_ceil_mode(d); }
bool has_same_and_dilations(const Definition& d) { return has_dilations(d) && has_auto_pad(d); }

template <class F>
bool any_axis(const Window& window, F&& holds) {
  return std::ranges::any_of(window.axes, holds);
}

std::string auto_pad(const Call& c) { return c.text("auto_pad"); }
bool is_same(const Call& c) { return auto_pad(c).starts_with("SAME_"); }
bool is_ceil(const Call& c) { return has_ceil_mode(c.definition()) && c.integer("ceil_mode") != 0; }
// SAME_* is ceil(in / stride) windows in either mode.
bool ceil_counts(const Call& c) { return is_ceil(c) && !is_same(c); }
bool counts_pads(const Call& c) { return counts_padding(c.definition()) && c.integer("count_include_pad") != 0; }

Int room(const Axis& a) { return a.in + a.begin + a.end - a.effective_kernel(); }
bool is_padded(const Axis& a) { return a.begin + a.end > 0; }
bool is_dilated(const Axis& a) { return a.dilation > 1 && a.kernel > 1; }
bool is_strided(const Axis& a) { return a.stride > 1; }
bool is_narrow(const Axis& a) { return a.effective_kernel() < a.stride; }
bool is_odd(const Axis& a) { return (a.begin + a.end) % 2 == 1; }
Int overhang(const Axis& a) { return (a.out - 1) * a.stride - room(a); }
bool overhangs_far(const Axis& a) { return overhang(a) >= 2; }

// Windows of ceil_mode that start at or beyond the first cell of the end padding, before one of them is dropped (A8).
Int trailing(const Axis& a) {
  const Int windows = ceil_div(room(a), a.stride) + 1;
  return std::max<Int>(0, windows - ceil_div(a.in + a.begin, a.stride));
}

bool has_window_without_input(const Axis& a) {
  for (Int window = 0; window < a.out; ++window) {
    bool reaches = false;
    for (Int tap = 0; tap < a.kernel; ++tap) reaches = reaches || a.is_inside(a.cell(window, tap));
    if (!reaches) return true;
  }
  return false;
}

bool all_differ(std::vector<Int> values) {
  std::ranges::sort(values);
  return values.size() > 1 && std::ranges::adjacent_find(values) == values.end();
}

std::vector<Int> all_pads(const Window& window) {
  std::vector<Int> pads;
  for (const Axis& axis : window.axes) pads.insert(pads.end(), {axis.begin, axis.end});
  return pads;
}

bool vary(const Window& window, Int Axis::*member) {
  return any_axis(window, [&](const Axis& axis) { return axis.*member != window.axes.front().*member; });
}

bool is_explicit(const Call& c) { return auto_pad(c) == "NOTSET"; }
bool is_given(const Call& c, const char* input) { return c.has(input); }
bool is_named_empty(const Call& c, const char* input) { return c.node().inputs.contains(input) && !c.has(input); }
bool is_initializer(const Case& c, const char* input) {
  return c.sources.contains(input) && c.sources.find(input)->second.initializer;
}
bool states_ones(const Call& c, const char* list) {
  return c.states(list) && std::ranges::all_of(c.ints(list), [](Int value) { return value == 1; });
}
Int depth(const Call& c) { return c.dim("W", 1); }
Int channels(const Call& c) { return c.dim("X", 1); }

// The family without its width or centre.
std::string kind_of(const Recipe& recipe) {
  for (const char* kind : {"odd", "around"})
    if (recipe.family.starts_with(kind)) return kind;
  return recipe.family;
}

// One row per cell: its name, the cases in it, the versions that have it.
const std::vector<Row>& table() {
  static const std::vector<Row> rows{
      {"rank 1", [](const Seen& s) { return s.w.axes.size() == 1; }, always},
      {"rank 2", [](const Seen& s) { return s.w.axes.size() == 2; }, always},
      {"rank 3", [](const Seen& s) { return s.w.axes.size() == 3; }, always},
      {"rank 4", [](const Seen& s) { return s.w.axes.size() == 4; }, has_four_axes},
      {"batch > 1", [](const Seen& s) { return s.c.dim("X", 0) > 1; }, always},
      {"channels > 7", [](const Seen& s) { return channels(s.c) > 7; }, always},

      {"explicit padding", [](const Seen& s) { return is_explicit(s.c) && any_axis(s.w, is_padded); }, always},
      {"VALID", [](const Seen& s) { return auto_pad(s.c) == "VALID"; }, has_auto_pad},
      {"SAME_UPPER odd total", [](const Seen& s) { return auto_pad(s.c) == "SAME_UPPER" && any_axis(s.w, is_odd); },
       has_auto_pad},
      {"SAME_LOWER odd total", [](const Seen& s) { return auto_pad(s.c) == "SAME_LOWER" && any_axis(s.w, is_odd); },
       has_auto_pad},
      {"same x stride", [](const Seen& s) { return is_same(s.c) && any_axis(s.w, is_strided); }, has_auto_pad},
      {"same, ek < s", [](const Seen& s) { return is_same(s.c) && any_axis(s.w, is_narrow); }, has_auto_pad},
      {"same, clamped",
       [](const Seen& s) {
         return is_same(s.c) &&
                any_axis(s.w, [](const Axis& a) { return (a.out - 1) * a.stride + a.effective_kernel() < a.in; });
       },
       has_auto_pad},
      {"same x dilation", [](const Seen& s) { return is_same(s.c) && any_axis(s.w, is_dilated); },
       has_same_and_dilations},
      {"pads asymmetric",
       [](const Seen& s) { return is_explicit(s.c) && any_axis(s.w, [](const Axis& a) { return a.begin != a.end; }); },
       always},
      {"pads all distinct", [](const Seen& s) { return is_explicit(s.c) && all_differ(all_pads(s.w)); }, always},
      {"pads >= ek",
       [](const Seen& s) {
         return is_explicit(s.c) &&
                any_axis(s.w, [](const Axis& a) { return std::max(a.begin, a.end) >= a.effective_kernel(); });
       },
       always},
      {"stride > 1", [](const Seen& s) { return any_axis(s.w, is_strided); }, always},
      {"ek < s", [](const Seen& s) { return any_axis(s.w, is_narrow); }, always},
      {"dilation > 1", [](const Seen& s) { return any_axis(s.w, is_dilated); }, has_dilations},
      {"strides differ by axis", [](const Seen& s) { return vary(s.w, &Axis::stride); }, always},
      {"dilations differ by axis", [](const Seen& s) { return vary(s.w, &Axis::dilation); }, has_dilations},
      {"a window without input", [](const Seen& s) { return any_axis(s.w, has_window_without_input); }, always},

      {"ceil", [](const Seen& s) { return is_ceil(s.c); }, has_ceil_mode},
      {"valid x ceil", [](const Seen& s) { return auto_pad(s.c) == "VALID" && is_ceil(s.c); }, has_ceil_mode},
      {"same x ceil", [](const Seen& s) { return is_same(s.c) && is_ceil(s.c); }, has_ceil_mode},
      {"ceil x pads", [](const Seen& s) { return ceil_counts(s.c) && any_axis(s.w, is_padded); }, has_ceil_mode},
      {"cip x pads", [](const Seen& s) { return counts_pads(s.c) && any_axis(s.w, is_padded); }, counts_padding},
      {"cip x same", [](const Seen& s) { return counts_pads(s.c) && is_same(s.c) && any_axis(s.w, is_padded); },
       counts_padding},
      {"ceil x pads x cip",
       [](const Seen& s) { return ceil_counts(s.c) && counts_pads(s.c) && any_axis(s.w, is_padded); }, has_ceil_mode},
      {"ceil x pads x dilation",
       [](const Seen& s) { return ceil_counts(s.c) && any_axis(s.w, is_padded) && any_axis(s.w, is_dilated); },
       has_ceil_and_dilations},
      {"ceil x pads x cip x dilation",
       [](const Seen& s) {
         return ceil_counts(s.c) && counts_pads(s.c) && any_axis(s.w, is_padded) && any_axis(s.w, is_dilated);
       },
       counts_padding_of_dilation},
      {"overhang 1",
       [](const Seen& s) { return ceil_counts(s.c) && any_axis(s.w, [](const Axis& a) { return overhang(a) == 1; }); },
       has_ceil_mode},
      {"overhang >= 2", [](const Seen& s) { return ceil_counts(s.c) && any_axis(s.w, overhangs_far); }, has_ceil_mode},
      {"overhang >= 2 x cip",
       [](const Seen& s) { return ceil_counts(s.c) && counts_pads(s.c) && any_axis(s.w, overhangs_far); },
       has_ceil_mode},
      {"trailing 1",
       [](const Seen& s) { return ceil_counts(s.c) && any_axis(s.w, [](const Axis& a) { return trailing(a) == 1; }); },
       has_ceil_mode},
      {"trailing >= 2",
       [](const Seen& s) { return ceil_counts(s.c) && any_axis(s.w, [](const Axis& a) { return trailing(a) >= 2; }); },
       has_ceil_mode},
      {"n < 0 with ceil",
       [](const Seen& s) { return ceil_counts(s.c) && any_axis(s.w, [](const Axis& a) { return room(a) < 0; }); },
       has_ceil_mode},

      {"group 1", [](const Seen& s) { return s.c.integer("group") == 1; }, has_group},
      {"1 < group < C", [](const Seen& s) { return s.c.integer("group") > 1 && s.c.integer("group") < channels(s.c); },
       has_group},
      {"group depthwise",
       [](const Seen& s) { return s.c.integer("group") > 1 && s.c.integer("group") == channels(s.c); }, has_group},
      {"depthwise, maps > channels",
       [](const Seen& s) { return s.c.integer("group") > 1 && depth(s.c) == 1 && s.c.dim("W", 0) > channels(s.c); },
       has_group},
      {"maps > 1", [](const Seen& s) { return s.c.dim("W", 0) > 1; }, has_weights},
      {"bias given", [](const Seen& s) { return is_given(s.c, "B"); }, has_weights},
      {"bias omitted", [](const Seen& s) { return !s.c.node().inputs.contains("B"); }, has_weights},
      {"bias empty name", [](const Seen& s) { return is_named_empty(s.c, "B"); }, has_weights},
      {"weights initializer", [](const Seen& s) { return is_initializer(s.v, "W"); }, has_weights},
      {"weights graph input", [](const Seen& s) { return !is_initializer(s.v, "W"); }, has_weights},
      {"bias initializer", [](const Seen& s) { return is_initializer(s.v, "B"); }, has_weights},
      {"kernel_shape omitted", [](const Seen& s) { return !s.c.states("kernel_shape"); }, has_weights},
      {"kernel_shape stated", [](const Seen& s) { return s.c.states("kernel_shape"); }, has_weights},

      {"strides omitted", [](const Seen& s) { return !s.c.states("strides"); }, always},
      {"strides stated as 1", [](const Seen& s) { return states_ones(s.c, "strides"); }, always},
      {"dilations omitted", [](const Seen& s) { return !s.c.states("dilations"); }, has_dilations},
      {"dilations stated as 1", [](const Seen& s) { return states_ones(s.c, "dilations"); }, has_dilations},
      {"pads stated as 0", [](const Seen& s) { return s.c.states("pads") && !any_axis(s.w, is_padded); }, always},
      {"pads omitted", [](const Seen& s) { return !s.c.states("pads"); }, always},
      {"auto_pad stated as NOTSET", [](const Seen& s) { return s.c.states("auto_pad") && is_explicit(s.c); },
       has_auto_pad},
      {"group stated as 1", [](const Seen& s) { return s.c.states("group") && s.c.integer("group") == 1; }, has_group},
      {"ceil_mode stated as 0", [](const Seen& s) { return s.c.states("ceil_mode") && !is_ceil(s.c); }, has_ceil_mode},
      {"count_include_pad stated as 0",
       [](const Seen& s) { return s.c.states("count_include_pad") && !counts_pads(s.c); }, counts_padding},

      {"N = 0", [](const Seen& s) { return s.c.dim("X", 0) == 0; }, always},
      {"C = 0", [](const Seen& s) { return channels(s.c) == 0; }, always},
      {"M = 0", [](const Seen& s) { return s.c.dim("W", 0) == 0; }, has_weights},
      {"I = 0 with pads", [](const Seen& s) { return any_axis(s.w, [](const Axis& a) { return a.in == 0; }); }, always},

      {"shapes fixed", [](const Seen& s) { return s.k.declared == DeclaredShapes::fixed; }, always},
      {"shapes symbolic", [](const Seen& s) { return s.k.declared == DeclaredShapes::symbolic; }, always},
      {"opset = since", [](const Seen& s) { return s.k.opset == s.k.version.since_version; }, always},
  };
  return rows;
}

}  // namespace

std::vector<std::string> traits(const Case& c) {
  const Definition& definition = c.definition();
  Names names;
  for (const std::string& id : definition.violated(c.call())) names.push_back("breaks " + id);
  if (!names.empty()) return names;
  const Seen seen{c};
  for (const Row& trait : table())
    if (trait.exists(definition) && trait.holds(seen)) names.emplace_back(trait.name);
  for (const Trait& trait : questions_about(c.version).traits)
    if (trait.holds(c)) names.push_back(trait.name);
  names.push_back("type " + std::string(name(c.node.inputs.at(definition.inputs.front().name).type.dtype)));
  const Recipe& recipe = c.sources.at(definition.inputs.front().name).recipe;
  names.push_back("data " + kind_of(recipe));
  const bool is_finite = std::ranges::none_of(c.sources, [](const auto& s) { return is_nonfinite(s.second.recipe); });
  names.emplace_back(is_finite ? "data finite" : "data nonfinite");
  return names;
}

std::vector<std::string> cells(const Definition& definition) {
  Names names;
  for (const Row& trait : table())
    if (trait.exists(definition)) names.emplace_back(trait.name);
  for (const Trait& trait : questions_about(definition.version).traits) names.push_back(trait.name);
  return names;
}

}  // namespace assay::generators
