# SPDX-License-Identifier: Apache-2.0
"""A session is a finding like any other: a crash that comes only after another case is a numbered cause, counts as an error of the
version of its last case on every view, and leaves the house in a folder, an issue and a script that runs the whole session."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import jsonschema
from command_line import ended, read_json

# Over a kernel of 3 it is wrong, and from then on a stride of 4 crashes it.
DAMAGED = '''
import os
import numpy, onnx
from onnx.reference import ReferenceEvaluator
damaged = False

class Troubled:
    @staticmethod
    def prepare(model, device="CPU", **options):
        return Prepared(model)

class Prepared:
    def __init__(self, model):
        self.node, self.evaluator = model.graph.node[0], ReferenceEvaluator(model)
        self.names = [each.name for each in model.graph.input]

    def run(self, inputs):
        global damaged
        outputs = self.evaluator.run(None, dict(zip(self.names, inputs)))
        ints = {each.name: list(each.ints) for each in self.node.attribute}
        if ints.get("kernel_shape") == [3]:
            damaged = True
            return [array + 1 for array in outputs]
        if damaged and ints.get("strides") == [4]:
            os.abort()
        return outputs

prepare = Troubled.prepare
'''
POOL = "AveragePool-19 opset=19 ir=8 X=f32[1,1,12]~small:{} {}"


class Sessions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        (cls.path / "damaged_backend.py").write_text(DAMAGED, encoding="utf-8")
        cls.backend = "python:damaged_backend"
        cls.lines = [POOL.format(1, "kernel_shape=2"), POOL.format(2, "kernel_shape=3"), POOL.format(3, "kernel_shape=2 strides=4")]
        conformance = cls.path / "suites" / "conformance"
        conformance.mkdir(parents=True)
        (conformance / "pool.cases").write_text("".join(line + "\n" for line in cls.lines), encoding="utf-8")
        cls.env = {**os.environ, "PYTHONPATH": f"{cls.path}:{os.environ.get('PYTHONPATH', '')}"}
        cls.done = ended(1, "certify", cls.backend, "--suites", cls.path / "suites", "--ops", "AveragePool-19", "--cases", 0, "--jobs", 1, "--no-every-input",
                         "--presentations", "none", "--report", cls.path / "r.json", env=cls.env)
        cls.report = read_json(cls.path / "r.json")
        cls.number, cls.cause = next((i + 1, each) for i, each in enumerate(cls.report["causes"]) if "session" in each)

    def test_it_is_a_numbered_cause_and_counts_as_an_error_of_its_version(self):
        self.assertEqual((self.cause["state"], self.cause["because"], self.cause["count"]), ("error", "crashed", 1))
        self.assertEqual(self.cause["session"], f"{self.lines[1]} ; {self.lines[2]}")
        row, = self.report["operators"]
        self.assertEqual((row["counts"]["error"], row["counts"]["fail"]), (1, 1))
        self.assertEqual((self.report["totals"]["error"], self.report["totals"]["fail"]), (1, 1))
        self.assertIn(self.number, [each["cause"] for each in row["exceptions"]])
        self.assertEqual({each["line"]: each["state"] for each in self.report["verdicts"]},
                         dict(zip(self.lines, ("pass", "fail", "pass"))), "the victim keeps what it earns alone")
        jsonschema.Draft202012Validator(read_json("reports/report.schema.json")).validate(self.report)

    def test_the_first_screen_has_it_among_the_causes(self):
        said = self.done.stdout
        self.assertRegex(said, rf"(?m)^{self.number} +CRASH +AveragePool-19: 1 error \(crashed, only after other cases\)$")
        self.assertRegex(said, r"(?m)^not conforming: 1 fail, 1 error; ")
        self.assertNotIn("SESSION", said)

    def test_every_format_tells_it_once(self):
        for name in ("markdown", "sarif", "junit"):
            text = ended(0, "report", self.path / "r.json", "--format", name).stdout
            self.assertIn("only after other cases", text, name)
        markdown = ended(0, "report", self.path / "r.json", "--format", "markdown").stdout
        self.assertEqual(markdown.count("<details>"), len(self.report["causes"]))

    def test_it_is_replayed_by_number_from_its_folder_and_as_an_issue(self):
        replayed = ended(1, "replay", self.path / "r.json", self.number, "--backend", self.backend, env=self.env)
        self.assertRegex(replayed.stdout, r"(?m)^verdict   error")
        self.assertRegex(replayed.stdout, r"(?m)^alone     pass")
        folder = self.path / "finding"
        ended(1, "replay", self.cause["session"], "--backend", self.backend, "--save", folder, env=self.env)
        self.assertEqual(read_json(folder / "finding.json")["session"], self.cause["session"])
        again = ended(1, "replay", folder, "--backend", self.backend, env=self.env)
        self.assertRegex(again.stdout, r"(?m)^alone     pass")
        issue = ended(1, "replay", self.cause["session"], "--backend", self.backend, "--issue", env=self.env).stdout
        script = re.search(r"```python\n(.*?)```", issue, re.DOTALL).group(1)
        for text, code in ((script, 1), ((folder / "repro.py").read_text(encoding="utf-8"), 1)):
            file = self.path / "again.py"
            file.write_text(text, encoding="utf-8")
            done = subprocess.run([sys.executable, file], env=self.env, capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)

    def test_a_campaign_tells_it_as_well(self):
        regressions = self.path / "kept"
        regressions.mkdir()
        (regressions / "pool.cases").write_text("".join(line + "\n" for line in self.lines), encoding="utf-8")
        ended(1, "fuzz", self.backend, "--ops", "AveragePool-19", "--types", "f32", "--cases", 1, "--jobs", 1, "--regressions", regressions, "--findings", self.path / "found",
              "--presentations", "none", "--laws", "none", "--report", self.path / "f.json", env=self.env)
        report = read_json(self.path / "f.json")
        jsonschema.Draft202012Validator(read_json("reports/fuzz.schema.json")).validate(report)
        cause, = [each for each in report["causes"] if "session" in each]
        self.assertEqual(cause["session"], self.cause["session"])
        self.assertEqual(report["totals"]["error"], 1)
        folder, = [each for each in (self.path / "found").iterdir() if "session" in each.name]
        self.assertTrue((folder / "README.md").exists() and (folder / "repro.py").exists())


if __name__ == "__main__":
    unittest.main()
