# SPDX-License-Identifier: Apache-2.0
"""assay exhaust: what it prints is what it writes, it goes on where it was interrupted, and the page needs no script."""
import signal
import subprocess
import time

from command_line import TOOL, InFolder, ended, read_json, refused


def exhaust(code, *arguments, backend="reference"):
    return ended(code, "exhaust", "--backend", backend, *arguments)


def functions(report):
    return read_json(report)["functions"]


class Exhaust(InFolder):
    def setUp(self):
        super().setUp()
        self.report = self.folder / "exhaust.json"

    def test_every_input_is_counted_once(self):
        page = self.report.with_suffix(".html")
        done = exhaust(0, "--ops", "Exp,Tanh-6", "--types", "f16,bf16", "--report", self.report, "--html", page)
        written = functions(self.report)
        self.assertEqual([(each["op"], each["type"]) for each in written], [("Exp-13", "f16"), ("Exp-13", "bf16"), ("Tanh-6", "f16")])
        for each in written:
            self.assertEqual(sum(each["counts"].values()), 65536)
            self.assertTrue(each["conforms"])
            self.assertTrue(each["worst"] is None or each["worst"]["ulp"] < 1)  # none where all are correctly rounded
        self.assertIn("all 65536 inputs", done.stdout)
        self.assertIn("conforms: 3 functions", done.stdout)
        drawn = page.read_text(encoding="utf-8")
        self.assertEqual(drawn.count("<svg"), 3)
        self.assertNotIn("<script", drawn)

    def test_the_same_at_any_number_of_jobs(self):
        one, two = (exhaust(0, "--ops", "Erf,Mish", "--jobs", jobs) for jobs in (1, 2))
        self.assertEqual(one.stdout, two.stdout)

    def test_a_planted_bug_is_shown_with_what_replays_it(self):
        worker = f"exec:{TOOL.parent / 'assay-worker-reference'} --mutant tanh-clamps"
        done = exhaust(1, "--ops", "Tanh", "--types", "f16", "--report", self.report, backend=worker)
        line = next(line for line in done.stdout.splitlines() if "replay:" in line)
        replayed = subprocess.run(line.split("replay: ", 1)[1].replace("assay ", f"{TOOL} ", 1), shell=True, capture_output=True, text=True,
                                  timeout=60, check=False)
        self.assertEqual(replayed.returncode, 1, replayed.stdout + replayed.stderr)

    def test_it_goes_on_where_it_was_interrupted(self):
        command = [TOOL, "exhaust", "--backend", "reference", "--ops", "Sigmoid", "--types", "f32", "--jobs", "1", "--report", self.report]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as running:
            time.sleep(4)
            running.send_signal(signal.SIGINT)
            running.communicate(timeout=120)
            self.assertEqual(running.returncode, 1)
        first = functions(self.report)[0]
        self.assertGreater(first["inputs"], 0)
        self.assertLess(first["inputs"], 2**32)
        self.assertEqual(sum(first["counts"].values()), first["inputs"])
        with subprocess.Popen([*command, "--resume"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as running:
            time.sleep(3)
            running.send_signal(signal.SIGINT)
            running.communicate(timeout=120)
        second = functions(self.report)[0]
        self.assertGreater(second["inputs"], first["inputs"])
        self.assertEqual(sum(second["counts"].values()), second["inputs"])

    def test_what_cannot_be_done_is_told_in_one_line(self):
        for arguments, words in ((["--ops", "Add"], "is a function of one float"), (["--ops", "Expp"], "did you mean Exp"),
                                 (["--ops", "Exp", "--resume"], "needs the --report"), (["--ops", "Exp", "--level", "L0"], "leave out --level")):
            self.assertIn(words, refused("exhaust", "--backend", "reference", *arguments))
        self.report.write_text('{"kind": "fuzz"}', encoding="utf-8")
        done = exhaust(2, "--ops", "Exp", "--report", self.report, "--resume")
        self.assertIn("is no report of exhaust", done.stderr)
