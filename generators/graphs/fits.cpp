// SPDX-License-Identifier: Apache-2.0
// Adds a node that fits behind the last value of a graph (growth.h).
#include "generators/draw.h"
#include "generators/graphs/growth.h"
#include "generators/values.h"
#include "reference/families/moved.h"
#include "reference/sequence.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace assay::generators {

// Draws what fits behind the last value of a graph, operator by operator.
struct Fits {
  using Fit = bool (*)(Growth&, const std::string& op);

  static bool plain(Growth& g, const std::string& op) { return g.add(op, {g.last_}); }

  static bool of_two(Growth& g, const std::string& op) {
    const std::string x = g.last_, y = g.other(op);
    if (op == "Div" || !chance(25)) return g.add(op, {x, y});
    g.note("operands swapped");
    return g.add(op, {y, x});
  }

  static bool of_several(Growth& g, const std::string& op) {
    std::vector<std::string> operands{g.last_, g.other(op)};
    if (chance(25)) operands.push_back(g.other(op));
    if (op == "Mean" && chance(50)) operands.resize(2);
    if (chance(20)) std::ranges::reverse(operands);
    return g.add(op, operands);
  }

  static bool clip(Growth& g, const std::string& op) {
    const DType type = g.type(g.last_).dtype;
    if (!is_float(type) && type != DType::i32 && type != DType::i64) return false;
    const std::optional<float> least =
        chance(80) ? std::optional(pick({-6.0F, -1.0F, 0.0F, 0.0F, 1.0F})) : std::nullopt;
    const std::optional<float> most = chance(80) ? std::optional(pick({2.0F, 4.0F, 6.0F, 6.0F})) : std::nullopt;
    if (!g.definition(op)->attribute("min")) {
      const auto bound = [&](const std::optional<float>& each) {
        return each ? g.constant(Shape{}, {"values", decimal(*each)}) : std::string();
      };
      const std::string low = bound(least), high = bound(most);
      return g.add(op, {g.last_, low, high});
    }
    Attributes attributes;
    if (least) attributes["min"] = *least;
    if (most) attributes["max"] = *most;
    return g.add(op, {g.last_}, attributes);
  }

  static bool leaky_relu(Growth& g, const std::string& op) {
    return g.add(op, {g.last_}, {{"alpha", pick({0.25F, 0.5F, 0.125F, 2.0F})}});
  }

  static bool p_relu(Growth& g, const std::string& op) {
    const Shape& x = g.shape();
    std::vector<Shape> shapes{{1}, x, Shape(x.size(), 1), {x.back()}};
    if (x.size() > 2) {
      Shape channels(x.size() - 1, 1);
      channels[0] = x[1];
      shapes.insert(shapes.end(), 3, channels);
    }
    return g.add(op, {g.last_, g.constant(pick(shapes), Growth::held("0.5,-0.25,2"))});
  }

  // Draws kernel_shape, strides, dilations and pads of a sliding window; none where an axis has no room.
  static std::optional<Attributes> window(const Growth& g, bool has_dilations, std::initializer_list<Int> extents) {
    Attributes out;
    Ints kernel, strides, dilations, pads;
    for (Int axis = 2; axis < g.rank(); ++axis) {
      kernel.push_back(pick(extents));
      strides.push_back(weighted<Int>({{3, 1}, {2, 2}, {1, 3}}));
      dilations.push_back(has_dilations ? weighted<Int>({{6, 1}, {1, 2}}) : 1);
    }
    const bool is_padded = chance(50);
    for (int side = 0; side < 2; ++side)
      for (std::size_t axis = 0; axis < kernel.size(); ++axis)
        pads.push_back(is_padded ? between(0, kernel[axis] - 1) : 0);
    for (std::size_t axis = 0; axis < kernel.size(); ++axis)
      if (g.shape()[axis + 2] + pads[axis] + pads[axis + kernel.size()] < dilations[axis] * (kernel[axis] - 1) + 1)
        return std::nullopt;
    out["kernel_shape"] = kernel;
    if (chance(70)) out["strides"] = strides;
    if (has_dilations && chance(70)) out["dilations"] = dilations;
    const bool is_dilated = std::ranges::any_of(dilations, [](Int each) { return each > 1; });
    if (is_padded && !is_dilated && chance(20))
      out["auto_pad"] = pick<std::string>({"SAME_UPPER", "SAME_LOWER", "VALID"});
    else if (is_padded)
      out["pads"] = pads;
    return out;
  }

