"""Python and JSON count layers, heads, steps and words from 0, window and terminal from 1; one
place decides.
"""

import copy
import json
import pickle  # noqa: TID251 — as a process hands a text or an error to another
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from augenmerk.core.cli.main import main
from augenmerk.core.counting import CountedText, Index, display_text
from augenmerk.core.errors import AnalysisError, AugenmerkError, ExperimentError, NonFiniteError
from augenmerk.core.extensions.analyses.logit_attribution import word_parts
from augenmerk.core.extensions.analyses.logit_lens import Depth, logit_lens
from augenmerk.core.extensions.analyses.occlusion import occlude_source_words
from augenmerk.core.extensions.analyses.pairs import WordPair, attribute_pairs
from augenmerk.core.extensions.analyses.parts import group_components
from augenmerk.core.extensions.analyses.query_key import query_key_parts
from augenmerk.core.model.heads import Head, HeadGroup, Network
from augenmerk.core.translation.experiment import (
    AttentionRow,
    Experiment,
    ForcedToken,
    GivenTarget,
    HeadScaled,
    Intervention,
    SoftmaxTemperature,
    SourceWordRemoved,
    SourceWordReplaced,
    scaling,
)
from augenmerk.core.translation.translator import Translator
from tests.core.translators import ENGLISH, GERMAN, read_given

HEAD, NETWORK = Head("cross", 1, 4), Network("decoder", 2)
TEXTS: Sequence[tuple[object, str, str]] = (
    (HEAD, "cross layer 1 head 4", "cross layer 2 head 5"),
    (HEAD.title, "Cross-attention · layer 1 · head 4", "Cross-attention · layer 2 · head 5"),
    (HEAD.short_name, "cross 1·4", "cross 2·5"),
    (NETWORK, "feed-forward network of decoder layer 2", "feed-forward network of decoder layer 3"),
    (
        NETWORK.title,
        "Feed-forward network of decoder layer 2",
        "Feed-forward network of decoder layer 3",
    ),
    (NETWORK.short_name, "feed-forward decoder 2", "feed-forward decoder 3"),
    (HeadGroup("cross", 1), "cross layer 1", "cross layer 2"),
    (Depth(1, "cross_attention"), "layer 1 cross-attention", "layer 2 cross-attention"),
    (scaling(HEAD), "cross 1·4 off", "cross 2·5 off"),
    (
        scaling(NETWORK, 0.5),
        "feed-forward decoder 2 scaled 0.5",
        "feed-forward decoder 3 scaled 0.5",
    ),
    (SoftmaxTemperature(HEAD, 2), "cross 1·4 temperature 2", "cross 2·5 temperature 2"),
    (AttentionRow(HEAD, 2, (1, 0)), "cross 1·4 row 2 set", "cross 2·5 row 3 set"),
    (ForcedToken(2, "▁dog"), "step 2: dog", "step 3: dog"),
    (SourceWordRemoved(0), "word 0 removed", "word 1 removed"),
    (SourceWordReplaced(0, "Katze"), "word 0 → Katze", "word 1 → Katze"),
    ("{no} template", "{no} template", "{no} template"),
)


@pytest.mark.parametrize(
    ("value", "in_python", "in_window"), TEXTS, ids=[text for _, text, _ in TEXTS]
)
def test_a_text_counts_from_0_in_python_and_from_1_in_the_window(
    value: object, in_python: str, in_window: str
) -> None:
    assert (str(value), f"{value}", display_text(value)) == (in_python, in_python, in_window)


def test_texts_keep_both_numbers_in_copies_and_are_plain_text_in_json() -> None:
    text = CountedText("layer {layer} of {{}}", layer=Index(1))
    for same in (text, copy.deepcopy(text), pickle.loads(pickle.dumps(text))):
        assert (same, json.dumps(same), display_text(same)) == (
            "layer 1 of {}",
            '"layer 1 of {}"',
            "layer 2 of {}",
        )
    assert json.dumps(Index(1)) == "1"
    assert display_text((Index(1), HEAD)) == "2, cross layer 2 head 5"


