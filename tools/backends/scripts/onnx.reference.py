# SPDX-License-Identifier: Apache-2.0
import onnx.reference

version = "onnx.reference " + onnx.__version__


def run(model, *sets):
    evaluator = onnx.reference.ReferenceEvaluator(model)
    return [evaluator.run(None, inputs) for inputs in sets]
