"""Train the bundled model from Multi30k: all stages of tools/bundled_model.toml, in order.

    python -m tools.train_bundled_model --out FOLDER [--data CORPUS] [--dry-run]

CORPUS is a folder with Multi30k; without --data, it is downloaded into the user's cache. FOLDER
gets a subfolder for each stage, `table.md` with the scores on `val` and the time of each, and
`multi30k-de-en.safetensors`. The same command resumes: finished stages are skipped, an unfinished
one continues. Each stage is a command that a user can run, too, in FOLDER; NAME.json records it.
`test_2016_flickr` is not read.
"""

import argparse
import json
import os
import resource
import shlex
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from augenmerk.core.errors import AugenmerkError, ConfigError, TrainingError
from augenmerk.core.extensions.training.corpora.multi30k import download
from augenmerk.core.extensions.training.corpora.parallel import (
    SentencePairs,
    read_folder,
    read_lines,
)
from augenmerk.core.extensions.training.folder import summarize
from augenmerk.core.run_files import LAST, is_run
from augenmerk.core.storage import read_text, write_text
from benchmarks.processor import describe_processor
from tools.diversify import write_folder

RECIPE = Path(__file__).with_name("bundled_model.toml")
REPOSITORY = RECIPE.parent.parent
CORPUS = "corpus"
RESULT = "multi30k-de-en.safetensors"
LANGUAGES = ("de", "en")
DRY_SHARE = 0.01
DRY_SUBWORDS = 1_000
"""290 pairs are too few for 8,000."""
SECONDS_BETWEEN_RECORDS = 30.0
"""A killed command loses at most this much of its recorded time."""
_COLUMNS = {
    "pairs": ",",
    "steps": ",",
    "bleu": ".2f",
    "loss": ".3f",
    "cpu_hours": ".2f",
    "hours": ".2f",
}
TABLE = "table.md"
_HEADER = (
    "| stage | training pairs | steps | BLEU on `val`, greedy | validation loss | CPU hours | "
    "hours |\n"
)


@dataclass(frozen=True)
class Stage:
    """One command of the recipe.

    Attributes:
        name: of the folder or file that it writes.
        command: run in the folder of all stages.
        pairs: the folder with the pairs that a training reads, or that translations write; None for
            another stage.
        model: the model it writes; None if it writes none.
        languages: source and target language of the model.
    """

    name: str
    command: tuple[str, ...]
    pairs: str | None = None
    model: str | None = None
    languages: tuple[str, str] = LANGUAGES

    @property
    def is_training(self) -> bool:
        """Whether it trains a model, which can be resumed."""
        return self.command[1] == "train"


def read_recipe(path: Path, more: Sequence[str]) -> list[Stage]:
    """The stages in a TOML file, each training with its own seed, and the one that writes the
    model.

    Args:
        path: the file.
        more: further options of each training.

    Raises:
        ConfigError: the file cannot be read or is no recipe.
    """
    try:
        recipe = tomllib.loads(read_text(path))
        seed = recipe.pop("seed")
        stages = []
        for name, values in recipe.items():
            if "beam" in values:
                stages.append(_diversification(name, **values))
            else:
                stages.append(_training(name, seed, more, **values))
                seed += 1
        average = ("augenmerk", "average", f"{stages[-1].name}/{LAST}", "--half", "--out", RESULT)
    except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise ConfigError(
            f"{path} is not a recipe: {error!r}. Compare it with tools/{RECIPE.name}."
        ) from error
    return [*stages, Stage(RESULT, average, model=RESULT)]


def _training(
    name: str,
    seed: int,
    more: Sequence[str],
    data: str,
    settings: Mapping[str, Mapping[str, Any]],
    initial_model: str = "",
) -> Stage:
    changes = {
        f"{group}.{key}": value
        for group, values in settings.items()
        for key, value in values.items()
    }
    changes |= {"training.seed": seed, "training.sample_size": 0}
    words = ["augenmerk", "train", "--data", data, "--out", name, *more]
    for setting, value in changes.items():
        words += ["--set", f"{setting}={json.dumps(value) if isinstance(value, bool) else value}"]
    if initial_model:
        words += ["--initial-model", f"{initial_model}/{LAST}"]
    source, target = (changes.get(f"data.{side}_language") for side in ("source", "target"))
    languages = (source or LANGUAGES[0], target or LANGUAGES[1])
    return Stage(name, tuple(words), data, f"{name}/{LAST}", languages)


