# SPDX-License-Identifier: Apache-2.0
import os
import tempfile
import importlib.metadata
import iree.compiler
import iree.runtime
from iree.compiler.tools.import_onnx import __main__ as importer

version = "iree " + importlib.metadata.version("iree-base-compiler")


def run(model, *sets):
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(model, folder + "/x.onnx")
        importer.main(importer.parse_arguments([folder + "/x.onnx", "-o", folder + "/x.mlir"]))
        try:
            code = iree.compiler.compile_file(folder + "/x.mlir", input_type="onnx", target_backends=["llvm-cpu"], extra_args=[
                "--iree-llvmcpu-target-cpu=host", "--iree-input-demote-f64-to-f32=false"])
        except iree.compiler.CompilerToolError as error:
            if "Error code: -" in str(error):  # the compiler is a process, and died
                os.abort()
            raise
    config = iree.runtime.Config("local-sync")
    context = iree.runtime.SystemContext(config=config)
    module = iree.runtime.VmModule.copy_buffer(config.vm_instance, code)
    context.add_vm_module(module)
    name = next(n for n in module.function_names if not n.startswith("__") and not n.endswith("$async"))
    results = [context.modules[module.name][name](*inputs.values()) for inputs in sets]
    return [[np.asarray(value) for value in (each if isinstance(each, (list, tuple)) else [each])] for each in results]
