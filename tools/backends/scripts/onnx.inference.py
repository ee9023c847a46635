# SPDX-License-Identifier: Apache-2.0
import onnx.shape_inference

version = "onnx.shape_inference " + onnx.__version__


def run(model, *sets):
    inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    types = [output.type.tensor_type for output in inferred.graph.output]
    return [[(kind.elem_type, *(d.dim_value if d.HasField("dim_value") else None for d in kind.shape.dim)) for kind in types]]
