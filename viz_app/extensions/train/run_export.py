"""A run's charts, metrics and film as files. No Qt."""

import csv
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from augenmerk.core.config import RunConfig
from augenmerk.core.counting import display_text
from augenmerk.core.errors import StorageError
from augenmerk.core.extensions.provenance import (
    facts_of_run,
    save_beside_table,
)
from augenmerk.core.extensions.training.film import FilmFrame
from augenmerk.core.extensions.training.step_metrics import StepMetrics, read_step_metrics
from augenmerk.core.model.heads import KIND_TITLES, Head
from augenmerk.core.storage import atomic_path

from ...heatmap.drawing import Drawing
from ...state.map_view import MapView
from ...state.map_view_settings import MapViewSettings
from ..pictures.film import Film, FilmHeads, Shot, chosen_shots
from .charts.picture import QUANTITY_NAMES, ChartPicture
from .curves import RunCurves
from .playback import frame_name

OF_STEPS = (
    "step",
    "epoch",
    "num_tokens",
    "loss",
    "learning_rate",
    "gradient_norm",
    "tokens_per_second",
)
OF_VALIDATIONS = ("epoch_training_loss", "validation_loss", "validation_loss_batch_mean", "bleu")
Cell = int | float | str
NUM_ACROSS_OF_LAYER = 4
"""Maps side by side in the film of a layer: two lines of larger maps for the usual eight heads."""


@dataclass(frozen=True, eq=False)
class RunExport:
    """The exportable contents of a run; see `viz_app.extensions.pictures.saving.RunSource`.

    Attributes:
        name: of the run.
        folder: the folder of its recorded steps; None if there is none.
        curves: of the run.
        charts: those in sight.
        frames: of its film.
        head: that of the film.
        view: the settings of its maps.
        metrics: of every step; None to read them when needed.
        settings: of the run; None if they are not known.
        has_provenance: whether its files say where they are from.
    """

    name: str
    folder: Path | None
    curves: RunCurves
    charts: Sequence[ChartPicture]
    frames: Sequence[FilmFrame] = ()
    head: Head | None = None
    view: MapViewSettings | None = None
    metrics: StepMetrics | None = None
    settings: RunConfig | None = None
    has_provenance: bool = True

    @property
    def has_film(self) -> bool:
        """Whether there is a film."""
        return bool(self.frames) and self.head is not None

    @property
    def origin(self) -> dict[str, Any]:
        """What its files say about their origin; nothing if they should not."""
        return facts_of_run(self.name, self.settings) if self.has_provenance else {}

    def film_name(self, heads: FilmHeads) -> str:
        """A name for its file."""
        head = self.head
        if head is None:
            return self.name
        layer = f"-{head.layer + 1}"
        number = f"-{head.head + 1}"
        return f"{self.name}-{head.kind}{layer if heads != 'kind' else ''}{number if heads == 'head' else ''}"

    def save_charts(self, target: Path, *, has_caption: bool) -> None:
        """The charts in sight, as PNG, SVG or PDF. Imports matplotlib. Raises `StorageError`."""
        from ..pictures.figures import save_figure
        from .charts.axes import charts_figure

        save_figure(
            charts_figure(self.charts, f"Run {self.name}", self._caption() if has_caption else ""),
            target,
            self.origin,
        )

    def save_metrics(self, target: Path) -> None:
        """Writes a CSV table of every step with exactly the recorded numbers, and the results of
        validations, and its origin in a file next to it.

        Raises:
            StorageError: the run has no steps, the name ends otherwise, or the file cannot be
                written.
        """
        if target.suffix.lower() != ".csv":
            raise StorageError(f"{target.name} does not end in .csv. Enter a file name that does.")
        metrics = self.metrics
        if metrics is None and self.folder is not None:
            metrics = read_step_metrics(self.folder)
        rows = list(metric_rows(metrics, self.curves))
        if not rows:
            raise StorageError("This run has no steps yet. Try again after the first one.")
        rows = [(*OF_STEPS, *OF_VALIDATIONS), *rows]
        with atomic_path(target) as temporary:
            with temporary.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(rows)
            if self.has_provenance:
                save_beside_table(self.origin, target)

    def film(self, heads: FilmHeads, *, has_caption: bool) -> Film | None:
        """The film of the shown head, or of all in its layer or kind; None if there is none."""
        head = self.head
        if head is None or not self.frames:
            return None
        frames = [self.frames[index] for index in chosen_shots(len(self.frames))]
        view = self.view or MapViewSettings(merges_words=False)
        labels = f"token {view.label_mode}" if head.kind != "encoder" else "source token"
        left_out = (
            f" · {len(frames)} of {len(self.frames)} frames"
            if len(frames) < len(self.frames)
            else ""
        )
        last = frames[-1].translation
        caption = (
            f"run: {self.name} · rows: {labels} · attention weights{left_out}"
            if has_caption
            else ""
        )
        num_layers, num_heads = last.maps.of_kind(head.kind).shape[:2]
        layers = [head.layer] if heads != "kind" else range(num_layers)
        shown = [Head(head.kind, layer, number) for layer in layers for number in range(num_heads)]
        is_layer = heads == "layer"
        film = Film(
            display_text(head.title),
            last.source_text,
            caption,
            tuple(_shot(frame, (head,) if heads == "head" else shown, view) for frame in frames),
            saved=facts_of_run(self.name, self.settings, last) if self.has_provenance else None,
        )
        if heads == "head":
            return film
        title = KIND_TITLES[head.kind] + (f" · layer {head.layer + 1}" if is_layer else "")
        return replace(
            film,
            title=f"{title} · all heads",
            panels=tuple(
                f"head {panel.head + 1}" if is_layer else display_text(panel.short_name)
                for panel in shown
            ),
            num_across=min(num_heads, NUM_ACROSS_OF_LAYER) if is_layer else num_heads,
        )

    def _caption(self) -> str:
        parts = [f"run: {self.name}", f"steps: {self.curves.last_step:,}"]
        if (best := self.curves.best) is not None:
            parts.append(f"best validation loss: {best.validation_loss:.3f} (epoch {best.epoch})")
        parts += [
            f"{QUANTITY_NAMES[shown.settings.quantity].lower()}: {_how(shown)}"
            for shown in self.charts
        ]
        return " · ".join(parts)


