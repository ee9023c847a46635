#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./certify.sh [BACKEND] [ARGS...]: sets up what is missing, builds, and certifies BACKEND (default: onnxruntime).
# BACKEND is anything `assay certify --backend` takes; ARGS go to `assay certify`. The report is BACKEND.json unless ARGS say
# --report FILE. Exit codes: 0 conforms, 1 does not, 2 usage or input, 3 set-up, build or assay itself is broken.
set -euo pipefail
called_from=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")"
project=$PWD

backend=onnxruntime
if [[ $# -gt 0 && $1 != -* ]]; then
  backend=$1
  shift
fi
./setup.sh
source ./build.sh
build release certify

report=(--report "$(tr -c 'A-Za-z0-9._\n-' '-' <<<"$backend").json")
for argument in "$@"; do
  [[ $argument == --report || $argument == --report=* || $argument == --help || $argument == -h ]] && report=()
done
export PATH="$project/.deps/venv/bin:$PATH"
cd "$called_from"
exec "$project/build/release/tools/assay" certify --backend "$backend" "${report[@]}" "$@"
