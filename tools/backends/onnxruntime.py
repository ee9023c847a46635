# SPDX-License-Identifier: Apache-2.0
"""assay worker: onnxruntime, one session per model, on the execution provider that --set provider=… names: cpu where none
is named. What that provider does not take is unsupported, and never computed by another one."""
import contextlib
import ctypes
import functools
import os
import sys

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # a test reports to nobody, and its thread could not be forked

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
# The last is how a session says it that found no kernel in any provider and may not fall back to the CPU.
NO_KERNEL = ("NOT_IMPLEMENTED", "Could not find an implementation", "fallback to CPU EP has", "!node_provider_type.empty() was false")
# By the names that people call them; what computes elsewhere is left out.
PROVIDERS = {name.removesuffix("ExecutionProvider").lower(): name
             for name in onnxruntime.get_available_providers() if name != "AzureExecutionProvider"}
# What a user of the CUDA provider chooses; left out, as onnxruntime has them.
CUDA_OPTIONS = {"use_tf32": ["0", "1"], "cudnn_conv_algo_search": ["DEFAULT", "EXHAUSTIVE", "HEURISTIC"]}

# What graph_transformer_utils.cc of onnxruntime registers, by the names that disabled_optimizers takes; those last that only
# prepare a graph for others.
REWRITINGS = """
    AttentionFusion BiasDropoutFusion BiasGeluFusion BiasSkipLayerNormFusion BiasSoftmaxFusion ConvActivationFusion
    ConvAddActivationFusion ConvAddFusion ConvBNFusion ConvMulFusion DivMulFusion DoubleQDQPairsRemover
    DynamicQuantizeMatMulFusion EmbedLayerNormFusion FastGeluFusion FuseFp16InitializerToFp32NodeTransformer FuseReluClip
    GatherSliceToSplitFusion GatherToSliceFusion GeluFusionL1 GeluFusionL2 GemmActivationFusion GemmSumFusion
    GemmTransposeFusion GroupQueryAttentionFusion GroupQueryAttentionPreNormFusion LabelEncoderFusion LayerNormFusionL1
    LayerNormFusionL2 MatMulActivationFusion MatMulAddFusion MatMulIntegerToFloatFusion MatMulNBitsFusion MatMulScaleFusion
    MatMul_BatchNormalization_Fusion MatmulTransposeFusion NchwcTransformer NhwcTransformer NotWhereFusion Pad_Fusion
    PreShapeNodeElimination QDQS8ToU8Transformer QDQSelectorActionTransformer QuickGeluFusion ReshapeFusion
    SimplifiedLayerNormFusion SkipLayerNormFusion SliceConcatToSpaceToDepthFusion TransposeOptimizer
    TransposeOptimizer_CPUExecutionProvider WeightBiasQuantization WhereDummyDq QDQPropagationTransformer EnsureUniqueDQForNodeUnit
    QDQFinalCleanupTransformer CastChainElimination CastElimination RemoveDuplicateCastTransformer CastFloat16Transformer
    ExpandElimination UnsqueezeElimination EliminateSlice NoopElimination EliminateDropout EliminateIdentity
    FreeDimensionOverrideTransformer ConstantSharing CommonSubexpressionElimination ConstantFolding""".split()


@functools.cache
def preload_cuda():
    """Loads the libraries of CUDA and cuDNN out of the packages that onnxruntime-gpu[cuda,cudnn] installs."""
    with contextlib.redirect_stdout(sys.stderr):
        onnxruntime.preload_dlls()


def session_of(model, options):
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = FATAL_ONLY
    settings.intra_op_num_threads = options.get("threads", 1)
    settings.inter_op_num_threads = 1
    settings.graph_optimization_level = LEVELS[options.get("optimization", "all")]
    provider = PROVIDERS[options.get("provider", "cpu")]
    if provider != "CPUExecutionProvider":
        settings.add_session_config_entry(NO_OTHER, "1")
    without = {options["disable"]} if "disable" in options else None
    if provider == "CUDAExecutionProvider":
        preload_cuda()
    chosen = {name: options[name] for name in CUDA_OPTIONS if name in options}
    session = onnxruntime.InferenceSession(model, settings, providers=[(provider, chosen)], disabled_optimizers=without,
                                           enable_fallback=0)  # which would try the CPU and say why that failed
    if provider not in session.get_providers():  # it is built in and does not load: no answer of another one for it
        sys.exit(f"onnxruntime has {provider} but cannot use it here; it offers {', '.join(session.get_providers())}")
    return session


def value_of(part):
    """numpy knows no bfloat16 and no types of eight bits or less of its own, so their bits travel under the right element
    type, packed ones in front of a buffer of a byte each. Strings stay an array: an OrtValue is not made of them."""
    proto = onnx.TensorProto.FromString(part)
    if proto.data_type >= onnx.TensorProto.BFLOAT16:
        bits = numpy.zeros(proto.dims, numpy.uint16 if proto.data_type == onnx.TensorProto.BFLOAT16 else numpy.uint8)
        raw = numpy.frombuffer(proto.raw_data, bits.dtype)
        bits.reshape(-1)[: raw.size] = raw
        return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, proto.data_type)
    if proto.data_type == onnx.TensorProto.STRING:
        return assay_worker.strings_of(proto)
    return onnxruntime.OrtValue.ortvalue_from_numpy(onnx.numpy_helper.to_array(proto))


