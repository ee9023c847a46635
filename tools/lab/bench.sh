#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The figures of tools/bench/README.md in one go, on a machine that does nothing else: builds the benchmarks, installs the peers
# once (PyTorch is 2.6 GB) and measures. Writes results.json, results.md and results.svg into tools/bench, and says how
# the medians lie in the spread of the results that were there. With --build it also times a build from clean on two
# cores without ccache, of what certify.sh takes and then of the rest with all tests, and deletes it.
#   tools/lab/bench.sh [--build] [argument of tools/bench_peers.py...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cmake=.deps/venv/bin/cmake python=.deps/venv/bin/python

if [[ ${1-} == --build ]]; then
  shift
  fresh=$(mktemp -d)
  trap 'rm -rf "$fresh"' EXIT
  "$cmake" --preset release -B "$fresh" >/dev/null
  for target in certify all; do
    start=$(date +%s)
    CCACHE_DISABLE=1 "$cmake" --build "$fresh" --target "$target" -j 2 >/dev/null
    echo "build from clean on two cores, target $target$([[ $target == certify ]] || echo ", after the one before"): $(($(date +%s) - start)) s"
  done
fi

[[ -f build/release/build.ninja ]] || "$cmake" --preset release >/dev/null
"$cmake" --build --preset release --target bench assay
"$python" tools/bench_peers.py --install
before=$(mktemp)
if cp tools/bench/results.json "$before" 2>/dev/null; then set -- --compare "$before" "$@"; fi
"$python" tools/bench_peers.py --to tools/bench "$@"
rm -f "$before"
