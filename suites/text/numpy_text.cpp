// SPDX-License-Identifier: Apache-2.0
#include "suites/text/numpy_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace assay::suites {
namespace {

// Longer lines are broken.
constexpr std::size_t widest_line = 100;

// A number in the fewest digits of which Python, which reads doubles, makes this value again.
template <class T>
std::string number(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    const bool is_ascii = std::ranges::all_of(value, [](char c) { return c > 0; });
    return is_ascii ? python_string(value) : "b" + python_string(value) + ".decode()";
  } else if constexpr (std::is_integral_v<T>) {
    return std::to_string(value);
  } else {
    const auto exact = static_cast<double>(value);
    if (std::isnan(exact)) return "np.nan";
    if (std::isinf(exact)) return exact > 0 ? "np.inf" : "-np.inf";
    if (exact == 0) return std::signbit(exact) ? "-0.0" : "0";
    std::array<char, 40> buffer{};
    for (int precision = 1; precision <= 17; ++precision) {
      std::snprintf(buffer.data(), buffer.size(), "%.*g", precision, exact);
      const double read = std::strtod(buffer.data(), nullptr);
      // bfloat16 is made by way of a float, which may round twice, and a scale is rounded otherwise below 2^-126:
      // nothing but the value itself is safe there.
      constexpr bool is_safe = !std::is_same_v<T, BFloat16> && !std::is_same_v<T, Float8E8M0>;
      if (read == exact || (is_safe && static_cast<double>(static_cast<T>(read)) == exact)) break;
    }
    return buffer.data();
  }
}

template <class F>
auto with_elements(const Tensor& tensor, F&& f) {
  return for_type(tensor.dtype(), [&]<class T>() { return f(tensor.as<T>()); });
}

template <class T>
bool is_constant(std::span<const T> values) {
  if constexpr (std::is_same_v<T, std::string>)
    return std::ranges::all_of(values, [&](const T& each) { return each == values[0]; });
  else
    return std::ranges::all_of(values, [&](const T& each) { return std::memcmp(&each, &values[0], sizeof each) == 0; });
}

// The step of a count, 1 or -1, of numbers that integers of any kind hold; 0 where it is none.
template <class T>
int step_of(std::span<const T> values) {
  constexpr double largest = 1 << 24;
  if (values.size() < 3) return 0;
  const auto first = static_cast<double>(values[0]);
  const double step = static_cast<double>(values[1]) - first;
  if (first != std::rint(first) || std::abs(first) > largest || (step != 1 && step != -1)) return 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (static_cast<double>(values[i]) != first + step * static_cast<double>(i) ||
        std::signbit(static_cast<double>(values[i])) != std::signbit(first + step * static_cast<double>(i)))
      return 0;
  return step > 0 ? 1 : -1;
}

// After how many of them values begin again, and go on so for twice as long at least; 0 where they do not.
template <class T>
std::size_t period_of(std::span<const T> values) {
  constexpr std::size_t longest = 64;
  const auto is_again = [&](std::size_t i, std::size_t period) {
    if constexpr (std::is_same_v<T, std::string>)
      return values[i] == values[i - period];
    else
      return std::memcmp(&values[i], &values[i - period], sizeof(T)) == 0;
  };
  for (std::size_t period = 1; period <= longest && 2 * period <= values.size(); ++period) {
    std::size_t i = period;
    while (i < values.size() && is_again(i, period)) ++i;
    if (i == values.size()) return period;
  }
  return 0;
}

std::string reshaped(const Shape& shape) {
  std::string extents = python_shape(shape);
  if (shape.size() == 1) return "";
  return ".reshape(" + extents.substr(1, extents.size() - 2) + ")";
}

template <class T>
std::string counted(std::span<const T> values, int step, const TensorType& type) {
  const auto first = static_cast<Int>(static_cast<double>(values[0]));
  const Int end = first + step * static_cast<Int>(values.size());
  return "np.arange(" + std::to_string(first) + ", " + std::to_string(end) + (step < 0 ? ", -1" : "") + ").astype(" +
         std::string(numpy_name(type.dtype)) + ")" + reshaped(type.shape);
}

template <class T>
std::string written_out(std::span<const T> values, const TensorType& type) {
  std::string out = "np.array([", line = out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string next = number(values[i]) + (i + 1 < values.size() ? "," : "");
    const bool is_full = line.size() + next.size() + 1 > widest_line;
    const std::string before = i == 0 ? "" : is_full ? "\n    " : " ";
    line = is_full ? next : line + before + next;
    out += before + next;
  }
  return out + "], " + std::string(numpy_name(type.dtype)) + ")" + reshaped(type.shape);
}

bool is_printable(char c) { return c >= ' ' && c <= '~'; }

// One character inside quotes.
std::string escaped(char c) {
  if (c == '\\' || c == '\'' || c == '"') return std::string("\\") + c;
  if (is_printable(c)) return {c};
  if (c == '\n') return "\\n";
  std::array<char, 8> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
  return buffer.data();
}

}  // namespace

std::string python_shape(const Shape& shape) {
  std::string out;
  for (const Int extent : shape) out += (out.empty() ? "" : ", ") + std::to_string(extent);
  return "(" + out + (shape.size() == 1 ? ",)" : ")");
}

std::optional<std::string> numpy_text(const Tensor& tensor, std::size_t most_letters) {
  return with_elements(tensor, [&](const auto& values) -> std::optional<std::string> {
    const std::string type(numpy_name(tensor.dtype()));
    if (values.empty()) return "np.zeros(" + python_shape(tensor.shape()) + ", " + type + ")";
    if (tensor.shape().empty()) return "np.array(" + number(values[0]) + ", " + type + ")";
    if (values.size() > 1 && is_constant(values))
      return "np.full(" + python_shape(tensor.shape()) + ", " + number(values[0]) + ", " + type + ")";
    if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(values[0])>, std::string>)
      if (const int step = step_of(values)) return counted(values, step, tensor.type());
    if (const std::size_t period = period_of(values); period > 0 && values.size() > 2 * period) {
      const TensorType part{tensor.dtype(), {static_cast<Int>(period)}};
      const std::string text = written_out(values.first(period), part);
      if (text.size() <= most_letters) return "np.resize(" + text + ", " + python_shape(tensor.shape()) + ")";
    }
    if (values.size() > most_letters) return std::nullopt;
    std::string text = written_out(values, tensor.type());
    return text.size() <= most_letters ? std::optional(std::move(text)) : std::nullopt;
  });
}

std::string python_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) out += c == '\'' ? "'" : escaped(c);
  return out + "\"";
}

std::string python_block(std::string_view text) {
  std::string out = "\"\"\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool may_end_it = text[i] == '"' && (text.substr(i, 3) == "\"\"\"" || i + 1 == text.size());
    out += text[i] == '\n' || text[i] == '\'' || (text[i] == '"' && !may_end_it) ? std::string(1, text[i])
                                                                                 : escaped(text[i]);
  }
  return out + "\"\"\"";
}

}  // namespace assay::suites
