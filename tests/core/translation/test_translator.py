import itertools
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from augenmerk.core.checkpoint.file import save_checkpoint
from augenmerk.core.device import DeviceChoice
from augenmerk.core.errors import CheckpointError, ConfigError, DeviceError, TextError
from augenmerk.core.extensions.analyses.alti import contributions_of
from augenmerk.core.inference.compiled import CachedState
from augenmerk.core.maps.capture import trace_translation
from augenmerk.core.model.heads import Head
from augenmerk.core.model.intervention_tensors import compile_interventions
from augenmerk.core.translation.experiment import (
    AttentionRow,
    Experiment,
    ForcedToken,
    GivenTarget,
    HeadScaled,
    Intervention,
    SourceWordRemoved,
    SourceWordReplaced,
)
from augenmerk.core.translation.result import Translation, TranslationStoppedError
from augenmerk.core.translation.running import (
    CORPUS_BATCH,
    EXPERIMENT_BATCH,
    NUM_ALTERNATIVES,
    Hypothesis,
    Runner,
)
from augenmerk.core.translation.translator import Translator
from tests.builders import first_quick
from tests.core.translators import GERMAN, MAX_POSITIONS

SENTENCES = [
    "Ein Mann schläft im Gras.",
    "Zwei 🙂 Hunde\nlaufen!",
    "Ein 日本語 Arbeiter wartet.",
    "Мужчина رجل",
    "Ein Fußballspieler steht auf der Straße neben einem blauen Auto, ein Hund läuft vor dem Haus, "
    * 3,
]
every_sentence = pytest.mark.parametrize(
    "text", SENTENCES, ids=["plain", "emoji", "han", "other scripts", "long"]
)


@pytest.fixture(params=["word", "subword"])
def translator(request: pytest.FixtureRequest) -> Translator:
    return request.getfixturevalue(f"{request.param}_translator")


def test_its_repr_is_a_line_with_model_and_device(word_translator: Translator) -> None:
    name = word_translator.name
    assert repr(word_translator) == f"Translator({name!r}, device='cpu')"


def ids_of(translator: Translator, translation: Translation) -> tuple[list[int], list[int]]:
    """What encoder and decoder read, found from labels alone."""
    codecs = translator.checkpoint.codecs

    def by_label(codec) -> dict[str, int]:
        return {codec.label(index): index for index in range(len(codec.vocabulary))}

    source, target = by_label(codecs.source), by_label(codecs.target)
    read = [target[label] for label in translation.read_tokens]
    unknown = codecs.source.vocabulary.unknown_id
    return [source.get(label, unknown) for label in translation.source_tokens], read


@every_sentence
def test_lengths_labels_and_ranges_agree(translator: Translator, text: str) -> None:
    translation = translator.translate(text)
    num_source, num_steps = len(translation.source_tokens), len(translation.predicted_tokens)
    assert translation.source_text == text
    assert len(translation.read_tokens) == num_steps == len(translation.log_probabilities)
    assert len(translation.alternatives) == num_steps
    assert translation.read_tokens == ("<sos>", *translation.predicted_tokens[:-1])
    assert (translation.source_tokens[0], translation.source_tokens[-1]) == ("<sos>", "<eos>")
    assert translation.maps.encoder.shape == (2, 4, num_source, num_source)
    assert translation.maps.decoder.shape == (3, 4, num_steps, num_steps)
    assert translation.maps.cross.shape == (3, 4, num_steps, num_source)
    for kind in ("encoder", "decoder", "cross"):
        maps = translation.maps.of_kind(kind)
        assert maps.dtype == "float32"
        assert maps.sum(axis=-1) == pytest.approx(1, abs=1e-5)
    assert not torch.tensor(translation.maps.decoder).triu(1).any()
    for words, last in (
        (translation.source_words, num_source),
        (translation.target_words, num_steps),
    ):
        assert all(0 <= word.start < word.end <= last and word.text for word in words)
        assert all(left.end <= right.start for left, right in itertools.pairwise(words))
    for word in translation.target_words:
        pieces = translation.predicted_tokens[word.start : word.end]
        assert "".join(pieces).replace("·", "").replace("▁", "") == word.text
    assert all(
        0 < unknown_source_position < num_source - 1
        for unknown_source_position in translation.unknown_source_positions
    )
    assert translation.seconds > 0


