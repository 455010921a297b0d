"""Painted maps as picture files with a caption: PNG, SVG or PDF."""

import html
import re
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QRect, QSize, QSizeF, Qt
from PySide6.QtGui import (
    QFont,
    QFontInfo,
    QFontMetrics,
    QImage,
    QPageLayout,
    QPageSize,
    QPaintDevice,
    QPainter,
    QPdfWriter,
)
from PySide6.QtSvg import QSvgGenerator

from augenmerk.core.errors import StorageError
from augenmerk.core.plain_text import printable
from augenmerk.core.storage import atomic_path
from augenmerk.viz_app.theme import Theme

Paint = Callable[[QPainter], None]
MARGIN = 12
SCALE = 2
POINTS_PER_PIXEL = 0.75
PIXELS_PER_INCH = 96
FONT_FAMILY = re.compile(rb'(<[a-z]+\b[^<>]*?\bfont-family=")([^"]*)(")')
FALLBACK_FAMILIES = ("DejaVu Sans", "Segoe UI", "Helvetica", "Arial", "sans-serif")


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
        raise StorageError(f"{target.name}: choose a file name that ends in .png, .svg or .pdf.")
    metrics = QFontMetrics(theme.font("small"))
    words = int(Qt.TextFlag.TextWordWrap)
    room = metrics.boundingRect(QRect(0, 0, size.width(), 10_000), words, caption).height() if caption else 0
    whole = QSize(size.width() + 2 * MARGIN, size.height() + 2 * MARGIN + (room + MARGIN if room else 0))

    def draw(device: QPaintDevice) -> None:
        painter = QPainter()
        if not painter.begin(device):
            raise StorageError(
                f"Cannot draw {target.name}: a picture of {whole.width()} × {whole.height()} pixels needs too much "
                "memory. Make the window smaller and try again."
            )
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
        temporary.write_bytes(_drawn(draw, kind, whole))


def _drawn(draw: Callable[[QPaintDevice], None], kind: str, size: QSize) -> bytes:
    """The file's content. Qt's writers do not tell when a disk is full, so they write to memory."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    if kind == ".png":
        image = QImage(size * SCALE, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(SCALE)
        draw(image)
        image.save(buffer, "PNG")  # type: ignore[call-overload]
    else:
        draw(_svg(buffer, size) if kind == ".svg" else _pdf(buffer, size))
    content = bytes(buffer.data().data())
    if kind != ".svg":
        return content
    text = printable(content.decode("utf-8", errors="replace"))  # Qt writes control characters, which XML refuses
    return FONT_FAMILY.sub(_known_family, text.encode("utf-8"))


def _known_family(found: re.Match[bytes]) -> bytes:
    """The font that was drawn with, by its real name, and others of its kind for viewers that do not have it.

    Qt writes the name that the desktop gave, such as "Sans Serif", which browsers do not know: they take a serif font.
    """
    name = html.unescape(found[2].decode("utf-8"))
    families = (QFontInfo(QFont(name)).family(), *FALLBACK_FAMILIES)
    return found[1] + html.escape(", ".join(dict.fromkeys(families)), quote=True).encode("utf-8") + found[3]


def _svg(buffer: QBuffer, size: QSize) -> QSvgGenerator:
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(size)
    generator.setViewBox(QRect(0, 0, size.width(), size.height()))
    generator.setTitle("Attention")
    return generator


def _pdf(buffer: QBuffer, size: QSize) -> QPdfWriter:
    writer = QPdfWriter(buffer)
    writer.setResolution(PIXELS_PER_INCH)
    points = QSizeF(size.width() * POINTS_PER_PIXEL, size.height() * POINTS_PER_PIXEL)
    page = QPageSize(points, QPageSize.Unit.Point, "", QPageSize.SizeMatchPolicy.ExactMatch)
    writer.setPageLayout(QPageLayout(page, QPageLayout.Orientation.Portrait, QMarginsF()))
    return writer
