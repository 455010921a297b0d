"""Statistics of every head over a sample, the roles that follow, and their file. No torch.

Shape legend: `core.maps`; R = `REACH`.

After the roles that Voita et al. 2019 ("Analyzing Multi-Head Self-Attention") and Clark et al. 2019
("What Does BERT Look At?") describe; the thresholds are this project's own.

`MODEL.roles.json` contains the SHA-256 of `MODEL.safetensors` and the thresholds, so other weights
or thresholds never get these roles.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..config import ModelConfig
from ..model.heads import ATTENTION_KINDS, AttentionKind, ByKind, Head, attention_shapes
from ..quantities import percent
from ..storage import open_file, read_text, write_text
from ..translation.experiment import General
from ..translation.result import FloatArray, ReadOnlyArrays, Translation
from .measures import row_entropy
from .selection import is_hidden

BoolArray: TypeAlias = NDArray[np.bool_]
REACH = 3
"""Tokens up to which distances are counted separately; the outermost entries hold larger ones."""


@dataclass(frozen=True, eq=False)
class HeadProfiles(ReadOnlyArrays):
    """Averages for the heads of one kind, over all rows with more than one visible key.

    Attributes:
        kind: encoder, decoder or cross.
        num_rows: rows counted.
        entropy: [L, H], mean of `row_entropy`, in nats.
        relative_entropy: [L, H], from 0 to 1: the entropy divided by that of equal weights on all
            visible keys.
        confidence: [L, H], mean of the largest weight in a row (Voita et al. 2019, section 4, for
            all tokens).
        start_share: [L, H], weight on the key `<sos>`.
        end_share: [L, H], weight on the key `<eos>`.
        distances: [L, H, 2 R + 1], weight on keys at distances −R … R from the row's own position.
            In cross-attention this is the position on the diagonal: t (S − 1) / (T − 1), rounded.
        coverage: [L, H], from 0 to 1: the number of different words with the largest weight of some
            row, divided by the largest possible number; mean over sentences.
    """

    kind: AttentionKind
    num_rows: int
    entropy: FloatArray
    relative_entropy: FloatArray
    confidence: FloatArray
    start_share: FloatArray
    end_share: FloatArray
    distances: FloatArray
    coverage: FloatArray

    @property
    def previous_share(self) -> FloatArray:
        """[L, H], weight on the previous token."""
        return self.distances[..., REACH - 1]

    @property
    def self_share(self) -> FloatArray:
        """[L, H], weight on the row's own token."""
        return self.distances[..., REACH]

    @property
    def next_share(self) -> FloatArray:
        """[L, H], weight on the next token."""
        return self.distances[..., REACH + 1]


@dataclass(frozen=True, eq=False)
class SampleProfiles(ByKind[HeadProfiles]):
    """The heads of a model on a sample.

    Attributes:
        encoder: the encoder's heads.
        decoder: the heads of the decoder's self-attention.
        cross: the heads of cross-attention.
        num_sentences: sentences read.
        num_skipped: sentences that the model refused.
        changes: heads and networks that were changed.
        model_digest: of the model.
        notes: notes for the reader on the sentences, see `core.extensions.note_summaries`.
    """

    encoder: HeadProfiles
    decoder: HeadProfiles
    cross: HeadProfiles
    num_sentences: int
    num_skipped: int = 0
    changes: tuple[General, ...] = ()
    model_digest: str = ""
    notes: tuple[str, ...] = ()


class HeadProfiler:
    """Sums the statistics of heads, sentence by sentence.

    Attributes:
        num_sentences: sentences that were read.
    """

    def __init__(self) -> None:
        self.num_sentences = 0
        self._model_digest = ""
        self._sums = {kind: _Sums() for kind in ATTENTION_KINDS}

    def add(self, translation: Translation) -> None:
        """Add the maps of one translation."""
        for kind in ATTENTION_KINDS:
            self._sums[kind].add(translation.maps.of_kind(kind), _keys(translation, kind), kind)
        self.num_sentences += 1
        self._model_digest = translation.model_digest

    def result(self) -> SampleProfiles:
        """The means over all translations, of which there must be one."""
        encoder, decoder, cross = (
            self._sums[kind].mean(kind) for kind in ("encoder", "decoder", "cross")
        )
        return SampleProfiles(
            encoder, decoder, cross, self.num_sentences, model_digest=self._model_digest
        )


