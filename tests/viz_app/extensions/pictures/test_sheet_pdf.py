"""A lesson as PDF: two scenes on a page, with text that can be searched and fonts inside the
file."""

import re
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtGui import QPageSize

from augenmerk.core.errors import StorageError
from augenmerk.core.extensions.provenance import read_provenance_values
from augenmerk.viz_app.extensions.pictures.printed_maps import PRINT_COLORS
from augenmerk.viz_app.extensions.pictures.scene_notes import OutlinedText
from augenmerk.viz_app.extensions.pictures.sheet_pdf import save_sheet_pdf
from augenmerk.viz_app.extensions.pictures.worksheet import Sheet
from augenmerk.viz_app.heatmap.drawing import Drawing
from tests.viz_app.extensions.pictures.test_worksheet import FIRST

ROWS = 13
DRAWING = Drawing(
    np.eye(ROWS, dtype=np.float32),
    [f"row{index}" for index in range(ROWS)],
    [f"spalte{index}" for index in range(ROWS)],
    row_axis="token read",
    column_axis="source token",
    title="Cross-attention · layer 2",
)
SCENE = replace(FIRST, drawing=DRAWING, caption=OutlinedText("Each row: where the model looks."))


class Pdf:
    """What a reader finds in a PDF file: fonts, and the text of each page by the fonts' own maps to
    Unicode."""

    def __init__(self, content: bytes) -> None:
        self.objects = {
            int(n): body
            for n, body in re.findall(rb"(\d+) 0 obj\s*(.*?)endobj", content, re.DOTALL)
        }
        self.sizes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", content)
        self.pages = [body for body in self.objects.values() if re.search(rb"/Type /Page\b", body)]
        self.fonts = [body for body in self.objects.values() if b"/Type /FontDescriptor" in body]

    def stream(self, number: int) -> str:
        body = self.objects[number]
        data = re.search(rb"stream\r?\n(.*)\r?\nendstream", body, re.DOTALL)
        assert data is not None
        return (zlib.decompress(data[1]) if b"FlateDecode" in body else data[1]).decode("latin-1")

    def text(self, page: bytes) -> str:
        letters = {}
        for body in self.objects.values():
            name = re.search(rb"/ToUnicode (\d+) 0 R", body)
            if name:
                letters[self.number_of(body)] = self.letters(self.stream(int(name[1])))
        resources = re.search(rb"/Resources (\d+) 0 R", page)
        contents = re.search(rb"/Contents (\d+) 0 R", page)
        assert resources is not None
        assert contents is not None
        names = dict(re.findall(rb"/(F\d+) (\d+) 0 R", self.objects[int(resources[1])]))
        text, font = "", {}
        for name, glyphs in re.findall(
            r"/(F\d+) [\d.]+ Tf|<([0-9A-Fa-f]+)>", self.stream(int(contents[1]))
        ):
            if name:
                font = letters[int(names[name.encode()])]
            else:
                text += "".join(
                    font.get(int(glyphs[i : i + 4], 16), "") for i in range(0, len(glyphs), 4)
                )
        return text

    def number_of(self, body: bytes) -> int:
        return next(number for number, other in self.objects.items() if other is body)

    @staticmethod
    def letters(table: str) -> dict[int, str]:
        letters = {}
        for part in re.findall(r"beginbfrange(.*?)endbfrange", table, re.DOTALL):
            for first, last, start in re.findall(r"^<(\w+)> <(\w+)> <(\w+)>$", part, re.MULTILINE):
                for index in range(int(last, 16) - int(first, 16) + 1):
                    letters[int(first, 16) + index] = chr(int(start, 16) + index)
            for first, _, many in re.findall(r"<(\w+)> <(\w+)> \[(.*?)\]", part):
                for index, code in enumerate(re.findall(r"<(\w+)>", many)):
                    letters[int(first, 16) + index] = bytes.fromhex(code).decode("utf-16-be")
        return letters


def saved(tmp_path: Path, count: int, sheet: Sheet = "worksheet", **changes: object) -> Pdf:
    scenes = [replace(SCENE, title=f"Scene{number}", **changes) for number in range(1, count + 1)]
    size = QPageSize.PageSizeId.A4
    save_sheet_pdf("Five scenes", scenes, sheet, tmp_path / "sheet.pdf", size=size)
    return Pdf((tmp_path / "sheet.pdf").read_bytes())


