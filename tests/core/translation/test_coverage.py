"""Which words of a sentence the training data hardly had, and which sentences are unlike them."""

from dataclasses import FrozenInstanceError, replace

import pytest

from core.api import Coverage, RareWord
from core.errors import TextError
from core.text.codec import split_lines
from core.text.word_counts import WordCounts
from core.translation.experiment import Experiment, SourceWordReplaced
from core.translation.translator import Translator
from tests.core.translators import GERMAN


def knowing(translator: Translator, kind: str = "picture captions", **changes: object) -> Translator:
    """The same model; it has the counts of the made-up sentences."""
    codec = translator.checkpoint.codecs.source
    counts = WordCounts.of_sentences(list(split_lines(GERMAN, codec.tokenizer, codec.case)), kind)
    assert counts is not None
    counts = replace(counts, **changes)  # type: ignore[arg-type]
    return Translator(replace(translator.checkpoint, word_counts=counts), translator.device)


@pytest.fixture
def words(word_translator: Translator) -> Translator:
    return knowing(word_translator)


@pytest.fixture
def pieces(subword_translator: Translator) -> Translator:
    return knowing(subword_translator)


def test_a_sentence_like_the_training_data_has_no_rare_word(pieces: Translator) -> None:
    coverage = pieces.translate("Ein Mann steht auf einer Leiter.").coverage
    assert coverage == Coverage((), False, "picture captions")
    assert coverage.notice == ""


def test_a_rare_word_names_its_tokens_and_pieces(pieces: Translator) -> None:
    translation = pieces.translate("Ein MANN lesen, LESEN.")
    assert translation.coverage is not None
    first, comma, second = translation.coverage.rare_words
    assert (first.text, first.count, comma.text) == ("lesen", 0, ",")
    assert (second.text, second.pieces) == (first.text, first.pieces)
    assert first.start < comma.start < second.start
    tokens = translation.source_tokens[first.start : first.end]
    assert "".join(first.pieces) == "lesen"
    assert len(first.pieces) > 1
    assert [token.removeprefix("·") for token in tokens if token != "▁"] == list(first.pieces)
    told = f"not in the training data; the model guesses from its pieces: {'·'.join(first.pieces)}"
    assert first.explanation == told
    assert pieces.rare_words("Ein MANN lesen, LESEN.") == translation.coverage.rare_words
    with pytest.raises(FrozenInstanceError):
        first.count = 9  # type: ignore[misc]


def test_case_is_folded_as_the_model_folds_it(pieces: Translator) -> None:
    assert pieces.rare_words("EIN HUND SCHLÄFT IM GRAS.") == ()
    codec = pieces.checkpoint.codecs.source
    codec_case, codec.case = codec.case, "keep"
    try:
        assert [word.text for word in pieces.rare_words("EIN hund")] == ["EIN"]
    finally:
        codec.case = codec_case


@pytest.mark.parametrize(
    ("word", "told"),
    [
        (RareWord("x", 0, 1, 2, ("x",)), "not in the training data; the model guesses"),
        (RareWord("x", 1, 1, 2, ("x",)), "only once in the training data"),
        (
            RareWord("xy", 4, 1, 3, ("x", "y")),
            "only 4 times in the training data; the model guesses from its pieces: x·y",
        ),
        (RareWord("x", 2, 1, 2, ("x",), is_exact=False), "at most 2 times in the training data"),
        (RareWord("x", 0, 1, 2, ("x",), is_unknown=True), "not in the training data; read as an unknown word (<unk>)"),
    ],
)
def test_what_is_said_of_a_word(word: RareWord, told: str) -> None:
    assert word.explanation == told


def test_a_word_that_the_vocabulary_does_not_have_is_rare_too(words: Translator) -> None:
    (word,) = words.rare_words("Ein Elefant steht im Gras.")
    assert (word.text, word.is_unknown, word.count) == ("elefant", True, 0)


def test_a_sentence_mostly_of_rare_words_is_told_once_there_are_two(subword_translator: Translator) -> None:
    pieces = knowing(subword_translator, unusual_below=0.0)
    for text, is_told in (
        ("The committee approved the budget.", True),
        ("Ein Mann liest.", False),
        ("Ein Mann steht im Gras und liest.", False),
        ("Ein Mann und er liest.", True),
        ("Ein Elefant trompetet dort.", True),
        ("Elefant", False),
        ("Elefant Elefant", False),
        ("1 2 3 4 5", False),
        ("Ein Mann. 1 2 3 4 5", False),
    ):
        coverage = pieces.coverage(text)
        assert coverage is not None
        assert coverage.is_unlike_training is is_told, text
        assert bool(coverage.notice) is is_told


def test_a_sentence_rarer_than_nearly_all_training_sentences_is_told(subword_translator: Translator) -> None:
    """As those of another language that shares some words with this one."""
    text = "Ein Mann steht im Gras mit Elefant und Tiger."
    usual = knowing(subword_translator, unusual_below=0.0).coverage(text)
    strict = knowing(subword_translator, unusual_below=20.0).coverage(text)
    assert usual is not None
    assert strict is not None
    assert (usual.is_unlike_training, strict.is_unlike_training) == (False, True)


def test_the_notice_speaks_of_captions_only_where_there_were_captions(subword_translator: Translator) -> None:
    notices = []
    for kind in ("picture captions", "", "recipes"):
        coverage = knowing(subword_translator, kind).coverage("The committee approved the budget.")
        assert coverage is not None
        notices.append(coverage.notice)
    assert notices == [
        "This model knows picture captions. For other text, import a bigger model.",
        "This model's training data had few of these words. For other text, import a bigger model.",
        "This model knows recipes. For other text, import a bigger model.",
    ]


def test_the_words_are_those_that_the_model_reads(pieces: Translator) -> None:
    replaced = pieces.run(Experiment("Ein Mann steht.", interventions=(SourceWordReplaced(1, "Elefant"),)))
    assert replaced.coverage is not None
    assert [word.text for word in replaced.coverage.rare_words] == ["elefant"]
    unknown = pieces.run(Experiment("Ein Mann steht.", interventions=(SourceWordReplaced(1, "<unk>"),)))
    assert unknown.coverage is not None
    assert unknown.coverage.rare_words == ()


def test_a_model_whose_file_does_not_tell_has_no_rare_words(subword_translator: Translator) -> None:
    assert subword_translator.translate("Der Elefant trompetet.").coverage is None
    assert subword_translator.coverage("Der Elefant trompetet.") is None
    assert subword_translator.rare_words("Der Elefant trompetet.") == ()


@pytest.mark.training
def test_the_copy_task_has_none(copy_translator: Translator) -> None:
    assert copy_translator.checkpoint.word_counts is None
    assert copy_translator.translate("1 7 3 9").coverage is None


@pytest.mark.parametrize("text", ["", "  \n ", "x" * 20_001, "x" * 1_001])
def test_a_text_that_cannot_be_translated_is_refused(pieces: Translator, text: str) -> None:
    with pytest.raises(TextError):
        pieces.rare_words(text)


@pytest.mark.parametrize("text", ["\ud800 kaputt \x00", "Мужчина رجل 🙂", "日本語\u2028Mann", "a" * 900])
def test_any_text_has_rare_words_within_its_tokens(pieces: Translator, text: str) -> None:
    translation = pieces.translate(text)
    assert translation.coverage is not None
    for word in translation.coverage.rare_words:
        assert 0 < word.start < word.end < len(translation.source_tokens)
        assert word.explanation
