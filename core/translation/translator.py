"""From a text to its `Translation`: a loaded model and everything around it."""

import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from augenmerk.core.checkpoint.digest import model_digest
from augenmerk.core.checkpoint.file import Checkpoint, load_checkpoint
from augenmerk.core.checkpoint.history import EpochRecord
from augenmerk.core.corpora.batches import pad
from augenmerk.core.device import DeviceChoice, choose_device
from augenmerk.core.errors import AnalysisError, CheckpointError, ExperimentError, TextError
from augenmerk.core.model.drafting import Drafter, make_drafter
from augenmerk.core.model.finite import is_finite, non_finite, require_finite
from augenmerk.core.model.heads import Head
from augenmerk.core.model.hooks import is_hooked, remember_modules
from augenmerk.core.model.interventions import compile_head_factors, compile_interventions
from augenmerk.core.model.transformer import Encoding, ModelOutput, Transformer
from augenmerk.core.plain_text import name_of
from augenmerk.core.resources import bundled_model_path
from augenmerk.core.translation.beam import beam_search
from augenmerk.core.translation.compilation import (
    CompiledExperiment,
    compile_experiment,
    forced_ids,
    max_steps,
    sentence_changes,
)
from augenmerk.core.translation.coverage import Coverage, RareWord
from augenmerk.core.translation.decoding import DecodingRules, batches_by_length, greedy_from, top_tokens
from augenmerk.core.translation.experiment import (
    DEFAULT_LENGTH_PENALTY,
    Beam,
    Experiment,
    GivenTarget,
    Greedy,
    HeadScaled,
    Intervention,
    Output,
    check_beam,
)
from augenmerk.core.translation.rare_words import cover
from augenmerk.core.translation.result import (
    Alternative,
    AttentionMaps,
    ExperimentResult,
    FloatArray,
    Translation,
    TranslationStoppedError,
    Word,
    read_only,
)
from augenmerk.core.translation.source import EncodedSource, encode_source
from augenmerk.core.translation.speculation import Asked, verified_greedy
from augenmerk.core.translation.target import EncodedTarget

NUM_ALTERNATIVES = 10
CORPUS_BATCH = 192
"""Sentences that are translated side by side without maps."""
MAX_BEAM_ROWS = 256
"""Partial translations that are continued side by side; a wide beam takes fewer sentences at once."""
EXPERIMENT_WINDOW = 64
"""Experiments of which the results are held at once, so that those of like length can be computed side by side."""
EXPERIMENT_BATCH = 16
"""Experiments that are computed side by side: few, so that little is padded."""


@dataclass(frozen=True)
class Hypothesis:
    """A translation without its maps, as corpora need it.

    Attributes:
        text: as people read it.
        words: as the model produced them, tokenized, in its own case.
    """

    text: str
    words: tuple[str, ...]


