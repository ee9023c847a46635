#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures our kernels of elementwise operators against numpy and onnxruntime: 10^7 elements, one thread, in one run.

    cmake --build --preset release --target bench
    .deps/venv/bin/python tools/bench_elementwise.py [ROUNDS [NAME…]]

Prints a table of milliseconds and of theirs over ours, processor time: that of the least of the rounds, since what else the
machine does only adds to them, and the median of the rounds' own. Above 1 we are faster. Every round puts an operator to the
three in turn. All keep the memory that they free: none pays for fresh pages.
"""
import ctypes
import sys
from statistics import median

from bench_peers import ROOT, ours, processor, seconds_per_call  # one thread: before numpy

import numpy as np
import onnx
import onnxruntime

SIZE, SECONDS = 10_000_000, 0.2
M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4
NUMPY = {
    "Add": np.add, "Mul": np.multiply, "Div": np.divide, "Relu": lambda x: np.maximum(x, 0), "Where": np.where,
    "Cast to f64": lambda x: x.astype(np.float64), "Cast to i32": lambda x: x.astype(np.int32),
    "Cast to f16": lambda x: x.astype(np.float16), "Sqrt": np.sqrt, "Exp": np.exp, "Log": np.log, "Sin": np.sin, "Tanh": np.tanh,
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)), "Erf": None}
CAST = {"f64": 11, "i32": 6, "f16": 10}


def inputs_of(name):
    draw = np.random.default_rng(1)
    normal = [draw.standard_normal(SIZE, np.float32) for _ in range(2 if name in ("Add", "Mul", "Div", "Where") else 1)]
    if name == "Where":
        return [draw.random(SIZE) < 0.5, *normal]
    return [abs(x) for x in normal] if name in ("Sqrt", "Log") else normal


def bound(name, inputs):
    """The session of onnxruntime with its data in place."""
    op, _, to = name.partition(" to ")
    attributes = {"to": CAST[to]} if to else {}
    types = [onnx.helper.np_dtype_to_tensor_dtype(x.dtype) for x in inputs]
    tensors = [onnx.helper.make_tensor_value_info(f"x{i}", t, [SIZE]) for i, t in enumerate(types)]
    output = onnx.helper.make_tensor_value_info("y", CAST.get(to, onnx.TensorProto.FLOAT), [SIZE])
    node = onnx.helper.make_node(op, [t.name for t in tensors], ["y"], **attributes)
    model = onnx.helper.make_model(onnx.helper.make_graph([node], op, tensors, [output]), ir_version=10,
                                   opset_imports=[onnx.helper.make_opsetid("", 22)])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    binding = session.io_binding()
    for tensor, value in zip(tensors, inputs):
        binding.bind_cpu_input(tensor.name, value)
    binding.bind_output("y", "cpu")
    return lambda: session.run_with_iobinding(binding)


def one_round(name):
    inputs, own = inputs_of(name), NUMPY[name]
    _, measured = ours(ROOT / "build/release/tools/assay-bench-kernels", f"^elementwise/{name}$", SECONDS)
    return {"ours": measured[f"elementwise/{name}"][0], "numpy": own and seconds_per_call(lambda: own(*inputs), SECONDS),
            "onnxruntime": seconds_per_call(bound(name, inputs), SECONDS)}


def main():
    libc = ctypes.CDLL(None)
    libc.mallopt(M_MMAP_MAX, 0), libc.mallopt(M_TRIM_THRESHOLD, 2**31 - 1)
    np.seterr(all="ignore")
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    names = sys.argv[2:] or list(NUMPY)
    print(f"{processor()}; numpy {np.__version__}, onnxruntime {onnxruntime.__version__}; {rounds} rounds\n")
    print("| operator | ours, ms | numpy | onnxruntime |\n|---|---|---|---|")
    for name in names:
        times = [one_round(name) for _ in range(rounds)]
        least = {peer: min(t[peer] for t in times) for peer in times[0] if times[0][peer]}
        cells = [f"{least[peer] / least['ours']:.2g} ({median(t[peer] / t['ours'] for t in times):.2g})" if peer in least else "-"
                 for peer in ("numpy", "onnxruntime")]
        print(f"| {name} | {1e3 * least['ours']:.1f} | {cells[0]} | {cells[1]} |", flush=True)


if __name__ == "__main__":
    main()
