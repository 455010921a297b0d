"""Films of how maps change during training: GIF by Pillow, MP4 by the system's ffmpeg.

No Qt, and no figure of matplotlib, only its font: a film is drawn and written in any thread.
"""

import contextlib
import io
import math
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
from PIL import Image, ImageColor, ImageDraw, ImageFont

from augenmerk.core.errors import StorageError
from augenmerk.core.extensions.provenance import Provenance, as_word, with_provenance
from augenmerk.core.plain_text import one_line
from augenmerk.core.storage import atomic_path, check_writable

from ...heatmap.drawing import DIMMED_OPACITY, Box, Drawing, mark_shapes, marked_labels
from ...state.color_scale import PAPER
from .printed_maps import PRINT_COLORS

FORMATS = ("gif", "mp4")
FFMPEG = "ffmpeg"
NO_FFMPEG = "MP4 needs ffmpeg, which is not installed on this computer"
MAX_SHOTS = 400
"""The largest number of frames in a film; a longer one is sampled evenly, because a GIF is built
in memory.
"""
FILM_SECONDS, MIN_SHOT_MS, MAX_SHOT_MS, LAST_SHOT_MS = 7.0, 60, 800, 2_000
"""About as long as in the window; the last frame is shown longer, because a GIF repeats."""
ENCODERS = {
    "libx264": ("-crf", "18", "-preset", "veryfast"),
    "libopenh264": ("-b:v", "2M"),
    "mpeg4": ("-q:v", "3"),
}
"""With their options for quality, the best first; an ffmpeg may lack some of them."""
STALL_SECONDS = 60.0
"""An ffmpeg that accepts no pictures for this time, or does not finish, is killed."""
ASK_SECONDS, POLL_SECONDS = 10.0, 0.05
FRAMES_PER_SECOND = 25
MARGIN, GAP = 22, 10
TITLE_PX, TEXT_PX, LABEL_PX, SMALL_PX = 20, 17, 15, 12
MIN_WIDTH, MAX_WIDTH, MAX_LABEL = 620, 1400, 190
MAP_PX, MIN_CELL, MAX_CELL = 520, 6, 38
BAR_WIDTH, BAR_HEIGHT, BAR_SPACE = 14, 180, 54
GRID_WIDTH, GRID_HEIGHT = 1160, 760
"""Of all maps of a film of several heads, in pixels."""
MIN_GRID_CELL, LEAST_LABELLED_CELL = 2, 9
"""A film of several heads has smaller cells; their tokens are labelled from this cell size on."""
PANEL_GAP, PANEL_FOOT = 12, 24
"""Between two maps; below each, its name among it."""
NUM_TEXT_LINES = 2
COLUMN_DEGREES = 55
Color = tuple[int, int, int]
INK = (27, 30, 35)
GREY = (97, 103, 111)
FAINT = (223, 225, 229)
ACCENT = (42, 99, 204)
GROUND = (255, 255, 255)
COLORS: dict[str, Color] = {
    "": INK,
    **{role: ImageColor.getrgb(color)[:3] for role, color in PRINT_COLORS.items()},
}
LABEL_SPACE = 8
"""Pixels between labels and cells."""
NUM_RAMP, NUM_SHADES = 170, 20
OnShot = Callable[[int, int], None]
ShouldStop = Callable[[], bool]
FilmHeads = Literal["head", "layer", "kind"]
"""The heads in a film: one head, all heads of its layer, or all of its kind of attention."""


class FilmStoppedError(StorageError):
    """Writing was stopped; no file was written."""

    def __init__(self) -> None:
        super().__init__("The film was stopped. Nothing was written.")


@dataclass(frozen=True, eq=False)
class Shot:
    """The maps at one training step.

    Attributes:
        drawings: one for each of the film's panels, in their order; all have the same rows, columns
            and scale.
        step_name: a short description of the step.
        text: the translation at this step.
    """

    drawings: Sequence[Drawing]
    step_name: str
    text: str


@dataclass(frozen=True, eq=False)
class Film:
    """A film to be drawn: the map of one head, or small maps of several.

    Attributes:
        title: the name of the head or heads.
        sentence: the translated sentence.
        caption: a description below the maps; may be empty.
        shots: by rising step; at least one.
        panels: the name of each map, from left to right, then the next line; empty for the film of
            one head.
        num_across: the number of panels in a line.
        saved: its provenance; None for none.
    """

    title: str
    sentence: str
    caption: str
    shots: tuple[Shot, ...]
    panels: tuple[str, ...] = ()
    num_across: int = 1
    saved: Provenance | None = None


