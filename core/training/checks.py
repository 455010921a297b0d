"""Checks that a corpus fits the settings of a run, before anything is written. No torch here."""

from augenmerk.core.config import RunConfig
from augenmerk.core.corpora.prepared import PreparedCorpus
from augenmerk.core.errors import ConfigError


def check_corpus_fits(run: RunConfig, corpus: PreparedCorpus) -> None:
    """Raises `ConfigError` unless every sentence fits the model's positions, and the corpus fills a batch."""
    positions = run.model.max_positions
    if run.training.pad_to is not None and run.training.pad_to > positions:
        raise ConfigError(
            f"Sentences are to be padded to {run.training.pad_to} tokens, but the model has {positions} positions. As "
            "many were expected: lower pad_to, or raise max_positions."
        )
    for split, pairs in (("training", corpus.train), ("validation", corpus.validation)):
        if not len(pairs):
            raise ConfigError(
                f"{corpus.name} has no {split} pairs. Both splits are required: use a corpus that has both, or files "
                f"{'train' if split == 'training' else 'val'}.{run.data.source_language} and "
                f".{run.data.target_language} in one folder."
            )
        longest = max(map(len, [*pairs.source, *pairs.target]))
        if longest > positions:
            raise ConfigError(
                f"The longest {split} sentence of {corpus.name} has {longest} tokens, but the model has {positions} "
                f"positions. At most as many tokens were expected: remove that sentence from the corpus, or choose a "
                "preset with more positions (max_positions)."
            )
    _check_batch(run, corpus)


def _check_batch(run: RunConfig, corpus: PreparedCorpus) -> None:
    """Raises `ConfigError` if one batch would hold more than the corpus."""
    size = run.training.batch_size
    if run.training.batch_unit == "sentences":
        available = len(corpus.train)
    else:  # as `core.text.legacy.iterator_batches` counts
        sides = (corpus.train.source, 0), (corpus.train.target, 2)
        available = max(len(side) * (max(map(len, side)) + extra) for side, extra in sides)
    if size > available:
        unit = "sentence pairs" if run.training.batch_unit == "sentences" else "tokens"
        raise ConfigError(
            f"training: batch_size is {size:,} {unit}, but the training split of {corpus.name} has only {available:,}. "
            f"At most as many were expected: set batch_size to {max(1, available // 10):,} or so, or use a "
            "larger corpus."
        )
