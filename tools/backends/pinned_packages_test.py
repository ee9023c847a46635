# SPDX-License-Identifier: Apache-2.0
"""What the catalogue installs is pinned: exact versions, hashes where a registry has them, no address of a registry."""
import json
import pathlib
import re
import unittest

BACKENDS = pathlib.Path(__file__).resolve().parent
CATALOGUE = json.loads((BACKENDS / "catalogue.json").read_text())
EXACT = re.compile(r"\d+(\.\d+)+([.\-+]\w+)*")


def entries(kind):
    return [entry for entry in CATALOGUE if entry["kind"] == kind]


def requirements(lock):
    """name -> (version, hashes) of a hash-locked requirements file."""
    text = re.sub(r"^#.*\n", "", lock.read_text(), flags=re.M).replace("\\\n", "")
    found = {}
    for line in text.splitlines():
        pinned, *hashes = line.split()
        name, _, version = pinned.partition("==")
        found[name.replace("_", "-")] = (version, hashes)
    return found


def dependencies(manifest):
    """name -> version of a Cargo.toml, in the two spellings this project uses: a string, or a table with a path."""
    section = manifest.read_text().partition("[dependencies]\n")[2].partition("\n[")[0]
    return dict(re.findall(r"^([\w\-]+) = (.+)$", section, flags=re.M))


class Scripts(unittest.TestCase):
    def test_each_backend_that_python_reaches_says_how_a_script_asks_it(self):
        for entry in CATALOGUE:
            self.assertEqual("script" in entry, entry["kind"] == "venv", entry["name"])
            if "script" in entry:
                text = (BACKENDS / entry["script"]).read_text()
                self.assertIn("\nversion = ", text, entry["script"])
                self.assertIn("\ndef run(model, *sets):\n", text, entry["script"])
                compile(text, entry["script"], "exec")  # with words in capitals that stand for something


class PinnedPackages(unittest.TestCase):
    def test_a_python_environment_is_locked_with_hashes(self):
        for entry in entries("venv"):
            name, version = entry["package"].split()
            self.assertEqual(requirements(BACKENDS / entry["lock"])[name][0], version, entry["name"])
        for lock in BACKENDS.glob("locks/*.txt"):
            for package, (pin, hashes) in requirements(lock).items():
                self.assertRegex(pin, EXACT, package)
                self.assertTrue(hashes and all(re.fullmatch("--hash=sha256:[0-9a-f]{64}", each) for each in hashes), package)

    def test_a_node_folder_is_locked_with_hashes_and_without_addresses(self):
        for entry in entries("npm"):
            folder = BACKENDS / "node" / entry["name"]
            wanted = json.loads((folder / "package.json").read_text())["dependencies"]
            lock = json.loads((folder / "package-lock.json").read_text())
            name, version = entry["package"].split()
            self.assertEqual(wanted[name], version)
            self.assertEqual(lock["packages"].pop("")["dependencies"], wanted)
            for path, package in lock["packages"].items():
                self.assertRegex(package["version"], EXACT, path)
                self.assertTrue(package["integrity"].startswith("sha512-"), path)
                self.assertNotIn("resolved", package, path)

    def test_a_crate_asks_for_exact_versions_and_states_the_one_it_has(self):
        for entry in entries("cargo"):
            folder = BACKENDS / "rust" / entry["name"]
            wanted = dependencies(folder / "Cargo.toml")
            name, version = entry["package"].split()
            self.assertEqual(wanted[name], f'"={version}"')
            self.assertIn(f'"version": "{version}"', (folder / "src/main.rs").read_text(), "the worker's describe")
            for package, pin in wanted.items():
                self.assertRegex(pin, r'^"=\d+\.\d+\.\d+"$|^\{ path = "\.\./\w+" \}$', package)
