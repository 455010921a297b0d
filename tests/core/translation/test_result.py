import subprocess
import sys

import numpy as np
import pytest

from augenmerk.core.errors import AnalysisError
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import (
    Beam,
    Experiment,
    ForcedToken,
    GivenTarget,
    HeadScaled,
)
from augenmerk.core.translation.result import (
    Alternative,
    AttentionMaps,
    Translation,
    Word,
    read_only,
)


@pytest.mark.subprocess
@pytest.mark.parametrize(
    "module", ["augenmerk.core.translation.result", "augenmerk.core.translation.typed_text"]
)
def test_results_and_sources_are_imported_without_torch(module: str) -> None:
    """A window holds these before torch is imported; spaCy would bring torch with it."""
    code = (
        f"import sys, {module}; print(sorted({{'torch', 'spacy', 'torchtext'}} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_probabilities_add_up_and_maps_go_by_kind() -> None:
    maps = AttentionMaps(*(np.full((1, 1, 3, 3), value, dtype=np.float32) for value in (1, 2, 3)))
    translation = made_up(Experiment("x y"), maps)
    assert translation.maps is maps
    assert translation.log_probability == -7.0
    assert translation.word_log_probability(translation.target_words[0]) == -3.0
    assert [maps.of_kind(kind)[0, 0, 0, 0] for kind in ("encoder", "decoder", "cross")] == [1, 2, 3]


def test_words_by_step_are_whole_words_and_tokens_outside_words() -> None:
    assert made_up(Experiment("x y")).words_by_step == {0: "ab", 2: "<eos>"}


def made_up(experiment: Experiment, maps: AttentionMaps | None = None) -> Translation:
    return Translation(
        experiment=experiment,
        text="A b",
        source_tokens=("x", "y"),
        read_tokens=("<sos>", "a", "·b"),
        predicted_tokens=("a", "·b", "<eos>"),
        log_probabilities=(-1.0, -2.0, -4.0),
        alternatives=((Alternative("a", -1.0),),) * 3,
        source_words=(),
        target_words=(Word("ab", 0, 2),),
        unknown_source_positions=(),
        ignored_text="",
        notes=(),
        attention=maps,
        seconds=0.1,
    )


def test_a_translation_knows_its_sentence_and_whether_it_was_given() -> None:
    assert made_up(Experiment("x y")).source_text == "x y"
    assert not made_up(Experiment("x y", Beam(3))).is_given
    assert made_up(Experiment("x y", GivenTarget("A b"))).is_given


def test_maps_that_were_not_asked_for_are_refused_with_a_way_to_get_them() -> None:
    with pytest.raises(
        AnalysisError, match=r"The translation of 'x y' was computed without attention maps\. .*run"
    ):
        _ = made_up(Experiment("x y")).maps


def test_reprs_are_one_short_line() -> None:
    maps = AttentionMaps(*(np.zeros((2, 3, 40, 50), dtype=np.float32),) * 3)
    assert (
        repr(maps)
        == "AttentionMaps(encoder [2, 3, 40, 50], decoder [2, 3, 40, 50], cross [2, 3, 40, 50])"
    )
    changed = Experiment(
        "x y", interventions=(HeadScaled(Head("cross", 1, 4)), ForcedToken(1, "b"))
    )
    assert repr(made_up(changed, maps)) == (
        "Translation('x y' → 'A b', 2 × 3 tokens, log-probability -7.000, cross 1·4 off, step 1: b)"
    )
    plain = repr(made_up(Experiment("word " * 500), maps))
    assert len(plain) < 150
    assert "\n" not in plain


def test_arrays_that_are_read_only_cannot_be_written_to() -> None:
    array = read_only(np.zeros(3, dtype=np.float32))
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1
