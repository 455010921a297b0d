"""The script of a page computes the translations of the product, for models of every shape."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from augenmerk.core.counting import display_text
from augenmerk.core.device import DeviceChoice
from augenmerk.core.errors import AugenmerkError, ExperimentError
from augenmerk.core.extensions.page.packing import pack_model
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.compilation import forced_word
from augenmerk.core.translation.experiment import (
    AttentionRow,
    Beam,
    Experiment,
    ForcedToken,
    GivenTarget,
    Greedy,
    HeadScaled,
    Output,
    SourceWordRemoved,
    SourceWordReplaced,
)
from augenmerk.core.translation.experiment_file import experiment_to_json, part_to_json
from augenmerk.core.translation.translator import Translator
from tests.builders import first_quick
from tests.core.extensions.page.node import TOLERANCE, Page, check_same
from tests.core.translation.random_experiments import ValuesForModel, random_experiment
from tests.core.translation.random_models import MODELS, make_translator

pytestmark = [pytest.mark.subprocess, pytest.mark.heavy]

WORDS, SUBWORDS = "words, post-norm, learned positions", "subwords, pre-norm, all tied"
NUM_EXPERIMENTS, NUM_EXPERIMENTS_IN_FULL = 16, 200


class GreedyValues(ValuesForModel):
    """Values of experiments that a page computes."""

    def output(self, generator: random.Random) -> Output:
        return Greedy()


def random_ones(translator: Translator, name: str, count: int) -> list[Experiment]:
    generator, values = random.Random(f"{name} page"), GreedyValues(translator)
    return [random_experiment(generator, values) for _ in range(count)]


@pytest.mark.parametrize("name", first_quick(list(MODELS)))
def test_experiments_with_a_model_of_every_shape_are_those_of_the_product(
    name: str, tmp_path: Path
) -> None:
    translator = make_translator(name)
    Page(translator, tmp_path).check(random_ones(translator, name, NUM_EXPERIMENTS))


@pytest.mark.slow
def test_rounded_weights_give_the_results_of_python_with_the_same_weights(tmp_path: Path) -> None:
    checkpoint = make_translator(SUBWORDS).checkpoint
    assert not all(
        torch.equal(value, value.half().float()) for value in checkpoint.weights.values()
    )
    halves = {name: value.half().float() for name, value in checkpoint.weights.items()}
    translator = Translator(replace(checkpoint, weights=halves), DeviceChoice("cpu", "requested"))
    page = Page(translator, tmp_path, pack_model(checkpoint, "rounded"))
    page.check(random_ones(translator, SUBWORDS, NUM_EXPERIMENTS))


@pytest.mark.slow
@pytest.mark.parametrize("name", list(MODELS))
def test_many_experiments_with_a_model_of_every_shape_are_those_of_the_product(
    name: str, tmp_path: Path
) -> None:
    translator = make_translator(name)
    Page(translator, tmp_path).check(
        random_ones(translator, f"{name} many", NUM_EXPERIMENTS_IN_FULL)
    )


@pytest.mark.parametrize("activation", ["gelu", "gelu-tanh"])
def test_other_activations_are_those_of_the_product(activation: str, tmp_path: Path) -> None:
    checkpoint = make_translator(SUBWORDS).checkpoint
    run = replace(checkpoint.run, model=checkpoint.run.model.replace(activation=activation))
    translator = Translator(replace(checkpoint, run=run), DeviceChoice("cpu", "requested"))
    Page(translator, tmp_path).check(random_ones(translator, activation, 4))


@pytest.mark.slow
def test_the_learned_copy_task_is_copied(copy_translator: Translator, tmp_path: Path) -> None:
    page = Page(copy_translator, tmp_path)
    page.check([Experiment("1 7 3 9 4 2"), Experiment("1 5 5 x 8 0 2")])
    (answer,) = page.run([Experiment("1 7 3 9 4 2")])
    assert answer["value"]["text"] == "1 7 3 9 4 2"


def test_an_experiment_is_compared_with_its_original_under_the_changes(tmp_path: Path) -> None:
    translator = make_translator(SUBWORDS)
    experiment = Experiment(
        "drei hund rennt am see", interventions=(HeadScaled(Head("cross", 0, 1), -1.0),)
    )
    experiment = experiment.with_interventions(
        ForcedToken(1, translator.checkpoint.codecs.target.vocabulary.tokens[9])
    )
    expected = translator.compare(experiment)
    assert expected.changed.predicted_ids != expected.original.predicted_ids
    (answer,) = Page(translator, tmp_path).answers([("compare", experiment_to_json(experiment))])
    check_same(expected.changed, answer["value"]["changed"])
    check_same(expected.original, answer["value"]["original"])
    scores = answer["value"]["originalLogProbabilities"]
    assert scores == pytest.approx(expected.original_log_probabilities, abs=TOLERANCE)


@pytest.mark.parametrize("model", [WORDS, SUBWORDS])
def test_what_the_product_refuses_is_refused_with_the_same_message(
    model: str, tmp_path: Path
) -> None:
    translator = make_translator(model)
    text = "der hund rennt"
    experiments = [
        Experiment(" \n"),
        Experiment("hund " * 1_001),
        Experiment("h" * 1_001),
        Experiment("ab " * 7_000),
        Experiment(text, interventions=(SourceWordRemoved(7),)),
        Experiment(text, interventions=(SourceWordReplaced(3, "see"),)),
        Experiment(text, interventions=tuple(SourceWordRemoved(index) for index in range(3))),
        Experiment(text, interventions=(SourceWordReplaced(0, "hund " * 30),)),
        Experiment(text, interventions=(ForcedToken(2, "nowhere"),)),
        Experiment(text, interventions=(ForcedToken(2, "<pad>"),)),
        Experiment(text, interventions=(AttentionRow(Head("cross", 0, 1), 2, (1.0, 1.0)),)),
    ]
    check_refused(translator, experiments, tmp_path)


def test_symbols_that_the_copy_task_lacks_are_refused_with_the_same_message(tmp_path: Path) -> None:
    unreadable = Experiment("1 2 3", interventions=(SourceWordReplaced(1, "x"),))
    check_refused(
        make_translator("copy task"), [Experiment("x y"), Experiment("0 3"), unreadable], tmp_path
    )


def check_refused(translator: Translator, experiments: list[Experiment], folder: Path) -> None:
    for experiment, answer in zip(
        experiments, Page(translator, folder).run(experiments), strict=True
    ):
        with pytest.raises(AugenmerkError) as refused:
            translator.run(experiment)
        assert answer.get("error") == display_text(refused.value)


def test_what_a_page_cannot_compute_is_refused(tmp_path: Path) -> None:
    translator = make_translator(SUBWORDS)
    beam, given = Experiment("der hund", Beam(4)), Experiment("der hund", GivenTarget("a dog"))
    for answer in Page(translator, tmp_path).run([beam, given]):
        assert answer["error"] == "This page only computes greedy translations."


@pytest.mark.parametrize("model", [WORDS, SUBWORDS])
def test_a_typed_word_is_forced_by_the_same_tokens(model: str, tmp_path: Path) -> None:
    translator = make_translator(model)
    typed = [
        "dog",
        "the dog",
        "▁d",
        "·o",
        "<eos>",
        "Dog",
        "qqq",
        "stands",
        "xxé",
        "<sos>",
        "·",
        "<unk>",
    ]
    places = [(step, text) for step in (0, 3) for text in typed]
    expected = [forced_or_error(translator, *typed) for typed in places]
    answers = Page(translator, tmp_path).answers([("force", list(typed)) for typed in places])
    assert [answer.get("error", answer.get("value")) for answer in answers] == expected
    assert any(isinstance(outcome, str) for outcome in expected)


def forced_or_error(translator: Translator, step: int, text: str) -> object:
    try:
        return [
            part_to_json(token)
            for token in forced_word(step, text, translator.checkpoint.codecs.target)
        ]
    except ExperimentError as error:
        return str(error)
