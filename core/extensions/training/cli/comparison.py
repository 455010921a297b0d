"""Two systems compared by `augenmerk evaluate --compare`."""

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .... import __version__
from ....cli.lines import print_note, show_progress
from ....cli.options import (
    into_language,
    load_translator,
    read_beam,
    read_general,
    read_output,
    take_experiment,
)
from ....cli.values import origin_values
from ....counting import display_text
from ....errors import ConfigError, CorpusError, ExperimentError, TextError
from ....plain_text import one_line
from ....quantities import counted
from ....storage import is_folder
from ....translation.experiment import Experiment, GivenTarget
from ....translation.experiment_file import (
    MAX_DEPTH,
    SUFFIX,
    ModelReference,
    SavedExperiment,
    kind_of_file,
    part_to_json,
    write_experiment_file,
)
from ....translation.notes import Note
from ...names_of_changes import names_of
from ...note_summaries import sentences_by_kind, summaries

if TYPE_CHECKING:
    from ....translation.running import Hypothesis
    from ....translation.translator import Translator
    from ..scores import SystemComparison

_LABELS = ("A", "B")
_NOT_COMPARED = ("experiment", "hypotheses")


@dataclass(frozen=True, eq=False)
class _System:
    """One side of the comparison.

    Attributes:
        path: its file.
        options: of the command, completed from the file.
        translator: the model; None for finished translations.
    """

    path: Path
    options: argparse.Namespace
    translator: "Translator | None"

    def experiment(self, source: str) -> Experiment:
        """What this system does with a sentence."""
        return Experiment(source, read_output(self.options), read_general(self.options))

    @property
    def description(self) -> str:
        """Its file, decoding and changes."""
        if self.translator is None:
            return f"{self.path}, finished translations"
        changes = names_of(read_general(self.options), self.translator)
        decoding = f"beam {self.options.beam}" if (self.options.beam or 1) > 1 else "greedy"
        return f"{self.path}, {decoding}" + (f", changed: {changes}" if changes else "")

    def as_json(self) -> dict[str, Any]:
        """The same as values; `model` is None for finished translations."""
        if self.translator is None:
            return {"file": str(self.path), "model": None}
        experiment = self.experiment("")
        return {
            "file": str(self.path),
            "model": origin_values(self.translator)["model"],
            "output": part_to_json(experiment.output),
            "interventions": [part_to_json(change) for change in experiment.interventions],
        }


def add_comparison(parser: argparse.ArgumentParser) -> None:
    """Add the options of comparing two systems."""
    group = parser.add_argument_group("comparison")
    group.add_argument(
        "--compare",
        type=Path,
        nargs=2,
        metavar=("A", "B"),
        help="compare two systems on the same sentences by paired bootstrap. Each is a "
        "checkpoint, an experiment, or a file of finished translations: one per line, or by "
        "translate --jsonl. Other options apply to both; --checkpoint is the model of experiments",
    )
    group.add_argument(
        "--differences",
        type=Path,
        metavar="FOLDER",
        help="with --compare: write the sentences that differ most to this folder as experiments, "
        "which open in the window",
    )


def check_comparison(options: argparse.Namespace) -> bool:
    """Whether two systems are compared. Raises `ConfigError` for options that do not fit."""
    if options.compare is None:
        if options.differences is not None:
            raise ConfigError("--differences needs two systems. Add --compare A B, or omit it.")
        return False
    for name in _NOT_COMPARED:
        if getattr(options, name) is not None:
            raise ConfigError(f"--{name} applies to one system. Omit it, or omit --compare.")
    folder = options.differences
    if folder is not None and any(folder.glob(f"*{SUFFIX}")):
        raise ConfigError(
            f"{folder} already contains experiments. Choose an empty or new folder, so that none "
            "is replaced."
        )
    return True


