"""What an experiment means for one model: ids, checked against its vocabularies, and what lies
beyond the end."""

import pytest

from augenmerk.core.errors import AnalysisError, ExperimentError, TextError
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.compilation import compile_general, forced_word, max_steps
from augenmerk.core.translation.experiment import (
    AttentionRow,
    Experiment,
    ForcedToken,
    GivenTarget,
    HeadScaled,
    SourceWordRemoved,
    SourceWordReplaced,
)
from augenmerk.core.translation.translator import Translator

SENTENCE = "Ein Arbeiter schläft vor dem Haus."


@pytest.fixture(params=["word", "subword"])
def translator(request: pytest.FixtureRequest) -> Translator:
    return request.getfixturevalue(f"{request.param}_translator")


def test_an_experiment_becomes_ids_factors_and_rows(translator: Translator) -> None:
    source = translator.compile(Experiment(SENTENCE)).source
    vocabulary = translator.checkpoint.codecs.target.vocabulary
    token = vocabulary.tokens[-1]
    num_left = len(source.ids) - (source.words[0].end - source.words[0].start)
    row = AttentionRow(Head("cross", 2, 1), 0, (1.0,) * num_left)
    experiment = Experiment(
        SENTENCE,
        interventions=(
            ForcedToken(3, token),
            HeadScaled(Head("encoder", 0, 1), -0.5),
            row,
            SourceWordRemoved(0),
        ),
    )
    compiled = translator.compile(experiment)
    assert compiled.experiment is experiment
    assert compiled.source.ids == (*source.ids[:1], *source.ids[source.words[0].end :])
    assert dict(compiled.experiment.changes.factors) == {Head("encoder", 0, 1): -0.5}
    assert dict(compiled.experiment.changes.rows) == {(Head("cross", 2, 1), 0): row.weights}
    assert dict(compiled.forced) == {3: vocabulary.ids[token]}
    assert compiled.given is None
    assert compiled.max_steps == max_steps(
        len(compiled.source.ids), translator.run_config, translator.rules
    )
    assert translator.compile(Experiment(SENTENCE, GivenTarget("A dog."))).given is not None


def test_what_lies_beyond_the_end_is_told(translator: Translator) -> None:
    source = translator.compile(Experiment(SENTENCE)).source
    num_source = len(source.ids)
    weights = (1.0,) * num_source
    token = translator.checkpoint.codecs.target.vocabulary.tokens[-1]
    inside = (
        AttentionRow(Head("encoder", 0, 0), num_source - 1, weights),
        AttentionRow(Head("decoder", 0, 0), 2, (1.0,) * 3),
        AttentionRow(Head("cross", 0, 0), 2, weights),
        ForcedToken(2, token),
    )
    beyond = (
        AttentionRow(Head("encoder", 0, 0), num_source, weights),
        AttentionRow(Head("decoder", 0, 0), 3, (1.0,) * 4),
        AttentionRow(Head("cross", 0, 0), 3, weights),
        ForcedToken(3, token),
    )
    never = (SourceWordReplaced(1, "Arbeiter"), HeadScaled(Head("cross", 0, 0)))
    compiled = translator.compile(Experiment(SENTENCE, interventions=(*inside, *beyond, *never)))
    assert compiled.unreached(3) == beyond
    assert compiled.unreached(4) == beyond[:1]


def test_without_changes_there_are_no_interventions(translator: Translator) -> None:
    edited = Experiment(SENTENCE, interventions=(SourceWordRemoved(0), ForcedToken(0, "<eos>")))
    assert edited.changes.is_empty
    with pytest.raises(AnalysisError, match="no cross layer 8 head 0"):
        compile_general(translator.model, (HeadScaled(Head("cross", 8, 0)),), 1)


