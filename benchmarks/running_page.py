"""The page that runs the bundled model, in Chromium without a screen, against the seconds that it
may take.

The page measures itself, from the request to the painted result; each time is that of the least
disturbed turn. The slower computer has a fourth of the speed: Chromium throttles the main thread,
and the seconds of the worker, which it does not throttle, count four times. These are wall seconds:
run it on an otherwise quiet machine. With 11 busy processes on two cores, 2 of 10 ratios are missed
by a seventh to a fourth. Needs the packages chromium and chromium-driver.
"""

import itertools
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from augenmerk.core.checkpoint.file import load_checkpoint
from augenmerk.core.resources import bundled_model_path
from augenmerk.viz_app.extensions.pictures.running_page import save_running_page
from benchmarks.lag import lags
from benchmarks.ratio import Ratio
from tests.viz_app.extensions.pictures.browser import Browser, chromium

SENTENCES = {
    15: "Ein Mann in einem blauen Hemd steht auf einer Leiter und putzt ein Fenster.",
    33: "Ein Mann in einem blauen Hemd steht auf einer Leiter und putzt ein Fenster, während "
    "eine Frau mit einem roten Hut und ein Hund auf der Straße vor einem Haus stehen.",
}
SECONDS = {15: 0.5, 33: 1.0}
SECONDS_SLOW = {15: 1.0, 33: 2.5}
SECONDS_TO_OPEN = 3.0
SECONDS_OF_LAG = 0.05
TURNS = 7
THROTTLING = 4
TICK_MS = 4
CHANGE = "&off=cross:2"
TRANSLATE = """
const [text, more, tick, done] = arguments, page = document.documentElement, ticks = [];
const timer = setInterval(() => ticks.push(performance.now() / 1000), tick);
let began = 0, worker = 0;
const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (...values) {
  const sent = performance.now(), measure = () => (worker += (performance.now() - sent) / 1000);
  this.addEventListener("message", measure, { capture: true, once: true });
  return post.apply(this, values);
};
const wait = new MutationObserver(() => {
  if (page.hasAttribute("aria-busy")) return;
  wait.disconnect();
  requestAnimationFrame(() => setTimeout(() => {
    clearInterval(timer);
    Worker.prototype.postMessage = post;
    done({ seconds: (performance.now() - began) / 1000, worker, ticks });
  }));
});
setTimeout(() => {
  wait.observe(page, { attributeFilter: ["aria-busy"] });
  began = performance.now();
  location.hash = `#text=${encodeURIComponent(text)}${more}`;
}, 100);
"""


def run() -> list[Ratio]:
    """Allowed seconds per second of the page: opening, sentences at two speeds, longest lag."""
    if shutil.which("chromium") is None or shutil.which("chromedriver") is None:
        raise SystemExit(
            "This benchmark needs Chromium: install the packages chromium and chromium-driver."
        )
    with tempfile.TemporaryDirectory() as folder, chromium(Path(folder, "profile")) as browser:
        path = bundled_model_path()
        page = Path(folder, "page.html")
        save_running_page(load_checkpoint(path), path.stem, page)
        browser.show_as(1440, 900)
        ratios = [
            _ratio("opening", [_opened(browser, page) for _ in range(TURNS)], SECONDS_TO_OPEN)
        ]
        all_lags: list[float] = []
        for (length, text), more in itertools.product(SENTENCES.items(), ("", CHANGE)):
            name = f"{length} tokens{', eight heads off' if more else ''}"
            turns = _translated(browser, text, more)
            browser.devtools("Emulation.setCPUThrottlingRate", rate=THROTTLING)
            throttled = _translated(browser, text, more)
            browser.devtools("Emulation.setCPUThrottlingRate", rate=1)
            of_worker = min(turn["worker"] for turn in turns)
            slow = [turn["seconds"] + (THROTTLING - 1) * of_worker for turn in throttled]
            ratios.append(_ratio(name, [turn["seconds"] for turn in turns], SECONDS[length]))
            ratios.append(_ratio(f"{name}, {THROTTLING} times slower", slow, SECONDS_SLOW[length]))
            all_lags += [max(lags(turn["ticks"], TICK_MS / 1000)) for turn in turns]
    return [*ratios, _ratio("longest lag", all_lags, SECONDS_OF_LAG)]


def _opened(browser: Browser, page: Path) -> float:
    browser.command("/url", {"url": "about:blank"})
    began = time.perf_counter()
    browser.open(page)
    return time.perf_counter() - began


def _translated(browser: Browser, text: str, more: str) -> list[dict[str, Any]]:
    """The answer of each turn: of a new sentence, or of one that is shown already with a change."""
    steps = [("Zwei Hunde.", ""), *([(text, "")] if more else []), (text, more)]
    turns = [
        [
            browser.command("/execute/async", {"script": TRANSLATE, "args": [*step, TICK_MS]})
            for step in steps
        ][-1]
        for _ in range(TURNS + 1)
    ]
    return turns[1:]  # the first one warms up


def _ratio(name: str, seconds: list[float], allowed: float) -> Ratio:
    return Ratio(f"running page: {name} / {allowed} s allowed", min(seconds), allowed, 1.0, 1.0)