  static bool conv(Growth& g, const std::string& op) {
    if (g.rank() < 3) return false;
    std::optional<Attributes> attributes = window(g, true, {1, 1, 2, 3, 3});
    if (!attributes) return false;
    const bool is_transposed = op == "ConvTranspose";
    const Int channels = g.extent(1);
    std::vector<Int> groups{1, 1, 1};
    for (const Int each : {channels, Int{2}})
      if (each > 1 && channels % each == 0) groups.push_back(each);
    const Int group = pick(groups), maps = weighted<Int>({{2, 1}, {3, 2}, {2, 3}, {1, 4}, {1, 8}, {1, 16}});
    if (group > 1) g.note("groups");
    if (group > 1 || chance(10)) (*attributes)["group"] = group;
    const Ints kernel = std::get<Ints>(attributes->at("kernel_shape"));
    Shape w = is_transposed ? Shape{channels, maps} : Shape{maps * group, channels / group};
    w.insert(w.end(), kernel.begin(), kernel.end());
    if (chance(30)) attributes->erase("kernel_shape");
    const Int terms = volume(w) / w[is_transposed ? 1 : 0];
    std::vector<std::string> operands{g.last_, g.weights(w, terms)};
    if (chance(60)) operands.push_back(g.constant(Shape{maps * group}, seeded("small")));
    return g.add(op, operands, *attributes);
  }

  static bool mat_mul(Growth& g, const std::string& op) {
    if (g.rank() < 2) return false;
    const Int rows = g.extent(g.rank() - 2), columns = g.extent(g.rank() - 1), new_extent = pick<Int>({1, 2, 3, 5, 8});
    Shape batch(g.shape().begin(), g.shape().end() - 2);
    if (chance(60)) batch.clear();
    const bool is_left = chance(25);
    Shape w = batch;
    w.insert(w.end(), {is_left ? new_extent : columns, is_left ? rows : new_extent});
    if (!is_left && chance(8)) w = {columns};
    const std::string weight = g.weights(w, is_left ? rows : columns);
    if (is_left) g.note("operands swapped");
    return is_left ? g.add(op, {weight, g.last_}) : g.add(op, {g.last_, weight});
  }

  static bool gemm(Growth& g, const std::string& op) {
    if (g.rank() != 2) return false;
    const bool turns_a = chance(25), turns_b = chance(40);
    const bool is_left = chance(15) && g.definition(op)->inputs[2].arity != Arity::required;
    const Int rows = g.extent(turns_a ? 1 : 0), inner = g.extent(turns_a ? 0 : 1), columns = pick<Int>({1, 2, 3, 5, 8});
    Attributes attributes;
    if (turns_a) attributes["transA"] = Int{1};
    if (turns_b) attributes["transB"] = Int{1};
    if (chance(25)) attributes["alpha"] = pick({0.5F, 2.0F}), g.note("a scaled product");
    if (chance(25)) attributes["beta"] = pick({0.5F, 2.0F}), g.note("a scaled product");
    if (is_left) {  // of a product of `columns` rows
      const Int common = g.extent(turns_b ? 1 : 0);
      g.note("operands swapped");
      return g.add(op, {g.weights(turns_a ? Shape{common, columns} : Shape{columns, common}, common), g.last_},
                   attributes);
    }
    std::vector<std::string> operands{g.last_,
                                      g.weights(turns_b ? Shape{columns, inner} : Shape{inner, columns}, inner)};
    const std::vector<Shape> biases{{columns}, {columns}, {1, columns}, {rows, columns}, {rows, 1}, {1}, {}};
    if (g.definition(op)->inputs[2].arity == Arity::required || chance(65)) {
      const Recipe small = seeded("small");
      operands.push_back(g.constant(pick(biases), small));
    }
    return g.add(op, operands, attributes);
  }

