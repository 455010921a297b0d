"""What is forced or set counts from its step on and nowhere before; taken back, everything is as it
was.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from augenmerk.core.errors import ExperimentError, TextError
from augenmerk.core.model.heads import ATTENTION_KINDS, Head
from augenmerk.core.model.intervention_tensors import compile_interventions
from augenmerk.core.translation.compilation import max_steps
from augenmerk.core.translation.experiment import (
    AttentionRow,
    Beam,
    Experiment,
    ForcedToken,
    GivenTarget,
    HeadScaled,
    Intervention,
    SourceWordRemoved,
)
from augenmerk.core.translation.result import Translation, TranslationStoppedError
from augenmerk.core.translation.translator import Translator

SENTENCE = "Ein Arbeiter schläft vor dem Haus."


@pytest.fixture(params=["word", "subword", pytest.param("copy", marks=pytest.mark.training)])
def translator(request: pytest.FixtureRequest) -> Translator:
    return request.getfixturevalue(f"{request.param}_translator")


@pytest.fixture
def plain(translator: Translator) -> Translation:
    return translator.run(
        Experiment(SENTENCE if translator.rules.end_id is not None else "1 5 3 7 2 9")
    )


def other_choice(translator: Translator, translation: Translation, step: int) -> str:
    """An alternative that was not chosen and does not end the sentence, as the vocabulary has
    it."""
    vocabulary = translator.checkpoint.codecs.target.vocabulary
    end = None if vocabulary.end_id is None else vocabulary.tokens[vocabulary.end_id]
    chosen = vocabulary.tokens[translation.predicted_ids[step]]
    return next(
        choice.entry
        for choice in translation.alternatives[step]
        if choice.entry not in (chosen, end)
    )


def logits_of(translator: Translator, translation: Translation) -> torch.Tensor:
    """[T, V], of one pass over what was read, under the same changes of attention."""
    interventions = compile_interventions(translator.model, [translation.experiment.changes])
    pair = torch.tensor([translation.source_ids]), torch.tensor([translation.read_ids])
    with torch.inference_mode():
        return translator.model(*pair, interventions=interventions).logits[0]


def best_allowed(translator: Translator, translation: Translation) -> list[int]:
    logits = logits_of(translator, translation).clone()
    logits[:, list(translator.rules.forbidden_ids)] = -math.inf
    return logits.argmax(-1).tolist()


def assert_same(first: Translation, second: Translation) -> None:
    """To the last bit, all but the time it took."""
    assert (
        replace(first, seconds=0.0, attention=None).__dict__
        == replace(second, seconds=0.0, attention=None).__dict__
    )
    for kind in ATTENTION_KINDS:
        np.testing.assert_array_equal(first.maps.of_kind(kind), second.maps.of_kind(kind))


def test_each_step_tells_its_rank_its_entropy_and_its_alternatives(
    translator: Translator, plain: Translation
) -> None:
    token = other_choice(translator, plain, 1)
    vocabulary, codec = (
        translator.checkpoint.codecs.target.vocabulary,
        translator.checkpoint.codecs.target,
    )
    for translation in (
        plain,
        translator.run(plain.experiment.with_interventions(ForcedToken(1, token))),
    ):
        probabilities = logits_of(translator, translation).double().softmax(-1).numpy()
        assert (
            len(translation.ranks) == len(translation.entropies) == len(translation.predicted_ids)
        )
        for step, (row, chosen) in enumerate(
            zip(probabilities, translation.predicted_ids, strict=True)
        ):
            entropy = -(row[row > 0] * np.log(row[row > 0])).sum()
            assert translation.entropies[step] == pytest.approx(entropy, abs=1e-4)
            assert 0 <= translation.entropies[step] <= math.log(len(vocabulary)) + 1e-6
            allowed = row.copy()
            allowed[list(translator.rules.forbidden_ids)] = -1
            assert translation.ranks[step] == 1 + (allowed > row[chosen]).sum()
            assert translation.log_probabilities[step] == pytest.approx(
                math.log(row[chosen]), abs=1e-4
            )
            choices = translation.alternatives[step]
            ids = [vocabulary.ids[choice.entry] for choice in choices]
            assert set(ids) == set(np.argsort(-allowed)[: len(ids)].tolist())
            assert [choice.token for choice in choices] == [
                codec.label(token_id) for token_id in ids
            ]
            assert [choice.probability for choice in choices] == pytest.approx(
                row[ids].tolist(), abs=1e-5
            )
            assert [choice.log_probability for choice in choices] == sorted(
                (choice.log_probability for choice in choices), reverse=True
            )
    assert set(plain.ranks) == {1}
    assert translation.ranks[1] > 1


@pytest.mark.heavy
def test_every_alternative_can_be_forced_by_its_entry(
    translator: Translator, plain: Translation
) -> None:
    vocabulary = translator.checkpoint.codecs.target.vocabulary
    for rank, choice in enumerate(plain.alternatives[1], start=1):
        forced = translator.run(plain.experiment.with_interventions(ForcedToken(1, choice.entry)))
        assert forced.predicted_ids[1] == vocabulary.ids[choice.entry]
        assert forced.predicted_tokens[1] == choice.token
        assert forced.ranks[1] == rank
        assert forced.log_probabilities[1] == pytest.approx(choice.log_probability, abs=1e-4)


def test_a_forced_token_is_chosen_and_the_model_goes_on_from_it(
    translator: Translator, plain: Translation
) -> None:
    token = other_choice(translator, plain, 1)
    token_id = translator.checkpoint.codecs.target.vocabulary.ids[token]
    forced = translator.run(plain.experiment.with_interventions(ForcedToken(1, token)))
    assert forced.predicted_ids[:2] == (plain.predicted_ids[0], token_id)
    assert list(forced.predicted_ids[2:]) == best_allowed(translator, forced)[2:]
    assert forced.unreached == ()
    assert forced.read_tokens[2] == forced.predicted_tokens[1]
    # What was read up to the forced step is the same, and so is all that the model made of it.
    assert forced.log_probabilities[0] == pytest.approx(plain.log_probabilities[0], abs=1e-5)
    assert forced.entropies[:2] == pytest.approx(plain.entropies[:2], abs=1e-5)
    assert [choice.entry for choice in forced.alternatives[1]] == [
        choice.entry for choice in plain.alternatives[1]
    ]
    np.testing.assert_allclose(forced.maps.encoder, plain.maps.encoder, atol=1e-6)
    np.testing.assert_allclose(forced.maps.cross[:, :, :2], plain.maps.cross[:, :, :2], atol=1e-6)
    np.testing.assert_allclose(
        forced.maps.decoder[:, :, :2, :2], plain.maps.decoder[:, :, :2, :2], atol=1e-6
    )


@pytest.mark.parametrize("step", [0, 1, 2])
def test_forcing_what_was_chosen_anyway_changes_nothing(
    translator: Translator, plain: Translation, step: int
) -> None:
    chosen = translator.checkpoint.codecs.target.vocabulary.tokens[plain.predicted_ids[step]]
    forced = translator.run(plain.experiment.with_interventions(ForcedToken(step, chosen)))
    assert_same(replace(forced, experiment=plain.experiment), plain)


@pytest.mark.heavy
def test_a_change_that_is_taken_back_leaves_no_trace(
    translator: Translator, plain: Translation
) -> None:
    head = Head("cross", 1, 0)
    forced = ForcedToken(1, other_choice(translator, plain, 1))
    row = AttentionRow(head, 0, (1.0,) * len(plain.source_tokens))
    with_forced = translator.run(plain.experiment.with_interventions(forced))
    both = translator.run(with_forced.experiment.with_interventions(row, HeadScaled(head, 0.5)))
    assert both.log_probability != with_forced.log_probability
    assert_same(translator.run(both.experiment.without(row, HeadScaled(head, 0.5))), with_forced)
    assert_same(translator.run(both.experiment.baseline), plain)


@pytest.mark.parametrize("step", [0, 2])
@pytest.mark.parametrize("name", ["word", "subword"])
def test_a_forced_end_ends_the_sentence(
    request: pytest.FixtureRequest, name: str, step: int
) -> None:
    translator: Translator = request.getfixturevalue(f"{name}_translator")
    late = ForcedToken(step + 1, "<eos>")
    row = AttentionRow(
        Head("cross", 0, 0), step + 1, (1.0,) * len(translator.translate(SENTENCE).source_tokens)
    )
    ended = translator.run(
        Experiment(SENTENCE, interventions=(late, row, ForcedToken(step, "<eos>")))
    )
    assert len(ended.predicted_ids) == step + 1
    assert ended.predicted_tokens[-1] == "<eos>"
    assert [note.partition(":")[0] for note in ended.notes] == (
        [] if step else ["The translation is empty"]
    )
    assert ended.maps.cross.shape[2] == step + 1
    if name == "word":
        assert len(ended.target_words) == step
    assert ended.unreached == (row, late)


def test_forcing_up_to_the_limit_is_cut_off_with_a_note(subword_translator: Translator) -> None:
    plain = subword_translator.translate(SENTENCE)
    token = other_choice(subword_translator, plain, 0)
    limit = max_steps(
        len(plain.source_ids), subword_translator.run_config, subword_translator.rules
    )
    forced = tuple(ForcedToken(step, token) for step in range(limit + 2))
    translation = subword_translator.run(Experiment(SENTENCE, interventions=forced))
    assert set(translation.predicted_ids) == {
        subword_translator.checkpoint.codecs.target.vocabulary.ids[token]
    }
    assert len(translation.predicted_ids) == limit
    assert any("cut off" in note for note in translation.notes)
    assert translation.unreached == forced[limit:]


@pytest.mark.parametrize("kind", ATTENTION_KINDS)
def test_setting_a_row_to_its_own_weights_changes_nothing(
    translator: Translator, plain: Translation, kind: Any
) -> None:
    weights = plain.maps.of_kind(kind)[1, 0, 1]
    own = AttentionRow(Head(kind, 1, 0), 1, tuple(weights[:2] if kind == "decoder" else weights))
    changed = translator.run(plain.experiment.with_interventions(own))
    assert changed.predicted_ids == plain.predicted_ids
    assert changed.log_probabilities == pytest.approx(plain.log_probabilities, abs=1e-5)
    for map_kind in ATTENTION_KINDS:
        np.testing.assert_allclose(
            changed.maps.of_kind(map_kind), plain.maps.of_kind(map_kind), atol=1e-5
        )


@pytest.mark.parametrize("kind", ["decoder", "cross"])
def test_a_row_that_is_set_is_used_from_its_step_on_and_nowhere_before(
    translator: Translator, plain: Translation, kind: Any
) -> None:
    num_keys = 3 if kind == "decoder" else len(plain.source_tokens)
    weights = [0.0] * num_keys
    weights[-1], weights[0] = 3.0, 1.0
    row = AttentionRow(Head(kind, 0, 1), 2, tuple(weights))
    shares = [0.25, *[0.0] * (num_keys - 2), 0.75]
    changed = translator.run(plain.experiment.with_interventions(row))
    assert changed.experiment.attention_rows[0].weights == tuple(shares)
    assert changed.unreached == ()
    assert changed.maps.of_kind(kind)[0, 1, 2, :num_keys].tolist() == shares
    assert not changed.maps.of_kind(kind)[0, 1, 2, num_keys:].any()
    assert changed.predicted_ids[:2] == plain.predicted_ids[:2]
    assert changed.log_probabilities[:2] == pytest.approx(plain.log_probabilities[:2], abs=1e-5)
    assert changed.entropies[:2] == pytest.approx(plain.entropies[:2], abs=1e-5)
    np.testing.assert_allclose(changed.maps.cross[:, :, :2], plain.maps.cross[:, :, :2], atol=1e-6)
    assert abs(changed.entropies[2] - plain.entropies[2]) > 1e-4
    expected = logits_of(translator, changed).log_softmax(-1)[
        range(len(changed.predicted_ids)), changed.predicted_ids
    ]
    assert changed.log_probabilities == pytest.approx(expected.tolist(), abs=1e-4)
    assert list(changed.predicted_ids) == best_allowed(translator, changed)


def test_a_row_of_the_encoder_is_used_for_its_source_token(
    translator: Translator, plain: Translation
) -> None:
    num_source = len(plain.source_tokens)
    row = AttentionRow(Head("encoder", 0, 1), 2, (0.0,) * (num_source - 1) + (1.0,))
    changed = translator.run(plain.experiment.with_interventions(row))
    assert changed.maps.encoder[0, 1, 2].tolist() == [0.0] * (num_source - 1) + [1.0]
    others = [index for index in range(num_source) if index != 2]
    np.testing.assert_allclose(
        changed.maps.encoder[0, :, others], plain.maps.encoder[0, :, others], atol=1e-6
    )
    assert np.abs(changed.maps.encoder[1] - plain.maps.encoder[1]).max() > 1e-4
    beyond = AttentionRow(Head("encoder", 0, 1), num_source, row.weights)
    unchanged = translator.run(plain.experiment.with_interventions(beyond))
    assert unchanged.unreached == (beyond,)
    assert unchanged.log_probabilities == pytest.approx(plain.log_probabilities, abs=1e-5)


def test_rows_and_forced_tokens_of_one_step_stand_together(
    translator: Translator, plain: Translation
) -> None:
    token = other_choice(translator, plain, 1)
    num_source = len(plain.source_tokens)
    rows = tuple(
        AttentionRow(Head("cross", layer, layer), 1, (1.0,) * num_source) for layer in (0, 1)
    )
    own = AttentionRow(Head("decoder", 1, 3), 1, (0.0, 1.0))
    both = translator.run(plain.experiment.with_interventions(*rows, own, ForcedToken(1, token)))
    assert both.predicted_ids[1] == translator.checkpoint.codecs.target.vocabulary.ids[token]
    for layer in (0, 1):
        np.testing.assert_allclose(both.maps.cross[layer, layer, 1], 1 / num_source, atol=1e-6)
    assert both.maps.decoder[1, 3, 1].tolist()[:2] == [0, 1]
    row = logits_of(translator, both)[1].log_softmax(-1)
    assert both.log_probabilities[1] == pytest.approx(float(row[both.predicted_ids[1]]), abs=1e-4)
    assert list(both.predicted_ids[2:]) == best_allowed(translator, both)[2:]


@pytest.mark.heavy
def test_heads_rows_words_and_tokens_are_changed_together(
    translator: Translator, plain: Translation
) -> None:
    changes: tuple[Intervention, ...] = (
        SourceWordRemoved(1),
        HeadScaled(Head("cross", 1, 0)),
        HeadScaled(Head("encoder", 0, 1), -2.0),
        AttentionRow(Head("decoder", 0, 1), 1, (1.0, 1.0)),
    )
    edited = translator.run(plain.experiment.with_interventions(*changes))
    token = other_choice(translator, edited, 1)
    changed = translator.run(edited.experiment.with_interventions(ForcedToken(1, token)))
    removed = plain.source_words[1]
    assert changed.source_ids == (
        *plain.source_ids[: removed.start],
        *plain.source_ids[removed.end :],
    )
    expected = best_allowed(translator, changed)
    expected[1] = translator.checkpoint.codecs.target.vocabulary.ids[token]
    assert list(changed.predicted_ids) == expected
    np.testing.assert_allclose(changed.maps.decoder[0, 1, 1, :2], 0.5)


@pytest.mark.parametrize("beam", [2, 5])
def test_a_beam_keeps_what_is_forced(subword_translator: Translator, beam: int) -> None:
    plain = subword_translator.run(Experiment(SENTENCE, Beam(beam, 0.0)))
    token = other_choice(subword_translator, plain, 2)
    token_id = subword_translator.checkpoint.codecs.target.vocabulary.ids[token]
    translation = subword_translator.run(
        Experiment(SENTENCE, Beam(beam, 0.0), (ForcedToken(2, token),))
    )
    expected = logits_of(subword_translator, translation).log_softmax(-1)[
        range(len(translation.read_ids)), translation.predicted_ids
    ]
    assert translation.predicted_ids[2] == token_id
    assert translation.log_probabilities == pytest.approx(expected.tolist(), abs=1e-4)
    ended = subword_translator.run(Experiment(SENTENCE, Beam(beam), (ForcedToken(1, "<eos>"),)))
    assert len(ended.predicted_ids) == 2
    assert ended.predicted_tokens[-1] == "<eos>"


def test_rows_of_another_number_of_weights_are_refused(word_translator: Translator) -> None:
    num_source = len(word_translator.translate(SENTENCE).source_tokens)
    for kind in ("encoder", "cross"):
        row = AttentionRow(Head(kind, 0, 0), 0, (1.0,) * (num_source - 1))
        with pytest.raises(
            ExperimentError,
            match=f"Row 0 of {kind} layer 0 head 0 has {num_source - 1} weights. It",
        ):
            word_translator.run(Experiment(SENTENCE, interventions=(row,)))
    fits = Experiment(SENTENCE, interventions=(SourceWordRemoved(0), row))
    assert word_translator.run(fits).maps.cross[0, 0, 0].tolist() == list(row.weights)


def test_tokens_that_cannot_be_chosen_are_refused(word_translator: Translator) -> None:
    with pytest.raises(
        ExperimentError, match="'zebra' forced at step 2 is not in this model's vocabulary of"
    ):
        word_translator.run(Experiment(SENTENCE, interventions=(ForcedToken(2, "zebra"),)))
    for mark in ("<pad>", "<sos>"):
        with pytest.raises(
            ExperimentError, match=f"The token '{mark}' forced at step 0 can never be chosen"
        ):
            word_translator.run(Experiment(SENTENCE, interventions=(ForcedToken(0, mark),)))


def test_stopping_leaves_everything_as_it_was(word_translator: Translator) -> None:
    plain = word_translator.translate(SENTENCE)
    with pytest.raises(TranslationStoppedError):
        word_translator.run(Experiment(SENTENCE), should_stop=lambda: True)
    token = other_choice(word_translator, plain, 0)
    experiment = Experiment(
        SENTENCE, interventions=(ForcedToken(0, token), HeadScaled(Head("cross", 0, 0)))
    )
    asked = iter([False, False, True])
    with pytest.raises(TranslationStoppedError):
        word_translator.run(experiment, should_stop=lambda: next(asked))
    assert_same(word_translator.run(Experiment(SENTENCE)), plain)
    for output in (Beam(3), GivenTarget("A man.")):
        with pytest.raises(TranslationStoppedError):
            word_translator.run(Experiment(SENTENCE, output), should_stop=lambda: True)


def test_one_token_and_no_text(word_translator: Translator) -> None:
    assert word_translator.run(
        Experiment("Hund", interventions=(ForcedToken(0, "<eos>"),))
    ).predicted_tokens == ("<eos>",)
    with pytest.raises(TextError, match="empty"):
        word_translator.run(Experiment("  ", interventions=(ForcedToken(0, "<eos>"),)))
