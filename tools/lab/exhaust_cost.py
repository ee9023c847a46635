# SPDX-License-Identifier: Apache-2.0
"""What an exhaustive run costs: processor seconds of one core for all 2^32 inputs of float32, of assay's verdict, of onnxruntime itself and of numpy.

    .deps/venv/bin/python tools/lab/exhaust_cost.py Exp Sin

The verdict is timed over all inputs, without the worker that runs onnxruntime, and its report kept in build/lab; onnxruntime and numpy over every 16th part of 2^21 inputs.
"""
import json
import pathlib
import subprocess
import sys
import time

import numpy
import onnx
import onnxruntime

TOOL = pathlib.Path("build/release/tools/assay")
NUMPY = {"Exp": numpy.exp, "Log": numpy.log, "Sin": numpy.sin, "Cos": numpy.cos, "Tan": numpy.tan, "Tanh": numpy.tanh, "Asin": numpy.arcsin,
         "Acos": numpy.arccos, "Atan": numpy.arctan, "Sinh": numpy.sinh, "Cosh": numpy.cosh, "Asinh": numpy.arcsinh, "Acosh": numpy.arccosh,
         "Atanh": numpy.arctanh}
PART, STEP = 1 << 21, 16


def processor_seconds(process):
    """Of the process itself: what its children take is not in it."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def verdict(op):
    report, seconds = pathlib.Path(f"build/lab/exhaust-{op}.json"), 0
    report.parent.mkdir(exist_ok=True)
    with subprocess.Popen([TOOL, "exhaust", "onnxruntime", "--ops", op, "--types", "f32", "--jobs", "1", "--report", report],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        while running.poll() is None:
            seconds = processor_seconds(running)
            time.sleep(0.2)
    function = json.loads(report.read_text(encoding="utf-8"))["functions"][0]
    assert function["inputs"] == 1 << 32, function["ended"]
    return seconds


def sampled(run):
    seconds = 0
    for first in range(0, 1 << 32, PART * STEP):
        x = numpy.arange(first, first + PART, dtype=numpy.uint64).astype(numpy.uint32).view(numpy.float32)
        before = time.process_time()
        run(x)
        seconds += time.process_time() - before
    return seconds * STEP


def of_onnxruntime(op):
    tensor = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph([onnx.helper.make_node(op, ["x"], ["y"])], "one", [tensor("x", onnx.TensorProto.FLOAT, [PART])],
                                   [tensor("y", onnx.TensorProto.FLOAT, [PART])])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 22)], ir_version=10)
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return sampled(lambda x: session.run(None, {"x": x}))


def main():
    print("| function | verdict, s | onnxruntime, s | numpy, s |\n|---|---|---|---|")
    numpy.seterr(all="ignore")
    for op in sys.argv[1:] or ["Exp"]:
        own = f"{sampled(NUMPY[op]):.0f}" if op in NUMPY else "–"
        print(f"| {op} | {verdict(op):.0f} | {of_onnxruntime(op):.0f} | {own} |", flush=True)


if __name__ == "__main__":
    main()
