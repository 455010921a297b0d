"""Translations and attention maps at each validation, and the step shown. No Qt, no torch.

The shown step is the same for the film of attention, the sample translations and the dotted line in
the charts.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import TypeVar

from psygnal import Signal

from augenmerk.core.extensions.training.events import SampleTranslated
from augenmerk.core.extensions.training.film import FilmFrame
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.result import FloatArray, Translation

from ...state.experiment_state import ExperimentState
from ...state.head_roles import clearest_head
from ...state.map_view_settings import MapViewSettings

Item = TypeVar("Item", FilmFrame, SampleTranslated)


class Playback:
    """Frames of the film and samples, by rising step.

    Attributes:
        frames: translations of the probe sentence.
        samples: translations of a sample of the validation sentences.
        chosen_step: the step that the user chose; None to follow the newest.
        maps: the experiment of the frame shown; its settings and its chosen head are the film's
            own.

    Signals (psygnal):
        changed(): frames, samples or the shown step changed.
    """

    changed = Signal()

    def __init__(self) -> None:
        self.maps = ExperimentState(MapViewSettings(merges_words=False))
        self.clear()

    def clear(self) -> None:
        """Removes everything; the head that the user chose stays chosen."""
        self.frames: list[FilmFrame] = []
        self.samples: list[SampleTranslated] = []
        self.chosen_step: int | None = None
        self._has_picked_head = False
        self.maps.clear()
        self.changed.emit()

    def set_film(self, frames: Iterable[FilmFrame]) -> None:
        """Replaces the film by that of a run read from the disk."""
        self.frames = list(frames)
        self._show_frame()

    def add(self, event: FilmFrame | SampleTranslated) -> None:
        """Adds the newest frame or sample; it replaces those of its step and of later ones."""
        if isinstance(event, SampleTranslated):
            self.samples = [*_before(self.samples, event.step), event]
            self.changed.emit()
            return
        self.frames = [*_before(self.frames, event.step), event]
        self._show_frame()

    def drop_after(self, step: int) -> None:
        """Removes everything after `step`: a resumed run repeats these steps."""
        self.frames, self.samples = _before(self.frames, step + 1), _before(self.samples, step + 1)
        if self.chosen_step is not None and self.chosen_step > step:
            self.chosen_step = None
        self._show_frame()

    @property
    def probe(self) -> str:
        """The probe sentence; empty before the first frame."""
        return self.frames[-1].translation.source_text if self.frames else ""

    @property
    def steps(self) -> list[int]:
        """All steps with a frame or a sample."""
        return sorted(
            {frame.step for frame in self.frames} | {sample.step for sample in self.samples}
        )

    @property
    def shown_step(self) -> int | None:
        """The step shown; None while there is none."""
        steps = self.steps
        if not steps:
            return None
        return steps[-1] if self.chosen_step is None else self.chosen_step

    @property
    def follows(self) -> bool:
        """Whether the newest step is shown, and each new one as it arrives."""
        return self.chosen_step is None

    @property
    def frame_index(self) -> int | None:
        """The number of the frame shown: the last one up to the shown step."""
        return _last_up_to(self.frames, self.shown_step)

    @property
    def frame(self) -> FilmFrame | None:
        """The frame shown."""
        return None if self.frame_index is None else self.frames[self.frame_index]

    @property
    def sample(self) -> SampleTranslated | None:
        """The sample shown: the last one up to the shown step."""
        index = _last_up_to(self.samples, self.shown_step)
        return None if index is None else self.samples[index]

    def show_frame(self, index: int) -> None:
        """Goes to a frame, by its number from 0."""
        if self.frames:
            self.show_step(self.frames[max(0, min(index, len(self.frames) - 1))].step)

    def show_step(self, step: float) -> None:
        """Goes to the nearest available step; from the last one on, new ones are followed."""
        steps = self.steps
        if not steps:
            return
        nearest = min(steps, key=lambda available_step: abs(available_step - step))
        self.chosen_step = None if nearest == steps[-1] else nearest
        self._show_frame()

    def walk(self, offset: int) -> bool:
        """Goes this many steps of `steps` forward or back. False at an end."""
        steps, shown = self.steps, self.shown_step
        if shown is None:
            return False
        index = bisect_right(steps, shown) - 1 + offset
        if not 0 <= index < len(steps):
            return False
        self.show_step(steps[index])
        return True

    def map_of(self, frame: FilmFrame) -> FloatArray:
        """The chosen head's map in a frame, [query, key]."""
        head = self.maps.selection.head
        maps: FloatArray = frame.translation.maps.of_kind(head.kind)[head.layer, head.head]
        return maps

    def changes_of_text(self) -> list[int]:
        """The frames whose translation differs from the previous one."""
        texts = [frame.translation.text for frame in self.frames]
        return [index for index in range(1, len(texts)) if texts[index] != texts[index - 1]]

    def _show_frame(self) -> None:
        """Shows the frame of the shown step; with the first one of a run, its clearest head unless
        one was chosen.

        That head stays: a film shows the learning of one head.
        """
        frame = self.frame
        if frame is None:
            self.maps.clear()
        elif self.maps.translation is not frame.translation:
            self.maps.show_translation(frame.translation)
        if frame is not None and not (self.maps.selection.was_chosen or self._has_picked_head):
            self._has_picked_head = True
            newest: Translation = self.frames[-1].translation
            self.maps.selection.head = Head("cross", *clearest_head(newest.maps.cross))
        self.changed.emit()


def frame_name(frame: FilmFrame, *, has_step: bool = True) -> str:
    """The epoch, step and loss of a frame; `has_step` is False for a shorter name."""
    if frame.step == 0:
        return "before the first step"
    loss = (
        "" if frame.validation_loss is None else f" · validation loss {frame.validation_loss:.3f}"
    )
    step = f" · step {frame.step:,}" if has_step else ""
    return f"epoch {frame.epoch}{step}{loss}"


def short_name(frame: FilmFrame) -> str:
    """The epoch of a frame."""
    return "untrained" if frame.step == 0 else f"epoch {frame.epoch}"


def _before(items: Sequence[Item], step: int) -> list[Item]:
    return [item for item in items if item.step < step]


def _last_up_to(items: Sequence[Item], step: int | None) -> int | None:
    if step is None:
        return None
    index = bisect_right([item.step for item in items], step) - 1
    return index if index >= 0 else None
