"""Counts for a checkpoint of an earlier version: `python -m tools.add_word_counts`."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from augenmerk.core.analysis.roles import SampleRoles, read_sample_roles, write_sample_roles
from augenmerk.core.checkpoint.file import Checkpoint, load_checkpoint, model_digest, save_checkpoint
from augenmerk.core.config import preset
from augenmerk.core.corpora.loading import load_corpus
from augenmerk.core.model.transformer import Transformer
from augenmerk.core.translation.result import MAP_KINDS
from tests.core.translators import ENGLISH, GERMAN, SHAPE
from tools.add_word_counts import main

BASE = preset("multi30k")
RUN = replace(BASE, model=BASE.model.replace(**SHAPE), data=BASE.data.replace(num_subwords=160))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    for language, lines in (("de", GERMAN), ("en", ENGLISH)):
        for split in ("train", "val"):
            (folder / f"{split}.{language}").write_text("\n".join(lines), encoding="utf-8")
    return folder


@pytest.fixture
def checkpoint(data: Path) -> Checkpoint:
    """As an earlier version wrote it."""
    codecs = load_corpus(data, RUN).codecs
    num_tokens = len(codecs.source.vocabulary)
    model = Transformer(RUN.model, num_tokens, num_tokens, codecs.target.vocabulary.padding_id)
    weights = {name: value.detach() for name, value in model.named_parameters()}
    state = {"random.cpu": torch.get_rng_state()}
    return Checkpoint(RUN, codecs, weights, corpus="corpus", state=state, progress={"epoch": 1})


@pytest.mark.parametrize("half_precision", [True, False])
@pytest.mark.heavy
def test_weights_stay_as_they_are_to_the_last_bit(
    checkpoint: Checkpoint, data: Path, tmp_path: Path, half_precision: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "model.safetensors"
    save_checkpoint(checkpoint, path, half_precision=half_precision)
    before = load_checkpoint(path, with_state=True)
    assert main([str(path), str(data)]) == 0
    after = load_checkpoint(path, with_state=True)
    assert {name: value.dtype for name, value in after.weights.items()} == {
        name: value.dtype for name, value in before.weights.items()
    }
    assert all(torch.equal(after.weights[name], value) for name, value in before.weights.items())
    assert torch.equal(after.state["random.cpu"], before.state["random.cpu"])
    assert after.progress == before.progress
    assert model_digest(after) == model_digest(before)
    assert model_digest(after) in capsys.readouterr().out
    assert after.word_counts is not None
    assert after.word_counts.of("ein") == len(GERMAN)
    once = path.read_bytes()
    assert main([str(path), str(data)]) == 0
    assert path.read_bytes() == once, "again it is the same file"


def test_roles_that_lie_beside_it_stay_valid(checkpoint: Checkpoint, data: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_checkpoint(checkpoint, path)
    layers = {"encoder": 2, "decoder": 3, "cross": 3}
    roles = SampleRoles({kind: (("mixed",) * 4,) * layers[kind] for kind in MAP_KINDS}, "5 pairs")
    write_sample_roles(roles, path)
    assert main([str(path), str(data)]) == 0
    assert read_sample_roles(path) == roles


@pytest.mark.heavy
def test_data_that_the_model_was_not_trained_on_are_refused(
    checkpoint: Checkpoint, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, other = tmp_path / "model.safetensors", tmp_path / "other"
    save_checkpoint(checkpoint, path)
    before = path.read_bytes()
    other.mkdir()
    for name in ("train.de", "train.en", "val.de", "val.en"):
        (other / name).write_text((data / name).read_text(encoding="utf-8") + "\nNoch mehr.", encoding="utf-8")
    assert main([str(path), str(other)]) == 2
    assert "was trained on other data" in capsys.readouterr().err
    save_checkpoint(replace(checkpoint, corpus_digest="0" * 64), path)
    changed = path.read_bytes()
    assert main([str(path), str(data)]) == 2, "the same vocabularies, but other sentences"
    assert "was trained on other data" in capsys.readouterr().err
    assert path.read_bytes() == changed != before


@pytest.fixture
def original(data: Path, tmp_path: Path) -> Path:
    """What the data were made from, by translating."""
    folder = tmp_path / "original"
    folder.mkdir()
    for language in ("de", "en"):
        lines = (data / f"train.{language}").read_text(encoding="utf-8").splitlines()
        for split in ("train", "val"):
            (folder / f"{split}.{language}").write_text("\n".join(lines[: len(lines) // 2]), encoding="utf-8")
    return folder


@pytest.mark.heavy
def test_counts_may_be_of_what_the_data_were_made_from(
    checkpoint: Checkpoint, data: Path, original: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "model.safetensors"
    save_checkpoint(checkpoint, path)
    assert main([str(path), str(data), str(original)]) == 0
    counts = load_checkpoint(path).word_counts
    assert counts is not None
    assert counts.of("ein") == len(GERMAN) // 2
    (original / "train.en").write_text("Others.\n" * (len(GERMAN) // 2), encoding="utf-8")
    before = path.read_bytes()
    assert main([str(path), str(data), str(original)]) == 2
    assert f"lacks {len(GERMAN) // 2} training pairs" in capsys.readouterr().err
    assert path.read_bytes() == before


@pytest.mark.parametrize("words", [[], ["a", "b", "c", "d"]])
def test_other_words_are_answered_by_how_to_use_it(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert "python -m tools.add_word_counts MODEL.safetensors" in capsys.readouterr().err


def test_what_is_no_checkpoint_and_what_is_no_corpus_is_refused(
    checkpoint: Checkpoint, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "model.safetensors"
    assert main([str(path), str(data)]) == 2
    assert "There is no file" in capsys.readouterr().err
    save_checkpoint(checkpoint, path)
    assert main([str(path), str(tmp_path / "none")]) == 2
    assert "Nothing readable was found at" in capsys.readouterr().err
