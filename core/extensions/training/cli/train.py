"""Train a model, showing loss, rate, speed and time left."""

import argparse
import contextlib
import dataclasses
import math
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ....cli.options import add_device, into_code
from ....config import RunConfig, TrainingConfig
from ....config.run_config import PARTS
from ....config.settings import Settings
from ....counting import display_text
from ....errors import ConfigError, TrainingError
from ....plain_text import one_line
from ....quantities import counted, duration
from ....run_files import FILES
from ....text.languages import codes_for, inner_code, language_name
from ...run_settings.dotted import dotted_settings, read_settings, with_dotted
from ...run_settings.presets import (
    DEFAULT_PRESET,
    PRESETS,
    RATE_OF_FURTHER_TRAINING,
    further,
    preset,
)
from ...run_settings.toml_file import read_toml
from ..folder import require_right_folder
from .data import add_corpus, add_settings, corpus_source, with_languages
from .outputs import OutputFolder
from .stopping import ECHO_SECONDS, ask_after_failed_save, stop_on_interrupt

if TYPE_CHECKING:
    from ..corpora.prepared import PreparedCorpus
    from ..distributed import World
    from ..events import (
        SampleTranslated,
        StepDone,
        TrainingEvent,
        TrainingFinished,
        TrainingStarted,
    )
    from ..inputs import RunModels

TORCHRUN_ECHO_SECONDS = 5.0
"""Ctrl-C reaches a process twice: from the terminal and from torchrun."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `train`."""
    parser.epilog = "presets: " + "; ".join(
        f"{run.preset}: {run.description}" for run in PRESETS.values()
    )
    parser.add_argument(
        "--preset", choices=PRESETS, help=f"settings by name (default: {DEFAULT_PRESET})"
    )
    parser.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="settings from a TOML file, such as run.toml of a run, instead of --preset",
    )
    add_corpus(parser)
    _add_settings(parser)
    add_settings(parser)
    parser.add_argument(
        "--initial-model",
        type=Path,
        metavar="FILE",
        help="train this model further, also on other data: its weights, architecture, tokenizer "
        "and vocabularies are used. Without --preset or --config, the rate is constant "
        f"({RATE_OF_FURTHER_TRAINING:g})",
    )
    parser.add_argument(
        "--into",
        metavar="CODE",
        help="the target language of the data, for a model or teacher of several: a code that "
        "augenmerk info lists, such as fra. Each source sentence gets it as its first word",
    )
    parser.add_argument(
        "--teacher",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="also learn the predictions of this model, weighted by training.distillation; "
        "repeatable: several are averaged. The data are read with the tokenizer and "
        "vocabularies of the first",
    )
    parser.add_argument(
        "--list-settings",
        action=_ListSettings,
        nargs=0,
        help="print every setting for --set with its values, and exit",
    )
    parser.add_argument(
        "--compile", action="store_true", help="compile the model with torch.compile"
    )
    parser.add_argument(
        "--deterministic",
        action="store_true",
        help="compute the same bits on each run on a GPU, too (slower)",
    )
    parser.add_argument(
        "--probe",
        metavar="SENTENCE",
        help="a sentence to translate at each validation, for the film of attention",
    )
    parser.add_argument(
        "--tensorboard", action="store_true", help="also write TensorBoard event files into --out"
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="continue the run in --out from its last checkpoint; nothing else has to be given",
    )
    parser.add_argument(
        "--change",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="change a training setting, also of a resumed run from here on: learning_rate=1e-4; "
        "repeatable",
    )
    parser.add_argument(
        "--allow-changed-data",
        action="store_true",
        help="resume even if the training data has changed since the run was saved",
    )
    parser.add_argument(
        "--out",
        type=OutputFolder(FILES),
        required=True,
        metavar="DIR",
        help="folder for checkpoints and history",
    )
    add_device(parser)