def run_comparison(options: argparse.Namespace) -> int:
    """Translate with both systems, compare and print. Raises `AugenmerkError`."""
    read_beam(options)
    systems = [_opened(options, path) for path in options.compare]
    _check_use(options, systems)
    translators = [system.translator for system in systems if system.translator is not None]
    from ..comparison import compare_hypotheses
    from ..corpora.parallel import read_line_pairs
    from ..evaluation import language_of_references

    languages = translators[0].run_config.data.languages if translators else ("de", "en")
    sources, references = read_line_pairs(options.source, options.reference, languages=languages)
    language = None
    if translators:
        typed = [into_language(_of(systems, translators[0]), source) for source in sources]
        language = language_of_references(translators[0], typed)
    sides = [_translations(system, sources, language) for system in systems]
    comparison = compare_hypotheses(sides[0], sides[1], references, language)
    files = _write_differences(options.differences, systems, sources, comparison)
    notes = [[hypothesis.notes for hypothesis in side] for side in sides]
    if options.json:
        values = _as_json(systems, sources, references, comparison)
        values["notes"] = [sentences_by_kind(own) for own in notes]
        print(json.dumps(values, indent=2))
    else:
        _print(systems, sources, references, comparison)
    if files:
        print_note(f"Open a sentence in the window: augenmerk app {files[0]}")
    for label, own in zip(_LABELS, notes, strict=True):
        for text in summaries(own):
            print_note(f"{label}: {display_text(text)}")
    for warning in comparison.warnings:
        print_note(warning)
    return 0


def _opened(options: argparse.Namespace, path: Path) -> _System:
    """The system in a file. Raises `AugenmerkError`."""
    if is_folder(path) or not os.path.lexists(path):
        problem = f"{path} is a folder" if is_folder(path) else f"There is no file {path}"
        raise ConfigError(
            f"{problem}. Choose a checkpoint (*.safetensors), an experiment (*{SUFFIX}) or a file "
            "of finished translations: one per line, or by translate --jsonl."
        )
    own = argparse.Namespace(**vars(options))
    kind = kind_of_file(path)
    if path.suffix == ".jsonl" or kind == "unknown":
        return _System(path, own, None)
    if kind == "experiment":
        own.experiment = path
        take_experiment(own)
    else:
        own.checkpoint = path
    return _System(path, own, load_translator(own))


def _check_use(options: argparse.Namespace, systems: Sequence[_System]) -> None:
    """Raises `ConfigError` for options that no system uses."""
    has_model = any(system.translator is not None for system in systems)
    if options.differences is not None and not has_model:
        raise ConfigError(
            "--differences needs a model, but both systems are finished translations. Compare "
            "with a checkpoint or an experiment, or omit it."
        )
    unused = {
        "--checkpoint": options.checkpoint is not None
        and not any(system.options.experiment for system in systems),
        "--beam": options.beam is not None and not has_model,
        "--into": options.into is not None and not has_model,
        "A change to the model": read_general(options) and not has_model,
    }
    for name, is_unused in unused.items():
        if is_unused:
            raise ConfigError(f"{name} has no effect on the compared systems. Omit it.")


def _of(systems: Sequence[_System], translator: "Translator") -> argparse.Namespace:
    return next(system.options for system in systems if system.translator is translator)


def _translations(
    system: _System, sources: Sequence[str], language: str | None
) -> "Sequence[Hypothesis]":
    """The system's translations, in the words that BLEU counts. Raises `AugenmerkError`."""
    from ..evaluation import in_spacy_words, in_words_of_bleu

    if system.translator is None:
        hypotheses = _finished(system.path, sources)
        return hypotheses if language is None else in_spacy_words(hypotheses, language)
    beam, length_penalty = read_beam(system.options)
    with show_progress(" sentences") as show:
        hypotheses = system.translator.translate_corpus(
            [into_language(system.options, source) for source in sources],
            beam=beam,
            length_penalty=length_penalty,
            changes=read_general(system.options),
            on_progress=lambda done: show(done, len(sources)),
        )
    return in_words_of_bleu(hypotheses, system.translator.run_config.data, language)


def _finished(path: Path, sources: Sequence[str]) -> "list[Hypothesis]":
    """The translations in a file. Raises `CorpusError` if they are not those of the sources."""
    from ..corpora.parallel import read_lines

    lines = read_lines(path)
    if len(lines) != len(sources):
        raise CorpusError(
            f"{path} has {counted(len(lines), 'line')}, but there are {len(sources):,} sentences. "
            "Choose a file in which line N translates sentence N."
        )
    if path.suffix != ".jsonl":
        return [_hypothesis(line) for line in lines]
    return [
        _hypothesis_in(path, number, line, source)
        for number, (line, source) in enumerate(zip(lines, sources, strict=True), 1)
    ]