  static bool batch_normalization(Growth& g, const std::string& op) {
    if (g.rank() < 2) return false;
    const Shape channels{g.extent(1)};
    const std::string scale = g.constant(channels, Growth::held("1,-2,0.5,2,-1")),
                      bias = g.constant(channels, seeded("small")), mean = g.constant(channels, seeded("small"));
    // With epsilon 2^-6 these are 1 and 4.
    const std::string variance = g.constant(channels, Growth::held(pick({"0.984375", "3.984375,0.984375"})));
    return g.add(op, {g.last_, scale, bias, mean, variance}, {{"epsilon", 0.015625F}});
  }

  static bool pool(Growth& g, const std::string& op) {
    if (g.rank() < 3) return false;
    const bool is_max = op == "MaxPool";
    const Definition& definition = *g.definition(op);
    std::optional<Attributes> attributes =
        window(g, is_max && definition.attribute("dilations"), {1, 2, 2, is_max ? 3 : 4});
    if (!attributes) return false;
    if (definition.attribute("ceil_mode") && chance(20)) (*attributes)["ceil_mode"] = Int{1}, g.note("ceil_mode");
    if (!is_max && chance(70)) (*attributes)["count_include_pad"] = Int{1};
    return g.add(op, {g.last_}, *attributes);
  }

  static bool pad(Growth& g, const std::string& op) {
    const auto rank = static_cast<std::size_t>(g.rank());
    const std::string mode = weighted<std::string>({{7, "constant"}, {1, "reflect"}, {1, "edge"}});
    Ints pads(2 * rank, 0);
    const bool is_spatial = g.rank() > 2 && chance(70);
    for (std::size_t i = 0; i < pads.size(); ++i) {
      const Int extent = g.shape()[i % rank];
      if ((is_spatial && i % rank < 2) || chance(40)) continue;
      pads[i] = chance(12) ? -1 : between(0, mode == "reflect" ? std::min<Int>(extent - 1, 2) : 2);
      if (pads[i] < 0) g.note("negative pad");
      if (i % rank < 2 && pads[i] != 0) g.note("pads of channels or batches");
    }
    if (mode != "constant") g.note("pads by reflection or edges");
    Attributes attributes;
    if (mode != "constant" || chance(30)) attributes["mode"] = mode;
    const DType type = g.type(g.last_).dtype;
    const bool is_signed = is_float(type) || type == DType::i32 || type == DType::i64;
    const double value = weighted<double>({{4, 0}, {1, 1}, {is_signed ? 1 : 0, -2}, {is_float(type) ? 1 : 0, 0.5}});
    if (value != 0) g.note("pads that are not 0");
    if (g.definition(op)->attribute("pads")) {
      attributes["pads"] = pads;
      if (value != 0) attributes["value"] = static_cast<float>(value);
      return g.add(op, {g.last_}, attributes);
    }
    std::vector<std::string> operands{g.last_, g.list(pads)};
    if (value != 0 || chance(30)) operands.push_back(g.constant(Shape{}, {"values", decimal(value)}));
    return g.add(op, operands, attributes);
  }

  static bool slice(Growth& g, const std::string& op) {
    Ints starts, ends, axes, steps;
    for (Int axis = 0; axis < g.rank(); ++axis) {
      const Int extent = g.extent(axis);
      if (!chance(50)) continue;
      const bool is_backward = chance(15);
      const Int first = between(0, extent - 1), last = between(first + 1, extent);
      axes.push_back(chance(25) ? axis - g.rank() : axis);
      steps.push_back(is_backward ? -pick<Int>({1, 1, 2}) : pick<Int>({1, 1, 1, 2}));
      starts.push_back(is_backward ? last - 1 : chance(20) ? first - extent : first);
      ends.push_back(is_backward ? (first == 0 ? -1000 : first - 1) : chance(20) ? 1000 : last);
      if (is_backward) g.note("backward");
    }
    if (axes.empty()) axes = {0}, starts = {0}, ends = {g.extent(0)}, steps = {1};
    const bool has_steps = std::ranges::any_of(steps, [](Int each) { return each != 1; });
    if (g.definition(op)->attribute("starts"))
      return !has_steps && g.add(op, {g.last_}, {{"starts", starts}, {"ends", ends}, {"axes", axes}});
    std::vector<std::string> operands{g.last_, g.list(starts), g.list(ends), g.list(axes)};
    if (has_steps || chance(30)) operands.push_back(g.list(steps));
    return g.add(op, operands);
  }

