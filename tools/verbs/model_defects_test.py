# SPDX-License-Identifier: Apache-2.0
"""certify of a model: each planted defect of a backend is found at the layer or the window it is in, correct arithmetic at none."""
import pathlib
import shlex
import sys

import numpy as np
import onnx

from command_line import InFolder, ended, read_json
from model_test import with_weights

PROJECT = pathlib.Path(__file__).resolve().parents[2]
WORKER = PROJECT / "suites/models/defective.py"

NETWORK = """<ir_version: 9, opset_import: ["" : 20]>
net (float[1, 3, 16, 16] x) => (float16[4, 5] product, float[4, 6] back)
<float[8, 3, 3, 3] w1, float[8] b1, float[8, 1, 3, 3] w2, float[8] gain, float[8] bias, float[8] mean, float[8] var,
 float[8, 8, 1, 1] w3, float[8] b3, float[64, 16] w4, float[64] b4, float[8] gain2, float[8] bias2, float16[6, 5] w5,
 float[1, 1, 8, 1] shift, float least = {0}, float most = {1}, float[4] twice = {1, 1, 2, 2}, int64[2] axes = {2, 3},
 int64[2] square = {8, 8}, int64[4] rows = {0, 5, 2, 5}, int64[1] first = {0}, int64[1] last = {6}, int64[1] one = {1},
 float step = {2}, uint8 zero = {7}>
{
  [stem] a = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (x, w1, b1)
  [norm] b = BatchNormalization (a, gain, bias, mean, var)
  [clip] c = Clip (b, least, most)
  [depthwise] d = Conv <group = 8, pads = [1, 1, 1, 1]> (c, w2)
  [pool] e = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (d)
  [average] f = AveragePool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (e)
  [pointwise] g = Conv (e, w3, b3)
  [concat] h = Concat <axis = 1> (f, g)
  [resize] i = Resize <mode = "nearest"> (h, , twice)
  [add] j = Add (i, shift)
  [average_all] k = ReduceMean <keepdims = 0> (j, axes)
  [dense] l = Gemm <transB = 1> (k, w4, b4)
  [gelu] m = Gelu (l)
  [reshape] n = Reshape (m, square)
  [transpose] o = Transpose <perm = [1, 0]> (n)
  [layer_norm] p = LayerNormalization (o, gain2, bias2)
  [softmax] q = Softmax <axis = 1> (p)
  [gather] r = Gather (q, rows)
  [slice] s = Slice (r, first, last, one)
  [quantize] t = QuantizeLinear (s, step, zero)
  [dequantize] back = DequantizeLinear (t, step, zero)
  [cast] u = Cast <to = 10> (s)
  [half_matmul] product = MatMul (u, w5)
}
"""

# The layers that the worker's defects are in, in its order.
DAMAGED = ("stem", "depthwise", "pointwise", "norm", "clip", "pool", "average", "concat", "resize", "add", "average_all", "dense", "gelu",
           "transpose", "layer_norm", "softmax", "gather", "slice", "quantize", "dequantize", "cast", "half_matmul")

BLOCKS = """<ir_version: 9, opset_import: ["" : 17]>
net (float[1, 4, 8, 8] x) => (float[6, 5] scores)
<float[8, 4, 3, 3] w1, float[8] b1, float[8] gain, float[8] bias, float[8] mean, float[8] var, float[8, 8, 1, 1] w2, float[6, 8, 3, 3] w3,
 float[16, 7] w4, float[7] b4, float[6, 5] w5, int64[8] border = {0, 0, 1, 0, 0, 0, 0, 1}, int64[2] rows = {6, 16},
 int64[1] first = {0}, int64[1] last = {6}, int64[1] zero = {0}>
{
  [stem] a = Conv <pads = [1, 1, 1, 1]> (x, w1, b1)
  [norm] b = BatchNormalization (a, gain, bias, mean, var)
  [act] c = Relu (b)
  [branch] d = Conv (c, w2)
  [residual] e = Add (d, c)
  [act2] f = Relu (e)
  [pool] g = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (f)
  [soft] h = Sigmoid (g)
  [pad] i = Pad (h, border)
  [padded] j = Conv <pads = [1, 1, 1, 1]> (i, w3)
  [narrow] k = AveragePool <kernel_shape = [2, 2]> (j)
  [rows] l = Reshape (k, rows)
  [dense] m = MatMul (l, w4)
  [offset] n = Add (m, b4)
  [rest] o = Slice (n, first, last, zero)
  [turn] p = Transpose (o)
  [scores] scores = MatMul (p, w5)
}
"""

# The windows that the worker's fusions are in.
FUSED = {("stem", "norm"), ("branch", "residual"), ("act2", "pool"), ("pad", "padded"), ("dense", "offset"), ("turn", "scores")}

