"""Which vocabularies a run reads its data with: those of a model that is given, or what it learns from the data."""

from collections.abc import Sequence
from pathlib import Path

from augenmerk.core.checkpoint.file import Checkpoint
from augenmerk.core.config import RunConfig
from augenmerk.core.text.codec import CodecPair
from augenmerk.core.training.checkpoint_manager import load_resumable
from augenmerk.core.training.record import was_interrupted_before_first_checkpoint
from augenmerk.core.training.resuming import require_initial_model, require_same_reading


def codecs_to_keep(
    run: RunConfig,
    folder: Path,
    *,
    resume: bool = False,
    initial: Checkpoint | None = None,
    teachers: Sequence[Checkpoint] = (),
) -> CodecPair | None:
    """The codecs for `core.corpora.loading.load_corpus`; None if they are to be learned from the data.

    A model that is trained further has its vocabularies already, and a student those of its teachers, whatever data the
    run has. A run that began so and is resumed has them in its checkpoints. The same holds for runs of earlier versions
    whose source vocabulary has start and end tokens that no source sentence has: today these would be left out.

    Args:
        run: all settings.
        folder: of the run.
        resume: whether the run in it goes on.
        initial: the model to begin with.
        teachers: the models to learn from.

    Raises:
        CheckpointError: the model to begin with, or the first teacher, reads text with other settings than `run` has;
            or there is no checkpoint to resume from.
        ConfigError: the settings name a model to begin with, and none is given.
    """
    if resume and not was_interrupted_before_first_checkpoint(folder):
        checkpoint, _, _ = load_resumable(folder, with_state=False)
        begun = checkpoint.run.training
        is_learned = begun.initial_model is None and begun.teachers is None and not _has_unused_marks(checkpoint)
        return None if is_learned else checkpoint.codecs
    require_initial_model(run.training, initial is not None)
    if initial is not None:
        require_same_reading(run.data, initial.run.data, "The model to begin with")
        return initial.codecs
    if teachers:
        require_same_reading(run.data, teachers[0].run.data, "Teacher 1")
        return teachers[0].codecs
    return None


def _has_unused_marks(checkpoint: Checkpoint) -> bool:
    data, source = checkpoint.run.data, checkpoint.codecs.source
    return not data.wrap_source and source.subwords is None and source.vocabulary.end_id is not None
