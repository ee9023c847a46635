# SPDX-License-Identifier: Apache-2.0
"""assay worker: the shape inference of the ONNX package. It answers types and shapes and no values.

It sees what the model declares, never the data: where a model leaves an extent open the answer leaves it open (-1).
"""
import assay_worker
import onnx
from onnx import shape_inference


def extent_of(dimension):
    return dimension.dim_value if dimension.HasField("dim_value") else -1


def answer_of(output):
    tensor = output.type.tensor_type
    if not tensor.elem_type or not tensor.HasField("shape"):
        raise assay_worker.Unsupported(f"nothing is inferred of {output.name}")
    dims = [extent_of(dimension) for dimension in tensor.shape.dim]
    return onnx.TensorProto(name=output.name, data_type=tensor.elem_type, dims=dims).SerializeToString()


def run(model, sets, options):
    graph = shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True).graph
    return [[answer_of(output) for output in graph.output] for _ in sets]


assay_worker.serve(
    {
        "backend": "onnx shape inference",
        "version": onnx.__version__,
        "device": "cpu",
        "capabilities": {"answers": "shapes"},
    },
    run,
    not_implemented=["No opset import for domain", "No schema registered", "No Op registered"],
)
