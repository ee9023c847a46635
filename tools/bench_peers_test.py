# SPDX-License-Identifier: Apache-2.0
"""What bench_peers.py tells of results, without measuring: nothing that is missing goes unsaid."""
import copy
import json
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bench_peers


def spread(least, median, most):
    return {"least": least, "median": median, "most": most}


RESULTS = {
    "machine": {"processor": "a processor", "instructions": "avx2", "date": "2026-01-01", "load": 0.5}, "rounds": 3,
    "peers": {"onnxruntime": "1.0"}, "missing": {"PyTorch": "not installed"},
    "peaks": {name: spread(1e11, 1e11, 1e11) for name in ("peak/separate", "peak/fused", "peak/bytes", "peak/copy")},
    "layers": [{"name": "conv-3x3", "operations": 1e6, "bytes": 1e3, "seconds": spread(1e-3, 1e-3, 2e-3), "rate": 5e10,
                "roofline": 0.5, "bound": "arithmetic", "ratios": {"onnxruntime": spread(0.7, 0.8, 0.9)}, "left_out": {}},
               {"name": "conv-f64", "operations": 1e6, "bytes": 1e3, "seconds": spread(1e-3, 1e-3, 2e-3), "rate": 5e10,
                "roofline": 0.5, "bound": "memory", "ratios": {}, "left_out": {"onnxruntime": "no such kernel"}}],
    "growth": [{"part": "judge", "extent": "taps", "sizes": [1, 4], "microseconds": [10, 40], "exponent": 1.0}],
    "start": spread(3, 4, 5)}


class Telling(unittest.TestCase):
    def test_the_table_names_what_is_missing_and_what_was_left_out(self):
        text = bench_peers.table(RESULTS)
        self.assertIn("| conv-3x3 | 1000 (1000-2000) | 50.0 | 50 % (arithmetic) | 0.80 (0.70-0.90) |", text)
        self.assertIn("Missing: PyTorch, not installed.", text)
        self.assertIn("Left out: onnxruntime on conv-f64 (no such kernel).", text)
        self.assertIn("| judge | taps | 1.00 | 1: 10, 4: 40 |", text)

    def test_a_median_outside_the_spread_of_the_run_before_is_named(self):
        self.assertIn("1 of 1 medians", bench_peers.compared(RESULTS, RESULTS))
        now = copy.deepcopy(RESULTS)
        now["layers"][0]["ratios"]["onnxruntime"]["median"] = 0.99
        text = bench_peers.compared(RESULTS, now)
        self.assertIn("0 of 1 medians", text)
        self.assertIn("conv-3x3, onnxruntime: 0.99 lies 10.0 % outside 0.80 (0.70-0.90)", text)

    def test_the_exponent_of_a_square_is_two(self):
        self.assertAlmostEqual(bench_peers.exponent([1, 2, 4, 8], [3, 12, 48, 192]), 2)

    def test_results_are_written_where_nothing_can_draw_the_plot(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, ASSAY_CACHE=folder):
            to = pathlib.Path(folder) / "told"
            with mock.patch("sys.stderr") as stderr:
                bench_peers.tell(RESULTS, to)
            self.assertIn("the plot is not drawn", "".join(str(call) for call in stderr.write.call_args_list))
            self.assertEqual(json.loads((to / "results.json").read_text()), RESULTS)
            self.assertFalse((to / "results.svg").exists())


class Absence(unittest.TestCase):
    def test_a_peer_that_is_not_installed_is_missing_with_its_reason(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, ASSAY_CACHE=folder):
            with mock.patch.dict(bench_peers.PEERS, {"PyTorch": bench_peers.PyTorch}, clear=True), mock.patch("sys.stderr"):
                peers = bench_peers.Peers([], pathlib.Path(folder))
        self.assertEqual(peers.here, {})
        self.assertIn("--install", peers.missing["PyTorch"])

    def test_a_refusal_leaves_out_one_layer(self):
        layer = mock.Mock()
        layer.name = "conv"
        refusing = mock.Mock(seconds=mock.Mock(side_effect=ValueError("cannot do it\nat all")))
        peers = bench_peers.Peers(list(bench_peers.PEERS), pathlib.Path())
        peers.here["onnxruntime"] = refusing
        with mock.patch("sys.stderr"):
            self.assertIsNone(peers.seconds("onnxruntime", layer, 0.1))
            self.assertIsNone(peers.seconds("onnxruntime", layer, 0.1))
        self.assertEqual(peers.left_out, {"conv": {"onnxruntime": "cannot do it"}})
        self.assertEqual(refusing.seconds.call_count, 1)
