# SPDX-License-Identifier: Apache-2.0
"""Conv and AveragePool in numpy with a planted bug to choose: one backend for assay and for any harness in Python.

    assay fuzz --backend "exec:.deps/venv/bin/python3 tools/bench/planted.py conv-swaps-pads" --ops Conv-22 --types f32

Without a word, or with `none`, nothing is planted. Only f32 and the version of opset 22 are claimed. Terms are added in
float64 and rounded once, so what is right is right at every level. At its end a worker adds the processor seconds it
took as a line to the file that PLANTED_SECONDS names.
"""
import itertools
import math
import os
import pathlib
import sys
import time

import numpy as np
import onnx
from onnx import helper, numpy_helper

BUGS = {
    "conv-swaps-pads": "the begin and end padding change places",
    "conv-ignores-dilation": "taps are read as if dilations were 1; the shape is right",
    "conv-reads-first-group": "the last group reads the channels of the first",
    "conv-drops-last-bias": "the last map gets no bias",
    "conv-shifts-last-window": "the last window of the last axis starts one cell early, where stride > 1",
    "conv-drops-tail-channel": "channels go in blocks of four; a tail of three loses its last one",
    "conv-accumulates-in-f16": "the sum is rounded to f16 after every tap",
    "pool-takes-lower-for-upper": "SAME_LOWER puts the odd cell of padding at the end",
    "pool-forgets-end-padding": "count_include_pad=1 does not count the padding at the end",
    "pool-keeps-tail-window": "ceil_mode keeps a window that starts in the end padding",
}
PREFIX = {"Conv": "conv-", "AveragePool": "pool-"}  # of the bugs of an operator
COMMON = {"auto_pad", "dilations", "kernel_shape", "pads", "strides"}
ATTRIBUTES = {"Conv": COMMON | {"group"}, "AveragePool": COMMON | {"ceil_mode", "count_include_pad"}}


class Refused(ValueError):
    """The model breaks a constraint of the operator."""


def demand(condition, text):
    if not condition:
        raise Refused(text)


