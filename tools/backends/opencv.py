# SPDX-License-Identifier: Apache-2.0
"""assay worker: the dnn module of OpenCV, on the CPU."""
import assay_worker
import cv2
import numpy
import onnx
from assay_worker import array_of, proto_of


def blob_of(part):
    """The documentation of setInput asks for CV_32F or CV_8U; OpenCV 5 takes integers as well. What it does with other
    floats is no promise of it. wrap_channels: the last extent is an extent, not the channels of an image."""
    array = array_of(part)
    if array.dtype.kind not in "iub" and array.dtype != numpy.float32:
        raise assay_worker.Unsupported(f"setInput is documented for CV_32F and CV_8U, not for {array.dtype.name}")
    return cv2.Mat(array, wrap_channels=False)


def run_set(net, inputs, outputs, parts):
    for name, part in zip(inputs, parts):
        if part is not None:
            net.setInput(blob_of(part), name)
    return list(zip(outputs, net.forward(outputs), strict=True))


def run(model, sets, options):
    cv2.setNumThreads(options.get("threads", 1))
    graph = onnx.ModelProto.FromString(model).graph
    constants = {tensor.name for tensor in graph.initializer}
    inputs = [value.name for value in graph.input if value.name not in constants]
    outputs = [value.name for value in graph.output]
    net = cv2.dnn.readNetFromONNX(numpy.frombuffer(model, numpy.uint8))
    results = [run_set(net, inputs, outputs, parts) for parts in sets]
    return [[proto_of(name, value) for name, value in each] for each in results]


assay_worker.serve(
    {"backend": "opencv", "version": cv2.__version__, "device": "cpu"},
    run,
    not_implemented=["StsNotImplemented", "not implemented", "Can't create layer"],
)
