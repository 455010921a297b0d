"""Removing or replacing a source word is translating, and scoring the old translation, with other
ids."""

import numpy as np
import pytest
import torch

from augenmerk.core.errors import AnalysisError, ExperimentError
from augenmerk.core.extensions.analyses.occlusion import (
    BATCH_SIZE,
    occlude_source_words,
    score_without_source_words,
    translate_without_source_words,
)
from augenmerk.core.model.heads import Head
from augenmerk.core.model.intervention_tensors import compile_interventions
from augenmerk.core.text.vocabulary import UNKNOWN
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
    SourceWordReplaced,
)
from augenmerk.core.translation.result import Translation, TranslationStoppedError
from augenmerk.core.translation.translator import Translator
from tests.builders import first_quick

SENTENCE = "Ein Arbeiter schläft vor dem Haus."
SCALED = (HeadScaled(Head("cross", 1, 0)), HeadScaled(Head("encoder", 0, 1), 2.0))


def greedy_by_hand(
    translator: Translator, ids: list[int], limit: int, *changed: Intervention
) -> list[int]:
    """Decoded by whole passes, one after another."""
    interventions = compile_interventions(
        translator.model, [Experiment("", interventions=changed).changes]
    )
    target = [translator.rules.start_id]
    while len(target) <= limit and (len(target) == 1 or target[-1] != translator.rules.end_id):
        with torch.inference_mode():
            output = translator.model(
                torch.tensor([ids]), torch.tensor([target]), interventions=interventions
            )
            logits = output.logits[0, -1].clone()
            logits[list(translator.rules.forbidden_ids)] = float("-inf")
        target.append(int(logits.argmax()))
    return target[1:]


def scored_by_hand(
    translator: Translator, ids: list[int], old: Translation, *changed: Intervention
) -> list[float]:
    interventions = compile_interventions(
        translator.model, [Experiment("", interventions=changed).changes]
    )
    with torch.inference_mode():
        output = translator.model(
            torch.tensor([ids]), torch.tensor([old.read_ids]), interventions=interventions
        )
    logits = output.logits[0]
    return [
        float(row.log_softmax(-1)[token])
        for row, token in zip(logits, old.predicted_ids, strict=True)
    ]


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("name", "replacement", "changed"),
    first_quick(
        [
            ("word", None, ()),
            ("word", UNKNOWN, SCALED),
            ("word", "Junge", SCALED),
            ("word", "der kleine Junge", ()),
            ("subword", None, SCALED),
            ("subword", UNKNOWN, ()),
            ("subword", "Junge", ()),
            ("subword", "der kleine Junge", SCALED),
        ]
    ),
)
def test_each_word_is_changed_alone(
    request: pytest.FixtureRequest,
    name: str,
    replacement: str | None,
    changed: tuple[Intervention, ...],
) -> None:
    translator: Translator = request.getfixturevalue(f"{name}_translator")
    old = translator.run(Experiment(SENTENCE, interventions=changed))
    occlusion = occlude_source_words(translator, old, replacement=replacement)
    assert occlusion.translation is old
    assert [occluded.word for occluded in occlusion.words] == list(old.source_words)
    codec = translator.checkpoint.codecs.source
    for index, occluded in enumerate(occlusion.words):
        if replacement is None:
            put, edit = [], SourceWordRemoved(index)
        elif replacement == UNKNOWN:
            put, edit = [codec.vocabulary.unknown_id], SourceWordReplaced(index, UNKNOWN)
        else:
            words = codec.encode_text(replacement, begins_sentence=index == 0)
            put, edit = (
                [token for word in words for token in word.ids],
                SourceWordReplaced(index, replacement),
            )
        assert (occluded.edit.place, occluded.edit) == (index, edit)
        assert occluded.translation.experiment == old.experiment.with_interventions(edit)
        ids = [*old.source_ids[: occluded.word.start], *put, *old.source_ids[occluded.word.end :]]
        assert list(occluded.translation.source_ids) == ids
        expected = greedy_by_hand(
            translator, ids, max_steps(len(ids), translator.run_config, translator.rules), *changed
        )
        assert list(occluded.translation.predicted_ids) == expected
        assert occluded.log_probabilities == pytest.approx(
            scored_by_hand(translator, ids, old, *changed), abs=1e-4
        )
        assert occlusion.change_of(occluded) == pytest.approx(
            sum(occluded.log_probabilities) - old.log_probability
        )


@pytest.mark.heavy
def test_effects_are_changes_of_log_probability_word_by_word(
    subword_translator: Translator,
) -> None:
    occlusion = occlude_source_words(subword_translator, subword_translator.translate(SENTENCE))
    old = occlusion.translation
    assert occlusion.effects.shape == (len(old.target_words) + 1, len(old.source_words))
    assert not occlusion.effects.flags.writeable
    for column, occluded in enumerate(occlusion.words):
        for row, word in enumerate(old.target_words):
            after, before = occluded.log_probabilities, old.log_probabilities
            expected = sum(after[word.start : word.end]) - sum(before[word.start : word.end])
            assert occlusion.effects[row, column] == pytest.approx(expected, abs=1e-4)
        assert occlusion.effects[:, column].sum() == pytest.approx(
            occlusion.change_of(occluded), abs=1e-3
        )


