"""Scores of a whole corpus, each under the name of the way it is counted."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.errors import CorpusError
from core.text.codec import fold_case
from core.text.legacy import bleu
from core.text.tokenizers import SpacyTokenizer
from core.translation.translator import Hypothesis, Translator


@dataclass(frozen=True)
class CorpusScores:
    """Scores from 0 to 100.

    Attributes:
        sentences: pairs scored.
        bleu_tokenized_lowercased: BLEU-4 as pytorch-seq2seq counts it: spaCy tokens, lower-cased,
            `torchtext.data.metrics.bleu_score`; references are not passed through the vocabulary.
        sacrebleu: BLEU of cased, detokenized text by sacreBLEU.
        sacrebleu_signature: what sacreBLEU says of how it counted.
        chrf: chrF2 of the same text, by sacreBLEU.
        seconds: wall time of translating.
    """

    sentences: int
    bleu_tokenized_lowercased: float
    sacrebleu: float
    sacrebleu_signature: str
    chrf: float
    seconds: float


def score(hypotheses: Sequence[Hypothesis], references: Sequence[str], language: str, seconds: float) -> CorpusScores:
    """Scores hypotheses against one reference each.

    Args:
        hypotheses, references: of the same length.
        language: spaCy's code for the references' words.
        seconds: what translating took.
    """
    from sacrebleu.metrics import BLEU, CHRF

    texts = [hypothesis.text for hypothesis in hypotheses]
    whole_text = BLEU()
    sacrebleu = whole_text.corpus_score(texts, [list(references)]).score
    return CorpusScores(
        sentences=len(references),
        bleu_tokenized_lowercased=bleu(
            [[word.lower() for word in hypothesis.words] for hypothesis in hypotheses],
            reference_words(references, language),
        ),
        sacrebleu=float(sacrebleu),
        sacrebleu_signature=str(whole_text.get_signature()),
        chrf=float(CHRF().corpus_score(texts, [list(references)]).score),
        seconds=seconds,
    )


def reference_words(references: Sequence[str], language: str) -> list[list[str]]:
    """spaCy's tokens of each line, lower-cased."""
    return [fold_case(words, "lower") for words in SpacyTokenizer(language).pipe(references)]


def evaluate(
    translator: Translator,
    sources: Sequence[str],
    references: Sequence[str],
    on_progress: Callable[[int], None] = lambda done: None,
) -> tuple[CorpusScores, list[Hypothesis]]:
    """Translates `sources` and scores the result.

    Raises:
        CorpusError: there is nothing to translate, or the two sides differ in length.
    """
    if len(sources) != len(references) or not sources:
        raise CorpusError(
            f"There are {len(sources)} source and {len(references)} reference lines. The same number on both sides, at "
            "least one, was expected. Check the two files."
        )
    began = time.perf_counter()
    hypotheses = translator.translate_corpus(sources, on_progress=on_progress)
    seconds = time.perf_counter() - began
    return score(hypotheses, references, translator.run.data.target_language, seconds), hypotheses
