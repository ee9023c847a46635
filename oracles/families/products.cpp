// SPDX-License-Identifier: Apache-2.0
#include "oracles/families/products.h"

#include "oracles/exact/bins.h"
#include "oracles/exact/dot.h"
#include "oracles/families/elementwise.h"
#include "oracles/filter/filter.h"
#include "reference/operator.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace assay::oracles {
namespace {

// The extents before the last two.
Shape leading(const Shape& shape) {
  return {shape.begin(), shape.end() - std::min<std::ptrdiff_t>(2, std::ssize(shape))};
}

}  // namespace

MatrixMeeting::MatrixMeeting(const Shape& a, const Shape& b, bool transposes_a, bool transposes_b)
    : a_batch_(leading(a)), b_batch_(leading(b)), transposes_a_(transposes_a), transposes_b_(transposes_b) {
  // A vector is a matrix of one row on the left, of one column on the right.
  const std::pair<Int, Int> left = a.size() == 1 ? std::pair(Int{1}, a[0]) : std::pair(a[a.size() - 2], a.back());
  const std::pair<Int, Int> right = b.size() == 1 ? std::pair(b[0], Int{1}) : std::pair(b[b.size() - 2], b.back());
  rows_ = transposes_a ? left.second : left.first;
  depth_ = transposes_a ? left.first : left.second;
  columns_ = transposes_b ? right.first : right.second;
  const std::size_t axes = std::max(a_batch_.size(), b_batch_.size());
  a_batch_.insert(a_batch_.begin(), axes - a_batch_.size(), 1);
  b_batch_.insert(b_batch_.begin(), axes - b_batch_.size(), 1);
  for (std::size_t i = 0; i < axes; ++i) batch_.push_back(a_batch_[i] == 1 ? b_batch_[i] : a_batch_[i]);
  shape_ = batch_;
  if (a.size() != 1) shape_.push_back(rows_);
  if (b.size() != 1) shape_.push_back(columns_);
}

// The matrix of one operand that an element of the output is computed from.
Int MatrixMeeting::matrix(Int index, const Shape& own) const {
  const Shape at = position(batch_, index / (rows_ * columns_));
  Int flat = 0;
  for (std::size_t i = 0; i < own.size(); ++i) flat = flat * own[i] + std::min(at[i], own[i] - 1);
  return flat;
}

MatrixLine MatrixMeeting::of_a(Int index) const {
  const Int row = index / columns_ % rows_, first = matrix(index, a_batch_) * rows_ * depth_;
  return transposes_a_ ? MatrixLine{first + row, rows_} : MatrixLine{first + row * depth_, 1};
}

MatrixLine MatrixMeeting::of_b(Int index) const {
  const Int column = index % columns_, first = matrix(index, b_batch_) * depth_ * columns_;
  return transposes_b_ ? MatrixLine{first + column * depth_, 1} : MatrixLine{first + column, columns_};
}

namespace {

bool is_one(const Scalar& x) { return x.is_finite() && !x.negative && x.significand == 1 && x.exponent == 0; }

class ProductAnswer final : public Answer {
 public:
  ProductAnswer(ProductOperands in, const Readings& readings, const Arithmetic& declared)
      : dtype_(in.a.dtype()),
        saturates_(readings.of("W20") == "saturate"),
        declared_(declared),
        meeting_(std::move(in.meeting)),
        a_(std::move(in.a)),
        b_(std::move(in.b)),
        alpha_(in.alpha),
        beta_(in.beta) {
    if (in.c) c_.emplace(std::move(*in.c));
  }

  Shape shape() const override { return meeting_.shape(); }
  DType dtype() const override { return dtype_; }
  Element element(Int index) const override { return is_float(dtype_) ? enclosed(index, Summing::bins) : whole(index); }
  Element defined(Int index) const override {
    return is_float(dtype_) ? enclosed(index, Summing::definition) : whole(index);
  }
  std::vector<Tolerance> wider(Int index) const override {
    return is_float(dtype_) ? widen(dot(index), dtype_, declared_) : std::vector<Tolerance>{};
  }

  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all;
    each_term(index, [&](Int a, Int b) {
      all.push_back({{written(a_.at(a), dtype_), written(b_.at(b), dtype_)},
                     place("A", a_.shape(), a) + " " + place("B", b_.shape(), b)});
    });
    if (!is_one(alpha_)) all.push_back({{hexadecimal(alpha_)}, "alpha"});
    if (!c_) return all;
    all.push_back({{written(of_c(index), dtype_)}, place("C", c_->shape(), cell_of_c(index))});
    if (!is_one(beta_)) all.push_back({{hexadecimal(beta_)}, "beta"});
    return all;
  }