def test_replacing_a_word_by_itself_changes_nothing(word_translator: Translator) -> None:
    old = word_translator.translate(SENTENCE)
    occlusion = occlude_source_words(word_translator, old, replacement="Arbeiter", places=[1])
    assert [occluded.edit.place for occluded in occlusion.words] == [1]
    assert occlusion.words[0].translation.text == old.text
    assert occlusion.change_of(occlusion.words[0]) == pytest.approx(0, abs=1e-4)


def test_a_symbol_that_is_removed_is_left_out_of_the_copy(copy_translator: Translator) -> None:
    old = copy_translator.translate("1 5 3 7 2 9")
    occlusion = occlude_source_words(copy_translator, old, places=[3])
    assert "7" not in occlusion.words[0].translation.text.split()
    # the words are those that are predicted: 5 3 7 2 9
    assert occlusion.effects[:, 0].argmin() == 2
    replaced = occlude_source_words(copy_translator, old, places=[3], replacement="8")
    assert replaced.words[0].translation.text == "1 5 3 8 2 9"


@pytest.mark.heavy
def test_a_given_pair_and_heads_that_are_off_are_respected(word_translator: Translator) -> None:
    off = (
        HeadScaled(Head("encoder", 0, 0)),
        HeadScaled(Head("encoder", 0, 1)),
        HeadScaled(Head("encoder", 0, 2)),
    )
    scored = word_translator.run(Experiment(SENTENCE, GivenTarget("A dog sleeps."), off))
    occlusion = occlude_source_words(word_translator, scored, places=[0])
    assert occlusion.translation is scored
    assert len(occlusion.words[0].log_probabilities) == len(scored.predicted_ids)
    translated = occlusion.words[0].translation
    assert not translated.is_given
    assert translated.experiment == Experiment(SENTENCE, interventions=(SourceWordRemoved(0), *off))
    ids = [*scored.source_ids[:1], *scored.source_ids[2:]]
    assert occlusion.words[0].log_probabilities == pytest.approx(
        scored_by_hand(word_translator, ids, scored, *off), abs=1e-4
    )
    plain = occlude_source_words(
        word_translator, word_translator.run(scored.experiment.baseline), places=[0]
    )
    assert occlusion.words[0].log_probabilities != pytest.approx(
        plain.words[0].log_probabilities, abs=1e-4
    )


@pytest.mark.heavy
def test_the_changed_sentence_is_translated_the_way_the_old_one_was(
    subword_translator: Translator,
) -> None:
    greedy = subword_translator.translate(SENTENCE)
    other = next(choice.entry for choice in greedy.alternatives[1][1:] if choice.token != "<eos>")
    for experiment in (
        Experiment(SENTENCE, Beam(3)),
        Experiment(SENTENCE, interventions=(ForcedToken(1, other),)),
        Experiment(
            SENTENCE,
            interventions=(AttentionRow(Head("decoder", 1, 0), 1, (1, 0)), SourceWordRemoved(0)),
        ),
    ):
        occlusion = occlude_source_words(
            subword_translator, subword_translator.run(experiment), places=[2, 3]
        )
        for occluded in occlusion.words:
            alone = subword_translator.run(
                experiment.with_interventions(SourceWordRemoved(occluded.edit.place))
            )
            assert occluded.translation.experiment == alone.experiment
            assert occluded.translation.predicted_ids == alone.predicted_ids
            assert occluded.translation.attention is None


def test_words_that_replaced_one_are_one_place(word_translator: Translator) -> None:
    edited = Experiment(
        SENTENCE, interventions=(SourceWordReplaced(1, "kleiner Hund"), SourceWordRemoved(3))
    )
    old = word_translator.run(edited)
    occlusion = occlude_source_words(word_translator, old)
    assert [(occluded.edit.place, occluded.word.text) for occluded in occlusion.words] == [
        (0, "ein"),
        (1, "kleiner hund"),
        (2, "schläft"),
        (4, "dem"),
        (5, "haus"),
        (6, "."),
    ]
    without = occlusion.words[1].translation
    assert without.experiment.interventions == (SourceWordRemoved(1), SourceWordRemoved(3))
    assert without.source_ids == (*old.source_ids[:2], *old.source_ids[4:])


