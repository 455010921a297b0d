"""The digest of a model says whether two files hold the same weights and vocabularies."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from augenmerk.core.checkpoint.file import load_checkpoint, model_digest, save_checkpoint
from augenmerk.core.resources import bundled_model_path
from augenmerk.core.text.codec import CodecPair
from augenmerk.core.text.vocabulary import Vocabulary


def test_it_is_that_of_the_content(untrained_checkpoint: Path, tmp_path: Path) -> None:
    checkpoint = load_checkpoint(untrained_checkpoint)
    digest = model_digest(checkpoint)
    assert len(digest) == 64
    assert set(digest) <= set("0123456789abcdef")
    shutil.copy(untrained_checkpoint, tmp_path / "moved.safetensors")
    assert model_digest(load_checkpoint(tmp_path / "moved.safetensors")) == digest
    with_state = replace(
        checkpoint,
        corpus="another",
        history=(),
        state={"x": torch.ones(3)},
        weights=dict(reversed(list(checkpoint.weights.items()))),
    )
    save_checkpoint(with_state, tmp_path / "again.safetensors")
    assert model_digest(load_checkpoint(tmp_path / "again.safetensors", with_state=True)) == digest


def test_it_tells_models_apart(untrained_checkpoint: Path, tmp_path: Path) -> None:
    checkpoint = load_checkpoint(untrained_checkpoint)
    digests = {model_digest(checkpoint)}

    def is_new(**changes: object) -> bool:
        digest = model_digest(replace(checkpoint, **changes))  # type: ignore[arg-type]
        known = digest in digests
        digests.add(digest)
        return not known

    name, tensor = next(iter(checkpoint.weights.items()))
    one_bit = tensor.clone()
    one_bit.view(torch.int32).view(-1)[-1] ^= 1
    assert is_new(weights={**checkpoint.weights, name: one_bit})
    assert is_new(weights={**checkpoint.weights, name: tensor.reshape(1, *tensor.shape)})
    assert is_new(weights={**checkpoint.weights, name: tensor.view(torch.int32)})
    assert is_new(
        weights={
            name + "x" if key == name else key: value for key, value in checkpoint.weights.items()
        }
    )
    assert is_new(weights={key: value for key, value in checkpoint.weights.items() if key != name})
    codecs = checkpoint.codecs
    *tokens, last = codecs.target.vocabulary.tokens
    other = Vocabulary.with_specials([*tokens, last + "x"])
    assert is_new(
        codecs=CodecPair.build(checkpoint.run.data, codecs.source.vocabulary, other, None)
    )
    save_checkpoint(checkpoint, tmp_path / "half.safetensors", half_precision=True)
    half = load_checkpoint(tmp_path / "half.safetensors")
    assert is_new(weights=half.weights)


@pytest.mark.skipif(not bundled_model_path().is_file(), reason="the bundled model is not here")
@pytest.mark.heavy
def test_that_of_the_bundled_model_is_always_the_same() -> None:
    """Experiment files refer to it: a release that computes another digest of the same model finds
    none of theirs."""
    digest = model_digest(load_checkpoint(bundled_model_path()))
    assert digest == "5c47f31e11725e1ade41ecb67870db9283771fef913b35a2ae392c2506ce5a3a"
