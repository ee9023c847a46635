// SPDX-License-Identifier: Apache-2.0
// Operators that create elements or choose them by their values, a third time: EyeLike, Constant, ConstantOfShape,
// Range, OneHot, Compress, NonZero and Unique, with the slips that each invites.
#include "suites/mutation/creating.h"

#include <algorithm>
#include <cmath>

namespace assay::mutation {
namespace {

using oracles::Level;

Int count(const Shape& shape) {
  Int all = 1;
  for (const Int extent : shape) all *= extent;
  return all;
}

Shape position(const Shape& shape, Int index) {
  Shape at(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0; index /= shape[axis]) at[axis] = index % shape[axis];
  return at;
}

Int place(const Shape& shape, const Shape& at) {
  Int index = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) index = index * shape[axis] + at[axis];
  return index;
}

// Writes of each element what value(its place) is, of the element type.
template <class F>
Tensor made(DType type, Shape shape, F value) {
  Tensor y({type, std::move(shape)});
  for_type(type, [&]<class T>() {
    for (Int i = 0; i < y.elements(); ++i) y.as<T>()[static_cast<std::size_t>(i)] = value.template operator()<T>(i);
  });
  return y;
}

template <class T>
T truth(bool holds) {
  if constexpr (std::is_same_v<T, std::string>)
    return {};
  else
    return T(holds ? 1.0 : 0.0);
}

// -- EyeLike

enum { transposes = 1, counts_from_corner = 2, wraps_columns = 3 };

Kernel diagonal(int defect) {
  return [=](const Call& call, Inputs) {
    const Int rows = call.dim("input", 0), columns = call.dim("input", 1);
    const auto k = static_cast<long double>(call.integer("k")) +
                   static_cast<long double>(defect == counts_from_corner ? columns - rows : 0);
    const DType type = call.definition().type_of(call, call.definition().outputs.front());
    return Values(made(type, {rows, columns}, [&]<class T>(Int i) {
      const Int row = i / columns, column = i % columns;
      const auto off = static_cast<long double>(defect == transposes ? row - column : column - row);
      return truth<T>(off == k || (defect == wraps_columns && off == k - static_cast<long double>(columns)));
    }));
  };
}

// -- Constant

enum { lists_scalars = 1, forgets_empty = 2 };

// Reads the attribute by the name it has.
Kernel telling(int defect) {
  return [=](const Call& call, Inputs) {
    const auto& [name, said] = *call.node().attributes.begin();
    if (name == "value") return Values(std::get<Tensor>(said));
    const bool is_list = name.back() == 's' || defect == lists_scalars;
    const auto tensor = [&]<class T>(const std::vector<T>& all) {
      const Int length = defect == forgets_empty ? std::max<Int>(1, std::ssize(all)) : std::ssize(all);
      Tensor y({dtype_of<T>(), is_list ? Shape{length} : Shape{}});
      for (std::size_t i = 0; i < all.size(); ++i) y.as<T>()[i] = all[i];
      return Values(std::move(y));
    };
    if (name == "value_float") return tensor(Reals{std::get<float>(said)});
    if (name == "value_int") return tensor(Ints{std::get<Int>(said)});
    if (name == "value_string") return tensor(Texts{std::get<std::string>(said)});
    if (name == "value_floats") return tensor(std::get<Reals>(said));
    return name == "value_ints" ? tensor(std::get<Ints>(said)) : tensor(std::get<Texts>(said));
  };
}

// -- ConstantOfShape

enum { drops_value = 1, reverses_extents, fills_empty };

Kernel repeating(int defect) {
  return [=](const Call& call, Inputs in) {
    Shape shape(in[0]->as<Int>().begin(), in[0]->as<Int>().end());
    if (defect == reverses_extents) std::ranges::reverse(shape);
    for (Int& extent : shape)
      if (defect == fills_empty && extent == 0) extent = 1;
    const auto said = call.node().attributes.find("value");
    const Tensor* const value = said == call.node().attributes.end() ? nullptr : std::get_if<Tensor>(&said->second);
    return Values(made(value ? value->dtype() : DType::f32, shape,
                       [&]<class T>(Int) { return value && defect != drops_value ? value->as<T>().front() : T(); }));
  };
}

// -- Range

enum { takes_limit = 1, counts_down = 2, begins_late = 3, adds = 4 };

template <class Wide>
Int steps(Wide start, Wide limit, Wide delta, int defect) {
  Int n = 0;
  const auto is_inside = [&](Wide x) { return delta > 0 ? x < limit : x > limit; };
  while (is_inside(start + static_cast<Wide>(n) * delta)) ++n;
  const bool is_met = start + static_cast<Wide>(n) * delta == limit;
  if (defect == takes_limit && is_met) ++n;
  if (defect == counts_down && !is_met && n > 0) --n;
  return n;
}

// Floats in as many bits as a long double has.
Kernel counting(int defect) {
  return [=](const Call&, Inputs in) {
    return for_number(in[0]->dtype(), [&]<class T>() {
      using Wide = std::conditional_t<std::is_integral_v<T>, __int128, long double>;
      using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;
      const auto end = [&](std::size_t i) {
        if constexpr (std::is_integral_v<T>)
          return static_cast<Wide>(in[i]->as<T>()[0]);
        else
          return static_cast<Wide>(static_cast<double>(in[i]->as<T>()[0]));
      };
      const Wide start = end(0), delta = end(2);
      const Int n = delta == 0 ? 0 : steps<Wide>(start, end(1), delta, defect);
      Tensor y({in[0]->dtype(), {n}});
      auto sum = static_cast<Sum>(start);
      for (Int i = 0; i < n; ++i) {
        const Wide value = start + static_cast<Wide>(i + (defect == begins_late ? 1 : 0)) * delta;
        T& to = y.as<T>()[static_cast<std::size_t>(i)];
        if constexpr (std::is_integral_v<T>)
          to = static_cast<T>(value);
        else
          to = T(defect == adds ? static_cast<double>(sum) : static_cast<double>(value));
        sum += static_cast<Sum>(delta);
      }
      return Values(y);
    });
  };
}

// -- OneHot

enum { never_wraps = 1, clamps = 2, swaps_values = 3 };

Kernel marking(int defect) {
  return [=](const Call& call, Inputs in) {
    const Int stated = call.integer("axis"), rank = call.rank("indices") + 1;
    const auto axis = static_cast<std::size_t>(stated < 0 ? stated + rank : stated);
    const Int depth = for_number(in[1]->dtype(), [&]<class T>() { return static_cast<Int>(in[1]->as<T>()[0]); });
    Shape out = call.shape("indices");
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(axis), depth);
    std::vector<Int> hot;  // -1 where nothing is
    for_number(in[0]->dtype(), [&]<class T>() {
      for (const T each : in[0]->as<T>()) {
        auto real = static_cast<long double>(static_cast<std::conditional_t<std::is_integral_v<T>, T, double>>(each));
        real = std::trunc(real);
        const bool turns = real < 0 && defect != never_wraps && call.definition().version.since_version > 9;
        if (turns) real += static_cast<long double>(depth);
        if (defect == clamps) real = std::clamp<long double>(real, 0, static_cast<long double>(depth - 1));
        hot.push_back(real >= 0 && real < static_cast<long double>(depth) ? static_cast<Int>(real) : -1);
      }
    });
    return Values(made(in[2]->dtype(), out, [&]<class T>(Int i) {
      Shape at = position(out, i);
      const Int own = at[axis];
      at.erase(at.begin() + static_cast<std::ptrdiff_t>(axis));
      const bool is_on = hot[static_cast<std::size_t>(place(call.shape("indices"), at))] == own;
      return in[2]->as<T>()[is_on != (defect == swaps_values) ? 1 : 0];
    }));
  };
}

