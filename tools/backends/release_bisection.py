# SPDX-License-Identifier: Apache-2.0
"""Finds the first released version of a pip package in which a case ends otherwise; `assay bisect` calls it.

    release_bisection.py '{"assay": …, "name": …, "package": …, "command": […], "with": […], "good": …, "bad": …, "case": …, "folder": …}'

Each version it tries gets an environment of its own below `folder`, which is removed after the answer. `command` is the
worker, with {python} for the interpreter of that environment; `with` are packages the worker needs beside. Where the
packages come from is pip's to know (PIP_INDEX_URL, PIP_NO_INDEX, PIP_FIND_LINKS). Ends with 0 where the version was
found, 2 where the question cannot be answered.
"""
import dataclasses
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from pip._vendor.packaging.version import InvalidVersion, Version

GOOD, BAD = ("pass", "contested"), ("fail", "below", "refused", "error")


class Unanswerable(Exception):
    """One line that says why, and what to do."""


@dataclasses.dataclass
class Trial:
    version: Version
    words: str  # "pass, meets L0", "fail (value): …", "not tried: …"
    sha256: str = ""

    @property
    def state(self):
        return re.split(r"[ ,:(]", self.words, maxsplit=1)[0]

    @property
    def passes(self):
        """True, False, or None where the version says nothing: unsupported, unscored, not installed."""
        return True if self.state in GOOD else False if self.state in BAD else None