  static Int any_axis(const Growth& g) { return g.axis_ ? *g.axis_ : between(0, g.rank() - 1); }
  static Int spelled(const Growth& g, Int axis) { return chance(30) ? axis - g.rank() : axis; }

  static bool split(Growth& g, const std::string& op) {
    const Int axis = any_axis(g), extent = g.extent(axis);
    if (extent < 2) return false;
    const auto parts = static_cast<std::size_t>(std::min<Int>(extent, pick<Int>({2, 2, 3})));
    Ints lengths(parts, 1);
    for (Int left = extent - std::ssize(lengths); left > 0; --left)
      ++lengths[static_cast<std::size_t>(between(0, std::ssize(lengths) - 1))];
    Attributes attributes{{"axis", spelled(g, axis)}};
    const Definition& definition = *g.definition(op);
    if (definition.attribute("num_outputs") && chance(40)) {
      attributes["num_outputs"] = std::ssize(lengths);
      return g.add(op, {g.last_}, attributes, parts);
    }
    if (!definition.attribute("split")) return g.add(op, {g.last_, g.list(lengths)}, attributes, parts);
    attributes["split"] = lengths;
    return g.add(op, {g.last_}, attributes, parts);
  }

  static bool concat(Growth& g, const std::string& op) {
    if (g.rank() < 1) return false;
    const Int axis = any_axis(g);
    const auto fits = [&](const std::string& each) {
      Shape own = g.type(each).shape, x = g.shape();
      if (g.type(each).dtype != g.type(g.last_).dtype || own.size() != x.size()) return false;
      own[static_cast<std::size_t>(axis)] = x[static_cast<std::size_t>(axis)] = 0;
      return own == x;
    };
    std::vector<std::string> operands{g.last_};
    if (g.given_.size() > 1 && chance(70)) operands = g.given_;
    std::vector<std::string> like;
    std::ranges::copy_if(g.values_, std::back_inserter(like), fits);
    if (operands.size() == 1 && chance(10)) {
      g.note("one operand");
    } else if (operands.size() == 1 && !like.empty() && chance(55)) {
      operands.push_back(pick(like));
      g.note(operands[0] == operands[1] ? "the same operand twice" : "another value as operand");
    } else if (operands.size() == 1) {
      Shape shape = g.shape();
      shape[static_cast<std::size_t>(axis)] = between(1, 3);
      if (is_float(g.type(g.last_).dtype))
        operands.push_back(chance(50) ? g.constant(shape, seeded("small")) : g.data({g.type(g.last_).dtype, shape}));
      else
        operands.push_back(g.initializer({g.type(g.last_).dtype, shape}, seeded("small")));
    }
    if (chance(30)) std::ranges::reverse(operands);
    return g.add(op, operands, {{"axis", g.definition(op)->version.since_version < 11 ? axis : spelled(g, axis)}});
  }

  static bool gather(Growth& g, const std::string& op) {
    const Int axis = any_axis(g), extent = g.extent(axis);
    Ints indices(static_cast<std::size_t>(pick<Int>({0, 1, 2, 3})));
    const bool is_scalar = indices.empty();
    if (is_scalar) indices.push_back(0);
    for (Int& each : indices) each = between(g.definition(op)->version.since_version < 11 ? 0 : -extent, extent - 1);
    const Shape shape = is_scalar ? Shape{} : Shape{std::ssize(indices)};
    const Recipe recipe{"values", joined(indices, ",", [](Int each) { return std::to_string(each); })};
    const Int spelt = spelled(g, axis);
    return g.add(op, {g.last_, g.constant({DType::i64, shape}, recipe)}, {{"axis", spelt}});
  }

  static bool transpose(Growth& g, const std::string& op) {
    Ints perm(static_cast<std::size_t>(g.rank()));
    std::iota(perm.begin(), perm.end(), 0);
    if (std::ssize(g.perm_) == g.rank() && chance(60)) {
      for (std::size_t i = 0; i < perm.size(); ++i) perm[static_cast<std::size_t>(g.perm_[i])] = static_cast<Int>(i);
    } else if (g.rank() > 3 && chance(50)) {
      perm = chance(50) ? Ints{0, 2, 3, 1} : Ints{0, 3, 1, 2};
      for (Int axis = 4; axis < g.rank(); ++axis) perm.push_back(axis);
    } else {
      for (std::size_t i = perm.size(); i > 1; --i)
        std::swap(perm[i - 1], perm[static_cast<std::size_t>(between(0, static_cast<Int>(i) - 1))]);
    }
    if (!g.add(op, {g.last_}, {{"perm", perm}})) return false;
    g.perm_ = perm;
    return true;
  }

