"""ALTI+: the parts of every block sum to what really leaves it, and shares follow the published
formula."""

import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from augenmerk.core.extensions.analyses.alti import (
    BlockParts,
    contributions_of,
    shares_of_pair,
    trace_blocks,
)
from augenmerk.core.extensions.analyses.contributions import (
    COLLAPSED_SHARE,
    Contributions,
    share_warnings,
)
from augenmerk.core.maps.capture import trace_pair
from augenmerk.core.model.heads import AttentionKind, Head, SentenceChanges, heads_of
from augenmerk.core.model.intervention_tensors import compile_interventions
from augenmerk.core.model.interventions import NO_INTERVENTIONS, Interventions
from augenmerk.core.model.sites import PairPass
from augenmerk.core.model.transformer import Transformer
from augenmerk.core.resources import example_sentences
from augenmerk.core.translation.experiment import AttentionRow, Experiment, GivenTarget
from augenmerk.core.translation.result import TranslationStoppedError
from augenmerk.core.translation.translator import Translator
from tests.core.model.small_models import KINDS, make_model
from tests.core.translators import read_given
from tests.interventions import heads_switched_off

SOURCE, READ = [2, 5, 9, 4, 3], [2, 7, 6, 11]
ALL = slice(None)
SENTENCE = "Ein Mann steht auf einer Leiter."
OFF = [Head("encoder", 0, 1), Head("decoder", 1, 0), Head("cross", 2, 3)]
CHANGES = [
    SentenceChanges({}, {}),
    SentenceChanges(dict.fromkeys(OFF, 0.0), {}),
    SentenceChanges(dict.fromkeys(OFF, -1.5), {}),
    SentenceChanges(
        {OFF[2]: 2.0},
        {
            (OFF[0], 1): (0.0, 0.0, 0.25, 0.75, 0.0),
            (OFF[1], 2): (0.5, 0.0, 0.5),
            (OFF[2], 0): (0.0, 1.0, 0.0, 0.0, 0.0),
        },
    ),
    SentenceChanges(temperatures=dict.fromkeys(OFF, 3.0), lifts_mask=True),
]
every_kind = pytest.mark.parametrize("config", KINDS.values(), ids=KINDS)


def parts_themselves(_kind: AttentionKind, parts: BlockParts) -> BlockParts:
    return parts


def blocks_of(
    model: Transformer, interventions: Interventions = NO_INTERVENTIONS
) -> dict[str, list[BlockParts]]:
    traced = trace_blocks(PairPass(model, SOURCE, READ, interventions), parts_themselves)
    return {"encoder": traced.encoder, "decoder": traced.decoder, "cross": traced.cross}


@every_kind
@pytest.mark.heavy
def test_the_pass_is_that_of_the_model(config) -> None:
    model = make_model(config)
    for changes in CHANGES:
        interventions = compile_interventions(model, [changes])
        traced = trace_blocks(PairPass(model, SOURCE, READ, interventions), parts_themselves)
        with torch.inference_mode():
            encoding = model.encode(torch.tensor([SOURCE]), interventions=interventions)
            logits = model.decode(encoding, torch.tensor([READ])).logits[0]
            torch.testing.assert_close(traced.encoded, encoding.states[0], rtol=0, atol=1e-5)
            torch.testing.assert_close(model.output(traced.hidden), logits, rtol=0, atol=1e-5)
    traced = trace_blocks(PairPass(model, SOURCE, READ), parts_themselves)
    with torch.inference_mode():
        hidden = model.hidden_states(torch.tensor([SOURCE]), torch.tensor([READ]))[0]
    torch.testing.assert_close(traced.hidden, hidden, rtol=0, atol=1e-5)


