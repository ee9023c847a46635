# SPDX-License-Identifier: Apache-2.0
"""assay worker: tinygrad on the CPU, which compiles every kernel with clang (environment CC)."""
import importlib.metadata
import os

os.environ.update({"DEV": "CPU", "CACHELEVEL": "0"})  # read on import; no kernels kept on disk

import assay_worker  # noqa: E402
import onnx  # noqa: E402
from tinygrad import Tensor, dtypes  # noqa: E402
from tinygrad.helpers import Context  # noqa: E402
from tinygrad.nn.onnx import OnnxDataType, OnnxRunner  # noqa: E402

NUMBERS = {kind.to_dtype(): kind.value for kind in OnnxDataType}


def tensor_of(part):
    proto = onnx.TensorProto.FromString(part)
    return Tensor(proto.raw_data, dtype=OnnxDataType(proto.data_type).to_dtype()).reshape(tuple(proto.dims))


def proto_of(name, value):
    content = value.flatten().bitcast(dtypes.uint8).data()  # Python's buffers have no f16 and bf16
    return assay_worker.typed_proto(name, NUMBERS[value.dtype], value.shape, bytes(content))


def run_set(runner, parts):
    if len(parts) != len(runner.graph_inputs):
        raise assay_worker.Refused(f"{len(parts)} inputs for a model that takes {len(runner.graph_inputs)}")
    present = [(name, part) for name, part in zip(runner.graph_inputs, parts) if part is not None]
    results = runner({name: tensor_of(part) for name, part in present})
    return [(name, results[name]) for name in runner.graph_outputs]


def run(model, sets, options):
    try:
        with Context(NOOPT=int(options.get("optimization") == "none"), NUM_CPU_THREADS=options.get("threads", 1)):
            runner = OnnxRunner(Tensor(model, dtype=dtypes.uint8))
            results = [run_set(runner, parts) for parts in sets]
            return [[proto_of(name, value) for name, value in each] for each in results]
    except NotImplementedError as error:
        raise assay_worker.Unsupported(error) from error


assay_worker.serve(
    {
        "backend": "tinygrad",
        "version": importlib.metadata.version("tinygrad"),
        "device": "cpu",
        "arithmetic": {"accumulator": "f32"},
    },
    run,
)
