"""A given translation is read as it was typed, and heads can be off while one is made, read or
scored."""

import copy
from pathlib import Path

import numpy as np
import pytest
import torch

from augenmerk.core.errors import AnalysisError, TextError
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training.corpora.learning import vocabulary_of_copy_task
from augenmerk.core.model.heads import ATTENTION_KINDS, Head, heads_of
from augenmerk.core.model.sites import attentions_of
from augenmerk.core.text.codec import CodecPair
from augenmerk.core.translation.experiment import Experiment, HeadScaled
from augenmerk.core.translation.result import Word
from augenmerk.core.translation.translator import Translator
from augenmerk.core.translation.typed_text import encode_target
from tests.core.translators import read_given
from tests.interventions import heads_switched_off

SENTENCE = "Ein Mann steht auf einer Leiter."
TARGET = "A man stands on a ladder."
OFF = [Head("cross", 1, 0), Head("encoder", 0, 1)]
PLAIN = Experiment(SENTENCE)
WITH_OFF = Experiment(SENTENCE, interventions=heads_switched_off(OFF))


@pytest.fixture(scope="module")
def translator(untrained_checkpoint: Path) -> Translator:
    return Translator.load(untrained_checkpoint, "cpu")


def without_columns(translator: Translator, heads: list[Head]) -> Translator:
    """The same model with the columns of these heads deleted from the output projections."""
    copied = copy.copy(translator)
    copied.model = copy.deepcopy(translator.model)
    for head in heads:
        module = attentions_of(copied.model)[head.kind][head.layer]
        columns = slice(head.head * module.head_width, (head.head + 1) * module.head_width)
        module.out_proj.weight.data[:, columns] = 0
    return copied


def test_a_given_pair_is_read_as_typed(translator: Translator) -> None:
    translation = read_given(translator, SENTENCE, TARGET)
    assert translation.is_given
    assert translation.text == TARGET
    assert translation.predicted_tokens == ("a", "man", "stands", "on", "a", "ladder", ".", "<eos>")
    assert translation.read_tokens == ("<sos>", "a", "man", "stands", "on", "a", "ladder", ".")
    assert translation.target_words[5] == Word("ladder", 5, 6)
    assert translation.maps.cross.shape[-2:] == (8, 9)
    np.testing.assert_allclose(translation.maps.cross.sum(-1), 1, atol=1e-5)
    ids = torch.tensor([translation.source_ids]), torch.tensor([translation.read_ids])
    with torch.inference_mode():
        probabilities = translator.model(*ids).logits[0].softmax(-1)
    expected = [
        float(probabilities[step, token].log())
        for step, token in enumerate(translation.predicted_ids)
    ]
    assert translation.log_probabilities == pytest.approx(expected, abs=1e-5)


def test_the_models_own_translation_given_again_has_the_same_maps_and_probability(
    translator: Translator,
) -> None:
    own = translator.translate(SENTENCE)
    assert not own.is_given
    words = " ".join(word.text for word in own.target_words)
    translation = read_given(translator, SENTENCE, words)
    num_words = len(own.target_words)
    assert translation.predicted_ids[:num_words] == own.predicted_ids[:num_words]
    assert translation.log_probabilities[:num_words] == pytest.approx(
        own.log_probabilities[:num_words], abs=1e-5
    )
    np.testing.assert_allclose(
        translation.maps.cross[:, :, :num_words], own.maps.cross[:, :, :num_words], atol=1e-6
    )
    assert translator.score(own, PLAIN) == pytest.approx(own.log_probabilities, abs=1e-5)
    assert translator.score(translation, PLAIN) == pytest.approx(
        translation.log_probabilities, abs=1e-5
    )


def test_an_unknown_word_is_shown_as_typed_and_noted(translator: Translator) -> None:
    translation = read_given(translator, SENTENCE, "A zebra stands.")
    assert translation.predicted_tokens[1] == "zebra"
    assert any("zebra" in note for note in translation.notes)


