#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up what assay needs on a Debian 12, and only what is missing: apt packages, a Python environment in .deps/venv, and
# the ONNX C++ library in .deps/onnx. certify.sh and test.sh call it; a second run takes a second.
# An ONNX of your own is taken when CMAKE_PREFIX_PATH leads to it. Exit code 3: a step failed; the last lines say what to do.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

packages=(g++ libboost1.81-dev libprotobuf-dev protobuf-compiler nlohmann-json3-dev catch2 librapidcheck-dev libcli11-dev
  libmpfr-dev libmpfi-dev libgmp-dev libre2-dev libvalijson-dev minisign openssh-client
  libbenchmark-dev libssl-dev libsqlite3-dev zlib1g-dev libpugixml-dev libxml2-utils ninja-build ccache python3 python3-venv git ca-certificates)
examiners=()
[[ " $* " == *" --clang "* ]] && packages+=(clang-16) && examiners+=(tools/testing/requirements.txt)
[[ " $* " == *" --browser "* ]] && packages+=(chromium default-jre-headless) && examiners+=(reports/testing/requirements.txt)

onnx_version=1.23.2
onnx_sha256=008cb0467b2bbee41448acc7da8b6f4e704624cb0d327a2d5adafc7ce19bc5b8
# -O1: a quarter less to wait for, and nothing here is slower for it.
onnx_options=(-DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O1 -DCMAKE_POSITION_INDEPENDENT_CODE=ON
  -DONNX_BUILD_PYTHON=OFF -DONNX_ML=ON -DONNX_USE_PROTOBUF_SHARED_LIBS=ON)

say() { echo "set-up: $*" >&2; }

fail() {
  say "FAILED: $1"
  say "  $2"
  exit 3
}

# step LOG WHAT ADVICE COMMAND...: runs the command, and explains itself when it fails.
step() {
  local log=.deps/log/$1.log what=$2 advice=$3 started=$SECONDS
  shift 3
  say "$what ..."
  set +e  # a command inside `if` would go on after its first error
  (set -e; "$@") >"$log" 2>&1
  local status=$?
  set -e
  if [[ $status != 0 ]]; then
    tail -n 15 "$log" | sed 's/^/    /' >&2
    say "the whole log is $log"
    fail "$what" "$advice"
  fi
  say "$what: done in $((SECONDS - started)) s"
}

as_root() { if [[ $(id -u) == 0 ]]; then "$@"; else sudo "$@"; fi; }

install_packages() {
  local apt=(env DEBIAN_FRONTEND=noninteractive DEBCONF_NOWARNINGS=yes apt-get -q -y -o Acquire::Retries=3
    -o DPkg::Lock::Timeout=600)
  as_root "${apt[@]}" update
  as_root "${apt[@]}" install --no-install-recommends "$@"
}

