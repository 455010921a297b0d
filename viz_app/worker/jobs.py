"""Questions to the model in use: small frozen objects that run in the worker's thread."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, TypeAlias

from augenmerk.core.analysis.measures import BESIDE_WEIGHT, MeasuredMaps, measure_maps
from augenmerk.core.analysis.trace import Trace
from augenmerk.core.translation.result import ExperimentResult, Translation
from augenmerk.viz_app.state.experiment_state import ExperimentRequest
from augenmerk.viz_app.state.request_state import Progress

if TYPE_CHECKING:
    from augenmerk.core.translation.translator import Translator

JobScope = Literal["load", "experiment", "sentence", "model", "details"]
"""What a question is about, and so how long it makes sense: opening a model; computing an experiment; an experiment's
result, until there is another; the model in use, until another is open; details of an experiment's result that are of
use, but that nobody waits for: they give way to every other question."""
ABOUT_A_RESULT: tuple[JobScope, ...] = ("sentence", "details")
"""Scopes of questions that another result makes pointless."""
OpenTranslator: TypeAlias = "Translator"
"""The model in use. Its module imports torch, which only the worker's thread may load."""
Tell = Callable[[Progress], None]
ShouldStop = Callable[[], bool]


class Job(Protocol):
    """A question.

    Attributes:
        scope: what it is about; see `JobScope`.
    """

    scope: ClassVar[JobScope]

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> object:
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
class LoadJob:
    """A model is to be opened. The worker itself does it: see `InferenceWorker`.

    Attributes:
        path: the checkpoint; None for the bundled model.
        device: see `core.device`.
    """

    path: Path | None
    device: str = "auto"
    scope: ClassVar[JobScope] = "load"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> object:
        """Never called: there need not be a translator yet."""
        raise NotImplementedError


class ModelFreeJob(ABC):
    """A question that no model is needed for; a worker that has none answers it too."""

    scope: ClassVar[JobScope] = "model"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> object:
        """See `Job.run`."""
        return self.work(progress, should_stop)

    @abstractmethod
    def work(self, progress: Tell, should_stop: ShouldStop) -> object:
        """The answer; arguments and errors are as of `Job.run`."""


@dataclass(frozen=True, eq=False)
class ExperimentJob:
    """An experiment beside its baseline; see `Translator.compare`. What is shown already saves work, and is a draft."""

    asked: ExperimentRequest
    scope: ClassVar[JobScope] = "experiment"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> ExperimentResult:
        """See `Job.run`."""
        known = self.asked.known
        return translator.compare(
            self.asked.experiment,
            original=known.original if known is not None else None,
            own=(known.own or known.original) if known is not None else None,
            drops_misfits=self.asked.drops_misfits,
            draft=known.changed if known is not None else None,  # while the user types, nearly right
            should_stop=should_stop,
        )


@dataclass(frozen=True, eq=False)
class MeasureJob:
    """The maps of a translation in every measure beside the weight."""

    translation: Translation
    scope: ClassVar[JobScope] = "sentence"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> MeasuredMaps:
        """See `Job.run`."""
        from augenmerk.core.analysis.capture import trace_translation

        trace = trace_translation(translator, self.translation)
        maps = {}
        for each, kind in BESIDE_WEIGHT:
            if should_stop():
                raise JobInterrupted(self)
            maps[each, kind] = measure_maps(trace, each, kind)
        return MeasuredMaps(self.translation, maps)


@dataclass(frozen=True, eq=False)
class TraceJob:
    """Queries and keys of every head while a pair was read."""

    translation: Translation
    scope: ClassVar[JobScope] = "sentence"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> Trace:
        """See `Job.run`."""
        from augenmerk.core.analysis.capture import trace_translation

        return trace_translation(translator, self.translation)
