# SPDX-License-Identifier: Apache-2.0
"""How fast one build of assay is beside another, measured in pairs: cases a second of `certify` or `fuzz` on a backend.

    python3 tools/lab/pairs.py [--pairs 5] BASE_ASSAY NEW_ASSAY -- certify onnxruntime --suite short
    python3 tools/lab/pairs.py old/tools/assay build/release/tools/assay -- fuzz onnxruntime --cases 5000 --findings ''

Both run the same words in turns, A B B A A B …, so that a machine that slows down or warms up harms both alike. Each run is
read off its own report: cases a second, from the start of the program to the last verdict and shrinking, and processor time
of assay itself per case. A ratio is of one pair, the new build over the base: above 1 it is faster. The median of the ratios
lies between the least and the most of five pairs with 94 %, of eight with 99 %; a build beside itself shows what the machine
adds. Prints a line for each pair, then both medians. Says so where the two did not run the same cases: then the ratio is of
other work as well.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

VERBS = ("certify", "fuzz")


class Run:
    """One run of a build: what its report says of it."""

    def __init__(self, tool, words, folder):
        report = folder / "report.json"
        report.unlink(missing_ok=True)
        done = subprocess.run([tool, *words, "--report", report], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", check=False)
        if done.returncode not in (0, 1) or not report.exists():
            sys.exit(f"{tool} {' '.join(words)} ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-300:]}")
        told = json.loads(report.read_text(encoding="utf-8"))
        run = told["run"]
        if not run["cases_per_second"] or not run["host_microseconds_per_case"]:
            sys.exit(f"{tool} {' '.join(words)} ran no case")
        self.speed, self.host, self.seconds = run["cases_per_second"], run["host_microseconds_per_case"], run["seconds"]
        self.cases = round(self.speed * self.seconds)
        # Of a campaign that goes by time the number of cases is what is measured.
        self.work = told["suite"]["hash"] if "suite" in told else None


def pairs_of(base, new, words, pairs):
    """(run of the base, run of the new build) of each pair; every other begins with the new one."""
    with tempfile.TemporaryDirectory() as name:
        for number in range(pairs):
            order = {"base": base, "new": new} if number % 2 == 0 else {"new": new, "base": base}
            runs = {which: Run(tool, words, pathlib.Path(name)) for which, tool in order.items()}
            yield runs["base"], runs["new"]


def summary(name, ratios):
    return f"{name}: {statistics.median(ratios):.3f} ({min(ratios):.3f}-{max(ratios):.3f}), median of {len(ratios)} pairs, least and most"


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", type=pathlib.Path, metavar="BASE_ASSAY", help="the build to compare with")
    parser.add_argument("new", type=pathlib.Path, metavar="NEW_ASSAY", help="the build that is looked at")
    parser.add_argument("--pairs", type=int, default=5, metavar="N", help="how many (5)")
    parser.add_argument("words", nargs="+", metavar="WORD", help="behind --: the verb and its words, without --report")
    options = parser.parse_args()
    if options.words[0] not in VERBS or "--report" in options.words:
        parser.error(f"behind -- goes {' or '.join(VERBS)} with its words; --report is added")
    if options.pairs < 1:
        parser.error("--pairs is at least 1")
    options.base, options.new = options.base.absolute(), options.new.absolute()
    for tool in (options.base, options.new):
        if not os.access(tool, os.X_OK) or tool.is_dir():
            parser.error(f"{tool} is no program")
    return options


def main():
    options = read_arguments()
    print("pair  base cases/s  new cases/s  ratio  base us/case  new us/case  ratio")
    faster, cheaper, others = [], [], 0
    for number, (base, new) in enumerate(pairs_of(options.base, options.new, options.words, options.pairs), 1):
        faster.append(new.speed / base.speed)
        cheaper.append(base.host / new.host)
        others += base.work != new.work or (base.work is not None and base.cases != new.cases)
        print(f"{number:4}  {base.speed:12.1f}  {new.speed:11.1f}  {faster[-1]:5.3f}  {base.host:12.1f}  {new.host:11.1f}  "
              f"{cheaper[-1]:5.3f}", flush=True)
    print(summary("cases a second, new over base", faster))
    print(summary("processor time of assay per case, base over new", cheaper))
    if others:
        print(f"the two ran other cases: {base.cases} and {new.cases}; name what both have with --ops or --only-failed")


if __name__ == "__main__":
    main()
