# SPDX-License-Identifier: Apache-2.0
"""tools/cluster/night.sh, what every machine of a campaign runs: as each service calls it, and again after a kill."""
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

from command_line import TOOL, ended, read_json

BUG = ["--backend", "mutant:pool-pads-same-undilated", "--ops", "AveragePool-19", "--presentations", "none"]
SERVICE = ("SLURM_", "JOB_COMPLETION_INDEX", "CI_NODE_", "ASSAY_SHARD")
CASES = 150


def environment(values):
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(SERVICE)}
    return {**inherited, "ASSAY": str(TOOL), **values}


def night(code, *words, **values):
    """Runs the script, which has to end with that code."""
    done = subprocess.run(["tools/cluster/night.sh", *map(str, words)], capture_output=True, text=True, timeout=300,
                          check=False, env=environment(values))
    assert done.returncode == code, done.stdout + done.stderr
    return done


def report(path):
    document = read_json(path)
    del document["run"]
    return document


def slurm(number):
    return {"SLURM_ARRAY_TASK_ID": str(number), "SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_MAX": "3",
            "SLURM_ARRAY_TASK_STEP": "1", "SLURM_ARRAY_TASK_COUNT": "3"}


SERVICES = {"slurm": slurm,
            "kubernetes": lambda number: {"JOB_COMPLETION_INDEX": str(number - 1), "ASSAY_SHARDS": "3"},
            "gitlab": lambda number: {"CI_NODE_INDEX": str(number), "CI_NODE_TOTAL": "3"},
            "by hand": lambda number: {"ASSAY_SHARD": f"{number}/3"}}


class Night(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        straight = cls.folder / "straight.json"
        ended(1, "fuzz", *BUG, "--cases", CASES, "--findings", "", "--report", straight)
        cls.straight = report(straight)

    def test_each_service_makes_the_straight_report(self):
        self.assertGreater(len(self.straight["failures"]), 0)
        for service, values in SERVICES.items():
            with self.subTest(service):
                folder = self.folder / service
                for number in (3, 1, 2):
                    night(0, "shard", folder, *BUG, "--cases", CASES, **values(number))
                night(1, "merge", folder)
                self.assertEqual(report(folder / "whole.json"), self.straight)

    def test_a_shard_that_was_killed_goes_on(self):
        folder = self.folder / "killed"
        words = ["tools/cluster/night.sh", "shard", folder, *BUG, "--cases", "6000"]
        run = subprocess.Popen(words, env=environment({"ASSAY_SHARD": "1/1"}), stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True)
        store = folder / "shard-1.store-wal"
        while run.poll() is None and not (store.exists() and store.stat().st_size > 100_000):
            pass
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        self.assertFalse((folder / "shard-1.json").exists())
        night(2, "merge", folder)
        night(0, "shard", folder, *BUG, "--cases", 6000, ASSAY_SHARD="1/1")
        night(1, "merge", folder)
        self.assertEqual(report(folder / "whole.json")["plan"]["asked"], 6000)

    def test_mistakes_are_told(self):
        folder = self.folder / "mistakes"
        self.assertIn("SLURM_ARRAY_TASK_ID", night(2, "shard", folder, *BUG, "--cases", CASES).stderr)
        night(2, "shard")
        night(2, "split", folder)
        night(0, "shard", folder, *BUG, "--cases", CASES, ASSAY_SHARD="1/2")
        self.assertIn("lack", night(2, "merge", folder).stderr)
