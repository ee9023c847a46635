// SPDX-License-Identifier: Apache-2.0
// DFT (ai.onnx 17, 20) - https://onnx.ai/onnx/operators/onnx__DFT.html
//
//   y[k] = sum over n < N of x[n] e^(-2 pi i k n / N);  with inverse = 1 that of e^(+2 pi i k n / N), over N
//
// along axis. N is dft_length, or the extent of input: what is missing of x is 0, what is too much is left out. With
// onesided = 1 the first floor(N/2) + 1 of y are given, for the others are their conjugates; inverse they are what is
// given, N is twice one less of them, and y is real (N27).
//
// STFT (ai.onnx 17) - https://onnx.ai/onnx/operators/onnx__STFT.html
//
//   output[b, f] = the DFT of window[n] * signal[b, f * frame_step + n], n < N
//
// of every frame that ends within the signal. N is frame_length, else that of window, else the signal's.
#include "reference/families/elementwise.h"
#include "reference/families/moved.h"
#include "reference/functions.h"
#include "reference/type_lists.h"

#include <complex>
#include <numbers>

namespace assay {
namespace {

using Complex = std::complex<double>;
using Signal = std::vector<Complex>;

// Sums up every k-th of so many bins. Angles are fractions of a turn, so that no digit of them is lost.
Signal transformed(const Signal& x, Int bins, bool is_inverse) {
  const Int length = std::ssize(x);
  Signal turns, y(static_cast<std::size_t>(bins));
  for (Int n = 0; n < length; ++n) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(n) / static_cast<double>(length);
    const bool is_quarter = 4 * n % length == 0, is_half = 2 * n % length == 0;
    turns.emplace_back(is_quarter && !is_half ? 0 : cosine(angle), is_half ? 0 : sine(angle) * (is_inverse ? 1 : -1));
  }
  for (Int k = 0; k < bins; ++k) {
    double real = 0, imaginary = 0;
    for (Int n = 0; n < length; ++n) {
      const Complex value = x[static_cast<std::size_t>(n)], turn = turns[static_cast<std::size_t>(k * n % length)];
      real += value.real() * turn.real() - value.imag() * turn.imag();
      imaginary += value.imag() * turn.real() + value.real() * turn.imag();
    }
    y[static_cast<std::size_t>(k)] = Complex(real, imaginary) / (is_inverse ? static_cast<double>(length) : 1);
  }
  return y;
}

// -- DFT

bool is_onesided(const Call& call) { return call.integer("onesided") != 0; }
bool is_inverse(const Call& call) { return call.integer("inverse") != 0; }
bool gives_real(const Call& call) { return is_onesided(call) && is_inverse(call); }

bool has_one_axis(const Call& call) { return !call.has("axis") || volume(call.shape("axis")) == 1; }
bool has_one_length(const Call& call) { return !call.has("dft_length") || volume(call.shape("dft_length")) == 1; }

// The last one of the signal where it is an input that is left out.
Int stated_axis(const Call& call) {
  return call.has("axis") || call.definition().attribute("axis") ? call.integer("axis") : -2;
}
bool has_axis(const Call& call) {
  if (!has_one_axis(call)) return true;
  const Int axis = stated_axis(call), rank = call.rank("input");
  return is_axis(axis, rank) && from_front(axis, rank) != rank - 1;
}
Int axis_of(const Call& call) { return from_front(stated_axis(call), call.rank("input")); }

Int length_of(const Call& call) {
  if (call.has("dft_length")) return call.integer("dft_length");
  const Int extent = call.dim("input", axis_of(call));
  return gives_real(call) ? 2 * (extent - 1) : extent;
}

bool has_samples(const Call& call) {
  return !has_one_axis(call) || !has_axis(call) || !has_one_length(call) || length_of(call) >= 1;
}

bool has_parts(const Call& call) {
  const Shape& shape = call.shape("input");
  return !shape.empty() && (shape.back() == 1 || shape.back() == 2);
}
bool has_parts_of_onesided(const Call& call) {
  return !is_onesided(call) || !has_parts(call) || call.shape("input").back() == (is_inverse(call) ? 2 : 1);
}

Shape of_bins(const Call& call) {
  Shape shape = call.shape("input");
  const Int length = length_of(call);
  shape[static_cast<std::size_t>(axis_of(call))] = is_onesided(call) && !is_inverse(call) ? length / 2 + 1 : length;
  shape.back() = gives_real(call) ? 1 : 2;
  return shape;
}

// Fills up the conjugates of what is given, N/2 and 0 being real.
void mirror(Signal& x) {
  const std::size_t length = x.size();
  for (std::size_t k = 0; 2 * k <= length; ++k) {
    if (k == 0 || 2 * k == length)
      x[k] = x[k].real();
    else
      x[length - k] = std::conj(x[k]);
  }
}

Values transform(const Call& call, Inputs in) {
  Values y = outputs_of(call);
  const auto axis = static_cast<std::size_t>(axis_of(call));
  const Shape &from = in[0]->shape(), to = y[0]->shape();
  const Int parts = from.back(), length = length_of(call), given = from[axis];
  const Int step = volume(std::span(from).subspan(axis + 1)) / parts;  // complex numbers from one sample to the next
  const Int lines = y[0]->elements() == 0 ? 0 : y[0]->elements() / (to[axis] * to.back());
  for (Int line = 0; line < lines; ++line) {
    const auto place = [&](Int extent, Int n) { return (line / step * extent + n) * step + line % step; };
    Signal x(static_cast<std::size_t>(length));
    for (Int n = 0; n < std::min(length, given); ++n) {
      const Int at = place(given, n) * parts;
      x[static_cast<std::size_t>(n)] = {number_at(*in[0], at), parts == 2 ? number_at(*in[0], at + 1) : 0};
    }
    if (gives_real(call)) mirror(x);
    const Signal bins = transformed(x, to[axis], is_inverse(call));
    for (Int k = 0; k < to[axis]; ++k)
      for (Int part = 0; part < to.back(); ++part) {
        const Complex value = bins[static_cast<std::size_t>(k)];
        put_number(*y[0], place(to[axis], k) * to.back() + part, part == 0 ? value.real() : value.imag());
      }
  }
  return y;
}

bool is_flag(Int value) { return value == 0 || value == 1; }

// -- STFT

bool has_one(const Call& call, const char* input) { return !call.has(input) || volume(call.shape(input)) == 1; }
bool is_scalar(const Call& call, const char* input) {
  return !call.has(input) || call.rank(input) == 0 || !has_one(call, input);
}
bool has_signal(const Call& call) {
  return call.rank("signal") == 3 && (call.dim("signal", 2) == 1 || call.dim("signal", 2) == 2);
}
bool has_line(const Call& call) { return !call.has("window") || call.rank("window") == 1; }

Int length_of_frame(const Call& call) {
  if (call.has("frame_length")) return call.integer("frame_length");
  return call.has("window") ? call.dim("window", 0) : call.dim("signal", 1);
}
bool has_frames(const Call& call) {
  if (!has_signal(call) || !has_line(call) || !has_one(call, "frame_length")) return true;
  return length_of_frame(call) >= 1 && length_of_frame(call) <= call.dim("signal", 1);
}
bool fits_window(const Call& call) {
  if (!call.has("window") || !call.has("frame_length") || !has_line(call) || !has_one(call, "frame_length"))
    return true;
  return call.dim("window", 0) == call.integer("frame_length");
}

Shape of_frames(const Call& call) {
  const Int length = length_of_frame(call), bins = is_onesided(call) ? length / 2 + 1 : length;
  return {call.dim("signal", 0), (call.dim("signal", 1) - length) / call.integer("frame_step") + 1, bins, 2};
}

Values transform_frames(const Call& call, Inputs in) {
  Values y = outputs_of(call);
  const Shape shape = y[0]->shape();
  const Int length = length_of_frame(call), parts = call.dim("signal", 2);
  const bool has_window = call.has("window");
  for (Int line = 0; line < shape[0] * shape[1]; ++line) {
    Signal x;
    for (Int n = 0; n < length; ++n) {
      const Int from = line % shape[1] * call.integer("frame_step") + n;
      const Int at = (line / shape[1] * call.dim("signal", 1) + from) * parts;
      const double weight = has_window ? number_at(*in[2], n) : 1;
      x.emplace_back(weight * number_at(*in[0], at), parts == 2 ? weight * number_at(*in[0], at + 1) : 0);
    }
    const Signal bins = transformed(x, shape[2], false);
    for (Int k = 0; k < shape[2]; ++k) {
      put_number(*y[0], (line * shape[2] + k) * 2, bins[static_cast<std::size_t>(k)].real());
      put_number(*y[0], (line * shape[2] + k) * 2 + 1, bins[static_cast<std::size_t>(k)].imag());
    }
  }
  return y;
}

}  // namespace

