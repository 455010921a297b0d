"""One place decides what is said about a sentence, be it alone, in a corpus or in a sample."""

from dataclasses import replace

import pytest

from augenmerk.core.errors import TextError
from augenmerk.core.extensions.analyses.alignment import GoldPair
from augenmerk.core.extensions.analyses.alignment_ranking import rank_aligners
from augenmerk.core.extensions.analyses.head_profiles import profile_heads
from augenmerk.core.extensions.analyses.importance import head_importance
from augenmerk.core.extensions.analyses.pairs import WordPair, attribute_pairs
from augenmerk.core.extensions.note_summaries import sentences_by_kind
from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.notes import texts_of
from augenmerk.core.translation.translator import Translator
from tests.core.translation.test_coverage import knowing
from tests.core.translators import MAX_POSITIONS

FINE = "Ein Mann steht im Gras."
LONG = "Mann " * MAX_POSITIONS + "Hund"
SENTENCES = (
    FINE,
    LONG,
    "The dog is in the snow.",
    "Ein Elefant 🙂 schläft.",
    "",
    "Ein Mann\u2028steht.",
    "Wort " * 1_001,
)
CUT = f"Only the beginning was translated, {MAX_POSITIONS - 2} of {MAX_POSITIONS + 1} words"


@pytest.fixture(params=["word_translator", "subword_translator", "knowing"])
def translator(request: pytest.FixtureRequest) -> Translator:
    if request.param == "knowing":
        return knowing(request.getfixturevalue("subword_translator"), "picture captions")
    return request.getfixturevalue(request.param)


@pytest.mark.heavy
def test_a_corpus_says_what_each_sentence_says_alone(translator: Translator) -> None:
    hypotheses = translator.translate_corpus(SENTENCES)
    for text, hypothesis in zip(SENTENCES, hypotheses, strict=True):
        try:
            expected = translator.translate(text).all_notes
        except TextError as error:
            expected = (str(error),)
        assert sorted(texts_of(hypothesis.notes)) == sorted(expected), text
    indices = sentences_by_kind([hypothesis.notes for hypothesis in hypotheses])
    assert (
        indices["cut"],
        indices["refused"],
        indices["other_language"],
        indices["line_breaks"],
    ) == (
        [1],
        [4, 6],
        [2],
        [5],
    )


@pytest.mark.heavy
def test_results_of_a_sample_hold_the_notes_on_its_sentences(word_translator: Translator) -> None:
    sources, targets = [FINE, LONG.strip()], ["A man stands in the grass.", "A man."]
    links = frozenset({(0, 0)})
    gold = [
        GoldPair(line, tuple(source.split()), ("A", "man"), links, links)
        for line, source in enumerate((*sources, *sources), start=1)
    ]
    pairs = [WordPair(source, "A", "man", "dog") for source in sources]
    results = [
        profile_heads(word_translator, sources),
        profile_heads(word_translator, sources, targets),
        head_importance(word_translator, sources, targets),
        attribute_pairs(word_translator, pairs),
    ]
    for result in results:
        assert result.notes[0].startswith(
            "1 of 2 sentences is cut to fit into the model (number 1). " + CUT
        )
    short = [replace(pair, source=("Ein", "Mann")) for pair in gold[::2]]
    ranking = rank_aligners(word_translator, [short[0], gold[1], short[1], short[1]])
    assert ranking.notes[0].startswith(
        "1 of 4 gold pairs is cut to fit into the model (number 1). " + CUT
    )


@pytest.mark.heavy
def test_what_the_model_refuses_of_a_sample_is_said(word_translator: Translator) -> None:
    sources, targets = [FINE, "", FINE], ["A man.", "A man.", "man " * MAX_POSITIONS]
    for result in (
        profile_heads(word_translator, sources, targets),
        head_importance(word_translator, sources, targets),
    ):
        assert (result.num_sentences, result.num_skipped) == (1, 2)
        assert result.notes[0].startswith(
            "2 of 3 sentences are not translated (number 1, 2). The first: There is nothing"
        )


def test_notes_do_not_decide_whether_hypotheses_are_the_same(word_translator: Translator) -> None:
    empty, long = word_translator.translate_corpus(["", "Wort " * 1_001])
    assert empty == long
    assert empty.notes != long.notes
    assert word_translator.try_compile(Experiment(""))[0] is None
