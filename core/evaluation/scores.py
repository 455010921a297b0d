"""Scores of a corpus, each named after its method."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from augenmerk.core.errors import CorpusError
from augenmerk.core.evaluation.bootstrap import NUM_RESAMPLES, bleu_statistics, bootstrap_bleu, interval_95
from augenmerk.core.text.codec import fold_case
from augenmerk.core.text.legacy import bleu
from augenmerk.core.text.tokenizers import SpacyTokenizer, rules_for
from augenmerk.core.translation.experiment import DEFAULT_LENGTH_PENALTY, HeadScaled
from augenmerk.core.translation.running import Hypothesis
from augenmerk.core.translation.translator import Translator


@dataclass(frozen=True)
class CorpusScores:
    """Scores from 0 to 100.

    Attributes:
        sentences: pairs scored.
        bleu_tokenized_lowercased: BLEU-4 as in pytorch-seq2seq: spaCy tokens, lower-cased,
            `torchtext.data.metrics.bleu_score`; references are not passed through the vocabulary. White space does not
            count as a word.
        bleu_tokenized_lowercased_interval: its 95% interval: percentiles of 1,000 bootstrap resamples of the
            sentences, fixed seed.
        sacrebleu: BLEU of cased, detokenized text by sacreBLEU.
        sacrebleu_interval: its 95% interval by sacreBLEU's own bootstrap: mean of 1,000 resamples, less and plus the
            half width, from 0 to 100.
        sacrebleu_signature: sacreBLEU's description of its method.
        chrf: chrF2 of the same text, by sacreBLEU.
        seconds: wall time of translating.
    """

    sentences: int
    bleu_tokenized_lowercased: float
    bleu_tokenized_lowercased_interval: tuple[float, float]
    sacrebleu: float
    sacrebleu_interval: tuple[float, float]
    sacrebleu_signature: str
    chrf: float
    seconds: float


def score(hypotheses: Sequence[Hypothesis], references: Sequence[str], language: str, seconds: float) -> CorpusScores:
    """Score hypotheses against one reference each.

    Args:
        hypotheses, references: of the same length.
        language: spaCy's code for the references' words.
        seconds: wall time of translating.
    """
    from sacrebleu.metrics import BLEU, CHRF

    texts = [hypothesis.text for hypothesis in hypotheses]
    words = [lowered_words(hypothesis.words) for hypothesis in hypotheses]
    expected_words = reference_words(references, language)
    whole_text = BLEU()
    sacrebleu = whole_text.corpus_score(texts, [list(references)], n_bootstrap=NUM_RESAMPLES)
    mean, half_width = float(sacrebleu._mean), float(sacrebleu._ci)
    return CorpusScores(
        sentences=len(references),
        bleu_tokenized_lowercased=bleu(words, expected_words),
        bleu_tokenized_lowercased_interval=interval_95(bootstrap_bleu(bleu_statistics(words, expected_words))),
        sacrebleu=float(sacrebleu.score),
        sacrebleu_interval=(max(0.0, mean - half_width), min(100.0, mean + half_width)),
        sacrebleu_signature=str(whole_text.get_signature()),
        chrf=float(CHRF().corpus_score(texts, [list(references)]).score),
        seconds=seconds,
    )


def reference_words(references: Sequence[str], language: str) -> list[list[str]]:
    """spaCy's tokens of each line, lower-cased."""
    return [fold_case(words, "lower") for words in SpacyTokenizer(language).pipe(references)]


def bleu_tokenized_lowercased(hypotheses: Sequence[Hypothesis], expected_words: Sequence[Sequence[str]]) -> float:
    """Only the score of that name in `CorpusScores`: BLEU-4 from 0 to 100 against `reference_words`."""
    return bleu([lowered_words(hypothesis.words) for hypothesis in hypotheses], expected_words)


def lowered_words(words: Sequence[str]) -> list[str]:
    """The words of a hypothesis as BLEU counts them: lower-cased, without white space."""
    return [word.lower() for word in words if word and not word.isspace()]


def evaluate(
    translator: Translator,
    sources: Sequence[str],
    references: Sequence[str],
    on_progress: Callable[[int], None] = lambda done: None,
    *,
    beam: int = 1,
    length_penalty: float = DEFAULT_LENGTH_PENALTY,
    scalings: Sequence[HeadScaled] = (),
) -> tuple[CorpusScores, list[Hypothesis]]:
    """Translate `sources`, optionally with a beam and scaled heads, and score the result.

    Raises:
        CorpusError: there is nothing to translate, or the two sides differ in length.
        ConfigError: the beam or the length penalty is out of range.
        AnalysisError: the model has no such head.
    """
    if len(sources) != len(references) or not sources:
        raise CorpusError(
            f"There are {len(sources)} source and {len(references)} reference lines. Use two files with the same "
            "number of lines, at least one."
        )
    began = time.perf_counter()
    hypotheses = translator.translate_corpus(
        sources, beam=beam, length_penalty=length_penalty, scalings=scalings, on_progress=on_progress
    )
    seconds = time.perf_counter() - began
    config = translator.run_config.data
    language = rules_for(config.target_language)
    scored: Sequence[Hypothesis] = hypotheses
    if config.is_imported:  # its words are not spaCy's, which this score counts
        words = SpacyTokenizer(language).pipe(hypothesis.text for hypothesis in hypotheses)
        scored = [Hypothesis(each.text, tuple(cut)) for each, cut in zip(hypotheses, words, strict=True)]
    return score(scored, references, language, seconds), hypotheses
