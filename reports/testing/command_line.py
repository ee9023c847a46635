# SPDX-License-Identifier: Apache-2.0
"""Runs the tool as a person does. ctest has this folder in PYTHONPATH."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(os.environ["ASSAY_BUILD"]).resolve() / "tools" / "assay"
SPECIAL = ("nonfinite", "overflow-int")  # classes of cases whose verdicts stand apart


def assay(*words, **settings):
    settings = {"capture_output": True, "text": True, "timeout": 1500, "check": False, **settings}
    return subprocess.run([TOOL, *map(str, words)], **settings)


def ended(code, *words, **settings):
    """Runs the tool, which has to end with that code, or with one of several."""
    done = assay(*words, **settings)
    assert done.returncode in (code if isinstance(code, tuple) else (code,)), f"{words} ended in {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def refused(*words, **settings):
    """Runs the tool on what it has to turn away: exit code 2 and one line on stderr, which is returned."""
    done = ended(2, *words, **settings)
    assert done.stdout == "" and done.stderr.startswith("assay: ") and done.stderr.count("\n") == 1, done.stdout + done.stderr
    return done.stderr


def worker(folder, program, *arguments):
    """Writes a worker in Python, which has assay_worker; the words that name it as a backend."""
    file = pathlib.Path(folder, "worker.py")
    file.write_text(f"import sys\nsys.path.append({os.path.abspath('tools/backends')!r})\nimport assay_worker\n{program}", encoding="utf-8")
    return "--backend", " ".join(map(str, (f"exec:{sys.executable}", file, *arguments)))


def is_counted(state, verdict):
    """Whether a state of that verdict, or of a mark of it, is in the totals; of special values only an error is."""
    return state == "error" or verdict["class"] not in SPECIAL


def read_json(file):
    return json.loads(pathlib.Path(file).read_text(encoding="utf-8"))


def write_json(file, value):
    pathlib.Path(file).write_text(json.dumps(value), encoding="utf-8")
    return file


class InFolder(unittest.TestCase):
    """Tests that have an empty folder each."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
