# SPDX-License-Identifier: Apache-2.0
import importlib.metadata
import os

os.environ.update({"DEV": "CPU", "CC": os.environ.get("CC", "clang-19")})
from tinygrad import Tensor, dtypes
from tinygrad.nn.onnx import OnnxDataType, OnnxRunner

version = "tinygrad " + importlib.metadata.version("tinygrad")


def run(model, *sets):
    runner, answers = OnnxRunner(Tensor(model.SerializeToString(), dtype=dtypes.uint8)), []
    for inputs in sets:
        protos = {name: onnx.numpy_helper.from_array(array) for name, array in inputs.items()}
        results = runner({name: Tensor(proto.raw_data, dtype=OnnxDataType(proto.data_type).to_dtype()).reshape(tuple(proto.dims))
                          for name, proto in protos.items()})
        answers.append([results[name].numpy() for name in runner.graph_outputs])
    return answers
