// SPDX-License-Identifier: Apache-2.0
// The exact answers of LayerNormalization, RMSNormalization, InstanceNormalization and GroupNormalization: what is
// normalized of a group, by one tree (reductions 3.4, 6). The bodies of the first two and of the last cast to the stash
// type and back; the body of GroupNormalization-18 stays in the type, and InstanceNormalization has none.
#include "oracles/exact/operands.h"
#include "oracles/families/normalized.h"
#include "oracles/rules/rules.h"
#include "reference/flat_index.h"

#include <algorithm>
#include <map>

namespace assay::oracles {
namespace {

class NormalizedAnswer final : public TreeAnswer {
 public:
  NormalizedAnswer(std::size_t output, const Call& call, const Operands& in, const Arithmetic& declared)
      : TreeAnswer(call.definition().type_of(call, call.definition().outputs[output]), declared),
        call_(call),
        x_(*in[0]),
        scale_(*in[1]),
        output_(output),
        epsilon_(scalar_of(static_cast<double>(call.real("epsilon")))) {
    if (in.size() > 2 && in[2]) b_.emplace(*in[2]);
    const Definition& definition = call.definition();
    is_centered_ = definition.version.name != "RMSNormalization";
    if (definition.attribute("stash_type")) stash_ = call.integer("stash_type") == 16 ? DType::bf16 : DType::f32;
    const Int rank = std::ssize(x_.shape());
    if (definition.attribute("axis")) kept_ = (call.integer("axis") + rank) % rank;
    if (definition.attribute("num_groups")) groups_ = call.integer("num_groups");
  }

  Shape shape() const override {
    Shape shape = x_.shape();
    if (output_ > 0) std::fill(shape.begin() + *kept_, shape.end(), 1);
    return shape;
  }

  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all;
    const Int first = row_of(index) * length();
    const std::string& name = call_.definition().inputs.front().name;
    for (Int at = first; at < first + length(); ++at)
      all.push_back({{hexadecimal(x_.at(at))}, place(name, x_.shape(), at)});
    return all;
  }

 private:
  // Return how many elements stand together, and in which group an element of the output belongs.
  Int length() const {
    const auto from = [&](Int axis) { return volume(std::span(x_.shape()).subspan(static_cast<std::size_t>(axis))); };
    if (kept_) return from(*kept_);
    return groups_ ? from(1) / *groups_ : from(2);
  }
  Int row_of(Int index) const { return output_ > 0 ? index : index / length(); }

  Int terms() const override { return length(); }

  // Row: holds what stands together, and what all of it is divided by.
  struct Row : Together {
    using Together::Together;
    Tree root, stashed_root, stashed_mean;  // 1 / √spread
  };

  const Row& row_at(Int number) const {
    const auto known = rows_.find(number);
    if (known != rows_.end()) return known->second;
    std::vector<Scalar> x;
    for (Int at = number * length(); at < (number + 1) * length(); ++at) x.push_back(x_.at(at));
    Row row(std::move(x));
    if (row.group) {
      row.root =
          inverse_root((is_centered_ ? row.group->variance() : row.group->mean_of_squares()) + operand(epsilon_));
      row.stashed_root = in_format(row.root, stash_);
      row.stashed_mean = in_format(row.group->mean(), stash_);
    }
    return rows_.emplace(number, std::move(row)).first->second;
  }

  // Returns which element of scale and B belongs to one of X.
  Int parameter_at(Int index, const Shape& shape) const {
    const Shape at = position(x_.shape(), index);
    if (!kept_) {
      const Int channels = x_.extent(1);
      return shape[0] == channels ? at[1] : at[1] / (channels / *groups_);
    }
    Shape place(shape.size());
    for (std::size_t k = 0; k < shape.size(); ++k) place[k] = shape[k] == 1 ? 0 : at[at.size() - shape.size() + k];
    return flat_index(shape, place);
  }

