# SPDX-License-Identifier: Apache-2.0
"""What the tool says and how it exits: bad input is one clear line on stderr and exit code 2."""
import os
import pathlib
import re
import signal
import subprocess
import sys

from command_line import TOOL, InFolder, assay, ended, read_json, refused, worker, write_json


POOL = "AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2"
REFERENCE = ["--backend", "reference"]

# Refuses four models, then interrupts whoever asked.
INTERRUPTER = """
asked = 0

def run(model, sets, options):
    global asked
    asked += 1
    if asked == 5:
        open(sys.argv[1], "w").close()  # somebody waits at the other end, and interrupts
        open(sys.argv[2]).close()
    raise assay_worker.Refused("busy")

assay_worker.serve({"backend": "interrupter", "version": "1", "device": "cpu"}, run)
"""


class BadInput(InFolder):
    def test_each_is_told_what_is_wrong(self):
        for said, *words in (
                ("none", "certify", *REFERENCE, "--config", "optimization=nothing"), ("precision", "certify", *REFERENCE, "--config", "precision=f32"),
                ("threads=", "certify", *REFERENCE, "--config", "threads=many"), ("did you mean certify?", "certfy"), ("",),
                ("did you mean --backend?", "certify", "--bakend", "reference"),
                ("--backend", "replay", "AveragePool-7 opset=7 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2"),
                ("did you mean Conv?", "certify", *REFERENCE, "--ops", "Conf"), ("Conv-11 is in force", "explain", "Conv-12"),
                ("did you mean f32?", "certify", *REFERENCE, "--types", "f33"), ("unknown level 'L9'", "certify", *REFERENCE, "--level", "L9"),
                ("in quotes", "replay", *REFERENCE, *POOL.split()), ("", "certify", *REFERENCE, "--cases", "many"),
                ("", "certify", *REFERENCE, "--strict", "--lenient"), ("", "replay", *REFERENCE, "AveragePool-19 X=f32[1,1,4~iota:1"),
                ("a window is too large", "explain", POOL + " pads=9223372036854775807,0"),
                ("'ort-full.json'", "replay", *REFERENCE, "ort-full.json X=f32[1]~iota:1"),  # shown as it was typed
                ("", "replay", *REFERENCE, "ImageDecoder-20 opset=20 ir=8 encoded_stream=u8[4]~iota:1"), ("", "certify", "--backend", "no-such-backend"),
                ("no/such/program", "certify", "--backend", "exec:no/such/program", "--cases", 29),
                ("no/such/program", "replay", "--backend", "exec:no/such/program", POOL),
                ("cannot write", "certify", *REFERENCE, "--report", "no/such/folder/x.json"),  # before the run
                ("not a regular file", "certify", *REFERENCE, "--report", "."), ("conformance", "certify", *REFERENCE, "--suites", "tools"),
                ("'foo' was not expected; assay golden digest --help says what is", "golden", "digest", "foo"),
                ("a case line goes in quotes", "explain", *POOL.split()), ("see assay certify --help", "certify", "--jobs", "2000"),
                ("two words name a backend: 'reference' and 'onnxruntime'", "certify", *REFERENCE, "onnxruntime"),
                ("two words name a backend: 'a' and 'b'", "fuzz", "a", "b"), ("two words name a case line", "replay", "reference", POOL, POOL),
                ("name a case line in quotes", "replay", "reference"),
                ("unknown backend onnxruntme; did you mean onnxruntime?", "certify", "onnxruntme"),
                ("did you mean sonnx", "certify", *REFERENCE, "--profile", "sonn")):
            with self.subTest(words):
                self.assertIn(said, refused(*words))

    def test_every_kind_of_name_has_a_nearest_one(self):
        for meant, *words in (("write", "golden", "wirte"), ("install", "backends", "instal", "opencv"), ("--onnx-node-tests", "golden", "audit", "--onnx-node-test"),
                              ("short", "certify", "--suite", "shrot"), ("basic", "certify", "--optimization", "basci"),
                              ("all", "certify", "--laws", "alll"), ("sample", "certify", "--presentations", "smaple"), ("bash", "completion", "bahs"),
                              ("L2t", "certify", *REFERENCE, "--level", "L2tt"), ("onnxruntime", "certify", "--backend", "onnxruntme"),
                              ("opencv", "backends", "install", "opencvv"), ("conv-flips-kernel", "mutate", "--mutant", "conv-flip-kernel"),
                              ("Conv-11", "explain", "Covn-11"), ("Conv-11", "replay", *REFERENCE, "Covn-11 opset=11"),
                              ("strides", "replay", *REFERENCE, "Conv-11 opset=11 ir=8 X=f32[1,1,3]~iota:1 stridez=2"),
                              ("junit", "report", "x.json", "--format", "junti"), ("cause", "report", "x.json", "--per", "causes"),
                              ("markdown", "diff", "a", "b", "--format", "mardown"), ("html", "matrix", "a", "--format", "htlm")):
            self.assertIn(f"did you mean {meant}?", refused(*words))

    def test_a_word_is_what_it_looks_like(self):
        for kind, word in (("a model", "mine.onnx"), ("a report", "mine.json"), ("a folder", "tools"), ("a case line", POOL), ("a folder", "./reference")):
            for verb in ("certify", "fuzz", "doctor"):
                if (verb, kind) == ("certify", "a model"):
                    continue
                told = refused(verb, word)
                self.assertIn(f"names {kind}", told)
                self.assertRegex(told, f"assay {verb} takes a (backend|model)")

    def test_a_time_that_is_none(self):
        for word in ("0", "soon", "1x", "1 s", "25h", "-1s", "nan", "inf", "1e3"):
            for verb in ("certify", "doctor"):
                self.assertIn("is no time from 1ms to 24h; write 10, 0.5, 500ms or 2m", refused(verb, "--timeout", word))

    def test_a_case_line_that_asks_nothing(self):
        for line in ("AveragePool-19 opset=19 ir=8", 'AveragePool-19 X="" kernel_shape=2', "QLinearConv-10 ir=8"):
            self.assertIn("no input is given", refused("replay", *REFERENCE, line))
            self.assertIn("no input is given", refused("bisect", "--backend", "onnxruntime", "--good", "1", "--bad", "2", line))

    def test_a_bad_line_of_a_case_file_is_named(self):
        cases = self.folder / "conformance" / "own.cases"
        cases.parent.mkdir()
        cases.write_text(f"# fine\n{POOL}\nConv-11 nonsense\n", encoding="utf-8")
        self.assertIn("own.cases:3: ", refused("certify", *REFERENCE, "--suites", self.folder))

    def test_nothing_selected(self):
        (self.folder / "conformance").mkdir()
        self.assertIn("no case", refused("certify", *REFERENCE, "--suites", self.folder, "--cases", 0))


