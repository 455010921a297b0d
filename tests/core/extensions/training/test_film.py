"""Frames of the film go to the disk and back."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from augenmerk.core.errors import CheckpointError
from augenmerk.core.extensions.training.film import (
    FilmFrame,
    frame_path,
    frame_paths,
    read_film,
    read_frame,
    write_frame,
)
from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.result import Alternative, AttentionMaps, Translation, Word


def translation(text: str = "ein hund", num_source: int = 4, num_target: int = 3) -> Translation:
    rng = np.random.default_rng(len(text))

    def maps(rows: int, columns: int) -> np.ndarray:
        weights = rng.random((2, 3, rows, columns), dtype=np.float32)
        return weights / weights.sum(axis=-1, keepdims=True)

    return Translation(
        experiment=Experiment(text),
        text="A dog",
        source_tokens=("<sos>", "ein", "hund", "<eos>"),
        read_tokens=("<sos>", "a", "dog"),
        predicted_tokens=("a", "dog", "<eos>"),
        log_probabilities=(-0.5, -0.25, -0.125),
        alternatives=(
            (Alternative("a", -0.5), Alternative("the", -1.5)),
            (Alternative("dog", -0.25),),
            (),
        ),
        source_words=(Word("ein", 1, 2), Word("hund", 2, 3)),
        target_words=(Word("a", 0, 1), Word("dog", 1, 2)),
        unknown_source_positions=(2,),
        ignored_text="",
        notes=("Unknown to the model, read as an unknown word (<unk>): hund.",),
        attention=AttentionMaps(
            maps(num_source, num_source), maps(num_target, num_target), maps(num_target, num_source)
        ),
        seconds=0.1,
        source_ids=(2, 5, 0, 3),
        read_ids=(2, 6, 7),
        predicted_ids=(6, 7, 3),
        ranks=(1, 1, 1),
        entropies=(0.5, 0.25, 0.125),
        source_places=(0, 1),
    )


def frame(step: int, loss: float | None = 2.5) -> FilmFrame:
    return FilmFrame(step // 7, step, loss, translation())


def test_a_frame_comes_back_as_it_was_but_for_the_precision_of_its_maps(tmp_path: Path) -> None:
    before = frame(14)
    path = write_frame(tmp_path, before)
    after = read_frame(path)
    assert (after.epoch, after.step, after.validation_loss) == (2, 14, 2.5)
    for field in dataclasses.fields(Translation):
        if field.name not in ("attention", "seconds"):
            assert getattr(after.translation, field.name) == getattr(
                before.translation, field.name
            ), field.name
    for kind in ("encoder", "decoder", "cross"):
        old, new = before.translation.maps.of_kind(kind), after.translation.maps.of_kind(kind)
        assert new.dtype == np.float32
        assert np.abs(old - new).max() < 1e-3
        assert not np.array_equal(old, new), (
            "16 bits cannot hold them exactly: the file is half as large"
        )


def test_a_frame_has_the_same_bytes_however_long_the_translation_took(tmp_path: Path) -> None:
    first = frame(14)
    slower = dataclasses.replace(
        first, translation=dataclasses.replace(first.translation, seconds=7.5)
    )
    assert (
        write_frame(tmp_path / "a", first).read_bytes()
        == write_frame(tmp_path / "b", slower).read_bytes()
    )


def test_a_film_is_in_the_order_of_the_steps(tmp_path: Path) -> None:
    for step in (7, 100, 0, 14):
        write_frame(tmp_path, frame(step, None if step == 0 else 1.0))
    film = read_film(tmp_path)
    assert [shot.step for shot in film] == [0, 7, 14, 100]
    assert [shot.validation_loss for shot in film] == [None, 1.0, 1.0, 1.0]
    assert len(film) == 4
    assert list(frame_paths(tmp_path)) == [0, 7, 14, 100]


def test_a_frame_of_the_same_step_takes_the_place_of_the_older_one(tmp_path: Path) -> None:
    write_frame(tmp_path, frame(7, 3.0))
    write_frame(tmp_path, frame(7, 2.0))
    assert [shot.validation_loss for shot in read_film(tmp_path)] == [2.0]


def test_a_run_without_a_film_has_an_empty_one(tmp_path: Path) -> None:
    assert len(read_film(tmp_path)) == 0
    assert len(read_film(tmp_path / "nowhere")) == 0


def test_damaged_and_foreign_frames_are_refused_one_by_one_and_left_out_of_the_film(
    tmp_path: Path,
) -> None:
    for step in (7, 14, 21, 28, 35):
        write_frame(tmp_path, frame(step))
    cut = frame_path(tmp_path, 14)
    cut.write_bytes(cut.read_bytes()[:-20])
    foreign = frame_path(tmp_path, 21)
    save_file(
        {"encoder": np.zeros(1)}, foreign, metadata={"augenmerk": json.dumps({"format": "other"})}
    )
    newer = frame_path(tmp_path, 28)
    save_file(
        {"encoder": np.zeros(1)},
        newer,
        metadata={"augenmerk": json.dumps({"format": "augenmerk-film-frame", "version": 9})},
    )
    (tmp_path / "film" / "notes.txt").write_text("mine")
    for path in (cut, foreign, newer, frame_path(tmp_path, 99)):
        with pytest.raises(CheckpointError, match="cannot be read as a frame of a film"):
            read_frame(path)
    assert [shot.step for shot in read_film(tmp_path)] == [7, 35]


def test_maps_that_do_not_fit_the_tokens_are_refused(tmp_path: Path) -> None:
    misshapen = dataclasses.replace(frame(7), translation=translation(num_source=5))
    with pytest.raises(CheckpointError, match="the parts of a translation do not fit together"):
        read_frame(write_frame(tmp_path, misshapen))
