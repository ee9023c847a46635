# SPDX-License-Identifier: Apache-2.0
import importlib
import onnx.backend.base

module = importlib.import_module(MODULE)
kinds = [v for v in vars(module).values() if isinstance(v, type) and issubclass(v, onnx.backend.base.Backend)]  # unless class
backend = module if hasattr(module, "prepare") else next(v for v in kinds if v.__module__ == module.__name__)  # unless class
backend = getattr(module, CLASS)  # if class
version = MODULE + " " + str(getattr(module, "__version__", ""))


def run(model, *sets):
    prepared = backend.prepare(model, "CPU")
    answers = [prepared.run(list(inputs.values())) for inputs in sets]
    return [[outputs] if isinstance(outputs, np.ndarray) else list(outputs) for outputs in answers]
