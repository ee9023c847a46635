# SPDX-License-Identifier: Apache-2.0
import openvino

version = "openvino " + openvino.__version__


def tensor_of(array):  # if ml_dtypes
    kind = openvino.Type.bf16 if array.dtype == ml_dtypes.bfloat16 else openvino.Type(array.dtype)  # if ml_dtypes
    tensor = openvino.Tensor(kind, openvino.Shape(array.shape))  # if ml_dtypes
    tensor.data.reshape(-1).view("u1")[:] = array.reshape(-1).view("u1")  # if ml_dtypes
    return tensor  # if ml_dtypes


def array_of(tensor):  # if ml_dtypes
    is_bfloat16 = tensor.element_type == openvino.Type.bf16  # if ml_dtypes
    return tensor.data.view(ml_dtypes.bfloat16) if is_bfloat16 else tensor.data  # if ml_dtypes


def run(model, *sets):
    core, answers = openvino.Core(), []
    settings = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": THREADS}  # unless precision
    settings = {"INFERENCE_PRECISION_HINT": PRECISION, "INFERENCE_NUM_THREADS": THREADS}  # if precision
    request = core.compile_model(core.read_model(model.SerializeToString()), "CPU", settings).create_infer_request()
    for inputs in sets:
        request.infer(inputs)  # unless ml_dtypes
        request.infer({name: tensor_of(array) for name, array in inputs.items()})  # if ml_dtypes
        answers.append([np.array(each.data) for each in request.output_tensors])  # unless ml_dtypes
        answers.append([np.array(array_of(each)) for each in request.output_tensors])  # if ml_dtypes
    return answers
