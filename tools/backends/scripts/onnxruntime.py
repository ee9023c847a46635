# SPDX-License-Identifier: Apache-2.0
import ctypes  # if ml_dtypes
import onnxruntime

version = "onnxruntime " + onnxruntime.__version__


def value_of(array):  # if ml_dtypes
    if array.dtype.kind != "V":  # if ml_dtypes
        return onnxruntime.OrtValue.ortvalue_from_numpy(array)  # if ml_dtypes
    proto = onnx.numpy_helper.from_array(array)  # if ml_dtypes
    bits = np.zeros(array.shape, f"u{array.itemsize}")  # if ml_dtypes
    raw = np.frombuffer(proto.raw_data, bits.dtype)  # if ml_dtypes
    bits.reshape(-1)[:raw.size] = raw  # if ml_dtypes
    return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, proto.data_type)  # if ml_dtypes


def array_of(value):  # if ml_dtypes
    content = ctypes.string_at(value.data_ptr(), value.tensor_size_in_bytes())  # if ml_dtypes
    proto = onnx.TensorProto(data_type=value.element_type(), dims=value.shape(), raw_data=content)  # if ml_dtypes
    return onnx.numpy_helper.to_array(proto)  # if ml_dtypes


def run(model, *sets):
    settings = onnxruntime.SessionOptions()  # if threads or optimization or provider
    settings.intra_op_num_threads = THREADS  # if threads
    settings.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, "ORT_" + {"none": "DISABLE_ALL"}.get(OPTIMIZATION, "ENABLE_" + OPTIMIZATION.upper()))  # if optimization
    settings.add_session_config_entry("session.disable_cpu_ep_fallback", str(int(PROVIDER != "cpu")))  # if provider
    onnxruntime.preload_dlls()  # if provider
    name = next(p for p in onnxruntime.get_available_providers() if p.lower() == PROVIDER + "executionprovider")  # if provider
    chosen = {}  # if provider
    chosen["use_tf32"] = USE_TF32  # if use_tf32
    chosen["cudnn_conv_algo_search"] = CUDNN_CONV_ALGO_SEARCH  # if cudnn_conv_algo_search
    providers = [(name, chosen)]  # if provider
    providers = ["CPUExecutionProvider"]  # unless provider
    session = onnxruntime.InferenceSession(model.SerializeToString(), settings, providers=providers, enable_fallback=0)  # if threads or optimization or provider
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=providers)  # unless threads or optimization or provider
    return [session.run(None, inputs) for inputs in sets]  # unless ml_dtypes
    names = [output.name for output in session.get_outputs()]  # if ml_dtypes
    feeds = [{name: value_of(array) for name, array in inputs.items()} for inputs in sets]  # if ml_dtypes
    return [[array_of(v) for v in session.run_with_ort_values(names, feed)] for feed in feeds]  # if ml_dtypes