def ffmpeg_path() -> str | None:
    """The path of the system's ffmpeg; None if it is not installed."""
    return shutil.which(FFMPEG)


def formats() -> tuple[str, ...]:
    """The file name endings of films that this system can write."""
    return FORMATS if ffmpeg_path() is not None else FORMATS[:1]


def chosen_shots(count: int) -> list[int]:
    """The indices of the frames in a film: all, or `MAX_SHOTS` evenly spaced, with the first and
    the last.
    """
    if count <= MAX_SHOTS:
        return list(range(count))
    return [round(number * (count - 1) / (MAX_SHOTS - 1)) for number in range(MAX_SHOTS)]


def shot_ms(num_shots: int) -> int:
    """The duration of a frame in milliseconds, a multiple of 10, as a GIF counts hundredths of a
    second.
    """
    return 10 * round(
        min(MAX_SHOT_MS, max(MIN_SHOT_MS, 1000 * FILM_SECONDS / max(num_shots, 1))) / 10
    )


def save_film(
    film: Film,
    target: Path,
    on_shot: OnShot = lambda done, total: None,
    should_stop: ShouldStop = lambda: False,
) -> None:
    """Writes a film as GIF or MP4, by the name's ending.

    Args:
        film: the film to draw.
        target: the file; an older one is intact until the new one is whole.
        on_shot: called with the number of frames drawn, and of all frames.
        should_stop: called before each frame, and while ffmpeg works.

    Raises:
        StorageError: the ending is another, there is no ffmpeg, or the file cannot be written.
        FilmStoppedError: it was stopped.
    """
    kind = target.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise StorageError(f"{target.name}: choose a file name that ends in .gif or .mp4.")
    if kind == "mp4" and ffmpeg_path() is None:
        raise StorageError(
            f"{target.name} was not written: {NO_FFMPEG}. Install ffmpeg, or choose a name in .gif."
        )
    check_writable(target)  # before spending minutes on it
    draw = _FilmPainter(film)

    def images() -> Iterator[Image.Image]:
        for number in range(len(film.shots)):
            if should_stop():
                raise FilmStoppedError
            yield draw.shot(number)
            on_shot(number + 1, len(film.shots))

    with atomic_path(target) as temporary:
        if kind == "gif":
            _write_gif(images(), len(film.shots), temporary, film.saved)
        else:
            comment = as_word(film.saved).decode("ascii") if film.saved else ""
            _write_mp4(
                images(), len(film.shots), draw.size, temporary, target, should_stop, comment
            )
        if should_stop():
            raise FilmStoppedError


# --- GIF ------------------------------------------------------------------------------------------


def _write_gif(
    images: Iterator[Image.Image], num_shots: int, path: Path, saved: Provenance | None
) -> None:
    """Raises `OSError`."""
    palette = _palette()
    colors = palette.getpalette()
    indexed = (image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images)
    durations = [shot_ms(num_shots)] * (num_shots - 1) + [LAST_SHOT_MS]
    first = next(indexed)
    content = io.BytesIO()  # smaller than the pictures, and a single write detects a full disk
    first.save(
        content,
        "GIF",
        save_all=True,
        append_images=indexed,
        duration=durations,
        loop=0,
        palette=bytes(colors or ()),
        optimize=False,
        disposal=1,
    )
    path.write_bytes(with_provenance(content.getvalue(), saved))


@cache
def _palette() -> Image.Image:
    """The colours of every picture: those of maps, and words in each of their colours, fading to
    the ground.
    """
    ramp = PAPER.rgb[np.linspace(0, 255, NUM_RAMP).round().astype(int)]
    shades = np.linspace(0, 1, NUM_SHADES)[:, None]
    words = [
        np.array(GROUND) + shades * (np.array(color) - GROUND) for color in (*COLORS.values(), GREY)
    ]
    colors = np.concatenate([ramp, [FAINT], *(word.round().astype(np.uint8) for word in words)])
    unique = list(dict.fromkeys(tuple(color) for color in colors.tolist()))[:256]
    image = Image.new("P", (1, 1))
    image.putpalette([channel for color in unique for channel in color])
    return image


