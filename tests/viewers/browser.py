"""browser.py - headless Chromium through a pipe: pages, clicks, keys, pictures. Standard library only."""
import base64, json, os, shutil, subprocess, tempfile

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")

def find():
    for name in NAMES:
        path = shutil.which(name)
        if path:
            return path
    return None

class Browser:
    def __init__(self, width=1200, height=700, dark=False):
        self.dir = tempfile.mkdtemp()
        to_us, from_browser = os.pipe()
        to_browser, from_us = os.pipe()
        def wire():
            # 3: commands, 4: answers; the numbers that are free now must not be closed again.
            a, b = os.dup(to_browser), os.dup(from_browser)
            os.dup2(a, 3)
            os.dup2(b, 4)
        self.process = subprocess.Popen(
            [find(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
             "--hide-scrollbars", "--user-data-dir=" + self.dir, "--remote-debugging-pipe", "about:blank"],
            preexec_fn=wire, pass_fds=(3, 4, to_browser, from_browser),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.out, self.inp = os.fdopen(from_us, "wb", 0), os.fdopen(to_us, "rb", 0)
        self.id, self.rest, self.session = 0, b"", None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.theme(dark)

    def message(self):
        while b"\0" not in self.rest:
            part = self.inp.read(1 << 20)
            if not part:
                raise RuntimeError("the browser has ended")
            self.rest += part
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **params):
        self.id += 1
        command = {"id": self.id, "method": method, "params": params}
        if self.session:
            command["sessionId"] = self.session
        self.out.write(json.dumps(command).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.id:
                if "error" in answer:
                    raise RuntimeError(method + ": " + answer["error"]["message"])
                return answer["result"]

    def theme(self, dark):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def run(self, script):
        got = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in got:
            raise RuntimeError(json.dumps(got["exceptionDetails"])[:500])
        return got["result"].get("value")

    def open(self, url):
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        for _ in range(400):
            if self.run("location.href != 'about:blank' && document.readyState") == "complete":
                break
            self.run("new Promise(r => setTimeout(r, 25))")
        self.settle()

    def settle(self):
        self.run("new Promise(r => setTimeout(r, 60))")

    def mouse(self, x, y, kind="mouseMoved", **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        self.mouse(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(x, y, kind, button="left", clickCount=1)
        self.settle()

    def key(self, key):
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.settle()

    def type(self, text):
        for c in text:
            self.key(c)

    def shot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)
