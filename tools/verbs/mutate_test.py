# SPDX-License-Identifier: Apache-2.0
"""assay mutate counts what it prints, says what survives, and STRENGTH.md shows what it prints (ASSAY_FULL=1: all of it)."""
import os
import pathlib
import re

from command_line import InFolder, assay, ended, read_json, refused


STRENGTH = pathlib.Path("suites/mutation/STRENGTH.md").read_text(encoding="utf-8")


class Mutate(InFolder):
    def test_the_report_adds_up(self):
        report = self.folder / "strength.json"
        done = assay("mutate", "--ops", "AveragePool-7", "--cases", 60, "--report", report)
        written = read_json(report)
        trials = [t for t in written["trials"] if not t["equivalent"]]
        score = written["scores"]["AveragePool-7"]
        self.assertEqual(score["bugs"], len(trials))
        self.assertEqual(score["killed"], sum(t["generated"] is not None for t in trials))
        self.assertEqual(score["equivalent"], len(written["trials"]) - len(trials))
        self.assertIn(f"{score['killed']} of {score['bugs']}", done.stdout)
        for trial in trials:
            self.assertLessEqual(trial["generated"] or 0, 60)

    def test_a_survivor_is_named_and_breaks_the_run(self):
        done = ended(1, "mutate", "--mutant", "conv-drops-nan", "--ops", "Conv-11", "--cases", 1)
        self.assertIn("SURVIVES 1 cases: conv-drops-nan in Conv-11", done.stdout)

    def test_all_found_is_success(self):
        ended(0, "mutate", "--mutant", "conv-flips-kernel", "--ops", "Conv", "--cases", 40)

    def test_the_counts_do_not_depend_on_jobs(self):
        one, two = (assay("mutate", "--ops", "Conv-1,DeformConv-19", "--cases", 30, "--jobs", jobs) for jobs in (1, 2))
        self.assertEqual(one.stdout, two.stdout)

    def test_a_mistyped_bug_is_refused(self):
        self.assertIn("did you mean conv-flips-kernel?", refused("mutate", "--mutant", "conv-flip-kernel"))

    def test_nothing_selected_is_refused(self):
        refused("mutate", "--mutant", "conv-flips-kernel", "--ops", "AveragePool")

    def test_the_document_shows_what_is_printed(self):
        table = re.search(r"<!-- assay mutate --markdown -->\n(.*?)<!-- end -->", STRENGTH, re.DOTALL)
        self.assertIsNotNone(table, "the tables stand between their markers")
        if os.environ.get("ASSAY_FULL") == "1":
            self.assertEqual(table.group(1), assay("mutate", "--markdown").stdout)
