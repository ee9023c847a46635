# SPDX-License-Identifier: Apache-2.0
"""assay diff: each kind of change is planted in a real report and found, by its name and with its exit code."""
import copy
import json
import pathlib
import tempfile
import unittest

from command_line import assay, ended, read_json, refused, write_json


PATH = pathlib.Path(unittest.enterModuleContext(tempfile.TemporaryDirectory()))


def setUpModule():
    ended(0, "certify", "--backend", "reference", "--ops", "Conv-11", "--cases", "280", "--report", PATH / "base.json")


class Diff(unittest.TestCase):
    def setUp(self):
        self.before = read_json(PATH / "base.json")
        self.before["backend"]["version"] = "0"  # another one, so that nothing but the backend can be the cause
        self.after = copy.deepcopy(self.before)
        self.after["backend"]["version"] = "1"
        self.case = next(i for i, v in enumerate(self.after["verdicts"]) if v["state"] == "pass" and v["level"] == "L1" or
                         v["state"] == "pass" and v["level"])

    def diff(self, *options):
        return assay("diff", write_json(PATH / "a.json", self.before), write_json(PATH / "b.json", self.after), *options)

    def told(self, code):
        done = self.diff("--format", "json")
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        told = json.loads(done.stdout)
        self.assertEqual(told["worse"], code == 1)
        return told

    def change(self, report, **members):
        report["verdicts"][self.case].update(members)

    def test_nothing(self):
        told = self.told(0)
        self.assertEqual((sum(told["counts"].values()), told["common"], told["remarks"]),
                         (0, len(self.before["verdicts"]), []))

    def test_each_kind(self):
        good = {"state": "pass", "because": "", "level": "L1"}
        for kind, code, before, after in (
                ("broken", 1, good, {"state": "fail", "because": "value", "level": None}),
                ("fixed", 0, {"state": "refused", "because": "refused"}, good),
                ("worse", 1, {"state": "below", "because": "value"}, {"state": "error", "because": "crashed"}),
                ("better", 0, {"state": "fail", "because": "value"}, {"state": "refused", "because": "refused"}),
                ("lost", 1, good, {"state": "unsupported", "because": "not implemented", "level": None}),
                ("gained", 0, {"state": "unsupported", "because": "not implemented", "level": None}, good),
                ("reading", 0, {**good, "followed": {"A7": "ceil"}}, {**good, "followed": {"A7": "text-floor"}}),
                ("level down", 0, {**good, "level": "L0"}, good),
                ("level up", 0, good, {**good, "level": "L0"}),
                ("otherwise", 0, {"state": "refused", "because": "refused"}, {"state": "unsupported", "because": "declared"})):
            with self.subTest(kind):
                self.setUp()  # none of them leaves anything to the next
                self.change(self.before, **before)
                self.change(self.after, **after)
                told = self.told(code)
                self.assertEqual({name: count for name, count in told["counts"].items() if count}, {kind: 1})
                self.assertEqual(told["cases"][0]["line"], self.after["verdicts"][self.case]["line"])

    def test_what_a_ledger_expects_is_not_worse(self):
        self.change(self.after, state="fail", because="value",
                    marks=[{"mark": "xfail", "by": "entry", "detail": "fail", "breaches": False, "replay": ""}])
        self.assertEqual(self.told(0)["counts"]["broken"], 0)

    def test_special_values_that_are_judged_apart_are_not_worse(self):
        apart = next(i for i, v in enumerate(self.after["verdicts"]) if "~special" in v["line"] and v["state"] == "pass")
        self.after["verdicts"][apart].update(state="fail", because="value", level=None)
        told = self.told(0)
        self.assertEqual({name: count for name, count in told["counts"].items() if count}, {"otherwise": 1})

    def level_every_pass(self, report, level):
        for verdict in report["verdicts"]:
            if verdict["state"] == "pass" and verdict["level"]:
                verdict["level"] = level
        report["operators"][0]["level"] = level

    def test_a_weaker_level_of_the_same_cases_is_worse(self):
        self.level_every_pass(self.before, "L0")
        self.level_every_pass(self.after, "L1")
        self.assertEqual([row["worse"] for row in self.told(1)["versions"]], [True])

    def test_a_mend_is_never_worse(self):
        for report in (self.before, self.after):
            self.level_every_pass(report, "L0")
        self.before["operators"][0]["certified"] = "not conforming"
        self.change(self.before, state="fail", because="value", level=None)
        self.change(self.after, level="L2")  # passes now, and weakens the level of the version
        self.after["operators"][0]["level"] = "L2"
        told = self.told(0)
        self.assertEqual(([row["worse"] for row in told["versions"]], told["counts"]["fixed"]), ([False], 1))
        self.assertNotIn("WORSE", self.diff().stdout)

    def test_only_a_backend_that_gives_its_version_is_known_to_be_the_same(self):
        self.change(self.after, state="fail", because="value")
        self.after["backend"]["version"] = "0"
        self.assertIn("does not answer alike twice", self.diff().stdout)
        self.before["backend"]["version"] = self.after["backend"]["version"] = ""
        self.assertEqual(self.told(1)["remarks"], [])
        self.after["judgement"]["hash"] = "0" * 64
        self.assertIn("changed as well", self.diff().stdout)

    def test_other_suites_compare_what_both_have(self):
        self.after["suite"]["hash"] = "0" * 64
        gone = self.after["verdicts"].pop()
        self.after["verdicts"].append({**gone, "id": "1" * 32, "state": "fail"})
        told = self.told(0)
        self.assertEqual((told["common"], told["new"], told["gone"]), (len(self.before["verdicts"]) - 1, 1, 1))
        self.assertIn("the suites", told["remarks"][0])

    def test_a_changed_judgement_is_said_first(self):
        self.after["judgement"]["hash"] = "0" * 64
        self.change(self.after, state="fail", because="value")
        self.assertIn("judgement changed as well", self.diff().stdout.splitlines()[0])
        self.after["backend"]["version"] = "0"
        self.assertIn("the backend did not", self.diff().stdout.splitlines()[0])

    def test_text_has_the_replay_line_and_markdown_no_markup_of_strangers(self):
        self.change(self.after, state="fail", because="value", detail="@onnx | </details> `x`", replay="assay replay X")
        self.assertIn("replay: assay replay X", self.diff().stdout)
        done = self.diff("--format", "markdown")
        self.assertEqual((done.returncode, done.stdout.count("</details>")), (1, 2), "one of them inside a block")
        self.assertIn("```\n@onnx | </details> `x`\n```", done.stdout)

    def test_campaigns_compare_what_failures_look_like(self):
        ended(1, "fuzz", "--backend", "mutant:pool-pads-same-undilated", "--ops", "AveragePool-19", "--cases", "60",
              "--findings", "", "--report", PATH / "fuzz.json")
        self.before = read_json(PATH / "fuzz.json")
        self.after = copy.deepcopy(self.before)
        self.assertEqual(sum(self.told(0)["counts"].values()), 0)
        self.before["signatures"].pop()
        self.assertEqual(self.told(1)["counts"]["broken"], 1)

    def test_bad_input_is_one_line(self):
        for arguments in (["nowhere.json", PATH / "base.json"], [PATH / "base.json", "README.md"],
                          [PATH / "base.json", PATH / "base.json", "--format", "jason"]):
            said = refused("diff", *arguments)
        self.assertIn("did you mean json?", said)
