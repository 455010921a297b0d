"""Leaving out or replacing a source word is translating, and scoring the old translation, with other ids."""

import numpy as np
import pytest
import torch

from core.analysis.probes import SourceProbes, changed_words
from core.analysis.probing import BATCH_SIZE, UNKNOWN, probe_source_words
from core.errors import AnalysisError
from core.model.interventions import all_heads
from core.translation.result import Translation
from core.translation.translator import Translator
from tests.core.translators import read_given

SENTENCE = "Ein Arbeiter schläft vor dem Haus."


def greedy_by_hand(translator: Translator, ids: list[int], limit: int) -> list[int]:
    """Decoded by whole passes, one after another."""
    target = [translator.rules.start_id]
    while len(target) <= limit and (len(target) == 1 or target[-1] != translator.rules.end_id):
        with torch.inference_mode():
            logits = translator.model(torch.tensor([ids]), torch.tensor([target])).logits[0, -1].clone()
            logits[list(translator.rules.forbidden_ids)] = float("-inf")
        target.append(int(logits.argmax()))
    return target[1:]


def scored_by_hand(translator: Translator, ids: list[int], old: Translation) -> list[float]:
    with torch.inference_mode():
        logits = translator.model(torch.tensor([ids]), torch.tensor([old.read_ids])).logits[0]
    return [float(row.log_softmax(-1)[token]) for row, token in zip(logits, old.predicted_ids, strict=True)]


@pytest.mark.parametrize("name", ["word", "subword"])
@pytest.mark.parametrize("replacement", [None, UNKNOWN, "Junge"])
def test_each_word_is_changed_alone(request: pytest.FixtureRequest, name: str, replacement: str | None) -> None:
    translator: Translator = request.getfixturevalue(f"{name}_translator")
    found = probe_source_words(translator, SENTENCE, replacement=replacement)
    old = found.translation
    assert old.predicted_ids == translator.translate(SENTENCE).predicted_ids
    assert [probe.word for probe in found.probes] == list(old.source_words)
    assert found.is_complete
    codec = translator.checkpoint.codecs.source
    put = {
        None: [],
        UNKNOWN: [codec.vocabulary.unknown_id],
        "Junge": [token for word in codec.encode_text("Junge") for token in word.ids],
    }[replacement]
    for probe in found.probes:
        ids = [*old.source_ids[: probe.word.start], *put, *old.source_ids[probe.word.end :]]
        expected = greedy_by_hand(translator, ids, translator.max_steps(len(ids)))
        assert probe.words == tuple(word.text for word in translator.checkpoint.codecs.target.decode(expected))
        assert probe.log_probabilities == pytest.approx(scored_by_hand(translator, ids, old), abs=1e-4)
        assert found.change_of(probe) == pytest.approx(sum(probe.log_probabilities) - old.log_probability)
        old_words = [word.text for word in old.target_words]
        assert (probe.gone, probe.new) == changed_words(old_words, probe.words)


def test_effects_are_losses_of_log_probability_word_by_word(subword_translator: Translator) -> None:
    found = probe_source_words(subword_translator, SENTENCE)
    old = found.translation
    assert found.effects.shape == (len(old.target_words) + 1, len(old.source_words))
    for column, probe in enumerate(found.probes):
        for row, word in enumerate(old.target_words):
            expected = sum(old.log_probabilities[word.start : word.end]) - sum(
                probe.log_probabilities[word.start : word.end]
            )
            assert found.effects[row, column] == pytest.approx(expected, abs=1e-4)
        assert found.effects[:, column].sum() == pytest.approx(-found.change_of(probe), abs=1e-3)


def test_replacing_a_word_by_itself_changes_nothing(word_translator: Translator) -> None:
    found = probe_source_words(word_translator, SENTENCE, replacement="Arbeiter", places=[1])
    assert [probe.place for probe in found.probes] == [1]
    assert found.probes[0].is_same
    assert found.change_of(found.probes[0]) == pytest.approx(0, abs=1e-4)


def test_a_symbol_that_is_left_out_is_left_out_of_the_copy(copy_translator: Translator) -> None:
    found = probe_source_words(copy_translator, "1 5 3 7 2 9", places=[3])
    assert "7" not in found.probes[0].text.split()
    assert [found.translation.target_words[place].text for place in found.probes[0].gone] == ["7"]
    assert found.effects[:, 0].argmax() == 2  # the words are those that are predicted: 5 3 7 2 9
    replaced = probe_source_words(copy_translator, "1 5 3 7 2 9", places=[3], replacement="8")
    assert replaced.probes[0].text == "1 5 3 8 2 9"


def test_a_given_pair_and_heads_that_are_off_are_respected(word_translator: Translator) -> None:
    off = all_heads(word_translator.model)[:3]
    given = read_given(word_translator, SENTENCE, "A dog sleeps.", off=off)
    found = probe_source_words(word_translator, SENTENCE, translation=given, off=off, places=[0])
    assert found.translation is given
    assert len(found.probes[0].log_probabilities) == len(given.predicted_ids)
    plain = probe_source_words(word_translator, SENTENCE, translation=given, places=[0])
    assert found.probes[0].log_probabilities != pytest.approx(plain.probes[0].log_probabilities, abs=1e-4)


def test_progress_is_told_and_what_is_done_is_kept_when_stopped(word_translator: Translator) -> None:
    text = SENTENCE.rstrip(".") + " hinter dem Zaun im Gras."
    told: list[tuple[int, int]] = []
    whole = probe_source_words(word_translator, text, on_progress=lambda *counts: told.append(counts))
    total = len(whole.translation.source_words)
    assert total > BATCH_SIZE
    assert told == [(0, total), (BATCH_SIZE, total), (total, total)]
    part = probe_source_words(
        word_translator, text, on_progress=lambda *counts: told.append(counts), should_stop=lambda: told[-1][0] > 0
    )
    assert told[-1] == (BATCH_SIZE, total)
    assert not part.is_complete
    assert len(part.probes) == BATCH_SIZE
    assert part.effects.shape == (len(part.translation.target_words) + 1, BATCH_SIZE)
    stopped = probe_source_words(word_translator, text, should_stop=lambda: True)
    assert isinstance(stopped, SourceProbes)
    assert stopped.effects.shape[1] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"places": [99]}, "source words"),
        ({"places": []}, "At least one"),
        ({"replacement": "  "}, "can be read by this model"),
        ({"replacement": "Haus " * 40}, "has room"),
    ],
)
def test_what_cannot_be_done_is_refused(word_translator: Translator, arguments: dict, message: str) -> None:
    with pytest.raises(AnalysisError, match=message):
        probe_source_words(word_translator, SENTENCE, **arguments)


def test_the_only_word_can_be_left_out_where_marks_remain(word_translator: Translator) -> None:
    found = probe_source_words(word_translator, "Hund")
    assert len(found.probes) == 1
    assert np.isfinite(found.effects).all()


def test_a_model_without_an_unknown_token_says_so(copy_translator: Translator) -> None:
    with pytest.raises(AnalysisError, match="has no <unk>"):
        probe_source_words(copy_translator, "1 5 3", replacement=UNKNOWN)


def test_changed_words_regard_order() -> None:
    assert changed_words("a man sleeps".split(), "a dog sleeps".split()) == ((1,), (1,))
    assert changed_words("a b".split(), "a b".split()) == ((), ())
    assert changed_words([], ["x"]) == ((), (0,))
