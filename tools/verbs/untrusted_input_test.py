# SPDX-License-Identifier: Apache-2.0
"""Untrusted files and lines end in exit code 0, 1 or 2 and one line, whatever is in them.

Every file that assay reads back is damaged: values of other types, members left out or doubled, bytes changed, cut
short, nested a million deep. Then each verb that reads such a file is given it. ASSAY_FULL=1 does so ten times as often.
suites/crosscheck/untrusted_input_test.cpp does the same to the reading functions, thousands of times.
"""
import copy
import json
import os
import pathlib
import random
import re
import tempfile
import unittest

import numpy
from command_line import assay, ended, read_json

TIMES = 10 if os.environ.get("ASSAY_FULL") == "1" else 1
SMALL = ("--ops", "com.microsoft:NhwcConv", "--types", "f32", "--cases", "0")
OTHER_VALUES = (None, True, -1, 0, 2**64 - 1, 2**63, 1e308, "", "x", "\u202e\n" * 50, "y" * 20_000, [], {}, [[]], [{}],
                {"a": None})
FORMATS = ("html", "markdown", "junit", "sarif", "csv")
LINES = ("AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2 pads=1,0",
         'Conv-11 opset=13 ir=8 X=f16[1,2,3,3]~small:1 W=f16[2,1,2,2]~sign:2@init B="" group=2 strides=1,2 shapes=symbolic',
         "QLinearConv-10 opset=10 ir=8 x=u8[1,1,3]~byte:1 x_scale=f32[]~hold:0.5 x_zero_point=u8[]~hold:1 w=i8[1,1,1]~byte:2 "
         "w_scale=f32[]~hold:0.25 w_zero_point=i8[]~hold:0 y_scale=f32[]~hold:1 y_zero_point=u8[]~hold:3")
# Nothing in between: what is neither tiny nor beyond measure may be computed for hours.
NUMBERS = ("-1", "0", "1", "2", "3", "7", "2147483648", "9223372036854775807", "18446744073709551616", "1e3", "")
# A name of ours in the JSON is damaged in one of these ways.
WAYS = ("replace", "replace", "replace", "remove", "double", "add")


def places(value, path=()):
    yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, (*path, key))


def damaged(document, chance):
    """The text of the document with one or two places changed; the larger lists are not where most of them fall."""
    document = copy.deepcopy(document)
    for _ in range(chance.choice((1, 1, 2))):
        by_depth = {}
        for path in places(document):
            if path:
                by_depth.setdefault(tuple(k for k in path if isinstance(k, str)), []).append(path)
        if not by_depth:
            break
        path = chance.choice(by_depth[chance.choice(sorted(by_depth))])
        holder = document
        for key in path[:-1]:
            holder = holder[key]
        way = chance.choice(WAYS)
        if way == "replace":
            holder[path[-1]] = copy.deepcopy(chance.choice(OTHER_VALUES))
        elif way == "remove":
            del holder[path[-1]]
        elif isinstance(holder, list):
            holder.append(copy.deepcopy(holder[path[-1]]))
        else:
            holder["more" if way == "add" else "schema"] = copy.deepcopy(chance.choice(OTHER_VALUES))
    return json.dumps(document).encode()


