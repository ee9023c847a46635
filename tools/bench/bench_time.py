# SPDX-License-Identifier: Apache-2.0
"""What every peer of bench_peers.py is timed and checked by; NumPy alone."""
import time

import numpy as np


def seconds_per_call(call, at_least):
    """Mean processor time of a call, after one that warms up."""
    start = time.process_time()
    call()
    once = max(time.process_time() - start, 1e-6)
    if once > at_least:
        return once
    count = max(3, int(at_least / once))
    start = time.process_time()
    for _ in range(count):
        call()
    return (time.process_time() - start) / count


def processor():
    for line in open("/proc/cpuinfo", encoding="ascii"):
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return "unknown processor"


def close(given, wanted):
    """Whether it is the same layer at all; how exactly it is computed is certify's business."""
    return given.shape == wanted.shape and np.allclose(
        given.astype("f8"), wanted.astype("f8"), rtol=1e-2, atol=1 if given.dtype.kind in "ui" else 5e-2)
