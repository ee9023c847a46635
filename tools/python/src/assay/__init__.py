# SPDX-License-Identifier: Apache-2.0
"""Holds the outputs of an ONNX runtime against the text of the standard, computed exactly.

    import assay
    assay.assert_conforms(model, {"X": x}, {"Y": y})            # in place of numpy.testing.assert_allclose(y, expected)
    verdict = assay.judge("conv.onnx", [x, w], [y])             # verdict.state, verdict.worst, …

`model` has one node, of an operator version that assay certifies; another one is a ValueError that says what is not
covered. No expected output is given, and no tolerance: the exact answer is worked out from the model and the inputs, and
so is how far from it correct arithmetic may end.
"""
from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Union

from ._core import __version__, examine as _examine

__all__ = ["PROFILES", "Element", "Tensor", "Verdict", "WeakEvidence", "__version__", "assert_conforms", "judge"]

PROFILES = ("L0", "L1", "L2", "L2t", "L3", "widest", "f16-accumulation", "bf16-accumulation")
"""What arithmetic is asked for, from the strongest to the weakest. L0: correctly rounded. L1: faithful. L2: any order of
evaluation, accumulated in f32 (f64 for f64), rounded once. L2t: the same, truncating. L3: every operation in the type of
the output. widest: TF32 or bf16 inputs, subnormals flushed, Winograd, f64 computed in f32. The last two: the widest, and
an accumulator of that type."""

_PLAIN = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "uint8": "u8", "int8": "i8",
          "uint16": "u16", "int16": "i16", "uint32": "u32", "int32": "i32", "uint64": "u64", "int64": "i64", "bool": "bool",
          "object": "string", "float8_e4m3fn": "f8e4m3fn", "float8_e4m3fnuz": "f8e4m3fnuz", "float8_e5m2": "f8e5m2",
          "float8_e5m2fnuz": "f8e5m2fnuz", "uint4": "u4", "int4": "i4", "float4_e2m1fn": "f4e2m1",
          "float8_e8m0fnu": "f8e8m0", "uint2": "u2", "int2": "i2", "float6_e2m3fn": "f6e2m3", "float6_e3m2fn": "f6e3m2"}


class WeakEvidence(UserWarning):
    """The outputs are right, but nearly all of them are the same number: a wrong kernel would give them as well."""


class _Serializable(Protocol):
    def SerializeToString(self) -> bytes: ...