@every_sentence
def test_alternatives_are_sorted_and_led_by_the_token_that_was_chosen(
    translator: Translator, text: str
) -> None:
    translation = translator.translate(text)
    steps = zip(
        translation.predicted_tokens,
        translation.log_probabilities,
        translation.alternatives,
        strict=True,
    )
    for token, log_probability, alternatives in steps:
        values = [alternative.log_probability for alternative in alternatives]
        assert (
            len(alternatives)
            == len({alternative.token for alternative in alternatives})
            == NUM_ALTERNATIVES
        )
        assert values == sorted(values, reverse=True)
        assert (alternatives[0].token, alternatives[0].log_probability) == (token, log_probability)
        assert sum(math.exp(value) for value in values) <= 1 + 1e-5


@every_sentence
def test_log_probabilities_are_those_of_the_whole_vocabulary(
    translator: Translator, text: str
) -> None:
    """Computed by a softmax written out, from a decoder that is run anew on each growing prefix."""
    translation = translator.translate(text)
    source, read = ids_of(translator, translation)
    chosen = [*read[1:], None]
    assert all(value <= 0 for value in translation.log_probabilities)
    with torch.inference_mode():
        for step, value in enumerate(translation.log_probabilities[:-1]):
            logits = (
                translator.model(torch.tensor([source]), torch.tensor([read[: step + 1]]))
                .logits[0, -1]
                .double()
            )
            weights = [math.exp(float(logit - logits.max())) for logit in logits]
            assert value == pytest.approx(math.log(weights[chosen[step]] / sum(weights)), abs=1e-4)
    assert translation.log_probability == pytest.approx(sum(translation.log_probabilities))
    for word in translation.target_words:
        expected = sum(translation.log_probabilities[word.start : word.end])
        assert translation.word_log_probability(word) == pytest.approx(expected)


@every_sentence
def test_maps_are_those_of_reading_one_token_more_at_each_step(
    translator: Translator, text: str
) -> None:
    translation = translator.translate(text)
    source, read = ids_of(translator, translation)
    with torch.inference_mode():
        for step in range(len(read)):
            then = translator.model(
                torch.tensor([source]), torch.tensor([read[: step + 1]]), need_maps=True
            )
            decoder = torch.tensor(translation.maps.decoder[:, :, step, : step + 1])
            cross = torch.tensor(translation.maps.cross[:, :, step])
            torch.testing.assert_close(decoder, then.decoder_maps[0, :, :, step], rtol=0, atol=1e-5)
            torch.testing.assert_close(cross, then.cross_maps[0, :, :, step], rtol=0, atol=1e-5)
        torch.testing.assert_close(
            torch.tensor(translation.maps.encoder), then.encoder_maps[0], rtol=0, atol=1e-5
        )


@every_sentence
def test_a_subword_model_never_shows_the_unknown_token(
    subword_translator: Translator, text: str
) -> None:
    translation = subword_translator.translate(text)
    shown = [
        *translation.source_tokens,
        *translation.predicted_tokens,
        *(alternative.token for step in translation.alternatives for alternative in step),
        *(word.text for word in (*translation.source_words, *translation.target_words)),
    ]
    assert not any("<unk>" in token for token in shown)
    assert "<unk>" not in translation.text
    assert "<pad>" not in shown


def test_tokens_that_cannot_be_chosen_are_no_alternatives_even_if_probable(
    subword_translator: Translator,
) -> None:
    translator = Translator(subword_translator.checkpoint, DeviceChoice("cpu", "requested"))
    hidden = torch.zeros(32)
    translator.model.decoder_norm.register_forward_hook(
        lambda module, args, output: output * 0 + hidden
    )
    weight = translator.model.output.weight
    with torch.no_grad():
        # unknown, padding and start are now by far the most probable
        hidden.copy_(weight[:3].sum(dim=0) * 2)
        assert set((weight @ hidden).topk(3).indices.tolist()) == {0, 1, 2}
    translation = translator.translate("Ein Mann.")
    shown = {alternative.token for step in translation.alternatives for alternative in step}
    assert not shown & {"<unk>", "<pad>", "<sos>"}
    # of the whole distribution, not of what is left of it
    assert translation.log_probabilities[0] < math.log(0.5)


