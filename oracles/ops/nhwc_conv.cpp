// SPDX-License-Identifier: Apache-2.0
// The exact answer of com.microsoft NhwcConv (spec 1.3): Conv over X moved to N x C x I…, W moved from the layout of
// A24 to M x C/group x k…, with the answer moved back to N x O… x M.
#include "oracles/exact/operands.h"
#include "oracles/filter/filter.h"
#include "oracles/rules/convolution.h"
#include "reference/flat_index.h"

#include <algorithm>

namespace assay::oracles {
namespace {

// The tensor with its axes in a new order: axis i of the result is axis order[i].
Tensor reordered(const Tensor& in, const std::vector<std::size_t>& order) {
  Shape to;
  for (const std::size_t axis : order) to.push_back(in.shape()[axis]);
  Tensor out({in.dtype(), to});
  const std::size_t size = size_of(in.dtype());
  for (Int i = 0; i < out.elements(); ++i) {
    const Shape at = position(to, i);
    Shape from(at.size());
    for (std::size_t axis = 0; axis < order.size(); ++axis) from[order[axis]] = at[axis];
    const Int flat = flat_index(in.shape(), from);
    std::ranges::copy(in.bytes().subspan(static_cast<std::size_t>(flat) * size, size),
                      out.bytes().subspan(static_cast<std::size_t>(i) * size, size).begin());
  }
  return out;
}

// 0, last, 1, …, last - 1: channels from the end to the second place.
std::vector<std::size_t> channels_forward(std::size_t rank) {
  std::vector<std::size_t> order{0, rank - 1};
  for (std::size_t axis = 1; axis + 1 < rank; ++axis) order.push_back(axis);
  return order;
}

struct Layout {
  Sliding sliding;
  Int depth = 0;  // C/group as W has it
};

Layout layout(const Call& call, const Readings& readings) {
  const Shape &x = call.shape("X"), &w = call.shape("W");
  const bool last = readings.of("A24") == "OHWI";
  const auto first = w.begin() + (last ? 1 : 2), end = w.end() - (last ? 1 : 0);
  return {{{x.begin() + 1, x.end() - 1}, {first, end}}, last ? w.back() : w.at(1)};
}

// Tells whether W fits X, group and kernel_shape in the layout of these readings.
bool fits(const Call& call, const Layout& layout) {
  const bool stated = call.states("kernel_shape") && !call.ints("kernel_shape").empty();
  return call.shape("X").back() == layout.depth * call.integer("group") &&
         (!stated || call.ints("kernel_shape") == layout.sliding.kernel) &&
         std::ranges::all_of(layout.sliding.kernel, [](Int extent) { return extent >= 1; });
}

class NhwcConvAnswer final : public Answer {
 public:
  explicit NhwcConvAnswer(std::unique_ptr<Answer> inner) : inner_(std::move(inner)) {
    const Shape first = inner_->shape();
    shape_ = {first[0]};
    shape_.insert(shape_.end(), first.begin() + 2, first.end());
    shape_.push_back(first[1]);
  }

  Shape shape() const override { return shape_; }
  DType dtype() const override { return inner_->dtype(); }
  Element element(Int index) const override { return inner_->element(inner_index(index)); }
  std::vector<Tolerance> wider(Int index) const override { return inner_->wider(inner_index(index)); }
  std::vector<ProofTerm> taps(Int index) const override { return inner_->taps(inner_index(index)); }
  Element defined(Int index) const override { return inner_->defined(inner_index(index)); }
  std::optional<FilterResult> screen(const Tensor& got, const FilterOptions& how) const override {
    return inner_->screen(got, how);
  }

 private:
  Int inner_index(Int index) const {
    const Shape at = position(shape_, index), first = inner_->shape();
    Int flat = at.front() * first[1] + at.back();
    for (std::size_t axis = 1; axis + 1 < at.size(); ++axis) flat = flat * first[axis + 1] + at[axis];
    return flat;
  }

  std::unique_ptr<Answer> inner_;
  Shape shape_;
};

std::unique_ptr<Answer> answer(const Call& call, const Operands& in, const Readings& readings,
                               const Arithmetic& declared) {
  const std::vector<std::size_t> forward = channels_forward(call.shape("X").size());
  const Tensor w = readings.of("A24") == "OHWI" ? reordered(*in.at(1), forward) : *in.at(1);
  const std::optional<Tensor> bias = in.size() > 2 ? in[2] : std::nullopt;
  const Layout how = layout(call, readings);
  return std::make_unique<NhwcConvAnswer>(convolution({reordered(*in.at(0), forward), w, bias, call.integer("group")},
                                                      *tracks(call, how.sliding, readings), declared, true));
}

std::optional<Shape> shape(const Call& call, const Readings& readings) {
  const Layout how = layout(call, readings);
  if (!fits(call, how)) return std::nullopt;
  const auto resolved = tracks(call, how.sliding, readings);
  if (!resolved) return std::nullopt;
  Shape y{call.dim("X", 0)};
  for (const WindowAxis& t : *resolved) y.push_back(t.windows);
  y.push_back(call.dim("W", 0));
  return y;
}

std::vector<std::string> touched(const Call& call, const Operands*, Int) {
  std::vector<std::string> ids = touched_by_geometry(call, layout(call, {}).sliding);
  if (shape(call, Readings().with("A24", "OIHW"))) ids.push_back("A24");
  return ids;
}

}  // namespace

Oracle nhwc_conv() { return {answer, shape, touched, false, {"X", "W"}}; }

}  // namespace assay::oracles
