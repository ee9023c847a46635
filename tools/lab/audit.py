# SPDX-License-Identifier: Apache-2.0
"""What audits of stored vectors said, kept and shown.

    audit.py keep 'RELEASE=REPORT.json' ...    into audit.json; a release may have several reports
    audit.py table                             the tables of AUDIT.md: releases, and operators with more than right answers
"""
import collections
import json
import pathlib
import sys

KEPT = pathlib.Path(__file__).with_name("audit.json")
RATINGS = ["correctly rounded", "within the bound", "contested", "below", "wrong", "unscored", "illegal model"]
# Why a stored output is not as asked for: a ruling (reference/rulings.cpp) or a clause, worked out in AUDIT.md.
EXPLAINED = {
    "test_averagepool_3d_dilations_large_count_include_pad_is_1_ceil_mode_is_True":
        "count_include_pad: 'include pad pixels'; a tap beyond the padding is none",
    "test_averagepool_2d_ceil_last_window_starts_on_pad": "A26: written by hand to four digits",
    "test_operator_add_size1_broadcast": "Add-6: '1-dim expansion doesn't work yet'",
    "test_operator_add_size1_singleton_broadcast": "Add-6: '1-dim expansion doesn't work yet'",
}
# The same of every file whose name begins so.
EXPLAINED_BY_NAME = {
    "test_cast_BFLOAT16_to_FLOAT": "the file is of uint16 where the model has bfloat16",
    "test_cast_FLOAT_to_BFLOAT16": "the file is of uint16 where the model has bfloat16",
    "test_castlike_BFLOAT16_to_FLOAT": "the file is of uint16 where the model has bfloat16",
    "test_castlike_FLOAT_to_BFLOAT16": "the file is of uint16 where the model has bfloat16",
    "test_qlinearmatmul_2D_int8_": "'saturate': the file wraps around; later releases saturate",
    "test_qlinearmatmul_3D_int8_": "'saturate': the file wraps around; later releases saturate",
}


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


def explanation(each):
    """Why that output is not as asked for; exits where nobody has said."""
    if each["rating"] == "unscored" and each["because"].startswith("vacuous"):
        return "every answer is the same number, which most wrong kernels give as well"
    if each["rating"] == "contested":
        return "the reading " + each["because"].split(":")[0]
    name = each["file"].split("/")[0]
    for start, reason in EXPLAINED_BY_NAME.items():
        if name.startswith(start):
            return reason
    if name not in EXPLAINED:
        sys.exit(f"audit: {name} is {each['rating']} and nothing explains it: {each['because']}")
    return EXPLAINED[name]


def table():
    print("| release | operator version | vectors | " + " | ".join(RATINGS[:6]) + " |")
    print("|---" * 9 + "|")
    told = json.loads(KEPT.read_text(encoding="utf-8"))
    for release, kept in told.items():
        total = collections.Counter()
        for op, counts in kept["operators"].items():
            total.update(counts)
            if any(counts[r] for r in RATINGS[2:]):
                print(f"| {release} | {op} | {sum(counts.values())} | " + " | ".join(str(counts[r]) for r in RATINGS[:6]) + " |")
        print(f"| {release} | all {len(kept['operators'])}; {kept['foreign']} of {kept['models']} models are not for us | {sum(total.values())} | "
              + " | ".join(str(total[r]) for r in RATINGS[:6]) + " |")
    print("\n| rating | explained by | outputs |")
    print("|---" * 3 + "|")
    reasons = collections.defaultdict(list)
    for release, kept in told.items():
        for each in kept["notable"]:
            reasons[each["rating"], explanation(each)].append((f"{release} `{each['file'].split('/')[0]}`", each["op"]))
    for (rating, reason), outputs in sorted(reasons.items()):
        names, ops = zip(*outputs)
        many = f"{len(names)}, of {', '.join(sorted(set(ops)))}"
        print(f"| {rating} | {reason} | {', '.join(names) if len(names) < 4 else many} |")


if __name__ == "__main__":
    if sys.argv[1:] == ["table"]:
        table()
    elif sys.argv[1:2] == ["keep"] and len(sys.argv) > 2:
        keep(sys.argv[2:])
    else:
        sys.exit(__doc__)
