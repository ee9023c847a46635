# SPDX-License-Identifier: Apache-2.0
"""certify, replay and vet of a model: every node is judged, a planted bug is found at its node, and what is no model ends in one line."""
import pathlib
import random
import re
import shlex
import subprocess
import time

import onnx
import onnx.parser
import numpy as np

from command_line import TOOL, InFolder, assay, ended, read_json, refused

# A network as users have it: an extent left open, a Reshape fed by constants, a function of its own, an operator that
# assay does not judge, and a node behind it.
NETWORK = """<ir_version: 9, opset_import: ["" : 17, "own" : 1]>
net (float[batch, 3, 10, 10] x) => (float[batch, 256] probabilities, float[batch, 256] kept)
<float[4, 3, 3, 3] weight, float[4] bias, int64[2] flat = {0, -1}, float[256, 256] dense>
{
  [conv] hidden = Conv <pads = [0, 0, 0, 0]> (x, weight, bias)
  [gate] gated = own.gate (hidden)
  [flatten] row = Reshape (gated, flat)
  [scores] scores = Gemm <transB = 1> (row, dense)
  [softmax] probabilities = Softmax (scores)
  [if] chosen = If (yes) <then_branch = g1 () => (float[batch, 256] y1) { y1 = Identity (scores) },
                          else_branch = g2 () => (float[batch, 256] y2) { y2 = Neg (scores) }>
  [behind] kept = Relu (chosen)
}
<opset_import: ["" : 17], domain: "own">
gate (x) => (y) { s = Sigmoid (x)
                  y = Mul (x, s) }
"""

# Bodies within bodies; what they name of the model around them; a name that two branches have.
BODIES = """<ir_version: 8, opset_import: ["" : 17]>
net (float[4, 3] x) => (float[4, 3] y, float[3] last)
<int64 turns = {3}, bool yes = {1}, float[3] offset, float[3] zeros = {0, 0, 0}>
{
  [loop] kept = Loop (turns, yes, x) <body = turn (int64 i, bool go, float[4, 3] v) => (bool go_on, float[4, 3] w) {
    [step] s = Add (v, offset)
    [on] go_on = Identity (go)
    [inner] w = If (go) <then_branch = t () => (float[4, 3] o) { [low] o = Relu (s) },
                         else_branch = e () => (float[4, 3] o) { [high] o = Neg (s) }>
  }>
  [scan] last, rows = Scan (zeros, kept) <num_scan_inputs = 1, body = row (float[3] before, float[3] part) => (float[3] after, float[3] out) {
    [sum] after = Add (before, part)
    [twice] out = Add (part, part)
  }>
  [behind] y = Abs (rows)
}
"""


def with_weights(text, of=lambda drawn: drawn):
    """The model of a text, in which the values declared without data are constants: a function of normal numbers."""
    model, drawn = onnx.parser.parse_model(text), np.random.default_rng(1)
    for info in model.graph.value_info:
        kind = info.type.tensor_type
        data = of(drawn.normal(size=[dim.dim_value for dim in kind.shape.dim]))
        data = data.astype(onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type))
        model.graph.initializer.append(onnx.numpy_helper.from_array(data, info.name))
    model.graph.ClearField("value_info")
    return model


def network():
    return with_weights(NETWORK.replace("float[256, 256] dense>", "float[256, 256] dense, bool yes = {1}>"))


