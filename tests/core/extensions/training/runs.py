"""Tiny runs for the tests of training."""

import dataclasses
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from augenmerk.core.config import RunConfig
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training.corpora.parallel import SentencePairs
from augenmerk.core.extensions.training.corpora.prepared import (
    PreparedCorpus,
    prepare,
    prepare_copy_task,
)
from augenmerk.core.extensions.training.events import StepDone, TrainingEvent, TrainingFinished
from augenmerk.core.extensions.training.loop import train

NOUNS = {
    "mann": "man",
    "hund": "dog",
    "ball": "ball",
    "junge": "boy",
    "zug": "train",
    "tisch": "table",
}
VERBS = {"rennt": "runs", "steht": "stands", "springt": "jumps"}


def copy_run(model: dict[str, Any] | None = None, **training: Any) -> RunConfig:
    """The copy task at width 16 with dropout, 7 steps an epoch."""
    run = preset("copy-task-small")
    shape = {
        "width": 16,
        "num_heads": 2,
        "num_encoder_layers": 1,
        "num_decoder_layers": 1,
        "feed_forward_width": 16,
    }
    return dataclasses.replace(
        run,
        model=run.model.replace(**(shape | (model or {}))),
        data=run.data.replace(copy_training_pairs=56, copy_validation_pairs=20),
        training=run.training.replace(
            **({"batch_size": 8, "num_epochs": 3, "warmup_steps": 20, "sample_size": 4} | training)
        ),
    )


def copy_corpus(run: RunConfig) -> PreparedCorpus:
    return prepare_copy_task(run.data, run.training.seed)


def text_run(model: dict[str, Any] | None = None, **training: Any) -> RunConfig:
    """`notebook`, small."""
    run = preset("notebook")
    shape = {
        "width": 32,
        "num_heads": 4,
        "num_encoder_layers": 1,
        "num_decoder_layers": 1,
        "feed_forward_width": 32,
    }
    return dataclasses.replace(
        run,
        model=run.model.replace(**(shape | (model or {}))),
        training=run.training.replace(
            **({"batch_size": 16, "num_epochs": 2, "sample_size": 4} | training)
        ),
    )


def sentences(number: int, seed: int = 0) -> SentencePairs:
    """Pairs of a made-up language of noun, verb and noun, of different lengths."""
    rng = random.Random(seed)
    german, english = [], []
    for _ in range(number):
        chosen = [rng.choice(list(NOUNS)) for _ in range(rng.randint(1, 4))]
        verb = rng.choice(list(VERBS))
        german.append(f"ein {' '.join(chosen)} {verb} .")
        english.append(f"a {' '.join(NOUNS[noun] for noun in chosen)} {VERBS[verb]} .")
    return SentencePairs(tuple(german), tuple(english))


def text_corpus(run: RunConfig, number: int = 120) -> PreparedCorpus:
    return prepare("made up", run.data, sentences(number), sentences(30, seed=1), lambda text: None)


@dataclasses.dataclass
class Recorder:
    """Keeps the events of a run, and says stop after `stop_after` steps."""

    stop_after: int | None = None
    events: list[TrainingEvent] = dataclasses.field(default_factory=list)

    def __call__(self, event: TrainingEvent) -> None:
        self.events.append(event)

    def should_stop(self) -> bool:
        return self.stop_after is not None and len(self.of(StepDone)) >= self.stop_after

    def of(self, *kinds: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kinds)]

    @property
    def losses(self) -> list[float]:
        return [event.loss for event in self.of(StepDone)]

    @property
    def kinds(self) -> list[str]:
        return [type(event).__name__ for event in self.events]


def record(
    run: RunConfig,
    folder: Path,
    *,
    corpus: PreparedCorpus | None = None,
    resume: bool = False,
    stop_after: int | None = None,
    on_event: Callable[[TrainingEvent], None] = lambda event: None,
    device: str = "cpu",
    **options: Any,
) -> tuple[TrainingFinished, Recorder]:
    """Trains and returns how it ended, with all events; `options` go to `train`."""
    recorder = Recorder(stop_after)

    def both(event: TrainingEvent) -> None:
        recorder(event)
        on_event(event)

    corpus = corpus or (copy_corpus(run) if run.is_copy_task else text_corpus(run))
    options = {"should_stop": recorder.should_stop} | options
    finished = train(run, corpus, folder, device=device, resume=resume, on_event=both, **options)
    return finished, recorder