class Answers(InFolder):
    def test_version_and_help(self):
        self.assertRegex(assay("--version").stdout, r"^assay \d+\.\d+\.\d+ \(suite .*ONNX 1\.23\.2")
        for verb in ("certify", "replay", "list", "explain"):
            done = ended(0, verb, "--help")
            self.assertIn(verb, done.stdout)

    def test_one_default_limit_of_time(self):
        for verb in ("certify", "replay", "fuzz", "doctor"):
            self.assertRegex(assay(verb, "--help").stdout, r"--timeout .*=10\b")
        protocol = pathlib.Path("tools/backends/README.md").read_text(encoding="utf-8")
        self.assertIn("does not answer in time (10 s; `--timeout`) | timed out | `no answer within 10 s`", protocol)

    def test_doctor_tells_a_python_class_that_does_not_import_from_a_worker(self):
        (self.folder / "empty_of_backends.py").write_text("", encoding="utf-8")
        for name, advice in (("my_backend", r"the module does not import: run doctor where my_backend lies, or set PYTHONPATH.*"
                                            r"-c 'import my_backend'"),
                             ("empty_of_backends", r"say which class is the backend: --backend python:empty_of_backends:CLASS")):
            done = subprocess.run([TOOL, "doctor", "--backend", f"python:{name}"], capture_output=True, text=True, timeout=300,
                                  check=False, env={**os.environ, "PYTHONPATH": self.folder})
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertRegex(done.stdout, r"\n          do    " + advice)
            self.assertNotIn("ASSAY_REPLY_FD", done.stdout)
            self.assertRegex(done.stdout, r"\n  skipped 48 checks: it does not describe itself\n1 ok, 1 wrong, 0 to note, 48 skipped")

    def test_the_table_of_verbs_has_each_once(self):
        rows = [row for row in pathlib.Path("tools/README.md").read_text(encoding="utf-8").splitlines() if row.startswith("| `assay ")]
        told = [verb for row in rows for verb in re.findall(r"`assay ([a-z]+)", row)]
        verbs = re.findall(r"^  ([a-z]+) ", assay("--help").stdout.split("Subcommands:")[-1], re.M)
        self.assertGreater(len(verbs), 15)
        self.assertEqual(set(told), set(verbs))
        self.assertEqual([verb for verb in told if told.count(verb) > 1 and verb != "golden"], [])

    def test_a_backend_is_a_word(self):
        done = ended(0, "certify", "--ops", "Conv-1", "reference", "--cases", "0")
        self.assertIn("backend reference", done.stdout)
        ended(0, "replay", POOL, "reference")
        ended(0, "fuzz", "reference", "--cases", "5", "--findings", "")
        worker = f"exec:{sys.executable} tools/backends/example.py"
        self.assertIn("verdict   pass", assay("replay", worker, POOL).stdout)

    def test_types_and_times_as_people_write_them(self):
        report = self.folder / "r.json"
        for words, types in ((["float32,Double"], {"f32", "f64"}), (["bfloat16"], {"bf16"}), (["uint8", "--types", "half"], {"u8", "f16"})):
            ended(0, "certify", "reference", "--ops", "Conv,Relu,MaxPool", "--types", *words, "--cases", 200, "--timeout", "2m", "--report", report)
            told = read_json(report)
            self.assertEqual({re.search(r" ir=\d+ (?:condition=\S+ )?\w+=(\w+)\[", v["line"]).group(1) for v in told["verdicts"]}, types)
            self.assertEqual(told["backend"]["options"]["timeout_seconds"], 120)

    def test_list_has_every_version(self):
        listed = [row.split()[0] for row in assay("list").stdout.splitlines()[1:]]
        for version in ("Conv-1", "Conv-11", "Conv-22", "AveragePool-1", "AveragePool-7", "AveragePool-10",
                        "AveragePool-11", "AveragePool-19", "AveragePool-22"):
            self.assertIn(version, listed)

    def test_explain_shows_constraints_and_readings(self):
        said = assay("explain", "AveragePool-22").stdout
        self.assertIn("C1", said)
        self.assertIn("drop-one (ruled), drop-all", said)
        self.assertIn("kernel_shape: ints, required", said)
        self.assertIn("* AveragePool-22", said)

    def test_a_profile_is_explained_listed_and_asked_for(self):
        self.assertIn("Conv.R3  group is 1 or the number of channels of X", assay("explain", "Conv-22").stdout)
        self.assertIn("does not specify AveragePool", assay("explain", "AveragePool-22").stdout)
        rows = dict(row.split(maxsplit=1) for row in assay("list", "--profile", "sonnx").stdout.splitlines()[1:])
        self.assertEqual(rows["Conv-11"], "Conv.R1 Conv.R2 Conv.R3 Conv.R4 Conv.R5")
        self.assertEqual(rows["QLinearConv-10"], "not specified")
        conv = "Conv-11 opset=11 ir=8 X=f32[1,4,5,5]~small:1 W=f32[4,4,3,3]~small:2"
        said = assay("explain", conv).stdout
        self.assertIn("outside: Conv.R4; within with every attribute written: " + conv + " auto_pad=NOTSET", said)
        self.assertIn("outside: AveragePool is not specified", assay("explain", POOL).stdout)
        report, certificate = self.folder / "report.json", self.folder / "certificate.json"
        done = ended(0, "certify", *REFERENCE, "--profile", "sonnx", "--cases", 40, "--report", report)
        self.assertRegex(done.stdout, r"profile sonnx: \d+ cases lie within; left out for Abs is not specified .* AveragePool is not specified "
                                      r"\(\d+\), .*Conv\.R1 \(\d+\), Conv\.R2 \(\d+\)")
        verdicts = read_json(report)["verdicts"]
        self.assertEqual({v["line"].split("-")[0] for v in verdicts}, {"Conv"})
        for verdict in verdicts:
            self.assertIn(" auto_pad=NOTSET ", verdict["line"])
            self.assertEqual(len(verdict["restrictions"]), 5)
        ended(2, "certify", *REFERENCE, "--profile", "sonnx", "--cases", 40, "--report", report, "--certificate", certificate)

    def test_replay_of_a_pass(self):
        done = ended(0, "replay", *REFERENCE, POOL, "--all")
        self.assertTrue(done.stdout.startswith("verdict   pass"), done.stdout)
        # (1 + 2) / 2, (2 + 3) / 2, (3 + 4) / 2
        for mean in ("1.5 (0x1.8p+0)", "2.5 (0x1.4p+1)", "3.5 (0x1.cp+1)"):
            self.assertIn(f"got {mean}  want {mean}\n", done.stdout)
        self.assertNotIn("got ", assay("replay", *REFERENCE, POOL).stdout)

    def test_replay_shows_what_is_wrong_and_no_more(self):
        long = "Conv-11 opset=11 ir=8 X=f32[1,2,5,5]~normal:1 W=f32[2,2,3,2]~normal:7"
        done = ended(1, "replay", "--backend", "mutant:conv-flips-kernel", long)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "verdict   fail (value)")
        self.assertTrue(lines[1].startswith("cause     "), lines[1])
        wrong = [line for line in lines if line.startswith("  [")]
        self.assertEqual(len(wrong), 3)
        for line in wrong:
            self.assertRegex(line, r"  got \S+ \(-?0x\S+\)  want \S+ \(-?0x\S+\), admitted from .*, off by \S+ ulp$")
        self.assertRegex(done.stdout, r"… and \d+ more wrong elements; --all shows every element\n")
        self.assertRegex(done.stdout, r"\nbudget    \d\.?\d*e?-?\d* ")
        self.assertLess(max(map(len, lines)), 200)
        self.assertGreater(assay("replay", "--backend", "mutant:conv-flips-kernel", long, "--all").stdout.count("\n"), 30)

    def test_replay_takes_a_report_and_a_number(self):
        report = self.folder / "report.json"
        assay("certify", "--backend", "mutant:pool-divides-by-kernel", "--ops", "AveragePool-11", "--cases", 40, "--report", report)
        cause = read_json(report)["causes"][0]
        done = ended(1, "replay", report, 1)
        self.assertIn(f"case      {cause['smallest']}\n", done.stdout)
        self.assertIn("backend   mutant:pool-divides-by-kernel", done.stdout)
        ended(0, "replay", report, 1, *REFERENCE)  # another backend is right
        self.assertIn("has causes 1 to ", assay("replay", report, 99).stderr)
        self.assertIn("which one?", assay("replay", report).stderr)
        spoilt = read_json(report)
        spoilt["backend"]["spec"] = f"exec:touch {self.folder}/run"
        done = ended(2, "replay", write_json(report, spoilt), 1)
        self.assertIn("name it with --backend", done.stderr)
        self.assertFalse((self.folder / "run").exists(), "a file starts no command")

    def test_replay_takes_golden_vectors_and_models(self):
        import numpy
        import onnx
        assay("golden", "write", "--out", self.folder / "golden", "--ops", "AveragePool-19", "--types", "f32", "--cases", 1)
        vector = next((self.folder / "golden/valid").iterdir())
        line = read_json(vector / "case.json")["line"]
        self.assertIn(f"case      {line}\n", assay("replay", *REFERENCE, vector).stdout)
        (vector / "case.json").unlink()
        done = assay("replay", *REFERENCE, vector)  # as any folder of ONNX's backend tests
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"model     {vector}\n", done.stdout)
        model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 19]>
            g (float[1,1,n] X) => (float[a,b,c] Y) { Y = AveragePool <kernel_shape = [2]> (X) }''')
        onnx.save(model, self.folder / "pool.onnx")
        numpy.save(self.folder / "x.npy", numpy.array([[[1, 2, 3, 4]]], numpy.float32))
        done = ended(0, "replay", *REFERENCE, self.folder / "pool.onnx", self.folder / "x.npy", "--all")
        self.assertIn("[0,0,2]  got 3.5 (0x1.cp+1)  want 3.5", done.stdout)
        self.assertIn("as a case AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~lit:0x1p+0,", done.stdout)
        drawn = ended(0, "replay", "--backend", "mutant:pool-divides-by-kernel", self.folder / "pool.onnx", "--data", "iota:1")  # nothing is padded
        self.assertIn("X=f32[1,1,8]~iota:1", drawn.stdout)
        done = assay("replay", *REFERENCE, self.folder / "pool.onnx", self.folder / "x.npy", self.folder / "x.npy")
        self.assertIn("2 tensors for the 1 inputs", done.stderr)

    def test_a_word_behind_no_option_is_what_it_looks_like(self):
        for words, said in (((POOL, POOL), "two words name a case line"), ((POOL, self.folder), "both a case line and a folder"),
                            (("reference:fast", POOL, "--backend", "reference"), "two backends are named"),
                            (("no/such/folder",), "there is no folder no/such/folder"), ((POOL, "3"), "a number goes with a report"),
                            ((POOL, "x.npy"), "a tensor (.npy, .pb) goes with a model"), (("3",), "name a case line"),
                            (("no.onnx",), "no.onnx is missing"), (("no.json", "1"), "no.json is missing")):
            done = ended(2, "replay", *words)
            self.assertIn(said, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)
        ended(0, "replay", "reference:fast", POOL)

    def test_explain_tells_any_word(self):
        for word, said in (("A3", "clamp0 (ruled), signed-trunc, signed-floor"), ("AveragePool.W2", "pads are given only"),
                           ("below", "verdict: outside the interval"), ("L2", "asked for by default"), ("unstable", "mark: "),
                           ("small:7", "seed 7 (8 in the second data set)"), ("ek < s", "smaller than the stride"),
                           ("case", "OPERATOR-N"), ("FlexAttention", "not certified yet: https://onnx.ai"), (POOL, "a count from 1 on")):
            done = ended(0, "explain", word)
            self.assertIn(said, done.stdout)

    def test_a_part_of_the_suite_is_listed_filtered_and_run_again(self):
        few = ("--ops", "AveragePool-19", "--types", "f32", "--cases", 60)
        every = ended(0, "certify", "--list", "--backend", "no such backend", *few)
        lines = every.stdout.splitlines()
        self.assertTrue(all(line.startswith("AveragePool-19 opset=") for line in lines), lines[:3])
        valid = assay("certify", "--list", *few, "--filter", "auto_pad == VALID").stdout.splitlines()
        self.assertEqual(valid, [line for line in lines if "auto_pad=VALID" in line])
        self.assertIn("holds for none", assay("certify", *REFERENCE, *few, "--filter", "rank(X) == 17").stderr)
        ended(2, "certify", *REFERENCE, *few, "--filter", "auto_pad ==")
        first, second = self.folder / "first.json", self.folder / "second.json"
        bug = ("--backend", "mutant:pool-divides-by-kernel")
        done = ended(1, "certify", *bug, *few, "--report", first, "--quiet")
        self.assertEqual(done.stdout.count("\n"), 1)
        self.assertTrue(done.stdout.startswith("not conforming: "), done.stdout)
        failed = [v["line"] for v in read_json(first)["verdicts"] if v["state"] in ("fail", "below")]
        self.assertGreater(len(failed), 2)
        self.assertEqual(assay("certify", "--list", "--only-failed", first).stdout.splitlines(), failed)
        ended(1, "certify", *bug, "--only-failed", first, "--report", second)
        again = read_json(second)
        self.assertEqual(sorted(v["line"] for v in again["verdicts"]), sorted(failed))
        self.assertFalse(again["suite"]["complete"])
        done = assay("certify", *REFERENCE, "--only-failed", first, "--report", second)  # mended
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("nothing to run", assay("certify", *bug, "--only-failed", second).stdout)
        done = ended(1, "certify", *bug, *few, "--max-failures", 2, "--jobs", 1, "--report", second)
        self.assertRegex(done.stdout, r"stopped after [23] failures, not a certificate")
        stopped = read_json(second)
        self.assertFalse(stopped["suite"]["complete"])
        self.assertLess(stopped["suite"]["reached"], stopped["suite"]["cases"])

    def test_a_provider_that_is_not_there_is_an_error(self):
        done = ended(2, "replay", "--backend", "onnxruntime", "--set", "provider=no-such", POOL)
        self.assertIn("the option provider is not 'no-such' but one of cpu", done.stderr)
        ended(0, "replay", "--backend", "onnxruntime", "--set", "provider=cpu", POOL)

    def test_replay_saves_the_case_and_replays_the_folder(self):
        assay("replay", *REFERENCE, POOL, "--save", self.folder)
        saved = sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*.*"))
        again = assay("replay", *REFERENCE, self.folder)
        self.assertEqual(saved, ["finding.json", "model.onnx", "test_data_set_0/input_0.pb",
                                 "test_data_set_0/output_0.pb", "test_data_set_1/input_0.pb",
                                 "test_data_set_1/output_0.pb"])
        self.assertEqual(again.returncode, 0, again.stdout + again.stderr)
        self.assertIn(f"case      {POOL}\n", again.stdout)

    def test_replay_of_a_folder_that_is_no_finding(self):
        done = assay("replay", *REFERENCE, self.folder)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("finding.json is missing", done.stderr)

    def test_a_failure_shrinks_and_is_explained(self):
        long = ("AveragePool-19 opset=20 ir=8 X=f32[2,3,7,6]~small:3 auto_pad=NOTSET kernel_shape=3,2 pads=1,0,1,1 "
                "strides=2,1 shapes=symbolic")
        done = ended(1, "replay", "--backend", "mutant:pool-divides-by-kernel", "--shrink", long)
        # A cell and a cell of padding at either end: 1 / 2 and 2 / 2 instead of 1 and 2; in between (1 + 2) / 2.
        self.assertIn("shrunk    AveragePool-19 opset=19 ir=8 X=f32[1,1,2]~iota:1 kernel_shape=2 pads=1,1\n", done.stdout)
        self.assertIn("every window divides by the whole kernel (pool-divides-by-kernel)", done.stdout)

    def test_a_certificate_is_the_same_at_any_number_of_jobs(self):
        reports = []
        for jobs in (1, 3):
            path = self.folder / f"{jobs}.json"
            done = ended(0, "certify", *REFERENCE, "--cases", 58, "--jobs", jobs, "--report", path)
            self.assertEqual(done.stderr, "", "quiet when piped")
            reports.append(read_json(path))
        for report in reports:
            del report["run"]
        self.assertEqual(reports[0], reports[1])

    def test_each_configuration_has_a_report_of_its_own(self):
        path = self.folder / "mine.json"
        done = ended(0, "certify", *REFERENCE, "--cases", 0, "--ops", "Conv-11", "--report", path,
                     "--config", "threads=2", "--config", "optimization=none")
        self.assertIn("configuration threads=1 optimization=none: 0 cases end otherwise than under threads=2",
                      done.stdout)
        options = {name: read_json(self.folder / name)["backend"]["options"]
                   for name in ("mine.threads-2.json", "mine.optimization-none.json")}
        self.assertEqual(options["mine.threads-2.json"]["threads"], 2)
        self.assertEqual(options["mine.optimization-none.json"]["optimization"], "none")

    def test_certify_without_a_report_says_so(self):
        done = ended(0, "certify", *REFERENCE, "--cases", 0, "--ops", "Conv-11")
        self.assertIn("conforms: ", done.stdout.splitlines()[-1])
        self.assertIn("no report written", done.stdout.splitlines()[-1])

    def test_an_interrupt_leaves_the_report_of_what_was_done(self):
        path, called, interrupted = self.folder / "cut.json", self.folder / "called", self.folder / "interrupted"
        for pipe in (called, interrupted):
            os.mkfifo(pipe)
        done = subprocess.Popen([TOOL, "certify", *worker(self.folder, INTERRUPTER, called, interrupted), "--ops", "AveragePool",
                                 "--cases", "58", "--jobs", "1", "--presentations", "none", "--report", path],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        called.open(encoding="utf-8").close()
        for _ in range(2):  # as timeout(1) does, to the process and to its group
            done.send_signal(signal.SIGINT)
        interrupted.open("w", encoding="utf-8").close()
        said, complained = done.communicate(timeout=120)
        report = read_json(path)
        self.assertEqual(done.returncode, 1, complained)
        self.assertIn("interrupted", said.splitlines()[-1])
        self.assertFalse(report["suite"]["complete"])
        self.assertEqual(report["suite"]["reached"], 4)
        self.assertEqual(len(report["verdicts"]), 4)
