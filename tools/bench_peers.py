#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures our kernels against onnxruntime, oneDNN, PyTorch and ONNX's ReferenceEvaluator, the same layers in one run.

    cmake --build --preset release --target bench assay
    .deps/venv/bin/python tools/bench_peers.py --install        once: PyTorch (2.6 GB) and what draws the plot
    .deps/venv/bin/python tools/bench_peers.py                  to build/bench/results.{json,md,svg}
    tools/lab/bench.sh                                          all of that, into tools/bench/

One thread each. The layers are those of bench/kernels.cpp, written as models by it. In every round each layer is put to
every peer in turn, in processes that live for that round, so what else the machine does, and where the data happen to
lie, meets all of them; a ratio is theirs over ours within one round, and median, least and most over the rounds are
told. Above 1: we are faster. Times are processor time per call; weights are constants, which every peer may prepare
beforehand and ours does not; a call of a Python peer costs a few microseconds more than the kernel. onnxruntime writes
into a bound buffer. oneDNN is Debian's libdnnl-dev, compiled by this script; x and y are row-major and what it takes to
reorder them counts. PyTorch's CPU kernels come with the wheel for CUDA, since the package index has no other for
x86-64. What a peer cannot do or is not there is said, and the column stays empty. A plot and a table are made from the
JSON file alone: --from FILE.

The roofline of a layer is the least of two: the peak of this core, for f32 a product and a sum in registers, which is how
our kernels compute, for f64 half of that, for bytes the best instruction there is; and what a copy beyond the second
cache moves per second times the operations per byte of x, w and y. Both are measured in the same run.
"""
import argparse
import contextlib
import ctypes
import datetime
import hashlib
import io
import json
import math
import multiprocessing
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
import weakref

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before numpy

import numpy as np
import onnx
from onnx import numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[1]
BENCH = ROOT / "tools/bench"
sys.path.insert(0, str(BENCH))
from bench_time import close, processor, seconds_per_call


class Absent(Exception):
    """A peer that is not here at all."""


# --- The environments of their own ---


def environment(name):
    """The folder below assay's cache in which the packages of bench/locks/NAME.txt are, or would be."""
    home = os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    cache = pathlib.Path(os.environ.get("ASSAY_CACHE", os.path.join(home, "assay")))
    digest = hashlib.sha256((BENCH / f"locks/{name}.txt").read_bytes()).hexdigest()[:12]
    return cache / "bench" / f"{name}-{digest}"


def interpreter(name):
    folder = environment(name)
    if not (folder / "stamp").is_file():
        raise Absent("not installed: tools/bench_peers.py --install")
    return folder / "bin/python"


def install():
    for name in ("pytorch", "plot"):
        order = {"name": name, "kind": "venv", "folder": str(environment(name)), "source": "", "apt": [], "build": [],
                 "lock": str(BENCH / f"locks/{name}.txt"), "needs": ""}
        command = [sys.executable, ROOT / "tools/backends/install.py", json.dumps(order)]
        if subprocess.run(command, check=False).returncode != 0:
            print(f"{name}: cannot be had here; its column, or the plot, will be missing", file=sys.stderr)


# --- The layers ---


class Written:
    """A model of one node with its data and what our kernel makes of them."""

    def __init__(self, folder):
        self.folder, self.name = folder, folder.name
        self.model = onnx.load(folder / "model.onnx")
        tensors = [onnx.load_tensor(path) for path in sorted(folder.glob("input_*.pb"))]
        self.feed = {i.name: numpy_helper.to_array(t) for i, t in zip(self.model.graph.input, tensors)}
        self.output = numpy_helper.to_array(onnx.load_tensor(folder / "output.pb"))
        node = self.model.graph.node[0]
        self.op = node.op_type
        constants = {t.name: numpy_helper.to_array(t) for t in self.model.graph.initializer}
        self.inputs = {name: {**constants, **self.feed}[name] for name in node.input if name}
        self.attributes = {"pads": [0] * 4, "strides": [1, 1], "group": 1,
                           **{a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}}


class Layer(Written):
    def __init__(self, folder):
        super().__init__(folder)
        self.operations = float((folder / "operations").read_text())
        self.bytes = float((folder / "bytes").read_text())
        for name, tensor in {**self.inputs, "output": self.output}.items():
            np.save(folder / f"{name}.npy", tensor)

    def roofline(self, peaks):
        """Operations per second that this core could reach, and by what it is bound."""
        of = {"float64": peaks["peak/separate"] / 2, "uint8": peaks["peak/bytes"]}
        peak = of.get(str(next(iter(self.feed.values())).dtype), peaks["peak/separate"])
        moved = peaks["peak/copy"] * self.operations / self.bytes
        return min(peak, moved), "memory" if moved < peak else "arithmetic"


