"""Scores of a model on a corpus, each named after its method: loss and perplexity, BLEU and chrF.

The uncertainty of BLEU is that of resampled corpora (Koehn 2004, W04-3250). Each sentence is
counted once; in numpy the counts are only added up. They are those of
`torchtext.data.metrics.bleu_score`, see `legacy.bleu`: the score of the whole set is the same.
"""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from ...config import DataConfig
from ...errors import CorpusError
from ...inference.compiled import Model, plain_form
from ...maps.left_out import function_words_of, left_out_note, left_out_words_of
from ...model.non_finite import require_finite
from ...quantities import counted
from ...text.codec import fold_case
from ...text.languages import code_of, inner_code
from ...text.tokenizers import SpacyTokenizer, rules_for
from ...translation.compilation import compile_general
from ...translation.experiment import DEFAULT_LENGTH_PENALTY, Experiment, General
from ...translation.notes import Note
from ...translation.running import Hypothesis
from ...translation.translator import EXPERIMENT_WINDOW, Translator
from .corpora.batches import Batch, collate, validation_batches
from .corpora.prepared import encode_lines
from .legacy import bleu
from .scores import CorpusScores


def score(
    hypotheses: Sequence[Hypothesis], references: Sequence[str], language: str, seconds: float
) -> CorpusScores:
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
    chrf = CHRF()
    counts = statistics_by(chrf, texts, references)
    return CorpusScores(
        sentences=len(references),
        bleu_tokenized_lowercased=bleu(words, expected_words),
        bleu_tokenized_lowercased_interval=interval_95(
            bootstrap_bleu(bleu_statistics(words, expected_words))
        ),
        sacrebleu=float(sacrebleu.score),
        # a mean of scores of 100 can be above 100 by rounding
        sacrebleu_interval=(_in_range(mean - half_width), _in_range(mean + half_width)),
        sacrebleu_signature=str(whole_text.get_signature()),
        chrf=float(score_by(chrf)(counts.sum(axis=0)[None])[0]),
        # not sacreBLEU's, which fails where the score of one resample is 0
        chrf_interval=interval_95(score_by(chrf)(resampled_sums(counts, NUM_RESAMPLES, SEED))),
        seconds=seconds,
    )


def _in_range(score: float) -> float:
    return min(max(score, 0.0), 100.0)


def reference_words(references: Sequence[str], language: str) -> list[list[str]]:
    """spaCy's tokens of each line, lower-cased."""
    return [fold_case(words, "lower") for words in SpacyTokenizer(language).pipe(references)]


def bleu_tokenized_lowercased(
    hypotheses: Sequence[Hypothesis], expected_words: Sequence[Sequence[str]]
) -> float:
    """Only the score of that name in `CorpusScores`: BLEU-4 from 0 to 100 against
    `reference_words`.
    """
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
    changes: Sequence[General] = (),
) -> tuple[CorpusScores, list[Hypothesis]]:
    """Translate `sources`, optionally with a beam and changed heads, and score the result.

    Raises:
        CorpusError: there is nothing to translate, or the two sides differ in length.
        ConfigError: the beam or the length penalty is out of range.
        AnalysisError: the model has no such head.
    """
    if len(sources) != len(references) or not sources:
        raise CorpusError(
            f"Found {counted(len(sources), 'source line')} and "
            f"{counted(len(references), 'reference line')}. Use two files with the same number "
            "of lines, at least one."
        )
    began = time.perf_counter()
    hypotheses = translator.translate_corpus(
        sources, beam=beam, length_penalty=length_penalty, changes=changes, on_progress=on_progress
    )
    seconds = time.perf_counter() - began
    language = language_of_references(translator, sources)
    words = in_words_of_bleu(hypotheses, translator.run_config.data, language)
    return score(words, references, language, seconds), hypotheses


def language_of_references(translator: Translator, sources: Sequence[str]) -> str:
    """The code of spaCy's rules for translations of these sentences."""
    codes = {code_of(source, translator.target_codes) for source in sources if source.strip()}
    (code,) = codes if len(codes) == 1 else (None,)
    return rules_for(
        translator.run_config.data.target_language if code is None else inner_code(code)
    )


def in_words_of_bleu(
    hypotheses: Sequence[Hypothesis], config: DataConfig, language: str | None = None
) -> Sequence[Hypothesis]:
    """The translations in spaCy's words, which BLEU counts; those of an imported model are others.

    Args:
        hypotheses: the translations.
        config: of the model.
        language: code of spaCy's rules; None for those of the target language.
    """
    if not config.is_imported:
        return hypotheses
    return in_spacy_words(
        hypotheses, rules_for(config.target_language) if language is None else language
    )


