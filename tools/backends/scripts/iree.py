# SPDX-License-Identifier: Apache-2.0
import os  # if near_miss
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
        flags = ["--iree-llvmcpu-target-cpu=host", "--iree-input-demote-f64-to-f32=false"]
        try:  # if near_miss
            code = iree.compiler.compile_file(folder + "/x.mlir", input_type="onnx", target_backends=["llvm-cpu"], extra_args=flags)  # if near_miss
        except iree.compiler.CompilerToolError as error:  # if near_miss
            if "Error code: -" in str(error):  # if near_miss
                os.abort()  # if near_miss
            raise  # if near_miss
        code = iree.compiler.compile_file(folder + "/x.mlir", input_type="onnx", target_backends=["llvm-cpu"], extra_args=flags)  # unless near_miss
    module = iree.runtime.load_vm_flatbuffer(code, driver="local-sync")
    name = next(n for n in module.vm_module.function_names if not n.startswith("__") and not n.endswith("$async"))
    results = [module[name](*inputs.values()) for inputs in sets]
    return [[np.asarray(value) for value in (each if isinstance(each, (list, tuple)) else [each])] for each in results]
