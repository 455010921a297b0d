"""The roles of a model's heads over a sample, and the file next to a checkpoint that stores them. No torch.

`MODEL.roles.json` contains the SHA-256 of `MODEL.safetensors` and the thresholds of `core.analysis.roles`, so other
weights or thresholds never get these roles.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from augenmerk.core.analysis import roles as thresholds
from augenmerk.core.analysis.profiles import SampleProfiles
from augenmerk.core.analysis.roles import ROLES, Role, roles_of
from augenmerk.core.model.heads import Head
from augenmerk.core.storage import open_file, read_text, write_text
from augenmerk.core.translation.result import MAP_KINDS, MapKind

MAX_BYTES = 10_000_000

ENDING = ".roles.json"
THRESHOLDS = ("POSITION_SHARE", "SINK_SHARE", "ALIGNER_CONFIDENCE", "ALIGNER_COVERAGE", "BROAD_RELATIVE_ENTROPY")


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
    return {name: getattr(thresholds, name) for name in THRESHOLDS}


def _digest(path: Path) -> str:
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
