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


class ConformanceCollector(pytest.Collector):
    def __init__(self, *, certification: Certification, subjects: list[Subject], **others: Any) -> None:
        super().__init__(**others)
        self.certification, self.subjects = certification, subjects

    def collect(self) -> list[pytest.Item]:
        return [ConformanceItem.from_parent(self, name=each.test_name, certification=self.certification, subject=each)
                for each in self.subjects]


def chosen(config: pytest.Config) -> list[Subject]:
    operators, types = ([each for each in config.getoption(name).split(",") if each] for name in ("--assay-ops", "--assay-types"))
    found = [each for each in subjects() if each.is_of(operators) and (not types or each.type in types)]
    if not found:
        raise pytest.UsageError("--assay-ops, --assay-types: there is no operator version of that name and type")
    return found


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Any:
    """Beside what the files hold; so -k and -m choose among these tests as among any."""
    outcome = yield
    backend = collector.config.getoption("--assay-backend")
    if not backend or not isinstance(collector, pytest.Session):
        return
    try:
        certification = Certification(spec_of(backend), tuple(shlex.split(collector.config.getoption("--assay-options"))))
        wanted = chosen(collector.config)
    except (FileNotFoundError, RuntimeError, ValueError) as error:
        raise pytest.UsageError(str(error)) from error
    outcome.get_result().result.append(ConformanceCollector.from_parent(
        collector, name="assay", nodeid="assay", certification=certification, subjects=wanted))
