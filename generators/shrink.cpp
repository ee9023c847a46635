// SPDX-License-Identifier: Apache-2.0
#include "generators/shrink.h"

#include "generators/convolution.h"
#include "generators/plain_data.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay::generators {
namespace {

using Cases = std::vector<Case>;

std::size_t at(Int index) { return static_cast<std::size_t>(index); }

// Of the Conv a case stands for; null where that input is not there.
Shape* shape_of(Case& conv, const char* input) {
  const auto found = conv.node.inputs.find(input);
  const bool given = found != conv.node.inputs.end() && found->second.presence == Input::Presence::given;
  return given ? &found->second.type.shape : nullptr;
}

Int axes_of(const Case& c) {
  Case conv = conv_of(c);
  const Shape* x = shape_of(conv, "X");
  return x ? std::max<Int>(0, static_cast<Int>(x->size()) - 2) : 0;
}

// A near miss may be one because something does not fit: it is offered as it is as well.
void refit(Cases& into, Case c) {
  if (const auto fit = questions_about(c.version).refit) {
    into.push_back(c);
    fit(into.back());
  }
  into.push_back(std::move(c));
}

// Does `edit` to the Conv a case stands for, and makes what follows its shapes fit again.
template <class F>
void on_conv(Cases& into, const Case& c, F&& edit) {
  Case conv = conv_of(c);
  if (!edit(conv)) return;
  Case out = c;
  if (questions_about(c.version).layout)
    stand_for(out, conv);
  else
    out = std::move(conv);
  refit(into, std::move(out));
}

// Every value on the way from `value` to `target`, the target first, then ever closer to the value.
Ints towards(Int value, Int target) {
  Ints values;
  rc::Seq<Int> seq = rc::shrink::towards<Int>(value, target);
  while (const rc::Maybe<Int> next = seq.next()) values.push_back(*next);
  return values;
}

// -- presentation

bool is_optional(const Case& c, const std::string& input) {
  const Parameter* parameter = c.definition().input(input);
  return parameter && parameter->arity == Arity::optional;
}

// "" is needed only where a later input is there.
bool leave_out(Case& c, const std::string& input) {
  const std::vector<Parameter>& inputs = c.definition().inputs;
  const auto here = std::ranges::find(inputs, input, &Parameter::name);
  const bool is_last =
      std::none_of(here + 1, inputs.end(), [&](const Parameter& later) { return c.node.inputs.contains(later.name); });
  const bool was_empty = c.node.inputs.at(input).presence == Input::Presence::empty_name;
  c.sources.erase(input);
  if (is_last)
    c.node.inputs.erase(input);
  else
    c.node.empty_input(input);
  return is_last || !was_empty;
}

Attribute value_of(const Call& call, const AttributeSpec& spec) {
  if (spec.kind == AttributeSpec::Kind::integer) return call.integer(spec.name);
  if (spec.kind == AttributeSpec::Kind::text) return call.text(spec.name);
  return call.ints(spec.name);
}

// Written, and what the version takes when it is left out.
bool is_default(const Case& c, const std::string& attribute) {
  const AttributeSpec* spec = c.definition().attribute(attribute);
  if (!spec || spec->required || spec->kind == AttributeSpec::Kind::real || (!spec->value && !spec->derived))
    return false;
  Case without = c;
  without.node.attributes.erase(attribute);
  if (spec->derived && !c.definition().violated(without.call()).empty()) return false;
  return value_of(c.call(), *spec) == value_of(without.call(), *spec);
}

void present_plainly(Case& c, int part) {
  const auto wanted = [&](int which) { return part == 0 || part == which; };
  if (wanted(1)) {
    c.opset = c.version.since_version;
    c.ir_version = c.opset < 21 ? 8 : 10;
  }
  if (wanted(2)) c.declared = DeclaredShapes::fixed;
  if (wanted(3))
    for (auto& [name, source] : c.sources) source.initializer = false;
  if (wanted(4))
    for (const auto& [name, value] : Node(c.node).attributes)
      if (is_default(c, name)) c.node.attributes.erase(name);
  if (wanted(5)) {
    const std::vector<Parameter>& inputs = c.definition().inputs;
    for (auto input = inputs.rbegin(); input != inputs.rend(); ++input)
      if (const auto found = c.node.inputs.find(input->name);
          found != c.node.inputs.end() && found->second.presence == Input::Presence::empty_name)
        leave_out(c, input->name);
  }
}

// All at once; each alone comes last, when little else is left.
Cases plainly_presented(const Case& c, int part) {
  Case out = c;
  present_plainly(out, part);
  return {out};
}

// -- channels

struct Extents {
  Int batch = 1, group = 1, depth = 1, maps = 1;  // maps: per group
};

// The extents of a Conv; what does not fit together in a near miss is kept as a difference.
class ChannelView {
 public:
  explicit ChannelView(Case& conv)
      : conv_(conv), x_(shape_of(conv, "X")), w_(shape_of(conv, "W")), b_(shape_of(conv, "B")) {
    if (!is_usable()) return;
    now.batch = (*x_)[0];
    now.depth = (*x_)[1];
    if (!w_) return;
    const auto group = conv.node.attributes.find("group");
    now.group = group == conv.node.attributes.end() ? 1 : std::get<Int>(group->second);
    now.depth = (*w_)[1];
    now.maps = (*w_)[0] / std::max<Int>(1, now.group);
  }

