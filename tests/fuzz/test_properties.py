"""Whatever is typed or written into a file: a result, or an error of the product.

Texts and values by Hypothesis.
"""

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augenmerk.core.config import RunConfig
from augenmerk.core.errors import AugenmerkError, ConfigError, ExperimentFileError, TextError
from augenmerk.core.extensions.run_settings.presets import PRESETS
from augenmerk.core.extensions.run_settings.toml_file import from_toml, to_toml
from augenmerk.core.model.heads import Head, Network
from augenmerk.core.strict_json import JsonError, parse
from augenmerk.core.text.tokenizers import SpacyTokenizer
from augenmerk.core.translation.experiment import (
    INTERVENTION_TYPES,
    AttentionRow,
    Beam,
    CausalMaskLifted,
    Experiment,
    FeedForwardScaled,
    ForcedToken,
    GivenTarget,
    HeadScaled,
    Intervention,
    SoftmaxTemperature,
    SourceWordRemoved,
    SourceWordReplaced,
)
from augenmerk.core.translation.experiment_file import (
    ModelReference,
    SavedExperiment,
    from_bytes,
    part_to_json,
    to_bytes,
)
from augenmerk.core.translation.translator import Translator

pytestmark = pytest.mark.slow

WORDS = st.sampled_from(
    "Ein Mann steht auf einer Leiter . , ( ) z.B. \u00a0 <eos> ▁ · 💥 e\u0301 \ud800 \x00 \u202e".split(
        " "
    )
)
TEXTS = st.one_of(
    st.text(max_size=200),
    st.lists(WORDS, max_size=30).map(" ".join),
    st.lists(WORDS, max_size=60).map("".join),
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20))
JSON = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
)
PARTS = {
    part: getattr(PRESETS["notebook"], part).to_dict() for part in ("model", "data", "training")
}


@st.composite
def runs(draw: st.DrawFn) -> dict[str, Any]:
    """The settings of a run, a few of them changed to values of any kind."""
    values: dict[str, Any] = {part: dict(settings) for part, settings in PARTS.items()}
    for _ in range(draw(st.integers(1, 4))):
        part = draw(st.sampled_from(sorted(PARTS)))
        name = draw(st.sampled_from(sorted(PARTS[part])))
        near = st.integers(0, 8) if isinstance(PARTS[part][name], int) else st.floats(0, 1)
        values[part][name] = draw(st.one_of(near, SCALARS))
    return values


@pytest.mark.heavy
@pytest.mark.parametrize("kind", ["word", "subword"])
@given(text=TEXTS, given_text=st.one_of(st.none(), TEXTS), word=TEXTS, step=st.integers(0, 3))
def test_any_text_is_translated_or_refused(
    request: pytest.FixtureRequest,
    kind: str,
    text: str,
    given_text: str | None,
    word: str,
    step: int,
) -> None:
    translator: Translator = request.getfixturevalue(f"{kind}_translator")
    output = Beam(2) if given_text is None else GivenTarget(given_text)
    for experiment in (
        lambda: Experiment(text),
        lambda: Experiment(text, output),
        lambda: Experiment(text, interventions=(SourceWordReplaced(0, word),)),
        lambda: Experiment(text, interventions=(ForcedToken(step, word),)),
    ):
        try:
            translation = translator.run(experiment())
        except AugenmerkError:
            continue
        translation.text.encode("utf-8")
        assert all(math.isfinite(value) for value in translation.log_probabilities)
        assert len(translation.source_tokens) == translation.maps.encoder.shape[-1]


@pytest.mark.heavy
@given(text=TEXTS)
def test_tokens_are_pieces_of_the_line_in_their_order(text: str) -> None:
    end = 0
    try:
        tokens = SpacyTokenizer("de")(text.encode("utf-8", "replace").decode())
    except TextError:
        return
    line = text.encode("utf-8", "replace").decode()
    for token in tokens:
        assert line[token.start : token.end] == token.text
        assert token.start >= end
        end = token.end


def _check_length(error: Exception) -> None:
    """A message is to be read."""
    assert len(str(error)) < 1_000


@pytest.mark.heavy
@given(values=runs())
def test_any_settings_are_refused_or_survive_the_way_through_toml(values: dict[str, Any]) -> None:
    try:
        run = RunConfig.from_dict(values)
    except ConfigError as error:
        _check_length(error)
        return
    assert from_toml(to_toml(run)) == run


@pytest.mark.heavy
@given(values=JSON)
def test_whatever_stands_in_place_of_settings_is_refused_or_read(values: Any) -> None:
    for value in (values, {"model": values}, {"training": values, "preset": values}):
        try:
            RunConfig.from_dict(value)
        except ConfigError:
            continue


