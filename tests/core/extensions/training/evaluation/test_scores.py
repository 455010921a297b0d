"""Each score is what its name says."""

import pytest
import sacrebleu

from augenmerk.core.errors import CorpusError
from augenmerk.core.extensions.training.evaluation import evaluate, reference_words, score
from augenmerk.core.extensions.training.legacy import bleu
from augenmerk.core.translation.running import Hypothesis
from augenmerk.core.translation.translator import Translator

REFERENCES = [
    "A man is standing on a ladder.",
    "Two Dogs play in the snow.",
    "A woman in a blue t-shirt.",
]


def hypotheses_of(texts: list[str]) -> list[Hypothesis]:
    return [
        Hypothesis(text, tuple(words))
        for text, words in zip(texts, reference_words(texts, "en"), strict=True)
    ]


def test_a_perfect_translation_scores_100() -> None:
    scores = score(hypotheses_of(REFERENCES), REFERENCES, "en", seconds=1.0)
    assert scores.bleu_tokenized_lowercased == pytest.approx(100)
    assert scores.sacrebleu == pytest.approx(100)
    assert scores.chrf == pytest.approx(100)


def test_case_counts_for_sacrebleu_alone() -> None:
    lowered = [text.lower() for text in REFERENCES]
    scores = score(hypotheses_of(lowered), REFERENCES, "en", seconds=1.0)
    assert scores.bleu_tokenized_lowercased == pytest.approx(100)
    assert scores.sacrebleu < 95
    assert "case:mixed" in scores.sacrebleu_signature


def test_scores_are_those_of_the_libraries() -> None:
    texts = [
        "A man stands on a ladder.",
        "Two dogs play in the snow.",
        "A woman in a red t-shirt runs.",
    ]
    scores = score(hypotheses_of(texts), REFERENCES, "en", seconds=2.5)
    assert scores.sacrebleu == pytest.approx(sacrebleu.corpus_bleu(texts, [REFERENCES]).score)
    assert scores.chrf == pytest.approx(sacrebleu.corpus_chrf(texts, [REFERENCES]).score)
    by_other_code = sacrebleu.corpus_bleu(
        [" ".join(words) for words in reference_words(texts, "en")],
        [[" ".join(words) for words in reference_words(REFERENCES, "en")]],
        tokenize="none",
        smooth_method="none",
        force=True,
    ).score
    assert scores.bleu_tokenized_lowercased == pytest.approx(by_other_code, abs=1e-4)
    assert (scores.sentences, scores.seconds) == (3, 2.5)


def test_intervals_hold_their_scores() -> None:
    texts = [text.replace("blue", "red").replace("play", "run") for text in REFERENCES] * 10
    scores = score(hypotheses_of(texts), REFERENCES * 10, "en", seconds=1.0)
    low, high = scores.bleu_tokenized_lowercased_interval
    assert 0 < low < scores.bleu_tokenized_lowercased < high < 100
    low, high = scores.sacrebleu_interval
    assert 0 < low < scores.sacrebleu < high < 100
    assert "bs:1000|seed:12345" in scores.sacrebleu_signature


def test_the_interval_of_perfect_translations_ends_at_100() -> None:
    scores = score(hypotheses_of(REFERENCES), REFERENCES, "en", seconds=1.0)
    assert scores.sacrebleu_interval == (100.0, 100.0)


def test_chrf_has_the_interval_of_its_resamples() -> None:
    scores = score(hypotheses_of(REFERENCES), REFERENCES, "en", seconds=1.0)
    assert scores.chrf_interval == pytest.approx((100.0, 100.0))
    mixed = [*hypotheses_of(REFERENCES[:2]), *hypotheses_of(["xyz."] * len(REFERENCES[2:]))]
    scores = score(mixed, REFERENCES, "en", seconds=1.0)
    low, high = scores.chrf_interval
    assert 0 <= low < scores.chrf < high <= 100


def test_white_space_is_no_word_of_a_hypothesis() -> None:
    plain = hypotheses_of(REFERENCES)
    words = plain[0].words
    spaced = [Hypothesis(plain[0].text, (*words[:2], " ", *words[2:], "", "  ")), *plain[1:]]
    assert score(spaced, REFERENCES, "en", 1.0) == score(plain, REFERENCES, "en", 1.0)


def test_bleu_without_any_match_is_zero() -> None:
    assert bleu([["a", "b", "c", "d", "e"]], [["v", "w", "x", "y", "z"]]) == 0


def test_reference_words_are_never_unknown() -> None:
    assert reference_words(["The Zyzzogeton's t-shirt."], "en") == [
        ["the", "zyzzogeton", "'s", "t", "-", "shirt", "."]
    ]


def test_evaluate_scores_what_the_translator_says(untrained_checkpoint) -> None:
    translator = Translator.load(untrained_checkpoint, "cpu")
    done: list[int] = []
    scores, hypotheses = evaluate(
        translator, ["Ein Mann steht.", ""], ["A man stands.", "Nothing."], done.append
    )
    assert scores.sentences == len(hypotheses) == 2
    assert hypotheses[1] == Hypothesis("", ())
    assert done[-1] == 1
    with pytest.raises(CorpusError, match="1 source line and 2 reference lines"):
        evaluate(translator, ["a"], ["b", "c"])


def test_evaluate_scores_what_a_beam_finds(untrained_checkpoint) -> None:
    translator = Translator.load(untrained_checkpoint, "cpu")
    sources = ["Ein Mann steht auf einer Leiter.", "Ein Mann."]
    _, hypotheses = evaluate(translator, sources, sources, beam=3, length_penalty=0.0)
    assert hypotheses == translator.translate_corpus(sources, beam=3, length_penalty=0.0)
    assert hypotheses != translator.translate_corpus(sources)