// clang-format off
Operator dft() {
  return Operator("DFT")
      .input("input", "T1").parameter("dft_length", "T2", "dft_length", Arity::optional).output("output", "T1")
      .attribute("onesided", 0).attribute("inverse", 0)
      .type("T1", types::all_float_types_ir4()).type("T2", {DType::i32, DType::i64}).rulings({"A29", "M4", "N27", "N42", "N69"})
      .require("D1", "axis is in [-rank(input), -2] or [0, rank(input) - 2]", has_axis)
      .require("D2", "input ends with one part, or with a real and an imaginary one", has_parts)
      .require("D3", "onesided = 1 takes real input or, with inverse = 1, complex input", has_parts_of_onesided)
      .require("D4", "at least one sample is transformed", has_samples)
      .require("D5", "dft_length is a scalar", [](auto& c) { return !c.has("dft_length") || c.rank("dft_length") == 0 || !has_one_length(c); }, "M4")
      .require("D6", "dft_length has one element", has_one_length)
      .require("D7", "onesided and inverse are 0 or 1", [](auto& c) { return is_flag(c.integer("onesided")) && is_flag(c.integer("inverse")); }, "N42")
      .since(17).attribute("axis", 1)
      .since(20, "axis is an input, the last one of the signal where it is left out")
          .without("axis").parameter("axis", "i64", "axis", Arity::optional)
          .require("D8", "axis is a scalar", [](auto& c) { return !c.has("axis") || c.rank("axis") == 0 || !has_one_axis(c); }, "M4")
          .require("D9", "axis has one element", has_one_axis)
      .shaping(Shaping::normalized).infer(moved_to(of_bins)).kernel(transform);
}