@given(
    text=st.one_of(
        st.text(max_size=300), st.text(alphabet="[]{}=\"'#\n.0123456789eE-:TZabc", max_size=300)
    )
)
@pytest.mark.heavy
def test_any_text_is_settings_or_refused(text: str) -> None:
    try:
        from_toml(text)
    except ConfigError:
        return


@given(data=st.one_of(st.binary(max_size=200), JSON.map(lambda value: json.dumps(value).encode())))
@pytest.mark.heavy
def test_any_bytes_are_strict_json_or_refused(data: bytes) -> None:
    for allow in (True, False):
        try:
            parse(data, max_depth=3, max_containers=5, allow_not_finite=allow)
        except JsonError as error:
            _check_length(error)


@pytest.mark.heavy
@given(
    values=JSON,
    where=st.sampled_from(
        ("experiment", "view", "model", "output", "interventions", "source_text")
    ),
)
def test_any_value_in_an_experiment_file_is_refused_or_read(values: Any, where: str) -> None:
    saved = SavedExperiment(
        Experiment("Ein Mann."), ModelReference("model", "0" * 64), {"layer": 1}
    )
    whole = json.loads(to_bytes(saved))
    (whole if where in whole else whole["experiment"])[where] = values
    try:
        assert to_bytes(from_bytes(json.dumps(whole).encode(), "x.augenmerk"))
    except ExperimentFileError:
        return


HEAD = Head("cross", 1, 0)
INTERVENTIONS = (
    SourceWordRemoved(0),
    SourceWordReplaced(1, "Hund"),
    HeadScaled(HEAD, 0.5),
    FeedForwardScaled(Network("decoder", 1), 0.5),
    SoftmaxTemperature(HEAD, 2.0),
    AttentionRow(HEAD, 0, (0.5, 0.5)),
    AttentionRow(Head("decoder", 1, 0), 1, (0.5, 0.5)),
    CausalMaskLifted(),
    ForcedToken(2, "dog"),
)
PART_FIELDS = {
    "head": ("head.kind", "head.layer", "head.head"),
    "network": ("network.side", "network.layer"),
}
FIELDS = [
    (intervention, path)
    for intervention in INTERVENTIONS
    for name in part_to_json(intervention)
    for path in (name, *PART_FIELDS.get(name, ()))
]
BARELY = st.sampled_from(
    [
        "",
        " ",
        "\0",
        "encoder",
        "decoder",
        "forced_token",
        [],
        [[]],
        [0],
        [1],
        {},
        -1,
        0,
        1,
        1e9,
        1e-9,
    ]
)


def test_every_type_of_intervention_is_among_those_that_are_damaged() -> None:
    assert {type(intervention) for intervention in INTERVENTIONS} == set(INTERVENTION_TYPES)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("intervention", "path"),
    FIELDS,
    ids=[f"{type(intervention).__name__} {path}" for intervention, path in FIELDS],
)
@settings(max_examples=settings.default.max_examples // 3)  # for each of many fields
@given(value=st.one_of(BARELY, JSON))
def test_any_value_in_any_field_of_an_intervention_is_refused_with_its_path_or_read(
    intervention: Intervention, path: str, value: Any
) -> None:
    output = GivenTarget("A man.") if isinstance(intervention, CausalMaskLifted) else Beam(2)
    experiment = Experiment("Ein Mann.", output, (intervention,))
    whole = json.loads(to_bytes(SavedExperiment(experiment, ModelReference("model", "0" * 64))))
    container = whole["experiment"]["interventions"][0]
    *before, last = path.split(".")
    for name in before:
        container = container[name]
    container[last] = value
    try:
        assert to_bytes(from_bytes(json.dumps(whole).encode(), "x.augenmerk"))
    except ExperimentFileError as error:
        cause = error.__cause__
    else:
        return
    assert isinstance(cause, JsonError), "the reader of this field tells what is wrong with it"


@pytest.mark.heavy
@given(
    text=TEXTS,
    name=st.text(max_size=40),
    view=st.dictionaries(st.text(max_size=8), SCALARS, max_size=3),
)
def test_an_experiment_comes_back_from_its_file_or_is_not_written(
    text: str, name: str, view: dict[str, Any]
) -> None:
    saved = SavedExperiment(Experiment(text), ModelReference(name, "0" * 64), view)
    try:
        data = to_bytes(saved)
    except ExperimentFileError:
        return
    assert from_bytes(data, "x.augenmerk") == saved