def broken(good, chance):
    """The bytes cut short, changed or nested too deep."""
    data = bytearray(good)
    way = chance.randrange(4)
    if way == 0:
        return bytes(data[: chance.randrange(len(data))])
    if way == 1:
        for _ in range(chance.randrange(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        return bytes(data)
    if way == 2:
        at = data.find(b'{"', chance.randrange(len(data))) + 1
        return bytes(data[:at]) + b'"deep":' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"," + bytes(data[at:])
    return bytes(data) * 2


def reworded(line, chance):
    """A line with words left out, doubled, exchanged or from another line, or with another number or byte."""
    words = line.split(" ")
    for _ in range(chance.choice((1, 1, 2, 3))):
        at, way = chance.randrange(len(words)), chance.randrange(6)
        if way == 0 and len(words) > 1:
            del words[at]
        elif way == 1:
            words.insert(chance.randrange(len(words) + 1), words[at])
        elif way == 2:
            words[at] = chance.choice(chance.choice(LINES).split(" "))
        elif way == 3:
            letters = list(words[at]) or ["x"]
            letters[chance.randrange(len(letters))] = chr(chance.randrange(1, 256))
            words[at] = "".join(letters)
        elif numbers := list(re.finditer(r"\d+", words[at])):
            number = chance.choice(numbers)
            words[at] = words[at][:number.start()] + chance.choice(NUMBERS) + words[at][number.end():]
    return " ".join(words)


def edited(good, chance):
    """Bytes changed, cut off, put in or taken out."""
    data = bytearray(good)
    for _ in range(chance.choice((1, 1, 2, 4))):
        at, way = chance.randrange(len(data) + 1), chance.randrange(4)
        if way == 0:
            del data[at:]
        elif way == 1:
            del data[at:at + chance.randrange(1, 9)]
        elif way == 2:
            data[at:at] = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 9)))
        elif at < len(data):
            data[at] = chance.randrange(256)
    return bytes(data)


