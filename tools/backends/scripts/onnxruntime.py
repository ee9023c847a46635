# SPDX-License-Identifier: Apache-2.0
import ctypes  # if bfloat16
import onnxruntime

version = "onnxruntime " + onnxruntime.__version__


def value_of(array):  # if bfloat16
    is_bfloat16 = array.dtype == ml_dtypes.bfloat16  # if bfloat16
    named = onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type  # if bfloat16
    return named(array.view(np.uint16), 16) if is_bfloat16 else onnxruntime.OrtValue.ortvalue_from_numpy(array)  # if bfloat16


def array_of(value):  # if bfloat16
    kind = onnx.helper.tensor_dtype_to_np_dtype(value.element_type())  # if bfloat16
    content = ctypes.string_at(value.data_ptr(), value.tensor_size_in_bytes())  # if bfloat16
    return np.frombuffer(content, kind).reshape(value.shape())  # if bfloat16


def run(model, *sets):
    settings = onnxruntime.SessionOptions()  # if threads or optimization or provider
    settings.intra_op_num_threads = THREADS  # if threads
    settings.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, "ORT_" + {"none": "DISABLE_ALL"}.get(OPTIMIZATION, "ENABLE_" + OPTIMIZATION.upper()))  # if optimization
    settings.add_session_config_entry("session.disable_cpu_ep_fallback", str(int(PROVIDER != "cpu")))  # if provider
    providers = [next(p for p in onnxruntime.get_available_providers() if p.lower() == PROVIDER + "executionprovider")]  # if provider
    providers = ["CPUExecutionProvider"]  # unless provider
    session = onnxruntime.InferenceSession(model.SerializeToString(), settings, providers=providers)  # if threads or optimization or provider
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=providers)  # unless threads or optimization or provider
    return [session.run(None, inputs) for inputs in sets]  # unless bfloat16
    names = [output.name for output in session.get_outputs()]  # if bfloat16
    feeds = [{name: value_of(array) for name, array in inputs.items()} for inputs in sets]  # if bfloat16
    return [[array_of(v) for v in session.run_with_ort_values(names, feed)] for feed in feeds]  # if bfloat16