def _diversification(
    name: str, data: str, forward: Sequence[str], backward: Sequence[str], beam: int
) -> Stage:
    words = ["python", "-m", "tools.diversify", data, "--out", name, "--beam", str(beam)]
    for option, trainings in (("--forward", forward), ("--backward", backward)):
        words += [option, *(f"{training}/{LAST}" for training in trainings)]
    return Stage(name, tuple(words), name)


class Workshop:
    """The folder of all stages, and the record of each: command, scores and times.

    Args:
        folder: created if missing.
        stages: in the order in which they run.
    """

    def __init__(self, folder: Path, stages: Sequence[Stage]) -> None:
        self.folder = folder
        self.stages = stages
        self.processor = describe_processor().removeprefix("Processor: ")

    def write_corpus(self, source: Path, share: float) -> None:
        """Write the first `share` of the pairs of each split, unless that is done."""
        if (self.folder / CORPUS / f"val.{LANGUAGES[1]}").is_file():  # the last file written
            return
        pairs = read_folder(source, *LANGUAGES)
        train, validation = (_first(share, split) for split in (pairs.train, pairs.validation))
        write_folder(self.folder / CORPUS, LANGUAGES, train, validation)

    def carry_out(self, stage: Stage) -> None:
        """Finish a stage and score its model, unless both is done.

        Raises:
            ConfigError: the folder contains this stage by another command.
            TrainingError: a command failed, or the training was stopped.
        """
        command = shlex.join(stage.command)
        record = self._record_of(stage) or {"command": command, "attempts": []}
        if record["command"] != command:
            raise ConfigError(
                f"{self.folder / stage.name} was made by another command: {record['command']}. "
                f"Choose another folder, or delete the stage and {stage.name}.json."
            )
        if "is_done" in record:
            return
        print(f"{stage.name}: {command}", file=sys.stderr, flush=True)
        run_folder = self.folder / stage.name
        if not (stage.is_training and summarize(run_folder).state == "finished"):
            resume = ("--resume",) if stage.is_training and is_run(run_folder) else ()
            self._run(stage, (*stage.command, *resume), record)
        if stage.is_training and (run := summarize(run_folder)).state != "finished":
            raise TrainingError(
                f"{stage.name} was stopped at step {run.step:,}. Repeat the command to resume it."
            )
        if stage.model is not None:
            scores = json.loads(self._run(stage, evaluation(stage.model, stage.languages), record))
            record |= {
                "bleu": scores["bleu_tokenized_lowercased"],
                "loss": scores["loss"]["token_weighted"],
            }
        self._save(stage, record | {"is_done": True})

    def table(self) -> str:
        """The stages so far as a table in Markdown, and the processors that computed them."""
        rows = []
        processors = dict[str, None]()
        for stage in self.stages:
            record = self._record_of(stage)
            if not record:
                break
            attempts = record["attempts"]
            processors |= dict.fromkeys(attempt["processor"] for attempt in attempts)
            values = dict(record)
            if stage.is_training:
                values["steps"] = summarize(self.folder / stage.name).step
            if (
                stage.pairs is not None
                and (file := self.folder / stage.pairs / f"train.{LANGUAGES[0]}").is_file()
            ):
                values["pairs"] = len(read_lines(file))
            for unit in ("cpu_hours", "hours"):
                values[unit] = sum(attempt[unit] for attempt in attempts)
            numbers = [
                f"{values[name]:{form}}" if name in values else ""
                for name, form in _COLUMNS.items()
            ]
            name = stage.name if "is_done" in record else f"{stage.name}, unfinished"
            rows.append(f"| {name} | {' | '.join(numbers)} |\n")
        return "".join(
            [
                _HEADER,
                "|---" * (len(_COLUMNS) + 1),
                "|\n",
                *rows,
                *(f"\n{name}\n" for name in processors),
            ]
        )

    def _run(self, stage: Stage, words: Sequence[str], record: dict[str, Any]) -> str:
        """What a command prints. Its time is recorded as an attempt, while it runs, too.

        Raises:
            TrainingError: it failed.
        """
        program = {"augenmerk": [sys.executable, "-m", "augenmerk"], "python": [sys.executable]}[
            words[0]
        ]
        paths = [str(REPOSITORY), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {"OMP_NUM_THREADS": "1"} | os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
        attempt = {"processor": self.processor, "cpu_hours": 0.0, "hours": 0.0}
        record["attempts"].append(attempt)
        self._save(stage, record)
        begun = time.monotonic()
        used = _seconds_of_children()
        with subprocess.Popen(
            [*program, *words[1:]],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                while True:
                    try:
                        printed, _ = process.communicate(timeout=SECONDS_BETWEEN_RECORDS)
                        break
                    except subprocess.TimeoutExpired:
                        attempt |= {
                            "cpu_hours": _seconds_of(process.pid) / 3600,
                            "hours": _hours_since(begun),
                        }
                        self._save(stage, record)
            except BaseException:
                process.terminate()  # a training saves its last step
                raise
            finally:
                process.wait()
                attempt |= {
                    "cpu_hours": (_seconds_of_children() - used) / 3600,
                    "hours": _hours_since(begun),
                }
                self._save(stage, record)
        if process.returncode:
            raise TrainingError(
                f"{shlex.join(words)} failed with exit status {process.returncode}. See its "
                "message."
            )
        return printed

    def _record_of(self, stage: Stage) -> dict[str, Any]:
        path = self.folder / f"{stage.name}.json"
        return dict(json.loads(read_text(path))) if path.is_file() else {}

    def _save(self, stage: Stage, record: Mapping[str, Any]) -> None:
        write_text(self.folder / f"{stage.name}.json", json.dumps(record, indent=2) + "\n")
        write_text(self.folder / TABLE, self.table())


def evaluation(model: str, languages: tuple[str, str]) -> tuple[str, ...]:
    """The command that scores a model on `val`, greedy."""
    source, reference = (f"{CORPUS}/val.{language}" for language in languages)
    files = ("--checkpoint", model, "--source", source, "--reference", reference)
    return ("augenmerk", "evaluate", *files, "--json")


def main(words: Sequence[str]) -> int:
    """Run all stages and print the table. The exit status is 2 if one fails, 1 if it is stopped."""
    options = _options(words)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    folder = options.out.resolve()
    try:
        more = ["--device", options.device]
        if options.dry_run:
            more += ["--set", f"data.num_subwords={DRY_SUBWORDS}"]
        workshop = Workshop(folder, read_recipe(options.recipe, more))
        workshop.write_corpus(options.data or download(), DRY_SHARE if options.dry_run else 1.0)
        for stage in workshop.stages:
            workshop.carry_out(stage)
    except AugenmerkError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped. Repeat the command to resume.", file=sys.stderr)
        return 1
    print(workshop.table())
    return 0


def _first(share: float, pairs: SentencePairs) -> SentencePairs:
    number = max(1, round(share * len(pairs)))
    return SentencePairs(pairs.source[:number], pairs.target[:number])


def _hours_since(begun: float) -> float:
    return (time.monotonic() - begun) / 3600


def _seconds_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _seconds_of(process_id: int) -> float:
    """Processor seconds of a running process so far; 0 where there is no /proc."""
    try:
        fields = (
            Path(f"/proc/{process_id}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        )
    except OSError:
        return 0.0
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def _options(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--data", type=Path, metavar="CORPUS")
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help=f"use {DRY_SHARE:.0%} of the pairs: all stages with as little of the steps",
    )
    parser.add_argument("--recipe", type=Path, default=RECIPE, metavar="FILE.toml")
    parser.add_argument("--device", default="cpu", help="device to train on (default: %(default)s)")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