  static bool reshape(Growth& g, const std::string& op) {
    Ints to = g.shape();
    const auto at = static_cast<std::size_t>(to.size() > 1 ? between(0, std::ssize(to) - 2) : 0);
    const auto begin = to.begin() + static_cast<std::ptrdiff_t>(at);
    switch (between(0, 4)) {
      case 0:  // two axes become one
        if (to.size() < 2) return false;
        *begin *= *(begin + 1);
        to.erase(begin + 1);
        break;
      case 1:  // one becomes two
        if (*begin % 2 != 0) return false;
        *begin /= 2;
        to.insert(begin, 2);
        break;
      case 2: to = {to.front(), volume(to) / to.front()}; break;
      case 3: to.insert(begin, 1); break;
      default: break;
    }
    if (chance(30)) {
      to[static_cast<std::size_t>(between(0, std::ssize(to) - 1))] = -1;
      g.note("-1 for an extent");
    }
    if (g.rank() > 0 && to.front() == g.extent(0) && chance(15)) to.front() = 0, g.note("0 for an extent");
    return g.add(op, {g.last_, g.list(to)});
  }

  static bool flatten(Growth& g, const std::string& op) {
    return g.add(op, {g.last_}, chance(40) ? Attributes{} : Attributes{{"axis", between(0, g.rank())}});
  }

  // Adds a node whose axes are an attribute of some versions and an input of the others.
  static bool with_axes(Growth& g, const std::string& op, const Ints& axes, Attributes attributes = {}) {
    if (!g.definition(op)->attribute("axes")) return g.add(op, {g.last_, g.list(axes)}, attributes);
    attributes["axes"] = axes;
    return g.add(op, {g.last_}, attributes);
  }

  static bool squeeze(Growth& g, const std::string& op) {
    Ints axes;
    for (Int axis = 0; axis < g.rank(); ++axis)
      if (g.extent(axis) == 1 && (axes.empty() || chance(50))) axes.push_back(axis);
    return !axes.empty() && g.rank() > 1 && with_axes(g, op, axes);
  }

  static bool unsqueeze(Growth& g, const std::string& op) { return with_axes(g, op, {between(0, g.rank())}); }

  static bool expand(Growth& g, const std::string& op) {
    Ints to = g.shape();
    for (Int& each : to)
      if (each == 1 && chance(50)) each = between(1, 3);
    if (chance(20)) to.insert(to.begin(), between(1, 2));
    if (chance(30))
      std::ranges::replace_if(
          to, [](Int) { return chance(40); }, 1);
    return g.add(op, {g.last_, g.list(to)});
  }

  static bool tile(Growth& g, const std::string& op) {
    Ints repeats(static_cast<std::size_t>(g.rank()), 1);
    if (!repeats.empty() && chance(80)) pick(repeats) = 2;
    return g.add(op, {g.last_, g.list(repeats)});
  }

  static bool depth_to_space(Growth& g, const std::string& op) {
    if (g.rank() != 4) return false;
    Attributes attributes{{"blocksize", Int{2}}};
    if (g.definition(op)->attribute("mode") && chance(50)) attributes["mode"] = pick<std::string>({"DCR", "CRD"});
    return g.add(op, {g.last_}, attributes);
  }

