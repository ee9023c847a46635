# SPDX-License-Identifier: Apache-2.0
"""The layers of kernels.cpp on PyTorch, for bench_peers.py, in an environment of its own.

A line of JSON asks, {"layer": FOLDER, "op": …, "inputs": […], "attributes": {…}, "seconds": …}; FOLDER has each input as
NAME.npy and what comes out as output.npy. A line of JSON answers: {"seconds": …}, {"because": …}; the first one of all
is {"version": …}. Weights are prepared when a layer is opened.
"""
import json
import pathlib
import sys
import warnings

warnings.filterwarnings("ignore")
import numpy as np
import torch

from bench_time import close, seconds_per_call

functional = torch.nn.functional


def conv(inputs, attributes):
    x, w = inputs
    return lambda: functional.conv2d(x, w, None, attributes["strides"], attributes["pads"][:2], 1, attributes["group"])


def pool(inputs, attributes):
    return lambda: functional.avg_pool2d(
        inputs[0], attributes["kernel_shape"], attributes["strides"], attributes["pads"][:2], False, False)


def deform(inputs, attributes):
    from torchvision.ops import deform_conv2d
    x, w, offset, bias, mask = inputs
    return lambda: deform_conv2d(x, offset, w, bias, attributes["strides"], attributes["pads"][:2], 1, mask)


def quantized(inputs, attributes):
    x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero = inputs
    w = torch._make_per_tensor_quantized_tensor(w, float(w_scale), int(w_zero))
    x = torch._make_per_tensor_quantized_tensor(x, float(x_scale), int(x_zero))
    packed = torch.ops.quantized.conv2d_prepack(w, None, attributes["strides"], attributes["pads"][:2], [1, 1], 1)
    scale, zero = float(y_scale), int(y_zero)
    return lambda: torch.ops.quantized.conv2d(x, packed, scale, zero)


OPERATORS = {"Conv": conv, "AveragePool": pool, "DeformConv": deform, "QLinearConv": quantized}


def answer(request):
    folder = pathlib.Path(request["layer"])
    inputs = [torch.from_numpy(np.load(folder / f"{name}.npy")) for name in request["inputs"]]
    with torch.inference_mode():
        call = OPERATORS[request["op"]](inputs, request["attributes"])
        given = call()
        given = (given.int_repr() if given.is_quantized else given).numpy()
        if not close(given, np.load(folder / "output.npy")):
            return {"because": "computes something else"}
        return {"seconds": seconds_per_call(call, request["seconds"])}


def main():
    torch.set_num_threads(1)
    print(json.dumps({"version": torch.__version__}), flush=True)
    for line in sys.stdin:
        try:
            reply = answer(json.loads(line))
        except Exception as error:  # PyTorch's own refusal
            reply = {"because": str(error).splitlines()[0][:90]}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
