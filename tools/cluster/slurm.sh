#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A campaign on Slurm; tools/lab/slurm.sh runs this file on a real one. Submitted in the root of a built checkout that all
# nodes see:
#   shards=$(sbatch --parsable --array=1-8 tools/cluster/slurm.sh shard night --backend NAME --cases 1000000)
#   sbatch --dependency="afterok:$shards" tools/cluster/slurm.sh merge night
#SBATCH --job-name=assay
#SBATCH --requeue
#SBATCH --open-mode=append
set -euo pipefail
# Slurm runs a copy of this file; what belongs to it lies where it was submitted.
cd "$SLURM_SUBMIT_DIR"
exec tools/cluster/night.sh "$@"