def test_unknown_words_and_breaks_come_with_notes(translator: Translator) -> None:
    translation = translator.translate("Zwei 🙂 Hunde\nschlafen.")
    assert translation.notes[0] == "Line breaks were read as spaces."
    assert "🙂" in translation.notes[1]
    assert any(
        "🙂" in translation.source_tokens[unknown_source_position]
        for unknown_source_position in translation.unknown_source_positions
    )


def test_a_text_too_long_is_translated_as_far_as_it_fits(translator: Translator) -> None:
    text = "Ein Mann schläft im Gras. " * 20
    translation = translator.translate(text)
    assert MAX_POSITIONS - 6 < len(translation.source_tokens) <= MAX_POSITIONS
    assert len(translation.predicted_tokens) <= MAX_POSITIONS
    assert translation.source_text == text
    assert text.endswith(translation.ignored_text)
    assert any(translation.ignored_text[:20] in note for note in translation.notes)


def forbidding(translator: Translator, *forbidden_ids: int) -> Translator:
    """The same model, which must not choose these tokens."""
    copy = Translator(translator.checkpoint, DeviceChoice("cpu", "requested"))
    copy.runner = Runner(copy.checkpoint, replace(copy.rules, forbidden_ids=forbidden_ids))
    return copy


def test_a_translation_without_end_is_cut_off_and_says_so(subword_translator: Translator) -> None:
    translation = forbidding(
        subword_translator, *subword_translator.rules.forbidden_ids, 3
    ).translate("Ein Mann.")
    assert len(translation.predicted_tokens) == min(
        MAX_POSITIONS, 2 * len(translation.source_tokens) + 20
    )
    assert translation.notes == (
        f"The translation was cut off after {MAX_POSITIONS} tokens: the model did not end it.",
    )


def test_an_empty_translation_says_that_it_is(subword_translator: Translator) -> None:
    num_tokens = len(subword_translator.checkpoint.codecs.target.vocabulary)
    others = (token for token in range(num_tokens) if token != subword_translator.rules.end_id)
    translation = forbidding(subword_translator, *others).translate("Ein Mann.")
    assert translation.text == ""
    assert translation.notes == (
        "The translation is empty: the model ended it before its first word.",
    )


@pytest.mark.parametrize("text", ["", "  \n", "Mann " * 10_000])
def test_what_cannot_be_translated_is_refused(translator: Translator, text: str) -> None:
    with pytest.raises(TextError, match=r"Enter a German sentence|sentence by sentence"):
        translator.translate(text)


def test_the_copy_task_repeats_what_it_reads(copy_translator: Translator) -> None:
    translation = copy_translator.translate("1 2 3 4 5 6 7 8 9 10")
    assert translation.text == "1 2 3 4 5 6 7 8 9 10"
    assert translation.read_tokens == tuple("123456789")
    assert translation.predicted_tokens == ("2", "3", "4", "5", "6", "7", "8", "9", "10")
    assert (translation.notes, translation.unknown_source_positions) == ((), ())
    assert translation.log_probability > math.log(0.3)
    assert copy_translator.history[-1].step == 240


@pytest.mark.parametrize("num_symbols", [2, 3, 7, 15])
def test_an_answer_to_the_copy_task_is_as_long_as_its_source(
    copy_translator: Translator, num_symbols: int
) -> None:
    translation = copy_translator.translate(" ".join("1" + "4" * (num_symbols - 1)))
    assert len(translation.text.split()) == num_symbols == len(translation.source_tokens)
    assert translation.maps.cross.shape[-2:] == (num_symbols - 1, num_symbols)


def test_the_copy_task_refuses_what_holds_no_symbol(copy_translator: Translator) -> None:
    with pytest.raises(TextError, match="Enter at least two numbers from 1 to 10"):
        copy_translator.translate("Ein Mann 🙂")


@pytest.mark.slow
@pytest.mark.heavy
def test_a_corpus_keeps_its_order_and_its_empty_lines(translator: Translator) -> None:
    texts = [*GERMAN[::9], "", *SENTENCES, "   ", GERMAN[5], "Mann " * 2_000]
    hypotheses = translator.translate_corpus(texts)
    assert len(hypotheses) == len(texts)
    for text, hypothesis in zip(texts, hypotheses, strict=True):
        if not text.strip() or len(text) > 5_000:
            assert hypothesis == Hypothesis("", ())
            continue
        alone = translator.translate(text)
        assert hypothesis == Hypothesis(alone.text, tuple(word.text for word in alone.target_words))


