// SPDX-License-Identifier: Apache-2.0
// The engine is held to the naive loops bit by bit, on random geometries from a seed that changes with every run.
#include "reference/fast/engine.h"

#include "reference/case_view.h"
#include "reference/operator.h"
#include "reference/testing/run_size.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <random>
#include <sys/mman.h>
#include <unistd.h>

using namespace assay;

namespace {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : generator_(seed) {}
  Int between(Int least, Int most) { return std::uniform_int_distribution<Int>(least, most)(generator_); }
  bool one_in(Int n) { return between(1, n) == 1; }
  template <class T>
  T one_of(std::initializer_list<T> all) {
    return all.begin()[between(0, static_cast<Int>(all.size()) - 1)];
  }
  double real() { return std::uniform_real_distribution<double>(-2, 2)(generator_); }

 private:
  std::mt19937_64 generator_;
};

// How unlike ordinary numbers the data are.
enum class Data { ordinary, zeros, nonfinite };

double value(Dice& dice, Data data) {
  constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const double extremes[] = {infinity, -infinity, nan, 0.0, -0.0, 1e-45, 3e38};
  if (data == Data::nonfinite && dice.one_in(6)) return extremes[dice.between(0, 6)];
  if (data == Data::zeros && dice.one_in(2)) return dice.one_of({0.0, -0.0, 1e-42, -1e-42});
  return dice.real();
}

Tensor filled(Dice& dice, DType dtype, const Shape& shape, Data data) {
  Tensor tensor({dtype, shape});
  if (is_float(dtype))
    for_float(dtype, [&]<class T>() {
      for (T& each : tensor.as<T>()) each = T(value(dice, data));
    });
  else if (dtype == DType::i32)
    for (std::int32_t& each : tensor.as<std::int32_t>()) each = static_cast<std::int32_t>(dice.between(-9999, 9999));
  else
    for (std::byte& each : tensor.bytes()) each = static_cast<std::byte>(dice.between(0, 255));
  return tensor;
}

// A call with its data; inputs in schema order.
struct EngineCase {
  const Definition* definition = nullptr;
  Node node;
  std::vector<std::optional<Tensor>> data;

  Tensor run(int threads) const {  // 0: the naive loop
    const Call call(*definition, node);
    const std::vector<const Tensor*> in = views(data);
    return (threads ? definition->fast(call, in, threads) : definition->kernel(call, in)).only();
  }
};

struct Geometry {
  Shape x, kernel, out;
  Ints strides, dilations, pads;
};

// Mostly geometries with windows; `wide` has long last axes, so that tiles, chunks and their ends all occur.
Geometry geometry(Dice& dice, bool wide) {
  Geometry g;
  const Int rank = wide ? dice.between(1, 2) : dice.between(1, 4);
  Ints ends;
  for (Int a = 0; a < rank; ++a) {
    const bool last = a + 1 == rank;
    const Int in = dice.one_in(40) ? 0 : wide && last ? dice.between(20, 700) : dice.between(1, rank > 2 ? 5 : 9);
    const Int k = dice.between(1, dice.one_in(4) ? 7 : 3), d = dice.one_in(3) ? dice.between(1, 4) : 1;
    const Int s = dice.one_in(2) ? dice.between(1, 4) : 1;
    const Int most = dice.one_in(30) ? 40 : (k - 1) * d;
    Int begin = dice.one_in(2) ? 0 : dice.between(0, most), end = dice.one_in(2) ? begin : dice.between(0, most);
    if (const Int lacking = (k - 1) * d + 1 - in - begin - end; lacking > 0) end += lacking;
    g.x.push_back(in);
    g.kernel.push_back(k);
    g.strides.push_back(s);
    g.dilations.push_back(d);
    g.pads.push_back(begin);
    ends.push_back(end);
    g.out.push_back((in + begin + end - (k - 1) * d - 1) / s + 1);
  }
  g.pads.insert(g.pads.end(), ends.begin(), ends.end());
  return g;
}

Shape joined(std::initializer_list<Int> front, const Shape& back) {
  Shape shape(front);
  shape.insert(shape.end(), back.begin(), back.end());
  return shape;
}

