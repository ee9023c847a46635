# SPDX-License-Identifier: Apache-2.0
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

version = "tvm " + tvm.__version__


def run(model, *sets):
    module = from_onnx(model, shape_dict={name: list(array.shape) for name, array in sets[0].items()})
    with tvm.transform.PassContext(opt_level={"extended": 2, "basic": 1, "none": 0}[OPTIMIZATION]):  # if optimization
        executable = tvm.compile(module, target="llvm")  # if optimization
    executable = tvm.compile(module, target="llvm")  # unless optimization
    machine, answers = relax.VirtualMachine(executable, tvm.cpu()), []
    for inputs in sets:
        result = machine["main"](*[tvm.runtime.tensor(array) for array in inputs.values()])
        answers.append([value.numpy() for value in ([result] if isinstance(result, tvm.runtime.Tensor) else result)])
    return answers
