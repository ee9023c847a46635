#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures our kernels against onnxruntime, ONNX's ReferenceEvaluator and PyTorch, on the same shapes in one run.

    cmake --build --preset release --target bench
    .deps/venv/bin/python tools/bench_peers.py build/release/tools/assay-bench-kernels [--rounds 5] [--layer NAME] [--markdown FILE]

One thread each. The layers are those of bench/kernels.cpp, written as models by it. In every round each layer is put to
every peer in turn, so what else the machine does meets all of them; a ratio is theirs over ours within one round, and
least, median and most over the rounds are printed. Above 1: we are faster. Times are processor time per call; a call of
a Python peer costs a few microseconds more than the kernel. onnxruntime writes into a bound buffer. PyTorch is measured
where it is installed. The peaks are of loops that only touch registers, `separate` with a product and a sum, which is
how our kernels compute, `fused` with one instruction for both.
"""
import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before numpy

import numpy as np
import onnx
from onnx import numpy_helper


def seconds_per_call(call, at_least):
    """Mean processor time of a call, after one that warms up."""
    start = time.process_time()
    call()
    once = max(time.process_time() - start, 1e-6)
    if once > at_least:
        return once
    count = max(3, int(at_least / once))
    start = time.process_time()
    for _ in range(count):
        call()
    return (time.process_time() - start) / count


class Layer:
    def __init__(self, folder):
        self.name = folder.name
        self.model = onnx.load(folder / "model.onnx")
        self.operations = float((folder / "operations").read_text())
        tensors = [onnx.load_tensor(path) for path in sorted(folder.glob("input_*.pb"))]
        self.feed = {i.name: numpy_helper.to_array(t) for i, t in zip(self.model.graph.input, tensors)}
        self.output = numpy_helper.to_array(onnx.load_tensor(folder / "output.pb"))


def onnxruntime_call(layer):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(layer.model.SerializeToString(), options, ["CPUExecutionProvider"])
    given = session.run(None, layer.feed)[0]
    close = np.allclose(given.astype("f8"), layer.output.astype("f8"), rtol=1e-2, atol=1 if given.dtype.kind in "ui" else 1e-2)
    if not close:
        raise ValueError("computes something else")
    binding = session.io_binding()
    for name, value in layer.feed.items():
        binding.bind_cpu_input(name, value)
    binding.bind_output(session.get_outputs()[0].name, "cpu")
    return lambda: session.run_with_iobinding(binding)


def evaluator_call(layer):
    from onnx.reference import ReferenceEvaluator
    if layer.model.graph.node[0].op_type == "DeformConv":
        raise NotImplementedError("takes hours for this size")
    evaluator = ReferenceEvaluator(layer.model)
    return lambda: evaluator.run(None, layer.feed)


def torch_call(layer):
    import torch
    torch.set_num_threads(1)
    node = layer.model.graph.node[0]
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    constants = {t.name: numpy_helper.to_array(t) for t in layer.model.graph.initializer}
    tensors = [torch.from_numpy({**constants, **layer.feed}[name].copy()) for name in node.input if name]
    pads, strides = attributes.get("pads", [0] * 4)[:2], attributes.get("strides", [1, 1])
    functional = torch.nn.functional
    if node.op_type == "Conv":
        x, w = tensors
        run = lambda: functional.conv2d(x, w, None, strides, pads, 1, attributes.get("group", 1))
    elif node.op_type == "AveragePool":
        run = lambda: functional.avg_pool2d(tensors[0], attributes["kernel_shape"], strides, pads, False, False)
    else:
        raise NotImplementedError(node.op_type)

    def call():
        with torch.inference_mode():
            run()
    return call


PEERS = {"onnxruntime": onnxruntime_call, "ReferenceEvaluator": evaluator_call, "PyTorch": torch_call}


def calls_of(layers):
    """Per layer and peer what to call; what a peer cannot do is said once and left out."""
    calls = {}
    for layer in layers:
        for peer, make in PEERS.items():
            try:
                calls[layer.name, peer] = make(layer)
            except ImportError as error:
                calls[layer.name, peer] = None
                if layer is layers[0]:
                    print(f"{peer}: not installed ({error}), left out", file=sys.stderr)
            except Exception as error:  # a peer's own refusal
                calls[layer.name, peer] = None
                print(f"{layer.name}: {peer} left out: {str(error).splitlines()[0][:90]}", file=sys.stderr)
    return calls


def ours(bench, pattern, at_least):
    """Seconds and operations per second by name, of the benchmarks that match."""
    command = [bench, f"--benchmark_filter={pattern}", "--benchmark_format=json", f"--benchmark_min_time={at_least}"]
    reply = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    unit = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}
    return reply["context"], {
        b["name"]: (b["cpu_time"] * unit[b["time_unit"]], b.get("operations", 0)) for b in reply["benchmarks"]}


def processor():
    for line in open("/proc/cpuinfo", encoding="ascii"):
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return "unknown processor"


def spread(values, digits):
    least, middle, most = min(values), statistics.median(values), max(values)
    return f"{middle:.{digits}f} ({least:.{digits}f}-{most:.{digits}f})"


def measured(arguments, layers):
    calls = calls_of(layers)
    times, peaks = {}, {"peak/fused": [], "peak/separate": []}
    for _ in range(arguments.rounds):
        for layer in layers:
            context, own = ours(arguments.bench, f"^layer/{layer.name}$", arguments.seconds)
            times.setdefault((layer.name, "assay"), []).append(own[f"layer/{layer.name}"][0])
            for peer in PEERS:
                known = times.setdefault((layer.name, peer), [])
                call = calls[layer.name, peer]
                if call and not (peer == "ReferenceEvaluator" and known):  # so slow that once will do
                    known.append(seconds_per_call(call, arguments.seconds))
        for name, (_, rate) in ours(arguments.bench, "^peak/", arguments.seconds)[1].items():
            peaks[name].append(rate)
    return context, times, peaks


def tables(arguments, layers):
    context, times, peaks = measured(arguments, layers)
    peak = statistics.median(peaks["peak/separate"] or [float("nan")])
    out = [
        f"{processor()}, {context['instructions']} kernels, one thread, {arguments.rounds} rounds, "
        f"{datetime.date.today().isoformat()}. Peak of this core in f32: {peak * 1e-9:.0f} GFLOP/s with a product and a "
        f"sum, {statistics.median(peaks['peak/fused'] or [float('nan')]) * 1e-9:.0f} fused.", "",
        "| layer | us | GOP/s | of the peak | " + " | ".join(f"against {peer}" for peer in PEERS) + " |",
        "|---|---|---|---|" + "---|" * len(PEERS)]
    for layer in layers:
        own = times[layer.name, "assay"]
        rate = layer.operations / statistics.median(own)
        row = [layer.name, spread([1e6 * t for t in own], 0), f"{rate * 1e-9:.1f}", f"{100 * rate / peak:.0f} %"]
        for peer in PEERS:
            theirs = times[layer.name, peer]
            ratios = [t / o for t, o in zip(theirs, own)]
            row.append(spread(ratios, 2 if ratios and min(ratios) < 10 else 0) if ratios else "-")
        out.append("| " + " | ".join(row) + " |")
    scaling = ours(arguments.bench, "^scaling/", arguments.seconds)[1]
    out += ["", "Cost against size, one extent growing (GFLOP/s; flat is linear):", "", "| extent | sizes and rates |", "|---|---|"]
    series = {}
    for name, (_, rate) in scaling.items():
        _, what, size = name.split("/")
        series.setdefault(what, []).append(f"{size}: {rate * 1e-9:.0f}")
    out += [f"| {what} | {', '.join(points)} |" for what, points in series.items()]
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", help="build/release/tools/assay-bench-kernels")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.05, help="of each measurement")
    parser.add_argument("--layer", action="append", help="this one only")
    parser.add_argument("--without", action="append", default=[], choices=PEERS, help="leave this peer out")
    parser.add_argument("--markdown", type=pathlib.Path, help="write the tables there as well")
    arguments = parser.parse_args()
    for peer in arguments.without:
        del PEERS[peer]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([arguments.bench, "--write", folder], check=True)
        layers = [Layer(path) for path in sorted(pathlib.Path(folder).iterdir())]
    if arguments.layer:
        layers = [layer for layer in layers if layer.name in arguments.layer]
    if not layers:
        parser.error("there is no such layer")
    text = tables(arguments, layers)
    print(text, end="")
    if arguments.markdown:
        head = "<!-- SPDX-License-Identifier: Apache-2.0 -->\n# Our kernels against others\n\nMade by `tools/bench_peers.py`.\n\n"
        arguments.markdown.write_text(head + text, encoding="utf-8")


if __name__ == "__main__":
    main()
