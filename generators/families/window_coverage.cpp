// SPDX-License-Identifier: Apache-2.0
// Names the cells of the coverage tables of sliding windows (spec 4.4, B.2), dimensions with their values and traits,
// from the Conv a case stands for, with X, W, B and channels second.
#include "generators/convolution.h"
#include "generators/families/window.h"
#include "reference/operator.h"
#include "reference/sequence.h"
#include "reference/window.h"

#include <algorithm>
#include <map>

namespace assay::generators {
namespace {

bool has_weights(const Definition& definition) { return generator_of(definition.version).layout.has_value(); }

// A legal case with its geometry worked out.
struct WindowFacts {
  const Case& k;
  Case v = conv_of(k);
  Call c = v.call();
  Window w = Window::of(c);
};

template <class F>
bool any_axis(const Window& window, F&& holds) {
  return std::ranges::any_of(window.axes, holds);
}

std::string auto_pad(const Call& c) { return c.text("auto_pad"); }
bool is_same(const Call& c) { return auto_pad(c).starts_with("SAME_"); }
bool is_ceil(const Call& c) { return c.definition().attribute("ceil_mode") && c.integer("ceil_mode") != 0; }
// SAME_* is ceil(in / stride) windows in either mode.
bool ceil_counts(const Call& c) { return is_ceil(c) && !is_same(c); }
bool counts_pads(const Call& c) {
  return c.definition().attribute("count_include_pad") && c.integer("count_include_pad") != 0;
}

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
Int depth(const Call& c) { return c.dim("W", 1); }
Int channels(const Call& c) { return c.dim("X", 1); }

// Tells whether the versions of this operator have what a row of the tables needs: an attribute, or a word of ours.
bool has(const Definition& definition, std::string_view what) {
  if (what == "weights") return has_weights(definition);
  if (what == "bias") return definition.input("B") != nullptr;
  if (what == "whole planes") return !definition.attribute("strides");
  if (what == "any rank") return !definition.attribute("channels_last");  // else the channels stand beside an axis
  // The mean of no cell has no code.
  if (what == "empty planes") return !definition.input("x_scale") || definition.attribute("strides");
  if (what == "four axes") return !definition.input("offset");  // DeformConv has three at most: 2^r corners per tap
  return definition.attribute(what) != nullptr;
}

// -- dimensions

struct ShapeRow {
  Dimension dimension;
  std::function<int(const WindowFacts&)> of;
};

bool all_are(const Ints& values, Int value) {
  return std::ranges::all_of(values, [=](Int each) { return each == value; });
}
bool all_equal(const Ints& values) { return values.empty() || all_are(values, values.front()); }

int evenness(const Ints& values, Int default_value) {
  if (all_are(values, default_value)) return 0;
  return all_equal(values) ? 1 : 2;
}

AttributeDimension auto_pad_dimension(const std::string& name) {
  static const Names words{"left out", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"};
  return {{name, words}, [name](const Call& call) {
            if (!call.states(name)) return 0;
            const auto at = std::ranges::find(words, call.text(name));
            return at == words.end() ? -1 : static_cast<int>(at - words.begin());
          }};
}

AttributeDimension list_dimension(const std::string& name, Int default_value) {
  const std::string word = std::to_string(default_value);
  return {{name, {"left out", "all " + word, "equal, not " + word, "different"}},
          [=](const Call& call) { return call.states(name) ? 1 + evenness(call.ints(name), default_value) : 0; }};
}

AttributeDimension required_list_dimension(const std::string& name) {
  return {{name, {"all 1", "equal, not 1", "different"}},
          [name](const Call& call) { return evenness(call.ints(name), 1); }};
}

bool is_wide(const Axis& axis) { return axis.effective_kernel() < axis.stride; }
int padding(const WindowFacts& s) {
  if (any_axis(s.w, [](const Axis& a) { return std::max(a.begin, a.end) >= a.effective_kernel(); })) return 3;
  if (any_axis(s.w, [](const Axis& a) { return a.begin != a.end; })) return 2;
  return any_axis(s.w, [](const Axis& a) { return a.begin > 0; }) ? 1 : 0;
}

int grouping(const WindowFacts& s) {
  if (s.c.integer("group") == 1) return 0;
  return s.c.integer("group") == s.c.dim("X", 1) ? 2 : 1;
}

int count_of(Int extent) { return extent > 1 ? 2 : static_cast<int>(extent); }

// Lists the dimensions of the shapes, which the definition does not.
std::vector<ShapeRow> shape_rows(const Definition& definition) {
  std::vector<ShapeRow> rows;
  // DeformConv is run on three axes at most: 2^r corners per tap.
  rows.push_back(
      {{"rank", definition.input("offset") ? Names{"1", "2", "3"} : Names{"1", "2", "3", "4"}},
       [](const WindowFacts& s) { return s.w.axes.size() > 4 ? -1 : static_cast<int>(s.w.axes.size()) - 1; }});
  rows.push_back({{"batch", {"0", "1", "> 1"}}, [](const WindowFacts& s) { return count_of(s.c.dim("X", 0)); }});
  rows.push_back({{"channels", {"0", "1", "2 to 7", "> 7"}}, [](const WindowFacts& s) {
                    const Int channels = s.c.dim("X", 1);
                    return channels > 7 ? 3 : count_of(channels);
                  }});
  const bool takes_empty = has(definition, "empty planes");
  rows.push_back(
      {{"input", takes_empty ? Names{"an empty axis", "an axis of 1", "all > 1"} : Names{"an axis of 1", "all > 1"}},
       [takes_empty](const WindowFacts& s) {
         Int least = 2;
         for (const Axis& axis : s.w.axes) least = std::min(least, axis.in);
         return static_cast<int>(takes_empty ? least : least - 1);
       }});
  if (has_weights(definition)) {
    rows.push_back({{"maps", {"0", "1", "> 1"}}, [](const WindowFacts& s) { return count_of(s.c.dim("W", 0)); }});
    rows.push_back({{"groups", {"one", "some", "per channel"}}, grouping});
    rows.push_back({{"kernel", {"all 1", "equal, not 1", "different"}},
                    [](const WindowFacts& s) { return evenness(s.w.kernel(), 1); }});
  }
  if (!definition.attribute("strides")) return rows;  // one window, all of the plane
  rows.push_back({{"padding", {"none", "even", "uneven", "as large as the kernel"}}, padding});
  rows.push_back({{"stride", {"within the kernel", "beyond the kernel"}},
                  [](const WindowFacts& s) { return any_axis(s.w, is_wide) ? 1 : 0; }});
  rows.push_back(
      {{"windows", {"one", "several"}}, [](const WindowFacts& s) { return volume(s.w.output()) > 1 ? 1 : 0; }});
  return rows;
}

const std::vector<ShapeRow>& rows_of(const Definition& definition) {
  static const std::map<OpVersion, std::vector<ShapeRow>> tables = [] {
    std::map<OpVersion, std::vector<ShapeRow>> all;
    for (const Operator* op : operators())
      for (const Definition& each : op->versions())
        if (each.shaping == Shaping::window) all.emplace(each.version, shape_rows(each));
    return all;
  }();
  return tables.at(definition.version);
}

// -- traits

struct TraitRow {
  const char* name;
  bool (*holds)(const WindowFacts&);
  std::vector<std::string_view> needs = {};  // attributes, or what has() knows
};

bool exists(const Definition& definition, const TraitRow& row) {
  return std::ranges::all_of(row.needs, [&](std::string_view what) { return has(definition, what); });
}

// One row per cell: its name, the cases in it, what the versions that have it have.
const std::vector<TraitRow>& table() {
  static const std::vector<TraitRow> rows{
      {"rank 2", [](const WindowFacts& s) { return s.w.axes.size() == 2; }},
      {"rank 3", [](const WindowFacts& s) { return s.w.axes.size() == 3; }},
      {"rank 4", [](const WindowFacts& s) { return s.w.axes.size() == 4; }, {"four axes"}},
      {"batch > 1", [](const WindowFacts& s) { return s.c.dim("X", 0) > 1; }},

      {"explicit padding",
       [](const WindowFacts& s) { return is_explicit(s.c) && any_axis(s.w, is_padded); },
       {"strides"}},
      {"SAME_UPPER odd total",
       [](const WindowFacts& s) { return auto_pad(s.c) == "SAME_UPPER" && any_axis(s.w, is_odd); },
       {"auto_pad"}},
      {"SAME_LOWER odd total",
       [](const WindowFacts& s) { return auto_pad(s.c) == "SAME_LOWER" && any_axis(s.w, is_odd); },
       {"auto_pad"}},
      {"same x stride", [](const WindowFacts& s) { return is_same(s.c) && any_axis(s.w, is_strided); }, {"auto_pad"}},
      {"same, ek < s", [](const WindowFacts& s) { return is_same(s.c) && any_axis(s.w, is_narrow); }, {"auto_pad"}},
      {"same, clamped",
       [](const WindowFacts& s) {
         return is_same(s.c) &&
                any_axis(s.w, [](const Axis& a) { return (a.out - 1) * a.stride + a.effective_kernel() < a.in; });
       },
       {"auto_pad"}},
      {"same x dilation",
       [](const WindowFacts& s) { return is_same(s.c) && any_axis(s.w, is_dilated); },
       {"dilations", "auto_pad"}},
      {"pads asymmetric",
       [](const WindowFacts& s) {
         return is_explicit(s.c) && any_axis(s.w, [](const Axis& a) { return a.begin != a.end; });
       },
       {"strides"}},
      {"pads all distinct",
       [](const WindowFacts& s) { return is_explicit(s.c) && all_differ(all_pads(s.w)); },
       {"strides"}},
      {"pads >= ek",
       [](const WindowFacts& s) {
         return is_explicit(s.c) &&
                any_axis(s.w, [](const Axis& a) { return std::max(a.begin, a.end) >= a.effective_kernel(); });
       },
       {"strides"}},
      {"stride > 1", [](const WindowFacts& s) { return any_axis(s.w, is_strided); }, {"strides"}},
      {"ek < s", [](const WindowFacts& s) { return any_axis(s.w, is_narrow); }, {"strides"}},
      {"dilation > 1", [](const WindowFacts& s) { return any_axis(s.w, is_dilated); }, {"dilations"}},
      {"strides differ by axis", [](const WindowFacts& s) { return vary(s.w, &Axis::stride); }, {"strides"}},
      {"dilations differ by axis", [](const WindowFacts& s) { return vary(s.w, &Axis::dilation); }, {"dilations"}},
      {"a window without input",
       [](const WindowFacts& s) { return any_axis(s.w, has_window_without_input); },
       {"strides"}},

      {"ceil", [](const WindowFacts& s) { return is_ceil(s.c); }, {"ceil_mode"}},
      {"valid x ceil", [](const WindowFacts& s) { return auto_pad(s.c) == "VALID" && is_ceil(s.c); }, {"ceil_mode"}},
      {"same x ceil", [](const WindowFacts& s) { return is_same(s.c) && is_ceil(s.c); }, {"ceil_mode"}},
      {"ceil x pads", [](const WindowFacts& s) { return ceil_counts(s.c) && any_axis(s.w, is_padded); }, {"ceil_mode"}},
      {"cip x pads",
       [](const WindowFacts& s) { return counts_pads(s.c) && any_axis(s.w, is_padded); },
       {"count_include_pad"}},
      {"cip x same",
       [](const WindowFacts& s) { return counts_pads(s.c) && is_same(s.c) && any_axis(s.w, is_padded); },
       {"count_include_pad"}},
      {"ceil x pads x cip",
       [](const WindowFacts& s) { return ceil_counts(s.c) && counts_pads(s.c) && any_axis(s.w, is_padded); },
       {"count_include_pad", "ceil_mode"}},
      {"ceil x pads x dilation",
       [](const WindowFacts& s) { return ceil_counts(s.c) && any_axis(s.w, is_padded) && any_axis(s.w, is_dilated); },
       {"dilations", "ceil_mode"}},
      {"ceil x pads x cip x dilation",
       [](const WindowFacts& s) {
         return ceil_counts(s.c) && counts_pads(s.c) && any_axis(s.w, is_padded) && any_axis(s.w, is_dilated);
       },
       {"dilations", "count_include_pad", "ceil_mode"}},
      {"overhang 1",
       [](const WindowFacts& s) {
         return ceil_counts(s.c) && any_axis(s.w, [](const Axis& a) { return overhang(a) == 1; });
       },
       {"ceil_mode"}},
      {"overhang >= 2",
       [](const WindowFacts& s) { return ceil_counts(s.c) && any_axis(s.w, overhangs_far); },
       {"ceil_mode"}},
      {"overhang >= 2 x cip",
       [](const WindowFacts& s) { return ceil_counts(s.c) && counts_pads(s.c) && any_axis(s.w, overhangs_far); },
       {"count_include_pad", "ceil_mode"}},
      {"trailing 1",
       [](const WindowFacts& s) {
         return ceil_counts(s.c) && any_axis(s.w, [](const Axis& a) { return trailing(a) == 1; });
       },
       {"ceil_mode"}},
      {"trailing >= 2",
       [](const WindowFacts& s) {
         return ceil_counts(s.c) && any_axis(s.w, [](const Axis& a) { return trailing(a) >= 2; });
       },
       {"ceil_mode"}},
      {"n < 0 with ceil",
       [](const WindowFacts& s) {
         return ceil_counts(s.c) && any_axis(s.w, [](const Axis& a) { return room(a) < 0; });
       },
       {"ceil_mode"}},

      {"1 < group < C",
       [](const WindowFacts& s) { return s.c.integer("group") > 1 && s.c.integer("group") < channels(s.c); },
       {"group"}},
      {"group depthwise",
       [](const WindowFacts& s) { return s.c.integer("group") > 1 && s.c.integer("group") == channels(s.c); },
       {"group"}},
      {"depthwise, maps > channels",
       [](const WindowFacts& s) {
         return s.c.integer("group") > 1 && depth(s.c) == 1 && s.c.dim("W", 0) > channels(s.c);
       },
       {"group"}},
      {"maps > 1", [](const WindowFacts& s) { return s.c.dim("W", 0) > 1; }, {"weights"}},
      {"bias given", [](const WindowFacts& s) { return is_given(s.c, "B"); }, {"bias"}},
      {"bias empty name", [](const WindowFacts& s) { return is_named_empty(s.c, "B"); }, {"bias"}},
      {"weights initializer", [](const WindowFacts& s) { return is_initializer(s.v, "W"); }, {"weights"}},
      {"weights graph input", [](const WindowFacts& s) { return !is_initializer(s.v, "W"); }, {"weights"}},

      {"N = 0", [](const WindowFacts& s) { return s.c.dim("X", 0) == 0; }},
      {"C = 0", [](const WindowFacts& s) { return channels(s.c) == 0; }},
      {"M = 0", [](const WindowFacts& s) { return s.c.dim("W", 0) == 0; }, {"weights"}},
      {"I = 0 with pads",
       [](const WindowFacts& s) { return any_axis(s.w, [](const Axis& a) { return a.in == 0; }); },
       {"strides"}},
      {"no spatial axis", [](const WindowFacts& s) { return s.w.axes.empty(); }, {"whole planes", "any rank"}},
      {"an empty plane",
       [](const WindowFacts& s) { return any_axis(s.w, [](const Axis& a) { return a.in == 0; }); },
       {"whole planes", "empty planes"}},
  };
  return rows;
}

}  // namespace

std::optional<AttributeDimension> window_attribute(const AttributeSpec& spec) {
  if (spec.name == "auto_pad") return auto_pad_dimension(spec.name);
  if (spec.kind != AttributeSpec::Kind::ints) return std::nullopt;
  if (spec.required) return required_list_dimension(spec.name);
  if (spec.name == "kernel_shape") return std::nullopt;  // its default follows W
  return list_dimension(spec.name, spec.name == "pads" ? 0 : 1);
}

std::vector<Dimension> window_dimensions(const Definition& definition) {
  return transformed<Dimension>(rows_of(definition), &ShapeRow::dimension);
}

std::vector<int> window_features(const Case& c) {
  const WindowFacts seen{c};
  return transformed<int>(rows_of(c.definition()), [&](const ShapeRow& row) { return row.of(seen); });
}

std::span<const Exclusion> window_exclusions() {
  static const std::vector<Exclusion> all{
      // One axis has nothing to differ from.
      {"rank", {"1"}, "strides", {"different"}},
      {"rank", {"1"}, "dilations", {"different"}},
      {"rank", {"1"}, "kernel_shape", {"different"}},
      {"rank", {"1"}, "kernel", {"different"}},
      // W2, and what auto_pad and pads say of the padding. SAME_* pads by less than the kernel.
      {"auto_pad", {"SAME_UPPER", "SAME_LOWER", "VALID"}, "pads", {"all 0", "equal, not 0", "different"}},
      {"auto_pad", {"VALID"}, "padding", {"even", "uneven", "as large as the kernel"}},
      {"auto_pad", {"SAME_UPPER", "SAME_LOWER"}, "padding", {"as large as the kernel"}},
      {"pads", {"all 0"}, "padding", {"even", "uneven", "as large as the kernel"}},
      {"pads", {"equal, not 0"}, "padding", {"none", "uneven"}},
      {"pads", {"different"}, "padding", {"none"}},
      {"pads", {"left out"}, "padding", {"as large as the kernel"}},
      {"kernel", {"all 1"}, "padding", {"even", "uneven"}},
      {"kernel_shape", {"all 1"}, "padding", {"even", "uneven"}},
      // W8: a window over no cell at all needs padding.
      {"input", {"an empty axis"}, "padding", {"none"}},
      {"input", {"an empty axis"}, "pads", {"left out", "all 0"}},
      {"input", {"an empty axis"}, "auto_pad", {"SAME_UPPER", "SAME_LOWER", "VALID"}},
      // A kernel has an extent of 1 at least.
      {"stride", {"beyond the kernel"}, "strides", {"left out", "all 1"}},
      // channels = depth * group, and the group divides the maps.
      {"group", {"left out", "1"}, "groups", {"some", "per channel"}},
      {"group", {"> 1"}, "groups", {"one"}},
      {"channels", {"1"}, "groups", {"some", "per channel"}},
      {"channels", {"0"}, "groups", {"per channel"}},
      {"channels", {"1"}, "group", {"> 1"}},
      {"channels", {"1"}, "offset_group", {"> 1"}},
      {"maps", {"1"}, "groups", {"some", "per channel"}},
      {"maps", {"1"}, "group", {"> 1"}},
      // Inputs are left out at the end only: of DeformConv, whose mask comes after B.
      {"B", {"left out"}, "mask", {"empty name", "input", "constant"}}};
  return all;
}

Names window_traits(const Case& c) {
  const WindowFacts seen{c};
  Names names;
  for (const TraitRow& trait : table())
    if (exists(c.definition(), trait) && trait.holds(seen)) names.emplace_back(trait.name);
  return names;
}

Names window_cells(const Definition& definition) {
  Names names;
  for (const TraitRow& trait : table())
    if (exists(definition, trait)) names.emplace_back(trait.name);
  return names;
}

}  // namespace assay::generators
