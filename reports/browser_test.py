# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser: what a person sees, finds and types; strangers' words that stay words; how long 100,000 verdicts take.

Needs Chromium (setup.sh --browser); without it the test says that it did not run, and fails under ASSAY_FULL=1.
"""
import copy
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser  # noqa: E402  (beside this file)
import examiners  # noqa: E402
from page_test import spoiled  # noqa: E402

TOOL = pathlib.Path(os.environ["ASSAY_BUILD"], "tools", "assay")
FULL = os.environ.get("ASSAY_FULL") == "1"
# A WCAG contrast ratio, of every text that is seen, against what it stands on.
CONTRAST = r"""(() => {
  const rgb = (text) => text.match(/[\d.]+/g).map(Number);
  const light = (c) => { const [r, g, b] = c.map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ground = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c.slice(0, 3); } return [255, 255, 255]; };
  const poor = [];
  for (const e of document.querySelectorAll("main *, header *, footer *")) {
    if (e.closest("svg, .grid-coverage, .unseen, [disabled]") || e.offsetParent === null) continue;
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
    const a = light(rgb(getComputedStyle(e).color).slice(0, 3)), b = light(ground(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) poor.push(e.className + ": " + e.textContent.slice(0, 30) + " " + ratio.toFixed(2));
  }
  return poor;
})()"""
NAMELESS = r"""[...document.querySelectorAll("button, a[href], input, select, [role=img], [role=region]")].filter((e) => e.offsetParent !== null &&
  !(e.getAttribute("aria-label") || e.textContent.trim() || (e.labels && e.labels.length))).map((e) => e.outerHTML.slice(0, 80))"""
HEADINGS = r"""[...document.querySelectorAll("h1,h2,h3,h4")].filter((e) => e.offsetParent !== null).map((e) => Number(e.tagName[1]))"""


def assay(*arguments):
    return subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False)


@unittest.skipUnless(browser.program() or FULL, "no Chromium here; setup.sh --browser installs it: the page was not tried in a browser")
class InABrowser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)
        done = assay("certify", "--backend", "mutant:pool-divides-by-kernel", "--ops", "AveragePool-19,AveragePool-22", "--cases", "1200",
                     "--report", cls.path / "report.json")
        assert done.returncode == 1, done.stdout + done.stderr
        cls.report = json.loads((cls.path / "report.json").read_text(encoding="utf-8"))
        cls.page = cls.rendered(cls.report, "page")
        cls.browser = browser.Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.folder.cleanup()

    @classmethod
    def rendered(cls, report, name, *options):
        source, page = cls.path / f"{name}.json", cls.path / f"{name}.html"
        source.write_text(json.dumps(report), encoding="utf-8")
        done = assay("report", source, "--out", page, *options)
        assert done.returncode == 0, done.stderr
        return page

    def setUp(self):
        self.browser.size(1280, 900)
        self.browser.colours("light")

    def open(self, page=None, hash=""):
        seconds = self.browser.open(page or self.page, hash)
        return seconds

    def tearDown(self):
        # What it logged, and what it asked of a network: the file itself and nothing else.
        self.assertEqual(self.browser.log, [])
        self.assertEqual([url for url in self.browser.requests if not url.startswith(("file:", "about:", "data:"))], [])
        self.assertLessEqual(sum(url.startswith("file:") for url in self.browser.requests), 1)

    def run_(self, script):
        return self.browser.run(script)

    def until(self, script, wanted=True):
        for _ in range(200):
            if (found := self.run_(script)) == wanted:
                return
            time.sleep(0.02)
        self.fail(f"{script} is {found!r} and not {wanted!r}")

    def test_the_first_screen_answers(self):
        self.open()
        self.assertTrue(self.run_("document.querySelector('h1').textContent").startswith("No: "))
        rows = self.run_("[...document.querySelectorAll('.matrix tbody th')].map((e) => e.textContent)")
        self.assertEqual(rows, [row["op"] for row in self.report["operators"]])
        self.assertEqual(self.run_("document.querySelectorAll('.matrix tbody tr')[0].cells.length"),
                         self.run_("document.querySelectorAll('.matrix thead th').length"))
        self.assertIn("does not", self.run_("document.querySelector('.matrix tbody').textContent"))
        self.assertIn("fail", self.run_("document.querySelector('.lead').textContent"))

    def test_a_cause_shows_its_picture_its_clause_and_its_replay_line(self):
        self.open()
        self.run_("document.querySelectorAll('.cause h3 button').forEach((e) => e.click())")
        labels = self.run_("[...document.querySelectorAll('.figure [role=img]')].map((e) => e.getAttribute('aria-label'))")
        self.assertTrue(any(" wrong" in label for label in labels), labels)
        self.assertGreaterEqual(self.run_("document.querySelectorAll('.figure rect.h-wrong').length"), 1)
        text = self.run_("document.getElementById('causes').textContent")
        shown = [each for each in self.report["findings"] if each["smallest"]["replay"] in text]
        self.assertEqual(len(shown), self.run_("document.querySelectorAll('.cause').length"))
        for id in {id for each in shown for id in each["clauses"]}:
            self.assertIn(id, self.run_("[...document.querySelectorAll('blockquote b')].map((e) => e.textContent)"))
        self.assertIn("every window divides by the whole kernel", self.run_("document.getElementById('causes').textContent"))
        self.assertGreater(self.run_("document.querySelectorAll('.chart rect').length"), 0)
        self.assertGreater(self.run_("document.querySelectorAll('.c-line').length"), 0, "the proven bound is drawn in")
        self.assertGreater(self.run_("document.querySelectorAll('.grid-coverage td').length"), 50)

    def test_a_cause_is_copied_as_python_and_as_an_issue(self):
        keep = "Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (text) => { window.kept = text; }}, configurable: true})"
        buttons = "[...document.querySelectorAll('.take button')].map((e) => e.textContent)"
        script = "print('`````')\n"
        report = copy.deepcopy(self.report)
        for finding in report["findings"]:
            self.assertIsNone(finding["account"]["python"], "a planted bug of ours has no Python package")
            finding["account"]["python"] = script
        for page, words in ((self.page, ["Copy as issue"]), (self.rendered(report, "accounts"), ["Copy as Python", "Copy as issue"])):
            self.open(page)
            self.run_("document.querySelector('.cause h3 button').click()")
            self.assertEqual(self.run_(buttons), words)
        self.run_(keep)
        shown = self.run_("document.querySelector('.cause .copy .line').textContent")
        account = next(each for each in report["findings"] if each["smallest"]["replay"] == shown)["account"]
        self.run_("document.querySelectorAll('.take button')[0].click()")
        self.until("window.kept", script)
        self.run_("document.querySelectorAll('.take button')[1].click()")
        # The fence is longer than the longest run of backticks in the script.
        self.until("window.kept", f"{account['title']}\n\n{account['opening']}``````python\n{script}``````\n\n{account['closing']}")
        self.assertEqual(self.run_("document.querySelectorAll('.take button')[1].textContent"), "Copied")

    def test_filters_and_search(self):
        self.open()
        count = "document.getElementById('count').textContent"
        choose = "((id, value) => {{ const e = document.getElementById('filter-' + id); e.value = value; e.dispatchEvent(new Event('change')); }})('{}', '{}')"
        failing = [verdict for verdict in self.report["verdicts"] if verdict["state"] == "fail"]
        self.run_(choose.format("state", "fail"))
        self.assertTrue(self.run_(count).startswith(f"{len(failing)} of "))
        self.run_(choose.format("type", "f32"))
        own = [verdict for verdict in failing if "X=f32[" in verdict["line"]]
        self.assertTrue(self.run_(count).startswith(f"{len(own)} of "), self.run_(count))
        self.run_(choose.format("op", "AveragePool-22"))
        own = [verdict for verdict in own if verdict["line"].startswith("AveragePool-22 ")]
        self.assertTrue(self.run_(count).startswith(f"{len(own)} of "))
        self.assertIn("state=fail", self.run_("location.hash"))
        self.run_("document.getElementById('reset').click()")
        self.run_("document.body.focus()")
        self.browser.key("/")
        self.assertEqual(self.run_("document.activeElement.id"), "search")
        self.browser.type(failing[0]["id"][:12])
        self.until(f"{count}.startsWith('1 of ')")
        self.assertEqual(self.run_("document.querySelectorAll('.verdicts tr.row').length"), 1)

    def test_links_lead_deep(self):
        verdict = self.report["verdicts"][-1]
        self.open(hash="#verdict-" + verdict["id"])
        self.assertIn(verdict["line"], self.run_("document.querySelector('tr.more:not([hidden])').textContent"))
        self.open(hash="#verdicts?state=fail&op=AveragePool-19")
        self.assertEqual(self.run_("document.getElementById('filter-op').value"), "AveragePool-19")
        cause = self.run_("document.querySelector('.cause').id")
        self.open(hash="#" + cause)
        self.assertTrue(self.run_("!document.querySelector('.cause .body').hidden"))
        self.open(hash="#version-AveragePool-22")
        self.assertEqual(self.run_("document.getElementById('version-AveragePool-22').tagName"), "TR")
        self.open(hash="#verdict-nonsense")  # says so, and stands

    def test_keys(self):
        self.open()
        self.run_("document.querySelector('.cause button').scrollIntoView()")
        self.run_("document.querySelector('.cause button').focus()")
        self.browser.key("j")
        self.assertTrue(self.run_("document.activeElement === document.querySelectorAll('.item')[1]"))
        self.browser.key("k")
        self.browser.key("Enter")
        self.assertTrue(self.run_("!document.querySelector('.cause .body').hidden"))
        self.browser.key("?")
        self.assertTrue(self.run_("document.getElementById('help').open"))
        self.run_("document.getElementById('help').close()")
        self.browser.key("t")
        self.assertEqual(self.run_("document.documentElement.dataset.theme"), "light")

    def test_strangers_words_are_words(self):
        report = spoiled(copy.deepcopy(self.report))
        self.open(self.rendered(report, "hostile"))
        self.run_("document.querySelectorAll('.cause h3 button, .verdicts .item').forEach((e) => e.click())")
        self.assertTrue(self.run_("window.owned === undefined"))
        self.assertEqual(self.run_("document.querySelectorAll('img, iframe, main script').length"), 0)
        text = self.run_("document.body.innerText")
        self.assertIn("<img src=x onerror=", text)
        self.assertIn("\\u{202e}", text)
        for hidden in "\u202e\u2028\u0007":
            self.assertNotIn(hidden, self.run_("document.title + document.querySelector('main').textContent"))
        self.assertEqual(self.run_("[...document.querySelectorAll('main *')].flatMap((e) => [...e.attributes]).filter((a) => /[\\u202e\\u2028\\u0007]|^on/.test(a.value + a.name)).length"), 0)

    def test_everybody_can_read_it(self):
        for scheme in ("light", "dark"):
            self.browser.colours(scheme)
            self.open()
            self.run_("document.querySelectorAll('.cause h3 button').forEach((e) => e.click())")
            self.assertEqual(self.run_(CONTRAST), [], scheme)
        self.assertEqual(self.run_(NAMELESS), [])
        levels = self.run_(HEADINGS)
        self.assertEqual(levels[0], 1)
        self.assertTrue(all(after <= before + 1 for before, after in zip(levels, levels[1:])), levels)
        self.assertEqual(self.run_("[...document.querySelectorAll('th')].filter((e) => !e.scope).length"), 0)
        self.assertEqual(self.run_("[...new Set([...document.querySelectorAll('[id]')].map((e) => e.id))].length"),
                         self.run_("document.querySelectorAll('[id]').length"), "ids are unique")
        for name in ("header", "nav[aria-label]", "main", "footer", "[role=search]", "[role=status]"):
            self.assertEqual(self.run_(f"document.querySelectorAll('{name}').length"), 1, name)

    @unittest.skipUnless(examiners.AXE or FULL, "no axe-core here; setup.sh --browser installs it")
    def test_axe_core_has_nothing_to_say(self):
        matrix = self.path / "matrix.html"
        done = assay("matrix", self.path / "page.json", self.path / "page.json", "--format", "html", "--out", matrix)
        self.assertEqual(done.returncode, 0, done.stderr)
        for scheme in ("light", "dark"):
            self.browser.colours(scheme)
            self.open()
            self.run_("document.querySelectorAll('.cause h3 button, .verdicts tr:nth-child(-n+6) .item').forEach((e) => e.click())")
            self.assertEqual(examiners.accessibility(self.browser), [], scheme)
            self.browser.open_still(matrix)
            self.assertEqual(examiners.accessibility(self.browser), [], scheme)
        self.run_("document.querySelector('th').removeAttribute('scope'); document.querySelector('main').append(document.createElement('button'))")
        self.assertIn("button-name", [rule for rule, _, _ in examiners.accessibility(self.browser)], "it sees what is wrong")

    @unittest.skipUnless(examiners.VNU or FULL, "no HTML validator here; setup.sh --browser installs it")
    def test_what_the_script_draws_is_valid(self):
        self.open()
        self.run_("document.querySelectorAll('.cause h3 button, .verdicts tr:nth-child(-n+6) .item').forEach((e) => e.click())")
        drawn = self.path / "drawn.html"
        drawn.write_text("<!DOCTYPE html>" + self.run_("document.documentElement.outerHTML"), encoding="utf-8")
        self.assertEqual(examiners.validity(drawn), [])

    def test_the_proven_bound_is_drawn_into_the_errors(self):
        self.open()
        drawn = self.run_("[...document.querySelectorAll('.chart')].map((e) => [e.querySelector('h3').firstChild.data, e.querySelectorAll('.c-bounds').length, "
                          "[...e.querySelectorAll('svg')].map((svg) => svg.getAttribute('aria-label')).join(' ')])")
        for op, outlines, label in drawn:
            own = [verdict for verdict in self.report["verdicts"] if verdict["line"].startswith(op + " ")]
            bounds = [0.5 + (each["worst_ulp"] - 0.5) / each["worst_share"] for each in own
                      if (each.get("worst_ulp") or 0) > 0.5 and (each.get("worst_share") or 0) > 0]
            self.assertEqual(outlines, 1 if bounds else 0, op)
            if bounds:
                low, high = re.search(r"proven bound of these cases from (\S+) to (\S+) ulp", label).groups()
                self.assertAlmostEqual(float(low) / min(bounds), 1, places=2)
                self.assertAlmostEqual(float(high) / max(bounds), 1, places=2)
            inside = [each for each in own if each["state"] == "pass" and (each.get("worst_share") or 0) > 0]
            self.assertTrue(all(each["worst_share"] <= 1 for each in inside), op)
        self.assertTrue(any(outlines for _, outlines, _ in drawn), drawn)

    def test_two_causes_of_one_case_have_a_link_each(self):
        report = copy.deepcopy(self.report)
        report["findings"].append({**report["findings"][0], "mark": "unstable", "because": "repeated"})
        self.open(self.rendered(report, "twice"))
        ids = self.run_("[...document.querySelectorAll('.cause')].map((e) => e.id)")
        self.assertEqual(len(ids), len(set(ids)), ids)

    def test_a_matrix_asks_for_nothing_and_fits_a_telephone(self):
        matrix = self.path / "small.html"
        self.assertEqual(assay("matrix", self.path / "page.json", "--format", "html", "--out", matrix).returncode, 0)
        self.browser.size(360, 740)
        self.browser.open_still(matrix)
        self.assertLessEqual(self.run_("document.documentElement.scrollWidth"), 360)
        for scheme in ("light", "dark"):
            self.browser.colours(scheme)
            self.assertEqual(self.run_(CONTRAST), [], scheme)
        self.assertGreater(self.run_("document.querySelector('.matrix .state svg').getBoundingClientRect().width"), 5)

    def test_it_fits_a_telephone_and_paper(self):
        self.browser.size(360, 740)
        self.open()
        self.run_("document.querySelectorAll('.cause h3 button').forEach((e) => e.click())")
        self.assertLessEqual(self.run_("document.documentElement.scrollWidth"), 360)
        self.assertTrue(self.browser.pdf().startswith(b"%PDF"))

    def test_what_changed_is_told(self):
        older = copy.deepcopy(self.report)
        fixed = next(verdict for verdict in older["verdicts"] if verdict["state"] == "pass")
        fixed.update(state="fail", because="value")
        (self.path / "older.json").write_text(json.dumps(older), encoding="utf-8")
        self.open(self.rendered(self.report, "newer", "--baseline", self.path / "older.json"), "#verdicts?change=fixed")
        self.assertTrue(self.run_("document.getElementById('count').textContent").startswith("1 of "))
        self.assertIn("1 cases: fixed", self.run_("document.getElementById('ship').innerText.replace(/\\s+/g, ' ')"))

    def test_a_campaign_has_a_page(self):
        done = assay("fuzz", "--backend", "mutant:pool-divides-by-kernel", "--ops", "AveragePool-22", "--cases", "150", "--findings", "",
                     "--report", self.path / "fuzz.json")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.open(self.rendered(json.loads((self.path / "fuzz.json").read_text(encoding="utf-8")), "fuzz"))
        self.assertTrue(self.run_("document.querySelector('h1').textContent").startswith("Found something"))
        self.run_("document.querySelectorAll('.cause h3 button').forEach((e) => e.click())")
        self.assertGreater(self.run_("document.querySelectorAll('.figure rect').length"), 0)

    def test_the_report_of_a_real_runtime(self):
        done = assay("certify", "--backend", "onnxruntime", "--ops", "AveragePool-19,Conv-11", "--cases", "2000", "--report", self.path / "real.json")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        report = json.loads((self.path / "real.json").read_text(encoding="utf-8"))
        failing = [verdict for verdict in report["verdicts"] if verdict["state"] == "fail"]
        self.assertGreater(len(failing), 5, "SAME_* with dilations fails here since version 19")
        page = self.rendered(report, "real")
        self.open(page)
        self.assertTrue(self.run_("document.querySelector('h1').textContent").startswith("No: "))
        self.assertEqual(self.run_("[...document.querySelectorAll('.matrix tbody th')].map((e) => e.textContent)"), ["AveragePool-19", "Conv-11"])
        self.run_("document.querySelectorAll('.cause h3 button').forEach((e) => e.click())")
        self.assertEqual(self.run_("document.querySelectorAll('.cause').length"), len(report["findings"]))
        text = self.run_("document.getElementById('causes').textContent")
        for each in report["findings"]:
            self.assertIn(each["smallest"]["replay"], text)
        self.assertIn("pads for the undilated kernel", text)
        self.open(page, "#verdicts?state=fail")
        self.assertTrue(self.run_("document.getElementById('count').textContent").startswith(f"{len(failing)} of "))
        self.open(page, "#verdict-" + failing[-1]["id"])
        self.assertIn(failing[-1]["line"], self.run_("document.querySelector('tr.more:not([hidden])').textContent"))
        if examiners.AXE:
            self.assertEqual(examiners.accessibility(self.browser), [])

    def test_a_hundred_thousand_verdicts(self):
        report = copy.deepcopy(self.report)
        many = 100_000 if FULL else 20_000
        report["verdicts"] = [{**report["verdicts"][i % len(report["verdicts"])], "id": f"{i:032x}"} for i in range(many)]
        seconds = self.open(self.rendered(report, "large"))
        self.assertEqual(self.run_("document.querySelectorAll('.verdicts tr.row').length"), 50)
        self.run_("document.getElementById('search').value = 'dilations'; document.getElementById('search').dispatchEvent(new Event('input'))")
        self.until("document.getElementById('count').textContent.includes(' of ')")
        print(f"{many} verdicts open in {seconds:.2f} s")


if __name__ == "__main__":
    unittest.main()
