"""Translations and a translator made of thin air, for tests of widgets: plausible maps, no
torch."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from augenmerk.core.checkpoint.history import EpochRecord
from augenmerk.core.config.run_config import RunConfig
from augenmerk.core.device import DeviceChoice
from augenmerk.core.errors import AnalysisError, CheckpointError, ExperimentError, TextError
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.maps.measures import MEASURES, MeasuredMaps
from augenmerk.core.translation.experiment import (
    AttentionRow,
    Experiment,
    ForcedToken,
    GivenTarget,
    Greedy,
    HeadScaled,
    Intervention,
    Output,
    SourceWordReplaced,
)
from augenmerk.core.translation.result import (
    Alternative,
    AttentionMaps,
    ExperimentResult,
    FloatArray,
    Translation,
    Word,
)

NUM_LAYERS, NUM_HEADS = 3, 8


def make_translation(
    source: str = "ein mann steht auf einer leiter .",
    target: str = "a man is standing on a ladder .",
    *,
    num_layers: int = NUM_LAYERS,
    num_heads: int = NUM_HEADS,
    text: str | None = None,
    experiment: Experiment | None = None,
    unknown: tuple[int, ...] = (),
    ignored_text: str = "",
    notes: tuple[str, ...] = (),
    interventions: tuple[Intervention, ...] = (),
    output: Output | None = None,
) -> Translation:
    """Words are tokens; a word with "|" in it is made of several.

    Head h of every kind looks h positions aside.
    """
    source_tokens, source_words = _tokens(source, offset=1)
    target_tokens, target_words = _tokens(target, offset=0)
    source_tokens = ["<sos>", *source_tokens, "<eos>"]
    num_steps = len(target_tokens) + 1
    predicted = (*target_tokens, "<eos>")
    log_probabilities = tuple(-0.05 - 1.2 * (step % 4 == 2) for step in range(num_steps))
    return Translation(
        experiment=experiment
        or Experiment(
            source.replace("|", "") if text is None else text, output or Greedy(), interventions
        ),
        text=" ".join(word.text for word in target_words).capitalize().replace(" .", "."),
        source_tokens=tuple(source_tokens),
        read_tokens=("<sos>", *target_tokens),
        predicted_tokens=predicted,
        log_probabilities=log_probabilities,
        alternatives=tuple(
            (
                Alternative(token, log_probabilities[step], token),
                *(Alternative(f"other{n}", -2.0 - n, f"other{n}") for n in range(9)),
            )
            for step, token in enumerate(predicted)
        ),
        source_words=tuple(source_words),
        target_words=tuple(target_words),
        unknown_source_positions=unknown,
        ignored_text=ignored_text,
        notes=notes,
        attention=AttentionMaps(
            encoder=_maps(num_layers, num_heads, len(source_tokens), len(source_tokens)),
            decoder=_maps(num_layers, num_heads, num_steps, num_steps, is_causal=True),
            cross=_maps(num_layers, num_heads, num_steps, len(source_tokens)),
        ),
        seconds=0.062,
        source_ids=tuple(range(len(source_tokens))),
        read_ids=tuple(range(num_steps)),
        predicted_ids=tuple(range(1, num_steps + 1)),
        source_places=tuple(range(len(source_words))),
        ranks=(1,) * num_steps,
        entropies=(0.5,) * num_steps,
    )


def make_result(changed: Translation, original: Translation | None = None) -> ExperimentResult:
    """A result; with an original, its log-probability falls by one nat under the interventions."""
    if original is None:
        return ExperimentResult.of(changed)
    first, *others = original.log_probabilities
    return ExperimentResult(changed, original, (first - 1, *others))


def measure_by_halves(translation: Translation, measure: str) -> MeasuredMaps:
    """Every measure is half the weight."""
    half = np.float32(0.5)
    halves = {kind: half * translation.maps.of_kind(kind) for kind in MEASURES[measure].kinds}
    return MeasuredMaps(translation, measure, halves)


class FakeTranslator:
    """Translates by copying; "slow" texts wait for nothing; a text of spaces, and the word BOOM,
    fail.

    Interventions show in the words: with heads off the first word tells how many; forced tokens
    stand at their steps; source words that are removed or replaced are so in the translation too.
    """

    def __init__(self, path: Path | None, device: str) -> None:
        if path is not None and path.name.startswith("broken"):
            raise CheckpointError(
                f"{path.name} is cut off. A whole checkpoint was expected; use another file."
            )
        self.path = path
        self.name = path.stem if path else "bundled"
        self.device = DeviceChoice(
            "cpu", "no CUDA device found" if device == "auto" else "requested"
        )
        self.run_config: RunConfig = preset("notebook")
        self.num_parameters = 9_038_341
        self.vocabulary_sizes = 7853, 5893
        self.target_codes: tuple[str, ...] = ()
        self.history: tuple[EpochRecord, ...] = ()
        self.digest = f"{sum(map(ord, self.name)):064x}"
        self.experiments: list[Experiment] = []
        self.drafts: list[str | None] = []

    @property
    def model(self) -> None:
        """There is none, so nothing can be explained by it."""
        raise AnalysisError("A translator of thin air has no weights. Use a real model.")

    checkpoint = pass_over = check_vocabularies = try_compile = model

    @property
    def texts(self) -> list[str]:
        """The sentences of all baselines that were run."""
        return [
            experiment.source_text
            for experiment in self.experiments
            if not experiment.interventions
        ]

    def compile(self, experiment: Experiment) -> Experiment:
        """`run_many` takes experiments, too."""
        return experiment

    def run(
        self, experiment: Experiment, *, should_stop: Callable[[], bool] = lambda: False
    ) -> Translation:
        """See the class."""
        self.experiments.append(experiment)
        text = experiment.source_text
        if not text.strip():
            raise TextError("The text is empty. A sentence was expected; type one.")
        if "BOOM" in text:
            raise ZeroDivisionError("boom")
        for intervention in experiment.interventions:
            check_fits(intervention)
        words = text.lower().split()
        for edit in reversed(experiment.source_edits):
            words[edit.place : edit.place + 1] = (
                [edit.text] if isinstance(edit, SourceWordReplaced) else []
            )
        source, target = " ".join(words), list(words)
        if isinstance(experiment.output, GivenTarget):
            target = experiment.output.text.split()
            if not target:
                raise TextError(
                    "There is no word in the given translation. A sentence was expected; type one."
                )
        elif experiment.heads_off:
            target[0] = f"off{len(experiment.heads_off)}"
        for forced in experiment.forced:
            if forced.step < len(target):
                target[forced.step] = forced.token
        made = make_translation(source, " ".join(target), experiment=experiment)
        reached = len(made.predicted_tokens)
        removed = {
            edit.place
            for edit in experiment.source_edits
            if not isinstance(edit, SourceWordReplaced)
        }
        return replace(
            made,
            text=experiment.output.text.strip()
            if isinstance(experiment.output, GivenTarget)
            else made.text,
            unreached=tuple(token for token in experiment.forced if token.step >= reached),
            source_places=tuple(
                index for index in range(len(text.split())) if index not in removed
            ),
        )

    def run_many(
        self,
        experiments: Iterable[Experiment],
        *,
        need_maps: bool = True,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[Translation]:
        """One after the other."""
        for experiment in experiments:
            yield self.run(experiment)

    def compare(
        self,
        experiment: Experiment,
        *,
        original: Translation | None = None,
        own: Translation | None = None,
        drops_misfits: bool = False,
        draft: Translation | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> ExperimentResult:
        """As the real one does it; drafts are noted."""
        self.drafts.append(None if draft is None else draft.text)
        dropped: list[Intervention] = []
        for intervention in experiment.interventions if drops_misfits else ():
            try:
                check_fits(intervention)
            except ExperimentError:
                dropped.append(intervention)
        experiment = experiment.without(*dropped)
        if original is None or original.experiment != experiment.baseline:
            original = self.run(experiment.baseline)
        own = (
            self.run(Experiment(experiment.source_text))
            if isinstance(experiment.output, GivenTarget)
            else None
        )
        if not experiment.interventions:
            return ExperimentResult(
                original, original, original.log_probabilities, own, tuple(dropped)
            )
        changed = self.run(experiment)
        return ExperimentResult(
            changed, original, self.score(original, experiment), own, tuple(dropped)
        )

    def score(self, translation: Translation, experiment: Experiment) -> tuple[float, ...]:
        """Each intervention costs 0.25 at the first step."""
        first, *others = translation.log_probabilities
        return (first - 0.25 * len(experiment.interventions), *others)


def check_fits(intervention: Intervention) -> None:
    """Raises `ExperimentError` for a head beyond the last one, and for a token that is called
    "unknown"."""
    if isinstance(intervention, HeadScaled | AttentionRow):
        head = intervention.head
        if head.layer >= NUM_LAYERS or head.head >= NUM_HEADS:
            raise ExperimentError(f"This model has no {head}. Choose another.")
    if isinstance(intervention, ForcedToken) and intervention.token == "unknown":
        raise ExperimentError(
            "The token 'unknown' is not in this model's vocabulary. Choose another."
        )


def _tokens(text: str, offset: int) -> tuple[list[str], list[Word]]:
    tokens: list[str] = []
    words: list[Word] = []
    for word in text.split():
        pieces = word.split("|")
        words.append(
            Word("".join(pieces), offset + len(tokens), offset + len(tokens) + len(pieces))
        )
        tokens += pieces
    return tokens, words


def _maps(
    num_layers: int, num_heads: int, num_rows: int, num_columns: int, *, is_causal: bool = False
) -> FloatArray:
    random = np.random.default_rng(0)
    logits = random.normal(size=(num_layers, num_heads, num_rows, num_columns)) * 0.6
    rows = np.arange(num_rows)
    for head in range(num_heads):
        columns = np.clip(
            rows * num_columns // num_rows - head if is_causal else rows + head, 0, num_columns - 1
        )
        logits[:, head, rows, columns] += 6 - 0.7 * head
    if is_causal:
        logits[..., np.triu(np.ones((num_rows, num_columns), dtype=bool), k=1)] = -np.inf
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)
