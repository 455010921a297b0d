import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from augenmerk.core.checkpoint.file import Checkpoint, load_checkpoint, save_checkpoint
from augenmerk.core.errors import ConfigError
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training.corpora.learning import vocabulary_of_copy_task
from augenmerk.core.model.transformer import Transformer
from augenmerk.core.text.codec import CodecPair
from tests.core.model.small_models import (
    KINDS,
    NUM_SOURCE,
    NUM_TARGET,
    PADDING,
    POST,
    PRE,
    START,
    make_model,
    random_ids,
)

every_kind = pytest.mark.parametrize("kind", KINDS)


@every_kind
@pytest.mark.parametrize("need_maps", [False, True], ids=["fused", "with maps"])
@torch.inference_mode()
def test_causal_mask_hides_the_future(kind: str, need_maps: bool) -> None:
    """Token t of the decoder's input is changed: rows before t stay equal to the last bit, row t
    changes."""
    model = make_model(KINDS[kind])
    source, target = random_ids(2, 9, NUM_SOURCE), random_ids(2, 8, NUM_TARGET)
    before = model(source, target, need_maps=need_maps)
    for position in range(8):
        changed = target.clone()
        changed[:, position] = 4 + (changed[:, position] - 3) % (NUM_TARGET - 4)
        after = model(source, changed, need_maps=need_maps)
        assert torch.equal(after.logits[:, :position], before.logits[:, :position])
        assert (after.logits[:, position] != before.logits[:, position]).any(dim=-1).all()
        if need_maps:
            for name in ("decoder_maps", "cross_maps"):
                now, then = getattr(after, name), getattr(before, name)
                assert torch.equal(now[..., :position, :], then[..., :position, :])
                if position or name == "cross_maps":  # the first token can only look at itself
                    assert not torch.equal(now[..., position, :], then[..., position, :])


@every_kind
@torch.inference_mode()
def test_the_source_is_seen_whole_by_every_target_row(kind: str) -> None:
    model = make_model(KINDS[kind])
    source, target = random_ids(1, 9, NUM_SOURCE), random_ids(1, 8, NUM_TARGET)
    before = model(source, target).logits
    for position in (0, 8):
        changed = source.clone()
        changed[0, position] = 4 + (changed[0, position] - 3) % (NUM_SOURCE - 4)
        assert (model(changed, target).logits != before).any(dim=-1).all()


@every_kind
@torch.inference_mode()
def test_padding_changes_nothing(kind: str) -> None:
    model = make_model(KINDS[kind])
    source, target = random_ids(1, 9, NUM_SOURCE), random_ids(1, 8, NUM_TARGET)
    alone = model(source, target, need_maps=True)
    padded_source = torch.cat([source, torch.full((1, 4), PADDING)], dim=1)
    padded_target = torch.cat([target, torch.full((1, 5), PADDING)], dim=1)
    for need_maps in (False, True):
        padded = model(padded_source, padded_target, need_maps=need_maps)
        torch.testing.assert_close(padded.logits[:, :8], alone.logits, rtol=0, atol=1e-5)
    torch.testing.assert_close(
        padded.encoder_maps[..., :9, :9], alone.encoder_maps, rtol=0, atol=1e-5
    )
    torch.testing.assert_close(
        padded.decoder_maps[..., :8, :8], alone.decoder_maps, rtol=0, atol=1e-5
    )
    torch.testing.assert_close(padded.cross_maps[..., :8, :9], alone.cross_maps, rtol=0, atol=1e-5)
    assert not padded.encoder_maps[..., 9:].any()
    assert not padded.cross_maps[..., 9:].any()
    assert not padded.decoder_maps[..., :8, 8:].any()


@every_kind
@torch.inference_mode()
def test_maps_have_their_shapes_and_rows_that_sum_to_one(kind: str) -> None:
    model = make_model(KINDS[kind])
    output = model(random_ids(2, 9, NUM_SOURCE), random_ids(2, 8, NUM_TARGET), need_maps=True)
    assert output.logits.shape == (2, 8, NUM_TARGET)
    assert output.encoder_maps.shape == (2, 2, KINDS[kind].num_heads, 9, 9)
    assert output.decoder_maps.shape == (2, 3, 4, 8, 8)
    assert output.cross_maps.shape == (2, 3, 4, 8, 9)
    for maps in (output.encoder_maps, output.decoder_maps, output.cross_maps):
        assert (maps >= 0).all()
        torch.testing.assert_close(maps.sum(dim=-1), torch.ones(maps.shape[:-1]), rtol=0, atol=1e-5)
    assert not output.decoder_maps.triu(1).any()
    assert output.decoder_maps.tril().count_nonzero() == 2 * 3 * 4 * 8 * 9 / 2


@torch.inference_mode()
def test_maps_are_returned_only_when_asked_for() -> None:
    output = make_model()(random_ids(2, 9, NUM_SOURCE), random_ids(2, 8, NUM_TARGET))
    assert (output.encoder_maps, output.decoder_maps, output.cross_maps) == (None, None, None)


@every_kind
@torch.inference_mode()
def test_the_fused_path_gives_what_the_path_with_maps_gives(kind: str) -> None:
    model = make_model(KINDS[kind])
    source, target = random_ids(3, 9, NUM_SOURCE), random_ids(3, 8, NUM_TARGET)
    source[1, 6:], target[2, 4:] = PADDING, PADDING
    fused = model(source, target).logits
    torch.testing.assert_close(
        model(source, target, need_maps=True).logits, fused, rtol=0, atol=1e-5
    )
    torch.testing.assert_close(model.output(model.hidden_states(source, target)), fused)


