# SPDX-License-Identifier: Apache-2.0
"""The page without a browser: it carries the report whole, nothing in it comes from elsewhere, strangers' words stay data."""
import base64
import hashlib
import html.parser
import json
import os
import pathlib
import re
import tempfile
import unittest

import examiners  # beside this file
from command_line import assay, ended, read_json, refused, write_json

FULL = os.environ.get("ASSAY_FULL") == "1"
HOSTILE = "</script><script>window.owned=1</script><img src=x onerror=window.owned=1><!--\u2028\u202ereversed\u0007&lt;\"'`${1}"


def spoiled(value):
    """Every string that a backend may have said, and more, replaced."""
    if isinstance(value, dict):
        return {key: spoiled(each) if key in ("backend", "name", "version", "device", "because", "detail", "origin", "marks",
                                              "by", "cpu", "isolation", "spec", "replay", "got", "want") else
                spoiled(each) if isinstance(each, (dict, list)) else each for key, each in value.items()}
    if isinstance(value, list):
        return [spoiled(each) for each in value]
    return HOSTILE if isinstance(value, str) else value


class Structure(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self.open = [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self.open = tag
            self.scripts.append((tag, dict(attrs), ""))

    def handle_endtag(self, tag):
        self.open = None if tag == self.open else self.open

    def handle_data(self, text):
        if self.open:
            tag, attrs, before = self.scripts[-1]
            self.scripts[-1] = (tag, attrs, before + text)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        ended(0, "certify", "--backend", "reference", "--ops", "Conv-11", "--types", "f32", "--cases", "800",
              "--report", cls.path / "report.json")
        cls.report = read_json(cls.path / "report.json")

    def page(self, report, *options):
        return ended(0, "report", write_json(self.path / "asked.json", report), *options).stdout

    def test_the_policy_admits_what_the_page_holds_and_nothing_else(self):
        page = Structure(self.page(self.report))
        policy = next(attrs["content"] for tag, attrs in page.tags if attrs.get("http-equiv") == "Content-Security-Policy")
        self.assertIn("default-src 'none'", policy)
        self.assertNotIn("unsafe", policy)
        for tag, attrs, text in page.scripts:
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            if attrs.get("type") != "application/json":
                self.assertIn(f"{tag}-src 'sha256-{digest}'", policy)

    def test_it_names_no_other_place(self):
        page = self.page(self.report)
        # The texts of the standard are led to, and nothing is asked of them.
        told = {"https://onnx.ai/onnx/operators/onnx__Conv.html#l-onnx-op-conv-11"}
        self.assertEqual(set(re.findall(r"https?://(?!www\.w3\.org/2000/svg)[^\s\"']*", page)), told)
        self.assertEqual(set(json.loads(Structure(page).scripts[1][2])["pages"].values()), told)
        for tag, attrs in Structure(page).tags:
            self.assertNotIn("src", attrs)
            self.assertTrue(tag != "link" or attrs["href"] == "data:,")
            self.assertEqual([name for name in attrs if name.startswith("on") or name == "style"], [])

    def test_it_leads_to_texts_it_knows_and_to_no_others(self):
        report = json.loads(json.dumps(self.report))
        for op in ("com.microsoft:NhwcConv-1", "Conv-1000", "javascript:alert(1)-1"):
            report["operators"].append({**report["operators"][0], "op": op})
        pages = json.loads(Structure(self.page(report)).scripts[1][2])["pages"]
        self.assertEqual(sorted(pages), ["Conv-11", "com.microsoft:NhwcConv-1"])
        self.assertTrue(all(page.startswith("https://") for page in pages.values()))

    def test_it_carries_every_verdict(self):
        data = json.loads(Structure(self.page(self.report)).scripts[1][2])
        table = data["table"]
        self.assertEqual(table["count"], len(self.report["verdicts"]))
        for row, verdict in enumerate(self.report["verdicts"]):
            self.assertEqual(table["line"][row], verdict["line"])
            for name in ("state", "because", "detail", "level", "followed", "cause"):
                self.assertEqual(table[name]["values"][table[name]["rows"][row]], verdict.get(name), name)
        self.assertEqual(data["report"]["operators"], self.report["operators"])

    def test_strangers_words_stay_data(self):
        text = self.page(spoiled(self.report))
        plain = Structure(self.page(self.report))
        page = Structure(text)
        self.assertEqual([tag for tag, _ in page.tags], [tag for tag, _ in plain.tags])
        self.assertEqual(text.count("</script>"), 2)
        self.assertTrue(page.scripts[1][2].isascii())
        self.assertEqual(json.loads(page.scripts[1][2])["report"]["backend"]["name"], HOSTILE)

    def test_what_changed_since_a_baseline(self):
        older = json.loads(json.dumps(self.report))
        older["verdicts"][0].update(state="fail", because="value")
        gone = older["verdicts"].pop()
        gone["id"] = "0" * 32
        older["verdicts"].append(gone)
        file = write_json(self.path / "older.json", older)
        changes = json.loads(Structure(self.page(self.report, "--baseline", file)).scripts[1][2])["changes"]
        self.assertEqual((changes["counts"], changes["fresh"], changes["gone"]), ({"fixed": 1}, 1, 1))
        diff = json.loads(assay("diff", file, self.path / "report.json", "--format", "json").stdout)
        self.assertEqual([each["id"] for each in diff["cases"]], [each["id"] for each in changes["cases"]], "one engine")
        self.assertEqual(changes["cases"][0]["before"], "fail (value)")

    @unittest.skipUnless(examiners.VNU or FULL, "no HTML validator here; setup.sh --browser installs it")
    def test_the_html_is_valid(self):
        files = {"page": ["report"], "hostile": ["report"], "matrix": ["matrix", "--format", "html"]}
        write_json(self.path / "hostile.json", spoiled(self.report))
        for name, verb in files.items():
            source = self.path / ("hostile.json" if name == "hostile" else "report.json")
            ended(0, verb[0], source, *verb[1:], "--out", self.path / f"{name}.html")
        (self.path / "broken.html").write_text("<!DOCTYPE html><title>x</title><p><b>not closed<table><p>", encoding="utf-8")
        self.assertEqual(examiners.validity(*[self.path / f"{name}.html" for name in files]), [])
        self.assertNotEqual(examiners.validity(self.path / "broken.html"), [])

    def test_bad_input_is_one_line(self):
        for arguments, word in ((["nowhere.json"], "cannot read"), (["README.md"], "no report"),
                                ([self.path / "report.json", "--format", "htlm"], "did you mean html?"),
                                ([self.path / "report.json", "--out", "/nowhere/at/all.html"], "cannot write")):
            self.assertIn(word, refused("report", *arguments))
