# SPDX-License-Identifier: Apache-2.0
"""What is installed finds its own files wherever it lies, and names no folder of the machine it was built on."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["ASSAY_BUILD"])
PROJECT = pathlib.Path.cwd().resolve()
CMAKE = re.search(r"(?m)^CMAKE_COMMAND:INTERNAL=(.+)$", (BUILD / "CMakeCache.txt").read_text()).group(1)


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.place.cleanup)
        made, cls.prefix = pathlib.Path(cls.place.name, "made"), pathlib.Path(cls.place.name, "moved")
        # A build for debugging names its folders to the debugger.
        subprocess.run([CMAKE, "--install", BUILD, "--prefix", made, "--strip"], check=True, stdout=subprocess.DEVNULL)
        made.rename(cls.prefix)  # nothing may depend on where it was put first

    def assay(self, *arguments, code=0):
        keeps = {name: value for name, value in os.environ.items() if name not in ("ASSAY_HOME", "ASSAY_PYTHON")}
        done = subprocess.run([self.prefix / "bin/assay", *arguments], cwd=self.place.name, capture_output=True, text=True,
                              timeout=120, check=False, env={**keeps, "ASSAY_CACHE": self.place.name})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_suite_and_workers_are_found(self):
        said = self.assay("certify", "--backend", "reference", "--ops", "AveragePool-7", "--cases", "140")
        self.assertIn("conforms: ", said)
        example = f"exec:{os.environ['ASSAY_PYTHON']} {self.prefix}/share/assay/tools/backends/example.py"
        self.assertIn("AveragePool", self.assay("replay", "--backend", example, "AveragePool-7 opset=7 ir=8 "
                                                "X=f32[1,1,4]~iota:1 kernel_shape=2"))

    def test_the_catalogue_is_found_with_its_locks(self):
        names = [row.split()[0] for row in self.assay("backends").splitlines()[1:]]
        self.assertIn("onnxruntime", names)
        said = self.assay("certify", "--backend", "openvino", "--cases", "0", code=2)
        self.assertEqual(said, "assay: openvino is not installed: assay backends install openvino\n")

    def test_no_file_names_the_machine_it_was_built_on(self):
        files = [path for path in self.prefix.rglob("*") if path.is_file()]
        self.assertGreater(len(files), 40)
        for path in files:
            self.assertEqual(path.read_bytes().find(str(PROJECT).encode()), -1, path)

    def test_what_only_the_project_needs_stays_there(self):
        for path in self.prefix.rglob("*"):
            self.assertNotRegex(str(path.relative_to(self.prefix)), r"_test\.|__pycache__|FINDINGS|backends/host\.cpp")