void give(EngineCase& engine_case, const char* name, Tensor tensor) {
  engine_case.node.input(name, tensor.type());
  engine_case.data.emplace_back(std::move(tensor));
}
void leave_out(EngineCase& engine_case) { engine_case.data.emplace_back(std::nullopt); }

struct Channels {
  Int batch, group, depth, maps;  // depth and maps per group
};

Channels channels(Dice& dice, bool wide) {
  Channels c{dice.one_in(20) ? 0 : dice.between(1, 2), 1, dice.between(0, 9), dice.between(1, wide ? 9 : 30)};
  if (dice.one_in(3)) c = {c.batch, dice.between(2, 4), dice.one_in(2) ? 1 : dice.between(1, 3), dice.between(1, 5)};
  return c;
}

Node attributes(const Geometry& g, Int group) {
  return Node()
      .attribute("strides", g.strides)
      .attribute("dilations", g.dilations)
      .attribute("pads", g.pads)
      .attribute("group", group);
}

const Definition& newest(const char* name, const char* domain = "") {
  return find_operator(domain, name)->versions().back();
}

EngineCase conv(Dice& dice, bool last, bool wide) {
  const Geometry g = geometry(dice, wide);
  const Channels c = channels(dice, wide);
  const Data data = dice.one_of({Data::ordinary, Data::ordinary, Data::zeros, Data::nonfinite});
  const Data weights = dice.one_in(4) ? Data::nonfinite : data == Data::zeros ? Data::zeros : Data::ordinary;
  const DType type = last ? dice.one_of({DType::f16, DType::f32, DType::f64})
                          : dice.one_of({DType::f32, DType::f16, DType::bf16, DType::f64});
  EngineCase q{last ? &newest("NhwcConv", "com.microsoft") : &newest("Conv"), attributes(g, c.group), {}};
  Shape x = joined({c.batch, c.group * c.depth}, g.x), w = joined({c.group * c.maps, c.depth}, g.kernel);
  if (last)
    for (Shape* shape : {&x, &w}) std::rotate(shape->begin() + 1, shape->begin() + 2, shape->end());
  give(q, "X", filled(dice, type, x, data));
  give(q, "W", filled(dice, type, w, weights));
  if (dice.one_in(2)) give(q, "B", filled(dice, type, {c.group * c.maps}, data));
  return q;
}

EngineCase qlinear(Dice& dice, bool wide) {
  const Geometry g = geometry(dice, wide);
  const Channels c = channels(dice, wide);
  const DType x = dice.one_of({DType::u8, DType::i8}), w = dice.one_of({DType::u8, DType::i8});
  const DType y = dice.one_of({DType::u8, DType::i8});
  const auto scale = [&](const Shape& shape) {
    Tensor tensor({DType::f32, shape});
    const bool halves = dice.one_in(3);  // ties, when all are powers of two
    for (float& each : tensor.as<float>()) {
      const double power = halves ? std::round(dice.real()) : dice.real();
      each = std::exp2(static_cast<float>(power));
    }
    return tensor;
  };
  const Int maps = c.group * c.maps;
  const Shape per_map = dice.one_in(2) ? Shape{} : Shape{maps};
  EngineCase q{&newest("QLinearConv"), attributes(g, c.group), {}};
  give(q, "x", filled(dice, x, joined({c.batch, c.group * c.depth}, g.x), {}));
  give(q, "x_scale", scale({}));
  give(q, "x_zero_point", filled(dice, x, {}, {}));
  give(q, "w", filled(dice, w, joined({maps, c.depth}, g.kernel), {}));
  give(q, "w_scale", scale(per_map));
  give(q, "w_zero_point", filled(dice, w, per_map, {}));
  Tensor y_scale = scale({});
  y_scale.as<float>()[0] *= dice.one_of({1.f, 128.f, 100.f, 20000.f});
  if (dice.one_in(20)) y_scale.as<float>()[0] = 0;
  give(q, "y_scale", y_scale);
  give(q, "y_zero_point", filled(dice, y, {}, {}));
  if (dice.one_in(2)) give(q, "B", filled(dice, DType::i32, {maps}, {}));
  return q;
}

