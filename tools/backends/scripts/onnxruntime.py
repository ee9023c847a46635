# SPDX-License-Identifier: Apache-2.0
import ctypes  # if ml_dtypes
import onnxruntime

version = "onnxruntime " + onnxruntime.__version__


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
    providers = ["CPUExecutionProvider"]  # if threads or optimization
    providers = [(name, chosen)]  # if provider
    session = onnxruntime.InferenceSession(model.SerializeToString(), settings, providers=providers, enable_fallback=0)  # if threads or optimization or provider
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])  # unless threads or optimization or provider
    feeds = [{name: onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(  # if ml_dtypes
        np.resize(np.frombuffer(onnx.numpy_helper.from_array(array).raw_data, f"u{array.itemsize}"), array.shape),  # if ml_dtypes
        onnx.helper.np_dtype_to_tensor_dtype(array.dtype)) for name, array in inputs.items()} for inputs in sets]  # if ml_dtypes
    results = [session.run_with_ort_values(None, feed) for feed in feeds]  # if ml_dtypes
    protos = [[onnx.TensorProto(data_type=value.element_type(), dims=value.shape(), raw_data=ctypes.string_at(  # if ml_dtypes
        value.data_ptr(), value.tensor_size_in_bytes())) for value in values] for values in results]  # if ml_dtypes
    return [[onnx.numpy_helper.to_array(proto) for proto in each] for each in protos]  # if ml_dtypes
    return [session.run(None, inputs) for inputs in sets]  # unless ml_dtypes