# --- The peers: seconds of a call of a layer that is prepared anew, or an exception that says why not ---


class OnnxRuntime:
    def __init__(self):
        import onnxruntime
        self.runtime, self.version = onnxruntime, onnxruntime.__version__

    def call(self, layer):
        """The session with its data in place."""
        options = self.runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = self.runtime.InferenceSession(layer.model.SerializeToString(), options, ["CPUExecutionProvider"])
        if not close(session.run(None, layer.feed)[0], layer.output):
            raise ValueError("computes something else")
        binding = session.io_binding()
        for name, value in layer.feed.items():
            binding.bind_cpu_input(name, value)
        binding.bind_output(session.get_outputs()[0].name, "cpu")
        return lambda: session.run_with_iobinding(binding)

    def seconds(self, layer, at_least):
        return seconds_per_call(self.call(layer), at_least)


class Evaluator:
    def __init__(self):
        from onnx.reference import ReferenceEvaluator
        self.evaluator, self.version = ReferenceEvaluator, onnx.__version__

    def seconds(self, layer, at_least):
        if layer.op == "DeformConv":
            raise NotImplementedError("takes hours for this size")
        evaluator = self.evaluator(layer.model)
        return seconds_per_call(lambda: evaluator.run(None, layer.feed), at_least)


class PyTorch:
    """In its own environment and process, a line of JSON each way."""

    def __init__(self):
        self.process = subprocess.Popen([interpreter("pytorch"), BENCH / "pytorch_layer.py"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.version = self.reply()["version"]

    def reply(self):
        line = self.process.stdout.readline()
        if not line:
            raise Absent("its process ended")
        return json.loads(line)

    def seconds(self, layer, at_least):
        attributes = {k: v for k, v in layer.attributes.items() if isinstance(v, (int, list))}
        request = {"layer": str(layer.folder), "op": layer.op, "inputs": list(layer.inputs), "attributes": attributes,
                    "seconds": at_least}
        print(json.dumps(request), file=self.process.stdin, flush=True)
        reply = self.reply()
        if "because" in reply:
            raise ValueError(reply["because"])
        return reply["seconds"]


class OneDnn:
    class Description(ctypes.Structure):
        _fields_ = [("op", ctypes.c_char_p), ("rank", ctypes.c_int64), *[(n, ctypes.c_void_p) for n in ("x", "w", "y", "strides", "pads")],
                    ("group", ctypes.c_int64), *[(n, ctypes.c_void_p) for n in ("x_data", "w_data", "y_data")],
                    ("output_scale", ctypes.c_float), ("x_zero", ctypes.c_int32), ("y_zero", ctypes.c_int32),
                    ("w_zero", ctypes.c_int32)]

    def __init__(self, folder):
        library = folder / "onednn.so"
        command = ["g++", "-std=c++20", "-O2", "-fPIC", "-shared", BENCH / "onednn.cpp", "-ldnnl", "-lgomp", "-o", library]
        if not library.exists():
            try:
                done = subprocess.run(command, capture_output=True, text=True, check=False)
            except OSError as error:
                raise Absent(str(error)) from error
            if done.returncode != 0:
                raise Absent("needs libdnnl-dev 2.6: " + done.stderr.strip().splitlines()[0])
        self.library = ctypes.CDLL(str(library))
        self.library.bench_open.restype = ctypes.c_void_p
        for function in (self.library.bench_run, self.library.bench_close):
            function.argtypes = [ctypes.c_void_p]
        self.library.bench_because.restype = self.library.bench_version.restype = ctypes.c_char_p
        self.version = self.library.bench_version().decode()

    def call(self, layer):
        """The layer with its data in place."""
        inputs = layer.inputs
        x = next(iter(inputs.values()))
        if layer.op == "DeformConv" or x.dtype not in ("float32", "uint8"):
            raise NotImplementedError(f"has no {layer.op} in {x.dtype}")
        w = next((inputs[name] for name in ("w", "W", "B") if name in inputs), None)
        scale = float(inputs["x_scale"] * inputs["w_scale"] / inputs["y_scale"]) if "y_scale" in inputs else 0.0
        zeros = [int(inputs.get(f"{a}_zero_point", inputs.get(f"{b}_zero_point", 0))) for a, b in ("xa", "yy", "wb")]
        y = np.empty_like(layer.output)
        extents = [np.array(list(e), np.int64) for e in (
            x.shape, layer.attributes["kernel_shape"] if w is None else w.shape, y.shape, layer.attributes["strides"],
            layer.attributes["pads"])]
        description = self.Description(layer.op.encode(), x.ndim, *[e.ctypes.data for e in extents],
                                       layer.attributes["group"], x.ctypes.data, None if w is None else w.ctypes.data,
                                       y.ctypes.data, scale, *zeros)
        opened = self.library.bench_open(ctypes.byref(description))
        if not opened:
            raise ValueError(self.library.bench_because().decode())
        weakref.finalize(y, self.library.bench_close, opened)

        def run(_=(x, w)):
            self.library.bench_run(opened)
            return y
        if not close(run(), layer.output):
            raise ValueError("computes something else")
        return run

    def seconds(self, layer, at_least):
        return seconds_per_call(self.call(layer), at_least)


PEERS = {"onnxruntime": OnnxRuntime, "oneDNN": OneDnn, "PyTorch": PyTorch, "ReferenceEvaluator": Evaluator}


class Peers:
    """Those that are here; what is missing, whole or for a layer, with the reason."""

    def __init__(self, without, folder):
        self.here, self.missing, self.left_out = {}, {peer: "left out by --without" for peer in without}, {}
        for peer, make in PEERS.items():
            if peer in without:
                continue
            try:
                self.here[peer] = make(folder) if make is OneDnn else make()
            except (Absent, ImportError, OSError) as reason:
                self.missing[peer] = str(reason)
                print(f"{peer}: {reason}; its column stays empty", file=sys.stderr)

    def seconds(self, peer, layer, at_least):
        if peer in self.left_out.get(layer.name, {}):
            return None
        try:
            return self.here[peer].seconds(layer, at_least)
        except Exception as reason:  # a peer's own refusal
            text = (str(reason) or type(reason).__name__).splitlines()[0][:90]
            self.left_out.setdefault(layer.name, {})[peer] = text
            print(f"{layer.name}: {peer} left out: {text}", file=sys.stderr)
            return None


# --- Measuring ---


def ours(bench, pattern, at_least):
    """Seconds and operations per second by name, of the benchmarks that match."""
    command = [bench, f"--benchmark_filter={pattern}", "--benchmark_format=json", f"--benchmark_min_time={at_least}"]
    reply = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    unit = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}
    return reply["context"], {
        b["name"]: (b["cpu_time"] * unit[b["time_unit"]], b.get("operations", 0)) for b in reply["benchmarks"]}


def summary(values):
    return {"median": statistics.median(values), "least": min(values), "most": max(values)}


def exponent(sizes, costs):
    """The slope of the straight line through (log size, log cost): 1 is linear."""
    return statistics.linear_regression([math.log(s) for s in sizes], [math.log(c) for c in costs]).slope


def kernel_growth(bench, at_least):
    """How the kernels' time grows with the products, one extent growing."""
    points = {}
    for name, (seconds, rate) in ours(bench, "^scaling/", at_least)[1].items():
        _, extent, size = name.split("/")
        points.setdefault(extent, []).append((int(size), seconds * rate, seconds, rate))
    return [{"part": "kernel", "extent": extent, "sizes": [p[0] for p in series], "rates": [p[3] for p in series],
             "exponent": exponent([p[1] for p in series], [p[2] for p in series])} for extent, series in points.items()]


def case_growth(program):
    """The same of a case: asking, running and judging, from the table that assay-bench-growth prints."""
    text = subprocess.run([program, "1"], check=True, capture_output=True, text=True).stdout
    points = {}
    for extent, *numbers in re.findall(r"^ +(elements|taps|channels) +(\d+) +(\d+) +([\d.]+) +([\d.]+) +([\d.]+)", text, re.M):
        points.setdefault(extent, []).append([float(number) for number in numbers])
    return [{"part": part, "extent": extent, "sizes": [p[0] for p in series],
             "microseconds": [p[column] for p in series],
             "exponent": exponent([p[1] for p in series], [p[column] for p in series])}
            for extent, series in points.items() for part, column in (("run", 3), ("judge", 4))]


def start_up(program):
    """Milliseconds on the clock of a process that says its version."""
    times = []
    for _ in range(21):
        start = time.perf_counter()
        subprocess.run([program, "--version"], check=True, capture_output=True)
        times.append(1e3 * (time.perf_counter() - start))
    return summary(times)


class Round:
    """One round: seconds by layer and peer, and the peers' own words. For the first of them who is missing is said."""

    def __init__(self, folder, arguments, number):
        with contextlib.redirect_stderr(io.StringIO() if number else sys.stderr):
            slow = ["ReferenceEvaluator"] if number else []  # so slow that it takes one round
            peers = Peers([*arguments.without, *slow], folder)
            self.times, bench = {}, arguments.build / "tools/assay-bench-kernels"
            for layer in layers_of(folder, arguments):
                self.context, own = ours(bench, f"^layer/{layer.name}$", arguments.seconds)
                self.times[layer.name, "assay"] = own[f"layer/{layer.name}"][0]
                for peer in peers.here:
                    seconds = peers.seconds(peer, layer, arguments.seconds)
                    if seconds is not None:
                        self.times[layer.name, peer] = seconds
            self.peaks = {name: rate for name, (_, rate) in ours(bench, "^peak/", arguments.seconds)[1].items()}
        self.versions = {peer: p.version for peer, p in peers.here.items()}
        self.missing, self.left_out = peers.missing, peers.left_out


def layers_of(folder, arguments):
    layers = [Layer(path) for path in sorted((folder / "layers").iterdir())]
    layers = [layer for layer in layers if layer.name in arguments.layer] if arguments.layer else layers
    if not layers:
        raise SystemExit("bench_peers: there is no such layer")
    return layers


def measured(arguments):
    tools = arguments.build / "tools"
    bench = tools / "assay-bench-kernels"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([bench, "--write", folder / "layers"], check=True)
        layers, rounds = layers_of(folder, arguments), []
        for number in range(arguments.rounds):
            with multiprocessing.get_context("spawn").Pool(1) as process:
                rounds.append(process.apply(Round, (folder, arguments, number)))
            print(f"round {number + 1} of {arguments.rounds}", file=sys.stderr)
    first = rounds[0]
    peaks = {name: [r.peaks[name] for r in rounds] for name in first.peaks}
    middle = {name: statistics.median(rates) for name, rates in peaks.items()}
    return {
        "machine": {"processor": processor(), "instructions": first.context["instructions"],
                    "date": datetime.date.today().isoformat(), "load": first.context.get("load_avg", [0])[0]},
        "rounds": arguments.rounds, "peers": first.versions, "missing": first.missing,
        "peaks": {name: summary(rates) for name, rates in peaks.items()},
        "layers": [described(layer, rounds, middle) for layer in layers],
        "growth": kernel_growth(bench, arguments.seconds) + case_growth(tools / "assay-bench-growth"),
        "start": start_up(tools / "assay")}


def described(layer, rounds, peaks):
    own = [r.times[layer.name, "assay"] for r in rounds]
    ratios = {peer: [r.times[layer.name, peer] / o for r, o in zip(rounds, own) if (layer.name, peer) in r.times]
              for peer in rounds[0].versions}
    rate = layer.operations / statistics.median(own)
    roofline, bound = layer.roofline(peaks)
    return {"name": layer.name, "operations": layer.operations, "bytes": layer.bytes, "seconds": summary(own), "rate": rate,
            "roofline": rate / roofline, "bound": bound,
            "ratios": {peer: summary(of_rounds) for peer, of_rounds in ratios.items() if of_rounds},
            "left_out": rounds[0].left_out.get(layer.name, {})}


# --- Telling ---


def spread(values, digits, factor=1):
    low, middle, most = (f"{factor * values[key]:.{digits}f}" for key in ("least", "median", "most"))
    return f"{middle} ({low}-{most})"


def table(results):
    machine, peers = results["machine"], results["peers"]
    peaks = {name: f"{1e-9 * rates['median']:.0f}" for name, rates in results["peaks"].items()}
    out = [
        f"{machine['processor']}, {machine['instructions']} kernels, one thread, {results['rounds']} rounds, "
        f"{machine['date']}, load {machine['load']:.1f}. " + ", ".join(f"{peer} {version}" for peer, version in peers.items()) + ".", "",
        f"Peaks of this core: f32 {peaks['peak/separate']} GFLOP/s with a product and a sum, {peaks['peak/fused']} fused; "
        f"bytes {peaks['peak/bytes']} GOP/s; a copy {peaks['peak/copy']} GB/s, read and written.", ""]
    out += [f"Missing: {peer}, {reason}.\n" for peer, reason in results["missing"].items()]
    out += ["Time of the peer over ours, median (least-most) of the rounds: above 1 we are faster.", "",
            "| layer | us | GOP/s | of the roofline | " + " | ".join(peers) + " |", "|---|---|---|---|" + "---|" * len(peers)]
    for layer in results["layers"]:
        row = [layer["name"], spread(layer["seconds"], 0, 1e6), f"{1e-9 * layer['rate']:.1f}",
               f"{100 * layer['roofline']:.0f} % ({layer['bound']})"]
        for peer in peers:
            ratio = layer["ratios"].get(peer)
            row.append(spread(ratio, 2 if ratio["least"] < 10 else 0) if ratio else "-")
        out.append("| " + " | ".join(row) + " |")
    reasons = {}
    for layer in results["layers"]:
        for peer, reason in layer["left_out"].items():
            reasons.setdefault((peer, reason), []).append(layer["name"])
    if reasons:
        out += ["", "Left out: " + "; ".join(f"{peer} on {', '.join(names)} ({reason})" for (peer, reason), names in reasons.items()) + "."]
    out += ["", "Cost against size, one extent growing: the exponent of the products that fits best (1 is linear). The kernels",
            "by `assay-bench-kernels`, GFLOP/s at each size; running and judging a case by `assay-bench-growth 1`, microseconds.", "",
            "| part | extent | exponent | at each size |", "|---|---|---|---|"]
    for row in results["growth"]:
        values = row.get("microseconds") or [1e-9 * rate for rate in row["rates"]]
        points = ", ".join(f"{size:.0f}: {value:.0f}" for size, value in zip(row["sizes"], values))
        out.append(f"| {row['part']} | {row['extent']} | {row['exponent']:.2f} | {points} |")
    out += ["", f"Start-up of `assay --version`, ms on the clock: {spread(results['start'], 1)}."]
    return "\n".join(out) + "\n"


def compared(old, new):
    """How many of the medians of a run lie within the spread of another, give or take a hundredth."""
    lines, inside, all_ = [], 0, 0
    before = {layer["name"]: layer["ratios"] for layer in old["layers"]}
    for layer in new["layers"]:
        for peer, ratio in layer["ratios"].items():
            was = before.get(layer["name"], {}).get(peer)
            if was is None or peer == "ReferenceEvaluator":
                continue
            all_ += 1
            if 0.99 * was["least"] <= ratio["median"] <= 1.01 * was["most"]:
                inside += 1
            else:
                end = was["least"] if ratio["median"] < was["least"] else was["most"]
                lines.append(f"{layer['name']}, {peer}: {ratio['median']:.2f} lies {100 * abs(ratio['median'] / end - 1):.1f} % "
                             f"outside {spread(was, 2)}")
    return f"{inside} of {all_} medians lie within 1 % of the spread of the run before.\n" + "".join(f"  {line}\n" for line in lines)


def tell(results, to):
    to.mkdir(parents=True, exist_ok=True)
    file = to / "results.json"
    file.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    head = ("<!-- SPDX-License-Identifier: Apache-2.0 -->\n# Our kernels against others\n\n"
            "Made by `tools/lab/bench.sh`; what is timed, and how, stands at the head of `tools/bench_peers.py`.\n\n")
    (to / "results.md").write_text(head + table(results), encoding="utf-8")
    try:
        subprocess.run([interpreter("plot"), BENCH / "plot.py", file, to / "results.svg"], check=True)
    except Absent as reason:
        print(f"the plot is not drawn: {reason}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=pathlib.Path, default=ROOT / "build/release", help="the build folder")
    parser.add_argument("--install", action="store_true", help="PyTorch and the plot's library, into assay's cache")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.1, help="of each measurement, at least")
    parser.add_argument("--layer", action="append", help="this one only")
    parser.add_argument("--without", action="append", default=[], choices=PEERS, help="leave this peer out")
    parser.add_argument("--to", type=pathlib.Path, default=ROOT / "build/bench", help="folder for results.{json,md,svg}")
    parser.add_argument("--from", dest="source", type=pathlib.Path, help="tell these results again instead of measuring")
    parser.add_argument("--compare", type=pathlib.Path, help="the results of a run before")
    arguments = parser.parse_args()
    if arguments.install:
        return install()
    before = json.loads(arguments.compare.read_text(encoding="utf-8")) if arguments.compare else None
    results = json.loads(arguments.source.read_text(encoding="utf-8")) if arguments.source else measured(arguments)
    tell(results, arguments.to)
    print(table(results), end="")
    if before:
        print("\n" + compared(before, results), end="")


if __name__ == "__main__":
    main()
