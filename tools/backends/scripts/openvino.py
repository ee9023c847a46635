# SPDX-License-Identifier: Apache-2.0
import os  # if isa
import openvino

os.environ["ONEDNN_MAX_CPU_ISA"] = ISA.upper()  # if isa
core = openvino.Core()
version = "openvino " + openvino.__version__


def run(model, *sets):
    compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": THREADS})  # unless precision
    compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": PRECISION, "INFERENCE_NUM_THREADS": THREADS})  # if precision
    requests = [compiled.create_infer_request() for _ in sets]
    for request, inputs in zip(requests, sets):
        arrays = [openvino.Tensor(array.view("u2"), openvino.Shape(array.shape), openvino.Type.bf16)  # if ml_dtypes
                  if array.dtype == ml_dtypes.bfloat16 else array for array in inputs.values()]  # if ml_dtypes
        request.infer(arrays, share_inputs=True)  # if ml_dtypes
        request.infer([*inputs.values()], share_inputs=True)  # unless ml_dtypes
    is_bfloat16 = [port.get_element_type() == openvino.Type.bf16 for port in compiled.outputs]  # if ml_dtypes
    return [[each.data.view(ml_dtypes.bfloat16) if is_so else each.data for each, is_so in zip(request.output_tensors, is_bfloat16)] for request in requests]  # if ml_dtypes
    return [[each.data for each in request.output_tensors] for request in requests]  # unless ml_dtypes
