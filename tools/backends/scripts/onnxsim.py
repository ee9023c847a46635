# SPDX-License-Identifier: Apache-2.0
from importlib import metadata

import onnx.checker
import onnx.reference
import onnxsim

version = "onnxsim " + metadata.version("onnxsim")


def run(model, *sets):
    model, _ = onnxsim.simplify(model)  # unless optimization or disable
    model, _ = onnxsim.simplify(model, skipped_optimizers=[DISABLE])  # if disable
    onnx.checker.check_model(model, full_check=True)
    evaluator = onnx.reference.ReferenceEvaluator(model)
    return [evaluator.run(None, inputs) for inputs in sets]
