# SPDX-License-Identifier: Apache-2.0
"""NhwcConv has no CPU runtime: a Backend-API class in numpy is certified fully, and onnxruntime says it has none."""
import os
import pathlib

from command_line import InFolder, ended, read_json

EXAMPLES = pathlib.Path(__file__).resolve().parent / "examples"


class NhwcConv(InFolder):
    def certified(self, code, backend, *arguments):
        """The report of a certification of NhwcConv, which has to end with that code."""
        report = self.folder / "report.json"
        ended(code, "certify", "--backend", backend, "--ops", "NhwcConv", "--report", report, *arguments,
              env={**os.environ, "PYTHONPATH": str(EXAMPLES)})
        return read_json(report)

    def test_the_numpy_example_conforms(self):
        report = self.certified(0, "python:numpy_nhwc", "--cases", "4000")
        self.assertGreater(report["totals"]["pass"], 250)
        for word in ("fail", "below", "refused", "error", "unsupported", "accepted"):
            self.assertEqual(report["totals"][word], 0, word)

    def test_onnxruntime_has_no_kernel_on_a_cpu(self):
        report = self.certified(1, "onnxruntime", "--cases", "400")
        self.assertGreater(report["totals"]["unsupported"], 20)
        self.assertEqual(report["totals"]["fail"], 0)
