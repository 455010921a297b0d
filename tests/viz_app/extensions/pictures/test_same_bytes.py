"""The same input gives the same bytes: in another process, at another time, and for a user with
other settings."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QPainter, QPdfWriter

from augenmerk.viz_app.extensions.pictures.qt_pdf import pdf_file

STYLE = """\
text.usetex: True
font.family: serif
font.size: 23
savefig.dpi: 47
savefig.bbox: tight
svg.fonttype: path
pdf.fonttype: 42
image.cmap: hot
"""
"""The `matplotlibrc` of a user."""


def write_everything(folder: Path, hash_seed: str, **of_user: str) -> dict[str, bytes]:
    """The content of each file by its name.

    Qt's own hashes have the seed that the command `augenmerk` sets.
    """
    folder.mkdir()
    environment = {**os.environ, "QT_HASH_SEED": "0", "PYTHONHASHSEED": hash_seed, **of_user}
    command = [sys.executable, "-m", "tests.viz_app.extensions.pictures.everything", str(folder)]
    subprocess.run(
        command, env=environment, cwd=Path(__file__).parents[4], check=True, capture_output=True
    )
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.slow
@pytest.mark.subprocess
def test_each_file_has_the_same_bytes_in_another_process_with_other_settings(
    tmp_path: Path,
) -> None:
    style = tmp_path / "matplotlibrc"
    style.write_text(STYLE)
    first = write_everything(tmp_path / "first", "1", TZ="UTC", LC_ALL="C.UTF-8")
    other = {
        "TZ": "Asia/Kathmandu",
        "LC_ALL": "de_DE.UTF-8",
        "LANGUAGE": "de",
        "MATPLOTLIBRC": str(style),
    }
    second = write_everything(tmp_path / "second", "2", **other)
    assert {Path(name).suffix for name in first} >= {
        ".png",
        ".svg",
        ".pdf",
        ".html",
        ".csv",
        ".json",
        ".npz",
        ".gif",
    }
    assert first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []


def _draw(text: str) -> bytes:
    def draw(writer: QPdfWriter) -> None:
        writer.setTitle(text)
        painter = QPainter(writer)
        painter.drawText(100, 100, text)
        painter.end()

    return pdf_file(draw)


def test_a_pdf_by_qt_has_no_date_and_an_identifier_of_its_content(qapp) -> None:
    content = _draw("Hund")
    assert b"Date" not in content
    assert content == _draw("Hund")
    (first,), (other,) = (pdf.rsplit(b"/ID [ <", 1)[1:] for pdf in (content, _draw("Katze")))
    assert first[:72] != other[:72]


def test_the_table_of_a_pdf_by_qt_names_the_place_of_each_object(qapp) -> None:
    content = _draw("Hund")
    table = content.rindex(b"xref\n", 0, content.rindex(b"startxref"))
    assert int(content.split()[-2]) == table
    places = [
        int(line[:10]) for line in content[table:].splitlines() if line.endswith(b" 00000 n ")
    ]
    assert len(places) > 10
    for number, offset in enumerate(places, start=1):
        assert content[offset:].startswith(b"%d 0 obj" % number)
