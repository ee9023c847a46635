#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures our kernels of operators against numpy, onnxruntime, oneDNN, OpenCV and PyTorch, and the verdict on what they compute.

    cmake --build --preset release --target bench
    .deps/venv/bin/python tools/bench_operators.py [FAMILY or NAME…]

One thread each, in one run. In every round a row is put to our kernel (tools/bench/case.cpp) and to every peer in turn, on
the same data; a time is the processor time of the fastest call of as many as fit into --seconds, since what else the machine
does only adds to it, and a ratio is theirs over ours within one round: above 1 we are faster. Median, least and most over
the rounds are told. A verdict is told as a multiple of our kernel, and in seconds. A row whose call takes over a second has
3 rounds, a verdict that takes over ten has one. Peers are checked to compute the same. All keep the memory that they free and ask for large pages. OpenCV and
PyTorch are used where this Python has them, oneDNN where libdnnl-dev 2.6 is installed; a column whose peer is missing stays empty, and that is said. An environment
with all peers: python3 -m venv FOLDER && FOLDER/bin/pip install onnx onnxruntime torch opencv-python-headless.
"""
import argparse
import ctypes
import importlib
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Callable, NamedTuple

from bench_peers import ROOT, Absent, OneDnn, OnnxRuntime, Written, processor, spread, summary  # one thread: before numpy

import numpy as np

from bench_time import close

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4
LARGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
COLUMNS = {"elementwise": ["numpy", "onnxruntime"], "movement": ["numpy", "onnxruntime", "OpenCV"],
           "products": ["numpy", "onnxruntime", "oneDNN"], "reductions": ["numpy", "onnxruntime", "PyTorch"]}
OPTIONAL = {"OpenCV": "cv2", "PyTorch": "torch"}


class Row(NamedTuple):
    family: str
    name: str
    line: str
    calls: dict[str, Callable]  # of peers but onnxruntime, by the inputs in order
    is_judged: bool = False


# --- What peers are asked ---


def drawn(count, below):
    return ",".join(map(str, np.random.default_rng(1).integers(0, below, count)))


def resized(how):
    """cv2.resize of every plane to twice its extents."""
    def call(cv2, x, _):
        kind = getattr(cv2, how)
        y = np.empty((*x.shape[:2], 2 * x.shape[2], 2 * x.shape[3]), x.dtype)
        for plane, to in zip(x.reshape(-1, *x.shape[2:]), y.reshape(-1, *y.shape[2:])):
            cv2.resize(plane, to.shape[::-1], dst=to, interpolation=kind)
        return y
    return call


def spread_out(x, w):
    """ConvTranspose of kernel 4, stride 2, pads 1: a product, then each tap added where it belongs."""
    (channels, height, width), maps = x.shape[1:], w.shape[1]
    taps = (w.reshape(channels, -1).T @ x.reshape(channels, -1)).reshape(maps, 4, 4, height, width)
    y = np.zeros((maps, 2 * height + 2, 2 * width + 2), x.dtype)
    for i in range(4):
        for j in range(4):
            y[:, i:i + 2 * height:2, j:j + 2 * width:2] += taps[:, i, j]
    return y[None, :, 1:-1, 1:-1]


def less_zeros(a, b, a_zero, b_zero):
    """MatMulInteger by way of f64, in which it is exact: numpy multiplies integers without BLAS."""
    return ((a.astype("f8") - a_zero) @ (b.astype("f8") - b_zero)).astype("i4")


def layer_normalized(x, scale, bias):
    x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1e-5)) * scale + bias


def softmax(x):
    y = np.exp(x - x.max(-1, keepdims=True))
    return y / y.sum(-1, keepdims=True)


def lstm(x, w, r, b):
    gates = w.shape[1]
    read, hidden = x @ w[0].T + (b[0, :gates] + b[0, gates:]), gates // 4
    h = c = np.zeros((x.shape[1], hidden), x.dtype)
    y = np.empty((x.shape[0], 1, *h.shape), x.dtype)
    for step, before in enumerate(read):
        all_ = before + h @ r[0].T
        i, o, f = (1 / (1 + np.exp(-all_[:, k * hidden:(k + 1) * hidden])) for k in range(3))
        c = f * c + i * np.tanh(all_[:, 3 * hidden:])
        h = y[step, 0] = o * np.tanh(c)
    return y


def torch_lstm(torch, x, w, r, b):
    """The layer with its weights in PyTorch's order of gates."""
    hidden, in_order = r.shape[2], [0, 2, 3, 1]
    layer = torch.nn.LSTM(x.shape[2], hidden)
    of = (w[0], r[0], *b[0].reshape(2, -1))
    for parameter, each in zip(layer.parameters(), of):
        parameter.data = each.reshape(4, hidden, -1)[in_order].reshape(parameter.shape).contiguous()
    return lambda: layer(x)[0][:, None]