EngineCase deform(Dice& dice, bool wide) {
  const Geometry g = geometry(dice, wide);
  Channels c = channels(dice, wide);
  const Int offset_group = dice.one_in(2) ? c.group : 1, rank = static_cast<Int>(g.x.size());
  const Data data = dice.one_of({Data::ordinary, Data::ordinary, Data::zeros, Data::nonfinite});
  const DType type = dice.one_of({DType::f32, DType::f16, DType::bf16, DType::f64});
  EngineCase q{&newest("DeformConv"), attributes(g, c.group).attribute("offset_group", offset_group), {}};
  const Int taps = volume(g.kernel);
  give(q, "X", filled(dice, type, joined({c.batch, c.group * c.depth}, g.x), data));
  give(q, "W", filled(dice, type, joined({c.group * c.maps, c.depth}, g.kernel), dice.one_of({data, Data::ordinary})));
  give(q, "offset", filled(dice, type, joined({c.batch, offset_group * taps * rank}, g.out), data));
  if (dice.one_in(2))
    give(q, "B", filled(dice, type, {c.group * c.maps}, data));
  else
    leave_out(q);
  if (dice.one_in(2)) give(q, "mask", filled(dice, type, joined({c.batch, offset_group * taps}, g.out), data));
  return q;
}

EngineCase pool(Dice& dice, bool wide) {
  const Geometry g = geometry(dice, wide);
  const DType type = dice.one_of({DType::f32, DType::f16, DType::bf16, DType::f64});
  EngineCase q{&newest("AveragePool"), attributes(g, 1), {}};
  q.node.attributes.erase("group");
  q.node.attribute("kernel_shape", Ints(g.kernel))
      .attribute("count_include_pad", static_cast<int>(dice.between(0, 1)))
      .attribute("ceil_mode", volume(g.x) > 0 ? static_cast<int>(dice.between(0, 1)) : 0);
  if (volume(g.x) > 0 && dice.one_in(4))  // else no window may be left
    q.node.attribute("auto_pad", dice.one_of({"SAME_UPPER", "SAME_LOWER"})).attributes.erase("pads");
  give(q, "X",
       filled(dice, type, joined({dice.between(0, 2), dice.between(0, 5)}, g.x),
              dice.one_of({Data::ordinary, Data::zeros, Data::nonfinite})));
  return q;
}

EngineCase matmul(Dice& dice, bool wide) {
  const Int rows = dice.between(1, 30), depth = dice.between(0, wide ? 200 : 9);
  const Int columns = wide ? dice.between(20, 700) : dice.between(1, 9);
  const DType type = dice.one_of({DType::f32, DType::f16, DType::bf16, DType::f64});
  const Data data = dice.one_of({Data::ordinary, Data::ordinary, Data::zeros, Data::nonfinite});
  const Shape batch = dice.one_of({Shape{}, Shape{3}, Shape{2, 1}}), other = dice.one_of({Shape{}, batch, Shape{1}});
  EngineCase q{&newest("MatMul"), Node(), {}};
  Shape a = dice.one_in(5) ? Shape{depth} : Shape{rows, depth},
        b = dice.one_in(5) ? Shape{depth} : Shape{depth, columns};
  if (a.size() > 1) a.insert(a.begin(), batch.begin(), batch.end());
  if (b.size() > 1) b.insert(b.begin(), other.begin(), other.end());
  give(q, "A", filled(dice, type, a, data));
  give(q, "B", filled(dice, type, b, data));
  return q;
}

EngineCase matmul_integer(Dice& dice, bool wide) {
  EngineCase q = matmul(dice, wide);
  q = {&newest("MatMulInteger"), q.node, {}};
  const Shape a = q.node.inputs.at("A").type.shape, b = q.node.inputs.at("B").type.shape;
  const DType left = dice.one_of({DType::u8, DType::i8}), right = dice.one_of({DType::u8, DType::i8});
  const auto zeros = [&](const Shape& of, std::size_t from_back) {
    Shape shape = of;
    if (of.size() < 2 || dice.one_in(2)) return dice.one_in(2) ? Shape{} : Shape{1};
    if (of.size() == 2) return Shape{of[of.size() - 3 + from_back]};
    shape[of.size() - from_back] = 1;
    return shape;
  };
  q.node = Node();
  give(q, "A", filled(dice, left, a, {}));
  give(q, "B", filled(dice, right, b, {}));
  if (dice.one_in(3)) return q;
  if (dice.one_in(3))
    leave_out(q);
  else
    give(q, "a_zero_point", filled(dice, left, zeros(a, 1), {}));
  if (dice.one_in(2)) give(q, "b_zero_point", filled(dice, right, zeros(b, 2), {}));
  return q;
}

