# SPDX-License-Identifier: Apache-2.0
"""assay fuzz as a person uses it: what it finds, and that neither jobs, shards nor a kill change it."""
import html
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

import jsonschema
import onnx
from command_line import TOOL, InFolder, assay, ended, read_json, refused, write_json

SCHEMA, GRAPHS = read_json("reports/fuzz.schema.json"), read_json("reports/graphs.schema.json")
FUSING = f"exec:{sys.executable} {pathlib.Path(__file__).resolve().parents[1] / 'suites/models/defective.py'}"
BUG = ["--backend", "mutant:pool-pads-same-undilated", "--ops", "AveragePool-19", "--presentations", "none"]


def read(path):
    report = read_json(path)
    jsonschema.Draft202012Validator(SCHEMA).validate(report)
    del report["run"]
    return report


class Fuzz(InFolder):
    def fuzzed(self, name, *words, code=1):
        ended(code, "fuzz", *BUG, "--report", self.folder / f"{name}.json", *words, cwd=self.folder)
        return read(self.folder / f"{name}.json")

    def test_a_planted_bug_is_one_sentence_a_small_case_and_a_folder(self):
        report = self.fuzzed("bug", "--cases", 400)
        self.assertEqual(report["plan"]["asked"], 400)
        self.assertIn("pool-pads-same-undilated", report["causes"][0]["models"])
        self.assertEqual(sum(cause["count"] for cause in report["causes"]), len(report["failures"]))
        for number, cause in enumerate(report["causes"], 1):
            of_cause = [each for each in report["failures"] if each["cause"] == number]
            self.assertEqual(len(of_cause), cause["count"], "every failure names its cause")
            self.assertEqual({each["line"].split()[0] for each in of_cause}, set(cause["versions"]))
            self.assertLessEqual(set(cause["examples"]), {each["id"] for each in report["findings"] if each["cause"] == number})
        told = assay("report", self.folder / "bug.json", "--format", "junit", cwd=self.folder)
        self.assertEqual(told.stdout.count("cause: " + report["causes"][0]["sentence"][:40]), report["causes"][0]["count"], told.stderr)
        for finding in report["findings"]:
            kept = self.folder / "findings" / finding["folder"]
            onnx.checker.check_model(onnx.load(kept / "model.onnx"))
            self.assertLessEqual(sum(f.stat().st_size for f in kept.rglob("*") if f.is_file()), 10_000)
        smallest = report["causes"][0]["smallest"]
        again = ended(1, "replay", *BUG[:2], smallest)
        self.assertIn("fail", again.stdout)

    def test_nothing_is_found_in_our_own_kernels(self):
        done = ended(0, "fuzz", "--backend", "reference", "--cases", 500, "--findings", "", cwd=self.folder)
        self.assertIn("nothing found that counts", done.stdout)

    def test_jobs_do_not_change_a_report(self):
        self.assertEqual(self.fuzzed("one", "--cases", 300, "--jobs", 1), self.fuzzed("many", "--cases", 300, "--jobs", 3))

    def test_shards_merge_to_the_whole(self):
        stores = []
        for number in (1, 2, 3):
            stores.append(self.folder / f"shard{number}")
            self.fuzzed(f"shard{number}", "--cases", 300, "--shard", f"{number}/3", "--store", stores[-1])
        ended(0, "merge", *stores, "--into", self.folder / "whole")
        whole = self.fuzzed("whole", "--cases", 300, "--store", self.folder / "whole", "--resume")
        self.assertEqual(whole, self.fuzzed("straight", "--cases", 300))
        ended(2, "merge", *stores[:2], "--into", self.folder / "two")
        self.assertFalse((self.folder / "two").exists())

    def shards(self, count, *words, bug=BUG):
        """The reports of all shards, the stores beside them."""
        for number in range(1, count + 1):
            ended(1, "fuzz", *bug, *words, "--shard", f"{number}/{count}", "--store", self.folder / f"{number}.store",
                  "--report", self.folder / f"{number}.json", cwd=self.folder)
        return [self.folder / f"{number}.json" for number in range(1, count + 1)]

    def test_reports_of_shards_merge_to_the_straight_one_byte_for_byte(self):
        # Several operators and causes, contested cases that count, more failures of a signature than are looked at.
        for backend, words in (("mutant:pool-pads-same-undilated", ["--ops", "AveragePool-19", "--presentations", "none"]),
                               ("mutant:conv-reads-first-group", ["--ops", "Conv,NhwcConv", "--strict"]),
                               ("mutant:conv-accumulates-in-f16", ["--ops", "Conv-11", "--seek", 5])):
            with self.subTest(backend), tempfile.TemporaryDirectory() as place:
                self.folder = pathlib.Path(place)
                bug = ["--backend", backend, *words]
                parts = self.shards(3, "--cases", 400, bug=bug)
                ended(1, "merge", *parts, "--into", self.folder / "whole.json")
                straight = ended(1, "fuzz", *bug, "--cases", 400, "--report", self.folder / "straight.json", cwd=self.folder)
                read(self.folder / "whole.json")
                texts = [(self.folder / name).read_text(encoding="utf-8").split('\n  "run": ')[0]
                         for name in ("whole.json", "straight.json")]
                self.assertEqual(*texts)
                whole = read(self.folder / "whole.json")
                self.assertGreater(len(whole["findings"]), 3)
                first = read_json(parts[0])
                del first["causes"]  # which are worked out again
                write_json(parts[0], first)
                ended(1, "merge", *parts, "--into", self.folder / "again.json")
                self.assertEqual(read(self.folder / "again.json")["causes"], whole["causes"])

    def test_reports_that_do_not_make_a_whole_are_told_so(self):
        parts = self.shards(2, "--cases", 60)
        into = ["--into", self.folder / "whole.json"]
        certified = self.folder / "certified.json"
        assay("certify", "--backend", "reference", "--ops", "AveragePool-19", "--cases", 5, "--report", certified)
        for words, said in (((parts[0],), "shard 2/2 is missing"), ((parts[0], parts[0]), "shard 1/2 is in"),
                            ((parts[0], self.folder / "2.store"), "either"), ((certified, certified), "needs no"),
                            ((parts[0], self.other(parts[1], "backend", "name", "another")), "backend/name"),
                            ((parts[0], self.other(parts[1], "plan", "seed", 2)), "plan/seed is 1 there and 2 here"),
                            ((parts[0], self.other(parts[1], "plan", "complete", False)), "--resume"),
                            ((parts[0], self.other(parts[1], "plan", "asked", 3)), "33 cases"),
                            ((parts[0], self.other(parts[1], "plan", "cases", None)), "--budget"),
                            ((parts[0], self.folder / "nowhere.json"), "cannot read")):
            self.assertIn(said, refused("merge", *words, *into))
            self.assertFalse(into[1].exists())

    def test_seeking_finds_the_arithmetic_that_is_too_weak(self):
        done = ended(1, "fuzz", "--backend", "mutant:conv-accumulates-in-f16", "--ops", "Conv-11", "--cases", 1, "--seek", 3,
                     "--report", self.folder / "weak.json", cwd=self.folder)
        report = read(self.folder / "weak.json")
        self.assertEqual([peak["island"] for peak in report["peaks"]], [0, 1, 2])
        self.assertGreater(report["peaks"][0]["share"], 1)
        self.assertIn("island", " ".join(finding["origin"] for finding in report["findings"]))
        self.assertIn("on islands", done.stdout)
        done = ended(0, "fuzz", "--backend", "reference", "--ops", "Conv-11", "--cases", 1, "--seek", 3, cwd=self.folder)
        self.assertIn("seeking on 3 islands", done.stdout)

    def test_marks_of_shards_are_those_of_the_whole(self):
        mark = {"mark": "unstable", "by": "repeated", "detail": "pass, then fail", "breaches": True, "replay": "assay replay"}
        parts = []
        for number, marked in ((1, (4, 0)), (2, (3,))):
            parts.append(self.folder / f"{number}.json")
            assay("fuzz", "--backend", "reference", "--ops", "Conv-11", "--cases", 10, "--shard", f"{number}/2", "--report",
                  parts[-1], cwd=self.folder)
            report = read_json(parts[-1])
            report["marks"] = {"unstable": len(marked)}
            report["marked"] = [{"index": index, "id": "0" * 32, "line": "Conv-11", "state": "pass", "marks": [mark]}
                                for index in marked]
            write_json(parts[-1], report)
        ended(1, "merge", *parts, "--into", self.folder / "whole.json")
        whole = read(self.folder / "whole.json")
        self.assertEqual((whole["marks"], [each["index"] for each in whole["marked"]]), ({"unstable": 3}, [0, 3, 4]))
        self.assertFalse(whole["conforms"])

    def other(self, report, member, name, value):
        json_of = read_json(report)
        json_of[member][name] = value
        return write_json(self.folder / f"{member}-{name}.json", json_of)

    def test_a_killed_run_goes_on_and_ends_as_the_straight_one(self):
        straight = self.fuzzed("straight", "--cases", 600)
        store = self.folder / "store"
        chance = random.Random(time.time_ns())
        resume = []
        for _ in range(20):
            run = subprocess.Popen([TOOL, "fuzz", *BUG, "--cases", "600", "--store", store, *resume, "--findings", ""],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder)
            try:
                run.wait(chance.uniform(0.05, 0.4))
            except subprocess.TimeoutExpired:
                run.send_signal(signal.SIGKILL)
                run.wait()
            if store.exists() and store.stat().st_size > 0:
                resume = ["--resume"]
        self.assertEqual(self.fuzzed("resumed", "--cases", 600, "--store", store, *resume), straight)

    def test_a_store_of_another_campaign_is_left_alone(self):
        store = self.folder / "store"
        self.fuzzed("first", "--cases", 50, "--store", store)
        self.assertIn("seed", assay("fuzz", *BUG, "--cases", 50, "--seed", 2, "--store", store, "--resume").stderr)
        self.assertIn("--resume", assay("fuzz", *BUG, "--cases", 50, "--store", store).stderr)

    def test_what_an_earlier_report_knows_does_not_count(self):
        self.fuzzed("first", "--cases", 300)
        known = self.fuzzed("second", "--cases", 300, "--baseline", self.folder / "first.json", code=0)
        self.assertTrue(all(failure["excused"] for failure in known["failures"]))
        self.assertGreater(len(known["failures"]), 0)

    def test_kept_findings_are_asked_first(self):
        report = self.fuzzed("first", "--cases", 300)
        kept = len(list((self.folder / "findings").iterdir()))
        again = self.fuzzed("second", "--cases", 1, "--regressions", self.folder / "findings", "--findings", "")
        self.assertEqual(again["plan"]["asked"], kept + 1)
        self.assertEqual(len(again["failures"]), kept)
        self.assertLessEqual({failure["line"] for failure in again["failures"]},
                             {finding["line"] for finding in report["findings"]})

    def test_mistakes_are_one_line(self):
        for words, said in ((["--cases", 5, "--shard", "9/8"], "2/8"), ([], "--budget"), (["--budget", "soon"], "10m"),
                            (["--cases", 5, "--resume"], "--store"), (["--cases", 5, "--shard", "auto"], "SLURM"),
                            (["--cases", 5, "--regressions", "nowhere"], "nowhere")):
            self.assertIn(said, refused("fuzz", *BUG, *words, cwd=self.folder))


