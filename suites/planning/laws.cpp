// SPDX-License-Identifier: Apache-2.0
#include "suites/planning/laws.h"

#include "generators/convolution.h"
#include "oracles/exact/element_sample.h"
#include "oracles/exact/operands.h"
#include "oracles/judging/case_class.h"
#include "reference/flat_index.h"
#include "reference/operator.h"
#include "reference/window.h"

#include <algorithm>
#include <functional>
#include <optional>

namespace assay::suites {
namespace {

using oracles::Scalar;
using oracles::Scalars;

// A related case holds its data in its line; larger tensors are left to the oracle.
constexpr Int most_elements = 4096;

// What the operators of the family call their operands.
struct Names {
  std::string x = "X", w = "W";
};

bool pools(const Case& c) { return c.definition().inputs.size() == 1; }
bool is_quantized(const Case& c) { return c.version.name == "QLinearConv"; }
bool is_deformed(const Case& c) { return c.version.name == "DeformConv"; }
Names names(const Case& c) { return is_quantized(c) ? Names{"x", "w"} : Names{}; }

// A legal case taken apart: its geometry, and its first set of data.
class CaseData {
 public:
  explicit CaseData(const Case& c) : c_(c), call_(c.call()), window_(Window::of(generators::conv_of(c).call())) {
    const auto tensors = operands(c, 0);
    for (std::size_t i = 0; i < tensors.size(); ++i)
      if (tensors[i]) data_.emplace(c.definition().inputs[i].name, oracles::scalars(*tensors[i]));
  }

  const Case& original() const { return c_; }
  const Call& call() const { return call_; }
  const std::vector<Axis>& axes() const { return window_.axes; }
  std::size_t rank() const { return axes().size(); }
  bool has(const std::string& input) const { return data_.contains(input); }
  const Scalars& data(const std::string& input) const { return data_.at(input); }
  const Scalars& x() const { return data(names(c_).x); }
  const Scalars& w() const { return data(names(c_).w); }
  Shape output() const { return c_.definition().shape(call_); }

  std::size_t first_spatial() const { return call_.has_channels_last() ? 1 : 2; }
  std::size_t channel_axis() const { return call_.has_channels_last() ? rank() + 1 : 1; }
  Int group() const { return call_.integer("group"); }
  bool rounds_windows_up() const { return has_flag("ceil_mode"); }
  // What lies in the padding adds nothing, as a zero in the data does. Not so in an average over the cells alone.
  bool pads_with_zeros() const { return !pools(c_) || has_flag("count_include_pad"); }
  // A sample between cells has no place to be moved to, and a window that is the plane none to move in.
  bool slides() const { return !is_deformed(c_) && c_.definition().attribute("strides"); }
  // The value that stands for zero in an operand; none where its maps disagree.
  std::optional<Scalar> zero_of(const std::string& input) const {
    if (!is_quantized(c_)) return oracles::scalar(Int{0});
    const Scalars& zero = data(input + "_zero_point");
    if (zero.values.size() != 1) return std::nullopt;
    return zero.values.front();
  }

 private:
  bool has_flag(std::string_view attribute) const {
    return call_.definition().attribute(attribute) && call_.integer(attribute) != 0;
  }