  // Every matrix is a group of its own: rows of A are the cells of a plane, the inner axis its channels, columns of B
  // the maps, C their bias. None where anything is scaled, or added to an element alone.
  std::optional<FilterResult> screen(const Tensor& got, const FilterOptions& how) const override {
    if (!is_float(dtype_) || !is_one(alpha_) || !is_one(beta_) || (c_ && !is_alike_in_rows(c_->shape())))
      return std::nullopt;
    const Int rows = meeting_.rows(), columns = meeting_.columns(), depth = meeting_.depth();
    if (rows == 0 || columns == 0) return std::nullopt;
    const Tensor a = lined_up(a_.tensor(), rows, [&](Int i) { return meeting_.of_a(i * columns); });
    const Tensor b = lined_up(b_.tensor(), columns,
                              [&](Int i) { return meeting_.of_b(i / columns * rows * columns + i % columns); });
    Sums sums;
    sums.sweep = {.tracks = {{.in = rows, .windows = rows}},
                  .groups = meeting_.batch(),
                  .depth = depth,
                  .maps = columns,
                  .x = &a,
                  .from = {.channel = 1, .cell = {depth}, .group = rows * depth - depth},
                  .weights = Weights(b),
                  .bias = {},
                  .pairs = dtype_ == DType::f64};
    const std::vector<double> c = c_ ? doubles(c_->tensor()) : std::vector<double>{};
    for (Int j = 0; c_ && j < columns; ++j) sums.sweep.bias.push_back(c[static_cast<std::size_t>(cell_of_c(j))]);
    sums.to = {.channel = 1, .cell = {columns}, .group = rows * columns - columns};
    return oracles::screen(std::move(sums), got, how);
  }

 private:
  template <class F>
  void each_term(Int index, F&& f) const {
    const MatrixLine a = meeting_.of_a(index), b = meeting_.of_b(index);
    for (Int k = 0; k < meeting_.depth(); ++k) f(a.at(k), b.at(k));
  }

  // Broadcast from the last axis on.
  Int cell_of_c(Int index) const {
    const Shape& own = c_->shape();
    const Shape at = position(meeting_.shape(), index);
    Int flat = 0;
    for (std::size_t i = 0; i < own.size(); ++i)
      flat = flat * own[i] + (own[i] == 1 ? 0 : at[at.size() - own.size() + i]);
    return flat;
  }
  Scalar of_c(Int index) const { return c_->at(cell_of_c(index)); }
  bool has_nonfinite_product(Int index) const {
    bool found = false;
    each_term(index, [&](Int a, Int b) { found |= !a_.at(a).is_finite() || !b_.at(b).is_finite(); });
    return found;
  }
  // What a factor of 0 makes nothing of, or NaN (W22).
  bool drops_products(Int index) const { return alpha_.is_zero() && has_nonfinite_product(index); }
  bool drops_c(Int index) const { return c_ && beta_.is_zero() && !of_c(index).is_finite(); }

  Dot dot(Int index) const {
    Dot sum;
    sum.terms.reserve(static_cast<std::size_t>(meeting_.depth() + 1));
    if (!drops_products(index))
      each_term(index, [&](Int a, Int b) { sum.terms.push_back({a_.at(a), b_.at(b), a, b}); });
    const bool adds = c_ && !beta_.is_zero();
    if (is_one(alpha_) && (!adds || is_one(beta_))) {
      if (adds) sum.terms.push_back({of_c(index), std::nullopt, cell_of_c(index), 0});
      return sum;
    }
    sum.scale = alpha_;
    if (adds) sum.added.push_back({of_c(index), beta_, cell_of_c(index), 0});
    return sum;
  }

  Element enclosed(Int index, Summing how) const {
    Element out = enclose(dot(index), dtype_, how);
    if (drops_products(index) || drops_c(index)) out.nan_admitted = "W22";
    return out;
  }

  // Integers: a sum of products that is not rounded.
  Element whole(Int index) const {
    const auto is_fraction = [](const Scalar& x) { return !x.is_finite() || (!x.is_zero() && x.exponent < 0); };
    if (is_fraction(alpha_) || (c_ && is_fraction(beta_)))
      return undefined("W24", "integers times a fraction are not defined");
    Bins bins;
    each_term(index, [&](Int a, Int b) {
      const Scalar x = a_.at(a), y = b_.at(b);
      if (x.is_zero() || y.is_zero()) return;
      bins.add(static_cast<unsigned __int128>(x.significand) * y.significand, x.exponent + y.exponent,
               x.negative != y.negative);
    });
    Dyadic sum = bins.sum() * alpha_.value();
    if (c_) sum += of_c(index).value() * beta_.value();
    const Integer number = truncated({sum, 1});
    Element out = exactly(saturates_ ? saturated(dtype_, number) : wrapped(dtype_, number), dtype_);
    out.terms = meeting_.depth() + (c_ ? 1 : 0);
    return out;
  }

