"""The roles of heads: badges, derived from statistics by the thresholds below, and the file that stores them. No torch.

After the roles that Voita et al. 2019 ("Analyzing Multi-Head Self-Attention") and Clark et al. 2019 ("What Does BERT
Look At?") describe; the thresholds are this project's own.

`MODEL.roles.json` contains the SHA-256 of `MODEL.safetensors` and the thresholds, so other weights or thresholds never
get these roles.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from augenmerk.core.analysis.profiles import HeadProfiles, SampleProfiles
from augenmerk.core.model.heads import Head
from augenmerk.core.quantities import percent
from augenmerk.core.storage import open_file, read_text, write_text
from augenmerk.core.translation.result import MAP_KINDS, MapKind

MAX_BYTES = 10_000_000
ENDING = ".roles.json"

Role = Literal["previous", "next", "self", "end-token sink", "start-token sink", "aligner", "broad", "mixed"]

POSITION_SHARE = 0.3
"""A positional head gives at least this share of its weight to one neighbour, or to its own token.

Chosen in a gap of the bundled model, on two samples of 200 sentences of Multi30k's validation split: the largest such
share of an encoder head is at least 0.32 or at most 0.29, of a decoder head at least 0.31 or at most 0.29. At 0.4 and
at 1/3, badges would depend on the sample.
"""
SINK_SHARE = 0.5
"""A sink gives at least this share of its weight to `<eos>` or `<sos>`, usually to do nothing."""
ALIGNER_CONFIDENCE = 0.5
"""An aligner gives at least this share of a row to one key on average …"""
ALIGNER_COVERAGE = 0.65
"""… and its keys cover at least this share of the words they could cover in a sentence.

Chosen by alignment quality. Over the 24 cross heads of the bundled model, Spearman's correlation of coverage with the
alignment error rate on `resources/alignments` is −0.72 on one half of the pairs and −0.64 on the other (of confidence:
−0.58 and −0.65). On two samples of 200 sentences the same nine heads pass, including the six best of all; a tenth is at
the threshold (0.651 and 0.639) and passes once.
"""
BROAD_RELATIVE_ENTROPY = 0.73
"""A broad head has at least this share of the entropy of equal weights.

Chosen in a gap of the bundled model, on the samples of `POSITION_SHARE`: at least 0.74, or at most 0.72.
"""

ROLES: dict[Role, str] = {
    "previous": f"gives at least {percent(POSITION_SHARE)} of its weight to the token before (self-attention)",
    "next": f"gives at least {percent(POSITION_SHARE)} of its weight to the token after (self-attention)",
    "self": f"gives at least {percent(POSITION_SHARE)} of its weight to the token itself (self-attention)",
    "end-token sink": f"gives at least {percent(SINK_SHARE)} of its weight to <eos>",
    "start-token sink": f"gives at least {percent(SINK_SHARE)} of its weight to <sos>",
    "aligner": "points at one source word at a time "
    f"(largest weight at least {percent(ALIGNER_CONFIDENCE)} on average) and at different ones in turn "
    f"(at least {percent(ALIGNER_COVERAGE)} of those it could) (cross-attention)",
    "broad": "spreads its weight over many tokens "
    f"(entropy at least {percent(BROAD_RELATIVE_ENTROPY)} of that of equal weights)",
    "mixed": "none of the others",
}


def role_of(profiles: HeadProfiles, layer: int, head: int) -> Role:
    """The role of one head: the first in `ROLES` that fits, with two exceptions.

    Among positional roles the largest share wins, and a broad head is not positional.
    """
    place = layer, head
    is_broad = profiles.relative_entropy[place] >= BROAD_RELATIVE_ENTROPY
    if profiles.kind != "cross" and not is_broad:  # of few tokens in sight, even weights give much to each
        shares: dict[Role, float] = {
            "previous": profiles.previous_share[place],
            "next": profiles.next_share[place],
            "self": profiles.self_share[place],
        }
        largest = max(shares, key=lambda role: float(shares[role]))
        if shares[largest] >= POSITION_SHARE:
            return largest
    if profiles.end_share[place] >= SINK_SHARE:
        return "end-token sink"
    if profiles.start_share[place] >= SINK_SHARE:
        return "start-token sink"
    points = profiles.confidence[place] >= ALIGNER_CONFIDENCE and profiles.coverage[place] >= ALIGNER_COVERAGE
    if profiles.kind == "cross" and points:
        return "aligner"
    return "broad" if is_broad else "mixed"


def roles_of(profiles: HeadProfiles) -> tuple[tuple[Role, ...], ...]:
    """The roles of all heads of a kind, L tuples of H."""
    num_layers, num_heads = profiles.entropy.shape
    return tuple(tuple(role_of(profiles, layer, head) for head in range(num_heads)) for layer in range(num_layers))


@dataclass(frozen=True)
class SampleRoles:
    """The role of every head over a sample.

    Attributes:
        by_kind: L tuples of H roles, by kind.
        sample: the size and kind of the sample, as a phrase after "over" or "on": "200 pairs of the validation split".
    """

    by_kind: dict[MapKind, tuple[tuple[Role, ...], ...]]
    sample: str

    @classmethod
    def of(cls, profiles: SampleProfiles, what: str) -> "SampleRoles":
        """The roles that follow from statistics. `what` names the sentences: "pairs of the validation split"."""
        by_kind = {kind: roles_of(profiles.of_kind(kind)) for kind in MAP_KINDS}
        return cls(by_kind, f"{profiles.num_sentences} {what}")

    def role(self, head: Head) -> Role:
        """The role of one head."""
        return self.by_kind[head.kind][head.layer][head.head]


def roles_path(checkpoint: Path) -> Path:
    """The path of the roles of a checkpoint."""
    return checkpoint.with_name(checkpoint.name.removesuffix(".safetensors") + ENDING)


def write_sample_roles(roles: SampleRoles, checkpoint: Path) -> Path:
    """Write roles next to the measured checkpoint and return their path. Raises `StorageError`."""
    heading = {"sha256": _digest(checkpoint), "sample": roles.sample, "thresholds": _thresholds()}
    lines = [f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in heading.items()]
    for kind in MAP_KINDS:
        layers = ",\n  ".join(json.dumps(layer) for layer in roles.by_kind[kind])
        lines.append(f"{json.dumps(kind)}: [\n  {layers}]")
    target = roles_path(checkpoint)
    write_text(target, "{\n" + ",\n".join(lines) + "\n}\n")
    return target


def read_sample_roles(checkpoint: Path | None) -> SampleRoles | None:
    """The roles stored next to a checkpoint.

    None if the file is missing or unreadable, or belongs to other weights or thresholds: roles can be measured again at
    any time.
    """
    if checkpoint is None:
        return None
    try:
        found = json.loads(read_text(roles_path(checkpoint), MAX_BYTES))
        if found["thresholds"] != _thresholds() or found["sha256"] != _digest(checkpoint):
            return None
        by_kind = {kind: tuple(tuple(map(_role, layer)) for layer in found[kind]) for kind in MAP_KINDS}
        return SampleRoles(by_kind, str(found["sample"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _role(name: str) -> Role:
    """Raises `KeyError` for a name that is none."""
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
