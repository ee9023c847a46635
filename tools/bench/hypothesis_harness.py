# SPDX-License-Identifier: Apache-2.0
"""A property-based harness of the usual kind: Hypothesis draws, ONNX's ReferenceEvaluator answers, a tolerance judges.

    python hypothesis_harness.py strength Conv 1 500      # operator, seed, cases: what each rule sees, as JSON
    python hypothesis_harness.py cost Conv 1 500          # the same cases with ONNX's rule alone: processor seconds

Attributes and shapes are drawn as property-based kits for ONNX do: small ranks and extents that give a few windows, all
words of auto_pad alike, ceil_mode where there is no auto_pad. Data are normal f32. Cases do not depend on what the
backend answered and nothing is shrunk, so one stream of cases shows what every planted bug would have met.
"""
import json
import math
import sys
import time
import warnings

import hypothesis
import numpy as np
import planted
from hypothesis import strategies as st
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

# numpy.testing.assert_allclose: the runner of ONNX's node tests, and those of two kits for whole models and operators.
RULES = {
    "ONNX": {"rtol": 1e-3, "atol": 1e-7},
    "tight": {"rtol": 1e-5, "atol": 0},
    "wide": {"rtol": 1e-2, "atol": 1e-3},
}


@st.composite
def extent_and_pads(draw, kernel, stride, dilation, auto_pad):
    """A length that gives one to four windows, and pads that fit into it."""
    span = (kernel - 1) * dilation + 1
    total = draw(st.integers(0, 3)) * stride + span + draw(st.integers(0, stride - 1))
    if auto_pad != "NOTSET":
        return total, (0, 0)
    begin = draw(st.integers(0, min(total - 1, span - 1)))
    end = draw(st.integers(0, min(total - 1 - begin, span - 1)))
    return total - begin - end, (begin, end)


@st.composite
def windows(draw):
    """The spatial extents of X and the attributes that Conv and AveragePool share."""
    rank = draw(st.integers(1, 3))
    auto_pad = draw(st.sampled_from(["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"]))
    lists = {name: draw(st.lists(st.integers(1, most), min_size=rank, max_size=rank))
             for name, most in (("kernel_shape", 4), ("strides", 3), ("dilations", 2))}
    axes = [draw(extent_and_pads(k, s, d, auto_pad)) for k, s, d in zip(*lists.values())]
    attributes = {"auto_pad": auto_pad, **lists}
    if auto_pad == "NOTSET":
        attributes["pads"] = [p[0] for _, p in axes] + [p[1] for _, p in axes]
    return [extent for extent, _ in axes], attributes


def normal(draw, *shape):
    return np.random.default_rng(draw(st.integers(0, 2**32 - 1))).standard_normal(shape).astype(np.float32)


@st.composite
def conv_cases(draw):
    extents, attributes = draw(windows())
    batch, group, depth, maps = (draw(st.integers(1, most)) for most in (2, 3, 4, 3))
    attributes["group"] = group
    inputs = {"X": normal(draw, batch, depth * group, *extents),
              "W": normal(draw, maps * group, depth, *attributes["kernel_shape"])}
    if draw(st.booleans()):
        inputs["B"] = normal(draw, maps * group)
    return attributes, inputs


@st.composite
def pool_cases(draw):
    extents, attributes = draw(windows())
    attributes["count_include_pad"] = draw(st.sampled_from([0, 1]))
    if attributes["auto_pad"] == "NOTSET":
        attributes["ceil_mode"] = draw(st.sampled_from([0, 1]))
    batch, channels = draw(st.integers(1, 2)), draw(st.integers(1, 3))
    return attributes, {"X": normal(draw, batch, channels, *extents)}


