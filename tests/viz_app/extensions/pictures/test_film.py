"""Films of attention as files: every frame is in them, with the right map; nothing is
half-written.
"""

import os
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import augenmerk.viz_app.extensions.pictures.film
from augenmerk.core.errors import StorageError
from augenmerk.viz_app.extensions.pictures.film import (
    LAST_SHOT_MS,
    MAX_SHOT_MS,
    MAX_SHOTS,
    MIN_SHOT_MS,
    Film,
    FilmStoppedError,
    Shot,
    chosen_shots,
    ffmpeg_path,
    save_film,
    shot_ms,
)
from augenmerk.viz_app.heatmap.drawing import Drawing

needs_ffmpeg = pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="needs ffmpeg")
LABELS = ("a", "long word", "$x_1$", "<eos>")


def film(num_shots: int = 5, num_rows: int = 4) -> Film:
    """One dark cell on a map of four columns: it goes from row to row."""
    shots = []
    for number in range(num_shots):
        weights = np.zeros((num_rows, len(LABELS)), dtype=np.float32)
        weights[number % num_rows, 1] = 1.0
        rows = tuple(f"row {row}" for row in range(num_rows))
        shots.append(
            Shot([Drawing(weights, rows, LABELS)], f"epoch {number}", f"translation {number}")
        )
    return Film("Cross-attention · layer 2 · head 5", "Ein Satz .", "run: test", tuple(shots))


def grid_film(num_heads: int, num_across: int, num_tokens: int = 4) -> Film:
    """In the first frame no head is dark, in the second the last alone, in the third all are."""
    labels = tuple(f"token {index}" for index in range(num_tokens))
    light, dark = (
        Drawing(np.full((num_tokens, num_tokens), value, dtype=np.float32), labels, labels)
        for value in (0.0, 1.0)
    )
    shots = (
        Shot((light,) * num_heads, "epoch 0", "a"),
        Shot((*[light] * (num_heads - 1), dark), "epoch 1", "b"),
        Shot((dark,) * num_heads, "epoch 2", "c"),
    )
    return Film(
        "Cross-attention · all heads", "Ein Satz .", "", shots, ("head",) * num_heads, num_across
    )


def num_dark(image: Image.Image) -> int:
    pixels = np.asarray(image.convert("RGB")).astype(int)
    return int((abs(pixels - (11, 22, 82)).sum(axis=2) < 60).sum())


def rows_of_the_dark_cell(images: list[Image.Image]) -> list[int]:
    """Where the lowest dark pixel lies in each picture of one column; the difference says how many
    rows lower.
    """
    rows = []
    for image in images:
        pixels = np.asarray(image.convert("RGB")).astype(int)
        # the last colour of a cell's width
        is_dark = (abs(pixels - (11, 22, 82)).sum(axis=2) < 60).sum(axis=1) > 25
        rows.append(int(np.nonzero(is_dark)[0].mean()))
    return rows


def gif_images(path: Path) -> list[Image.Image]:
    with Image.open(path) as file:
        images = []
        for number in range(file.n_frames):  # type: ignore[attr-defined]
            file.seek(number)
            images.append(file.convert("RGB"))
    return images


@pytest.mark.heavy
def test_a_gif_has_a_picture_for_each_frame_with_its_map(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    save_film(film(), tmp_path / "film.gif", lambda done, total: told.append((done, total)))
    images = gif_images(tmp_path / "film.gif")
    assert len(images) == 5
    assert told == [(done, 5) for done in range(1, 6)]
    places = rows_of_the_dark_cell(images)
    steps = np.diff(places)
    assert len({*steps[:3].tolist()}) == 1, "the same number of pixels from row to row"
    assert steps[0] > 20
    assert places[4] == places[0]


def test_a_gif_shows_each_frame_as_long_as_said_and_the_last_one_longer(tmp_path: Path) -> None:
    save_film(film(3), tmp_path / "film.gif")
    with Image.open(tmp_path / "film.gif") as file:
        assert file.info["loop"] == 0
        durations = []
        for number in range(3):
            file.seek(number)
            durations.append(file.info["duration"])
    assert durations == [shot_ms(3), shot_ms(3), LAST_SHOT_MS]
    assert shot_ms(1) == MAX_SHOT_MS
    assert shot_ms(10_000) == MIN_SHOT_MS


def test_a_film_of_one_frame_and_of_maps_without_rows_is_written(tmp_path: Path) -> None:
    save_film(film(1), tmp_path / "one.gif")
    assert len(gif_images(tmp_path / "one.gif")) == 1
    empty = Shot(
        [Drawing(np.zeros((0, 4), dtype=np.float32), (), LABELS)], "before the first step", ""
    )
    save_film(Film("t", "", "", (empty, *film(2).shots)), tmp_path / "empty.gif")
    assert len(gif_images(tmp_path / "empty.gif")) == 3


@pytest.mark.parametrize(("num_heads", "num_across"), [(24, 8), (8, 4), (5, 4), (1, 1)])
def test_a_film_of_several_heads_has_all_their_maps_of_one_size(
    tmp_path: Path, num_heads: int, num_across: int
) -> None:
    save_film(grid_film(num_heads, num_across), tmp_path / "film.gif")
    bar, one, every = (num_dark(image) for image in gif_images(tmp_path / "film.gif"))
    assert one > bar
    assert every - bar == num_heads * (one - bar)


def test_a_film_of_many_heads_and_a_long_sentence_stays_within_a_screen(tmp_path: Path) -> None:
    save_film(grid_film(96, 16, num_tokens=60), tmp_path / "film.gif")
    width, height = gif_images(tmp_path / "film.gif")[0].size
    assert width <= 2100
    assert height <= 1100


def test_a_long_film_has_evenly_chosen_frames_with_the_first_and_the_last() -> None:
    assert chosen_shots(7) == list(range(7))
    chosen = chosen_shots(10_000)
    assert len(chosen) == MAX_SHOTS == len(set(chosen))
    assert (chosen[0], chosen[-1]) == (0, 9_999)
    assert max(np.diff(chosen)) - min(np.diff(chosen)) <= 1


def test_what_is_stopped_leaves_the_older_file_alone(tmp_path: Path) -> None:
    (tmp_path / "film.gif").write_text("older")
    drawn: list[int] = []
    with pytest.raises(FilmStoppedError):
        save_film(
            film(),
            tmp_path / "film.gif",
            lambda done, _: drawn.append(done),
            lambda: len(drawn) == 2,
        )
    assert drawn == [1, 2]
    assert [path.name for path in tmp_path.iterdir()] == ["film.gif"]
    assert (tmp_path / "film.gif").read_text() == "older"


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"ends in \.gif or \.mp4"):
        save_film(film(), tmp_path / "film.avi")


