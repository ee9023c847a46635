# SPDX-License-Identifier: Apache-2.0
"""A newcomer's transcript, with the README alone: the example worker with a bug planted in it is certified, the bug's
sentence stands on the first screen, its issue is pasted, the bug mended, and the next run says "fixed"."""
import pathlib
import re
import sys

from command_line import InFolder, ended, read_json

EXAMPLE = pathlib.Path("tools/backends/example.py").resolve()
RIGHT = "ReferenceEvaluator(onnx.load_model_from_string(model))"
WRONG = "ReferenceEvaluator(without_bias(onnx.load_model_from_string(model)))"
BUG = '''
def without_bias(model):
    for node in model.graph.node:
        if node.op_type == "Conv" and len(node.input) > 2:
            node.input[2] = ""
    return model
'''
SENTENCE = "no bias at all"
SCREEN = 60  # lines of a terminal


class Newcomer(InFolder):
    def setUp(self):
        super().setUp()
        self.worker = self.folder / "mine.py"

    def plant(self):
        text = EXAMPLE.read_text().replace("sys.path.pop(0)", "sys.path.pop(0) if sys.path[0].endswith('backends') else None")
        self.assertIn(RIGHT, text)
        self.worker.write_text(text.replace(RIGHT, WRONG).replace("\n\ndef run(", f"\n{BUG}\n\ndef run("))

    def mend(self):
        self.worker.write_text(self.worker.read_text().replace(WRONG, RIGHT))

    def assay(self, *words):
        return ended((0, 1), *words, cwd=self.folder).stdout

    def certify(self, report, *more):
        return self.assay("certify", f"exec:{sys.executable} {self.worker}", "--ops", "Conv-11", "--types", "f32", "--cases", "600",
                          "--report", report, *more)

    def test_from_the_first_screen_to_fixed(self):
        self.plant()
        screen = self.certify("first.json").splitlines()
        first = "\n".join(screen[:SCREEN])
        self.assertLess(len(screen), SCREEN, "it is one screen")
        self.assertIn(SENTENCE, first)
        number = re.search(rf"^(\d+) +WRONG .*{SENTENCE}", first, re.MULTILINE).group(1)
        self.assertEqual(number, "1", "wrong values come first")

        issue = self.assay("replay", "first.json", number, f"exec:{sys.executable} {self.worker}", "--issue")
        self.assertIn("Conv-11", issue.splitlines()[0])
        self.assertIn("expected", issue.lower())

        self.mend()
        second = self.certify("second.json", "--baseline", "first.json")
        fixed = int(re.search(r"(\d+) fixed", second).group(1))
        cause = read_json(self.folder / "first.json")["causes"][0]
        self.assertGreaterEqual(fixed, cause["count"])
        self.assertNotIn(SENTENCE, second)
        self.assertIn("fixed", self.assay("diff", "first.json", "second.json"))
