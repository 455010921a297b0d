"""Two columns of words and curves between them."""

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QMouseEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from augenmerk.viz_app.analysis.alignment.state import Links
from augenmerk.viz_app.state.sentence_text import visible
from augenmerk.viz_app.theme import current_theme, is_theme_change, scaled

LINE_GAP = 7
MAX_WORD = 150
WORD_GAP = 8
MAX_PEN = 4.5


class WordLinks(QWidget):
    """Source words at the left, target words at the right. The word under the mouse keeps its links, others pale.

    Words that the original does not have, have the colour that changed words have everywhere.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._links: Links | None = None
        self._threshold = 0.0
        self.hovered: tuple[str, int] | None = None
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Word links")

    def changeEvent(self, event: QEvent) -> None:
        """Another font has other heights."""
        super().changeEvent(event)
        if is_theme_change(event):
            self.setFixedHeight(self._content_height())
            self.update()

    def show_links(self, links: Links | None, threshold: float) -> None:
        """Draws other links."""
        self._links, self._threshold, self.hovered = links, threshold, None
        self.setFixedHeight(self._content_height())
        if links is not None:
            pairs = ", ".join(
                f"{target} – {links.sources[best]}" for target, best in zip(links.targets, links.best, strict=True)
            )
            self.setAccessibleDescription(pairs)
        self.update()

    def place_of(self, side: str, index: int) -> QRectF:
        """Where a word of the side "source" or "target" stands."""
        width = self._word_width()
        left = 0.0 if side == "source" else self.width() - width
        return QRectF(left, self._middle(side, index) - self._line() / 2, width, self._line())

    def word_at(self, point: QPointF) -> tuple[str, int] | None:
        """Side and index of the word under a point."""
        if self._links is None:
            return None
        for side, words in (("source", self._links.sources), ("target", self._links.targets)):
            for index in range(len(words)):
                if self.place_of(side, index).contains(point):
                    return side, index
        return None

    def sizeHint(self) -> QSize:
        """As high as the longer column."""
        return QSize(300, self._content_height())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """The word under the mouse stands out."""
        word = self.word_at(event.position())
        if word != self.hovered:
            self.hovered = word
            self.setToolTip(self._tip(word))
            self.update()

    def leaveEvent(self, event: QEvent) -> None:
        """No word stands out once the mouse is gone."""
        self.hovered = None
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Curves, then words."""
        links = self._links
        if links is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(current_theme().font("body"))
        shown = links.shown(self._threshold)
        for target, source, strength in sorted(shown, key=lambda link: link[2]):
            self._paint_link(painter, target, source, strength)
        lit = {("target", target) for target, source, _ in shown if self.hovered == ("source", source)}
        lit |= {("source", source) for target, source, _ in shown if self.hovered == ("target", target)}
        for side, words in (("source", links.sources), ("target", links.targets)):
            for index, word in enumerate(words):
                self._paint_word(painter, side, index, word, (side, index) == self.hovered or (side, index) in lit)

    def _paint_link(self, painter: QPainter, target: int, source: int, strength: float) -> None:
        assert self._links is not None
        start = self.place_of("source", source)
        end = self.place_of("target", target)
        begin = QPointF(start.right() + scaled(WORD_GAP), start.center().y())
        finish = QPointF(end.left() - scaled(WORD_GAP), end.center().y())
        bend = (finish.x() - begin.x()) / 2
        path = QPainterPath(begin)
        path.cubicTo(QPointF(begin.x() + bend, begin.y()), QPointF(finish.x() - bend, finish.y()), finish)
        is_best = self._links.best[target] == source
        is_meant = self.hovered in (None, ("source", source), ("target", target))
        alpha = (0.35 + 0.65 * strength) if is_meant else 0.1
        pen = QPen(current_theme().color("accent" if is_best else "muted", alpha), max(1.0, MAX_PEN * strength))
        if not is_best:
            pen.setStyle(Qt.PenStyle.DashLine)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(path)

    def _paint_word(self, painter: QPainter, side: str, index: int, word: str, is_lit: bool) -> None:
        place = self.place_of(side, index)
        align = Qt.AlignmentFlag.AlignRight if side == "source" else Qt.AlignmentFlag.AlignLeft
        text = QFontMetrics(painter.font()).elidedText(visible(word), Qt.TextElideMode.ElideRight, int(place.width()))
        assert self._links is not None
        is_new = index in (self._links.new_sources if side == "source" else self._links.new_targets)
        painter.setPen(current_theme().color("accent" if is_lit else "warm" if is_new else "text"))
        painter.drawText(place, align | Qt.AlignmentFlag.AlignVCenter, text)

    def _tip(self, word: tuple[str, int] | None) -> str:
        links = self._links
        if word is None or links is None:
            return ""
        side, index = word
        strengths = links.strengths[index] if side == "target" else links.strengths[:, index]
        others = links.sources if side == "target" else links.targets
        own = (links.targets if side == "target" else links.sources)[index]
        best = sorted(enumerate(strengths.tolist()), key=lambda item: -item[1])[:4]
        return "\n".join([own, *(f"{others[other]}  {strength:.2f}" for other, strength in best)])

    def _line(self) -> int:
        return QFontMetrics(current_theme().font("body")).height() + scaled(LINE_GAP)

    def _content_height(self) -> int:
        links = self._links
        return 1 if links is None else max(len(links.sources), len(links.targets)) * self._line() + 4

    def _middle(self, side: str, index: int) -> float:
        """The shorter column is spread over the height of the longer one."""
        assert self._links is not None
        count = len(self._links.sources if side == "source" else self._links.targets)
        return (index + 0.5) * (self._content_height() - 4) / count + 2

    def _word_width(self) -> int:
        assert self._links is not None
        metrics = QFontMetrics(current_theme().font("body"))
        widest = max(map(metrics.horizontalAdvance, map(visible, (*self._links.sources, *self._links.targets))))
        return min(widest + 2, scaled(MAX_WORD), self.width() // 3)
