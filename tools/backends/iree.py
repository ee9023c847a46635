# SPDX-License-Identifier: Apache-2.0
"""assay worker: IREE, which compiles a model to machine code (half a second each) and runs that."""
import importlib.metadata
import os
import re
import sys
import tempfile

import assay_worker
import iree.compiler
import iree.runtime
import numpy
import onnx
from iree.compiler.tools.import_onnx import __main__ as importer

LEVELS = {"all": "O3", "extended": "O2", "basic": "O1", "none": "O0"}


def compiled(model, options):
    with tempfile.TemporaryDirectory() as folder:
        source, imported = os.path.join(folder, "model.onnx"), os.path.join(folder, "model.mlir")
        with open(source, "wb") as file:
            file.write(model)
        importer.main(importer.parse_arguments([source, "-o", imported]))
        return iree.compiler.compile_file(imported, input_type="onnx", target_backends=["llvm-cpu"], extra_args=[
            "--iree-llvmcpu-target-cpu=host",
            "--iree-input-demote-f64-to-f32=false",  # f64 would be computed in f32
            f"--iree-opt-level={LEVELS[options.get('optimization', 'all')]}",
        ])


def function_of(code, threads):
    config = iree.runtime.Config("local-sync" if threads == 1 else "local-task")
    context = iree.runtime.SystemContext(config=config)
    module = iree.runtime.VmModule.copy_buffer(config.vm_instance, code)
    context.add_vm_module(module)
    public = [name for name in module.function_names if not name.startswith("__") and not name.endswith("$async")]
    return context.modules[module.name][public[0]]


def array_of_value(value, info):
    """As the runtime names it, but for the sign: IREE's integers have none, so that is the one of the declared type."""
    array = numpy.asarray(value)
    declared = onnx.helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)
    is_signless = array.dtype.kind in "iu" and declared.kind in "iu" and array.dtype.itemsize == declared.itemsize
    return array.view(declared) if is_signless else array


def run_set(function, outputs, parts):
    results = function(*[assay_worker.array_of(part) for part in parts if part is not None])
    results = results if isinstance(results, (list, tuple)) else [results]
    return list(zip(outputs, results))


def run(model, sets, options):
    outputs = onnx.ModelProto.FromString(model).graph.output
    try:
        function = function_of(compiled(model, options), options.get("threads", 1))
    except iree.compiler.CompilerToolError as error:
        if died := re.search(r"Error code: -(\d+)", str(error)):  # a crash, and to be seen as one
            sys.exit(f"iree-compile died by signal {died[1]}")
        complaint = str(error).partition("error: ")[2].partition("\n")[0] or str(error)
        # What is still an operator of the import dialect at the end is one that no lowering of IREE's takes.
        if "failed to legalize operation 'torch." in complaint:
            raise assay_worker.Unsupported(complaint) from error
        raise assay_worker.Refused(complaint) from error
    results = [run_set(function, outputs, parts) for parts in sets]
    return [[assay_worker.proto_of(info.name, array_of_value(value, info)) for info, value in each] for each in results]


assay_worker.serve(
    {
        "backend": "iree",
        "version": importlib.metadata.version("iree-base-compiler"),
        "device": "cpu",
        "arithmetic": {"accumulator": "f32"},
    },
    run,
)
