import ast
import math
from collections import Counter
from pathlib import Path

import pytest
import torch
from torch import nn

from augenmerk.core.model import attention
from augenmerk.core.model.attention import MultiHeadAttention

REPOSITORY = Path(__file__).resolve().parents[3]
WIDTH, HEADS = 32, 4


def make_pair() -> tuple[MultiHeadAttention, nn.MultiheadAttention]:
    """Ours and PyTorch's with the same weights, in evaluation mode."""
    torch.manual_seed(0)
    ours = MultiHeadAttention(WIDTH, HEADS, dropout=0.5).eval()
    theirs = nn.MultiheadAttention(WIDTH, HEADS, dropout=0.5, batch_first=True).eval()
    with torch.no_grad():
        ours.out_proj.bias.normal_()
        theirs.in_proj_weight.copy_(ours.in_proj_weight)
        theirs.in_proj_bias.copy_(ours.in_proj_bias)
        theirs.out_proj.weight.copy_(ours.out_proj.weight)
        theirs.out_proj.bias.copy_(ours.out_proj.bias)
    return ours, theirs


def masks(num_queries: int, num_keys: int) -> dict[str, torch.Tensor | None]:
    """True where attention is allowed, as ours takes them."""
    causal = torch.ones(num_queries, num_keys, dtype=torch.bool).tril()[None, None]
    padding = torch.ones(2, 1, 1, num_keys, dtype=torch.bool)
    padding[1, :, :, -3:] = False
    return {"nothing hidden": None, "causal": causal, "padding": padding, "both": causal & padding}


@pytest.mark.parametrize("hidden", ["nothing hidden", "causal", "padding", "both"])
@pytest.mark.parametrize("is_self", [True, False], ids=["self", "cross"])
def test_outputs_and_maps_are_those_of_pytorch(is_self: bool, hidden: str) -> None:
    ours, theirs = make_pair()
    states = torch.randn(2, 7, WIDTH)
    memory = states if is_self else torch.randn(2, 9, WIDTH)
    mask = masks(7, memory.size(1))[hidden]
    forbidden = None
    if mask is not None:
        forbidden = ~mask.expand(2, HEADS, 7, memory.size(1)).reshape(2 * HEADS, 7, -1)
    output, maps = ours(states, None if is_self else memory, mask, need_maps=True)
    expected, expected_maps = theirs(
        states, memory, memory, attn_mask=forbidden, need_weights=True, average_attn_weights=False
    )
    torch.testing.assert_close(output, expected, rtol=0, atol=1e-5)
    torch.testing.assert_close(maps, expected_maps, rtol=0, atol=1e-5)


def test_attention_knows_no_order_unless_a_mask_hides_later_tokens() -> None:
    ours, _ = make_pair()
    states, order = torch.randn(2, 7, WIDTH), torch.randperm(7)
    outputs, shuffled = {}, {}
    for name in ("nothing hidden", "causal"):
        mask = masks(7, 7)[name]
        outputs[name], _ = ours(states, None, mask)
        shuffled[name], _ = ours(states[:, order], None, mask)
    torch.testing.assert_close(shuffled["nothing hidden"], outputs["nothing hidden"][:, order])
    assert (shuffled["causal"] - outputs["causal"][:, order]).abs().max() > 0.1


@pytest.mark.parametrize("hidden", ["nothing hidden", "causal", "padding", "both"])
@pytest.mark.parametrize("is_self", [True, False], ids=["self", "cross"])
def test_the_fused_path_gives_what_the_path_with_maps_gives(is_self: bool, hidden: str) -> None:
    ours, _ = make_pair()
    states = torch.randn(2, 7, WIDTH)
    memory = None if is_self else torch.randn(2, 9, WIDTH)
    mask = masks(7, 7 if is_self else 9)[hidden]
    fused, no_maps = ours(states, memory, mask)
    with_maps, maps = ours(states, memory, mask, need_maps=True)
    assert no_maps is None
    assert maps.shape == (2, HEADS, 7, 7 if is_self else 9)
    torch.testing.assert_close(fused, with_maps, rtol=0, atol=1e-5)


def test_the_fused_kernel_is_used_unless_maps_are_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours, _ = make_pair()
    calls = []
    fused = nn.functional.scaled_dot_product_attention
    monkeypatch.setattr(
        nn.functional,
        "scaled_dot_product_attention",
        lambda *args: calls.append(None) or fused(*args),
    )
    ours(torch.randn(1, 3, WIDTH), None, None)
    assert len(calls) == 1
    ours(torch.randn(1, 3, WIDTH), None, None, need_maps=True)
    assert len(calls) == 1


