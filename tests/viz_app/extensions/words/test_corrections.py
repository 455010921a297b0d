"""Typing errors are corrected by a click; correct words, however rare, are left alone."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from augenmerk.core.extensions.corrections import (
    correction,
    nearest_word,
    with_case_of,
    words_like_errors,
)
from augenmerk.core.extensions.training.corpora.parallel import read_lines
from augenmerk.core.text.word_counts import WordCounts, has_letters
from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.extensions.words.corrections_part import CorrectionsPart, Offer
from augenmerk.viz_app.main_window import MainWindow
from tests.conftest import open_once
from tests.core.extensions.page.node import Page
from tests.viz_app.conftest import MakeWindow

TYPOS: Mapping[str, str] = {
    "hnud": "hund",
    "strase": "straße",
    "fahrad": "fahrrad",
    "küchhe": "küche",
    "gemühse": "gemüse",
    "stehht": "steht",
    "leitter": "leiter",
    "hemnd": "hemd",
    "baluen": "blauen",
    "männre": "männer",
    "wassser": "wasser",
    "kidner": "kinder",
    "straand": "strand",
    "sptielt": "spielt",
    "fußbal": "fußball",
    "fuball": "fußball",
    "mnner": "männer",
    "motorad": "motorrad",
    "gitare": "gitarre",
    "springgt": "springt",
    "junhe": "junge",
    "gruope": "gruppe",
}
RARE = (
    "Dresden München Leipzig Hannover Köln Hamburg Stuttgart Anna Peter Lukas Johannes Müller "
    "Giraffen Nashörner Elefantenbaby Parlament Gestern Nächstes Philosophie Kopfschmerzen "
    "Mädchens Hundes Leitern Küchen Straßen Gitarren spieltest stehst springst kleinstem blauem "
    "liefen regnen fuhren halfen Mittel Volk leiten Zeiten nett Stich Märchen fester"
).split()
MOST_WRONG = 0.01


@pytest.fixture
def counts(bundled_translator: Translator) -> WordCounts:
    counts = bundled_translator.checkpoint.word_counts
    assert counts is not None
    return counts


@pytest.mark.parametrize("typed", TYPOS)
def test_a_typing_error_has_its_correction(counts: WordCounts, typed: str) -> None:
    assert correction(typed, counts) == TYPOS[typed]


@pytest.mark.parametrize("word", RARE)
def test_names_and_correct_rare_words_have_none(counts: WordCounts, word: str) -> None:
    assert correction(word.lower(), counts) == ""


def test_each_listed_word_looks_like_an_error_of_the_bundled_model(counts: WordCounts) -> None:
    words = words_like_errors()
    assert len(words) > 400
    assert all(nearest_word(word, counts) for word in words)
    assert "nciht" not in words, "an error that is made often"


def test_two_words_that_are_as_near_give_no_correction() -> None:
    counts = WordCounts({"tuch": 100, "tisch": 90, "mutter": 100})
    assert correction("tich", counts) == ""
    assert correction("muttter", counts) == "mutter"
    assert correction("muttter", replace(counts, least=2)) == "", "it may be in the training data"


@pytest.mark.parametrize(
    ("typed", "word"), [("strase", "straße"), ("Strase", "Straße"), ("HNUD", "HUND")]
)
def test_a_correction_is_written_as_the_word_was_typed(typed: str, word: str) -> None:
    assert with_case_of(typed, word.lower()) == word


@pytest.mark.heavy
def test_hardly_any_word_of_the_corpus_that_training_lacked_has_a_correction(
    counts: WordCounts, bundled_translator: Translator, multi30k_folder: Path
) -> None:
    """Of its 701 words five, and three of these are typing errors."""
    codec = bundled_translator.checkpoint.codecs.source
    unseen = {
        word.spelling
        for split in ("val", "test_2016_flickr")
        for line in read_lines(multi30k_folder / f"{split}.de.gz")
        for word in codec.encode_text(codec.one_line(line))
        if has_letters(word.spelling) and not counts.of(word.spelling)
    }
    assert len(unseen) > 500
    offers = {word: known for word in unseen if (known := correction(word, counts))}
    assert len(offers) <= MOST_WRONG * len(unseen), offers


def offer_of(window: MainWindow) -> Offer:
    part = next(part for part in window.parts if isinstance(part, CorrectionsPart))
    return part.added[window.translate_page.sentence]


@pytest.mark.heavy
def test_a_click_corrects_all_words_of_the_sentence(make_window: MakeWindow, qtbot: QtBot) -> None:
    text = "🙂 Ein Mann steht auf der Strase mit einem Hnud aus Dresden."
    window: MainWindow = make_window(None, sentence=text, loader=open_once)
    offer, field = offer_of(window), window.translate_page.sentence.input
    qtbot.waitUntil(offer.button.isVisible)
    assert offer.button.text() == "Did you mean “Straße”, “Hund”?"
    qtbot.mouseClick(offer.button, Qt.MouseButton.LeftButton)
    assert field.text == "🙂 Ein Mann steht auf der Straße mit einem Hund aus Dresden."
    assert not offer.button.isVisible()
    qtbot.waitUntil(lambda: not window.state.request.is_running)
    assert window.state.experiment.source_text == field.text
    field.setPlainText(text)
    field.commit()
    qtbot.waitUntil(offer.button.isVisible)
    field.setPlainText("Ein Mann")
    assert not offer.button.isVisible(), "it was about another text"


@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.subprocess
def test_a_page_that_runs_the_model_corrects_the_same_words(
    bundled_translator: Translator, tmp_path: Path
) -> None:
    counts = bundled_translator.checkpoint.word_counts
    assert counts is not None
    known = [word for word in counts.counts if word.isalpha() and len(word) > 3][:40]
    errors = [word[:2] + word[3:] for word in known] + [word[:2] + "x" + word[2:] for word in known]
    typed = (*TYPOS, *map(str.lower, RARE), *errors)
    words = [word for word in typed if word not in counts.counts]
    sentences = [f"Ein {word.capitalize()} RENNT." for word in words]
    answers = Page(bundled_translator, tmp_path).run([Experiment(text) for text in sentences])
    num_corrected = 0
    for word, text, answer in zip(words, sentences, answers, strict=True):
        coverage = bundled_translator.run(Experiment(text)).coverage
        assert coverage is not None
        expected = "".join(correction(rare.text, counts) for rare in coverage.rare_words[:1])
        offered = answer["value"]["coverage"]["correction"]
        if not expected:
            assert offered is None, word
            continue
        num_corrected += 1
        written = with_case_of(word.capitalize(), expected)
        assert offered == {"text": f"Ein {written} RENNT.", "words": [written]}, word
    assert num_corrected > len(TYPOS) / 2
