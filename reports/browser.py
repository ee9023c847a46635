# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, spoken to over its DevTools pipe: no port, no driver, no package."""
import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-default-apps", "--hide-scrollbars",
         "--force-device-scale-factor=1", "--remote-debugging-pipe"]


def program():
    return os.environ.get("ASSAY_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """One tab. What it logs, throws and asks of a network is kept."""

    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(prefix="assay-chromium-", ignore_cleanup_errors=True)
        ours, theirs = os.pipe(), os.pipe()  # it reads commands on 3 and writes answers on 4
        self.to, self.out = ours[1], theirs[0]

        def place():
            high = [os.dup(ours[0]), os.dup(theirs[1])]
            while min(high) < 5:
                high = [os.dup(each) for each in high]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen([program(), *FLAGS, f"--user-data-dir={self.profile.name}", "about:blank"],
                                        preexec_fn=place, close_fds=False, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(ours[0])
        os.close(theirs[1])
        self.bytes, self.number, self.session = b"", 0, None
        self.log, self.requests, self.events = [], [], []
        pages = [each for each in self.ask("Target.getTargets")["targetInfos"] if each["type"] == "page"]
        self.session = self.ask("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.out)
        self.profile.cleanup()

    def message(self, deadline):
        while b"\0" not in self.bytes:
            if not select.select([self.out], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            more = os.read(self.out, 1 << 20)
            if not more:
                raise EOFError("the browser ended")
            self.bytes += more
        line, self.bytes = self.bytes.split(b"\0", 1)
        return json.loads(line)

    def note(self, event):
        method, values = event.get("method"), event.get("params", {})
        if method == "Runtime.consoleAPICalled":
            self.log.append(" ".join(str(each.get("value", each.get("description"))) for each in values["args"]))
        elif method == "Runtime.exceptionThrown":
            self.log.append(json.dumps(values["exceptionDetails"])[:2000])
        elif method == "Log.entryAdded":
            self.log.append(values["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])
        self.events.append(method)

    def ask(self, method, seconds=60, **values):
        self.number += 1
        call = {"id": self.number, "method": method, "params": values}
        if self.session:
            call["sessionId"] = self.session
        os.write(self.to, json.dumps(call).encode() + b"\0")
        deadline = time.monotonic() + seconds
        while (answer := self.message(deadline)).get("id") != self.number:
            self.note(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def run(self, script):
        """The value of an expression; a promise is waited for."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:2000])
        return answer["result"].get("value")

    def open(self, file, hash=""):
        """Opens a file and returns when it has drawn itself; the seconds since it was asked for."""
        started = time.monotonic()
        self.ask("Page.navigate", url="about:blank")
        self.log.clear()
        self.requests.clear()
        self.ask("Page.navigate", url=pathlib.Path(file).resolve().as_uri() + hash)
        while self.run("document.documentElement?.dataset.ready || ''") != "true":
            if time.monotonic() - started > 60 or self.log:
                raise AssertionError(f"{file} does not draw itself: {self.log}")
        return time.monotonic() - started

    def open_still(self, file):
        """Opens a file that has no script of its own."""
        self.ask("Page.navigate", url="about:blank")
        self.log.clear()
        self.requests.clear()
        url = pathlib.Path(file).resolve().as_uri()
        self.ask("Page.navigate", url=url)
        deadline = time.monotonic() + 60
        while self.run("location.href + document.readyState") != url + "complete":
            if time.monotonic() > deadline:
                raise AssertionError(f"{file} does not open")

    def key(self, key):
        for kind in ("keyDown", "keyUp"):
            more = {"text": "\r" if key == "Enter" else key} if kind == "keyDown" and (len(key) == 1 or key == "Enter") else {}
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=13 if key == "Enter" else 0, **more)

    def type(self, text):
        for letter in text:
            self.key(letter)

    def size(self, width, height):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)

    def colours(self, scheme):
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, file, whole=False):
        shot = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        pathlib.Path(file).write_bytes(base64.b64decode(shot["data"]))

    def pdf(self):
        return base64.b64decode(self.ask("Page.printToPDF", printBackground=True)["data"])
