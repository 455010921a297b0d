"""Experiments in the terms of one model: ids instead of words, checked against its vocabularies."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..config import RunConfig
from ..counting import Index
from ..errors import ExperimentError
from ..model.intervention_tensors import compile_interventions
from ..model.interventions import Interventions
from ..model.transformer import Transformer
from ..short_repr import ShortRepr
from ..text.codec import CONTINUATION, CodecPair, TextCodec
from ..text.phrases import PHRASES, phrase
from ..text.subwords import WORD_MARK
from ..text.vocabulary import END
from .decoding import DecodingRules, ForcedIds
from .experiment import (
    MAX_INDEX,
    AttentionRow,
    Experiment,
    ForcedToken,
    General,
    GivenTarget,
    Intervention,
    writable,
)
from .notes import Note
from .typed_text import EncodedSource, EncodedTarget, edit_source, encode_target


@dataclass(frozen=True, eq=False)
class CompiledExperiment(ShortRepr):
    """An experiment in a model's own terms.

    Attributes:
        experiment: as requested.
        source: ready for the encoder, words removed and replaced.
        given: the target to be read; None if the model chooses one.
        forced: ids by decoding step.
        max_steps: the largest number of tokens to choose.
    """

    experiment: Experiment
    source: EncodedSource
    given: EncodedTarget | None
    forced: ForcedIds
    max_steps: int

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes for the reader on the source and a given target."""
        return self.source.notes if self.given is None else (*self.source.notes, *self.given.notes)

    def unreached(self, num_steps: int) -> tuple[Intervention, ...]:
        """The interventions beyond the end of `num_steps` decoding steps, which changed nothing."""
        return tuple(
            intervention
            for intervention in self.experiment.interventions
            if self._is_beyond(intervention, num_steps)
        )

    def _is_beyond(self, intervention: Intervention, num_steps: int) -> bool:
        match intervention:
            case ForcedToken(step):
                return step >= num_steps
            case AttentionRow(head, row):
                return row >= (len(self.source.ids) if head.kind == "encoder" else num_steps)
            case _:
                return False


def compile_experiment(
    experiment: Experiment,
    typed: EncodedSource,
    codecs: CodecPair,
    run_config: RunConfig,
    rules: DecodingRules,
) -> CompiledExperiment:
    """Checks an experiment against a model and expresses it in the model's ids.

    Heads and networks are checked later.

    Args:
        experiment: the experiment.
        typed: its source text, encoded.
        codecs, run_config, rules: of the model.

    Raises:
        TextError: there is nothing to translate, or far too much.
        ExperimentError: an intervention does not fit the sentence or the vocabularies.
    """
    source = edit_source(typed, experiment.source_edits, codecs.source, run_config)
    needed = len(source.ids)
    output = experiment.output
    for attention_row in experiment.attention_rows:
        if attention_row.head.kind != "decoder" and len(attention_row.weights) != needed:
            values = {
                "row": Index(attention_row.row),
                "head": attention_row.head,
                "count": len(attention_row.weights),
                "needed": needed,
            }
            raise ExperimentError(PHRASES["row_misfit"], **values)
    target = (
        encode_target(output.text, codecs.target, run_config)
        if isinstance(output, GivenTarget)
        else None
    )
    return CompiledExperiment(
        experiment=experiment,
        source=source,
        given=target,
        forced=forced_ids(experiment, codecs.target, rules),
        max_steps=max_steps(needed, run_config, rules),
    )


def forced_ids(experiment: Experiment, target_codec: TextCodec, rules: DecodingRules) -> ForcedIds:
    """The ids of forced tokens by decoding step.

    Raises `ExperimentError` if one can never be chosen.
    """
    return {forced.step: _id_of(forced, target_codec, rules) for forced in experiment.forced}


def max_steps(source_length: int, run_config: RunConfig, rules: DecodingRules) -> int:
    """The largest number of tokens for S source ids, by the rules or enough for any translation.

    Exactly the source's length where nothing marks the end.
    """
    if rules.end_id is None:
        return max(1, source_length - 1)
    if rules.max_steps is not None:
        limit = rules.max_steps
    elif rules.steps_per_source_token is not None:
        limit = max(
            1,
            int(min(rules.steps_per_source_token * source_length, run_config.model.max_positions)),
        )
    else:
        limit = 2 * source_length + 20
    return min(run_config.model.max_positions, limit)


def compile_general(
    model: Transformer, changes: Sequence[General], num_sentences: int
) -> Interventions:
    """The same changes to each of `num_sentences`.

    Raises `AnalysisError` as `compile_interventions`.
    """
    return compile_interventions(
        model, [Experiment("", interventions=tuple(changes)).changes] * num_sentences
    )


def _id_of(forced: ForcedToken, codec: TextCodec, rules: DecodingRules) -> int:
    token_id = codec.vocabulary.ids.get(forced.token)
    values = {
        "token": repr(forced.token),
        "step": Index(forced.step),
        "count": f"{len(codec.vocabulary):,}",
    }
    if token_id is None:
        raise ExperimentError(PHRASES["no_forced_token"], **values)
    if token_id in rules.forbidden_ids:
        raise ExperimentError(PHRASES["forbidden_token"], **values)
    return token_id


def forced_word(step: int, text: str, codec: TextCodec) -> tuple[ForcedToken, ...]:
    """The tokens that write a word from a step on: one, or several for a word of several pieces.

    Args:
        step: the first step of the word.
        text: an unambiguous token (`<eos>` to end the sentence; with subwords `▁dog`, or `·ing` for
            a later piece of a word), or a word as people write it. With subwords, `dog` is the
            word, even if the vocabulary has a later piece of that name.
        codec: of the target.

    Raises:
        ExperimentError: the vocabulary has neither the token nor the pieces of the word.
    """
    vocabulary = codec.vocabulary
    text = writable(text)
    if text == END and vocabulary.end_id is not None:
        text = vocabulary.tokens[vocabulary.end_id]
    if text in vocabulary.ids and (
        not codec.has_pieces or text.startswith(WORD_MARK) or text in codec.specials
    ):
        return (ForcedToken(step, text),)
    piece = text.removeprefix(CONTINUATION)
    if (
        codec.has_pieces
        and piece != text
        and piece in vocabulary.ids
        and not piece.startswith(WORD_MARK)
    ):
        return (ForcedToken(step, piece),)
    words = codec.encode_text(text, begins_sentence=step == 0)
    ids = [token for word in words for token in word.ids]
    if not ids or any(unknown for word in words for unknown in word.unknown):
        raise ExperimentError(
            phrase("no_forced_word", text=repr(text.strip()), count=f"{len(vocabulary):,}")
        )
    if step + len(ids) - 1 > MAX_INDEX:
        raise ExperimentError(
            "{text}, forced at step {step}, takes {count} steps and ends after step {last}, the "
            "limit. Choose an earlier step.",
            text=repr(text.strip()),
            step=Index(step),
            count=len(ids),
            last=Index(MAX_INDEX),
        )
    return tuple(
        ForcedToken(step + offset, vocabulary.tokens[token]) for offset, token in enumerate(ids)
    )