@every_sentence
def test_a_beam_of_one_is_the_greedy_translation(translator: Translator, text: str) -> None:
    greedy, beam = (
        translator.translate(text),
        translator.translate(text, beam=1, length_penalty=3.0),
    )
    assert beam.predicted_tokens == greedy.predicted_tokens
    assert beam.log_probabilities == greedy.log_probabilities


@every_sentence
def test_a_beam_translation_carries_its_own_maps_and_probabilities(
    translator: Translator, text: str
) -> None:
    translation = translator.translate(text, beam=3)
    assert translation.read_tokens == ("<sos>", *translation.predicted_tokens[:-1])
    source, read = (torch.tensor([ids]) for ids in (translation.source_ids, translation.read_ids))
    with torch.inference_mode():
        output = translator.model(source, read, need_maps=True)
    expected = output.logits[0].log_softmax(dim=-1)[range(read.size(1)), translation.predicted_ids]
    assert translation.log_probabilities == pytest.approx(expected.tolist(), abs=1e-4)
    assert translation.maps.cross == pytest.approx(output.cross_maps[0].numpy(), abs=1e-5)
    assert translation.maps.decoder == pytest.approx(output.decoder_maps[0].numpy(), abs=1e-5)
    assert len(translation.alternatives) == len(translation.predicted_tokens)


@pytest.mark.slow
def test_a_beam_search_finds_other_translations_one_by_one_and_in_a_corpus(
    subword_translator: Translator,
) -> None:
    texts = [*GERMAN[:6], "", "Zwei Hunde."]
    alone = [
        subword_translator.translate(text, beam=3, length_penalty=0.5).text if text else ""
        for text in texts
    ]
    together = subword_translator.translate_corpus(texts, beam=3, length_penalty=0.5)
    assert [hypothesis.text for hypothesis in together] == alone
    assert alone != [hypothesis.text for hypothesis in subword_translator.translate_corpus(texts)]
    assert len(subword_translator.translate_corpus(texts, beam=100)) == len(texts)


def test_a_beam_that_makes_no_sense_is_refused(subword_translator: Translator) -> None:
    with pytest.raises(ConfigError, match="The beam size is 0"):
        subword_translator.translate("Ein Mann.", beam=0)
    with pytest.raises(ConfigError, match="The length penalty is -1"):
        subword_translator.translate_corpus([], beam=2, length_penalty=-1)


@pytest.mark.heavy
def test_a_corpus_tells_how_far_it_is_and_stops_when_told(translator: Translator) -> None:
    texts = [*GERMAN, *GERMAN[:100], ""]
    told: list[int] = []
    translator.translate_corpus(texts, on_progress=told.append)
    assert told == [CORPUS_BATCH, 300]
    told.clear()
    hypotheses = translator.translate_corpus(
        texts, on_progress=told.append, should_stop=lambda: len(told) == 1
    )
    assert told == [CORPUS_BATCH]
    assert len(hypotheses) == 301
    assert sum(hypothesis.words != () for hypothesis in hypotheses) <= CORPUS_BATCH
    assert (
        translator.translate_corpus(texts, should_stop=lambda: True) == [Hypothesis("", ())] * 301
    )


@pytest.mark.parametrize("beam", [1, 2])
def test_a_corpus_stops_before_the_next_decoding_step(
    translator: Translator, monkeypatch: pytest.MonkeyPatch, beam: int
) -> None:
    """Not only between batches: one of 192 sentences takes many seconds."""
    num_steps = 0
    name = "read" if beam == 1 else "read_hypotheses"
    read = getattr(CachedState, name)

    def count(state: CachedState, *tokens: torch.Tensor) -> torch.Tensor:
        nonlocal num_steps
        num_steps += 1
        return read(state, *tokens)

    monkeypatch.setattr(CachedState, name, count)
    hypotheses = translator.translate_corpus(
        GERMAN[:3], beam=beam, should_stop=lambda: num_steps == 2
    )
    assert num_steps == 2
    assert hypotheses == [Hypothesis("", ())] * 3


