#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The recipes of tools/cluster and tools/ci for services that are not here: held against the published schemas of these
# services, which come with the packages of tools/cluster/requirements.txt, and their shell steps run; the container file is
# linted. ASSAY is another program.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
venv=build/lab/recipes
cluster=tools/cluster
stamp=$(sha256sum "$cluster/requirements.txt")

if [[ ! -e $venv/stamp || $(<"$venv/stamp") != "$stamp" ]]; then
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all: \
    -r "$cluster/requirements.txt"
  echo "$stamp" >"$venv/stamp"
fi

github() { "$venv/bin/check-jsonschema" --builtin-schema vendor.github-workflows "$1"; }
gitlab() { "$venv/bin/check-jsonschema" --builtin-schema vendor.gitlab-ci "$1"; }
container() { "$venv/bin/hadolint" "$1"; }
kubernetes() { "$venv/bin/kubernetes-validate" --strict -k 1.31 "$1"; }

# A schema that lets everything pass would show nothing.
refuses() {
  local check=$1 file=$2 from=$3 to=$4 broken
  [[ -e $file ]] || file=$cluster/$file
  broken=$(mktemp --suffix=.yml)
  sed "s/$from/$to/" "$file" >"$broken"
  if "$check" "$broken" >/dev/null 2>&1; then
    echo "lab: the schema admits $file with $to instead of $from" >&2
    exit 1
  fi
  rm -f "$broken"
}

github "$cluster/github.yml"
refuses github github.yml 'runs-on:' 'run-on:'
refuses github github.yml 'needs: shard' 'needs: 7'
for manifest in kubernetes kubernetes_merge; do
  kubernetes "$cluster/$manifest.yml"
  refuses kubernetes "$manifest.yml" 'restartPolicy: Never' 'restartPolicy: 7'
done
refuses kubernetes kubernetes.yml 'completions: 8' 'completion: 8'
refuses kubernetes kubernetes.yml 'completions: 8' 'completions: eight'
"$venv/bin/python" "$cluster/recipes.py"
github tools/ci/github.yml
refuses github tools/ci/github.yml 'runs-on:' 'run-on:'
refuses github tools/ci/github.yml 'timeout-minutes: 30' 'timeout-minutes: long'
gitlab tools/ci/gitlab.yml
refuses gitlab tools/ci/gitlab.yml 'when: always' 'when: never-ever'
refuses gitlab tools/ci/gitlab.yml 'script:' 'scripts:'
container tools/ci/Dockerfile
refuses container tools/ci/Dockerfile 'FROM debian:12-slim$' 'FROM debian'
"$venv/bin/python" tools/ci/recipes.py
