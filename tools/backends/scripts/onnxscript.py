# SPDX-License-Identifier: Apache-2.0
from importlib import metadata

import onnx.checker
import onnx.reference
import onnxscript.optimizer
import onnxscript.rewriter

version = "onnxscript " + metadata.version("onnxscript")


def run(model, *sets):
    model = onnxscript.rewriter.rewrite(onnxscript.optimizer.optimize(model))  # unless optimization
    onnx.checker.check_model(model, full_check=True)
    evaluator = onnx.reference.ReferenceEvaluator(model)
    return [evaluator.run(None, inputs) for inputs in sets]