def content_of(value):
    if hasattr(value, "tensor_size_in_bytes"):
        return ctypes.string_at(value.data_ptr(), value.tensor_size_in_bytes())
    return value.numpy().tobytes()  # older versions, which `assay bisect` asks


def is_text(value):
    return value.element_type() == onnx.TensorProto.STRING


def proto_of(name, value):
    if is_text(value):
        return assay_worker.proto_of(name, value.numpy())
    proto = onnx.TensorProto(name=name, data_type=value.element_type(), dims=value.shape())
    proto.raw_data = content_of(value)
    return proto.SerializeToString()


def feeds_of(session, parts):
    names = [graph_input.name for graph_input in session.get_inputs()]
    if len(names) != len(parts):
        raise assay_worker.Refused(f"the session has {len(names)} inputs, the model {len(parts)}")
    return {name: value_of(part) for name, part in zip(names, parts) if part is not None}


class Guarded:
    """A buffer for an output between guard bytes, all of it filled with a canary."""

    CANARY, GUARD = 0xA5, 256

    def __init__(self, name, like):
        self.name, self.element_type, self.shape = name, like.element_type(), like.shape()
        self.size = len(content_of(like))
        self.bytes = numpy.full(self.size + 3 * self.GUARD, self.CANARY, numpy.uint8)
        address = self.bytes.ctypes.data + self.GUARD
        self.start = self.GUARD + -address % 64  # runtimes want vectors aligned

    def bind(self, binding):
        address = self.bytes.ctypes.data + self.start
        binding.bind_output(self.name, "cpu", 0, self.element_type, self.shape, address)

    def proto(self):
        end = self.start + self.size
        if (self.bytes[: self.start] != self.CANARY).any() or (self.bytes[end:] != self.CANARY).any():
            sys.exit(f"it wrote outside the buffer that was bound for {self.name}")
        content = self.bytes[self.start : end].tobytes()
        return onnx.TensorProto(name=self.name, data_type=self.element_type, dims=self.shape,
                                raw_data=content).SerializeToString()


def run_bound(session, names, feeds):
    """Runs once to learn types and extents, then into buffers that are there before."""
    values = session.run_with_ort_values(names, feeds)
    if any(is_text(value) for value in values):
        raise assay_worker.Unsupported("strings cannot be bound")
    buffers = [Guarded(name, value) for name, value in zip(names, values)]
    binding = session.io_binding()
    for name, value in feeds.items():
        binding.bind_ortvalue_input(name, value)
    for buffer in buffers:
        buffer.bind(binding)
    session.run_with_iobinding(binding)
    return buffers


def has_strings(feeds):
    return any(isinstance(value, numpy.ndarray) for value in feeds.values())


def run_with_arrays(session, names, feeds):
    """The way of strings. What numpy has no type for comes out of it as other types, or not at all."""
    kinds = [output.type for output in session.get_outputs()]
    if any("float8" in kind or "float4" in kind or "bfloat" in kind or "int4" in kind or "int2" in kind for kind in kinds):
        raise assay_worker.Unsupported(f"this binding hands no {', '.join(kinds)} out beside strings")
    arrays = {name: value if isinstance(value, numpy.ndarray) else value.numpy() for name, value in feeds.items()}
    return [assay_worker.proto_of(name, value) for name, value in zip(names, session.run(names, arrays))]


def run(model, sets, options):
    try:
        session = session_of(model, options)
        names = [output.name for output in session.get_outputs()]
        feeds = [feeds_of(session, parts) for parts in sets]
        if any(has_strings(f) for f in feeds):
            return [run_with_arrays(session, names, f) for f in feeds]
        # Taken by reference, and read after the last run: a buffer that is used again shows.
        if options.get("outputs") == "bound":
            return [[buffer.proto() for buffer in buffers] for buffers in [run_bound(session, names, f) for f in feeds]]
        values = [session.run_with_ort_values(names, f) for f in feeds]
        return [[proto_of(name, value) for name, value in zip(names, each)] for each in values]
    except errors.NotImplemented as error:
        raise assay_worker.Unsupported(error) from error
    except Exception as error:
        text = str(error)
        if any(words in text for words in NO_KERNEL):
            raise assay_worker.Unsupported(text) from error
        raise


assay_worker.serve(
    {
        "backend": "onnxruntime",
        "version": onnxruntime.__version__,
        "device": ", ".join(sorted(PROVIDERS)),
        "arithmetic": {"accumulator": "f32"},
        # Newer opsets are refused as "under development"; ALLOW_RELEASED_ONNX_OPSET_ONLY=0 only makes that a warning.
        "capabilities": {"newest_opset": 26, "binds_outputs": True},
        "options": {"provider": sorted(PROVIDERS), "disable": REWRITINGS, **(CUDA_OPTIONS if "cuda" in PROVIDERS else {})},
    },
    run,
)
