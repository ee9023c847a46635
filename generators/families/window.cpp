// SPDX-License-Identifier: Apache-2.0
// Sliding windows: what Conv, the operators that stand for it, and pools have in common.
#include "generators/families/window.h"

#include "generators/convolution.h"
#include "generators/draw.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::generators {
namespace {

// -- near misses

// Done to the Conv the case stands for.
Mutation done_to_conv(const Mutation& damage) {
  return {damage.what, [apply = damage.apply](Case& c) {
            Case conv = conv_of(c);
            if (!apply(conv)) return false;
            stand_for(c, conv);
            return true;
          }};
}

// Tells whether the window is the whole plane, with nothing to say of it.
bool is_global(const Case& c) { return !c.definition().attribute("strides"); }

// Changes one entry of a list attribute; a list that is left out is written out first.
bool change_entry(Case& c, const char* list, Int value) {
  if (!c.definition().attribute(list)) return false;
  Ints values = c.call().ints(list);
  if (values.empty()) return false;
  pick(values) = value;
  c.node.attribute(list, std::move(values));
  return true;
}

bool change_length(Case& c, const char* list) {
  if (!c.definition().attribute(list)) return false;
  Ints values = c.call().ints(list);
  if (values.size() > 1 && chance(50))
    values.pop_back();
  else
    values.push_back(1);
  c.node.attribute(list, std::move(values));
  return true;
}

// -- variation

// Conv's channels, in X and W alike.
void draw_depth(Case& c, Generator& draw) {
  Case conv = conv_of(c);
  if (!conv.sources.contains("W")) return;
  const Int group = conv.call().integer("group");
  const Int depth = 1 + static_cast<Int>(draw.below(draw.below(2) == 0 ? 3 : 48));
  conv.node.inputs.at("W").type.shape[1] = depth;
  conv.node.inputs.at("X").type.shape[1] = depth * group;
  stand_for(c, conv);
}

// More or fewer outputs: each is a chance.
void draw_extent(Case& c, Generator& draw) {
  Case conv = conv_of(c);
  Shape& x = conv.node.inputs.at("X").type.shape;
  const std::size_t axis = draw.below(x.size() - 1);
  x[axis == 0 ? 0 : axis + 1] = 1 + static_cast<Int>(draw.below(40));
  stand_for(c, conv);
}

// Moves one extent of the kernel, and the input with it, so that the windows stay.
void draw_kernel(Case& c, Generator& draw) {
  const bool is_conv = generator_of(c.version).layout.has_value();
  if (is_global(c)) return draw_extent(c, draw);
  Case conv = conv_of(c);
  Ints kernel = conv.call().ints("kernel_shape");
  const std::size_t axis = draw.below(kernel.size());
  const Int before = kernel[axis];
  // Short sums use most of their budget, long ones have most to lose.
  const Int longest = draw.below(2) == 0 ? 3 : is_conv ? 7 : 24;
  kernel[axis] = 1 + static_cast<Int>(draw.below(static_cast<std::uint64_t>(longest)));
  const Int dilation = conv.definition().attribute("dilations") ? conv.call().ints("dilations").at(axis) : 1;
  conv.node.inputs.at("X").type.shape.at(axis + 2) += (kernel[axis] - before) * dilation;
  if (is_conv) conv.node.inputs.at("W").type.shape.at(axis + 2) = kernel[axis];
  if (!is_conv || conv.node.attributes.contains("kernel_shape")) conv.node.attribute("kernel_shape", kernel);
  stand_for(c, conv);
}

// -- the regions of an output, channels second

// An output with its extents named: N x M x windows.
struct Output {
  Int batch = 0, maps = 0, group = 1;
  Shape windows;
  bool channels_last = false;

