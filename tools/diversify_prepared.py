"""Like `tools.diversify`, for prepared data: on a GPU, without text or spaCy, and with ensembles.

    python -m tools.diversify_prepared DATA.safetensors … --out FILE
        [--forward MODEL …] … [--backward MODEL …] …
    python -m tools.diversify_prepared DATA.safetensors --out FILE --reverse

Data diversification (Nguyen et al. 2020, arXiv:1911.01986) and sequence-level distillation (Kim &
Rush 2016). DATA is written by `augenmerk data prepare`; several files must share validation split
and vocabulary. FILE gets all their training pairs, then for each --forward every source of the
first file with its translation, and for each --backward every target with its translation. Several
models of one option translate together, by the mean of their distributions. Duplicates are dropped.
Word counts stay those of the first file.

With --reverse, sources and targets change places: the data of a model for --backward.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from augenmerk.core.checkpoint.file import Checkpoint, load_checkpoint
from augenmerk.core.device import choose_device
from augenmerk.core.errors import AugenmerkError, CorpusError
from augenmerk.core.extensions.training.corpora.prepared import (
    EncodedPairs,
    PreparedCorpus,
    load_prepared,
    save_prepared,
)
from augenmerk.core.model.decoder_state import DecoderState
from augenmerk.core.model.outputs import Encoding
from augenmerk.core.model.transformer import Transformer
from augenmerk.core.padding import pad
from augenmerk.core.text.codec import CodecPair
from augenmerk.core.translation.beam import beam_search
from augenmerk.core.translation.compilation import max_steps
from augenmerk.core.translation.decoding import DecodingRules, batches_by_length

BATCH_SIZE = {"cuda": 1024, "cpu": 32}


class Ensemble:
    """Models of one vocabulary that translate together: the mean of their distributions is
    searched.

    It has the methods of a model that `beam_search` calls.
    """

    def __init__(self, models: Sequence[Transformer]) -> None:
        self.models = models
        self.output = models[0].output
        self.encodings: list[Encoding] = []

    def encode(self, source: Tensor) -> Encoding:
        """The encoding by the first model; those of all are kept for `start_decoding`."""
        self.encodings = [model.encode(source) for model in self.models]
        return self.encodings[0]

    def start_decoding(self, encoding: Encoding, max_length: int) -> "EnsembleState":
        """The state of all models before the first token."""
        pairs = zip(self.models, self.encodings, strict=True)
        return EnsembleState(
            [model.start_decoding(model_encoding, max_length) for model, model_encoding in pairs]
        )


class EnsembleState:
    """The decoders of several models, which read the same tokens."""

    has_guesses = False

    def __init__(self, states: Sequence[DecoderState]) -> None:
        self.states = states

    @property
    def step(self) -> int:
        """Tokens read so far."""
        return self.states[0].step

    def read(self, tokens: Tensor) -> Tensor:
        """The log-probabilities [B, V] of the next token: of the mean distribution."""
        log_probabilities = torch.stack(
            [state.read(tokens).float().log_softmax(dim=-1) for state in self.states]
        )
        return torch.logsumexp(log_probabilities, dim=0)

    def select(self, rows: Tensor) -> None:
        """Keeps (or repeats, or reorders) the batch rows with these indices [B']."""
        for state in self.states:
            state.select(rows)

    def reorder(self, rows: Tensor) -> None:
        """Like `select`, where each row takes the place of one with the same source."""
        for state in self.states:
            state.reorder(rows)


def reversed_corpus(corpus: PreparedCorpus) -> PreparedCorpus:
    """The corpus of the other direction, with the same joint vocabulary.

    Raises:
        CorpusError: each side has a vocabulary of its own, or only the target is wrapped in start
            and end.
    """
    data = corpus.config
    if data.num_subwords is None or not data.wrap_source:
        raise CorpusError(
            f"{corpus.name} has no joint vocabulary. Prepare it for the preset multi30k."
        )
    config = data.replace(
        source_language=data.target_language,
        target_language=data.source_language,
        source_case=data.target_case,
        target_case=data.source_case,
    )
    return PreparedCorpus(
        f"{corpus.name}, reversed",
        config,
        CodecPair(corpus.codecs.target, corpus.codecs.source),
        EncodedPairs(corpus.train.target, corpus.train.source),
        EncodedPairs(corpus.validation.target, corpus.validation.source),
        type(corpus.validation_texts)(
            corpus.validation_texts.target, corpus.validation_texts.source
        ),
    )


def diversify(parts: Sequence[EncodedPairs]) -> EncodedPairs:
    """All pairs in their order, without duplicates and pairs with an empty side."""
    pairs: dict[tuple[tuple[int, ...], tuple[int, ...]], None] = {}
    for part in parts:
        both = zip(map(tuple, part.source), map(tuple, part.target), strict=True)
        # more than start and end
        pairs |= dict.fromkeys(pair for pair in both if min(map(len, pair)) > 2)
    return EncodedPairs(
        [list(source) for source, _ in pairs], [list(target) for _, target in pairs]
    )


@torch.inference_mode()
def translate(
    checkpoints: Sequence[Checkpoint], sources: Sequence[Sequence[int]], beam: int, device: str
) -> Iterator[tuple[int, list[int]]]:
    """The translation of each source by these models together: its index and target ids.

    The ids include start and end. On a GPU products are computed in bfloat16.
    """
    first = checkpoints[0]
    rules = DecodingRules.of_codec(first.codecs.target, first.decoding)
    ensemble = Ensemble([checkpoint.build_model().eval().to(device) for checkpoint in checkpoints])
    kind = torch.device(device).type
    for group in batches_by_length(
        [len(ids) for ids in sources], BATCH_SIZE.get(kind, BATCH_SIZE["cpu"])
    ):
        padded = pad(
            [sources[index] for index in group], first.codecs.source.vocabulary.padding_id
        ).to(device)
        limits = [max_steps(len(sources[index]), first.run, rules) for index in group]
        with torch.autocast(kind, dtype=torch.bfloat16, enabled=kind == "cuda"):
            translations = beam_search(ensemble, ensemble.encode(padded), limits, rules, beam)  # type: ignore[arg-type]
        for index, chosen in zip(group, translations, strict=True):
            yield index, [rules.start_id, *chosen]


def translated(
    models: Sequence[Path],
    corpus: PreparedCorpus,
    sources: Sequence[list[int]],
    beam: int,
    device: str,
) -> list[list[int]]:
    """The translations of these sentences of the corpus by models together.

    Raises:
        CorpusError: a model has another vocabulary.
        AugenmerkError: a model cannot be read.
    """
    checkpoints = [load_checkpoint(model) for model in models]
    for path, checkpoint in zip(models, checkpoints, strict=True):
        if checkpoint.codecs.to_dict() != corpus.codecs.to_dict():
            raise CorpusError(
                f"{path} has another vocabulary than {corpus.name}. Train it on data prepared "
                "like this."
            )
    targets: list[list[int]] = [[]] * len(sources)
    for number, (index, ids) in enumerate(translate(checkpoints, sources, beam, device), start=1):
        targets[index] = ids
        if number % 5_000 == 0:
            print(f"{number:,} of {len(sources):,}", file=sys.stderr, flush=True)
    return targets


def main(words: Sequence[str]) -> int:
    """Print the number of pairs. The exit status is 2 if a file cannot be used."""
    options = _options(words)
    try:
        corpora = [load_prepared(path) for path in options.data]
        first = corpora[0]
        device = choose_device(options.device).name
        if options.reverse:
            save_prepared(reversed_corpus(first), options.out)
            return 0
        if any(corpus.codecs.to_dict() != first.codecs.to_dict() for corpus in corpora):
            raise CorpusError(
                "The files have different vocabularies. Name files made from the same data."
            )
        source, target = first.train.source, first.train.target
        of_sources = (
            translated(models, first, source, options.beam, device) for models in options.forward
        )
        of_targets = (
            translated(models, first, target, options.beam, device) for models in options.backward
        )
        parts = [corpus.train for corpus in corpora]
        parts += [EncodedPairs(source, translations) for translations in of_sources]
        parts += [EncodedPairs(translations, target) for translations in of_targets]
        more = replace(first, name=f"{first.name}, diversified", train=diversify(parts))
        save_prepared(more, options.out)
    except AugenmerkError as error:
        print(error, file=sys.stderr)
        return 2
    print(
        f"{options.out}: {len(more.train):,} pairs, {len(first.train):,} of them from "
        f"{options.data[0]}"
    )
    return 0


def _options(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, nargs="+", metavar="DATA")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    parser.add_argument(
        "--forward", type=Path, nargs="+", action="append", default=[], metavar="MODEL"
    )
    parser.add_argument(
        "--backward", type=Path, nargs="+", action="append", default=[], metavar="MODEL"
    )
    parser.add_argument("--reverse", action="store_true")
    parser.add_argument("--beam", type=int, default=4)
    parser.add_argument("--device", default="auto")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
