# SPDX-License-Identifier: Apache-2.0
"""NhwcConv has no CPU runtime: a Backend-API class in numpy is certified fully, and onnxruntime says it has none."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

TOOL = pathlib.Path(os.environ["ASSAY_BUILD"], "tools", "assay")
EXAMPLES = pathlib.Path(__file__).resolve().parent / "examples"


def certified(backend, *arguments):
    """Exit code and report of a certification of NhwcConv."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report.json")
        done = subprocess.run(
            [TOOL, "certify", "--backend", backend, "--ops", "NhwcConv", "--report", report, *arguments],
            capture_output=True, text=True, timeout=300, check=False, env={**os.environ, "PYTHONPATH": str(EXAMPLES)},
        )
        return done.returncode, json.loads(report.read_text())


class NhwcConv(unittest.TestCase):
    def test_the_numpy_example_conforms(self):
        code, report = certified("python:numpy_nhwc", "--cases", "4000")
        self.assertEqual(code, 0, report["findings"])
        self.assertGreater(report["totals"]["pass"], 250)
        for word in ("fail", "below", "refused", "error", "unsupported", "accepted"):
            self.assertEqual(report["totals"][word], 0, word)

    def test_onnxruntime_has_no_kernel_on_a_cpu(self):
        code, report = certified("onnxruntime", "--cases", "400")
        self.assertEqual(code, 1)
        self.assertGreater(report["totals"]["unsupported"], 20)
        self.assertEqual(report["totals"]["fail"], 0)


if __name__ == "__main__":
    unittest.main()
