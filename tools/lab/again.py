# SPDX-License-Identifier: Apache-2.0
"""Runs the replay lines that a report prints, each in a fresh process, and says which verdicts do not come again.

    python3 tools/lab/again.py [--reports FOLDER] [--cases N] [NAME...]

Certifies each backend (`short` suite where the catalogue says so; reports in build/lab/again), or reads FOLDER/NAME.json, of
all reports there where no name is given. Replayed are every `error` without a mark that breaches, and 100 `fail`, drawn with
a fixed seed from those not marked `unstable`. What comes again has the same state for the same reason. A line is printed for
each backend, then what did not come again; exit code 1 where there is any of that.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys

PROJECT = pathlib.Path(__file__).resolve().parents[2]
ASSAY = pathlib.Path(os.environ.get("ASSAY_BUILD", PROJECT / "build/release"), "tools/assay")
CATALOGUE = {entry["name"]: entry for entry in json.loads((PROJECT / "tools/backends/catalogue.json").read_text())}
NAMES = ("onnxruntime", "openvino", "tract", "mnn", "opencv", "rten")
MOST_FAILS = 100
SEED = 1


def certified(name, cases):
    """The report of a backend; nothing where it cannot be installed here."""
    if name in CATALOGUE and subprocess.run([ASSAY, "backends", "install", name], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                             check=False).returncode:
        print(f"{name}: could not be installed here", flush=True)
        return None
    file = PROJECT / "build/lab/again" / (re.sub(r"[^\w.-]+", "-", name) + ".json")
    file.parent.mkdir(parents=True, exist_ok=True)
    size = ["--suite", CATALOGUE.get(name, {}).get("suite", "default")] if cases is None else ["--suite", "default", "--cases", str(cases)]
    done = subprocess.run([ASSAY, "certify", "--backend", name, *size, "--quiet", "--report", file], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, errors="replace", check=False)
    if done.returncode > 1:
        sys.exit(f"{name}: certify ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    return file


def replayed(verdict):
    """What became of a verdict: its words in the report, and the first line of its replay."""
    said = verdict["state"]
    if verdict["because"] not in ("", said):
        said += f" ({verdict['because']})"
    words = shlex.split(verdict["replay"])
    done = subprocess.run([ASSAY, *words[1:]], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)
    lines = (done.stdout or done.stderr).splitlines()
    return said, lines[0] if lines else f"nothing, exit code {done.returncode}"


def comes_again(said, line):
    word, _, rest = line.partition(" ")
    rest = rest.strip()
    return word == "verdict" and (rest == said or rest.startswith(said + ":"))


def chosen(report):
    """Verdicts to be replayed, by state, and how many were left out."""
    marks = {state: [(verdict, verdict.get("marks", [])) for verdict in report["verdicts"] if verdict["state"] == state]
             for state in ("error", "fail")}
    errors = [verdict for verdict, beside in marks["error"] if not any(mark["breaches"] for mark in beside)]
    fails = [verdict for verdict, beside in marks["fail"] if not any(mark["mark"] == "unstable" for mark in beside)]
    left_out = {"error": len(marks["error"]) - len(errors), "fail": len(marks["fail"]) - len(fails)}
    if len(fails) > MOST_FAILS:
        fails = random.Random(SEED).sample(fails, MOST_FAILS)
    return {"error": errors, "fail": fails}, left_out


def examined(name, file):
    """Prints the line of a backend; returns what did not come again."""
    verdicts, left_out = chosen(json.loads(file.read_text(encoding="utf-8")))
    words, missing = [], []
    for state, all_of_it in verdicts.items():
        with concurrent.futures.ThreadPoolExecutor(2) as two:
            ended = list(two.map(replayed, all_of_it))
        gone = [(verdict, *how) for verdict, how in zip(all_of_it, ended) if not comes_again(*how)]
        words.append(f"{state}s come again {len(all_of_it) - len(gone)} of {len(all_of_it)}" +
                     (f" ({left_out[state]} marked)" if left_out[state] else ""))
        missing += gone
    print(f"{name}: " + ", ".join(words), flush=True)
    for verdict, said, line in missing:
        print(f"    {said}, then {line}\n    {verdict['replay']}", flush=True)
    return missing


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reports", type=pathlib.Path, metavar="FOLDER", help="reports that are there, NAME.json each")
    parser.add_argument("--cases", type=int, metavar="N", help="generated cases of each campaign; left out: those of its suite")
    parser.add_argument("names", nargs="*", metavar="NAME", help="backends; left out: " + " ".join(NAMES))
    options = parser.parse_args()
    names = sorted(file.stem for file in options.reports.glob("*.json")) if options.reports else NAMES
    missing = []
    for name in options.names or names:
        file = options.reports / f"{name}.json" if options.reports else certified(name, options.cases)
        if file:
            missing += examined(name, file)
    sys.exit(1 if missing else 0)


main()