  Int map_of(const Shape& at) const { return channels_last ? at.back() : at[1]; }
  // The place among the windows along an axis, counted from the first or from the last.
  Int window(const Shape& at, std::size_t axis) const { return at[axis + (channels_last ? 1 : 2)]; }
  Int last_window(const Shape& at) const { return window(at, windows.size() - 1); }
};

Output output_of(const Case& c, const Shape& shape) {
  const bool channels_last = c.call().has_channels_last();
  const Shape second = channels_last ? channels_second(shape) : shape;
  Output output{second.at(0), second.at(1), 1, {second.begin() + 2, second.end()}, channels_last};
  if (c.definition().attribute("group")) output.group = c.call().integer("group");
  return output;
}

bool is_many(Int extent) { return extent > 1; }

template <class F>
auto every_axis(const Output& y, F&& holds) {
  return [y, holds](const Shape& at) {
    for (std::size_t axis = 0; axis < y.windows.size(); ++axis)
      if (!holds(y.window(at, axis), y.windows[axis] - 1)) return false;
    return true;
  };
}

std::vector<Region> regions_of(const Output& y) {
  std::vector<Region> all;
  const auto add = [&](bool exists, const char* name, std::function<bool(const Shape&)> holds) {
    if (exists) all.push_back({name, std::move(holds)});
  };
  const bool has_windows = std::ranges::any_of(y.windows, is_many),
             has_columns = !y.windows.empty() && y.windows.back() > 1;
  const bool has_rows = y.windows.size() > 1 && y.windows.front() > 1;
  const bool has_interior = !y.windows.empty() && std::ranges::all_of(y.windows, [](Int extent) { return extent > 2; });
  const auto is_interior = every_axis(y, [](Int at, Int last) { return at != 0 && at != last; });
  add(has_windows, "in the last window", every_axis(y, [](Int at, Int last) { return at == last; }));
  add(has_windows, "in the first window", every_axis(y, [](Int at, Int) { return at == 0; }));
  add(has_columns, "in the last column", [y](const Shape& at) { return y.last_window(at) == y.windows.back() - 1; });
  add(has_columns, "in the first column", [y](const Shape& at) { return y.last_window(at) == 0; });
  add(has_rows, "in the last row", [y](const Shape& at) { return y.window(at, 0) == y.windows.front() - 1; });
  add(has_rows, "in the first row", [y](const Shape& at) { return y.window(at, 0) == 0; });
  add(has_columns && y.windows.back() > 4 && y.windows.back() % 4 != 0, "past the last four columns",
      [y](const Shape& at) { return y.last_window(at) >= y.windows.back() / 4 * 4; });
  add(is_many(y.maps), "in the last map", [y](const Shape& at) { return y.map_of(at) == y.maps - 1; });
  add(y.maps > 4 && y.maps % 4 != 0, "in the channel tail",
      [y](const Shape& at) { return y.map_of(at) >= y.maps / 4 * 4; });
  add(is_many(y.group) && y.maps >= y.group, "after the first group",
      [y](const Shape& at) { return y.map_of(at) >= y.maps / y.group; });
  add(is_many(y.batch), "after the first item of the batch", [](const Shape& at) { return at[0] > 0; });
  add(has_interior, "at the border", [is_interior](const Shape& at) { return !is_interior(at); });
  add(has_interior, "in the interior", is_interior);
  return all;
}

// -- what a case touches that is settled

bool any_above(const Call& call, const char* list, Int least) {
  return call.states(list) && std::ranges::any_of(call.ints(list), [=](Int each) { return each > least; });
}

bool has_wide_pads(const Call& call) {
  const Ints pads = call.states("pads") ? call.ints("pads") : Ints();
  const Ints kernel = call.states("kernel_shape") ? call.ints("kernel_shape") : Ints();
  for (std::size_t i = 0; i < pads.size() && !kernel.empty(); ++i)
    if (pads[i] >= kernel[i % kernel.size()]) return true;
  return false;
}

class WindowFamily final : public Family {
 public:
  const OperatorGenerator* generator() const override { return &selecting_pool(); }
  std::vector<Mutation> damages(const OperatorGenerator& own) const override {
    if (!own.layout) return window_damages();
    std::vector<Mutation> all;
    for (const Mutation& each : conv_damages()) all.push_back(done_to_conv(each));
    for (const Mutation& each : window_damages()) all.push_back(done_to_conv(each));
    return all;
  }
  bool is_breakable(const Definition& definition, std::string_view constraint) const override {
    return constraint != "W6" || definition.attribute("dilations");  // without dilations there is none of 0
  }

  std::optional<AttributeDimension> attribute(const AttributeSpec& spec) const override {
    return window_attribute(spec);
  }
  std::vector<Dimension> dimensions(const Definition& definition) const override {
    return window_dimensions(definition);
  }
  std::vector<int> features(const Case& legal) const override { return window_features(legal); }
  std::span<const Exclusion> exclusions() const override { return window_exclusions(); }
  bool is_degenerate(const CoverageValue& feature) const override {
    const bool is_extent =
        feature.dimension == "batch" || feature.dimension == "channels" || feature.dimension == "maps";
    return (feature.dimension == "rank" && feature.value == "4") || feature.value == "an empty axis" ||
           (is_extent && feature.value == "0");
  }
  Names cells(const Definition& definition) const override { return window_cells(definition); }
  Names traits(const Case& legal) const override { return window_traits(legal); }