  const Case& c_;
  Call call_;
  Window window_;
  std::map<std::string, Scalars> data_;
};

// -- Data, moved about

// out[p] = in[from(p)], or `nothing` where `from` gives none.
using From = std::function<std::optional<Shape>(const Shape&)>;
Scalars moved(const Scalars& in, Shape shape, const From& from, const Scalar& nothing = oracles::scalar(Int{0})) {
  Scalars out{std::move(shape), {}};
  for_each_position(out.shape, [&](const Shape& at, Int) {
    const std::optional<Shape> source = from(at);
    if (!source) return out.values.push_back(nothing);
    out.values.push_back(in.at(flat_index(in.shape, *source)));
  });
  return out;
}

// Blocks of `block` along an axis, in the opposite order.
Shape mirrored(Shape at, std::size_t axis, Int extent, Int block = 1) {
  at[axis] = (extent / block - 1 - at[axis] / block) * block + at[axis] % block;
  return at;
}

Scalars reversed(const Scalars& in, std::size_t axis, Int block = 1) {
  return moved(in, in.shape, [&](const Shape& at) { return mirrored(at, axis, in.extent(axis), block); });
}

Case with_data(Case c, const std::string& input, const Scalars& data) {
  TensorType& type = c.node.inputs.at(input).type;
  type.shape = data.shape;
  std::string list;
  for (const Scalar& value : data.values) list += (list.empty() ? "" : ",") + oracles::written(value, type.dtype);
  c.sources.at(input).recipe = {"hold", std::move(list)};
  return c;
}

Case without_padding(Case c) {
  c.node.attributes.erase("auto_pad");
  c.node.attributes.erase("pads");
  return c;
}

Case with_stated_padding(Case c, const CaseData& ground) {
  Ints pads;
  for (const Axis& axis : ground.axes()) pads.push_back(axis.begin);
  for (const Axis& axis : ground.axes()) pads.push_back(axis.end);
  c = without_padding(std::move(c));
  c.node.attribute("pads", pads);
  return c;
}

// -- What the answers have to do with each other

// Y[p] = Y'[to(p)], Y' being the answer to the last related case; of the p that `to` leaves out nothing is said.
void equal(const CaseData& ground, RelatedCases& relation, const From& to) {
  const Case& other = relation.related.back();
  const Shape shape = other.definition().shape(other.call());
  for_each_position(ground.output(), [&](const Shape& at, Int flat) {
    if (const std::optional<Shape> there = to(at))
      relation.equations.push_back({{1, 0, flat}, {-1, relation.related.size(), flat_index(shape, *there)}});
  });
}

std::optional<Shape> same_place(const Shape& at) { return at; }

// Calls f(axis of the tensor, its geometry) for every spatial axis.
template <class F>
void each_spatial(const CaseData& ground, F&& f) {
  for (std::size_t i = 0; i < ground.rank(); ++i) f(ground.first_spatial() + i, ground.axes()[i]);
}

// The data with zeros before and after them on the spatial axes.
template <class F>
std::optional<Scalars> with_margins(const CaseData& ground, F&& margins) {
  const std::optional<Scalar> zero = ground.zero_of(names(ground.original()).x);
  if (!zero) return std::nullopt;
  const Scalars& x = ground.x();
  Shape shape = x.shape, before(shape.size(), 0);
  each_spatial(ground, [&](std::size_t at, const Axis& axis) {
    const auto [front, back] = margins(axis);
    before[at] = front;
    shape[at] += front + back;
  });
  const auto source = [&](const Shape& at) -> std::optional<Shape> {
    Shape from = at;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      from[axis] -= before[axis];
      if (from[axis] < 0 || from[axis] >= x.extent(axis)) return std::nullopt;
    }
    return from;
  };
  return moved(x, shape, source, *zero);
}

// -- The laws

// The padding is what SAME_* and VALID work out to; where they could be read otherwise the case is touched (A3, A7,
// A10).
bool padding_stated(const Case& c, RelatedCases& relation) {
  const CaseData ground(c);
  if (!ground.slides() || ground.rounds_windows_up() || ground.call().text("auto_pad") == "NOTSET") return false;
  relation.related = {with_stated_padding(c, ground)};
  equal(ground, relation, same_place);
  return true;
}

// A tap in padding contributes no term (A12), and one over a zero contributes zero; so do both to the count of an
// average that includes the padding. Overhang never counts: without ceil_mode there is none.
bool padding_in_data(const Case& c, RelatedCases& relation) {
  const CaseData ground(c);
  const bool is_padded = std::ranges::any_of(ground.axes(), [](const Axis& a) { return a.begin + a.end > 0; });
  if (!ground.slides() || ground.rounds_windows_up() || !ground.pads_with_zeros() || !is_padded) return false;
  const auto x = with_margins(ground, [](const Axis& axis) { return std::pair(axis.begin, axis.end); });
  if (!x) return false;
  relation.related = {without_padding(with_data(c, names(c).x, *x))};
  equal(ground, relation, same_place);
  return true;
}

// Window o of stride s starts where window s*o of stride 1 does, and sees the same cells of input and padding.
bool stride_by_subsampling(const Case& c, RelatedCases& relation) {
  const CaseData ground(c);
  const bool strides = std::ranges::any_of(ground.axes(), [](const Axis& a) { return a.stride > 1; });
  if (!ground.slides() || ground.rounds_windows_up() || !strides) return false;
  Case other = with_stated_padding(c, ground);
  other.node.attribute("strides", Ints(ground.rank(), 1));
  relation.related = {std::move(other)};
  equal(ground, relation, [&](Shape at) {
    each_spatial(ground, [&](std::size_t i, const Axis& axis) { at[i] *= axis.stride; });
    return std::optional(at);
  });
  return true;
}

// A dilated kernel is one with zeros between its taps.
bool dilation_in_kernel(const Case& c, RelatedCases& relation) {
  const CaseData ground(c);
  const bool dilates = std::ranges::any_of(ground.axes(), [](const Axis& a) { return a.dilation > 1 && a.kernel > 1; });
  if (!ground.slides() || pools(c) || !dilates) return false;
  const std::optional<Scalar> zero = ground.zero_of(names(c).w);
  if (!zero) return false;
  Shape shape = ground.w().shape;
  Ints kernel;
  each_spatial(ground, [&](std::size_t i, const Axis& axis) { kernel.push_back(shape[i] = axis.effective_kernel()); });
  const Scalars w = moved(
      ground.w(), shape,
      [&](Shape at) -> std::optional<Shape> {
        bool is_tap = true;
        each_spatial(ground, [&](std::size_t i, const Axis& axis) {
          is_tap &= at[i] % axis.dilation == 0;
          at[i] /= axis.dilation;
        });
        return is_tap ? std::optional(at) : std::nullopt;
      },
      *zero);
  Case other = with_data(with_stated_padding(c, ground), names(c).w, w);
  other.node.attribute("kernel_shape", kernel);
  other.node.attributes.erase("dilations");
  relation.related = {std::move(other)};
  equal(ground, relation, same_place);
  return true;
}

// A stride of zeros before the data moves every window one further; the first sees them and the padding before them.
bool translation(const Case& c, RelatedCases& relation) {
  const CaseData ground(c);
  if (!ground.slides() || ground.rounds_windows_up() || !ground.pads_with_zeros()) return false;
  const auto x = with_margins(ground, [](const Axis& axis) { return std::pair(axis.stride, Int{0}); });
  if (!x) return false;
  relation.related = {with_data(with_stated_padding(c, ground), names(c).x, *x)};
  equal(ground, relation, [&](Shape at) {
    each_spatial(ground, [&](std::size_t i, const Axis&) { ++at[i]; });
    return std::optional(at);
  });
  return true;
}

// Images do not see each other. All operands with an image axis have it first.
std::vector<std::string> with_images(const CaseData& ground) {
  std::vector<std::string> inputs{names(ground.original()).x};
  for (const char* input : {"offset", "mask"})
    if (ground.has(input)) inputs.push_back(input);
  return inputs;
}

template <class F>
Case with_other_images(const CaseData& ground, Int images, F&& from) {
  Case other = ground.original();
  for (const std::string& input : with_images(ground)) {
    Shape shape = ground.data(input).shape;
    shape[0] = images;
    other = with_data(std::move(other), input, moved(ground.data(input), shape, [&](Shape at) {
                        at[0] = from(at[0]);
                        return std::optional(at);
                      }));
  }
  return other;
}

bool images_reversed(const Case& c, RelatedCases& relation) {
  const CaseData ground(c);
  const Int images = ground.x().extent(0);
  if (images < 2) return false;
  relation.related = {with_other_images(ground, images, [&](Int n) { return images - 1 - n; })};
  equal(ground, relation, [&](const Shape& at) { return std::optional(mirrored(at, 0, images)); });
  return true;
}

bool image_alone(const Case& c, RelatedCases& relation) {
  const CaseData ground(c);
  const Int last = ground.x().extent(0) - 1;
  if (last < 1) return false;
  relation.related = {with_other_images(ground, 1, [&](Int) { return last; })};
  equal(ground, relation, [&](Shape at) -> std::optional<Shape> {
    if (at[0] != last) return std::nullopt;
    at[0] = 0;
    return at;
  });
  return true;
}

bool images_twice(const Case& c, RelatedCases& relation) {
  const CaseData ground(c);
  const Int images = ground.x().extent(0);
  relation.related = {with_other_images(ground, 2 * images, [&](Int n) { return n % images; })};
  equal(ground, relation, same_place);
  equal(ground, relation, [&](Shape at) {
    at[0] += images;
    return std::optional(at);
  });
  return true;
}

// Channels and maps in the opposite order, and the groups with them: channel c meets the weights of C-1-c in map M-1-m.
bool channels_reversed(const Case& c, RelatedCases& relation) {
  const CaseData ground(c);
  const auto [x, w] = names(c);
  const std::size_t channel = ground.channel_axis();
  Case other = with_data(c, x, reversed(ground.x(), channel));
  if (!pools(c)) other = with_data(std::move(other), w, reversed(reversed(ground.w(), 0), channel));
  for (const char* per_map : {"B", "w_scale", "w_zero_point"})
    if (ground.has(per_map) && ground.data(per_map).shape.size() == 1)
      other = with_data(std::move(other), per_map, reversed(ground.data(per_map), 0));
  for (const char* per_offset_group : {"offset", "mask"})
    if (ground.has(per_offset_group)) {
      const Scalars& data = ground.data(per_offset_group);
      const Int block = data.extent(1) / ground.call().integer("offset_group");
      other = with_data(std::move(other), per_offset_group, reversed(data, 1, block));
    }
  relation.related = {std::move(other)};
  const Int maps = ground.output()[channel];
  if (maps < 2 && ground.x().extent(channel) < 2) return false;
  equal(ground, relation, [&](const Shape& at) { return std::optional(mirrored(at, channel, maps)); });
  return true;
}

// Groups are weights of zero for the channels of the others.
bool groups_in_weights(const Case& c, RelatedCases& relation) {
  if (pools(c)) return false;
  const CaseData ground(c);
  const std::optional<Scalar> zero = ground.zero_of(names(c).w);
  if (ground.group() < 2 || !zero) return false;
  const std::size_t channel = ground.channel_axis();
  const Int depth = ground.w().extent(channel), maps = ground.w().extent(0) / ground.group();
  Shape shape = ground.w().shape;
  shape[channel] *= ground.group();
  const Scalars w = moved(
      ground.w(), shape,
      [&](Shape at) -> std::optional<Shape> {
        const Int first = at[0] / maps * depth;
        at[channel] -= first;
        return at[channel] >= 0 && at[channel] < depth ? std::optional(at) : std::nullopt;
      },
      *zero);
  Case other = with_data(c, names(c).w, w);
  other.node.attributes.erase("group");
  relation.related = {std::move(other)};
  equal(ground, relation, same_place);
  return true;
}

// Sums of elements; nothing where one is not a number of the type.
std::optional<Scalars> sum(const Scalars& a, const Scalars& b, DType dtype) {
  Scalars out{a.shape, {}};
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const oracles::Dyadic exact = a.values[i].value() + b.values[i].value();
    const Scalar nearest = oracles::rounded({exact, 1}, oracles::format_of(dtype));
    if (!nearest.is_finite() || nearest.value() != exact) return std::nullopt;
    out.values.push_back(nearest);
  }
  return out;
}

