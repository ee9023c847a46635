// SPDX-License-Identifier: Apache-2.0
// Smaller windows: fewer channels, fewer axes, smaller extents, kernels, strides, dilations and pads.
#include "generators/convolution.h"
#include "generators/families/window.h"
#include "generators/shrink.h"

#include <algorithm>

namespace assay::generators {
namespace {

std::size_t at(Int index) { return static_cast<std::size_t>(index); }

// Finds an input of the Conv a case stands for; null where it is not there.
Shape* found_shape(Case& conv, const char* input) {
  const auto found = conv.node.inputs.find(input);
  const bool given = found != conv.node.inputs.end() && found->second.presence == Input::Presence::given;
  return given ? &found->second.type.shape : nullptr;
}

Int axes_of(const Case& c) {
  Case conv = conv_of(c);
  const Shape* x = found_shape(conv, "X");
  return x ? std::max<Int>(0, static_cast<Int>(x->size()) - 2) : 0;
}

// Does `edit` to the Conv a case stands for, and makes what follows its shapes fit again.
template <class F>
void on_conv(Cases& into, const Case& c, F&& edit) {
  Case conv = conv_of(c);
  if (!edit(conv)) return;
  Case out = c;
  stand_for(out, conv);
  push_refitted(into, std::move(out));
}

// -- channels

struct Extents {
  Int batch = 1, group = 1, depth = 1, maps = 1;  // maps: per group
};

// The extents of a Conv; what does not fit together in a near miss is kept as a difference.
class ChannelView {
 public:
  explicit ChannelView(Case& conv)
      : conv_(conv), x_(found_shape(conv, "X")), w_(found_shape(conv, "W")), b_(found_shape(conv, "B")) {
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
    if (Shape* shape = found_shape(conv, input)) {
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

// -- sizes

// One spatial axis of a Conv, to be changed; entries that are not written are the default.
class AxisView {
 public:
  AxisView(Case& conv, std::size_t axis, std::size_t axes)
      : conv_(conv), axis_(axis), axes_(axes), x_(found_shape(conv, "X")), w_(found_shape(conv, "W")) {}

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

// Counts what an axis can be made smaller in. Where the windows get shorter or closer, the input may shrink with them,
// so that as many windows remain.
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

int axis_count(const Case& c) { return static_cast<int>(axes_of(c)); }

}  // namespace

std::span<const ShrinkStep> coarse_window_steps() {
  static const ShrinkStep steps[] = {{[](const Case&) { return 5; }, fewer_channels}, {axis_count, fewer_axes}};
  return steps;
}

std::span<const ShrinkStep> fine_window_steps() {
  static const ShrinkStep steps[] = {{[](const Case& c) { return axis_count(c) * sizes_per_axis; }, smaller_sizes}};
  return steps;
}

}  // namespace assay::generators
