// SPDX-License-Identifier: Apache-2.0
// Products of matrices: what generic services know of their shapes.
#include "generators/families/product.h"

#include "generators/shrink.h"
#include "reference/flat_index.h"
#include "reference/operator.h"

#include <algorithm>
#include <span>

namespace assay::generators {

Int product_cost(const Case& c) {
  const std::optional<MatrixExtents> e = extents_of(c);
  return e ? volume(c.definition().requested_types(c.call()).front().shape) * e->a_depth : 0;
}

namespace {

// Appends the case with other extents, and what follows from them.
template <class F>
void with_extents(Cases& into, const Case& c, F&& change) {
  const std::optional<MatrixExtents> before = extents_of(c);
  if (!before) return;
  MatrixExtents now = *before;
  change(now);
  Case out = c;
  write(out, *before, now);
  push_refitted(into, std::move(out));
}

// -- the space of shapes

int count_of(Int extent) { return extent > 7 ? 3 : extent > 1 ? 2 : static_cast<int>(extent); }
int depth_of(Int extent) { return extent > 64 ? 4 : extent > 7 ? 3 : count_of(extent); }
int rank_of(const Case& c, const std::string& input) {
  return static_cast<int>(std::min<std::size_t>(generators::shape_of(c, input).size(), 4)) - 1;
}

int batch_of(const MatrixExtents& e) {
  const Int a = volume(e.a_batch), b = volume(e.b_batch);
  return a == 0 || b == 0 ? 0 : std::max(a, b) == 1 ? 1 : e.a_batch == e.b_batch ? 2 : 3;
}

struct Trait {
  const char* name;
  const char* needs;  // an input
  bool (*holds)(const Case&, const MatrixExtents&);
  bool is_of_rows = false;  // which operators of com.microsoft have one number for

  bool applies(const Definition& to) const { return to.input(needs) && !(is_of_rows && !to.version.domain.empty()); }
};

const std::vector<Trait>& trait_rows() {
  static const std::vector<Trait> rows{
      {"C whole", "C",
       [](const Case& c, const MatrixExtents& e) {
         return is_given(c, "C") && generators::shape_of(c, "C") == Shape{e.rows, e.columns};
       }},
      {"C one row", "C",
       [](const Case& c, const MatrixExtents& e) {
         return is_given(c, "C") && e.rows > 1 && generators::shape_of(c, "C") == Shape{1, e.columns};
       }},
      {"C a vector", "C",
       [](const Case& c, const MatrixExtents& e) {
         return is_given(c, "C") && generators::shape_of(c, "C") == Shape{e.columns};
       }},
      {"C one column", "C",
       [](const Case& c, const MatrixExtents& e) {
         return is_given(c, "C") && e.columns > 1 && generators::shape_of(c, "C") == Shape{e.rows, 1};
       }},
      {"C a scalar", "C",
       [](const Case& c, const MatrixExtents&) { return is_given(c, "C") && generators::shape_of(c, "C").empty(); }},
      {"a zero point per row", "a_zero_point",
       [](const Case& c, const MatrixExtents&) {
         return is_given(c, "a_zero_point") && volume(generators::shape_of(c, "a_zero_point")) > 1;
       },
       true},
      {"a zero point per column", "b_zero_point",
       [](const Case& c, const MatrixExtents&) {
         return is_given(c, "b_zero_point") && volume(generators::shape_of(c, "b_zero_point")) > 1;
       }},
      {"zero points per matrix", "a_zero_point",
       [](const Case& c, const MatrixExtents&) {
         return is_given(c, "a_zero_point") && generators::shape_of(c, "a_zero_point").size() > 2;
       },
       true},
  };
  return rows;
}

// -- shrinking

// All extents at once, then the batch axes of both operands one after the other.
Cases fewer_axes(const Case& c, int part) {
  Cases out;
  with_extents(out, c, [&](MatrixExtents& e) {
    if (part > 0) {
      for (Ints* batch : {&e.a_batch, &e.b_batch})
        if (!batch->empty()) batch->erase(batch->begin());
      return;
    }
    e.a_depth = e.a_depth == e.b_depth ? 1 : e.a_depth;
    e.b_depth = e.a_depth == 1 ? 1 : e.b_depth;
    e.rows = e.columns = 1;
    e.a_batch.clear();
    e.b_batch.clear();
  });
  return out;
}

Cases smaller_extent(const Case& c, int part) {
  Cases out;
  const std::optional<MatrixExtents> now = extents_of(c);
  if (!now) return out;
  const auto smaller = [&](Int value, auto&& change) {
    for (const Int next : towards(value, 1)) with_extents(out, c, [&](MatrixExtents& e) { change(e, next); });
  };
  const auto axis = static_cast<std::size_t>((part - 3) % 2);
  const Ints& batch = part < 5 ? now->a_batch : now->b_batch;
  switch (part) {
    case 0: smaller(now->rows, [](MatrixExtents& e, Int next) { e.rows = next; }); break;
    case 1: smaller(now->columns, [](MatrixExtents& e, Int next) { e.columns = next; }); break;
    case 2:
      smaller(std::min(now->a_depth, now->b_depth), [](MatrixExtents& e, Int next) {
        const Int less = std::min(e.a_depth, e.b_depth) - next;
        e.a_depth -= less;
        e.b_depth -= less;
      });
      break;
    default:
      if (axis < batch.size())
        smaller(batch[axis], [&](MatrixExtents& e, Int next) { (part < 5 ? e.a_batch : e.b_batch)[axis] = next; });
  }
  return out;
}

class ProductFamily final : public Family {
 public:
  const OperatorGenerator* generator() const override {
    static const OperatorGenerator all{
        .draw = draw_product, .strata = product_strata, .cost = product_cost, .damages = {}};
    return &all;
  }
  std::vector<Mutation> damages(const OperatorGenerator&) const override { return product_damages(); }

