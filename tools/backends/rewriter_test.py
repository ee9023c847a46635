# SPDX-License-Identifier: Apache-2.0
"""A rewriter of models as a backend: our kernels behind it are right, and what it rewrites wrong is found."""
import json

from command_line import InFolder, ended

CONVERTER = ("--backend", "onnx.version-converter")
HARDMAX = ("certify", *CONVERTER, "--ops", "Hardmax-11,Relu-6", "--cases", "400")


class Rewriter(InFolder):
    def test_a_version_that_is_converted_wrong_is_named(self):
        done = ended(1, *HARDMAX)
        self.assertIn("Hardmax-11: ", done.stdout)
        self.assertNotIn("Relu-6: ", done.stdout)

    def test_without_rewriting_it_is_right(self):
        ended(0, *HARDMAX, "--optimization", "none")

    def test_up_to_the_version_before_it_is_right(self):
        ended(0, *HARDMAX, "--set", "target=12")

    def test_graphs_are_rewritten_and_the_script_shows_it(self):
        line = "graph opset=9 ir=8 a=f16[1,1]~const:0 b=Clip(a){min=1} out=b"
        folder = self.folder / "clip"
        done = ended(1, "replay", *CONVERTER, line, "--save", folder)
        self.assertIn("breaks Clip.G4", done.stdout)
        self.assertIn("convert_version", (folder / "repro.py").read_text(encoding="utf-8"))

    def test_a_campaign_names_no_rewriting_where_none_can_be_left_out(self):
        report = self.folder / "graphs.json"
        ended(1, "fuzz", *CONVERTER, "--graphs", "--cases", "1500", "--report", report, "--findings", self.folder / "found")
        causes = json.loads(report.read_text(encoding="utf-8"))["causes"]
        self.assertTrue(causes)
        self.assertEqual({cause["right_with"] for cause in causes}, {"optimization=none"})
