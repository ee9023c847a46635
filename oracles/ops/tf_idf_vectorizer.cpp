// SPDX-License-Identifier: Apache-2.0
// The exact answer of TfIdfVectorizer (values-and-graphs 3.6): every run of tokens of a row is looked up in the pool. A
// count is an integer below 2^24, and so exact in float32; it is multiplied by a weight, or that is added up as often.
#include "oracles/exact/composite.h"
#include "oracles/exact/operands.h"
#include "oracles/families/normalized.h"
#include "oracles/rules/rules.h"

#include <algorithm>
#include <map>

namespace assay::oracles {
namespace {

using Tokens = std::vector<std::string>;

// Returns the tokens of a tensor or of the pool, as text.
std::string token(const Scalar& x) { return x.text ? *x.text : std::to_string(x.as_integer()); }

Tokens pool_of(const Call& call) {
  if (call.states("pool_strings")) return call.texts("pool_strings");
  Tokens all;
  for (const Int each : call.ints("pool_int64s")) all.push_back(std::to_string(each));
  return all;
}

class VectorizerAnswer final : public TreeAnswer {
 public:
  VectorizerAnswer(std::size_t, const Call& call, const Operands& in, const Arithmetic& declared)
      : TreeAnswer(DType::f32, declared),
        mode_(call.text("mode")),
        places_(call.ints("ngram_indexes")),
        x_(*in[0]),
        width_(std::ranges::max(places_) + 1) {
    if (call.states("weights")) weights_ = call.reals("weights");
    number_grams(call);
    const Int columns = x_.shape().back(), rows = x_.shape().size() == 1 ? 1 : x_.extent(0);
    for (Int row = 0; row < rows; ++row) {
      Tokens tokens;
      for (Int i = 0; i < columns; ++i) tokens.push_back(token(x_.at(row * columns + i)));
      counts_.push_back(counted(call, tokens));
    }
  }

  Shape shape() const override {
    Shape y = x_.shape();
    y.back() = width_;
    return y;
  }
  std::vector<ProofTerm> taps(Int index) const override {
    std::vector<ProofTerm> all;
    for (std::size_t id = 0; id < places_.size(); ++id)
      if (places_[id] == index % width_)
        all.push_back({{std::to_string(count_of(index, id))}, "of n-gram " + std::to_string(id)});
    return all;
  }

 private:
  Int terms() const override { return 1; }

  // Numbers the n-grams in the order of the pool; the same one may stand there again.
  void number_grams(const Call& call) {
    const Tokens pool = pool_of(call);
    const Ints starts = call.ints("ngram_counts");
    auto next = pool.begin();
    std::size_t id = 0;
    for (std::size_t length = 1; length <= starts.size(); ++length) {
      const auto end = length < starts.size() ? pool.begin() + starts[length] : pool.end();
      for (; next < end; next += static_cast<std::ptrdiff_t>(length))
        ids_[Tokens(next, next + static_cast<std::ptrdiff_t>(length))].push_back(id++);
    }
  }

  // Counts how often each n-gram stands in a row.
  std::vector<Int> counted(const Call& call, const Tokens& tokens) const {
    std::vector<Int> counts(places_.size(), 0);
    const Int columns = std::ssize(tokens), skips = call.integer("max_skip_count");
    for (Int length = call.integer("min_gram_length"); length <= call.integer("max_gram_length"); ++length)
      for (Int gap = 1; gap <= (length == 1 ? 1 : std::min(skips, columns) + 1); ++gap)
        for (Int end = (length - 1) * gap; end < columns; ++end) {
          Tokens run;
          for (Int k = length - 1; k >= 0; --k) run.push_back(tokens[static_cast<std::size_t>(end - k * gap)]);
          if (const auto found = ids_.find(run); found != ids_.end())
            for (const std::size_t id : found->second) ++counts[id];
        }
    return counts;
  }

  Int count_of(Int index, std::size_t id) const { return counts_[static_cast<std::size_t>(index / width_)][id]; }

  TreeValue value_at(Int index) const override {
    std::vector<std::size_t> here;  // the n-grams that are found of those with this place
    Int with_this_place = 0, total = 0;
    for (std::size_t id = 0; id < places_.size(); ++id) {
      if (places_[id] != index % width_) continue;
      ++with_this_place;
      total += count_of(index, id);
      if (count_of(index, id) > 0) here.push_back(id);
    }
    if (here.empty()) return exactly(scalar(Int{0}), dtype());
    for (const auto& [tokens, ids] : ids_)
      if (ids.size() > 1 && std::ranges::find_first_of(ids, here) != ids.end())
        return undefined("G48", "which of two equal n-grams counts");
    if (mode_ == "TF") return exactly(scalar(total), dtype());
    if (with_this_place > 1) return undefined("G41", "n-grams that share a place, weighed");
    const Int count = mode_ == "IDF" ? 1 : total;
    if (weights_.empty()) return exactly(scalar(count), dtype());
    const Scalar weight = scalar_of(static_cast<double>(weights_[here.front()]));
    if (count == 1 || !weight.is_finite()) return exactly(weight, dtype());
    const std::vector<Tree> summands(static_cast<std::size_t>(count), operand(weight));
    return either(operand(scalar(count)) * operand(weight), sum_of(summands));
  }

  std::string mode_;
  Ints places_;
  Reals weights_;
  Cells x_;
  Int width_;
  std::map<Tokens, std::vector<std::size_t>> ids_;
  std::vector<std::vector<Int>> counts_;
};

}  // namespace

Oracle tf_idf_vectorizer() {
  Oracle oracle;
  oracle.answer = [](const Call& call, const Operands& in, const Readings&, const Arithmetic& declared) {
    return answers_of<VectorizerAnswer>(call, in, declared);
  };
  oracle.shape = [](const Call& call, const Readings&) {
    Shape y = call.shape("X");
    y.back() = std::ranges::max(call.ints("ngram_indexes")) + 1;
    return std::optional(y);
  };
  return with_touched(std::move(oracle));
}

}  // namespace assay::oracles
