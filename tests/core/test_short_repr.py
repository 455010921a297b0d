"""What the console shows of public values."""

from dataclasses import is_dataclass

import pytest

import augenmerk as api
from tests.core.translators import ENGLISH, GERMAN
from tests.results import public_results

LONG = " ".join(["Ein Mann\nsteht \x1b[31m“auf” einer Leiter."] * 30)


@pytest.mark.heavy
def test_the_repr_of_every_public_value_is_one_line(subword_translator: api.Translator) -> None:
    results = public_results(subword_translator)
    public = {name: getattr(api, name) for name in api.__all__}
    assert {name for name, kind in public.items() if is_dataclass(kind)} - set(results) == {
        "ImportedModel"  # needs files of another project
    }
    too_long = {
        name: text
        for name, value in results.items()
        if len(text := repr(value)) > 200 or len(text.splitlines()) > 1
    }
    assert too_long == {}


@pytest.mark.parametrize(
    "value",
    [
        api.Experiment(LONG, api.GivenTarget(LONG)),
        api.AttentionRow(api.Head("cross", 0, 0), 0, (0.125,) * 8 + (0.0,) * 400),
        api.WordPair(LONG, LONG, "dog", "cat"),
        api.SourceWordReplaced(0, LONG),
        api.ForcedToken(0, LONG),
        api.Alternative(LONG, -1.0),
    ],
)
def test_long_texts_and_lists_are_cut(value: object) -> None:
    text = repr(value)
    assert len(text) <= 200
    assert text.isprintable()
    assert text.startswith(type(value).__name__)


def test_the_repr_of_a_small_value_is_the_code_that_makes_it() -> None:
    head = api.HeadScaled(api.Head("cross", 2, 4))
    names = {name: getattr(api, name) for name in api.__all__}
    for value in (api.Experiment("Ein Hund.", interventions=(head,)), api.Selection(), api.Beam(4)):
        assert eval(repr(value), names.copy()) == value


def test_a_translation_with_many_changes_fits(subword_translator: api.Translator) -> None:
    off = tuple(api.HeadScaled(api.Head("cross", layer, 0)) for layer in range(3)) + tuple(
        api.HeadScaled(api.Head("decoder", layer, 1)) for layer in range(3)
    )
    translation = subword_translator.run(
        api.Experiment(GERMAN[0], api.GivenTarget(ENGLISH[0]), off)
    )
    assert len(repr(translation)) <= 200