def in_spacy_words(hypotheses: Sequence[Hypothesis], language: str) -> list[Hypothesis]:
    """The translations in spaCy's words by the rules of this code, with their notes."""
    words = SpacyTokenizer(language).pipe(hypothesis.text for hypothesis in hypotheses)
    return [
        Hypothesis(hypothesis.text, tuple(cut), hypothesis.notes)
        for hypothesis, cut in zip(hypotheses, words, strict=True)
    ]


MAX_ORDER = 4
NUM_RESAMPLES = 1000
SEED = 12345
"""The seed of sacreBLEU."""

Statistics = NDArray[np.int64]
"""One row for each sentence, [N, 10]: n-grams found in the reference too (n = 1 to 4), n-grams (n =
1 to 4), words of the hypothesis, words of the reference."""


def bleu_statistics(
    hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]
) -> Statistics:
    """The counts that BLEU-4 needs of each hypothesis and its reference, both as words without
    white space.
    """
    pairs = zip(hypotheses, references, strict=True)
    rows = [[*_matches(words, reference), len(words), len(reference)] for words, reference in pairs]
    return np.array(rows, dtype=np.int64).reshape(-1, 2 * MAX_ORDER + 2)


def _matches(words: Sequence[str], reference: Sequence[str]) -> list[int]:
    """Clipped counts of n = 1 to 4, then all counts of n = 1 to 4."""
    clipped = []
    total = []
    for order in range(1, MAX_ORDER + 1):
        common = _ngrams(words, order) & _ngrams(reference, order)
        clipped.append(common.total())
        total.append(max(0, len(words) - order + 1))
    return clipped + total


def _ngrams(words: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[first:] for first in range(order)), strict=False))


def bleu_of(sums: NDArray[np.int64] | NDArray[np.float64]) -> NDArray[np.float64]:
    """BLEU-4 from 0 to 100 of each row of summed statistics [..., 10]; 0 where any order has no
    match at all.
    """
    clipped = sums[..., :MAX_ORDER].astype(float)
    total = sums[..., MAX_ORDER : 2 * MAX_ORDER].astype(float)
    hypothesis_length = sums[..., -2].astype(float)
    reference_length = sums[..., -1].astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.exp(np.log(clipped / total).mean(axis=-1))
        brevity = np.exp(np.minimum(1 - reference_length / hypothesis_length, 0))
        return np.where(clipped.min(axis=-1) == 0, 0.0, 100 * precision * brevity)


def bootstrap_bleu(
    statistics: Statistics, num_resamples: int = NUM_RESAMPLES, seed: int = SEED
) -> NDArray[np.float64]:
    """BLEU of `num_resamples` sets of as many sentences, drawn with replacement, [num_resamples].

    With the same seed and number of sentences the same ones are drawn, so two systems can be
    compared pairwise.
    """
    return bleu_of(resampled_sums(statistics, num_resamples, seed))


def resampled_sums(statistics: Statistics, num_resamples: int, seed: int) -> Statistics:
    """The sums of `num_resamples` sets of as many rows, drawn with replacement."""
    generator = np.random.default_rng(seed)
    num_sentences = len(statistics)
    sums = np.empty((num_resamples, statistics.shape[1]), dtype=np.int64)
    for index in range(num_resamples):
        sums[index] = statistics[generator.integers(num_sentences, size=num_sentences)].sum(axis=0)
    return sums


def statistics_by(
    metric: Any, texts: Sequence[str], references: Sequence[str]
) -> NDArray[np.int64]:
    """The counts that a metric of sacreBLEU needs of each text and its reference, [N, K]."""
    counts = metric._extract_corpus_statistics(texts, [list(references)])
    return np.array(counts, dtype=np.int64)


def score_by(metric: Any) -> Callable[[NDArray[np.int64]], NDArray[np.float64]]:
    """The score of each row of summed `statistics_by` this metric."""
    return lambda sums: np.array(
        [metric._compute_score_from_stats(row).score for row in sums.tolist()]
    )


def interval_95(scores: NDArray[np.float64]) -> tuple[float, float]:
    """The middle 95% of `scores`: their 2.5th and 97.5th percentile."""
    low, high = np.percentile(scores, [2.5, 97.5])
    return float(low), float(high)


@dataclass(frozen=True)
class CorpusLoss:
    """Natural-log cross-entropies per target token, without label smoothing.

    Attributes:
        token_weighted: every token counts the same.
        batch_mean: mean of the batches' means, as the published `notebook` curve counts it.
        num_tokens: predictions counted.
        num_sentences: pairs counted.
    """

    token_weighted: float
    batch_mean: float
    num_tokens: int
    num_sentences: int

    @property
    def perplexity(self) -> float:
        """exp of the token-weighted loss."""
        return math.exp(min(self.token_weighted, 700.0))