_SETTINGS = {
    "epochs": "num_epochs",
    "max-steps": "max_steps",
    "batch-size": "batch_size",
    "seed": "seed",
    "patience": "patience",
    "sample-size": "sample_size",
    "keep-best": "keep_best",
    "keep-last": "keep_last",
    "checkpoint-steps": "checkpoint_steps",
}
"""Options that set one number of `TrainingConfig`, with its field."""
_FLAGS = ("compile", "deterministic")
"""Options that turn on a setting of `TrainingConfig`."""


def _add_settings(parser: argparse.ArgumentParser) -> None:
    described = TrainingConfig.described()
    for option, name in _SETTINGS.items():
        parser.add_argument(
            f"--{option}",
            dest=name,
            type=int,
            metavar="N",
            help=f"{described[name].description} Default: the preset's.",
        )


class _ListSettings(argparse.Action):
    """Print every setting that `--set` accepts, and exit."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        for name, setting in dotted_settings().items():
            unit = f", {setting.unit}" if setting.unit else ""
            text = textwrap.fill(
                setting.description,
                96,
                initial_indent=" " * 4,
                subsequent_indent=" " * 4,
                break_on_hyphens=False,
            )
            print(f"{name}: {setting.expected}{unit}\n{text}")
        parser.exit()


def run(options: argparse.Namespace) -> int:
    """Train. The first Ctrl-C or the end of the terminal stops and saves. Raises `AugenmerkError`.

    Of several processes started by torchrun, the main one trains and the others are its workers.
    """
    from ..distributed import (
        SINGLE_PROCESS,
        commanding_workers,
        is_distributed,
        process_group,
    )
    from ..inputs import load_models

    models = load_models(
        options.out,
        resume=options.resume,
        initial_model=options.initial_model,
        teachers=options.teacher,
    )
    settings = configured_run(options, models)
    if not is_distributed():
        return _train(options, settings, models, SINGLE_PROCESS, ECHO_SECONDS)
    from ..loop import run_worker

    with process_group(options.device) as world:
        if world.is_main:
            with commanding_workers(world):
                return _train(options, settings, models, world, TORCHRUN_ECHO_SECONDS)
        with stop_on_interrupt(math.inf, announce=False):  # the main process decides when to stop
            try:
                run_worker(
                    lambda run: _read_corpus(options, run, models, lambda text: None),
                    options.device,
                    world,
                )
            except TrainingError:  # the main process reports it
                return 1
    return 0


def _train(
    options: argparse.Namespace,
    settings: RunConfig,
    models: "RunModels",
    world: "World",
    echo_seconds: float,
) -> int:
    from ....device import choose_device
    from ..checks import check_address_space, check_memory_for_training
    from ..loop import train
    from ..tensorboard import tensorboard_log

    changes = read_changes(options.change)
    require_right_folder(options.out, options.resume)  # before the data are read
    check_address_space()
    check_memory_for_training(settings.model, choose_device(world.device(options.device)).name)
    show = TerminalProgress()
    with contextlib.ExitStack() as stack:
        log = (
            stack.enter_context(tensorboard_log(options.out, show.say))
            if options.tensorboard
            else None
        )
        corpus = _read_corpus(options, settings, models, show.phase)
        if models.initial is not None and not _chooses_batches(options):
            settings = _with_announced_batches(settings, corpus, show)
        stop = stack.enter_context(stop_on_interrupt(echo_seconds))
        stack.callback(show.close)

        def on_event(event: "TrainingEvent") -> None:
            show(event)
            if log is not None:
                log(event)

        train(
            settings,
            corpus,
            options.out,
            device=options.device,
            resume=options.resume,
            changes=changes,
            allow_changed_data=options.allow_changed_data,
            initial=models.initial,
            teachers=models.teachers,
            probe=options.probe,
            on_event=on_event,
            should_stop=lambda: stop.requested,
            world=world,
            on_save_failed=lambda failure: ask_after_failed_save(failure, show.say, stop),
        )
    return 0


def _with_announced_batches(
    settings: RunConfig, corpus: "PreparedCorpus", show: Callable[["TrainingEvent"], None]
) -> RunConfig:
    """The settings with batches that fit a small corpus; a note tells the user if they changed."""
    from ..checks import with_fitting_batches
    from ..events import Noted

    fitting = with_fitting_batches(settings, corpus)
    if fitting != settings:
        num_units, unit = fitting.training.batch_size, fitting.training.batch_unit
        show(Noted(f"The corpus is small, so each batch has {num_units:,} {unit} (--batch-size)."))
    return fitting


def _read_corpus(
    options: argparse.Namespace,
    run: RunConfig,
    models: "RunModels",
    on_phase: Callable[[str], None],
) -> "PreparedCorpus":
    """The corpus that the options name, or that of the resumed run. Raises `AugenmerkError`."""
    from ..inputs import read_corpus

    is_named = any((options.data, options.source, options.target))
    source = corpus_source(options, run) if is_named or not options.resume else None
    return read_corpus(
        run, options.out, source, resume=options.resume, models=models, on_phase=on_phase
    )


def configured_run(options: argparse.Namespace, models: "RunModels") -> RunConfig:
    """The settings of the preset, the file or the resumed run, with the changes by options.

    A model to train further provides its architecture and data settings, a teacher its data
    settings.

    Raises:
        ConfigError: a file or a setting is refused, or both a preset and a file are named.
        CheckpointError: an option contradicts the run to resume, or there is none.
    """
    if options.preset is not None and options.config is not None:
        raise ConfigError("--preset and --config cannot be combined. Omit one of them.")
    if options.resume:
        return _resumed_run(options)
    parts: dict[str, Settings] = {}
    if models.initial is not None:
        parts = {"model": models.initial.run.model, "data": models.initial.run.data}
    elif models.teachers:
        parts = {"data": models.teachers[0].run.data}
    if options.config is not None:
        chosen = read_toml(options.config, parts)
    elif models.initial is None:
        chosen = dataclasses.replace(preset(options.preset or DEFAULT_PRESET), **parts)  # type: ignore[arg-type]
    elif options.preset is None:
        chosen = further(models.initial.run)
    else:
        training = preset(options.preset).training
        chosen = dataclasses.replace(models.initial.run, preset=options.preset, training=training)
    if options.into is not None:
        reader = next(filter(None, (models.initial, *models.teachers)), None)
        code = into_code(options.into, reader.codecs.source.target_codes if reader else (), chosen)
        data = chosen.data.replace(target_code=code, target_language=inner_code(code))
        chosen = dataclasses.replace(chosen, data=data)
    return _with_options(chosen, options)


def _resumed_run(options: argparse.Namespace) -> RunConfig:
    """The settings of the run to resume, with another length if options say so."""
    from ..inputs import settings_of_run
    from ..session import differing_settings, require_same_run

    own = settings_of_run(options.out)
    run_name = f"the run in {options.out}"
    if options.preset not in (None, own.preset):
        raise ConfigError(
            f"--preset {options.preset} contradicts {run_name}, which was started from the "
            f"preset {own.preset}. Leave --preset out: --resume alone continues the run. Or "
            "start a new run in another folder."
        )
    if options.into is not None and not codes_for(options.into, [own.data.target_code or ""]):
        raise ConfigError(
            f"--into {options.into} contradicts {run_name}, whose target language is "
            f"{language_name(own.data.target_language)}. Leave --into out: --resume alone "
            "continues the run. Or start a new run in another folder."
        )
    parts = {part: getattr(own, part) for part in PARTS}
    run = _with_options(
        own if options.config is None else read_toml(options.config, parts), options
    )
    named, changed = _named_by_options(options), frozenset(read_changes(options.change))
    unnamed = [
        name
        for name in ("initial_model", "teachers", "fit_schedule")
        if f"training.{name}" not in named
    ]
    # a file may lack them
    run = run.with_training(**{name: getattr(own.training, name) for name in unnamed})
    different = differing_settings(run, own, changed)
    names = dict.fromkeys(named.get(name, f"--config {options.config}") for name in different)
    verb = "contradicts" if len(names) == 1 else "contradict"
    require_same_run(
        run,
        own,
        changed,
        f"{' and '.join(names)} {verb} {run_name}, which --resume alone continues",
    )
    return run


def _named_by_options(options: argparse.Namespace) -> dict[str, str]:
    """The options that set a setting, as typed, by its dotted name."""
    named = {
        f"training.{name}": f"--{option} {getattr(options, name)}"
        for option, name in _SETTINGS.items()
        if getattr(options, name) is not None
    }
    named |= {f"training.{name}": f"--{name}" for name in _FLAGS if getattr(options, name)}
    named |= {word.partition("=")[0].strip(): f"--set {word}" for word in options.settings}
    for name in ("source_language", "target_language"):
        if getattr(options, name) is not None:
            named[f"data.{name}"] = f"--{name.replace('_', '-')} {getattr(options, name)}"
    return named


def _chooses_batches(options: argparse.Namespace) -> bool:
    """Whether the options, or a run that they continue, choose the size of batches."""
    is_chosen = options.resume or options.preset is not None or options.config is not None
    return is_chosen or not _named_by_options(options).keys().isdisjoint(
        ("training.batch_size", "training.batch_unit")
    )


def _with_options(run: RunConfig, options: argparse.Namespace) -> RunConfig:
    """The run with the settings that options change. Raises `ConfigError`."""
    changes = {
        name: getattr(options, name)
        for name in _SETTINGS.values()
        if getattr(options, name) is not None
    }
    changes |= {name: True for name in _FLAGS if getattr(options, name)}
    run = run.with_training(**changes)
    return with_languages(
        with_dotted(run, options.settings, [f"training.{name}" for name in changes]), options
    )


def read_changes(words: Sequence[str]) -> dict[str, Any]:
    """The values of training settings NAME=VALUE, by name; the last of a name counts.

    Raises `ConfigError`.
    """
    changes: dict[str, Any] = {}
    settings = {
        name.partition(".")[2]: name
        for name in dotted_settings()
        if not name.startswith("training.")
    }
    for word in words:
        name = word.partition("=")[0].strip()
        fixed = settings.get(name.rpartition(".")[2])
        if (
            fixed is not None
            and f"training.{name.removeprefix('training.')}" not in dotted_settings()
        ):
            raise ConfigError(
                f"{fixed} cannot change during a run: --change is for settings of training "
                "alone. Start a new run with --set instead."
            )
        changes |= read_settings([f"training.{word.strip().removeprefix('training.')}"])["training"]
    return changes


SECONDS_BETWEEN_LINES = 30.0


class TerminalProgress:
    """Shows training events on standard error: one line per epoch, and the progress between them.

    In a terminal, progress is a bar. A file or pipe gets a line after the first step and then every
    `SECONDS_BETWEEN_LINES`. If the terminal disappears, training continues without output.

    Args:
        clock: seconds since an arbitrary moment.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._bar: Any = None
        self._is_terminal = sys.stderr.isatty()
        self._is_training = False
        self._is_gone = False
        self._clock = clock
        self._next_line = -math.inf
        self._num_steps = 0
        self._notes: tuple[str, ...] = ()

    def __call__(self, event: "TrainingEvent") -> None:
        """Show one event."""
        with self._unless_gone():
            self._show(event)

    @contextlib.contextmanager
    def _unless_gone(self) -> Iterator[None]:
        try:
            yield
        except OSError:  # EIO: the terminal was closed; EPIPE: the reader of the log has ended
            self._is_gone = True
            self._bar = None

    def _show(self, event: "TrainingEvent") -> None:
        from .. import events

        if self._is_gone:
            return
        match event:
            case events.PhaseStarted():
                self.phase(event.text)
            case events.TrainingStarted():
                self._start(event)
            case events.StepDone():
                self._step(event)
            case events.EpochDone():
                bleu = "" if event.bleu is None else f"BLEU {event.bleu:.2f}  "
                self.say(
                    f"epoch {event.epoch:3d}  step {event.step:6d}  training "
                    f"{event.training_loss:.4f}  validation {event.validation_loss:.4f} (batch "
                    f"mean {event.validation_loss_batch_mean:.4f})  "
                    f"{bleu}{duration(event.seconds)}{'  best' if event.is_best else ''}"
                )
            case events.SampleTranslated():
                self._sample(event)
            case events.Noted():
                self.say(event.text)
            case events.TrainingFinished():
                self._finish(event)

    def phase(self, text: str) -> None:
        """Show the current phase, next to the bar if there is one.

        Files omit the phases of each epoch.
        """
        if self._bar is not None:
            self._bar.set_postfix_str(text)
        elif not self._is_training:
            self.say(text)

    def close(self) -> None:
        """Remove the bar."""
        self._is_training = False
        with self._unless_gone():
            if self._bar is not None:
                self._bar.close()
                self._bar = None

    def _start(self, event: "TrainingStarted") -> None:
        self.say(
            f"{event.preset}: {event.num_parameters:,} parameters, "
            f"{counted(event.num_training_pairs, 'training pair')}, on "
            f"{event.device} ({event.device_reason}); checkpoints go to {event.folder}"
        )
        self._is_training = True
        self._num_steps = event.num_steps
        if not self._is_terminal:
            return
        from tqdm import tqdm

        self._bar = tqdm(
            total=event.num_steps,
            initial=event.first_step,
            unit=" steps",
            file=sys.stderr,
            mininterval=0.2,
            bar_format="{percentage:3.0f}% |{bar:20}| {n_fmt}/{total_fmt}{postfix}",
        )

    def _step(self, event: "StepDone") -> None:
        # epochs of token batches differ slightly in length
        self._num_steps = max(self._num_steps, event.step)
        state = (
            f"loss {event.loss:.3f}, rate {event.learning_rate:.2e}, "
            f"{event.tokens_per_second:,.0f} tokens/s, {duration(event.seconds_left)} left"
        )
        if self._bar is not None:
            self._bar.n = event.step
            self._bar.total = self._num_steps
            self._bar.set_postfix_str(state)
        elif self._clock() >= self._next_line:
            self._next_line = self._clock() + SECONDS_BETWEEN_LINES
            self.say(f"step {event.step:,} of {self._num_steps:,}, {state}")

    def _sample(self, event: "SampleTranslated") -> None:
        for example in event.examples[:1]:
            self.say(f"  {example.source}")
            self.say(f"  → {example.hypothesis}")
        for note in event.notes:
            if note not in self._notes:  # those on the sources are always the same
                self.say(f"note: {display_text(note)}")
        self._notes = event.notes

    def _finish(self, event: "TrainingFinished") -> None:
        self.close()
        endings = {
            "completed": "All epochs are done",
            "max_steps": "The step limit is reached",
            "patience": "The validation loss has stopped improving (patience): ended",
        }
        ending = endings.get(event.reason, "Stopped")
        best = "Nothing was validated yet"
        if event.best_epoch:
            best = (
                f"Best validation loss {event.best_validation_loss:.4f} in epoch {event.best_epoch}"
            )
        self.say(
            f"{ending} after step {event.step} ({duration(event.seconds)}). {best}: "
            f"{event.best_checkpoint}"
        )

    def say(self, text: str) -> None:
        """Print a line above the bar."""
        if self._is_gone:
            return
        with self._unless_gone():
            if self._bar is None:
                print(one_line(text), file=sys.stderr)
            else:
                self._bar.write(one_line(text), file=sys.stderr)