@dataclass
class _Sums:
    """Sums over rows, and of `coverage` over sentences."""

    num_rows: int = 0
    num_sentences: int = 0
    by_row: dict[str, FloatArray] = field(default_factory=dict)
    coverage: FloatArray | float = 0.0

    def add(self, maps: FloatArray, keys: Sequence[str], kind: AttentionKind) -> None:
        """Maps [L, H, Q, M] with the labels of their M keys."""
        num_queries, num_keys = maps.shape[-2:]
        visible = _num_visible(num_queries, num_keys, kind)
        counted = visible > 1
        rows = maps[..., counted, :]
        start, end = _marks(keys)
        entropy = row_entropy(rows)
        sums = {
            "entropy": entropy.sum(axis=-1),
            "relative_entropy": (entropy / np.log(visible[counted])).sum(axis=-1),
            "confidence": rows.max(axis=-1, initial=0).sum(axis=-1),
            "start_share": rows[..., start].sum(axis=(-2, -1)),
            "end_share": rows[..., end].sum(axis=(-2, -1)),
            "distances": _distances(rows, np.flatnonzero(counted), num_queries, kind),
        }
        for name, value in sums.items():
            self.by_row[name] = self.by_row.get(name, 0) + value
        self.coverage = self.coverage + _coverage(rows, ~(start | end))
        self.num_rows += int(counted.sum())
        self.num_sentences += 1

    def mean(self, kind: AttentionKind) -> HeadProfiles:
        """The means; zeros if no row has more than one visible key."""
        means = {
            name: (total / max(1, self.num_rows)).astype(np.float32)
            for name, total in self.by_row.items()
        }
        coverage = np.asarray(self.coverage / max(1, self.num_sentences), dtype=np.float32)
        return HeadProfiles(kind, self.num_rows, coverage=coverage, **means)


def _keys(translation: Translation, kind: AttentionKind) -> tuple[str, ...]:
    return translation.read_tokens if kind == "decoder" else translation.source_tokens


def _num_visible(
    num_queries: int, num_keys: int, kind: AttentionKind
) -> "np.ndarray[tuple[int], np.dtype[np.intp]]":
    """The number of keys that each query can see."""
    return np.arange(1, num_keys + 1) if kind == "decoder" else np.full(num_queries, num_keys)


def _marks(keys: Sequence[str]) -> tuple[BoolArray, BoolArray]:
    """Whether each key is the start or the end token."""
    return np.array([is_hidden(key, {"start"}) for key in keys]), np.array(
        [is_hidden(key, {"end"}) for key in keys]
    )


def _distances(
    rows: FloatArray,
    places: "np.ndarray[tuple[int], np.dtype[np.intp]]",
    num_queries: int,
    kind: AttentionKind,
) -> FloatArray:
    """Weight by distance, [L, H, 2 R + 1], summed over rows [L, H, Q, M].

    Args:
        rows: of maps.
        places: the queries of these rows.
        num_queries: of the maps.
        kind: of the maps.
    """
    num_keys = rows.shape[-1]
    if kind == "cross":
        places = np.rint(places * ((num_keys - 1) / max(1, num_queries - 1))).astype(np.intp)
    distances = (np.arange(num_keys) - places[:, None]).clip(-REACH, REACH) + REACH
    sums = [
        (rows * (distances == distance)).sum(axis=(-2, -1)) for distance in range(2 * REACH + 1)
    ]
    return np.stack(sums, axis=-1)


def _coverage(
    rows: FloatArray, is_word: "np.ndarray[tuple[int], np.dtype[np.bool_]]"
) -> FloatArray:
    """Different words with some row's largest weight, over the largest possible number: [L, H]."""
    num_possible = min(int(is_word.sum()), rows.shape[-2])
    if not num_possible:
        return np.zeros(rows.shape[:2], dtype=np.float32)
    is_largest = rows.argmax(axis=-1)[..., None] == np.arange(rows.shape[-1])
    return ((is_largest.any(axis=-2) & is_word).sum(axis=-1) / num_possible).astype(np.float32)


MAX_BYTES = 10_000_000
ENDING = ".roles.json"

Role = Literal[
    "previous", "next", "self", "end-token sink", "start-token sink", "aligner", "broad", "mixed"
]

