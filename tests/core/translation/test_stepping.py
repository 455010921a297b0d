"""Decoding step by step is decoding; what is changed counts from its step on and nowhere before."""

import math

import numpy as np
import pytest
import torch

from core.errors import AnalysisError, TextError
from core.model.heads import FixedRow, Head
from core.model.rows import rows_fixed
from core.translation.result import TranslationStoppedError
from core.translation.stepping import Stepper
from core.translation.steps import DecodingPath, ForcedToken
from core.translation.translator import Translator

SENTENCE = "Ein Arbeiter schläft vor dem Haus."


@pytest.fixture(params=["word", "subword", pytest.param("copy", marks=pytest.mark.training)])
def translator(request: pytest.FixtureRequest) -> Translator:
    return request.getfixturevalue(f"{request.param}_translator")


@pytest.fixture
def stepper(translator: Translator) -> Stepper:
    text = SENTENCE if translator.rules.end_id is not None else "1 5 3 7 2 9"
    return Stepper(translator, text)


def ids_of(path: DecodingPath) -> list[int]:
    return [step.chosen.token_id for step in path.steps]


def other_choice(stepper: Stepper, step: int) -> int:
    """A candidate that was not chosen and does not end the sentence."""
    here = stepper.path.steps[step]
    end_id = stepper._translator.rules.end_id
    return next(c.token_id for c in here.candidates if c.token_id not in (here.chosen.token_id, end_id))


def test_the_path_is_the_greedy_translation(stepper: Stepper, translator: Translator) -> None:
    path = stepper.path
    expected = translator.translate(path.translation.source_text)
    assert tuple(ids_of(path)) == expected.predicted_ids
    assert path.translation.text == expected.text
    assert path.translation.notes == expected.notes
    assert path.translation.target_words == expected.target_words
    assert path.log_probability == pytest.approx(expected.log_probability, abs=1e-4)
    for kind in ("encoder", "decoder", "cross"):
        np.testing.assert_allclose(
            path.translation.maps.of_kind(kind), expected.maps.of_kind(kind), atol=1e-5, err_msg=kind
        )
    assert not stepper.can_undo
    assert not any(step.is_forced or step.overridden for step in path.steps)


def test_each_step_tells_what_it_read_used_and_could_choose(stepper: Stepper) -> None:
    path = stepper.path
    assert tuple(step.read for step in path.steps) == path.translation.read_tokens
    for place, step in enumerate(path.steps):
        assert step.step == place
        assert step.self_rows.shape[-1] == place + 1
        np.testing.assert_allclose(step.self_rows.sum(-1), 1, atol=1e-5)
        np.testing.assert_allclose(step.cross_rows.sum(-1), 1, atol=1e-5)
        probabilities = np.exp(step.log_probabilities.astype(np.float64))
        assert probabilities.sum() == pytest.approx(1, abs=1e-5)
        assert step.entropy == pytest.approx(-(probabilities * np.log(probabilities)).sum(), abs=1e-5)
        assert step.entropy_bits == pytest.approx(-(probabilities * np.log2(probabilities)).sum(), abs=1e-5)
        values = [candidate.log_probability for candidate in step.candidates]
        assert values == sorted(values, reverse=True)
        assert (step.chosen, step.rank) == (step.candidates[0], 1)
        assert step.chosen.probability == pytest.approx(math.exp(values[0]))


def test_a_forced_token_is_chosen_and_the_model_goes_on_from_it(stepper: Stepper, translator: Translator) -> None:
    before, token = stepper.path, other_choice(stepper, 1)
    path = stepper.force(1, token)
    assert ids_of(path)[:2] == [ids_of(before)[0], token]
    assert path.steps[0] is before.steps[0]
    assert path.steps[1].is_forced
    assert path.steps[1].rank == 1 + [c.token_id for c in path.steps[1].candidates].index(token)
    assert path.edits == (ForcedToken(1, token),)
    assert path.first_difference(before) == 1
    assert any("Chosen by hand" in note and "step 2" in note for note in path.translation.notes)
    read = [translator.rules.start_id, *ids_of(path)[:-1]]
    with torch.inference_mode():
        logits = translator.model(torch.tensor([path.translation.source_ids]), torch.tensor([read])).logits[0]
        logits[:, list(translator.rules.forbidden_ids)] = -math.inf
    assert ids_of(path)[2:] == logits.argmax(-1).tolist()[2:]


