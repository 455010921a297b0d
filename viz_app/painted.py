"""What the painter draws, as a picture file with a caption: PNG, SVG or PDF."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QMarginsF, QRect, QSize, QSizeF, Qt
from PySide6.QtGui import QFontMetrics, QImage, QImageWriter, QPageLayout, QPageSize, QPaintDevice, QPainter, QPdfWriter
from PySide6.QtSvg import QSvgGenerator

from core.errors import StorageError
from core.storage import atomic_path
from viz_app.theme import Theme

Paint = Callable[[QPainter], None]
MARGIN = 12
SCALE = 2
POINTS_PER_PIXEL = 0.75
PIXELS_PER_INCH = 96


def save_painted(paint: Paint, size: QSize, caption: str, theme: Theme, target: Path) -> None:
    """Writes a picture by the name's ending; SVG and PDF keep shapes and text.

    Args:
        paint: draws into a rectangle of `size` at the origin.
        size: in pixels.
        caption: stands below, in as many lines as it needs.
        theme: for ground and caption.
        target: the file.

    Raises:
        StorageError: the ending is another, or the file cannot be written.
    """
    kind = target.suffix.lower()
    if kind not in (".png", ".svg", ".pdf"):
        raise StorageError(f"{target.name} ends in none of .png, .svg, .pdf. Give the picture one of these endings.")
    metrics = QFontMetrics(theme.font("small"))
    words = int(Qt.TextFlag.TextWordWrap)
    room = metrics.boundingRect(QRect(0, 0, size.width(), 10_000), words, caption).height() if caption else 0
    whole = QSize(size.width() + 2 * MARGIN, size.height() + 2 * MARGIN + (room + MARGIN if room else 0))

    def draw(device: QPaintDevice) -> None:
        painter = QPainter()
        if not painter.begin(device):
            raise StorageError(f"Cannot write a picture to {target}. Choose another place, or free some space.")
        painter.fillRect(QRect(0, 0, whole.width(), whole.height()), theme.color("panel"))
        painter.translate(MARGIN, MARGIN)
        painter.save()
        paint(painter)
        painter.restore()
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("muted"))
        painter.drawText(QRect(0, size.height() + MARGIN, size.width(), room), words, caption)
        painter.end()

    with atomic_path(target) as temporary:
        if kind == ".png":
            image = QImage(whole * SCALE, QImage.Format.Format_RGB32)
            image.setDevicePixelRatio(SCALE)
            draw(image)
            if not QImageWriter(str(temporary), b"PNG").write(image):
                raise StorageError(f"Cannot write a picture to {target}. Choose another place, or free some space.")
        else:
            draw(_svg(temporary, whole) if kind == ".svg" else _pdf(temporary, whole))


def _svg(path: Path, size: QSize) -> QSvgGenerator:
    generator = QSvgGenerator()
    generator.setFileName(str(path))
    generator.setSize(size)
    generator.setViewBox(QRect(0, 0, size.width(), size.height()))
    generator.setTitle("Attention")
    return generator


def _pdf(path: Path, size: QSize) -> QPdfWriter:
    writer = QPdfWriter(str(path))
    writer.setResolution(PIXELS_PER_INCH)
    points = QSizeF(size.width() * POINTS_PER_PIXEL, size.height() * POINTS_PER_PIXEL)
    page = QPageSize(points, QPageSize.Unit.Point, "", QPageSize.SizeMatchPolicy.ExactMatch)
    writer.setPageLayout(QPageLayout(page, QPageLayout.Orientation.Portrait, QMarginsF()))
    return writer
