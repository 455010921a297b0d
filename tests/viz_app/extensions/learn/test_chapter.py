"""The texts of chapters: what the form allows, and that every shipped text keeps to it and names
only what exists."""

import shutil
from pathlib import Path

import pytest

from augenmerk.viz_app.extensions.help.explain import entries_in
from augenmerk.viz_app.extensions.learn import chapter as texts
from augenmerk.viz_app.extensions.learn.actions import ACTIONS
from augenmerk.viz_app.extensions.learn.chapter import (
    Chapter,
    ChapterError,
    Paragraph,
    Predict,
    Textbook,
    Try,
    read_chapter,
    read_chapters,
)
from augenmerk.viz_app.extensions.learn.checks import CHECKS
from augenmerk.viz_app.extensions.learn.figures.registry import FIGURES
from augenmerk.viz_app.extensions.learn.values import VALUES

TEXT = """
# One weight
> A claim
> in two lines.

A paragraph with **{weight-claim}** in
two lines.

Another.
::: begin reset head=clearest
::: figure map grid
::: try "Softer, please" temperature=4

::: predict largest-weight temperature=4
What happens to {key}?
- rises: It rises
- falls: It falls
- stays: It stays
:::
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "03-weight.md"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_text_becomes_a_chapter(tmp_path: Path) -> None:
    chapter = read_chapter(write(tmp_path, TEXT))
    assert (chapter.name, chapter.title) == ("weight", "One weight")
    assert chapter.claim == Paragraph("A claim in two lines.")
    assert chapter.begin == {"reset": "", "head": "clearest"}
    assert [(figure.name, figure.options) for figure in chapter.figures] == [("map", {"grid": ""})]
    first, second, button, question = chapter.blocks
    assert isinstance(first, Paragraph)
    assert first.values == ("weight-claim",)
    assert first.filled({"weight-claim": "99%"}) == "A paragraph with **99%** in\ntwo lines."
    assert second == Paragraph("Another.")
    assert button == Try("Softer, please", {"temperature": "4"})
    assert isinstance(question, Predict)
    assert question.choices == {"rises": "It rises", "falls": "It falls", "stays": "It stays"}
    assert question.question.values == ("key",)


@pytest.mark.parametrize(
    ("broken", "expected"),
    [
        (TEXT.replace("# One weight\n", ""), "a title"),
        (TEXT.replace("> ", ""), "a claim"),
        (TEXT.replace("::: try", "::: attempt"), "begin, figure, try, predict or textbook"),
        (TEXT.replace('"Softer, please"', '"Softer'), "quotation marks in pairs"),
        (TEXT.replace("figure map grid", "figure"), "a figure first"),
        (TEXT.replace("predict largest-weight ", "predict "), "a check first"),
        (TEXT.replace("reset head=clearest", "head=clearest head=aligner"), "each name once"),
        (TEXT.replace("head=clearest", "head="), "name=value"),
        (TEXT.replace("- falls: It falls", "- rises: It falls"), "each name once"),
        (TEXT.replace("- falls: It falls\n- stays: It stays\n", ""), "two or more lines"),
        (TEXT.removesuffix(":::\n"), "a line ::: after it"),
        ("", "a title"),
    ],
)
def test_a_broken_text_is_refused_with_file_and_line(
    tmp_path: Path, broken: str, expected: str
) -> None:
    with pytest.raises(ChapterError, match=r"03-weight\.md, line \d+: .*Expected: ") as raised:
        read_chapter(write(tmp_path, broken))
    assert expected in str(raised.value)


def test_a_text_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, "")
    path.write_bytes(b"\xff\xfe")
    for unreadable in (path, tmp_path / "04-missing.md"):
        with pytest.raises(ChapterError, match=unreadable.name):
            read_chapter(unreadable)


@pytest.mark.parametrize("chapter", read_chapters(), ids=lambda chapter: chapter.name)
def test_every_shipped_text_names_only_what_there_is(chapter: Chapter) -> None:
    assert chapter.figures, "a chapter has a live figure"
    checks = [block.check for block in chapter.blocks if isinstance(block, Predict)]
    for figure in chapter.figures:
        assert figure.name in FIGURES
        assert set(figure.options) <= FIGURES[figure.name].options_known | {"question"}
        assert figure.options.get("question") in (None, *checks)
    paragraphs = [chapter.claim]
    assert set(chapter.begin) <= set(ACTIONS)
    for block in chapter.blocks:
        match block:
            case Paragraph():
                paragraphs.append(block)
            case Try(label, actions):
                assert label
                assert set(actions) <= set(ACTIONS)
            case Predict(check, _, question, choices):
                paragraphs.append(question)
                assert set(choices) == CHECKS[check].choices
                assert not any(choice.startswith(("Yes", "No,")) for choice in choices.values()), (
                    "“No: no, …” is told then"
                )
            case Textbook(title, texts):
                paragraphs += texts
                assert title[0].islower(), "it follows “In textbooks:”"
    assert {name for paragraph in paragraphs for name in paragraph.values} <= set(VALUES)
    assert chapter.claim.markdown.strip()
    assert any(isinstance(block, Predict) for block in chapter.blocks), (
        "a chapter asks for a prediction"
    )
    is_tried = any(isinstance(block, Try) for block in chapter.blocks)
    assert is_tried or any(figure.name == "train-here" for figure in chapter.figures), (
        "there is something to try"
    )


def test_a_textbook_text_keeps_its_paragraphs_and_must_end(tmp_path: Path) -> None:
    path = tmp_path / "01-here.md"
    path.write_text(
        '# Here\n> Now.\n\n::: textbook "a formula"\n**x**\n\n- one {width}\n:::\n',
        encoding="utf-8",
    )
    (block,) = read_chapter(path).blocks
    assert block == Textbook("a formula", (Paragraph("**x**"), Paragraph("- one {width}")))
    assert block.paragraphs[1].values == ("width",)
    path.write_text('# Here\n> Now.\n\n::: textbook "a formula"\n**x**\n', encoding="utf-8")
    with pytest.raises(ChapterError, match="a textbook text does not end"):
        read_chapter(path)


TAUGHT = (
    *(
        "teacher forcing",
        "cross-entropy",
        "Adam",
        "padding mask",
        "multi-head attention",
        "dropout",
    ),
    *(
        "layer normalization",
        "nats",
        "perplexity",
        "ReLU",
        "pre-norm",
        "ALTI+",
        "softmax",
        "overfits",
    ),
    *("residual stream", "logit lens"),
)


@pytest.mark.parametrize("term", TAUGHT)
def test_a_term_of_textbooks_stands_in_a_chapter_and_in_the_glossary(term: str) -> None:
    blocks = [
        block
        for chapter in read_chapters()
        for block in chapter.blocks
        if isinstance(block, Textbook)
    ]
    texts = [
        " ".join((block.title, *(paragraph.markdown for paragraph in block.paragraphs)))
        for block in blocks
    ]
    using = [text for text in texts if term.lower() in text.lower()]
    assert using
    (entry,) = entries_in(term)
    assert all(entry in entries_in(text) for text in using)


def test_chapters_ship() -> None:
    assert len(read_chapters()) >= 3
    assert len({chapter.name for chapter in read_chapters()}) == len(read_chapters())


@pytest.fixture
def two_languages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a second language, with one chapter; the English texts are those that ship."""
    shutil.copytree(texts.chapters_folder(), tmp_path / "learn" / "en")
    german = tmp_path / "learn" / "de"
    german.mkdir()
    (german / "03-weight.md").write_text(
        "# Ein Gewicht\n> Ein Kopf vergleicht.\n\n::: figure map\n", encoding="utf-8"
    )
    (tmp_path / "learn" / "empty").mkdir()
    monkeypatch.setattr(texts, "resource_path", lambda name: tmp_path / name)
    return german


