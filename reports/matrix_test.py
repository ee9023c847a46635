# SPDX-License-Identifier: Apache-2.0
"""assay matrix: many reports as one table. What a cell says is worked out again from the verdicts; rows that were asked otherwise
say so; strangers' words stay words."""
import collections
import copy
import pathlib
import re
import tempfile
import unittest

import jsonschema

from page_test import HOSTILE, Structure, spoiled
from command_line import ended, read_json, refused, write_json

SCHEMA = read_json("reports/matrix.schema.json")


def tables(markdown):
    """Every table as a list of rows, cells split where GitHub splits them."""
    found, rows = [], []
    for line in [*markdown.splitlines(), ""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
        elif rows:
            found, rows = found + [[rows[0], *rows[2:]]], []
    return found


class Matrix(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.reports = {}
        for name, backend, more in (("ours", "reference", []), ("wrong", "mutant:pool-divides-by-kernel", []),
                                    ("other", "reference", ["--ops", "AveragePool-7", "--cases", "400"])):
            ended((0, 1), "certify", "--backend", backend, "--report", cls.path / f"{name}.json",
                  *(more or ["--ops", "AveragePool-19,AveragePool-7,Conv-11", "--cases", "400"]))
            cls.reports[name] = read_json(cls.path / f"{name}.json")

    def file(self, name, report):
        return write_json(self.path / f"{name}.json", report)

    def matrix(self, *arguments):
        done = ended(0, "matrix", *arguments)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def test_a_cell_says_what_the_verdicts_say(self):
        rows = tables(self.matrix(self.path / "ours.json", self.path / "wrong.json"))[0]
        self.assertEqual(rows[0], ["backend", "`AveragePool-7`", "`AveragePool-19`", "`Conv-11`"])
        for row, report in zip(rows[1:], (self.reports["ours"], self.reports["wrong"])):
            self.assertIn(f"`{report['backend']['spec']}`", row[0])
            for op, cell in zip(rows[0][1:], row[1:]):
                own = [each for each in report["verdicts"] if each["line"].startswith(op.strip("`") + " ")]
                deciding = [each for each in own if report["classes"][each["class"]]["decides"]]
                judged = sum(each["state"] in ("pass", "contested", "below", "fail") for each in deciding)
                self.assertRegex(cell, rf"(<br>|, ){judged} of {len(deciding)} judged$")
                wrong = collections.Counter(each["state"] for each in deciding if each["state"] in ("fail", "below", "refused", "error"))
                self.assertEqual(cell.startswith("not conforming"), bool(wrong), (op, cell))
                for state, count in wrong.items():
                    self.assertRegex(cell, rf"\b{count} {state}\b")
        self.assertTrue(rows[1][1].startswith("conforms L"), rows[1])
        self.assertTrue(any(cell.startswith("not conforming") for cell in rows[2]), rows[2])

    def test_the_counts_are_those_of_the_report(self):
        counts = tables(self.matrix(self.path / "wrong.json"))[1]
        totals = self.reports["wrong"]["totals"]
        self.assertEqual(dict(zip(counts[0][2:-2], map(int, counts[1][2:-2]))), totals)
        good = sum(row["certified"] == "conforms" for row in self.reports["wrong"]["operators"])
        self.assertEqual(counts[1][1], f"{good} of {sum(row['judged'] > 0 for row in self.reports['wrong']['operators'])}")

    def test_what_was_asked_otherwise_says_so(self):
        newer, stricter = copy.deepcopy(self.reports["ours"]), copy.deepcopy(self.reports["ours"])
        newer["tool"]["version"], newer["judgement"]["hash"] = "9.9.9", "f" * 64
        stricter["mode"], stricter["profile"] = "strict", "sonnx"
        files = [self.path / "other.json", self.path / "ours.json", self.path / "wrong.json", self.file("newer", newer),
                 self.file("stricter", stricter)]
        for form in ("markdown", "html"):
            text = self.matrix(*files, "--format", form)
            for words in ("44 cases", "assay 9.9.9", "judgement ffffffff", "strict", "profile sonnx", "does not compare"):
                self.assertIn(words, text, form)
        rows = tables(self.matrix(*files))[0]
        self.assertNotIn("<br>", rows[2][0] + rows[3][0], "the most are the measure")
        self.assertIn("assay 9.9.9", rows[4][0])
        self.assertEqual(rows[1][rows[0].index("`Conv-11`")], "", "not asked")
        self.assertNotIn("does not compare", self.matrix(*files[1:3]))

    def test_kept_as_json_it_makes_the_same_table(self):
        files = [self.path / f"{name}.json" for name in ("ours", "wrong", "other")]
        kept = self.path / "kept.json"
        self.matrix(*files, "--format", "json", "--out", kept)
        jsonschema.Draft202012Validator(SCHEMA).validate(read_json(kept))
        for form in ("markdown", "html", "json"):
            self.assertEqual(self.matrix(kept, "--format", form), self.matrix(*files, "--format", form))
        self.assertEqual(len(tables(self.matrix(kept, files[0]))[0]), 5, "kept ones and reports together")

    def test_the_page_is_whole_and_asks_for_nothing(self):
        page = self.matrix(*[self.path / f"{name}.json" for name in ("ours", "wrong", "other")], "--format", "html")
        self.assertEqual(re.findall(r"https?://|\bsrc=|<script|\bon\w+=|\bstyle=", page.split("</style>")[1]), [])
        self.assertNotIn("{{", page)
        found = Structure(page)
        ids = [attrs["id"] for _, attrs in found.tags if "id" in attrs]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertTrue(all("scope" in attrs for tag, attrs in found.tags if tag == "th"))
        self.assertEqual(page.count("<tr>"), page.count("</tr>"))

    def test_strangers_words_stay_words(self):
        hostile = spoiled(copy.deepcopy(self.reports["wrong"]))
        hostile["backend"]["options"] = self.reports["wrong"]["backend"]["options"]
        for row, plain in zip(hostile["operators"], self.reports["wrong"]["operators"]):
            row.update(certified=plain["certified"], level=plain["level"])
        hostile["marks"] = {HOSTILE: 3}
        hostile["findings"] = [{**each, "mark": HOSTILE} for each in self.reports["wrong"]["findings"]]
        hostile["rulings"] = [{"id": HOSTILE, "title": HOSTILE, "followed": {HOSTILE: 4}}]
        hostile["operators"][0]["op"] = HOSTILE
        file = self.file("hostile", hostile)
        page, plain = (Structure(self.matrix(each, "--format", "html")) for each in (file, self.path / "wrong.json"))
        self.assertLessEqual({tag for tag, _ in page.tags}, {tag for tag, _ in plain.tags})
        self.assertEqual(sum(tag in ("script", "img") for tag, _ in page.tags), 0)
        markdown = self.matrix(file)
        for hidden in "\u202e\u2028\u0007":
            self.assertNotIn(hidden, markdown)
        widths = {len(row) for table in tables(markdown)[:1] for row in table}
        self.assertEqual(len(widths), 1, "no cell of a stranger's making")
        outside = re.sub(r"(`+) ?.*?\1|<code>.*?</code>", "", markdown)
        self.assertNotIn("<img", outside)
        self.assertNotIn("<script", outside)

    def test_bad_input_is_one_line(self):
        ended(0, "fuzz", "--backend", "reference", "--ops", "Conv-11", "--cases", "5", "--findings", "", "--report", self.path / "fuzz.json")
        lacking = copy.deepcopy(self.reports["ours"])
        del lacking["rulings"]
        broken = {"schema": 1, "kind": "matrix", "reports": [{"file": "x"}]}
        for arguments, word in (([self.path / "fuzz.json"], "campaign"), (["nowhere.json"], "cannot read"), (["README.md"], "no report"),
                                ([self.path / "ours.json", self.file("lacking", lacking)], "lacking.json is no report"),
                                ([self.file("broken", broken)], "broken.json is no report"),
                                ([self.file("empty", {"schema": 1, "kind": "matrix", "reports": []})], "no report"),
                                ([self.path / "ours.json", "--format", "mardown"], "did you mean markdown?"), ([], "reports")):
            self.assertIn(word, refused("matrix", *arguments))
