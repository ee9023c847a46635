# SPDX-License-Identifier: Apache-2.0
# Sourced by certify.sh and test.sh, in the project's root: how a preset is configured and built.

cmake=$PWD/.deps/venv/bin/cmake

# build PRESET TARGET...: quiet when all goes well, everything on the screen when not.
build() {
  local preset=$1 log=.deps/log/build-$1.log started=$SECONDS
  shift
  echo "build: preset $preset ..." >&2
  if ! "$cmake" --preset "$preset" >"$log" 2>&1; then
    cat "$log" >&2
    echo "build: FAILED to configure preset $preset; to start from nothing: rm -rf build/$preset" >&2
    exit 3
  fi
  if ! "$cmake" --build --preset "$preset" --target "$@" >"$log" 2>&1; then
    grep -v '^\[[0-9]*/[0-9]*\] ' "$log" | tail -n 60 >&2
    echo "build: FAILED in preset $preset; the whole log is $log" >&2
    exit 3
  fi
  echo "build: preset $preset: done in $((SECONDS - started)) s" >&2
}
