# SPDX-License-Identifier: Apache-2.0
"""assay certify runs functions over every 16-bit input: one wrong output of 65,536 is named on the first screen and in every format."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import jsonschema

TOOL = pathlib.Path(os.environ["ASSAY_BUILD"], "tools", "assay")
# exp in f16, correctly rounded, but for one input.
WRONG_ONCE = r"""
import json, os, sys
import numpy, onnx
stdin, reply = sys.stdin.buffer, os.fdopen(int(os.environ["ASSAY_REPLY_FD"]), "wb")
while line := stdin.readline():
    ask, sets = json.loads(line), []
    if ask["ask"] == "describe":
        answer = {"assay": 1, "backend": "wrong once", "version": "1", "device": "cpu", "arithmetic": {}, "capabilities": {"types": ["f16"]}}
    else:
        model = onnx.load_model_from_string(stdin.read(ask["model"]))
        for sizes in ask["sets"]:
            x = onnx.numpy_helper.to_array([onnx.TensorProto.FromString(stdin.read(size)) for size in sizes][0])
            with numpy.errstate(all="ignore"):
                y = numpy.asarray(numpy.exp(x.astype(numpy.float64)), numpy.float16)
            y[x == numpy.float16(WHERE)] = 3
            sets.append([onnx.numpy_helper.from_array(y, model.graph.output[0].name).SerializeToString()])
        answer = {"id": ask["id"], "outcome": "outputs", "sets": [[len(part) for part in each] for each in sets]}
    reply.write(json.dumps(answer).encode() + b"\n" + b"".join(part for each in sets for part in each))
    reply.flush()
"""


def assay(*arguments):
    return subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False)


class EveryInput(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        (cls.path / "worker.py").write_text(WRONG_ONCE.replace("WHERE", "0.81005859375"), encoding="utf-8")
        cls.worker = f"exec:'{sys.executable}' '{cls.path / 'worker.py'}'"
        cls.done = assay("certify", "--backend", cls.worker, "--ops", "Exp-13", "--types", "f16", "--report", cls.path / "report.json")
        cls.report = json.loads((cls.path / "report.json").read_text(encoding="utf-8"))

    def test_the_wrong_input_is_on_the_first_screen_and_its_line_shows_it_again(self):
        self.assertEqual(self.done.returncode, 1, self.done.stdout + self.done.stderr)
        said = self.done.stdout.splitlines()
        self.assertTrue(any("every f16 input: 1 function" in line and "1 not within the bound: Exp-13" in line for line in said), said)
        self.assertTrue(any(line.startswith("FAIL") and "Exp-13 over every f16 input" in line for line in said), said)
        self.assertIn("1 function over every input", said[-1])
        self.assertLess(len(said), 25)
        replay = next(line for line in said if "replay:" in line).split("replay: ", 1)[1]
        again = subprocess.run(replay.replace("assay ", f"{TOOL} ", 1), shell=True, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(again.returncode, 1, again.stdout + again.stderr)

    def test_the_report_says_so_by_its_schema(self):
        jsonschema.Draft202012Validator(json.loads(pathlib.Path("reports/report.schema.json").read_text(encoding="utf-8"))).validate(self.report)
        self.assertEqual(self.report["certified"], "not conforming")
        self.assertEqual([row["certified"] for row in self.report["operators"]], ["not conforming"])
        self.assertEqual(self.report["totals"]["fail"], 0, "no case of the suite has this input")
        function, = self.report["every_input"]
        self.assertEqual((function["op"], function["type"], function["inputs"]), ("Exp-13", "f16", 65536))
        self.assertEqual((function["counts"]["fail"], function["breaches"][0]["pattern"]), (1, 0x3a7b))
        self.assertEqual(sum(function["counts"].values()), 65536)

    def test_every_format_says_so(self):
        for name, words in (("markdown", "every input"), ("junit", "Exp-13 over every f16 input"), ("sarif", "Exp-13 over every f16 input"),
                            ("html", '"bounds":{"Exp-13 f16":[')):
            done = assay("report", self.path / "report.json", "--format", name)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(words, done.stdout, name)

    def test_it_is_left_out_where_cases_are(self):
        for options in (["--no-every-input"], ["--cases", "40"], ["--suite", "short"], ["--level", "L0"], ["--filter", "rank == 1"]):
            done = assay("certify", "--backend", self.worker, "--ops", "Exp-13", "--types", "f16", "--report", self.path / "short.json", *options)
            self.assertNotIn("every f16 input", done.stdout + done.stderr)
            self.assertNotIn("every_input", json.loads((self.path / "short.json").read_text(encoding="utf-8")))

    def test_the_same_at_any_number_of_jobs(self):
        told = []
        for jobs in (1, 2):
            assay("certify", "--backend", "reference", "--ops", "Exp,Tanh,Erf,Mish", "--types", "f16,bf16", "--jobs", jobs, "--report", self.path / "jobs.json")
            told.append(json.loads((self.path / "jobs.json").read_text(encoding="utf-8"))["every_input"])
        self.assertEqual(told[0], told[1])
        self.assertEqual(len(told[0]), 8)


if __name__ == "__main__":
    unittest.main()