POSITION_SHARE = 0.3
"""A positional head gives at least this share of its weight to one neighbour, or to its own token.

Chosen in a gap of the bundled model, on two samples of 200 sentences of Multi30k's validation
split: the largest such share of an encoder head is at least 0.31 or at most 0.24, of a decoder head
at least 0.32 or at most 0.27, apart from two at the threshold (0.303 and 0.298; 0.297 and 0.294).
At 0.4 and at 1/3, more badges would depend on the sample.
"""
SINK_SHARE = 0.5
"""A sink gives at least this share of its weight to `<eos>` or `<sos>`, usually to do nothing."""
ALIGNER_CONFIDENCE = 0.5
"""Least share of a row, on average, that an aligner gives to one key."""
ALIGNER_COVERAGE = 0.65
"""Least share of the words of a sentence that an aligner's keys cover, of those they could.

Chosen by alignment quality. Over the 24 cross heads of the bundled model, Spearman's correlation of
coverage with the alignment error rate on `resources/alignments`, by token read or predicted, is
−0.84 on one half of the pairs and −0.82 on the other (of confidence: −0.84 and −0.85). On two
samples of 200 sentences the same seven heads pass: on both halves seven of the eight best of all.
"""
BROAD_RELATIVE_ENTROPY = 0.73
"""Least share of the entropy of equal weights in a broad head: 9 (20^0.73) of 20 tokens have it.

Chosen in a gap of the bundled model, on the samples of `POSITION_SHARE`: at least 0.74, or at most
0.72.
"""

ROLES: dict[Role, str] = {
    "previous": f"gives at least {percent(POSITION_SHARE)} of its weight to the token before the "
    "one it reads",
    "next": f"gives at least {percent(POSITION_SHARE)} of its weight to the token after the one it "
    "reads",
    "self": f"gives at least {percent(POSITION_SHARE)} of its weight to the token it reads",
    "end-token sink": f"gives at least {percent(SINK_SHARE)} of its weight to <eos>",
    "start-token sink": f"gives at least {percent(SINK_SHARE)} of its weight to <sos>",
    "aligner": "points sharply at one source word after another, right or wrong: the largest "
    f"weight of a row is at least {percent(ALIGNER_CONFIDENCE)} on average, and these "
    f"weights fall on at least {percent(ALIGNER_COVERAGE)} of the words that they "
    "could",
    "broad": "spreads its weight over many tokens, at least as widely as equal weights on "
    f"{round(20**BROAD_RELATIVE_ENTROPY)} of 20 tokens",
    "mixed": "none of the others",
}
"""What a head of each role does.

Positions are counted from the token that is read, although maps name rows by the token predicted.
"""


def role_of(profiles: HeadProfiles, layer: int, head: int) -> Role:
    """The role of one head: the first in `ROLES` that fits, with two exceptions.

    Among positional roles the largest share wins, and a broad head is not positional.
    """
    index = layer, head
    is_broad = profiles.relative_entropy[index] >= BROAD_RELATIVE_ENTROPY
    # of few tokens in sight, even weights give much to each
    if profiles.kind != "cross" and not is_broad:
        shares: dict[Role, float] = {
            "previous": profiles.previous_share[index],
            "next": profiles.next_share[index],
            "self": profiles.self_share[index],
        }
        largest = max(shares, key=lambda role: float(shares[role]))
        if shares[largest] >= POSITION_SHARE:
            return largest
    if profiles.end_share[index] >= SINK_SHARE:
        return "end-token sink"
    if profiles.start_share[index] >= SINK_SHARE:
        return "start-token sink"
    points = (
        profiles.confidence[index] >= ALIGNER_CONFIDENCE
        and profiles.coverage[index] >= ALIGNER_COVERAGE
    )
    if profiles.kind == "cross" and points:
        return "aligner"
    return "broad" if is_broad else "mixed"


def fitting_rows(role: Role, translation: Translation, head: Head) -> BoolArray:
    """The rows of a head's map that do in this translation what the role says, each by itself.

    Returns:
        A value for each row with more than one visible key, as in `HeadProfiles`; all of them for
            “mixed”.
    """
    weights = translation.maps.of_kind(head.kind)[head.layer, head.head]
    num_queries, num_keys = weights.shape
    visible = _num_visible(num_queries, num_keys, head.kind)
    places = np.flatnonzero(visible > 1)
    weights = weights[places]
    start, end = _marks(_keys(translation, head.kind))
    match role:
        case "previous" | "self" | "next":
            expected_keys = places[:, None] + {"previous": -1, "self": 0, "next": 1}[role]
            return np.asarray(
                (weights * (np.arange(num_keys) == expected_keys)).sum(axis=-1) >= POSITION_SHARE
            )
        case "end-token sink" | "start-token sink":
            return np.asarray(
                (weights * (end if role == "end-token sink" else start)).sum(axis=-1) >= SINK_SHARE
            )
        case "aligner":
            return np.asarray(
                (weights.max(axis=-1) >= ALIGNER_CONFIDENCE)
                & ~(start | end)[weights.argmax(axis=-1)]
            )
        case "broad":
            return np.asarray(
                row_entropy(weights) / np.log(visible[places]) >= BROAD_RELATIVE_ENTROPY
            )
    return np.ones(len(weights), dtype=np.bool_)


