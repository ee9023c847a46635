# SPDX-License-Identifier: Apache-2.0
"""The Python module as its users meet it, beside onnx and onnxruntime in one process."""
import pathlib
import tempfile
import unittest
import warnings

import ml_dtypes
import numpy
import onnx
import onnx.helper
import onnxruntime

import assay


def model_of(op, inputs, opset=11, nodes=1, **attributes):
    names = list(inputs)
    kinds = {name: onnx.helper.np_dtype_to_tensor_dtype(array.dtype) for name, array in inputs.items()}
    made = [onnx.helper.make_node(op, names, [f"Y{i or ''}"], **attributes) for i in range(nodes)]
    graph = onnx.helper.make_graph(
        made, "one", [onnx.helper.make_tensor_value_info(name, kinds[name], list(inputs[name].shape)) for name in names],
        [onnx.helper.make_tensor_value_info(node.output[0], kinds[names[0]], None) for node in made])
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)], ir_version=8)


def ran(model, inputs):
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, inputs)


class Judging(unittest.TestCase):
    def setUp(self):
        draw = numpy.random.default_rng(1)
        self.inputs = {"X": draw.standard_normal((1, 3, 8, 8), numpy.float32),
                       "W": draw.standard_normal((4, 3, 3, 3), numpy.float32)}
        self.model = model_of("Conv", self.inputs, pads=[1, 1, 1, 1])
        self.outputs = ran(self.model, self.inputs)

    def message(self, outputs, **options):
        with self.assertRaises(AssertionError) as caught:
            assay.assert_conforms(self.model, self.inputs, outputs, **options)
        return str(caught.exception)

    def test_a_runtimes_right_answer_conforms(self):
        verdict = assay.assert_conforms(self.model, self.inputs, self.outputs)
        self.assertEqual((verdict.state, verdict.operator, verdict.output), ("pass", "Conv-11", "Y"))
        self.assertEqual(verdict.elements, 256)
        self.assertIn(verdict.level, ("L0", "L1", "L2"))

    def test_model_inputs_and_outputs_in_every_way(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "conv.onnx")
            onnx.save(self.model, path)
            for model in (self.model, self.model.SerializeToString(), path, str(path)):
                self.assertEqual(assay.judge(model, self.inputs, self.outputs).state, "pass")
        backwards = dict(reversed(self.inputs.items()))
        self.assertEqual(assay.judge(self.model, backwards, {"Y": self.outputs[0]}).state, "pass")
        self.assertEqual(assay.judge(self.model, list(self.inputs.values()), self.outputs).state, "pass")
        fortran = {name: numpy.asfortranarray(array) for name, array in self.inputs.items()}
        self.assertEqual(assay.judge(self.model, fortran, [numpy.asfortranarray(self.outputs[0])]).state, "pass")
        swapped = [array.astype(">f4") for array in self.inputs.values()]
        self.assertEqual(assay.judge(self.model, swapped, self.outputs).state, "pass")

    def test_the_message_has_the_worst_element_its_exact_value_the_interval_and_the_clause(self):
        wrong = self.outputs[0].copy()
        wrong[0, 0, 0, 0] += 1
        wrong[0, 2, 7, 3] += 100
        said = self.message([wrong])
        self.assertRegex(said, r"^Conv-11, output Y: fail at 2 of 256 elements, asked for L2\n")
        self.assertRegex(said, r"\n  worst     Y\[0,2,7,3\], off by [0-9.e+]+ ulp\n")
        self.assertRegex(said, r"\n  got       \S+ \(-?0x1\S*\)\n  want      \S+ \(-?0x\S+\), exactly \S+")
        self.assertRegex(said, r"\n  interval  \[\S+ \(\S+\), \S+ \(\S+\)\]  f32 accumulation")
        self.assertIn("\n  clause    Conv-11, https://onnx.ai/onnx/operators/onnx__Conv.html", said)

    def test_a_wrong_shape_fails_in_words(self):
        self.assertIn("shape [1,4,8,7] instead of [1,4,8,8]", self.message([self.outputs[0][..., 1:]]))

    def test_a_profile_asks_for_more_or_less(self):
        above = numpy.nextafter(self.outputs[0], numpy.float32(numpy.inf))
        self.assertIn("below at ", self.message([above], profile="L0"))
        coarse = [self.outputs[0] * numpy.float32(1 + 2**-11)]
        self.assertNotEqual(assay.judge(self.model, self.inputs, coarse).state, "pass")
        self.assertEqual(assay.judge(self.model, self.inputs, coarse, profile="bf16-accumulation").state, "pass")
        with self.assertRaisesRegex(ValueError, "there is no profile 'L9'; there are L0, L1"):
            assay.judge(self.model, self.inputs, self.outputs, profile="L9")

    def test_bfloat16_by_ml_dtypes_and_as_bytes(self):
        x = numpy.arange(1, 7).astype(ml_dtypes.bfloat16).reshape(1, 1, 6)
        model = model_of("AveragePool", {"X": x}, opset=22, kernel_shape=[2])
        y = ((x[..., 1:].astype(numpy.float32) + x[..., :-1].astype(numpy.float32)) / 2).astype(ml_dtypes.bfloat16)
        assay.assert_conforms(model, [x], [y])
        as_bytes = assay.Tensor("bf16", y.shape, y.tobytes())
        assay.assert_conforms(model, [assay.Tensor("bf16", x.shape, x.tobytes())], [as_bytes])
        with self.assertRaises(AssertionError):
            assay.assert_conforms(model, [x], [y + ml_dtypes.bfloat16(1)])

    def test_types_of_eight_bits_or_less_by_ml_dtypes(self):
        """An independent hand converts every bfloat16, and every code back."""
        every = numpy.arange(65536, dtype=numpy.uint32).astype(numpy.uint16).view(ml_dtypes.bfloat16)
        numbers = every[numpy.isfinite(every.astype(numpy.float32))].astype(numpy.float32)
        for name in ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float4_e2m1fn",
                     "float8_e8m0fnu", "uint4", "int4", "uint2", "int2"):
            small = numpy.dtype(getattr(ml_dtypes, name))
            bits = ml_dtypes.iinfo(small).bits if "int" in name else ml_dtypes.finfo(small).bits
            codes = numpy.arange(2**bits, dtype=numpy.uint8).view(small)
            wide = codes.astype(numpy.float32)
            with self.subTest(name, "widened"):
                back = {"X": codes}
                self.assertEqual(assay.judge(self.cast(back, numpy.dtype("float32")), back, [wide]).state, "pass")
                wrong = numpy.where(numpy.arange(wide.size) == 1, wide + 1, wide).astype(numpy.float32)
                self.assertEqual(assay.judge(self.cast(back, numpy.dtype("float32")), back, [wrong]).state, "fail")
            with self.subTest(name, "narrowed"):
                there = {"X": wide if "int" in name else numbers[numbers > 0] if "e8m0" in name else numbers}
                model = self.cast(there, small, **({"round_mode": "nearest"} if "e8m0" in name else {}),
                                  **({} if bits < 8 else {"saturate": 0}))
                verdict = assay.judge(model, there, [there["X"].astype(small)])
                self.assertEqual(verdict.state, "pass", verdict)

    @staticmethod
    def cast(inputs, small, **attributes):
        """Cast-25 of X to a type."""
        kinds = [onnx.helper.np_dtype_to_tensor_dtype(kind) for kind in (inputs["X"].dtype, small)]
        value = onnx.helper.make_tensor_value_info
        graph = onnx.helper.make_graph([onnx.helper.make_node("Cast", ["X"], ["Y"], to=kinds[1], **attributes)], "one",
                                       [value("X", kinds[0], list(inputs["X"].shape))],
                                       [value("Y", kinds[1], list(inputs["X"].shape))])
        return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 25)], ir_version=13)

    def test_another_reading_conforms_unless_strict(self):
        x = numpy.arange(1, 6, dtype=numpy.float32).reshape(1, 1, 5)
        model = model_of("AveragePool", {"X": x}, kernel_shape=[2], strides=[2], ceil_mode=1, auto_pad="VALID")
        y = [numpy.array([1.5, 3.5], numpy.float32).reshape(1, 1, 2)]
        self.assertEqual(assay.assert_conforms(model, [x], y).state, "contested")
        with self.assertRaisesRegex(AssertionError, "A7, read as text-floor: "):
            assay.assert_conforms(model, [x], y, strict=True)

    def test_weak_evidence_passes_with_a_warning(self):
        x = numpy.zeros((1, 1, 12), numpy.float32)
        model = model_of("AveragePool", {"X": x}, kernel_shape=[2])
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            assay.assert_conforms(model, [x], ran(model, {"X": x}))
        self.assertEqual([each.category for each in told], [assay.WeakEvidence])
        self.assertEqual(told[0].filename, __file__)

    def test_what_is_not_covered_is_a_value_error_that_says_so(self):
        x = numpy.ones((1, 1, 4), numpy.float32)
        refused = {
            "no operator \"GRU\".*covered is a model of one node of Conv-1, Conv-11": (model_of("GRU", {"X": x}), [x], [x]),
            "a model of 2 nodes, expected one": (model_of("AveragePool", {"X": x}, nodes=2, kernel_shape=[1]), [x], [x]),
            "these 4 bytes are no ModelProto": (b"junk", [x], [x]),
            "a model of 0 nodes": (b"", [x], [x]),
            "1 inputs given, the graph has 2: X, W": (self.model, [x], self.outputs),
            "2 outputs given, the graph has 1: Y": (self.model, self.inputs, [x, x]),
            "no such name among its inputs: X, W": (self.model, {"X": x, "w": x}, self.outputs),
            "the input for X is f32.1,1,4., the model declares": (self.model, [x, x], self.outputs),
            "element type complex64 is not covered": (self.model, self.inputs, [x.astype("complex64")]),
            "element type <U1 is not covered": (self.model, self.inputs, [numpy.array(["a"])]),
            "3 bytes do not make f32": (self.model, self.inputs, [assay.Tensor("f32", (1,), b"abc")]),
            "do not make f32|too large": (self.model, self.inputs, [assay.Tensor("f32", (2**62, 4), b"")]),
            "element type f8 is not covered": (self.model, self.inputs, [assay.Tensor("f8", (1,), b"a")]),
            "inputs are a list, or a dictionary": (self.model, x, self.outputs),
            "not a int": (7, self.inputs, self.outputs),
        }
        for why, (model, inputs, outputs) in refused.items():
            with self.subTest(why), self.assertRaisesRegex(ValueError, why):
                assay.assert_conforms(model, inputs, outputs)

    def test_a_model_that_breaks_a_constraint_has_no_right_output(self):
        inputs = {"X": self.inputs["X"], "W": self.inputs["W"][:, :2]}
        with self.assertRaisesRegex(ValueError, "no output of this model is right: Conv-11 breaks C"):
            assay.assert_conforms(model_of("Conv", inputs), inputs, self.outputs)

    def test_damaged_models_are_value_errors_or_judged_and_never_crash(self):
        whole = self.model.SerializeToString()
        draw = numpy.random.default_rng(2)
        for _ in range(100):
            damaged = bytearray(whole)
            for _ in range(int(draw.integers(1, 4))):
                damaged[int(draw.integers(len(whole)))] = int(draw.integers(256))
            try:
                assay.judge(bytes(damaged[: int(draw.integers(1, len(whole) + 1))]), self.inputs, self.outputs)
            except ValueError:
                pass


if __name__ == "__main__":
    unittest.main()