def test_undo_brings_back_the_very_path_and_one_can_go_on_from_it(stepper: Stepper) -> None:
    first = stepper.path
    second = stepper.force(1, other_choice(stepper, 1))
    third = stepper.force(0, other_choice(stepper, 0))
    assert third.edits == third.edits[-1:]  # the one at step 1 is gone with its prefix
    assert stepper.undo() is second
    assert stepper.undo() is first
    with pytest.raises(AnalysisError, match="Nothing was changed"):
        stepper.undo()
    again = stepper.force(1, second.steps[1].chosen.token_id)
    assert ids_of(again) == ids_of(second)
    for ours, theirs in zip(again.steps, second.steps, strict=True):
        assert np.array_equal(ours.log_probabilities, theirs.log_probabilities)


def test_reset_goes_back_to_the_models_own_choice(stepper: Stepper) -> None:
    first = stepper.path
    stepper.force(1, other_choice(stepper, 1))
    stepper.force(2 if len(stepper.path.steps) > 2 else 0, other_choice(stepper, 0))
    assert stepper.reset() is first
    assert not stepper.can_undo


@pytest.mark.parametrize("step", [0, 2])
def test_a_forced_end_ends_the_sentence(word_translator: Translator, step: int) -> None:
    stepper = Stepper(word_translator, SENTENCE)
    path = stepper.force(step, word_translator.rules.end_id)
    assert len(path.steps) == step + 1
    assert not path.is_cut_off
    assert path.translation.predicted_tokens[-1] == "<eos>"
    assert len(path.translation.target_words) == step
    assert path.translation.maps.cross.shape[2] == step + 1


def test_forcing_past_the_limit_is_cut_off_with_a_note(subword_translator: Translator) -> None:
    stepper = Stepper(subword_translator, SENTENCE)
    token = other_choice(stepper, 0)
    while not stepper.path.is_cut_off:
        steps = stepper.path.steps
        stepper.force(len(steps) - 1, token)
    assert len(stepper.path.steps) == subword_translator.max_steps(len(stepper.path.translation.source_ids))
    assert any("cut off" in note for note in stepper.path.translation.notes)


def test_overriding_a_row_by_its_own_weights_changes_nothing(stepper: Stepper) -> None:
    before = stepper.path
    after = stepper.override(1, 0, 1, before.steps[1].cross_rows[1, 0].tolist())
    assert ids_of(after) == ids_of(before)
    for ours, theirs in zip(after.steps, before.steps, strict=True):
        np.testing.assert_allclose(ours.log_probabilities, theirs.log_probabilities, atol=1e-5)
        np.testing.assert_allclose(np.exp(ours.log_probabilities), np.exp(theirs.log_probabilities), atol=1e-6)


def test_an_overridden_row_is_used_from_its_step_on_and_nowhere_before(
    stepper: Stepper, translator: Translator
) -> None:
    before = stepper.path
    num_source = before.steps[0].cross_rows.shape[-1]
    weights = [0.0] * num_source
    weights[-1], weights[1] = 3.0, 1.0
    path = stepper.override(0, 1, 2, weights)
    shares = [0.0, 0.25, *[0.0] * (num_source - 3), 0.75]
    assert path.edits == (FixedRow(0, 1, 2, tuple(shares)),)
    for step in range(2):
        assert path.steps[step] is before.steps[step]
    assert path.steps[2].cross_rows[0, 1].tolist() == shares
    assert path.steps[2].overridden == {(0, 1)}
    assert np.abs(path.steps[2].log_probabilities - before.steps[2].log_probabilities).max() > 1e-3
    assert path.translation.maps.cross[0, 1, 2].tolist() == shares
    assert any("layer 1 head 2" in note for note in path.translation.notes)
    read = [translator.rules.start_id, *ids_of(path)[:-1]]
    with torch.inference_mode(), rows_fixed(translator.model, path.edits):
        logits = translator.model(torch.tensor([path.translation.source_ids]), torch.tensor([read])).logits[0]
    expected = logits.log_softmax(-1).numpy()
    for step, found in enumerate(path.steps):
        np.testing.assert_allclose(found.log_probabilities, expected[step], atol=1e-4)


