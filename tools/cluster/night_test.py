# SPDX-License-Identifier: Apache-2.0
"""tools/cluster/night.sh, what every machine of a campaign runs: as each service calls it, and again after a kill."""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

ASSAY = str(pathlib.Path(os.environ["ASSAY_BUILD"]).resolve() / "tools" / "assay")
BUG = ["--backend", "mutant:pool-pads-same-undilated", "--ops", "AveragePool-19", "--presentations", "none"]
SERVICE = ("SLURM_", "JOB_COMPLETION_INDEX", "CI_NODE_", "ASSAY_SHARD")
CASES = 150


def environment(values):
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(SERVICE)}
    return {**inherited, "ASSAY": ASSAY, **values}


def night(*words, **values):
    return subprocess.run(["tools/cluster/night.sh", *map(str, words)], capture_output=True, text=True, timeout=300,
                          check=False, env=environment(values))


def report(path):
    document = json.loads(path.read_text(encoding="utf-8"))
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
        cls.place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.place.cleanup)
        cls.folder = pathlib.Path(cls.place.name)
        straight = cls.folder / "straight.json"
        subprocess.run([ASSAY, "fuzz", *BUG, "--cases", str(CASES), "--findings", "", "--report", straight],
                       stdout=subprocess.DEVNULL, timeout=300, check=False)
        cls.straight = report(straight)

    def test_each_service_makes_the_straight_report(self):
        self.assertGreater(len(self.straight["failures"]), 0)
        for service, values in SERVICES.items():
            with self.subTest(service):
                folder = self.folder / service
                for number in (3, 1, 2):
                    done = night("shard", folder, *BUG, "--cases", CASES, **values(number))
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                done = night("merge", folder)
                self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
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
        self.assertEqual(night("merge", folder).returncode, 2)
        done = night("shard", folder, *BUG, "--cases", 6000, ASSAY_SHARD="1/1")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(night("merge", folder).returncode, 1)
        self.assertEqual(report(folder / "whole.json")["plan"]["asked"], 6000)

    def test_mistakes_are_told(self):
        folder = self.folder / "mistakes"
        done = night("shard", folder, *BUG, "--cases", CASES)
        self.assertEqual((done.returncode, "SLURM_ARRAY_TASK_ID" in done.stderr), (2, True), done.stderr)
        self.assertEqual(night("shard").returncode, 2)
        self.assertEqual(night("split", folder).returncode, 2)
        self.assertEqual(night("shard", folder, *BUG, "--cases", CASES, ASSAY_SHARD="1/2").returncode, 0)
        done = night("merge", folder)
        self.assertEqual((done.returncode, "lack" in done.stderr), (2, True), done.stderr)


if __name__ == "__main__":
    unittest.main()
