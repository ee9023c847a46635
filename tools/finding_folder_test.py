# SPDX-License-Identifier: Apache-2.0
"""Folders of findings open in ONNX's own tools: the checker accepts the model, and onnxruntime, which is right about
these cases, gives the outputs in the folder."""
import pathlib
import statistics
import tempfile
import unittest

import numpy
import onnx
import onnxruntime
from command_line import ended, read_json


# A planted bug, and a case in which it shows.
FINDINGS = [
    ("pool-divides-by-kernel",
     "AveragePool-11 opset=11 ir=8 X=f32[2,3,7,6]~small:3 kernel_shape=3,2 pads=1,0,1,1 strides=2,1"),
    ("conv-flips-kernel",
     "Conv-11 opset=11 ir=8 X=f32[1,2,5,5]~small:1 W=f32[2,2,3,2]~small:7@init B=f32[2]~small:11 pads=1,0,0,1"),
    ("conv-keeps-last-output", "Conv-11 opset=12 ir=8 X=f32[1,4,9]~odd5:2 W=f32[4,1,3]~odd4:5 group=4"),
    ("qlinear-ignores-x-zero",
     "QLinearConv-10 opset=10 ir=8 x=u8[1,2,4,4]~byte:1 x_scale=f32[]~hold:0.5 x_zero_point=u8[]~hold:7 "
     "w=u8[3,2,2,2]~byte:9@init w_scale=f32[]~hold:0.25@init w_zero_point=u8[]~hold:3@init y_scale=f32[]~hold:128 "
     "y_zero_point=u8[]~hold:10"),
    ("deform-swaps-offset-axes",
     "DeformConv-19 opset=19 ir=8 X=f32[1,1,4,4]~small:1 W=f32[1,1,2,2]~small:5 offset=f32[1,8,3,3]~quarter:9"),
]


def tensor(path):
    return onnx.numpy_helper.to_array(onnx.load_tensor(path))


def outputs(folder, data_set):
    session = onnxruntime.InferenceSession(folder / "model.onnx", providers=["CPUExecutionProvider"])
    inputs = [tensor(data_set / f"input_{i}.pb") for i in range(len(session.get_inputs()))]
    return session.run(None, {given.name: value for given, value in zip(session.get_inputs(), inputs)})


class FindingFolders(unittest.TestCase):
    def test_they_open_in_onnx_and_onnxruntime(self):
        sizes = []
        for bug, line in FINDINGS:
            with self.subTest(bug), tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                ended(1, "replay", "--backend", "mutant:" + bug, "--shrink", line, "--save", folder)
                onnx.checker.check_model(onnx.load(folder / "model.onnx"), full_check=True)
                for data_set in sorted(folder.glob("test_data_set_*")):
                    want, got = tensor(data_set / "output_0.pb"), outputs(folder, data_set)[0]
                    self.assertEqual((want.dtype, want.shape), (got.dtype, got.shape))
                    numpy.testing.assert_array_equal(want, got)
                found = read_json(folder / "finding.json")
                self.assertEqual(found["found"], line)
                self.assertIn(bug, found["explained_by"])
                sizes.append(sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()))
                again = ended(1, "replay", "--backend", "mutant:" + bug, folder)
                self.assertIn("case      " + found["line"] + "\n", again.stdout)
        self.assertEqual(len(sizes), len(FINDINGS))
        print(f"median of {len(sizes)} folders: {statistics.median(sizes)} bytes")
        self.assertLessEqual(statistics.median(sizes), 10_000)
