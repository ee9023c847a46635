# SPDX-License-Identifier: Apache-2.0
"""assay certify runs functions over every 16-bit input: one wrong output of 65,536 is named on the first screen and in every format."""
import pathlib
import subprocess
import tempfile
import unittest

import jsonschema
from command_line import TOOL, assay, ended, read_json, worker


# exp in f16, correctly rounded, but for one input.
WRONG_ONCE = """
import numpy

def exp(x):
    with numpy.errstate(all="ignore"):
        y = numpy.asarray(numpy.exp(x.astype(numpy.float64)), numpy.float16)
    y[x == numpy.float16(0.81005859375)] = 3
    return y

def run(model, sets, options):
    return [[assay_worker.proto_of("", exp(assay_worker.array_of(x)))] for x, in sets]

assay_worker.serve({"backend": "wrong once", "version": "1", "device": "cpu", "arithmetic": {}, "capabilities": {"types": ["f16"]}}, run)
"""


class EveryInput(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.invocation = ["certify", *worker(cls.path, WRONG_ONCE), "--ops", "Exp-13", "--types", "f16", "--report"]
        cls.done = ended(1, *cls.invocation, cls.path / "report.json")
        cls.report = read_json(cls.path / "report.json")

    def test_the_wrong_input_is_on_the_first_screen_and_its_line_shows_it_again(self):
        said = self.done.stdout.splitlines()
        self.assertTrue(any("every f16 input: 1 function" in line and "1 not within the bound: Exp-13" in line for line in said), said)
        self.assertTrue(any(line.startswith("FAIL") and "Exp-13 over every f16 input" in line for line in said), said)
        self.assertIn("1 function over every input", said[-1])
        self.assertLess(len(said), 25)
        replay = next(line for line in said if "replay:" in line).split("replay: ", 1)[1]
        again = subprocess.run(replay.replace("assay ", f"{TOOL} ", 1), shell=True, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(again.returncode, 1, again.stdout + again.stderr)

    def test_the_report_says_so_by_its_schema(self):
        jsonschema.Draft202012Validator(read_json("reports/report.schema.json")).validate(self.report)
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
            self.assertIn(words, ended(0, "report", self.path / "report.json", "--format", name).stdout, name)

    def test_it_is_left_out_where_cases_are(self):
        for options in (["--no-every-input"], ["--cases", "40"], ["--suite", "short"], ["--level", "L0"], ["--filter", "rank == 1"]):
            done = assay(*self.invocation, self.path / "short.json", *options)
            self.assertNotIn("every f16 input", done.stdout + done.stderr)
            self.assertNotIn("every_input", read_json(self.path / "short.json"))

    def test_the_same_at_any_number_of_jobs(self):
        told = []
        for jobs in (1, 2):
            assay("certify", "--backend", "reference", "--ops", "Exp,Tanh,Erf,Mish", "--types", "f16,bf16", "--jobs", jobs, "--report", self.path / "jobs.json")
            told.append(read_json(self.path / "jobs.json")["every_input"])
        self.assertEqual(told[0], told[1])
        self.assertEqual(len(told[0]), 8)
