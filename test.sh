#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./test.sh                    sets up what is missing, builds, runs every test: about 40 minutes warm, on two cores
# ./test.sh --full [STAGE...]  the same with a browser, and the stages: counts exact clang asan tidy
# ./test.sh --lab              what needs more than this machine: the scripts tools/lab/*.sh, one after the other
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source ./build.sh
ctest=$PWD/.deps/venv/bin/ctest
stages=(release counts exact clang asan tidy)
failed=()

# run_tests STAGE PRESET OPTION...: runs the tests of a preset that the options of ctest choose.
run_tests() {
  echo "test: $1"
  "$ctest" --preset "$2" "${@:3}" || failed+=("$1")
}

# stage NAME: builds and tests what it takes. Another compiler and the sanitizers look for other mistakes in the same cases,
# not for the same ones in more cases, nor in what scripts do with the tool, but for untrusted files. Under the sanitizers,
# ten times slower, the counts are smaller still (CMakePresets.json).
stage() {
  case $1 in
    release) build release all && run_tests release release ;;
    counts) build release all && ASSAY_FULL=1 run_tests counts release -L counted --timeout 3600 ;;
    # False alarms, planted bugs and laws again with every element put to the exact oracle.
    exact) build release all && ASSAY_ORACLE=exact run_tests exact release -R 'crosscheck|mutate' ;;
    clang) build clang all all_verify_interface_header_sets && run_tests clang clang -L compiled ;;
    asan) build asan all && run_tests asan asan -L 'compiled|untrusted' ;;
    tidy) tidy ;;
  esac
}

tidy() {
  echo "test: tidy"
  "$cmake" --preset tidy >.deps/log/build-tidy.log
  .deps/venv/bin/run-clang-tidy.py -quiet -clang-tidy-binary .deps/venv/bin/clang-tidy -extra-arg=-w -p build/tidy \
    "$PWD/(reference|oracles|generators|suites|reports|tools)/" >.deps/log/clang-tidy.log 2>&1 && return
  grep ': error: ' .deps/log/clang-tidy.log | sed "s|$PWD/||" | sort -u
  failed+=(tidy)
}

case ${1:-} in
  '')
    ./setup.sh
    stage release
    ;;
  --full)
    shift
    for name in "$@"; do
      [[ " ${stages[*]} " == *" $name "* ]] || { echo "test: no stage '$name'; there are ${stages[*]}" >&2; exit 2; }
    done
    [[ $# == 0 ]] || stages=("$@")
    ./setup.sh --clang --browser
    for name in "${stages[@]}"; do stage "$name"; done
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
    sed -n '3,5s/^# //p' "$0" >&2
    exit 2
    ;;
esac
[[ ${#failed[@]} == 0 ]] || { echo "FAILED: ${failed[*]}"; exit 1; }