def peak_of(*words):
    """The most memory that the tool takes, without its workers, in bytes."""
    running, most = subprocess.Popen([TOOL, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL), 0
    while running.poll() is None:
        try:
            status = pathlib.Path(f"/proc/{running.pid}/status").read_text(encoding="ascii")
            most = max(most, int(re.search(r"RssAnon:\s*(\d+) kB", status)[1]) * 1024)
        except (OSError, TypeError):
            pass  # it has just ended
        time.sleep(0.01)
    assert running.returncode == 0, words
    return most


class Model(InFolder):
    def setUp(self):
        super().setUp()
        self.file = self.folder / "net.onnx"
        onnx.save(network(), self.file)
        self.report = self.folder / "report.json"

    def nodes(self, code, *words):
        ended(code, "certify", self.file, "--report", self.report, *words)
        return {node["name"]: node for node in read_json(self.report)["nodes"]}

    def test_every_node_is_judged(self):
        nodes = self.nodes(0, "--backend", "reference", "--presentations", "all")
        self.assertEqual({name for name, node in nodes.items() if node["state"] == "pass"}, set(nodes) - {"if"})
        self.assertEqual(nodes["if"]["state"], "not judged")
        self.assertEqual(nodes["if"]["because"], "assay does not define it")
        self.assertEqual(len(nodes["conv"]["cases"]), 3)
        self.assertEqual({node["op"] for node in nodes.values()},
                         {"Conv-11", "Sigmoid-13", "Mul-14", "Reshape-14", "Gemm-13", "Softmax-13", "If", "Identity-16", "Neg-13", "Relu-14"})

    def test_nodes_of_bodies_are_judged(self):
        onnx.save(with_weights(BODIES), self.file)
        nodes = self.nodes(0, "--backend", "onnxruntime")
        self.assertEqual({name for name, node in nodes.items() if node["state"] == "pass"},
                         {"loop/body/step", "loop/body/on", "loop/body/inner/then_branch/low", "loop/body/inner/else_branch/high",
                          "scan/body/sum", "scan/body/twice", "behind"})
        arrives = next(each for each in read_json(self.report)["verdicts"] if each["line"].startswith("Add-14") and "stored" in each["line"])
        self.assertEqual(arrives["state"], "pass")

    def test_a_planted_bug_is_found_at_its_node_and_replayed(self):
        nodes = self.nodes(1, "--backend", "mutant:gemm-ignores-transB")
        self.assertEqual([name for name, node in nodes.items() if node["state"] not in ("pass", "not judged", "unsupported")], ["scores"])
        report = read_json(self.report)
        self.assertNotIn("stored", report["causes"][0]["smallest"])  # shrunk to data that a line can say
        failed = next(each for each in report["verdicts"] if each["state"] == "fail" and "stored" in each["line"])
        ended(1, *shlex.split(failed["replay"])[1:])
        self.assertIn("--model", refused("replay", "--backend", "reference", failed["line"]))

    def test_extents_and_inputs(self):
        np.save(self.folder / "x.npy", np.ones((2, 3, 10, 10), np.float32))
        nodes = self.nodes(0, "--backend", "reference", "--inputs", self.folder)
        self.assertIn("X=f32[2,3,10,10]", str(read_json(self.report)["verdicts"]))
        self.assertEqual(nodes["conv"]["state"], "pass")
        self.assertIn("f32[1,3,10,10], its data are f32[2,3,10,10]",
                      refused("certify", self.file, "--backend", "reference", "--inputs", self.folder, "--dim", "x.0=1"))
        self.assertIn('"b"', refused("certify", self.file, "--backend", "reference", "--dim", "b=2"))
        refused("certify", self.file, "--backend", "reference", "--dim", "batch")

    def test_data_beside_the_model(self):
        external = self.folder / "external.onnx"
        onnx.save(network(), external, save_as_external_data=True, location="weights", size_threshold=0)
        ended(0, "certify", external, "--backend", "reference")
        (self.folder / "weights").unlink()
        self.assertIn("not there", refused("certify", external, "--backend", "reference"))

    def test_large_data_beside_the_model(self):
        """One matrix lies at a multiple of a page, and is mapped; the other at an odd offset, and is copied."""
        model = with_weights("""<ir_version: 8, opset_import: ["" : 17]>
            net (float[1, 600] x) => (float[1, 600] y) <float[600, 600] v, float[600, 600] w> { [first] h = MatMul (x, v)
                                                                                                [second] y = MatMul (h, w) }""")
        first, second = model.graph.initializer
        offsets = {first.name: 4096, second.name: 4096 + len(first.raw_data) + 1}
        with open(self.folder / "weights", "wb") as file:
            for tensor in (first, second):
                file.seek(offsets[tensor.name])
                file.write(tensor.raw_data)
                onnx.external_data_helper.set_external_data(tensor, "weights", offsets[tensor.name], len(tensor.raw_data))
                tensor.ClearField("raw_data")
        onnx.save(model, self.file)
        self.assertEqual({node["state"] for node in self.nodes(0, "--backend", "onnxruntime").values()}, {"pass"})
        ended(0, "locate", self.file, "--backend", "onnxruntime")
        with open(self.folder / "weights", "ab") as file:
            file.truncate(offsets[second.name] + 5)
        self.assertIn("too short", refused("certify", self.file, "--backend", "reference"))

    def test_memory_is_three_times_what_goes_in_and_comes_out_of_a_node(self):
        """Beside what the process takes for a small model, and x and b, which are still needed."""
        onnx.save(onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 17]>
            net (float[n, 1024] x) => (float[1024, n] y) {
                [turn] a = Transpose (x) [relu] b = Relu (a) [add] c = Add (a, b) [abs] d = Abs (c)
                [sum] e = Add (d, b) [sub] y = Sub (e, b) }'''), self.file)
        rows = 6144
        bytes_in = rows * 1024 * 4
        least, most = (peak_of("certify", self.file, "--backend", "onnxruntime", "--jobs", 2, "--dim", f"n={n}")
                       for n in (2, rows))
        self.assertLess(most - least, 3 * (3 * bytes_in) + 2 * bytes_in)
        self.assertGreater(most - least, 3 * bytes_in)  # it was measured

    def test_every_opset(self):
        for opset in (1, 6, 7, 13, 14, 22, 28):
            onnx.save(onnx.parser.parse_model(f'''<ir_version: {13 if opset > 24 else 8}, opset_import: ["" : {opset}]>
                net (float[2, 3] x) => (float[2, 3] y) {{ [relu] h = Relu (x)
                                                          [add] y = Add (h, x) }}'''), self.file)
            with self.subTest(opset):
                self.assertEqual({node["state"] for node in self.nodes(0, "--backend", "reference").values()}, {"pass"})

    def test_what_is_no_model(self):
        for change, word in ((lambda graph: graph.node.insert(0, graph.node.pop()), "no node before it gives"),
                             (lambda graph: graph.ClearField("node"), "0 nodes"),
                             (lambda graph: graph.input[0].type.tensor_type.ClearField("shape"), "no shape")):
            model = network()
            change(model.graph)
            onnx.save(model, self.file)
            self.assertIn(word, refused("certify", self.file, "--backend", "reference"))
        self.file.write_bytes(b"nothing")
        refused("certify", self.file, "--backend", "reference")
        refused("certify", self.folder / "none.onnx", "--backend", "reference")
        refused("certify", self.file, "--certificate", self.folder / "c.json")

    def test_damaged_models_end_in_one_line(self):
        report = self.folder / "ops.json"
        ended(0, "certify", "--backend", "reference", "--ops", "Relu-14", "--cases", "0", "--no-every-input", "--report", report)
        for model in (network(), with_weights(BODIES)):
            good, chance = model.SerializeToString(), random.Random(1)
            places = [*range(min(1500, len(good))), *range(max(0, len(good) - 500), len(good))]  # in between are weights
            for _ in range(100):
                bad = bytearray(good)
                for _ in range(chance.choice((1, 1, 3))):
                    bad[chance.choice(places)] = chance.randrange(256)
                self.file.write_bytes(bad if chance.random() < 0.9 else bad[:chance.choice(places)])
                ended((0, 2), "certify", self.file, "--backend", "reference", "--list")
                ended((0, 1, 2), "vet", self.file, report)

    def test_formats_know_nodes(self):
        self.nodes(1, "--backend", "mutant:gemm-ignores-transB")
        text = ended(0, "report", self.report, "--format", "junit").stdout
        self.assertIn('<testcase name="scores"', text)
        ended(0, "report", self.report, "--format", "html", "--out", self.folder / "page.html")

    def test_vet(self):
        ops = self.folder / "ops.json"
        ended((0, 1), "certify", "--backend", "mutant:gemm-ignores-transB", "--ops", "Conv-11,Sigmoid-13,Mul-14,Gemm-13,Softmax-13",
              "--cases", "4000", "--presentations", "none", "--no-every-input", "--report", ops)
        told = ended(1, "vet", self.file, ops).stdout
        self.assertIn("scores", told)
        self.assertIn("transB", told)
        self.assertIn("Reshape-14: is not in the report", told)
        self.assertNotIn("    conv\n", told)
        refused("vet", self.file, self.folder / "none.json")
        self.assertIn("name a model", refused("vet", self.file))
        done = assay("vet", ops, ops)
        self.assertEqual(done.returncode, 2)