class UntrustedInput(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.at = at = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        ledger = {"ledger": 1, "entries": [{
            "id": "one", "operators": ["com.microsoft:NhwcConv-1"], "when": "any(strides) > 1", "states": ["fail"],
            "because": ["value"], "reason": "known", "link": "https://example.org/1", "owner": "me",
            "expires": "2999-01-01"}]}
        (at / "ledger.json").write_text(json.dumps(ledger), encoding="utf-8")
        wrong = ("--backend", "mutant:nhwc-pads-same-undilated")
        ended(1, "certify", *wrong, *SMALL, "--expectations", at / "ledger.json", "--report", at / "report.json")
        ended((0, 1), "fuzz", *wrong, "--ops", "com.microsoft:NhwcConv", "--types", "f32", "--cases", 60, "--findings", "",
                       "--report", at / "fuzz.json")
        ended(0, "golden", "write", *SMALL, "--out", at / "golden")
        ended(0, "certify", "--backend", "reference", *SMALL, "--save-outputs", at / "answers")

    def endured(self, name, data, *arguments):
        done = assay(*arguments, errors="surrogateescape")  # what is no UTF-8 is found below
        self.codes.add(done.returncode)
        endured = done.returncode in (0, 1, 2) and "Sanitizer" not in done.stderr and "runtime error" not in done.stderr
        in_one_line = done.returncode != 2 or len(done.stderr.splitlines()) == 1
        if not endured or not in_one_line or re.search("[\u202e\x1b\x00\udc80-\udcff]", done.stdout + done.stderr):
            kept = pathlib.Path(tempfile.gettempdir(), "assay-untrusted-" + name)
            kept.write_bytes(data)
            self.fail(f"{arguments} ended in {done.returncode} over {kept}:\n{done.stderr[-2000:]!a}")

    def setUp(self):
        self.codes = set()

    def tearDown(self):
        self.assertIn(2, self.codes, "some damage is refused")
        self.assertTrue(self.codes & {0, 1}, "and some is not in the way")

    def damage(self, name, times, readers):
        """readers: commands as functions of the damaged file; they take turns."""
        good = (self.at / name).read_bytes()
        document = json.loads(good)
        bad = self.at / ("bad-" + name)
        chance = random.Random(name)
        for turn in range(times * TIMES):
            data = broken(good, chance) if turn % 4 == 3 else damaged(document, chance)
            bad.write_bytes(data)
            self.endured(name, data, *readers[turn % len(readers)](bad))

    def test_reports_of_certify(self):
        good, out = self.at / "report.json", self.at / "out"
        self.damage("report.json", 130, [
            *[lambda bad, f=f: ("report", bad, "--format", f, "--out", out) for f in FORMATS],
            lambda bad: ("diff", bad, good), lambda bad: ("diff", good, bad, "--format", "markdown"),
            lambda bad: ("waive", "--from", bad), lambda bad: ("matrix", bad, good, "--format", "html", "--out", out), lambda bad: ("report", good, "--baseline", bad, "--out", out, "--format", "html"),
            lambda bad: ("certify", "--backend", "reference:inprocess", *SMALL, "--baseline", bad),
            lambda bad: ("certify", "--backend", "reference:inprocess", "--quiet", "--only-failed", bad),
            lambda bad: ("replay", bad, 1), lambda bad: ("replay", "reference:inprocess", bad, 1, "--issue")])

    def test_reports_of_fuzz(self):
        good, out = self.at / "fuzz.json", self.at / "out"
        self.damage("fuzz.json", 80, [
            *[lambda bad, f=f: ("report", bad, "--format", f, "--out", out) for f in FORMATS],
            lambda bad: ("waive", "--from", bad), lambda bad: ("diff", bad, good, "--format", "json"),
            lambda bad: ("merge", bad, "--into", self.at / f"merged{len(list(self.at.iterdir()))}.json"),  # a new file
            lambda bad: ("replay", bad, 1),
            lambda bad: ("certify", "--list", "--only-failed", bad)])

    def test_reports_of_exhaust(self):
        exhausted = ("exhaust", "--backend", "reference:inprocess", "--ops", "Erf", "--types", "bf16")
        ended(0, *exhausted, "--report", self.at / "exhaust.json")
        self.damage("exhaust.json", 60, [lambda bad: (*exhausted, "--report", bad, "--resume"),
                                         lambda bad: (*exhausted, "--report", bad, "--resume", "--html", self.at / "out")])

    def test_tables_of_backends(self):
        assay("matrix", self.at / "report.json", "--format", "json", "--out", self.at / "matrix.json")
        out = self.at / "out"
        self.damage("matrix.json", 60, [lambda bad, f=f: ("matrix", bad, "--format", f, "--out", out)
                                        for f in ("markdown", "html", "json")])

    def test_ledgers(self):
        self.damage("ledger.json", 30, [lambda bad: ("waive", "--check", bad),
                                        lambda bad: ("certify", "--backend", "reference:inprocess", *SMALL,
                                                     "--expectations", bad)])

    def test_a_word_that_reorders_or_breaks_the_line_is_told_in_one(self):
        ledger = read_json(self.at / "ledger.json")
        for key in ("expires", "id", "when"):
            hostile = {**ledger, "entries": [{**ledger["entries"][0], key: "\u202e\n\x1b[2J" * 8}]}
            (self.at / "hostile.json").write_text(json.dumps(hostile), encoding="utf-8")
            done = assay("waive", "--check", self.at / "hostile.json")
            self.codes.add(done.returncode)
            self.assertIn(done.returncode, (0, 2))
            self.assertEqual(len(done.stderr.splitlines()), 1 if done.returncode else 0, done.stderr)
            self.assertNotRegex(done.stdout + done.stderr, "[\u202e\x1b]")

    def in_place(self, folder, name, times, *command):
        """The file is damaged where it lies, and put back."""
        file = self.at / folder / name
        good, chance = file.read_bytes(), random.Random(name)
        document = json.loads(good)
        try:
            for turn in range(times * TIMES):
                data = broken(good, chance) if turn % 4 == 3 else damaged(document, chance)
                file.write_bytes(data)
                self.endured(name, data, *command)
        finally:
            file.write_bytes(good)

    def test_manifests(self):
        golden, answers = self.at / "golden", self.at / "answers"
        self.in_place("golden", "MANIFEST.json", 20, "golden", "check", golden)
        self.in_place("golden", "MANIFEST.json", 10, "judge", "--golden", golden, "--outputs", answers)

    def test_findings_and_golden_cases(self):
        case = read_json(self.at / "report.json")["findings"][0]["smallest"]["line"]
        assay("replay", "--backend", "mutant:nhwc-pads-same-undilated", case, "--save", self.at / "finding")
        self.in_place("finding", "finding.json", 30, "replay", self.at / "finding")
        vector = next((self.at / "golden/valid").iterdir())
        self.in_place(vector.relative_to(self.at), "case.json", 20, "replay", "reference:inprocess", vector)

    def test_descriptions(self):
        self.in_place("answers", "backend.json", 30, "judge", "--golden", self.at / "golden", "--outputs", self.at / "answers")

    def test_lines(self):
        chance = random.Random("lines")
        for turn in range(60 * TIMES):
            line = reworded(chance.choice(LINES), chance).replace("\0", "?")
            verb = ("explain",) if turn % 2 else ("replay", "--backend", "reference:inprocess")
            self.endured("line", line.encode(), *verb, line)

    def edit(self, file, times, *command, afresh=()):
        """Bytes of the file are changed where it lies, and put back; `afresh` are removed before each command."""
        good, chance = file.read_bytes(), random.Random(str(command))
        try:
            for _ in range(times * TIMES):
                data = edited(good, chance)
                file.write_bytes(data)
                for each in afresh:
                    each.unlink(missing_ok=True)
                self.endured(file.name, data, *command)
        finally:
            file.write_bytes(good)

    def test_case_files(self):
        folder = self.at / "suites"
        (folder / "conformance").mkdir(parents=True)
        file = folder / "conformance" / "own.cases"
        file.write_text("".join(f"# one\n[v.C{i}] {line} => 1,2,0x1p+3\n" for i, line in enumerate(LINES)), encoding="utf-8")
        self.edit(file, 30, "certify", "reference:inprocess", "--suites", folder, "--cases", "0")
        self.edit(file, 10, "fuzz", "reference:inprocess", "--regressions", file.parent, "--cases", "1", "--findings", "")

    def test_stores(self):
        store, other, into = self.at / "store", self.at / "other", self.at / "into"
        fuzz = ("fuzz", "--backend", "mutant:nhwc-pads-same-undilated", "--ops", "com.microsoft:NhwcConv", "--cases", "40", "--findings", "")
        for shard, file in (("1/2", store), ("2/2", other)):
            ended((0, 1), *fuzz, "--shard", shard, "--store", file)
        beside = [self.at / (store.name + end) for end in ("-wal", "-shm")]
        self.edit(store, 20, *fuzz, "--shard", "1/2", "--store", store, "--resume", afresh=beside)
        self.edit(store, 20, "merge", store, other, "--into", into, afresh=[*beside, into])

    def test_certificates(self):
        report, certificate = self.at / "whole.json", self.at / "certificate.json"
        ended(0, "certify", "reference:inprocess", "--report", report, "--certificate", certificate)
        self.edit(certificate, 10, "verify", certificate)
        self.edit(report, 5, "verify", certificate, "--report", report)
        self.in_place(".", "certificate.json", 10, "verify", certificate)
        self.endured("good", b"", "verify", certificate, "--report", report)
        self.endured("none", b"", "verify", self.at / "nowhere.json")  # what is damaged does not hold: 1, not 2

    def test_findings(self):
        folder = self.at / "finding"
        ended(1, "replay", "--backend", "mutant:pool-divides-by-kernel", LINES[0], "--save", folder)
        self.in_place("finding", "finding.json", 20, "replay", "--backend", "reference:inprocess", folder)
        self.edit(folder / "model.onnx", 10, "replay", "--backend", "reference:inprocess", folder)
        self.edit(folder / "finding.json", 10, "fuzz", "reference:inprocess", "--regressions", self.at, "--cases", "1", "--findings", "")
        ended(0, "replay", "--backend", "reference:inprocess", folder)

    def test_vectors(self):
        golden, answers = self.at / "golden", self.at / "answers"
        test = sorted((golden / "valid").iterdir())[0]
        for name in ("model.onnx", "case.json", "test_data_set_0/input_0.pb", "test_data_set_1/output_0.pb"):
            self.edit(test / name, 8, "golden", "audit", golden / "valid")
            self.edit(test / name, 3, "golden", "check", golden)
            self.edit(test / name, 2, "judge", "--golden", golden, "--outputs", answers)
        answer = answers / test.name / "test_data_set_0" / "output_0.pb"
        self.edit(answer, 20, "judge", "--golden", golden, "--outputs", answers)
        array = answer.with_suffix(".npy")
        numpy.save(array, numpy.arange(6, dtype="<f4").reshape(1, 2, 3))
        answer.unlink()
        self.edit(array, 20, "judge", "--golden", golden, "--outputs", answers)


if __name__ == "__main__":
    unittest.main()
