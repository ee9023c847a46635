# SPDX-License-Identifier: Apache-2.0
import openvino

version = "openvino " + openvino.__version__


def tensor_of(array):  # if bfloat16
    kind = openvino.Type.bf16 if array.dtype == ml_dtypes.bfloat16 else openvino.Type(array.dtype)  # if bfloat16
    tensor = openvino.Tensor(kind, openvino.Shape(array.shape))  # if bfloat16
    tensor.data.reshape(-1).view("u1")[:] = array.reshape(-1).view("u1")  # if bfloat16
    return tensor  # if bfloat16


def array_of(tensor):  # if bfloat16
    is_bfloat16 = tensor.element_type == openvino.Type.bf16  # if bfloat16
    return tensor.data.view(ml_dtypes.bfloat16) if is_bfloat16 else tensor.data  # if bfloat16


def run(model, *sets):
    core, answers = openvino.Core(), []
    settings = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": THREADS}  # unless precision
    settings = {"INFERENCE_PRECISION_HINT": PRECISION, "INFERENCE_NUM_THREADS": THREADS}  # if precision
    request = core.compile_model(core.read_model(model.SerializeToString()), "CPU", settings).create_infer_request()
    for inputs in sets:
        request.infer(inputs)  # unless bfloat16
        request.infer({name: tensor_of(array) for name, array in inputs.items()})  # if bfloat16
        answers.append([np.array(each.data) for each in request.output_tensors])  # unless bfloat16
        answers.append([np.array(array_of(each)) for each in request.output_tensors])  # if bfloat16
    return answers
