#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A real Slurm of one node, from Debian's packages, for as long as this runs: tools/cluster/slurm.sh is submitted as an
# array of eight shards and a merge that depends on it, over a planted bug and over our own kernels. The merged report,
# the report of the merged store and that of a run without shards have to be the same bytes, but for `run`.
# All of its configuration lies in a temporary folder, and its daemons end with this script. ASSAY is another program.
#   tools/lab/slurm.sh [CASES]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export ASSAY=${ASSAY:-$PWD/build/release/tools/assay} PATH=$PATH:/usr/sbin
cases=${1:-2000}
shards=8

die() {
  echo "lab: $1" >&2
  exit 1
}

install_packages() {
  local missing=() package sudo=()
  for package in slurmctld slurmd slurm-client munge; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
  done
  [[ ${#missing[@]} == 0 ]] && return
  [[ $(id -u) == 0 ]] || sudo=(sudo)
  # The services of the packages are not wanted: this cluster is its own.
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -q -y -o DPkg::Lock::Timeout=600 \
    install --no-install-recommends "${missing[@]}"
}

lab=$(mktemp -d /tmp/assay-slurm.XXXXXX)
daemons=()
tear_down() {
  local status=$?
  trap - EXIT
  scancel --quiet --me 2>/dev/null || true
  for pid in "${daemons[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${daemons[@]}"; do wait "$pid" 2>/dev/null || true; done
  if [[ $status == 0 ]]; then
    rm -rf "$lab"
  else
    echo "lab: what Slurm and the shards said is in $lab" >&2
  fi
  exit "$status"
}

daemon() {
  "$@" >"$lab/$(basename "$1").out" 2>&1 &
  daemons+=($!)
}

# cgroups are left alone: a container may have none to give.
configure() {
  local node port=$((20000 + RANDOM % 10000))
  node=$(hostname -s)
  mkdir -p "$lab/state" "$lab/spool"
  export SLURM_CONF=$lab/slurm.conf
  cat >"$SLURM_CONF" <<END
ClusterName=lab
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$lab/munge.socket
CredType=cred/munge
StateSaveLocation=$lab/state
SlurmdSpoolDir=$lab/spool
SlurmctldPidFile=$lab/slurmctld.pid
SlurmdPidFile=$lab/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
NodeName=$node NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=night Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
}

start() {
  head -c 1024 /dev/urandom >"$lab/munge.key"
  chmod 400 "$lab/munge.key"
  daemon munged --foreground --force --key-file="$lab/munge.key" --socket="$lab/munge.socket" \
    --pid-file="$lab/munged.pid" --log-file="$lab/munged.log" --seed-file="$lab/munge.seed"
  until [[ -S $lab/munge.socket ]]; do sleep 0.1; [[ $SECONDS -lt 120 ]] || die "munged does not start"; done
  daemon slurmctld -D
  daemon slurmd -D -N "$(hostname -s)"
  until sinfo --noheader --format=%t 2>/dev/null | grep -q idle; do
    sleep 0.5
    [[ $SECONDS -lt 120 ]] || die "the node does not become idle"
  done
}

without_run() { sed '/^  "run": /d' "$1"; }

# campaign NAME CODE OPTIONS...: sharded on Slurm and straight; CODE is what the whole of it ends with.
campaign() {
  local name=$1 code=$2 folder=$lab/$1 array status=0
  shift 2
  mkdir -p "$folder"
  array=$(sbatch --parsable --array=1-$shards --output="$folder/%a.log" tools/cluster/slurm.sh shard "$folder" "$@")
  timeout 900 sbatch --wait --kill-on-invalid-dep=yes --dependency="afterok:$array" --output="$folder/merge.log" \
    tools/cluster/slurm.sh merge "$folder" >/dev/null || status=$?
  [[ $status == "$code" && -s $folder/whole.json ]] || die "$name: the merge ended with $status instead of $code"
  status=0
  "$ASSAY" fuzz "$@" --findings "" --report "$folder/straight.json" >/dev/null || status=$?
  [[ $status == "$code" ]] || die "$name: the straight run ended with $status instead of $code"
  "$ASSAY" fuzz "$@" --findings "" --store "$folder/whole.store" --resume --report "$folder/resumed.json" >/dev/null || true
  for report in whole resumed; do
    cmp <(without_run "$folder/$report.json") <(without_run "$folder/straight.json") ||
      die "$name: $report.json is not the straight run's"
  done
  [[ $(cat "$folder"/shard-*.json | grep -c "\"shard\":\"[1-$shards]/$shards\"") == "$shards" ]] ||
    die "$name: not every shard was asked once"
  echo "lab: $(date -u +%F) $name: $shards shards on $(sinfo --version) of $cases cases," \
    "$(grep -c '"excused":' "$folder/straight.json" || true) failures: merged reports, merged store and straight run are the" \
    "same $(without_run "$folder/straight.json" | wc -c) bytes"
}

[[ -x $ASSAY ]] || die "there is no $ASSAY; build it, or name another as ASSAY"
install_packages
trap tear_down EXIT
configure
start
campaign mutant 1 --backend mutant:pool-pads-same-undilated --ops AveragePool-19 --cases "$cases"
campaign reference 0 --backend reference --cases "$cases"
