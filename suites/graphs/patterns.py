# SPDX-License-Identifier: Apache-2.0
"""Writes a model of many short chains that optimisers rewrite, each with what a rewriting forgets: `patterns.py MODEL.onnx`.

`assay certify MODEL.onnx --backend B` then runs every chain as a window. Weights are drawn there; here only shapes count.
"""
import itertools
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

IMAGE, MATRIX, BATCHES = [1, 4, 6, 6], [5, 6], [2, 3, 4, 5]
LAST, INPUT = object(), object()  # stand for what the node before gives, and for what the chain is given


def weights(*shape):
    return np.full(shape, 0.5, np.float32)


def ints(*values):
    return np.array(values, np.int64)


def node(op, *operands, **attributes):
    """A node that takes what the one before gives, then constants, or what its operands say."""
    named = any(each is LAST for each in operands)
    return op, operands if named else (LAST, *operands), attributes


def conv(out=4, channels=4, kernel=3, bias=True, **attributes):
    constants = [weights(out, channels, kernel, kernel)] + [weights(out)] * bias
    return node("Conv", *constants, pads=[kernel // 2] * 4, **attributes)


def batch_norm(channels):
    return node("BatchNormalization", *[weights(channels)] * 4)


def pool(op, kernel=2, stride=2, **attributes):
    return node(op, kernel_shape=[kernel] * 2, strides=[stride] * 2, **attributes)


def pad(pads, value=None, mode="constant"):
    return node("Pad", ints(*pads), *([] if value is None else [np.float32(value)]), mode=mode)


def clip(least, most):
    return node("Clip", *[None if each is None else np.float32(each) for each in (least, most)])


def cut(start, end, axis, step=1):
    return node("Slice", ints(start), ints(end), ints(axis), ints(step))


RELU = node("Relu")
ACTIVATIONS = [RELU, clip(0, 6), clip(-1, None), node("LeakyRelu", alpha=0.25), node("PRelu", weights(1)), node("Sigmoid"),
               node("HardSigmoid"), node("HardSwish"), node("Tanh")]


def behind_a_convolution():
    """A scale, a shift and an activation, of every shape that broadcasts, along the wrong axis as well."""
    for first in (conv(bias=False), conv(), conv(channels=2, group=2), conv(out=6), conv(kernel=1)):
        out = first[1][1].shape[0]
        shapes = [(out, 1, 1), (1, out, 1, 1), (), (1,), (6,), (out, 6, 6), (1, 1, 6, 1), (1, 1, 1, 6)]
        for op, shape in itertools.product(("Mul", "Add", "Sub", "Div"), shapes):
            yield IMAGE, [first, node(op, weights(*shape)), RELU]
        for each in [batch_norm(out), *ACTIVATIONS]:
            yield IMAGE, [first, each, RELU]
    for op in ("Add", "Sum", "Mul"):
        yield IMAGE, [conv(), node(op, LAST, INPUT), RELU]
        yield IMAGE, [conv(), node(op, INPUT, LAST), RELU]
    for before in (batch_norm(4), node("Mul", weights(4, 1, 1)), node("Add", weights(4, 1, 1)), node("Neg")):
        yield IMAGE, [before, conv()]
    for after in (batch_norm(3), node("Add", weights(3, 1, 1)), node("Mul", weights(3, 1, 1)), RELU):
        yield IMAGE, [node("ConvTranspose", weights(4, 3, 2, 2), strides=[2, 2]), after]


def padded():
    """Padding of spatial and other axes, by nothing, 0 and another number, positive and negative."""
    users = [pool("MaxPool"), pool("MaxPool", 3, 1, pads=[1] * 4), pool("AveragePool"), pool("MaxPool", ceil_mode=1),
             pool("AveragePool", 2, 1, pads=[1] * 4), pool("AveragePool", 2, 1, pads=[1, 1, 0, 0], count_include_pad=1), pad([0, 0, 1, 0] * 2)]
    for pads, value in itertools.product(([0, 0, 1, 1] * 2, [0, 0, 0, 1, 0, 0, 2, 0], [0, 1] + [0] * 6, [0, 0, -1, 0, 0, 0, 0, -1]), (None, 0, 1)):
        for user in [*users, conv(channels=4 + pads[1])]:
            yield IMAGE, [pad(pads, value), user]
    for mode, user in itertools.product(("reflect", "edge"), (conv(), *users[:3])):
        yield IMAGE, [pad([0, 0, 1, 1] * 2, mode=mode), user]


def products():
    product = node("MatMul", weights(6, 7))
    for shape, op in itertools.product(((7,), (1, 7), (5, 7), (5, 1), ()), ("Add", "Mul", "Sub", "Div")):
        yield MATRIX, [product, node(op, weights(*shape)), RELU]
    yield MATRIX, [node("Mul", weights()), product]
    yield MATRIX, [node("Transpose", perm=[1, 0]), node("MatMul", weights(3, 6), LAST)]
    for alpha, beta, a, b in itertools.product((1.0, 0.5), (1.0, 2.0), (0, 1), (0, 1)):
        for is_turned in (False, True):
            rows = 5 if a != is_turned else 6
            gemm = node("Gemm", weights(*((3, rows) if b else (rows, 3))), weights(3), alpha=alpha, beta=beta, transA=a, transB=b)
            for after in (RELU, node("Add", weights(3)), node("Transpose", perm=[1, 0])):
                yield MATRIX, [node("Transpose", perm=[1, 0])] * is_turned + [gemm, after]


def moves():
    for order in itertools.permutations(range(4)):
        extents = [BATCHES[axis] for axis in order]
        for after in (node("MatMul", weights(extents[3], 3)), node("Transpose", perm=[1, 0, 3, 2]), node("ReduceSum", ints(1), keepdims=0),
                      node("ReduceMax", axes=[2]), cut(0, 1, 1), pad([0, 1, 0, 0, 0, 0, 0, 1]), node("Softmax", axis=1),
                      node("Concat", LAST, LAST, axis=2), node("Reshape", ints(6, 20)), node("Tile", ints(1, 2, 1, 1)),
                      node("Add", weights(extents[3])), node("Unsqueeze", ints(1))):
            yield BATCHES, [node("Transpose", perm=order), after, RELU]
    cuts = [cut(1, 5, 2), cut(0, 6, 3, 2), cut(-1, -100, 2, -1), cut(4, 1, 3, -1), cut(2, 100, 1)]
    for first, second in itertools.product(cuts, repeat=2):
        yield IMAGE, [first, second]
    yield IMAGE, [node("Concat", LAST, INPUT, axis=1), cut(2, 6, 1), conv(channels=4)]
    yield IMAGE, [node("Gather", ints(3, 0), axis=1), node("Gather", ints(1), axis=1)]
    yield IMAGE, [node("DepthToSpace", blocksize=2), node("Transpose", perm=[0, 2, 3, 1])]
    yield IMAGE, [node("SpaceToDepth", blocksize=2), conv(channels=16)]
    yield IMAGE, [node("Resize", None, np.array([1, 1, 2, 2], np.float32), mode="nearest"), conv()]


def elementwise():
    for first, second in itertools.product((RELU, clip(-1, 3), clip(0, 6), clip(2, 4)), repeat=2):
        yield IMAGE, [first, second]
    for first, second in itertools.product(("Add", "Sub", "Mul", "Div"), repeat=2):
        yield IMAGE, [node(first, weights(4, 1, 1)), node(second, weights(6)), RELU]
    yield IMAGE, [node("Sub", LAST, LAST), RELU]
    yield IMAGE, [node("Add", LAST, LAST), node("Add", LAST, INPUT)]
    for axes in ([2], [3]):
        yield IMAGE, [node("ReduceSum", ints(3)), node("ReduceMean", axes=axes)]
    yield [1, 4, 8, 8], [node("GlobalAveragePool"), node("Flatten"), node("Gemm", weights(4, 3), weights(3))]


class Model:
    def __init__(self):
        self.nodes, self.constants, self.inputs, self.outputs = [], [], [], []

    def constant(self, array):
        self.constants.append(numpy_helper.from_array(np.asarray(array), f"constant_{len(self.constants)}"))
        return self.constants[-1].name

    def add(self, shape, steps):
        chain, first = len(self.inputs), f"in_{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(first, onnx.TensorProto.FLOAT, shape))
        last = first
        for op, operands, attributes in steps:
            names = [last if each is LAST else first if each is INPUT else "" if each is None else self.constant(each) for each in operands]
            last = f"value_{len(self.nodes)}"
            self.nodes.append(helper.make_node(op, names, [last], f"{op}_{chain}_{len(self.nodes)}", **attributes))
        self.outputs.append(helper.make_tensor_value_info(last, onnx.TensorProto.FLOAT, None))

    def model(self):
        graph = helper.make_graph(self.nodes, "patterns", self.inputs, self.outputs, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


if __name__ == "__main__":
    made = Model()
    for shape, steps in itertools.chain(behind_a_convolution(), padded(), products(), moves(), elementwise()):
        made.add(shape, steps)
    onnx.save(onnx.shape_inference.infer_shapes(made.model(), strict_mode=True), sys.argv[1])
