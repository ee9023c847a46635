# SPDX-License-Identifier: Apache-2.0
"""Runs the script of every case in tools/backends/FINDINGS.md on the runtime it is about, where that is installed.

    python3 tools/lab/scripts.py [NAME...]
    python3 tools/lab/scripts.py --reports FOLDER NAME...     # of every cause in FOLDER/NAME.json instead

A script that ends with 1 shows the defect. A table is printed: cases, those that are findings today, scripts, and of these
what ended otherwise; then each of those by its line.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PROJECT = pathlib.Path(__file__).resolve().parents[2]
ASSAY = pathlib.Path(os.environ.get("ASSAY_BUILD", PROJECT / "build/release"), "tools/assay")
CATALOGUE = {entry["name"]: entry for entry in json.loads((PROJECT / "tools/backends/catalogue.json").read_text())}


def sections():
    """(backend, case line) of each table; the first name in a heading that has a script stands for all of them."""
    text = (PROJECT / "tools/backends/FINDINGS.md").read_text()
    for heading, body in re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", text, re.M | re.S):
        names = [name for name in re.findall(r"`([^`]+)`", heading) if "script" in CATALOGUE.get(name, {})]
        if names:
            yield from ((names[0], line) for line in re.findall(r"`([A-Za-z.:]+-\d+ opset=[^`]*)`", body))


def causes(folder, names):
    """(backend, case line) of each cause of the reports; where only a session shows it, all lines of that."""
    for name in names:
        report = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        yield from ((name, cause.get("session") or cause["smallest"]) for cause in report["causes"])


def python_of(name):
    """The interpreter of its environment; the one of the project where that serves it."""
    if "modules" in CATALOGUE[name]:
        return PROJECT / ".deps/venv/bin/python"
    cache = pathlib.Path(os.environ.get("ASSAY_CACHE") or pathlib.Path.home() / ".cache/assay", "backends")
    return next((folder / "bin/python" for folder in cache.glob(f"{name}-*") if (folder / "stamp").exists()), None)


def tried(name, line, folder):
    """What became of a case: "no finding", "no script", or the exit code of its script."""
    done = subprocess.run([ASSAY, "replay", "--backend", name, line, "--save", folder], capture_output=True, text=True, check=False)
    if done.returncode != 1:
        return "no finding"
    if not (folder / "repro.py").exists():
        return "no script"
    try:
        script = subprocess.run([python_of(name), folder / "repro.py"], capture_output=True, text=True, timeout=200, errors="replace",
                                check=False, cwd="/", env={**os.environ, **CATALOGUE[name].get("environment", {})})
    except subprocess.TimeoutExpired:
        return "it hangs"
    said = script.stderr.strip().splitlines()
    crashed = script.returncode != 1 or any(word in script.stderr for word in ("NameError", "AttributeError", "SyntaxError", "ImportError", "ModuleNotFoundError"))
    return "1" if not crashed else f"{script.returncode}: {said[-1] if said else ''}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reports", type=pathlib.Path, metavar="FOLDER", help="reports whose causes are tried")
    parser.add_argument("names", nargs="*", metavar="NAME", help="backends; left out: all of FINDINGS.md")
    options = parser.parse_args()
    table, odd = collections.defaultdict(collections.Counter), []
    for name, line in causes(options.reports, options.names) if options.reports else sections():
        if (options.names and name not in options.names) or not python_of(name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            word = tried(name, line, pathlib.Path(folder, "finding"))
        table[name].update(["cases", word if word in ("1", "no finding", "no script") else "otherwise"])
        if word != "1":
            odd.append(f"{name}: {word}\n    {line}")
    print("| backend | cases | no finding | no script | script shows it | otherwise |\n|---|---|---|---|---|---|")
    for name, counts in table.items():
        print(f"| `{name}` | " + " | ".join(str(counts[key]) for key in ("cases", "no finding", "no script", "1", "otherwise")) + " |")
    print("\n".join(odd))


if __name__ == "__main__":
    main()