def test_a_corpus_of_nothing_gives_nothing(translator: Translator) -> None:
    assert translator.translate_corpus([]) == []
    assert translator.translate_corpus(["", " "]) == [Hypothesis("", ())] * 2


@pytest.mark.heavy
def test_a_loaded_checkpoint_translates_as_before(translator: Translator, tmp_path: Path) -> None:
    path = tmp_path / "mine.v2.safetensors"
    save_checkpoint(translator.checkpoint, path)
    loaded = Translator.load(path, "cpu")
    assert (loaded.name, loaded.path, loaded.device) == (
        "mine.v2",
        path,
        DeviceChoice("cpu", "requested"),
    )
    assert loaded.num_parameters == translator.num_parameters
    assert loaded.run_config == translator.run_config
    for text in SENTENCES:
        before, after = translator.translate(text), loaded.translate(text)
        assert after.predicted_tokens == before.predicted_tokens
        assert after.log_probabilities == pytest.approx(before.log_probabilities, abs=1e-5)


def test_a_missing_file_and_a_missing_device_are_refused(
    untrained_checkpoint: Path, tmp_path: Path
) -> None:
    with pytest.raises(CheckpointError, match=r"no file .*gone\.safetensors"):
        Translator.load(tmp_path / "gone.safetensors", "cpu")
    with pytest.raises(DeviceError, match="cuda:99"):
        Translator.load(untrained_checkpoint, "cuda:99")


def test_a_missing_bundled_model_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(
        "augenmerk.core.translation.translator.bundled_model_path",
        lambda: tmp_path / "none.safetensors",
    )
    with pytest.raises(CheckpointError, match=r"bundled model is missing.*augenmerk train"):
        Translator.load()


@pytest.mark.heavy
def test_many_experiments_score_an_old_translation_each_under_its_own_changes(
    translator: Translator,
) -> None:
    plain = translator.translate(SENTENCES[0])
    rows = AttentionRow(Head("cross", 0, 1), 2, (1.0,) * len(plain.source_tokens))
    changes: list[tuple[Intervention, ...]] = [
        (),
        (HeadScaled(Head("encoder", 0, 1)),),
        (HeadScaled(Head("cross", 1, 2), -1.5), HeadScaled(Head("decoder", 0, 0), 2.0)),
        (rows,),
        (SourceWordRemoved(0), SourceWordReplaced(2, "der kleine Hund")),
        (ForcedToken(0, "<eos>"),),
    ] * 4
    experiments = [plain.experiment.with_interventions(*change) for change in changes]
    assert len(experiments) > EXPERIMENT_BATCH, "several batches"
    all_scores = translator.score_many(plain, experiments)
    assert len(all_scores) == len(experiments)
    for experiment, scores in zip(experiments, all_scores, strict=True):
        source = torch.tensor([translator.compile(experiment).source.ids])
        interventions = compile_interventions(translator.model, [experiment.changes])
        with torch.inference_mode():
            output = translator.model(
                source, torch.tensor([plain.read_ids]), interventions=interventions
            )
        expected = output.logits[0].log_softmax(-1)[
            range(len(plain.predicted_ids)), plain.predicted_ids
        ]
        assert scores == pytest.approx(expected.tolist(), abs=1e-4)
        assert scores == pytest.approx(translator.score(plain, experiment), abs=1e-4)
    assert all_scores[0] == pytest.approx(plain.log_probabilities, abs=1e-4)
    assert all_scores[5] == pytest.approx(plain.log_probabilities, abs=1e-4), (
        "forced tokens say nothing of an old target"
    )
    for changed in all_scores[1:5]:
        assert changed != pytest.approx(plain.log_probabilities, abs=2e-4)
    given = Experiment(SENTENCES[0], GivenTarget("A dog."))
    assert translator.score(plain, given) == pytest.approx(plain.log_probabilities, abs=1e-4)
    compiled = [translator.compile(experiment) for experiment in experiments[:2]]
    assert translator.score_many(plain, compiled) == [
        pytest.approx(scores, abs=1e-5) for scores in all_scores[:2]
    ]
    assert translator.score_many(plain, []) == []


def test_scoring_can_be_stopped_between_batches(translator: Translator) -> None:
    plain = translator.translate("Ein Mann.")
    asked: list[bool] = []

    def should_stop() -> bool:
        asked.append(len(asked) == 1)
        return asked[-1]

    with pytest.raises(TranslationStoppedError):
        translator.score_many(
            plain, [plain.experiment] * (2 * EXPERIMENT_BATCH), should_stop=should_stop
        )
    assert asked == [False, True]


