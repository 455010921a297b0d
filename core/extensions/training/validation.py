"""Validation during training: the loss, a sample of translations, the probe sentence of the
film.
"""

import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence

from ...device import DeviceChoice
from ...text.languages import code_of, with_code
from ...text.tokenizers import has_rules, rules_for
from ...translation.notes import texts_of
from ...translation.running import Hypothesis
from ...translation.translator import Translator
from ...translation.typed_text import encode_source
from ..note_summaries import summaries
from .corpora.batches import Batch, collate, validation_batches
from .device_choices import max_tokens_at_once
from .evaluation import (
    CorpusLoss,
    bleu_tokenized_lowercased,
    corpus_loss,
    in_words_of_bleu,
    reference_words,
)
from .events import DivergedError, SampleTranslated, TranslatedExample
from .film import FilmFrame
from .kernels import training_kernels
from .session import TrainingSession

NUM_EXAMPLES = 5
PROBE_LENGTHS = range(8, 17)
"""Length in tokens of a suitable probe sentence: neither a heading nor a list."""
_SAMPLE_SEED = "validation sample"
_FORWARD_SHARE = 0.5
"""Tokens of a forward pass of about a second, per token of a micro-batch of 2 to 6 s."""
_PARTS = 8
"""Number of places in the validation split to sample from, where the whole split would take too
long."""


class ValidationStoppedError(Exception):
    """The run will stop, so this validation is dropped. Only for the loop, which catches it."""


