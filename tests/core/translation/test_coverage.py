"""Which words of a sentence the training data hardly had, and which sentences are unlike them."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from augenmerk import Coverage, RareWord, RespelledWord
from augenmerk.core.errors import TextError
from augenmerk.core.extensions.training.corpora.learning import split_lines
from augenmerk.core.extensions.training.corpora.parallel import SentencePairs
from augenmerk.core.extensions.training.corpora.prepared import prepare
from augenmerk.core.extensions.training.corpora.word_counting import count_words
from augenmerk.core.extensions.training.evaluation import reference_loss
from augenmerk.core.text.word_counts import WordCounts
from augenmerk.core.translation.experiment import Experiment, SourceWordReplaced
from augenmerk.core.translation.translator import Translator
from tests.core.translators import ENGLISH, GERMAN


def knowing(
    translator: Translator, kind: str = "picture captions", **changes: object
) -> Translator:
    """The same model; it has the counts of the made-up sentences."""
    codec = translator.checkpoint.codecs.source
    counts = count_words(list(split_lines(GERMAN, codec.tokenizer, codec.case)), kind)
    assert counts is not None
    counts = replace(counts, **changes)  # type: ignore[arg-type]
    return knowing_counts(translator, counts)


def knowing_counts(translator: Translator, counts: WordCounts) -> Translator:
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


class TestSpelling:
    USUAL = "Ein Fußballspieler schläft auf der Straße."
    TYPED = "EIN FUSSBALLSPIELER schlaeft auf der Strasse."

    def test_a_word_typed_without_umlauts_is_translated_as_with_them(
        self, pieces: Translator
    ) -> None:
        usual, typed = pieces.translate(self.USUAL), pieces.translate(self.TYPED)
        assert (typed.source_ids, typed.source_tokens) == (usual.source_ids, usual.source_tokens)
        assert (typed.predicted_ids, typed.text) == (usual.predicted_ids, usual.text)
        assert np.array_equal(typed.maps.cross, usual.maps.cross)

    def test_the_words_stay_what_was_typed_and_it_is_told_how_they_were_read(
        self, pieces: Translator
    ) -> None:
        translation = pieces.translate(self.TYPED)
        assert [word.text for word in translation.source_words] == [
            *("ein", "fussballspieler", "schlaeft", "auf", "der", "strasse", "."),
        ]
        assert translation.source_places == tuple(range(7))
        assert translation.coverage is not None
        words = translation.coverage.respelled_words
        places = [(word.start, word.end) for word in translation.source_words]
        assert words == (
            RespelledWord("fussballspieler", "fußballspieler", *places[1]),
            RespelledWord("schlaeft", "schläft", *places[2]),
            RespelledWord("strasse", "straße", *places[5]),
        )
        assert words[2].explanation == "read as “straße”: “strasse” is not in the training data"
        assert translation.coverage.rare_words == ()
        usual = pieces.translate(self.USUAL).coverage
        assert usual is not None
        assert usual.respelled_words == ()

    def test_a_word_is_rare_if_the_spelling_that_was_read_is(self, pieces: Translator) -> None:
        counts = pieces.checkpoint.word_counts
        assert counts is not None
        rare = WordCounts({**counts.counts, "bär": 2}, counts.kind)
        coverage = knowing_counts(pieces, rare).coverage("Ein Baer steht.")
        assert coverage is not None
        assert [(word.text, word.count) for word in coverage.rare_words] == [("bär", 2)]
        assert [(word.text, word.read_as) for word in coverage.respelled_words] == [("baer", "bär")]

    def test_the_notice_on_a_slip_of_the_training_data_states_how_often_it_was_there(
        self, pieces: Translator
    ) -> None:
        counts = pieces.checkpoint.word_counts
        assert counts is not None
        slip = WordCounts({**counts.counts, "strasse": 1, "straße": 10})
        coverage = knowing_counts(pieces, slip).coverage("Ein Mann auf der Strasse.")
        assert coverage is not None
        (word,) = coverage.respelled_words
        assert word.explanation == "read as “straße”: “strasse” is only once in the training data"

    def test_a_sentence_is_like_the_training_data_however_it_was_typed(
        self, pieces: Translator
    ) -> None:
        coverage = pieces.coverage("Fussballspieler schlaeft")
        assert coverage is not None
        assert not coverage.is_unlike_training

    def test_the_word_that_replaces_another_is_read_so_too(self, pieces: Translator) -> None:
        text = "Ein Hund steht auf der Strasse."
        translation = pieces.run(
            Experiment(text, interventions=(SourceWordReplaced(2, "schlaeft"),))
        )
        assert translation.coverage is not None
        assert [(word.text, word.read_as) for word in translation.coverage.respelled_words] == [
            ("schlaeft", "schläft"),
            ("strasse", "straße"),
        ]
        assert (
            translation.source_ids
            == pieces.translate("Ein Hund schläft auf der Straße.").source_ids
        )

    def test_the_loss_of_references_is_that_of_the_text_as_read(self, pieces: Translator) -> None:
        losses = [
            reference_loss(pieces, [source], ["A dog sleeps."])[0]
            for source in (self.USUAL, self.TYPED)
        ]
        assert losses[0] == losses[1]

    def test_the_digest_and_the_file_know_nothing_of_it(
        self, pieces: Translator, subword_translator: Translator
    ) -> None:
        assert pieces.digest == subword_translator.digest
        assert pieces.checkpoint.codecs.to_dict() == subword_translator.checkpoint.codecs.to_dict()

    def test_in_training_the_words_of_validation_are_read_as_they_are(
        self, pieces: Translator
    ) -> None:
        usual = SentencePairs(tuple(GERMAN), tuple(ENGLISH))
        typed = SentencePairs(
            tuple(line.replace("ß", "ss").replace("ä", "ae") for line in GERMAN), tuple(ENGLISH)
        )
        corpus = prepare("made up", pieces.run_config.data, usual, typed, lambda phase: None)
        assert corpus.word_counts is not None
        assert corpus.validation.target == corpus.train.target
        assert corpus.validation.source != corpus.train.source
        restoring = corpus.codecs.source.restoring_spelling(corpus.word_counts)
        words = split_lines(typed.source, restoring.tokenizer, restoring.case)
        assert [restoring.encode_words(word) for word in words] == [
            list(ids[1:-1]) for ids in corpus.train.source
        ]

    def test_models_of_whole_words_read_what_was_typed(self, words: Translator) -> None:
        translation = words.translate(self.TYPED)
        assert translation.coverage is not None
        assert translation.coverage.respelled_words == ()
        assert translation.unknown_source_positions


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
        (
            RareWord("x", 0, 1, 2, ("x",), is_unknown=True),
            "not in the training data; read as an unknown word (<unk>)",
        ),
    ],
)
def test_what_is_said_of_a_word(word: RareWord, told: str) -> None:
    assert word.explanation == told


def test_a_word_that_the_vocabulary_does_not_have_is_rare_too(words: Translator) -> None:
    (word,) = words.rare_words("Ein Elefant steht im Gras.")
    assert (word.text, word.is_unknown, word.count) == ("elefant", True, 0)


def test_a_sentence_mostly_of_rare_words_is_told_once_there_are_two_or_no_others(
    subword_translator: Translator,
) -> None:
    pieces = knowing(subword_translator, unusual_below=0.0)
    for text, is_told in (
        ("The committee approved the budget.", True),
        ("Ein Mann liest.", False),
        ("Ein Mann steht im Gras und liest.", False),
        ("Ein Mann und er liest.", True),
        ("Ein Elefant trompetet dort.", True),
        ("Elefant", True),  # it has no other word
        ("Elefant Elefant", True),
        ("1 2 3 4 5", True),  # the model reads no digit
        ("Ein Mann. 1 2 3 4 5", False),
    ):
        coverage = pieces.coverage(text)
        assert coverage is not None
        assert coverage.is_unlike_training is is_told, text
        assert bool(coverage.notice) is is_told


def test_a_sentence_rarer_than_nearly_all_training_sentences_is_told(
    subword_translator: Translator,
) -> None:
    """As those of another language that shares some words with this one."""
    for text, is_told in (
        ("Ein Mann steht im Gras mit Elefant und Tiger.", True),
        ("Ein Elefant.", True),  # one rare word of two
        ("Ein Elefant steht.", False),
        ("Ein Mann.", False),
    ):
        usual = knowing(subword_translator, unusual_below=0.0).coverage(text)
        strict = knowing(subword_translator, unusual_below=20.0).coverage(text)
        assert usual is not None
        assert strict is not None
        assert (usual.is_unlike_training, strict.is_unlike_training) == (False, is_told), text


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("A dog", "English"),
        ("THE COMMITTEE APPROVED THE BUDGET.", "English"),
        ("How are you?", "English"),
        ("Two dogs run in the snow.", "English"),
        ("Ein Mann steht.", ""),
        ("Das Parlament billigte den Haushalt.", ""),
        ("Eine Frau sieht „The End“.", ""),
        ("Le chien court dans la neige.", "French"),
        ("Een man op een fiets in de straat", ""),
        ("Elefant", ""),
    ],
)
def test_another_language_typed_instead_of_german_has_its_own_hint(
    pieces: Translator, text: str, language: str
) -> None:
    translation, hint = (
        pieces.translate(text),
        f"This looks like {language}. Enter a German sentence.",
    )
    assert translation.hint == (hint if language else "")
    assert (hint in translation.notes) is bool(language)


def test_a_model_without_word_counts_hints_at_the_language_too(
    subword_translator: Translator,
) -> None:
    assert subword_translator.translate("The dog is in the snow.").hint.startswith(
        "This looks like English."
    )
    replaced = Experiment("The dog is in the snow.", interventions=(SourceWordReplaced(1, "Hund"),))
    assert subword_translator.run(replaced).hint.startswith("This looks like English.")


@pytest.mark.training
def test_a_list_of_the_copy_task_without_the_first_symbol_of_training_has_a_hint(
    copy_translator: Translator,
) -> None:
    hint = "Every list in the training data begins with 1. Begin with 1, or expect mistakes."
    for text, is_expected in (("7 3 9", False), ("1 7 3 9", True), ("99 1 7 3", True)):
        translation = copy_translator.translate(text)
        assert translation.hint == ("" if is_expected else hint)
        assert (hint in translation.notes) is not is_expected


def test_the_notice_speaks_of_captions_only_where_there_were_captions(
    subword_translator: Translator,
) -> None:
    notices = []
    for kind in ("picture captions", "", "recipes"):
        coverage = knowing(subword_translator, kind).coverage("Der Aufsichtsrat billigte Kredite.")
        assert coverage is not None
        notices.append(coverage.notice)
    assert notices == [
        "This model knows picture captions. For other text, import a bigger model.",
        "This model's training data had few of these words. For other text, import a bigger model.",
        "This model knows recipes. For other text, import a bigger model.",
    ]


def test_the_words_are_those_that_the_model_reads(pieces: Translator) -> None:
    replaced = pieces.run(
        Experiment("Ein Mann steht.", interventions=(SourceWordReplaced(1, "Elefant"),))
    )
    assert replaced.coverage is not None
    assert [word.text for word in replaced.coverage.rare_words] == ["elefant"]
    unknown = pieces.run(
        Experiment("Ein Mann steht.", interventions=(SourceWordReplaced(1, "<unk>"),))
    )
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


@pytest.mark.parametrize(
    "text", ["\ud800 kaputt \x00", "Мужчина رجل 🙂", "日本語\u2028Mann", "a" * 900]
)
def test_any_text_has_rare_words_within_its_tokens(pieces: Translator, text: str) -> None:
    translation = pieces.translate(text)
    assert translation.coverage is not None
    for word in translation.coverage.rare_words:
        assert 0 < word.start < word.end < len(translation.source_tokens)
        assert word.explanation
