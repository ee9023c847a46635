#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/lab/audit.sh: the stored vectors of three ONNX releases held against the oracle; writes tools/lab/audit.json and
# prints the table of AUDIT.md. Needs the network. Exit code 1 of an audit is a finding about the vectors.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
assay=build/release/tools/assay
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

audit() { "$assay" golden audit "${@:2}" --report "$folder/$1.json" || [[ $? == 1 ]]; }

# Debian's libonnx-testdata, the data of ONNX 1.12.0.
(cd "$folder" && apt-get -q -o APT::Sandbox::User=root download libonnx-testdata=1.12.0-2 && dpkg -x libonnx-testdata_1.12.0-2_all.deb 1.12)
# A release whose wheel still carries the data.
echo "onnx==1.16.2 --hash=sha256:7b98aa9733bd4b781eb931d33b4078ff2837e7d68062460726d6dd011f332bd4" >"$folder/requirement.txt"
.deps/venv/bin/pip download --disable-pip-version-check --no-deps --only-binary :all: --require-hashes -q \
  --dest "$folder" -r "$folder/requirement.txt"
.deps/venv/bin/python3 -m zipfile -e "$folder"/onnx-1.16.2-*.whl "$folder/1.16"

kept=()
for part in node simple pytorch-converted pytorch-operator; do
  audit "1.12-$part" "$folder/1.12/usr/share/libonnx-testdata/data/$part"
  audit "1.16-$part" "$folder/1.16/onnx/backend/test/data/$part"
  kept+=("1.12.0=$folder/1.12-$part.json" "1.16.2=$folder/1.16-$part.json")
done
audit 1.23 --onnx-node-tests
.deps/venv/bin/python3 tools/lab/audit.py keep "${kept[@]}" "1.23.2=$folder/1.23.json"
.deps/venv/bin/python3 tools/lab/audit.py table
