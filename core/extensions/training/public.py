"""Training and evaluation from Python, as the commands `train` and `evaluate` do them."""

from collections.abc import Callable, Sequence
from pathlib import Path

from ...arguments import checks_arguments
from ...translation.experiment import DEFAULT_LENGTH_PENALTY, General
from ...translation.translator import Translator
from ..run_settings.dotted import read_settings, with_dotted
from ..run_settings.presets import preset
from ..run_settings.toml_file import read_toml
from .corpora.parallel import DataSource
from .evaluation import evaluate as evaluate_lines
from .events import TrainingEvent, TrainingFinished
from .folder import require_right_folder
from .inputs import read_corpus
from .loop import train as train_on
from .scores import CorpusScores


@checks_arguments
def train(
    config: str | Path,
    data: DataSource,
    out: Path | str,
    *,
    settings: Sequence[str] = (),
    device: str = "auto",
    resume: bool = False,
    on_event: Callable[[TrainingEvent], None] = lambda event: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> TrainingFinished:
    """Trains a Transformer, and saves checkpoints and history in `out`.

    Args:
        config: the name of a preset, such as "notebook", or a TOML file of settings.
        data: a folder with train.de and train.en, a file of sentence pairs, the two files of both
            languages, "multi30k" (downloaded once) or "copy" (the copy task).
        out: the folder of the run, created if missing.
        settings: changes to the configuration, such as "training.num_epochs=2".
        device: "auto", "cpu", "cuda", "cuda:N" or "mps".
        resume: continue the run in `out` that was stopped, from its last checkpoint. Pass the same
            configuration and data; settings of the training may be others from here on.
        on_event: called with every step, epoch and checkpoint, in this thread.
        should_stop: called before every step; True saves the run and ends it.

    Returns:
        The end of the run; `best_checkpoint` is the file for `Translator.load`.

    Raises:
        ConfigError: there is no such preset, or a setting is refused.
        CheckpointError: there is no run to resume, or it has another configuration.
        CorpusError: the data are missing or unusable.
        TrainingError: the folder contains another run, or the run cannot go on.
        DeviceError: the device is not available.
        StorageError: a file cannot be written.
    """
    folder = Path(out)
    is_file = isinstance(config, Path) or config.endswith(".toml")
    run = with_dotted(read_toml(Path(config)) if is_file else preset(str(config)), settings)
    require_right_folder(folder, resume)
    corpus = read_corpus(run, folder, data, resume=resume)
    return train_on(
        run,
        corpus,
        folder,
        device=device,
        resume=resume,
        changes=read_settings(settings)["training"] if resume else None,
        on_event=on_event,
        should_stop=should_stop,
    )


@checks_arguments
def evaluate(
    translator: Translator,
    pairs: Sequence[tuple[str, str]],
    *,
    beam: int = 1,
    length_penalty: float = DEFAULT_LENGTH_PENALTY,
    changes: Sequence[General] = (),
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> CorpusScores:
    """Translates the first sentence of each pair, and scores the result against the second.

    Args:
        translator: the model.
        pairs: source sentences with their reference translations.
        beam: number of partial translations; 1 for greedy decoding.
        length_penalty: of a beam.
        changes: to heads and networks, for every sentence.
        on_progress: called with the number of sentences done and that of all.

    Raises:
        CorpusError: there are no pairs.
        ConfigError: the beam or the length penalty is out of range.
        AnalysisError: the model has no such head.
    """
    scores, _ = evaluate_lines(
        translator,
        [source for source, _ in pairs],
        [reference for _, reference in pairs],
        lambda done: on_progress(done, len(pairs)),
        beam=beam,
        length_penalty=length_penalty,
        changes=changes,
    )
    return scores
