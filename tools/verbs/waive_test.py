# SPDX-License-Identifier: Apache-2.0
"""From a report to a ledger to a run it excuses, by the command line; the schemas judged by somebody else's validator."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import jsonschema

ASSAY = pathlib.Path(os.environ["ASSAY_BUILD"], "tools", "assay")
LEDGER = json.loads(pathlib.Path("suites/expectations/ledger.schema.json").read_text(encoding="utf-8"))
REPORT = json.loads(pathlib.Path("reports/report.schema.json").read_text(encoding="utf-8"))
SMALL = ["--ops", "AveragePool-19", "--types", "f32", "--cases", "2500", "--presentations", "none"]
# A planted bug of ours (suites/mutation/mutants.cpp): breaks some cases and not others.
BROKEN = ["--backend", "mutant:pool-never-counts-padding"]
STATED = ["--reason", "known", "--link", "https://example.org/1", "--owner", "me"]


def assay(*words):
    return subprocess.run([ASSAY, *words], capture_output=True, text=True, timeout=300, check=False)


def loaded(path):
    return json.loads(path.read_text(encoding="utf-8"))


class Waive(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.report, self.ledger, self.second = (self.folder / name for name in ("r.json", "known.json", "s.json"))

    def drafted(self, *stated):
        found = assay("certify", *BROKEN, *SMALL, "--report", self.report)
        self.assertEqual(found.returncode, 1, found.stderr)
        done = assay("waive", "--from", self.report, "--out", self.ledger, *stated)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def test_a_draft_is_refused_until_it_is_filled_in(self):
        self.assertIn("a draft: fill in what says TODO", self.drafted())
        done = assay("certify", *BROKEN, *SMALL, "--expectations", self.ledger)
        self.assertEqual(done.returncode, 2)
        self.assertIn("a draft; write its 'reason' before it is applied", done.stderr)
        self.assertFalse(jsonschema.Draft202012Validator(LEDGER).is_valid(loaded(self.ledger)), "the schema says so too")

    def test_a_ledger_excuses_what_it_was_drafted_from_and_a_baseline_does(self):
        self.drafted(*STATED)
        jsonschema.Draft202012Validator(LEDGER).validate(loaded(self.ledger))
        for agreed in (["--expectations", self.ledger], ["--baseline", self.report]):
            done = assay("certify", *BROKEN, *SMALL, *agreed, "--report", self.second)
            self.assertEqual(done.returncode, 0, done.stdout)
            report = loaded(self.second)
            jsonschema.Draft202012Validator(REPORT).validate(report)
            self.assertEqual(report["findings"], [])
            self.assertGreater(report["totals"]["fail"] + report["totals"]["below"], 0, "told, though it does not count")
        self.assertEqual(assay("waive", "--check", self.ledger).returncode, 0)
        self.assertEqual(assay("waive", "--from", self.report, "--out", self.ledger).returncode, 2, "never overwritten")

    def test_a_baseline_of_the_whole_suite_knows_what_a_part_finds(self):
        whole = assay("certify", *BROKEN, "--presentations", "none", "--cases", "2500", "--report", self.report)
        self.assertEqual(whole.returncode, 1, whole.stderr)
        done = assay("certify", *BROKEN, *SMALL, "--baseline", self.report, "--report", self.second)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"against \S+: 0 new, [1-9]\d* known, 0 fixed\n")
        self.assertIn("NOTE  the suites", assay("diff", self.report, self.second).stdout)
        done = assay("certify", *BROKEN, *SMALL, "--seed", "2", "--baseline", self.report)
        self.assertRegex(done.stdout, r"against \S+: \d+ new, \d+ known, 0 fixed; [1-9]\d* cases of this run are not in it")

    def test_a_report_of_fuzz_is_drafted_by_cause_and_the_ledger_excuses_its_campaign(self):
        fuzz = ("fuzz", "--backend", "mutant:pool-pads-same-undilated", "--ops", "AveragePool", "--cases", "400", "--findings", "")
        found = assay(*fuzz, "--report", self.report)
        self.assertEqual(found.returncode, 1, found.stderr)
        report = loaded(self.report)
        self.assertEqual(len(report["causes"]), 1, "one bug in several versions")
        done = assay("waive", "--from", self.report, "--out", self.ledger)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"drawn again from its seed were 400 of its 400 cases, of which {400 - len(report['failures'])} did not fail",
                      done.stderr)
        entry, = loaded(self.ledger)["entries"]
        self.assertEqual(entry["operators"], sorted(report["causes"][0]["versions"]))
        self.assertIn("any(dilations) > 1", entry["when"])
        self.assertTrue(entry["reason"].startswith("TODO") and "SAME_* pads for the undilated kernel" in entry["reason"], entry)
        self.ledger.unlink()
        assay("waive", "--from", self.report, "--out", self.ledger, *STATED)
        jsonschema.Draft202012Validator(LEDGER).validate(loaded(self.ledger))
        done = assay(*fuzz, "--expectations", self.ledger, "--report", self.second)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(json.loads(assay("waive", "--from", self.second).stdout)["entries"], [], "what is expected already")

    def test_what_passed_in_a_campaign_is_not_made_up(self):
        assay("fuzz", *BROKEN, "--ops", "AveragePool", "--cases", "400", "--findings", "", "--report", self.report)
        report = loaded(self.report)
        report["plan"]["seed"] += 1
        self.second.write_text(json.dumps(report), encoding="utf-8")
        self.assertIn("another assay drew the cases of this report", assay("waive", "--from", self.second).stderr)
        report["plan"].update(seed=report["plan"]["seed"] - 1, regressions=7)
        for row in report["failures"] + report["marked"]:
            row["index"] += 7
        self.second.write_text(json.dumps(report), encoding="utf-8")
        self.assertIn("were 393 of its 400 cases", assay("waive", "--from", self.second).stderr, "seven are regressions")

    def test_a_damaged_report_is_one_line(self):
        assay("fuzz", *BROKEN, "--ops", "AveragePool", "--cases", "400", "--findings", "", "--report", self.report)
        good = loaded(self.report)
        for name in ("plan", "causes", "findings", "failures", "marked"):
            for report in ({key: value for key, value in good.items() if key != name}, {**good, name: [7]}):
                self.second.write_text(json.dumps(report), encoding="utf-8")
                done = assay("waive", "--from", self.second)
                self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done.stderr)

    def test_a_backend_that_is_mended_breaks_the_run_until_the_entry_is_gone(self):
        ledger = {"ledger": 1, "entries": [{
            "id": "pool", "operators": ["AveragePool-19"], "states": ["fail"], "reason": "known", "link": "L", "owner": "me",
            "expires": "2999-12-31"}]}
        every_type = [word for word in SMALL if word not in ("--types", "f32")]
        self.ledger.write_text(json.dumps(ledger), encoding="utf-8")
        done = assay("certify", "--backend", "reference", *every_type, "--expectations", self.ledger, "--report", self.report)
        self.assertEqual(done.returncode, 1)
        self.assertIn("PASSING  pool:", done.stdout)
        report = loaded(self.report)
        self.assertEqual(report["certified"], "conforms")
        self.assertEqual(report["ledger"]["complaints"][0]["kind"], "passing")
        ledger["entries"][0]["expires"] = "2001-01-01"
        self.ledger.write_text(json.dumps(ledger), encoding="utf-8")
        self.assertIn("EXPIRED  pool:", assay("certify", "--backend", "reference", *every_type, "--expectations", self.ledger).stdout)
        self.assertEqual(assay("waive", "--check", self.ledger).returncode, 1)

    def test_the_schema_is_a_schema_and_judges_as_the_reader_does(self):
        jsonschema.Draft202012Validator.check_schema(LEDGER)
        good = {"id": "a", "operators": ["Conv"], "when": "group > 1", "states": ["fail"], "because": ["value"], "reason": "r",
                "link": "l", "owner": "o", "expires": "2999-12-31"}
        changes = [{}, {"states": []}, {"states": ["pass"]}, {"owner": ""}, {"owner": "TODO: who"}, {"expires": "soon"},
                   {"opertors": ["Conv"]}, {"operators": []}, {"because": []}, {"when": ""}, {"id": 7}]
        for change in changes:
            ledger = {"ledger": 1, "entries": [{**good, **change}]}
            self.ledger.write_text(json.dumps(ledger), encoding="utf-8")
            read = assay("waive", "--check", self.ledger).returncode == 0
            self.assertEqual(read, jsonschema.Draft202012Validator(LEDGER).is_valid(ledger), change)
            self.assertEqual(read, not change, change)


if __name__ == "__main__":
    unittest.main()