// -- Compress, NonZero

enum { inverts = 1, takes_the_rest = 2 };

Kernel choosing(int defect) {
  return [=](const Call& call, Inputs in) {
    Shape data = call.shape("input");
    const bool is_flat = !call.states("axis");
    if (is_flat) data = {count(data)};
    const Int stated = is_flat ? 0 : call.integer("axis");
    const auto axis = static_cast<std::size_t>(stated < 0 ? stated + std::ssize(data) : stated);
    const Ints condition = call.ints("condition");
    Ints kept;
    for (Int i = 0; i < data[axis]; ++i) {
      const bool is_said = i < std::ssize(condition);
      if (is_said ? (condition[static_cast<std::size_t>(i)] != 0) != (defect == inverts) : defect == takes_the_rest)
        kept.push_back(i);
    }
    Shape out = data;
    out[axis] = std::ssize(kept);
    return Values(made(in[0]->dtype(), out, [&]<class T>(Int i) {
      Shape at = position(out, i);
      at[axis] = kept[static_cast<std::size_t>(at[axis])];
      return in[0]->as<T>()[static_cast<std::size_t>(place(data, at))];
    }));
  };
}

enum { writes_rows = 1, drops_nan = 2, forgets_last = 3 };

Kernel locating(int defect) {
  return [=](const Call&, Inputs in) {
    const Tensor& x = *in[0];
    std::vector<Shape> found;
    for_type(x.dtype(), [&]<class T>() {
      for (Int i = 0; i < x.elements(); ++i) {
        const T& each = x.as<T>()[static_cast<std::size_t>(i)];
        if constexpr (std::is_same_v<T, std::string>) {
          if (!each.empty()) found.push_back(position(x.shape(), i));
        } else {
          const bool is_nan = each != each, is_zero = !is_nan && each == T(0.0);
          if (!is_zero && !(is_nan && defect == drops_nan)) found.push_back(position(x.shape(), i));
        }
      }
    });
    if (defect == forgets_last && !found.empty()) found.pop_back();
    const Int n = std::ssize(found), rank = std::ssize(x.shape());
    return Values(made(DType::i64, {rank, n}, [&]<class T>(Int i) -> T {
      if constexpr (std::is_same_v<T, Int>)
        return defect == writes_rows ? found[static_cast<std::size_t>(i / rank)][static_cast<std::size_t>(i % rank)]
                                     : found[static_cast<std::size_t>(i % n)][static_cast<std::size_t>(i / n)];
      else
        return T();
    }));
  };
}

