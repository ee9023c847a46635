# SPDX-License-Identifier: Apache-2.0
"""assay worker: the CPU plugin of OpenVINO.

Options: `precision` is the hint INFERENCE_PRECISION_HINT, f32 where none is asked for, because the plugin's own choice is
bf16 on processors that have it; `isa` limits the instruction set (ONEDNN_MAX_CPU_ISA) for the life of the process.
"""
import os

import assay_worker
import openvino
from assay_worker import array_of, typed_proto
from onnx import TensorProto

TYPES = {"f32": "FLOAT", "f64": "DOUBLE", "f16": "FLOAT16", "bf16": "BFLOAT16", "boolean": "BOOL", "u8": "UINT8",
         "i8": "INT8", "u16": "UINT16", "i16": "INT16", "u32": "UINT32", "i32": "INT32", "u64": "UINT64", "i64": "INT64"}
ISA = "ONEDNN_MAX_CPU_ISA"
core = openvino.Core()  # loads the plugin at the first model
settled = {}  # the instruction set, once the plugin has read it


def settle(isa):
    """The plugin reads it once, so a process has one."""
    if settled.setdefault(ISA, isa) != isa:
        raise SystemExit(f"isa={isa} asked of a process that was started with isa={settled[ISA]}")
    if isa:
        os.environ[ISA] = isa.upper()


def settings_of(options):
    precision = options.get("precision", "f32")
    return {"INFERENCE_PRECISION_HINT": precision, "INFERENCE_NUM_THREADS": options.get("threads", 1), "NUM_STREAMS": 1}


def tensor_of(port, part):
    """Bytes as they are: the numpy view that this binding has of bfloat16 is float16."""
    proto, array = TensorProto.FromString(part), array_of(part)
    kind = port.get_element_type().get_type_name()
    if TensorProto.DataType.Value(TYPES.get(kind, "UNDEFINED")) != proto.data_type:
        raise assay_worker.Refused(f"the input has become {kind}")
    tensor = openvino.Tensor(port.get_element_type(), openvino.Shape(array.shape))
    if array.size:
        tensor.data.reshape(-1).view("u1")[:] = array.reshape(-1).view("u1")
    return tensor


def answer_of(port, tensor):
    element_type = TensorProto.DataType.Value(TYPES[tensor.element_type.get_type_name()])
    return typed_proto(port.get_any_name(), element_type, list(tensor.shape), tensor.data.tobytes())


def run_set(compiled, parts):
    """The request keeps its outputs, and is kept until all sets are run."""
    request = compiled.create_infer_request()
    if len(parts) != len(compiled.inputs):
        raise assay_worker.Refused(f"{len(compiled.inputs)} inputs are left of {len(parts)}")
    for index, (port, part) in enumerate(zip(compiled.inputs, parts)):
        if part is not None:
            request.set_input_tensor(index, tensor_of(port, part))
    request.infer()
    return [(port, request.get_output_tensor(index), request) for index, port in enumerate(compiled.outputs)]


def run(model, sets, options):
    settle(options.get("isa"))
    compiled = core.compile_model(core.read_model(model=model), "CPU", settings_of(options))
    results = [run_set(compiled, parts) for parts in sets]
    return [[answer_of(port, tensor) for port, tensor, _ in outputs] for outputs in results]


assay_worker.serve(
    {
        "backend": "openvino",
        "version": openvino.__version__,
        "device": "cpu",
        "arithmetic": {"accumulator": "f32"},
        "options": {"precision": ["f32", "bf16", "f16", "dynamic"],
                    "isa": ["sse41", "avx2", "avx512_core", "avx512_core_vnni", "avx512_core_bf16", "avx512_core_amx"]},
    },
    run,
    not_implemented=["No conversion rule found for operations", "Not Implemented", "Unsupported operation of type", "Unsupported data type",
                     "unsupported src_prc"],
)