@pytest.mark.parametrize("target", ["", "  \n"])
def test_an_empty_target_is_refused(translator: Translator, target: str) -> None:
    with pytest.raises(TextError, match="no word of the given translation"):
        read_given(translator, SENTENCE, target)


@pytest.mark.parametrize(
    ("count", "message"), [(150, "151 tokens"), (2000, "more than 1,000 words")]
)
def test_a_target_that_does_not_fit_is_refused(
    translator: Translator, count: int, message: str
) -> None:
    with pytest.raises(TextError, match=message):
        read_given(translator, SENTENCE, "man " * count)


def test_line_breaks_and_broken_characters_do_no_harm(translator: Translator) -> None:
    translation = read_given(translator, SENTENCE, "A man\nstands \ud800.")
    assert translation.predicted_tokens[:3] == ("a", "man", "stands")


def test_a_symbol_of_the_copy_task_starts_its_target_and_is_not_predicted() -> None:
    run = preset("copy-task-small")
    vocabulary = vocabulary_of_copy_task(8)
    codec = CodecPair.build(run.data, vocabulary, vocabulary, None).target
    assert encode_target("1 5 3", codec, run).labels == ("5", "3")
    with pytest.raises(TextError, match="begins with '5'"):
        encode_target("5 3", codec, run)
    with pytest.raises(TextError, match="no word"):
        encode_target("1", codec, run)


@pytest.mark.parametrize(
    "heads", [OFF, [Head("cross", 1, 0), Head("cross", 1, 1)]], ids=["two", "a whole layer"]
)
def test_translating_with_heads_off_is_translating_without_their_columns(
    translator: Translator, heads: list[Head]
) -> None:
    off = heads_switched_off(heads)
    gated = translator.run(Experiment(SENTENCE, interventions=off))
    expected = without_columns(translator, heads).translate(SENTENCE)
    assert gated.predicted_ids == expected.predicted_ids
    assert gated.log_probabilities == pytest.approx(expected.log_probabilities, abs=1e-5)
    assert gated.experiment.heads_off == set(heads)
    translation = read_given(translator, SENTENCE, TARGET, *off)
    expected = read_given(without_columns(translator, heads), SENTENCE, TARGET)
    assert translation.log_probability == pytest.approx(expected.log_probability, abs=1e-5)
    for kind in ATTENTION_KINDS:
        np.testing.assert_allclose(
            translation.maps.of_kind(kind), expected.maps.of_kind(kind), atol=1e-6
        )


def test_the_old_translation_is_scored_with_heads_off(translator: Translator) -> None:
    own = translator.translate(SENTENCE)
    scored = translator.score(own, WITH_OFF)
    assert len(scored) == len(own.predicted_ids)
    assert scored == pytest.approx(without_columns(translator, OFF).score(own, PLAIN), abs=1e-5)
    assert scored != pytest.approx(own.log_probabilities, abs=1e-4)
    # and nothing stays behind
    assert translator.score(own, PLAIN) == pytest.approx(own.log_probabilities, abs=1e-5)


def test_all_heads_off_still_translates(translator: Translator) -> None:
    off = heads_switched_off(heads_of(translator.model.config))
    translation = translator.run(Experiment(SENTENCE, interventions=off))
    assert np.isfinite(translation.log_probabilities).all()


def test_a_head_that_is_not_there_is_refused(translator: Translator) -> None:
    missing = Experiment(SENTENCE, interventions=(HeadScaled(Head("cross", 8, 0)),))
    with pytest.raises(AnalysisError, match="no cross layer 8 head 0"):
        translator.run(missing)
    with pytest.raises(AnalysisError, match="no cross layer 8 head 0"):
        translator.compile(missing)
    with pytest.raises(AnalysisError, match="no cross layer 8 head 0"):
        translator.score(translator.translate(SENTENCE), missing)


def test_one_word_on_each_side(translator: Translator) -> None:
    translation = read_given(translator, "Leiter", "Ladder")
    assert translation.predicted_tokens == ("ladder", "<eos>")