  std::span<const ShrinkStep> coarse_steps() const override { return coarse_window_steps(); }
  std::span<const ShrinkStep> fine_steps() const override { return fine_window_steps(); }
  std::optional<Attribute> plainer(const Case& c, const std::string& attribute) const override {
    if (attribute != "auto_pad" || c.call().text(attribute) != "SAME_LOWER") return std::nullopt;
    return Attribute("SAME_UPPER");
  }
  Role role(const Case& c, const std::string& input) const override {
    const std::optional<Layout>& layout = generator_of(c.version).layout;
    if (input == c.definition().inputs.front().name) return Role::data;
    return (layout && input == layout->w) || input == "mask" ? Role::weights : Role::other;
  }

  // Offsets, masks and the like stay what they are.
  Names summed(const Case& c) const override {
    const Layout layout = generator_of(c.version).layout.value_or(Layout{});
    Names names;
    for (const char* name : {layout.x, layout.w, layout.b})
      if (c.sources.contains(name)) names.emplace_back(name);
    return names;
  }
  bool vary(Case& c, Generator& draw, std::uint64_t which) const override {
    constexpr void (*ways[])(Case&, Generator&) = {draw_depth, draw_kernel, draw_extent};
    if (which >= std::size(ways)) return false;
    ways[which](c, draw);
    return true;
  }

  std::vector<Region> regions(const Case& c, const Shape& output) const override {
    return regions_of(output_of(c, output));
  }
  Names settled(const Case& c) const override {
    const Call call = c.call();
    const bool is_same = call.states("auto_pad") && call.text("auto_pad").starts_with("SAME_");
    const bool is_dilated = any_above(call, "dilations", 1);
    const Shape& first = call.shape(c.definition().inputs.front().name);
    const bool is_empty = std::ranges::find(first, 0) != first.end();
    const std::pair<const char*, bool> all[] = {
        {"A2", is_same && is_dilated}, {"A12", is_same || any_above(call, "pads", 0)},
        {"A15", has_wide_pads(call)},  {"A28", has_nonfinite_data(c)},
        {"A30", is_dilated},           {"A31", is_same && is_empty}};
    Names ids;
    for (const auto& [id, holds] : all)
      if (holds) ids.emplace_back(id);
    return ids;
  }
};

}  // namespace

const std::vector<Mutation>& window_damages() {
  static const std::vector<Mutation> damages{
      {"a stride of 0 or less", [](Case& c) { return change_entry(c, "strides", -between(0, 1)); }},
      {"a dilation of 0 or less", [](Case& c) { return change_entry(c, "dilations", -between(0, 1)); }},
      {"a negative pad", [](Case& c) { return change_entry(c, "pads", -between(1, 2)); }},
      {"strides of another length", [](Case& c) { return change_length(c, "strides"); }},
      {"dilations of another length", [](Case& c) { return change_length(c, "dilations"); }},
      {"pads of another length", [](Case& c) { return change_length(c, "pads"); }},
      {"one pad per axis",
       [](Case& c) {
         if (is_global(c)) return false;
         c.node.attribute("pads", Ints(shape_of(c).size() - 2, 1));
         return true;
       }},
      {"an unknown auto_pad",
       [](Case& c) {
         if (is_global(c)) return false;
         c.node.attributes.erase("pads");
         c.node.attribute("auto_pad", pick({"SAME", "same_upper", "Valid", "EXPLICIT", "SAME_UPPER_LOWER", "NONE"}));
         return true;
       }},
      {"auto_pad and pads",
       [](Case& c) {
         if (is_global(c)) return false;
         Ints pads = c.call().ints("pads");
         if (chance(70)) std::ranges::generate(pads, [] { return between(0, 2); });
         c.node.attribute("pads", std::move(pads));
         if (!c.node.attributes.contains("auto_pad") || c.call().text("auto_pad") == "NOTSET")
           c.node.attribute("auto_pad", pick({"SAME_UPPER", "SAME_LOWER", "VALID"}));
         return true;
       }},
      {"an input too small",
       [](Case& c) {
         Shape& x = shape_of(c, "X");
         if (x.size() < 3) return false;
         x[static_cast<std::size_t>(between(2, static_cast<Int>(x.size()) - 1))] = between(0, 1);
         return true;
       }},
      {"a dilation too large", [](Case& c) { return change_entry(c, "dilations", between(5, 20)); }}};
  return damages;
}

const Family& window_family() {
  static const WindowFamily family;
  return family;
}

}  // namespace assay::generators
