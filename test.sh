#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./test.sh           sets up what is missing, builds, runs every test: about 40 minutes warm, on two cores
# ./test.sh --full    the same with full counts and a browser; verdicts again without the filter; with ordinary counts
#                     again with clang, for a debugger (-Og) and under the sanitizers; clang-tidy
# ./test.sh --lab     what needs more than this machine: the scripts tools/lab/*.sh, one after the other
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source ./build.sh
ctest=$PWD/.deps/venv/bin/ctest

# check PRESET OPTION...: everything of that preset is built and tested, headers alone included; options of ctest.
check() {
  build "$1" all all_verify_interface_header_sets
  echo "test: preset $1"
  "$ctest" --preset "$1" "${@:2}" || failed+=("$1")
}

tidy() {
  echo "test: clang-tidy"
  run-clang-tidy-16 -quiet -p build/clang "$PWD/(reference|oracles|generators|suites|reports|tools)/" \
    >.deps/log/clang-tidy.log 2>&1 && return
  grep ': error: ' .deps/log/clang-tidy.log | sed "s|$PWD/||" | sort -u
  failed+=(clang-tidy)
}

failed=()
case ${1:-} in
  '')
    ./setup.sh
    check release
    ;;
  --full)
    ./setup.sh --clang --browser
    # Another compiler and the sanitizers look for other mistakes in the same cases, not for the same ones in more cases;
    # under the sanitizers, ten times slower, 2,000 false-alarm pairs instead of 20,000, and of the planted bugs one in
    # 24 certified by the tool (CMakePresets.json).
    ASSAY_FULL=1 check release --timeout 3600
    # False alarms, planted bugs and laws again with every element put to the exact oracle.
    echo "test: preset release, ASSAY_ORACLE=exact"
    ASSAY_ORACLE=exact "$ctest" --preset release -R 'crosscheck|mutate' --timeout 1800 || failed+=(exact)
    for preset in clang dev asan; do check "$preset" --timeout 1800; done
    tidy
    ;;
  --lab)
    ./setup.sh
    build release all
    shopt -s nullglob
    for script in tools/lab/*.sh; do
      echo "lab: $script"
      "$script" || failed+=("$script")
    done
    ;;
  *)
    sed -n '3,6s/^# //p' "$0" >&2
    exit 2
    ;;
esac
[[ ${#failed[@]} == 0 ]] || { echo "FAILED: ${failed[*]}"; exit 1; }
