// SPDX-License-Identifier: Apache-2.0
// The right answer as a tensor, and how far from it an answer may lie, for files that other tools read.
#pragma once

#include "oracles/exact/enclosure.h"
#include "reference/case.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace assay::oracles {

// The outputs of a legal case for one data set under the rulings, each element rounded once: exact zero is +0, NaN the
// positive quiet one, and an average over no cell NaN (decisions 5). None where an element is unscored, or the case is
// not legal.
std::optional<std::vector<Tensor>> expected(const Case& c, int set);

// One output with the intervals around it, all of its type and shape. An element of an answer is as asked for (L2)
// where lower <= it <= upper, or where one of the lists admits it; else it is `below` in the same way by the widest
// interval; else it is wrong. NaN or an infinity in `lower` and `upper` is the only right answer.
struct Admissible {
  Tensor output, lower, upper;
  // Hulls, as `lower` and `upper` are over constants that are rounded or not (E37, E38): over all admitted arithmetic,
  // with numbers that none gives between zero and the others.
  Tensor widest_lower, widest_upper;
  // Elements by row-major index, ascending.
  std::vector<Int> or_zero;                             // an average over no cell: NaN or zero (A9)
  std::map<std::string, std::vector<Int>> or_nan;       // by the ruling that admits NaN as well: A14, A21
  std::vector<Int> widest_or_nonfinite;                 // some arithmetic gives an infinity or NaN here
  std::set<std::string> arithmetic, widest_arithmetic;  // in words, of all elements
};

// Of every output of a legal case; the error is why an element is unscored.
Result<std::vector<Admissible>> admissible(const Case& c, int set);

// One output of an answer that is no defect, with what is admitted around it. NaN in `lower` and `upper`: the only
// right value.
struct Admitted {
  Readings readings;  // that it follows
  Tensor output, lower, upper;
  // Elements by row-major index that may be that as well; a string among those that may be NaN may be any.
  std::vector<Int> or_zero, or_nan, or_nonfinite;
  bool has_other_texts = false;  // strings are as right that say the same otherwise
  Int unscored = 0;  // elements of which nothing may be claimed: anything is admitted, and NaN (0) stands in `output`
};

// Works out every such answer to a legal case for one data set, output by output: that of the rulings first, then what
// other readings of the clauses it touches give, where that is another. `level`: the accuracy asked for; widest: what
// is no breach.
std::vector<std::vector<Admitted>> admitted(const Case& c, int set, Level level, const Arithmetic& arithmetic);

// The n-th output of each of them, and whether a tensor is one of these.
std::vector<Admitted> of_output(std::vector<std::vector<Admitted>> answers, std::size_t n);
bool is_among(const Tensor& output, const std::vector<Admitted>& answers);

// Says whether these outputs are one of them.
bool is_among(const std::vector<Tensor>& outputs, const std::vector<std::vector<Admitted>>& answers);

}  // namespace assay::oracles
