# SPDX-License-Identifier: Apache-2.0
"""What audits of stored vectors said, kept and shown.

    audit.py keep 'RELEASE=REPORT.json' ...    into audit.json; a release may have several reports
    audit.py table                             the table of AUDIT.md
"""
import collections
import json
import pathlib
import sys

KEPT = pathlib.Path(__file__).with_name("audit.json")
RATINGS = ["correctly rounded", "within the bound", "contested", "below", "wrong", "unscored", "illegal model"]


def keep(words):
    releases = {}
    for word in words:
        release, file = word.split("=", 1)
        told = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))
        kept = releases.setdefault(release, {"models": 0, "foreign": 0, "flaws": [], "operators": {}, "notable": []})
        kept["models"] += told["models"]
        kept["foreign"] += sum(told["foreign"].values())
        kept["flaws"] += told["flaws"]
        for row in told["operators"]:
            counts = kept["operators"].setdefault(row["op"], dict.fromkeys(RATINGS, 0))
            for rating in RATINGS:
                counts[rating] += row[rating]
        kept["notable"] += [each for each in told["outputs"] if each["rating"] not in RATINGS[:2]]
    KEPT.write_text(json.dumps(releases, indent=1) + "\n", encoding="utf-8")


def table():
    print("| release | operator version | vectors | " + " | ".join(RATINGS[:5]) + " |")
    print("|---" * 8 + "|")
    for release, kept in json.loads(KEPT.read_text(encoding="utf-8")).items():
        total = collections.Counter()
        for op, counts in kept["operators"].items():
            total.update(counts)
            print(f"| {release} | {op} | {sum(counts.values())} | " + " | ".join(str(counts[r]) for r in RATINGS[:5]) + " |")
        print(f"| {release} | all; {kept['foreign']} of {kept['models']} models are not for us | {sum(total.values())} | "
              + " | ".join(str(total[r]) for r in RATINGS[:5]) + " |")


if __name__ == "__main__":
    if sys.argv[1:] == ["table"]:
        table()
    elif sys.argv[1:2] == ["keep"] and len(sys.argv) > 2:
        keep(sys.argv[2:])
    else:
        sys.exit(__doc__)
