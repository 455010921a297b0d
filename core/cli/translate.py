"""`augenmerk translate`: one text, its translation, and on request everything behind it."""

import argparse
import json
import math
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.cli.options import add_beam, add_checkpoint, read_beam
from core.errors import ConfigError
from core.storage import atomic_path, check_writable
from core.translation.experiment import Experiment, GivenTarget

if TYPE_CHECKING:
    from core.translation.result import Translation


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds `translate`."""
    parser = commands.add_parser("translate", help="translate a German text", description=__doc__)
    parser.add_argument("text", help="the German text; - reads standard input, a sentence a line")
    parser.add_argument(
        "--target", metavar="TEXT", help="read this translation too, and tell its probability beside the model's own"
    )
    parser.add_argument("--json", action="store_true", help="print tokens, probabilities and alternatives as JSON")
    parser.add_argument(
        "--attention",
        type=Path,
        metavar="FILE.npz",
        help="write all attention maps and the token lists to this file; with --target, those of the given pair",
    )
    add_beam(parser)
    add_checkpoint(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Translates and prints. Raises `AugenmerkError`."""
    from core.translation.translator import Translator

    compute_on_one_thread()
    beam, length_penalty = read_beam(options)
    if options.attention:
        check_writable(options.attention)
    texts = read_texts(options)
    translator = Translator.load(options.checkpoint, options.device)
    found: list[dict[str, Any] | None] = []
    for number, text in enumerate(texts, 1):
        if len(texts) > 1 and not text.strip():
            found.append(None)
            translation = given = None
        else:
            translation = translator.translate(text, beam=beam, length_penalty=length_penalty)
            given = None if options.target is None else translator.run(Experiment(text, GivenTarget(options.target)))
            found.append(as_dict(translation) | ({} if given is None else {"given": as_dict(given)}))
            if options.attention:
                save_attention(given or translation, options.attention)
        if not options.json:
            print_translation(translation, given, f"line {number}: " if len(texts) > 1 else "")
    if options.json:
        print(json.dumps(found if len(texts) > 1 else found[0], ensure_ascii=False, indent=2))
    return 0


def print_translation(translation: "Translation | None", given: "Translation | None", where: str) -> None:
    """A line, empty for an empty one; what compares it with a given pair; what there is to note, to standard error."""
    print("" if translation is None else translation.text, flush=True)
    if translation is not None and given is not None:
        print_beside(translation, given)
    notes = [note for each in (translation, given) if each is not None for note in each.notes]
    for note in dict.fromkeys(notes):
        print(f"augenmerk: note: {where}{note}", file=sys.stderr)


def read_texts(options: argparse.Namespace) -> list[str]:
    """What to translate: the argument, or each line of standard input.

    Raises:
        ConfigError: there are several lines, and an option that is about one sentence.
    """
    if options.text != "-":
        return [options.text]
    lines = sys.stdin.read().strip("\r\n").splitlines() or [""]
    if len(lines) > 1 and (options.attention or options.target is not None):
        raise ConfigError(
            f"Standard input has {len(lines)} lines, but --attention and --target are about one sentence. Give one "
            "line, or leave these options out."
        )
    return lines


def print_beside(own: "Translation", given: "Translation") -> None:
    """The given translation, and both probabilities: of the whole, and of a token on average."""
    print(given.text)
    for name, each in (("own", own), ("given", given)):
        num_tokens = len(each.log_probabilities)
        print(
            f"{name + ':':<7}log-probability {each.log_probability:8.3f} nats, {num_tokens} tokens, "
            f"{math.exp(each.log_probability / num_tokens):.1%} a token (geometric mean)"
        )


def compute_on_one_thread() -> None:
    """The steps of one sentence are too small to share among threads, unless OMP_NUM_THREADS says otherwise."""
    import torch

    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(1)


def save_attention(translation: "Translation", path: Path) -> None:
    """Writes the maps of all heads and the tokens of their rows and columns as NPZ, atomically.

    Arrays: `encoder` [L, H, S, S], `decoder` [L, H, T, T], `cross` [L, H, T, S]; `source_tokens` [S], `read_tokens` and
    `predicted_tokens` [T]. No pickle is needed to read it. Raises `StorageError`.
    """
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(
            file,
            encoder=translation.maps.encoder,
            decoder=translation.maps.decoder,
            cross=translation.maps.cross,
            source_tokens=np.array(translation.source_tokens),
            read_tokens=np.array(translation.read_tokens),
            predicted_tokens=np.array(translation.predicted_tokens),
        )


def as_dict(translation: "Translation") -> dict[str, Any]:
    """The translation as JSON-ready values, without the maps."""
    return {
        "source": translation.source_text,
        "translation": translation.text,
        "log_probability": translation.log_probability,
        "source_tokens": translation.source_tokens,
        "read_tokens": translation.read_tokens,
        "predicted_tokens": translation.predicted_tokens,
        "log_probabilities": translation.log_probabilities,
        "alternatives": [[asdict(choice) for choice in step] for step in translation.alternatives],
        "source_words": [asdict(word) for word in translation.source_words],
        "target_words": [asdict(word) for word in translation.target_words],
        "unknown_source_positions": translation.unknown_source_positions,
        "ignored_text": translation.ignored_text,
        "notes": translation.notes,
        "seconds": translation.seconds,
    }