def roles_of(profiles: HeadProfiles) -> tuple[tuple[Role, ...], ...]:
    """The roles of all heads of a kind, L tuples of H."""
    num_layers, num_heads = profiles.entropy.shape
    return tuple(
        tuple(role_of(profiles, layer, head) for head in range(num_heads))
        for layer in range(num_layers)
    )


@dataclass(frozen=True)
class SampleRoles:
    """The role of every head over a sample.

    Attributes:
        by_kind: L tuples of H roles, by kind.
        sample: the size and kind of the sample, as a phrase after "over" or "on": "200 pairs of the
            validation split".
    """

    by_kind: dict[AttentionKind, tuple[tuple[Role, ...], ...]]
    sample: str

    @classmethod
    def of(cls, profiles: SampleProfiles, what: str) -> "SampleRoles":
        """The roles that follow from statistics.

        `what` names the sentences: "pairs of the validation split".
        """
        by_kind = {kind: roles_of(profiles.of_kind(kind)) for kind in ATTENTION_KINDS}
        return cls(by_kind, f"{profiles.num_sentences} {what}")

    def fits(self, model: ModelConfig) -> bool:
        """Whether these are the heads of this model."""
        return all(
            [len(layer) for layer in self.by_kind[kind]] == [num_heads] * num_layers
            for kind, (num_layers, num_heads) in attention_shapes(model).items()
        )

    def role(self, head: Head) -> Role:
        """The role of one head."""
        return self.by_kind[head.kind][head.layer][head.head]


def roles_path(checkpoint: Path) -> Path:
    """The path of the roles of a checkpoint."""
    return checkpoint.with_name(checkpoint.name.removesuffix(".safetensors") + ENDING)


def write_sample_roles(roles: SampleRoles, checkpoint: Path) -> Path:
    """Write roles next to the measured checkpoint and return their path. Raises `StorageError`."""
    heading = {"sha256": _digest(checkpoint), "sample": roles.sample, "thresholds": _thresholds()}
    lines = [
        f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"
        for name, value in heading.items()
    ]
    for kind in ATTENTION_KINDS:
        layers = ",\n  ".join(json.dumps(layer) for layer in roles.by_kind[kind])
        lines.append(f"{json.dumps(kind)}: [\n  {layers}]")
    target = roles_path(checkpoint)
    write_text(target, "{\n" + ",\n".join(lines) + "\n}\n")
    return target


def read_sample_roles(checkpoint: Path | None, model: ModelConfig) -> SampleRoles | None:
    """The roles stored next to a checkpoint of this model.

    None if the file is missing or unreadable, or belongs to other weights, heads or thresholds:
    roles can be measured again at any time.
    """
    if checkpoint is None:
        return None
    try:
        saved = json.loads(read_text(roles_path(checkpoint), MAX_BYTES))
        if saved["thresholds"] != _thresholds() or saved["sha256"] != _digest(checkpoint):
            return None
        by_kind = {
            kind: tuple(tuple(map(_role, layer)) for layer in saved[kind])
            for kind in ATTENTION_KINDS
        }
        roles = SampleRoles(by_kind, str(saved["sample"]))
        return roles if roles.fits(model) else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _role(name: str) -> Role:
    """The role of this name. Raises `KeyError` if there is none."""
    return {role: role for role in ROLES}[name]  # type: ignore[index]


def _thresholds() -> dict[str, float]:
    return {
        "POSITION_SHARE": POSITION_SHARE,
        "SINK_SHARE": SINK_SHARE,
        "ALIGNER_CONFIDENCE": ALIGNER_CONFIDENCE,
        "ALIGNER_COVERAGE": ALIGNER_COVERAGE,
        "BROAD_RELATIVE_ENTROPY": BROAD_RELATIVE_ENTROPY,
    }


def _digest(path: Path) -> str:
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