// Every sum is linear in X and B together. The enclosures of both sides are worked out apart, so that subnormals and
// the ends of the range have their own room on each.
bool doubling(const Case& c, RelatedCases& relation) {
  if (is_quantized(c)) return false;
  const CaseData ground(c);
  Case other = c;
  for (const char* input : {"X", "B"}) {
    if (!ground.has(input)) continue;
    const Scalars& data = ground.data(input);
    const std::optional<Scalars> twice = sum(data, data, ground.call().type(input).dtype);
    if (!twice) return false;
    other = with_data(std::move(other), input, *twice);
  }
  relation.related = {std::move(other)};
  for (Int i = 0, count = volume(ground.output()); i < count; ++i)
    relation.equations.push_back({{2, 0, i}, {-1, 1, i}});
  return true;
}

// f(x + z) = f(x) + f(z) without a bias the second time; z is the second set of data, and x + z are numbers of the
// type.
bool additivity(const Case& c, RelatedCases& relation) {
  if (is_quantized(c) || c.definition().attribute("p")) return false;  // norms do not add up
  const CaseData ground(c);
  const Scalars z = oracles::scalars(*operands(c, 1).front());
  const std::optional<Scalars> both = sum(ground.x(), z, ground.call().type("X").dtype);
  if (!both) return false;
  Case alone = with_data(c, "X", z);
  if (ground.has("B")) {
    alone.node.inputs.erase("B");
    alone.sources.erase("B");
    if (ground.has("mask")) alone.node.empty_input("B");
  }
  relation.related = {std::move(alone), with_data(c, "X", *both)};
  for (Int i = 0, count = volume(ground.output()); i < count; ++i)
    relation.equations.push_back({{1, 0, i}, {1, 1, i}, {-1, 2, i}});
  return true;
}

