# SPDX-License-Identifier: Apache-2.0
"""Runs golden vectors on a device and writes down what it did, for `assay judge`. Needs Python 3 and numpy.

    python3 run.py VECTORS ANSWERS

VECTORS holds valid/, unscored/ and rejected/, and may hold graphs/. Edit `prepare`. Each case runs in a process of its own: one that crashes or
takes more than `seconds` is noted. Called again, it goes on behind the last case.
"""
import collections
import ctypes
import json
import multiprocessing
import pathlib
import sys

import numpy
import onnxruntime  # EDIT THIS

seconds = 10
# EDIT THIS: what the report calls the device. What it turns away of newer opsets counts as unsupported; further
# capabilities are in assay's tools/backends/README.md, "Describe".
DESCRIPTION = {"assay": 1, "backend": "onnxruntime", "version": onnxruntime.__version__, "device": "cpu",
               "capabilities": {"newest_opset": 26}}

# Of a tensor: a numpy array, and its TensorProto.DataType. What numpy has no type of, bfloat16 and most of eight bits or
# less, comes as its bits, each element in a uint16 or uint8; strings come as str.
Tensor = collections.namedtuple("Tensor", "array type")


def prepare(model_path):
    """EDIT THIS. Loads model.onnx and returns a function from a list of Tensor to a list of arrays: of numpy, of ml_dtypes,
    or the bits of what they lack. Raise NotImplementedError (or any class of such a name) for what the runtime does not
    implement, and anything else for what it turns away, each with its words."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model_path, options, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_inputs()]
    kinds = [each.type for each in session.get_outputs()]

    def run(inputs):
        if any(each.type == STRING for each in inputs):  # onnxruntime makes no OrtValue of them
            if any(lacking in kind for kind in kinds for lacking in ("bfloat", "float8", "float4", "int4", "int2")):
                raise NotImplementedError(f"onnxruntime's Python hands no {', '.join(kinds)} out beside strings")
            return session.run(None, {name: each.array for name, each in zip(names, inputs)})
        return [array_of(value) for value in session.run_with_ort_values(None, dict(zip(names, map(value_of, inputs))))]

    return run


def value_of(tensor):
    """EDIT THIS. onnxruntime wants elements of less than a byte packed, in front of a buffer of a byte each."""
    bits = numpy.zeros(tensor.array.shape, tensor.array.dtype)
    raw = packed(tensor.array, WIDTHS[tensor.type]) if WIDTHS.get(tensor.type, 8) < 8 else tensor.array.reshape(-1)
    bits.reshape(-1)[: raw.size] = raw
    return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, tensor.type)


def array_of(value):
    """EDIT THIS."""
    if value.element_type() == STRING:
        return value.numpy()
    return unpacked(ctypes.string_at(value.data_ptr(), value.tensor_size_in_bytes()), value.element_type(), value.shape())


# By TensorProto.DataType: what numpy calls a type, and in how many bits lie those that it lacks.
STRING = 8
TYPES = {1: "<f4", 2: "u1", 3: "i1", 4: "<u2", 5: "<i2", 6: "<i4", 7: "<i8", 9: "?", 10: "<f2", 11: "<f8", 12: "<u4",
         13: "<u8", 16: "<u2"}
WIDTHS = {17: 8, 18: 8, 19: 8, 20: 8, 21: 4, 22: 4, 23: 4, 24: 8, 25: 2, 26: 2, 27: 6, 28: 6}


def unpacked(raw, kind, dims):
    """The elements of raw_data, which is little-endian and fills bytes from their lowest bit on."""
    if kind in TYPES:
        return numpy.frombuffer(raw, TYPES[kind]).reshape(dims)
    bits = numpy.unpackbits(numpy.frombuffer(raw, "u1"), bitorder="little")
    elements = bits[: int(numpy.prod(dims, dtype=int)) * WIDTHS[kind]].reshape(-1, WIDTHS[kind])
    return numpy.packbits(elements, axis=1, bitorder="little").reshape(dims)


def packed(array, width):
    return numpy.packbits(numpy.unpackbits(array.reshape(-1, 1), axis=1, bitorder="little")[:, :width], bitorder="little")


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def tensor(path):
    """The dims, data_type, string_data and raw_data of a TensorProto."""
    data, at, dims, kind, strings, raw = path.read_bytes(), 0, [], 0, [], b""
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
            if tag >> 3 == 1:
                dims.append(value)
            if tag >> 3 == 2:
                kind = value
            continue
        size, at = varint(data, at)
        body, at = data[at:at + size], at + size
        if tag >> 3 == 1:  # packed
            end = 0
            while end < len(body):
                value, end = varint(body, end)
                dims.append(value)
        if tag >> 3 == 6:
            strings.append(body.decode())
        if tag >> 3 == 9:
            raw = body
    if kind == STRING:
        return Tensor(numpy.array(strings, object).reshape(dims), kind)
    return Tensor(unpacked(raw, kind, dims), kind)


def encoded(value):
    """A varint."""
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + encoded(value >> 7)


def save(file, array):
    """Writes an array as numpy does; of text a TensorProto."""
    if array.dtype.kind not in "OSU":
        return numpy.save(file.with_suffix(".npy"), array)
    strings = [each if isinstance(each, bytes) else str(each).encode() for each in array.reshape(-1)]
    return file.with_suffix(".pb").write_bytes(
        b"".join(b"\x08" + encoded(extent) for extent in array.shape) + b"\x10" + encoded(STRING)
        + b"".join(b"\x32" + encoded(len(each)) + each for each in strings))


def inputs_of(folder):
    return [tensor(folder / f"input_{i}.pb") for i in range(len(list(folder.glob("input_*.pb"))))]


def answer(case, answers):
    try:
        device = prepare(str(case / "model.onnx"))
        # A graph has one data set, and a model of one node two, of which one without inputs has no files.
        sets = [case / f"test_data_set_{number}" for number in range(1 if case.parent.name == "graphs" else 2)]
        outputs = [[numpy.asarray(output) for output in device(inputs_of(folder))] for folder in sets]
    except Exception as words:  # whatever a runtime throws is its refusal
        name = "unsupported.txt" if "NotImplemented" in type(words).__name__ else "refused.txt"
        (answers / name).write_text(f"{words or type(words).__name__}\n", errors="replace")
    else:
        for folder, arrays in zip(sets, outputs):
            (answers / folder.name).mkdir()
            for i, array in enumerate(arrays):
                save(answers / folder.name / f"output_{i}", array)
    (answers / "error.txt").unlink()


def run(case, answers):
    answers.mkdir(parents=True)
    note = answers / "error.txt"
    note.write_text("crashed: the runner ended in the middle of this case\n")
    process = multiprocessing.Process(target=answer, args=(case, answers))
    process.start()
    process.join(seconds)
    if process.is_alive():
        process.kill()
        note.write_text(f"timed out: no answer within {seconds} s\n")
    elif process.exitcode != 0:
        note.write_text(f"crashed: exit code {process.exitcode}\n")
    process.join()


def main(vectors, answers):
    vectors, answers = pathlib.Path(vectors), pathlib.Path(answers)
    answers.mkdir(parents=True, exist_ok=True)
    (answers / "backend.json").write_text(json.dumps(DESCRIPTION) + "\n")
    cases = [case for shelf in ("valid", "unscored", "rejected", "graphs") for case in sorted((vectors / shelf).glob("test_*"))]
    for case in cases:
        if not (answers / case.name).exists():
            run(case, answers / case.name)
    print(f"{len(cases)} cases; now: assay judge --golden {vectors} --outputs {answers} --report report.json")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
