"""A headless Chromium, driven by the DevTools protocol over two pipes."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAMS = ["chromium", "chromium-browser", "google-chrome"]


def find_program():
    return next((path for name in PROGRAMS if (path := shutil.which(name))), None)


class Browser:
    """One browser with a profile of its own. Use as a context manager."""

    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="ferry-chromium-")
        ours, theirs = os.pipe(), os.pipe()  # what we write, what it writes
        arguments = [
            program, "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={self.profile}", "--no-first-run",
            "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-extensions",
            "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--force-color-profile=srgb",
        ]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")  # which root cannot have
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{ours[0]} 4>&{theirs[1]}', "bash", *arguments],
            pass_fds=(ours[0], theirs[1]), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        os.close(ours[0])
        os.close(theirs[1])
        self.output, self.input = ours[1], theirs[0]
        self.number = 0
        self.rest = b""
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close", timeout=3)
        except (OSError, RuntimeError, TimeoutError):
            pass
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.output)
        os.close(self.input)
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self, deadline):
        while b"\0" not in self.rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.input], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            piece = os.read(self.input, 1 << 16)
            if not piece:
                raise RuntimeError("the browser has ended")
            self.rest += piece
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def call(self, method, session=None, timeout=15, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if session:
            request["sessionId"] = session
        os.write(self.output, json.dumps(request).encode() + b"\0")
        deadline = time.monotonic() + timeout
        while True:
            message = self.receive(deadline)
            if "id" not in message:
                self.events.append(message)
            elif message["id"] == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]

    def new_page(self):
        context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        return Page(self, self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])


class Page:
    """A tab with cookies of its own."""

    def __init__(self, browser, session):
        self.browser, self.session = browser, session
        for domain in ["Page", "Runtime", "Log"]:
            self.call(f"{domain}.enable")
        self.resize(1280, 900)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression[:200]}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait_until(self, expression, what, timeout=8):
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            try:
                if self.evaluate(f"Boolean({expression})"):
                    return
            except RuntimeError:
                pass  # the page is being replaced
            time.sleep(0.05)
        raise AssertionError(f"expected {what} within {timeout} s; the page is {self.evaluate('location.href')} and says "
                             f"{self.evaluate('document.body.innerText')[:600]!r}")

    def open(self, url):
        self.act(lambda: self.call("Page.navigate", url=url))

    def act(self, action):
        """Does something that leads to another page, and waits until that one is complete."""
        self.evaluate("window.isOldPage = true")
        action()
        self.wait_until("!window.isOldPage && document.readyState === 'complete'", "another page")

    def click(self, selector):
        self.act(lambda: self.evaluate(f"document.querySelector({json.dumps(selector)}).click()"))

    def press(self, key, code=0):
        text = {"text": "\r"} if key == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def resize(self, width, height, is_phone=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=is_phone)

    def prefer(self, scheme):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path):
        height = min(int(self.evaluate("document.documentElement.scrollHeight")), 4000)
        width = int(self.evaluate("innerWidth"))
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        contents = base64.b64decode(answer["data"])
        with open(path, "wb") as file:
            file.write(contents)
        # The size in the header of a PNG file.
        return int.from_bytes(contents[16:20], "big"), int.from_bytes(contents[20:24], "big")

    def complaints(self):
        """What the browser has reported as errors so far: exceptions, refused resources, violations of the CSP."""
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            if event["method"] == "Runtime.exceptionThrown":
                found.append(event["params"]["exceptionDetails"].get("text", "exception"))
            if event["method"] == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
                found.append(event["params"]["entry"]["text"] + " " + event["params"]["entry"].get("url", ""))
        return found