EngineCase transposed(Dice& dice, bool wide) {
  const Channels c = channels(dice, wide);
  const Data data = dice.one_of({Data::ordinary, Data::ordinary, Data::zeros, Data::nonfinite});
  const DType type = dice.one_of({DType::f32, DType::f16, DType::bf16, DType::f64});
  Shape x, kernel;
  Ints strides, dilations, begins, ends, more;
  for (Int a = wide ? dice.between(1, 2) : dice.between(1, 3); a > 0; --a) {
    const Int in = wide && a == 1 ? dice.between(20, 300) : dice.between(1, 6), k = dice.between(1, 4);
    const Int s = dice.between(1, 4), d = dice.between(1, 3), full = s * (in - 1) + (k - 1) * d + 1;
    x.push_back(in);
    kernel.push_back(k);
    strides.push_back(s);
    dilations.push_back(d);
    begins.push_back(dice.one_in(2) ? 0 : dice.between(0, full - 1));
    ends.push_back(dice.one_in(2) ? 0 : dice.between(0, full - 1 - begins.back()));
    more.push_back(dice.one_in(2) ? 0 : dice.between(0, std::max(s, d) - 1));
  }
  begins.insert(begins.end(), ends.begin(), ends.end());
  EngineCase q{&newest("ConvTranspose"), Node(), {}};
  q.node.attribute("strides", strides).attribute("dilations", dilations).attribute("group", c.group);
  if (dice.one_in(5))
    q.node.attribute("auto_pad", dice.one_of({"SAME_UPPER", "SAME_LOWER", "VALID"}));
  else
    q.node.attribute("pads", begins).attribute("output_padding", more);
  give(q, "X", filled(dice, type, joined({c.batch, c.group * c.depth}, x), data));
  give(q, "W", filled(dice, type, joined({c.group * c.depth, c.maps}, kernel), dice.one_of({data, Data::ordinary})));
  if (dice.one_in(2)) give(q, "B", filled(dice, type, {c.group * c.maps}, data));
  return q;
}

std::string shown(const EngineCase& q) {
  std::string line = q.definition->version.name;
  for (const auto& [name, input] : q.node.inputs)
    line += " " + name + ":" + std::string(assay::name(input.type.dtype)) + text(input.type.shape);
  for (const auto& [name, attribute] : q.node.attributes)
    if (const Ints* list = std::get_if<Ints>(&attribute)) line += " " + name + "=" + text(*list);
  return line;
}

// Copies a tensor to the beginning of memory around which nothing can be read, or to its end, as near as it may lie.
Tensor guarded(const Tensor& tensor, bool at_end) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t size = tensor.bytes().size(), room = (size + page - 1) / page * page;
  void* const all = ::mmap(nullptr, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(all != MAP_FAILED);
  std::byte* const first = static_cast<std::byte*>(all) + page;
  REQUIRE(::mprotect(first, room, PROT_READ | PROT_WRITE) == 0);
  std::byte* const begin = first + (at_end ? (room - size) / 16 * 16 : 0);
  std::ranges::copy(tensor.bytes(), begin);
  return Tensor::over(tensor.type(), {begin, [=](std::byte*) { ::munmap(all, room + 2 * page); }});
}