class Axis:
    """One spatial axis: begin and end padding, stride, dilation, and how many windows there are."""

    def __init__(self, extent, kernel, stride, dilation):
        self.extent, self.kernel, self.stride, self.dilation = extent, kernel, stride, dilation
        self.span = (kernel - 1) * dilation + 1

    def pad_same(self, word):
        self.out = -(-self.extent // self.stride)
        total = max(0, (self.out - 1) * self.stride + self.span - self.extent)
        small, big = total // 2, total - total // 2
        self.begin, self.end = (small, big) if word == "SAME_UPPER" else (big, small)

    def pad(self, begin, end, ceil, keeps_tail):
        self.begin, self.end = begin, end
        room = self.extent + begin + end - self.span
        self.out = (-(-room // self.stride) if ceil else room // self.stride) + 1
        if ceil and not keeps_tail and (self.out - 1) * self.stride >= self.extent + begin:
            self.out -= 1

    def overhang(self):
        """Cells that the last window reads beyond the padding."""
        return max(0, (self.out - 1) * self.stride + self.span - self.begin - self.extent - self.end)

    def starts(self):
        return np.arange(self.out) * self.stride


def axes_of(attributes, extents, kernel, bug):
    rank = len(extents)
    word = attributes.get("auto_pad", "NOTSET")
    strides, dilations = (list(attributes.get(name) or [1] * rank) for name in ("strides", "dilations"))
    pads = list(attributes.get("pads") or [])
    demand(word in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"), f"auto_pad is {word!r}")
    demand(word == "NOTSET" or not pads, "auto_pad and pads exclude each other")
    pads = pads or [0] * (2 * rank)
    demand(len(kernel) == len(strides) == len(dilations) == rank and len(pads) == 2 * rank, "a list of another length")
    demand(min([*kernel, *strides, *dilations]) >= 1, "an extent, stride or dilation below 1")
    demand(min(pads) >= 0, "pads below 0")
    if bug == "conv-swaps-pads":
        pads = pads[rank:] + pads[:rank]
    if bug == "pool-takes-lower-for-upper" and word == "SAME_LOWER":
        word = "SAME_UPPER"
    axes = [Axis(*of) for of in zip(extents, kernel, strides, dilations)]
    for axis, begin, end in zip(axes, pads[:rank], pads[rank:]):
        if word.startswith("SAME"):
            axis.pad_same(word)
        else:
            axis.pad(begin, end, attributes.get("ceil_mode", 0), bug == "pool-keeps-tail-window")
    demand(min(axis.out for axis in axes) >= 1, "no window fits")
    return axes


def cells_of(axis, tap, is_last, bug):
    """Which cell of the padded axis every window reads at this tap."""
    cells = axis.starts() + tap * (1 if bug == "conv-ignores-dilation" else axis.dilation)
    if bug == "conv-shifts-last-window" and is_last and axis.stride > 1 and axis.out > 1:
        cells[-1] -= 1
    return cells


def taps(x, axes, bug):
    """Per tap its place in the kernel and, for every image, channel and window, the cell it reads; padding is 0."""
    wide = np.pad(x.astype(np.float64), [(0, 0), (0, 0), *((a.begin, a.end + a.overhang()) for a in axes)])
    for tap in itertools.product(*(range(a.kernel) for a in axes)):
        cells = [cells_of(a, k, a is axes[-1], bug) for a, k in zip(axes, tap)]
        yield tap, wide[(slice(None), slice(None), *np.ix_(*cells))]


def channels_read(group, depth, groups, bug):
    of = 0 if bug == "conv-reads-first-group" and group == groups - 1 else group
    kept = depth - 1 if bug == "conv-drops-tail-channel" and depth % 4 == 3 else depth
    return slice(of * depth, of * depth + kept), kept


def conv(attributes, bug, x, w, b=None):
    demand(x.ndim >= 3 and w.ndim == x.ndim, "the ranks of X and W")
    groups, maps, depth = attributes.get("group", 1), *w.shape[:2]
    demand(groups >= 1 and x.shape[1] == depth * groups and maps % groups == 0, "channels, maps and group do not fit")
    demand(b is None or b.shape == (maps,), "the shape of B")
    kernel = list(w.shape[2:])
    demand(list(attributes.get("kernel_shape") or kernel) == kernel, "kernel_shape is not that of W")
    axes = axes_of(attributes, x.shape[2:], kernel, bug)
    y = np.zeros((x.shape[0], maps, *(a.out for a in axes)))
    per_group = maps // groups
    for tap, cells in taps(x, axes, bug):
        for g in range(groups):
            channels, kept = channels_read(g, depth, groups, bug)
            of = slice(g * per_group, (g + 1) * per_group)
            weights = w[(of, slice(None, kept), *tap)].astype(np.float64)
            y[:, of] += np.moveaxis(np.tensordot(weights, cells[:, channels], (1, 1)), 0, 1)
        if bug == "conv-accumulates-in-f16":
            y = y.astype(np.float16).astype(np.float64)
    if b is not None:
        bias = b.astype(np.float64)
        if bug == "conv-drops-last-bias":
            bias[-1:] = 0
        y += bias.reshape(-1, *[1] * len(axes))
    return y.astype(x.dtype)


def counted(axis, counts_padding, bug):
    """Per window of an axis how many taps count: cells of X, and with count_include_pad those of its padding."""
    cells = axis.starts()[:, None] + np.arange(axis.kernel) * axis.dilation - axis.begin
    low = -axis.begin if counts_padding else 0
    high = axis.extent + (axis.end if counts_padding and bug != "pool-forgets-end-padding" else 0)
    return ((cells >= low) & (cells < high)).sum(axis=1)


def average_pool(attributes, bug, x):
    demand(x.ndim >= 3 and "kernel_shape" in attributes, "the rank of X or kernel_shape")
    axes = axes_of(attributes, x.shape[2:], list(attributes["kernel_shape"]), bug)
    y = np.zeros((*x.shape[:2], *(a.out for a in axes)))
    for _, cells in taps(x, axes, bug):
        y += cells
    per_axis = [counted(a, attributes.get("count_include_pad", 0), bug) for a in axes]
    return (y / math.prod(np.ix_(*per_axis))).astype(x.dtype)


KERNELS = {"Conv": conv, "AveragePool": average_pool}


class Session:
    """A model of one node, ready to run: session(inputs by name) gives Y."""

    def __init__(self, model, bug="none"):
        self.node, self.bug = model.graph.node[0], bug
        operator, opset = self.node.op_type, max(o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))
        if operator not in KERNELS or self.node.domain not in ("", "ai.onnx") or opset < 22:
            raise NotImplementedError(f"{operator} of opset {opset} is not implemented")
        self.constants = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
        self.names = [i.name for i in model.graph.input if i.name not in self.constants]
        self.attributes = {}
        for a in self.node.attribute:
            demand(a.name in ATTRIBUTES[operator], f"an attribute {a.name}")
            value = helper.get_attribute_value(a)
            self.attributes[a.name] = value.decode() if isinstance(value, bytes) else value

    def __call__(self, inputs):
        values = self.constants | inputs
        operands = [values.get(name) for name in self.node.input]
        demand(operands and all(o is None or o.dtype == np.float32 for o in operands), "a type other than f32")
        with np.errstate(all="ignore"):
            return KERNELS[self.node.op_type](self.attributes, self.bug, *operands)


def main():
    bug = sys.argv[1] if len(sys.argv) > 1 else "none"
    if bug not in (*BUGS, "none"):
        sys.exit(f"no bug {bug}; there are none, {', '.join(BUGS)}")
    sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "backends"))
    import assay_worker

    def run(model, sets, _):
        session = Session(onnx.ModelProto.FromString(model), bug)
        outputs = []
        for parts in sets:
            arrays = [assay_worker.array_of(part) for part in parts]
            outputs.append([assay_worker.proto_of("Y", session(dict(zip(session.names, arrays, strict=True))))])
        return outputs

    capabilities = {"operators": ["Conv-22", "AveragePool-22"], "types": ["f32"]}
    description = {"backend": f"planted {bug}", "version": "1", "device": "cpu", "capabilities": capabilities}
    assay_worker.serve(description, run)
    if "PLANTED_SECONDS" in os.environ:
        with open(os.environ["PLANTED_SECONDS"], "a", encoding="ascii") as file:
            file.write(f"{time.process_time()}\n")


if __name__ == "__main__":
    main()
