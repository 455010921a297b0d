"""The DecoderLens: each translation is that of a model whose encoder ends after the layer."""

from dataclasses import replace

import pytest

from augenmerk.core.errors import AnalysisError
from augenmerk.core.extensions.analyses.decoder_lens import decoder_lens
from augenmerk.core.model.heads import Head, Network
from augenmerk.core.translation.experiment import (
    Beam,
    CausalMaskLifted,
    Experiment,
    FeedForwardScaled,
    ForcedToken,
    GivenTarget,
    HeadScaled,
    Intervention,
    SourceWordRemoved,
)
from augenmerk.core.translation.result import Translation, TranslationStoppedError
from augenmerk.core.translation.translator import Translator
from tests.builders import first_quick
from tests.core.translation.random_models import MODELS, make_translator

DECODER_CHANGES: tuple[Intervention, ...] = (
    SourceWordRemoved(1),
    HeadScaled(Head("cross", 0, 1)),
    FeedForwardScaled(Network("decoder", 0), 0.5),
)


@pytest.fixture(scope="module")
def bundled() -> Translator:
    return Translator.load(device="cpu")


def text_for(translator: Translator) -> str:
    return "3 7 2 5" if translator.run_config.is_copy_task else "ein mann steht am strand"


@pytest.mark.parametrize("name", first_quick(MODELS))
@pytest.mark.parametrize("changes", [(), DECODER_CHANGES], ids=["unchanged", "changed"])
def test_each_layer_translates_as_a_model_whose_encoder_ends_there(
    name: str, changes: tuple[Intervention, ...]
) -> None:
    translator, cut = make_translator(name), make_translator(name)
    experiment = Experiment(text_for(translator), interventions=changes)
    translation = translator.run(experiment)
    lens = decoder_lens(translator, translation)
    layers = cut.model.encoder_layers
    assert len(lens.layers) == len(layers) + 1
    for depth, layer in enumerate(lens.layers):
        cut.model.encoder_layers = layers[:depth]
        (expected,) = cut.run_many([experiment], need_maps=False)
        limit = 2 * len(translation.source_ids) + 10
        assert layer.predicted_ids == expected.predicted_ids[:limit]
        ours, theirs = layer.log_probabilities, expected.log_probabilities[:limit]
        assert ours == pytest.approx(theirs, abs=1e-4)


def test_a_translation_that_does_not_end_is_equally_long_in_every_layer() -> None:
    translator = make_translator("words, pre-norm without a final one")
    end_id = translator.rules.end_id
    translator.model.output.bias.data[end_id] = -1e3
    translation = translator.translate("ein mann")
    limit = 2 * len(translation.source_ids) + 10
    assert len(translation.predicted_ids) > limit
    lens = decoder_lens(translator, translation)
    assert {len(layer.predicted_ids) for layer in lens.layers} == {limit}
    assert lens.layers[-1].predicted_ids == translation.predicted_ids[:limit]
    assert f"cut off after {limit} tokens" in lens.layers[-1].notes[0]


def test_layers_differ_and_the_last_is_the_translation_with_heads_of_the_encoder_off(
    bundled: Translator,
) -> None:
    off = tuple(HeadScaled(Head("encoder", layer, head)) for layer in range(3) for head in range(4))
    changed = bundled.run(
        Experiment("Eine Gruppe von Menschen wartet im Regen auf den Bus.", interventions=off)
    )
    lens, plain = (
        decoder_lens(bundled, changed),
        decoder_lens(bundled, bundled.run(changed.experiment.baseline)),
    )
    assert lens.layers[-1].predicted_ids == changed.predicted_ids
    assert lens.layers[0].predicted_ids == plain.layers[0].predicted_ids, (
        "the embedding has no heads"
    )
    assert len({layer.text for layer in lens.layers}) > 1
    assert [layer.text for layer in lens.layers[1:]] != [layer.text for layer in plain.layers[1:]]
    settled = lens.settled_at
    assert all(layer.predicted_ids == changed.predicted_ids for layer in lens.layers[settled:])
    assert lens.layers[settled - 1].predicted_ids != changed.predicted_ids


def words_without(translation: Translation, places: tuple[int, ...]) -> list[str]:
    return [word.text for index, word in enumerate(translation.target_words) if index not in places]


def test_marked_words_are_those_in_which_neighbouring_layers_differ(bundled: Translator) -> None:
    translation = bundled.translate("Eine Gruppe von Menschen wartet im Regen auf den Bus.")
    lens = decoder_lens(bundled, translation)
    assert lens.added[0] == lens.removed[-1] == ()
    num_marked = 0
    for depth in range(1, len(lens.layers)):
        before, after = lens.layers[depth - 1], lens.layers[depth]
        removed, added = lens.removed[depth - 1], lens.added[depth]
        assert words_without(before, removed) == words_without(after, added)
        assert (before.text == after.text) == (not removed and not added)
        num_marked += len(removed) + len(added)
    assert num_marked > 0


def test_forced_tokens_hold_in_every_layer(bundled: Translator) -> None:
    forced = bundled.run(Experiment("Ein Mann steht.", interventions=(ForcedToken(1, "▁dog"),)))
    assert forced.predicted_ids[1] != bundled.translate("Ein Mann steht.").predicted_ids[1]
    lens = decoder_lens(bundled, forced)
    assert {layer.predicted_ids[1] for layer in lens.layers} == {forced.predicted_ids[1]}


@pytest.mark.parametrize(
    "experiment",
    [
        Experiment("Ein Mann steht.", Beam(3)),
        Experiment("Ein Mann steht.", GivenTarget("A dog sleeps."), (CausalMaskLifted(),)),
    ],
    ids=["beam", "given"],
)
def test_beams_and_given_targets_become_greedy_translations(
    bundled: Translator, experiment: Experiment
) -> None:
    lens = decoder_lens(bundled, bundled.run(experiment))
    assert lens.layers[-1].predicted_ids == bundled.translate("Ein Mann steht.").predicted_ids


def test_a_hook_on_the_encoder_takes_effect(word_translator: Translator) -> None:
    layer = word_translator.model.encoder_layers[0]
    handle = layer.register_forward_hook(lambda module, inputs, output: (output[0] / 4, output[1]))
    try:
        translation = word_translator.translate("Ein Hund wartet am Strand.")
        lens = decoder_lens(word_translator, translation)
    finally:
        handle.remove()
    assert lens.layers[-1].predicted_ids == translation.predicted_ids
    assert lens.layers[-1].log_probabilities == pytest.approx(
        translation.log_probabilities, abs=1e-4
    )


def test_it_stops_and_refuses_heads_that_the_model_lacks(bundled: Translator) -> None:
    translation = bundled.translate("Ein Mann steht.")
    with pytest.raises(TranslationStoppedError):
        decoder_lens(bundled, translation, should_stop=lambda: True)
    missing = HeadScaled(Head("cross", 2, 0))
    other = make_translator("words, annotated pre-norm, source not wrapped")
    changed = Experiment("ein mann steht", interventions=(missing,))
    deeper = replace(other.run(changed.baseline), experiment=changed)
    with pytest.raises(AnalysisError, match="no cross layer 2 head 0"):
        decoder_lens(other, deeper)
