# SPDX-License-Identifier: Apache-2.0
"""Every format of `assay report`, read by somebody else's reader: xmllint, jsonschema, csv. Strangers' words stay words."""
import copy
import csv
import io
import json
import pathlib
import re
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

import jsonschema
from command_line import ended, read_json, refused, write_json

SARIF = read_json("reports/testing/sarif-2.1.0.schema.json")
COMMENT_LIMIT = 65536
# What breaks out of XML, HTML, Markdown, a table, a shell, a spreadsheet or a terminal.
HOSTILE = "=cmd|'/c calc'!A0 ]]></failure><script>x</script> | `` ` ``` </details> @onnx #1 https://evil.example \\ \u0000\u0007\u001b[31m\ufffe\n\r\u2028\u202e,\";" + "&amp;"
LEDGER = {"ledger": 1, "entries": [{
    "id": "same-dilated", "operators": ["AveragePool-19"], "states": ["fail", "below"], "reason": "known | `since` 1.2",
    "link": "https://example.org/1", "owner": "somebody", "expires": "2999-01-01", "when": "any(dilations) > 1"}]}


def spoiled(value):
    """Every string a backend may have said replaced."""
    said = ("name", "version", "device", "because", "detail", "by", "cpu", "pattern", "sentence")
    if isinstance(value, dict):
        return {key: HOSTILE if key in said and isinstance(each, str) else spoiled(each) for key, each in value.items()}
    return [spoiled(each) for each in value] if isinstance(value, list) else value


FOLDER = pathlib.Path(unittest.enterModuleContext(tempfile.TemporaryDirectory()))


def setUpModule():
    mutant = ["--backend", "mutant:pool-pads-same-undilated"]
    for name, options in (("bad", ["certify", *mutant, "--ops", "AveragePool-19,AveragePool-11", "--cases", "400"]),
                          ("agreed", ["certify", *mutant, "--ops", "AveragePool-19", "--cases", "800", "--expectations",
                                      write_json(FOLDER / "ledger.json", LEDGER)]),
                          ("good", ["certify", "--backend", "reference", "--ops", "Conv-11", "--cases", "280"]),
                          ("fuzz", ["fuzz", *mutant, "--ops", "AveragePool-19", "--cases", "60", "--findings", ""])):
        ended((0, 1), *options, "--report", FOLDER / f"{name}.json")


class Formats(unittest.TestCase):
    path = FOLDER

    def report(self, name):
        return read_json(self.path / f"{name}.json")

    def told(self, report, form, *options):
        if isinstance(report, str):
            report = self.report(report)
        return ended(0, "report", write_json(self.path / "asked.json", report), "--format", form, *options, text=False).stdout

    def each(self):
        for name in ("bad", "agreed", "good", "fuzz"):
            yield name, self.report(name)
            yield name, self.hostile(name)

    def hostile(self, name):
        return spoiled(self.report(name))