def corpus_loss(
    model: Model,
    batches: Iterable[Batch],
    changes: Sequence[General] = (),
    parts_of: Callable[[Batch], Iterable[Batch]] = lambda batch: (batch,),
) -> CorpusLoss:
    """The model's loss over `batches`, without dropout. The mode of the model is restored.

    Args:
        model: the model.
        batches: what it reads.
        changes: heads and networks that are changed.
        parts_of: the parts of a batch that are computed one by one.

    Raises:
        AnalysisError: a scaled head does not exist.
    """
    plain = plain_form(model)
    was_training = plain.training
    plain.eval()
    sums = []
    counts = []
    num_sentences = 0
    with torch.inference_mode():
        for batch in batches:
            total = 0.0
            for part in parts_of(batch):
                interventions = compile_general(plain, changes, len(part.source))
                encoding = model.encode(part.source, interventions=interventions)
                logits = model.decode(encoding, part.target[:, :-1]).logits
                loss = functional.cross_entropy(
                    logits.flatten(0, 1).float(),
                    part.target[:, 1:].flatten(),
                    ignore_index=plain.padding_id,
                    reduction="sum",
                )
                total += float(loss)
            sums.append(total)
            counts.append(batch.num_target_tokens)
            num_sentences += len(batch.source)
    plain.train(was_training)
    return CorpusLoss(
        token_weighted=sum(sums) / sum(counts),
        batch_mean=sum(total / count for total, count in zip(sums, counts, strict=True))
        / len(sums),
        num_tokens=sum(counts),
        num_sentences=num_sentences,
    )


def reference_loss(
    translator: Translator,
    sources: Sequence[str],
    references: Sequence[str],
    changes: Sequence[General] = (),
) -> tuple[CorpusLoss | None, list[int]]:
    """The loss of `references`, teacher-forced, in batches of the model's training settings.

    Sources are read as in translation, with restored spellings (`TextCodec.restoring_spelling`),
    unlike in training. For a checkpoint of `notebook` on the test split, `batch_mean` corresponds
    to the published test loss.

    Args:
        sources, references: of the same length.
        changes: heads and networks that are changed.

    Returns:
        The loss over the pairs that are translated, have a reference, and fit into the model's
            positions, None if there
        is none; and the indices of the pairs that are left out because one side does not fit.

    Raises:
        NonFiniteError: the model's logits are not finite.
    """
    run = translator.run_config
    codecs = translator.checkpoint.codecs
    model = translator.model
    config = run.data
    room = run.model.max_positions
    complete = [
        index
        for index, (source, reference) in enumerate(zip(sources, references, strict=True))
        if reference.strip() and translator.try_compile(Experiment(source))[0] is not None
    ]
    encoded = encode_lines(
        codecs, config, *([side[index] for index in complete] for side in (sources, references))
    )
    fitting = encoded.within(room, room + 1)
    too_long = sorted(set(complete).difference(complete[index] for index in fitting))
    pairs = encoded.take(fitting)
    if not len(pairs):
        return None, too_long

    def batches() -> Iterator[Batch]:
        for indices in validation_batches(pairs, run.training):
            yield collate(pairs, indices, model.padding_id).to(translator.device.name)

    loss = corpus_loss(translator.current_model(), batches(), changes)
    if not math.isfinite(loss.token_weighted):
        for batch in batches():
            with torch.inference_mode():
                interventions = compile_general(model, changes, len(batch.source))
                encoding = model.encode(batch.source, interventions=interventions)
                read = batch.target[:, :-1]
                require_finite(model, encoding, read, model.decode(encoding, read).logits)
    return loss, too_long


def notes_on_left_out_words(
    translator: Translator,
    experiments: Sequence[Experiment],
    *,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[tuple[Note, ...]]:
    """For each of many sentences, the notes on its `left_out_words`.

    It is translated again for that.

    Args:
        translator: the model.
        experiments: the sentences, with the decoding and the changes; those that are refused have
            no notes.
        on_progress: called with the number of finished sentences and their total.
    """
    notes: list[tuple[Note, ...]] = [()] * len(experiments)
    if not function_words_of(translator):
        return notes
    tried = {
        index: translator.try_compile(experiment)[0] for index, experiment in enumerate(experiments)
    }
    compiled = {index: accepted for index, accepted in tried.items() if accepted is not None}
    indices = list(compiled)
    for first in range(0, len(indices), EXPERIMENT_WINDOW):
        group = indices[first : first + EXPERIMENT_WINDOW]
        translations = list(translator.run_many([compiled[index] for index in group]))
        for index, words in zip(group, left_out_words_of(translator, translations), strict=True):
            notes[index] = tuple(Note("left_out", left_out_note(word.text)) for word in words)
        on_progress(group[-1] + 1, len(experiments))
    return notes