def _hypothesis_in(path: Path, number: int, line: str, source: str) -> "Hypothesis":
    """The translation in a line of `translate --jsonl`, or the reason why there is none."""
    from ....strict_json import JsonError, parse

    try:
        value: Any = parse(line.encode("utf-8"), max_depth=MAX_DEPTH).value
    except (JsonError, UnicodeEncodeError) as error:
        raise CorpusError(f"{path}, line {number}: {error} Correct the file.") from error
    members = value if isinstance(value, dict) else {}
    typed, text, refusal = (members.get(name) for name in ("source", "translation", "error"))
    if not isinstance(typed, str) or [type(text), type(refusal)].count(str) != 1:
        raise CorpusError(
            f"{path}, line {number} has no source with a translation or an error. Choose the "
            "output of translate --jsonl."
        )
    if typed.split() != source.split():
        raise CorpusError(
            f"{path}, line {number} translates another sentence: {typed[:60]!r}, not "
            f"{source[:60]!r}. Choose translations of the same data."
        )
    return _hypothesis("" if text is None else one_line(text), refusal or "")


def _hypothesis(text: str, refusal: str = "") -> "Hypothesis":
    """A finished translation, with a note if it is empty, or refused for this reason."""
    from ....translation.running import Hypothesis

    if refusal:
        return Hypothesis(text, (), (Note("refused", refusal),))
    notes = () if text.strip() else (Note("empty", "There is no translation."),)
    return Hypothesis(text, (), notes)


def _write_differences(
    folder: Path | None,
    systems: Sequence[_System],
    sources: Sequence[str],
    comparison: "SystemComparison",
) -> list[Path]:
    """Write the sentences that differ most as experiments, and return their files.

    Finished translations are given ones of the other system's model. Raises `StorageError`.
    """
    if folder is None:
        return []
    models = [system for system in systems if system.translator is not None]
    files = []
    for sentence in comparison.most_different:
        texts = (sentence.first, sentence.second)
        for label, system, text in zip(_LABELS, systems, texts, strict=True):
            model = models[0] if system.translator is None else system
            assert model.translator is not None
            source = into_language(model.options, sources[sentence.index])
            experiment = (
                Experiment(source, GivenTarget(text))
                if system.translator is None
                else system.experiment(source)
            )
            try:
                model.translator.compile(experiment)
            except (TextError, ExperimentError):  # such as an empty translation
                continue
            path = folder / f"{sentence.index + 1:06d}-{label}{SUFFIX}"
            reference = ModelReference(model.translator.name, model.translator.digest)
            write_experiment_file(SavedExperiment(experiment, reference), path)
            files.append(path)
    return files


def _as_json(
    systems: Sequence[_System],
    sources: Sequence[str],
    references: Sequence[str],
    comparison: "SystemComparison",
) -> dict[str, Any]:
    return {
        "version": __version__,
        "systems": [system.as_json() for system in systems],
        **asdict(comparison),
        "warnings": comparison.warnings,
        "most_different": [
            {
                **asdict(sentence),
                "source": sources[sentence.index],
                "reference": references[sentence.index],
            }
            for sentence in comparison.most_different
        ],
    }


def _print(
    systems: Sequence[_System],
    sources: Sequence[str],
    references: Sequence[str],
    comparison: "SystemComparison",
) -> None:
    for label, system in zip(_LABELS, systems, strict=True):
        print(f"{label}: {one_line(system.description)}")
    print(f"{counted(comparison.num_sentences, 'sentence')}, ", end="")
    print(f"{comparison.num_different:,} translated differently")
    print(f"\n{'':<32}{'A':>8}{'B':>8}{'B − A':>8}   {'95% interval':<18}{'p':>6}")
    for score in comparison.scores:
        low, high = score.interval
        print(
            f"{score.metric:<32}{score.first:>8.2f}{score.second:>8.2f}{score.difference:>+8.2f}   "
            f"{f'{low:+.2f} to {high:+.2f}':<18}{score.p_value:>6.3f}"
        )
    for score in comparison.scores:
        if score.signature:
            print(f"{score.metric}: {score.signature}")
    if comparison.most_different:
        print("\nThe sentences that differ most, by chrF of B minus chrF of A:")
    for sentence in comparison.most_different:
        print(f"\n{sentence.index + 1}: {sentence.chrf_difference:+.1f}")
        for name, text in (
            ("source", sources[sentence.index]),
            ("reference", references[sentence.index]),
            ("A", sentence.first),
            ("B", sentence.second),
        ):
            print(f"  {name:<10}{one_line(text)}")