def last_words(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = [line for line in lines if line.startswith("ERROR")] or lines
    return told[-1][:200] if told else "without a word"


class Bisection:
    def __init__(self, order):
        self.order = order
        self.package = order["package"]
        self.trials = {}

    def pip(self, *words):
        return subprocess.run([sys.executable, "-m", "pip", *words, "--disable-pip-version-check"], capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, check=False)

    def released(self):
        """Every version this interpreter could install, the oldest first; no pre-releases."""
        done = self.pip("index", "versions", self.package)
        listed = re.search(r"^Available versions: (.*)$", done.stdout, re.MULTILINE)
        if not listed:
            raise Unanswerable(f"pip knows no version of {self.package}: {last_words(done.stderr)}")
        return sorted(Version(word) for word in listed.group(1).split(", "))

    def named(self, word, versions):
        """1.20 is 1.20.0, or else the newest 1.20.x."""
        try:
            wanted = Version(word)
        except InvalidVersion:
            raise Unanswerable(f"'{word}' is no version; write 1.20 or 1.20.1") from None
        if wanted in versions:
            return versions[versions.index(wanted)]  # 1.20.0, as its makers write it
        series = [each for each in versions if each.release[:len(wanted.release)] == wanted.release]
        if not series:
            raise Unanswerable(f"{self.package} {word} is not there for this Python; there are "
                               + ", ".join(map(str, versions)))
        return series[-1]

    def install(self, home, version, limits):
        """None and the hash of the wheel, or why it cannot be installed."""
        made = subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], capture_output=True, text=True, check=False)
        if made.returncode != 0:
            return "no environment: " + last_words(made.stderr + made.stdout), ""
        report = home / "report.json"
        done = self.pip("--python", home / "bin" / "python", "install", "--quiet", "--only-binary", ":all:", "--report", report,
                        f"{self.package}=={version}", *self.order["with"], *limits)
        if done.returncode != 0:
            return "cannot be installed: " + last_words(done.stderr), ""
        for item in json.loads(report.read_text(encoding="utf-8"))["install"]:
            if item["metadata"]["version"] == str(version) and item.get("requested") and \
                    item["metadata"]["name"].lower().replace("_", "-") == self.package.lower().replace("_", "-"):
                digest = item["download_info"].get("archive_info", {}).get("hash", "").removeprefix("sha256=")
                return ("yanked by its makers" if "is a yanked version" in done.stderr else None), digest
        return None, ""

    def requested(self, home):
        """What `assay replay` says of the case, and whether the worker answered at all."""
        command = [word.replace("{python}", str(home / "bin" / "python")) for word in self.order["command"]]
        done = subprocess.run([self.order["assay"], "replay", "--backend", "exec:" + shlex.join(command), self.order["case"]],
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
                              env={**os.environ, **self.order.get("environment", {})})
        verdict = re.search(r"^verdict +(.*)$", done.stdout, re.MULTILINE)
        return (verdict.group(1)[:300], True) if verdict else ("not tried: " + last_words(done.stderr), False)

    def tried(self, version):
        if version in self.trials:
            return self.trials[version]
        trial = Trial(version, "")
        for limits in ([], ["numpy<2"]):  # extensions of before 2024 load beside numpy 1 only, and few say so
            with tempfile.TemporaryDirectory(dir=self.order["folder"], prefix=f"{self.package}-{version}-") as folder:
                home = pathlib.Path(folder, "env")
                trouble, trial.sha256 = self.install(home, version, limits)
                if trouble and not trouble.startswith("yanked"):
                    trial.words = trial.words or "not tried: " + trouble
                    break
                trial.words, answered = self.requested(home)
                if trouble:
                    trial.words += f" ({trouble})"
            if answered:
                break
        self.trials[version] = trial
        print(f"  {version}  {trial.words}" + (f"  sha256 {trial.sha256[:12]}" if trial.sha256 else ""), flush=True)
        return trial

    def demanded(self, version, passes, role):
        trial = self.tried(version)
        if trial.passes is not passes:
            raise Unanswerable(f"{self.package} {version} is named as {role} and {'does not fail' if role == 'bad' else 'does not pass'}: "
                               f"{trial.words}; name another version")

    def narrowed(self, versions, first_passes):
        """The last version like the first, the first like the last, and those between that say nothing."""
        low, high = 0, len(versions) - 1
        mute = set()
        while True:
            open_ones = [i for i in range(low + 1, high) if i not in mute]
            if not open_ones:
                return versions[low], versions[high], [versions[i] for i in range(low + 1, high)]
            middle = min(open_ones, key=lambda i: abs(2 * i - low - high))
            answer = self.tried(versions[middle]).passes
            if answer is None:
                mute.add(middle)
            elif answer is first_passes:
                low = middle
            else:
                high = middle

    def run(self):
        versions = self.released()
        good, bad = (self.named(self.order[role], versions) for role in ("good", "bad"))
        if good == bad:
            raise Unanswerable(f"good and bad are both {good}")
        first, last = min(good, bad), max(good, bad)
        between = [version for version in versions if first <= version <= last]
        print(f"{self.package}: {len(between)} versions from {first} to {last}", flush=True)
        self.demanded(good, True, "good")
        self.demanded(bad, False, "bad")
        before, after, mute = self.narrowed(between, good < bad)
        self.conclude(before, after, mute, "fails" if good < bad else "passes")

    def conclude(self, before, after, mute, what):
        one, other = self.trials[before], self.trials[after]
        where = f"first {what} in {after}" if not mute else \
            f"first {what} in {after} or in one before it that could not be asked ({', '.join(map(str, mute))})"
        print(f"{self.package} {where}; {before} is the last that {'passes' if what == 'fails' else 'fails'}.\n")
        print(f"`{self.order['case']}`: {self.package} {before}: {one.words}. {self.package} {after}: {other.words}. "
              f"(wheels sha256 {one.sha256[:16]} and {other.sha256[:16]}; {self.order['version']})")


def main():
    order = json.loads(sys.argv[1])
    pathlib.Path(order["folder"]).mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(order["folder"]).free < 2 << 30:
        print(f"assay: {order['folder']} has less than 2 GiB free", file=sys.stderr)
        return 2
    try:
        Bisection(order).run()
    except Unanswerable as why:
        print(f"assay: {why}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("assay: interrupted", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
