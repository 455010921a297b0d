"""What notebooks show of results: size, safety, and that it is the same each time."""

import base64
import html
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import augenmerk as api
from augenmerk.core.conversions import CONVERSIONS, Result
from augenmerk.core.translation.result import AttentionMaps, Translation
from tests.core.translators import ENGLISH, GERMAN, subword_translator  # noqa: F401
from tests.results import public_results
from tests.viz_app.synthetic import make_translation

HOSTILE = "</style><script>alert(1)</script>\"'&<b>\u202e\x1b[31m\u200b"
SENTENCE = "ein mann in einem blauen hemd steht auf einer leiter und putzt ."
TRANSLATED = "a man in a blue shirt is standing on a ladder cleaning ."


class Checker(HTMLParser):
    """Collects elements and their attributes, and that each is closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("input", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def shown(result: Result) -> str:
    """The HTML of a result that has some."""
    page = result._repr_html_()
    assert page is not None
    return page


def noisy(num_tokens: int, num_layers: int, num_heads: int, word: str = "word") -> Translation:
    """A translation whose maps cannot be compressed."""
    words = " ".join([word] * num_tokens)
    translation = make_translation(words, words, num_layers=1, num_heads=1)
    random = np.random.default_rng(1)
    num_source, num_steps = len(translation.source_tokens), len(translation.predicted_tokens)
    shapes = (num_source, num_source), (num_steps, num_steps), (num_steps, num_source)
    maps = AttentionMaps(
        *(random.random((num_layers, num_heads, *shape), dtype=np.float32) for shape in shapes)
    )
    return replace(translation, attention=maps)


@pytest.mark.heavy
def test_every_result_shows_itself_safely(subword_translator: api.Translator) -> None:  # noqa: F811
    results = public_results(subword_translator)
    without = set()
    for name, result in results.items():
        page = result._repr_html_() if isinstance(result, Result) else None
        if page is None:
            without.add(name)
            continue
        elements = Checker(page).elements
        assert {tag for tag, _ in elements} & {"script", "iframe", "link", "svg"} == set()
        assert not any(name.startswith("on") for _, names in elements for name in names)
        assert "http:" not in page.replace("http://www.w3.org", "")
        assert len(page.encode()) <= 100_000
        assert page == result._repr_html_(), "the same bytes each time"
    assert without == set(results) - {
        "AlignerRanking", "AttentionMaps", "CellParts", "Contributions", "CorpusScores", "DecoderLens",
        "EncoderParts", "ExperimentResult", "HeadImportance", "LabelledMap", "LogitLens",
        "MapDifference", "PairAttribution", "PartsTable", "RowParts", "ScoreDifference",
        "SourceOcclusion", "SystemComparison", "Translation", "WordParts",
    }  # fmt: skip


def test_a_sentence_with_72_heads_takes_at_most_100_kilobytes() -> None:
    assert len(shown(make_translation(SENTENCE, TRANSLATED)).encode()) <= 100_000
    assert len(shown(noisy(13, 3, 8)).encode()) <= 100_000


@pytest.mark.parametrize(
    "size", [(60, 3, 8), (300, 6, 8), (30, 12, 16), (100, 24, 16), (5, 1, 128), (200, 2, 2)]
)
@pytest.mark.heavy
def test_no_translation_takes_more_than_200_kilobytes(size: tuple[int, int, int]) -> None:
    for word in ("word", '"' * 100, "\N{BRAIN}" * 100):
        page = shown(noisy(*size, word))
        assert len(page.encode()) <= 200_000
        Checker(page)


def test_what_is_left_out_is_said() -> None:
    page = shown(noisy(90, 14, 4))
    assert re.search(r"Shown are the first \d+ of 14 layers, \d+ of 92 tokens", page)
    assert re.search(r"and \d+ more words", page)
    assert "Shown are" not in shown(make_translation())


def test_hostile_words_stay_words() -> None:
    translation = make_translation("a b c", "a b c", text=HOSTILE, notes=(HOSTILE,))
    hostile = replace(
        translation,
        source_tokens=("<sos>", HOSTILE, "b", "c", "<eos>"),
        predicted_tokens=(HOSTILE, "b", "c", "<eos>"),
        target_words=(replace(translation.target_words[0], text=HOSTILE),),
        alternatives=((api.Alternative(HOSTILE, -1.0),), *translation.alternatives[1:]),
    )
    page = shown(hostile)
    tags = {tag for tag, _ in Checker(page).elements}
    assert tags == {*("style", "form", "p", "bdi", "small", "span", "img", "div", "label", "input")}
    picture = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    assert picture is not None
    for text in (page, base64.b64decode(picture[1]).decode()):
        assert "<script" not in text
        assert "\x1b" not in text
    assert "alert(1)" in html.unescape(page)


def test_one_head_is_chosen_in_each_output_and_it_is_the_changed_one() -> None:
    head = api.Head("decoder", 1, 3)
    translation = make_translation(interventions=(api.HeadScaled(head),))
    page = shown(api.ExperimentResult(translation, make_translation(), (0.0,) * 9))
    inputs = [names for tag, names in Checker(page).elements if tag == "input"]
    assert len(inputs) == 72
    assert {names["name"] for names in inputs} == {"h"}, "a form is a group of its own"
    assert [names["title"] for names in inputs if "checked" in names] == [f"{_code(head)} · off"]
    assert "decoder 1·3 off" in page
    assert not any("id" in names for _, names in Checker(page).elements)


def _code(head: api.Head) -> str:
    return f'Head("{head.kind}", {head.layer}, {head.head})'


def test_a_result_without_maps_shows_its_words() -> None:
    translation = replace(make_translation(), attention=None)
    page = shown(translation)
    assert "without attention maps" in page
    assert "standing" in page
    result = api.ExperimentResult(translation, translation, translation.log_probabilities)
    assert shown(result) == page


def test_without_styles_there_is_a_still_picture_and_nothing_else_of_the_maps() -> None:
    page = shown(make_translation())
    views = page.index('<div class="v" style="display:none')
    assert page.index('<img class="still"') < views
    rest = re.sub("<[^>]*>", "", page[views:])
    assert rest == "", "labels are drawn by the style sheet"


def test_both_themes_are_there() -> None:
    page = shown(make_translation())
    for name in ('[data-jp-theme-light="false"]', "prefers-color-scheme:dark", "vscode-dark"):
        assert name in page
    assert page.count("data:image/png") == 6, "three kinds, two themes"


def test_without_the_extension_the_repr_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(CONVERSIONS, "html", raising=False)
    monkeypatch.setattr("augenmerk.core.registry.installed_entry_points", lambda group: {})
    assert make_translation()._repr_html_() is None


def test_long_lenses_and_rankings_are_cut_and_say_so(
    subword_translator: api.Translator,  # noqa: F811
) -> None:
    results = public_results(subword_translator)
    assert "Shown are 13 of 105 rows" in shown(results["AlignerRanking"])  # type: ignore[arg-type]
    assert "<code>to_frame()</code> has all" in shown(results["WordParts"])  # type: ignore[arg-type]


@pytest.mark.subprocess
@pytest.mark.heavy
def test_another_process_shows_the_same_bytes() -> None:
    code = (
        "import hashlib\n"
        "from tests.viz_app.synthetic import make_translation\n"
        "print(hashlib.sha256(make_translation()._repr_html_().encode()).hexdigest())\n"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    }
    assert len(digests) == 1
