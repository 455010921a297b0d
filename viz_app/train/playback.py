"""What the model said and where its heads looked at each validation, and which moment is shown. No Qt, no torch.

One moment holds for all: the film of attention, the sample's translations and the dotted line in the chart.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from core.model.heads import Head
from core.training.events import ProbeTranslated, SampleTranslated
from core.training.film import FilmFrame
from core.translation.result import FloatArray, Translation
from viz_app.state.experiment_state import ExperimentState
from viz_app.state.map_source import clearest_head
from viz_app.state.map_view_settings import MapViewSettings


class _Dated(Protocol):
    @property
    def step(self) -> int: ...


Item = TypeVar("Item", bound=_Dated)


class Playback:
    """Frames of the film and samples, by rising step.

    Attributes:
        frames: the probe sentence, translated again and again.
        samples: what was made of the same validation sentences.
        moment: the step a person chose; None to follow the newest.
        maps: the experiment that is shown: that of the frame; its settings and its chosen head are the film's own.
        revision: grows whenever something else is to be shown.
    """

    def __init__(self) -> None:
        self.maps = ExperimentState(MapViewSettings(merges_words=False))
        self.revision = 0
        self.clear()

    def clear(self) -> None:
        """Forgets everything; the head that a person chose stays chosen."""
        self.frames: list[FilmFrame] = []
        self.samples: list[SampleTranslated] = []
        self.moment: int | None = None
        self.maps.clear()
        self.revision += 1

    def set_film(self, frames: Iterable[FilmFrame]) -> None:
        """Takes the film of a run that was read from the disk."""
        self.frames = list(frames)
        self._show_frame()

    def add(self, event: ProbeTranslated | SampleTranslated) -> None:
        """Takes in what came of a validation."""
        if isinstance(event, ProbeTranslated):
            self.add_frame(event)
        else:
            self.add_sample(event)

    def add_frame(self, event: ProbeTranslated) -> None:
        """Takes in the newest frame; it replaces what was known of its step and of later ones."""
        frame = FilmFrame(event.epoch, event.step, event.validation_loss, event.translation)
        self.frames = [*_before(self.frames, event.step), frame]
        self._show_frame()

    def add_sample(self, event: SampleTranslated) -> None:
        """Takes in the newest translations."""
        self.samples = [*_before(self.samples, event.step), event]
        self.revision += 1

    def drop_after(self, step: int) -> None:
        """Forgets what came after `step`: a resumed run does these steps again."""
        self.frames, self.samples = _before(self.frames, step + 1), _before(self.samples, step + 1)
        if self.moment is not None and self.moment > step:
            self.moment = None
        self._show_frame()

    @property
    def steps(self) -> list[int]:
        """All moments there are."""
        return sorted({frame.step for frame in self.frames} | {sample.step for sample in self.samples})

    @property
    def shown_step(self) -> int | None:
        """The moment that is shown; None while there is none."""
        steps = self.steps
        if not steps:
            return None
        return steps[-1] if self.moment is None else self.moment

    @property
    def follows(self) -> bool:
        """Whether the newest moment is shown, and the next one when it comes."""
        return self.moment is None

    @property
    def frame_index(self) -> int | None:
        """Which frame is shown: the last one up to the moment."""
        return _last_up_to(self.frames, self.shown_step)

    @property
    def frame(self) -> FilmFrame | None:
        """The frame that is shown."""
        return None if self.frame_index is None else self.frames[self.frame_index]

    @property
    def sample(self) -> SampleTranslated | None:
        """The sample that is shown: the last one up to the moment."""
        index = _last_up_to(self.samples, self.shown_step)
        return None if index is None else self.samples[index]

    def show_frame(self, index: int) -> None:
        """Goes to a frame, by its number from 0."""
        if self.frames:
            self.show_step(self.frames[max(0, min(index, len(self.frames) - 1))].step)

    def show_step(self, step: float) -> None:
        """Goes to the moment nearest to `step`; at the last one, later ones will be followed."""
        steps = self.steps
        if not steps:
            return
        nearest = min(steps, key=lambda each: abs(each - step))
        self.moment = None if nearest == steps[-1] else nearest
        self._show_frame()

    def walk(self, offset: int) -> bool:
        """Goes so many moments forward or back. False at an end."""
        steps, shown = self.steps, self.shown_step
        if shown is None:
            return False
        place = bisect_right(steps, shown) - 1 + offset
        if not 0 <= place < len(steps):
            return False
        self.show_step(steps[place])
        return True

    def map_of(self, frame: FilmFrame) -> FloatArray:
        """The chosen head's map in a frame, [query, key]."""
        head = self.maps.selection.head
        maps: FloatArray = frame.translation.maps.of_kind(head.kind)[head.layer, head.head]
        return maps

    def changes_of_text(self) -> list[int]:
        """The frames whose translation differs from the one before."""
        texts = [frame.translation.text for frame in self.frames]
        return [index for index in range(1, len(texts)) if texts[index] != texts[index - 1]]

    def _show_frame(self) -> None:
        """Shows the frame of the moment. Until a person chose a head, the newest frame says which one to see."""
        self.revision += 1
        frame = self.frame
        if frame is None:
            self.maps.clear()
            return
        if self.maps.translation is not frame.translation:
            self.maps.show_translation(frame.translation)
        if not self.maps.selection.was_chosen:
            newest: Translation = self.frames[-1].translation
            self.maps.selection.head = Head("cross", *clearest_head(newest.maps.cross))


def _before(items: Sequence[Item], step: int) -> list[Item]:
    return [item for item in items if item.step < step]


def _last_up_to(items: Sequence[_Dated], step: int | None) -> int | None:
    if step is None:
        return None
    index = bisect_right([item.step for item in items], step) - 1
    return index if index >= 0 else None
