# SPDX-License-Identifier: Apache-2.0
import onnx.checker
import onnx.reference
import onnx.version_converter

version = "onnx.version_converter " + onnx.__version__


def run(model, *sets):
    model = onnx.version_converter.convert_version(model, int(TARGET))  # if target
    model = onnx.version_converter.convert_version(model, onnx.defs.onnx_opset_version())  # unless target or optimization
    onnx.checker.check_model(model, full_check=True)
    evaluator = onnx.reference.ReferenceEvaluator(model)
    return [evaluator.run(None, inputs) for inputs in sets]
