"""A headless Chromium, driven through its remote debugging pipe: no port, no package."""
import base64, fcntl, json, os, select, subprocess, tempfile, time

WAIT = 60  # seconds for an answer; a busy browser is slow, a dead one never answers


class Browser:
    def __init__(self, program):
        # Chromium reads commands from descriptor 3 and writes answers to 4, each terminated by a NUL byte.
        read_command, self._command = os.pipe()
        self._answer, write_answer = os.pipe()
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        # Moves the pipes away from 3 and 4 first, in case they got these numbers.
        theirs = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (read_command, write_answer)]
        self._process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{theirs[0]} 4>&{theirs[1]}', "bash", program, "--headless=new", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions", "--hide-scrollbars",
             "--disable-background-networking", f"--user-data-dir={self._profile.name}", "--remote-debugging-pipe",
             "about:blank"],
            pass_fds=theirs, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for fd in (read_command, write_answer, *theirs):
            os.close(fd)
        self._buffer = b""
        self._number = 0
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait(10)
        self._profile.cleanup()

    def call(self, method, session=None, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._command, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def wait_for(self, event, session):
        deadline = time.monotonic() + WAIT
        while not any(e["method"] == event and e.get("sessionId") == session for e in self.events):
            if time.monotonic() > deadline:
                raise RuntimeError(f"{event} did not happen")
            self._next()

    def _next(self):
        while b"\0" not in self._buffer:
            if not select.select([self._answer], [], [], WAIT)[0]:
                raise RuntimeError("the browser does not answer")
            data = os.read(self._answer, 1 << 20)
            if not data:
                raise RuntimeError("the browser ended")
            self._buffer += data
        one, self._buffer = self._buffer.split(b"\0", 1)
        message = json.loads(one)
        if "method" in message:
            self.events.append(message)
        return message


class Page:
    """A page in its own tab, with the given width and colour scheme; records its errors."""

    def __init__(self, browser, url, width=1280, height=900, dark=False, script=True):
        self._browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Page.navigate", url=url)
        browser.wait_for("Page.loadEventFired", self._session)

    def call(self, method, **parameters):
        return self._browser.call(method, self._session, **parameters)

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def press_enter(self):
        key = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13}
        self.call("Input.dispatchKeyEvent", type="keyDown", text="\r", **key)
        self.call("Input.dispatchKeyEvent", type="keyUp", **key)

    def type_text(self, text):
        self.call("Input.insertText", text=text)

    def complaints(self):
        """Returns errors and warnings from the console, the content security policy and scripts."""
        found = []
        for event in self._browser.events:
            if event.get("sessionId") != self._session:
                continue
            what = event["params"]
            if event["method"] == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
                found.append(what["entry"]["text"])
            if event["method"] == "Runtime.exceptionThrown":
                found.append(str(what["exceptionDetails"]))
            if event["method"] == "Runtime.consoleAPICalled":
                found.append(str(what["args"]))
        return found

    def requests(self):
        return [event["params"]["request"]["url"] for event in self._browser.events
                if event.get("sessionId") == self._session and event["method"] == "Network.requestWillBeSent"]

    def picture(self, path, whole=True):
        image = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(image["data"]))

    def print_to(self, path):
        path.write_bytes(base64.b64decode(self.call("Page.printToPDF", printBackground=False)["data"]))