def test_a_language_is_a_folder_with_chapters(two_languages: Path) -> None:
    assert texts.languages() == ("en", "de")


def test_a_translated_chapter_keeps_its_place_when_chapters_are_numbered_anew(
    two_languages: Path,
) -> None:
    (two_languages / "08-decoding.md").write_text(
        "# Wörter\n> Ja.\n\n::: figure beam\n", encoding="utf-8"
    )
    english, german = read_chapters(), read_chapters("de")
    index = [chapter.name for chapter in english].index("decoding")
    assert index != 7
    assert (german[index].name, german[index].title) == ("decoding", "Wörter")


def test_one_language_ships() -> None:
    assert texts.languages() == ("en",), (
        "then every shipped text is checked as the English ones are"
    )


def test_a_chapter_without_a_text_in_the_language_is_in_english(two_languages: Path) -> None:
    english, german = read_chapters(), read_chapters("de")
    assert [chapter.name for chapter in german] == [chapter.name for chapter in english]
    changed = [
        chapter.title for chapter, other in zip(german, english, strict=True) if chapter != other
    ]
    assert changed == ["Ein Gewicht"]
    assert read_chapters("xx") == english
    (two_languages / "04-heads.md").write_text("no title", encoding="utf-8")
    (two_languages / "99-own.md").write_text("# Eigenes\n> Ja.\n", encoding="utf-8")
    assert [chapter.title for chapter in read_chapters("de")] == [
        chapter.title for chapter in german
    ], "broken, or unknown"
