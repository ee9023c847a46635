// SPDX-License-Identifier: Apache-2.0
// Recipe: how a tensor is filled, as text. Integer arithmetic only, no libm and no std distributions, so a recipe
// builds the same bytes on every machine for ever; a changed recipe gets a new name.
//
//   small:S     non-zero integers -8..8         sign:S     -1 or 1
//   oddB:S      odd integers below 2^B          pow2:S     signed powers of two, 2^-3..2^3
//   normal:S    about N(0,1), full significands uniform:S  in [0,1], full significands
//   cancel:S    1 + normal/256                  zerosum:S  normal, in pairs v,-v
//   logu:S      full significands, 2^-12..2^12  subnormal:S  multiples of the smallest subnormal
//   huge:S      near the overflow threshold     probe:S    1, ulp/2 and their neighbours: ties and near ties
//   special:S   small with NaN, infinities, -0 and subnormals among them
//   onehot:K    1 at flat index K mod size      iota:A     A, A+1, A+2, …
//   const:V     V everywhere                    lit:V,V,…  these values, repeated to fill
//
//   hold:V,V,…  like lit, the same in every data set (scales, zero points)
//   text:V,V,…  strings, repeated to fill, the same in every data set; all but letters, digits and _ as %XX
//   values:V,V,…  like hold, and exact: integers are read in the element type; nothing at all for a tensor without
//               elements
//   stored:H    the tensor whose hash is H (tensor_store.h), repeated to fill, the same in every data set
//   byte:S      integers of an 8-bit type, whole range      edge:S     its two smallest and two largest
//   aroundZ:S   Z plus -8..8, saturated
//
//   full:S      integers of the whole range of an integer type, of bool 0 and 1; floats take the range of i8
//   ends:S      its smallest and largest integers, powers of two and their neighbours, -1, 0, 1
//   pattern:S   finite numbers of a float type, each bit pattern as likely as the other; of integers like full
//   nearN:S     three adjacent bit patterns, from zero on or as N decides, and one that differs in the upper half alone
//
//   bits:A      the bit patterns A, A+1, A+2, … of the type, NaN and infinities among them, from the last to the first
//   in
//               odd data sets; strings count
//
//   quarter:S   multiples of 1/4 in [-3,3]      brink:S    -3..3 and their neighbours, 2^(2-p) away
//   astray:S    quarter, one in four +-2^3..2^14            sparseN:S   -1 or 1 at one of N places, else 0
//
// Values in const, lit and hold are decimal or hexadecimal floats, nan, inf or -inf. Of strings full, ends, pattern and
// near draw short words that differ by case, blanks or length; the others write their numbers in decimal.
#pragma once

#include "reference/tensor.h"

#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct Recipe {
  std::string family;    // "odd12"
  std::string argument;  // "7"
  bool operator==(const Recipe&) const = default;
};

std::string text(const Recipe& recipe);                  // "odd12:7"
Recipe stated(const std::vector<std::string>& strings);  // text:a,%20
Recipe stated(const Tensor& tensor);                     // values:1,2.5, or text: of strings; every NaN is nan
Result<Recipe> parse_recipe(std::string_view text);
// Tells whether `values` gives every element of a tensor of that type one value, written the one way there is.
bool writes_out(const Recipe& recipe, const TensorType& type);
bool is_nonfinite(const Recipe& recipe, const TensorType& type);  // may put NaN or infinities into such a tensor
// Says what it fills a tensor with: "non-zero integers from -8 to 8, seed 7 (8 in the second data set)".
std::string in_words(const Recipe& recipe);
std::vector<std::string> recipe_families();  // as they are written: "small", "odd12", …

// Fills a new tensor for data set `set`: a seeded recipe takes the seed S + set, onehot the index K + set, the
// others are negated in odd sets. Finite values outside the element type saturate; integers round to even.
Tensor fill(const Recipe& recipe, const TensorType& type, int set = 0);

// SplitMix64 (Steele, Lea, Flood 2014): the integer generator of all recipes.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

 private:
  std::uint64_t state_;
};

}  // namespace assay