def test_the_title_stays_next_to_the_origin_of_the_file(qapp, tmp_path: Path) -> None:
    path = tmp_path / "sheet.pdf"
    save_sheet_pdf("Maps (and) words", [SCENE], "worksheet", path, {"version": "1"})
    assert read_provenance_values(path) == {"version": "1"}
    information = path.read_bytes().rpartition(b"/Producer (Augenmerk ")[2]
    title = re.search(rb"/Title \(\xfe\xff(.*?)\) >>", information, re.DOTALL)
    assert title is not None
    assert re.sub(rb"\\(.)", rb"\1", title[1]).decode("utf-16-be") == "Maps (and) words"


@pytest.mark.parametrize("sheet", ["worksheet", "solutions", "scenes"])
def test_two_scenes_are_on_a_page(qapp, tmp_path: Path, sheet: Sheet) -> None:
    pdf = saved(tmp_path, 5, sheet)
    assert len(pdf.pages) == 3
    for page, numbers in zip(pdf.pages, ((1, 2), (3, 4), (5,)), strict=True):
        text = "".join(pdf.text(page).split())
        assert re.findall(r"\d\.Scene(\d)", text) == [str(number) for number in numbers]
        assert text.count("row12") == len(numbers), "whole maps"
        assert text.count("Which") == len(numbers)
        assert text.count("blue") == (0 if sheet == "worksheet" else len(numbers))
    if sheet == "solutions":
        assert "1.00" in pdf.text(pdf.pages[0])


def test_a_scene_with_long_words_has_a_page_of_its_own(qapp, tmp_path: Path) -> None:
    pdf = saved(tmp_path, 3, "scenes", text="many words " * 90, answer="and many more " * 70)
    assert len(pdf.pages) == 3


def test_a_scene_that_is_longer_than_a_page_goes_on_on_the_next_one(qapp, tmp_path: Path) -> None:
    pdf = saved(
        tmp_path,
        2,
        "scenes",
        text=" ".join(f"word{number}" for number in range(1200)),
        answer="The end.",
    )
    first, second, *_ = pages = [pdf.text(page) for page in pdf.pages]
    assert len(pages) == 4
    assert "word0" in first
    assert "word1199" not in first
    assert "word1199" in second
    assert "row12" in second
    assert "".join(second.split()).endswith("Theend.")
    assert "Scene2" in pages[2]


@pytest.mark.parametrize("num_words", range(1325, 1450, 25))
def test_no_heading_and_no_question_ends_a_page(qapp, tmp_path: Path, num_words: int) -> None:
    """However far the scene before them goes on its page."""
    pdf = saved(tmp_path, 2, "solutions", notes=(OutlinedText("word " * num_words),))
    for page in pdf.pages:
        text = "".join(pdf.text(page).split())
        assert not text.endswith(("Scene1", "Scene2", "Hund*.", "?"))
        if "2.Scene2" in text:
            assert "word" in text.partition("2.Scene2")[2]


def test_a_ring_is_drawn_around_the_word_that_is_pointed_at(qapp, tmp_path: Path) -> None:
    def num_ringed(*notes: OutlinedText) -> int:
        pdf = saved(tmp_path, 1, notes=notes, drawing=None)
        red, green, blue = (
            int(PRINT_COLORS["pointer"][offset : offset + 2], 16) / 255 for offset in (1, 3, 5)
        )
        contents = re.search(rb"/Contents (\d+) 0 R", pdf.pages[0])
        assert contents is not None
        colors = re.findall(r"([\d.]+) ([\d.]+) ([\d.]+) SCN", pdf.stream(int(contents[1])))
        pointer = pytest.approx((red, green, blue), abs=0.01)
        return sum(tuple(map(float, color)) == pointer for color in colors)

    assert num_ringed(OutlinedText("Translation: a cat")) == 0
    assert num_ringed(OutlinedText("Translation: 😀 a ", "dog", " sits")) == 1
    assert num_ringed(OutlinedText("many words " * 12, "that are outlined " * 12, "end")) == 2, (
        "one on each of its lines"
    )


def test_fonts_are_in_the_file_and_the_paper_has_its_size(qapp, tmp_path: Path) -> None:
    pdf = saved(tmp_path, 1)
    assert pdf.fonts
    assert all(b"/FontFile" in font for font in pdf.fonts)
    size = QPageSize.PageSizeId.Letter
    save_sheet_pdf("x", [SCENE], "worksheet", tmp_path / "letter.pdf", size=size)
    letter = Pdf((tmp_path / "letter.pdf").read_bytes())
    assert [tuple(round(float(side)) for side in size) for size in (*pdf.sizes, *letter.sizes)] == [
        (595, 842),
        (612, 792),
    ]


def test_what_cannot_be_written_is_told(qapp, tmp_path: Path) -> None:
    (tmp_path / "folder.pdf").mkdir()
    with pytest.raises(StorageError):
        save_sheet_pdf("x", [SCENE], "worksheet", tmp_path / "folder.pdf")