  std::vector<Dimension> dimensions(const Definition& definition) const override {
    const Names counts{"0", "1", "2 to 7", "> 7"};
    std::vector<Dimension> all{
        {"rows", counts}, {"columns", counts}, {"depth", {"0", "1", "2 to 7", "8 to 64", "> 64"}}};
    if (is_scaled(definition)) return all;
    all.push_back({"rank of A", {"1", "2", "3", "4"}});
    all.push_back({"rank of B", {"1", "2", "3", "4"}});
    all.push_back({"batch", {"none", "one", "shared", "broadcast"}});
    return all;
  }
  std::vector<int> features(const Case& legal) const override {
    const MatrixExtents e = extents_of(legal).value();
    std::vector<int> all{count_of(e.rows), count_of(e.columns), depth_of(e.a_depth)};
    if (!is_scaled(legal.definition()))
      all.insert(all.end(), {rank_of(legal, a_of(legal)), rank_of(legal, b_of(legal)), batch_of(e)});
    return all;
  }
  std::span<const Exclusion> exclusions() const override {
    static const Exclusion all[] = {{"rank of A", {"1"}, "rows", {"0", "2 to 7", "> 7"}},
                                    {"rank of B", {"1"}, "columns", {"0", "2 to 7", "> 7"}}};
    return all;
  }
  bool is_degenerate(const CoverageValue& feature) const override {
    const bool is_extent =
        feature.dimension == "rows" || feature.dimension == "columns" || feature.dimension == "depth";
    return feature.value == "none" || (is_extent && feature.value == "0");
  }
  Names cells(const Definition& definition) const override {
    Names names;
    for (const Trait& trait : trait_rows())
      if (trait.applies(definition)) names.emplace_back(trait.name);
    return names;
  }
  Names traits(const Case& legal) const override {
    const MatrixExtents e = extents_of(legal).value();
    Names names;
    for (const Trait& trait : trait_rows())
      if (trait.applies(legal.definition()) && trait.holds(legal, e)) names.emplace_back(trait.name);
    return names;
  }

  std::span<const ShrinkStep> coarse_steps() const override {
    static const ShrinkStep steps[] = {{[](const Case&) { return 3; }, fewer_axes}};
    return steps;
  }
  std::span<const ShrinkStep> fine_steps() const override {
    static const ShrinkStep steps[] = {{[](const Case&) { return 7; }, smaller_extent}};
    return steps;
  }
  Role role(const Case& c, const std::string& input) const override {
    if (input == c.definition().inputs.front().name) return Role::data;
    return input == b_of(c) ? Role::weights : Role::other;
  }
  bool vary(Case& c, Generator& draw, std::uint64_t which) const override {
    const std::optional<MatrixExtents> before = extents_of(c);
    if (which > 2 || !before) return false;
    MatrixExtents now = *before;
    const Int extent = 1 + static_cast<Int>(draw.below(which == 0 ? 200 : 40));
    if (which == 0) now.a_depth = now.b_depth = extent;
    if (which == 1 && !now.a_is_vector) now.rows = extent;
    if (which == 2 && !now.b_is_vector) now.columns = extent;
    write(c, *before, now);
    return true;
  }

  std::vector<Region> regions(const Case& c, const Shape& output) const override {
    const std::optional<MatrixExtents> e = extents_of(c);
    std::vector<Region> all;
    if (!e || volume(output) < 2) return all;
    const Int rows = e->rows, columns = e->columns;
    const auto column = [=](const Shape& at) { return flat_index(output, at) % columns; };
    const auto row = [=](const Shape& at) { return flat_index(output, at) / columns % rows; };
    const auto add = [&](bool exists, const char* name, std::function<bool(const Shape&)> holds) {
      if (exists) all.push_back({name, std::move(holds)});
    };
    add(columns > 1, "in the last column", [=](const Shape& at) { return column(at) == columns - 1; });
    add(columns > 1, "in the first column", [=](const Shape& at) { return column(at) == 0; });
    add(rows > 1, "in the last row", [=](const Shape& at) { return row(at) == rows - 1; });
    add(rows > 1, "in the first row", [=](const Shape& at) { return row(at) == 0; });
    add(columns > 8 && columns % 8 != 0, "past the last eight columns",
        [=](const Shape& at) { return column(at) >= columns / 8 * 8; });
    add(rows > 4 && rows % 4 != 0, "past the last four rows", [=](const Shape& at) { return row(at) >= rows / 4 * 4; });
    add(volume(output) > rows * columns, "after the first matrix",
        [=](const Shape& at) { return flat_index(output, at) >= rows * columns; });
    return all;
  }
};

}  // namespace

const Family& product_family() {
  static const ProductFamily family;
  return family;
}

}  // namespace assay::generators
