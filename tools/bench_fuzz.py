#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures `assay fuzz` against a harness of Hypothesis and ONNX's ReferenceEvaluator, on the same planted bugs.

    .deps/venv/bin/python3 tools/bench_fuzz.py build/release/tools/assay [--seeds 5] [--markdown tools/bench/fuzz.md]

Both ask bench/planted.py, f32 and opset 22: the kernel without a bug, and each of its bugs. The harness
(bench/hypothesis_harness.py) calls it within its own process; assay asks it as a worker, one at a time (`--jobs 1`),
with its default settings otherwise. A bug is found by assay in the first case that ends in fail, below, refused or
error, and by the harness in the first case that its rule rejects while the kernel without the bug passes it: what a
person would see who knew all false alarms beforehand.

Times are processor time of every process concerned, so what else the machine does matters little. The cost of a case is
the slope between a short and a long run, start-up the rest; runs of both take turns, a ratio is of one turn. Seconds to
find a bug are start-up plus cases times the cost of a case, without the shrinking that follows. The harness gets an
environment of its own, locked by bench/fuzz.txt and thrown away; --python names one that exists.
"""
import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent / "bench"
sys.path.insert(0, str(HERE))
import planted  # noqa: E402
from bench_time import processor  # noqa: E402

BREACHES = ("fail", "below", "refused", "error")
SHORT, LONG = 100, 600
ENVIRONMENT = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


class Assay:
    def __init__(self, tool, folder):
        self.tool, self.folder = pathlib.Path(tool).resolve(), pathlib.Path(folder)

    def fuzzed(self, operator, bug, seed, cases):
        """The report of one run, and its processor seconds: host and worker."""
        report, seconds = self.folder / "report.json", self.folder / "seconds"
        seconds.write_text("")
        backend = f"exec:'{sys.executable}' '{HERE / 'planted.py'}' {bug}"
        command = [self.tool, "fuzz", "--backend", backend, "--ops", f"{operator}-22", "--types", "f32", "--seed", seed,
                   "--cases", cases, "--jobs", 1, "--findings", "", "--report", report]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                              cwd=self.folder, env={**ENVIRONMENT, "PLANTED_SECONDS": str(seconds)})
        if done.returncode not in (0, 1):
            sys.exit(f"assay fuzz ended with {done.returncode}: {done.stderr or done.stdout}")
        said = json.loads(report.read_text(encoding="utf-8"))
        host = said["run"]["host_microseconds_per_case"] * 1e-6 * said["plan"]["asked"]
        return said, host + sum(map(float, seconds.read_text().split()))

    def first(self, operator, bug, seed, most=4096):
        """How many cases until the first that shows the bug, and its state; None where `most` do not."""
        cases = 16
        while cases <= most:
            failures = self.fuzzed(operator, bug, seed, cases)[0]["failures"]
            found = min(((f["index"] + 1, f["state"]) for f in failures if f["state"] in BREACHES), default=None)
            if found:
                return found
            cases *= 4
        return None

    def cost(self, operator, seed, cases):
        said, seconds = self.fuzzed(operator, "none", seed, cases)
        return len(said["failures"]) + len(said["marked"]), seconds


class Harness:
    def __init__(self, python):
        self.python = python

    def __call__(self, task, operator, seed, cases):
        command = [self.python, HERE / "hypothesis_harness.py", task, operator, seed, cases]
        words = [str(word) for word in command]
        done = subprocess.run(words, capture_output=True, text=True, check=True, env=ENVIRONMENT)
        return json.loads(done.stdout.splitlines()[-1])


def throw_away_environment(folder):
    """An interpreter with what bench/fuzz.txt locks."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = pathlib.Path(folder, "bin", "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps",
                    "--require-hashes", "--only-binary", ":all:", "-r", HERE / "fuzz.txt"], check=True)
    return python


def costs(assay, harness, operator, seeds):
    """Per seed, of both: seconds per case and of start-up. And how many alarms assay raised over the correct kernel."""
    per_case, start, alarms = {"assay": [], "harness": []}, {"assay": [], "harness": []}, 0
    for seed in seeds:
        runs = {"assay": [], "harness": []}
        for cases in (SHORT, LONG):
            false, seconds = assay.cost(operator, seed, cases)
            runs["assay"].append(seconds)
            runs["harness"].append(harness("cost", operator, seed, cases)["seconds"])
        alarms += false  # of the long run; the short one asks the first of its cases
        for who, (short, long) in runs.items():
            per_case[who].append((long - short) / (LONG - SHORT))
            start[who].append(short - SHORT * per_case[who][-1])
    return per_case, {who: statistics.median(values) for who, values in start.items()}, alarms


def middle(values, digits=0):
    """Median and range; a missing value is beyond all others."""
    known = sorted(value if value is not None else float("inf") for value in values)
    word = lambda value: "never" if value == float("inf") else f"{value:.{digits}f}"
    return f"{word(statistics.median_high(known))} ({word(known[0])}-{word(known[-1])})"


