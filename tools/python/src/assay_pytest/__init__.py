# SPDX-License-Identifier: Apache-2.0
"""Conformance under pytest and unittest: a test per operator version and element type, whose failure text is the causes.

    pytest --assay-backend my_backend --assay-ops Conv,AveragePool-19

or, in a test file, where `onnx.backend.test.BackendTest` would stand:

    from assay_pytest import BackendTest
    backend_test = BackendTest(my_backend.MyBackend, __name__)
    backend_test.exclude("f16")
    globals().update(backend_test.test_cases)

`assay certify` runs each operator version once, when the first of its tests is asked for.
"""
from __future__ import annotations

from .backend_test import BackendTest
from .certification import Certification, Subject

__all__ = ["BackendTest", "Certification", "Subject"]
