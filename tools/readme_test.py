# SPDX-License-Identifier: Apache-2.0
"""The documents cannot lie: their tables are what commands print, their commands run, their links lead somewhere.

Commands stand in ```sh blocks, one a line. ```sh cases=58 has the test run `assay certify` of that block with --cases 58.
Set-up, builds and whole test runs take minutes: they run only with --full, and ASSAY_FULL=1 runs nothing else. A ```text run
block is a command and what it prints; "…" stands for what is left out, on a line of its own for any number of lines.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["ASSAY_BUILD"]).resolve()
DOCUMENTS = {name: pathlib.Path(name).read_text(encoding="utf-8")
             for name in ("README.md", "CONTRIBUTING.md", *map(str, sorted(pathlib.Path("suites").glob("**/README.md"))),
                          "suites/mutation/STRENGTH.md", "reports/README.md", "tools/README.md", "tools/bench/README.md",
                          "tools/lab/AUDIT.md", "tools/lab/RESULTS.md")}
README, TEXT = DOCUMENTS["README.md"], "\n".join(DOCUMENTS.values())
ALL, SLOW_ALONE = "--full" in sys.argv, os.environ.get("ASSAY_FULL") == "1"
SLOW = ("./certify.sh", "./setup.sh", "cmake ", ".deps/venv/bin/cmake ")
# What needs the network or an afternoon.
LAB = ("tools/lab/backends.sh", "tools/lab/audit.sh", "tools/lab/exhaust.sh")
# What mutate_test.py, golden_seed_test.cpp and certificate_test.py run and look at.
ELSEWHERE = tuple("build/release/tools/assay " + words
                  for words in ("mutate", "golden digest", "certify --backend reference --suite default", "verify certificate.json"))
# What runs this test cannot be run by it.
NEVER = ("./test.sh", "git clone ", "cd ")


def blocks():
    for options, body in re.findall(r"^```sh([^\n]*)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL):
        cases = re.search(r"cases=(\d+)", options)
        yield body.replace("\\\n", " "), cases.group(1) if cases else None


def built_by(target):
    """The programs that building this target of the release preset makes, as paths from the build folder."""
    ninja = re.search(r"^CMAKE_MAKE_PROGRAM:\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(encoding="utf-8"), re.MULTILINE)
    told = subprocess.run([ninja.group(1), "-C", BUILD, "-t", "query", target], capture_output=True, text=True, check=True).stdout
    return {line.strip() for line in told.partition("outputs:")[0].splitlines()}


def programs():
    """Those of ours that a command names, each with what the commands before it have built."""
    built = set()
    for body in re.findall(r"^```\w*[^\n]*\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL):
        for line in body.splitlines():
            if line.startswith("./certify.sh"):
                built |= built_by("certify")
            elif build := re.search(r"cmake --build --preset release(?: --target (\S+))?$", line):
                built |= built_by(build.group(1) or "all")
            for program in re.findall(r"build/release/(tools/[\w-]+)", line):
                yield program, built


def anchors(document):
    """Where a link into a Markdown document may lead: its headings as the web names them, and the names it gives itself."""
    headings = re.findall(r"^#+ (.*)$", document, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings} | set(re.findall(r'(?:id|name)="([\w-]+)"', document))


def as_pattern(shown):
    """What a ```text run block shows, as a regular expression."""
    lines = ["(?:.*\n)*?" if line == "…" else ".*?".join(map(re.escape, line.split("…"))) + "\n" for line in shown.splitlines()]
    return "".join(lines)


def commands():
    for body, cases in blocks():
        for line in body.splitlines():
            command = re.sub(r"\s+#.*$", "", line).strip()
            if command and not command.startswith("#"):
                yield command, cases


class Readme(unittest.TestCase):
    def test_tables_are_what_their_commands_print(self):
        tables = dict(re.findall(r"<!-- ((?:assay|tools/)\S* .*?) -->\n(.*?)<!-- end -->", TEXT, re.DOTALL))
        tables.pop("assay mutate --markdown")  # mutate_test.py has it, which takes long
        self.assertEqual(set(tables), {"assay list --markdown", "assay matrix tools/lab/results.json --format summary",
                                       "assay matrix tools/lab/results.json", "tools/lab/audit.py table",
                                       "assay matrix tools/lab/elementwise.json --format summary"})
        for command, table in tables.items():
            with self.subTest(command):
                program, *arguments = command.split()
                start = [BUILD / "tools" / "assay"] if program == "assay" else [sys.executable, program]
                printed = subprocess.run([*start, *arguments], capture_output=True, text=True, check=True)
                self.assertEqual(table, printed.stdout)

    def test_links_lead_somewhere(self):
        for name, text in DOCUMENTS.items():
            for target, part in re.findall(r"\]\(([^)#:\s]*)(?:#([\w-]+))?\)", text):
                with self.subTest(f"{name}: {target}#{part}"):
                    file = pathlib.Path(name).parent / target if target else pathlib.Path(name)
                    self.assertTrue(file.exists())
                    if part:
                        self.assertIn(part, anchors(file.read_text(encoding="utf-8")))

    def test_every_program_is_built_by_the_commands_before_it(self):
        named = list(programs())
        self.assertGreater(len(named), 20)
        for program, built in named:
            self.assertIn(program, built)

    def test_what_a_command_is_shown_to_print_it_prints(self):
        shown = re.findall(r"^```text run\n\$ (.*?)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
        self.assertGreater(len(shown), 0)
        environment = {**os.environ, "PATH": f"{BUILD / 'tools'}:{os.environ['PATH']}"}
        for command, output in shown:
            with self.subTest(command), tempfile.TemporaryDirectory() as folder:
                done = subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=600,
                                      check=False)
                self.assertTrue(re.fullmatch(as_pattern(output), done.stdout),
                                f"the README shows otherwise; printed was\n{done.stdout}{done.stderr}")

    def test_what_the_commands_write_is_ignored_by_git(self):
        if subprocess.run(["git", "rev-parse"], capture_output=True, check=False).returncode:
            self.skipTest("no checkout")
        written = {file for command, _ in commands()
                   for file in re.findall(r"--(?:report|out|certificate) (\S+)", command) if "/" not in file}
        self.assertGreater(len(written), 5)
        ignored = subprocess.run(["git", "check-ignore", *written], capture_output=True, text=True, check=False).stdout.split()
        self.assertEqual(set(ignored), written)

    def test_every_command_runs(self):
        ran = 0
        with tempfile.TemporaryDirectory() as folder:
            for command, cases in commands():
                is_slow = command.startswith(SLOW)
                if command.startswith((*NEVER, *LAB, *ELSEWHERE)) or (is_slow != SLOW_ALONE and not ALL):
                    continue
                command = command.replace("build/release", shlex.quote(str(BUILD)))
                if " certify " in command and "./certify.sh" not in command and cases:
                    command += f" --cases {cases}"
                command = re.sub(r"--report (\S+)", rf"--report {shlex.quote(folder)}/\1", command)
                command = re.sub(r" ([\w-]+\.(?:json|html|xml))\b", rf" {shlex.quote(folder)}/\1", command)
                with self.subTest(command):
                    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=1500,
                                          check=False)
                    # 1 is a finding about a backend, or about stored outputs.
                    allowed = (0, 1) if re.search(r"certify|replay|fuzz|diff|audit|vet", command) else (0,)
                    self.assertIn(done.returncode, allowed, done.stdout + done.stderr)
                    ran += 1
        self.assertGreater(ran, 0)


if __name__ == "__main__":
    unittest.main(argv=[argument for argument in sys.argv if argument != "--full"])
