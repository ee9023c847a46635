# SPDX-License-Identifier: Apache-2.0
"""plot.py RESULTS.json PLOT.svg: how our kernels stand against every peer, and how near to the roofline.

The same results give the same bytes. bench_peers.py runs it in an environment of its own.
"""
import json
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "assay", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 9,
                            "axes.spines.top": False, "axes.spines.right": False})
import matplotlib.pyplot as plt

MARKS = {"onnxruntime": ("o", "#1f5fa8"), "oneDNN": ("s", "#2d8f4e"), "PyTorch": ("^", "#c8502e")}


def main():
    results = json.load(open(sys.argv[1], encoding="utf-8"))
    layers = results["layers"][::-1]
    figure, (ratio, roof) = plt.subplots(1, 2, figsize=(9.5, 0.3 * len(layers) + 1.2), sharey=True, layout="constrained",
                                         gridspec_kw={"width_ratios": [3, 2]})
    for peer, (mark, colour) in MARKS.items():
        points = [(row, layer["ratios"][peer]) for row, layer in enumerate(layers) if peer in layer["ratios"]]
        if not points:
            continue
        rows = [row for row, _ in points]
        middle = [spread["median"] for _, spread in points]
        low = [spread["median"] - spread["least"] for _, spread in points]
        high = [spread["most"] - spread["median"] for _, spread in points]
        ratio.errorbar(middle, rows, xerr=[low, high], fmt=mark, color=colour, markersize=5, capsize=2, label=peer)
    ratio.axvline(1, color="#777777", linewidth=0.8)
    ratio.set_xscale("log")
    ticks = [0.25, 0.5, 1, 2, 4, 8, 16]
    least, most = ratio.get_xlim()
    ratio.set_xticks([t for t in ticks if least <= t <= most], [f"{t:g}" for t in ticks if least <= t <= most])
    ratio.minorticks_off()
    ratio.set_xlabel("time of the peer over ours: right of 1 we are faster; bars are least and most")
    ratio.set_yticks(range(len(layers)), [layer["name"] for layer in layers])
    ratio.grid(axis="x", color="#dddddd", linewidth=0.6)
    ratio.legend(loc="best", frameon=False)
    roof.barh(range(len(layers)), [100 * layer["roofline"] for layer in layers], color="#9bb7d4")
    roof.set_xlim(0, 100)
    roof.set_xlabel("per cent of the roofline of this core")
    figure.savefig(sys.argv[2], metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
