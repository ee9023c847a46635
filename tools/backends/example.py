# SPDX-License-Identifier: Apache-2.0
"""The smallest complete assay worker: onnx's own evaluator, without any help from this folder."""
import json
import os
import sys

sys.path.pop(0)  # this folder has an onnxruntime.py, which must not stand in for the library
import onnx  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

requests = sys.stdin.buffer
replies = os.fdopen(int(os.environ["ASSAY_REPLY_FD"]), "wb")


def run(model, sets):
    """Per data set, the TensorProtos of the outputs, read after the last run: a buffer that is used twice must show."""
    evaluator = ReferenceEvaluator(onnx.load_model_from_string(model))
    outputs = []
    for parts in sets:
        inputs = [onnx.numpy_helper.to_array(onnx.TensorProto.FromString(part)) for part in parts]
        outputs.append(evaluator.run(None, dict(zip(evaluator.input_names, inputs, strict=True))))
    return [[onnx.numpy_helper.from_array(array).SerializeToString() for array in arrays] for arrays in outputs]


def answer(header):
    model = requests.read(header["model"])
    sets = [[requests.read(size) for size in sizes] for sizes in header["sets"]]  # read all of it, then answer
    try:
        outputs = run(model, sets)
        return {"outcome": "outputs", "sets": [[len(part) for part in parts] for parts in outputs]}, sum(outputs, [])
    except NotImplementedError as error:
        return {"outcome": "unsupported", "because": str(error)[:2000] or "not implemented"}, []
    except Exception as error:
        return {"outcome": "refused", "because": str(error)[:2000] or type(error).__name__}, []


for line in iter(requests.readline, b""):
    header = json.loads(line)
    if header["ask"] == "describe":
        reply, parts = {"assay": 1, "backend": "example", "version": onnx.__version__, "device": "cpu"}, []
    elif header["ask"] == "run":
        reply, parts = answer(header)
        reply["id"] = header["id"]
    else:
        sys.exit(f"an unknown question: {line}")
    replies.write(json.dumps(reply).encode() + b"\n" + b"".join(parts))
    replies.flush()