def _how(shown: ChartPicture) -> str:
    """Scale, smoothing and range of a chart, in words."""
    first, last = shown.x_limits
    smoothing = f", smoothing {shown.settings.smoothing}" if shown.settings.is_smoothed else ""
    where = "all steps" if shown.settings.shown == "all" else f"steps {first:,.0f} to {last:,.0f}"
    return f"{shown.settings.scale}{smoothing}, {where}"


def _shot(frame: FilmFrame, heads: Sequence[Head], view: MapViewSettings) -> Shot:
    """Of heads of one kind."""
    translation = frame.translation
    drawings = []
    for head in heads:
        weights = translation.maps.of_kind(head.kind)[head.layer, head.head]
        shown = MapView(view.selection.apply(weights, translation, head.kind))
        drawings.append(Drawing(shown.values, shown.row_labels, shown.column_labels))
    return Shot(drawings, frame_name(frame), translation.text or "(empty translation)")


def metric_rows(metrics: StepMetrics | None, curves: RunCurves) -> Iterator[tuple[Cell, ...]]:
    """The rows, by rising step.

    A step has empty cells for a missing validation or unknown metrics.
    """
    validations = {point.step: point for point in curves.validations}
    columns = [getattr(metrics, name).tolist() for name in OF_STEPS] if metrics is not None else []
    steps: dict[int, tuple[Cell, ...]] = {row[0]: row for row in zip(*columns, strict=True)}
    for step in sorted({*steps, *validations}):
        point = validations.get(step)
        results = [math.nan] * len(OF_VALIDATIONS)
        if point is not None:
            losses = point.training_loss, point.validation_loss, point.validation_loss_batch_mean
            results = [*losses, math.nan if point.bleu is None else point.bleu]
        unrecorded = step, point.epoch if point is not None else "", *[""] * (len(OF_STEPS) - 2)
        yield (
            *steps.get(step, unrecorded),
            *("" if math.isnan(value) else value for value in results),
        )
