// SPDX-License-Identifier: Apache-2.0
// Enclosure: for one call and one set of readings, the output shape and, per element, the exact value and how far from
// it a correct implementation may land.
#pragma once

#include "oracles/exact/accuracy.h"
#include "oracles/exact/exact.h"
#include "reference/call.h"
#include "reference/rulings.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay::oracles {

// What every order of evaluation must give (numerics 3.2).
enum class Kind {
  finite,
  nan,                // a NaN operand, 0 * inf, or infinities of both signs, all in bounds
  positive_infinity,  // infinities of one sign only
  negative_infinity,
  nan_or_zero,  // A9: the average over no cell at all
  one_of,       // any of the options
  text,         // the string that `nearest` is, or one that says the same
  unscored,     // nothing may be claimed; `reason` says why
};

// [lower, upper] as values of the output type.
struct Interval {
  Scalar lower, upper;
};

// An admissible distance from the exact value, and the arithmetic that may use it.
struct Tolerance {
  Level level = Level::L2;
  std::string arithmetic;         // "f32 accumulation, any order", "TF32 inputs", …
  std::optional<Interval> range;  // integer outputs: the interval itself, and no budget
  Ratio budget;                   // absolute: accept iff RN_T(y - budget) <= got <= RN_T(y + budget)
  bool flushes_output = false;    // 0 is admitted where the interval meets (-λ_T, λ_T)
  bool may_overflow = false;      // infinities and NaN are admitted: an intermediate may overflow in this arithmetic
  bool blurs_nonfinite = false;   // an infinity or NaN nearby may spread or change here (Winograd)
  bool vacuous = false;           // n·u >= 1: this arithmetic proves nothing, and no `fail` on value can be issued
};

struct Element {
  Kind kind = Kind::finite;
  Ratio value;                    // the exact y; of integer outputs before the zero point
  Ratio blur;                     // y lies within this of `value`, which then rounds to T in every direction as y does
  std::optional<Scalar> nearest;  // integer outputs and strings: the right answer
  Ratio magnitude;                // A: the sum of the absolute terms, over the same divisor
  Int terms = 0;                  // n: in-bounds taps, and the bias
  Tolerance required;             // L2
  std::string nan_admitted;       // id of the set ruling that also admits NaN here: A14, A21
  std::vector<Scalar> options;    // of one_of
  std::string chosen_by;  // the ruling that admits one_of, in the order of a set, or anything: unscored, undefined
  std::string reason;     // why unscored
  std::shared_ptr<const std::string> own_text;             // what `nearest` refers to where no tensor holds it
  std::function<bool(const std::string& text)> says_same;  // of text, where others are as right

  Element();
  Element(const Element&);
  Element(Element&&) noexcept;
  Element& operator=(const Element&);
  Element& operator=(Element&&) noexcept;
  ~Element();
};

// One product of the exact sum, for a certificate: `factors` as stored, in hexadecimal.
struct ProofTerm {
  std::vector<std::string> factors;
  std::string where;  // "X[0,1,3] W[2,0,1]"
};

struct FilterOptions;
struct FilterResult;

// One output of one operator for one call; written per operator in oracles/ops, in another hand than the kernel.
class Answer {
 public:
  virtual ~Answer() = default;
  virtual Shape shape() const = 0;
  virtual DType dtype() const = 0;
  virtual Element element(Int index) const = 0;  // row-major index into the output
  // Tells of an element what readings of clauses decide; what is computed alike under all of them may be 0.
  virtual Element decided(Int index) const { return element(index); }
  virtual std::vector<Tolerance> wider(Int index) const = 0;  // beyond L2, worked out only when L2 is missed
  virtual std::vector<ProofTerm> taps(Int index) const = 0;   // the exact sum, term by term

  // The tensor and the index whose element this one is to the bit; null where none is.
  virtual std::pair<const Tensor*, Int> copied(Int) const { return {}; }
  // Every bit of what is copied has to come back: the payload of a NaN, the sign of a zero.
  virtual bool keeps_bits() const { return false; }
  // The same element, its exact sums formed by the definition alone: for what is reported, and to check the faster way.
  virtual Element defined(Int index) const { return element(index); }
  // What the filter says of a whole output; none where the operator or the data have no filter.
  virtual std::optional<FilterResult> screen(const Tensor& got, const FilterOptions& how) const;
};

// Of every output that is asked for, in schema order.
struct Answers : std::vector<std::unique_ptr<Answer>> {
  using vector::vector;
  template <class One>
  Answers(std::unique_ptr<One> only) {
    push_back(std::move(only));
  }
};

using assay::Operands;  // they must match the call

struct FunctionCall;

struct Oracle {
  // The answer under `readings`; never called for a call that is illegal under them. Shares nothing with the kernels.
  std::function<Answers(const Call&, const Operands&, const Readings&, const Arithmetic&)> answer;
  // The shape of the first output alone; none where no window fits under these readings.
  std::function<std::optional<Shape>(const Call&, const Readings&)> shape;
  // Rulings with more than one admissible reading that influence this call, in id order. Where the data decide too,
  // `operands` is read; it may be null, and then only the call is looked at. Where that is work, so many elements of
  // each output are.
  std::function<std::vector<std::string>(const Call&, const Operands* operands, Int most_elements)> touched;
  bool touched_reads_data = false;
  // The inputs that are multiplied, averaged or interpolated: what TF32, bf16 and flushing hardware changes on the way
  // in.
  std::vector<std::string> factors = {};
  // As is_random() says; null where it never does.
  bool (*is_random)(const Call&) = nullptr;
  bool rounds = true;  // false where answers are copies, comparisons or exact integers
  // The answer in the light of outputs of the right types, where elements are right or wrong together: as `got` has
  // them where the text leaves their order open. Null where each element stands alone.
  std::function<Answers(const Call&, const Operands&, const Readings&, const std::vector<Tensor>& got)> given = {};
  // Tells that `shape` may be none because the data leave it open: `given`, which then takes outputs of any type, has
  // it.
  bool leaves_shape_open = false;
  // The function that each element of the output is of the one of the input, where that is one of exact/functions.h.
  std::optional<FunctionCall> (*function)(const Call&) = nullptr;
};
// The oracle of an operator; throws BrokenPromise where there is none.
const Oracle& oracle_of(const OpVersion& version);
// Tells whether the operator leaves its outputs to chance: run twice, it may answer otherwise, and be right twice.
bool is_random(const Call& call);

}  // namespace assay::oracles
