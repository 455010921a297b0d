"""Chromium without a screen, driven by clicks and keys through the WebDriver protocol
(https://www.w3.org/TR/webdriver2)."""

import base64
import json
import re
import shutil
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ENTER, TAB, ESCAPE, DOWN, RIGHT, CONTROL = (
    "\ue007",
    "\ue004",
    "\ue00c",
    "\ue015",
    "\ue014",
    "\ue009",
)
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
SENTENCE = "Ein Mann in einem blauen Hemd steht auf einer Leiter."
"""With which `page_file` begins."""
LONGEST_START_SECONDS, LONGEST_ANSWER_SECONDS = 60, 120
SETTLE = """
const done = arguments[arguments.length - 1];
const filled = (id) => document.getElementById(id)?.textContent;
const isBusy = () => document.getElementById("loading") || document.documentElement.hasAttribute("aria-busy");
const isSettled = () => !isBusy() && (filled("translation") || filled("problem"));
const wait = () => (isSettled() ? done() : setTimeout(wait, 5));
setTimeout(wait, 20);
"""
"""Waits for the event of a new address, then for the result that is being computed."""


class Browser:
    """A session of Chromium."""

    def __init__(self, port: int, profile: Path, chromium: str) -> None:
        self._url = f"http://127.0.0.1:{port}/session"
        arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--lang=en",
        ]
        capabilities = {
            "goog:chromeOptions": {
                "binary": chromium,
                "args": [*arguments, f"--user-data-dir={profile}"],
            },
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        self._url += (
            f"/{self.command('', {'capabilities': {'alwaysMatch': capabilities}})['sessionId']}"
        )
        self.command("/timeouts", {"script": 1000 * LONGEST_ANSWER_SECONDS})

    def command(self, path: str, body: dict[str, Any] | None = None, method: str = "POST") -> Any:
        """The value that the driver answers."""
        data = None if method != "POST" else json.dumps(body or {}).encode()
        request = urllib.request.Request(
            self._url + path, data, {"Content-Type": "application/json"}, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=LONGEST_ANSWER_SECONDS) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.load(error)["value"]["message"]) from error

    def open(self, page: Path, address: str = "") -> None:
        """Opens a file, as if for the first time, and waits until its first translation is
        shown."""
        self.command("/url", {"url": "about:blank"})
        self.command("/url", {"url": page.as_uri() + address})
        self.settle()

    def settle(self) -> None:
        """Waits for the translation that was asked for last."""
        self.command("/execute/async", {"script": SETTLE, "args": []})

    def wait(self, condition: str) -> None:
        """Waits until the function with this body returns true."""
        source = (
            "const done = arguments[1], holds = new Function(arguments[0]);"
            "const wait = () => (holds() ? done() : setTimeout(wait, 5)); wait();"
        )
        self.command("/execute/async", {"script": source, "args": [condition]})

    def script(self, source: str, *arguments: object) -> Any:
        """The result of a function's body in the page."""
        return self.command("/execute/sync", {"script": source, "args": list(arguments)})

    def text(self, selector: str) -> str:
        """The text of an element, shown or not."""
        text: str = self.script("return document.querySelector(arguments[0]).textContent", selector)
        return text

    def texts(self, selector: str) -> list[str]:
        """The texts of all such elements."""
        texts: list[str] = self.script(
            "return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent)",
            selector,
        )
        return texts

    def find(self, selector: str) -> str:
        """An element that WebDriver can act on."""
        element: dict[str, str] = self.command(
            "/element", {"using": "css selector", "value": selector}
        )
        return element[ELEMENT]

    def click(self, selector: str) -> None:
        """Clicks the middle of an element, which must be visible and not covered, and waits for the
        result."""
        self.script(
            "document.querySelector(arguments[0]).scrollIntoView({ block: 'nearest' })", selector
        )
        self.command(f"/element/{self.find(selector)}/click")
        self.settle()

    def press(self, *keys: str, holding: str = "") -> None:
        """Presses and releases keys where the focus is."""
        strokes = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        if holding:
            strokes = [
                {"type": "keyDown", "value": holding},
                *strokes,
                {"type": "keyUp", "value": holding},
            ]
        self.command("/actions", {"actions": [{"type": "key", "id": "keys", "actions": strokes}]})

    def type(self, selector: str, text: str) -> None:
        """Replaces the text of a field."""
        self.command(f"/element/{self.find(selector)}/click")
        self.press("a", holding=CONTROL)
        self.command(f"/element/{self.find(selector)}/value", {"text": text})

    def drag(self, places: Sequence[tuple[float, float]]) -> None:
        """Presses the mouse at the first place, moves it to the others and releases it."""
        moves = [
            {"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y)} for x, y in places
        ]
        actions = [
            moves[0],
            {"type": "pointerDown", "button": 0},
            *moves[1:],
            {"type": "pointerUp", "button": 0},
        ]
        self.command(
            "/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": actions}]}
        )
        self.settle()

    def devtools(self, command: str, **parameters: object) -> Any:
        """The answer to a command of the Chrome DevTools Protocol."""
        return self.command("/goog/cdp/execute", {"cmd": command, "params": parameters})

    def show_as(
        self, width: int, height: int, is_phone: bool = False, theme: str = "light"
    ) -> None:
        """Sets the size of the page, touch, and the theme of the system."""
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=is_phone,
        )
        self.devtools("Emulation.setTouchEmulationEnabled", enabled=is_phone)
        feature = {"name": "prefers-color-scheme", "value": theme}
        self.devtools("Emulation.setEmulatedMedia", features=[feature])

    def screenshot(self, target: Path) -> None:
        """Writes a picture of the whole page."""
        picture = self.devtools("Page.captureScreenshot", captureBeyondViewport=True)
        target.write_bytes(base64.b64decode(picture["data"]))

    def logged(self, kind: str) -> list[dict[str, Any]]:
        """The entries of a log since the last call: "browser" (script errors, refusals) or
        "performance"."""
        entries: list[dict[str, Any]] = self.command("/se/log", {"type": kind})
        return entries

    def requests(self) -> list[str]:
        """The addresses requested since the last call."""
        events = [json.loads(entry["message"])["message"] for entry in self.logged("performance")]
        return [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]

    def close(self) -> None:
        """Ends the session."""
        self.command("", method="DELETE")


@contextmanager
def chromium(folder: Path) -> Iterator[Browser]:
    """A browser with its profile in `folder`; the test is skipped where it is missing."""
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip("needs Chromium: the packages chromium and chromium-driver of Debian")
    with subprocess.Popen(
        [driver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            ports = (
                re.search(r"on port (\d+)", line)
                for line in process.stdout
                if "successfully" in line
            )
            port = next(number for number in ports if number is not None)
            session = Browser(int(port[1]), folder, browser)
            yield session
            session.close()
        finally:
            process.terminate()
