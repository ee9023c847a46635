# SPDX-License-Identifier: Apache-2.0
"""What the command line tells of itself: the manual page, the completion of shells, the progress of a run."""
import os
import pty
import re
import select
import shutil
import subprocess
import unittest

from command_line import TOOL, ended


def told(*words):
    return ended(0, *words).stdout


def verbs():
    """Every verb and verb of a verb that --help names: [["certify"], ["golden", "write"], …]."""
    def beneath(path):
        text = told(*path, "--help")
        if "Subcommands:" not in text:
            return [path]
        names = re.findall(r"^  (\w+)  +\S", text.partition("Subcommands:")[2], re.MULTILINE)
        return [found for name in names for found in beneath([*path, name])]
    return beneath([])


class Manual(unittest.TestCase):
    page = told("man")

    def test_every_verb_and_option_of_the_help_is_in_it(self):
        plain = self.page.replace("\\-", "-")
        for path in verbs():
            self.assertIn(f".SS assay {' '.join(path)}\n", plain)
            section = plain.partition(f".SS assay {' '.join(path)}\n")[2].partition("\n.SS ")[0]
            for option in re.findall(r"^  (?:-\w,)?(--[\w-]+)", told(*path, "--help"), re.MULTILINE):
                if option != "--help":
                    self.assertIn(f"\\fB{option}\\fR", section, path)

    def test_groff_has_nothing_to_say(self):
        if not shutil.which("groff"):
            self.skipTest("groff is not installed: apt-get install groff-base")
        done = subprocess.run(["groff", "-man", "-ww", "-Tutf8"], input=self.page, capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        self.assertGreater(done.stdout.count("\n"), 100)


class Completion(unittest.TestCase):
    def of(self, line):
        return told("complete", "--", line).split("\n")[:-1]

    def test_verbs_options_and_values(self):
        self.assertEqual(self.of("assay cert"), ["certify"])
        self.assertIn("golden", self.of("assay "))
        self.assertNotIn("complete", self.of("assay "), "it is for scripts")
        self.assertEqual(self.of("assay certify --ba"), ["--backend", "--baseline"])
        self.assertEqual(self.of("assay certify --suite "), ["default", "full", "short"])
        self.assertEqual(self.of("assay certify --suite=f"), ["--suite=full"])
        self.assertEqual(self.of("assay certify --strict --level L2"), ["L2", "L2t"])
        self.assertEqual(self.of("assay certify --ops Conv,Deform"), ["Conv,DeformConv", "Conv,DeformConv-19", "Conv,DeformConv-22"])
        self.assertIn("onnxruntime-native", self.of("assay fuzz --backend onnx"))
        self.assertEqual(self.of("assay explain AveragePool-1"), [f"AveragePool-{v}" for v in (1, 10, 11, 19)])
        self.assertEqual(self.of("assay golden wr"), ["write"])

    def test_where_a_file_is_wanted_or_nothing_fits_it_has_no_words(self):
        for line in ("assay replay ", "assay certify --report ", "assay certify --nonsense=", "assay nonsense ", "assay \\ \" "):
            self.assertEqual(self.of(line), [], line)

    def bash(self, line):
        script = f"""source <("$1" completion bash); COMP_LINE=$2; COMP_POINT=${{#COMP_LINE}}; _assay "$1"
                     printf '%s\\n' "${{COMPREPLY[@]}}" """
        done = subprocess.run(["bash", "-c", script, "bash", TOOL, line], capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash_begins_a_word_at_a_colon_and_an_equals_sign(self):
        self.assertEqual(self.bash("assay certify --suite=s"), ["short"])
        self.assertEqual(self.bash("assay certify --ops com.microsoft:NhwcC"), ["NhwcConv", "NhwcConv-1"])
        self.assertEqual(self.bash("assay repl"), ["replay"])

    def test_other_shells_take_their_scripts(self):
        for shell in ("zsh", "fish"):
            if shutil.which(shell):
                subprocess.run([shell, "-n"], input=told("completion", shell), text=True, check=True)


class ProgressOfARun(unittest.TestCase):
    def on_a_terminal(self, *arguments):
        try:
            here, there = pty.openpty()
        except OSError as error:
            self.skipTest(f"{error}: no /dev/pts here")
        run = subprocess.Popen([TOOL, *arguments], stdout=subprocess.DEVNULL, stderr=there, env={**os.environ, "TERM": "xterm"})
        os.close(there)
        seen = b""
        while select.select([here], [], [], 60)[0]:
            try:
                seen += os.read(here, 65536)
            except OSError:  # the other end was closed
                break
        run.wait()
        os.close(here)
        return seen.decode()

    def test_certify_tells_how_far_it_is_and_leaves_no_line_behind(self):
        seen = self.on_a_terminal("certify", "--backend", "reference", "--cases", "2500", "--ops", "Conv")
        self.assertRegex(seen, r"\r\x1b\[K  \d+ of \d+ run  \d+/s  \d+ (?:s|min) left")
        self.assertTrue(seen.endswith("\r\x1b[K"))

    def test_fuzz_tells_coverage(self):
        seen = self.on_a_terminal("fuzz", "--backend", "reference", "--cases", "600", "--findings", "")
        self.assertRegex(seen, r"run  \d+/s  \d+ (?:s|min) left  \d+ % of pairs covered")

    def test_what_is_no_terminal_hears_nothing_of_a_short_run(self):
        done = subprocess.run([TOOL, "certify", "--backend", "reference", "--cases", "0", "--ops", "Conv-1"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
