# SPDX-License-Identifier: Apache-2.0
"""assay worker: a program that rewrites models, and assay's own kernels behind it.

    rewriter.py NAME assay-worker-reference

NAME is onnxoptimizer, onnxscript, onnxsim or onnx.version-converter. What the rewritten model computes wrong, the rewriting
does: with --optimization none the kernels get the model as it is. A model that cannot be rewritten is refused.
"""
import functools
import importlib
import json
import os
import subprocess
import sys
from importlib import metadata

import assay_worker
import onnx

FOLDING, INFERENCE = "constant_folding", "shape_inference"


class Onnxoptimizer:
    """The passes it takes where none are named."""

    def __init__(self):
        self.optimizer = importlib.import_module("onnxoptimizer")
        self.options = {"disable": self.optimizer.get_fuse_and_elimination_passes()}

    def rewritten(self, model, options):
        passes = [name for name in self.options["disable"] if name != options.get("disable")]
        return self.optimizer.optimize(model, passes, fixed_point=True)


class Onnxsim:
    """What it does by default, without the proofs and checks that it offers besides."""

    def __init__(self):
        self.onnxsim = importlib.import_module("onnxsim")
        passes = self.onnxsim.onnxsim_cpp2py_export._list_optimizers()  # noqa: SLF001, no other list of them is there
        self.options = {"disable": [*passes, FOLDING, INFERENCE]}

    def rewritten(self, model, options):
        without = options.get("disable")
        return self.onnxsim.simplify(model, certify=False, skip_constant_folding=without == FOLDING,
                                     skip_shape_inference=without == INFERENCE,
                                     skipped_optimizers=[without] if without else None)[0]


class Onnxscript:
    """Its optimizer, which folds, and the rules it rewrites by where none are named."""

    def __init__(self):
        self.optimizer = importlib.import_module("onnxscript.optimizer")
        self.rewriter = importlib.import_module("onnxscript.rewriter")
        self.rules = {}  # by name; those without one by that of the function that replaces
        for rule in self.rewriter._DEFAULT_REWRITE_RULES:  # noqa: SLF001, no other list of them is there
            named = rule.name or rule._replacement_pattern._function.__name__.strip("_")  # noqa: SLF001
            self.rules.setdefault(named, []).append(rule)
        self.options = {"disable": [*self.rules, FOLDING]}

    def rewritten(self, model, options):
        without = options.get("disable")
        if without != FOLDING:
            model = self.optimizer.optimize(model)
        return self.rewriter.rewrite(model, [rule for name, rules in self.rules.items() if name != without for rule in rules])


class VersionConverter:
    """To the opset that the option `target` names, else the newest."""

    NEWEST = onnx.defs.onnx_opset_version()

    def __init__(self):
        self.converter = importlib.import_module("onnx.version_converter")
        self.options = {"target": [str(version) for version in range(self.NEWEST, 0, -1)]}

    def rewritten(self, model, options):
        return self.converter.convert_version(model, int(options.get("target", self.NEWEST)))


class Kernels:
    """Our own kernels, in a process that lives as long as this one."""

    def __init__(self, command):
        replies, theirs = os.pipe()
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[theirs],
                                        env={**os.environ, "ASSAY_REPLY_FD": str(theirs)})
        os.close(theirs)
        self.replies = os.fdopen(replies, "rb")

    def run(self, model, sets):
        header = {"ask": "run", "id": "1", "options": {"threads": 1, "optimization": "all"}, "model": len(model),
                  "sets": [[len(part or b"") for part in parts] for parts in sets]}
        self.process.stdin.write(json.dumps(header).encode() + b"\n" + model)
        self.process.stdin.writelines(part for parts in sets for part in parts if part)
        self.process.stdin.flush()
        line = self.replies.readline()
        if not line:
            sys.exit(f"{self.process.args[0]} ended with exit code {self.process.wait()}")
        reply = json.loads(line)
        if reply["outcome"] == "unsupported":
            raise assay_worker.Unsupported(reply["because"])
        if reply["outcome"] != "outputs":
            raise assay_worker.Refused(f"the rewritten model: {reply['because']}")
        return [[self.replies.read(size) for size in sizes] for sizes in reply["sets"]]


NAMED = {"onnxoptimizer": Onnxoptimizer, "onnxsim": Onnxsim, "onnxscript": Onnxscript, "onnx.version-converter": VersionConverter}


def main():
    name, *command = sys.argv[1:]
    rewriter = NAMED[name]()
    kernels = functools.cache(lambda: Kernels(command))  # started by the process that needs them

    def run(model, sets, options):
        if options.get("optimization", "all") != "none":
            model = rewriter.rewritten(onnx.load_from_string(model), options).SerializeToString()
        return kernels().run(model, sets)

    assay_worker.serve({"backend": name, "version": metadata.version(name.partition(".")[0]), "device": "cpu",
                        "options": rewriter.options}, run, not_implemented=("No Adapter",))


main()
