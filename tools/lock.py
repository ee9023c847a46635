#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Locks Python packages: prints exact versions, each with one hash (CPython 3.11, x86-64), of what it takes to have WANTED.

    python3 -m venv /tmp/lock
    /tmp/lock/bin/python tools/lock.py > requirements.new && mv requirements.new requirements.txt
    /tmp/lock/bin/python tools/lock.py openvino==2026.4.1 onnx==1.23.2 ml_dtypes > tools/backends/locks/openvino.txt

Without WANTED it is what the set-up takes. A word that begins with a hyphen leaves that package out: -torch.
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


def name_of(item):
    return item["metadata"]["name"].lower()


wanted = [word for word in sys.argv[1:] if not word.startswith("-")] or WANTED
unwanted = {word[1:].lower() for word in sys.argv[1:] if word.startswith("-")}
command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--only-binary", ":all:"]
report = json.loads(subprocess.run([*command, "--report", "-", *wanted], check=True, capture_output=True, text=True).stdout)
print("# SPDX-License-Identifier: Apache-2.0")
print("# Written by tools/lock.py, for CPython 3.11 on x86-64 (Debian 12).")
for item in sorted(report["install"], key=name_of):
    digest = item["download_info"]["archive_info"]["hashes"]["sha256"]
    if name_of(item) not in unwanted:
        print(f"{name_of(item)}=={item['metadata']['version']} \\\n    --hash=sha256:{digest}")
