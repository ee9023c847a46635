# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser: what a person sees, finds and types; numbers that are those of the report; colours for who sees
few; strangers' words that stay words; how long 100,000 verdicts take.

Needs Chromium (setup.sh --browser); without it the test says that it did not run, and fails under ASSAY_FULL=1.
"""
import copy
import itertools
import math
import os
import pathlib
import re
import tempfile
import time
import unittest

import browser  # beside this file
import examiners
from page_test import spoiled
from command_line import ended, is_counted, read_json, worker, write_json

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
KINDS = {"wrong": ["fail", "below"], "crash": ["error", "not run"], "refused": ["refused"]}
BREAKING = sum(KINDS.values(), [])
# A backend in every trouble: over a kernel of 3 it is wrong, and from then on over strides of 1 as well; over one of 2 with pads
# it crashes; strides above 2 it turns away.
TROUBLED = """
import os
import numpy, onnx
from onnx.reference import ReferenceEvaluator
damaged = False

def run(model, sets, options):
    global damaged
    node = onnx.load_model_from_string(model).graph.node[0]
    ints = {each.name: list(each.ints) for each in node.attribute}
    kernel, strides, pads = (ints.get(name) or [1] for name in ("kernel_shape", "strides", "pads"))
    if max(strides) > 2:
        raise assay_worker.Refused("strides above 2")
    if kernel[0] == 2 and "pads" in ints and max(pads) > 0:
        os.abort()
    evaluator = ReferenceEvaluator(onnx.load_model_from_string(model))
    outputs = [evaluator.run(None, dict(zip(evaluator.input_names, map(assay_worker.array_of, parts)))) for parts in sets]
    wrong = kernel[0] == 3 or (damaged and strides == [1])
    damaged = damaged or kernel[0] == 3
    return [[assay_worker.proto_of("Y", numpy.asarray(array + 1 if wrong else array, array.dtype)) for array in arrays] for arrays in outputs]

