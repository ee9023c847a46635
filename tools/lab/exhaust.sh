#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs functions of onnxruntime over every input of float32, two minutes each on two cores: the table of RESULTS.md.
#   tools/lab/exhaust.sh [FUNCTION,…]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
mkdir -p build/lab
build/release/tools/assay exhaust onnxruntime --ops "${1:-Exp,Log,Sin,Cos,Tanh,Sigmoid,Erf,Gelu,Softplus,Mish}" --types f32 \
  --report build/lab/exhaust.json --html build/lab/exhaust.html
