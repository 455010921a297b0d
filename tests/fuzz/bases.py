"""The intact files that are damaged: checkpoints of each kind, small enough to be read in a moment,
and other files."""

from dataclasses import replace
from pathlib import Path

import torch

from augenmerk.core.checkpoint.file import Checkpoint, save_checkpoint
from augenmerk.core.checkpoint.history import EpochRecord
from augenmerk.core.config import RunConfig
from augenmerk.core.extensions.readers.importing import import_model
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.run_settings.toml_file import to_toml
from augenmerk.core.extensions.training.corpora.learning import learn_codecs
from augenmerk.core.extensions.training.corpora.parallel import SentencePairs
from augenmerk.core.extensions.training.corpora.prepared import (
    prepare,
    prepare_copy_task,
    save_prepared,
)
from augenmerk.core.extensions.training.corpora.word_counting import count_words
from augenmerk.core.extensions.training.history_file import write_history
from augenmerk.core.extensions.training.loop import train
from augenmerk.core.model.heads import Head
from augenmerk.core.model.transformer import Transformer
from augenmerk.core.run_files import STEPS
from augenmerk.core.translation.experiment import (
    AttentionRow,
    Beam,
    Experiment,
    ForcedToken,
    HeadScaled,
    SourceWordReplaced,
)
from augenmerk.core.translation.experiment_file import (
    ModelReference,
    SavedExperiment,
    write_experiment_file,
)
from tests.core.extensions.readers.marian_models import make_folder
from tests.fuzz.folders import pack

GERMAN = (
    "Ein Mann steht auf einer Leiter .",
    "Zwei Hunde spielen im Schnee .",
    "Eine Frau liest ein Buch .",
)
ENGLISH = ("A man stands on a ladder .", "Two dogs play in the snow .", "A woman reads a book .")
RECORDS = (
    EpochRecord(1, 10, 3.0, 2.5, 2.6, 5e-4, 1.5, 12.5),
    EpochRecord(2, 20, 2.0, 2.25, 2.3, 5e-4, 1.25),
)
SMALL = {
    "width": 16,
    "num_heads": 2,
    "feed_forward_width": 32,
    "num_encoder_layers": 2,
    "num_decoder_layers": 2,
}
SENTENCES = {
    "symbols": "1 5 3 2",
    "spacy": "Ein Mann steht auf einer Leiter.",
    "imported": "Ein Mann steht\u00a0auf der Straße \u2460 😀.",
}


def copy_run() -> RunConfig:
    """The run of the resumable checkpoint."""
    base = preset("copy-task-small")
    data = base.data.replace(copy_training_pairs=32, copy_validation_pairs=8)
    training = base.training.replace(
        max_steps=2, batch_size=16, sample_size=0, warmup_steps=4, num_epochs=4
    )
    return replace(
        base, model=base.model.replace(**SMALL, max_positions=32), data=data, training=training
    )


def write_bases(folder: Path) -> dict[str, Path]:
    """Writes all of them, and returns them by the kind of trial that reads them."""
    torch.manual_seed(0)
    words = preset("notebook")
    words = replace(
        words, model=words.model.replace(**SMALL), data=words.data.replace(min_frequency=1)
    )
    pieces = preset("multi30k")
    pieces = replace(
        pieces,
        model=pieces.model.replace(**SMALL, max_positions=64),
        data=pieces.data.replace(num_subwords=64),
    )
    train(
        copy_run(),
        prepare_copy_task(copy_run().data, copy_run().training.seed),
        folder / "run",
        device="cpu",
    )
    bases = {
        "words": _checkpoint(words, folder / "words.safetensors"),
        "subwords": _checkpoint(pieces, folder / "subwords.safetensors"),
        "copy": folder / "run" / "best.safetensors",
        "resumable": folder / "run" / "last.safetensors",
        "experiment": folder / "base.augenmerk",
        "config": folder / "run" / "run.toml",
        "history": folder / "history.csv",
        "metrics": folder / "run" / STEPS,
        "prepared": folder / "prepared.safetensors",
    }
    original = make_folder(folder / "opus-mt-de-en")
    import_model(original).save(folder / "marian.safetensors")
    bases["marian"] = folder / "marian.safetensors"
    bases["marian-folder"] = folder / "marian.zip"
    bases["marian-folder"].write_bytes(pack(original))
    write_history(bases["history"], RECORDS)
    pairs = SentencePairs(GERMAN, ENGLISH)
    save_prepared(
        prepare("made up", words.data, pairs, pairs, lambda text: None), bases["prepared"]
    )
    write_experiment_file(_saved_experiment(), bases["experiment"])
    return bases


def _checkpoint(run: RunConfig, path: Path) -> Path:
    codecs = learn_codecs(
        run.data, [line.split() for line in GERMAN], [line.split() for line in ENGLISH]
    )
    source, target = codecs.source.vocabulary, codecs.target.vocabulary
    model = Transformer(run.model, len(source), len(target), target.padding_id)
    weights = dict(model.named_parameters())
    counts = count_words([line.lower().split() for line in GERMAN], "sentences")
    checkpoint = Checkpoint(
        run, codecs, weights, corpus="made up", history=RECORDS, word_counts=counts
    )
    save_checkpoint(checkpoint, path)
    return path


def _saved_experiment() -> SavedExperiment:
    changes = (
        HeadScaled(Head("cross", 1, 1), 0.5),
        AttentionRow(Head("decoder", 0, 0), 1, (0.25, 0.75)),
        ForcedToken(2, "dog"),
        SourceWordReplaced(1, "Hunde"),
    )
    experiment = Experiment("Ein Mann steht.", Beam(4, 1.5), changes)
    return SavedExperiment(
        experiment, ModelReference("model", "0" * 64), {"layer": 1, "words": True, "pins": (1, 2)}
    )


__all__ = ["SENTENCES", "copy_run", "to_toml", "write_bases"]