@pytest.mark.heavy
def test_progress_is_reported(word_translator: Translator) -> None:
    old = word_translator.translate(SENTENCE.rstrip(".") + " hinter dem Zaun im Gras.")
    reported: list[tuple[int, int]] = []
    occlude_source_words(word_translator, old, on_progress=lambda *counts: reported.append(counts))
    total = len(old.source_words)
    assert total > BATCH_SIZE
    assert reported == [(0, total), (BATCH_SIZE, total), (total, total)]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"places": [99]}, AnalysisError, "source words"),
        ({"places": []}, AnalysisError, "cannot be left out"),
        ({"replacement": "  "}, ExperimentError, "The replacement of source word 0 is empty"),
        ({"replacement": "Haus " * 40}, ExperimentError, "has room"),
    ],
)
def test_what_cannot_be_done_is_refused(
    word_translator: Translator, arguments: dict, error: type[Exception], message: str
) -> None:
    old = word_translator.translate(SENTENCE)
    with pytest.raises(error, match=message):
        occlude_source_words(word_translator, old, **arguments)


def test_a_word_that_was_removed_already_is_no_longer_there(word_translator: Translator) -> None:
    old = word_translator.run(Experiment(SENTENCE, interventions=(SourceWordRemoved(2),)))
    with pytest.raises(AnalysisError, match="Choose from 0, 1, 3, 4, 5, 6"):
        occlude_source_words(word_translator, old, places=[2])


@pytest.mark.heavy
def test_rows_over_the_source_are_left_out_where_words_are_removed(
    word_translator: Translator,
) -> None:
    plain = word_translator.translate(SENTENCE)
    row = AttentionRow(Head("cross", 0, 0), 0, (1.0,) * len(plain.source_tokens))
    other_changes = (
        HeadScaled(Head("cross", 1, 1)),
        AttentionRow(Head("decoder", 1, 0), 1, (1, 0)),
    )
    old = word_translator.run(Experiment(SENTENCE, interventions=(row, *other_changes)))
    without_row = Experiment(SENTENCE, interventions=other_changes)
    occlusion = occlude_source_words(word_translator, old)
    assert occlusion.left_out == (row,)
    assert (
        occlusion.log_probabilities
        == word_translator.score_many(old, [without_row])[0]
        != old.log_probabilities
    )
    for word in occlusion.words:
        changed = without_row.with_interventions(SourceWordRemoved(word.edit.place))
        expected = sum(word_translator.score_many(old, [changed])[0]) - sum(
            occlusion.log_probabilities
        )
        assert occlusion.change_of(word) == pytest.approx(expected, abs=1e-4)
        assert word.translation.experiment == changed
    assert occlusion.effects.sum(axis=0) == pytest.approx(
        [occlusion.change_of(word) for word in occlusion.words], abs=1e-4
    )
    with pytest.raises(ExperimentError, match="It needs one for each"):
        occlude_source_words(word_translator, old, replacement="eine Katze")
    assert occlude_source_words(word_translator, plain).left_out == ()
    assert occlude_source_words(word_translator, old, replacement="Junge").words, (
        "as many tokens as before"
    )


def test_where_the_last_word_would_go_it_is_refused(word_translator: Translator) -> None:
    hund = word_translator.translate("Hund")
    with pytest.raises(ExperimentError, match="too little of 'Hund' is left to read"):
        occlude_source_words(word_translator, hund)
    replaced = occlude_source_words(word_translator, hund, replacement=UNKNOWN)
    assert len(replaced.words) == 1
    assert np.isfinite(replaced.effects).all()


def test_a_model_without_an_unknown_token_says_so(copy_translator: Translator) -> None:
    old = copy_translator.translate("1 5 3")
    with pytest.raises(
        ExperimentError, match=r"Nothing in the replacement '<unk>' of source word 0 can be read"
    ):
        occlude_source_words(copy_translator, old, replacement=UNKNOWN)


@pytest.mark.heavy
def test_scores_and_translations_alone_are_those_of_both_together(
    word_translator: Translator,
) -> None:
    plain = word_translator.translate(SENTENCE)
    row = AttentionRow(Head("cross", 0, 0), 0, (1.0,) * len(plain.source_tokens))
    removed = SourceWordRemoved(1)
    for interventions in ((), (row, HeadScaled(Head("cross", 1, 1))), (removed,)):
        old = word_translator.run(Experiment(SENTENCE, interventions=interventions))
        both = occlude_source_words(word_translator, old)
        scores = score_without_source_words(word_translator, old)
        assert scores.left_out == both.left_out
        expected = {word.edit.place: both.change_of(word) for word in both.words}
        assert dict(scores.by_place) == pytest.approx(expected, abs=1e-4)
        places = [word.edit.place for word in both.words][-2:]
        texts = [
            translation.text
            for translation in translate_without_source_words(word_translator, old, places)
        ]
        assert texts == [word.translation.text for word in both.words][-2:]


def test_scores_and_translations_alone_can_be_stopped(word_translator: Translator) -> None:
    old = word_translator.translate(SENTENCE)
    with pytest.raises(TranslationStoppedError):
        score_without_source_words(word_translator, old, should_stop=lambda: True)
    with pytest.raises(TranslationStoppedError):
        translate_without_source_words(word_translator, old, [0], should_stop=lambda: True)
    with pytest.raises(AnalysisError, match="cannot be left out"):
        translate_without_source_words(word_translator, old, [99])
