# SPDX-License-Identifier: Apache-2.0
"""The frame loop of JavaScript workers, with a runtime of three lines. Skipped, and says so, where there is no node."""
import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent / "node"
NODE = shutil.which("node")
# Answers with its inputs, each twice as long; refuses and declines on the words of the "model".
ECHO = """
import {serve, Unsupported} from "%s";
await serve({backend: "echo"}, async (model, sets, options) => {
  if (model.toString() === "missing") throw new Unsupported("no kernel\\n for it");
  if (model.toString() === "bad") throw new Error("not\\tmine");
  if (model.toString() === "trap") throw new WebAssembly.RuntimeError("unreachable");
  return sets.map((parts) => parts.map((part) => Buffer.concat([part, Buffer.from(String(options.threads))])));
});
"""


def request(model, sets, **more):
    sizes = [[len(part) for part in parts] for parts in sets]
    header = {"ask": "run", "id": "5f", "model": len(model), "sets": sizes, "options": {"threads": 3}, **more}
    return json.dumps(header).encode() + b"\n" + model + b"".join(part for parts in sets for part in parts)


def answers(*requests):
    """Exit code of the worker, and the bytes of all it answered."""
    with tempfile.TemporaryDirectory() as folder:
        worker = pathlib.Path(folder, "echo.mjs")
        worker.write_text(ECHO % (FOLDER / "assay_worker.mjs"))
        done = subprocess.run(["sh", "-c", 'exec "$0" "$@" 3>&1 >/dev/null', NODE, worker], input=b"".join(requests),
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60, check=False,
                              env={"ASSAY_REPLY_FD": "3"})
        return done.returncode, done.stdout


@unittest.skipUnless(NODE, "there is no node on this machine")
class NodeWorker(unittest.TestCase):
    def test_it_describes_itself(self):
        code, said = answers(b'{"assay":1,"ask":"describe"}\n')
        self.assertEqual((code, json.loads(said)), (0, {"assay": 1, "backend": "echo"}))

    def test_parts_come_back_in_order_and_an_absent_one_is_empty(self):
        code, said = answers(request(b"m", [[b"ab", b""], [b"c\n", b"d" * 200000]]))
        header, _, parts = said.partition(b"\n")
        self.assertEqual(code, 0)
        self.assertEqual(json.loads(header), {"id": "5f", "outcome": "outputs", "sets": [[3, 1], [3, 200001]]})
        self.assertEqual(parts, b"ab3" + b"3" + b"c\n3" + b"d" * 200000 + b"3")

    def test_what_is_missing_and_what_is_refused_are_told_apart(self):
        code, said = answers(request(b"missing", [[]]), request(b"bad", [[]], id="60"))
        missing, bad = map(json.loads, said.splitlines())
        self.assertEqual(code, 0)
        self.assertEqual(missing, {"id": "5f", "outcome": "unsupported", "because": "no kernel for it"})
        self.assertEqual(bad, {"id": "60", "outcome": "refused", "because": "not mine"})

    def test_a_question_it_does_not_know_ends_it_without_an_answer(self):
        code, said = answers(b'{"assay":1,"ask":"dance"}\n')
        self.assertNotEqual(code, 0)
        self.assertEqual(said, b"")

    def test_a_trap_of_webassembly_ends_the_worker_without_an_answer(self):
        code, said = answers(request(b"trap", [[]]))
        self.assertNotEqual(code, 0)
        self.assertEqual(said, b"")

    def test_the_scripts_parse(self):
        for script in sorted(FOLDER.glob("*.mjs")):
            done = subprocess.run([NODE, "--check", script], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