def attention(q, k, v):
    return softmax(q @ k.swapaxes(-1, -2) * np.float32(q.shape[-1] ** -0.5)) @ v


def torch_function(name, *more):
    return lambda torch, *inputs: getattr(torch.nn.functional, name)(*inputs, *more)


# --- The rows ---


def element_row(name, line, numpy_call):
    return Row("elementwise", name, line.replace("[n]", "[10000000]"), {"numpy": numpy_call} if numpy_call else {})


ROWS = [
    element_row("Add", "Add-14 opset=22 ir=10 A=f32[n]~normal:1 B=f32[n]~normal:2", np.add),
    element_row("Mul", "Mul-14 opset=22 ir=10 A=f32[n]~normal:1 B=f32[n]~normal:2", np.multiply),
    element_row("Div", "Div-14 opset=22 ir=10 A=f32[n]~normal:1 B=f32[n]~normal:2", np.divide),
    element_row("Relu", "Relu-14 opset=22 ir=10 X=f32[n]~normal:1", lambda x: np.maximum(x, 0)),
    element_row("Where", "Where-16 opset=22 ir=10 condition=bool[n]~full:1 X=f32[n]~normal:1 Y=f32[n]~normal:2", np.where),
    element_row("Cast to f64", "Cast-21 opset=22 ir=10 input=f32[n]~normal:1 to=11", lambda x: x.astype(np.float64)),
    element_row("Cast to i32", "Cast-21 opset=22 ir=10 input=f32[n]~normal:1 to=6", lambda x: x.astype(np.int32)),
    element_row("Cast to f16", "Cast-21 opset=22 ir=10 input=f32[n]~normal:1 to=10", lambda x: x.astype(np.float16)),
    element_row("Sqrt", "Sqrt-13 opset=22 ir=10 X=f32[n]~uniform:1", np.sqrt),
    element_row("Exp", "Exp-13 opset=22 ir=10 input=f32[n]~normal:1", np.exp),
    element_row("Log", "Log-13 opset=22 ir=10 input=f32[n]~uniform:1", np.log),
    element_row("Sin", "Sin-22 opset=22 ir=10 input=f32[n]~normal:1", np.sin),
    element_row("Tanh", "Tanh-13 opset=22 ir=10 input=f32[n]~normal:1", np.tanh),
    element_row("Sigmoid", "Sigmoid-13 opset=22 ir=10 X=f32[n]~normal:1", lambda x: 1 / (1 + np.exp(-x))),
    element_row("Erf", "Erf-13 opset=22 ir=10 input=f32[n]~normal:1", None),

    Row("movement", "Transpose", "Transpose-21 opset=22 ir=10 data=f32[2500,4000]~normal:1",
        {"numpy": lambda x: x.T.copy()}),
    Row("movement", "Transpose to NHWC", "Transpose-21 opset=22 ir=10 data=f32[10,64,125,125]~normal:1 perm=0,2,3,1",
        {"numpy": lambda x: np.ascontiguousarray(x.transpose(0, 2, 3, 1))}),
    Row("movement", "Concat", "Concat-13 opset=22 ir=10 inputs_0=f32[2500,2000]~normal:1 inputs_1=f32[2500,2000]~normal:2 axis=1",
        {"numpy": lambda *x: np.concatenate(x, 1)}),
    Row("movement", "Slice", "Slice-13 opset=22 ir=10 data=f32[4000,5000]~normal:1 starts=i64[1]~values:1000@init "
        "ends=i64[1]~values:3500@init axes=i64[1]~values:1@init", {"numpy": lambda x, *_: x[:, 1000:3500].copy()}),
    Row("movement", "Slice by steps of 2", "Slice-13 opset=22 ir=10 data=f32[4000,5000]~normal:1 starts=i64[1]~values:0@init "
        "ends=i64[1]~values:5000@init axes=i64[1]~values:1@init steps=i64[1]~values:2@init",
        {"numpy": lambda x, *_: x[:, ::2].copy()}),
    Row("movement", "Gather rows", "Gather-13 opset=22 ir=10 data=f32[10000,1000]~normal:1 "
        f"indices=i64[10000]~values:{drawn(10000, 10000)}", {"numpy": lambda x, i: np.take(x, i, 0)}),
    Row("movement", "Gather columns", "Gather-13 opset=22 ir=10 data=f32[1000,10000]~normal:1 "
        f"indices=i64[10000]~values:{drawn(10000, 10000)} axis=1", {"numpy": lambda x, i: np.take(x, i, 1)}),
    Row("movement", "Resize nearest", "Resize-19 opset=22 ir=10 X=f32[1,10,500,500]~normal:1 roi=\"\" scales=f32[4]~values:1,1,2,2@init "
        "mode=nearest", {"OpenCV": resized("INTER_NEAREST")}),
    Row("movement", "Resize linear", "Resize-19 opset=22 ir=10 X=f32[1,10,500,500]~normal:1 roi=\"\" scales=f32[4]~values:1,1,2,2@init "
        "mode=linear", {"OpenCV": resized("INTER_LINEAR")}),

    Row("products", "MatMul 1024^3", "MatMul-13 opset=22 ir=10 A=f32[1024,1024]~normal:1 B=f32[1024,1024]~normal:2",
        {"numpy": np.matmul}, True),
    Row("products", "MatMul 64 of 128^3", "MatMul-13 opset=22 ir=10 A=f32[64,128,128]~normal:1 B=f32[64,128,128]~normal:2",
        {"numpy": np.matmul}),
    Row("products", "MatMul 1000 of 32^3", "MatMul-13 opset=22 ir=10 A=f32[1000,32,32]~normal:1 B=f32[1000,32,32]~normal:2",
        {"numpy": np.matmul}),
    Row("products", "ConvTranspose", "ConvTranspose-22 opset=22 ir=10 X=f32[1,128,28,28]~normal:1 W=f32[128,64,4,4]~normal:2 "
        "strides=2,2 pads=1,1,1,1", {"numpy": spread_out}),
    Row("products", "MatMulInteger 1024^3", "MatMulInteger-10 opset=22 ir=10 A=u8[1024,1024]~byte:1 B=i8[1024,1024]~byte:2 "
        "a_zero_point=u8[]~hold:128@init b_zero_point=i8[]~hold:3@init", {"numpy": less_zeros}),

    Row("reductions", "LayerNormalization", "LayerNormalization-17 opset=22 ir=10 X=f32[1000,1000]~normal:1 Scale=f32[1000]~normal:2 "
        "B=f32[1000]~normal:3", {"numpy": layer_normalized, "PyTorch": lambda torch, x, scale, bias: torch.nn.functional.layer_norm(
            x, scale.shape, scale, bias)}, True),
    Row("reductions", "Softmax", "Softmax-13 opset=22 ir=10 input=f32[1000,1000]~normal:1",
        {"numpy": softmax, "PyTorch": torch_function("softmax", -1)}, True),
    Row("reductions", "ReduceSum of rows", "ReduceSum-13 opset=22 ir=10 data=f32[1000,1000]~normal:1 axes=i64[1]~values:1@init",
        {"numpy": lambda x, _: x.sum(1, keepdims=True), "PyTorch": lambda torch, x, _: x.sum(1, keepdim=True)}),
    Row("reductions", "ReduceSum of columns", "ReduceSum-13 opset=22 ir=10 data=f32[1000,1000]~normal:1 axes=i64[1]~values:0@init",
        {"numpy": lambda x, _: x.sum(0, keepdims=True), "PyTorch": lambda torch, x, _: x.sum(0, keepdim=True)}),
    Row("reductions", "LSTM", "LSTM-22 opset=22 ir=10 X=f32[32,8,256]~normal:1 W=f32[1,1024,256]~sparse64:2@init "
        "R=f32[1,1024,256]~sparse64:3@init B=f32[1,2048]~normal:4@init hidden_size=256 outputs=Y", {"numpy": lstm, "PyTorch": torch_lstm}),
    Row("reductions", "Attention", "Attention-23 opset=23 ir=11 Q=f32[1,8,512,64]~normal:1 K=f32[1,8,512,64]~normal:2 "
        "V=f32[1,8,512,64]~normal:3", {"numpy": attention, "PyTorch": torch_function("scaled_dot_product_attention")}, True),
]


