# SPDX-License-Identifier: Apache-2.0
"""A worker over onnx's own evaluator that is in trouble in one way, which its argument names.

    damages   a kernel of [3] gives a wrong value and damages the process: a stride of 4 then crashes it
    leaks     the same, and then only values of a stride of 4 are wrong
    tires     a kernel of [3] damages the process: any later case crashes it on two threads
    hangs     over dilations above 1
    eats      all the memory it can get, over strides above 2
    crashes   over a kernel of [2] with pads
    knows us  is right where the model says that assay made it
    reuses    one buffer for the outputs of all data sets
"""
import os
import sys
import time

sys.path.append(os.path.join(os.path.dirname(__file__), "../../tools/backends"))
import assay_worker  # before numpy, whose threads would keep it from forking
from assay_worker import array_of, proto_of
import numpy  # noqa: E402
import onnx  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

trouble = sys.argv[1]
damaged = False


def attribute(node, name, default):
    found = [helper for helper in node.attribute if helper.name == name]
    return list(found[0].ints) if found else default


def spoilt(node, model, outputs, options):
    """What becomes of right outputs, one list per data set."""
    global damaged
    kernel, strides = attribute(node, "kernel_shape", []), attribute(node, "strides", [1])
    dilations, pads = attribute(node, "dilations", [1]), attribute(node, "pads", [0])
    if trouble in ("damages", "leaks") and kernel == [3]:
        damaged = True
        return [[array + 1 for array in arrays] for arrays in outputs]
    if trouble == "damages" and damaged and strides == [4]:
        os.abort()
    if trouble == "leaks" and damaged and strides == [4]:
        return [[array + 1 for array in arrays] for arrays in outputs]
    if trouble == "tires" and damaged and options.get("threads") == 2:
        os.abort()
    if trouble == "tires":
        damaged = damaged or kernel == [3]
    if trouble == "hangs" and max(dilations) > 1:
        time.sleep(3600)
    if trouble == "eats" and max(strides) > 2:
        eaten = [bytearray(b"x") * (64 << 20) for _ in range(1000)]
        del eaten
    if trouble == "crashes" and kernel == [2] and max(pads) > 0:
        os.abort()
    if trouble == "knows us" and model.producer_name != "assay":
        return [[array + 1 for array in arrays] for arrays in outputs]
    if trouble == "reuses":
        last = outputs[-1]
        for arrays in outputs:
            for array, kept in zip(arrays, last):
                array[...] = kept
    return outputs


def run(model_bytes, sets, options):
    model = onnx.load_model_from_string(model_bytes)
    evaluator = ReferenceEvaluator(model)
    outputs = []
    for parts in sets:
        results = evaluator.run(None, dict(zip(evaluator.input_names, map(array_of, parts))))
        outputs.append([numpy.array(result) for result in results])
    names = [output.name for output in model.graph.output]
    spoilt_outputs = spoilt(model.graph.node[0], model, outputs, options)
    return [[proto_of(name, array) for name, array in zip(names, arrays)] for arrays in spoilt_outputs]


assay_worker.serve({"backend": "troubled", "version": onnx.__version__, "device": "cpu"}, run)
