"""Translations and a translator made of thin air, for tests of widgets: plausible maps, no torch."""

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import numpy as np

from core.analysis.measures import MEASURES
from core.config import preset
from core.config.presets import RunConfig
from core.device import DeviceChoice
from core.errors import CheckpointError, TextError
from core.model.heads import Head
from core.translation.experiment import Experiment, Greedy, Intervention, Output
from core.translation.result import Alternative, AttentionMaps, FloatArray, Translation, Word
from viz_app.state.measuring import BESIDE_WEIGHT, MeasuredMaps


def make_translation(
    source: str = "ein mann steht auf einer leiter .",
    target: str = "a man is standing on a ladder .",
    *,
    num_layers: int = 3,
    num_heads: int = 8,
    text: str | None = None,
    unknown: tuple[int, ...] = (),
    ignored_text: str = "",
    notes: tuple[str, ...] = (),
    interventions: tuple[Intervention, ...] = (),
    output: Output | None = None,
) -> Translation:
    """Words are tokens; a word with "|" in it is made of several. Head h of every kind looks h positions aside."""
    source_tokens, source_words = _tokens(source, offset=1)
    target_tokens, target_words = _tokens(target, offset=0)
    source_tokens = ["<sos>", *source_tokens, "<eos>"]
    num_steps = len(target_tokens) + 1
    predicted = (*target_tokens, "<eos>")
    log_probabilities = tuple(-0.05 - 1.2 * (step % 4 == 2) for step in range(num_steps))
    return Translation(
        experiment=Experiment(source.replace("|", "") if text is None else text, output or Greedy(), interventions),
        text=" ".join(word.text for word in target_words).capitalize().replace(" .", "."),
        source_tokens=tuple(source_tokens),
        read_tokens=("<sos>", *target_tokens),
        predicted_tokens=predicted,
        log_probabilities=log_probabilities,
        alternatives=tuple(
            (
                Alternative(token, log_probabilities[step], token),
                *(Alternative(f"other{n}", -2.0 - n, f"other{n}") for n in range(4)),
            )
            for step, token in enumerate(predicted)
        ),
        source_words=tuple(source_words),
        target_words=tuple(target_words),
        unknown_source_positions=unknown,
        ignored_text=ignored_text,
        notes=notes,
        attention=AttentionMaps(
            encoder=_maps(num_layers, num_heads, len(source_tokens), len(source_tokens)),
            decoder=_maps(num_layers, num_heads, num_steps, num_steps, is_causal=True),
            cross=_maps(num_layers, num_heads, num_steps, len(source_tokens)),
        ),
        seconds=0.062,
    )


class FakeTranslator:
    """Translates by copying. "slow" texts wait for nothing; a text of spaces, and the word BOOM, fail."""

    def __init__(self, path: Path | None, device: str) -> None:
        if path is not None and path.name.startswith("broken"):
            raise CheckpointError(f"{path.name} is cut off. A whole checkpoint was expected; use another file.")
        self.path = path
        self.name = path.stem if path else "bundled"
        self.device = DeviceChoice("cpu", "no CUDA device found" if device == "auto" else "asked for")
        self.run: RunConfig = preset("notebook")
        self.num_parameters = 9_038_341
        self.texts: list[str] = []
        self.switched: list[frozenset[Head]] = []

    def translate(self, text: str, *, off: Collection[Head] = (), should_stop=lambda: False) -> Translation:
        """With heads off the first word becomes "off" and their number."""
        self.texts.append(text)
        if not text.strip():
            raise TextError("The text is empty. A sentence was expected; type one.")
        if "BOOM" in text:
            raise ZeroDivisionError("boom")
        words = " ".join(text.lower().split())
        if off:
            self.switched.append(frozenset(off))
            return make_translation(words, " ".join([f"off{len(off)}", *words.split()[1:]]), text=text)
        return make_translation(words, words, text=text)

    def translate_given(self, text: str, target_text: str) -> Translation:
        """The pair as it is; an empty one is refused."""
        if not target_text.strip():
            raise TextError("There is no word in the given translation. A sentence was expected; type one.")
        made = make_translation(" ".join(text.lower().split()), " ".join(target_text.split()), text=text)
        return replace(made, text=target_text.strip(), is_given=True)

    def score(self, translation: Translation, *, off: Collection[Head] = ()) -> tuple[float, ...]:
        """Each head that is off costs 0.25 at the first step."""
        first, *others = translation.log_probabilities
        return (first - 0.25 * len(off), *others)


def measure_by_halves(_: object, translation: Translation) -> MeasuredMaps:
    """Every measure is half the weight; measures of a layer are half the mean of its heads."""
    maps = {
        (measure, kind): translation.maps.of_kind(kind) / 2
        if kind in MEASURES[measure].per_head
        else translation.maps.of_kind(kind).mean(axis=1, keepdims=True) / 2
        for measure, kind in BESIDE_WEIGHT
    }
    return MeasuredMaps(translation, maps)


def _tokens(text: str, offset: int) -> tuple[list[str], list[Word]]:
    tokens: list[str] = []
    words: list[Word] = []
    for word in text.split():
        pieces = word.split("|")
        words.append(Word("".join(pieces), offset + len(tokens), offset + len(tokens) + len(pieces)))
        tokens += pieces
    return tokens, words


def _maps(num_layers: int, num_heads: int, num_rows: int, num_columns: int, *, is_causal: bool = False) -> FloatArray:
    random = np.random.default_rng(0)
    logits = random.normal(size=(num_layers, num_heads, num_rows, num_columns)) * 0.6
    rows = np.arange(num_rows)
    for head in range(num_heads):
        columns = np.clip(rows * num_columns // num_rows - head if is_causal else rows + head, 0, num_columns - 1)
        logits[:, head, rows, columns] += 6 - 0.7 * head
    if is_causal:
        logits[..., np.triu(np.ones((num_rows, num_columns), dtype=bool), k=1)] = -np.inf
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)