Operator stft() {
  return Operator("STFT")
      .input("signal", "T1").parameter("frame_step", "T2", "frame_step").input("window", "T1", Arity::optional)
      .parameter("frame_length", "T2", "frame_length", Arity::optional).output("output", "T1").attribute("onesided", 1)
      .type("T1", types::all_float_types_ir4()).type("T2", {DType::i32, DType::i64}).rulings({"A29", "M4", "N42", "N69"})
      .require("T1", "frame_step is 1 or more", [](auto& c) { return !has_one(c, "frame_step") || c.integer("frame_step") >= 1; })
      .require("T2", "window has frame_length elements", fits_window)
      .require("T3", "a frame has at least one sample, and no more than the signal", has_frames)
      .require("T4", "onesided = 1 takes a real signal", [](auto& c) {
        return !has_signal(c) || !is_onesided(c) || c.dim("signal", 2) == 1; })
      .require("T5", "signal has three axes, the last for one part, or for a real and an imaginary one", has_signal)
      .require("T6", "window has one axis", has_line)
      .require("T7", "frame_step and frame_length are scalars", [](auto& c) {
        return is_scalar(c, "frame_step") && is_scalar(c, "frame_length"); }, "M4")
      .require("T8", "frame_step and frame_length have one element each", [](auto& c) {
        return has_one(c, "frame_step") && has_one(c, "frame_length"); })
      .require("T9", "onesided is 0 or 1", [](auto& c) { return is_flag(c.integer("onesided")); }, "N42")
      .since(17)
      .shaping(Shaping::normalized).infer(moved_to(of_frames)).kernel(transform_frames);
}
// clang-format on

}  // namespace assay
