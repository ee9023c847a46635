# SPDX-License-Identifier: Apache-2.0
"""assay explain: it decodes what certify, fuzz and replay print of a backend with planted bugs, word by word."""
import re
import shlex

from command_line import InFolder, assay, ended, read_json

BUG = ("--backend", "mutant:pool-never-counts-padding")
FEW = ("--ops", "AveragePool-19", "--cases", 120)


class Explain(InFolder):
    def setUp(self):
        super().setUp()
        self.seen = set()

    def says(self, word):
        """What explain says of a word, which it has to know."""
        self.seen.add(word)
        done = assay("explain", word)
        self.assertEqual((done.returncode, done.stderr), (0, ""), word)
        self.assertGreater(len(done.stdout), 20, word)
        return done.stdout

    def test_every_kind_of_word_that_certify_prints(self):
        report = self.folder / "report.json"
        said = ended(1, "certify", *BUG, *FEW, "--report", report).stdout
        head, row = said.splitlines()[1:3]
        for column in re.split(r" {2,}", head.strip()):
            self.says(column)
        self.assertIn("causes with these numbers", self.says(re.search(r"except [\d, ]+", row)[0]))
        for word in re.findall(r"^  ([a-z][a-z ]+?)(?: \(|:)", said, re.MULTILINE):
            self.says(word)
        headings = re.findall(r"^\d+ +([A-Z]+) +(.*)$", said, re.MULTILINE)
        self.assertTrue(headings, said)
        for heading, sentence in headings:
            self.assertIn("heading of a cause", self.says(heading))
            self.says(re.search(r": \d+ (\w+ \([^)]*\))", sentence)[1])
            if "; needs " in sentence:
                self.says("needs " + sentence.partition("; needs ")[2])
        predicates = re.findall(r"^ +(where .*)$", said, re.MULTILINE)
        self.assertTrue(predicates, said)
        for each in predicates:
            self.assertIn("predicate, in the language of ledgers", self.says(each))
            self.says(each.removeprefix("where "))
        arithmetic = re.findall(r"  got \S.*\s(\(\D[^()]*\))$", said, re.MULTILINE)
        self.assertTrue(arithmetic, said)
        for each in set(arithmetic):
            self.assertIn("arithmetic, ", self.says(each))
        lines = re.findall(r"^ +replay: (.*)$", said, re.MULTILINE)
        self.assertTrue(lines, said)
        for each in lines[:2]:
            self.assertIn("operator version, in force", self.says(each))
            self.says(shlex.split(each)[-1])
        for cause in read_json(report)["causes"]:
            for word in [cause["sentence"], cause["because"], cause["pattern"], *cause["needs"], *cause["models"]]:
                if word:
                    self.says(word)
        self.assertGreater(len(self.seen), 25)

    def test_every_row_that_replay_prints(self):
        found = self.folder / "found"
        fuzz = ended(1, "fuzz", "--backend", "mutant:pool-divides-by-kernel", "--ops", "AveragePool-19", "--cases", 60,
                     "--findings", found).stdout
        line = re.search(r"replay: .*?('.*')$", fuzz, re.MULTILINE)[1].strip("'")
        said = ended(1, "replay", "--backend", "mutant:pool-divides-by-kernel", line, "--shrink").stdout
        rows = {word.strip(): told for word, told in re.findall(r"^((?=\S).{9}\S*) ?(.*)$", said, re.MULTILINE)}
        self.assertLessEqual({"verdict", "cause", "shrunk", "signature", "backend", "case", "id", "class", "data 0", "proof", "exact",
                              "budget", "term"}, set(rows), said)
        for word in rows:
            self.says(word)
        for word in {"cause", "signature", "class", "case", "shrunk", "follows"} & set(rows):
            self.says(rows[word])
        self.assertIn("arithmetic, ", self.says(rows["budget"].partition(", ")[2]))
        self.assertIn("wrong model", self.says(re.search(r"\((.*)\)$", rows["cause"])[1]))
        self.says(rows["verdict"].partition(": ")[0])

    def test_headings_marks_and_states_in_capitals(self):
        for word in ("WRONG", "CRASH", "REFUSED", "PRECISION", "UNCLEAR", "SESSION", "FAIL", "ERROR", "BELOW", "XPASS", "UNSTABLE",
                     "STALE SESSION", "BREAKS LAW", "CONTESTED", "EXPIRED", "MARK", "NOTE"):
            self.says(word)

    def test_sessions_graphs_and_settings(self):
        line = "AveragePool-19 opset=19 ir=8 X=f32[1,1,4]~iota:1 kernel_shape=2"
        self.assertIn("told to take so many threads", self.says(f"[threads=2] {line}"))
        both = self.says(f"{line} ; [names=3 outputs=bound] {line}")
        self.assertEqual((both.count("a count from 1 on"), "case 2 of 2" in both, "guard bytes" in both), (2, True, True))
        graph = "graph opset=13 ir=8 a=f32[1,2,4]~small:1 b=f32[3,2,1]~sparse2:2@init c=Conv(a,b) d=Relu(c) out=d"
        self.assertIn("step: Relu-13 of X = c gives Y = d", self.says(graph))
        self.assertIn("step: Conv-11", self.says(f"replay: assay replay --backend onnxruntime '{graph}'"))
        for word in ("names=1", "outputs=bound", "threads=2", "TF32 inputs", "functions of 10 bits", "where", "except 1, 3"):
            self.says(word)

    def test_what_is_no_word_is_turned_away(self):
        for word, said in (("[threads=0] Conv", "no setting of a step"), ("graph opset=13 ir=8 out=d", "graph line: "),
                           ("blow", "did you mean below?"), ("(blow)", "is no word"), ("where pads > 1", "is no word"),
                           ("zz, yy, xx", "is no word"), ("(" * 5000, "is no word"), ("zz or " * 5000, "is no word"), ("zz, " * 140, "is no word")):
            done = ended(2, "explain", word)
            self.assertIn(said, done.stderr)