@pytest.mark.slow
@pytest.mark.parametrize(
    "ending", ["gif", pytest.param("mp4", marks=[needs_ffmpeg, pytest.mark.subprocess])]
)
def test_a_disk_that_is_full_is_told_and_the_older_file_stays(
    tmp_path: Path, full_disk, ending: str
) -> None:
    target = tmp_path / f"film.{ending}"
    save_film(film(), target)  # with room, which also imports what it needs
    target.write_text("older")
    with full_disk(1000), pytest.raises(StorageError, match="Cannot write"):
        save_film(film(), target)
    assert [path.name for path in tmp_path.iterdir()] == [target.name]
    assert target.read_text() == "older"


@pytest.mark.parametrize("ending", ["gif", pytest.param("mp4", marks=needs_ffmpeg)])
def test_a_folder_that_cannot_be_written_is_told_before_anything_is_drawn(
    tmp_path: Path, ending: str
) -> None:
    (tmp_path / "file").write_text("not a folder")
    drawn: list[int] = []
    with pytest.raises(StorageError, match="Cannot write"):
        save_film(film(), tmp_path / "file" / f"film.{ending}", lambda done, _: drawn.append(done))
    assert not drawn


@needs_ffmpeg
@pytest.mark.subprocess
@pytest.mark.slow
def test_a_video_has_every_frame_in_its_order(tmp_path: Path) -> None:
    save_film(film(), tmp_path / "film.mp4")
    ffmpeg = ffmpeg_path()
    assert ffmpeg is not None
    second = shot_ms(5) / 1000
    times = [second * (number + 0.5) for number in range(5)]
    for number, at in enumerate(times):
        command = [
            ffmpeg,
            "-loglevel",
            "error",
            "-ss",
            f"{at:.3f}",
            "-i",
            str(tmp_path / "film.mp4"),
        ]
        subprocess.run(
            [*command, "-frames:v", "1", str(tmp_path / f"{number}.png")], check=True, timeout=60
        )
    images = [Image.open(tmp_path / f"{number}.png") for number in range(5)]
    save_film(film(), tmp_path / "film.gif")
    expected = rows_of_the_dark_cell(gif_images(tmp_path / "film.gif"))
    assert rows_of_the_dark_cell(images) == pytest.approx(expected, abs=2)


def test_without_ffmpeg_a_video_is_refused_in_plain_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert augenmerk.viz_app.extensions.pictures.film.formats() == ("gif",)
    with pytest.raises(StorageError, match=r"needs ffmpeg, which is not installed.*\.gif"):
        save_film(film(), tmp_path / "film.mp4")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def own_ffmpeg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Puts a program in ffmpeg's place: it lists an encoder, and then does what the test says."""

    def install(body: str) -> None:
        folder = tmp_path / "programs"
        folder.mkdir()
        program = folder / "ffmpeg"
        listing = "if '-encoders' in sys.argv:\n    print(' V..... mpeg4  MPEG-4'); sys.exit(0)\n"
        program.write_text(f"#!{sys.executable}\nimport os, sys, time\n{listing}{body}")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", str(folder))

    return install


@pytest.mark.skipif(os.name != "posix", reason="a script as a program")
@pytest.mark.subprocess
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("time.sleep(60)", "did nothing for"),
        ("sys.stderr.write('Unknown something'); sys.exit(3)", "status 3: Unknown something"),
        ("sys.stdin.buffer.read(); sys.stderr.write('No space left on device')", "No space left"),
    ],
)
def test_an_ffmpeg_that_hangs_or_fails_is_told(
    tmp_path: Path, own_ffmpeg, monkeypatch: pytest.MonkeyPatch, body: str, expected: str
) -> None:
    own_ffmpeg(body)
    monkeypatch.setattr(augenmerk.viz_app.extensions.pictures.film, "STALL_SECONDS", 0.5)
    (tmp_path / "out").mkdir()
    with pytest.raises(StorageError, match=expected):
        save_film(film(), tmp_path / "out" / "film.mp4")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="a script as a program")
@pytest.mark.subprocess
def test_an_ffmpeg_that_hangs_is_ended_when_the_film_is_stopped(tmp_path: Path, own_ffmpeg) -> None:
    own_ffmpeg("time.sleep(60)")
    (tmp_path / "out").mkdir()
    stopped = threading.Event()
    threading.Timer(0.5, stopped.set).start()
    with pytest.raises(FilmStoppedError):
        save_film(film(60), tmp_path / "out" / "film.mp4", should_stop=stopped.is_set)
    assert list((tmp_path / "out").iterdir()) == []
