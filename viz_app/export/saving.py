"""What the Translate page shows, as files: pictures, numbers, and a page for the browser."""

from pathlib import Path

from PySide6.QtCore import QPoint
from PySide6.QtGui import QPainter, QRegion
from PySide6.QtWidgets import QWidget

from core.translation.result import MAP_KINDS
from viz_app.export.html_page import PageContent, save_page
from viz_app.export.painted import save_painted
from viz_app.heatmap.lines_view import LinesPainter
from viz_app.state.snapshot import Snapshot, in_one_line, save_numbers, take_snapshot
from viz_app.state.translate_state import KIND_NAMES, HeadChoice, TranslateState
from viz_app.theme import Theme

MIDDLE_GREY = 128
OF_ONE_MAP = ("map", "hidden", "rows", "picked")
"""Facts that are true of the large map alone."""


class Saving:
    """Writes files. While nothing is shown, nothing is written.

    Attributes:
        state: what is shown.
        model: its name, for captions.
        page: what "the whole page" is; None until there is one.
    """

    def __init__(self, state: TranslateState) -> None:
        self.state = state
        self.model = ""
        self.page: QWidget | None = None

    @property
    def snapshot(self) -> Snapshot | None:
        """The large map as it is shown now; None while there is none."""
        return take_snapshot(self.state, self.model)

    def save_map(self, target: Path) -> None:
        """The large map as a picture: as a heatmap, or as lines. Raises `StorageError`."""
        snapshot = self.snapshot
        if snapshot is None:
            return
        if self.state.picture == "lines":
            theme = Theme.light()
            lines = LinesPainter.of_natural_size(self.state, theme, snapshot.view)
            caption = f"{snapshot.title}\n{snapshot.caption}"
            save_painted(lines.paint, lines.size, caption, theme, target)
            return
        from viz_app.export.plotting import import_matplotlib

        import_matplotlib()
        from viz_app.export.figures import MapPicture, map_figure, save_figure

        view, top = snapshot.view, self.state.top_weight(snapshot.view.weights)
        picture = MapPicture(view.weights, view.row_labels, view.column_labels, snapshot.title, snapshot.caption, top)
        save_figure(map_figure(picture), target)

    def save_heads(self, target: Path) -> None:
        """All heads as a picture. Raises `StorageError`."""
        from viz_app.export.plotting import import_matplotlib

        import_matplotlib()
        from viz_app.export.figures import KindPicture, grid_figure, save_figure

        snapshot, translation = self.snapshot, self.state.translation
        if snapshot is None or translation is None:
            return
        kinds = []
        for kind in MAP_KINDS:
            maps = self.state.thumbnails(translation, kind)
            tops = [
                [self.state.top_weight(each, HeadChoice(kind, layer, head)) for head, each in enumerate(heads)]
                for layer, heads in enumerate(maps)
            ]
            kinds.append(KindPicture(KIND_NAMES[kind], maps, tops))
        facts = {name: value for name, value in snapshot.facts.items() if name not in OF_ONE_MAP}
        rows = {"rows": f"token {self.state.label_mode}, in encoder maps source token"}
        save_figure(grid_figure(kinds, in_one_line(facts | rows)), target)

    def save_page(self, target: Path) -> None:
        """The page as it stands in the window, with a caption. Raises `StorageError`."""
        page, snapshot = self.page, self.snapshot
        if page is None or snapshot is None:
            return

        def paint(painter: QPainter) -> None:
            page.render(painter, QPoint(), QRegion(), QWidget.RenderFlag.DrawChildren)

        theme = Theme.dark() if page.palette().window().color().lightness() < MIDDLE_GREY else Theme.light()
        save_painted(paint, page.size(), snapshot.caption, theme, target)

    def save_table(self, target: Path) -> None:
        """The large map as numbers; as NPZ, those of all heads. Raises `StorageError`."""
        snapshot = self.snapshot
        if snapshot is not None:
            save_numbers(snapshot, self.state, target)

    def save_html(self, target: Path) -> None:
        """The maps of all heads, in the measure that is shown, as one page for the browser. Raises `StorageError`."""
        state, translation = self.state, self.state.translation
        if translation is None:
            return
        measure = state.measure_of_choice
        maps = {
            kind: translation.maps.of_kind(kind) if measure == "weight" else state.maps(translation, kind)
            for kind in MAP_KINDS
            if measure in ("weight", state.shown_measure(translation, kind))
        }
        off = {"heads": state.switchboard.maps_fact} if state.switchboard.off else {}
        content = PageContent(translation, maps, measure, state.selection, {"model": self.model} | off, state.choice)
        save_page(content, target)
