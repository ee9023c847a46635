# SPDX-License-Identifier: Apache-2.0
"""A real report is valid by its own schema, judged by somebody else's validator, and its numbers reconcile."""
import collections

import jsonschema
from command_line import InFolder, ended, read_json, worker

SCHEMA = read_json("reports/report.schema.json")
LISTED = sorted(row.split()[0] for row in ended(0, "list").stdout.splitlines()[1:])
# Refuses and answers nothing: every word but pass can be met without a runtime.
REFUSER = """
def run(model, sets, options):
    raise assay_worker.Refused('not today, "sir"')

assay_worker.serve({"backend": "refuser", "version": "1", "device": "cpu", "arithmetic": {"accumulator": "f32"},
                    "capabilities": {"types": ["f32", "f64"]}}, run)
"""


def verdicts_of(report, op):
    return [verdict for verdict in report["verdicts"] if verdict["line"].startswith(op + " ")]


class Schema(InFolder):
    def certified(self, *arguments):
        path = self.folder / "report.json"
        done = ended((0, 1), "certify", "--report", path, *arguments)
        return read_json(path), done.stdout

    def valid_and_reconciled(self, report):
        jsonschema.Draft202012Validator(SCHEMA).validate(report)
        verdicts = report["verdicts"]
        apart = {name for name, counts in report["classes"].items() if not counts["decides"] and not name.startswith("invalid")}
        told = [verdict for verdict in verdicts if verdict["class"] not in apart or verdict["state"] == "error"]
        states = collections.Counter(verdict["state"] for verdict in told)
        self.assertEqual({word: count for word, count in report["totals"].items() if count}, dict(states))
        self.assertEqual(report["suite"]["reached"], len(verdicts))
        self.assertEqual(len({verdict["id"] for verdict in verdicts}), len(verdicts))
        for row in report["operators"]:
            own = collections.Counter(v["state"] for v in told if v["line"].startswith(row["op"] + " "))
            self.assertEqual({word: count for word, count in row["counts"].items() if count}, dict(own))
            for word, count in row["counts"].items():
                self.assertEqual(sum(of_type[word] for of_type in row["types"].values()), count)
            judged = sum(each["cases"] for each in row["errors"])
            self.assertLessEqual(judged, sum(v["state"] in ("pass", "contested", "below", "fail") for v in verdicts))
            for each in row["errors"]:
                off = sum(bin["inside"] + bin["outside"] for bin in each["ulp"])
                self.assertEqual(each["exact"] + each["special"] + off, each["cases"])
            for name in ("legal", "judged"):
                self.assertEqual(sum(standing[name] for standing in row["standings"].values()), row[name])
        cited = {clause["id"] for clause in report["clauses"]}
        for finding in report["findings"]:
            self.assertLessEqual(set(finding["clauses"]), cited)
            self.assertIn(finding["smallest"]["id"], {verdict["id"] for verdict in verdicts})
        for row in report["coverage"]:
            pairs = row["pairs"]
            self.assertEqual([sum(cell[i] for cell in pairs["by_dimension"]) for i in (0, 1)], [pairs["seen"], pairs["possible"]])
            self.assertEqual(sum(len(each["values"]) for each in row["dimensions"]), len(row["values"]))
        for word in report["totals"]:
            self.assertEqual(sum(counts[word] for counts in report["classes"].values()), report["totals"][word] + report["special"][word])

    def test_the_schema_is_a_schema(self):
        jsonschema.Draft202012Validator.check_schema(SCHEMA)

    def test_a_report_of_the_reference(self):
        report, _ = self.certified("--backend", "reference", "--cases", "290", "--laws", "all")
        self.valid_and_reconciled(report)
        self.assertEqual(report["certified"], "conforms")
        self.assertEqual(report["backend"]["options"]["laws"], "all")
        marks = {mark["mark"] for verdict in report["verdicts"] for mark in verdict.get("marks", [])}
        self.assertEqual(marks, {"inference differs"}, "a reference keeps every law")
        self.assertGreaterEqual(report["run"]["workers"], 1)
        self.assertIn("worker_growth_kib_per_case", report["run"])
        self.assertEqual(sorted(row["op"] for row in report["operators"]), LISTED)

    def test_a_report_of_a_backend_that_refuses(self):
        report, said = self.certified(*worker(self.folder, REFUSER), "--cases", "290")
        self.valid_and_reconciled(report)
        self.assertEqual(report["certified"], "not conforming")
        self.assertGreater(report["totals"]["refused"], 0)
        self.assertGreater(report["totals"]["unsupported"], 0, "f16 and bf16 are declared out")
        self.assertGreater(report["totals"]["pass"], 0, "near misses are refused")
        self.assertIn("not a breakdown", said.splitlines()[-1])

    def test_a_report_of_wrong_values_shows_them(self):
        report, _ = self.certified("--backend", "mutant:pool-divides-by-kernel", "--cases", "4000", "--ops", "AveragePool-19")
        self.valid_and_reconciled(report)
        drawn = [cause for cause in report["causes"] if "cells" in cause.get("picture", {})]
        self.assertTrue(drawn)
        for cause in drawn:
            picture = cause["picture"]
            cells = 1
            for extent in picture["extent"]:
                cells *= extent
            self.assertEqual((len(picture["cells"]), len(picture["ulp"])), (cells, cells))
            self.assertIn("w" if cause["state"] == "fail" else "b", picture["cells"])
        self.assertIn("every window divides by the whole kernel", report["causes"][0]["sentence"])
        for row in report["operators"]:
            covered = sum(each["cases"] for each in row["exceptions"])
            self.assertEqual(covered, sum("cause" in v for v in verdicts_of(report, row["op"])))

    def test_a_report_with_a_word_too_many_is_not_valid(self):
        report, _ = self.certified("--backend", "reference", "--cases", "300", "--ops", "Conv-22")
        report["totals"]["excellent"] = 1
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.Draft202012Validator(SCHEMA).validate(report)
