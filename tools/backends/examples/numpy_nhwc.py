# SPDX-License-Identifier: Apache-2.0
"""An example of the ONNX Backend API that assay certifies: com.microsoft NhwcConv in numpy.

    assay certify --backend python:numpy_nhwc --ops NhwcConv        (with this folder on PYTHONPATH)

X and Y are channels-last, W is M x k... x C/group. One matrix product per tap, added up in float64.
"""
import itertools

import numpy
import onnx.backend.base
from onnx import helper, numpy_helper


class Refused(ValueError):
    """The model breaks a constraint of the operator."""


def demand(condition, text):
    if not condition:
        raise Refused(text)


def same(extent, span, stride, word):
    """Begin and end padding of one axis for SAME_UPPER and SAME_LOWER."""
    total = max(0, (-(-extent // stride) - 1) * stride + span - extent)
    return (total // 2, total - total // 2) if word == "SAME_UPPER" else (total - total // 2, total // 2)


def padding(attributes, extents, spans, strides):
    word, axes = attributes.get("auto_pad", "NOTSET"), len(extents)
    pads = list(attributes.get("pads", []))
    demand(word in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"), f"auto_pad is {word!r}")
    demand(word == "NOTSET" or not pads, "auto_pad and pads")
    if word.startswith("SAME"):
        return [same(i, k, s, word) for i, k, s in zip(extents, spans, strides)]
    pads = pads or [0] * (2 * axes)
    demand(len(pads) == 2 * axes and min(pads) >= 0, f"pads are {pads}")
    return list(zip(pads[:axes], pads[axes:]))


def checked(attributes, x, w, bias):
    """Kernel, strides, dilations, padding and group of a legal call."""
    axes = x.ndim - 2
    group, kernel = attributes.get("group", 1), w.shape[1:-1]
    strides = attributes.get("strides") or [1] * axes
    dilations = attributes.get("dilations") or [1] * axes
    demand(x.dtype in (numpy.float16, numpy.float32, numpy.float64), f"the type {x.dtype}")
    demand(axes >= 1 and w.ndim == x.ndim, "ranks")
    demand(w.dtype == x.dtype and (bias is None or bias.dtype == x.dtype), "types differ")
    demand(group >= 1 and x.shape[-1] == w.shape[-1] * group and w.shape[0] % group == 0, "channels and group")
    demand(list(attributes.get("kernel_shape") or kernel) == list(kernel), "kernel_shape is not that of W")
    demand(bias is None or bias.shape == w.shape[:1], "the shape of B")
    demand(len(strides) == len(dilations) == axes, "a list has another length than there are axes")
    demand(min([*kernel, *strides, *dilations]) >= 1, "an extent, stride or dilation below 1")
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    pads = padding(attributes, x.shape[1:-1], spans, strides)
    out = [(i + sum(p) - k) // s + 1 for i, p, k, s in zip(x.shape[1:-1], pads, spans, strides)]
    demand(min(out) >= 1, "no window fits")
    return kernel, strides, dilations, pads, group, out


def nhwc_conv(attributes, x, w, bias=None):
    kernel, strides, dilations, pads, group, out = checked(attributes, x, w, bias)
    depth, maps = w.shape[-1], w.shape[0] // group
    wide = numpy.pad(x.astype(numpy.float64), [(0, 0), *pads, (0, 0)])
    y = numpy.zeros((x.shape[0], *out, w.shape[0]))
    for tap in itertools.product(*map(range, kernel)):
        steps = zip(tap, dilations, strides, out)
        window = wide[(slice(None), *(slice(k * d, k * d + (o - 1) * s + 1, s) for k, d, s, o in steps))]
        weights = w[(slice(None), *tap)].astype(numpy.float64)
        for g in range(group):
            of = slice(g * maps, (g + 1) * maps)
            y[..., of] += window[..., g * depth : (g + 1) * depth] @ weights[of].T
    return (y if bias is None else y + bias.astype(numpy.float64)).astype(x.dtype)


class Prepared(onnx.backend.base.BackendRep):
    def __init__(self, graph):
        self.node = graph.node[0]
        self.attributes = {}
        for a in self.node.attribute:
            value = helper.get_attribute_value(a)
            self.attributes[a.name] = value.decode() if isinstance(value, bytes) else value
        self.constants = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
        self.names = [i.name for i in graph.input if i.name not in self.constants]

    def run(self, inputs, **kwargs):
        values = self.constants | dict(zip(self.names, inputs))
        with numpy.errstate(all="ignore"):
            return (nhwc_conv(self.attributes, *(values.get(name) for name in self.node.input)),)


class Backend(onnx.backend.base.Backend):
    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        node = model.graph.node[0]
        if (node.domain, node.op_type) != ("com.microsoft", "NhwcConv"):
            raise NotImplementedError(f"{node.domain or 'ai.onnx'} {node.op_type} is not implemented")
        return Prepared(model.graph)
