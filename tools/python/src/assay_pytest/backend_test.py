# SPDX-License-Identifier: Apache-2.0
"""BackendTest: stands where onnx.backend.test.BackendTest does, with other questions and without tolerances."""
from __future__ import annotations

import re
import unittest
from collections.abc import Callable
from typing import Any

from .certification import Certification, Subject, subjects


class BackendTest:
    """Tests of a backend, one per operator version and element type.

    backend: a class or module that follows onnx.backend.base.Backend, or a name that `assay --backend` takes.
    parent_module: __name__ of the file whose tests they become. certify: further options of `assay certify`, as in
    ["--cases", "400"]. Patterns of include, exclude and xfail are searched for in names as test_conv_11_f32.
    """

    def __init__(self, backend: Any, parent_module: str | None = None, *, certify: list[str] | tuple[str, ...] = ()) -> None:
        self.certification = Certification(backend, tuple(certify))
        self._parent_module = parent_module
        self._include: list[re.Pattern[str]] = []
        self._exclude: list[re.Pattern[str]] = []
        self._xfail: list[re.Pattern[str]] = []

    def include(self, pattern: str) -> BackendTest:
        self._include.append(re.compile(pattern))
        return self

    def exclude(self, pattern: str) -> BackendTest:
        self._exclude.append(re.compile(pattern))
        return self

    def xfail(self, pattern: str) -> BackendTest:
        self._xfail.append(re.compile(pattern))
        return self

    def enable_report(self) -> BackendTest:
        """For who calls it of onnx's class: `assay certify --report` writes a report."""
        return self

    @property
    def test_cases(self) -> dict[str, type[unittest.TestCase]]:
        """globals().update(backend_test.test_cases)"""
        return {"AssayBackendTest": self.tests}

    @property
    def test_suite(self) -> unittest.TestSuite:
        return unittest.defaultTestLoader.loadTestsFromTestCase(self.tests)

    @property
    def tests(self) -> type[unittest.TestCase]:
        members: dict[str, Any] = {subject.test_name: self._test(subject) for subject in subjects()}
        if self._parent_module:
            members["__module__"] = self._parent_module
        return type("AssayBackendTest", (unittest.TestCase,), members)

    def _test(self, subject: Subject) -> Callable[[unittest.TestCase], None]:
        certification = self.certification

        def test(case: unittest.TestCase) -> None:
            __tracebackhide__ = True  # pytest shows the text alone
            word, text = certification.outcome(subject)
            if word == "not conforming":
                case.fail(text)
            if word == "not certified":
                case.skipTest(text)

        test.__name__, test.__doc__ = subject.test_name, None
        name = subject.test_name
        if self._include and not any(each.search(name) for each in self._include):
            return unittest.skip("no matched include pattern")(test)
        for each in self._exclude:
            if each.search(name):
                return unittest.skip(f'matched exclude pattern "{each.pattern}"')(test)
        return unittest.expectedFailure(test) if any(each.search(name) for each in self._xfail) else test