def model_of(operator, attributes, inputs):
    node = helper.make_node(operator, list(inputs), ["Y"], **attributes)
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape) for name, value in inputs.items()]
    graph = helper.make_graph([node], "case", values, [helper.make_tensor_value_info("Y", TensorProto.FLOAT, None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)


def agrees(given, expected, rule):
    if given.shape != expected.shape or given.dtype != expected.dtype:
        return False
    try:
        np.testing.assert_allclose(given, expected, **RULES[rule])
        return True
    except AssertionError:
        return False


def answer(session, inputs):
    """What the backend gives; None where it turns the model away."""
    try:
        return session(inputs)
    except planted.Refused:
        return None


def expectation(model, inputs):
    """What the evaluator gives; None where it fails itself."""
    try:
        return ReferenceEvaluator(model).run(None, inputs)[0]
    except Exception:  # noqa: BLE001, whatever it raises
        return None


def is_rounding(model, inputs, given, expected):
    """Whether what the evaluator says is within the rounding errors of an f32 sum, whatever its order."""
    if given.shape != expected.shape:
        return False
    magnitude = planted.Session(model)({name: np.abs(value) for name, value in inputs.items()})
    terms = math.prod(inputs["W"].shape[1:]) + 2 if "W" in inputs else inputs["X"].size + 2
    off = np.abs(given.astype(np.float64) - expected)
    return bool(np.all((off <= 1.01 * terms * 2.0**-24 * magnitude) | (np.isnan(given) & np.isnan(expected))))


class Strength:
    """Which case is the first to show each bug, by rule; and what is said of the kernel without a bug."""

    def __init__(self, operator):
        self.bugs = [bug for bug in planted.BUGS if bug.startswith(planted.PREFIX[operator])]
        self.said = {"cases": 0, "evaluator fails": 0, "kernel refuses": 0, "evaluator": {}, "rounding": {},
                     "first alarm": {}, "first": {rule: {} for rule in RULES}}

    def count_alarm(self, rule, why):
        self.said[why][rule] = self.said[why].get(rule, 0) + 1
        self.said["first alarm"].setdefault(rule, self.said["cases"])

    def __call__(self, model, inputs):
        said = self.said
        said["cases"] += 1
        expected, right = expectation(model, inputs), answer(planted.Session(model), inputs)
        said["evaluator fails"] += expected is None
        said["kernel refuses"] += right is None
        if expected is None or right is None:
            return
        trusted = [rule for rule in RULES if agrees(right, expected, rule)]
        for rule in RULES:
            if rule not in trusted:
                self.count_alarm(rule, "rounding" if is_rounding(model, inputs, right, expected) else "evaluator")
        for bug in self.bugs:
            open_rules = [rule for rule in trusted if bug not in said["first"][rule]]
            given = answer(planted.Session(model, bug), inputs) if open_rules else None
            for rule in open_rules:
                if given is None or not agrees(given, expected, rule):
                    said["first"][rule][bug] = said["cases"]


class Cost:
    """What such a harness does for a case, and no more."""

    said = None

    def __call__(self, model, inputs):
        expected, given = expectation(model, inputs), answer(planted.Session(model), inputs)
        if expected is not None and given is not None:
            agrees(given, expected, "ONNX")


def main():
    task, operator, seed, cases = sys.argv[1:]
    warnings.simplefilter("ignore")
    evaluate = Strength(operator) if task == "strength" else Cost()

    @hypothesis.seed(int(seed))
    @hypothesis.settings(max_examples=int(cases), deadline=None, database=None, phases=[hypothesis.Phase.generate],
                         suppress_health_check=list(hypothesis.HealthCheck))
    @hypothesis.given(conv_cases() if operator == "Conv" else pool_cases())
    def matches_the_evaluator(case):
        attributes, inputs = case
        submit(model_of(operator, attributes, inputs), inputs)

    with np.errstate(all="ignore"):
        matches_the_evaluator()
    rules = {rule: ", ".join(f"{word} {value:g}" for word, value in said.items()) for rule, said in RULES.items()}
    print(json.dumps({"strength": evaluate.said, "rules": rules, "seconds": time.process_time()}))


if __name__ == "__main__":
    main()
