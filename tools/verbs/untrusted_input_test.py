# SPDX-License-Identifier: Apache-2.0
"""Untrusted files and lines end in exit code 0, 1 or 2 and one line, whatever is in them.

Every file that assay reads is damaged: values of other types, members left out or doubled, bytes changed, cut short,
nested a million deep. So is every line and word with a grammar of its own. Then each verb that reads such a thing is given
it: about 900 in all, with ASSAY_FULL=1 20,000. suites/crosscheck/untrusted_input_test.cpp does the same to the reading
functions.
"""
import copy
import json
import os
import pathlib
import random
import re
import shutil
import sys
import tempfile
import unittest

import numpy
import onnx
import onnx.parser
from command_line import assay, ended, read_json, write_json

IS_FULL = os.environ.get("ASSAY_FULL") == "1"
ONE_IN = 1 if IS_FULL else int(os.environ.get("ASSAY_ONE_IN", "1"))  # under the sanitizers a process takes a second
TIMES, LEAST = (23, 20_000) if IS_FULL else (1, 850 // ONE_IN)
SMALL = ("--ops", "com.microsoft:NhwcConv", "--types", "f32", "--cases", "0")
OTHER_VALUES = (None, True, -1, 0, 2**64 - 1, 2**63, 1e308, "", "x", "\u202e\n" * 50, "y" * 20_000, [], {}, [[]], [{}],
                {"a": None})
REFERENCE = ("--backend", "reference:inprocess")
FUZZ = ("fuzz", *REFERENCE, "--ops", "com.microsoft:NhwcConv", "--types", "f32", "--cases", "1", "--findings", "")
FORMATS = ("html", "markdown", "junit", "sarif", "csv")
LINES = ("AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2 pads=1,0",
         'Conv-11 opset=13 ir=8 X=f16[1,2,3,3]~small:1 W=f16[2,1,2,2]~sign:2@init B="" group=2 strides=1,2 shapes=symbolic',
         "QLinearConv-10 opset=10 ir=8 x=u8[1,1,3]~byte:1 x_scale=f32[]~hold:0.5 x_zero_point=u8[]~hold:1 w=i8[1,1,1]~byte:2 "
         "w_scale=f32[]~hold:0.25 w_zero_point=i8[]~hold:0 y_scale=f32[]~hold:1 y_zero_point=u8[]~hold:3")
SESSIONS = (f"{LINES[0]} ; [threads=2] {LINES[1]}", f"{LINES[2]} ; [names=3 outputs=bound] {LINES[2]} ; [optimization=none] {LINES[0]}")
GRAPHS = ("graph opset=13 ir=8 a=f32[1,2,4]~small:1 b=f32[3,2,1]~sparse2:2@init c=Conv(a,b){pads=0,0;strides=1} d=Relu(c) out=c,d",
          "graph opset=13 ir=8 a=f32[2,3]~small:1 b=f32[3,2]~small:2 c=MatMul(a,b) d=Transpose(c){perm=1,0} e=Add(d,d) out=e inside=function")
# What may stand behind an option and has a grammar of its own.
WORDS = (("--filter", "auto_pad == VALID and any(strides) > 1 or dim(X,0) in (1, 2)"), ("--ops", "com.microsoft:NhwcConv-1,Conv-11"),
         ("--types", "f32,f16"), ("--config", "threads=2,optimization=none,precision=f32"), ("--set", "precision=f32"),
         ("--show", "5"), ("--timeout", "500ms"), ("--level", "L2t"))
# A model as users have it, with a name for an extent and a function of its own.
MODEL = """<ir_version: 9, opset_import: ["" : 17, "own" : 1]>
net (float[batch, 2, 5, 5] x) => (float[batch, 2] y) <float[2, 2, 2, 2] w = {1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8}, int64[2] axes = {2, 3}>
{
  [conv] c = Conv <pads = [0, 0, 1, 1]> (x, w)
  [gate] g = own.gate (c)
  [mean] y = ReduceMax <keepdims = 0, axes = [2, 3]> (g)
}
<opset_import: ["" : 17], domain: "own">
gate (x) => (y) { s = Sigmoid (x)
                  y = Mul (x, s) }
"""
# Nothing in between: what is neither tiny nor beyond measure may be computed for hours.
NUMBERS = ("-1", "0", "1", "2", "3", "7", "2147483648", "9223372036854775807", "18446744073709551616", "1e3", "")
# A name of ours in the JSON is damaged in one of these ways.
WAYS = ("replace", "replace", "replace", "remove", "double", "add")


def places(value, path=()):
    yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, (*path, key))