@pytest.mark.heavy
@every_kind
def test_parts_sum_to_what_leaves_the_block(config) -> None:
    model = make_model(config)
    for changes in CHANGES:
        for blocks in blocks_of(model, compile_interventions(model, [changes])).values():
            for block in blocks:
                summed = block.tokens_of(ALL).sum(dim=1) + block.around + block.bias
                torch.testing.assert_close(summed, block.output, rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
@every_kind
def test_each_part_follows_the_formula_one_vector_at_a_time(config, kind: str) -> None:
    model = make_model(config)
    layer_number = 1
    layer = (model.encoder_layers if kind == "encoder" else model.decoder_layers)[layer_number]
    attention = layer.cross_attention if kind == "cross" else layer.self_attention
    residual = getattr(
        layer, {"encoder": "attention", "decoder": "self", "cross": "cross"}[kind] + "_residual"
    )
    block = blocks_of(model)[kind][layer_number]
    weights = (
        trace_pair(PairPass(model, SOURCE, READ))
        .of_kind(kind)
        .weights[layer_number]
        .astype(np.float64)
    )
    caught: list = []
    norm_inputs: list = []
    hooks = [
        attention.register_forward_pre_hook(lambda _, inputs: caught.extend(inputs[:2])),
        residual.norm.register_forward_pre_hook(lambda _, inputs: norm_inputs.append(inputs[0])),
    ]
    with torch.inference_mode():
        model(torch.tensor([SOURCE]), torch.tensor([READ]), need_maps=True)
    for hook in hooks:
        hook.remove()
    gamma = residual.norm.weight.detach().double().numpy()
    before_norm = norm_inputs[0][0].double().numpy()

    def normed(part: np.ndarray, position: int) -> np.ndarray:
        whole = before_norm[position]
        deviation = (
            whole.std(ddof=1) + 1e-6
            if config.norm_kind == "annotated"
            else np.sqrt(whole.var() + residual.norm.eps)
        )
        return gamma * (part - part.mean()) / deviation

    if kind == "cross":
        values = caught[1][0].double().numpy()
    elif config.norm_position == "pre":
        values = np.stack(
            [normed(before_norm[position], position) for position in range(len(before_norm))]
        )
    else:
        values = caught[0][0].double().numpy()
    value_weight = attention.in_proj_weight.detach().double().numpy()[64:]
    mixing = attention.out_proj.weight.detach().double().numpy()
    for query in range(weights.shape[1]):
        for key in range(weights.shape[2]):
            expected = np.zeros(32)
            for head in range(attention.num_heads):
                rows = slice(head * attention.head_width, (head + 1) * attention.head_width)
                expected += weights[head, query, key] * (
                    mixing[:, rows] @ (value_weight[rows] @ values[key])
                )
            if config.norm_position == "post":
                expected = normed(expected, query)
            np.testing.assert_allclose(
                block.tokens_of(ALL)[query, key].numpy(), expected, atol=1e-5
            )


def expected_shares(parts: list[np.ndarray], output: np.ndarray) -> np.ndarray:
    """Equations 6 and 7 of ALTI, one part at a time."""
    nearer = [max(0.0, np.abs(output).sum() - np.abs(output - part).sum()) for part in parts]
    return np.array(nearer) / sum(nearer)


@every_kind
def test_shares_and_their_way_through_the_layers_follow_the_formula(config) -> None:
    model = make_model(config)
    source_shares, prefix_shares, encoder_shares = shares_of_pair(PairPass(model, SOURCE, READ))
    blocks = blocks_of(model)

    def of_self(block: BlockParts) -> np.ndarray:
        tokens, around = block.tokens_of(ALL).numpy(), block.around.numpy()
        return np.stack(
            [
                expected_shares(
                    [part + around[i] * (i == j) for j, part in enumerate(tokens[i])],
                    block.output[i].numpy(),
                )
                for i in range(len(tokens))
            ]
        )

    encoder = np.eye(len(SOURCE))
    for block in blocks["encoder"]:
        encoder = of_self(block) @ encoder
    source, prefix = np.zeros((len(READ), len(SOURCE))), np.eye(len(READ))
    for own, cross in zip(blocks["decoder"], blocks["cross"], strict=True):
        both = np.stack(
            [
                expected_shares(
                    [*cross.tokens_of(ALL)[t].numpy(), cross.around[t].numpy()],
                    cross.output[t].numpy(),
                )
                for t in range(len(READ))
            ]
        )
        mixed = of_self(own)
        source = np.stack(
            [both[t, :-1] + both[t, -1] * (mixed[t] @ source) for t in range(len(READ))]
        )
        prefix = np.stack([both[t, -1] * (mixed[t] @ prefix) for t in range(len(READ))])
    np.testing.assert_allclose(encoder_shares, encoder, atol=1e-5)
    np.testing.assert_allclose(source_shares, source @ encoder, atol=1e-5)
    np.testing.assert_allclose(prefix_shares, prefix, atol=1e-5)


def test_a_block_is_forgotten_before_the_next_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a long text in a large model would take all memory together."""
    blocks: weakref.WeakSet[BlockParts] = weakref.WeakSet()
    most = []

    class Watched(BlockParts):
        def __init__(self, *parts: Any) -> None:
            super().__init__(*parts)
            blocks.add(self)
            most.append(len(blocks))

    monkeypatch.setattr("augenmerk.core.extensions.analyses.alti.BlockParts", Watched)
    model = make_model(
        next(iter(KINDS.values())).replace(num_encoder_layers=3, num_decoder_layers=3)
    )
    shares_of_pair(PairPass(model, SOURCE, READ))
    assert len(most) == 9
    assert max(most) == 1


@every_kind
def test_queries_are_computed_in_chunks_with_the_same_numbers(
    config, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All at once would take gigabytes for a long text in a large model."""
    model = make_model(config)
    whole = shares_of_pair(PairPass(model, SOURCE, READ))
    sizes: list[int] = []
    tokens_of = BlockParts.tokens_of

    def watched(self: BlockParts, queries: slice) -> torch.Tensor:
        sizes.append(tokens_of(self, queries).numel())
        return tokens_of(self, queries)

    monkeypatch.setattr(BlockParts, "tokens_of", watched)
    for most in (2 * len(SOURCE) * config.width, 1):
        monkeypatch.setattr("augenmerk.core.extensions.analyses.alti.MAX_CHUNK", most)
        sizes.clear()
        in_chunks = shares_of_pair(PairPass(model, SOURCE, READ))
        assert max(sizes) <= max(most, len(SOURCE) * config.width)
        for expected, shares in zip(whole, in_chunks, strict=True):
            np.testing.assert_array_equal(shares, expected)


@pytest.mark.parametrize("name", ["word", "subword"])
def test_shares_are_no_less_than_zero_and_sum_to_one(
    request: pytest.FixtureRequest, name: str
) -> None:
    translator: Translator = request.getfixturevalue(f"{name}_translator")
    for text in (SENTENCE, "Hund"):
        contributions = contributions_of(translator, translator.translate(text))
        for shares in (contributions.source, contributions.prefix, contributions.encoder):
            assert (shares >= 0).all()
        np.testing.assert_allclose(
            contributions.source.sum(1) + contributions.prefix.sum(1), 1, atol=1e-5
        )
        np.testing.assert_allclose(contributions.encoder.sum(1), 1, atol=1e-5)
        assert not np.triu(contributions.prefix, 1).any()
        # The first word has read <sos> alone.
        np.testing.assert_allclose(
            contributions.prefix[0, 0], 1 - contributions.source_share[0], atol=1e-5
        )
        words = contributions.of_source(), contributions.of_prefix()
        np.testing.assert_allclose(sum(word.weights.sum(-1) for word in words), 1, atol=1e-5)
        assert words[0].queries.labels == words[1].queries.labels
        np.testing.assert_allclose(
            contributions.source_share_of_words(), words[0].weights.sum(-1), atol=1e-6
        )


def test_without_cross_attention_nothing_comes_from_the_source(word_translator: Translator) -> None:
    off = heads_switched_off(
        head for head in heads_of(word_translator.model.config) if head.kind == "cross"
    )
    translation = word_translator.run(Experiment(SENTENCE, interventions=off))
    contributions = contributions_of(word_translator, translation)
    assert not contributions.source.any()
    np.testing.assert_allclose(contributions.prefix.sum(1), 1, atol=1e-5)
    assert contributions_of(word_translator, word_translator.translate(SENTENCE)).source.any()


def test_a_row_that_is_set_is_taken_as_it_is_used(word_translator: Translator) -> None:
    plain = word_translator.translate(SENTENCE)
    last = (0.0,) * (len(plain.source_tokens) - 1) + (1.0,)
    cross = [head for head in heads_of(word_translator.model.config) if head.kind == "cross"]
    encoder_off = heads_switched_off(
        head for head in heads_of(word_translator.model.config) if head.kind == "encoder"
    )
    rows = [AttentionRow(head, 0, last) for head in cross]
    translation = word_translator.run(
        Experiment(SENTENCE, GivenTarget("A man stands."), (*encoder_off, *rows))
    )
    contributions = contributions_of(word_translator, translation)
    assert contributions.source[0, -1] > 0
    assert not contributions.source[0, :-1].any(), (
        "each state of the encoder is its own token's, and only the last is read"
    )
    assert contributions.source[1, :-1].any()


def test_a_position_that_nothing_reaches_keeps_its_own_token() -> None:
    from augenmerk.core.extensions.analyses.alti import shares

    nothing = shares(torch.zeros(2, 3, 4), torch.ones(2, 4), torch.tensor([0, 2]))
    assert nothing.tolist() == [[1, 0, 0], [0, 0, 1]]


@pytest.mark.training
def test_a_learned_copier_takes_each_symbol_from_where_it_stands(
    copy_translator: Translator,
) -> None:
    contributions = contributions_of(copy_translator, copy_translator.translate("1 5 3 7 2 9"))
    assert contributions.translation.text == "1 5 3 7 2 9"
    largest = contributions.source.argmax(axis=1)
    assert (largest == np.arange(1, 6)).mean() >= 0.8


@pytest.fixture(scope="module")
def bundled() -> Translator:
    return Translator.load(None, "cpu")


@pytest.mark.slow
@pytest.mark.heavy
def test_a_foreign_source_gives_less_to_the_same_words(bundled: Translator) -> None:
    """The bundled model, 8 sentences: forced to say what another sentence means, it leans on what
    it has said.

    The effect is small (on the 72 pairs of `resources/alignments`: 89% of the sentences, 0.04 on
    average).
    """
    texts = example_sentences()[:8]
    differences = []
    for text, foreign in zip(texts, texts[3:] + texts[:3], strict=True):
        own = bundled.translate(text)
        with_own = contributions_of(bundled, own)
        with_foreign = contributions_of(bundled, read_given(bundled, foreign, own.text))
        differences.append(
            with_foreign.source_share[:-1].mean() - with_own.source_share[:-1].mean()
        )
    assert np.mean(differences) < -0.01
    assert np.mean(np.array(differences) < 0) >= 0.75


def made_up(bundled_or_small: Translator, shares: list[float]) -> Contributions:
    """The first words get these shares of the source."""
    contributions = contributions_of(
        bundled_or_small, read_given(bundled_or_small, SENTENCE, "A man stands")
    )
    source = np.zeros_like(contributions.source)
    source[:, 1] = [*shares, 0.1]
    return Contributions(
        contributions.translation, source, contributions.prefix, contributions.encoder
    )


def test_words_that_hardly_hang_on_the_source_are_told_but_not_the_end(
    untrained_checkpoint: Path,
) -> None:
    small = Translator.load(untrained_checkpoint, "cpu")
    contributions = made_up(small, [0.9, COLLAPSED_SHARE - 0.01, COLLAPSED_SHARE])
    warnings = share_warnings(contributions)
    assert [(warning.word, warning.steps) for warning in warnings] == [("man", (1,))]
    assert "39%" in warnings[0].message
    assert "“man”" in warnings[0].message


def test_it_can_be_stopped_before_each_layer(word_translator: Translator) -> None:
    translation = word_translator.translate(SENTENCE)
    model = word_translator.run_config.model
    for number in range(model.num_encoder_layers + model.num_decoder_layers + 1):
        answers = iter([False] * number + [True])
        with pytest.raises(TranslationStoppedError):
            contributions_of(word_translator, translation, lambda: next(answers))  # noqa: B023  # called at once
        assert next(answers, None) is None, "it was asked until it said stop, and not again"