class Junit(Formats):
    def junit(self, report, *options):
        text = self.told(report, "junit", *options)
        file = self.path / "junit.xml"
        file.write_bytes(text)
        done = subprocess.run(["xmllint", "--noout", "--nonet", "--schema", "reports/testing/junit-10.xsd", file],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return xml.etree.ElementTree.fromstring(text)

    def test_it_is_valid_whatever_was_said(self):
        for name, report in self.each():
            for options in ((), ("--per", "cause")):
                with self.subTest(name, options=options):
                    self.junit(report, *options)

    def test_the_schema_finds_what_is_wrong(self):
        file = self.path / "wrong.xml"
        file.write_text('<testsuites><testsuite name="x"/></testsuites>', encoding="utf-8")
        done = subprocess.run(["xmllint", "--noout", "--schema", "reports/testing/junit-10.xsd", file], capture_output=True, check=False)
        self.assertNotEqual(done.returncode, 0)

    def test_a_test_per_case_and_the_numbers_reconcile(self):
        report = self.report("bad")
        suites = {suite.get("name"): suite for suite in self.junit(report)}
        self.assertEqual(list(suites), [row["op"] for row in report["operators"]])
        for row in report["operators"]:
            suite, counts = suites[row["op"]], row["counts"]
            tests = suite.findall("testcase")
            self.assertEqual(sorted(test.get("name") for test in tests),
                             sorted(v["line"] for v in report["verdicts"] if v["line"].startswith(row["op"] + " ")))
            for word in ("failure", "error", "skipped"):
                self.assertEqual(int(suite.get({"failure": "failures", "error": "errors"}.get(word, word))),
                                 len(suite.findall(f"testcase/{word}")))
            self.assertEqual(int(suite.get("tests")), len(tests))
        self.assertGreater(int(suites["AveragePool-19"].get("failures")), 0)
        self.assertEqual((suites["AveragePool-11"].get("failures"), suites["AveragePool-11"].get("errors")), ("0", "0"))

    def test_a_failure_can_be_replayed(self):
        for failure in self.junit("bad").iter("failure"):
            self.assertRegex(failure.text, r"\nreplay: assay replay --backend mutant:pool-pads-same-undilated '")

    def test_what_a_ledger_expects_is_not_red(self):
        report = self.report("agreed")
        expected = [v for v in report["verdicts"] if any(m["mark"] == "xfail" for m in v.get("marks", []))]
        self.assertGreater(len(expected), 0)
        skipped = {test.get("name") for test in self.junit(report).iter("testcase")
                   if (test.find("skipped") is not None and test.find("skipped").get("message").startswith("expected: "))}
        self.assertEqual(skipped, {v["line"] for v in expected})

    def test_an_expired_entry_is_red(self):
        report = self.report("agreed")
        report["ledger"]["complaints"] = [{"entry": "same-dilated", "kind": "expired", "detail": "on 2020-01-01"}]
        ledger = next(suite for suite in self.junit(report) if suite.get("name") == "ledger")
        self.assertEqual(ledger.find("testcase/failure").get("type"), "expired")

    def test_what_is_judged_apart_is_not_red_and_a_crash_always_is(self):
        report = self.report("good")
        report["verdicts"][0].update({"class": "nonfinite", "state": "fail", "because": "value"})
        report["verdicts"][1].update({"class": "nonfinite", "state": "error", "because": "crashed"})
        tests = {test.get("name"): test for test in self.junit(report).iter("testcase")}
        self.assertIn("does not decide", tests[report["verdicts"][0]["line"]].find("skipped").get("message"))
        self.assertIsNotNone(tests[report["verdicts"][1]["line"]].find("error"))

    def test_red_where_nothing_was_judged(self):
        report = self.report("good")
        report["certified"] = "not certified"
        self.assertEqual(len(list(self.junit(report).iter("failure"))), 1)

    def test_a_test_per_cause(self):
        report = self.report("bad")
        reds = [test for test in self.junit(report, "--per", "cause").iter("testcase") if test.find("failure") is not None]
        unsorted = [each for each in report["findings"] if "cause" not in each and ("mark" in each or each["deciding"])]
        self.assertEqual(len(reds), sum(len(cause["versions"]) for cause in report["causes"]) + len(unsorted))
        fuzz = self.report("fuzz")
        self.assertGreater(len(fuzz["causes"]), 0)
        self.assertEqual(len(list(self.junit(fuzz, "--per", "cause").iter("failure"))),
                         sum(len(cause["versions"]) for cause in fuzz["causes"]))


class Sarif(Formats):
    def sarif(self, report):
        log = json.loads(self.told(report, "sarif"))
        jsonschema.Draft7Validator(SARIF, format_checker=jsonschema.FormatChecker()).validate(log)
        run = log["runs"][0]
        for result in run["results"]:
            self.assertEqual(run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"], result["ruleId"])
        return run

    def test_it_is_valid_whatever_was_said(self):
        for name, report in self.each():
            with self.subTest(name):
                self.sarif(report)

    def test_the_schema_finds_what_is_wrong(self):
        log = json.loads(self.told("bad", "sarif"))
        log["runs"][0]["results"][0]["level"] = "dreadful"
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.Draft7Validator(SARIF).validate(log)

    def test_a_result_is_a_finding_with_its_replay_line(self):
        report = self.report("bad")
        results = self.sarif(report)["results"]
        findings = [each for each in report["findings"] if "cause" in each or "mark" in each or each["deciding"]]
        self.assertEqual([result["properties"]["replay"] for result in results], [each["replay"] for each in findings])
        for result, finding in zip(results, findings):
            self.assertIn("replay: " + finding["replay"], result["message"]["text"])
            self.assertEqual(result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"], finding["op"])
            self.assertEqual(result["occurrenceCount"], finding["count"])

    def test_a_fingerprint_outlives_the_first_case_and_numbers_in_words(self):
        before = self.report("bad")
        after = copy.deepcopy(before)
        after["findings"][0]["count"] += 7
        one, other = self.sarif(before)["results"], self.sarif(after)["results"]
        prints = [result["partialFingerprints"] for result in one]
        self.assertEqual(prints, [result["partialFingerprints"] for result in other])
        self.assertEqual(len({json.dumps(each) for each in prints}), len(prints))

    def test_a_broken_constraint_is_a_rule_with_its_text(self):
        report = self.report("good")
        broken = next(v for v in report["verdicts"] if v.get("violated"))
        broken.update(state="error", because="crashed")
        report["findings"] = [{"op": "Conv-11", "state": "error", "because": "crashed", "detail": "SIGSEGV", "count": 1,
                               "deciding": 1, "first": broken["id"], "replay": "assay replay …"}]
        run = self.sarif(report)
        rule = run["tool"]["driver"]["rules"][0]
        text = next(row["text"] for row in report["constraints"] if row["id"] == broken["violated"][0])
        self.assertEqual((rule["id"], rule["shortDescription"]["text"]), (broken["violated"][0], text))
        self.assertTrue(rule["helpUri"].endswith("Changelog.md#Conv-11"))
        self.assertEqual(run["results"][0]["level"], "error")

    def test_what_a_ledger_expects_is_suppressed(self):
        suppressed = [result for result in self.sarif("agreed")["results"] if "suppressions" in result]
        self.assertEqual(len(suppressed), 1)
        self.assertIn("somebody", suppressed[0]["suppressions"][0]["justification"])


class Markdown(Formats):
    def markdown(self, report):
        text = self.told(report, "markdown").decode()
        self.assertLessEqual(len(text.encode()), COMMENT_LIMIT)
        return text

    def outside_of_code(self, text):
        text = re.sub(r"^(`{3,})[^\n]*\n.*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)
        text = re.sub(r"<code>[^<]*</code>", "", text)
        return re.sub(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", "", text)

    def test_the_gravest_causes_come_first_then_a_row_per_version(self):
        report = self.report("bad")
        text = self.markdown(report)
        self.assertGreater(len(report["causes"]), 0)
        for cause in report["causes"][:5]:
            self.assertIn(cause["replay"], text)
        marks = sum("cause" not in each and "mark" in each for each in report["findings"])
        self.assertEqual(text.count("<details>"), min(5, len(report["causes"]) + marks))
        for row in report["operators"]:
            self.assertEqual(len(re.findall(rf"^\| `{re.escape(row['op'])}` \|", text, re.MULTILINE)), 1)
        self.assertLess(text.index("<details>"), text.index("| operator version |"))

    def test_a_large_table_shows_what_does_not_conform_and_counts_the_rest(self):
        report = self.report("bad")
        wrong = next(row for row in report["operators"] if row["certified"] == "not conforming")
        report["operators"] = [wrong] + [dict(wrong, op=f"Abs-{i + 1}", certified="conforms") for i in range(300)]
        text = self.markdown(report)
        self.assertLess(text.count("\n"), 100, "it fits a pull request")
        self.assertIn(f"| `{wrong['op']}` |", text)
        self.assertNotIn("| `Abs-1` |", text)
        self.assertIn("Not shown: 300 `conforms`.", text)
        self.assertIn(report["causes"][0]["replay"], text)

    def test_strangers_words_stay_in_code(self):
        for name in ("bad", "agreed", "good", "fuzz"):
            rest = self.outside_of_code(self.markdown(self.hostile(name)))
            for word in ("@onnx", "<script", "evil.example", "#1 ", "\x1b"):
                self.assertNotIn(word, rest, name)
            self.assertEqual(rest.count("<details>"), rest.count("</details>"))
            rows = [line for line in rest.splitlines() if line.startswith("|")]
            self.assertEqual(len({row.count("|") for row in rows}), 1, rows)

    def test_what_does_not_fit_is_counted(self):
        report = self.report("bad")
        report["causes"] = [dict(report["causes"][0], count=3) for _ in range(1000)]
        report["findings"] = []
        text = self.markdown(report)
        self.assertLess(text.count("\n"), 100, "it fits a pull request")
        left, missing = re.search(r"\*\*Cut here:\*\* (\d+) more causes \((\d+) cases\)", text).groups()
        self.assertEqual(int(left) + text.count("<details>"), 1000)
        self.assertEqual(int(missing), 3 * int(left))

    def test_an_incomplete_run_says_so(self):
        report = self.report("good")
        report["suite"]["complete"] = False
        self.assertIn("no certificate", self.markdown(report))


class Csv(Formats):
    def rows(self, report):
        text = self.told(report, "csv").decode()
        self.assertEqual(text.count("\n"), text.count("\r\n"), "no line break inside a field")
        return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))

    def test_a_row_per_verdict(self):
        report = self.report("bad")
        rows = self.rows(report)
        self.assertEqual([(row["line"], row["state"], row["because"], row["replay"]) for row in rows],
                         [(v["line"], v["state"], v["because"], v.get("replay", "")) for v in report["verdicts"]])
        breaking = sum(row["result"] == "breaks" for row in rows)
        self.assertEqual(breaking, sum(finding["deciding"] for finding in report["findings"]))

    def test_a_campaign_has_a_row_per_case_that_failed_or_was_marked(self):
        report = self.report("fuzz")
        kept = {each["index"]: each["line"] for each in report["failures"] + report["marked"]}
        self.assertEqual([row["line"] for row in self.rows(report)], [line for _, line in sorted(kept.items())])

    def test_no_field_begins_a_formula(self):
        for name, report in self.each():
            for row in self.rows(report):
                for field in row.values():
                    self.assertFalse(field.startswith(tuple("=+-@\t\r＝＋－＠")), field)
        self.assertTrue(any(row["detail"].startswith("'=cmd") for row in self.rows(self.hostile("bad"))))


class BadInput(Formats):
    def test_one_line_that_says_what_to_do(self):
        report = self.report("good")
        del report["operators"]
        broken = write_json(self.path / "broken.json", report)
        for form in ("junit", "markdown"):
            refused("report", broken, "--format", form)
        self.assertIn("case or cause", refused("report", self.path / "good.json", "--format", "junit", "--per", "cases"))
