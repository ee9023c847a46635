# SPDX-License-Identifier: Apache-2.0
"""Runs the shell steps of the recipes beside it as their services would, in an empty checkout, over our own kernels, a
planted bug, and that bug with a baseline that knows it. Called by tools/lab/recipes.sh."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

HERE = pathlib.Path(__file__).parent
ASSAY = pathlib.Path(os.environ.get("ASSAY", "build/release/tools/assay")).resolve()
FEW = "--ops AveragePool-19"
BUG = "mutant:pool-pads-same-undilated"


def read(name):
    return yaml.safe_load((HERE / name).read_text(encoding="utf-8"))


def adapted(command, backend):
    """The step with another backend and less work; what is installed there is installed by tools/lab/packages.sh."""
    command = re.sub(r"assay backends install \S+", "assay backends", command)
    return re.sub(r"--backend \S+", f"--backend {backend} {FEW}", command)


def shell(words, checkout, **environment):
    path = f"{ASSAY.parent}:{os.environ['PATH']}"
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "CI_"))}
    return subprocess.run(words, check=False, cwd=checkout, env={**inherited, "PATH": path, **environment}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)


def github(checkout, backend):
    """A failing step ends the job, but for those that always run."""
    summary, log, status = checkout / "summary.md", "", 0
    for step in read("github.yml")["jobs"]["certify"]["steps"]:
        if "run" not in step or (status and step.get("if") != "always()"):
            continue
        done = shell(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", adapted(step["run"], backend)], checkout,
                     GITHUB_STEP_SUMMARY=str(summary))
        status, log = status or done.returncode, log + done.stdout
    expect(summary.exists() and "AveragePool-19" in summary.read_text(encoding="utf-8"), "no summary", log)
    heeded = re.sub(r"(?ms)^::stop-commands::(\S+)$.*?^::\1::$", "", log)
    commands = [line for line in heeded.splitlines() if line.lstrip().startswith("::")]
    expect(all(line.startswith(("::error ", "::notice ")) for line in commands), "another command", log)
    expect(any(line.startswith("::error ") for line in commands) == bool(status), "errors where it failed", log)
    return status, log


def gitlab(checkout, backend):
    job = read("gitlab.yml")["conformance"]
    script = "set -eo pipefail\n" + "\n".join(adapted(line, backend) for line in job["script"])
    done = shell(["bash", "-c", script], checkout)
    after = shell(["bash", "-c", "set -eo pipefail\n" + "\n".join(job["after_script"])], checkout)
    expect(after.returncode == 0, "after_script failed", after.stdout)
    for file in [*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"]]:
        expect((checkout / file).stat().st_size > 0, f"{file} is empty", after.stdout)
    return done.returncode, done.stdout


def expect(holds, what, log):
    if not holds:
        sys.exit(f"{log}\nlab: tools/ci: {what}")


def main():
    for recipe in (github, gitlab):
        with tempfile.TemporaryDirectory() as place:
            checkout = pathlib.Path(place)
            for backend, wanted in (("reference", 0), (BUG, 1), (BUG, 0)):
                status, log = recipe(checkout, backend)
                expect(status == wanted, f"{recipe.__name__}: exit code {status} of {backend}, expected {wanted}", log)
                json.loads((checkout / "conformance.json").read_text(encoding="utf-8"))
                if backend == BUG:
                    (checkout / "conformance").mkdir(exist_ok=True)
                    shutil.copy(checkout / "conformance.json", checkout / "conformance/baseline.json")
        print(f"lab: {recipe.__name__}: conforms, fails with a planted bug, and not where the baseline knows it")


main()