// -- Unique

enum { never_sorts = 1, always_sorts = 2, tells_last = 3, compares_first = 4 };

// Compares every slice with all that were kept, and puts what is new where it belongs.
Kernel keeping(int defect) {
  return [=](const Call& call, Inputs in) {
    Shape data = in[0]->shape();
    const bool is_flat = !call.states("axis");
    if (is_flat) data = {count(data)};
    const Int stated = is_flat ? 0 : call.integer("axis");
    const auto axis = static_cast<std::size_t>(stated < 0 ? stated + std::ssize(data) : stated);
    Shape one = data;
    one[axis] = 1;
    const Int length = defect == compares_first ? std::min<Int>(count(one), 1) : count(one);
    const bool sorts = defect != never_sorts && (defect == always_sorts || call.integer("sorted") != 0);
    std::vector<Ints> kept;  // the slices that are the same
    Tensor y;
    for_type(in[0]->dtype(), [&]<class T>() {
      const auto at = [&](Int slice, Int i) -> const T& {
        Shape p = position(one, i);
        p[axis] = slice;
        return in[0]->as<T>()[static_cast<std::size_t>(place(data, p))];
      };
      const auto order = [&](Int a, Int b) {
        for (Int i = 0; i < length; ++i) {
          const T &x = at(a, i), &z = at(b, i);
          if (x == z || (x != x && z != z)) continue;
          if constexpr (!Small<T>) return x != x ? 1 : z != z || x < z ? -1 : 1;
        }
        return 0;
      };
      for (Int slice = 0; slice < data[axis]; ++slice) {
        const auto same = std::ranges::find_if(kept, [&](const Ints& all) { return order(all[0], slice) == 0; });
        if (same != kept.end()) {
          same->push_back(slice);
          continue;
        }
        const auto behind =
            std::ranges::find_if(kept, [&](const Ints& all) { return sorts && order(slice, all[0]) < 0; });
        kept.insert(behind, {slice});
      }
      Shape out = data;
      out[axis] = std::ssize(kept);
      y = Tensor({in[0]->dtype(), out});
      for (Int i = 0; i < y.elements(); ++i) {
        Shape p = position(out, i);
        p[axis] = kept[static_cast<std::size_t>(p[axis])][0];
        y.as<T>()[static_cast<std::size_t>(i)] = in[0]->as<T>()[static_cast<std::size_t>(place(data, p))];
      }
    });
    Values all{std::move(y)};
    const auto told = [&](const char* name, Int many, const auto& number) {
      all.push_back(std::nullopt);
      if (!call.requests(name)) return;
      all.back() = Tensor({DType::i64, {many}});
      for (Int i = 0; i < many; ++i) all.back()->as<Int>()[static_cast<std::size_t>(i)] = number(i);
    };
    const auto group = [&](Int i) -> const Ints& { return kept[static_cast<std::size_t>(i)]; };
    told("indices", std::ssize(kept), [&](Int i) { return defect == tells_last ? group(i).back() : group(i).front(); });
    told("inverse_indices", data[axis], [&](Int slice) {
      return std::ranges::find_if(kept, [&](const Ints& each) { return std::ranges::count(each, slice) > 0; }) -
             kept.begin();
    });
    told("counts", std::ssize(kept), [&](Int i) { return std::ssize(group(i)); });
    return all;
  };
}

}  // namespace