def damaged(good, chance):
    """The JSON with one or two places changed, where the larger lists are not where most of them fall; or broken."""
    if chance.randrange(4) == 0:
        return broken(good, chance)
    document = json.loads(good)
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
            words[at] = chance.choice(chance.choice((*LINES, *SESSIONS, *GRAPHS)).split(" "))
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


def other_digit(good, chance):
    """One digit or letter of a number, a name or a digest for another; what is read byte for byte keeps its writing."""
    data = bytearray(good)
    data[chance.choice([found.start() for found in re.finditer(rb"[0-9a-f]", good)])] = chance.choice(b"0123456789abcdef")
    return bytes(data)


class UntrustedInput(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.at = at = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        ledger = {"ledger": 1, "entries": [{
            "id": "one", "operators": ["com.microsoft:NhwcConv-1"], "when": "any(strides) > 1", "states": ["fail"],
            "because": ["value"], "reason": "known", "link": "https://example.org/1", "owner": "me",
            "expires": "2999-01-01"}]}
        write_json(at / "ledger.json", ledger)
        wrong = ("--backend", "mutant:nhwc-pads-same-undilated")
        ended(1, "certify", *wrong, *SMALL, "--expectations", at / "ledger.json", "--report", at / "report.json")
        ended((0, 1), "fuzz", *wrong, "--ops", "com.microsoft:NhwcConv", "--types", "f32", "--cases", 60, "--findings", "",
                       "--report", at / "fuzz.json")
        ended(0, "golden", "write", *SMALL, "--graphs", 4, "--out", at / "golden")
        ended(0, "certify", "--backend", "reference", *SMALL, "--save-outputs", at / "answers")
        onnx.save(onnx.parser.parse_model(MODEL), at / "net.onnx")
        (at / "inputs").mkdir()
        numpy.save(at / "inputs/x.npy", numpy.ones((2, 2, 5, 5), "<f4"))
        cls.ran, cls.tests = 0, set()

    @classmethod
    def tearDownClass(cls):
        if cls.tests == {name for name in dir(cls) if name.startswith("test_")}:
            assert cls.ran >= LEAST, f"{cls.ran} damaged files and lines, where {LEAST} are promised"

    def endured(self, name, data, *arguments):
        type(self).ran += 1
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
        self.tests.add(self._testMethodName)

    def tearDown(self):
        if ONE_IN == 1:
            self.assertIn(2, self.codes, "some damage is refused")
            self.assertTrue(self.codes & {0, 1}, "and some is not in the way")

    def damage(self, file, times, *commands, by=damaged, afresh=()):
        """The file is damaged where it lies, and put back. The commands take turns; `afresh` are removed before each."""
        good, chance = file.read_bytes(), random.Random(file.name)
        try:
            for turn in range(max(len(commands), times * TIMES // ONE_IN)):
                data = by(good, chance)
                file.write_bytes(data)
                for each in afresh:
                    each.unlink(missing_ok=True)
                self.endured(file.name, data, *commands[turn % len(commands)])
        finally:
            file.write_bytes(good)

    def copied(self, name):
        return self.at / name, pathlib.Path(shutil.copy(self.at / name, self.at / f"bad-{name}"))

    def test_reports_of_certify(self):
        (good, bad), out = self.copied("report.json"), self.at / "out"
        self.damage(bad, 130, *[("report", bad, "--format", form, "--out", out) for form in FORMATS],
                    ("diff", bad, good), ("diff", good, bad, "--format", "markdown"), ("waive", "--from", bad),
                    ("matrix", bad, good, "--format", "html", "--out", out), ("vet", self.at / "net.onnx", bad),
                    ("report", good, "--baseline", bad, "--out", out, "--format", "html"),
                    ("certify", *REFERENCE, *SMALL, "--baseline", bad), ("certify", *REFERENCE, "--quiet", "--only-failed", bad),
                    ("replay", bad, 1), ("replay", *REFERENCE, bad, 1, "--issue"))

    def test_reports_of_fuzz(self):
        (good, bad), out = self.copied("fuzz.json"), self.at / "out"
        self.damage(bad, 80, *[("report", bad, "--format", form, "--out", out) for form in FORMATS],
                    ("waive", "--from", bad), ("diff", bad, good, "--format", "json"),
                    ("merge", bad, "--into", self.at / "merged.json"), ("replay", bad, 1), ("certify", "--list", "--only-failed", bad),
                    (*FUZZ, "--baseline", bad), afresh=[self.at / "merged.json"])

    def test_reports_of_graphs(self):
        bad, both, out = self.at / "graphs.json", self.at / "both.json", self.at / "out"
        wrong = ("--backend", "mutant:matmul-leaves-tail")
        ended(1, "fuzz", *wrong, "--graphs", "--cases", 60, "--findings", "", "--report", bad)
        self.damage(bad, 8, ("replay", *wrong, bad, 1), ("diff", bad, bad), ("replay", *REFERENCE, bad, 1), ("report", bad, "--out", out))
        planted = ("--backend", f"exec:{sys.executable} {pathlib.Path('suites/models/defective.py').resolve()}", "--set", "fusions=planted")
        ended(1, "certify", *planted, "--ops", "Relu-14", "--cases", 0, "--graphs", 150, "--report", both)
        self.damage(both, 12, *[("report", both, "--format", form, "--out", out) for form in FORMATS], ("diff", both, both))

    def test_reports_of_exhaust(self):
        bad = self.at / "exhaust.json"
        exhausted = ("exhaust", *REFERENCE, "--ops", "Erf", "--types", "bf16", "--report", bad)
        ended(0, *exhausted)
        self.damage(bad, 60, (*exhausted, "--resume"), (*exhausted, "--resume", "--html", self.at / "out"))

    def test_tables_of_backends(self):
        bad = self.at / "matrix.json"
        assay("matrix", self.at / "report.json", "--format", "json", "--out", bad)
        self.damage(bad, 60, *[("matrix", bad, "--format", form, "--out", self.at / "out") for form in ("markdown", "html", "json")])

    def test_ledgers(self):
        _, bad = self.copied("ledger.json")
        self.damage(bad, 30, ("waive", "--check", bad), ("certify", *REFERENCE, *SMALL, "--expectations", bad), (*FUZZ, "--expectations", bad))

    def test_a_word_that_reorders_or_breaks_the_line_is_told_in_one(self):
        ledger = read_json(self.at / "ledger.json")
        for key in ("expires", "id", "when"):
            hostile = {**ledger, "entries": [{**ledger["entries"][0], key: "\u202e\n\x1b[2J" * 8}]}
            done = assay("waive", "--check", write_json(self.at / "hostile.json", hostile))
            self.codes.add(done.returncode)
            self.assertIn(done.returncode, (0, 2))
            self.assertEqual(len(done.stderr.splitlines()), 1 if done.returncode else 0, done.stderr)
            self.assertNotRegex(done.stdout + done.stderr, "[\u202e\x1b]")

    def test_manifests(self):
        golden, answers = self.at / "golden", self.at / "answers"
        for by in (damaged, other_digit):
            self.damage(golden / "MANIFEST.json", 15, ("golden", "check", golden),
                        ("judge", "--golden", golden, "--outputs", answers), by=by)

    def test_golden_cases(self):
        vector = next((self.at / "golden/valid").iterdir())
        self.damage(vector / "case.json", 20, ("replay", *REFERENCE, vector))

    def test_descriptions(self):
        self.damage(self.at / "answers/backend.json", 30, ("judge", "--golden", self.at / "golden", "--outputs", self.at / "answers"))

    def test_lines(self):
        chance = random.Random("lines")
        for kind, times in ((LINES, 60), (SESSIONS, 16), (GRAPHS, 16)):
            backend = ("--backend", "reference") if kind == GRAPHS else REFERENCE
            for turn in range(times * TIMES):
                line = reworded(chance.choice(kind), chance).replace("\0", "?")
                verb = ("explain",) if turn % 2 and kind == LINES else ("replay", *backend)
                self.endured("line", line.encode(), *verb, line)

    def test_words(self):
        chance = random.Random("words")
        for turn in range(16 * TIMES):
            option, good = WORDS[turn % len(WORDS)]
            word = edited(good.encode(), chance).replace(b"\0", b"?").decode(errors="surrogateescape")
            self.endured("word", word.encode(errors="surrogateescape"), "certify", *REFERENCE, "--cases", 0,
                         *(() if option == "--ops" else SMALL[:2]), f"{option}={word}", *(() if option == "--config" else ("--list",)))

    def test_models(self):
        model, report, inputs = self.at / "net.onnx", self.at / "report.json", self.at / "inputs"
        run = ("certify", *REFERENCE, model)
        self.damage(model, 30, (*run, "--list"), ("vet", model, report), (*run, "--dim", "batch=2", "--inputs", inputs, "--quiet"), by=edited)

    def test_inputs_of_models(self):
        model, given, single = self.at / "net.onnx", self.at / "inputs/x.npy", self.at / "single.onnx"
        good = ("certify", *REFERENCE, model, "--dim", "batch=2", "--inputs", given.parent, "--list")
        onnx.save(onnx.parser.parse_model('<ir_version: 8, opset_import: ["": 13]> g (float[2,2,5,5] x) => (float[2,2,5,5] y) { y = Relu(x) }'), single)
        self.damage(given, 14, good, ("replay", *REFERENCE, single, given), by=edited)
        array, proto = numpy.load(given), given.with_name("input_0.pb")
        given.unlink()
        try:
            proto.write_bytes(onnx.numpy_helper.from_array(array, "x").SerializeToString())
            self.damage(proto, 14, good, ("replay", *REFERENCE, single, proto), by=edited)
        finally:
            proto.unlink()
            numpy.save(given, array)

    def test_case_files(self):
        folder = self.at / "suites"
        (folder / "conformance").mkdir(parents=True)
        file = folder / "conformance" / "own.cases"
        file.write_text("".join(f"# one\n[v.C{i}] {line} => 1,2,0x1p+3\n" for i, line in enumerate(LINES)), encoding="utf-8")
        self.damage(file, 30, ("certify", *REFERENCE, "--suites", folder, "--cases", "0"), by=edited)
        self.damage(file, 10, (*FUZZ, "--regressions", file.parent), by=edited)

    def test_stores(self):
        store, other, into = self.at / "store", self.at / "other", self.at / "into"
        fuzz = ("fuzz", "--backend", "mutant:nhwc-pads-same-undilated", "--ops", "com.microsoft:NhwcConv", "--cases", "40", "--findings", "")
        for shard, file in (("1/2", store), ("2/2", other)):
            ended((0, 1), *fuzz, "--shard", shard, "--store", file)
        beside = [self.at / (store.name + end) for end in ("-wal", "-shm")]
        self.damage(store, 20, (*fuzz, "--shard", "1/2", "--store", store, "--resume"), by=edited, afresh=beside)
        self.damage(store, 20, ("merge", store, other, "--into", into), by=edited, afresh=[*beside, into])

    def test_certificates(self):
        report, certificate = self.at / "whole.json", self.at / "certificate.json"
        ended(0, "certify", *REFERENCE, "--suite", "default", "--profile", "sonnx", "--report", report, "--certificate", certificate)
        self.damage(certificate, 5, ("verify", certificate), by=edited)
        self.damage(report, 3, ("verify", certificate, "--report", report), by=edited)
        self.damage(certificate, 6, ("verify", certificate), ("verify", certificate, "--report", report), ("vet", self.at / "net.onnx", certificate))
        ended(0, "verify", certificate, "--report", report)
        self.endured("none", b"", "verify", self.at / "nowhere.json")  # what is damaged does not hold: 1, not 2

    def test_findings(self):
        folder = self.at / "finding"
        ended(1, "replay", "--backend", "mutant:pool-divides-by-kernel", LINES[0], "--save", folder)
        self.damage(folder / "finding.json", 50, ("replay", *REFERENCE, folder), ("replay", folder))
        self.damage(folder / "model.onnx", 10, ("replay", *REFERENCE, folder), by=edited)
        self.damage(folder / "finding.json", 10, (*FUZZ, "--regressions", self.at), by=edited)
        ended(0, "replay", *REFERENCE, folder)

    def test_vectors(self):
        golden, answers = self.at / "golden", self.at / "answers"
        test = sorted((golden / "valid").iterdir())[0]
        theirs = pathlib.Path(shutil.copytree(test, self.at / "theirs"))  # as a backend test of ONNX has it
        (theirs / "case.json").unlink()
        for name in ("model.onnx", "test_data_set_0/input_0.pb"):
            self.damage(theirs / name, 8, ("replay", *REFERENCE, theirs), by=edited)
        for name in ("model.onnx", "case.json", "test_data_set_0/input_0.pb", "test_data_set_1/output_0.pb"):
            self.damage(test / name, 8, ("golden", "audit", golden / "valid"), by=edited)
            self.damage(test / name, 3, ("golden", "check", golden), by=edited)
            self.damage(test / name, 2, ("judge", "--golden", golden, "--outputs", answers), by=edited)
        answer = answers / test.name / "test_data_set_0" / "output_0.pb"
        self.damage(answer, 20, ("judge", "--golden", golden, "--outputs", answers), by=edited)
        array = answer.with_suffix(".npy")
        numpy.save(array, numpy.arange(6, dtype="<f4").reshape(1, 2, 3))
        answer.unlink()
        self.damage(array, 20, ("judge", "--golden", golden, "--outputs", answers), by=edited)
