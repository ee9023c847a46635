# SPDX-License-Identifier: Apache-2.0
"""From a report to a ledger to a run it excuses, by the command line; the schemas judged by somebody else's validator."""
import json

import jsonschema
from command_line import InFolder, assay, ended, read_json, refused, write_json

LEDGER = read_json("suites/expectations/ledger.schema.json")
REPORT = read_json("reports/report.schema.json")
SMALL = ["--ops", "AveragePool-19", "--types", "f32", "--cases", "2500", "--presentations", "none"]
# A planted bug of ours (suites/mutation/mutants.cpp): breaks some cases and not others.
BROKEN = ["--backend", "mutant:pool-never-counts-padding"]
STATED = ["--reason", "known", "--link", "https://example.org/1", "--owner", "me"]


class Waive(InFolder):
    def setUp(self):
        super().setUp()
        self.report, self.ledger, self.second = (self.folder / name for name in ("r.json", "known.json", "s.json"))

    def drafted(self, *stated):
        ended(1, "certify", *BROKEN, *SMALL, "--report", self.report)
        done = ended(0, "waive", "--from", self.report, "--out", self.ledger, *stated)
        return done.stderr

    def test_a_draft_is_refused_until_it_is_filled_in(self):
        self.assertIn("a draft: fill in what says TODO", self.drafted())
        done = ended(2, "certify", *BROKEN, *SMALL, "--expectations", self.ledger)
        self.assertIn("a draft; write its 'reason' before it is applied", done.stderr)
        self.assertFalse(jsonschema.Draft202012Validator(LEDGER).is_valid(read_json(self.ledger)), "the schema says so too")

    def test_a_ledger_excuses_what_it_was_drafted_from_and_a_baseline_does(self):
        self.drafted(*STATED)
        jsonschema.Draft202012Validator(LEDGER).validate(read_json(self.ledger))
        for agreed in (["--expectations", self.ledger], ["--baseline", self.report]):
            ended(0, "certify", *BROKEN, *SMALL, *agreed, "--report", self.second)
            report = read_json(self.second)
            jsonschema.Draft202012Validator(REPORT).validate(report)
            self.assertEqual(report["findings"], [])
            self.assertGreater(report["totals"]["fail"] + report["totals"]["below"], 0, "told, though it does not count")
        ended(0, "waive", "--check", self.ledger)
        ended(2, "waive", "--from", self.report, "--out", self.ledger)  # never overwritten

    def test_what_is_on_special_values_and_does_not_count_needs_no_entry(self):
        ended(1, "certify", *BROKEN, *SMALL, "--report", self.report)
        report = read_json(self.report)
        for verdict in report["verdicts"]:
            if verdict["state"] != "pass":
                verdict["class"] = "nonfinite"
        write_json(self.report, report)
        self.assertRegex(ended(0, "waive", "--from", self.report, "--out", self.ledger).stderr, r"(?m)^0 entries until")
        report["special_values"] = "count"
        write_json(self.report, report)
        done = ended(0, "waive", "--from", self.report, "--out", self.ledger.with_suffix(".2"))
        self.assertRegex(done.stderr, r"(?m)^[1-9]\d* entr(y|ies) until")

    def test_a_baseline_of_the_whole_suite_knows_what_a_part_finds(self):
        ended(1, "certify", *BROKEN, "--presentations", "none", "--cases", "2500", "--report", self.report)
        done = ended(0, "certify", *BROKEN, *SMALL, "--baseline", self.report, "--report", self.second)
        self.assertRegex(done.stdout, r"against \S+: 0 new, [1-9]\d* known, 0 fixed\n")
        self.assertIn("NOTE  the suites", assay("diff", self.report, self.second).stdout)
        done = assay("certify", *BROKEN, *SMALL, "--seed", "2", "--baseline", self.report)
        self.assertRegex(done.stdout, r"against \S+: \d+ new, \d+ known, 0 fixed; [1-9]\d* cases of this run are not in it")

    def test_a_report_of_fuzz_is_drafted_by_cause_and_the_ledger_excuses_its_campaign(self):
        fuzz = ("fuzz", "--backend", "mutant:pool-pads-same-undilated", "--ops", "AveragePool", "--cases", "400", "--findings", "")
        ended(1, *fuzz, "--report", self.report)
        report = read_json(self.report)
        self.assertEqual(len(report["causes"]), 1, "one bug in several versions")
        done = ended(0, "waive", "--from", self.report, "--out", self.ledger)
        self.assertIn(f"drawn again from its seed were 400 of its 400 cases, of which {400 - len(report['failures'])} did not fail",
                      done.stderr)
        entry, = read_json(self.ledger)["entries"]
        self.assertEqual(entry["operators"], sorted(report["causes"][0]["versions"]))
        self.assertIn("any(dilations) > 1", entry["when"])
        self.assertTrue(entry["reason"].startswith("TODO") and "SAME_* pads for the undilated kernel" in entry["reason"], entry)
        self.ledger.unlink()
        assay("waive", "--from", self.report, "--out", self.ledger, *STATED)
        jsonschema.Draft202012Validator(LEDGER).validate(read_json(self.ledger))
        ended(0, *fuzz, "--expectations", self.ledger, "--report", self.second)
        self.assertEqual(json.loads(assay("waive", "--from", self.second).stdout)["entries"], [], "what is expected already")

    def test_what_passed_in_a_campaign_is_not_made_up(self):
        assay("fuzz", *BROKEN, "--ops", "AveragePool", "--cases", "400", "--findings", "", "--report", self.report)
        report = read_json(self.report)
        report["plan"]["seed"] += 1
        said = assay("waive", "--from", write_json(self.second, report)).stderr
        self.assertIn("another assay drew the cases of this report", said)
        report["plan"].update(seed=report["plan"]["seed"] - 1, regressions=7)
        for row in report["failures"] + report["marked"]:
            row["index"] += 7
        said = assay("waive", "--from", write_json(self.second, report)).stderr
        self.assertIn("were 393 of its 400 cases", said, "seven are regressions")

    def test_a_damaged_report_is_one_line(self):
        assay("fuzz", *BROKEN, "--ops", "AveragePool", "--cases", "400", "--findings", "", "--report", self.report)
        good = read_json(self.report)
        for name in ("plan", "causes", "findings", "failures", "marked"):
            for report in ({key: value for key, value in good.items() if key != name}, {**good, name: [7]}):
                refused("waive", "--from", write_json(self.second, report))

    def test_a_backend_that_is_mended_breaks_the_run_until_the_entry_is_gone(self):
        ledger = {"ledger": 1, "entries": [{
            "id": "pool", "operators": ["AveragePool-19"], "states": ["fail"], "reason": "known", "link": "L", "owner": "me",
            "expires": "2999-12-31"}]}
        every_type = [word for word in SMALL if word not in ("--types", "f32")]
        write_json(self.ledger, ledger)
        done = ended(1, "certify", "--backend", "reference", *every_type, "--expectations", self.ledger, "--report", self.report)
        self.assertIn("PASSING  pool:", done.stdout)
        report = read_json(self.report)
        self.assertEqual(report["certified"], "conforms")
        self.assertEqual(report["ledger"]["complaints"][0]["kind"], "passing")
        ledger["entries"][0]["expires"] = "2001-01-01"
        write_json(self.ledger, ledger)
        self.assertIn("EXPIRED  pool:", assay("certify", "--backend", "reference", *every_type, "--expectations", self.ledger).stdout)
        ended(1, "waive", "--check", self.ledger)

    def test_the_schema_is_a_schema_and_judges_as_the_reader_does(self):
        jsonschema.Draft202012Validator.check_schema(LEDGER)
        good = {"id": "a", "operators": ["Conv"], "when": "group > 1", "states": ["fail"], "because": ["value"], "reason": "r",
                "link": "l", "owner": "o", "expires": "2999-12-31"}
        changes = [{}, {"states": []}, {"states": ["pass"]}, {"owner": ""}, {"owner": "TODO: who"}, {"expires": "soon"},
                   {"opertors": ["Conv"]}, {"operators": []}, {"because": []}, {"when": ""}, {"id": 7}]
        for change in changes:
            ledger = {"ledger": 1, "entries": [{**good, **change}]}
            read = assay("waive", "--check", write_json(self.ledger, ledger)).returncode == 0
            self.assertEqual(read, jsonschema.Draft202012Validator(LEDGER).is_valid(ledger), change)
            self.assertEqual(read, not change, change)