std::vector<VariantKernel> creating_variants(const std::string& op) {
  const auto only = [](Kernel kernel) {
    return std::vector<VariantKernel>{variant_of("sequential", "one element after the other", std::move(kernel))};
  };
  if (op == "EyeLike") return only(diagonal(0));
  if (op == "Constant") return only(telling(0));
  if (op == "ConstantOfShape") return only(repeating(0));
  if (op == "OneHot") return only(marking(0));
  if (op == "Compress") return only(choosing(0));
  if (op == "NonZero") return only(locating(0));
  if (op == "Unique") return only(keeping(0));
  if (op != "Range") return {};
  return {variant_of("sequential", "one element after the other", counting(0)),
          variant_of("adds-repeatedly", "each element is the one before and the step", counting(adds))};
}

std::vector<Bug> creating_bugs(const std::string& op) {
  if (op == "EyeLike")
    return {
        bug_of(op, "transposes", "rows and columns are exchanged", diagonal(transposes)),
        bug_of(op, "counts-from-corner", "the diagonal is counted from the last element", diagonal(counts_from_corner)),
        bug_of(op, "wraps-columns", "the diagonal goes on in the first column", diagonal(wraps_columns))};
  if (op == "Constant") {
    std::vector<Bug> bugs{bug_of(op, "lists-scalars", "a scalar is a list of one", telling(lists_scalars)),
                          bug_of(op, "forgets-empty", "an empty list has one element", telling(forgets_empty))};
    for (Bug& each : bugs) each.mutant.attribute = "value_ints";
    return bugs;
  }
  if (op == "ConstantOfShape")
    return {bug_of(op, "drops-value", "every element is 0", repeating(drops_value)),
            bug_of(op, "reverses-extents", "the last extent comes first", repeating(reverses_extents)),
            bug_of(op, "fills-empty", "an extent of 0 is read as 1", repeating(fills_empty))};
  if (op == "Range")
    return {bug_of(op, "takes-limit", "limit is taken as well where it is met", counting(takes_limit)),
            bug_of(op, "rounds-count-down", "a broken step is not taken", counting(counts_down)),
            bug_of(op, "begins-late", "the first element is that of the first step", counting(begins_late))};
  if (op == "OneHot")
    return {bug_of(op, "never-wraps", "negative indices are outside", marking(never_wraps)),
            bug_of(op, "clamps", "indices outside stand for the nearest end", marking(clamps)),
            bug_of(op, "swaps-values", "on is off", marking(swaps_values))};
  if (op == "Compress")
    return {bug_of(op, "inverts", "what the condition is false of is taken", choosing(inverts)),
            bug_of(op, "takes-the-rest", "what a short condition says nothing of is taken", choosing(takes_the_rest))};
  if (op == "Unique")
    return {bug_of(op, "never-sorts", "the order is that in which values are met", keeping(never_sorts)),
            bug_of(op, "always-sorts", "the order is ascending, whatever sorted says", keeping(always_sorts)),
            bug_of(op, "tells-last", "indices are those of the last of equal ones", keeping(tells_last)),
            bug_of(op, "compares-first", "slices with one first element are the same", keeping(compares_first))};
  if (op == "NonZero")
    return {bug_of(op, "writes-rows", "the positions stand one after the other", locating(writes_rows)),
            bug_of(op, "drops-nan", "NaN is 0", locating(drops_nan)),
            bug_of(op, "forgets-last", "the last element found is left out", locating(forgets_last))};
  return {};
}

}  // namespace assay::mutation