class Graphs(InFolder):
    def fuzzed(self, code, backend, *words):
        ended(code, "fuzz", backend, "--graphs", "--findings", self.folder / "found", "--report", self.folder / "report.json", *words)
        report = read_json(self.folder / "report.json")
        jsonschema.Draft202012Validator(GRAPHS).validate(report)
        del report["run"]
        return report

    def test_correct_arithmetic_is_right_in_every_graph(self):
        for backend in ("reference", "variant:in-double", "variant:reversed"):
            with self.subTest(backend):
                report = self.fuzzed(0, backend, "--cases", 2000)
                self.assertGreater(report["totals"]["pass"], 1600)
                self.assertEqual(report["causes"], [])

    def test_wrong_fusions_are_two_nodes_each(self):
        self.assertEqual(self.fuzzed(1, FUSING, "--cases", 1500, "--set", "fusions=none")["totals"]["error"], 0)
        report = self.fuzzed(1, FUSING, "--cases", 1500, "--set", "fusions=planted")
        wrong = [cause for cause in report["causes"] if cause["state"] == "fail"]
        pairs = {tuple(cause["operators"]) for cause in wrong}
        self.assertLessEqual({("Conv", "BatchNormalization"), ("Conv", "Add"), ("Relu", "MaxPool"), ("Pad", "Conv"),
                              ("MatMul", "Add"), ("Transpose", "MatMul")}, pairs)
        for cause in wrong:
            onnx.checker.check_model(onnx.load(self.folder / "found" / cause["folder"] / "model.onnx"))
        ended(1, "replay", "--backend", FUSING, "--set", "fusions=planted", wrong[0]["line"])
        self.assertIn(wrong[0]["line"], ended(1, "replay", self.folder / "report.json", 1, "--backend", FUSING).stdout)
        self.assertIn("causes 1 to", refused("replay", self.folder / "report.json", 99, "--backend", FUSING))

    def test_jobs_do_not_change_what_is_found(self):
        words = ("--cases", 700, "--set", "fusions=planted")
        self.assertEqual(self.fuzzed(1, FUSING, *words, "--jobs", 1), self.fuzzed(1, FUSING, *words, "--jobs", 3))

    def test_the_pass_that_is_wrong_is_named_and_its_script_shows_it(self):
        report = self.fuzzed(1, "onnxruntime", "--cases", 1500)
        named = [cause for cause in report["causes"] if cause["right_with"] == "disable=Pad_Fusion"]
        self.assertGreater(len(named), 0)
        done = subprocess.run([sys.executable, self.folder / "found" / named[0]["folder"] / "repro.py"], capture_output=True, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)

    def test_certify_takes_graphs_in(self):
        words = ("certify", FUSING, "--ops", "Relu-14", "--cases", 200, "--presentations", "none", "--report", self.folder / "report.json")
        done = ended(1, *words, "--set", "fusions=planted", "--graphs", 700)
        self.assertRegex(done.stdout.splitlines()[-1], r"^not conforming: (\d+ \w+, )*\d+ graphs?; ")
        self.assertIn("drawn graphs, to find what optimisers do wrong: 700 graphs; ", done.stdout)
        report = read_json(self.folder / "report.json")
        jsonschema.Draft202012Validator(read_json("reports/report.schema.json")).validate(report)
        first = report["graphs"]["causes"][0]
        for form in ("markdown", "junit", "html"):
            with self.subTest(form):
                self.assertIn(first["line"].split(" ", 3)[3][:40], html.unescape(ended(0, "report", self.folder / "report.json", "--format", form).stdout))
        ended(1, *words[:-1], self.folder / "mended.json", "--set", "fusions=none", "--graphs", 700)
        told = ended(0, "diff", self.folder / "report.json", self.folder / "mended.json").stdout
        self.assertIn("fixed  " + first["text"], told)
        self.assertIn("leave out --graphs", refused(*words, "--graphs", 5, "--certificate", self.folder / "c.json"))

    def test_a_graph_inside_something_is_the_same_graph(self):
        line = "graph opset=13 ir=8 a=f32[1,2,4]~small:1 b=f32[3,2,1]~sparse2:2@init c=Conv(a,b) d=Relu(c) out=c,d inside="
        for wrapper in ("if", "loop", "function"):
            with self.subTest(wrapper):
                folder = self.folder / wrapper
                ended(0, "replay", "--backend", "onnxruntime", line + wrapper, "--save", folder)
                onnx.checker.check_model(onnx.load(folder / "model.onnx"), full_check=True)
                self.assertIn("pass", ended(0, "replay", "--backend", "reference", line + wrapper).stdout)

    def test_what_does_not_go_with_graphs_is_told_so(self):
        self.assertIn("--graphs goes with", refused("fuzz", "reference", "--graphs", "--cases", 5, "--ops", "Conv"))
        self.assertIn("fuzz needs an end", refused("fuzz", "reference", "--graphs"))
        for words in (("fuzz", "onnx.inference", "--cases", 5), ("certify", "onnx.inference", "--ops", "Relu")):
            self.assertIn("answers types and shapes", refused(*words, "--graphs", *([] if words[0] == "fuzz" else [5])))
