// SPDX-License-Identifier: Apache-2.0
// TfIdfVectorizer (ai.onnx 9) - https://onnx.ai/onnx/operators/onnx__TfIdfVectorizer.html
//
//   Y[n, ngram_indexes[i]] = how often the i-th n-gram of the pool stands in row n
//
// Its tokens stand t + 1 apart, for every t up to max_skip_count; a single token is counted once. In mode IDF what is
// there counts once; in IDF and TFIDF counts are multiplied by the weight of the n-gram.
#include "reference/families/moved.h"
#include "reference/operator.h"

#include <algorithm>

namespace assay {
namespace {

using enum DType;
using enum AttributeSpec::Kind;

// An n-gram: so many tokens of the pool, from the first on.
struct Gram {
  Int first, length;
};

Int pool_size(const Call& call) {
  return call.states("pool_strings") ? std::ssize(call.texts("pool_strings")) : std::ssize(call.ints("pool_int64s"));
}

bool has_one_pool(const Call& call) {
  return call.states("pool_strings") != call.states("pool_int64s") &&
         call.states("pool_strings") == (call.type("X").dtype == string);
}

bool has_whole_grams(const Call& call) {
  Ints starts = call.ints("ngram_counts");
  if (!has_one_pool(call) || starts.empty()) return true;
  if (starts.front() != 0) return false;
  starts.push_back(pool_size(call));
  for (std::size_t i = 0; i + 1 < starts.size(); ++i)
    if (starts[i] > starts[i + 1] || (starts[i + 1] - starts[i]) % static_cast<Int>(i + 1) != 0) return false;
  return true;
}

std::vector<Gram> grams(const Call& call) {
  Ints starts = call.ints("ngram_counts");
  starts.push_back(pool_size(call));
  std::vector<Gram> all;
  for (Int length = 1; length < std::ssize(starts); ++length)
    for (Int at = starts[static_cast<std::size_t>(length - 1)]; at < starts[static_cast<std::size_t>(length)];
         at += length)
      all.push_back({at, length});
  return all;
}

bool has_lengths(const Call& call) {
  const Int least = call.integer("min_gram_length"), most = call.integer("max_gram_length");
  return 0 < least && least <= most && most <= std::ssize(call.ints("ngram_counts"));
}

bool places_each(const Call& call) {
  if (!has_one_pool(call) || !has_whole_grams(call) || call.ints("ngram_counts").empty()) return true;
  const Ints places = call.ints("ngram_indexes");
  return !places.empty() && places.size() == grams(call).size() &&
         std::ranges::all_of(places, [](Int place) { return place >= 0; });
}

bool weighs_each(const Call& call) {
  return !call.states("weights") || call.reals("weights").size() == call.ints("ngram_indexes").size();
}

Shape vectorized(const Call& call) {
  Shape y = call.shape("X");
  y.back() = std::ranges::max(call.ints("ngram_indexes")) + 1;
  return y;
}

// Counts an n-gram in a row; `is_there(token, at)` compares a token of the pool with an element of the row.
template <class F>
Int occurrences(const Call& call, const Gram& gram, Int columns, F&& is_there) {
  if (gram.length < call.integer("min_gram_length") || gram.length > call.integer("max_gram_length")) return 0;
  Int count = 0;
  const Int most = gram.length == 1 ? 0 : std::min(call.integer("max_skip_count"), columns);
  for (Int step = 1; step <= most + 1; ++step)
    for (Int start = 0; start + (gram.length - 1) * step < columns; ++start) {
      Int k = 0;
      while (k < gram.length && is_there(gram.first + k, start + k * step)) ++k;
      count += k == gram.length;
    }
  return count;
}

Values vectorize(const Call& call, Inputs in) {
  Tensor y({f32, vectorized(call)});
  const std::vector<Gram> all = grams(call);
  const Int columns = in[0]->shape().back(), width = y.shape().back();
  const std::string mode = call.text("mode");
  const auto fill = [&](const auto& pool, const auto& x) {
    for (Int row = 0; row < (in[0]->shape().size() == 1 ? 1 : in[0]->shape()[0]); ++row)
      for (std::size_t i = 0; i < all.size(); ++i) {
        Int count = occurrences(call, all[i], columns, [&](Int token, Int at) {
          return pool[static_cast<std::size_t>(token)] == x[static_cast<std::size_t>(row * columns + at)];
        });
        if (mode == "IDF") count = std::min<Int>(count, 1);
        const bool weighs = mode != "TF" && call.states("weights") && count > 0;
        y.as<float>()[static_cast<std::size_t>(row * width + call.ints("ngram_indexes")[i])] +=
            static_cast<float>(count) * (weighs ? call.reals("weights")[i] : 1.0F);
      }
  };
  if (in[0]->dtype() == string)
    fill(call.texts("pool_strings"), in[0]->as<std::string>());
  else if (in[0]->dtype() == i64)
    fill(call.ints("pool_int64s"), in[0]->as<Int>());
  else
    fill(call.ints("pool_int64s"), in[0]->as<std::int32_t>());
  return y;
}

}  // namespace

// clang-format off
Operator tf_idf_vectorizer() {
  return Operator("TfIdfVectorizer")
      .input("X", "T").output("Y", "T1").type("T", {string, i32, i64}).type("T1", {f32})
      .required_integer("max_gram_length").required_integer("max_skip_count").required_integer("min_gram_length")
      .required_word("mode", {"TF", "IDF", "TFIDF"}, "TV1").required_ints("ngram_counts").required_ints("ngram_indexes")
      .optional_ints("pool_int64s").optional_attribute("pool_strings", texts).optional_attribute("weights", reals)
      .rulings({"G17", "G41", "G42", "G48"})
      .require("TV2", "one pool is there, of the kind of X", has_one_pool)
      .require("TV3", "1 <= min_gram_length <= max_gram_length <= the length of ngram_counts", has_lengths)
      .require("TV4", "ngram_counts begin at 0 and part the pool into whole n-grams", has_whole_grams)
      .require("TV5", "ngram_indexes are not negative, one for each n-gram, of which there is one at least", places_each)
      .require("TV6", "there is a weight for each of ngram_indexes, or none", weighs_each)
      .require("TV7", "max_skip_count >= 0", [](auto& c) { return c.integer("max_skip_count") >= 0; })
      .require("TV8", "rank(X) is 1 or 2", [](auto& c) { return c.rank("X") == 1 || c.rank("X") == 2; })
      .since(9)
      .shaping(Shaping::reduced).infer(moved_to(vectorized)).kernel(vectorize);
}
// clang-format on

}  // namespace assay