// -- Where a law may be checked

bool is_untouched(const Case& c) {
  return oracles::touched(c.call(), {operands(c, 0)}, oracles::every_element).empty();
}

bool is_small(const Case& c) {
  Int most = volume(c.definition().shape(c.call()));
  for (const auto& [name, input] : c.node.inputs) {
    const Int count = input.presence == Input::Presence::given ? volume(input.type.shape) : 1;
    if (count == 0) return false;
    most = std::max(most, count);
  }
  return most > 0 && most <= most_elements;
}

// Tells whether a window is a sum with weights alone, or a pool of floats: what the laws are about.
bool sums_or_pools(const Case& c) {
  return pools(c) || (c.definition().input(names(c).w) && !c.definition().attribute("activation"));
}

bool is_askable(const Case& c) {
  return c.definition().shaping == Shaping::window && sums_or_pools(c) && oracles::oracle_of(c.version).rounds &&
         c.is_legal() && !has_nonfinite_data(c) && is_small(c) && is_untouched(c);
}

std::optional<RelatedCases> relation_of(const MetamorphicRelation& law, const Case& c) {
  RelatedCases relation{law.id, {}, {}};
  if (!law.applies(c, relation) || !std::ranges::all_of(relation.related, is_askable)) return std::nullopt;
  return relation;
}