def test_an_error_has_what_it_is_about_and_counts_like_its_reader() -> None:
    error = AnalysisError("There is no {head} at step {step} of “{{}}”.", head=HEAD, step=Index(0))
    assert error.values == {"head": HEAD, "step": 0}
    assert repr(error) == "AnalysisError('There is no cross layer 1 head 4 at step 0 of “{}”.')"
    for same in (error, copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert str(same) == "There is no cross layer 1 head 4 at step 0 of “{}”."
        assert display_text(same) == "There is no cross layer 2 head 5 at step 1 of “{}”."
    wrapped = ExperimentError("{error} Correct it.", error=error)
    assert display_text(wrapped) == f"{display_text(error)} Correct it."
    assert str(AnalysisError("a {brace}")) == "a {brace}", "without values it is no template"
    assert "decoder layer 0, cross" in str(
        NonFiniteError("decoder layer {layer}, cross", layer=Index(0))
    )


Action = Callable[[Translator], object]
OTHER = GERMAN[0]


def _run(*interventions: Intervention, target: str = "") -> Action:
    def act(translator: Translator) -> object:
        output = {"output": GivenTarget(target)} if target else {}
        return translator.run(Experiment(OTHER, interventions=interventions, **output))  # type: ignore[arg-type]

    return act


def _on_translation(act: Callable[[Translator, object], object]) -> Action:
    return lambda translator: act(translator, read_given(translator, GERMAN[0], ENGLISH[0]))


REFUSALS: Sequence[tuple[str, Action, str, str]] = (
    ("a head", _run(HeadScaled(Head("cross", 8, 0))), "no cross layer 8 head 0.", "counted from 0"),
    (
        "a network",
        _run(scaling(Network("decoder", 8))),
        "network of decoder layer 8.",
        "counted from 0",
    ),
    (
        "a row",
        _run(AttentionRow(Head("encoder", 0, 0), 1, (1,))),
        "Row 1 of encoder layer 0 head 0 has",
        "",
    ),
    ("a token", _run(ForcedToken(2, "zebra")), "forced at step 2 is not", ""),
    (
        "a word",
        _run(SourceWordRemoved(30)),
        "Source word 30 cannot be changed (“word 30 removed”)",
        "from 0",
    ),
    ("a factor", lambda _: HeadScaled(HEAD, 1e9), "factor of cross layer 1 head 4 is", ""),
    (
        "two",
        lambda _: Experiment("a", interventions=(scaling(HEAD), scaling(HEAD, 2))),
        "“cross 1·4 off” and",
        "",
    ),
    (
        "a step",
        _on_translation(lambda model, translation: word_parts(model, translation, 99)),
        "no step 99",
        "steps 0 to",
    ),
    (
        "a place",
        _on_translation(
            lambda model, translation: occlude_source_words(model, translation, places=[0, 99])
        ),
        "99",
        "",
    ),
    (
        "a cell",
        _on_translation(lambda model, translation: query_key_parts(model, translation, HEAD, 0)),
        "layer 1 head 4",
        "from 0",
    ),
    (
        "a key",
        _on_translation(
            lambda model, translation: query_key_parts(
                model, translation, Head("decoder", 0, 0), 1
            ).of_cell(5)
        ),
        "Query 1 does not see key 5",
        "keys 0 to 1",
    ),
    (
        "a line",
        lambda model: attribute_pairs(model, [WordPair(OTHER, "a", "zebra", "dog", "x")]),
        "x: The v",
        "",
    ),
)


@pytest.mark.parametrize(
    ("act", "problem", "advice"), [row[1:] for row in REFUSALS], ids=[row[0] for row in REFUSALS]
)
def test_errors_in_python_count_from_0(
    word_translator: Translator, act: Action, problem: str, advice: str
) -> None:
    with pytest.raises(AugenmerkError) as caught:
        act(word_translator)
    assert problem in str(caught.value)
    assert advice in str(caught.value)


def test_the_repr_of_a_translation_counts_from_0(word_translator: Translator) -> None:
    translation = word_translator.run(
        Experiment(OTHER, interventions=(HeadScaled(Head("cross", 0, 1)),))
    )
    assert repr(translation).endswith(", cross 0·1 off)")


def test_groups_of_components_are_named_from_0_and_shown_from_1(
    subword_translator: Translator,
) -> None:
    translation = read_given(subword_translator, GERMAN[0], ENGLISH[0])
    cell = query_key_parts(subword_translator, translation, Head("cross", 2, 0), 1).of_cell(0)
    names = [group.name for group in group_components(cell.row.key_components)]
    assert names == [
        "token",
        "position",
        "heads 0",
        "feed-forward 0",
        "heads 1",
        "feed-forward 1",
        "biases",
    ]
    assert display_text(names[2]) == "heads 1"
    opened = [group.name for group in cell.table(opened_key="heads 1").columns]
    assert [name for name in opened if "·" in name] == [f"encoder 1·{head}" for head in range(4)]


def test_the_notes_on_changes_beyond_the_end_count_from_0_and_are_shown_from_1(
    word_translator: Translator,
) -> None:
    forced = ForcedToken(word_translator.run_config.model.max_positions, "dog")
    translation = word_translator.run(Experiment(OTHER, interventions=(forced,)))
    (note,) = translation.notes_on_unreached
    assert f"step {forced.step}: dog" in note
    assert f"step {forced.step + 1}: dog" in display_text(note)


def _model(translator: Translator, tmp_path: object) -> str:
    from augenmerk.core.checkpoint.file import save_checkpoint

    path = f"{tmp_path}/model.safetensors"
    save_checkpoint(translator.checkpoint, path)  # type: ignore[arg-type]
    return path


def test_the_terminal_counts_from_1(
    word_translator: Translator, tmp_path: object, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint = ["--checkpoint", _model(word_translator, tmp_path), "--device", "cpu"]
    assert main(["translate", OTHER, "--remove-word", "31", *checkpoint]) == 2
    problem = capsys.readouterr().err
    assert "Source word 31 cannot be changed (“word 31 removed”)" in problem
    assert "counted from 1" in problem
    assert main(["analyze", OTHER, "--query-key", "cross:1:1", "99", "1", *checkpoint]) == 2
    assert "no weight of query 99 on key 1: choose from queries 1 to" in capsys.readouterr().err


def test_json_counts_from_0(
    word_translator: Translator, tmp_path: object, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint = ["--checkpoint", _model(word_translator, tmp_path), "--device", "cpu"]
    row = ["--set-row", "cross:1:2:1=1,1,1,1,1,1,1,1,1", "--without-words"]
    assert (
        main(
            ["analyze", "Ein Mann steht auf einer Leiter.", "--parts", "--lens", *row, *checkpoint]
        )
        == 0
    )
    fields = json.loads(capsys.readouterr().out)
    assert fields["parts"]["components"][:4] == [
        "token",
        "position",
        "decoder layer 0 head 0",
        "decoder layer 0 head 1",
    ]
    assert fields["lens"]["depths"][1] == "layer 0 self-attention"
    assert fields["without_left_out"] == ["cross 0·1 row 0 set"]


def test_a_lens_names_its_depths_from_0(word_translator: Translator) -> None:
    lens = logit_lens(word_translator, read_given(word_translator, GERMAN[0], ENGLISH[0]))
    assert [str(depth) for depth in lens.depths[:3]] == [
        "embedding",
        "layer 0 self-attention",
        "layer 0 cross-attention",
    ]
    assert isinstance(lens.ranks, np.ndarray)
