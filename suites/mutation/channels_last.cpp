// SPDX-License-Identifier: Apache-2.0
// NhwcConv: the gather engine between two transpositions, and one variant that never transposes:
//
//   Y[n,o,m] = B[m] + sum over k, c of  X[n, o*s - begin + k*d, g*depth + c] * W[m,k,c],   g = m / (M/G)
#include "suites/mutation/family.h"
#include "suites/mutation/gather.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace assay::mutation {
namespace {

using Axes = std::vector<std::size_t>;

// Axis i of the result is axis `order[i]` of the tensor.
Tensor permuted(const Tensor& in, const Axes& order) {
  Shape shape, strides(order.size(), 1);
  for (std::size_t i = order.size(); i-- > 1;) strides[i - 1] = strides[i] * in.shape()[i];
  for (const std::size_t axis : order) shape.push_back(in.shape()[axis]);
  Tensor out({in.dtype(), shape});
  const std::size_t size = size_of(in.dtype());
  for (Int flat = 0; flat < out.elements(); ++flat) {
    Int rest = flat, from = 0;
    for (std::size_t i = order.size(); i-- > 0; rest /= shape[i]) from += rest % shape[i] * strides[order[i]];
    std::memcpy(&out.bytes()[at(flat) * size], &in.bytes()[at(from) * size], size);
  }
  return out;
}

Tensor reshaped(const Tensor& in, Shape shape) {
  Tensor out({in.dtype(), std::move(shape)});
  std::ranges::copy(in.bytes(), out.bytes().begin());
  return out;
}

// The channels from the end to the second place, and back.
template <class List>
List second_from_last(List axes) {
  std::rotate(axes.begin() + 1, axes.end() - 1, axes.end());
  return axes;
}
template <class List>
List last_from_second(List axes) {
  std::rotate(axes.begin() + 1, axes.begin() + 2, axes.end());
  return axes;
}

Axes in_order(std::size_t rank) {
  Axes axes(rank);
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  return axes;
}

}  // namespace

Tensor channels_second(const Tensor& in) { return permuted(in, second_from_last(in_order(in.shape().size()))); }
Tensor channels_last(const Tensor& in) { return permuted(in, last_from_second(in_order(in.shape().size()))); }
Tensor as_if_second(const Tensor& in) { return reshaped(in, second_from_last(in.shape())); }

namespace {

Tensor as_if_last(const Tensor& in) { return reshaped(in, last_from_second(in.shape())); }

// N x I_r … I_1 x C taken for N x I_1 … I_r x C.
Tensor spatially_reversed(const Tensor& in) {
  Shape shape = in.shape();
  std::reverse(shape.begin() + 1, shape.end() - 1);
  Axes back = in_order(shape.size());
  std::reverse(back.begin() + 1, back.end() - 1);
  return channels_second(permuted(reshaped(in, shape), back));
}

// k… x C/G x M taken for M x k… x C/G.
Tensor maps_from_last(const Tensor& in) {
  const std::size_t rank = in.shape().size();
  Shape shape(in.shape().begin() + 1, in.shape().end());
  shape.push_back(in.shape().front());
  Axes order(rank);
  order[0] = rank - 1;
  order[1] = rank - 2;
  std::iota(order.begin() + 2, order.end(), std::size_t{0});
  return permuted(reshaped(in, shape), order);
}

Tensor as_it_is(const Tensor& in) { return in; }

// The steps around the convolution at which a planted bug may deviate.
struct Layouts {
  Tensor (*x)(const Tensor&) = channels_second;
  Tensor (*w)(const Tensor&) = channels_second;
  Tensor (*y)(const Tensor&) = channels_last;
};

Kernel through(Kernel conv, Layouts layouts = {}) {
  return [conv = std::move(conv), layouts](const Call& call, std::span<const Tensor* const> in) {
    const Tensor x = layouts.x(*in[0]), w = layouts.w(*in[1]);
    const Tensor* const operands[] = {&x, &w, in.size() > 2 ? in[2] : nullptr};
    return layouts.y(conv(standing_for(call, x.type(), w.type()), operands).only());
  };
}

// A24, the other reading: W is M x C/G x k…, where that makes a legal call; else as ruled.
bool is_legal_as_oihw(const Call& call) {
  const Call conv = standing_for(call, {call.type("X").dtype, second_from_last(call.shape("X"))}, call.type("W"));
  return conv.definition().violated(conv).empty();
}

Kernel reading_oihw() {
  return [](const Call& call, std::span<const Tensor* const> in) {
    const bool reads_oihw = is_legal_as_oihw(call);
    return through(gathering({}), {.w = reads_oihw ? as_it_is : channels_second})(call, in);
  };
}

// Straight from the formula, taps outermost, then channels: the order in which the elements lie.
class Direct {
 public:
  explicit Direct(const GatherPlan& plan)
      : plan_(plan), cells_(product_of(plan, &GatherAxis::in)), taps_(product_of(plan, &GatherAxis::kernel)) {}

  template <class T>
  T output(Int flat, std::span<const T> x, std::span<const T> w, std::span<const T> bias) const {
    using A = accumulator_t<T>;
    const Int m = flat % plan_.maps, first = m / (plan_.maps / plan_.group) * plan_.depth;
    const auto [n, window] = window_of(flat / plan_.maps);
    A sum{};
    for (Int tap = 0; tap < taps_; ++tap)
      if (const Int cell = cell_of(window, tap); cell >= 0)
        for (Int c = 0; c < plan_.depth; ++c)
          sum += static_cast<A>(x[at((n * cells_ + cell) * plan_.channels + first + c)]) *
                 static_cast<A>(w[at((m * taps_ + tap) * plan_.depth + c)]);
    return static_cast<T>(bias.empty() ? sum : sum + static_cast<A>(bias[at(m)]));
  }