// Of other digits than those which pick a presentation.
std::size_t draw_of(std::string_view case_id) { return std::stoul(std::string(case_id.substr(8, 8)), nullptr, 16); }

constexpr MetamorphicRelation all_laws[] = {
    {"padding stated", "f(auto_pad) = f(the pads it works out to)", padding_stated},
    {"padding in data", "f(x, pads) = f(zeros, x, zeros without pads)", padding_in_data},
    {"stride by subsampling", "f(x, stride s)[o] = f(x, stride 1)[s o]", stride_by_subsampling},
    {"dilation in kernel", "f(x, w, dilation d) = f(x, w with d - 1 zeros between its taps)", dilation_in_kernel},
    {"translation", "f(s zeros, x)[o + 1] = f(x)[o]", translation},
    {"images reversed", "f(x[N-1-n])[n] = f(x)[N-1-n]", images_reversed},
    {"image alone", "f(x[N-1]) = f(x)[N-1]", image_alone},
    {"images twice", "f(x, x) = f(x), f(x)", images_twice},
    {"channels reversed", "f(channels, maps and groups reversed) = f(x) with its maps reversed", channels_reversed},
    {"groups in weights", "f(x, w, group G) = f(x, w with zeros for other groups, group 1)", groups_in_weights},
    {"doubling", "f(2 x, 2 b) = 2 f(x, b)", doubling},
    {"additivity", "f(x + z) = f(x) + f(z)", additivity},
};

}  // namespace

std::span<const MetamorphicRelation> laws() { return all_laws; }

const MetamorphicRelation& law(std::string_view id) {
  const auto found = std::ranges::find(all_laws, id, &MetamorphicRelation::id);
  expects(found != std::end(all_laws), "a law that is known");
  return *found;
}

bool is_picked(std::string_view case_id, LawSampling lawfulness) {
  if (lawfulness != LawSampling::sample) return lawfulness == LawSampling::all;
  return draw_of(case_id) % 8 == 0;
}

std::vector<RelatedCases> related_cases(const Case& c, std::string_view case_id, LawSampling lawfulness) {
  constexpr std::size_t count = std::size(all_laws);
  std::vector<RelatedCases> list;
  if (!is_picked(case_id, lawfulness) || !is_askable(c)) return list;
  for (std::size_t i = 0; i < count && (lawfulness == LawSampling::all || list.empty()); ++i)
    if (auto relation = relation_of(all_laws[(draw_of(case_id) / 8 + i) % count], c))
      list.push_back(*std::move(relation));
  return list;
}

}  // namespace assay::suites
