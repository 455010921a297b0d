"""What is too long to be cut into words in a moment is refused with the limit, wherever a text can
be given."""

import pytest

from augenmerk.core.errors import AugenmerkError, CorpusError, TextError
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training.corpora.learning import split_lines
from augenmerk.core.text.tokenizers import (
    MAX_CHARACTERS,
    MAX_WORD_CHARACTERS,
    SpacyTokenizer,
    make_tokenizer,
)
from augenmerk.core.translation.experiment import Experiment, GivenTarget, SourceWordReplaced
from augenmerk.core.translation.translator import Translator

LONG = {
    "letters": "a" * 10**6,
    "brackets": "(" * 10**6,
    "emoji": "💥" * 10**6,
    "a word too long": "(" * (MAX_WORD_CHARACTERS + 1),
    "many words": "ab " * MAX_CHARACTERS,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_text_too_long_is_refused_at_once(word_translator: Translator, text: str) -> None:
    """Without the limit it takes minutes, and without the mark `heavy`, a test that computes for
    long fails."""
    with pytest.raises(TextError, match=r"1,000 words|20,000|1,000 characters"):
        word_translator.run(Experiment(text))
    with pytest.raises(TextError):
        word_translator.run(Experiment("Ein Mann.", GivenTarget(text)))
    with pytest.raises(AugenmerkError):
        word_translator.run(Experiment("Ein Mann.", interventions=(SourceWordReplaced(0, text),)))


@pytest.mark.slow
def test_the_longest_text_that_is_allowed_is_cut_into_words() -> None:
    tokenizer = SpacyTokenizer("de")
    tokenizer("Ein Mann.")
    words = tokenizer((("(" * (MAX_WORD_CHARACTERS - 1) + " ") * 20)[:MAX_CHARACTERS])
    assert len(words) == MAX_CHARACTERS - 20


def test_a_sentence_of_the_limit_is_read(word_translator: Translator) -> None:
    translation = word_translator.run(Experiment("a" * MAX_WORD_CHARACTERS))
    assert len(translation.source_words) == 1


def test_a_corpus_with_a_word_too_long_names_the_sentence() -> None:
    data = preset("notebook").data
    lines = ["Ein Mann.", "(" * (MAX_WORD_CHARACTERS + 1)]
    with pytest.raises(CorpusError, match="In sentence 2 of the corpus"):
        list(split_lines(lines, make_tokenizer(data, "de"), "keep"))


def test_symbols_are_bounded_as_well() -> None:
    with pytest.raises(TextError, match="20,000"):
        make_tokenizer(preset("copy-task").data, "de")("1 " * MAX_CHARACTERS)
