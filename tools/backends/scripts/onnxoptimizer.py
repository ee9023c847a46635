# SPDX-License-Identifier: Apache-2.0
from importlib import metadata

import onnx.checker
import onnx.reference
import onnxoptimizer

version = "onnxoptimizer " + metadata.version("onnxoptimizer")


def run(model, *sets):
    passes = onnxoptimizer.get_fuse_and_elimination_passes()
    passes.remove(DISABLE)  # if disable
    model = onnxoptimizer.optimize(model, passes, fixed_point=True)  # unless optimization
    onnx.checker.check_model(model, full_check=True)
    evaluator = onnx.reference.ReferenceEvaluator(model)
    return [evaluator.run(None, inputs) for inputs in sets]