set_up_packages() {
  local missing=() package
  if ! command -v dpkg-query >/dev/null; then
    say "this is no Debian; taking for granted what Debian 12 calls: ${packages[*]}"
    return
  fi
  for package in "${packages[@]}"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
  done
  [[ ${#missing[@]} == 0 ]] && return
  if [[ $(id -u) != 0 ]] && ! command -v sudo >/dev/null; then
    fail "these packages are missing and there is no sudo" "as root: apt-get install ${missing[*]}"
  fi
  step apt "installing ${#missing[@]} packages with apt" \
    "check the network and the apt sources (Debian 12, main), then try again" install_packages "${missing[@]}"
}

make_environment() {
  rm -rf .deps/venv
  "$1" -m venv .deps/venv
  .deps/venv/bin/pip install --disable-pip-version-check --no-deps --require-hashes --only-binary :all: -r requirements.txt
}

set_up_environment() {
  local python=/usr/bin/python3 wanted
  [[ -x $python ]] || python=$(command -v python3) || fail "no python3" "install Python 3.11"
  wanted="$PWD $("$python" --version) $(sha256sum requirements.txt)"
  [[ -e .deps/venv/stamp && $(<.deps/venv/stamp) == "$wanted" ]] && return
  step pip "installing the pinned Python packages into .deps/venv" \
    "check the network and that $python is Python 3.11 on x86-64, then try again" make_environment "$python"
  echo "$wanted" >.deps/venv/stamp
}

# What only looks at the sources and the pages, beside what the tools and their tests take.
set_up_examiners() {
  local file wanted stamp options=(--disable-pip-version-check --no-deps --require-hashes --only-binary :all:)
  for file in "${examiners[@]}"; do
    wanted="$(<.deps/venv/stamp) $(sha256sum "$file")"
    stamp=.deps/venv/${file//\//-}
    [[ -e $stamp && $(<"$stamp") == "$wanted" ]] && continue
    step examiners "installing what $file asks for into .deps/venv" "check the network, then try again" \
      .deps/venv/bin/pip install "${options[@]}" -r "$file"
    echo "$wanted" >"$stamp"
  done
}

# The metadata hook of the source package runs before pip keeps the file; it needs scikit-build-core, which the venv has.
download_onnx() {
  rm -rf .deps/onnx-source && mkdir -p .deps/onnx-source
  echo "onnx==$onnx_version --hash=sha256:$onnx_sha256" >.deps/onnx-source/requirement.txt
  .deps/venv/bin/pip download --disable-pip-version-check --no-deps --no-binary onnx --no-build-isolation --require-hashes \
    --dest .deps/onnx-source -r .deps/onnx-source/requirement.txt
  echo "$onnx_sha256  .deps/onnx-source/onnx-$onnx_version.tar.gz" | sha256sum --check
  tar -xzf ".deps/onnx-source/onnx-$onnx_version.tar.gz" -C .deps/onnx-source --strip-components 1
}

build_onnx() {
  local cmake=$PWD/.deps/venv/bin/cmake launcher=()
  ! command -v ccache >/dev/null || launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  rm -rf .deps/onnx-build
  "$cmake" -S .deps/onnx-source -B .deps/onnx-build -G Ninja "${onnx_options[@]}" "${launcher[@]}" \
    -DCMAKE_INSTALL_PREFIX="$PWD/.deps/onnx" -DPython3_EXECUTABLE="$PWD/.deps/venv/bin/python"
  CCACHE_BASEDIR=$PWD "$cmake" --build .deps/onnx-build
  rm -rf .deps/onnx
  "$cmake" --install .deps/onnx-build
}

# The ONNX of whoever has one: the same places find_package looks in first.
has_own_onnx() {
  local prefix prefixes
  IFS=':;' read -r -a prefixes <<<"${CMAKE_PREFIX_PATH:-}:${ONNX_ROOT:-}:${ONNX_DIR:-}"
  for prefix in "${prefixes[@]}"; do
    [[ -n $prefix && -n $(find "$prefix" -maxdepth 5 -name ONNXConfig.cmake -print -quit 2>/dev/null) ]] && return
  done
  return 1
}

set_up_onnx() {
  local wanted="$onnx_version $onnx_sha256 ${onnx_options[*]}"
  has_own_onnx && return
  [[ -e .deps/onnx/stamp && $(<.deps/onnx/stamp) == "$wanted" ]] && return
  step onnx-download "downloading the sources of ONNX $onnx_version" \
    "check the network, then try again; a wrong sha256 means the download is not the file this project was tested with" \
    download_onnx
  step onnx-build "building the ONNX C++ library (once; about 2 minutes on two cores)" \
    "the log names the first error; to start from nothing: rm -rf .deps" build_onnx
  rm -rf .deps/onnx-source .deps/onnx-build
  echo "$wanted" >.deps/onnx/stamp
}

mkdir -p .deps/log
exec 9>.deps/lock
flock -n 9 || { say "another set-up is at work here; waiting for it ..."; flock 9; }
set_up_packages
set_up_environment
set_up_examiners
set_up_onnx