# --- MP4 ------------------------------------------------------------------------------------------


def _write_mp4(
    images: Iterator[Image.Image],
    num_shots: int,
    size: tuple[int, int],
    path: Path,
    target: Path,
    should_stop: ShouldStop,
    comment: str,
) -> None:
    """Raises `StorageError`, `FilmStoppedError` or `OSError`."""
    ffmpeg = ffmpeg_path()
    if ffmpeg is None:
        raise StorageError(f"{target.name} was not written: {NO_FFMPEG}.")
    duration = shot_ms(num_shots)
    encoder = _encoder(ffmpeg)
    command = [
        *(ffmpeg, "-hide_banner", "-nostats", "-loglevel", "error", "-y"),
        *("-f", "rawvideo", "-pix_fmt", "rgb24", "-video_size", f"{size[0]}x{size[1]}"),
        *("-framerate", f"1000/{duration}", "-i", "pipe:0", "-an"),
        *("-c:v", encoder, *ENCODERS[encoder], "-pix_fmt", "yuv420p", "-r", str(FRAMES_PER_SECOND)),
        *(("-metadata", f"comment={comment}") if comment else ()),
        *("-movflags", "+faststart", "-f", "mp4", str(path)),
    ]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said
        )
        watch = _Watch(process, should_stop)
        try:
            _feed(process, images, -(-LAST_SHOT_MS // duration), watch)
        except BaseException:
            process.kill()
            raise
        finally:
            process.wait()  # the watch limits this wait
            watch.end()
            with contextlib.suppress(OSError):
                process.stdin.close()  # type: ignore[union-attr]
        if should_stop():
            raise FilmStoppedError
        said.seek(0)
        words = said.read(10_000).decode("utf-8", errors="replace").strip().splitlines()
        if process.returncode or any("No space left" in line for line in words):
            raise StorageError(
                f"Cannot write {target}: "
                f"{_reason(process.returncode, words, is_stalled=watch.has_stalled)}. Try "
                "another place, or a name in .gif."
            )


def _feed(
    process: "subprocess.Popen[bytes]",
    images: Iterator[Image.Image],
    num_last: int,
    watch: "_Watch",
) -> None:
    """Writes the pictures to ffmpeg, the last one several times.

    If ffmpeg ends early, its exit status is the error.
    """
    assert process.stdin is not None
    content = b""
    try:
        for image in images:
            content = image.tobytes()
            process.stdin.write(content)
            watch.touch()
        for _ in range(num_last - 1):
            process.stdin.write(content)
            watch.touch()
        process.stdin.close()
    except BrokenPipeError:
        pass


class _Watch:
    """Ends a process that stalls or was cancelled.

    Attributes:
        has_stalled: whether the process stalled.
    """

    def __init__(self, process: "subprocess.Popen[bytes]", should_stop: ShouldStop) -> None:
        self._process, self._should_stop = process, should_stop
        self._ended = threading.Event()
        self._last = time.monotonic()
        self.has_stalled = False
        self._thread = threading.Thread(target=self._watch, name="augenmerk-film", daemon=True)
        self._thread.start()

    def touch(self) -> None:
        """Records progress."""
        self._last = time.monotonic()

    def end(self) -> None:
        """The process has ended."""
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(POLL_SECONDS):
            self.has_stalled = time.monotonic() > self._last + STALL_SECONDS
            if self.has_stalled or self._should_stop():
                self._process.kill()
                return


def _encoder(ffmpeg: str) -> str:
    """The best encoder of this ffmpeg. Raises `StorageError`."""
    command = [ffmpeg, "-hide_banner", "-encoders"]
    try:
        listed = subprocess.run(
            command, capture_output=True, timeout=ASK_SECONDS, stdin=subprocess.DEVNULL, check=True
        ).stdout.decode("utf-8", errors="replace")
    except (OSError, subprocess.SubprocessError) as error:
        raise StorageError(f"{ffmpeg} does not work ({error}). Choose a name in .gif.") from error
    words = set(listed.split())
    encoder = next((name for name in ENCODERS if name in words), None)
    if encoder is None:
        raise StorageError(
            f"{ffmpeg} supports none of the encoders {', '.join(ENCODERS)}. Choose a name in .gif."
        )
    return encoder


def _reason(status: int, words: Sequence[str], *, is_stalled: bool) -> str:
    if is_stalled:
        return f"ffmpeg did nothing for {STALL_SECONDS:.0f} seconds and was ended"
    said = f": {one_line(words[-1])[:200]}" if words else ""
    return f"ffmpeg ended with status {status}{said}"


# --- pictures -------------------------------------------------------------------------------------


class _FilmPainter:
    """Draws the frames of a film, all of one size; tokens label only the first map of a line and
    of a column.

    Attributes:
        size: width and height in pixels, both even, as video encoders require.
    """

    def __init__(self, film: Film) -> None:
        self._film = film
        drawings = [drawing for shot in film.shots for drawing in shot.drawings]
        shapes = [drawing.values.shape for drawing in drawings]
        num_rows, num_columns = (
            max((shape[axis] for shape in shapes), default=1) or 1 for axis in (0, 1)
        )
        num_lines = -(-len(film.panels) // film.num_across)
        if film.panels:
            across = (GRID_WIDTH - (film.num_across - 1) * PANEL_GAP) / (
                film.num_across * num_columns
            )
            down = (GRID_HEIGHT - num_lines * PANEL_FOOT) / (num_lines * num_rows)
            self._cell = int(min(MAX_CELL // 2, max(MIN_GRID_CELL, min(across, down))))
            self._has_labels, self._label_px = (
                self._cell >= LEAST_LABELLED_CELL,
                min(LABEL_PX, self._cell),
            )
        else:
            self._cell = int(min(MAX_CELL, max(MIN_CELL, MAP_PX / max(num_rows, num_columns))))
            self._has_labels, self._label_px = True, min(LABEL_PX, max(8, self._cell - 2))
        self._slant = math.radians(COLUMN_DEGREES)
        labelled = drawings if self._has_labels else []
        rows = {label for drawing in labelled for label in drawing.row_labels}
        columns = {label for drawing in labelled for label in drawing.column_labels}
        row_width = max(map(self._label_width, rows), default=0)
        self._column_width = max(map(self._label_width, columns), default=0)
        self._left = MARGIN + round(row_width) + LABEL_SPACE
        width = num_columns * self._cell
        height = num_rows * self._cell
        self._name_top = height + 4  # the same for shorter translations: names do not move
        if film.panels:
            name_widths = [round(_font(SMALL_PX).getlength(name)) for name in film.panels]
            self._step = (max(width, *name_widths) + PANEL_GAP, height + PANEL_FOOT)
            width = film.num_across * self._step[0] - PANEL_GAP
            height = num_lines * self._step[1]
        else:
            self._step = (0, 0)
        self._set_size(width, height)

    def _set_size(self, maps_width: int, maps_height: int) -> None:
        """Places everything around maps of this size, which includes the names below them."""
        film = self._film
        overhang = max(0, round(self._column_width * math.cos(self._slant)) - BAR_SPACE)
        width = self._left + maps_width + BAR_SPACE + overhang + MARGIN
        width = max(
            width,
            round(_font(TITLE_PX, is_bold=True).getlength(one_line(film.title))) + 2 * MARGIN,
            MIN_WIDTH,
        )
        width = min(width, MAX_WIDTH)
        self._sentence = _lines(film.sentence, TEXT_PX, width - 2 * MARGIN, NUM_TEXT_LINES)
        self._caption = _lines(film.caption, SMALL_PX, width - 2 * MARGIN, 3)
        y = MARGIN + TITLE_PX + GAP
        self._sentence_top = y
        y += len(self._sentence) * _line(TEXT_PX) + GAP
        self._step_top = y
        y += _line(TEXT_PX)
        self._text_top = y
        y += NUM_TEXT_LINES * _line(TEXT_PX) + GAP
        self._map_top = y + round(self._column_width * math.sin(self._slant)) + self._label_px
        y = self._map_top + max(maps_height, BAR_HEIGHT) + 2 * GAP
        self._line_top = y
        y += 2 * GAP
        self._caption_top = y
        y += len(self._caption) * _line(SMALL_PX) + MARGIN - GAP
        self._map_right = self._left + maps_width
        self.size = (width + width % 2, y + y % 2)

    def shot(self, number: int) -> Image.Image:
        """The picture of a frame, counted from 0."""
        film = self._film
        shot = self._film.shots[number]
        image = Image.new("RGB", self.size, GROUND)
        draw = ImageDraw.Draw(image)
        draw.text((MARGIN, MARGIN), one_line(film.title), INK, _font(TITLE_PX, is_bold=True))
        self._write(draw, self._sentence, self._sentence_top, GREY)
        draw.text((MARGIN, self._step_top), one_line(shot.step_name), ACCENT, _font(TEXT_PX))
        lines = _lines(shot.text, TEXT_PX, self.size[0] - 2 * MARGIN, NUM_TEXT_LINES)
        self._write(draw, lines, self._text_top, INK)
        self._draw_maps(image, draw, number)
        self._draw_bar(image, draw)
        self._draw_place(draw, number)
        for index, line in enumerate(self._caption):
            draw.text(
                (MARGIN, self._caption_top + index * _line(SMALL_PX)), line, GREY, _font(SMALL_PX)
            )
        return image

    def _draw_maps(self, image: Image.Image, draw: ImageDraw.ImageDraw, number: int) -> None:
        film = self._film
        for index, drawing in enumerate(film.shots[number].drawings):
            line, column = divmod(index, film.num_across)
            left = self._left + column * self._step[0]
            top = self._map_top + line * self._step[1]
            self._draw_map(image, draw, drawing, (left, top))
            if film.panels:
                draw.text((left, top + self._name_top), film.panels[index], GREY, _font(SMALL_PX))
            if self._has_labels and column == 0:
                self._draw_row_labels(draw, drawing, top)
            if self._has_labels and line == 0:
                self._draw_column_labels(image, drawing, left)

    def _write(
        self, draw: ImageDraw.ImageDraw, lines: Sequence[str], top: int, color: Color
    ) -> None:
        for index, line in enumerate(lines):
            draw.text((MARGIN, top + index * _line(TEXT_PX)), line, color, _font(TEXT_PX))

    def _draw_map(
        self,
        image: Image.Image,
        draw: ImageDraw.ImageDraw,
        drawing: Drawing,
        corner: tuple[int, int],
    ) -> None:
        """Draws the cells of one map and its marks."""
        (left, top), cell = corner, self._cell
        num_rows, num_columns = drawing.values.shape
        width = num_columns * cell
        height = num_rows * cell
        if num_rows and num_columns:
            cells = Image.fromarray(drawing.colors(), "RGB")
            image.paste(cells.resize((width, height), Image.Resampling.NEAREST), (left, top))
        for row, column in drawing.missing():
            bottom = top + (row + 1) * cell - 1
            draw.line(
                (left + column * cell, bottom, left + (column + 1) * cell - 1, bottom - cell + 1),
                GREY,
                1,
            )
        draw.rectangle((left - 1, top - 1, left + width, top + height), outline=FAINT)
        for shape in mark_shapes(drawing.marks, (cell, cell), Box(0, 0, width, height)):
            x = left + shape.box.left
            y = top + shape.box.top
            color = COLORS[shape.color]
            box = (x, y, x + shape.box.width, y + shape.box.height)
            if shape.kind == "line":
                draw.line(box, color, round(shape.pen_px))
            elif shape.kind == "frame":
                draw.rectangle((x - 1, y - 1, *box[2:]), outline=color, width=round(shape.pen_px))
            elif shape.kind == "ring":
                draw.ellipse(box, outline=color, width=round(shape.pen_px))
            elif shape.kind == "dimmed":
                area = round(box[0]), round(box[1]), round(box[2]), round(box[3])
                dimmed = image.crop(area)
                image.paste(
                    Image.blend(dimmed, Image.new("RGB", dimmed.size, GROUND), DIMMED_OPACITY), area
                )
            else:
                (draw.rectangle if shape.kind == "fill" else draw.ellipse)(box, color)

    def _draw_row_labels(self, draw: ImageDraw.ImageDraw, drawing: Drawing, top: int) -> None:
        font = _font(self._label_px)
        colors = marked_labels(drawing.marks, len(drawing.row_labels), is_row=True)
        for row, (label, color) in enumerate(zip(drawing.row_labels, colors, strict=True)):
            position = (self._left - LABEL_SPACE, top + (row + 0.5) * self._cell)
            draw.text(position, self._label(label), COLORS[color], font, anchor="rm")

    def _draw_column_labels(self, image: Image.Image, drawing: Drawing, left: int) -> None:
        colors = marked_labels(drawing.marks, len(drawing.column_labels), is_row=False)
        for column, (label, color) in enumerate(zip(drawing.column_labels, colors, strict=True)):
            x = left + (column + 0.5) * self._cell
            y = self._map_top - LABEL_SPACE
            self._slanted(image, self._label(label), (x, y), COLORS[color])

    def _slanted(
        self, image: Image.Image, text: str, point: tuple[float, float], color: Color
    ) -> None:
        """Text that rises to the right from a point, the middle of its height at the point."""
        font = _font(self._label_px)
        slant = self._slant
        (x, y) = point
        width = math.ceil(font.getlength(text)) + 2
        height = _line(self._label_px)
        mask = Image.new("L", (width, height), 0)
        ImageDraw.Draw(mask).text((1, height / 2), text, 255, font, anchor="lm")
        mask = mask.rotate(COLUMN_DEGREES, Image.Resampling.BICUBIC, expand=True)
        middle = x + width / 2 * math.cos(slant), y - width / 2 * math.sin(slant)
        corner = round(middle[0] - mask.width / 2), round(middle[1] - mask.height / 2)
        image.paste(color, (*corner, corner[0] + mask.width, corner[1] + mask.height), mask)

    def _draw_bar(self, image: Image.Image, draw: ImageDraw.ImageDraw) -> None:
        """Draws the colour bar."""
        left = self._map_right + 16
        top = self._map_top
        scale = self._film.shots[0].drawings[0].scale
        ramp = Image.fromarray(scale.table().rgb[::-1, None], "RGB")
        image.paste(ramp.resize((BAR_WIDTH, BAR_HEIGHT)), (left, top))
        draw.rectangle((left - 1, top - 1, left + BAR_WIDTH, top + BAR_HEIGHT), outline=FAINT)
        for share in (0.0, 0.5, 1.0):
            y = top + BAR_HEIGHT * (1 - share)
            text = f"{share * scale.top:.3g}"
            draw.text((left + BAR_WIDTH + 5, y), text, GREY, _font(SMALL_PX), anchor="lm")

    def _draw_place(self, draw: ImageDraw.ImageDraw, number: int) -> None:
        """Draws the progress of the film."""
        y = self._line_top + 2
        right = self.size[0] - MARGIN
        share = number / max(len(self._film.shots) - 1, 1)
        x = MARGIN + share * (right - MARGIN)
        draw.line((MARGIN, y, right, y), FAINT, 3)
        draw.line((MARGIN, y, x, y), ACCENT, 3)
        draw.ellipse((x - 5, y - 5, x + 5, y + 5), fill=ACCENT)

    def _label(self, text: str) -> str:
        return _shortened(one_line(text), self._label_px, MAX_LABEL)

    def _label_width(self, text: str) -> float:
        return _font(self._label_px).getlength(self._label(text))


@cache
def _font(size: int, *, is_bold: bool = False) -> ImageFont.FreeTypeFont:
    """The font of all exported figures, which matplotlib brings along."""
    name = "DejaVuSans-Bold.ttf" if is_bold else "DejaVuSans.ttf"
    import matplotlib  # the window is painted before it is imported

    return ImageFont.truetype(str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / name), size)


def _line(size: int) -> int:
    """The height of a line."""
    return round(1.35 * size)


def _shortened(text: str, size: int, width: float) -> str:
    """The text, with an ellipsis if it is wider than `width` pixels."""
    font = _font(size)
    if font.getlength(text) <= width:
        return text
    while text and font.getlength(text + "…") > width:
        text = text[:-1]
    return text.rstrip() + "…"


def _lines(text: str, size: int, width: float, at_most: int) -> list[str]:
    """The text in at most `at_most` lines of `width` pixels; the last line is shortened if there is
    more.
    """
    font = _font(size)
    lines = [""]
    for word in one_line(text).split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and len(lines) < at_most and font.getlength(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return [_shortened(line, size, width) for line in lines if line]