def strength_rows(firsts, streams, per_case, start):
    for bug, found_by_us in firsts.items():
        ours = [found and found[0] for found in found_by_us]
        theirs = {rule: [s["first"][rule].get(bug) for s in streams] for rule in streams[0]["first"]}
        seconds = [
            "-" if None in cases else f"{start[who] + statistics.median(cases) * statistics.median(per_case[who]):.2f}"
            for who, cases in (("assay", ours), ("harness", theirs["ONNX"]))]
        states = ", ".join(sorted({found[1] for found in found_by_us if found}))
        yield [f"{bug}: {planted.BUGS[bug]}", middle(ours), states, *map(middle, theirs.values()), *seconds]


def alarm_rows(operator, alarms, requested, streams, rules):
    total = sum(s["cases"] for s in streams)
    yield [operator, "assay", str(requested), "-", str(alarms), "-", "-"]
    for rule, tolerance in rules.items():
        wrong, rounding = (sum(s[why].get(rule, 0) for s in streams) for why in ("evaluator", "rounding"))
        firsts = middle([s["first alarm"].get(rule) for s in streams])
        raised = sum(s["evaluator fails"] for s in streams)
        yield [operator, f"harness, {tolerance}", *map(str, (total, raised, wrong, rounding)), firsts]


def table(head, rows):
    first, *others = ("| " + " | ".join(row) + " |" for row in (head, *rows))
    return "\n".join([first, "|" + "---|" * len(head), *others]) + "\n"


def measured(assay, harness, seeds):
    speeds, strengths, alarms = [], [], []
    for operator, prefix in planted.PREFIX.items():
        per_case, start, false = costs(assay, harness, operator, seeds)
        replies = [harness("strength", operator, seed, LONG) for seed in seeds]
        streams, rules = [reply["strength"] for reply in replies], replies[0]["rules"]
        bugs = [bug for bug in planted.BUGS if bug.startswith(prefix)]
        firsts = {bug: [assay.first(operator, bug, seed) for seed in seeds] for bug in bugs}
        ratios = [theirs / ours for ours, theirs in zip(per_case["assay"], per_case["harness"])]
        rates = [middle([1 / cost for cost in per_case[who]]) for who in ("assay", "harness")]
        speeds.append([operator, *rates, middle(ratios, 2), *(f"{start[who]:.2f}" for who in ("assay", "harness"))])
        strengths += strength_rows(firsts, streams, per_case, start)
        alarms += alarm_rows(operator, false, len(seeds) * LONG, streams, rules)
    return "\n".join([
        "Cases per second of processor time, and seconds of start-up:\n",
        table(["operator", "assay", "harness", "ratio", "start of assay", "start of the harness"], speeds),
        "Cases until a planted bug is found, and seconds under ONNX's rule:\n",
        table(["bug", "assay", "as", *(f"harness, {rule}" for rule in rules.values()), "s, assay", "s, harness"],
              strengths),
        "Alarms over the kernel without a bug. Of the harness: cases in which the evaluator raises an error, so that "
        "nothing is judged; in which it answers with another shape or a value that no rounding explains; and in which "
        "only the rounding of f32 sums differs. Last, the case of the first alarm of the last two kinds:\n",
        table(["operator", "by", "cases", "evaluator raises", "evaluator is wrong", "rounding", "first alarm"],
              alarms)])


HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 -->
# assay fuzz against Hypothesis and ReferenceEvaluator

    .deps/venv/bin/python3 tools/bench_fuzz.py build/release/tools/assay --markdown tools/bench/fuzz.md

What is asked, counted and timed stands at the head of `tools/bench_fuzz.py`. Median and, in brackets, range over the seeds.

"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assay", help="build/release/tools/assay")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--python", type=pathlib.Path, help="an interpreter that has what bench/fuzz.txt locks")
    parser.add_argument("--markdown", type=pathlib.Path, help="write the tables there as well")
    arguments = parser.parse_args()
    if arguments.seeds < 1:
        parser.error("--seeds is at least 1")
    if not pathlib.Path(arguments.assay).is_file():
        parser.error(f"there is no {arguments.assay}; build it first")
    with tempfile.TemporaryDirectory() as folder:
        python = arguments.python or throw_away_environment(pathlib.Path(folder, "venv"))
        text = measured(Assay(arguments.assay, folder), Harness(python), range(1, arguments.seeds + 1))
    lock = (HERE / "fuzz.txt").read_text(encoding="ascii").splitlines()
    versions = ", ".join(line.split(" ")[0] for line in lock if line.startswith(("hypothesis", "onnx", "numpy")))
    day = datetime.date.today().isoformat()
    text = f"{processor()}, seeds 1 to {arguments.seeds}, {versions}, {day}.\n\n{text}"
    print(text, end="")
    if arguments.markdown:
        arguments.markdown.write_text(HEAD + text, encoding="utf-8")


if __name__ == "__main__":
    main()
