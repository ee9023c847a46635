// SPDX-License-Identifier: Apache-2.0
// Det a third time: by elimination of columns, by full pivoting, by reflections, and written out.
#include "reference/families/elementwise.h"
#include "suites/mutation/family.h"

#include <cmath>
#include <utility>

namespace assay::mutation {
namespace {

enum class Method { columns, full, reflections, written_out };
struct Solving {
  Method method = Method::columns;
  bool in_double = false;
  // Slips.
  bool forgets_sign = false, forgets_pivots = false, takes_diagonal = false, adds_products = false;
};

template <class A>
class Square {
 public:
  Square(std::size_t rows, std::vector<A> entries) : n_(rows), a_(std::move(entries)) {}

  A diagonal() const {
    A product = 1;
    for (std::size_t k = 0; k < n_; ++k) product *= at(k, k);
    return product;
  }

  A eliminated(const Solving& how) {
    bool is_negated = false;
    for (std::size_t k = 0; k < n_; ++k) {
      std::size_t row = k, column = k;
      for (std::size_t i = k; i < n_ && !how.forgets_pivots; ++i)
        for (std::size_t j = k; j < (how.method == Method::full ? n_ : k + 1); ++j)
          if (std::abs(at(j, i)) > std::abs(at(row, column))) row = j, column = i;
      for (std::size_t i = 0; i < n_; ++i) std::swap(at(i, k), at(i, column));
      for (std::size_t i = 0; i < n_; ++i) std::swap(at(k, i), at(row, i));
      is_negated ^= (row != k) ^ (column != k);
      if (at(k, k) == 0 && !how.forgets_pivots) continue;
      for (std::size_t i = k + 1; i < n_; ++i) {
        const A times = at(k, i) / at(k, k);
        for (std::size_t j = k + 1; j < n_; ++j) at(j, i) -= times * at(j, k);
      }
    }
    return is_negated && !how.forgets_sign ? -diagonal() : diagonal();
  }

  // Householder's.
  A reflected() {
    A product = 1;
    for (std::size_t k = 0; k + 1 < n_; ++k) {
      A squares = 0;
      for (std::size_t i = k; i < n_; ++i) squares += at(i, k) * at(i, k);
      const A norm = std::sqrt(squares);
      if (norm == 0) return at(k, k) * norm;
      std::vector<A> v(n_);
      for (std::size_t i = k; i < n_; ++i) v[i] = at(i, k);
      v[k] += at(k, k) < 0 ? -norm : norm;
      A length = 0;
      for (std::size_t i = k; i < n_; ++i) length += v[i] * v[i];
      for (std::size_t j = k; j < n_; ++j) {
        A dot = 0;
        for (std::size_t i = k; i < n_; ++i) dot += v[i] * at(i, j);
        for (std::size_t i = k; i < n_; ++i) at(i, j) -= 2 * dot / length * v[i];
      }
      product *= -at(k, k);
    }
    return n_ == 0 ? A(1) : product * at(n_ - 1, n_ - 1);
  }

  // By the first row.
  A written_out(bool adds) const {
    if (n_ == 0) return 1;
    if (n_ == 1) return a_[0];
    A sum = 0;
    for (std::size_t k = 0; k < n_; ++k) {
      std::vector<A> rest;
      for (std::size_t i = 1; i < n_; ++i)
        for (std::size_t j = 0; j < n_; ++j)
          if (j != k) rest.push_back(at(i, j));
      const A term = at(0, k) * Square(n_ - 1, std::move(rest)).written_out(adds);
      sum += k % 2 == 0 || adds ? term : -term;
    }
    return sum;
  }

 private:
  A& at(std::size_t i, std::size_t j) { return a_[i * n_ + j]; }
  A at(std::size_t i, std::size_t j) const { return a_[i * n_ + j]; }
  std::size_t n_;
  std::vector<A> a_;
};

template <class A>
double determinant(const Solving& how, const Tensor& x, Int matrix) {
  const Int rows = x.shape().back();
  std::vector<A> entries;
  for (Int i = 0; i < rows * rows; ++i) entries.push_back(static_cast<A>(number_at(x, matrix * rows * rows + i)));
  Square<A> square(static_cast<std::size_t>(rows), std::move(entries));
  if (how.takes_diagonal) return static_cast<double>(square.diagonal());
  if (how.adds_products || (how.method == Method::written_out && rows <= 4))
    return static_cast<double>(square.written_out(how.adds_products));
  if (how.method == Method::reflections) return static_cast<double>(square.reflected());
  return static_cast<double>(square.eliminated(how));
}

Kernel solving(Solving how) {
  return [how](const Call& call, Inputs in) {
    Values y = outputs_of(call);
    const bool is_wide = how.in_double || in[0]->dtype() == DType::f64;
    for (Int i = 0; i < y[0]->elements(); ++i)
      put_number(*y[0], i, is_wide ? determinant<double>(how, *in[0], i) : determinant<float>(how, *in[0], i));
    return y;
  };
}

}  // namespace

std::vector<VariantKernel> determinant_variants(const std::string& op) {
  if (op != "Det") return {};
  return {variant_of("sequential", "elimination of columns", solving({})),
          variant_of("full-pivots", "the largest of all that is left is the pivot", solving({.method = Method::full})),
          variant_of("reflections", "a triangle by reflections", solving({.method = Method::reflections})),
          variant_of("written-out", "up to four rows by the first of them", solving({.method = Method::written_out})),
          variant_of("in-double", "every float is computed in double", solving({.in_double = true}))};
}

std::vector<Bug> determinant_bugs(const std::string& op) {
  if (op != "Det") return {};
  const auto bug = [&](const char* name, const char* what, Solving how) {
    return bug_of(op, name, what, solving(how));
  };
  return {bug("forgets-sign", "exchanged rows do not change the sign", {.forgets_sign = true}),
          bug("forgets-pivots", "the first of a column is the pivot, 0 or not", {.forgets_pivots = true}),
          bug("takes-diagonal", "the diagonal is multiplied", {.takes_diagonal = true}),
          bug("adds-products", "no product is subtracted", {.adds_products = true})};
}

}  // namespace assay::mutation
