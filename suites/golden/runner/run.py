# SPDX-License-Identifier: Apache-2.0
"""Runs golden vectors on a device and writes down what it did, for `assay judge`. Needs Python 3 and numpy.

    python3 run.py VECTORS ANSWERS

VECTORS holds valid/, unscored/ and rejected/. Edit `prepare`. Each case runs in a process of its own: one that crashes or
takes more than `seconds` is noted. Called again, it goes on behind the last case.
"""
import multiprocessing
import pathlib
import sys

import numpy
import onnxruntime  # EDIT THIS

seconds = 10


def prepare(model_path):
    """EDIT THIS. Loads model.onnx and returns a function from a list of arrays to a list of arrays. bfloat16 comes as
    uint16, its bits, and may be returned so or as ml_dtypes.bfloat16. Raise NotImplementedError (or any class of
    such a name) for what the runtime does not implement, and anything else for what it turns away, each with its words."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model_path, options, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_inputs()]
    return lambda inputs: session.run(None, dict(zip(names, inputs)))


# TensorProto.DataType; the vectors hold raw_data, little-endian.
TYPES = {1: "<f4", 2: "<u1", 3: "<i1", 6: "<i4", 7: "<i8", 10: "<f2", 11: "<f8", 16: "<u2"}


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def tensor(path):
    """The dims, data_type and raw_data of a TensorProto."""
    data, at, dims, kind, raw = path.read_bytes(), 0, [], 0, b""
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
        if tag >> 3 == 9:
            raw = body
    return numpy.frombuffer(raw, TYPES[kind]).reshape(dims)


def inputs_of(folder):
    return [tensor(folder / f"input_{i}.pb") for i in range(len(list(folder.glob("input_*.pb"))))]


def answer(case, answers):
    try:
        device = prepare(str(case / "model.onnx"))
        sets = sorted(case.glob("test_data_set_*"))
        outputs = [[numpy.asarray(output) for output in device(inputs_of(folder))] for folder in sets]
    except Exception as words:  # whatever a runtime throws is its refusal
        name = "unsupported.txt" if "NotImplemented" in type(words).__name__ else "refused.txt"
        (answers / name).write_text(f"{words or type(words).__name__}\n", errors="replace")
    else:
        for folder, arrays in zip(sets, outputs):
            (answers / folder.name).mkdir()
            for i, array in enumerate(arrays):
                numpy.save(answers / folder.name / f"output_{i}.npy", array)
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
    cases = [case for shelf in ("valid", "unscored", "rejected") for case in sorted((vectors / shelf).glob("test_*"))]
    for case in cases:
        if not (answers / case.name).exists():
            run(case, answers / case.name)
    print(f"{len(cases)} cases; now: assay judge --golden {vectors} --outputs {answers} --report report.json")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