# --- Measuring ---


def fastest(call, seconds):
    """Times three calls at least, where those do not take seconds: the first ones fetch pages."""
    times = []
    while not times or sum(times) < seconds or (len(times) < 3 and sum(times) < 1):
        start = time.process_time()
        call()
        times.append(max(time.process_time() - start, 1e-6))
    return min(times)


class Ours:
    """assay-bench-case with its case in place; it is asked as often as wanted."""

    def __init__(self, build, row, folder):
        command = [build / "tools/assay-bench-case", row.line, folder]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.reply()

    def reply(self):
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("bench_operators: assay-bench-case ended")
        return line

    def seconds(self, what, at_least):
        print(what, at_least, file=self.process.stdin, flush=True)
        return float(self.reply())


def peers(folder):
    """Peers and modules by name, of those that are here; what is missing is said. oneDNN is compiled in the folder."""
    here = {"onnxruntime": OnnxRuntime()}
    try:
        here["oneDNN"] = OneDnn(folder)
    except Absent as why:
        print(f"oneDNN is missing here: its column stays empty ({why})", file=sys.stderr)
    for peer, module in OPTIONAL.items():
        try:
            here[peer] = importlib.import_module(module)
        except ImportError:
            print(f"{peer} is missing here: its column stays empty", file=sys.stderr)
    if "OpenCV" in here:
        here["OpenCV"].setNumThreads(1)
    if "PyTorch" in here:
        here["PyTorch"].set_num_threads(1)
        here["PyTorch"].set_grad_enabled(False)
    return here


