# SPDX-License-Identifier: Apache-2.0
"""Installs one backend of the catalogue into its folder of the cache; `assay backends install NAME` calls it.

    install.py '{"name": …, "kind": …, "folder": …, "source": …, "lock": …, "apt": […], "build": […], "needs": …}'

The folder is complete when it holds `stamp`, which is written last. One line per step goes to stderr, the output of the
steps to FOLDER.log. Ends with 1 where a step failed, after its last lines and what to do.
"""
import contextlib
import fcntl
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

# This folder has an onnxruntime.py and the like, which must not stand in for a library.
sys.path[:] = [p for p in sys.path if os.path.abspath(p or ".") != os.path.dirname(os.path.abspath(__file__))]

ONE_MIB = 1 << 20


class Failed(Exception):
    """A step that did not succeed; its text says what to do."""


class Installation:
    def __init__(self, order):
        self.name, self.kind, self.needs = order["name"], order["kind"], order["needs"]
        self.folder = pathlib.Path(order["folder"])
        self.source, self.lock = order["source"], order["lock"]
        self.apt, self.build = order["apt"], order["build"]
        self.log_path = self.folder.with_name(self.folder.name + ".log")

    def say(self, text):
        print(f"{self.name}: {text}", file=sys.stderr, flush=True)

    def step(self, what, advice, *command, **settings):
        self.say(f"{what} ...")
        program = shutil.which(command[0])
        if program is None:
            raise Failed(f"{command[0]} is not installed" + (f"; this backend needs {self.needs}" if self.needs else ""))
        with open(self.log_path, "ab") as log:
            log.write(f"== {' '.join(map(str, command))}\n".encode())
            log.flush()
            done = subprocess.run([program, *map(str, command[1:])], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                  check=False, **{"cwd": self.folder, **settings})
        if done.returncode != 0:
            raise Failed(f"{what} failed; {advice}")

    def venv(self):
        self.folder.rmdir()
        has_pip = importlib.util.find_spec("pip") is not None  # Debian's python3 has none, its python3-venv brings one
        self.step("making a Python environment", "the interpreter lacks venv: as root: apt-get install python3-venv",
                  sys.executable, "-m", "venv", *["--without-pip"] * has_pip, self.folder, cwd="/")
        own = self.folder / "bin/python"
        pip = [sys.executable, "-m", "pip", "--python", own] if has_pip else [own, "-m", "pip"]
        self.step("installing its pinned packages", "check the network and that this is Python 3.11 on x86-64",
                  *pip, "install",
                  "--disable-pip-version-check", "--no-deps", "--require-hashes", "--only-binary", ":all:",
                  "-r", self.lock)

    def npm(self):
        shutil.copytree(self.source, self.folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("node_modules"))
        self.step("installing its pinned packages", "check the network and the npm registry",
                  "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")

    def cargo(self):
        source, copy = pathlib.Path(self.source), self.folder / "source"  # with its neighbours: it builds on one of them
        shutil.copytree(source.parent, copy, ignore=shutil.ignore_patterns("target", "Cargo.lock"))
        self.step("compiling it (minutes)", "check the network and that the Rust toolchain is new enough",
                  "cargo", "install", "--path", copy / source.name, "--root", self.folder, "--no-track",
                  "--target-dir", self.folder / "target")
        shutil.rmtree(self.folder / "target")

    def packages(self):
        known = ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *self.apt]
        listed = subprocess.run(known, capture_output=True, text=True, check=False).stdout.split("\n")
        missing = [package for package in self.apt if f"{package} installed" not in listed]
        if not missing:
            return
        root = [] if os.geteuid() == 0 else ["sudo", "-n"]
        advice = f"as root: apt-get update && apt-get install {' '.join(missing)}"
        self.step(f"installing {' '.join(missing)}", advice, *root, "env", "DEBIAN_FRONTEND=noninteractive", "sh", "-c",
                  'apt-get -q update && exec apt-get -q -y install --no-install-recommends "$@"', "apt", *missing)

    def install(self):
        started = time.monotonic()
        shutil.rmtree(self.folder, ignore_errors=True)  # what an interrupted one left
        self.folder.mkdir(parents=True)
        self.log_path.unlink(missing_ok=True)
        if self.apt:
            self.packages()
        make = {"venv": self.venv, "npm": self.npm, "cargo": self.cargo}.get(self.kind)
        if make:
            make()
        if self.build:
            self.step("compiling its worker", "the log names the first error", *self.build)
        size = sum(path.lstat().st_size for path in self.folder.rglob("*") if path.is_file() and not path.is_symlink())
        stamp = self.folder / "stamp.new"
        stamp.write_text(json.dumps({"bytes": size}) + "\n", encoding="utf-8")
        stamp.rename(self.folder / "stamp")
        self.say(f"installed, {max(1, size // ONE_MIB)} MiB in {time.monotonic() - started:.0f} s")

    def explain(self, failure):
        with contextlib.suppress(OSError):
            for line in self.log_path.read_text(encoding="utf-8", errors="replace").splitlines()[-12:]:
                print("    " + line[:300], file=sys.stderr)
            self.say(f"the whole log is {self.log_path}")
        self.say(f"FAILED: {failure}")


def main():
    installation = Installation(json.loads(sys.argv[1]))
    shelf = installation.folder.parent
    shelf.mkdir(parents=True, exist_ok=True)
    with open(shelf / f"{installation.name}.lock", "wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            installation.say("another installation of it is under way; waiting for it ...")
            fcntl.flock(lock, fcntl.LOCK_EX)
        if (installation.folder / "stamp").is_file():
            installation.say("is installed")
            return 0
        try:
            installation.install()
        except (Failed, OSError) as failure:
            installation.explain(failure)
            shutil.rmtree(installation.folder, ignore_errors=True)
            return 1
        except KeyboardInterrupt:
            installation.say("interrupted; nothing is installed")
            shutil.rmtree(installation.folder, ignore_errors=True)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
