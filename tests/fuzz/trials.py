"""What is tried on one damaged file: read it and, if it is taken, use it.

Only a product's error may come of it.
"""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from augenmerk.core.checkpoint.file import load_checkpoint
from augenmerk.core.device import DeviceChoice
from augenmerk.core.errors import AugenmerkError
from augenmerk.core.extensions.readers.importing import import_model
from augenmerk.core.extensions.run_settings.toml_file import from_toml, read_toml, to_toml
from augenmerk.core.extensions.training.checks import check_corpus_fits, check_memory_for_training
from augenmerk.core.extensions.training.corpora.prepared import load_prepared, prepare_copy_task
from augenmerk.core.extensions.training.folder import describe_checkpoint, summarize
from augenmerk.core.extensions.training.history_file import read_history
from augenmerk.core.extensions.training.loop import train
from augenmerk.core.extensions.training.step_metrics import read_step_metrics
from augenmerk.core.run_files import STEPS
from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.experiment_file import kind_of_file, read_experiment_file, to_bytes
from augenmerk.core.translation.translator import Translator
from tests.fuzz.bases import SENTENCES, copy_run
from tests.fuzz.folders import unpack

CPU = DeviceChoice("cpu", "requested")
REFUSED, TAKEN = "refused", "taken"


def try_checkpoint(path: Path) -> None:
    """Described, loaded, and one sentence translated."""
    describe_checkpoint(path)
    kind_of_file(path)
    translator = Translator(load_checkpoint(path), CPU, path)
    translation = translator.run(Experiment(SENTENCES[translator.run_config.data.tokenization]))
    assert isinstance(translation.text, str)
    translation.text.encode("utf-8")


def try_resumable(path: Path) -> None:
    """The same, and two more steps of the run."""
    folder = path.with_name("resumed")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copyfile(path, folder / "last.safetensors")
    summarize(folder)
    run = copy_run()
    corpus = prepare_copy_task(run.data, run.training.seed)
    train(run, corpus, folder, device="cpu", resume=True, changes={"max_steps": 4})
    try_checkpoint(folder / "last.safetensors")


def try_experiment(path: Path) -> None:
    """Read, and written again as it was."""
    kind_of_file(path)
    saved = read_experiment_file(path)
    assert to_bytes(saved)


def try_config(path: Path) -> None:
    """Read, checked against the memory there is, and written again as it was."""
    run = read_toml(path)
    assert from_toml(to_toml(run)) == run
    check_memory_for_training(run.model, "cpu")


def try_history(path: Path) -> None:
    """Read, alone and as part of a run's folder."""
    folder = path.with_name("described")
    folder.mkdir(exist_ok=True)
    shutil.copyfile(path, folder / "history.csv")
    shutil.copyfile(path, folder / "run.toml")
    summarize(folder)
    read_history(path)


def try_metrics(path: Path) -> None:
    """The metrics of every step: what cannot be read of them is left out."""
    folder = path.with_name("measured")
    folder.mkdir(exist_ok=True)
    shutil.copyfile(path, folder / STEPS)
    metrics = read_step_metrics(folder)
    assert list(metrics.step) == sorted(set(metrics.step))


def try_prepared(path: Path) -> None:
    """Read, and checked as training would."""
    corpus = load_prepared(path)
    run = copy_run()
    check_corpus_fits(replace(run, training=run.training.replace(batch_size=2)), corpus)


def try_marian_folder(path: Path) -> None:
    """Unpacked, recognized, imported, saved, and one sentence translated by what was saved."""
    folder, imported = path.with_name("marian"), path.with_name("imported.safetensors")
    shutil.rmtree(folder, ignore_errors=True)
    unpack(path.read_bytes(), folder)
    import_model(folder).save(imported)
    try_checkpoint(imported)


TRIALS: dict[str, Callable[[Path], None]] = {
    "words": try_checkpoint,
    "subwords": try_checkpoint,
    "copy": try_checkpoint,
    "bundled": try_checkpoint,
    "marian": try_checkpoint,
    "marian-folder": try_marian_folder,
    "resumable": try_resumable,
    "experiment": try_experiment,
    "config": try_config,
    "history": try_history,
    "metrics": try_metrics,
    "prepared": try_prepared,
}


def outcome_of(kind: str, path: Path) -> str:
    """ "taken" or "refused". Any other exception is a finding, and passes."""
    try:
        TRIALS[kind](path)
    except AugenmerkError:
        return REFUSED
    return TAKEN
