#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures our kernels of elementwise operators against numpy and onnxruntime: 10^7 elements, one thread, in one run.

    cmake --build --preset release --target bench
    .deps/venv/bin/python tools/bench_elementwise.py [NAME…]

Prints a table of milliseconds and of theirs over ours, processor time of the fastest of 50 calls, of 3 where one takes a
second: what else the machine does only adds to them. Above 1 we are faster. All keep the memory that they free: none pays
for fresh pages.
"""
import ctypes
import json
import os
import subprocess
import sys
import time

from bench_peers import ROOT, processor  # one thread: before numpy

import numpy as np
import onnx
import onnxruntime

SIZE = 10_000_000
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


def calls(first):
    return 50 if first < 1 else 2


def fastest(call):
    def seconds():
        start = time.process_time()
        call()
        return time.process_time() - start
    first = seconds()
    return min(first, *(seconds() for _ in range(calls(first))))


LARGE_PAGES = {**os.environ, "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}  # numpy asks for them itself


def ours(name):
    def seconds(repetitions):
        command = [ROOT / "build/release/tools/assay-bench-kernels", f"--benchmark_filter=^elementwise/{name}$",
                   "--benchmark_format=json", "--benchmark_min_time=0.001", f"--benchmark_repetitions={repetitions}"]
        reply = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env=LARGE_PAGES).stdout)
        return min(b["cpu_time"] * 1e-6 for b in reply["benchmarks"] if b["run_type"] == "iteration")
    first = seconds(1)
    return min(first, seconds(calls(first)))


def main():
    libc = ctypes.CDLL(None)
    libc.mallopt(M_MMAP_MAX, 0), libc.mallopt(M_TRIM_THRESHOLD, 2**31 - 1)
    np.seterr(all="ignore")
    print(f"{processor()}; numpy {np.__version__}, onnxruntime {onnxruntime.__version__}\n")
    print("| operator | ours, ms | numpy | onnxruntime |\n|---|---|---|---|")
    for name in sys.argv[1:] or NUMPY:
        inputs, own, us = inputs_of(name), NUMPY[name], ours(name)
        theirs = f"{fastest(lambda: own(*inputs)) / us:.2g}" if own else "-"
        print(f"| {name} | {1e3 * us:.1f} | {theirs} | {fastest(bound(name, inputs)) / us:.2g} |", flush=True)


if __name__ == "__main__":
    main()
