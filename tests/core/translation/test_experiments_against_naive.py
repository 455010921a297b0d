"""`Translator.run` and `run_many` against experiments that are written down plainly, and what each
part of one does."""

import itertools
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import torch

from augenmerk.core.errors import AnalysisError, AugenmerkError, ExperimentError, TextError
from augenmerk.core.inference.compiled import PLAIN_VARIABLE, CachedState
from augenmerk.core.model.decoder_state import DecoderState
from augenmerk.core.model.heads import ATTENTION_KINDS, Head
from augenmerk.core.translation.compilation import max_steps
from augenmerk.core.translation.experiment import (
    INTERVENTION_TYPES,
    AttentionRow,
    Beam,
    Experiment,
    ForcedToken,
    GivenTarget,
    Greedy,
    HeadScaled,
    Intervention,
    Output,
    SourceWordRemoved,
    SourceWordReplaced,
)
from augenmerk.core.translation.result import Translation, TranslationStoppedError
from augenmerk.core.translation.translator import EXPERIMENT_WINDOW, Translator
from tests.builders import first_quick
from tests.core.translation.greedy_search import greedy
from tests.core.translation.naive import NaiveResult, naive_run, naive_scores
from tests.core.translation.random_experiments import ValuesForModel, random_experiment
from tests.core.translation.random_models import MODELS, all_heads, make_translator

NUM_EXPERIMENTS = 20
"""Of each model: 200 in all."""
NEAR_TIE = 1e-4
MAX_NEAR_TIES = 1
"""Of each model, among its experiments."""
MAP_TOLERANCE = 1e-5
LOG_PROBABILITY_TOLERANCE = 1e-4

SENTENCE = "ein mann steht am see und rennt auf gras"
TARGET = "a man stands in the sea"
WORDS = "words, post-norm, learned positions"
SUBWORDS = "subwords, pre-norm, all tied"
OUTPUTS = [Greedy(), Beam(3), GivenTarget(TARGET)]


@dataclass(frozen=True, eq=False)
class Case:
    experiment: Experiment
    expected: NaiveResult


@pytest.fixture(scope="module", params=first_quick(MODELS, 3))
def model_name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def translator(model_name: str) -> Translator:
    return make_translator(model_name)


@pytest.fixture(scope="module")
def cases(model_name: str, translator: Translator) -> list[Case]:
    return [
        Case(experiment, naive_run(translator, experiment))
        for experiment in experiments_for(model_name, translator)
    ]


def experiments_for(model_name: str, translator: Translator) -> list[Experiment]:
    generator, values = random.Random(f"{model_name} 1"), ValuesForModel(translator)
    return [random_experiment(generator, values) for _ in range(NUM_EXPERIMENTS)]


@pytest.fixture(scope="module")
def words() -> Translator:
    return make_translator(WORDS)


@pytest.fixture(scope="module")
def subwords() -> Translator:
    return make_translator(SUBWORDS)


def check_results(
    translator: Translator,
    cases: Sequence[Case],
    translations: Sequence[Translation],
    has_maps: bool,
) -> None:
    """Raises unless all results are those of the naive code, near-ties aside."""
    assert len(translations) == len(cases)
    num_near_ties = 0
    for case, translation in zip(cases, translations, strict=True):
        assert translation.experiment == case.experiment
        assert list(translation.source_ids) == case.expected.source_ids
        if list(translation.predicted_ids) != case.expected.predicted_ids:
            assert case.expected.margin < NEAR_TIE, case.experiment
            num_near_ties += 1
            continue
        check_result(translator, translation, case.expected)
        if has_maps:
            check_maps(translation, case.expected)
        else:
            assert translation.attention is None
    assert num_near_ties <= MAX_NEAR_TIES