def test_overrides_and_forced_tokens_of_one_step_stand_together_and_can_be_released(stepper: Stepper) -> None:
    token = other_choice(stepper, 1)
    stepper.force(1, token)
    forced = stepper.path
    weights = [1.0] * forced.steps[0].cross_rows.shape[-1]
    stepper.override(0, 0, 1, weights)
    both = stepper.override(1, 1, 1, weights)
    assert both.steps[1].chosen.token_id == token
    assert both.steps[1].overridden == {(0, 0), (1, 1)}
    np.testing.assert_allclose(both.steps[1].cross_rows[0, 0], 1 / len(weights), atol=1e-6)
    stepper.release(0, 0, 1)
    assert stepper.path.steps[1].overridden == {(1, 1)}
    released = stepper.release(1, 1, 1)
    assert released.edits == forced.edits
    for ours, theirs in zip(released.steps, forced.steps, strict=True):
        assert np.array_equal(ours.log_probabilities, theirs.log_probabilities)
    with pytest.raises(AnalysisError, match="was not set by hand"):
        stepper.release(1, 1, 1)


def test_a_row_set_twice_counts_once(word_translator: Translator) -> None:
    stepper = Stepper(word_translator, SENTENCE)
    num_source = stepper.path.steps[0].cross_rows.shape[-1]
    stepper.override(0, 0, 0, [1.0] * num_source)
    path = stepper.override(0, 0, 0, [1.0] + [0.0] * (num_source - 1))
    assert [edit.weights[0] for edit in path.edits] == [1.0]
    assert len(path.edits) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda weights: [0.0] * len(weights), "All weights of the row are 0"),
        (lambda weights: weights[:-1], "One for each of the"),
        (lambda weights: [math.nan, *weights[1:]], "negative or no number"),
        (lambda weights: [-0.1, *weights[1:]], "negative or no number"),
        (lambda weights: [math.inf, *weights[1:]], "negative or no number"),
    ],
    ids=["zero", "short", "nan", "negative", "infinite"],
)
def test_rows_that_are_no_weights_are_refused_and_change_nothing(word_translator, change, message: str) -> None:
    stepper = Stepper(word_translator, SENTENCE)
    path = stepper.path
    with pytest.raises(AnalysisError, match=message):
        stepper.override(0, 0, 0, change(path.steps[0].cross_rows[0, 0].tolist()))
    assert stepper.path is path


def test_huge_and_tiny_weights_are_scaled(word_translator: Translator) -> None:
    stepper = Stepper(word_translator, SENTENCE)
    num_source = stepper.path.steps[0].cross_rows.shape[-1]
    for size in (1e308, 1e-308):
        path = stepper.override(0, 0, 0, [size] * num_source)
        assert path.edits[0].weights == pytest.approx([1 / num_source] * num_source)


def test_steps_heads_and_tokens_that_are_not_there_are_refused(word_translator: Translator) -> None:
    stepper = Stepper(word_translator, SENTENCE)
    row = stepper.path.steps[0].cross_rows[0, 0].tolist()
    with pytest.raises(AnalysisError, match="There is no step 100"):
        stepper.force(99, 5)
    with pytest.raises(AnalysisError, match="no cross layer 10 head 1"):
        stepper.override(9, 0, 0, row)
    with pytest.raises(AnalysisError, match="no token number 99999"):
        stepper.force(0, 99999)
    with pytest.raises(AnalysisError, match="<pad> can never be chosen"):
        stepper.force(0, word_translator.model.padding_id)


def test_stopping_leaves_everything_as_it_was(word_translator: Translator) -> None:
    with pytest.raises(TranslationStoppedError):
        Stepper(word_translator, SENTENCE, should_stop=lambda: True)
    stepper = Stepper(word_translator, SENTENCE)
    before, token = stepper.path, other_choice(stepper, 0)
    asked = iter([False, False, True])
    with pytest.raises(TranslationStoppedError):
        stepper.force(0, token, should_stop=lambda: next(asked))
    assert stepper.path is before
    forced = stepper.force(0, token)
    assert ids_of(forced) == ids_of(Stepper(word_translator, SENTENCE).force(0, token))


def test_heads_that_are_off_are_off_in_every_step(word_translator: Translator) -> None:
    off = [Head("cross", 1, 0), Head("encoder", 0, 1)]
    path = Stepper(word_translator, SENTENCE, off=off).path
    assert tuple(ids_of(path)) == word_translator.translate(SENTENCE, off=off).predicted_ids
    assert path.log_probability == pytest.approx(word_translator.translate(SENTENCE, off=off).log_probability, abs=1e-4)


def test_one_token_and_no_text(word_translator: Translator) -> None:
    assert Stepper(word_translator, "Hund").path.steps
    with pytest.raises(TextError):
        Stepper(word_translator, "  ")
