#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build.sh openvino FOLDER PYTHON | build.sh onednn FOLDER: compiles the adapter of that name into FOLDER/NAME.so, when
# `assay backends install` has brought the packages it needs.
set -euo pipefail
name=$1 folder=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)

case $name in
  openvino)
    # Headers and libraries of the wheel; the version is part of the library's name.
    package=$(dirname "$(echo "$(dirname "$3")"/../lib/python3*/site-packages/openvino/include)")
    library=$(basename "$package"/libs/libopenvino.so.*)
    flags=(-isystem "$package/include" -D_GLIBCXX_USE_CXX11_ABI=1 -L "$package/libs" "-l:$library"
      "-Wl,-rpath,$package/libs" "-Wl,--disable-new-dtags")
    ;;
  onednn) flags=(-ldnnl -lgomp) ;;
  *)
    sed -n '3,4s/^# //p' "$0" >&2
    exit 2
    ;;
esac
exec g++ -std=c++20 -O2 -Wall -Wextra -ffp-contract=off -fPIC -shared -I "$root" "$root/tools/backends/native/$name.cpp" \
  "${flags[@]}" -o "$folder/$name.so"