def test_only_one_function_computes_attention() -> None:
    """Other calls of softmax are kernels that serve it, and probabilities of tokens."""
    names = ("softmax", "scaled_dot_product_attention", "MultiheadAttention")
    files = (path for folder in ("core", "viz_app") for path in (REPOSITORY / folder).rglob("*.py"))
    sources = {
        path.relative_to(REPOSITORY).as_posix(): path.read_text(encoding="utf-8") for path in files
    }
    calls = Counter(
        (path, name)
        for path, source in sources.items()
        if any(name in source for name in names)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and (name := getattr(node.func, "attr", getattr(node.func, "id", None))) in names
    )
    assert calls == {
        ("core/model/attention.py", "softmax"): 1,
        ("core/model/attention.py", "scaled_dot_product_attention"): 1,
        ("core/extensions/training/kernels.py", "softmax"): 2,
        ("core/extensions/training/loss.py", "softmax"): 2,
    }


@pytest.mark.parametrize(
    ("num_sentences", "num_queries", "dropout", "is_one_kernel"),
    [
        (1, 5, 0.0, True),
        (3, 9, 0.0, True),
        (1, 1, 0.0, True),
        (3, 1, 0.0, False),
        (3, 5, 0.0, False),
        (1, 5, 0.1, False),
    ],
)
def test_a_cpu_computes_in_steps_where_the_one_kernel_is_slower(
    num_sentences: int,
    num_queries: int,
    dropout: float,
    is_one_kernel: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scored: list[object] = []
    scores_of = attention.attention_scores
    monkeypatch.setattr(
        attention, "attention_scores", lambda *inputs: scored.append(1) or scores_of(*inputs)
    )
    queries, keys = (
        torch.randn(num_sentences, HEADS, num_queries, 8),
        torch.randn(num_sentences, HEADS, 6, 8),
    )
    mixed, weights = attention.attend(queries, keys, keys, None, dropout=dropout)
    assert weights is None, "not requested"
    assert bool(scored) != is_one_kernel
    if not dropout:
        torch.testing.assert_close(
            mixed, attention.attend(queries, keys, keys, None, need_maps=True)[0]
        )


def test_values_inside_are_read_and_replaced() -> None:
    queries, keys, values = (torch.randn(2, HEADS, length, 8) for length in (5, 6, 6))
    mask = torch.ones(5, 6, dtype=torch.bool).tril()
    read: dict[str, torch.Tensor] = {}

    def keep(name: str, value: torch.Tensor) -> torch.Tensor:
        read[name] = value
        return value * 2 if name == "query" else value

    mixed, _ = attention.attend(queries, keys, values, mask, keep=keep)
    assert list(read) == ["query", "key", "value", "score"]
    assert read["query"] is queries
    expected = (2 * queries @ keys.transpose(2, 3) / math.sqrt(8)).masked_fill(~mask, -math.inf)
    torch.testing.assert_close(read["score"], expected)
    torch.testing.assert_close(mixed, expected.softmax(dim=-1) @ values)


def test_maps_carry_no_dropout_though_the_mixed_values_do() -> None:
    ours, _ = make_pair()
    states = torch.randn(2, 7, WIDTH)
    calm, maps = ours(states, None, None, need_maps=True)
    ours.train()
    dropped, maps_in_training = ours(states, None, None, need_maps=True)
    assert torch.equal(maps_in_training, maps)
    assert not torch.allclose(dropped, calm)


def test_dropout_falls_on_the_attention_weights_in_training_without_maps_too() -> None:
    ours, _ = make_pair()
    states = torch.randn(2, 7, WIDTH)
    ours.train()
    torch.manual_seed(5)
    without_maps, _ = ours(states, None, None)
    torch.manual_seed(5)
    with_maps, _ = ours(states, None, None, need_maps=True)
    torch.testing.assert_close(without_maps, with_maps)
    assert not torch.allclose(without_maps, ours.eval()(states, None, None)[0])


def test_gradients_are_those_of_pytorch() -> None:
    ours, theirs = make_pair()
    states = torch.randn(2, 7, WIDTH)
    ours(states, None, None)[0].square().sum().backward()
    theirs(states, states, states, need_weights=False)[0].square().sum().backward()
    torch.testing.assert_close(
        ours.in_proj_weight.grad, theirs.in_proj_weight.grad, rtol=1e-4, atol=1e-4
    )
    torch.testing.assert_close(
        ours.out_proj.weight.grad, theirs.out_proj.weight.grad, rtol=1e-4, atol=1e-4
    )


def test_each_part_of_the_joined_projection_is_drawn_from_its_own_xavier_range() -> None:
    width = 256
    torch.manual_seed(0)
    module = MultiHeadAttention(width, 8, dropout=0.0)
    bound = math.sqrt(6 / (2 * width))
    for part in module.in_proj_weight.detach().chunk(3):
        assert 0.999 * bound < float(part.abs().max()) <= bound
        assert float(part.std()) == pytest.approx(bound / math.sqrt(3), rel=0.01)
    assert 0.95 <= float(module.in_proj_bias.detach().abs().max()) * math.sqrt(width) <= 1
