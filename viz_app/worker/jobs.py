"""Questions to the model in use: small frozen objects that run in the worker's thread."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, Protocol

from core.config import RunConfig
from core.device import DeviceChoice
from core.model.heads import Head
from core.translation.result import Translation
from viz_app.state.measuring import BESIDE_WEIGHT, MeasuredMaps
from viz_app.state.progress import Progress
from viz_app.state.switchboard import SwitchedOff

JobScope = Literal["sentence", "model"]
"""How long a question makes sense: until another sentence is translated, or until another model is open."""


class TranslatorLike(Protocol):
    """What the worker needs of `core.translation.translator.Translator`."""

    @property
    def name(self) -> str:
        """For people."""
        ...

    @property
    def path(self) -> Path | None:
        """The file it came from."""
        ...

    @property
    def run(self) -> RunConfig:
        """Its configuration."""
        ...

    @property
    def device(self) -> DeviceChoice:
        """Where it runs."""
        ...

    @property
    def num_parameters(self) -> int:
        """Trainable parameters."""
        ...

    def translate(
        self, text: str, *, off: Collection[Head] = (), should_stop: Callable[[], bool] = lambda: False
    ) -> Translation:
        """See `Translator.translate`."""
        ...

    def translate_given(self, text: str, target_text: str) -> Translation:
        """See `Translator.translate_given`."""
        ...

    def score(self, translation: Translation, *, off: Collection[Head] = ()) -> tuple[float, ...]:
        """See `Translator.score`."""
        ...


class Job(Protocol):
    """A question. Of each class of job only the newest counts: asking again supersedes what waits or runs.

    Attributes:
        scope: "sentence" jobs are about the translation that is shown, and go before those of scope "model".
    """

    scope: ClassVar[JobScope]

    def run(
        self, translator: TranslatorLike, progress: Callable[[Progress], None], should_stop: Callable[[], bool]
    ) -> object:
        """The answer.

        Args:
            translator: the model in use; nobody else uses it meanwhile.
            progress: may be told how far it is.
            should_stop: to be asked at least once for each sentence. If it says so, raise `JobInterrupted` with what
                is left to do, or `TranslationStoppedError` to begin again: what is more urgent goes first.

        Raises:
            AugenmerkError: there is no answer; the message says why.
        """
        ...


class JobInterrupted(Exception):
    """Something more urgent waits.

    Attributes:
        rest: the job that goes on from here.
    """

    def __init__(self, rest: Job) -> None:
        super().__init__()
        self.rest = rest


@dataclass(frozen=True, eq=False)
class SwitchOffJob:
    """What becomes of the model's own translation with heads off, and of the probability of the one that is shown: one
    translation, and one scoring if it became another one.

    Attributes:
        translation: the one that is shown: the model's own, or a given one.
        off: the heads.
        own: the model's own with every head on, if a given one is shown; if None, it is translated once more.
    """

    translation: Translation
    off: frozenset[Head]
    own: Translation | None = None
    scope: ClassVar[JobScope] = "sentence"

    def run(
        self, translator: TranslatorLike, progress: Callable[[Progress], None], should_stop: Callable[[], bool]
    ) -> SwitchedOff:
        """See `Job.run`."""
        before, off = self.translation, self.off
        own = self.own if before.is_given else before
        if own is None:
            own = translator.translate(before.source_text, should_stop=should_stop)
        after = translator.translate(before.source_text, off=off, should_stop=should_stop)
        is_same = bool(before.predicted_ids) and after.predicted_ids == before.predicted_ids
        score = after.log_probability if is_same else sum(translator.score(before, off=off))  # the same is scored
        return SwitchedOff(off, before, own, after, score)


Measurer = Callable[[TranslatorLike, Translation], MeasuredMaps]


@dataclass(frozen=True, eq=False)
class MeasureJob:
    """The maps of a translation in every measure beside the weight."""

    translation: Translation
    measurer: Measurer
    scope: ClassVar[JobScope] = "sentence"

    def run(
        self, translator: TranslatorLike, progress: Callable[[Progress], None], should_stop: Callable[[], bool]
    ) -> MeasuredMaps:
        """See `Job.run`."""
        return self.measurer(translator, self.translation)


def measure(translator: TranslatorLike, translation: Translation) -> MeasuredMaps:
    """Reads a pair once and measures it."""
    from core.analysis.capture import trace_translation
    from core.analysis.measures import measure_maps
    from core.translation.translator import Translator

    assert isinstance(translator, Translator)
    trace = trace_translation(translator, translation)
    maps = {(each, kind): measure_maps(trace, each, kind) for each, kind in BESIDE_WEIGHT}
    return MeasuredMaps(translation, maps)