def check_result(translator: Translator, translation: Translation, expected: NaiveResult) -> None:
    """All but the tokens, which are the same, and the maps."""
    assert translation.unreached == expected.unreached
    assert translation.read_ids == (translator.rules.start_id, *translation.predicted_ids[:-1])
    assert translation.log_probabilities == pytest.approx(
        expected.log_probabilities, abs=LOG_PROBABILITY_TOLERANCE
    )
    ids = translator.checkpoint.codecs.target.vocabulary.ids
    for step, row in enumerate(expected.next_log_probabilities):
        allowed = [
            token for token in range(len(ids)) if token not in translator.rules.forbidden_at(step)
        ]
        best = row[allowed].sort(descending=True).values
        alternatives = translation.alternatives[step]
        assert len(alternatives) == min(10, len(allowed))
        assert len({alternative.entry for alternative in alternatives}) == len(alternatives)
        for rank, alternative in enumerate(alternatives):
            assert ids[alternative.entry] in allowed
            assert alternative.log_probability == pytest.approx(
                float(best[rank]), abs=LOG_PROBABILITY_TOLERANCE
            )
            assert alternative.log_probability == pytest.approx(
                float(row[ids[alternative.entry]]), abs=LOG_PROBABILITY_TOLERANCE
            )
        chosen = row[translation.predicted_ids[step]]
        better = [int((best > chosen + slack).sum()) for slack in (NEAR_TIE, -NEAR_TIE)]
        assert 1 + better[0] <= translation.ranks[step] <= 1 + better[1]
        assert translation.entropies[step] == pytest.approx(
            float(-(row.exp() * row).sum()), abs=LOG_PROBABILITY_TOLERANCE
        )


def check_maps(translation: Translation, expected: NaiveResult) -> None:
    maps = (expected.encoder_maps, expected.decoder_maps, expected.cross_maps)
    for kind, expected_maps in zip(ATTENTION_KINDS, maps, strict=True):
        actual = translation.maps.of_kind(kind)
        assert actual.shape == tuple(expected_maps.shape)
        np.testing.assert_allclose(actual, expected_maps.numpy(), rtol=0, atol=MAP_TOLERANCE)


@pytest.mark.heavy
def test_run_is_what_the_naive_code_gives(translator: Translator, cases: list[Case]) -> None:
    check_results(
        translator, cases, [translator.run(case.experiment) for case in cases], has_maps=True
    )


@pytest.mark.slow
def test_compare_gives_what_the_naive_code_gives_beside_the_score_of_the_original(
    translator: Translator, cases: list[Case]
) -> None:
    results = [translator.compare(case.experiment) for case in cases]
    check_results(translator, cases, [result.changed for result in results], has_maps=True)
    for case, result in zip(cases, results, strict=True):
        expected = naive_scores(translator, case.experiment, result.original.predicted_ids)
        assert result.original_log_probabilities == pytest.approx(
            expected, abs=LOG_PROBABILITY_TOLERANCE
        )


