#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The wheel and the Debian package, built here and used on a Debian 12 that has nothing else: a root made by debootstrap.
# Needs root, the network, and debootstrap and python3-dev from Debian. KEEP=1 leaves the root behind.
#   tools/lab/packages.sh [deb|wheel]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
project=$PWD
made=$project/build/lab/packages
base=$project/build/lab/debian-12
which=${1:-both}
mkdir -p "$made"
export PATH=$project/.deps/venv/bin:$PATH

# The tools of pyproject.toml, hash-locked; cmake is that of the project.
build_wheel() {
  local venv=$project/build/lab/wheel requirements=tools/python/requirements.txt stamp
  stamp=$(sha256sum "$requirements")
  if [[ ! -e $venv/stamp || $(<"$venv/stamp") != "$stamp" ]]; then
    rm -rf "$venv"
    /usr/bin/python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all: \
      -r "$requirements"
    echo "$stamp" >"$venv/stamp"
  fi
  rm -f "$made"/*.whl
  PATH=$venv/bin:$PATH "$venv/bin/pip" wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation \
    --wheel-dir "$made" .
}

build_deb() {
  rm -f "$made"/*.deb
  cpack --config build/release/CPackConfig.cmake -B "$made" >/dev/null
  rm -rf "$made/_CPack_Packages"
}

make_root() {
  local mirror
  if [[ ! -e $base/done ]]; then
    mirror=$(grep -hE '^(URIs:|deb )' /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
      grep -oE 'https?://[^ ]+' | head -n 1) || true
    rm -rf "$base"
    debootstrap --variant=minbase --include=ca-certificates bookworm "$base" "$mirror" >"$made/debootstrap.log"
    cp /etc/ssl/certs/ca-certificates.crt "$base/etc/ssl/certs/"
    cp /etc/resolv.conf "$base/etc/" 2>/dev/null || true
    touch "$base/done"
  fi
  root=$(mktemp -d "$project/build/lab/root.XXXXXX")
  trap clear_away EXIT
  cp -a "$base/." "$root/"
  mount -t proc proc "$root/proc" 2>/dev/null || mount --bind /proc "$root/proc"
  mount --bind /dev "$root/dev"
  mkdir "$root/assay"
  cp "$made"/assay* tools/python/{judge_test.py,pytest_test.py,types_test.py,types.txt} tools/backends/locks/onnxruntime.txt \
    "$root/assay/"
  cp -r tools/testing "$root/testing"
}

clear_away() {
  umount "$root/proc" "$root/dev" || true
  if [[ -n ${KEEP:-} ]]; then
    echo "lab: kept $root"
  elif ! mountpoint -q "$root/proc" && ! mountpoint -q "$root/dev"; then
    rm -rf "$root"
  fi
}

# Proxies and indexes as here, nothing else.
inside() {
  local kept=() name
  for name in http_proxy https_proxy no_proxy PIP_INDEX_URL PIP_CERT SSL_CERT_FILE; do
    [[ -z ${!name:-} ]] || kept+=("$name=${!name}")
  done
  env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive "${kept[@]}" chroot "$root" /bin/bash -euo pipefail -c "$1"
}

# Before the other, so that no library of Debian is there that the wheel might lean on.
use_wheel() {
  inside '
    apt-get -qq update
    apt-get -qq -y install --no-install-recommends python3-venv >/dev/null
    if ldconfig -p | grep libprotobuf; then exit 1; fi
    python3 -m venv /venv
    /venv/bin/pip install --quiet --disable-pip-version-check /assay/assay*.whl
    cd /tmp
    /venv/bin/assay certify --backend reference --ops AveragePool-7 | tail -n 1
    { /venv/bin/assay certify --cases 0 2>&1 || true; } | grep "assay backends install onnxruntime"
    /venv/bin/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r /assay/onnxruntime.txt
    /venv/bin/python /assay/judge_test.py
    /venv/bin/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r /assay/types.txt
    /venv/bin/python /assay/types_test.py
    /venv/bin/pip install --quiet --disable-pip-version-check pytest
    ASSAY_FULL=1 /venv/bin/python /assay/pytest_test.py
    /venv/bin/python -m assay --version
    status=0
    /venv/bin/assay certify --ops Conv-11 --types f32 | tail -n 1 || status=$?
    [[ $status -le 1 ]]
    rm -rf /venv'
}

use_deb() {
  inside '
    apt-get -qq update
    apt-get -qq -y install /assay/assay*.deb >/dev/null
    dpkg --verify assay
    useradd --create-home somebody
    cd /home/somebody
    status=0
    su somebody -c "assay certify" 2>said || status=$?
    [[ $status == 2 ]]
    grep -x "assay: onnxruntime is not installed: assay backends install onnxruntime" said
    su somebody -c "assay certify --backend reference --ops AveragePool-7" | tail -n 1
    su somebody -c "assay backends install onnxruntime"
    status=0
    su somebody -c "assay certify --report onnxruntime.json" >said || status=$?
    [[ $status -le 1 ]]
    tail -n 1 said
    grep -q "\"complete\":true" onnxruntime.json
    apt-get -qq -y remove assay >/dev/null
    [[ ! -e /usr/share/assay && ! -e /usr/libexec/assay ]]'
}

started=$SECONDS
[[ $which == deb ]] || build_wheel
[[ $which == wheel ]] || build_deb
make_root
[[ $which == deb ]] || use_wheel
[[ $which == wheel ]] || use_deb
for package in "$made"/assay*; do
  echo "lab: $(date +%F) $(basename "$package"), $(($(stat -c %s "$package") >> 20)) MiB: installed and used on a bare Debian 12"
done
echo "lab: packages: done in $((SECONDS - started)) s"
