"""Saves the contents of a page: pictures, numbers, and a page for the browser."""

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QPoint
from PySide6.QtGui import QPainter, QRegion
from PySide6.QtWidgets import QWidget

from augenmerk.core.analysis.measures import Measure
from augenmerk.core.translation.result import MAP_KINDS, FloatArray, MapKind, Translation
from augenmerk.viz_app.export.exportable import ExportSource
from augenmerk.viz_app.export.film import Film, FilmHeads
from augenmerk.viz_app.export.html_page import PageContent, save_page
from augenmerk.viz_app.export.painted import save_painted
from augenmerk.viz_app.export.snapshot import Snapshot, facts_of, in_one_line, save_numbers, take_snapshot
from augenmerk.viz_app.heatmap.drawing import small_maps
from augenmerk.viz_app.heatmap.lines_view import LinesPainter
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.theme import Theme

MIDDLE_GREY = 128
OF_ONE_MAP = ("map", "hidden", "picked")
"""Facts that are true of the large map alone."""


class Saving:
    """Writes files. Where there is no map, no file about maps is written.

    Attributes:
        source: what is in sight.
        has_caption: whether pictures say below what they are.
    """

    def __init__(self, source: ExportSource, *, has_caption: bool = True) -> None:
        self.source, self.has_caption = source, has_caption

    @property
    def snapshot(self) -> Snapshot | None:
        """The large map as it is shown now; None while there is none."""
        return take_snapshot(self.source.state, self.source.model) if self.source.state is not None else None

    def save_map(self, target: Path) -> None:
        """The large map as a picture: as a heatmap, or as lines. Raises `StorageError`."""
        snapshot, state = self.snapshot, self.source.state
        if snapshot is None or state is None:
            return
        caption = self._caption(snapshot.drawing.caption)
        if state.settings.picture == "lines":
            theme = Theme.light()
            lines = LinesPainter.of_natural_size(state, theme, snapshot.view)
            caption = "\n".join(filter(None, (snapshot.drawing.title, caption)))
            save_painted(lines.paint, lines.size, caption, theme, target)
            return
        from augenmerk.viz_app.export.plotting import import_matplotlib

        import_matplotlib()
        from augenmerk.viz_app.export.figures import map_figure, save_figure

        save_figure(map_figure(replace(snapshot.drawing, caption=caption)), target)

    def save_heads(self, target: Path) -> None:
        """All heads as a picture. Raises `StorageError`."""
        from augenmerk.viz_app.export.plotting import import_matplotlib

        import_matplotlib()
        from augenmerk.viz_app.export.figures import grid_figure, save_figure

        snapshot, state = self.snapshot, self.source.state
        if snapshot is None or state is None:
            return
        facts = {name: value for name, value in snapshot.facts.items() if name not in (*OF_ONE_MAP, "rows")}
        facts["rows"] = f"token {state.settings.label_mode}, in encoder maps source token"
        blocks = [small_maps(state, kind) for kind in MAP_KINDS]
        save_figure(grid_figure(blocks, self._caption(in_one_line(facts))), target)

    def save_page(self, target: Path) -> None:
        """The page as it stands in the window, with a caption. Raises `StorageError`."""
        page, snapshot = self.source.page, self.snapshot
        caption = self.source.caption or (snapshot.drawing.caption if snapshot is not None else "")

        def paint(painter: QPainter) -> None:
            page.render(painter, QPoint(), QRegion(), QWidget.RenderFlag.DrawChildren)

        theme = Theme.dark() if page.palette().window().color().lightness() < MIDDLE_GREY else Theme.light()
        save_painted(paint, page.size(), self._caption(caption), theme, target)

    def save_table(self, target: Path) -> None:
        """The large map as numbers; as NPZ, those of all heads. Raises `StorageError`."""
        snapshot, state = self.snapshot, self.source.state
        if snapshot is not None and state is not None:
            save_numbers(snapshot, state, target)

    def save_html(self, target: Path) -> None:
        """The maps of all heads, in the measure that is shown, as one page for the browser. Raises `StorageError`."""
        state = self.source.state
        content = page_content(state, self.source.model) if state is not None else None
        if content is not None:
            save_page(content, target)

    def save_charts(self, target: Path) -> None:
        """The charts of a run as a picture. Raises `StorageError`."""
        if self.source.run is not None:
            from augenmerk.viz_app.export.plotting import import_matplotlib

            import_matplotlib()
            self.source.run.save_charts(target, has_caption=self.has_caption)

    def save_metrics(self, target: Path) -> None:
        """Saves the metrics of every step of a run. Raises `StorageError`."""
        if self.source.run is not None:
            self.source.run.save_metrics(target)

    def film(self, heads: FilmHeads) -> Film | None:
        """The film in sight, to be written in a thread of its own; None if there is none."""
        return self.source.run.film(heads, has_caption=self.has_caption) if self.source.run is not None else None

    def _caption(self, text: str) -> str:
        return text if self.has_caption else ""


def page_content(state: ExperimentState, model: str) -> PageContent | None:
    """The maps of all heads, in the measure that is shown, for a page; None while there is no result."""
    if state.result is None or state.maps.translation is None:
        return None
    measure = state.maps.shown_measure(state.selection.head.kind)
    original = state.result.original if state.result.is_changed and state.maps.shown != "original" else None
    return PageContent(
        state.maps.translation,
        _maps_of(state, state.maps.translation, measure),
        measure,
        state.settings.selection,
        facts_of(state, model),
        state.selection.head,
        None if original is None else (original, _maps_of(state, original, measure)),
        is_difference=state.maps.shown == "difference",
    )


def _maps_of(state: ExperimentState, translation: Translation, measure: Measure) -> dict[MapKind, FloatArray]:
    """The maps of a translation in one measure; weights of every kind, or the kinds that the measure exists for."""
    if measure == "weight":
        return {kind: translation.maps.of_kind(kind) for kind in MAP_KINDS}
    return {
        kind: state.maps.maps_of(translation, kind) for kind in MAP_KINDS if state.maps.shown_measure(kind) == measure
    }