# What comes out of a quantizer: pairs around a convolution, an addition and a product, which runtimes make integer kernels of.
QUANTIZED = """<ir_version: 9, opset_import: ["" : 17]>
net (float[1, 4, 9, 9] x) => (float[1, 6] scores)
<float s1 = {0.031}, uint8 z1 = {131}, float s2 = {0.0043}, int8 z2 = {0}, int8[8, 4, 3, 3] w1, float s3 = {0.027}, uint8 z3 = {9},
 int8[8, 8, 1, 1] w2, float s4 = {0.019}, uint8 z4 = {120}, float s5 = {0.023}, uint8 z5 = {60}, int8[8, 6] w3, float s6 = {0.05}, uint8 z6 = {128},
 int64[2] flat = {1, 8}>
{
  [q1] xq = QuantizeLinear (x, s1, z1)
  [d1] xd = DequantizeLinear (xq, s1, z1)
  wd = DequantizeLinear (w1, s2, z2)
  [conv] a = Conv <pads = [1, 1, 1, 1]> (xd, wd)
  [relu] b = Relu (a)
  [q2] bq = QuantizeLinear (b, s3, z3)
  bd = DequantizeLinear (bq, s3, z3)
  vd = DequantizeLinear (w2, s2, z2)
  [pointwise] c = Conv (bd, vd)
  [q3] cq = QuantizeLinear (c, s4, z4)
  cd = DequantizeLinear (cq, s4, z4)
  [residual] d = Add (cd, bd)
  [q4] dq = QuantizeLinear (d, s5, z5)
  dd = DequantizeLinear (dq, s5, z5)
  [mean] e = GlobalAveragePool (dd)
  eq = QuantizeLinear (e, s3, z3)
  ed = DequantizeLinear (eq, s3, z3)
  [flatten] f = Reshape (ed, flat)
  ud = DequantizeLinear (w3, s2, z2)
  [dense] g = MatMul (f, ud)
  gq = QuantizeLinear (g, s6, z6)
  scores = DequantizeLinear (gq, s6, z6)
}
"""

FUSED_AND_QUANTIZED = {("relu", "q2"), ("pointwise", "q3")}


class Defects(InFolder):
    def setUp(self):
        super().setUp()
        self.file, self.report = self.folder / "net.onnx", self.folder / "report.json"
        onnx.save(with_weights(NETWORK, np.abs), self.file)

    def windows(self, code, backend, *words, model=BLOCKS, of=np.abs):
        onnx.save(with_weights(model, of), self.folder / "blocks.onnx")
        ended(code, "certify", self.folder / "blocks.onnx", "--backend", backend, "--report", self.report, "--presentations", "none", *words)
        return read_json(self.report)["windows"]

    def wrong_layers(self, code, backend, *words):
        ended(code, "certify", self.file, "--backend", backend, "--report", self.report, "--presentations", "none", "--cases", "0", *words)
        return [node["name"] for node in read_json(self.report)["nodes"] if node["state"] != "pass"]

    def test_each_is_found_at_its_layer(self):
        worker = f"exec:{sys.executable} {WORKER}"
        self.assertEqual(self.wrong_layers(0, worker), [])
        self.assertEqual(set(self.wrong_layers(1, worker, "--set", "defects=planted")), set(DAMAGED))

    def test_correct_arithmetic_is_found_at_none(self):
        for backend in ("reference", "onnxruntime", "variant:in-double", "variant:reversed"):
            with self.subTest(backend):
                self.assertEqual(self.wrong_layers(0, backend), [])

    def test_a_wrong_fusion_is_found_at_its_nodes(self):
        worker = f"exec:{sys.executable} {WORKER}"
        windows = self.windows(1, worker, "--set", "fusions=planted")
        failed = [each for each in windows if each["state"] == "fail"]
        self.assertEqual({tuple(each["nodes"]) for each in failed}, FUSED)
        self.assertEqual({each["state"] for each in windows}, {"pass", "fail"})
        self.assertTrue(all("elements differ" in each["because"] for each in failed))
        ended(1, *shlex.split(failed[0]["replay"])[1:], "--save", self.folder / "finding")
        self.assertIn("exactly", failed[0]["because"])
        self.assertEqual(onnx.load(self.folder / "finding/model.onnx").graph.node[1].op_type, "BatchNormalization")
        self.report.rename(self.folder / "before.json")
        self.windows(0, worker)
        self.assertIn("fixed  stem > norm: fail -> pass", ended(0, "diff", self.folder / "before.json", self.report).stdout)
        self.assertIn("broken  stem > norm: pass -> fail", ended(1, "diff", self.report, self.folder / "before.json").stdout)

    def test_correct_arithmetic_has_no_wrong_window(self):
        for backend in ("reference", "onnxruntime", "variant:in-double", "variant:reversed"):
            with self.subTest(backend):
                windows = self.windows(0, backend)
                self.assertGreater(len(windows), 30)
                self.assertEqual({each["state"] for each in windows}, {"pass"})

    def test_windows_of_a_quantized_model(self):
        quantized = {"model": QUANTIZED, "of": lambda drawn: drawn * 40}
        worker = f"exec:{sys.executable} {WORKER}"
        failed = [each for each in self.windows(1, worker, "--set", "fusions=planted", **quantized) if each["state"] == "fail"]
        self.assertLessEqual(FUSED_AND_QUANTIZED, {tuple(each["nodes"]) for each in failed})
        for backend in ("reference", "onnxruntime"):
            with self.subTest(backend):
                windows = self.windows(0, backend, **quantized)
                self.assertLessEqual({each["state"] for each in windows}, {"pass", "unscored"})
                self.assertGreater(sum(each["state"] == "pass" and "q2" in each["nodes"] for each in windows), 3)