  bool is_usable() const { return x_ && x_->size() >= 2 && (!w_ || w_->size() >= 2) && now.group >= 1; }
  bool has_weights() const { return w_ != nullptr; }
  Extents now;

  bool write(const Extents& wanted) {
    if (!is_usable()) return false;
    (*x_)[0] = wanted.batch;
    (*x_)[1] += wanted.group * wanted.depth - now.group * now.depth;
    if (w_) {
      const Int more = wanted.group * wanted.maps - now.group * now.maps;
      (*w_)[0] += more;
      (*w_)[1] = wanted.depth;
      if (b_ && b_->size() == 1) (*b_)[0] += more;
      if (wanted.group == 1)
        conv_.node.attributes.erase("group");
      else
        conv_.node.attribute("group", Attribute(wanted.group));
    }
    const auto is_negative = [](const Shape* shape) { return shape && std::ranges::min(*shape) < 0; };
    return !is_negative(x_) && !is_negative(w_) && !(b_ && !b_->empty() && is_negative(b_));
  }

 private:
  Case& conv_;
  Shape *x_, *w_, *b_;
};

void with_extents(Cases& into, const Case& c, const std::function<void(Extents&)>& change) {
  on_conv(into, c, [&](Case& conv) {
    ChannelView view(conv);
    Extents wanted = view.now;
    change(wanted);
    return view.write(wanted);
  });
}

// All at once, then N, the group, C and M.
Cases fewer_channels(const Case& c, int part) {
  Cases out;
  if (part == 0) {
    with_extents(out, c, [](Extents& e) { e = Extents(); });
    return out;
  }
  constexpr Int Extents::*members[] = {&Extents::batch, &Extents::group, &Extents::depth, &Extents::maps};
  Case conv = conv_of(c);
  const ChannelView view(conv);
  Int Extents::*const member = members[part - 1];
  if (!view.is_usable() || (!view.has_weights() && (part == 2 || part == 4))) return out;
  for (const Int value : towards(view.now.*member, 1)) with_extents(out, c, [&](Extents& e) { e.*member = value; });
  return out;
}

// -- axes

void drop_entry(Node& node, const char* list, std::size_t count, std::initializer_list<std::size_t> entries) {
  const auto found = node.attributes.find(list);
  if (found == node.attributes.end()) return;
  auto& values = std::get<Ints>(found->second);
  if (values.size() != count) return;
  for (const std::size_t entry : entries) values.erase(values.begin() + static_cast<std::ptrdiff_t>(entry));
}

bool drop_axis(Case& conv, std::size_t axis, std::size_t axes) {
  for (const char* input : {"X", "W"})
    if (Shape* shape = shape_of(conv, input)) {
      if (shape->size() != axes + 2) return false;
      shape->erase(shape->begin() + static_cast<std::ptrdiff_t>(axis) + 2);
    }
  for (const char* list : {"kernel_shape", "strides", "dilations"}) drop_entry(conv.node, list, axes, {axis});
  drop_entry(conv.node, "pads", 2 * axes, {axis + axes, axis});
  return true;
}

Cases fewer_axes(const Case& c, int part) {
  Cases out;
  const std::size_t axes = at(axes_of(c));
  if (axes < 2) return out;
  on_conv(out, c, [&](Case& conv) { return drop_axis(conv, at(part), axes); });
  return out;
}

// -- attributes and optional inputs

std::string written_attribute(const Case& c, int part) { return std::next(c.node.attributes.begin(), part)->first; }

Cases fewer_attributes(const Case& c, int part) {
  Cases out;
  const std::string name = written_attribute(c, part);
  Case without = c;
  without.node.attributes.erase(name);
  refit(out, std::move(without));
  if (name == "auto_pad" && c.call().text(name) == "SAME_LOWER") {
    out.push_back(c);
    out.back().node.attribute(name, "SAME_UPPER");
  }
  return out;
}

Cases fewer_inputs(const Case& c, int part) {
  Cases out;
  const std::string& input = c.definition().inputs[at(part)].name;
  if (!c.node.inputs.contains(input) || !is_optional(c, input)) return out;
  Case without = c;
  if (leave_out(without, input)) out.push_back(std::move(without));
  return out;
}

// -- sizes

// One spatial axis of a Conv, to be changed; entries that are not written are the default.
class AxisView {
 public:
  AxisView(Case& conv, std::size_t axis, std::size_t axes)
      : conv_(conv), axis_(axis), axes_(axes), x_(shape_of(conv, "X")), w_(shape_of(conv, "W")) {}