class Validator:
    """Validates the model of `session` without side effects on dropout, random numbers and training
    mode.

    Args:
        session: whose model is validated, on its corpus.
        device: of the session.
        probe: the sentence of the film; None for one of the validation split.

    Attributes:
        probe: the sentence of the film; None if the corpus has no text or spaCy is missing.
        probe_notes: notes for the user on a given probe.
        sources: a fixed sample of the validation split, independent of the seed of the run.
        references: its translations.

    Raises:
        TextError: the model cannot read the probe.
    """

    def __init__(self, session: TrainingSession, device: DeviceChoice, probe: str | None) -> None:
        self.session = session
        self.device = device
        self.run = session.run
        corpus = session.corpus
        code = self.run.data.target_code
        codes = corpus.codecs.source.target_codes
        if probe is not None and code is not None and code_of(probe, codes) is None:
            probe = with_code(probe, code)
        notes = () if probe is None else encode_source(probe, corpus.codecs.source, self.run).notes
        self.probe_notes = texts_of(notes)
        languages = self.run.data.source_language, self.run.data.target_language
        has_words = self.run.is_copy_task or has_rules(*languages)
        self.probe = self._default_probe() if probe is None and has_words else probe
        texts = corpus.validation_texts
        size = self.run.training.sample_size if has_words else 0
        number = len(texts.source)
        chosen = sorted(random.Random(_SAMPLE_SEED).sample(range(number), min(size, number)))
        self.sources = [texts.source[index] for index in chosen]
        self.references = [texts.target[index] for index in chosen]
        self._expected_words: list[list[str]] = []
        if self.run.is_copy_task:
            self._expected_words = [reference.split() for reference in self.references]
        elif chosen:
            self._expected_words = reference_words(
                self.references, rules_for(self.run.data.target_language)
            )
        self._batches = [
            collate(corpus.validation, indices, session.padding_id, self.run.training.pad_to).to(
                session.device
            )
            for indices in validation_batches(corpus.validation, self.run.training)
        ]

    @property
    def is_fast(self) -> bool:
        """Whether validating on the whole split takes about a second, so that it can be done after
        a stop.
        """
        limit = self._tokens_in_a_second()
        return limit is None or sum(map(_num_padded, self._batches)) <= limit

    def loss(self, should_stop: Callable[[], object] = lambda: False) -> CorpusLoss:
        """The loss of the whole validation split.

        Args:
            should_stop: called about every second.

        Raises:
            DivergedError: it is not finite or exploded.
            ValidationStoppedError: `should_stop` returned true.
        """
        return self._loss(self._batches, should_stop)

    def loss_on_subset(self) -> tuple[CorpusLoss, int]:
        """The loss on a subset of the split (all of it if `is_fast`), and the number of its pairs.

        Raises:
            DivergedError: the loss is not finite or exploded.
        """
        batches = self._batches
        limit = self._tokens_in_a_second()
        if limit is not None and not self.is_fast:
            parts = [
                part
                for batch in batches
                for part in batch.split(limit // _PARTS, self.session.padding_id)
            ]
            # spread over the split, because batches are sorted by length
            step = max(1, len(parts) // _PARTS)
            batches = parts[step // 2 :: step][:_PARTS]
        return self._loss(batches), sum(len(batch.source) for batch in batches)

    def _tokens_in_a_second(self) -> int | None:
        """Padded tokens of a forward pass of about a second; None if the device is fast enough."""
        once = max_tokens_at_once(self.session.model.num_parameters, self.session.device)
        return None if once is None else int(_FORWARD_SHARE * once)

    def _loss(
        self, batches: Iterable[Batch], should_stop: Callable[[], object] = lambda: False
    ) -> CorpusLoss:
        limit = self._tokens_in_a_second()

        def parts_of(batch: Batch) -> Iterator[Batch]:
            for part in (batch,) if limit is None else batch.split(limit, self.session.padding_id):
                if should_stop():
                    raise ValidationStoppedError
                yield part

        try:
            with training_kernels(self.session.device):
                loss = corpus_loss(self.session.model, batches, parts_of=parts_of)
        finally:
            self.session.model.train()
        if not math.isfinite(loss.token_weighted):
            raise DivergedError(
                f"After step {self.session.progress.step} the validation loss is "
                f"{loss.token_weighted}, which is not finite. Files saved earlier are intact."
            )
        if loss.token_weighted > self.session.largest_loss:
            raise DivergedError(
                f"After step {self.session.progress.step} the validation loss is "
                f"{loss.token_weighted:.4g}, above the limit of {self.session.largest_loss:.3g}, "
                "many times the loss of an untrained model. These weights were not saved; files "
                "saved earlier are intact."
            )
        return loss

    def translate_sample(
        self, should_stop: Callable[[], object] = lambda: False
    ) -> SampleTranslated:
        """BLEU of the sample and the examples.

        Raises:
            ValidationStoppedError: `should_stop` returned true before a decoding step.
        """
        progress = self.session.progress
        hypotheses = self._translator().translate_corpus(
            self.sources, should_stop=_checking(should_stop)
        )
        examples = [
            TranslatedExample(source, reference, hypothesis.text)
            for source, reference, hypothesis in zip(
                self.sources, self.references, hypotheses, strict=True
            )
        ]
        return SampleTranslated(
            epoch=progress.epoch,
            step=progress.step,
            bleu=bleu_tokenized_lowercased(self._in_words(hypotheses), self._expected_words),
            num_sentences=len(self.sources),
            examples=tuple(examples[:NUM_EXAMPLES]),
            notes=summaries([hypothesis.notes for hypothesis in hypotheses], "sample sentences"),
        )

    def translate_probe(
        self, validation_loss: float | None, should_stop: Callable[[], object] = lambda: False
    ) -> FilmFrame | None:
        """A frame of the film; None if there is no probe sentence.

        Raises `ValidationStoppedError` if `should_stop` returned true before a decoding step.
        """
        if self.probe is None:
            return None
        progress = self.session.progress
        epoch = progress.epoch if progress.step else 0
        translation = self._translator().translate(self.probe, should_stop=_checking(should_stop))
        return FilmFrame(epoch, progress.step, validation_loss, translation)

    def _translator(self) -> Translator:
        """A translator with a copy of the current model."""
        return Translator(self.session.snapshot(()), self.device)

    def _in_words(self, hypotheses: Sequence[Hypothesis]) -> Sequence[Hypothesis]:
        """The translations as they are scored: the copy task's with the first symbol, which is
        given.
        """
        if self.run.is_copy_task:
            return [
                Hypothesis(hypothesis.text, tuple(hypothesis.text.split()))
                for hypothesis in hypotheses
            ]
        return in_words_of_bleu(hypotheses, self.run.data)

    def _default_probe(self) -> str | None:
        """The symbols of the copy task, or the first validation sentence of suitable length."""
        data = self.run.data
        corpus = self.session.corpus
        if self.run.is_copy_task:
            return " ".join(str(1 + index % data.copy_symbols) for index in range(data.copy_length))
        texts = corpus.validation_texts.source
        lengths = map(len, corpus.validation.source)
        fitting = (
            text for text, length in zip(texts, lengths, strict=False) if length in PROBE_LENGTHS
        )
        return next(fitting, next((text for text in texts if text.strip()), None))


def _checking(should_stop: Callable[[], object]) -> Callable[[], bool]:
    """Raises `ValidationStoppedError` where the run should stop."""

    def check() -> bool:
        if should_stop():
            raise ValidationStoppedError
        return False

    return check


def _num_padded(batch: Batch) -> int:
    return len(batch.source) * max(batch.source.size(1), batch.target.size(1))
