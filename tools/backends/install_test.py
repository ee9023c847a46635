# SPDX-License-Identifier: Apache-2.0
"""Installing by name, without a network: what is built by a command stands for what pip, npm and cargo bring."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import command_line

HERE = pathlib.Path(__file__).resolve().parent


class Installing(unittest.TestCase):
    def setUp(self):
        self.cache = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.folder = self.cache / "backends" / "mine-0123456789ab"

    def command(self, *build, **fields):
        order = {"name": "mine", "kind": "apt", "folder": str(self.folder), "source": "", "lock": "", "apt": [],
                 "build": list(build), "needs": "", **fields}
        return [sys.executable, HERE / "install.py", json.dumps(order)]

    def install(self, *build, **fields):
        return subprocess.run(self.command(*build, **fields), capture_output=True, text=True, timeout=60, check=False)

    def test_a_finished_one_has_a_stamp_and_is_not_done_again(self):
        self.assertEqual(self.install("sh", "-c", "echo once >> made").returncode, 0)
        again = self.install("sh", "-c", "echo twice >> made")
        self.assertEqual((again.returncode, again.stderr), (0, "mine: is installed\n"))
        self.assertEqual((self.folder / "made").read_text(), "once\n")
        self.assertEqual(json.loads((self.folder / "stamp").read_text()), {"bytes": 5})

    def test_a_failed_one_shows_its_last_words_and_leaves_no_folder(self):
        done = self.install("sh", "-c", "echo the reason; exit 4")
        self.assertEqual(done.returncode, 1)
        self.assertIn("    the reason\n", done.stderr)
        self.assertRegex(done.stderr, r"mine: the whole log is .*\.log\nmine: FAILED: compiling its worker failed; .+\n$")
        self.assertFalse(self.folder.exists())

    def test_a_missing_program_says_what_the_backend_needs(self):
        done = self.install("no-such-program", needs="node 18 or newer")
        self.assertIn("mine: FAILED: no-such-program is not installed; this backend needs node 18 or newer", done.stderr)

    def test_a_lock_that_cannot_be_had_is_a_failure_in_words(self):
        lock = self.cache / "lock.txt"
        lock.write_text("./no/such.whl --hash=sha256:" + "0" * 64 + "\n", encoding="utf-8")
        done = self.install(kind="venv", lock=str(lock))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("installing its pinned packages failed; check the network", done.stderr)
        self.assertFalse(self.folder.exists())

    def test_what_an_interrupted_one_left_is_cleared_away(self):
        self.folder.mkdir(parents=True)
        (self.folder / "half").write_text("x")
        self.assertEqual(self.install("sh", "-c", "echo made > made").returncode, 0)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["made", "stamp"])

    def test_an_interrupted_one_is_not_installed(self):
        child = subprocess.Popen(self.command("sh", "-c", "kill -INT $PPID; read -r never <&1"), stderr=subprocess.PIPE)
        child.communicate(timeout=60)
        self.assertIn(child.returncode, (1, -signal.SIGINT))
        self.assertFalse((self.folder / "stamp").exists())

    def test_two_at_once_wait_for_each_other(self):
        done = []
        build = ["sh", "-c", "mkdir ../busy && ls > made && rmdir ../busy"]  # fails where both are inside
        both = [threading.Thread(target=lambda: done.append(self.install(*build))) for _ in range(4)]
        for one in both:
            one.start()
        for one in both:
            one.join()
        self.assertEqual([each.returncode for each in done], [0] * 4, [each.stderr for each in done])
        self.assertEqual(sum("MiB in" in each.stderr for each in done), 1)


class Verb(unittest.TestCase):
    def assay(self, *arguments, run=command_line.assay, **environment):
        with tempfile.TemporaryDirectory() as cache:
            return run(*arguments, env={**os.environ, "ASSAY_CACHE": cache, **environment})

    def test_the_list_has_every_entry_with_its_state(self):
        rows = [re.split(r"  +", row) for row in self.assay(0, "backends", run=command_line.ended).stdout.splitlines()]
        self.assertEqual(rows[0], ["backend", "package", "state", "size", "about"])
        entries = command_line.read_json(HERE / "catalogue.json")
        self.assertEqual([row[0] for row in rows[1:]], [entry["name"] for entry in entries])
        for row, entry in zip(rows[1:], entries):
            self.assertEqual(row[2], "at hand" if "modules" in entry else "not installed", row)

    def refused(self, *arguments, **environment):
        return self.assay(*arguments, run=command_line.refused, **environment)

    def test_mistakes_are_one_line_before_any_work(self):
        self.assertIn("did you mean openvino?", self.refused("backends", "install", "tract", "openvin"))
        self.assertIn("name a backend", self.refused("backends", "install"))

    def test_what_is_at_hand_needs_no_installation(self):
        done = self.assay("backends", "install", "onnxruntime")
        self.assertEqual((done.returncode, done.stderr), (0, f"onnxruntime: is at hand, {os.environ['ASSAY_PYTHON']} has it\n"))

    def test_where_no_interpreter_has_it_one_line_says_what_to_run(self):
        bare = self.bare_interpreter()
        said = self.refused("certify", "--cases", "0", ASSAY_PYTHON=bare)
        self.assertEqual(said, "assay: onnxruntime is not installed: assay backends install onnxruntime\n")
        listed = self.assay("backends", ASSAY_PYTHON=bare).stdout
        self.assertRegex(listed, r"(?m)^onnxruntime  +onnxruntime [0-9.]+  +not installed ")

    def bare_interpreter(self):
        """One without packages: the base of this environment, sites left out."""
        bare = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()), "python")
        bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n', encoding="utf-8")
        bare.chmod(0o755)
        return str(bare)

    def test_removing_takes_every_version_of_that_name_and_no_other(self):
        with tempfile.TemporaryDirectory() as cache:
            shelf = pathlib.Path(cache, "backends")
            for name in ("tract-0123456789ab", "tract-ba9876543210", "tract-native-0123456789ab", "tract-0123"):
                (shelf / name).mkdir(parents=True)
                (shelf / name / "stamp").write_text("{}")
            command_line.ended(0, "backends", "remove", "tract", env={**os.environ, "ASSAY_CACHE": cache})
            self.assertEqual(sorted(path.name for path in shelf.iterdir()), ["tract-0123", "tract-native-0123456789ab"])
