"""Outputs of a notebook in a real browser, without its scripts."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import augenmerk as api
from tests.viz_app.extensions.pictures.browser import RIGHT, Browser, chromium
from tests.viz_app.synthetic import make_translation

pytestmark = [pytest.mark.subprocess, pytest.mark.heavy]
STATE = """
return [...document.querySelectorAll("form")].map((form) => {
  const large = [...form.querySelectorAll(".b")].filter((part) => part.checkVisibility());
  return [form.querySelector(":checked").title, large.map((part) => part.dataset.n)];
});
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One for all tests of this module."""
    with chromium(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


def page_of(folder: Path, body: str, *results: api.Translation) -> str:
    """The address of a page 700 pixels wide."""
    page = folder / "page.html"
    outputs = "".join(str(result._repr_html_()) for result in results)
    text = f'<!doctype html><meta charset="utf-8"><body {body}><div style="width:700px">{outputs}'
    page.write_text(text, encoding="utf-8")
    return page.as_uri()


def test_clicks_and_arrow_keys_choose_a_head_of_one_output(
    browser: Browser, tmp_path: Path
) -> None:
    browser.command(
        "/url", {"url": page_of(tmp_path, "", make_translation(), make_translation("a b", "c d"))}
    )
    before = browser.script(STATE)
    assert before == [['Head("cross", 1, 0)', ['Head("cross", 1, 0)']]] * 2
    chosen = browser.find("form:nth-of-type(1) input[title*='\"encoder\", 0, 3']")
    browser.command(f"/element/{chosen}/click")
    name = 'Head("encoder", 0, 3)'
    assert browser.script(STATE) == [[name, [name]], before[1]]
    browser.press(RIGHT)
    assert browser.script(STATE)[0][0] == 'Head("encoder", 0, 4)'
    assert browser.script(STATE)[1] == before[1]


def test_an_output_fits_into_700_pixels(browser: Browser, tmp_path: Path) -> None:
    long = " ".join(["donaudampfschifffahrt"] * 17)
    browser.command("/url", {"url": page_of(tmp_path, "", make_translation(long, long))})
    widths = browser.script(
        "return [...document.querySelectorAll('form')].map((form) => [form.scrollWidth, "
        "form.clientWidth])"
    )
    assert all(content <= room <= 700 for content, room in widths)


@pytest.mark.parametrize(
    ("body", "is_dark"),
    [
        ('data-jp-theme-light="true"', False),
        ('data-jp-theme-light="false"', True),
        ('data-theme="dark"', True),
        ('class="vscode-dark"', True),
        ("", False),
    ],
)
def test_the_theme_is_that_of_the_page(
    browser: Browser, tmp_path: Path, body: str, is_dark: bool
) -> None:
    browser.command("/url", {"url": page_of(tmp_path, body, make_translation())})
    color = browser.script(
        "return getComputedStyle(document.querySelector('form')).backgroundColor"
    )
    levels = [int(number) for number in re.findall(r"\d+", color)]
    assert (sum(levels[:3]) < 384) == is_dark


def test_without_its_style_it_is_a_still_picture(browser: Browser, tmp_path: Path) -> None:
    address = page_of(tmp_path, "", make_translation())
    path = tmp_path / "page.html"
    text = re.sub("<style>.*?</style>", "", path.read_text(encoding="utf-8"))
    path.write_text(text, encoding="utf-8")
    browser.command("/url", {"url": address})
    script = (
        "const visible = (name) => document.querySelector(name).checkVisibility();"
        "const picture = document.querySelector('img');"
        "return [visible('img'), visible('input'), picture.naturalWidth > 100]"
    )
    assert browser.script(script) == [True, False, True]
