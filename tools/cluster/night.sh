#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What each machine of a campaign runs, whatever the service. Called in the root of a built checkout:
#   tools/cluster/night.sh shard FOLDER OPTIONS...   one shard; OPTIONS are those of assay fuzz, with --cases
#   tools/cluster/night.sh merge FOLDER              what the shards left in FOLDER: whole.store and whole.json
# Which shard: ASSAY_SHARD (3/8), else what the service says (--shard auto). A shard that is run again goes on where it was.
# The exit code is that of assay, but a shard that has found something has done its work: 0. ASSAY is another program.
set -euo pipefail

usage() {
  sed -n '4,5s/^# //p' "$0" >&2
  exit 2
}

assay=${ASSAY:-build/release/tools/assay}
[[ $# -ge 2 ]] || usage
verb=$1 folder=$2
shift 2

shard() {
  local which=${ASSAY_SHARD:-auto} resume=() status=0
  local name=${ASSAY_SHARD:-${SLURM_ARRAY_TASK_ID:-${JOB_COMPLETION_INDEX:-${CI_NODE_INDEX:-}}}}
  name=shard-${name%%/*}
  mkdir -p "$folder"
  [[ -s $folder/$name.store ]] && resume=(--resume)
  # Findings that are kept twice would be stale: the report names those of this run.
  rm -rf "$folder/$name.findings"
  "$assay" fuzz --shard "$which" --store "$folder/$name.store" "${resume[@]}" --report "$folder/$name.json" \
    --findings "$folder/$name.findings" "$@" || status=$?
  [[ $status -le 1 ]] || exit "$status"
  grep -q '"complete":true' "$folder/$name.json" || { echo "night: $name was interrupted; run it again" >&2; exit 1; }
}

merge() {
  rm -f "$folder/whole.store" "$folder/whole.json"
  "$assay" merge "$folder"/shard-*.store --into "$folder/whole.store"
  "$assay" merge "$folder"/shard-*.json --into "$folder/whole.json"
}

case $verb in
  shard) shard "$@" ;;
  merge) merge ;;
  *) usage ;;
esac
