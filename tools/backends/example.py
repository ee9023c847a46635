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


def run(header):
    model = onnx.load_model_from_string(requests.read(header["model"]))
    sets = [[requests.read(size) for size in sizes] for sizes in header["sets"]]  # read all of it, then answer
    try:
        evaluator = ReferenceEvaluator(model)
        outputs = []
        for parts in sets:
            inputs = [onnx.numpy_helper.to_array(onnx.TensorProto.FromString(part)) for part in parts]
            arrays = evaluator.run(None, dict(zip(evaluator.input_names, inputs)))
            outputs.append([onnx.numpy_helper.from_array(array).SerializeToString() for array in arrays])
    except NotImplementedError as error:
        return {"id": header["id"], "outcome": "unsupported", "because": str(error) or "not implemented"}, []
    except Exception as error:
        return {"id": header["id"], "outcome": "refused", "because": str(error) or type(error).__name__}, []
    sizes = [[len(part) for part in parts] for parts in outputs]
    return {"id": header["id"], "outcome": "outputs", "sets": sizes}, sum(outputs, [])


for line in iter(requests.readline, b""):
    header = json.loads(line)
    answer, parts = {"assay": 1, "backend": "example", "version": onnx.__version__, "device": "cpu"}, []
    if header["ask"] == "run":
        answer, parts = run(header)
    replies.write(json.dumps(answer).encode() + b"\n" + b"".join(parts))
    replies.flush()