@torch.inference_mode()
def test_dropout_is_at_rest_in_evaluation_and_at_work_in_training() -> None:
    model = make_model(POST.replace(dropout=0.4))
    source, target = random_ids(2, 9, NUM_SOURCE), random_ids(2, 8, NUM_TARGET)
    first, second = model(source, target, need_maps=True), model(source, target, need_maps=True)
    assert torch.equal(first.logits, second.logits)
    assert torch.equal(first.cross_maps, second.cross_maps)
    model.train()
    assert not torch.allclose(model(source, target).logits, first.logits)
    torch.manual_seed(3)
    one = model(source, target).logits
    torch.manual_seed(3)
    assert torch.equal(model(source, target).logits, one)


def test_notebook_counts_the_published_parameters() -> None:
    model = Transformer(preset("notebook").model, 7853, 5893, PADDING)
    assert model.num_parameters == 9_038_341


@pytest.mark.heavy
def test_annotated_2022_counts_54_9_million_parameters_with_its_own_vocabularies() -> None:
    """The published text counts words of all three splits: 8,316 and 6,384."""
    with torch.device("meta"):
        model = Transformer(preset("annotated-2022").model, 8316, 6384, PADDING)
    assert model.num_parameters == 54_941_936


def addresses(model: Transformer) -> list[int]:
    embeddings = model.source_embedding.tokens, model.target_embedding.tokens
    return [
        embeddings[0].weight.data_ptr(),
        embeddings[1].weight.data_ptr(),
        model.output.weight.data_ptr(),
    ]


@pytest.mark.parametrize(("tying", "num_matrices"), [("none", 3), ("output", 2), ("all", 1)])
def test_tied_embeddings_share_storage_also_after_loading(
    tying: str, num_matrices: int, tmp_path: Path
) -> None:
    base = preset("copy-task-small")  # one vocabulary for both sides
    run = replace(
        base, model=PRE.replace(tied_embeddings=tying, num_encoder_layers=1, num_decoder_layers=1)
    )
    vocabulary = vocabulary_of_copy_task(10)
    codecs = CodecPair.build(run.data, vocabulary, vocabulary, None)
    model = Transformer(run.model, 11, 11, 0)
    assert len(set(addresses(model))) == num_matrices
    save_checkpoint(
        Checkpoint(run, codecs, dict(model.named_parameters())), tmp_path / "tied.safetensors"
    )
    loaded = load_checkpoint(tmp_path / "tied.safetensors").build_model()
    assert len(set(addresses(loaded))) == num_matrices
    assert loaded.num_parameters == model.num_parameters
    ids = torch.randint(1, 11, (2, 6))
    with torch.inference_mode():
        torch.testing.assert_close(
            loaded(ids, ids).logits, model.eval()(ids, ids).logits, rtol=0, atol=1e-5
        )


def test_a_tied_matrix_learns_from_both_its_uses() -> None:
    torch.manual_seed(0)
    model = Transformer(PRE.replace(tied_embeddings="all"), 23, 23, PADDING)
    ids = random_ids(2, 6, 12)
    model(ids, ids).logits.logsumexp(-1).sum().backward()
    gradient = model.output.weight.grad
    assert gradient[12:].any()  # tokens that were never read: the output layer's share
    assert gradient is model.source_embedding.tokens.weight.grad


def test_all_embeddings_are_not_tied_over_different_vocabularies() -> None:
    with pytest.raises(ConfigError, match="29 tokens and the target 23"):
        Transformer(PRE.replace(tied_embeddings="all"), NUM_SOURCE, NUM_TARGET, PADDING)


def test_every_matrix_is_drawn_from_its_xavier_range() -> None:
    torch.manual_seed(0)
    model = Transformer(POST.replace(width=128, feed_forward_width=512), 600, 500, PADDING)
    for name, parameter in model.named_parameters():
        if parameter.dim() < 2:
            continue
        parts = parameter.chunk(3) if "in_proj" in name else (parameter,)
        for part in parts:
            bound = math.sqrt(6 / sum(part.shape))
            assert 0.99 * bound < float(part.detach().abs().max()) <= bound, name


def test_tied_embeddings_may_start_as_a_normal_distribution() -> None:
    torch.manual_seed(0)
    config = PRE.replace(width=64, tied_embeddings="all", initialization="xavier-normal-embeddings")
    weight = Transformer(config, 900, 900, PADDING).output.weight.detach()
    assert float(weight.std()) == pytest.approx(64**-0.5, rel=0.02)
    assert float(weight.mean()) == pytest.approx(0, abs=0.003)
    assert float(weight.abs().max()) > 3 * 64**-0.5  # no uniform distribution reaches that far


def test_norms_start_at_one_and_zero_whatever_the_initialization() -> None:
    for kind in KINDS.values():
        model = Transformer(kind, NUM_SOURCE, NUM_TARGET, PADDING)
        for name, parameter in model.named_parameters():
            if "norm." in name:
                assert torch.equal(
                    parameter, torch.full_like(parameter, float(name.endswith("weight")))
                ), name


def test_masks_say_what_may_be_seen() -> None:
    model = make_model()
    full = torch.tensor([[START, 5, 6]])
    assert model.source_mask(full).tolist() == [[[[True, True, True]]]]
    assert model.target_mask(full).tolist() == [
        [[[True, False, False], [True, True, False], [True, True, True]]]
    ]
    padded = torch.tensor([[START, 5, 6], [START, 5, PADDING]])
    assert model.source_mask(padded).tolist() == [[[[True, True, True]]], [[[True, True, False]]]]
    # no real token looks at what is right of it
    assert torch.equal(model.target_mask(padded), model.target_mask(full))
