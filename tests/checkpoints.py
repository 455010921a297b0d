"""A quickly created checkpoint with untrained weights."""

from dataclasses import replace
from pathlib import Path

SOURCE_WORDS = ("ein", "mann", "steht", "auf", "einer", "leiter", ".")
TARGET_WORDS = ("a", "man", "stands", "on", "a", "ladder", ".")


def write_untrained_checkpoint(path: Path, *, seed: int = 0, num_layers: int = 2) -> Path:
    """Write a German–English checkpoint of width 16 with two heads per layer, and return its
    path."""
    import torch

    from augenmerk.core.checkpoint.file import Checkpoint, save_checkpoint
    from augenmerk.core.extensions.run_settings.presets import preset
    from augenmerk.core.extensions.training.corpora.learning import learn_codecs
    from augenmerk.core.model.transformer import Transformer

    base = preset("notebook")
    layers = {"num_encoder_layers": num_layers, "num_decoder_layers": num_layers}
    small = base.model.replace(width=16, num_heads=2, feed_forward_width=32, **layers)
    run = replace(base, model=small, data=base.data.replace(min_frequency=1))
    codecs = learn_codecs(run.data, [SOURCE_WORDS], [TARGET_WORDS])
    source, target = codecs.source.vocabulary, codecs.target.vocabulary
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = Transformer(run.model, len(source), len(target), target.padding_id)
    save_checkpoint(Checkpoint(run, codecs, dict(model.named_parameters())), path)
    return path