@dataclass(frozen=True)
class Tensor:
    """A tensor as bytes in C order, little-endian, for who has no array type with that element type. `dtype` is f16,
    bf16, f32, f64, u8, i8, u16, i16, u32, i32, u64, i64, bool, string (of each its length in four bytes, little-endian,
    then its bytes), f8e4m3fn, f8e4m3fnuz, f8e5m2, f8e5m2fnuz, f8e8m0, f6e2m3, f6e3m2, f4e2m1, i4, u4, i2 or u2 (a byte
    each, whose low bits count)."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes


# A numpy array (bfloat16 and types of eight bits or less by ml_dtypes), anything that numpy makes one of, or a Tensor.
Array = Any
Arrays = Union[Mapping[str, Array], Sequence[Array]]
Model = Union[bytes, str, "os.PathLike[str]", _Serializable]


@dataclass(frozen=True)
class Element:
    """One element of the output. Numbers are hexadecimal floats, `exact` and `budget` are fractions in hexadecimal."""

    index: tuple[int, ...]
    got: str
    want: str
    lower: str
    upper: str
    exact: str
    budget: str
    arithmetic: str
    ulp: float | None
    taps: tuple[tuple[str, list[str]], ...] = field(repr=False)


@dataclass(frozen=True)
class Verdict:
    """What is said of the outputs. `state` is pass, contested, below, fail, unscored or accepted."""

    operator: str
    output: str
    state: str
    because: str
    detail: str
    level: str | None
    violated: tuple[str, ...]
    rulings: tuple[tuple[str, str, str], ...]
    elements: int
    unscored: int
    exact: int
    offenders: int
    worst: Element | None
    profile: str

    def conforms(self, *, strict: bool = False) -> bool:
        """Nothing is wrong that was asked for. Another admissible reading of an unclear clause is not, unless strict."""
        return self.state == "pass" or self.because == "vacuous" or (self.state == "contested" and not strict)

    def __str__(self) -> str:
        return "\n".join(_lines(self))


def judge(model: Model, inputs: Arrays, outputs: Arrays, *, profile: str = "L2") -> Verdict:
    """What `outputs` are worth as the answer of `model` to `inputs`.

    model: a ModelProto, its bytes, or the path of its file. inputs, outputs: by the names of the graph, or in its order
    without initializers; of each an array, or a Tensor. profile: one of PROFILES.
    Raises ValueError where model, inputs or outputs cannot be used or are not covered.
    """
    if profile not in PROFILES:
        raise ValueError(f"there is no profile {profile!r}; there are {', '.join(PROFILES)}")
    level, accumulator = ("widest", profile.partition("-")[0]) if "-" in profile else (profile, "")
    said = _examine(_bytes_of(model), _given(inputs, "inputs"), _given(outputs, "outputs"), level, accumulator)
    if said["worst"] is not None:
        said["worst"] = Element(**said["worst"])
    return Verdict(**said, profile=profile)


def assert_conforms(model: Model, inputs: Arrays, outputs: Arrays, *, profile: str = "L2", strict: bool = False) -> Verdict:
    """Raises AssertionError where `outputs` are not what the standard asks for, and tells the worst element.

    Arguments as of judge. strict: another admissible reading of an unclear clause fails as well. Outputs of which
    nothing can be claimed fail; a model that breaks a constraint of its operator has no right output: ValueError.
    """
    __tracebackhide__ = True  # pytest shows the caller's line
    verdict = judge(model, inputs, outputs, profile=profile)
    if verdict.violated:
        raise ValueError(f"no output of this model is right: {verdict.operator} breaks {'; '.join(verdict.violated)}")
    if not verdict.conforms(strict=strict):
        raise AssertionError(str(verdict))
    if verdict.because == "vacuous":
        warnings.warn(f"{verdict.operator}: {verdict.detail}; a wrong kernel could pass as well", WeakEvidence, stacklevel=2)
    return verdict


def _bytes_of(model: Model) -> bytes:
    if isinstance(model, (bytes, bytearray, memoryview)):
        return bytes(model)
    if hasattr(model, "SerializeToString"):
        return model.SerializeToString()
    if isinstance(model, (str, os.PathLike)):
        with open(model, "rb") as file:
            return file.read()
    raise ValueError(f"a model is a ModelProto, its bytes or a path, not a {type(model).__name__}")


def _given(arrays: Arrays, what: str) -> list[tuple[str, str, list[int], bytes]]:
    if isinstance(arrays, Mapping):
        return [_plain(str(name), array) for name, array in arrays.items()]
    if isinstance(arrays, (list, tuple)):
        return [_plain("", array) for array in arrays]
    raise ValueError(f"{what} are a list, or a dictionary by name, not a {type(arrays).__name__}")


def _plain(name: str, array: Array) -> tuple[str, str, list[int], bytes]:
    if isinstance(array, Tensor):
        return name, array.dtype, list(array.shape), bytes(array.data)
    if not all(hasattr(array, wanted) for wanted in ("dtype", "shape", "tobytes")):
        import numpy

        array = numpy.asarray(array)
    dtype = array.dtype
    if getattr(dtype, "byteorder", "=") == ">":
        array = array.astype(dtype.newbyteorder("<"))
    if getattr(dtype, "kind", "") in ("O", "U", "S"):
        return name, "string", [int(extent) for extent in array.shape], _packed(array.ravel().tolist())
    plain = _PLAIN.get(str(getattr(dtype, "name", dtype)))
    if plain is None:
        raise ValueError(f"element type {dtype} is not covered; {', '.join(_PLAIN)} are")
    return name, plain, [int(extent) for extent in array.shape], array.tobytes()


def _packed(texts: "list[str | bytes]") -> bytes:
    parts = [text.encode() if isinstance(text, str) else bytes(text) for text in texts]
    return b"".join(len(part).to_bytes(4, "little") + part for part in parts)


def _decimal(text: str) -> str:
    """A hexadecimal float with its decimal form, which people read."""
    if "0x" not in text:
        return text
    return f"{float.fromhex(text):.9g} ({text})"


def _link(operator: str) -> str:
    domain, _, versioned = operator.rpartition(":")
    name = versioned.rpartition("-")[0]
    if domain:
        return f"https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#{domain}.{name}"
    return f"https://onnx.ai/onnx/operators/onnx__{name}.html"


def _headline(verdict: Verdict) -> str:
    of = f"{verdict.operator}, output {verdict.output}: {verdict.state}"
    if verdict.offenders:
        return f"{of} at {verdict.offenders} of {verdict.elements} elements, asked for {verdict.profile}"
    return of + (f" ({verdict.because})" if verdict.because else "")


def _lines(verdict: Verdict) -> list[str]:
    lines = [_headline(verdict)]
    if verdict.detail:
        lines.append(f"  {verdict.detail}")
    worst = verdict.worst
    if worst is not None:
        index = ",".join(map(str, worst.index))
        off = "" if worst.ulp is None or worst.ulp == float("inf") else f", off by {worst.ulp:.4g} ulp"
        lines.append(f"  worst     {verdict.output}[{index}]{off}")
        lines.append(f"  got       {_decimal(worst.got)}")
        lines.append(f"  want      {_decimal(worst.want)}" + (f", exactly {worst.exact}" if worst.exact else ""))
        if worst.lower:
            lines.append(f"  interval  [{_decimal(worst.lower)}, {_decimal(worst.upper)}]  {worst.arithmetic}")
    lines.append(f"  clause    {verdict.operator}, {_link(verdict.operator)}")
    lines += [f"            {name}, read as {reading}: {title}" for name, reading, title in verdict.rulings]
    lines += [f"            {text}" for text in verdict.violated]
    return lines
