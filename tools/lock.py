#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes requirements.txt anew: every package the set-up takes from pip, exact version, one hash (CPython 3.11, x86-64).

    python3 -m venv /tmp/lock && /tmp/lock/bin/python tools/lock.py > requirements.new && mv requirements.new requirements.txt
"""
import json
import subprocess
import sys

WANTED = [
    "clang-format==14.0.6",  # .clang-format is settled on this one
    "cmake>=3.26",  # Debian 12 has 3.25
    "jsonschema",  # the independent validator of reports
    "numpy",
    "onnx==1.23.2",  # onnx.reference, the official node tests, the helpers of the workers
    "onnxruntime==1.31.1",
    "scikit-build-core",  # lets pip download ONNX's sources without an isolated build environment
]

command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--only-binary", ":all:"]
report = json.loads(subprocess.run([*command, "--report", "-", *WANTED], check=True, capture_output=True, text=True).stdout)
print("# SPDX-License-Identifier: Apache-2.0")
print("# Written by tools/lock.py, for CPython 3.11 on x86-64 (Debian 12).")
for item in sorted(report["install"], key=lambda item: item["metadata"]["name"].lower()):
    metadata, digest = item["metadata"], item["download_info"]["archive_info"]["hashes"]["sha256"]
    print(f"{metadata['name'].lower()}=={metadata['version']} \\\n    --hash=sha256:{digest}")
