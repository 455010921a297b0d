"""Nothing moves unasked in the page that runs a model: results, notes and longer words leave every
control in its place."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from augenmerk.viz_app.extensions.examples.gallery import gallery
from tests.viz_app.extensions.pictures.browser import ENTER, SENTENCE, Browser

pytestmark = [pytest.mark.slow, pytest.mark.subprocess, pytest.mark.heavy]

ENGLISH = "A man in a blue shirt is standing on a ladder."
OF_TWO_LINES = (
    "Ein kleines Mädchen in einem rosa Kleid klettert die Treppe zu einem Holzhaus hinauf und "
    "lacht laut über ihren Hund."
)
SPLIT = "Auf dem Markt verkauft eine Frau frisches Obst."
"""It has words that are split into subwords."""
SIZES = ((1100, 700), (1280, 900), (1920, 1080))
PHONE = (400, 800)
ENCODER, CROSS_LAYER, NETWORK, HEAD = (
    '[aria-label="Switch all heads of encoder self-attention off"]',
    '[aria-label="Switch all heads of cross-attention layer 1 off"]',
    '[aria-label="Feed-forward network of decoder layer 1 (FFN)"]',
    '[title="Encoder self-attention · layer 2 · head 5"]',
)
REMEMBER = """
scrollTo(0, 0);
const follow = "#translation, #source, #chips, #of-result, .scroll ~ *, dialog, footer";
const isFixed = (control) => control.checkVisibility({ visibilityProperty: true }) && !control.closest(follow);
const controls = [...document.querySelectorAll("button, select, input, summary, #map")].filter(isFixed);
window.boxes = new Map(controls.map((control) => [control, control.getBoundingClientRect()]));
return controls.length;
"""
"""Keeps the places of the visible controls, without words and changes, which are the result itself,
and what is below the large map, which follows its height."""
MOVED = """
scrollTo(0, 0);
return [...window.boxes].flatMap(([control, before]) => {
  const after = control.getBoundingClientRect();
  const isGone = !control.checkVisibility({ visibilityProperty: true });
  if (isGone || (after.x === before.x && after.y === before.y)) return [];
  const name = control.id || control.title || control.textContent;
  return [`${name}: ${before.x}, ${before.y} → ${after.x}, ${after.y}`];
});
"""
"""The controls that have another place than before."""


@pytest.fixture
def browser(session: Browser, page_file: Path) -> Iterator[Browser]:
    """With the page just opened. A script error fails the test."""
    session.show_as(*SIZES[0])
    session.logged("browser")
    session.open(page_file)
    yield session
    assert session.logged("browser") == []


def set_value(browser: Browser, control: str, value: str) -> None:
    """Sets a list or a slider, as its user does."""
    browser.script(
        "const control = document.querySelector(arguments[0]); control.value = arguments[1]; "
        "control.dispatchEvent(new Event('input')); control.dispatchEvent(new Event('change'));",
        control,
        value,
    )
    browser.settle()


def type_text(browser: Browser, text: str) -> None:
    browser.type("#text", text)
    browser.press(ENTER)
    browser.settle()


def choose_in_dialog(browser: Browser, opener: str, choice: str) -> None:
    """Opens a dialog and clicks one of its buttons."""
    browser.click(opener)
    browser.click(f"#dialog-content {choice}")
    browser.script("document.getElementById('dialog').close()")


def replace_word(browser: Browser, place: int, text: str) -> None:
    """Replaces a word of the sentence, whose words are unfolded."""
    browser.click(f"#source button:nth-of-type({place})")
    browser.type("#dialog-content input", text)
    browser.press(ENTER)
    browser.wait("return !document.getElementById('dialog').open")
    browser.settle()


def deeds(browser: Browser) -> Iterator[tuple[str, Callable[[], object]]]:
    """What a user does on the page, by name."""
    click = partial(partial, browser.click)
    alternative = partial(
        choose_in_dialog, browser, "#translation button:nth-of-type(4)", ".alternative"
    )
    for name, selector in (
        ("the encoder", ENCODER),
        ("a layer", CROSS_LAYER),
        ("a head", "#factor button"),
    ):
        yield f"switch {name} off", click(selector)
        yield f"switch {name} on", click(selector)
        yield f"undo {name}", click("#undo")
    yield "choose another head", click(HEAD)
    yield "switch it off", click("#factor button")
    yield "scale it", partial(set_value, browser, "#factor input", "0.5")
    yield (
        "switch a network off",
        partial(choose_in_dialog, browser, NETWORK, ".factor button"),
    )
    yield "force a word", alternative
    yield "show the difference", partial(set_value, browser, "#shown", "difference")
    yield "reset", click("#reset")
    yield "force a word alone", alternative
    yield "copy the link", click("#copy-link")
    yield "undo the word", click("#undo")
    for head in range(1, 8):
        selector = f'[title="Decoder self-attention · layer 1 · head {head}"]'
        yield f"choose decoder head {head}", click(selector)
        yield f"switch decoder head {head} off", click("#factor button")
    yield "type English", partial(type_text, browser, ENGLISH)
    yield "type German", partial(type_text, browser, SENTENCE)
    for text in (OF_TWO_LINES, SPLIT):
        yield f"type {text}", partial(type_text, browser, text)
        yield f"switch the encoder off in {text}", click(ENCODER)
        yield f"reset {text}", click("#reset")
    for example in gallery():
        if example.see:
            yield f"choose {example.text}", partial(set_value, browser, "#examples", example.text)
            yield f"type after {example.text}", partial(browser.type, "#text", "Ein Hund")
    yield "translate", click("#ask .primary")


@pytest.mark.timeout(300)
@pytest.mark.parametrize("size", SIZES)
def test_no_control_of_the_page_moves(browser: Browser, size: tuple[int, int]) -> None:
    browser.show_as(*size)
    movements = {}
    for name, act in deeds(browser):
        assert browser.script(REMEMBER) > 80
        act()
        movements[name] = browser.script(MOVED)
    assert not any(movements.values()), {name: lines for name, lines in movements.items() if lines}


@pytest.mark.parametrize("size", SIZES)
def test_no_control_moves_when_a_word_of_the_sentence_is_replaced(
    browser: Browser, size: tuple[int, int]
) -> None:
    browser.show_as(*size)
    browser.click("#source-words summary")
    movements = {}
    for place, text in (
        (2, "Feuerwehrmann"),
        (6, "Regenmantel und Hut"),
        (10, "Aussichtsplattform"),
    ):
        browser.script(REMEMBER)
        replace_word(browser, place, text)
        movements[text] = browser.script(MOVED)
    assert len(browser.texts("#chips li")) == len(movements)
    assert not any(movements.values()), {name: lines for name, lines in movements.items() if lines}


@pytest.mark.parametrize("size", SIZES)
def test_two_clicks_at_one_place_switch_a_kind_off_and_on(
    browser: Browser, size: tuple[int, int]
) -> None:
    browser.show_as(*size)
    x, y, width, height = browser.script(
        "const box = document.querySelector(arguments[0]).getBoundingClientRect();"
        "return [box.x, box.y, box.width, box.height]",
        ENCODER,
    )
    center = (x + width / 2, y + height / 2)
    browser.drag([center])
    assert browser.texts("#chips li") == ["all encoder self-attention off ✕"]
    browser.drag([center])
    assert browser.texts("#chips li") == []


def test_a_phone_keeps_no_room_for_what_is_not_there(browser: Browser) -> None:
    browser.show_as(*PHONE, is_phone=True)
    heights = browser.script(
        "return ['of-result', 'reset', 'shown', 'merges'].map((id) => "
        "document.getElementById(id).getBoundingClientRect().height)"
    )
    assert heights == [0, 0, 0, 0]
    browser.click(ENCODER)
    shown = "return document.getElementById(arguments[0]).checkVisibility()"
    assert all(browser.script(shown, name) for name in ("original", "reset", "shown"))
    wide, room = browser.script("return [document.documentElement.scrollWidth, innerWidth]")
    assert wide <= room
