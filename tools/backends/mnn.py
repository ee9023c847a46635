# SPDX-License-Identifier: Apache-2.0
"""assay worker: MNN, which converts a model to its own format and runs that.

Its console converter installs packages and reports its use over the network when it starts; the extension module behind
it does neither, and is what is called here.
"""
import ctypes
import importlib.metadata
import os
import tempfile

import assay_worker
import numpy
import onnx
import _tools
import MNN.expr
import MNN.nn

# The element types of MNN.expr.Var that ONNX has; f16 and bf16 are precision modes of it, not types.
KINDS = {"float32": MNN.expr.float, "int32": MNN.expr.int, "int8": MNN.expr.int8, "uint8": MNN.expr.uint8}
PRECISIONS = {name.lower(): getattr(MNN.expr.PrecisionMode, name) for name in ["High", "Normal", "Low"]}


def is_converted(source, target):
    _tools.mnnconvert(["mnnconvert", "-f", "ONNX", "--modelFile", source, "--MNNModel", target, "--bizCode", "assay"])
    return os.path.exists(target)  # it returns True in any case


def complaint_about(source, target):
    """What the converter prints about a model that it turned away: it is asked once more."""
    with tempfile.TemporaryFile() as log:
        stdout = os.dup(1)
        os.dup2(log.fileno(), 1)
        is_converted(source, target)
        ctypes.CDLL(None).fflush(None)
        os.dup2(stdout, 1)
        os.close(stdout)
        log.seek(0)
        return log.read().decode(errors="replace").partition("Start to Optimize the MNN Net...")[2]


def module_of(model, inputs, outputs, **settings):
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "model.onnx"), os.path.join(folder, "model.mnn")
        with open(source, "wb") as file:
            file.write(model)
        if not is_converted(source, target):
            complaint = complaint_about(source, target)
            raise (assay_worker.Unsupported if "Not Support" in complaint else assay_worker.Refused)(complaint)
        return MNN.nn.load_module_from_file(target, inputs, outputs, **settings)


def var_of(part):
    array = assay_worker.array_of(part)
    if array.dtype.name not in KINDS:
        raise assay_worker.Unsupported(f"MNN has no variables of {array.dtype.name}")
    var = MNN.expr.placeholder(list(array.shape), MNN.expr.NCHW, KINDS[array.dtype.name])
    var.write(array)
    return var


def proto_of(name, var):
    var = MNN.expr.convert(var, MNN.expr.NCHW)  # it may be packed in fours of channels
    if 0 in var.shape:  # nothing to read, and read() cannot
        names = {kind: name for name, kind in KINDS.items()}
        return assay_worker.proto_of(name, numpy.empty(var.shape, names[var.dtype]))
    return assay_worker.proto_of(name, numpy.array(var.read()).reshape(var.shape))


def run(model, sets, options):
    graph = onnx.ModelProto.FromString(model).graph
    constants = {tensor.name for tensor in graph.initializer}
    inputs = [value.name for value in graph.input if value.name not in constants]
    outputs = [value.name for value in graph.output]
    module = module_of(model, inputs, outputs, precision_mode=PRECISIONS[options.get("precision", "high")],
                       thread_num=options.get("threads", 1))
    answers = []
    for parts in sets:
        if len(parts) != len(inputs):
            raise assay_worker.Refused(f"{len(parts)} inputs for a model that takes {len(inputs)}")
        results = module.forward([var_of(part) for part in parts if part is not None])
        if len(results) != len(outputs):
            raise assay_worker.Refused(f"MNN gives {len(results)} of {len(outputs)} outputs; it says why in the log")
        answers.append(list(zip(outputs, results)))
    return [[proto_of(name, var) for name, var in each] for each in answers]


assay_worker.serve(
    {
        "backend": "mnn",
        "version": importlib.metadata.version("mnn"),
        "device": "cpu",
        "arithmetic": {"accumulator": "f32"},
        "capabilities": {"types": ["f32", "i32", "i8", "u8"]},
        "options": {"precision": list(PRECISIONS)},
    },
    run,
)
