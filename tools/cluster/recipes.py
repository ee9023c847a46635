# SPDX-License-Identifier: Apache-2.0
"""Runs the shell steps of the recipes beside it as their services would, one shard after the other, over our own kernels
and with few cases; setting up and building are those of the README, and were done before. The report they merge has to be that of a run without shards. Called by tools/lab/recipes.sh."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

HERE = pathlib.Path(__file__).parent
ASSAY = os.environ.get("ASSAY", "build/release/tools/assay")
CASES = "300"
OPTIONS = ["--backend", "reference", "--cases", CASES]
SERVICE = ("SLURM_", "JOB_COMPLETION_INDEX", "CI_NODE_", "ASSAY_SHARD")


def read(name):
    return yaml.safe_load((HERE / name).read_text(encoding="utf-8"))


def shell(words, night, **environment):
    """A step, its folder and its amount of work changed."""
    words = [re.sub(r"--cases \d+", f"--cases {CASES}", re.sub(r"--backend \S+", "--backend reference", word)) for word in words]
    words = [re.sub(r"(shard|merge) \S*night\b", rf"\1 {night}", word) for word in words]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(SERVICE)}
    subprocess.run(words, check=True, env={**inherited, **environment}, stdout=subprocess.DEVNULL, timeout=600)


def github(night):
    jobs = read("github.yml")["jobs"]

    def run(job, context):
        def known(text):
            return re.sub(r"\$\{\{ *(.*?) *\}\}", lambda match: context[match.group(1)], str(text))

        for step in jobs[job]["steps"]:
            if "run" in step and step["name"] != "build":
                shell(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", known(step["run"])], night,
                      **{name: known(value) for name, value in step.get("env", {}).items()})

    assert jobs["merge"]["needs"] == "shard"
    for shard in jobs["shard"]["strategy"]["matrix"]["shard"]:
        run("shard", {"matrix.shard": str(shard), "github.run_number": "1"})
    run("merge", {})


def kubernetes(night):
    spec = read("kubernetes.yml")["spec"]
    container = spec["template"]["spec"]["containers"][0]
    environment = {each["name"]: each["value"] for each in container["env"]}
    for index in range(spec["completions"]):
        shell([*container["command"], *container["args"]], night, JOB_COMPLETION_INDEX=str(index), **environment)
    container = read("kubernetes_merge.yml")["spec"]["template"]["spec"]["containers"][0]
    shell([*container["command"], *container["args"]], night)


def report(file):
    document = json.loads(file.read_text(encoding="utf-8"))
    del document["run"]
    return document


def main():
    with tempfile.TemporaryDirectory() as place:
        straight = pathlib.Path(place, "straight.json")
        subprocess.run([ASSAY, "fuzz", *OPTIONS, "--seed", "1", "--findings", "", "--report", straight], check=True,
                       stdout=subprocess.DEVNULL)
        for recipe in (github, kubernetes):
            night = pathlib.Path(place, recipe.__name__)
            recipe(night)
            if report(night / "whole.json") != report(straight):
                sys.exit(f"lab: {recipe.__name__}: the merged report is not the straight run's")
            print(f"lab: {recipe.__name__}: the shell steps make the report of the straight run")


main()
