#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The figures of the README in one go, on a machine that does nothing else: builds the benchmarks, installs the peers
# once (PyTorch is 2.6 GB) and measures. Writes results.json, results.md and results.svg into tools/bench, and says how
# the medians lie in the spread of the results that were there. With --build, how long a build from clean takes on two
# cores as well, without ccache: it is told and deleted.
#   tools/lab/bench.sh [--build] [argument of tools/bench_peers.py...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cmake=.deps/venv/bin/cmake python=.deps/venv/bin/python

if [[ ${1-} == --build ]]; then
  shift
  fresh=$(mktemp -d)
  trap 'rm -rf "$fresh"' EXIT
  start=$(date +%s)
  CCACHE_DISABLE=1 "$cmake" --preset release -B "$fresh" >/dev/null
  CCACHE_DISABLE=1 "$cmake" --build "$fresh" -j 2 >/dev/null
  echo "build from clean, two cores: $(($(date +%s) - start)) s"
fi

[[ -f build/release/build.ninja ]] || "$cmake" --preset release >/dev/null
"$cmake" --build --preset release --target bench assay
"$python" tools/bench_peers.py --install
before=$(mktemp)
if cp tools/bench/results.json "$before" 2>/dev/null; then set -- --compare "$before" "$@"; fi
"$python" tools/bench_peers.py --to tools/bench "$@"
rm -f "$before"