  // Tells whether C has one number per column.
  bool is_alike_in_rows(const Shape& c) const {
    return meeting_.batch() == 1 && (c.size() < 2 || volume(c) == c.back());
  }

  // Returns the rows of A or the columns of B of every matrix of the output, one behind the other: the operand itself
  // where they lie so.
  template <class F>
  Tensor lined_up(const Tensor& of, Int lines_of_matrix, F&& line_at) const {
    constexpr Int block = 64;  // of terms: as many rows of a matrix stay in the first cache
    const Int depth = meeting_.depth();
    std::vector<MatrixLine> lines;
    for (Int i = 0; i < meeting_.batch() * lines_of_matrix; ++i) lines.push_back(line_at(i));
    if (std::ssize(lines) * depth == of.elements() && (lines.empty() || lines[0].step == 1)) return of;
    Tensor out(TensorType{dtype_, {std::ssize(lines), depth}});
    for_float(dtype_, [&]<class T>() {
      const T* const from = of.as<T>().data();
      T* const to = out.as<T>().data();
      for (Int first = 0; first < depth; first += block)
        for (std::size_t i = 0; i < lines.size(); ++i)
          for (Int k = first; k < std::min(depth, first + block); ++k)
            to[static_cast<Int>(i) * depth + k] = from[lines[i].at(k)];
    });
    return out;
  }

  DType dtype_;
  bool saturates_;
  Arithmetic declared_;
  MatrixMeeting meeting_;
  Cells a_, b_;
  std::optional<Cells> c_;
  Scalar alpha_, beta_;
};

}  // namespace

std::unique_ptr<Answer> product(ProductOperands in, const Readings& readings, const Arithmetic& declared) {
  return std::make_unique<ProductAnswer>(std::move(in), readings, declared);
}

Oracle of_products(Oracle oracle) {
  Oracle out = with_touched(std::move(oracle));
  out.touched = [of_integers = std::move(out.touched)](const Call& call, const Operands* in, Int most) {
    return is_float(call.type(call.definition().inputs.front().name).dtype) ? std::vector<std::string>()
                                                                            : of_integers(call, in, most);
  };
  out.factors = {"A", "B"};
  return out;
}

namespace {

// An operand with its zero points taken apart.
class Shifted {
 public:
  explicit Shifted(ZeroedOperand of)
      : name_(of.name),
        cells_(std::move(of.tensor)),
        zeros_(of.zeros ? scalars(*of.zeros).values : std::vector<Scalar>{Scalar()}) {}

  Int number(Int at, Int zero) const {
    return cells_.at(at).as_integer() - zeros_[zeros_.size() == 1 ? 0 : static_cast<std::size_t>(zero)].as_integer();
  }
  std::string named(Int at) const { return place(name_, cells_.shape(), at); }

 private:
  const char* name_;
  Cells cells_;
  std::vector<Scalar> zeros_;
};

class IntegerSumsAnswer final : public Answer {
 public:
  IntegerSumsAnswer(Shape shape, ZeroedOperand a, ZeroedOperand b, IntegerTerms terms, bool saturates)
      : shape_(std::move(shape)), a_(std::move(a)), b_(std::move(b)), terms_(std::move(terms)), saturates_(saturates) {}

  Shape shape() const override { return shape_; }
  DType dtype() const override { return DType::i32; }
  Element element(Int index) const override {
    Int sum = 0, terms = 0;
    terms_(index, [&](const IntegerTerm& t) {
      sum += a_.number(t.a, t.a_zero) * b_.number(t.b, t.b_zero);
      ++terms;
    });
    Element out = exactly(saturates_ ? saturated(DType::i32, sum) : wrapped(DType::i32, sum), DType::i32);
    out.terms = terms;
    return out;
  }
  std::vector<Tolerance> wider(Int) const override { return {}; }
  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all;
    terms_(index, [&](const IntegerTerm& t) {
      all.push_back({{std::to_string(a_.number(t.a, t.a_zero)), std::to_string(b_.number(t.b, t.b_zero))},
                     a_.named(t.a) + " " + b_.named(t.b)});
    });
    return all;
  }

 private:
  Shape shape_;
  Shifted a_, b_;
  IntegerTerms terms_;
  bool saturates_;
};

}  // namespace

std::optional<Tensor> given(const Operands& in, std::size_t input) {
  return in.size() > input ? in[input] : std::nullopt;
}

std::unique_ptr<Answer> integer_sums(Shape shape, ZeroedOperand a, ZeroedOperand b, IntegerTerms terms,
                                     const Readings& readings) {
  return std::make_unique<IntegerSumsAnswer>(std::move(shape), std::move(a), std::move(b), std::move(terms),
                                             readings.of("W7") == "saturate32");
}

}  // namespace assay::oracles