  TreeValue value_at(Int index) const override {
    if (length() == 0) return undefined("N46", "the mean of no element");
    const Row& row = row_at(row_of(index));
    if (output_ > 0) return statistic(row);
    const Scalar scale = scale_.at(parameter_at(index, scale_.shape()));
    const Scalar b = b_ ? b_->at(parameter_at(index, b_->shape())) : Scalar();
    const Scalar& x = row.x[static_cast<std::size_t>(index % length())];
    if (!row.group && (is_centered_ || std::ranges::any_of(row.x, is_nan) || is_infinite(x)))
      return exactly(nan(), dtype());
    if (is_nan(scale) || is_nan(b)) return exactly(nan(), dtype());
    if (!row.group || !scale.is_finite() || !b.is_finite())
      return unscored("an infinity, whose share may be 0 times it");
    return normalized(row, x, scale, b);
  }

  TreeValue statistic(const Row& row) const {
    if (!row.group) {
      const bool is_mean = output_ == 1, has_nan = std::ranges::any_of(row.x, is_nan);
      const bool has_least = std::ranges::any_of(row.x, [](const Scalar& x) { return is_infinite(x) && x.negative; });
      const bool has_most = std::ranges::any_of(row.x, [](const Scalar& x) { return is_infinite(x) && !x.negative; });
      if (is_mean && !has_nan && has_least != has_most) return unscored("a running mean makes NaN of an infinity");
      return exactly(nan(), dtype());
    }
    return output_ == 1 ? row.stashed_mean : row.stashed_root;
  }

  Tree normalized(const Row& row, const Scalar& of, const Scalar& scale_of, const Scalar& b_of) const {
    const Tree x = operand(of), scale = operand(scale_of), b = operand(b_of);
    const Tree share = by_inverse_root(is_centered_ ? x - row.group->mean() : x, row.root);
    const auto scaled = [&](const Tree& part) { return b_ ? part * scale + b : part * scale; };
    if (!is_centered_) {
      const DType type = x_.tensor().dtype();
      const Tree y = scaled(cast(in_format(share, stash_), type));
      // A backend works in the format of X, to which it may round a scale of a wider type (reductions 3.1).
      return type != DType::f64 && dtype() == DType::f64 ? in_format(y, DType::f32) : y;
    }
    const Tree folded = in_format(oracles::folded(x, row.stashed_mean, scale * row.stashed_root, b));
    if (stash_) return either(scaled(cast(in_format(share, stash_), dtype())), folded);
    if (groups_) return either(scaled(share), folded);
    return in_format(either(scaled(share), folded));
  }

  Call call_;
  Cells x_, scale_;
  std::optional<Cells> b_;
  std::size_t output_;
  Scalar epsilon_;
  bool is_centered_ = true;
  std::optional<DType> stash_;
  std::optional<Int> kept_, groups_;  // so many axes in front are kept; so many groups of channels
  mutable std::map<Int, Row> rows_;
};

Oracle normalized() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands& in, const Readings&, const Arithmetic& declared) {
    return answers_of<NormalizedAnswer>(call, in, declared);
  };
  oracle.shape = [](const Call& call, const Readings& readings) -> std::optional<Shape> {
    const std::vector<Parameter>& inputs = call.definition().inputs;
    const bool is_mixed = call.type(inputs[0].name).dtype != call.type(inputs[1].name).dtype;
    if ((is_mixed && readings.of("N12") == "refuse") || readings.of("M54") == "refuse") return std::nullopt;
    if (readings.of("N48") == "refuse" && volume(call.shape(inputs[0].name)) == 0) return std::nullopt;
    return call.shape(inputs[0].name);
  };
  return with_touched(std::move(oracle));
}

}  // namespace

Oracle layer_normalization() { return normalized(); }
Oracle rms_normalization() { return normalized(); }
Oracle instance_normalization() { return normalized(); }
Oracle group_normalization() { return normalized(); }

}  // namespace assay::oracles
