import math

import pytest
import torch
from torch import nn

from augenmerk.core.model.layers import TokenAndPosition, sinusoidal_halves_table, sinusoidal_table
from augenmerk.core.model.transformer import Transformer
from tests.core.model.small_models import NUM_SOURCE, NUM_TARGET, PADDING, POST, PRE, random_ids


def test_sinusoids_are_the_closed_form() -> None:
    """sin(p / 10000^(2i / D)) in column 2i, its cosine in column 2i + 1 (Vaswani et al. 2017,
    section 3.5).
    """
    table = sinusoidal_table(120, 20)
    for position in range(120):
        for pair in range(10):
            angle = position / 10000 ** (2 * pair / 20)
            assert float(table[position, 2 * pair]) == pytest.approx(math.sin(angle), abs=2e-5)
            assert float(table[position, 2 * pair + 1]) == pytest.approx(math.cos(angle), abs=2e-5)


def test_sinusoids_go_on_beyond_the_lengths_of_training() -> None:
    long, short = sinusoidal_table(5000, 512), sinusoidal_table(100, 512)
    assert torch.equal(long[:100], short)
    for position in (101, 1234, 4999):
        angles = [position / 10000 ** (2 * pair / 512) for pair in range(256)]
        torch.testing.assert_close(
            long[position, 0::2], torch.tensor(angles).double().sin().float(), rtol=0, atol=2e-3
        )
        torch.testing.assert_close(
            long[position, 1::2], torch.tensor(angles).double().cos().float(), rtol=0, atol=2e-3
        )


@torch.inference_mode()
def test_a_model_with_sinusoids_reads_as_many_tokens_as_it_has_positions() -> None:
    model = Transformer(PRE.replace(max_positions=500), NUM_SOURCE, NUM_TARGET, PADDING).eval()
    logits = model(random_ids(1, 500, NUM_SOURCE), random_ids(1, 500, NUM_TARGET)).logits
    assert logits.shape == (1, 500, NUM_TARGET)
    assert logits.isfinite().all()


@pytest.mark.parametrize("config", [POST, PRE], ids=["learned", "sinusoidal"])
def test_tokens_are_scaled_and_positions_added(config) -> None:
    torch.manual_seed(0)
    embedding = TokenAndPosition(config, NUM_SOURCE).eval()
    with torch.no_grad():
        embedding.positions.normal_()
    ids = random_ids(2, 6, NUM_SOURCE)
    expected = embedding.tokens.weight[ids] * 32**0.5 + embedding.positions[:6]
    torch.testing.assert_close(embedding(ids), expected)
    torch.testing.assert_close(embedding(ids[:, 4:], first_position=4), expected[:, 4:])


def test_the_scale_is_an_option() -> None:
    embedding = TokenAndPosition(PRE.replace(scale_embeddings=False), NUM_SOURCE).eval()
    ids = random_ids(2, 6, NUM_SOURCE)
    torch.testing.assert_close(
        embedding(ids), embedding.tokens.weight[ids] + sinusoidal_table(6, 32)
    )


def test_learned_positions_are_parameters_and_sinusoids_are_not_even_saved() -> None:
    learned, waves = TokenAndPosition(POST, NUM_SOURCE), TokenAndPosition(PRE, NUM_SOURCE)
    assert isinstance(learned.positions, nn.Parameter)
    assert set(learned.state_dict()) == {"positions", "tokens.weight"}
    assert set(waves.state_dict()) == {"tokens.weight"}
    assert learned.positions.shape == waves.positions.shape == (40, 32)


def test_waves_are_computed_anew_when_told_to_and_learned_positions_kept() -> None:
    for config in (POST, PRE):
        embedding = TokenAndPosition(config, NUM_SOURCE)
        with torch.no_grad():
            embedding.positions.fill_(5.0)
        embedding.reset_constants()
        expected = torch.full((40, 32), 5.0) if config is POST else sinusoidal_table(40, 32)
        assert torch.equal(embedding.positions, expected)


def test_embeddings_are_dropped_in_training() -> None:
    embedding = TokenAndPosition(PRE.replace(dropout=0.5), NUM_SOURCE).train()
    share = float((embedding(random_ids(20, 40, NUM_SOURCE)) == 0).float().mean())
    assert share == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("width", [2, 6, 7, 32])
def test_halves_are_the_same_waves_with_all_sines_first(width: int) -> None:
    table = sinusoidal_halves_table(50, width)
    assert table.shape == (50, width)
    for position in (0, 1, 17, 49):
        for column in range(width):
            wave = column if column < (width + 1) // 2 else column - (width + 1) // 2
            angle = position / 10000 ** (2 * wave / width)
            expected = math.sin(angle) if column < (width + 1) // 2 else math.cos(angle)
            assert float(table[position, column]) == pytest.approx(expected, abs=1e-6)
    if width % 2 == 0:
        interleaved = sinusoidal_table(50, width)
        torch.testing.assert_close(table[:, : width // 2], interleaved[:, 0::2], rtol=0, atol=1e-5)
        torch.testing.assert_close(table[:, width // 2 :], interleaved[:, 1::2], rtol=0, atol=1e-5)
