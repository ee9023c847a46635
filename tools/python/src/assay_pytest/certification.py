# SPDX-License-Identifier: Apache-2.0
"""What `assay certify` says of a backend, operator version by operator version, as text that a failed test shows."""
from __future__ import annotations

import functools
import inspect
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import Any

BREACHES = ("fail", "error", "below", "refused")


def program() -> str:
    """ASSAY_PROGRAM, the one in the wheel beside this package, or the one on the PATH."""
    named = os.environ.get("ASSAY_PROGRAM")
    if named:
        return named
    packed = pathlib.Path(__file__).parent.parent / "assay/prefix/bin/assay"
    found = str(packed) if packed.exists() else shutil.which("assay")
    if not found:
        raise FileNotFoundError("there is no program assay: install the wheel, or set ASSAY_PROGRAM")
    return found


def called(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Workers run in this interpreter and find the modules that it finds."""
    environment = dict(os.environ)
    environment.setdefault("ASSAY_PYTHON", sys.executable)
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [*sys.path, environment.get("PYTHONPATH")]))
    return subprocess.run([program(), *arguments], capture_output=True, text=True, env=environment)


@functools.cache
def subjects() -> tuple["Subject", ...]:
    """Every operator version with each of its types."""
    done = called("list")
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    rows = [row.split() for row in done.stdout.splitlines()[1:] if row.strip()]
    return tuple(Subject(row[0], kind) for row in rows for kind in row[2:] if kind in TYPES)


TYPES = ("f32", "f64", "f16", "bf16", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "bool", "string",
         "f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "f8e8m0", "f6e2m3", "f6e3m2", "f4e2m1", "i4", "u4", "i2", "u2")


@dataclass(frozen=True)
class Subject:
    """An operator version, as in "Conv-11", and the element type of its first input."""

    version: str
    type: str

    @property
    def test_name(self) -> str:
        plain = "".join(letter if letter.isalnum() else "_" for letter in self.version)
        return f"test_{plain.lower()}_{self.type}"

    def is_of(self, operators: list[str]) -> bool:
        """Whether one of them names it: "Conv", "Conv-11"; none names all."""
        name = self.version.rpartition("-")[0]
        known = {self.version, name, self.version.rpartition(":")[2], name.rpartition(":")[2]}
        return not operators or any(each in known for each in operators)


def name_of(backend: Any) -> str:
    """A backend as `assay --backend` takes it: a name, a module or a class that follows onnx.backend.base.Backend."""
    if isinstance(backend, str):
        return backend
    if inspect.ismodule(backend):
        return "python:" + backend.__name__
    kind = backend if inspect.isclass(backend) else type(backend)
    if kind.__module__ == "__main__" or "." in kind.__qualname__:
        raise ValueError(f"{kind.__qualname__} of {kind.__module__} cannot be imported by a worker: put it into a module")
    return f"python:{kind.__module__}:{kind.__qualname__}"


class Certification:
    """The reports of one backend, each made when it is first asked for."""

    def __init__(self, backend: Any, options: tuple[str, ...] = ()) -> None:
        self.backend = name_of(backend)
        self.options = options
        self._reports: dict[str, dict[str, Any]] = {}

    def report(self, version: str) -> dict[str, Any]:
        if version not in self._reports:
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "report.json")
                done = called("certify", "--backend", self.backend, "--ops", version, "--quiet", "--report", str(path),
                              *self.options)
                if done.returncode > 1:
                    raise RuntimeError(done.stderr.strip() or done.stdout.strip())
                self._reports[version] = json.loads(path.read_text(encoding="utf-8"))
        return self._reports[version]

    def outcome(self, subject: Subject) -> tuple[str, str]:
        """What became of it: conforms, not conforming or not certified; and why, in lines of text."""
        report = self.report(subject.version)
        row = next((row for row in report["operators"] if row["op"] == subject.version), {"standings": {}})
        standing = row["standings"].get(subject.type, {"certified": "not certified", "legal": 0, "judged": 0})
        verdicts = [each for each in report["verdicts"] if type_of(each["line"]) == subject.type]
        broken = [each for each in verdicts if breaches(report, each)]
        if broken:
            return "not conforming", "\n".join(causes(subject, report, verdicts, broken))
        judged = f"{standing['judged']} of {standing['legal']} legal cases judged"
        if standing["certified"] == "not certified":
            reasons = sorted({each["detail"] or each["because"] for each in verdicts if each["state"] == "unsupported"})
            return "not certified", "; ".join([judged, *reasons[:3]])
        return "conforms", judged


def type_of(line: str) -> str:
    """The element type of the first input of a case line."""
    word = next(word for word in line.split(" ") if "]~" in word)
    return word.partition("=")[2].partition("[")[0]


def breaches(report: dict[str, Any], verdict: dict[str, Any]) -> bool:
    """Whether a case counts against conformance, as `certify` counts it."""
    if any(mark["breaches"] for mark in verdict.get("marks", [])):
        return True
    words = BREACHES + (("contested",) if report["mode"] == "strict" else ())
    decides = report["classes"].get(verdict["class"], {}).get("decides", True)
    return verdict["state"] in words and (decides or verdict["state"] == "error")


def causes(subject: Subject, report: dict[str, Any], verdicts: list[Any], broken: list[Any]) -> list[str]:
    """What breaks, by cause, the gravest first."""
    lines = [f"{subject.version}, {subject.type}: {len(broken)} of {len(verdicts)} cases do not conform"]
    groups: dict[tuple[int, str], list[Any]] = {}
    for each in broken:
        word = each["state"] if each["state"] in BREACHES else next(m["mark"] for m in each["marks"] if m["breaches"])
        groups.setdefault((each.get("cause", len(report["causes"]) + 1), word), []).append(each)
    for (number, word), cases in sorted(groups.items()):
        smallest = min(cases, key=lambda each: len(each["line"]))
        because = f" ({smallest['because']})" if smallest["because"] else ""
        lines.append(f"{word}{because}: {len(cases)}")
        if number <= len(report["causes"]):
            lines.append(f"    cause {number}: {report['causes'][number - 1]['sentence']}")
        lines += [f"    {text}" for text in (smallest["detail"], proof(smallest)) if text]
        lines.append(f"    {smallest.get('replay') or smallest['line']}")
    return lines


def decimal(number: str) -> str:
    return f"{float.fromhex(number):.9g} ({number})" if "0x" in number else number


def proof(verdict: dict[str, Any]) -> str:
    evidence = verdict.get("evidence")
    if not evidence:
        return ""
    place = ",".join(map(str, evidence["index"]))
    return f"element [{place}]: got {decimal(evidence['got'])}, want {decimal(evidence['want'])}"
