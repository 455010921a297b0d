"""Text that a model surely cannot read: all English is found, and no German."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from augenmerk.core.extensions.training.corpora.parallel import read_lines
from augenmerk.core.resources import example_sentences, resource_path
from augenmerk.core.text.phrases import phrase
from augenmerk.core.translation.translator import Translator

GERMAN = (
    "Guten Morgen, wie geht es dir?",
    "Ich liebe dich.",
    "Ich habe Hunger.",
    "Danke schön!",
    "Das Parlament hat das Haushaltsgesetz verabschiedet.",
    "Bundesanwaltschaft erhebt Anklage gegen mutmaßlichen Schweizer Spion",
    "San Francisco erwägt Verbot von Lieferrobotern",
    "Habe nun, ach! Philosophie, Juristerei und Medizin durchaus studiert mit heißem Bemühn.",
    "Über allen Gipfeln ist Ruh.",
    "Sei f eine stetige Funktion.",
    "Kannst du mir bitte helfen?",
    "Montag, Dienstag, Mittwoch",
    "Ich denke, also bin ich.",
    "Zwei Giraffen und ein Nashorn schlafen im Zoo von Hannover.",
    "Ein Mnan mit einem Huut stet auf der Strase",
    "Donaudampfschifffahrtsgesellschaftskapitän",
)
OTHERS = (
    "A man in a blue shirt is standing on a ladder.",
    "Hello, how are you?",
    "I love you.",
    "Colorless green ideas sleep furiously.",
    "Un hombre camina por la calle.",
    "Dos perros juegan en la arena.",
    "Deux chiens jouent dans le sable.",
    "Due cani giocano nella sabbia.",
    "Dwa psy bawią się na piasku.",
    "Anna Peter Lukas Marie Johannes",
    "Berlin, Hamburg, München, Köln",
    "Anna, Peter, Lukas, Marie und Sophie",
    "xkcd lkjs dfpq wmzn",
)
WITHOUT_A_WORD = (
    "😀😀",
    "🙂 ☃ 🎉",
    "...",
    "?! –",
    "+++ === ###",
    "你好",
    "今天天气很好",
    "مرحبا",
    "привет",
    "Καλημέρα κόσμε",
    "สวัสดี",
)
NUMBERS = "12345", "1 2 3 4 5 6 7 8 9 10", "7 7 7 1 2", "100 €", "19:30 – 20.15"
WITH_A_WORD = "Hallo 😀", "Mann 你好", "x", "3 Hunde", "100 € bar", "Äß", "☃ Mann"
LEAST_FOUND = 0.99


def is_foreign(translator: Translator, text: str) -> bool:
    coverage = translator.coverage(text)
    assert coverage is not None
    return coverage.is_foreign


@pytest.mark.parametrize("text", GERMAN)
def test_german_of_any_kind_is_never_foreign(bundled_translator: Translator, text: str) -> None:
    assert not is_foreign(bundled_translator, text)


@pytest.mark.parametrize("text", OTHERS)
def test_other_languages_names_and_random_letters_are_foreign(
    bundled_translator: Translator, text: str
) -> None:
    assert is_foreign(bundled_translator, text)


@pytest.mark.parametrize("text", WITHOUT_A_WORD)
def test_text_without_a_word_that_the_model_reads_is_foreign(
    bundled_translator: Translator, text: str
) -> None:
    translation = bundled_translator.translate(text)
    assert translation.coverage is not None
    assert translation.coverage.is_foreign
    assert translation.coverage.is_unlike_training
    assert translation.hint == phrase("no_readable_word", expectation="Enter a German sentence.")


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers_are_foreign_to_a_model_of_words(bundled_translator: Translator, text: str) -> None:
    translation = bundled_translator.translate(text)
    assert translation.coverage is not None
    assert translation.coverage.is_foreign
    assert translation.coverage.notice == phrase("no_words"), "no bigger model can translate it"


def test_numbers_are_not_foreign_to_a_model_of_numbers(bundled_translator: Translator) -> None:
    checkpoint = bundled_translator.checkpoint
    counts = replace(checkpoint.word_counts, counts={"1": 20, "2": 20, "und": 3})
    translator = Translator(replace(checkpoint, word_counts=counts), bundled_translator.device)
    assert not is_foreign(translator, "1 2 3")


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("Hallo", phrase("no_known_words")),
        ("Quantenmechanik!", phrase("no_known_words")),
        ("Hello", "This model knows picture captions."),
        ("Danke schön", "This model knows picture captions."),
        ("Guten Morgen!", "This model knows picture captions."),
        ("Hallo Welt", "This model knows picture captions."),
    ],
)
def test_words_that_training_had_never_or_rarely_are_reported_and_translated(
    bundled_translator: Translator, text: str, known: str
) -> None:
    coverage = bundled_translator.coverage(text)
    assert coverage is not None
    assert coverage.is_unlike_training
    assert not coverage.is_foreign
    assert coverage.known == known


def test_known_words_are_like_the_training_data_next_to_one_rare_word(
    bundled_translator: Translator,
) -> None:
    for text in ("Hund", "Ein Mann", "3 Hunde", "Ein Zebra", "Hund bellt", "Rote Rosen"):
        coverage = bundled_translator.coverage(text)
        assert coverage is not None
        assert not coverage.is_unlike_training


@pytest.mark.parametrize("text", WITH_A_WORD)
def test_one_word_is_enough(bundled_translator: Translator, text: str) -> None:
    assert not is_foreign(bundled_translator, text)
    assert bundled_translator.translate(text).hint == ""


def test_sentences_that_the_app_offers_are_not_foreign(bundled_translator: Translator) -> None:
    gallery = tomllib.loads(resource_path("gallery.toml").read_text(encoding="utf-8"))
    offered = [*example_sentences(), *(example["text"] for example in gallery["example"])]
    assert [text for text in offered if is_foreign(bundled_translator, text)] == []


@pytest.mark.heavy
@pytest.mark.parametrize("split", ["val", "test_2016_flickr"])
def test_no_german_caption_is_foreign_and_nearly_every_english_one_is(
    bundled_translator: Translator, multi30k_folder: Path, split: str
) -> None:
    german, english = (
        read_lines(multi30k_folder / f"{split}.{language}.gz") for language in ("de", "en")
    )
    assert [text for text in german if is_foreign(bundled_translator, text)] == []
    num_found = sum(is_foreign(bundled_translator, text) for text in english)
    assert num_found >= LEAST_FOUND * len(english), num_found
