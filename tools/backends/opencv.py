# SPDX-License-Identifier: Apache-2.0
"""assay worker: the dnn module of OpenCV, on the CPU."""
import assay_worker
import cv2
import ml_dtypes
import numpy
import onnx
from assay_worker import array_of, proto_of


def blob_of(part):
    """The documentation of setInput asks for CV_32F or CV_8U; OpenCV 5 takes integers as well, and keeps 32 bits of them.
    What it does with others is no promise of it. wrap_channels: the last extent is an extent, not the channels of an
    image."""
    array = array_of(part)
    is_cut = array.dtype.itemsize == 8 and array.size > 0 and (int(array.max()) > 2**31 - 1 or int(array.min()) < -(2**31))
    if (array.dtype.kind not in "iub" and array.dtype != numpy.float32) or is_cut:
        raise assay_worker.Unsupported(f"setInput is documented for CV_32F and CV_8U, not for {array.dtype.name}")
    return cv2.Mat(array, wrap_channels=False)


def run_set(net, inputs, outputs, parts):
    for name, part in zip(inputs, parts):
        if part is not None:
            net.setInput(blob_of(part), name)
    return list(zip(outputs, net.forward(outputs), strict=True))


def bits_of(value, is_bfloat16):
    """forward() hands bfloat16 out as its bits, in an array of uint16."""
    return value.view(ml_dtypes.bfloat16) if is_bfloat16 and value.dtype == numpy.uint16 else value


def run(model, sets, options):
    cv2.setNumThreads(options.get("threads", 1))
    graph = onnx.ModelProto.FromString(model).graph
    constants = {tensor.name for tensor in graph.initializer}
    inputs = [value.name for value in graph.input if value.name not in constants]
    outputs = [value.name for value in graph.output]
    is_bfloat16 = {value.name: value.type.tensor_type.elem_type == onnx.TensorProto.BFLOAT16 for value in graph.output}
    net = cv2.dnn.readNetFromONNX(numpy.frombuffer(model, numpy.uint8))
    results = [run_set(net, inputs, outputs, parts) for parts in sets]
    return [[proto_of(name, bits_of(value, is_bfloat16[name])) for name, value in each] for each in results]


assay_worker.serve(
    {"backend": "opencv", "version": cv2.__version__, "device": "cpu"},
    run,
    not_implemented=["StsNotImplemented", "not implemented", "Can't create layer", "(-210:", "currently supports",
                     "unsupported data type"],
)
