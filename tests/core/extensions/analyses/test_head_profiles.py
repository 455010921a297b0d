"""Statistics of heads over a sample of sentences."""

from pathlib import Path

import numpy as np
import pytest

from augenmerk.core.errors import AnalysisError
from augenmerk.core.extensions.analyses.head_profiles import (
    BATCH_SIZE,
    SampleProfiler,
    profile_heads,
)
from augenmerk.core.maps.roles import HeadProfiler
from augenmerk.core.model.heads import ATTENTION_KINDS, Head
from augenmerk.core.translation.experiment import Experiment, GivenTarget, Greedy, HeadScaled
from augenmerk.core.translation.result import TranslationStoppedError
from augenmerk.core.translation.translator import Translator
from tests.core.translators import read_given

SOURCES = ["Ein Mann steht.", "", "Ein Mann auf einer Leiter."]


@pytest.fixture(scope="module")
def translator(untrained_checkpoint: Path) -> Translator:
    return Translator.load(untrained_checkpoint, "cpu")


@pytest.mark.parametrize("targets", [None, ["A man stands.", "Nothing.", "A man on a ladder."]])
def test_a_sample_is_read_and_refused_sentences_are_counted(
    translator: Translator, targets
) -> None:
    told: list[int] = []
    profiles = profile_heads(translator, SOURCES, targets, on_progress=told.append)
    assert (profiles.num_sentences, profiles.num_skipped) == (2, 1)
    assert told == [3]
    by_hand = HeadProfiler()
    for index in (0, 2):
        pair = (
            translator.translate(SOURCES[index])
            if targets is None
            else read_given(translator, SOURCES[index], targets[index])
        )
        by_hand.add(pair)
    np.testing.assert_allclose(profiles.cross.entropy, by_hand.result().cross.entropy, rtol=1e-5)


@pytest.mark.parametrize("is_given", [False, True])
def test_reading_a_sample_can_be_stopped(translator: Translator, is_given: bool) -> None:
    sources, told = ["Ein Mann.", "", *["Ein Mann steht."] * 38], list[int]()
    targets = ["A man."] * 40 if is_given else None
    profiler = SampleProfiler()
    with pytest.raises(TranslationStoppedError):
        profiler.read(
            translator,
            sources,
            targets,
            on_progress=told.append,
            should_stop=lambda: len(told) == 2,
        )
    assert (profiler.num_sentences, profiler.num_skipped) == (2 * BATCH_SIZE - 1, 1)
    profiler.read(translator, sources, targets, on_progress=told.append)
    assert told == [BATCH_SIZE, 2 * BATCH_SIZE, 40]
    whole = profile_heads(translator, sources, targets)
    assert (
        (profiler.num_sentences, profiler.num_skipped)
        == (whole.num_sentences, whole.num_skipped)
        == (39, 1)
    )
    np.testing.assert_allclose(profiler.result().cross.entropy, whole.cross.entropy, rtol=1e-5)


@pytest.mark.parametrize("targets", [None, ["A man stands.", "Nothing.", "A man on a ladder."]])
def test_a_sample_is_read_under_the_scalings_that_are_given(
    translator: Translator, targets
) -> None:
    changes = (HeadScaled(Head("encoder", 0, 1)), HeadScaled(Head("decoder", 0, 0), -2.0))
    profiles = profile_heads(translator, SOURCES, targets, changes=changes)
    by_hand = HeadProfiler()
    for index in (0, 2):
        output = Greedy() if targets is None else GivenTarget(targets[index])
        by_hand.add(translator.run(Experiment(SOURCES[index], output, changes)))
    for kind in ATTENTION_KINDS:
        ours, expected = profiles.of_kind(kind), by_hand.result().of_kind(kind)
        np.testing.assert_allclose(ours.entropy, expected.entropy, rtol=1e-4)
        np.testing.assert_allclose(ours.distances, expected.distances, atol=1e-5)
    plain = profile_heads(translator, SOURCES, targets)
    assert np.abs(profiles.encoder.confidence[1] - plain.encoder.confidence[1]).max() > 1e-5
    np.testing.assert_allclose(profiles.encoder.entropy[0], plain.encoder.entropy[0], rtol=1e-5)


def test_a_sample_of_nothing_is_refused(translator: Translator) -> None:
    with pytest.raises(AnalysisError, match="1 were refused"):
        profile_heads(translator, [""])
    with pytest.raises(AnalysisError, match="1 sentence and 0 translations"):
        profile_heads(translator, ["Ein Mann."], [])
