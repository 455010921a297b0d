"""Reads the inputs of a run: the models it begins with and learns from, and its corpus with their
vocabularies.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ...checkpoint.file import Checkpoint, load_checkpoint
from ...config import RunConfig, TrainingConfig
from ...errors import AugenmerkError, ConfigError, CorpusError, Misfit, UnfitCorpusError
from ...run_files import INPUTS, RUN_SETTINGS
from ...text.codec import CodecPair
from ..run_settings.dotted import with_dotted
from ..run_settings.toml_file import read_toml
from ..wording import Wording
from .checkpoint_manager import load_resumable
from .checks import check_corpus_fits
from .corpora.loading import COPY, load_corpus, located
from .corpora.multi30k import DownloadStoppedError
from .corpora.parallel import DataSource, name_of_source
from .corpora.prepared import PreparedCorpus
from .folder import (
    read_run_inputs,
    require_right_folder,
    was_interrupted_before_first_checkpoint,
)
from .session import (
    ORIGINAL_DATA,
    changed_data,
    digests_of,
    other_data,
    require_initial_model,
    require_own_initial_model,
    require_same_reading,
    require_same_run,
    require_teachers,
)

_NAME_AGAIN = Wording(
    "name them again by --data.", "choose them under “data” in the form of a new run, then resume."
)
_MOST_MISFITS = 3
"""That keep a corpus from being prepared: the subwords, and the length limit for each split."""


class RunModels(NamedTuple):
    """Models that a run reads: the one to begin with, None for random weights, and the ones to
    learn from.
    """

    initial: Checkpoint | None = None
    teachers: Sequence[Checkpoint] = ()


def load_models(
    folder: Path,
    *,
    resume: bool = False,
    initial_model: Path | None = None,
    teachers: Sequence[Path] = (),
) -> RunModels:
    """The models at these paths; a resumed run knows where those were that are not named.

    Raises:
        CheckpointError: a model cannot be read.
    """
    if resume:
        recorded = read_run_inputs(folder)
        teachers = teachers or recorded.teachers
        if initial_model is None and was_interrupted_before_first_checkpoint(folder):
            initial_model = recorded.initial_model
    initial = None if initial_model is None else load_checkpoint(initial_model)
    return RunModels(initial, [load_checkpoint(path) for path in teachers])


def settings_of_run(folder: Path) -> RunConfig:
    """The settings of the run in `folder`, to resume it with.

    Raises:
        ConfigError: its file of settings cannot be read.
        CheckpointError: there is no run, or no such file, and its checkpoint cannot be read either.
    """
    require_right_folder(folder, resume=True)
    own = folder / RUN_SETTINGS
    return read_toml(own) if own.is_file() else load_resumable(folder, with_state=False)[0].run


def read_corpus(
    run: RunConfig,
    folder: Path,
    source: DataSource | None = None,
    *,
    resume: bool = False,
    models: RunModels = RunModels(),  # noqa: B008 — it is immutable
    on_phase: Callable[[str], None] = lambda text: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> PreparedCorpus:
    """The corpus of a run, read with the vocabularies that it has already.

    Args:
        run: all settings.
        folder: of the run.
        source: names the corpus; None for that of the resumed run.
        resume: whether the run in the folder is continued.
        models: of the run.
        on_phase, should_stop: as for `load_corpus`.

    Raises:
        CorpusError: the source is missing or unusable.
        MisfitError: it cannot be prepared with a setting; all else that does not fit is named, too.
        ConfigError: the source is of another kind than the preset needs, or it is not known.
        CheckpointError: see `codecs_to_keep`.
    """
    original: DataSource | None = None
    if resume:
        original = COPY if run.is_copy_task else read_run_inputs(folder).data
    if source is None:
        source = original
    if source is None:
        if resume:
            raise ConfigError(
                "{inputs} does not name the data of this run, or is missing or damaged. To resume, "
                "{name_again}",
                inputs=Path(folder) / INPUTS,
                name_again=_NAME_AGAIN,
            )
        raise ConfigError(f"It is not known which data the run in {folder} needs. Name them.")
    require_teachers(run.training, digests_of(models.teachers))
    codecs = codecs_to_keep(
        run, folder, resume=resume, initial=models.initial, teachers=models.teachers
    )

    def load(now: RunConfig) -> PreparedCorpus:
        is_first = now is run  # later ones only look for more misfits
        return load_corpus(
            source, now, on_phase if is_first else lambda text: None, should_stop, codecs
        )

    if not resume:
        return _load_with_fitting_settings(run, load, keeps_model=models.initial is not None)
    try:
        return load(run)
    except DownloadStoppedError:
        raise
    except (CorpusError, ConfigError) as error:
        problem = other_data(located(source), original)
        if original is None or (isinstance(error, ConfigError) and not problem):
            raise
        raise _of_resumed_run(error, source, problem) from error


def _load_with_fitting_settings(
    run: RunConfig, load: Callable[[RunConfig], PreparedCorpus], *, keeps_model: bool
) -> PreparedCorpus:
    """The corpus.

    Raises `MisfitError` if it can only be prepared with other settings, which names all misfits.
    """
    misfits: dict[str, Misfit] = {}
    for _ in range(_MOST_MISFITS):
        try:
            corpus = load(run)
            break
        except UnfitCorpusError as error:
            misfit = error.misfit
            run = with_dotted(run, [f"{misfit.name}={misfit.value}"])
            misfits[misfit.name] = replace(misfit, problem=misfits.get(misfit.name, misfit).problem)
    else:
        corpus = load(run)
    if misfits:
        check_corpus_fits(run, corpus, [*misfits.values()], keeps_model=keeps_model)
    return corpus


def _of_resumed_run(error: AugenmerkError, source: DataSource, problem: str) -> CorpusError:
    """The error of a run that `source` cannot continue; `problem` is what `other_data` says about
    it.
    """
    if isinstance(error, UnfitCorpusError):
        problem = problem or changed_data(name_of_source(source))
        return CorpusError(f"{problem}. {error.misfit.problem} {ORIGINAL_DATA}")
    if isinstance(error, ConfigError):  # the data are of another kind
        return CorpusError(f"{problem}. {ORIGINAL_DATA}")
    if problem:
        return CorpusError("{problem}. {reason}", problem=problem, reason=error)
    return CorpusError(
        "The data of this run are no longer readable. {reason} If they were moved, {name_again}",
        reason=error,
        name_again=_NAME_AGAIN,
    )


def codecs_to_keep(
    run: RunConfig,
    folder: Path,
    *,
    resume: bool = False,
    initial: Checkpoint | None = None,
    teachers: Sequence[Checkpoint] = (),
) -> CodecPair | None:
    """The codecs for `load_corpus`; None to learn them from the data.

    A resumed run keeps its own. A model that is trained further keeps its vocabularies, and a
    student uses those of its teachers.

    Args:
        run: all settings.
        folder: of the run.
        resume: whether the run in it is continued.
        initial: the model to begin with.
        teachers: the models to learn from.

    Raises:
        CheckpointError: the run to resume has another architecture or data settings, the model to
            begin with, or the first teacher, reads text with other settings; or there is no
            checkpoint to resume from.
        ConfigError: the settings name a model to begin with, and none is given.
    """
    if resume and not was_interrupted_before_first_checkpoint(folder):
        checkpoint, _, _ = load_resumable(folder, with_state=False)
        require_same_run(run, checkpoint.run, frozenset(TrainingConfig.described()))
        require_own_initial_model(initial, checkpoint.run.training)
        return checkpoint.codecs
    require_initial_model(run.training, initial is not None)
    if initial is not None:
        require_same_reading(run.data, initial.run.data, "The model to begin with")
        return initial.codecs
    if teachers:
        require_same_reading(run.data, teachers[0].run.data, "Teacher 1")
        return teachers[0].codecs
    return None
