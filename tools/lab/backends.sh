#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs every backend of the catalogue and certifies it over the short suite, those that the catalogue calls slow over
# the first operators of it alone; what the machine lacks (node, cargo) is told and skipped.
# The reports go to build/lab/backends, one JSON and one text per backend. Fails where assay itself failed, not where a
# backend does not conform: that is the finding.
#   tools/lab/backends.sh [NAME...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
assay=build/release/tools/assay
reports=build/lab/backends
mkdir -p "$reports"
first=(--ops Conv,AveragePool,DeformConv,QLinearConv,com.microsoft:NhwcConv)

entries() {
  .deps/venv/bin/python -c 'import json
for e in json.load(open("tools/backends/catalogue.json")): print(e["name"], e.get("suite", "default"))'
}

broken=()
while read -r name suite; do
  [[ $# == 0 || " $* " == *" $name "* ]] || continue
  if ! "$assay" backends install "$name" </dev/null; then
    echo "lab: $name could not be installed here"
    continue
  fi
  status=0
  part=()
  [[ $suite == short ]] && part=("${first[@]}")
  "$assay" certify --backend "$name" --suite short "${part[@]}" --report "$reports/$name.json" </dev/null >"$reports/$name.txt" 2>&1 ||
    status=$?
  echo "lab: $name: $(tail -n 1 "$reports/$name.txt")"
  [[ $status -le 1 ]] || broken+=("$name")
done < <(entries)
[[ ${#broken[@]} == 0 ]] || { echo "lab: assay failed on: ${broken[*]}"; exit 1; }
