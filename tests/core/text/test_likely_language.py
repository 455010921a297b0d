"""Sentences in another language than the one that a model reads are recognized by their common
words."""

from pathlib import Path

import pytest

from augenmerk.core.config import DataConfig
from augenmerk.core.extensions.training.corpora.parallel import read_lines
from augenmerk.core.text.languages import likely_language
from augenmerk.core.text.tokenizers import make_tokenizer

LEAST_RECOGNIZED, MOST_MISTAKEN = 0.98, 0.005


@pytest.mark.parametrize(
    ("sentence", "source", "language"),
    [
        ("The dog is in the snow", "de", "en"),
        ("The dog is in the snow", "de_AT", "en"),
        ("The dog is in the snow", "deu", "en"),
        ("The dog is in the snow", "en", ""),
        ("Der Hund ist im Schnee", "en", "de"),
        ("Der Hund ist im Schnee", "de", ""),
        ("Der Film heißt The End of a Day und ist gut im Kino", "de", ""),
        ("der the", "de", ""),
        ("Un homme a un chapeau on", "de", "fr"),
        ("L'homme a faim mais on ne mange pas", "de", "fr"),
        ("A man on a horse", "de", "en"),
        ("Un hombre camina por la calle", "de", "es"),
        ("El hombre es muy alto", "de", "es"),
        ("Es ist kalt", "de", ""),
        ("Un homme a un chapeau", "en", "fr"),
        ("On a faim", "fr", ""),
        ("The dog is in the snow", "fr", "en"),
        ("der the", "en", ""),
        ("Schnee", "de", ""),
        ("", "de", ""),
    ],
)
def test_the_language_is_that_of_most_common_words_unless_it_is_the_one_read(
    sentence: str, source: str, language: str
) -> None:
    assert likely_language(sentence.split(), source) == language


@pytest.mark.parametrize("source", ["nl", "pt", "und", "gmw", "", "x"])
def test_no_language_is_reported_to_models_of_a_language_whose_common_words_are_not_known(
    source: str,
) -> None:
    """Dutch “is” and “we” are no reason to speak of English."""
    assert likely_language("we is the a of der die das".split(), source) == ""


@pytest.mark.parametrize("split", ["val", "test_2016_flickr"])
def test_nearly_all_english_and_hardly_any_german_captions_are_taken_for_english(
    multi30k_folder: Path, split: str
) -> None:
    shares = {}
    for language in ("de", "en"):
        lines = read_lines(multi30k_folder / f"{split}.{language}.gz")
        sentences = list(make_tokenizer(DataConfig(), "de").pipe(lines))
        assert len(sentences) >= 1_000
        shares[language] = sum(likely_language(words, "de") == "en" for words in sentences) / len(
            sentences
        )
    assert shares["en"] >= LEAST_RECOGNIZED
    assert shares["de"] <= MOST_MISTAKEN