def bound(row, written, here):
    """A call without arguments by peer, of those that can."""
    calls, inputs = {}, list(written.inputs.values())
    for peer in COLUMNS[row.family]:
        if peer in ("onnxruntime", "oneDNN"):
            if peer in here:
                calls[peer] = here[peer].call(written)
            continue
        if peer not in row.calls or (peer in OPTIONAL and peer not in here):
            continue
        call, module = row.calls[peer], here.get(peer)
        arguments = [module.from_numpy(x.copy()) for x in inputs] if peer == "PyTorch" else inputs
        if call is torch_lstm:
            calls[peer] = call(module, *arguments)
        else:
            calls[peer] = lambda call=call, all_=[*([module] if module else []), *arguments]: call(*all_)
        if not close(np.asarray(calls[peer]()), written.output):
            raise SystemExit(f"bench_operators: {peer} computes another {row.name}")
    return calls


def measured(row, arguments, here):
    with tempfile.TemporaryDirectory() as folder:
        ours, folder = Ours(arguments.build, row, folder), pathlib.Path(folder)
        calls, own, theirs, verdicts = bound(row, Written(folder), here), [], {}, []
        while len(own) < (arguments.rounds if not own or own[0] < 1 else min(3, arguments.rounds)):
            own.append(ours.seconds("kernel", arguments.seconds))
            for peer, call in calls.items():
                theirs.setdefault(peer, []).append(fastest(call, arguments.seconds) / own[-1])
            if row.is_judged and (not verdicts or verdicts[-1] < 10):
                verdicts.append(ours.seconds("verdict", arguments.seconds))
        ours.process.stdin.close()
        ours.process.wait()
    return own, theirs, verdicts


# --- Telling ---


def ratio(values):
    middle = statistics.median(values)
    return spread(summary(values), 0 if middle >= 20 else 2 if middle >= 0.1 else 3)


def cells(row, own, theirs, verdicts):
    milliseconds = 1e3 * statistics.median(own)
    out = [row.name, spread(summary(own), 0 if milliseconds >= 100 else 1 if milliseconds >= 1 else 2, 1e3)]
    out += [ratio(theirs[peer]) if peer in theirs else "-" for peer in COLUMNS[row.family]]
    if verdicts:
        seconds = statistics.median(verdicts)
        out.append(f"{ratio([v / o for v, o in zip(verdicts, own)])}; {seconds:.{0 if seconds >= 10 else 2}f} s")
    return out


def tell(family, rows, arguments, here):
    is_judged = any(row.is_judged for row in rows)
    head = [family, "ours, ms", *COLUMNS[family], *(["the verdict, of ours"] if is_judged else [])]
    print(f"\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for row in rows:
        own = cells(row, *measured(row, arguments, here))
        print(f"| {' | '.join(own + ['-'] * (len(head) - len(own)))} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("only", nargs="*", help="families or names of rows; all of them by default")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="the build folder")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.2, help="of each measurement, at least")
    arguments = parser.parse_args()
    rows = [row for row in ROWS if not arguments.only or {row.family, row.name} & set(arguments.only)]
    if unknown := set(arguments.only) - {word for row in ROWS for word in (row.family, row.name)}:
        parser.error(f"no family or row is called {', '.join(sorted(unknown))}")
    if os.environ.get("GLIBC_TUNABLES") != LARGE_PAGES["GLIBC_TUNABLES"]:
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **LARGE_PAGES})
    libc = ctypes.CDLL(None)
    libc.mallopt(M_MMAP_MAX, 0), libc.mallopt(M_TRIM_THRESHOLD, 2**31 - 1)
    np.seterr(all="ignore")
    with tempfile.TemporaryDirectory() as folder:
        here = peers(pathlib.Path(folder))
    versions = [f"{name} {getattr(peer, 'version', None) or peer.__version__}" for name, peer in here.items()]
    print(f"{processor()}, load {os.getloadavg()[0]:.1f}, {arguments.rounds} rounds; numpy {np.__version__}, {', '.join(versions)}")
    for family in COLUMNS:
        if chosen := [row for row in rows if row.family == family]:
            tell(family, chosen, arguments, here)


if __name__ == "__main__":
    main()