template <class Request>
void hold_to_the_naive_loop(Request&& draw, std::size_t few) {
  const std::size_t count = thinned(is_full_run() ? 10 * few : few);
  Dice seeds(Catch::rngSeed());
  for (std::size_t i = 0; i < count; ++i) {
    const auto seed = static_cast<std::uint64_t>(seeds.between(0, std::numeric_limits<Int>::max()));
    Dice dice(seed);
    EngineCase engine_case = draw(dice, dice.one_in(5));
    if (dice.one_in(3))
      for (std::optional<Tensor>& each : engine_case.data)
        if (each) each = guarded(*each, i % 2 == 0);
    INFO("seed " << seed << ": " << shown(engine_case));
    REQUIRE(engine_case.definition->violated(Call(*engine_case.definition, engine_case.node)).empty());
    const Tensor naive = engine_case.run(0);
    for (const int threads : i % 8 == 0 ? std::vector{1, 2, 3, 7} : std::vector{1})
      REQUIRE((engine_case.run(threads) == naive));
  }
}

}  // namespace

TEST_CASE("The engine gives the bits of the naive loop: Conv", "[engine]") {
  hold_to_the_naive_loop([](Dice& dice, bool wide) { return conv(dice, false, wide); }, 1500);
}
TEST_CASE("The engine gives the bits of the naive loop: NhwcConv", "[engine]") {
  hold_to_the_naive_loop([](Dice& dice, bool wide) { return conv(dice, true, wide); }, 300);
}
TEST_CASE("The engine gives the bits of the naive loop: QLinearConv", "[engine]") {
  hold_to_the_naive_loop(qlinear, 800);
}
TEST_CASE("The engine gives the bits of the naive loop: DeformConv", "[engine]") {
  hold_to_the_naive_loop(deform, 600);
}
TEST_CASE("The engine gives the bits of the naive loop: AveragePool", "[engine]") {
  hold_to_the_naive_loop(pool, 1200);
}
TEST_CASE("The engine gives the bits of the naive loop: MatMul", "[engine]") { hold_to_the_naive_loop(matmul, 800); }
TEST_CASE("The engine gives the bits of the naive loop: MatMulInteger", "[engine]") {
  hold_to_the_naive_loop(matmul_integer, 800);
}
TEST_CASE("The engine gives the bits of the naive loop: ConvTranspose", "[engine]") {
  hold_to_the_naive_loop(transposed, 1500);
}

// A kernel of one cell leaves planes as they lie, which a tile may be wider than.
TEST_CASE("The engine reads nothing beside its data", "[engine]") {
  Dice dice(Catch::rngSeed());
  for (const Int maps : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16, 20, 32})
    for (const Int cells : {31, 32, 33, 36, 48, 63, 64, 65, 100, 127, 128, 129, 300})
      for (const bool at_end : {false, true}) {
        EngineCase conv{&newest("Conv"), {}, {}};
        const Tensor x = filled(dice, DType::f32, {1, 4, cells}, Data::ordinary);
        give(conv, "X", guarded(x, at_end));
        give(conv, "W", filled(dice, DType::f32, {maps, 4, 1}, Data::ordinary));
        INFO(shown(conv));
        CHECK((conv.run(1) == conv.run(0)));
      }
}

// Large enough for seven threads to start.
TEST_CASE("Threads share a piece of work in every way and change no bit", "[engine]") {
  struct Large {
    Channels c;
    Shape x, kernel;
  };
  const std::vector<Large> all{{{1, 1, 24, 36}, {64, 60}, {3, 3}},  // chunks
                               {{1, 1, 300, 224}, {6, 7}, {3, 3}},  // slabs of maps
                               {{2, 8, 16, 14}, {40, 36}, {3, 3}},  // images and groups
                               {{1, 1, 32, 20}, {9, 60, 17}, {2, 3, 1}}};
  Dice dice(Catch::rngSeed());
  for (const Large& large : all) {
    const auto& [batch, group, depth, maps] = large.c;
    const std::size_t rank = large.x.size();
    EngineCase conv{&newest("Conv"), Node().attribute("group", group).attribute("pads", Ints(2 * rank, 1)), {}};
    give(conv, "X", filled(dice, DType::f32, joined({batch, group * depth}, large.x), {}));
    give(conv, "W", filled(dice, DType::f32, joined({group * maps, depth}, large.kernel), {}));
    const Tensor one = conv.run(1);
    CHECK((conv.run(0) == one));
    for (const int threads : {2, 3, 7, 1000}) CHECK((conv.run(threads) == one));
  }
}