 private:
  std::pair<Int, Shape> window_of(Int flat) const {
    Shape window(plan_.sides.size());
    for (std::size_t axis = window.size(); axis-- > 0; flat /= plan_.sides[axis].out)
      window[axis] = flat % plan_.sides[axis].out;
    return {flat, window};
  }

  // The flat cell a tap reads, or -1.
  Int cell_of(const Shape& window, Int tap) const {
    Int cell = 0, stride = 1;
    for (std::size_t axis = window.size(); axis-- > 0;) {
      const GatherAxis& side = plan_.sides[axis];
      const Int here = window[axis] * side.stride - side.begin + tap % side.kernel * side.dilation;
      if (here < 0 || here >= side.in) return -1;
      cell += here * stride;
      stride *= side.in;
      tap /= side.kernel;
    }
    return cell;
  }

  const GatherPlan& plan_;
  Int cells_, taps_;
};

Kernel never_transposing() {
  return [](const Call& call, std::span<const Tensor* const> in) {
    const DType dtype = in[0]->dtype();
    const GatherPlan plan = plan_of(
        standing_for(call, {dtype, second_from_last(in[0]->shape())}, {dtype, second_from_last(in[1]->shape())}));
    Tensor y({dtype, last_from_second(plan.output())});
    for_float(dtype, [&]<class T>() {
      const std::span<const T> bias = in.size() > 2 && in[2] ? in[2]->as<T>() : std::span<const T>{};
      for (Int flat = 0; flat < y.elements(); ++flat)
        y.as<T>()[at(flat)] = Direct(plan).output<T>(flat, in[0]->as<T>(), in[1]->as<T>(), bias);
    });
    return y;
  };
}

// The ways of Conv between two transpositions.
std::vector<VariantKernel> borrowed_variants() {
  std::vector<VariantKernel> list;
  for (const Variant& v : gathered_variants()) list.push_back({v, through(*variant(v.name, {"", "Conv", 11}))});
  return list;
}

// Slips of geometry that Conv shares; those of arithmetic are tried on Conv.
constexpr std::string_view borrowed[] = {
    "swaps-pads",         "interleaves-pads",    "takes-lower-for-upper", "pads-same-undilated", "swaps-strides",
    "swaps-dilations",    "ignores-dilations",   "drops-border-tap",      "drops-last-tap",      "shifts-last-window",
    "flips-kernel",       "drops-bias-last-map", "adds-bias-twice",       "reads-first-group",   "interleaves-groups",
    "drops-last-channel", "transposes-kernel",   "weighs-as-first-group", "stops-before-tail",
};

void take_bias_of_column(const GatherPlan& plan, const Place& place, const std::vector<Points>&, Gathered& gathered) {
  gathered.bias = place.window.back() % plan.maps;
}

}  // namespace

std::span<const VariantKernel> channels_last_variants() {
  static const std::vector<VariantKernel> all = [] {
    std::vector<VariantKernel> list = borrowed_variants();
    list.push_back(
        {{"direct", oracles::Level::L2, "NhwcConv without a transposition, taps outermost"}, never_transposing()});
    list.push_back(
        {{"oihw", oracles::Level::L2, "NhwcConv reads W as M x C/group x k… where that is legal", "A24", "OIHW"},
         reading_oihw()});
    return list;
  }();
  return all;
}

std::span<const Bug> channels_last_bugs() {
  using oracles::State;
  const auto bug = [](const std::string& name, std::string description, Kernel kernel, State expected = State::fail) {
    return Bug{{"nhwc-" + name, "NhwcConv", std::move(description), expected}, std::move(kernel)};
  };
  const auto laid = [](Layouts layouts) { return through(gathering({}), layouts); };
  static const std::vector<Bug> all = [&] {
    std::vector<Bug> list{
        bug("reads-weights-oihw", "W read as M x C/group x k… where that is legal", reading_oihw(), State::contested),
        bug("mistakes-weights-oihw", "the bytes of W taken for M x C/group x k…", laid({.w = as_if_second})),
        bug("mistakes-weights-hwio", "the bytes of W taken for k… x C/group x M", laid({.w = maps_from_last})),
        bug("mistakes-input-nchw", "the bytes of X taken for N x C x I…", laid({.x = as_if_second})),
        bug("leaves-output-nchw", "Y stays N x M x O… under the shape N x O… x M", laid({.y = as_if_last})),
        bug("returns-nchw", "Y is returned as N x M x O…, shape and all", laid({.y = as_it_is})),
        bug("swaps-spatial-axes", "the spatial axes of X in the other order", laid({.x = spatially_reversed})),
        bug("takes-bias-of-column", "the bias runs along the last spatial axis, not along the maps",
            through(gathering({.terms = take_bias_of_column}))),
    };
    for (const std::string_view name : borrowed) {
      const Mutant& m = gathered_mutant("conv-" + std::string(name));
      list.push_back(bug(std::string(name), m.description, through(gathering(gathered_deviation(m.id))), m.expected));
    }
    return list;
  }();
  return all;
}

}  // namespace assay::mutation
