#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The results of the lab as a table, from the reports of `assay certify`.

    results.py collect REPORT... > tools/lab/results.json   what the table needs of each report, and its SHA-256
    results.py table                                        that file as Markdown
"""
import hashlib
import json
import pathlib
import sys

KEPT = pathlib.Path(__file__).with_name("results.json")
STATES = ("pass", "contested", "below", "fail", "unscored", "accepted", "refused", "unsupported", "error")
MARKS = ("unstable", "differs", "stale session")


def collected(path):
    content = pathlib.Path(path).read_bytes()
    report = json.loads(content)
    return {
        "backend": report["backend"]["spec"],
        "version": report["backend"]["version"],
        "options": {key: value for key, value in report["backend"]["options"].items() if key in ("set", "optimization", "threads", "pack")},
        "suite": report["suite"]["name"],
        "hash": report["suite"]["hash"],
        "cases": report["suite"]["reached"],
        "operators": {row["op"]: {"certified": row["certified"], "legal": row["legal"], "judged": row["judged"]} for row in report["operators"]},
        "totals": report["totals"],
        "marks": report["marks"],
        "rulings": {row["id"]: row["followed"] for row in report["rulings"]},
        "started": report["run"]["started"],
        "seconds": round(report["run"]["seconds"]),
        "report": hashlib.sha256(content).hexdigest(),
    }


def readings(result):
    """The reading a backend follows most often, of each ruling that leaves a choice."""
    followed = {ruling: max(sorted(seen), key=seen.get) for ruling, seen in result["rulings"].items() if seen}
    return " ".join(f"{ruling}={reading}" for ruling, reading in followed.items())


def versions(result):
    rows = result["operators"].values()
    conforming = sum(row["certified"] == "conforms" for row in rows)
    judged = sum(row["judged"] > 0 for row in rows)
    return f"{conforming} of {judged}"


def row(result):
    cells = [f"`{result['backend']}` {result['version']}".strip(), versions(result)]
    cells += [str(result["totals"][state]) for state in STATES]
    cells.append(str(sum(result["marks"].get(mark, 0) for mark in MARKS)))
    cells.append(f"{result['seconds']} s" + (", short" if "short" in result["suite"] else ""))
    return "| " + " | ".join(cells) + " |"


def table():
    results = json.loads(KEPT.read_text(encoding="utf-8"))
    head = ["backend", "versions that conform, of those judged", *STATES, "marks", "time"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *map(row, results), ""]
    lines += ["| backend | readings it follows most |", "|---|---|"]
    lines += [f"| `{result['backend']}` | {readings(result)} |" for result in results if readings(result)]
    return "\n".join(lines)


def main():
    if sys.argv[1:2] == ["collect"] and len(sys.argv) > 2:
        json.dump([collected(path) for path in sys.argv[2:]], sys.stdout, indent=1)
        print()
    elif sys.argv[1:] == ["table"]:
        print(table())
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