@pytest.mark.heavy
def test_nothing_is_decoded_step_by_step_where_a_change_leaves_the_words(
    words: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = words.translate(SENTENCE)
    forced = ForcedToken(
        1, words.checkpoint.codecs.target.vocabulary.tokens[original.predicted_ids[1]]
    )
    changes: list[tuple[Intervention, ...]] = [
        (HeadScaled(Head("cross", 0, 1), 0.9999),),
        (HeadScaled(Head("encoder", 1, 0), 1.0001), forced),
        (SourceWordReplaced(0, "ein"),),
    ]
    stepwise = [words.run(original.experiment.with_interventions(*change)) for change in changes]
    steps: list[object] = []
    for state, name in itertools.product((CachedState, DecoderState), ("read", "guess")):
        real = getattr(state, name)
        monkeypatch.setattr(state, name, lambda *args, real=real: steps.append(args) or real(*args))
    for change, expected in zip(changes, stepwise, strict=True):
        assert expected.predicted_ids == original.predicted_ids
        changed = words.compare(expected.experiment, original=original).changed
        assert changed.predicted_ids == expected.predicted_ids, change
        assert changed.log_probabilities == pytest.approx(expected.log_probabilities, abs=1e-6)
        assert changed.alternatives[0][0].entry == expected.alternatives[0][0].entry
        assert changed.unreached == expected.unreached
    assert not steps
    other = original.experiment.with_interventions(ForcedToken(1, TARGET.split()[-1]))
    assert (
        words.compare(other, original=original).changed.predicted_ids
        == words.run(other).predicted_ids
    )
    assert steps


@pytest.mark.heavy
def test_run_many_is_what_the_naive_code_gives_in_order(
    translator: Translator, cases: list[Case]
) -> None:
    translations = translator.run_many(case.experiment for case in cases)
    check_results(translator, cases, list(translations), has_maps=True)


@pytest.mark.heavy
def test_run_many_without_maps_gives_the_same_tokens_and_probabilities(
    translator: Translator, cases: list[Case]
) -> None:
    translations = translator.run_many((case.experiment for case in cases), need_maps=False)
    check_results(translator, cases, list(translations), has_maps=False)


@pytest.mark.heavy
def test_an_old_translation_is_scored_under_each_experiment(
    translator: Translator, cases: list[Case]
) -> None:
    old = translator.run(cases[0].experiment)
    scored = translator.score_many(old, [case.experiment for case in cases])
    for case, log_probabilities in zip(cases, scored, strict=True):
        expected = naive_scores(translator, case.experiment, old.predicted_ids)
        assert log_probabilities == pytest.approx(expected, abs=LOG_PROBABILITY_TOLERANCE)


@pytest.mark.slow
@pytest.mark.heavy
def test_an_experiment_is_compared_with_its_baseline(
    translator: Translator, cases: list[Case]
) -> None:
    for case in cases[:5]:
        comparison = translator.compare(case.experiment)
        check_results(translator, [case], [comparison.changed], has_maps=True)
        baseline = Case(case.experiment.baseline, naive_run(translator, case.experiment.baseline))
        check_results(translator, [baseline], [comparison.original], has_maps=True)
        expected = naive_scores(translator, case.experiment, comparison.original.predicted_ids)
        assert comparison.original_log_probabilities == pytest.approx(
            expected, abs=LOG_PROBABILITY_TOLERANCE
        )
        assert comparison.is_changed == bool(case.experiment.interventions)
        if comparison.own is not None:
            own = Experiment(case.experiment.source_text)
            check_results(
                translator, [Case(own, naive_run(translator, own))], [comparison.own], has_maps=True
            )
        assert (comparison.own is None) != isinstance(case.experiment.output, GivenTarget)


@pytest.mark.slow
def test_the_random_experiments_cover_everything() -> None:
    """Without this, the proof above could be one of a few easy cases."""
    outputs: Counter[type] = Counter()
    reached: Counter[Any] = Counter()
    unreached: Counter[type] = Counter()
    sizes: Counter[int] = Counter()
    lengths: dict[str, set[int]] = {}
    for name in MODELS:
        translator = make_translator(name)
        experiments = experiments_for(name, translator)
        for experiment, translation in zip(
            experiments, translator.run_many(experiments, need_maps=False), strict=True
        ):
            outputs[type(experiment.output)] += 1
            sizes[len(experiment.interventions)] += 1
            lengths.setdefault(name, set()).add(len(translation.predicted_ids))
            for intervention in experiment.interventions:
                kind = (
                    (AttentionRow, intervention.head.kind)
                    if isinstance(intervention, AttentionRow)
                    else type(intervention)
                )
                if intervention in translation.unreached:
                    unreached[type(intervention)] += 1
                else:
                    reached[kind] += 1
    assert sum(outputs.values()) == NUM_EXPERIMENTS * len(MODELS) >= 200
    assert min(outputs[kind] for kind in (Greedy, Beam, GivenTarget)) >= 30
    assert set(sizes) == set(range(7))
    kinds = [kind for kind in INTERVENTION_TYPES if kind is not AttentionRow]
    assert (
        min(reached[kind] for kind in (*kinds, *((AttentionRow, kind) for kind in ATTENTION_KINDS)))
        >= 20
    ), reached
    assert min(unreached[AttentionRow], unreached[ForcedToken]) >= 20, unreached
    assert min(len(different) for different in lengths.values()) >= 6, lengths


# --- what each part of an experiment does ---------------------------------------------------------


def other_token(translator: Translator, translation: Translation, step: int) -> str:
    """A token that the model liked less at this step, and that does not end the sentence."""
    end_id = translator.rules.end_id
    entries = [alternative.entry for alternative in translation.alternatives[step][1:]]
    ids = translator.checkpoint.codecs.target.vocabulary.ids
    return next(
        entry for entry in entries if ids[entry] not in (end_id, translation.predicted_ids[step])
    )


def tokens_of(translator: Translator, translation: Translation) -> list[str]:
    return [
        translator.checkpoint.codecs.target.vocabulary.tokens[token]
        for token in translation.predicted_ids
    ]


def long_sentence(translator: Translator) -> Experiment:
    """One whose translation has at least ten steps."""
    generator = random.Random(0)
    words = SENTENCE.split()
    for _ in range(100):
        experiment = Experiment(" ".join(generator.choices(words, k=8)))
        if len(translator.run(experiment).predicted_ids) >= 10:
            return experiment
    raise AssertionError("no sentence is long enough")


@pytest.mark.heavy
@pytest.mark.parametrize("output", [Greedy(), Beam(3)], ids=["greedy", "beam"])
def test_forcing_step_3_keeps_step_7(subwords: Translator, output: Output) -> None:
    baseline = subwords.run(long_sentence(subwords))
    tokens = tokens_of(subwords, baseline)
    at_7 = ForcedToken(7, other_token(subwords, baseline, 7))
    # every step up to 7 is forced, so that no change can end the sentence before
    steady = tuple(ForcedToken(step, tokens[step]) for step in range(7) if step != 3)
    for token in (tokens[3], other_token(subwords, baseline, 3)):
        experiment = replace(
            baseline.experiment, output=output, interventions=(*steady, ForcedToken(3, token), at_7)
        )
        translation = subwords.run(experiment)
        assert tokens_of(subwords, translation)[:8] == [
            *tokens[:3],
            token,
            *tokens[4:7],
            at_7.token,
        ]
        assert translation.unreached == ()


def test_a_forced_token_counts_with_the_probability_that_the_model_gives_it(
    subwords: Translator,
) -> None:
    baseline = subwords.run(long_sentence(subwords))
    alternative = baseline.alternatives[2][4]
    translation = subwords.run(
        baseline.experiment.with_interventions(ForcedToken(2, alternative.entry))
    )
    assert translation.predicted_ids[:2] == baseline.predicted_ids[:2]
    assert translation.log_probabilities[2] == pytest.approx(alternative.log_probability, abs=1e-5)
    assert [alternative.entry for alternative in translation.alternatives[2]] == [
        alternative.entry for alternative in baseline.alternatives[2]
    ]


@pytest.mark.parametrize("output", [Greedy(), Beam(4)], ids=["greedy", "beam"])
def test_a_forced_end_ends_the_sentence_and_what_comes_after_it_is_unreached(
    subwords: Translator, output: Output
) -> None:
    baseline = subwords.run(long_sentence(subwords))
    tokens = tokens_of(subwords, baseline)
    forced = tuple(ForcedToken(step, tokens[step]) for step in range(4))
    end, later = ForcedToken(4, "<eos>"), ForcedToken(6, tokens[6])
    beyond, reached = (AttentionRow(Head("cross", 0, 1), step, _even(baseline)) for step in (5, 4))
    experiment = replace(
        baseline.experiment, output=output, interventions=(*forced, end, later, beyond, reached)
    )
    translation = subwords.run(experiment)
    assert tokens_of(subwords, translation) == [*tokens[:4], "<eos>"]
    assert translation.unreached == (beyond, later)


def _even(translation: Translation) -> tuple[float, ...]:
    return (1.0,) * len(translation.source_ids)


@pytest.mark.heavy
def test_a_word_is_removed_or_replaced_and_all_others_keep_their_ids(subwords: Translator) -> None:
    text = "ein mann steht am see zwei"
    baseline = subwords.run(Experiment(text))
    at = [baseline.source_ids[word.start : word.end] for word in baseline.source_words]
    assert len(at) == 6
    assert max(map(len, at)) > 1
    first, *_, last = baseline.source_ids
    edits = (
        SourceWordRemoved(1),
        SourceWordReplaced(3, "hund rot"),
        SourceWordReplaced(4, "<unk>"),
    )
    translation = subwords.run(Experiment(text, interventions=edits))
    dog, red = (subwords.run(Experiment(word)).source_ids[1:-1] for word in ("hund", "rot"))
    changed = [at[0], at[2], dog, red, (0,), at[5]]
    assert translation.source_ids == (first, *itertools.chain(*changed), last)
    assert translation.source_places == (0, 2, 3, 3, 4, 5)
    assert [
        translation.source_ids[word.start : word.end] for word in translation.source_words
    ] == changed
    assert translation.source_text == text


@pytest.mark.heavy
def test_the_notes_are_about_the_words_that_are_read(words: Translator) -> None:
    unknown = "Unknown to the model, read as an unknown word (<unk>): {}."
    typed = "ein qqq steht\nam xyxy"
    assert words.run(Experiment(typed)).notes[1] == unknown.format("qqq, xyxy")
    for edits, expected in (
        ((SourceWordRemoved(1),), unknown.format("xyxy")),
        ((SourceWordReplaced(1, "zebra"), SourceWordReplaced(4, "see")), unknown.format("zebra")),
        ((SourceWordReplaced(1, "<unk>"), SourceWordRemoved(4)), None),  # asked for, so no news
    ):
        notes = words.run(Experiment(typed, interventions=edits)).notes
        assert [note for note in notes if "Unknown" in note] == (
            [] if expected is None else [expected]
        )
        assert "Line breaks were read as spaces." in notes


@pytest.mark.parametrize("kind", ATTENTION_KINDS)
def test_a_head_that_is_off_shows_its_weights(words: Translator, kind: Any) -> None:
    head = Head(kind, 0, 1)
    output = GivenTarget(TARGET)  # the same steps in both
    baseline = words.run(Experiment(SENTENCE, output))
    off = words.run(Experiment(SENTENCE, output, (HeadScaled(head),)))
    before, after = baseline.maps.of_kind(kind)[0, 1], off.maps.of_kind(kind)[0, 1]
    np.testing.assert_allclose(after.sum(axis=-1), 1, atol=1e-5)
    np.testing.assert_allclose(after, before, atol=1e-5)  # nothing before its own layer has changed
    assert off.log_probability != pytest.approx(baseline.log_probability, abs=1e-3)
    if kind == "encoder":
        assert np.abs(off.maps.encoder[1] - baseline.maps.encoder[1]).max() > 1e-3


@pytest.mark.parametrize("output", OUTPUTS, ids=["greedy", "beam", "given"])
@pytest.mark.parametrize("kind", ATTENTION_KINDS)
def test_a_row_that_is_set_stands_in_the_map_and_the_rows_beside_it_do_not(
    words: Translator, kind: Any, output: Output
) -> None:
    baseline = words.run(Experiment(SENTENCE, output))
    num_keys = 2 if kind == "decoder" else len(baseline.source_ids)
    row = AttentionRow(Head(kind, 0, 2), 1, tuple(float(1 + key) for key in range(num_keys)))
    translation = words.run(Experiment(SENTENCE, output, (row,)))
    assert len(translation.predicted_ids) > 1
    maps = translation.maps.of_kind(kind)[0]
    np.testing.assert_allclose(
        maps[2, 1, :num_keys], np.arange(1, num_keys + 1) / sum(range(num_keys + 1)), atol=1e-6
    )
    assert not maps[2, 1, num_keys:].any()
    np.testing.assert_allclose(
        maps[[0, 1, 3], 1], baseline.maps.of_kind(kind)[0][[0, 1, 3], 1], atol=1e-5
    )
    np.testing.assert_allclose(maps[2, 0], baseline.maps.of_kind(kind)[0][2, 0], atol=1e-5)
    assert translation.log_probabilities[-1] != pytest.approx(
        baseline.log_probabilities[-1], abs=1e-6
    )


@pytest.mark.heavy
@pytest.mark.parametrize("is_plain", [True, False], ids=["plain", "compiled"])
def test_without_interventions_the_result_is_that_of_the_model(
    translator: Translator, is_plain: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the last bit where the model itself computes it, else to rounding."""
    monkeypatch.setenv(PLAIN_VARIABLE, str(int(is_plain)))
    map_error, log_error = (0.0, 0.0) if is_plain else (2e-6, 1e-5)
    generator = random.Random(1)
    for _ in range(5):
        experiment = Experiment(
            random_experiment(generator, ValuesForModel(translator)).source_text
        )
        translation = translator.run(experiment)
        source, read = torch.tensor([translation.source_ids]), torch.tensor([translation.read_ids])
        with torch.inference_mode():
            limit = max_steps(len(translation.source_ids), translator.run_config, translator.rules)
            chosen = greedy(translator.model, source, [limit], translator.rules)
            output = translator.model(source, read, need_maps=True)
        assert [list(translation.predicted_ids)] == chosen
        for kind, maps in zip(
            ATTENTION_KINDS,
            (output.encoder_maps, output.decoder_maps, output.cross_maps),
            strict=True,
        ):
            assert maps is not None
            np.testing.assert_allclose(
                translation.maps.of_kind(kind), maps[0].numpy(), rtol=0, atol=map_error
            )
        rows = zip(output.logits[0].log_softmax(dim=-1), translation.predicted_ids, strict=True)
        expected = [float(row[token]) for row, token in rows]
        np.testing.assert_allclose(translation.log_probabilities, expected, rtol=0, atol=log_error)
        again = translator.translate(experiment.source_text)
        assert (again.predicted_ids, again.log_probabilities) == (
            translation.predicted_ids,
            translation.log_probabilities,
        )


def test_a_factor_of_1_and_a_row_beyond_the_end_change_nothing(words: Translator) -> None:
    baseline = words.run(Experiment(SENTENCE))
    beyond = AttentionRow(Head("cross", 0, 0), 21, _even(baseline))
    translation = words.run(
        Experiment(SENTENCE, interventions=(HeadScaled(Head("cross", 0, 0), 1.0), beyond))
    )
    assert translation.predicted_ids == baseline.predicted_ids
    assert translation.log_probabilities == pytest.approx(baseline.log_probabilities, abs=1e-5)


# --- the model stays as it is ---------------------------------------------------------------------


def state_of(translator: Translator) -> dict[str, Any]:
    """Every attribute of every module, tensors by their bits."""
    state: dict[str, Any] = {}
    for name, module in translator.model.named_modules():
        for attribute, value in vars(module).items():
            if isinstance(value, dict):
                for key, inner in value.items():
                    state[f"{name}.{attribute}.{key}"] = _frozen(inner)
            else:
                state[f"{name}.{attribute}"] = _frozen(value)
    return state


def _frozen(value: object) -> Any:
    return value.detach().clone().numpy().tobytes() if isinstance(value, torch.Tensor) else value


def everything_at_once(translator: Translator, output: Output) -> Experiment:
    heads = all_heads(translator)
    baseline = translator.run(Experiment(SENTENCE))
    interventions: list[Intervention] = [HeadScaled(head, 0.5) for head in heads[::3]]
    interventions += [AttentionRow(head, 0, (1.0,)) for head in heads if head.kind == "decoder"]
    interventions += [
        AttentionRow(head, 0, _even(baseline)) for head in heads if head.kind != "decoder"
    ]
    interventions.append(SourceWordReplaced(1, "hund"))
    if not isinstance(output, GivenTarget):
        interventions.append(ForcedToken(1, other_token(translator, baseline, 1)))
    return Experiment(SENTENCE, output, tuple(interventions))


class Stop:
    """Says so at the `last`-th question."""

    def __init__(self, last: int) -> None:
        self.num_questions, self.last = 0, last

    def __call__(self) -> bool:
        self.num_questions += 1
        return self.num_questions >= self.last


@pytest.mark.heavy
@pytest.mark.parametrize("output", OUTPUTS, ids=["greedy", "beam", "given"])
def test_the_model_is_the_same_after_a_run(words: Translator, output: Output) -> None:
    experiment = everything_at_once(words, output)
    before = state_of(words)
    changed = words.run(experiment)
    assert state_of(words) == before
    baseline = words.run(experiment.baseline)
    assert changed.log_probability != pytest.approx(baseline.log_probability, abs=1e-3)
    *_, last = words.run_many([experiment, experiment.baseline, experiment])
    assert state_of(words) == before
    assert last.log_probabilities == pytest.approx(changed.log_probabilities, abs=1e-5)


@pytest.mark.parametrize("output", [Greedy(), Beam(3)], ids=["greedy", "beam"])
def test_the_model_is_the_same_after_a_run_that_was_stopped_in_its_middle(
    words: Translator, output: Output
) -> None:
    experiment = everything_at_once(words, output)
    before = state_of(words)
    for last in (1, 2):
        stop = Stop(last)
        with pytest.raises(TranslationStoppedError):
            words.run(experiment, should_stop=stop)
        assert stop.num_questions == last
        with pytest.raises(TranslationStoppedError):
            list(words.run_many([experiment] * 3, should_stop=Stop(last)))
    assert state_of(words) == before
    with pytest.raises(ExperimentError):
        words.run(experiment.with_interventions(ForcedToken(1, "no such token")))
    assert state_of(words) == before


def test_the_model_is_the_same_while_results_are_taken_one_by_one(words: Translator) -> None:
    before = state_of(words)
    results = words.run_many([everything_at_once(words, Greedy())] * 3)
    next(results)
    assert state_of(words) == before


# --- what is refused ------------------------------------------------------------------------------

REFUSED: list[tuple[str, Intervention, type[AugenmerkError], str]] = [
    (
        "no such token",
        ForcedToken(2, "zebra"),
        ExperimentError,
        "'zebra' forced at step 2 is not in .* vocabulary",
    ),
    (
        "padding",
        ForcedToken(0, "<pad>"),
        ExperimentError,
        "'<pad>' forced at step 0 can never be chosen",
    ),
    (
        "start",
        ForcedToken(0, "<sos>"),
        ExperimentError,
        "'<sos>' forced at step 0 can never be chosen",
    ),
    (
        "too few weights",
        AttentionRow(Head("cross", 0, 0), 1, (0.5, 0.5)),
        ExperimentError,
        (
            "Row 1 of cross layer 0 head 0 has 2 weights. It needs one for each of the 11 source "
            "tokens"
        ),
    ),
    (
        "too many weights",
        AttentionRow(Head("encoder", 1, 3), 0, (1.0,) * 12),
        ExperimentError,
        (
            "Row 0 of encoder layer 1 head 3 has 12 weights. It needs one for each of the 11 source "
            "tokens"
        ),
    ),
    (
        "too few weights of a row that does not exist",
        AttentionRow(Head("encoder", 0, 0), 500, (1.0,) * 12),
        ExperimentError,
        "12 weights",
    ),
    ("no such word", SourceWordRemoved(9), ExperimentError, "Source word 9 .* is 9\\."),
    (
        "no such word either",
        SourceWordReplaced(50, "see"),
        ExperimentError,
        "Source word 50 .* is 9\\.",
    ),
    ("no such head", HeadScaled(Head("cross", 0, 4)), AnalysisError, "no cross layer 0 head 4"),
    (
        "no such layer",
        AttentionRow(Head("decoder", 3, 0), 0, (1.0,)),
        AnalysisError,
        "no decoder layer 3 head 0",
    ),
    (
        "too long",
        SourceWordReplaced(0, "see " * 20),
        ExperimentError,
        "30 tokens, and the model has room for 22",
    ),
]


@pytest.mark.parametrize(
    ("output", "intervention", "error", "message"),
    [
        pytest.param(output, *case[1:], id=f"{case[0]}, {type(output).__name__}")
        for case in REFUSED
        for output in OUTPUTS
        # refused as it is written down
        if not (isinstance(case[1], ForcedToken) and isinstance(output, GivenTarget))
    ],
)
def test_what_does_not_fit_is_refused_with_a_message(
    words: Translator,
    output: Output,
    intervention: Intervention,
    error: type[AugenmerkError],
    message: str,
) -> None:
    experiment = Experiment(SENTENCE, output, (intervention,))
    with pytest.raises(error, match=message):
        words.run(experiment)
    with pytest.raises(error, match=message):
        list(words.run_many([Experiment(SENTENCE, output), experiment]))


def test_weights_fit_the_sentence_as_edited(words: Translator) -> None:
    row = AttentionRow(Head("cross", 0, 0), 0, (1.0,) * 10)
    with pytest.raises(ExperimentError, match=r"10 weights\. It needs one for each of the 11"):
        words.run(Experiment(SENTENCE, interventions=(row,)))
    words.run(Experiment(SENTENCE, interventions=(row, SourceWordRemoved(0))))


def test_the_unknown_token_can_be_forced_where_it_can_be_chosen(
    words: Translator, subwords: Translator
) -> None:
    force = Experiment(SENTENCE, interventions=(ForcedToken(0, "<unk>"),))
    assert words.run(force).predicted_ids[0] == 0
    with pytest.raises(ExperimentError, match="'<unk>' forced at step 0 can never be chosen"):
        subwords.run(force)


@pytest.mark.parametrize(
    "name", [WORDS, "words, annotated pre-norm, source not wrapped", "copy task"]
)
def test_removing_every_word_is_refused(name: str) -> None:
    translator = make_translator(name)
    text = "3 4 5" if translator.rules.end_id is None else "ein mann steht"
    everything = tuple(SourceWordRemoved(index) for index in range(3))
    with pytest.raises(ExperimentError, match="too little of"):
        translator.run(Experiment(text, interventions=everything))


def test_a_replacement_without_a_symbol_of_the_model_is_refused() -> None:
    translator = make_translator("copy task")
    for text in ("zebra", "<unk>"):
        with pytest.raises(
            ExperimentError, match=f"Nothing in the replacement '{text}' of source word 1"
        ):
            translator.run(Experiment("3 4 5", interventions=(SourceWordReplaced(1, text),)))


def test_an_empty_sentence_is_refused(words: Translator) -> None:
    with pytest.raises(TextError, match="nothing to translate"):
        words.run(Experiment(" "))


# --- run_many -------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.heavy
def test_run_many_reads_its_experiments_as_they_are_needed(words: Translator) -> None:
    """Of experiments without end, the first results come all the same, and in order."""
    taken: list[Experiment] = []

    def endless() -> Iterator[Experiment]:
        generator = random.Random(3)
        while True:
            taken.append(random_experiment(generator, ValuesForModel(words)))
            yield taken[-1]

    results = words.run_many(endless(), need_maps=False)
    first_results = list(itertools.islice(results, EXPERIMENT_WINDOW + 3))
    assert [translation.experiment for translation in first_results] == taken[
        : EXPERIMENT_WINDOW + 3
    ]
    assert len(taken) <= 2 * EXPERIMENT_WINDOW


def test_run_many_of_nothing_is_nothing(words: Translator) -> None:
    assert list(words.run_many([])) == []


@pytest.mark.heavy
@pytest.mark.parametrize("output", OUTPUTS, ids=["greedy", "beam", "given"])
@pytest.mark.slow
def test_one_sentence_under_many_interventions_at_once(words: Translator, output: Output) -> None:
    """The encoder reads the sentence once for all that agree on it; none of them sees the changes
    of another.
    """
    baseline = words.run(Experiment(SENTENCE, output))
    heads = all_heads(words)
    rows = [AttentionRow(head, 1, _even(baseline)) for head in heads if head.kind != "decoder"]
    interventions = [*map(HeadScaled, heads[::5]), *rows[::4]]
    experiments = [Experiment(SENTENCE, output, (intervention,)) for intervention in interventions]
    cases = [
        Case(experiment, naive_run(words, experiment))
        for experiment in (Experiment(SENTENCE, output), *experiments)
    ]
    check_results(
        words, cases, list(words.run_many(case.experiment for case in cases)), has_maps=True
    )
