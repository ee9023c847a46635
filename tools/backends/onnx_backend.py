# SPDX-License-Identifier: Apache-2.0
"""assay worker: any Python module that follows onnx.backend.base.Backend.

    onnx_backend.py MODULE

MODULE has `prepare(model, device)` itself, or a class that does: `package.module:Class`, or the one subclass of
onnx.backend.base.Backend in it. onnx.reference, which has an evaluator instead, is served as well.
"""
import importlib
import inspect
import os
import sys
from importlib import metadata

import assay_worker
import numpy
import onnx
import onnx.backend.base
import onnx.parser
from assay_worker import array_of, proto_of


class Evaluator:
    """onnx.reference behind prepare(model, device).run(inputs)."""

    def __init__(self, model):
        self.evaluator = onnx.reference.ReferenceEvaluator(model)

    @staticmethod
    def prepare(model, device="CPU"):
        return Evaluator(model)

    def run(self, inputs):
        return self.evaluator.run(None, dict(zip(self.evaluator.input_names, inputs)))

    @staticmethod
    def load_operators():
        """Imports the operators, which the first model would do in every forked process anew."""
        onnx.reference.ReferenceEvaluator(onnx.parser.parse_model(
            '<ir_version: 8, opset_import: ["": 13]> g (float[1] x) => (float[1] y) { y = Relu(x) }'))


def is_backend(value):
    return inspect.isclass(value) and issubclass(value, onnx.backend.base.Backend)


def backend_in(module):
    if module.__name__ == "onnx.reference":
        return Evaluator
    if callable(getattr(module, "prepare", None)):
        return module
    found = [v for v in vars(module).values() if is_backend(v) and v is not onnx.backend.base.Backend]
    own = [v for v in found if v.__module__ == module.__name__] or found
    if len(own) != 1:
        names = " ".join(sorted(v.__name__ for v in own)) or "no class"
        sys.exit(f"{module.__name__} has no prepare(), and {names} of onnx.backend.base.Backend: say MODULE:CLASS")
    return own[0]


def load(name):
    sys.path.insert(0, os.getcwd())  # as `python -m` does
    module_name, _, class_name = name.partition(":")
    try:
        module = importlib.import_module(module_name)
        return getattr(module, class_name) if class_name else backend_in(module)
    except Exception as error:  # noqa: BLE001, an import runs anything
        sys.exit(f"cannot import {name} with {sys.executable}: {type(error).__name__}: {error}; set ASSAY_PYTHON")


def version_of(name):
    package = name.partition(":")[0].partition(".")[0]
    found = getattr(sys.modules.get(package), "__version__", None)
    if isinstance(found, str):
        return found
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def run_set(prepared, names, parts):
    outputs = prepared.run([array_of(part, strings=True, small=True) for part in parts])
    if isinstance(outputs, numpy.ndarray):
        outputs = [outputs]
    return list(zip(names, outputs, strict=True))


def is_not_implemented(error):
    kinds = {kind.__name__ for kind in type(error).__mro__}
    named = kinds & {"BackendIsNotSupposedToImplementIt", "NotImplementedError", "NotImplemented"}
    text = str(error).lower()
    return bool(named) or "not implemented" in text or "no implementation" in text or "not_implemented" in text or "unimplemented" in text


def runner(backend):
    def run(model_bytes, sets, options):
        try:
            model = onnx.load_model_from_string(model_bytes)
            is_compatible = getattr(backend, "is_compatible", None)
            if is_compatible and not is_compatible(model):
                raise assay_worker.Unsupported("is_compatible(model) is false")
            prepared = backend.prepare(model, "CPU")
            names = [output.name for output in model.graph.output]
            results = [run_set(prepared, names, parts) for parts in sets]
            # Read after the last run: an array that is used again shows.
            return [[proto_of(name, value) for name, value in outputs] for outputs in results]
        except Exception as error:
            if is_not_implemented(error):
                raise assay_worker.Unsupported(f"{type(error).__name__}: {error}") from error
            raise

    return run


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: onnx_backend.py MODULE")
    name = sys.argv[1]
    backend = load(name)
    if backend is Evaluator:
        backend.load_operators()
    assay_worker.serve({"backend": name, "version": version_of(name), "device": "cpu"}, runner(backend))


main()
