# SPDX-License-Identifier: Apache-2.0
"""release_bisection.py over a folder of tiny wheels: which versions it tries, what it concludes, and when it refuses. No network."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

from command_line import TOOL, worker

CASE = "AveragePool-7 opset=7 ir=8 X=f32[1,1,2,2]~iota:1 kernel_shape=2,2"
# Averages the four floats at the end of each part, and is off by one where its package says so.
WORKER = """
import struct
import toyrt
if toyrt.mode == "dies": sys.exit(1)

def run(model, sets, options):
    if toyrt.mode == "lacks":
        raise assay_worker.Unsupported("not implemented")
    means = [sum(struct.unpack("<4f", part[-16:])) / 4 + (toyrt.mode == "wrong") for part, in sets]
    return [[bytes.fromhex("0801080108010801" "10014a04") + struct.pack("<f", mean)] for mean in means]

assay_worker.serve({"backend": "toyrt", "version": "1", "device": "cpu"}, run)
"""


def write_wheel(folder, version, mode):
    info = f"toyrt-{version}.dist-info"
    files = {"toyrt.py": f"mode = {mode!r}\n", f"{info}/METADATA": f"Metadata-Version: 2.1\nName: toyrt\nVersion: {version}\n",
             f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    if mode == "broken":
        files[f"{info}/METADATA"] += "Requires-Dist: nothing-of-this-name\n"
    with zipfile.ZipFile(folder / f"toyrt-{version}-py3-none-any.whl", "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
        wheel.writestr(f"{info}/RECORD", "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"]))


class Bisect(unittest.TestCase):
    def bisected(self, modes, good, bad):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            worker(folder, WORKER)
            for version, mode in modes.items():
                write_wheel(folder, version, mode)
            order = {"assay": str(TOOL), "name": "toyrt", "package": "toyrt", "with": [], "good": good, "bad": bad, "case": CASE,
                     "command": ["{python}", str(folder / "worker.py")], "folder": str(folder / "cache"), "version": "assay"}
            environment = {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder), "PIP_CONFIG_FILE": os.devnull}
            done = subprocess.run([sys.executable, "tools/backends/release_bisection.py", json.dumps(order)], capture_output=True, text=True,
                                  env=environment, timeout=300, check=False)
            self.assertEqual(list((folder / "cache").iterdir()), [], "environments are thrown away")
        return done

    def tried(self, done):
        return dict(re.findall(r"^  (\S+)  (\w+)", done.stdout, re.MULTILINE))

    def test_the_first_that_fails(self):
        modes = {f"1.{i}.0": "right" if i < 5 else "wrong" for i in range(8)}
        done = self.bisected(modes, "1.0", "1.7")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("first fails in 1.5.0; 1.4.0 is the last that passes.", done.stdout)
        self.assertLess(len(self.tried(done)), len(modes), "not every version was tried")
        self.assertRegex(done.stdout.splitlines()[-1], r"toyrt 1\.4\.0: pass.*toyrt 1\.5\.0: fail.*sha256 [0-9a-f]{16} and [0-9a-f]{16}")

    def test_the_first_that_is_mended_and_versions_in_numeric_order(self):
        done = self.bisected({"1.9": "wrong", "1.10": "right", "1.11": "right"}, "1.11", "1.9")
        self.assertIn("first passes in 1.10; 1.9 is the last that fails.", done.stdout)

    def test_versions_that_say_nothing_are_told(self):
        done = self.bisected({"1": "right", "2": "dies", "3": "broken", "4": "lacks", "5": "wrong"}, "1", "5")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.tried(done), {"1": "pass", "2": "not", "3": "not", "4": "unsupported", "5": "fail"})
        self.assertIn("could not be asked (2, 3, 4)", done.stdout)

    def test_it_refuses_ends_that_do_not_differ(self):
        for good, bad, words in (("1", "2", "named as bad and does not fail"), ("3", "1", "named as good and does not pass"),
                                 ("7", "1", "is not there"), ("1", "1", "both 1"), ("x", "1", "no version")):
            done = self.bisected({"1": "right", "2": "right", "3": "wrong"}, good, bad)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
            self.assertIn(words, done.stderr)