  bool is_usable() const { return x_ && x_->size() == axes_ + 2 && (!w_ || w_->size() == axes_ + 2); }
  Int in() const { return (*x_)[axis_ + 2]; }
  Int kernel() const { return w_ ? (*w_)[axis_ + 2] : entry("kernel_shape", axis_, axes_); }
  Int stride() const { return entry("strides", axis_, axes_); }
  Int dilation() const { return entry("dilations", axis_, axes_); }

  bool set_in(Int value) {
    (*x_)[axis_ + 2] = value;
    return value >= 0;
  }
  void set_kernel(Int value) {
    if (w_) (*w_)[axis_ + 2] = value;
    set("kernel_shape", axis_, axes_, value);
  }
  bool set(const char* list, std::size_t which, std::size_t count, Int value) {
    const auto found = conv_.node.attributes.find(list);
    if (found == conv_.node.attributes.end() || std::get<Ints>(found->second).size() != count) return false;
    std::get<Ints>(found->second)[which] = value;
    return true;
  }
  Int entry(const char* list, std::size_t which, std::size_t count, Int otherwise = 1) const {
    const auto found = conv_.node.attributes.find(list);
    if (found == conv_.node.attributes.end() || std::get<Ints>(found->second).size() != count) return otherwise;
    return std::get<Ints>(found->second)[which];
  }

