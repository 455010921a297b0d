"""The parts of attention scores, against a model that is frozen in double precision and lacks one
component."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from augenmerk.core.errors import AnalysisError, ArgumentError
from augenmerk.core.extensions.analyses.parts import (
    MAX_GROUPS,
    OTHERS,
    Component,
    Origin,
    RowParts,
    group_components,
)
from augenmerk.core.extensions.analyses.query_key import CHUNK, query_key_parts
from augenmerk.core.extensions.analyses.weight_origin import query_key_detail
from augenmerk.core.maps.capture import trace_translation
from augenmerk.core.model.heads import ATTENTION_KINDS, Head, Network, Side
from augenmerk.core.model.sites import attentions_of
from augenmerk.core.translation.experiment import (
    AttentionRow,
    CausalMaskLifted,
    Experiment,
    GivenTarget,
)
from augenmerk.core.translation.result import Translation, TranslationStoppedError
from augenmerk.core.translation.translator import Translator
from tests.builders import first_quick
from tests.core.extensions.analyses.frozen import FrozenModel
from tests.core.extensions.analyses.test_logit_attribution import ALLOWED, changed, text_for
from tests.core.translation.random_models import MODELS, make_translator

LAST_QUERY = 2


@pytest.fixture(scope="module")
def bundled() -> Translator:
    return Translator.load(device="cpu")


def query_of(translation: Translation) -> int:
    return min(LAST_QUERY, len(translation.read_ids) - 1)


def last_heads(translator: Translator) -> list[Head]:
    """A head in the last layer of each kind."""
    return [
        Head(kind, len(attentions_of(translator.model)[kind]) - 1, 1) for kind in ATTENTION_KINDS
    ]


@pytest.mark.heavy
@pytest.mark.parametrize("name", first_quick(MODELS))
def test_products_sum_to_the_traced_score_whatever_it_is_compared_with(name: str) -> None:
    translator, text = make_translator(name), text_for(name)
    for experiment in (Experiment(text), changed(translator, text)):
        translation = translator.run(experiment)
        trace, query = trace_translation(translator, translation), query_of(translation)
        for head in (*last_heads(translator), Head("encoder", 0, 1), Head("cross", 0, 0)):
            row = query_key_parts(translator, translation, head, query)
            details = [query_key_detail(trace, head, query, key) for key in range(len(row.scores))]
            traced = np.array([detail.score / detail.temperature for detail in details])
            np.testing.assert_allclose(row.scores, traced, rtol=1e-5, atol=1e-5)
            for key in range(len(traced)):
                for baseline, expected in (("none", 0.0), ("mean", traced.mean()), (0, traced[0])):
                    cell = row.of_cell(key, baseline)  # type: ignore[arg-type]
                    allowed = ALLOWED * max(1.0, np.abs(cell.products).sum())
                    assert abs(cell.products.sum() - (traced[key] - expected)) <= allowed
                    assert cell.total == pytest.approx(traced[key] - expected, abs=1e-4)
                    assert cell.remainder == pytest.approx(cell.total - cell.products.sum())


@pytest.mark.heavy
@pytest.mark.parametrize("name", first_quick(MODELS))
def test_a_product_is_of_what_query_and_key_lose_without_their_components(name: str) -> None:
    translator, text = make_translator(name), text_for(name)
    experiment = changed(translator, text)
    translation = translator.run(experiment)
    query = query_of(translation)
    temperatures = {
        temperature.head: temperature.temperature for temperature in experiment.temperatures
    }
    frozen = FrozenModel(translator.model, translation.source_ids, translation.read_ids, experiment)
    for head in last_heads(translator):
        row = query_key_parts(translator, translation, head, query)
        query_side: Side = "encoder" if head.kind == "encoder" else "decoder"
        key_side: Side = "decoder" if head.kind == "decoder" else "encoder"
        queries = projected_parts(frozen, head, 0, row.query_components, query_side)[:, query]
        keys = projected_parts(frozen, head, 1, row.key_components, key_side)[:, : len(row.scores)]
        products = (
            torch.einsum("pk,cmk->mpc", queries, keys)
            / math.sqrt(keys.size(-1))
            / temperatures.get(head, 1)
        )
        for key in range(len(row.scores)):
            for baseline, subtrahend in (
                ("none", 0.0),
                ("mean", products.mean(dim=0)),
                (1, products[1]),
            ):
                actual = row.of_cell(key, baseline).products  # type: ignore[arg-type]
                expected = (products[key] - subtrahend).numpy()
                np.testing.assert_allclose(
                    actual, expected, rtol=0, atol=ALLOWED * max(1.0, np.abs(expected).sum())
                )


def projected_parts(
    frozen: FrozenModel, head: Head, part: int, components: tuple[Component, ...], side: Side
) -> Tensor:
    """The parts of queries (0) or keys (1), [P, N, K]: what they lose; biases are what remains."""
    module = attentions_of(frozen.model)[head.kind][head.layer]
    rows = slice(head.head * module.head_width, (head.head + 1) * module.head_width)
    weight, bias = (
        tensor.detach().chunk(3)[part][rows]
        for tensor in (module.in_proj_weight, module.in_proj_bias)
    )
    whole = frozen.attended(head.kind, head.layer)[part]
    assert components[-1] is Origin.BIAS
    lost = [
        whole - frozen.attended(head.kind, head.layer, component, side)[part]
        for component in components[:-1]
    ]
    parts = [part @ weight.T for part in lost]
    return torch.stack([*parts, whole @ weight.T + bias - sum(parts)])


@pytest.mark.heavy
def test_a_query_sees_earlier_keys_unless_the_mask_is_lifted(bundled: Translator) -> None:
    text = "Zwei Hunde spielen im Schnee."
    target = GivenTarget("Two dogs play in the snow.")
    head = Head("decoder", 1, 2)
    masked, lifted = (
        query_key_parts(bundled, bundled.run(Experiment(text, target, changes)), head, 3)
        for changes in ((), (CausalMaskLifted(),))
    )
    assert len(masked.scores) == 4
    assert len(lifted.scores) == 8
    with pytest.raises(
        AnalysisError, match=r"Query 3 does not see key 4\. Choose from keys 0 to 3"
    ):
        masked.of_cell(4)
    with pytest.raises(AnalysisError, match="does not see key 5"):
        masked.of_cell(0, 5)
    with pytest.raises(AnalysisError, match=r"does not see key 1\. It sees only key 0\."):
        query_key_parts(bundled, bundled.run(Experiment(text, target)), head, 0).of_cell(1)
    for key, baseline in (
        (0, "bogus"),
        (True, "none"),
        (0, False),
        ("1", "mean"),
        (0, None),
        (1.0, "mean"),
    ):
        with pytest.raises(
            ArgumentError, match=r"Pass a whole number( or one of 'mean', 'none')?\."
        ):
            masked.of_cell(key, baseline)
    assert masked.of_cell(np.int64(2), np.int64(1)).total == masked.of_cell(2, 1).total


@pytest.mark.heavy
def test_softmax_of_the_scores_is_the_row_of_the_map(bundled: Translator) -> None:
    translation = bundled.run(Experiment("Zwei Hunde spielen im Schnee."))
    for head in last_heads(bundled):
        scores = query_key_parts(bundled, translation, head, 3).scores
        weights = translation.maps.of_kind(head.kind)[head.layer, head.head, 3, : len(scores)]
        np.testing.assert_allclose(np.exp(scores) / np.exp(scores).sum(), weights, atol=1e-5)


@pytest.mark.heavy
def test_keys_of_cross_attention_are_made_of_the_encoder(bundled: Translator) -> None:
    row = query_key_parts(bundled, bundled.run(Experiment("Zwei Hunde.")), Head("cross", 1, 0), 0)
    assert [
        key_component for key_component in row.key_components if isinstance(key_component, Network)
    ] == [Network("encoder", layer) for layer in range(3)]
    assert {
        key_component.kind
        for key_component in row.key_components
        if isinstance(key_component, Head)
    } == {"encoder"}
    assert {
        query_component.kind
        for query_component in row.query_components
        if isinstance(query_component, Head)
    } == {
        "decoder",
        "cross",
    }
    assert Network("decoder", 1) not in row.query_components, "it comes later"
    with pytest.raises(ValueError, match="read-only"):
        row.queries[0] = 0


def row_of(num_layers: int, num_heads: int) -> RowParts:
    """A made-up row with many components; the parts differ in size."""
    components: tuple[Component, ...] = (
        Origin.TOKEN,
        Origin.POSITION,
        *(
            component
            for layer in range(num_layers)
            for component in (
                *(Head("encoder", layer, head) for head in range(num_heads)),
                Network("encoder", layer),
            )
        ),
        Origin.BIAS,
    )
    generator = np.random.default_rng(0)
    queries, keys = (
        generator.normal(size=(len(components), 4)),
        generator.normal(size=(5, len(components), 4)),
    )
    scores = np.einsum("pk,mck->m", queries, keys)
    return RowParts(
        Head("encoder", num_layers, 0), 0, components, components, queries, keys, scores
    )


@pytest.mark.parametrize("opened", ["", "heads 1", "token"])
def test_a_table_has_eight_rows_and_columns_and_the_rest_as_others(opened: str) -> None:
    cell = row_of(6, 12).of_cell(2)
    table = cell.table(opened)
    assert len(table.rows) <= MAX_GROUPS + 1
    assert len(table.columns) == MAX_GROUPS + 1
    assert table.values.shape == (len(table.rows), len(table.columns))
    assert table.values.sum() == pytest.approx(cell.products.sum())
    for groups in (table.rows, table.columns):
        assert groups[-1].name == OTHERS
        assert sorted(index for group in groups for index in group.places) == list(
            range(len(cell.products))
        )
    expected = cell.products[np.ix_(table.rows[0].places, table.columns[-1].places)].sum()
    assert table.values[0, -1] == pytest.approx(expected)


def test_the_largest_groups_are_kept() -> None:
    cell = row_of(6, 2).of_cell(2, "none")
    groups = group_components(cell.row.query_components)
    sizes = {
        group.name: np.abs(cell.products[list(group.places)].sum(axis=0)).sum() for group in groups
    }
    names = {group.name for group in cell.table().rows} - {OTHERS}
    assert names == set(sorted(sizes, key=lambda name: -sizes[name])[:MAX_GROUPS])


def test_an_opened_group_shows_its_heads(bundled: Translator) -> None:
    cell = row_of(2, 3).of_cell(1)
    names = [group.name for group in cell.table().rows]
    assert names == [
        "token",
        "position",
        "heads 0",
        "feed-forward 0",
        "heads 1",
        "feed-forward 1",
        "biases",
    ]
    opened = [group.name for group in cell.table(opened_key="heads 1").columns]
    assert opened == ["encoder 1·0", "encoder 1·1", "encoder 1·2", OTHERS]


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("head", "query", "message"),
    [
        (Head("cross", 7, 0), 0, "There is no cross layer 7"),
        (Head("decoder", 0, 0), 50, "no weight of query 50"),
        (Head("cross", 0, 1), 1, "Row 1 of cross layer 0 head 1 was set by hand"),
    ],
)
def test_rows_that_have_no_parts_are_refused(
    bundled: Translator, head: Head, query: int, message: str
) -> None:
    text = "Zwei Hunde spielen."
    num_source = len(bundled.run(Experiment(text)).source_ids)
    by_hand = AttentionRow(Head("cross", 0, 1), 1, (1.0, *[0.0] * (num_source - 1)))
    with pytest.raises(AnalysisError, match=message):
        query_key_parts(
            bundled, bundled.run(Experiment(text, interventions=(by_hand,))), head, query
        )


@pytest.mark.heavy
def test_a_long_sentence_is_split_in_chunks_and_can_be_stopped(bundled: Translator) -> None:
    translation = bundled.run(
        Experiment("Ein Mann und eine Frau und ein Kind und ein Hund und eine Katze und ein Vogel.")
    )
    assert len(translation.source_ids) > CHUNK
    trace = trace_translation(bundled, translation)
    for head in last_heads(bundled):
        query = len(translation.read_ids) - 1
        row = query_key_parts(bundled, translation, head, query)
        traced = [query_key_detail(trace, head, query, key).score for key in range(len(row.scores))]
        sums = row.keys.sum(axis=1) @ row.queries.sum(axis=0)
        np.testing.assert_allclose(sums, traced, rtol=0, atol=1e-4)
    asked: list[bool] = []

    def stops_later() -> bool:
        asked.append(True)
        return len(asked) > 1

    with pytest.raises(TranslationStoppedError):
        query_key_parts(bundled, translation, Head("cross", 2, 0), 0, should_stop=stops_later)