assay_worker.serve({"backend": "troubled", "version": "1", "device": "cpu"}, run)
"""
# How those see colours who lack a kind of cone (Machado, Oliveira and Fernandes, 2009), in linear light.
SIGHT = {"all cones": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
         "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
         "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
         "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]}


def seen(colour, sight):
    """CIELAB of "rgb(1, 2, 3)"."""
    light = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in (int(each) / 255 for each in re.findall(r"\d+", colour)[:3])]
    light = [min(1, max(0, sum(a * b for a, b in zip(row, light)))) for row in SIGHT[sight]]
    white, rows = (0.9505, 1, 1.089), ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    x, y, z = (sum(a * b for a, b in zip(row, light)) / w for row, w in zip(rows, white))
    x, y, z = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def number(text):
    """The number that a text begins with; the page puts narrow blanks between thousands."""
    return int(re.match(r"[\d\u202f]+", text).group().replace("\u202f", ""))


def breaks(verdict):
    return {verdict["state"], *(mark.get("counts_as", mark["mark"]) for mark in verdict.get("marks", []) if mark["breaches"])} & set(BREAKING)


def ends_session(verdict):
    """Whether a session that counts ended with it: one that gave a wrong value on special values does not."""
    return any(mark.get("counts_as") in ("error", "fail") and is_counted(mark["counts_as"], verdict) for mark in verdict.get("marks", []))


@unittest.skipUnless(browser.program() or FULL, "no Chromium here; setup.sh --browser installs it: the page was not tried in a browser")
class InABrowser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        ended(1, "certify", "--backend", "mutant:pool-divides-by-kernel", "--ops", "AveragePool-19,AveragePool-22", "--cases", "1200",
              "--report", cls.path / "report.json")
        cls.report = read_json(cls.path / "report.json")
        cls.page = cls.rendered(cls.report, "page")
        ended(1, "certify", *worker(cls.path, TROUBLED), "--ops", "AveragePool-22", "--types", "f32", "--cases", "800", "--report", cls.path / "broken.json")
        cls.broken = read_json(cls.path / "broken.json")
        cls.broken_page = cls.rendered(cls.broken, "broken")
        cls.browser = cls.enterClassContext(browser.Browser())

    @classmethod
    def rendered(cls, report, name, *options):
        page = cls.path / f"{name}.html"
        ended(0, "report", write_json(cls.path / f"{name}.json", report), "--out", page, *options)
        return page

    def setUp(self):
        self.browser.size(1280, 900)
        self.browser.colours("light")

    def open(self, page=None, hash=""):
        return self.browser.open(page or self.page, hash)

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
        self.assertIn("not conforming", self.run_("document.querySelector('.matrix tbody').textContent"))

    def listed(self):
        return number(self.run_("document.getElementById('count').textContent"))

    def test_the_first_screen_counts_as_the_report_does(self):
        report = self.broken
        totals, marks, special = report["totals"], report["marks"], report["special"]
        self.assertTrue(totals["fail"] and totals["error"] and totals["refused"] and marks["session"] and special["fail"], "in every trouble")
        self.open(self.broken_page)
        wrong, refused = (text.replace("\u202f", "") for text in self.run_("[...document.querySelectorAll('.says')].map((e) => e.textContent)"))
        of = {kind: sum(cause["state"] in KINDS[kind] for cause in report["causes"]) for kind in KINDS}
        for words in (f"{totals['fail']} wrong answer", f"{totals['error']} crash", f"in {of['wrong'] + of['crash']} cause"):
            self.assertIn(words, wrong)
        self.assertRegex(refused, rf"^What is only refused: {totals['refused']} legal models in {of['refused']} causes?\.$")
        broken = ", ".join(f"{special[word]} {word}" for word in BREAKING if special.get(word))
        self.assertEqual(self.run_("document.querySelector('.special').textContent"), f"Special values: {broken}; judged, they do not count.")
        # Every number leads to as many verdicts, and so does every cell.
        links = self.run_("[...document.querySelectorAll('.says a[href^=\"#verdicts\"]')].map((e) => [e.textContent, e.hash])")
        self.assertEqual(len(links), sum(totals[word] > 0 for word in BREAKING if word in totals) + sum(n > 0 for mark, n in marks.items() if mark != "session"))
        for text, hash in links:
            self.open(self.broken_page, hash)
            self.assertEqual(self.listed(), number(text), text)
        self.open(self.broken_page, self.run_("document.querySelector('.special a').hash"))
        self.assertEqual(self.listed(), sum(special.get(word, 0) for word in BREAKING))
        hash, told = self.run_("(() => { const cell = [...document.querySelectorAll('.matrix .cell a')].find((e) => e.querySelector('.k-refused')); "
                               "return [cell.hash, [...cell.querySelectorAll('.state')].map((e) => e.textContent)]; })()")
        self.open(self.broken_page, hash)
        self.assertEqual(self.listed(), sum(map(number, told)))

    def test_what_breaks_has_three_colours(self):
        for scheme in ("light", "dark"):
            self.browser.colours(scheme)
            self.open(self.broken_page, "#verdicts?state=all")
            signs = self.run_("[...document.querySelectorAll('.state[class*=k-]')].map((e) => [e.className.match(/k-(\\w+)/)[1], e.closest('.says') ? 'sentence' : "
                              "e.closest('.legend') ? 'legend' : e.closest('.cell') ? 'cell' : e.closest('.cause') ? 'cause' : e.closest('.row') ? 'verdict' : '', "
                              "getComputedStyle(e).color, e.querySelector('path').getAttribute('d'), e.textContent.trim()])")
            colours, shapes = ({kind: {sign[part] for sign in signs if sign[0] == kind} for kind in KINDS} for part in (2, 3))
            for kind in KINDS:
                self.assertEqual(len(colours[kind]), 1, (scheme, kind))
                self.assertEqual({sign[1] for sign in signs if sign[0] == kind} - {""}, {"sentence", "legend", "cell", "cause", "verdict"}, kind)
            self.assertTrue(all(sign[4] for sign in signs), "no sign is without words")
            for one, other in itertools.combinations(KINDS, 2):
                self.assertFalse(shapes[one] & shapes[other], "kinds differ in shape")
                for sight in SIGHT:
                    apart = math.dist(*(seen(*colours[kind], sight) for kind in (one, other)))
                    self.assertGreater(apart, 12, f"{scheme}: {one} and {other} with {sight}")
            edges = self.run_("[...document.querySelectorAll('.cause')].map((e) => [e.className.match(/k-(\\w+)/)[1], getComputedStyle(e).borderLeftColor])")
            self.assertTrue(all({edge} == colours[kind] for kind, edge in edges), edges)

    def test_where_a_version_does_not_conform(self):
        self.open(self.broken_page, "#version-AveragePool-22")
        row, = self.broken["operators"]
        self.assertEqual(self.run_("document.querySelector('.toggle').getAttribute('aria-expanded')"), "true", "its link opens it")
        self.assertIn("Conforms, except where", self.run_("document.querySelector('.within').textContent"))
        told = self.run_("[...document.querySelectorAll('.where > li')].filter((e) => e.querySelector('.why')).map((e) => [[...e.querySelectorAll('code')].map((c) => c.textContent), "
                         "[...e.querySelectorAll('a')].map((a) => a.hash), e.querySelector('.state').textContent])")
        self.assertEqual(len(told), len(row["exceptions"]))
        for (codes, (cases, cause), sign), each in zip(told, row["exceptions"]):
            self.assertEqual(codes, [when for when in each["when"] if when])
            self.assertEqual(cause, f"#cause-{each['cause']}")
            self.assertEqual(sign, f"{each['cases']} {self.broken['causes'][each['cause'] - 1]['state']}")
            self.open(self.broken_page, cases)
            self.assertEqual(self.listed(), each["cases"])
            self.open(self.broken_page, cause)
            self.assertFalse(self.run_(f"document.getElementById('body-{each['cause']}').hidden"))
        self.open(hash="#version-AveragePool-22")
        self.assertEqual(self.run_("document.querySelector('#version-AveragePool-22 + .more .links .outside').href"),
                         "https://onnx.ai/onnx/operators/onnx__AveragePool.html#l-onnx-op-averagepool-22")

    def test_clauses_lead_to_the_standard(self):
        self.open(self.broken_page)
        self.run_("document.querySelectorAll('.cause h3 button').forEach((e) => e.click())")
        for place in ("#readings tr[id^=reading]", "#readings tr[id^=constraint]", ".cause blockquote"):
            links = self.run_(f"[...document.querySelectorAll('{place}')].map((e) => [...e.querySelectorAll('a.outside')].map((a) => a.href))")
            self.assertGreater(len(links), 0, place)
            for each in links:
                self.assertEqual(each, ["https://onnx.ai/onnx/operators/onnx__AveragePool.html#l-onnx-op-averagepool-22"], place)

    def test_the_list_opens_on_what_breaks_and_shows_every_state(self):
        self.open(self.broken_page)
        verdicts = self.broken["verdicts"]
        self.assertEqual(self.run_("document.getElementById('filter-state').value"), "breaches")
        self.assertEqual(self.listed(), sum(bool(breaks(each)) and (is_counted(each["state"], each) or ends_session(each)) for each in verdicts))
        self.open(self.broken_page, "#verdicts?state=breaches")
        self.assertEqual(self.listed(), sum(bool(breaks(each)) for each in verdicts))
        choose = "((value) => {{ const e = document.getElementById('filter-state'); e.value = value; e.dispatchEvent(new Event('change')); return e.value; }})('{}')"
        for state in sorted({each["state"] for each in verdicts}):
            self.assertEqual(self.run_(choose.format(state)), state)
            self.assertEqual(self.listed(), sum(each["state"] == state or state in breaks(each) for each in verdicts), state)
        for kind in ("wrong", "crash"):
            self.run_(choose.format(kind))
            self.assertEqual(self.listed(), sum(bool(breaks(each) & set(KINDS[kind])) for each in verdicts), kind)
        self.run_("document.getElementById('reset').click()")
        self.assertEqual(self.listed(), len(verdicts))
        self.run_("location.hash = '#verdicts'")
        self.until("document.getElementById('filter-state').value", "breaches")
        sound = copy.deepcopy(self.broken)
        sound.update(causes=[], findings=[], verdicts=[{**each, "state": "pass", "cause": None, "marks": []} for each in verdicts],
                     totals={**dict.fromkeys(sound["totals"], 0), "pass": len(verdicts)}, marks={})
        for row in sound["operators"]:
            row.update(exceptions=[], certified="conforms")
        self.open(self.rendered(sound, "sound"))
        self.assertEqual((self.run_("document.getElementById('filter-state').value"), self.listed()), ("", len(verdicts)), "nothing breaks")

    def test_what_was_agreed_is_told(self):
        ledger = self.path / "ledger.json"
        ended(0, "waive", "--from", self.path / "page.json", "--reason", "r", "--owner", "o", "--link", "https://x.example/1", "--out", ledger)
        ended(0, "certify", "--backend", "mutant:pool-divides-by-kernel", "--ops", "AveragePool-19,AveragePool-22", "--cases", "1200",
              "--expectations", ledger, "--report", self.path / "agreed.json")
        report = read_json(self.path / "agreed.json")
        self.open(self.rendered(report, "agreed"))
        agreed = sum(report["totals"][word] for word in BREAKING if word in report["totals"])
        self.assertIn(f"{agreed} of these were agreed before the run", self.run_("document.getElementById('ship').textContent"))
        self.assertEqual(self.listed(), len(report["verdicts"]), "nothing breaks that was not agreed")
        self.open(self.path / "agreed.html", self.run_("document.querySelector('.matrix .cell a').hash"))
        self.assertGreater(self.listed(), 0, "a cell leads to what it counts")

    def test_a_cause_shows_its_picture_its_clause_and_its_replay_line(self):
        self.open()
        self.run_("document.querySelectorAll('.cause h3 button').forEach((e) => e.click())")
        labels = self.run_("[...document.querySelectorAll('.figure [role=img]')].map((e) => e.getAttribute('aria-label'))")
        self.assertTrue(any(" wrong" in label for label in labels), labels)
        self.assertGreaterEqual(self.run_("document.querySelectorAll('.figure rect.h-wrong').length"), 1)
        text = self.run_("document.getElementById('causes').textContent")
        shown = [each for each in self.report["causes"] if each["replay"] in text and each["sentence"] in text]
        self.assertEqual(len(shown), self.run_("document.querySelectorAll('.cause').length"))
        self.assertEqual([str(i + 1) for i in range(len(shown))], self.run_("[...document.querySelectorAll('.cause .number')].map((e) => e.textContent)"))
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
        for cause in report["causes"]:
            self.assertIsNone(cause["account"]["python"], "a planted bug of ours has no Python package")
            cause["account"]["python"] = script
        for page, words in ((self.page, ["Copy as issue"]), (self.rendered(report, "accounts"), ["Copy as Python", "Copy as issue"])):
            self.open(page)
            self.run_("document.querySelector('.cause h3 button').click()")
            self.assertEqual(self.run_(buttons), words)
        self.run_(keep)
        shown = self.run_("document.querySelector('.cause .copy .line').textContent")
        account = next(each for each in report["causes"] if each["replay"] == shown)["account"]
        self.run_("document.querySelectorAll('.take button')[0].click()")
        self.until("window.kept", script)
        self.run_("document.querySelectorAll('.take button')[1].click()")
        # The fence is longer than the longest run of backticks in the script.
        self.until("window.kept", f"{account['title']}\n\n{account['opening']}``````python\n{script}``````\n\n{account['closing']}")
        self.assertEqual(self.run_("document.querySelectorAll('.take button')[1].textContent"), "Copied")

    def test_filters_and_search(self):
        self.open(hash="#verdicts?state=all")
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
        self.run_("document.querySelector('.toggle').focus()")
        self.browser.key("j")
        self.assertTrue(self.run_("document.activeElement === document.querySelectorAll('.item')[1]"))
        self.browser.key("k")
        self.browser.key("Enter")
        self.assertTrue(self.run_("!document.querySelector('.matrix .more').hidden"))
        self.run_("document.querySelector('.cause button').focus()")
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
        self.run_("document.querySelectorAll('.toggle, .cause h3 button, .verdicts .item').forEach((e) => e.click())")
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
            self.run_("document.querySelectorAll('.toggle, .cause h3 button').forEach((e) => e.click())")
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
        ended(0, "matrix", self.path / "page.json", self.path / "page.json", "--format", "html", "--out", matrix)
        for scheme in ("light", "dark"):
            self.browser.colours(scheme)
            self.open()
            self.run_("document.querySelectorAll('.toggle, .cause h3 button, .verdicts tr:nth-child(-n+6) .item').forEach((e) => e.click())")
            self.assertEqual(examiners.accessibility(self.browser), [], scheme)
            self.browser.open_still(matrix)
            self.assertEqual(examiners.accessibility(self.browser), [], scheme)
        self.run_("document.querySelector('th').removeAttribute('scope'); document.querySelector('main').append(document.createElement('button'))")
        self.assertIn("button-name", [rule for rule, _, _ in examiners.accessibility(self.browser)], "it sees what is wrong")

    @unittest.skipUnless(examiners.VNU or FULL, "no HTML validator here; setup.sh --browser installs it")
    def test_what_the_script_draws_is_valid(self):
        self.open()
        self.run_("document.querySelectorAll('.toggle, .cause h3 button, .verdicts tr:nth-child(-n+6) .item').forEach((e) => e.click())")
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

    def test_functions_are_drawn_over_every_input(self):
        ended(1, "certify", "--backend", "mutant:tanh-clamps", "--ops", "Tanh-13", "--types", "f16,bf16", "--report", self.path / "functions.json")
        report = read_json(self.path / "functions.json")
        functions = {each["type"]: each for each in report["every_input"]}
        self.assertTrue(functions["f16"]["breaches"])
        self.open(self.rendered(report, "functions"), "#inputs")
        self.assertEqual(self.run_("[...document.querySelectorAll('#inputs .chart h3')].map(each => each.firstChild.textContent)"), ["Tanh-13 f16", "Tanh-13 bf16"])
        self.assertTrue(self.run_("[...document.querySelectorAll('#inputs .c-outside')].every(each => each.getAttribute('d').startsWith('M'))"))
        self.assertIn(functions["f16"]["breaches"][0]["replay"], self.run_("document.querySelector('#inputs').textContent"))
        self.assertIn("not within the bound", self.run_("document.querySelector('#ship').textContent"))
        self.assertIn("over every f16 input", self.run_("(document.querySelector('#version-Tanh-13 button').click(), document.querySelector('#ship').textContent)"))
        self.open()
        self.assertTrue(self.run_("document.getElementById('inputs') === null"), "a report that left it out")

    def test_two_causes_of_one_case_have_a_link_each(self):
        report = copy.deepcopy(self.report)
        report["findings"].append({**report["findings"][0], "mark": "unstable", "because": "repeated"})
        self.open(self.rendered(report, "twice"))
        ids = self.run_("[...document.querySelectorAll('.cause')].map((e) => e.id)")
        self.assertEqual(len(ids), len(set(ids)), ids)

    def test_a_matrix_asks_for_nothing_and_fits_a_telephone(self):
        matrix = self.path / "small.html"
        ended(0, "matrix", self.path / "page.json", "--format", "html", "--out", matrix)
        self.browser.size(360, 740)
        self.browser.open_still(matrix)
        self.assertLessEqual(self.run_("document.documentElement.scrollWidth"), 360)
        for scheme in ("light", "dark"):
            self.browser.colours(scheme)
            self.assertEqual(self.run_(CONTRAST), [], scheme)
        self.assertGreater(self.run_("document.querySelector('.matrix .state svg').getBoundingClientRect().width"), 5)

    def test_it_fits_a_telephone_and_paper(self):
        self.browser.size(360, 740)
        for page in (self.page, self.broken_page):
            self.open(page)
            self.run_("document.querySelectorAll('.toggle, .cause h3 button, .verdicts .item, summary').forEach((e) => e.click())")
            self.assertLessEqual(self.run_("document.documentElement.scrollWidth"), 360)
            # What is wider scrolls in a box of its own, and what can be read from above to below does not.
            self.assertEqual(self.run_("[...document.querySelectorAll('table')].filter((e) => e.getBoundingClientRect().width > 360 && !e.closest('.scroll')).length"), 0)
            self.assertEqual(self.run_("[...document.querySelectorAll('.scroll:has(.stacks)')].filter((e) => e.scrollWidth > e.clientWidth).length"), 0)
            low = self.run_("[...document.querySelectorAll('button, select, input, nav a, .matrix .cell a, main summary')].filter((e) => e.offsetParent !== null)"
                            ".map((e) => [e.getBoundingClientRect().height, e.outerHTML.slice(0, 90)]).filter(([height, text]) => height < (text.includes('verdicts?') ? 24 : 44))")
            self.assertEqual(low, [], "large enough for a thumb")
            self.assertTrue(self.browser.pdf().startswith(b"%PDF"))

    @unittest.skipUnless(examiners.AXE or FULL, "no axe-core here; setup.sh --browser installs it")
    def test_a_thumb_hits_what_it_aims_at(self):
        self.browser.size(360, 740)
        self.open(self.broken_page)
        self.run_("document.querySelectorAll('.toggle, .cause:nth-of-type(-n+3) h3 button').forEach((e) => e.click())")
        self.run_(examiners.AXE.read_text(encoding="utf-8") + ";0")
        found = self.run_("axe.run(document, {runOnly: ['target-size'], rules: {'target-size': {enabled: true}}}).then((all) => [all.passes.length, "
                          "all.violations.flatMap((rule) => rule.nodes.map((each) => each.html.slice(0, 150) + ' in ' + each.target))])")
        self.assertEqual(found, [1, []])

    def test_what_changed_is_told(self):
        older = copy.deepcopy(self.report)
        fixed = next(verdict for verdict in older["verdicts"] if verdict["state"] == "pass")
        fixed.update(state="fail", because="value")
        write_json(self.path / "older.json", older)
        self.open(self.rendered(self.report, "newer", "--baseline", self.path / "older.json"), "#verdicts?change=fixed")
        self.assertTrue(self.run_("document.getElementById('count').textContent").startswith("1 of "))
        self.assertIn("1 cases: fixed", self.run_("document.getElementById('ship').innerText.replace(/\\s+/g, ' ')"))

    def test_a_campaign_has_a_page(self):
        ended(1, "fuzz", "--backend", "mutant:pool-divides-by-kernel", "--ops", "AveragePool-22", "--cases", "150", "--findings", "",
              "--report", self.path / "fuzz.json")
        self.open(self.rendered(read_json(self.path / "fuzz.json"), "fuzz"))
        self.assertTrue(self.run_("document.querySelector('h1').textContent").startswith("Found something"))
        self.run_("document.querySelectorAll('.cause h3 button').forEach((e) => e.click())")
        self.assertGreater(self.run_("document.querySelectorAll('.figure rect').length"), 0)
        links = self.run_("[...document.querySelectorAll('.says a[href^=\"#verdicts\"]')].map((e) => [e.textContent, e.hash])")
        self.assertGreater(len(links), 0)
        for text, hash in links:
            self.open(self.path / "fuzz.html", hash)
            self.assertEqual(self.listed(), number(text), text)

    def test_the_report_of_a_real_runtime(self):
        ended(1, "certify", "--backend", "onnxruntime", "--ops", "AveragePool-19,Conv-11", "--cases", "2000", "--report", self.path / "real.json")
        report = read_json(self.path / "real.json")
        failing = [verdict for verdict in report["verdicts"] if verdict["state"] == "fail"]
        self.assertGreater(len(failing), 5, "SAME_* with dilations fails here since version 19")
        page = self.rendered(report, "real")
        self.open(page)
        self.assertTrue(self.run_("document.querySelector('h1').textContent").startswith("No: "))
        self.assertEqual(self.run_("[...document.querySelectorAll('.matrix tbody th')].map((e) => e.textContent)"), ["AveragePool-19", "Conv-11"])
        self.run_("document.querySelectorAll('.cause h3 button').forEach((e) => e.click())")
        text = self.run_("document.getElementById('causes').textContent")
        for each in report["causes"]:
            self.assertIn(each["replay"], text)
            self.assertIn(each["sentence"], text)
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