def test_what_does_not_fit_is_refused_before_anything_is_computed(translator: Translator) -> None:
    with pytest.raises(TextError, match="empty"):
        translator.compile(Experiment(" "))
    with pytest.raises(TextError, match="no word of the given translation"):
        translator.compile(Experiment(SENTENCE, GivenTarget(" ")))
    with pytest.raises(ExperimentError, match="Source word 7 cannot be changed"):
        translator.compile(Experiment(SENTENCE, interventions=(SourceWordRemoved(7),)))
    with pytest.raises(AnalysisError, match="no decoder layer 0 head 4"):
        translator.compile(
            Experiment(SENTENCE, interventions=(AttentionRow(Head("decoder", 0, 4), 0, (1.0,)),))
        )


def spelled(translator: Translator, forced: tuple[ForcedToken, ...]) -> list[str]:
    codec = translator.checkpoint.codecs.target
    return [
        word.text for word in codec.decode([codec.vocabulary.ids[token.token] for token in forced])
    ]


@pytest.mark.parametrize("text", ["man", "football", "ladder"])
def test_a_word_is_forced_by_its_pieces_one_step_after_the_other(
    translator: Translator, text: str
) -> None:
    codec = translator.checkpoint.codecs.target
    forced = forced_word(2, text, codec)
    assert [token.step for token in forced] == list(range(2, 2 + len(forced)))
    assert spelled(translator, forced) == [text]
    translation = translator.run(Experiment(SENTENCE, interventions=forced))
    assert translation.predicted_ids[2 : 2 + len(forced)] == tuple(
        codec.vocabulary.ids[token.token] for token in forced
    )


def test_a_word_of_several_pieces_takes_several_steps(subword_translator: Translator) -> None:
    codec = subword_translator.checkpoint.codecs.target
    long = next(
        word
        for word in ("football", "ladder", "worker", "street")
        if len(forced_word(0, word, codec)) > 1
    )
    forced = forced_word(0, long, codec)
    assert [codec.vocabulary.ids[token.token] for token in forced] == list(
        codec.encode_text(long, begins_sentence=False)[0].ids
    )
    translation = subword_translator.run(
        Experiment(SENTENCE, interventions=(*forced, ForcedToken(len(forced), "<eos>")))
    )
    assert [word.text for word in translation.target_words] == [long]


def test_several_words_are_forced_in_their_order(translator: Translator) -> None:
    forced = forced_word(1, "a dog", translator.checkpoint.codecs.target)
    assert spelled(translator, forced) == ["a", "dog"]


def test_exact_tokens_are_forced_as_they_stand(translator: Translator) -> None:
    codec = translator.checkpoint.codecs.target
    assert forced_word(4, "<eos>", codec) == (ForcedToken(4, "<eos>"),)
    token = (
        next(
            candidate
            for candidate in codec.vocabulary.tokens
            if candidate.startswith("▁") and len(candidate) > 2
        )
        if (codec.subwords)
        else "dog"
    )
    assert forced_word(0, token, codec) == (ForcedToken(0, token),)


def test_a_piece_without_the_mark_of_a_word_is_read_as_a_word(
    subword_translator: Translator,
) -> None:
    """“er” goes on with a word in the vocabulary; someone who types it means a word of its own."""
    codec = subword_translator.checkpoint.codecs.target
    piece = next(token for token in codec.vocabulary.tokens if token.isalpha() and len(token) > 1)
    forced = forced_word(0, piece, codec)
    assert forced[0].token.startswith("▁")
    assert spelled(subword_translator, forced) == [piece]


@pytest.mark.parametrize("text", ["", "  ", "🙂", "日本語"])
def test_words_that_the_vocabulary_has_not_are_refused(translator: Translator, text: str) -> None:
    with pytest.raises(
        ExperimentError, match=f"The vocabulary of this model has no '{text.strip()}'"
    ):
        forced_word(0, text, translator.checkpoint.codecs.target)


def test_unknown_whole_words_are_refused(word_translator: Translator) -> None:
    with pytest.raises(ExperimentError, match="has no 'zebra'"):
        forced_word(0, "zebra", word_translator.checkpoint.codecs.target)
