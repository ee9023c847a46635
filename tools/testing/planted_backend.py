# SPDX-License-Identifier: Apache-2.0
"""A backend as users write it, right but for one bug: the one that PLANTED_BUG names. Mended where it names none."""
import os
import signal
import time

import numpy
import onnx.backend.base
from onnx.reference import ReferenceEvaluator

HOSTILE = "no'''\"\"\" \\ `code` ```fence``` <b>@somebody</b> [x](http://evil.example) #1 | {refusal} \u202e\x1b[31m\n# title\n```\nos.system('x')"


class Prepared(onnx.backend.base.BackendRep):
    def __init__(self, model):
        self.evaluator, self.kept = ReferenceEvaluator(model), None

    def run(self, inputs, **kwargs):
        bug = os.environ.get("PLANTED_BUG", "")
        output = numpy.array(self.evaluator.run(None, dict(zip(self.evaluator.input_names, inputs)))[0])
        if bug == "value":
            output.reshape(-1)[-1:] += 1
        elif bug == "shape":
            output = output[..., :-1]
        elif bug == "type":
            output = output.astype(numpy.float64)
        elif bug == "nan":
            output.reshape(-1)[:1] = numpy.nan
        elif bug == "inexact":
            output = (output.astype(numpy.float64) * (1 + 2.0**-12)).astype(output.dtype)
        elif bug == "stale":
            self.kept = output if self.kept is None else self.kept
            output = self.kept
        elif bug == "chance":
            output.reshape(-1)[-1:] = 100 + os.urandom(1)[0]
        elif bug == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        elif bug == "exit":
            os._exit(0)
        elif bug == "hang":
            time.sleep(3600)
        elif bug == "memory":
            self.kept = [numpy.ones(1 << 24) for _ in range(24)]  # 3 GiB
        elif bug == "refuse":
            raise ValueError(HOSTILE)
        return [output]


class Backend(onnx.backend.base.Backend):
    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        return Prepared(model)
