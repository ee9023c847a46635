# SPDX-License-Identifier: Apache-2.0
"""The types of the installed package, by mypy: its own text, what it says of the compiled module, and what it tells callers.
Called by tools/lab/packages.sh beside judge_test.py; what it needs is in types.txt."""
import ast
import pathlib
import subprocess
import sys
import tempfile
import unittest

from assay import _core

# strict has an ignore that nothing needs be an error: the wrong calls have to be refused, each for its reason.
CALLER = """
from pathlib import Path

import assay

def accepted(model: bytes, x: object) -> str | None:
    verdict: assay.Verdict = assay.judge(Path("conv.onnx"), {"X": x}, [x], profile="L1")
    assay.assert_conforms(model, [x], {"Y": assay.Tensor("bf16", (1,), b"00")}, strict=True)
    worst: assay.Element | None = verdict.worst
    if worst is not None and worst.ulp is not None:
        return f"{worst.ulp + 1.0} {worst.exact} {worst.index[0] + 1}"
    return verdict.level

def refused(model: bytes, x: object) -> None:
    assay.judge(7, [x], [x])  # type: ignore[arg-type]
    assay.judge(model, [x])  # type: ignore[call-arg]
    assay.judge(model, [x], [x], profile=1)  # type: ignore[arg-type]
    assay.judge(model, [x], [x], "L1")  # type: ignore[misc]
    assay.judge(model, [x], [x]).worst.ulp  # type: ignore[union-attr]
    assay.assert_conforms(model, [x], [x], tolerance=1e-3)  # type: ignore[call-arg]
    assay.nonsense  # type: ignore[attr-defined]
"""


class Types(unittest.TestCase):
    def mypy(self, *arguments, module="mypy"):
        with tempfile.TemporaryDirectory() as cache:
            more = ["--strict", "--cache-dir", cache] if module == "mypy" else []
            done = subprocess.run([sys.executable, "-m", module, *more, *map(str, arguments)], capture_output=True, text=True,
                                  timeout=300, check=False, cwd=cache)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_package_keeps_its_own_types(self):
        self.mypy("-m", "assay", "-m", "assay.__main__", "-m", "assay._core")

    def test_the_stub_says_what_the_compiled_module_is(self):
        with tempfile.TemporaryDirectory() as folder:
            functions = pathlib.Path(folder, "functions")  # nanobind's are no functions to stubtest; they follow below
            functions.write_text("assay._core.examine\n", encoding="utf-8")
            self.mypy("assay._core", "--allowlist", functions, module="mypy.stubtest")
        stub = ast.parse(pathlib.Path(_core.__file__).with_name("_core.pyi").read_text(encoding="utf-8"))
        said = {each.name: f"def {each.name}({ast.unparse(each.args)}) -> {ast.unparse(each.returns).partition('[')[0]}"
                for each in stub.body if isinstance(each, ast.FunctionDef)}
        compiled = {name: value.__nb_signature__[0][0].replace("collections.abc.", "") for name, value in vars(_core).items()
                    if hasattr(value, "__nb_signature__")}
        self.assertEqual(said, compiled)

    def test_callers_are_told_what_is_wrong(self):
        with tempfile.TemporaryDirectory() as folder:
            caller = pathlib.Path(folder, "caller.py")
            caller.write_text(CALLER, encoding="utf-8")
            self.mypy(caller)


if __name__ == "__main__":
    unittest.main()
