# SPDX-License-Identifier: Apache-2.0
"""assay worker: onnxruntime, one session per model, on the execution provider that --set provider=… names: cpu where none
is named. What that provider does not take is unsupported, and never computed by another one."""
import ctypes
import sys

import assay_worker
import numpy
import onnx
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as errors

LEVELS = {
    "all": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL,
    "extended": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
    "basic": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC,
    "none": onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL,
}
FATAL_ONLY = 4
NO_OTHER = "session.disable_cpu_ep_fallback"
# By the names that people call them; what computes elsewhere is left out.
PROVIDERS = {name.removesuffix("ExecutionProvider").lower(): name
             for name in onnxruntime.get_available_providers() if name != "AzureExecutionProvider"}


def session_of(model, options):
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = FATAL_ONLY
    settings.intra_op_num_threads = options.get("threads", 1)
    settings.inter_op_num_threads = 1
    settings.graph_optimization_level = LEVELS[options.get("optimization", "all")]
    provider = PROVIDERS[options.get("provider", "cpu")]
    if provider != "CPUExecutionProvider":
        settings.add_session_config_entry(NO_OTHER, "1")
    session = onnxruntime.InferenceSession(model, settings, providers=[provider])
    if provider not in session.get_providers():  # it is built in and does not load: no answer of another one for it
        sys.exit(f"onnxruntime has {provider} but cannot use it here; it offers {', '.join(session.get_providers())}")
    return session


def value_of(part):
    """numpy knows no bfloat16 of its own, so its bits travel as uint16 under the right element type."""
    proto = onnx.TensorProto.FromString(part)
    array = onnx.numpy_helper.to_array(proto)
    if proto.data_type == onnx.TensorProto.BFLOAT16:
        bits = array.view(numpy.uint16)
        return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, onnx.TensorProto.BFLOAT16)
    return onnxruntime.OrtValue.ortvalue_from_numpy(array)


def content_of(value):
    if hasattr(value, "tensor_size_in_bytes"):
        return ctypes.string_at(value.data_ptr(), value.tensor_size_in_bytes())
    return value.numpy().tobytes()  # older versions, which `assay bisect` asks


def proto_of(name, value):
    proto = onnx.TensorProto(name=name, data_type=value.element_type(), dims=value.shape())
    proto.raw_data = content_of(value)
    return proto.SerializeToString()


def run_set(session, parts):
    names = [graph_input.name for graph_input in session.get_inputs()]
    if len(names) != len(parts):
        raise assay_worker.Refused(f"the session has {len(names)} inputs, the model {len(parts)}")
    feeds = {name: value_of(part) for name, part in zip(names, parts) if part is not None}
    outputs = [output.name for output in session.get_outputs()]
    return [proto_of(name, value) for name, value in zip(outputs, session.run_with_ort_values(outputs, feeds))]


def run(model, sets, options):
    try:
        session = session_of(model, options)
        return [run_set(session, parts) for parts in sets]
    except errors.NotImplemented as error:
        raise assay_worker.Unsupported(error) from error
    except Exception as error:
        text = str(error)
        if any(words in text for words in ("NOT_IMPLEMENTED", "Could not find an implementation", "fallback to CPU EP has")):
            raise assay_worker.Unsupported(text) from error
        raise


assay_worker.serve(
    {
        "backend": "onnxruntime",
        "version": onnxruntime.__version__,
        "device": ", ".join(sorted(PROVIDERS)),
        "arithmetic": {"accumulator": "f32"},
        # Newer opsets are refused as "under development"; ALLOW_RELEASED_ONNX_OPSET_ONLY=0 only makes that a warning.
        "capabilities": {"newest_opset": 26},
        "options": {"provider": sorted(PROVIDERS)},
    },
    run,
)
