# SPDX-License-Identifier: Apache-2.0
"""Writes the official ONNX node tests of some operators to files, in the layout of ONNX's backend tests.

    node_tests.py FOLDER OPERATOR... [--others]

--others: of all the others the models as well, without data. Left out either way are those operators at types that
dtypes.def does not have, and at sequences.

From ONNX 1.23 on the package builds these tests in memory and ships no files (spec 4.1).
"""

import pathlib
import sys
import warnings

import onnx
from onnx.backend.test.loader import load_model_tests


DOMAINS = {"", "ai.onnx", "ai.onnx.ml", "ai.onnx.preview.training"}
TYPES = {*range(1, 14), *range(16, 29)}  # what dtypes.def has: no complex numbers


def type_of(value):
    return value.type.tensor_type.elem_type if value.type.HasField("tensor_type") else None


def proto(value, info):
    if isinstance(value, onnx.TensorProto):
        return value
    return onnx.numpy_helper.from_array(value, info.name)


def write_set(folder, model, inputs, outputs):
    folder.mkdir(parents=True, exist_ok=True)
    for kind, values, infos in (("input", inputs, model.graph.input), ("output", outputs, model.graph.output)):
        for i, (value, info) in enumerate(zip(values, infos, strict=True)):
            (folder / f"{kind}_{i}.pb").write_bytes(proto(value, info).SerializeToString(deterministic=True))


def main(folder, operators, others):
    folder = pathlib.Path(folder)
    for case in load_model_tests(kind="node"):
        nodes, graph = case.model.graph.node, case.model.graph
        has_types = all(type_of(value) in TYPES for value in [*graph.input, *graph.output])
        is_ours = len(nodes) == 1 and nodes[0].domain in DOMAINS and nodes[0].op_type in operators
        is_wanted = is_ours and has_types
        if not is_wanted and (not others or is_ours):
            continue
        target = folder / case.name
        target.mkdir(parents=True, exist_ok=True)
        for i, (inputs, outputs) in enumerate(case.data_sets if is_wanted else []):
            write_set(target / f"test_data_set_{i}", case.model, inputs, outputs)
        (target / "model.onnx").write_bytes(case.model.SerializeToString(deterministic=True))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    warnings.simplefilter("ignore")  # tests of other operators overflow on purpose while they are built
    words = [word for word in sys.argv[2:] if word != "--others"]
    main(sys.argv[1], set(words), "--others" in sys.argv)
