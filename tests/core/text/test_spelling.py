"""Words typed without ß and umlauts are read as the training data spell them; words of these stay,
except slips.
"""

from dataclasses import replace

import pytest

from augenmerk.core.config import DataConfig
from augenmerk.core.extensions.training.corpora.learning import learn_codecs
from augenmerk.core.text.codec import TextCodec
from augenmerk.core.text.word_counts import MAX_PLACES, SpellingRestorer, WordCounts

KNOWN = {
    "straße": 9, "mädchen": 8, "über": 7, "größe": 6, "weiß": 5, "draußen": 4, "frauen": 9, "neue": 9, "masse": 3,
    "maße": 50, "maß": 3, "fässe": 2, "faße": 5, "mäße": 4, "müsse": 3, "müße": 3, "Öl": 2, "großstadt": 1,
}  # fmt: skip


def restorer(
    known: dict[str, int] = KNOWN, language: str = "de", least: int = 1
) -> SpellingRestorer:
    restorer = SpellingRestorer.of_language(language, WordCounts(known, least=least))
    assert restorer is not None
    return restorer


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("strasse", "straße"),
        ("maedchen", "mädchen"),
        ("ueber", "über"),
        ("groesse", "größe"),
        ("grösse", "größe"),
        ("groeße", "größe"),
        ("draussen", "draußen"),
        ("grossstadt", "großstadt"),
        ("Oel", "Öl"),
    ],
)
def test_a_word_that_the_training_data_lack_is_read_in_the_spelling_that_they_have(
    typed: str, meant: str
) -> None:
    assert restorer().restore(typed) == meant


@pytest.mark.parametrize(
    "word",
    [*KNOWN, "israel", "michael", "aktuell", "frau", "mauer", "ß", "", "oel", "strase", "äu"],
)
def test_known_words_and_words_without_a_known_spelling_stay(word: str) -> None:
    """“masse” stays, however frequent “maße” is."""
    assert restorer().restore(word) == word


@pytest.mark.parametrize(
    ("typed", "usual", "is_slip"),
    [(1, 46, True), (1, 10, True), (1, 9, False), (2, 20, True), (2, 19, False), (3, 500, False)],
)
def test_a_slip_of_the_training_data_is_read_in_the_usual_spelling(
    typed: int, usual: int, is_slip: bool
) -> None:
    known = {"schoss": typed, "schoß": usual}
    assert restorer(known).restore("schoss") == ("schoß" if is_slip else "schoss")
    assert restorer(known).restore("schoß") == "schoß"


def test_of_several_spellings_the_most_frequent_is_read() -> None:
    assert restorer().restore("faesse") == "fässe"
    assert restorer({**KNOWN, "fäße": 3}).restore("faesse") == "fäße"
    assert restorer({**KNOWN, "faeße": 4, "fäße": 3}).restore("faesse") == "faeße"


def test_of_equally_frequent_spellings_always_the_same_is_read() -> None:
    for known in (KNOWN, dict(reversed(KNOWN.items()))):
        assert restorer(known).restore("muesse") == "müsse"


def test_a_word_with_very_many_places_is_not_searched() -> None:
    most, more = ("u" + "ss" * num + "t" for num in (MAX_PLACES, MAX_PLACES + 1))
    known = {word.replace("ss", "ß"): 1 for word in (most, more)}
    assert restorer(known).restore(most) == most.replace("ss", "ß")
    assert restorer(known).restore(more) == more


def test_only_where_the_rules_of_the_language_and_all_words_are_known() -> None:
    counts = WordCounts(KNOWN)
    for language in ("de", "de_AT", "deu"):
        assert restorer(language=language).restore("strasse") == "straße"
    assert SpellingRestorer.of_language("en", counts) is None
    assert SpellingRestorer.of_language("de", None) is None
    assert SpellingRestorer.of_language("de", replace(counts, least=2)) is None, (
        "“strasse” may have been there once"
    )


class TestInACodec:
    TEXT = "Ein Mädchen läuft über die große Straße und über das weiße Gras ."
    TYPED = "EIN MAEDCHEN laeuft ueber die grosse STRASSE und ueber das weisse Gras ."
    WORDS = TEXT.lower().split()
    COUNTS = WordCounts(dict.fromkeys(WORDS, 1))

    def codec(self, **settings: object) -> TextCodec:
        return learn_codecs(
            DataConfig(min_frequency=1, **settings), [self.WORDS] * 3, [self.WORDS]
        ).source

    def test_it_reads_the_same_ids_and_keeps_what_was_typed(self) -> None:
        codec = self.codec(num_subwords=60).restoring_spelling(self.COUNTS)
        usual, typed = codec.encode_text(self.TEXT), codec.encode_text(self.TYPED)
        assert [word.ids for word in typed] == [word.ids for word in usual]
        assert [word.labels for word in typed] == [word.labels for word in usual]
        assert [word.text for word in typed] == self.TYPED.lower().split()
        assert [word.read_as or word.text for word in typed] == self.WORDS
        assert [word.read_as for word in typed][:3] == [None, "mädchen", "läuft"]
        assert [self.TYPED[word.char_start : word.char_end] for word in typed] == self.TYPED.split()
        assert codec.encode_words(self.TYPED.lower().split()) == codec.encode_words(self.WORDS)

    def test_known_text_is_read_as_without_it(self) -> None:
        before = self.codec(num_subwords=60)
        after = before.restoring_spelling(self.COUNTS)
        assert after.encode_text(self.TEXT) == before.encode_text(self.TEXT)
        assert after.encode_words(self.WORDS) == before.encode_words(self.WORDS)

    def test_unless_it_is_asked_for_words_are_read_as_they_are(self) -> None:
        codec = self.codec(num_subwords=60)
        typed = codec.encode_text(self.TYPED)
        assert {word.read_as for word in typed} == {None}
        assert [word.ids for word in typed] != [word.ids for word in codec.encode_text(self.TEXT)]

    def test_a_vocabulary_of_whole_words_goes_on_without(self) -> None:
        codec = self.codec()
        assert codec.restoring_spelling(self.COUNTS) is codec
        assert any(word.unknown == (True,) for word in codec.encode_text(self.TYPED))

    def test_so_does_one_whose_training_words_nobody_knows(self) -> None:
        codec = self.codec(num_subwords=60)
        assert codec.restoring_spelling(None) is codec
