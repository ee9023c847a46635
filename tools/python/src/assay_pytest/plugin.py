# SPDX-License-Identifier: Apache-2.0
"""The plugin of pytest: --assay-backend adds a test per operator version and element type to what is collected."""
from __future__ import annotations

import importlib.util
import shlex
from typing import Any

import pytest

from .certification import Certification, Subject, called, subjects


class NotConforming(Exception):
    """Its text is all that a failed test shows."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("assay", "conformance to the ONNX standard")
    group.addoption("--assay-backend", metavar="NAME", help="certify this backend: a module that follows "
                    "onnx.backend.base.Backend, or what assay --backend takes (onnxruntime, exec:COMMAND, ./LIBRARY.so)")
    group.addoption("--assay-ops", metavar="LIST", default="", help="only these, as in Conv,AveragePool-19")
    group.addoption("--assay-types", metavar="LIST", default="", help="only these element types, as in f32,f16")
    group.addoption("--assay-options", metavar="WORDS", default="", help="further options of assay certify, in quotes")


def spec_of(name: str) -> str:
    """A module that is no backend of the catalogue is meant as one that follows onnx.backend.base.Backend."""
    if ":" in name or "/" in name or name in {row.split()[0] for row in called("backends").stdout.splitlines() if row.strip()}:
        return name
    return "python:" + name if importlib.util.find_spec(name) else name


class ConformanceItem(pytest.Item):
    def __init__(self, *, certification: Certification, subject: Subject, **others: Any) -> None:
        super().__init__(**others)
        self.certification, self.subject = certification, subject

    def runtest(self) -> None:
        word, text = self.certification.outcome(self.subject)
        if word == "not conforming":
            raise NotConforming(text)
        if word == "not certified":
            pytest.skip(text)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, NotConforming):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        return self.path, None, f"assay {self.certification.backend} {self.name}"


@pytest.hookimpl(tryfirst=True)  # before -k and -m choose among them
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    backend = config.getoption("--assay-backend")
    if not backend:
        return
    chosen = {name: [each for each in config.getoption(name).split(",") if each] for name in ("--assay-ops", "--assay-types")}
    certification = Certification(spec_of(backend), tuple(shlex.split(config.getoption("--assay-options"))))
    wanted = [each for each in subjects() if each.is_of(chosen["--assay-ops"]) and
              (not chosen["--assay-types"] or each.type in chosen["--assay-types"])]
    if not wanted:
        raise pytest.UsageError(f"--assay-ops {config.getoption('--assay-ops')}: no operator version of that name and type")
    items += [ConformanceItem.from_parent(session, name=each.test_name, certification=certification, subject=each)
              for each in wanted]