@pytest.mark.heavy
def test_what_leaves_the_engine_cannot_be_written_to(translator: Translator) -> None:
    experiments = [Experiment(text) for text in SENTENCES[:2]]
    for translation in (translator.run(experiments[0]), *translator.run_many(experiments)):
        for kind in ("encoder", "decoder", "cross"):
            maps = translation.maps.of_kind(kind)
            assert not maps.flags.writeable
            with pytest.raises(ValueError, match="read-only"):
                maps[0, 0, 0, 0] = 1
    trace = trace_translation(translator, translation)
    assert not any(array.flags.writeable for array in vars(trace.cross).values())
    contributions = contributions_of(translator, translation)
    assert not any(
        array.flags.writeable
        for array in (contributions.source, contributions.prefix, contributions.encoder)
    )


@pytest.mark.heavy
def test_without_maps_the_results_are_the_same(translator: Translator) -> None:
    experiments = [Experiment(text) for text in SENTENCES]
    for alone, together in zip(
        map(translator.run, experiments),
        translator.run_many(experiments, need_maps=False),
        strict=True,
    ):
        assert together.attention is None
        assert together.predicted_ids == alone.predicted_ids
        assert together.log_probabilities == pytest.approx(alone.log_probabilities, abs=1e-4)


@pytest.mark.heavy
def test_an_experiment_is_compared_with_its_baseline(translator: Translator) -> None:
    plain = translator.translate(SENTENCES[0])
    # the first keeps all words: what it scored is then taken from its own pass
    for factor in (1.001, 0.0, -3.0):
        experiment = plain.experiment.with_interventions(
            *(HeadScaled(Head("cross", layer, head), factor) for layer in (0, 1) for head in (0, 2))
        )
        result = translator.compare(experiment, original=plain)
        assert result.original is plain
        assert result.changed.experiment == experiment
        assert result.original_log_probabilities == pytest.approx(
            translator.score(plain, experiment), abs=1e-4
        )
        if factor == 1.001:
            assert result.changed.predicted_ids == plain.predicted_ids


@pytest.mark.parametrize("is_seen_by_pytorch", [True, False], ids=["in place", "through data"])
def test_weights_that_are_changed_count_at_once(
    untrained_checkpoint: Path, is_seen_by_pytorch: bool
) -> None:
    """Though an encoding of the same sentence, and packed copies of the matrices, are kept."""
    translator, fresh = (Translator.load(untrained_checkpoint, "cpu") for _ in range(2))
    before = translator.translate("Ein Mann steht auf einer Leiter.")
    for changed in (translator, fresh):
        for name in (
            "self_attention.in_proj_weight",
            "self_attention.in_proj_bias",
            "feed_forward.expand.weight",
        ):
            weight = changed.model.encoder_layers[0].get_parameter(name)
            with torch.no_grad():
                (weight if is_seen_by_pytorch else weight.data).mul_(-3).add_(0.5)
    translation, expected = (
        model.translate("Ein Mann steht auf einer Leiter.") for model in (translator, fresh)
    )
    assert np.array_equal(translation.maps.encoder, expected.maps.encoder)
    assert not np.allclose(translation.maps.encoder, before.maps.encoder, atol=1e-3)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("path", "name", "value"),
    first_quick(
        [
            ("source_embedding", "scale", 8.0),
            ("encoder_layers.0.feed_forward", "activate", torch.nn.functional.gelu),
            ("source_embedding.tokens", "max_norm", 0.5),
            ("", "padding_id", 2),
        ]
    ),
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_changed_setting_takes_effect_on_the_sentence_translated_before(
    path: str, name: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    translator = Translator.load(device="cpu")
    before = translator.translate("Zwei Hunde spielen im Schnee.").log_probability
    setattr(translator.model.get_submodule(path), name, value)
    after = translator.translate("Zwei Hunde spielen im Schnee.").log_probability
    monkeypatch.setenv("AUGENMERK_PLAIN", "1")
    assert after == pytest.approx(
        translator.translate("Zwei Hunde spielen im Schnee.").log_probability, abs=1e-2
    )
    assert abs(after - before) > 0.02
