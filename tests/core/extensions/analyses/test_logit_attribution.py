"""Direct logit attribution: parts sum to what the model computes, and a part is what is missing
without it."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from augenmerk.core.errors import AnalysisError
from augenmerk.core.extensions.analyses.logit_attribution import (
    effect_of_changes,
    encoder_parts,
    logit_parts,
    measure_parts,
    word_parts,
)
from augenmerk.core.extensions.analyses.parts import Component, Origin
from augenmerk.core.extensions.analyses.parts_of_words import (
    LEAST_INCREASE,
    MAX_INCREASED,
    WordParts,
)
from augenmerk.core.model.heads import Head, Network
from augenmerk.core.model.sites import attentions_of
from augenmerk.core.translation.experiment import (
    AttentionRow,
    CausalMaskLifted,
    Experiment,
    FeedForwardScaled,
    ForcedToken,
    GivenTarget,
    HeadScaled,
    SoftmaxTemperature,
    factors_of,
)
from augenmerk.core.translation.result import Alternative, Translation, TranslationStoppedError
from augenmerk.core.translation.translator import Translator
from tests.builders import first_quick
from tests.core.extensions.analyses.frozen import FrozenModel
from tests.core.translation.random_models import MODELS, make_translator

TEXT = "ein mann steht am strand"
ALLOWED = 1e-5
"""Largest error of a sum, relative to the sum of its absolute parts."""


@pytest.fixture(scope="module")
def bundled() -> Translator:
    return Translator.load(device="cpu")


def text_for(name: str) -> str:
    return "1 5 9 4 3" if name.startswith("copy") else TEXT


def changed(translator: Translator, text: str) -> Experiment:
    """Heads off and scaled, a network scaled, a temperature and a row of attention."""
    num_source = len(translator.run(Experiment(text)).source_ids)
    row = AttentionRow(Head("cross", 0, 1), 1, (1.0, *[0.0] * (num_source - 1)))
    off, scaled = HeadScaled(Head("decoder", 0, 1)), HeadScaled(Head("cross", 0, 0), 0.5)
    network = FeedForwardScaled(Network("decoder", 0), -0.5)
    return Experiment(
        text,
        interventions=(off, scaled, network, SoftmaxTemperature(Head("encoder", 0, 1), 3.0), row),
    )


every_model = pytest.mark.parametrize("name", first_quick(MODELS, 4))


@every_model
@pytest.mark.heavy
def test_the_parts_of_every_step_sum_to_the_lead_of_the_token_over_its_foil(name: str) -> None:
    translator, text = make_translator(name), text_for(name)
    for experiment in (Experiment(text), changed(translator, text)):
        translation = translator.run(experiment)
        for step, parts in enumerate(logit_parts(translator, translation)):
            assert parts.step == step
            assert_adds_up(parts)
            lead = translation.log_probabilities[step] - parts.foil.log_probability
            assert parts.difference == pytest.approx(lead, abs=1e-4)
            assert parts.chosen.log_probability == pytest.approx(
                translation.log_probabilities[step], abs=1e-4
            )


def assert_adds_up(parts: WordParts) -> None:
    allowed = ALLOWED * np.abs(parts.values).sum()
    assert abs(parts.difference - parts.values.sum()) <= allowed
    assert parts.remainder == pytest.approx(parts.difference - parts.values.sum())
    for layer, head in np.ndindex(parts.keys.shape[:2]):
        own = parts.value_of(Head("cross", layer, head))
        assert parts.keys[layer, head].sum() == pytest.approx(own, abs=allowed), (
            "positions sum to the head"
        )


@every_model
@pytest.mark.heavy
def test_a_part_is_what_the_logits_lose_without_it_while_norms_and_other_sublayers_stay(
    name: str,
) -> None:
    translator, text = make_translator(name), text_for(name)
    for experiment in (Experiment(text), changed(translator, text)):
        translation = translator.run(experiment)
        by_step = logit_parts(translator, translation)
        frozen = FrozenModel(
            translator.model, translation.source_ids, translation.read_ids, experiment
        )
        ids = translator.checkpoint.codecs.target.vocabulary.ids
        for index, component in enumerate(by_step[0].components[:-1]):
            lost = frozen.logits - frozen.without(component)
            for step, parts in enumerate(by_step):
                chosen, foil = ids[parts.chosen.entry], ids[parts.foil.entry]
                expected = float(lost[step, chosen] - lost[step, foil])
                assert parts.values[index] == pytest.approx(
                    expected, abs=ALLOWED * np.abs(parts.values).sum()
                )


@every_model
@pytest.mark.heavy
def test_a_position_has_the_parts_that_its_values_lose_without_components_of_the_encoder(
    name: str,
) -> None:
    """In each layer, for one head of the original and another one of the changed translation."""
    translator, text = make_translator(name), text_for(name)
    for index, experiment in enumerate((Experiment(text), changed(translator, text))):
        translation = translator.run(experiment)
        parts = word_parts(translator, translation, min(2, len(translation.predicted_ids) - 1))
        encoder = encoder_parts(translator, parts)
        allowed = ALLOWED * np.abs(parts.values).sum()
        np.testing.assert_allclose(encoder.values.sum(axis=2), parts.keys, rtol=0, atol=allowed)
        frozen = FrozenModel(
            translator.model, translation.source_ids, translation.read_ids, experiment
        )
        num_layers, num_heads = parts.keys.shape[:2]
        for layer in range(num_layers):
            head = (layer + index) % num_heads
            expected = frozen_parts(
                translator, frozen, parts, Head("cross", layer, head), encoder.components
            )
            np.testing.assert_allclose(encoder.values[layer, head], expected, rtol=0, atol=allowed)


def frozen_parts(
    translator: Translator,
    frozen: FrozenModel,
    parts: WordParts,
    head: Head,
    components: tuple[Component, ...],
) -> Tensor:
    """The parts [C, S] of a head, by a model in double precision: what its values lose, and what
    logits make of it."""
    ids = translator.checkpoint.codecs.target.vocabulary.ids
    chosen, foil = ids[parts.chosen.entry], ids[parts.foil.entry]
    module = attentions_of(frozen.model)["cross"][head.layer]
    axes = torch.eye(module.head_width, dtype=torch.float64)
    logits = torch.stack(
        [frozen.with_head(head, axis)[parts.step] for axis in (0 * axes[0], *axes)]
    )
    leads = logits[:, chosen] - logits[:, foil]
    factor = factors_of(parts.translation.experiment.scalings).get(head, 1.0)
    weights = factor * frozen.outputs[module][1][0, head.head, parts.step]  # [S]
    own = slice(head.head * module.head_width, (head.head + 1) * module.head_width)
    projection, bias = (
        tensor.detach().chunk(3)[2][own] for tensor in (module.in_proj_weight, module.in_proj_bias)
    )
    _, memory = frozen.attended("cross", head.layer)
    lost = [
        memory - frozen.attended("cross", head.layer, component, "encoder")[1]
        for component in components[:-1]
    ]
    rest = (memory @ projection.T + bias) - sum(part @ projection.T for part in lost)
    values = torch.stack([*(part @ projection.T for part in lost), rest])  # [C, S, K]
    return weights * (values @ (leads[1:] - leads[0]))


def test_heads_and_networks_that_are_off_have_no_encoder_parts() -> None:
    translator = make_translator("words, post-norm, learned positions")
    off = HeadScaled(Head("cross", 2, 3)), FeedForwardScaled(Network("encoder", 0))
    parts = word_parts(translator, translator.run(Experiment(TEXT, interventions=off)), 0)
    encoder = encoder_parts(translator, parts)
    assert encoder.parts is parts
    assert not encoder.values[2, 3].any()
    network = encoder.components.index(Network("encoder", 0))
    assert not encoder.values[:, :, network].any()
    assert encoder.values[2, 2].all(axis=1).sum() == len(encoder.components) - 1


def test_a_head_or_network_that_is_off_has_no_part() -> None:
    translator = make_translator("words, post-norm, learned positions")
    head, network = Head("cross", 2, 3), Network("decoder", 1)
    off = HeadScaled(head), FeedForwardScaled(network)
    parts = logit_parts(translator, translator.run(Experiment(TEXT, interventions=off)))[0]
    assert (parts.value_of(head), parts.value_of(network)) == (0, 0)
    assert not parts.keys[2, 3].any()
    assert parts.value_of(Head("cross", 2, 2)) != 0
    assert parts.value_of(Network("decoder", 0)) != 0


def test_components_are_token_position_sublayers_in_order_and_biases() -> None:
    translator = make_translator("words, post-norm, Marian's shape")
    components = logit_parts(translator, translator.run(Experiment(TEXT)))[0].components
    layers = [
        component
        for layer in range(2)
        for component in (
            *(Head("decoder", layer, head) for head in range(2)),
            *(Head("cross", layer, head) for head in range(2)),
            Network("decoder", layer),
        )
    ]
    assert components == (Origin.TOKEN, Origin.POSITION, *layers, Origin.BIAS)


def test_an_addition_of_a_hook_is_the_remainder() -> None:
    translator = make_translator("words, pre-norm without a final one")
    layer = translator.model.decoder_layers[-1]
    handle = layer.register_forward_hook(
        lambda module, inputs, output: (output[0] + 1, *output[1:])
    )
    try:
        translation = translator.run(Experiment(TEXT))
        by_step = logit_parts(translator, translation)
    finally:
        handle.remove()
    ids = translator.checkpoint.codecs.target.vocabulary.ids
    for parts in by_step:
        chosen, foil = (
            translator.model.output.weight[[ids[parts.chosen.entry], ids[parts.foil.entry]]]
            .sum(1)
            .tolist()
        )
        assert parts.remainder == pytest.approx(chosen - foil, abs=1e-4)


@pytest.mark.heavy
@pytest.mark.parametrize(
    "experiment",
    [
        Experiment("Zwei Hunde spielen im Schnee."),
        Experiment(
            "Ein Mann steht.",
            interventions=(HeadScaled(Head("cross", 0, 1)), ForcedToken(1, "▁dog")),
        ),
    ],
    ids=["greedy", "a head off, a token forced"],
)
def test_without_a_named_foil_it_is_the_best_other_token(
    bundled: Translator, experiment: Experiment
) -> None:
    translation = bundled.run(experiment)
    for step, parts in enumerate(logit_parts(bundled, translation)):
        others = [
            alternative
            for alternative in translation.alternatives[step]
            if alternative.token != translation.predicted_tokens[step]
        ]
        assert parts.foil.entry == others[0].entry
        assert parts.foil.log_probability == pytest.approx(others[0].log_probability, abs=1e-3)
        assert_adds_up(parts)
    with pytest.raises(ValueError, match="read-only"):
        parts.values[0] = 1


@pytest.mark.heavy
def test_measured_effects_are_changes_of_scores_without_each_head_and_network(
    bundled: Translator,
) -> None:
    experiment = Experiment(
        "Ein Mann steht.", interventions=(HeadScaled(Head("cross", 0, 1), 0.5),)
    )
    translation = bundled.run(experiment)
    parts = word_parts(bundled, translation, 2)
    encoder = Head("encoder", 1, 3), Network("encoder", 0)
    measured = measure_parts(bundled, parts, (*parts.components, *encoder))
    foil = Experiment(
        "Ein Mann steht.",
        interventions=(*experiment.interventions, ForcedToken(2, parts.foil.entry)),
    )
    foil_translation = bundled.run(foil)
    for component, change in zip((*parts.components, *encoder), measured, strict=True):
        if isinstance(component, Origin):
            assert math.isnan(change)
        else:
            off = (
                HeadScaled(component)
                if isinstance(component, Head)
                else FeedForwardScaled(component)
            )
            without = experiment.with_interventions(off)
            scores = [
                bundled.score(target, without)[2] for target in (translation, foil_translation)
            ]
            assert change == pytest.approx(scores[0] - scores[1] - parts.difference, abs=1e-4)
    few = measure_parts(bundled, parts, [Head("cross", 0, 1), Origin.BIAS])
    assert few[0] == pytest.approx(measured[parts.components.index(Head("cross", 0, 1))], abs=1e-5)
    with pytest.raises(TranslationStoppedError):
        measure_parts(bundled, parts, should_stop=lambda: True)


def test_in_the_last_layer_without_norms_the_measured_effect_of_a_network_is_its_part() -> None:
    translator = make_translator("words, pre-norm without a final one")
    parts = logit_parts(translator, translator.run(Experiment(TEXT)))[0]
    last = Network("decoder", 1)
    assert measure_parts(translator, parts, [last])[0] == pytest.approx(
        -parts.value_of(last), abs=1e-4
    )


@pytest.fixture(scope="module")
def snow(bundled: Translator) -> Translation:
    translation = bundled.run(Experiment("Zwei Hunde spielen im Schnee."))
    assert translation.text == "Two dogs play in the snow."
    return translation


def whole_word(
    translator: Translator, translation: Translation, step: int, tokens: list[str]
) -> float:
    """The log-probability of these tokens after the same beginning: by forcing them, in the
    search."""
    forced = tuple(ForcedToken(step + index, token) for index, token in enumerate(tokens))
    forced_translation = translator.run(translation.experiment.with_interventions(*forced))
    assert forced_translation.predicted_ids[:step] == translation.predicted_ids[:step]
    return sum(forced_translation.log_probabilities[step : step + len(tokens)])


@pytest.mark.heavy
def test_a_foil_of_several_pieces_is_compared_at_the_first_that_differs(
    bundled: Translator, snow: Translation
) -> None:
    step = snow.predicted_tokens.index("dogs")
    parts = word_parts(bundled, snow, step, "dogma")
    pieces = [
        bundled.checkpoint.codecs.target.vocabulary.tokens[token_id]
        for token_id in _ids(bundled, "dogma")
    ]
    assert len(pieces) > 1
    assert (parts.step, parts.chosen.token, parts.foil.entry) == (step, "dogs", pieces[0])
    assert (parts.chosen_word.token, parts.foil_word.token) == ("dogs", "dogma")
    assert parts.chosen_word.log_probability == pytest.approx(
        snow.log_probabilities[step], abs=1e-4
    )
    expected = whole_word(bundled, snow, step, pieces)
    assert parts.foil_word.log_probability == pytest.approx(expected, abs=1e-3)
    assert_adds_up(parts)


@pytest.mark.heavy
def test_where_the_foil_goes_on_from_the_word_the_next_token_is_explained(
    bundled: Translator, snow: Translation
) -> None:
    step = snow.predicted_tokens.index("snow")
    parts = word_parts(bundled, snow, step, "snowman")
    assert parts.step == step + 1
    assert parts.chosen.token == "."
    assert parts.foil.token == "·man"
    assert parts.foil_word.token == "snowman"
    assert parts.foil_word.log_probability == pytest.approx(
        snow.log_probabilities[step] + parts.foil.log_probability, abs=1e-3
    )


@pytest.mark.heavy
def test_where_the_word_goes_on_from_the_foil_its_next_piece_is_explained(
    bundled: Translator,
) -> None:
    translation = bundled.run(Experiment("Ein Mann baut.", GivenTarget("A snowman.")))
    step = translation.predicted_tokens.index("snow")
    parts = word_parts(bundled, translation, step, "snow")
    assert (parts.step, parts.chosen.token) == (step + 1, "·man")
    assert not parts.foil.token.startswith("·"), "the foil word ends there"
    assert parts.chosen_word.token == "snowman"
    assert_adds_up(parts)


@pytest.mark.heavy
def test_a_foil_is_a_word_an_entry_or_an_alternative(
    bundled: Translator, snow: Translation
) -> None:
    step = snow.predicted_tokens.index("play")
    alternative = next(other for other in snow.alternatives[step] if other.token == "perform")
    by_foil = [
        word_parts(bundled, snow, step, foil) for foil in ("perform", "▁perform", alternative)
    ]
    assert len({parts.foil.entry for parts in by_foil}) == 1
    np.testing.assert_array_equal(by_foil[0].values, by_foil[1].values)
    np.testing.assert_array_equal(by_foil[0].values, by_foil[2].values)
    end = word_parts(bundled, snow, len(snow.predicted_tokens) - 1, "and")
    assert end.chosen.token == snow.predicted_tokens[-1]


@pytest.mark.heavy
def test_parts_of_a_given_target_sum_up_with_and_without_the_mask(bundled: Translator) -> None:
    for interventions in ((), (CausalMaskLifted(),)):
        target = GivenTarget("Some cats sleep in the sun.")
        for parts in logit_parts(
            bundled, bundled.run(Experiment("Zwei Hunde schlafen.", target, interventions))
        ):
            assert_adds_up(parts)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("step", "foil", "message"),
    [
        (99, None, "no step 99. Choose from steps 0 to"),
        (-1, None, "no step -1"),
        (1, " ", "foil is empty"),
        (1, "dogs", "“dogs” is the word itself"),
        (1, "猫", "has no '猫'"),
        (1, 300 * "xj", r"foil has \d+ tokens. From step 1 on, this model reads \d+"),
        (1, "<pad>", "can never be chosen"),
        (1, "two cats", "“two cats” is more than one word"),
        (1, Alternative("猫", -1.0, "▁猫"), "has no '猫'"),
    ],
)
def test_a_comparison_that_is_impossible_is_refused(
    bundled: Translator, snow: Translation, step: int, foil: str | Alternative | None, message: str
) -> None:
    with pytest.raises(AnalysisError, match=message):
        word_parts(bundled, snow, step, foil)


def _ids(translator: Translator, word: str) -> list[int]:
    return [
        token
        for word_ids in translator.checkpoint.codecs.target.encode_text(f"a {word}")[1:]
        for token in word_ids.ids
    ]


@pytest.mark.heavy
def test_the_effect_of_changes_names_the_parts_of_the_most_changed_word_that_grew(
    bundled: Translator,
) -> None:
    off = [HeadScaled(Head("cross", 2, head)) for head in range(8)] + [
        FeedForwardScaled(Network("decoder", 1))
    ]
    result = bundled.compare(
        Experiment("Ein Mann in einem blauen Hemd putzt ein Fenster.", interventions=tuple(off))
    )
    changes = np.subtract(result.original_log_probabilities, result.original.log_probabilities)
    word = max(
        result.original.target_words, key=lambda word: np.abs(changes[word.start : word.end]).max()
    )
    assert word.end == word.start + 1
    before = word_parts(bundled, result.original, word.start)
    read = bundled.run(
        Experiment(result.original.source_text, GivenTarget(result.original.text), tuple(off))
    )
    assert read.predicted_ids == result.original.predicted_ids
    after = word_parts(bundled, read, word.start, before.foil)
    growth = {
        part: new - old
        for part, old, new in zip(before.components, before.values, after.values, strict=True)
        if not isinstance(part, Origin) and part not in {intervention.part for intervention in off}
    }
    effect = effect_of_changes(bundled, result)
    assert effect.word == word.text
    assert 1 <= len(effect.increased) <= MAX_INCREASED
    assert [part for part, _ in effect.increased] == sorted(growth, key=lambda part: -growth[part])[
        : len(effect.increased)
    ]
    assert all(change == pytest.approx(growth[part], abs=1e-5) for part, change in effect.increased)
    assert min(change for _, change in effect.increased) >= LEAST_INCREASE
    assert effect.largest == max(growth, key=after.value_of)
    assert effect_of_changes(bundled, result, 0).word == result.original.target_words[0].text
