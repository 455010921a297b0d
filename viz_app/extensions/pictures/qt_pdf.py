"""PDF files by Qt, the same bytes for the same drawing: no date, and an identifier that follows
from the content.
"""

import hashlib
import re
from collections.abc import Callable

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QUuid
from PySide6.QtGui import QPdfWriter

METADATA = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"/>'
"""In place of Qt's, which repeats title and dates."""
DOCUMENT_ID = QUuid("{aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa}")
_ID_DIGITS = DOCUMENT_ID.toByteArray(QUuid.StringFormat.WithoutBraces).toHex().data()
_DATE = re.compile(rb"/(?:Creation|Mod)Date \(D:[^)]*\)\n")
_OFFSET = re.compile(rb"\d{10}(?= 00000 n)|(?<=startxref\n)\d+")


def pdf_file(draw: Callable[[QPdfWriter], None]) -> bytes:
    """The content of the file that `draw` makes, in memory: Qt's writer does not report a full
    disk.
    """
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setDocumentId(DOCUMENT_ID)
    writer.setDocumentXmpMetadata(QByteArray(METADATA))
    draw(writer)
    content = _without_dates(bytes(buffer.data().data()))
    digits = hashlib.shake_256(content).hexdigest(len(_ID_DIGITS) // 2)
    return content.replace(_ID_DIGITS, digits.encode("ascii"))


def _without_dates(content: bytes) -> bytes:
    """The file without the two dates of its first object, its table of offsets adjusted."""
    begin = content.index(b"/CreationDate")
    shorter = _DATE.sub(b"", content, count=2)
    num_removed = len(content) - len(shorter)
    table = shorter.rindex(b"\nxref\n")

    def moved(offset: re.Match[bytes]) -> bytes:
        position = int(offset[0])
        return b"%0*d" % (len(offset[0]), position - num_removed if position > begin else position)

    return shorter[:table] + _OFFSET.sub(moved, shorter[table:])