  static bool resize(Growth& g, const std::string& op) {
    if (!is_float(g.type(g.last_).dtype) && g.definition(op)->version.since_version < 11) return false;
    std::string scales;
    for (Int axis = 0; axis < g.rank(); ++axis)
      scales += (axis > 0 ? "," : "") +
                std::string(g.rank() > 2 && axis < 2 ? (chance(92) ? "1" : "2") : pick({"1", "2", "2", "3"}));
    const std::string factors = g.initializer({DType::f32, {g.rank()}}, {"values", scales});
    if (g.definition(op)->version.since_version < 11) return g.add(op, {g.last_, factors}, {{"mode", "nearest"}});
    const std::string roi =
        g.definition(op)->version.since_version < 13 ? g.initializer({DType::f32, {0}}, {"values", ""}) : "";
    return g.add(op, {g.last_, roi, factors},
                 {{"mode", "nearest"}, {"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "floor"}});
  }

  static bool reduce(Growth& g, const std::string& op) {
    Ints axes;
    for (Int axis = 0; axis < g.rank(); ++axis)
      if (chance(45)) axes.push_back(spelled(g, axis));
    if (g.definition(op)->version.since_version < 11)
      for (Int& axis : axes) axis = from_front(axis, g.rank());
    Attributes attributes;
    if (chance(60)) attributes["keepdims"] = chance(70) ? Int{0} : Int{1};
    if (axes.empty()) return g.add(op, {g.last_}, attributes);
    return with_axes(g, op, axes, attributes);
  }

  static bool where(Growth& g, const std::string& op) {
    if (g.type(g.last_).dtype == DType::boolean) {
      std::vector<std::string> like;
      for (const std::string& each : g.values_)
        if (is_float(g.type(each).dtype)) like.push_back(each);
      if (like.empty()) return false;
      const std::string x = pick(like);
      const std::string y = g.constant({g.type(x).dtype, {}}, seeded("small"));
      return g.add(op, chance(50) ? std::vector{g.last_, x, y} : std::vector{g.last_, y, x});
    }
    const Recipe full = seeded("full");
    const std::string condition = g.constant({DType::boolean, chance(60) ? g.shape() : Shape{g.shape().back()}}, full);
    const std::string x = g.last_, y = is_float(g.type(x).dtype) ? g.other("Max") : x;
    return chance(50) ? g.add(op, {condition, x, y}) : g.add(op, {condition, y, x});
  }

  static bool cum_sum(Growth& g, const std::string& op) {
    Attributes attributes;
    if (chance(25)) attributes["exclusive"] = Int{1};
    if (chance(25)) attributes["reverse"] = Int{1};
    const std::string axis = g.initializer({DType::i64, {}}, {"values", std::to_string(spelled(g, any_axis(g)))});
    return g.add(op, {g.last_, axis}, attributes);
  }

  static bool trilu(Growth& g, const std::string& op) {
    if (g.rank() < 2) return false;
    Attributes attributes;
    if (chance(50)) attributes["upper"] = between(0, 1);
    const std::string k = chance(50) ? g.initializer({DType::i64, {}}, {"values", std::to_string(between(-2, 2))}) : "";
    return g.add(op, {g.last_, k}, attributes);
  }

  static bool arg_max(Growth& g, const std::string& op) {
    Attributes attributes{{"axis", any_axis(g)}};
    if (chance(50)) attributes["keepdims"] = between(0, 1);
    return g.add(op, {g.last_}, attributes);
  }

  // Indices of the whole tensor's shape, into the axis.
  static bool elements(Growth& g, const std::string& op) {
    const Int axis = any_axis(g);
    Shape shape = g.shape();
    if (chance(50)) shape[static_cast<std::size_t>(axis)] = 1;
    if (volume(shape) > 100) return false;
    Ints at(static_cast<std::size_t>(volume(shape)));
    for (Int& each : at) each = between(-g.extent(axis), g.extent(axis) - 1);
    const Recipe recipe{"values", joined(at, ",", [](Int each) { return std::to_string(each); })};
    const std::string indices = g.initializer({DType::i64, shape}, recipe);
    std::vector<std::string> operands{g.last_, indices};
    if (op == "ScatterElements") {
      if (shape[static_cast<std::size_t>(axis)] != 1) return false;
      operands.push_back(g.constant(shape, seeded("small")));
    }
    return g.add(op, operands, {{"axis", spelled(g, axis)}});
  }

  static bool flag(Growth& g, const std::string& op) {
    if (op == "Not") return g.add(op, {g.last_});
    return g.add(op, {g.last_, g.constant({DType::boolean, g.shape()}, seeded("full"))});
  }

  static bool cast(Growth& g, const std::string& op) {
    const DType from = g.type(g.last_).dtype;
    const bool is_to_integers = !is_float(from) || chance(20);
    const DType to = from != DType::f32 ? DType::f32
                     : is_to_integers   ? pick({DType::i32, DType::i64, DType::boolean})
                                        : pick({DType::f16, DType::f64, DType::f64, DType::f32});
    return g.add(op, {g.last_}, {{"to", static_cast<Int>(to)}});
  }

  static bool softmax(Growth& g, const std::string& op) { return g.add(op, {g.last_}, {{"axis", any_axis(g)}}); }

  static bool quantize(Growth& g, const std::string& op) {
    if (g.type(g.last_).dtype != DType::f32) return false;
    const bool is_again = !g.scale_.empty() && chance(60);
    if (!is_again) {
      const DType type = weighted<DType>({{4, DType::u8}, {4, DType::i8}, {1, DType::u16}, {1, DType::i16}});
      const char* const zero = type == DType::u8 || type == DType::u16 ? pick({"128", "127", "100", "0"})
                                                                       : pick({"0", "0", "3", "-1", "-128"});
      g.scale_ = {g.initializer({DType::f32, {}}, {"values", pick({"1", "0.5", "0.25", "0.25"})}),
                  chance(85) ? g.initializer({type, {}}, {"values", zero}) : ""};
    }
    return g.add(op, {g.last_, g.scale_[0], g.scale_[1]});
  }

  static bool dequantize(Growth& g, const std::string& op) {
    if (is_float(g.type(g.last_).dtype) || g.scale_.empty()) return false;
    return g.add(op, {g.last_, g.scale_[0], g.scale_[1]});
  }

  static const std::map<std::string_view, Fit>& all() {
    static const std::map<std::string_view, Fit> fits{
        {"Abs", plain},
        {"Add", of_two},
        {"AveragePool", pool},
        {"And", flag},
        {"ArgMax", arg_max},
        {"BatchNormalization", batch_normalization},
        {"Cast", cast},
        {"Clip", clip},
        {"Concat", concat},
        {"Conv", conv},
        {"ConvTranspose", conv},
        {"DepthToSpace", depth_to_space},
        {"DequantizeLinear", dequantize},
        {"Ceil", plain},
        {"CumSum", cum_sum},
        {"Div", of_two},
        {"Dropout", plain},
        {"Equal", of_two},
        {"Expand", expand},
        {"Flatten", flatten},
        {"Floor", plain},
        {"Gather", gather},
        {"GatherElements", elements},
        {"Gemm", gemm},
        {"GlobalAveragePool", plain},
        {"GlobalMaxPool", plain},
        {"Greater", of_two},
        {"HardSigmoid", plain},
        {"Identity", plain},
        {"LeakyRelu", leaky_relu},
        {"Less", of_two},
        {"MatMul", mat_mul},
        {"Max", of_several},
        {"MaxPool", pool},
        {"Mean", of_several},
        {"Min", of_several},
        {"Mul", of_two},
        {"Neg", plain},
        {"Not", flag},
        {"PRelu", p_relu},
        {"Pad", pad},
        {"QuantizeLinear", quantize},
        {"ReduceMax", reduce},
        {"ReduceMean", reduce},
        {"ReduceMin", reduce},
        {"ReduceSum", reduce},
        {"Relu", plain},
        {"Reshape", reshape},
        {"Resize", resize},
        {"ScatterElements", elements},
        {"Shape", plain},
        {"Sigmoid", plain},
        {"Sign", plain},
        {"Slice", slice},
        {"Softmax", softmax},
        {"SpaceToDepth", depth_to_space},
        {"Split", split},
        {"Squeeze", squeeze},
        {"Sub", of_two},
        {"Sum", of_several},
        {"Tanh", plain},
        {"Tile", tile},
        {"Transpose", transpose},
        {"Trilu", trilu},
        {"Unsqueeze", unsqueeze},
        {"Where", where},
    };
    return fits;
  }
};

bool Growth::grow(const std::string& op) {
  static const std::set<std::string_view> of_scalars{
      "Add", "Cast",           "Clip", "DequantizeLinear", "Expand", "Identity", "Max",
      "Mul", "QuantizeLinear", "Relu", "Unsqueeze",        "Sub",    "Sum",      "Neg"};
  if (!definition(op) || (rank() == 0 && !of_scalars.contains(op))) return false;
  const bool fits = Fits::all().at(op)(*this, op);
  is_dequantized_ = fits && op == "DequantizeLinear";
  return fits;
}

}  // namespace assay::generators
