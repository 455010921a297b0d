"""From a text to its `Translation`: a loaded model and everything around it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path

from torch import Tensor

from ..arguments import checks_arguments
from ..checkpoint.file import Checkpoint, load_checkpoint
from ..counting import Index
from ..device import DeviceChoice, choose_device
from ..errors import AnalysisError, CheckpointError, ExperimentError, TextError
from ..inference.compiled import Model
from ..model.intervention_tensors import compile_interventions
from ..model.sites import PairPass, check_sites, sites_of, trace_sites
from ..plain_text import name_of
from ..resources import bundled_model_path
from ..text.languages import chosen_code, sentence_with_code
from .compilation import (
    CompiledExperiment,
    compile_experiment,
    forced_ids,
    max_steps,
)
from .decoding import DecodingRules, batches_by_length
from .experiment import (
    DEFAULT_LENGTH_PENALTY,
    Beam,
    Experiment,
    General,
    GivenTarget,
    Greedy,
    Intervention,
    check_beam,
)
from .notes import Note
from .present_model import PresentModel
from .result import (
    Coverage,
    ExperimentResult,
    RareWord,
    Translation,
    TranslationStoppedError,
    unfamiliar,
)
from .running import (
    Hypothesis,
    Runner,
    batch_size_for,
    groups_to_run,
    translate_ids,
)
from .typed_text import cover, encode_source

EXPERIMENT_WINDOW = 64
"""Experiments of which the results are held at once, so that those of similar length can be
computed side by side."""


@checks_arguments
class Translator:
    """A loaded model, ready to translate.

    Every method respects hooks on `model`: docs/hooks.md lists which modules are called, and how
    often.

    Attributes:
        checkpoint: the model's checkpoint, with settings and history. Its source codec restores the
            spelling of the training data in typed text, if that is known: see
            `TextCodec.restoring_spelling`.
        name: for people.
        path: the file, or None for a model that was not loaded from one.
        device: the device and the reason for it.
        run_config: the settings that the model was made and trained with.
        vocabulary_sizes: V of source and target.
        target_codes: the tokens `>>xx<<` that select the target language at the start of a source;
            empty for one language pair.
        runner: runs compiled experiments and describes their results, by the rules of its decoder.
        history: the epochs of the training.
    """

    def __init__(
        self, checkpoint: Checkpoint, device: DeviceChoice, path: Path | None = None
    ) -> None:
        self.checkpoint = _for_typed_text(checkpoint)
        self.device = device
        self.path = path
        self.name = name_of(path).removesuffix(".safetensors") if path else checkpoint.run.preset
        try:
            self.model = checkpoint.build_model().to(device.name)
        except CheckpointError as error:
            raise CheckpointError(f"{path or 'The model'}: {error}") from error
        self._present = PresentModel(self.checkpoint, self.model)
        self.num_parameters = self.model.num_parameters
        self.run_config = checkpoint.run
        codecs = self.checkpoint.codecs
        self.vocabulary_sizes = len(codecs.source.vocabulary), len(codecs.target.vocabulary)
        self.target_codes = codecs.source.target_codes
        self.runner = Runner(
            self.checkpoint, DecodingRules.of_codec(codecs.target, checkpoint.decoding)
        )
        self.history = checkpoint.history
        # those of a window are kept, as experiments with the same sentences follow each other
        self._encoded = lru_cache(maxsize=EXPERIMENT_WINDOW)(
            partial(encode_source, codec=codecs.source, run=self.run_config)
        )

    def __repr__(self) -> str:
        return f"Translator({self.name!r}, device={self.device.name!r})"

    @classmethod
    def load(cls, path: Path | str | None = None, device: str = "auto") -> "Translator":
        """Loads a checkpoint; without a path, the bundled model.

        Args:
            path: the file.
            device: “auto”, or a name as for `choose_device`.

        Raises:
            CheckpointError: the file cannot be used.
            DeviceError: this machine has no such device.
        """
        chosen = bundled_model_path() if path is None else Path(path)
        if path is None and not chosen.exists():
            raise CheckpointError(
                f"The bundled model is missing: there is no {chosen}. Name a checkpoint, or "
                "train one: `augenmerk train --preset multi30k --data multi30k --out runs/mine`."
            )
        return cls(load_checkpoint(chosen), choose_device(device), chosen)

    def current_model(self) -> Model:
        """The fastest form of `model` in its present state. For one call of a user."""
        return self._present_model().current()

    def _present_model(self) -> PresentModel:
        if self._present.model is not self.model:
            self._present = PresentModel(self.checkpoint, self.model)
        return self._present

    def warm_up(self) -> None:
        """Loads in advance the rules that split sentences into words."""
        self.checkpoint.codecs.source.encode_text("")

    @property
    def rules(self) -> DecodingRules:
        """Start, end and forbidden tokens of the decoder, as `runner` has them."""
        return self.runner.rules

    @property
    def digest(self) -> str:
        """The digest of the model in its present state, which identifies it independent of its
        file.

        As it was loaded, and with weights that were changed since, it is the `model_digest` of a
        checkpoint with these weights. A hooked model has a digest that no other model has, as
        nobody can tell what hooks compute. Weights are hashed only after a change; those made in
        inference mode each time.
        """
        return self._present_model().digest

    def check_vocabularies(self, translation: Translation) -> None:
        """Raises `AnalysisError` for a translation by a model with other vocabularies: its ids mean
        other tokens here.

        A translation without `vocabulary_digest`, as one made by hand, is accepted if it has ids of
        tokens.
        """
        if translation.vocabulary_digest not in ("", self.checkpoint.codecs.vocabulary_digest):
            raise AnalysisError(
                f"The translation “{translation.text[:60]}” is by a model with other "
                f"vocabularies than {self.name}. Translate the sentence with this model, or use "
                "the model of the translation."
            )
        source, target = (range(size) for size in self.vocabulary_sizes)
        read, predicted = translation.read_ids, translation.predicted_ids
        has_ids = bool(translation.source_ids and read) and len(read) == len(predicted)
        if (
            not has_ids
            or not all(token in source for token in translation.source_ids)
            or not all(token in target for token in (*read, *predicted))
        ):
            raise AnalysisError(
                f"The translation “{translation.text[:60]}” has no ids of tokens of this model. "
                "Translate the sentence with this model."
            )

    def has_made(self, translation: Translation) -> bool:
        """Whether a translation is by the model in its present state, so that its numbers are the
        model's, too.
        """
        return translation.model_digest in ("", self.digest)

    def code_of_language(self, language: str) -> str:
        """The one of `target_codes` for a language, which is named by any of its codes or in
        English: fra, fr, French.

        Raises:
            ConfigError: the model has none for it, or several.
        """
        return chosen_code(language, self.target_codes, self.run_config)

    def run(
        self,
        experiment: Experiment,
        *,
        draft: Translation | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Translation:
        """The result of one experiment: translation, probabilities, alternatives, and the maps of
        every head.

        Args:
            experiment: sentence, decoding method and interventions.
            draft: a guess at the result, which speeds up the search. The result is the same to
                rounding.
            should_stop: called before each decoding step, and before a given target is read.

        Raises:
            TranslationStoppedError: `should_stop` returned True.
            TextError: there is nothing to translate, or far too much.
            ExperimentError: an intervention does not fit the sentence or the vocabulary.
            AnalysisError: the model has no such head or network.
        """
        return next(self.run_many([self.compile(experiment)], draft=draft, should_stop=should_stop))

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
        """An experiment's result next to that of its baseline.

        Args:
            experiment: sentence, decoding method and interventions.
            original: the result of its baseline by this model, if it is known. That of another
                model is not used.
            own: while a target is given, the model's own greedy translation of the sentence, if
                known; as `original`.
            drops_misfits: leave out interventions that do not fit this model or sentence instead of
                refusing them all.
            draft: a guess at the result, see `run`; by default the original.
            should_stop: called before each decoding step.

        Raises:
            What `run` raises.
        """

        def result_of(experiment: Experiment, known: Translation | None) -> Translation:
            if known and known.experiment == experiment and known.model_digest == self.digest:
                return known
            return self.run(experiment, draft=draft, should_stop=should_stop)

        dropped: tuple[Intervention, ...] = ()
        if drops_misfits:
            dropped = _misfits(self, experiment)
            experiment = experiment.without(*dropped)
        original = result_of(experiment.baseline, original)
        is_given = isinstance(experiment.output, GivenTarget)
        own = result_of(Experiment(experiment.source_text), own) if is_given else None
        if not experiment.interventions:
            return ExperimentResult(original, original, original.log_probabilities, own, dropped)
        changed = self.run(experiment, draft=draft or original, should_stop=should_stop)
        # then the pass that describes it has scored it
        is_same = changed.predicted_ids == original.predicted_ids
        score = changed.log_probabilities if is_same else self.score(original, experiment)
        return ExperimentResult(changed, original, score, own, dropped)

    def run_many(
        self,
        experiments: Iterable[Experiment | CompiledExperiment],
        *,
        need_maps: bool = True,
        draft: Translation | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[Translation]:
        """The results of many different experiments, in their order.

        Those of similar length are computed side by side. Experiments are taken, and results held,
        `EXPERIMENT_WINDOW` at a time, which bounds memory for any number of them. Except for
        rounding, each result is that of `run`.

        Args:
            experiments: compiled or not; compile them first (see `compile`) to get errors one by
                one.
            need_maps: whether results hold attention maps; without them it is quicker.
            draft: a guess at all results, for instance for changes to one sentence; see `run`.
            should_stop: called before each decoding step, and before given targets are read.

        Raises:
            What `run` raises, before any result of the window is given. The message names the index
                of the experiment.
        """
        waiting = iter(experiments)
        model = self.current_model()
        num_done = 0
        digest = self._present.digest_of(model)
        while window := list(islice(waiting, EXPERIMENT_WINDOW)):
            compiled = _compile_many(self, window, num_done)
            num_done += len(window)
            results: dict[int, Translation] = {}
            for group in groups_to_run(compiled):
                batch = [compiled[index] for index in group]
                translations = self.runner.run(model, digest, batch, need_maps, should_stop, draft)
                results.update(zip(group, translations, strict=True))
            for index in range(len(compiled)):
                yield results.pop(index)  # nothing is held here once it has been given away

    def compile(self, experiment: Experiment) -> CompiledExperiment:
        """The experiment in this model's ids.

        Raises:
            TextError: there is nothing to translate, or far too much.
            ExperimentError: an intervention does not fit the sentence or the vocabulary.
            AnalysisError: the model has no such head or network.
        """
        typed = self._encoded(experiment.source_text)
        compiled = compile_experiment(
            experiment, typed, self.checkpoint.codecs, self.run_config, self.rules
        )
        compile_interventions(self.model, [compiled.experiment.changes])  # knows heads and networks
        return compiled

    def try_compile(
        self, experiment: Experiment
    ) -> tuple[CompiledExperiment | None, tuple[Note, ...]]:
        """The experiment in this model's ids, or None for a text that is refused; and the notes on
        its texts.

        Raises:
            ExperimentError, AnalysisError: as `compile`.
        """
        try:
            compiled = self.compile(experiment)
        except TextError as error:
            return None, (Note("refused", str(error)),)
        source = compiled.source
        notice = unfamiliar(cover(source, self.checkpoint.word_counts), source.hint)
        return compiled, (*compiled.notes, *([Note("unfamiliar", notice)] if notice else []))

    def check(self, experiment: Experiment) -> None:
        """Refuses interventions that fit no sentence: parts that the model lacks, tokens missing
        from its vocabulary.

        Raises:
            ExperimentError: a forced token can never be chosen.
            AnalysisError: the model has no such head or network.
        """
        compile_interventions(self.model, [experiment.changes])
        forced_ids(experiment, self.checkpoint.codecs.target, self.rules)

    def translate(
        self,
        text: str,
        *,
        into: str | None = None,
        beam: int = 1,
        length_penalty: float = DEFAULT_LENGTH_PENALTY,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Translation:
        """`run` with nothing changed.

        Args:
            text: the sentence.
            into: the target language, for a model of several, see `code_of_language`. Its code
                becomes the first word of the sentence, in place of a code that is there.
            beam, length_penalty: the size of the beam, 1 for greedy decoding, and its penalty.
            should_stop: called before each decoding step.

        Raises:
            ConfigError: the beam or the length penalty is out of range, or the model has no such
                target language.
            What `run` raises.
        """
        check_beam(beam, length_penalty)
        output = Greedy() if beam == 1 else Beam(beam, length_penalty)
        code = None if into is None else self.code_of_language(into)
        return self.run(Experiment(sentence_with_code(text, code), output), should_stop=should_stop)

    def coverage(self, text: str) -> Coverage | None:
        """The coverage of a text by the training data, without translating it; None without their
        word counts.

        Raises:
            TextError: there is nothing to translate, or far too much.
        """
        return cover(
            encode_source(text, self.checkpoint.codecs.source, self.run_config),
            self.checkpoint.word_counts,
        )

    def rare_words(self, text: str) -> tuple[RareWord, ...]:
        """The words of a text that the training data rarely had.

        Empty without word counts in the model's file.

        Raises:
            TextError: there is nothing to translate, or far too much.
        """
        coverage = self.coverage(text)
        return () if coverage is None else coverage.rare_words

    def score(self, translation: Translation, experiment: Experiment) -> tuple[float, ...]:
        """The log-probabilities of an old translation under an experiment; see `score_many`."""
        return self.score_many(translation, [experiment])[0]

    def score_many(
        self,
        translation: Translation,
        experiments: Sequence[Experiment | CompiledExperiment],
        *,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> list[tuple[float, ...]]:
        """The log-probabilities of the tokens of `translation`, T for each experiment.

        They are natural logs. The model reads the experiment's source, with its heads and rows
        changed. Output and forced tokens are ignored.

        Args:
            translation: by this model, or by one with the same vocabularies; its tokens are read
                under this model.
            experiments: as for `run_many`.
            should_stop: called before each batch.

        Raises:
            TranslationStoppedError: `should_stop` returned True.
            AnalysisError: the vocabularies differ, or as `compile`.
            TextError, ExperimentError: as `compile`.
        """
        self.check_vocabularies(translation)
        compiled = _compile_many(self, experiments)
        targets = [translation.predicted_ids] * len(compiled)
        return self.runner.scores(self.current_model(), targets, compiled, should_stop)

    @property
    def sites(self) -> tuple[str, ...]:
        """The names of all values inside the model that `trace` gives; docs/python.md explains
        them.
        """
        return sites_of(self.model)

    def trace(
        self, experiment: Experiment | Translation, sites: str | Iterable[str]
    ) -> dict[str, Tensor]:
        """Values inside the model at named sites, in one pass over a sentence and its translation.

        The tensors are on the model's device and have a leading dimension of 1. Unless gradients
        are disabled, they lie on the way to the logits, so `torch.autograd.grad` accepts them.
        docs/python.md lists sites and shapes. Not thread-safe with other uses of the model.

        Args:
            experiment: the experiment, which is run first, or its translation; see `pass_over`.
            sites: names such as "decoder.1.cross_attention.query", some of `sites`; or a single
                one.

        Raises:
            AnalysisError: the model has no such site, or as `pass_over`.
            TextError, ExperimentError: as `run`.
        """
        names = (sites,) if isinstance(sites, str) else tuple(sites)
        check_sites(self.model, names)
        translation = experiment if isinstance(experiment, Translation) else self.run(experiment)
        return trace_sites(self.pass_over(translation), names)

    def pass_over(self, translation: Translation) -> PairPass:
        """A pass of the plain model over a translation under its experiment, for analyses.

        The translation may come from another model with the same vocabularies, such as another
        checkpoint of a run. Its tokens are then read by teacher forcing under this model.

        Raises:
            AnalysisError: the vocabularies differ, or the experiment changes a head or network that
                this model lacks.
        """
        self.check_vocabularies(translation)
        interventions = compile_interventions(self.model, [translation.experiment.changes])
        return PairPass(self.model, translation.source_ids, translation.read_ids, interventions)

    def translate_corpus(
        self,
        texts: Sequence[str],
        *,
        into: str | None = None,
        beam: int = 1,
        length_penalty: float = DEFAULT_LENGTH_PENALTY,
        changes: Sequence[General] = (),
        on_progress: Callable[[int], None] = lambda done: None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> list[Hypothesis]:
        """Translations of many texts, batched by length.

        A text that `translate` would refuse, an empty line above all, gives an empty hypothesis,
        whose notes say why.

        Args:
            texts: one sentence each.
            into, beam, length_penalty: as for `translate`.
            changes: heads and networks that are changed throughout.
            on_progress: receives the number of sentences done, refused ones left out.
            should_stop: called before each decoding step; the batch and the rest are then left
                empty.

        Raises:
            ConfigError: as for `translate`.
            AnalysisError: the model has no such head or network.
        """
        check_beam(beam, length_penalty)
        code = None if into is None else self.code_of_language(into)
        tried = [self.try_compile(Experiment(sentence_with_code(text, code))) for text in texts]
        hypotheses = [Hypothesis("", (), notes) for _, notes in tried]
        accepted = [
            (index, compiled) for index, (compiled, _) in enumerate(tried) if compiled is not None
        ]
        model = self.current_model()
        lengths = [len(compiled.source.ids) for _, compiled in accepted]
        batch_size = batch_size_for(
            model, beam, max_steps(max(lengths, default=1), self.run_config, self.rules)
        )
        done = 0
        for group in batches_by_length(lengths, batch_size):
            batch = [accepted[member] for member in group]
            try:
                chosen = translate_ids(
                    model,
                    [compiled.source.ids for _, compiled in batch],
                    self.run_config,
                    self.rules,
                    beam=beam,
                    length_penalty=length_penalty,
                    changes=changes,
                    should_stop=should_stop,
                )
            except TranslationStoppedError:
                break
            for (index, compiled), ids in zip(batch, chosen, strict=True):
                hypotheses[index] = self.runner.hypothesis(
                    ids, compiled.max_steps, hypotheses[index].notes
                )
            done += len(group)
            on_progress(done)
        return hypotheses


def _for_typed_text(checkpoint: Checkpoint) -> Checkpoint:
    """The same model, whose source codec reads words as the training data spell them.

    The codecs of a checkpoint and of a corpus read words unchanged, so training losses are not
    those of restored text.
    """
    codecs = checkpoint.codecs
    return replace(
        checkpoint,
        codecs=replace(codecs, source=codecs.source.restoring_spelling(checkpoint.word_counts)),
    )


def _compile_many(
    translator: Translator,
    experiments: Iterable[Experiment | CompiledExperiment],
    first: int = 0,
) -> list[CompiledExperiment]:
    """The experiments, those that are not compiled as by `compile`.

    Messages count them from `first`.
    """
    compiled = []
    for index, experiment in enumerate(experiments, start=first):
        try:
            if not isinstance(experiment, CompiledExperiment):
                experiment = translator.compile(experiment)
            compiled.append(experiment)
        except (TextError, ExperimentError, AnalysisError) as error:
            raise type(error)(
                "Experiment {index}: {error}", index=Index(index), error=error
            ) from error
    return compiled


def _misfits(translator: Translator, experiment: Experiment) -> tuple[Intervention, ...]:
    """The interventions that a model refuses, source edits first: others depend on them."""
    fitting = experiment.baseline
    misfits: list[Intervention] = []
    for intervention in experiment.interventions:
        try:
            translator.compile(fitting.with_interventions(intervention))
        except (ExperimentError, AnalysisError):
            misfits.append(intervention)
        else:
            fitting = fitting.with_interventions(intervention)
    return tuple(misfits)