class Translator:
    """A loaded model, ready to translate.

    Every method respects hooks on `model`: docs/hooks.md lists which modules are called, and how often.

    Attributes:
        checkpoint: where the model comes from, its settings and history included. Its source codec restores the
            spelling of the training data in what is typed, where that is known: see `TextCodec.restoring_spelling`.
        name: for people.
        path: the file, or None for a model that was not loaded from one.
        device: where it runs, and why there.
        run_config: the settings that the model was made and trained with.
        rules: start, end and forbidden tokens of its decoder.
    """

    def __init__(self, checkpoint: Checkpoint, device: DeviceChoice, path: Path | None = None) -> None:
        self.checkpoint = _for_typed_text(checkpoint)
        self.device = device
        self.path = path
        self.name = name_of(path).removesuffix(".safetensors") if path else checkpoint.run.preset
        try:
            self.model = checkpoint.build_model().to(device.name)
        except CheckpointError as error:
            raise CheckpointError(f"{path or 'The model'}: {error}") from error
        if device.name == "cpu":
            self.model.lay_out_for_decoding()
        remember_modules(self.model)
        self.num_parameters = self.model.num_parameters
        self.run_config = checkpoint.run
        self.rules = DecodingRules.of_codec(checkpoint.codecs.target, checkpoint.decoding)
        self._last_source: tuple[str, EncodedSource] | None = None
        self._last_encoding: _KeptEncoding | None = None

    @classmethod
    def load(cls, path: Path | str | None = None, device: str = "auto") -> "Translator":
        """Loads a checkpoint; without a path, the bundled model.

        Raises:
            CheckpointError: the file cannot be used.
            DeviceError: the device is not here.
        """
        chosen = bundled_model_path() if path is None else Path(path)
        if path is None and not chosen.exists():
            raise CheckpointError(
                f"The bundled model is missing: there is no {chosen}. Name a checkpoint, or train one: "
                "`augenmerk train --preset multi30k --data multi30k --out runs/mine`."
            )
        return cls(load_checkpoint(chosen), choose_device(device), chosen)

    def warm_up(self) -> None:
        """Loads what the first sentence would have to wait for: the rules that cut it into words."""
        self.checkpoint.codecs.source.encode_text("")

    @property
    def vocabulary_sizes(self) -> tuple[int, int]:
        """V of source and target."""
        codecs = self.checkpoint.codecs
        return len(codecs.source.vocabulary), len(codecs.target.vocabulary)

    @cached_property
    def digest(self) -> str:
        """Of weights and vocabularies: tells the model apart from others, wherever its file lies."""
        return model_digest(self.checkpoint)

    @cached_property
    def _drafter(self) -> Drafter | None:
        """What guesses translations that the model then checks; None if the model has to guess itself."""
        return make_drafter(self.model)

    @property
    def target_codes(self) -> tuple[str, ...]:
        """Tokens `>>xx<<` that a source may begin with to say into which language to translate; empty for one pair."""
        return self.checkpoint.codecs.source.target_codes

    @property
    def history(self) -> tuple[EpochRecord, ...]:
        """How the training went."""
        return self.checkpoint.history

    def run(
        self,
        experiment: Experiment,
        *,
        draft: Translation | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Translation:
        """The result of one experiment: translation, probabilities, alternatives, and the maps of every head.

        Args:
            experiment: what to translate, how, and what to change on the way.
            draft: what the result may be like. It is found faster then, and is the same to rounding.
            should_stop: asked before each decoding step, and before a given target is read.

        Raises:
            TranslationStoppedError: `should_stop` said so.
            TextError: there is nothing to translate, or far too much.
            ExperimentError: an intervention does not fit the sentence or the vocabulary.
            AnalysisError: the model has no such head.
        """
        return self._run_batch([self.compile(experiment)], True, should_stop, draft)[0]

    def compare(
        self,
        experiment: Experiment,
        *,
        original: Translation | None = None,
        own: Translation | None = None,
        drops_misfits: bool = False,
        draft: Translation | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> ExperimentResult:
        """An experiment's result beside that of its baseline.

        Args:
            experiment: what to translate, how, and what to change on the way.
            original: the result of its baseline by this model, if it is known.
            own: while a target is given, the model's own greedy translation of the sentence, if it is known.
            drops_misfits: leave out interventions that do not fit this model or sentence instead of refusing them all.
            draft: what the result may be like: see `run`. Left out, the original.
            should_stop: asked before each decoding step.

        Raises:
            What `run` raises.
        """
        dropped: tuple[Intervention, ...] = ()
        if drops_misfits:
            dropped = self._misfits(experiment)
            experiment = experiment.without(*dropped)
        baseline = experiment.baseline
        if original is None or original.experiment != baseline:
            original = self.run(baseline, draft=draft, should_stop=should_stop)
        if isinstance(experiment.output, GivenTarget):
            asked = Experiment(experiment.source_text)
            if own is None or own.experiment != asked:
                own = self.run(asked, draft=draft, should_stop=should_stop)
        else:
            own = None
        if not experiment.interventions:
            return ExperimentResult(original, original, original.log_probabilities, own, dropped)
        changed = self.run(experiment, draft=draft or original, should_stop=should_stop)
        is_same = changed.predicted_ids == original.predicted_ids  # then the pass that describes it has scored it
        score = changed.log_probabilities if is_same else self.score(original, experiment)
        return ExperimentResult(changed, original, score, own, dropped)

    def _misfits(self, experiment: Experiment) -> tuple[Intervention, ...]:
        """The interventions that this model refuses, source edits first: what the others must fit depends on them."""
        kept = experiment.baseline
        misfits: list[Intervention] = []
        for intervention in experiment.interventions:
            try:
                self.compile(kept.with_interventions(intervention))
            except (ExperimentError, AnalysisError):
                misfits.append(intervention)
            else:
                kept = kept.with_interventions(intervention)
        return tuple(misfits)

    def run_many(
        self,
        experiments: Iterable[Experiment | CompiledExperiment],
        *,
        need_maps: bool = True,
        draft: Translation | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[Translation]:
        """The results of many different experiments, in their order; those of like length are computed side by side.

        Experiments are taken, and results held, `EXPERIMENT_WINDOW` at a time, so that memory is bounded however many
        there are. Besides rounding, each result is that of `run`.

        Args:
            experiments: as they are, or compiled before (see `compile`) by someone who wants to see errors one by one.
            need_maps: whether results hold attention maps; without them it is quicker.
            draft: what all results may be like, as those of changes to one sentence are: see `run`.
            should_stop: asked before each decoding step, and before given targets are read.

        Raises:
            What `run` raises, before any result of the window is given.
        """
        waiting = iter(experiments)
        while window := list(islice(waiting, EXPERIMENT_WINDOW)):
            compiled = [each if isinstance(each, CompiledExperiment) else self.compile(each) for each in window]
            results: list[Translation | None] = [None] * len(compiled)
            for group in _groups(compiled):
                found = self._run_batch([compiled[place] for place in group], need_maps, should_stop, draft)
                for place, translation in zip(group, found, strict=True):
                    results[place] = translation
            for place, result in enumerate(results):
                assert result is not None
                results[place] = None  # nothing is held here once it has been given away
                yield result

    def compile(self, experiment: Experiment) -> CompiledExperiment:
        """The experiment in this model's ids.

        Raises:
            TextError: there is nothing to translate, or far too much.
            ExperimentError: an intervention does not fit the sentence or the vocabulary.
            AnalysisError: the model has no such head.
        """
        typed = self._encoded_source(experiment.source_text)
        compiled = compile_experiment(experiment, typed, self.checkpoint.codecs, self.run_config, self.rules)
        compile_interventions(self.model, [compiled.changes])  # knows the heads
        return compiled

    def _encoded_source(self, text: str) -> EncodedSource:
        """The text in ids. The last one is kept, as experiments with one sentence follow each other."""
        last = self._last_source
        if last is None or last[0] != text:
            self._last_source = last = text, encode_source(text, self.checkpoint.codecs.source, self.run_config)
        return last[1]

    def check(self, experiment: Experiment) -> None:
        """Refuses what fits no sentence: heads that the model has not, tokens that its vocabulary has not.

        Raises:
            ExperimentError: a forced token can never be chosen.
            AnalysisError: the model has no such head.
        """
        compile_interventions(self.model, [sentence_changes(experiment)])
        forced_ids(experiment, self.checkpoint.codecs.target, self.rules)

    def translate(
        self,
        text: str,
        *,
        beam: int = 1,
        length_penalty: float = DEFAULT_LENGTH_PENALTY,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Translation:
        """`run` with nothing changed; `beam` 1 is greedy."""
        check_beam(beam, length_penalty)
        output = Greedy() if beam == 1 else Beam(beam, length_penalty)
        return self.run(Experiment(text, output), should_stop=should_stop)

    def coverage(self, text: str) -> Coverage | None:
        """How well the training data cover a text, without translating it; None if the model's file does not tell.

        Raises:
            TextError: there is nothing to translate, or far too much.
        """
        return cover(encode_source(text, self.checkpoint.codecs.source, self.run_config), self.checkpoint.word_counts)

    def rare_words(self, text: str) -> tuple[RareWord, ...]:
        """The words of a text that the training data hardly had; none if the model's file does not tell.

        Raises:
            TextError: there is nothing to translate, or far too much.
        """
        coverage = self.coverage(text)
        return () if coverage is None else coverage.rare_words

    def score(self, translation: Translation, experiment: Experiment) -> tuple[float, ...]:
        """What an experiment makes of an old translation; see `score_many`."""
        return self.score_many(translation, [experiment])[0]

    def score_many(
        self,
        translation: Translation,
        experiments: Sequence[Experiment | CompiledExperiment],
        *,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> list[tuple[float, ...]]:
        """Natural logs of the probabilities of the tokens of `translation`, T values for each experiment.

        They are those that the model gives after reading the experiment's source, with its heads and rows changed;
        its output and its forced tokens say nothing here.

        Args:
            translation: of this model, or of one with the same target vocabulary.
            experiments: as for `run_many`.
            should_stop: asked before each batch.

        Raises:
            TranslationStoppedError: `should_stop` said so.
            TextError, ExperimentError, AnalysisError: as `compile`.
        """
        compiled = [each if isinstance(each, CompiledExperiment) else self.compile(each) for each in experiments]
        scores: list[tuple[float, ...]] = []
        for first in range(0, len(compiled), EXPERIMENT_BATCH):
            if should_stop():
                raise TranslationStoppedError
            group = compiled[first : first + EXPERIMENT_BATCH]
            with torch.inference_mode():
                encoding = self._encode(group, need_maps=False)
                read = torch.tensor([self._read_ids(translation.predicted_ids)] * len(group), device=self.device.name)
                logits = self.model.decode(encoding, read).logits.float()
                require_finite(self.model, encoding, read, logits)
                chosen = torch.tensor(translation.predicted_ids, device=logits.device).expand(len(group), -1)
                found = logits.log_softmax(dim=-1).gather(2, chosen[:, :, None])[:, :, 0]
            scores += [tuple(row) for row in found.tolist()]
        return scores

    def _read_ids(self, predicted: Sequence[int]) -> tuple[int, ...]:
        return (self.rules.start_id, *predicted[:-1])

    def _run_batch(
        self,
        batch: Sequence[CompiledExperiment],
        need_maps: bool,
        should_stop: Callable[[], bool],
        draft: Translation | None = None,
    ) -> list[Translation]:
        """Experiments with the same kind of output, side by side."""
        began = time.perf_counter()
        with torch.inference_mode():
            encoding = self._encode(batch, need_maps)
            if isinstance(batch[0].experiment.output, Greedy):
                found = self._found_greedily(batch, encoding, need_maps, should_stop, draft)
            else:
                targets = self._targets(batch, encoding, should_stop)
                padded = pad([self._read_ids(target.ids) for target in targets], self.model.padding_id)
                output = self.model.decode(encoding, padded.to(self.device.name), need_maps=need_maps)
                found = [(target, output, row) for row, target in enumerate(targets)]
            for place, (target, output, row) in enumerate(found):
                if not is_finite(output.logits[row, : len(target.ids)]):
                    raise non_finite(self.model, encoding, place, self._read_ids(target.ids))
            described = [
                self.describe_steps(output.logits[row, : len(target.ids)], target.ids) for target, output, row in found
            ]
        seconds = (time.perf_counter() - began) / len(batch)
        return [
            self._describe(
                compiled, target, steps, _maps_of(output, row, compiled, target) if need_maps else None, seconds
            )
            for compiled, (target, output, row), steps in zip(batch, found, described, strict=True)
        ]

    def _found_greedily(
        self,
        batch: Sequence[CompiledExperiment],
        encoding: Encoding,
        need_maps: bool,
        should_stop: Callable[[], bool],
        draft: Translation | None,
    ) -> list[tuple[EncodedTarget, ModelOutput, int]]:
        """For each experiment its target, the pass over the finished pair, and its row there."""
        known = () if draft is None else draft.predicted_ids
        limits = [compiled.max_steps for compiled in batch]
        forced = self.rules.forced_ends(limits, [compiled.forced for compiled in batch]) or [{}] * len(batch)
        found = verified_greedy(
            self.model,
            encoding,
            [
                Asked(limit, ids, known, self._last_token(compiled.source))
                for compiled, limit, ids in zip(batch, limits, forced, strict=True)
            ],
            self.rules,
            drafter=self._drafter,
            need_maps=need_maps,
            should_stop=should_stop,
        )
        return [
            (self._chosen_target(each.ids, compiled.max_steps), each.output, each.row)
            for each, compiled in zip(found, batch, strict=True)
        ]

    def _last_token(self, source: EncodedSource) -> int | None:
        """The last token of a source with which its translation may end too: a full stop, of one vocabulary for both.

        None where that is not to be expected: it stands in the source several times, or each side has its vocabulary.
        """
        vocabulary = self.checkpoint.codecs.source.vocabulary
        last = source.ids[source.words[-1].end - 1] if source.words else None
        is_joint = vocabulary is self.checkpoint.codecs.target.vocabulary
        return last if is_joint and source.ids.count(last) == 1 else None

    def _encode(self, batch: Sequence[CompiledExperiment], need_maps: bool) -> Encoding:
        """Each source once for all experiments that agree on it and on what is changed in the encoder."""
        interventions = compile_interventions(self.model, [compiled.changes for compiled in batch])
        if len(batch) == 1 and not any(_encoder_changes(batch[0])):
            return self._plain_encoding(batch[0].source.ids, need_maps).with_interventions(interventions)
        keys = [_encoder_key(compiled) for compiled in batch]
        first_of = {key: place for place, key in reversed(list(enumerate(keys)))}
        different = sorted(first_of.values())
        ids = pad([batch[place].source.ids for place in different], self.model.padding_id).to(self.device.name)
        if len(different) == len(batch):
            return self.model.encode(ids, need_maps=need_maps, interventions=interventions)
        of_different = compile_interventions(self.model, [batch[place].changes for place in different])
        encoding = self.model.encode(ids, need_maps=need_maps, interventions=of_different)
        rows = [different.index(first_of[key]) for key in keys]
        return encoding.select(torch.tensor(rows, device=self.device.name)).with_interventions(interventions)

    def _plain_encoding(self, ids: tuple[int, ...], need_maps: bool) -> Encoding:
        """Of one source, with nothing changed in the encoder, as by most interventions. The last one is kept."""
        last, stamp = self._last_encoding, self.model.encoder_stamp()
        is_same = last is not None and last.ids == ids and last.model is self.model and last.stamp == stamp is not None
        if last is None or not is_same or (need_maps and last.encoding.maps is None):
            source = torch.tensor([ids], device=self.device.name)
            encoding = self.model.encode(source, need_maps=need_maps)
            if stamp is not None:  # so there are no hooks, and decoding need not look for them again
                encoding = replace(encoding, is_hooked=False)
            self._last_encoding = last = _KeptEncoding(self.model, stamp, ids, encoding)
        return last.encoding

    def _targets(
        self, batch: Sequence[CompiledExperiment], encoding: Encoding, should_stop: Callable[[], bool]
    ) -> list[EncodedTarget]:
        given = [compiled.given for compiled in batch if compiled.given is not None]
        if given:
            if should_stop():
                raise TranslationStoppedError
            return given
        limits = [compiled.max_steps for compiled in batch]
        forced = [compiled.forced for compiled in batch] if any(compiled.forced for compiled in batch) else None
        output = batch[0].experiment.output
        assert isinstance(output, Beam)
        chosen = beam_search(
            self.model,
            encoding,
            limits,
            self.rules,
            output.size,
            output.length_penalty,
            forced=forced,
            should_stop=should_stop,
        )
        return [self._chosen_target(ids, limit) for ids, limit in zip(chosen, limits, strict=True)]

    def translate_corpus(
        self,
        texts: Sequence[str],
        *,
        beam: int = 1,
        length_penalty: float = DEFAULT_LENGTH_PENALTY,
        scalings: Sequence[HeadScaled] = (),
        on_progress: Callable[[int], None] = lambda done: None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> list[Hypothesis]:
        """Translations of many texts, batched by length.

        A text that `translate` would refuse, an empty line above all, gives an empty hypothesis.

        Args:
            texts: one sentence each.
            beam, length_penalty: as for `translate`.
            scalings: heads that are scaled or off throughout.
            on_progress: told how many sentences are done, refused ones left out.
            should_stop: asked between batches; the rest is then left empty.

        Raises:
            ConfigError: the beam or the length penalty is out of range.
            AnalysisError: the model has no such head.
        """
        check_beam(beam, length_penalty)
        factors = {scaling.head: scaling.factor for scaling in scalings}
        encoded = [self._encode_or_none(text) for text in texts]
        present = [index for index, source in enumerate(encoded) if source is not None]
        sources = [encoded[index] for index in present]
        hypotheses = [Hypothesis("", ())] * len(texts)
        done = 0
        batch_size = max(1, min(CORPUS_BATCH, MAX_BEAM_ROWS // beam))
        if is_hooked(self.model):  # then logits of all positions are computed at each step
            batch_size = min(batch_size, EXPERIMENT_BATCH)
        for group in batches_by_length([len(source.ids) for source in sources if source], batch_size):
            if should_stop():
                break
            translated = self._translate_batch([sources[place] for place in group], beam, length_penalty, factors)
            for place, hypothesis in zip(group, translated, strict=True):
                hypotheses[present[place]] = hypothesis
            done += len(group)
            on_progress(done)
        return hypotheses

    def _encode_or_none(self, text: str) -> EncodedSource | None:
        try:
            return encode_source(text, self.checkpoint.codecs.source, self.run_config)
        except TextError:
            return None

    def _translate_batch(
        self,
        sources: Sequence[EncodedSource | None],
        beam: int,
        length_penalty: float,
        factors: Mapping[Head, float],
    ) -> list[Hypothesis]:
        ids = [source.ids for source in sources if source is not None]
        padded = pad(ids, self.model.padding_id).to(self.device.name)
        with torch.inference_mode():
            interventions = compile_head_factors(self.model, factors, len(ids))
            encoding = self.model.encode(padded, interventions=interventions)
            limits = [max_steps(len(row), self.run_config, self.rules) for row in ids]
            if beam == 1:
                ends = self.rules.forced_ends(limits, None)
                chosen = greedy_from(self.model, encoding, limits, self.rules, forced=ends)
            else:
                chosen = beam_search(self.model, encoding, limits, self.rules, beam, length_penalty)
        return [self._hypothesis(row) for row in chosen]

    def _hypothesis(self, chosen: Sequence[int]) -> Hypothesis:
        words = tuple(word.text for word in self._decoded_words(chosen))
        return Hypothesis(self.checkpoint.codecs.target.text_of(chosen), words)

    def max_steps(self, source_length: int) -> int:
        """Enough for any sane translation; exactly the source's length where nothing marks the end."""
        return max_steps(source_length, self.run_config, self.rules)

    def _decoded_words(self, chosen: Sequence[int]) -> list[Word]:
        return [Word(word.text, word.start, word.end) for word in self.checkpoint.codecs.target.decode(chosen)]

    def _chosen_target(self, chosen: Sequence[int], limit: int) -> EncodedTarget:
        """What the model chose, with a note if it did not come to an end."""
        codec = self.checkpoint.codecs.target
        words = self._decoded_words(chosen)
        notes: tuple[str, ...] = ()
        if self.rules.end_id is not None and chosen[-1] != self.rules.end_id:
            notes = (f"The translation was cut off after {limit} tokens: the model did not end it.",)
        elif self.rules.forces_end and len(chosen) == limit:
            notes = (f"The translation was ended at {limit} tokens, the most that this model's settings allow.",)
        elif not words:
            notes = ("The translation is empty: the model ended it before its first word.",)
        return EncodedTarget(
            ids=tuple(chosen),
            labels=tuple(codec.label(token) for token in chosen),
            words=tuple(words),
            text=codec.text_of(chosen),
            notes=notes,
            is_given=False,
        )

    def _describe(
        self,
        compiled: CompiledExperiment,
        target: EncodedTarget,
        steps: "Steps",
        maps: AttentionMaps | None,
        seconds: float,
    ) -> Translation:
        source = compiled.source
        start = self.checkpoint.codecs.target.label(self.rules.start_id)
        return Translation(
            experiment=compiled.experiment,
            text=target.text,
            source_tokens=source.labels,
            read_tokens=(start, *target.labels[:-1]),
            predicted_tokens=target.labels,
            log_probabilities=steps.log_probabilities,
            alternatives=steps.alternatives,
            source_words=source.words,
            target_words=target.words,
            unknown_source_positions=source.unknown_positions,
            ignored_text=source.ignored_text,
            notes=(*source.notes, *target.notes),
            attention=maps,
            seconds=seconds,
            source_ids=source.ids,
            read_ids=self._read_ids(target.ids),
            predicted_ids=target.ids,
            source_places=source.places,
            ranks=steps.ranks,
            entropies=steps.entropies,
            unreached=compiled.unreached(len(target.ids)),
            coverage=cover(source, self.checkpoint.word_counts),
        )

    def describe_steps(self, logits: Tensor, ids: Sequence[int]) -> "Steps":
        """What each decoding step of one sentence knew, from its logits [T, V], when it chose these T ids."""
        log_probabilities = logits.float().log_softmax(dim=-1)
        chosen = _chosen_log_probabilities(log_probabilities, ids)
        entropies = _entropies(log_probabilities)
        allowed = log_probabilities.index_fill_(1, self._forbidden, float("-inf"))
        if self.rules.end_id is not None:
            allowed[: self.rules.min_steps, self.rules.end_id] = float("-inf")
        best, tokens = top_tokens(allowed, min(NUM_ALTERNATIVES, allowed.size(1) - len(self.rules.forbidden_at(0))))
        # if every chosen token is among the best ones, so are all that are better, and few need be compared
        compared = best if bool((chosen >= best[:, -1:]).all()) else allowed
        return Steps(
            log_probabilities=tuple(chosen[:, 0].tolist()),
            alternatives=self._alternatives(best, tokens),
            ranks=tuple((1 + (compared > chosen).sum(dim=-1)).tolist()),
            entropies=tuple(entropies.tolist()),
        )

    @cached_property
    def _forbidden(self) -> Tensor:
        return torch.tensor(self.rules.forbidden_ids, dtype=torch.long, device=self.device.name)

    def _alternatives(self, log_probabilities: Tensor, ids: Tensor) -> tuple[tuple[Alternative, ...], ...]:
        """For each of T steps its best tokens, of which these are [T, N]."""
        labels, tokens = self.checkpoint.codecs.target.labels, self.checkpoint.codecs.target.vocabulary.tokens
        return tuple(
            tuple(Alternative(labels[token], value, tokens[token]) for token, value in zip(chosen, values, strict=True))
            for chosen, values in zip(ids.tolist(), log_probabilities.tolist(), strict=True)
        )


@dataclass(frozen=True, eq=False)
class Steps:
    """What each of T decoding steps knew; see `Translation`."""

    log_probabilities: tuple[float, ...]
    alternatives: tuple[tuple[Alternative, ...], ...]
    ranks: tuple[int, ...]
    entropies: tuple[float, ...]


def _for_typed_text(checkpoint: Checkpoint) -> Checkpoint:
    """The same model, whose source codec reads words as the training data spell them.

    Those of a checkpoint and of a corpus read words as they are, so losses in training are not those of restored text.
    """
    codecs = checkpoint.codecs
    return replace(checkpoint, codecs=replace(codecs, source=codecs.source.restoring_spelling(checkpoint.word_counts)))


def _groups(compiled: Sequence[CompiledExperiment]) -> Iterator[list[int]]:
    """Places of experiments that are computed side by side: the same kind of output, and like lengths."""
    by_output: dict[Output | type[GivenTarget], list[int]] = {}
    for place, each in enumerate(compiled):
        output = each.experiment.output
        by_output.setdefault(GivenTarget if isinstance(output, GivenTarget) else output, []).append(place)
    for kind, places in by_output.items():
        lengths = [len(compiled[place].source.ids) for place in places]
        size = max(1, min(EXPERIMENT_BATCH, MAX_BEAM_ROWS // kind.size if isinstance(kind, Beam) else MAX_BEAM_ROWS))
        for group in batches_by_length(lengths, size):
            yield [places[index] for index in group]


@dataclass(frozen=True, eq=False)
class _KeptEncoding:
    """What a model's encoder, with these weights, made of one source."""

    model: Transformer
    stamp: tuple[tuple[int, int, int], ...] | None
    ids: tuple[int, ...]
    encoding: Encoding


def _encoder_key(compiled: CompiledExperiment) -> Hashable:
    """What the encoder's output depends on."""
    return compiled.source.ids, _encoder_changes(compiled)


def _encoder_changes(compiled: CompiledExperiment) -> tuple[tuple[Hashable, ...], ...]:
    """What is changed in the encoder, by kind of change."""
    factors = tuple((head, factor) for head, factor in compiled.changes.factors.items() if head.kind == "encoder")
    rows = tuple((site, weights) for site, weights in compiled.changes.rows.items() if site[0].kind == "encoder")
    temperatures = tuple(each for each in compiled.changes.temperatures.items() if each[0].kind == "encoder")
    return factors, temperatures, tuple((site, tuple(weights)) for site, weights in rows)


def _chosen_log_probabilities(log_probabilities: Tensor, ids: Sequence[int]) -> Tensor:
    """[T, 1], of the tokens with these ids among those of [T, V]."""
    return log_probabilities.gather(1, torch.tensor(ids, device=log_probabilities.device)[:, None])


def _entropies(log_probabilities: Tensor) -> Tensor:
    """[T], in nats, of the distributions [T, V], 0 · log 0 being 0."""
    sums = torch.linalg.vecdot(log_probabilities.exp(), log_probabilities)
    if sums.isnan().any():
        sums = torch.linalg.vecdot(log_probabilities.exp(), log_probabilities.clamp(min=-1e30))
    return -sums.clamp(max=0)


def _maps_of(output: ModelOutput, row: int, compiled: CompiledExperiment, target: EncodedTarget) -> AttentionMaps:
    """The maps of one sentence of a batch, without padding."""
    num_source, num_steps = len(compiled.source.ids), len(target.ids)

    def array(maps: Tensor | None, num_queries: int, num_keys: int) -> FloatArray:
        assert maps is not None
        return read_only(np.ascontiguousarray(maps[row, :, :, :num_queries, :num_keys].float().cpu().numpy()))

    return AttentionMaps(
        array(output.encoder_maps, num_source, num_source),
        array(output.decoder_maps, num_steps, num_steps),
        array(output.cross_maps, num_steps, num_source),
    )
