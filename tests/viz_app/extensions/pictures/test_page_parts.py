"""What all pages for the browser share: their policy."""

from collections.abc import Callable

import pytest

from augenmerk.core import __version__
from augenmerk.core.extensions.page.packing import pack_model
from augenmerk.viz_app.extensions.pictures.html_page import ScenePart, lesson_page_html, page_html
from augenmerk.viz_app.extensions.pictures.running_page import running_page_html
from augenmerk.viz_app.extensions.pictures.worksheet import SheetScene, sheet_html
from tests.core.translation.random_models import make_translator
from tests.viz_app.extensions.pictures.test_html_page import Parts, content


def running_page() -> str:
    checkpoint = make_translator("subwords, pre-norm, all tied").checkpoint
    return running_page_html(checkpoint, "mine", pack_model(checkpoint, "mine"))


SCRIPTS, WORKERS = {"script-src": "'unsafe-inline'"}, {"worker-src": "blob:"}
PAGES = {
    "maps": (lambda: page_html(content()), SCRIPTS),
    "lesson": (lambda: lesson_page_html("Title", [ScenePart("First", "", content())]), SCRIPTS),
    "running": (running_page, SCRIPTS | WORKERS),
    "worksheet": (lambda: sheet_html("Title", [SheetScene("First", "Ein Hund.")], "worksheet"), {}),
    "solutions": (lambda: sheet_html("Title", [SheetScene("First", "Ein Hund.")], "solutions"), {}),
    "scenes": (lambda: sheet_html("Title", [SheetScene("First", "Ein Hund.")], "scenes"), {}),
}


@pytest.mark.parametrize("name", PAGES)
def test_the_policy_allows_no_request_no_form_and_no_other_base(name: str) -> None:
    make: Callable[[], str]
    make, allowed = PAGES[name]
    tags = Parts(make()).tags
    (policy,) = (
        attributes["content"]
        for _, attributes in tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert dict(rule.strip().split(" ", 1) for rule in policy.split(";")) == {
        "default-src": "'none'",
        "style-src": "'unsafe-inline'",
        "base-uri": "'none'",
        "form-action": "'none'",
        **allowed,
    }
    names = [tag for tag, _ in tags]
    assert names.index("meta") < min(names.index(name) for name in ("title", "style")), (
        "it holds for all that follows"
    )
    assert {"name": "referrer", "content": "no-referrer"} in [attributes for _, attributes in tags]
    program = {"name": "generator", "content": f"Augenmerk {__version__}"}
    assert program in [attributes for _, attributes in tags]
