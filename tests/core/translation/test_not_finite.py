"""Weights that are finite but huge: every question gets one error, which names the first layer that
overflows."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from augenmerk.core.checkpoint.file import save_checkpoint
from augenmerk.core.cli.main import main
from augenmerk.core.errors import NonFiniteError
from augenmerk.core.extensions.analyses.alti import contributions_of
from augenmerk.core.extensions.analyses.beam_tree import beam_tree
from augenmerk.core.extensions.analyses.importance import head_importance
from augenmerk.core.extensions.analyses.logit_attribution import logit_parts
from augenmerk.core.extensions.analyses.logit_lens import logit_lens
from augenmerk.core.extensions.analyses.occlusion import occlude_source_words
from augenmerk.core.extensions.analyses.query_key import query_key_parts
from augenmerk.core.extensions.training.evaluation import reference_loss
from augenmerk.core.maps.capture import trace_translation
from augenmerk.core.maps.measures import Measure, measure_maps
from augenmerk.core.maps.model_pass import Pass
from augenmerk.core.model.heads import ATTENTION_KINDS, Head
from augenmerk.core.translation.experiment import Beam, Experiment, GivenTarget, SoftmaxTemperature
from augenmerk.core.translation.result import Translation
from augenmerk.core.translation.translator import Translator
from tests.builders import first_quick
from tests.core.translation.random_models import MODELS, make_translator

MARIAN = "words, post-norm, Marian's shape"
Question = Callable[[Translator, Translation, str, str], object]
QUESTIONS: dict[str, Question] = {
    "greedy": lambda model, known, text, target: model.run(Experiment(text)),
    "beam": lambda model, known, text, target: model.run(Experiment(text, Beam(3))),
    "given target": lambda model, known, text, target: model.run(
        Experiment(text, GivenTarget(target))
    ),
    "many": lambda model, known, text, target: list(
        model.run_many([Experiment(text)] * 2, need_maps=False)
    ),
    "corpus": lambda model, known, text, target: model.translate_corpus([text, text]),
    "corpus, beam": lambda model, known, text, target: model.translate_corpus([text, text], beam=2),
    "score": lambda model, known, text, target: model.score(known, Experiment(text)),
    "loss": lambda model, known, text, target: reference_loss(model, [text], [target]),
    "search": lambda model, known, text, target: beam_tree(model, text, Beam(2)),
    "trace": lambda model, known, text, target: trace_translation(model, known),
    "lens": lambda model, known, text, target: logit_lens(model, known),
    "logit": lambda model, known, text, target: logit_parts(model, known),
    "score parts": lambda model, known, text, target: query_key_parts(
        model, known, Head("cross", 0, 0), 0
    ),
    "shares": lambda model, known, text, target: contributions_of(model, known),
    "occlusion": lambda model, known, text, target: occlude_source_words(model, known),
    "importance": lambda model, known, text, target: head_importance(model, [text], [target]),
}


def with_huge(translator: Translator, *names: str, factor: float = 1e30) -> Translator:
    """The same model with the weights whose names contain one of `names` multiplied by `factor`;
    all are finite.
    """
    weights = {
        name: value.detach() * (factor if any(part in name for part in names) else 1)
        for name, value in translator.checkpoint.weights.items()
    }
    assert all(value.isfinite().all() for value in weights.values())
    return Translator(replace(translator.checkpoint, weights=weights), translator.device)


def pair(translator: Translator) -> tuple[str, str]:
    is_copy = translator.run_config.is_copy_task
    return ("1 5 3", "1 5 3") if is_copy else ("ein mann steht", "a man stands")


@cache
def healthy_and_known(name: str) -> tuple[Translator, Translation]:
    translator = make_translator(name)
    return translator, translator.run(Experiment(pair(translator)[0]))


@cache
def broken_in(stack: str, name: str) -> Translator:
    weights = (f"{stack}_layers.0.feed_forward.{part}.w" for part in ("expand", "contract"))
    return with_huge(healthy_and_known(name)[0], *weights)


@pytest.mark.parametrize("question", first_quick(QUESTIONS))
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_the_error_names_the_layer(stack: str, name: str, question: str) -> None:
    healthy, known = healthy_and_known(name)
    with pytest.raises(
        NonFiniteError, match=f"first in {stack} layer 0, feed-forward network. Its weights"
    ):
        QUESTIONS[question](broken_in(stack, name), known, *pair(healthy))


HUGE = list(
    product((1e10, 1e20, 1e30, 1e37), ("", "in_proj", "norm", "tokens", "output", "contract"))
)


@pytest.mark.timeout(60)
def test_a_search_ends_although_passes_over_one_draft_disagree() -> None:
    """Where logits are NaN, drafts and passes chose two tokens by turns, for ever."""
    healthy, known = healthy_and_known("words, pre-norm, JoeyNMT's shape")
    with pytest.raises(NonFiniteError, match="infinite or undefined"):
        QUESTIONS["greedy"](with_huge(healthy, "contract", factor=1e20), known, *pair(healthy))


@pytest.mark.heavy
@pytest.mark.parametrize("name", first_quick(MODELS))
def test_whatever_weights_are_huge_results_are_finite_or_refused(name: str) -> None:
    """A norm can bring huge states back. The models share the factors for each part."""
    healthy, known = healthy_and_known(name)
    text, target = pair(healthy)
    for factor, part in HUGE[list(MODELS).index(name) :: len(MODELS)]:
        broken = with_huge(healthy, part, factor=factor)
        for ask in QUESTIONS.values():
            try:
                results = ask(broken, known, text, target)
            except NonFiniteError:
                continue
            for result in results if isinstance(results, list) else [results]:
                if isinstance(result, Translation):
                    assert np.isfinite(result.log_probabilities).all()
                    assert np.isfinite(result.entropies).all()
                    if result.attention is not None:
                        assert all(
                            np.isfinite(result.maps.of_kind(kind)).all() for kind in ATTENTION_KINDS
                        )


def test_a_single_token_that_is_huge_is_enough() -> None:
    """Only what is read with it is not finite."""
    healthy = make_translator(MARIAN)
    weights = {name: value.detach().clone() for name, value in healthy.checkpoint.weights.items()}
    vocabulary = healthy.checkpoint.codecs.target.vocabulary
    weights["target_embedding.tokens.weight"][vocabulary.ids["grass"]] = 3e38
    broken = Translator(replace(healthy.checkpoint, weights=weights), healthy.device)
    assert math.isfinite(broken.run(Experiment("ein mann", GivenTarget("a man"))).log_probability)
    with pytest.raises(NonFiniteError, match="first in decoder layer 0"):
        broken.run(Experiment("ein mann", GivenTarget("a grass man")))


def test_changes_to_heads_can_overflow_too() -> None:
    healthy = make_translator(MARIAN)
    text, _ = pair(healthy)
    weights = {name: value.detach().clone() for name, value in healthy.checkpoint.weights.items()}
    width = healthy.run_config.model.width
    # queries and keys
    weights["decoder_layers.1.cross_attention.in_proj_weight"][: 2 * width] *= 1e18
    fragile = Translator(replace(healthy.checkpoint, weights=weights), healthy.device)
    assert math.isfinite(fragile.run(Experiment(text)).log_probability)
    sharper = Experiment(text, interventions=(SoftmaxTemperature(Head("cross", 1, 0), 0.01),))
    with pytest.raises(NonFiniteError, match="first in decoder layer 1, cross-attention"):
        fragile.run(sharper)


@pytest.mark.parametrize("measure", ["norm", "norm-layer"])
def test_lengths_that_overflow_where_logits_do_not_name_their_layer(measure: Measure) -> None:
    healthy = make_translator(MARIAN)
    huge = Pass.of(healthy, healthy.run(Experiment(pair(healthy)[0])))
    trace = huge.trace
    values = trace.encoder.values.copy()
    values[1] *= 1e37
    vars(huge)["trace"] = replace(trace, encoder=replace(trace.encoder, values=values))
    with pytest.raises(NonFiniteError, match="first in encoder layer 1, self-attention"):
        measure_maps(huge, measure, "encoder")
    assert np.isfinite(measure_maps(huge, measure, "cross")).all()


@pytest.fixture(scope="module")
def file_of_a_broken_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("broken") / "broken.safetensors"
    broken = with_huge(make_translator(MARIAN), "encoder_layers.0.feed_forward.")
    save_checkpoint(broken.checkpoint, path)
    return path


@pytest.mark.heavy
@pytest.mark.parametrize(
    "command",
    [
        ["translate", "ein mann steht"],
        ["translate", "ein mann steht", "--beam", "4"],
        ["translate", "ein mann steht", "--json"],
        ["translate", "ein mann steht", "--target", "a man"],
        ["analyze", "ein mann steht"],
        ["analyze", "ein mann steht", "--source-share", "--without-words"],
        ["align", "--text", "ein mann steht", "--target", "a man stands"],
        ["align"],
        ["evaluate", "--source", "some.de", "--reference", "some.en"],
        ["evaluate", "--source", "some.de", "--reference", "some.en", "--beam", "2"],
    ],
    ids=" ".join,
)
def test_every_command_ends_with_one_message(
    command: list[str],
    file_of_a_broken_model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for language, line in (("de", "ein mann steht"), ("en", "a man stands")):
        (tmp_path / f"some.{language}").write_text(f"{line}\n" * 3)
    assert main([*command, "--checkpoint", str(file_of_a_broken_model), "--device", "cpu"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1, told.err
    assert "first in encoder layer 1, feed-forward network" in told.err
