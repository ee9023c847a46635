# SPDX-License-Identifier: Apache-2.0
"""What bench_fuzz.py puts to both sides: the kernel without a bug conforms, and assay sees every planted bug soon."""
import pathlib
import subprocess
import sys
import unittest

import bench_fuzz
import planted
from command_line import TOOL, InFolder, assay, ended, read_json

WORKER = pathlib.Path(planted.__file__)
WITHIN = 256


class Planted(InFolder):
    def test_without_a_bug_the_backend_conforms(self):
        report = self.folder / "report.json"
        ended(0, "certify", "--backend", f"exec:'{sys.executable}' '{WORKER}'", "--ops", "Conv-22,AveragePool-22",
              "--types", "f32", "--cases", "6000", "--report", report)
        totals = read_json(report)["totals"]
        self.assertGreater(totals["pass"], 400)
        for word in ("contested", "fail", "below", "refused", "error", "accepted"):
            self.assertEqual(totals[word], 0, word)

    def test_assay_sees_every_bug_soon_and_nothing_without_one(self):
        assay = bench_fuzz.Assay(TOOL, self.folder)
        for operator, prefix in planted.PREFIX.items():
            self.assertEqual(assay.first(operator, "none", seed=1, most=WITHIN), None)
            for bug in (bug for bug in planted.BUGS if bug.startswith(prefix)):
                with self.subTest(bug):
                    self.assertIsNotNone(assay.first(operator, bug, seed=1, most=WITHIN))

    def test_time_is_told_of_host_and_worker(self):
        alarms, seconds = bench_fuzz.Assay(TOOL, self.folder).cost("Conv", seed=1, cases=16)
        self.assertEqual(alarms, 0)
        self.assertEqual(len((self.folder / "seconds").read_text().split()), 1)
        self.assertGreater(seconds, float((self.folder / "seconds").read_text()))

    def test_an_unknown_bug_is_told_so(self):
        done = subprocess.run([sys.executable, WORKER, "conv-is-green"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("conv-swaps-pads", done.stderr)


class Tables(unittest.TestCase):
    def test_what_is_never_found_is_beyond_all_others(self):
        self.assertEqual(bench_fuzz.middle([3, None, 1]), "3 (1-never)")
        self.assertEqual(bench_fuzz.middle([None, None, 1]), "never (1-never)")
        self.assertEqual(bench_fuzz.middle([0.5, 0.25, 2], 2), "0.50 (0.25-2.00)")

    def test_a_table_has_a_rule_below_its_head(self):
        self.assertEqual(bench_fuzz.table(["a", "b"], [["1", "2"]]), "| a | b |\n|---|---|\n| 1 | 2 |\n")