 private:
  Case& conv_;
  std::size_t axis_, axes_;
  Shape *x_, *w_;
};

// What an axis can be made smaller in. Where the windows get shorter or closer, the input may shrink with them, so that
// as many windows remain.
constexpr int sizes_per_axis = 6;

Cases smaller_axis(const Case& c, std::size_t axis, std::size_t axes, int which) {
  Cases out;
  Case before = conv_of(c);
  const AxisView now(before, axis, axes);
  if (!now.is_usable()) return out;
  const auto changed = [&](auto&& change) {
    on_conv(out, c, [&](Case& conv) {
      AxisView view(conv, axis, axes);
      return change(view);
    });
  };
  const auto entry = [&](const char* list, std::size_t at_entry, std::size_t count, Int target, auto&& spared) {
    const Int value = now.entry(list, at_entry, count, target);
    for (const Int next : towards(value, target))
      for (const Int spare : {spared(value - next), Int{0}})
        changed(
            [&](AxisView& view) { return view.set(list, at_entry, count, next) && view.set_in(view.in() - spare); });
  };
  switch (which) {
    case 0:
      for (const Int kernel : towards(now.kernel(), 1))
        for (const Int spare : {(now.kernel() - kernel) * now.dilation(), Int{0}})
          changed([&](AxisView& view) {
            view.set_kernel(kernel);
            return view.set_in(view.in() - spare);
          });
      break;
    case 1:
      for (const Int in : towards(now.in(), 1)) changed([&](AxisView& view) { return view.set_in(in); });
      break;
    case 2: {
      const Int windows = std::max<Int>(0, now.in() - 1) / std::max<Int>(1, now.stride());
      entry("strides", axis, axes, 1, [&](Int less) { return less * windows; });
      break;
    }
    case 3: entry("dilations", axis, axes, 1, [&](Int less) { return less * (now.kernel() - 1); }); break;
    case 4: entry("pads", axis, 2 * axes, 0, [](Int) { return Int{0}; }); break;
    default: entry("pads", axis + axes, 2 * axes, 0, [](Int) { return Int{0}; }); break;
  }
  return out;
}

Cases smaller_sizes(const Case& c, int part) {
  return smaller_axis(c, at(part / sizes_per_axis), at(axes_of(c)), part % sizes_per_axis);
}

// -- the steps in their order

struct Step {
  int (*parts)(const Case&);
  Cases (*candidates)(const Case&, int part);
};

constexpr int presentations = 6;
int input_count(const Case& c) { return static_cast<int>(c.definition().inputs.size()); }
int axis_count(const Case& c) { return static_cast<int>(axes_of(c)); }

const std::vector<Step>& steps() {
  static const std::vector<Step> all{
      {[](const Case&) { return 1; }, plainly_presented},
      {[](const Case&) { return 5; }, fewer_channels},
      {axis_count, fewer_axes},
      {input_count, plainer_data},
      {[](const Case& c) { return static_cast<int>(c.node.attributes.size()); }, fewer_attributes},
      {input_count, fewer_inputs},
      {[](const Case& c) { return axis_count(c) * sizes_per_axis; }, smaller_sizes},
      {[](const Case&) { return presentations - 1; },
       [](const Case& c, int part) { return plainly_presented(c, part + 1); }},
  };
  return all;
}

std::vector<Position> positions_of(const Case& c) {
  std::vector<Position> positions;
  for (std::size_t step = 0; step < steps().size(); ++step)
    for (int part = 0; part < steps()[step].parts(c); ++part) positions.push_back({static_cast<int>(step), part});
  return positions;
}

using Violated = std::vector<std::string>;

std::vector<Simpler> fair_candidates(const Case& c, const Violated& violated, Position position) {
  std::vector<Simpler> out;
  for (Case& candidate : steps()[at(position.step)].candidates(c, position.part))
    if (candidate != c && candidate.definition().violated(candidate.call()) == violated && says_as_much(c, candidate))
      out.push_back({position, std::move(candidate)});
  return out;
}

}  // namespace

rc::Seq<Simpler> simpler(const Case& c) {
  const Violated violated = c.definition().violated(c.call());
  return rc::seq::mapcat(rc::seq::fromContainer(positions_of(c)), [c, violated](const Position& position) {
    return rc::seq::fromContainer(fair_candidates(c, violated, position));
  });
}

CaseSize size_of(const Case& c) {
  CaseSize size;
  for (const auto& [name, input] : c.node.inputs)
    if (input.presence == Input::Presence::given) size.elements += volume(input.type.shape);
  for (const auto& [name, value] : c.node.attributes) size.attributes += is_default(c, name) ? 0 : 1;
  return size;
}

}  // namespace assay::generators
