#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The digest of the golden vectors of the seed suite from every compiler, level and architecture there is here: one line
# each, and exit code 1 where one differs from suites/golden/suite.digest. Other architectures run under qemu-user against
# Debian's own libraries in a folder of their own; their packages are only downloaded and unpacked.
#
#   apt-get install clang-16 g++-aarch64-linux-gnu g++-s390x-linux-gnu qemu-user    what the lines need that are skipped
#   tools/lab/golden_everywhere.sh [O0 O2 O3 clang arm64 s390x …]                   only these
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=build/golden_everywhere
mkdir -p "$work"
pinned=$(sed -n 's/^digest //p' suites/golden/suite.digest)
failed=0

sources() {
  ls reference/*.cpp reference/{families,ops}/*.cpp oracles/*.cpp oracles/{families,ops}/*.cpp generators/*.cpp generators/{families,ops}/*.cpp \
    suites/{suite,golden,golden_manifest,golden_folder,json_depth,vector_folder,printable}.cpp tools/lab/golden_digest.cpp |
    grep -v '_test\.cpp$'
}

# objects FOLDER COMPILER FLAGS...: every source as an object, two at a time.
objects() {
  local into=$1 compiler=$2
  shift 2
  mkdir -p "$into"
  rm -f "$into"/*.o
  sources | xargs -P 2 -I{} bash -c '
    $5 "$3" -std=c++20 -ffp-contract=off -I. -DONNX_NAMESPACE=onnx -DONNX_ML=1 $4 -c "$2" -o "$1/${2//\//_}.o"
  ' bash "$into" {} "$compiler" "$*" "$(command -v ccache || true)"
}

# tell NAME COMMAND...: runs it and compares.
tell() {
  local name=$1 started=$SECONDS line digest
  shift
  if ! line=$("$@"); then
    echo "$name: FAILED"
    failed=1
    return
  fi
  digest=${line%% *}
  if [[ $digest == "$pinned" ]]; then
    echo "$name: $digest, ${line##* } cases in $((SECONDS - started)) s"
  else
    echo "$name: $digest DIFFERS from the pinned $pinned"
    failed=1
  fi
}

here() {
  local name=$1 compiler=$2
  shift 2
  command -v "$compiler" >/dev/null || { echo "$name: skipped, no $compiler"; return; }
  objects "$work/$name" "$compiler" "$@" -isystem .deps/onnx/include 2>"$work/$name.log" ||
    { echo "$name: does not compile ($work/$name.log)"; failed=1; return; }
  "$compiler" "$work/$name"/*.o -o "$work/$name/golden_digest" .deps/onnx/lib/libonnx.a .deps/onnx/lib/libonnx_proto.a \
    -lprotobuf -lcrypto -lmpfi -lmpfr -lgmp -lre2 -lrapidcheck -lpthread
  tell "$name" "$work/$name/golden_digest" suites
}

# Debian's packages of another architecture, unpacked below $work/root-ARCH.
unpack() {
  local arch=$1 at=$PWD/$work/root-$1 package options
  [[ -e $at/whole ]] && return
  mkdir -p "$at"/{state/lists/partial,cache/archives/partial,root}
  : >"$at/state/status"
  options=(-q -y -o "Dir::State=$at/state" -o "Dir::State::status=$at/state/status" -o "Dir::Cache=$at/cache"
    -o "APT::Architecture=$arch" -o "APT::Architectures::=$arch" -o APT::Sandbox::User=root)
  apt-get "${options[@]}" update
  apt-get "${options[@]}" install --download-only --no-install-recommends \
    libc6-dev libstdc++-12-dev libprotobuf-dev libssl-dev libmpfi-dev libre2-dev librapidcheck-dev
  for package in "$at"/cache/archives/*.deb; do dpkg -x "$package" "$at/root"; done
  touch "$at/whole"
}

# ONNX itself is not built: the messages are, and its checker and inference, which no golden vector needs, stay undefined.
emulated() {
  local arch=$1 triple=$2 qemu=$3 name=$1-g++-O1 proto root
  root=$PWD/$work/root-$arch/root
  command -v "$triple-g++" >/dev/null && command -v "$qemu" >/dev/null ||
    { echo "$name: skipped, no $triple-g++ or no $qemu"; return; }
  unpack "$arch" >"$work/unpack-$arch.log" 2>&1 || { echo "$name: skipped, no packages ($work/unpack-$arch.log)"; return; }
  proto=$(echo .deps/venv/lib/python3*/site-packages/onnx/onnx-ml.proto)
  mkdir -p "$work/proto/onnx" "$work/boost"
  cp "$proto" "$work/proto/onnx/" && protoc -I"$work/proto" --cpp_out="$work/proto" onnx/onnx-ml.proto
  ln -sfn /usr/include/boost "$work/boost/boost"
  ln -sfn /usr/include/nlohmann "$work/boost/nlohmann"
  local flags=(-O1 --sysroot="$root" -isystem "$work/proto" -isystem .deps/onnx/include -isystem "$work/boost")
  objects "$work/$name" "$triple-g++" "${flags[@]}" 2>"$work/$name.log" ||
    { echo "$name: does not compile ($work/$name.log)"; failed=1; return; }
  "$triple-g++" -std=c++20 "${flags[@]}" -I"$work/proto" -c "$work/proto/onnx/onnx-ml.pb.cc" -o "$work/$name/proto.o"
  "$triple-g++" --sysroot="$root" "$work/$name"/*.o -o "$work/$name/golden_digest" -no-pie \
    -Wl,--unresolved-symbols=ignore-all -Wl,-z,lazy -lprotobuf -lcrypto -lmpfi -lmpfr -lgmp -lre2 -lrapidcheck -lpthread
  tell "$name" "$qemu" -L "$root" "$work/$name/golden_digest" suites
}

[[ $# != 0 ]] || set -- O2 O0 O3 clang arm64 s390x
for each in "$@"; do
  case $each in
    O2) here x86-64-g++-O2 g++ -O2 ;;
    O0) here x86-64-g++-O0 g++ -O0 ;;
    O3) here x86-64-g++-O3-native g++ -O3 -march=native ;;
    clang) here x86-64-clang++-16-O2 clang++-16 -O2 ;;
    arm64) emulated arm64 aarch64-linux-gnu qemu-aarch64 ;;
    s390x) emulated s390x s390x-linux-gnu qemu-s390x ;;
    *) echo "$each: known are O2 O0 O3 clang arm64 s390x"; failed=1 ;;
  esac
done
exit "$failed"
