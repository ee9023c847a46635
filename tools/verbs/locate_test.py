# SPDX-License-Identifier: Apache-2.0
"""locate: each planted defect of a backend is found at its layer in the whole model, correct arithmetic at none, and a fusion where it ends."""
import re
import subprocess
import sys

import numpy as np
import onnx

from command_line import InFolder, ended, refused
from model_defects_test import BLOCKS, DAMAGED, FUSED, NETWORK, QUANTIZED, WORKER
from model_test import BODIES, network, with_weights

DEFECTIVE = f"exec:{sys.executable} {WORKER}"


class Locate(InFolder):
    def setUp(self):
        super().setUp()
        self.file = self.folder / "net.onnx"

    def save(self, text, scale=1 / 4):
        """A model whose matrices have both signs, and an input that has them."""
        model = with_weights(text, lambda drawn: np.abs(drawn) if drawn.ndim == 1 else drawn * scale)
        onnx.save(model, self.file)
        shape = [each.dim_value for each in model.graph.input[0].type.tensor_type.shape.dim]
        np.save(self.folder / "x.npy", np.random.default_rng(2).normal(size=shape).astype(np.float32))

    def located(self, code, *words):
        """What is said of each node that is wrong, by its name."""
        told = ended(code, "locate", self.file, "--inputs", self.folder, *words).stdout
        return {found[1]: found[2] for found in re.finditer(r"^([\w/]+) \(([^)]+\): .*\n    .*)$", told, re.MULTILINE)}

    def test_each_defect_is_found_at_its_layer(self):
        self.save(NETWORK)
        self.assertEqual(self.located(0, "--all", "--backend", DEFECTIVE), {})
        wrong = self.located(1, "--all", "--backend", DEFECTIVE, "--set", "defects=planted")
        no_tie = "quantize"  # what arrives there is no tie, which alone is rounded wrongly
        self.assertEqual(set(wrong), set(DAMAGED) - {no_tie})

    def test_the_first_is_told_and_saved(self):
        self.save(NETWORK)
        finding = self.folder / "finding"
        wrong = self.located(1, "--backend", DEFECTIVE, "--set", "defects=planted", "--save", finding)
        self.assertEqual(list(wrong), ["stem"])
        self.assertIn("the node alone, on the same data, is wrong as well", wrong["stem"])
        self.assertEqual([node.op_type for node in onnx.load(finding / "model.onnx").graph.node], ["Conv"])
        ended(0, "replay", finding, "--backend", "reference")
        ended(1, "replay", finding, "--backend", DEFECTIVE, "--set", "defects=planted")

    def test_a_fusion_is_found_at_its_last_node(self):
        self.save(BLOCKS)
        wrong = self.located(1, "--all", "--backend", DEFECTIVE, "--set", "fusions=planted")
        self.assertEqual(set(wrong), {last for _, last in FUSED})
        self.assertTrue(all("right alone, and where what arrives there is shown" in told for told in wrong.values()))

    def test_correct_backends_are_right(self):
        for text in (NETWORK, BLOCKS):
            self.save(text)
            for backend in ("reference", "onnxruntime", "variant:in-double", "variant:reversed"):
                with self.subTest(backend):
                    wrong = self.located((0, 1), "--all", "--backend", backend)
                    # onnxruntime sums products of float16 in float16.
                    self.assertLessEqual(set(wrong), {"half_matmul"} if backend == "onnxruntime" else set())
                    self.assertTrue(all("): below" in told for told in wrong.values()))

    def test_rounding_that_a_rewriting_moves_is_no_defect(self):
        half = re.sub(r"\bfloat\b", "float16", BLOCKS)
        for text, scale in ((QUANTIZED, 40), (half, 1 / 4)):
            self.save(text, scale)
            if text is half:
                np.save(self.folder / "x.npy", np.load(self.folder / "x.npy").astype(np.float16))
            for level in ("all", "none"):
                with self.subTest(scale=scale, level=level):
                    wrong = self.located((0, 1), "--all", "--backend", "onnxruntime", "--optimization", level)
                    self.assertEqual([told for told in wrong.values() if "): below" not in told], [])

    def test_nodes_of_bodies_are_looked_at_turn_by_turn(self):
        onnx.save(with_weights(BODIES), self.file)
        np.save(self.folder / "x.npy", np.random.default_rng(2).normal(size=(4, 3)).astype(np.float32))
        for backend in ("reference", "onnxruntime"):
            with self.subTest(backend):
                told = ended(0, "locate", self.file, "--inputs", self.folder, "--backend", backend).stdout
                self.assertIn("0 of 6 nodes judged are wrong", told)
                self.assertIn("1 node is not judged, loop/body/inner/else_branch/high: its branch is not taken", told)
        wrong = self.located(1, "--all", "--backend", DEFECTIVE, "--set", "bodies=planted")
        self.assertEqual({name: told.split(")")[0] for name, told in wrong.items()},
                         {"loop/body/step": "Add-14, turn 1", "loop/body/inner/then_branch/low": "Relu-14, turn 0",
                          "scan/body/sum": "Add-14, turn 0", "scan/body/twice": "Add-14, turn 0"})
        self.assertTrue(all("right alone; wrong in the model" in told for told in wrong.values()))

    def test_a_node_that_assay_does_not_define_is_passed(self):
        onnx.save(network(), self.file)
        told = ended(0, "locate", self.file, "--backend", "onnxruntime").stdout
        self.assertIn("1 node is not judged, if: assay does not define it", told)
        self.assertIn("1 node is not judged, if/else_branch/Neg_0: its branch is not taken", told)
        self.assertIn("0 of 8 nodes judged are wrong", told)

    def test_bad_input_ends_in_one_line(self):
        onnx.save(network(), self.file)
        self.assertIn("name a model", refused("locate", "--backend", "reference"))
        model = network()
        model.graph.node[0].op_type = "Unheard"
        onnx.save(model, self.file)
        self.assertIn("does not run this model", refused("locate", self.file, "--backend", "onnxruntime"))
