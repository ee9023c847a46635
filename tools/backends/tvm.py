# SPDX-License-Identifier: Apache-2.0
"""assay worker: Apache TVM, models read by its relax front end and compiled with llvm for this machine. The front end is
told the shapes of the data (shape_dict), since it takes all extents a model leaves unnamed for the same one."""
import assay_worker
import onnx
import tvm
from assay_worker import array_of, proto_of
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

LEVELS = {"all": 3, "extended": 2, "basic": 1, "none": 0}  # opt_level of the pass context


def shapes_of(graph, arrays):
    constants = {tensor.name for tensor in graph.initializer}
    names = [value.name for value in graph.input if value.name not in constants]
    return {name: list(array.shape) for name, array in zip(names, arrays) if array is not None}


def compiled(model, arrays, options):
    graph = onnx.ModelProto.FromString(model)
    module = from_onnx(graph, shape_dict=shapes_of(graph.graph, arrays))
    with tvm.transform.PassContext(opt_level=LEVELS[options.get("optimization", "all")]):
        executable = tvm.compile(module, target="llvm")
    names = [output.name for output in graph.graph.output]
    return relax.VirtualMachine(executable, tvm.cpu()), names


def run_set(machine, names, arrays):
    tensors = [tvm.runtime.tensor(array) for array in arrays if array is not None]
    result = machine["main"](*tensors)
    values = [result] if isinstance(result, tvm.runtime.Tensor) else list(result)
    return list(zip(names, values, strict=True))


def run(model, sets, options):
    sets = [[array_of(part) for part in parts] for parts in sets]
    machine, names = compiled(model, sets[0], options)
    results = [run_set(machine, names, arrays) for arrays in sets]
    return [[proto_of(name, value.numpy()) for name, value in each] for each in results]


assay_worker.serve(
    {"backend": "tvm", "version": tvm.__version__, "device": "cpu"},
    run,
    not_implemented=["are not supported for frontend ONNX", "not implemented", "OpNotImplemented"],
)
