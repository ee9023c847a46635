# SPDX-License-Identifier: Apache-2.0
import importlib.metadata
import tempfile
import _tools
import MNN.expr
import MNN.nn

version = "mnn " + importlib.metadata.version("mnn")


def run(model, *sets):
    outputs, answers = [output.name for output in model.graph.output], []
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(model, folder + "/x.onnx")
        _tools.mnnconvert(["mnnconvert", "-f", "ONNX", "--modelFile", folder + "/x.onnx", "--MNNModel", folder + "/x.mnn",
                           "--bizCode", "x"])
        open(folder + "/x.mnn").close()  # is not there where the converter turned the model away
        precision = MNN.expr.PrecisionMode.High  # unless precision
        precision = getattr(MNN.expr.PrecisionMode, PRECISION.title())  # if precision
        module = MNN.nn.load_module_from_file(folder + "/x.mnn", list(sets[0]), outputs, precision_mode=precision, thread_num=THREADS)
    for inputs in sets:
        variables = []
        for array in inputs.values():
            kind = {"float32": "float", "int32": "int"}.get(array.dtype.name, array.dtype.name)
            variables.append(MNN.expr.placeholder(list(array.shape), MNN.expr.NCHW, getattr(MNN.expr, kind)))
            variables[-1].write(array)
        results = [MNN.expr.convert(var, MNN.expr.NCHW) for var in module.forward(variables)]
        answers.append([np.array(var.read()).reshape(var.shape) if 0 not in var.shape else np.zeros(var.shape) for var in results])
    return answers
