# SPDX-License-Identifier: Apache-2.0
"""assay worker: onnxruntime; with --set defects=planted it is wrong in each of the layers named below, and in no other; with
--set fusions=planted where nodes follow each other and what is between them is no output, and right where each is alone; with
--set bodies=planted in nodes of bodies, by name, and right where each is a model of its own."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/backends"))
import assay_worker  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402


def without_last(axis):
    """The last line along an axis is never written."""
    def damaged(out, *given):
        out = out.copy()
        out.swapaxes(0, axis)[-1] = 0
        return out
    return damaged


def shifted(axis):
    return lambda out, *given: np.roll(out, 1, axis)


def drops_epsilon(out, x, scale, bias, mean, var):
    mean, var, scale, bias = (each.reshape(-1, 1, 1) for each in (mean, var, scale, bias))
    return (x - mean) / np.sqrt(var) * scale + bias


def is_stale(out, *given):
    return written.setdefault(out.shape, out)


def counts_padding(out, *given):
    out = out.copy()
    out[..., 0, :] *= np.float32(2 / 3)
    return out


def sums_in_float16(out, a, b, c):
    out = np.zeros(out.shape, np.float16)
    for k in range(a.shape[1]):
        out += np.outer(a[:, k], b[:, k]).astype(np.float16)
    return out + c


def gelu_by_tanh(out, x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def unbiased(out, x, scale, bias):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True, ddof=1) + 1e-5) * scale + bias


def along_other_axis(out, x):
    exponentials = np.exp(x - x.max(0))
    return exponentials / exponentials.sum(0)


def rounds_half_away(out, x, scale, zero):
    return np.clip(np.trunc(x / scale + np.copysign(0.5, x)) + zero, 0, 255)


def truncates(out, x):
    return np.where(np.abs(out.astype(np.float32)) > np.abs(x), np.nextafter(out, np.float16(0)), out)


# What the layer of an operator and of a shape of its first input answers, of the right answer and of what goes in.
DEFECTS = {
    ("Conv", (1, 3, 16, 16)): lambda out, *given: np.maximum(out, 0),
    ("Conv", (1, 8, 8, 8)): shifted(3),
    ("Conv", (1, 8, 4, 4)): without_last(1),
    ("BatchNormalization", (1, 8, 8, 8)): drops_epsilon,
    ("Clip", (1, 8, 8, 8)): lambda out, x, least, most: np.maximum(x, least),
    ("MaxPool", (1, 8, 8, 8)): is_stale,
    ("AveragePool", (1, 8, 4, 4)): counts_padding,
    ("Concat", (1, 8, 4, 4)): lambda out, a, b: np.concatenate((b, a), 1),
    ("Resize", (1, 16, 4, 4)): shifted(2),
    ("Add", (1, 16, 8, 8)): without_last(2),
    ("ReduceMean", (1, 16, 8, 8)): lambda out, *given: out * np.float32(64 / 63),
    ("Gemm", (1, 16)): sums_in_float16,
    ("Gelu", (1, 64)): gelu_by_tanh,
    ("Transpose", (8, 8)): lambda out, x: x,
    ("LayerNormalization", (8, 8)): unbiased,
    ("Softmax", (8, 8)): along_other_axis,
    ("Gather", (8, 8)): lambda out, x, indices: x[(indices + 1) % 8],
    ("Slice", (4, 8)): lambda out, x, *given: x[:, 2:8],
    ("QuantizeLinear", (4, 6)): rounds_half_away,
    ("DequantizeLinear", (4, 6)): lambda out, x, scale, zero: x.astype(np.float32) * scale,
    ("Cast", (4, 6)): truncates,
    ("MatMul", (4, 6)): without_last(1),
}
# What nodes that follow each other answer as one, of the right answer.
FUSIONS = {
    ("Conv", "BatchNormalization"): shifted(1),
    ("Conv", "Add"): without_last(1),
    ("Relu", "MaxPool"): lambda out: np.maximum(out, 1),
    ("Pad", "Conv"): without_last(-1),
    ("MatMul", "Add"): lambda out: out - 1,
    ("Transpose", "MatMul"): shifted(0),
    ("Relu", "QuantizeLinear"): shifted(1),
    ("Conv", "QuantizeLinear"): without_last(1),
}
# What a node in a body, by its name, is computed as; None: right in the first turn, later what goes in.
BODIES = {"low": "Abs", "sum": "Sub", "twice": "Mul", "step": None}
written = {}  # what a buffer of a shape holds since the first run


def fused(graph):
    """The damage to outputs of nodes, by name: of those that take what no output of the graph shows."""
    givers, found, shown = {node.output[0]: node for node in graph.node}, {}, {each.name for each in graph.output}
    for last in graph.node:
        for first in (givers[name] for name in last.input if name in givers and name not in shown):
            if (first.op_type, last.op_type) in FUSIONS:
                found[last.output[0]] = FUSIONS[first.op_type, last.op_type]
    return found


def session_of(model, node, given):
    """A session of one node, whose inputs are of the types of what is given."""
    inputs = [onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
              for name, value in given.items()]
    graph = onnx.helper.make_graph([node], "node", inputs, [onnx.ValueInfoProto(name=name) for name in node.output if name])
    one = onnx.helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 4
    settings.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(one.SerializeToString(), settings, providers=["CPUExecutionProvider"])


def damage_bodies(graph, body=None):
    for node in reversed(list(graph.node)):
        for attribute in node.attribute:
            if attribute.HasField("g"):
                damage_bodies(attribute.g, attribute.g)
        if body is None or node.name not in BODIES:
            continue
        if BODIES[node.name]:
            node.op_type = BODIES[node.name]
            continue
        at, right = list(graph.node).index(node), node.output[0] + "_right"
        first = onnx.parser.parse_graph(f"g (int64 {graph.input[0].name}) => (bool first) {{ zero = Constant <value_int = 0> () "
                                        f"first = Equal ({graph.input[0].name}, zero) }}")
        chosen = onnx.helper.make_node("Where", ["first", right, node.input[0]], [node.output[0]])
        node.output[0] = right
        behind = list(graph.node)[at + 1:]
        del graph.node[at + 1:]
        graph.node.extend([*first.node, chosen, *behind])


def run_whole(model, sets):
    damage_bodies(model.graph)
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), settings, providers=["CPUExecutionProvider"])
    return [[assay_worker.proto_of(each.name, out) for each, out in zip(model.graph.output, session.run(
        None, {each.name: assay_worker.array_of(part) for each, part in zip(session.get_inputs(), parts)}))] for parts in sets]


def run(model, sets, options):
    written.clear()
    model = onnx.load_model_from_string(model)
    if options.get("bodies") == "planted":
        return run_whole(model, sets)
    graph, sessions = model.graph, {}
    constants = {each.name: onnx.numpy_helper.to_array(each) for each in graph.initializer}
    names = [each.name for each in graph.input if each.name not in constants]
    fusions = fused(graph) if options.get("fusions") == "planted" else {}
    answers = []
    for parts in sets:
        values = constants | {name: assay_worker.array_of(part) for name, part in zip(names, parts) if part is not None}
        for at, node in enumerate(graph.node):
            given = {name: values[name] for name in node.input if name}
            if at not in sessions:
                sessions[at] = session_of(model, node, given)
            outs = sessions[at].run(None, given)
            operands = [values.get(name) for name in node.input]
            defect = DEFECTS.get((node.op_type, operands[0].shape)) if options.get("defects") == "planted" else None
            if defect:
                outs[0] = defect(outs[0], *operands).astype(outs[0].dtype)
            for name, out in zip((name for name in node.output if name), outs):
                values[name] = fusions[name](out) if name in fusions else out
        answers.append([assay_worker.proto_of(each.name, values[each.name]) for each in graph.output])
    return answers


assay_worker.serve({"backend": "defective", "version": onnxruntime.__version__, "device": "cpu", "arithmetic": {"accumulator": "f32"},
                    "options": {each: ["none", "planted"] for each in ("defects", "fusions", "bodies")}}, run)
