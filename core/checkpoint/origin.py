"""The origin of an imported model."""

from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Origin:
    """What is known about an imported model.

    Attributes:
        format: of the files it was imported from: "marian", "joeynmt", "notebook" or "annotated".
        source: their name: of a repository at Hugging Face, or of the folder or file, without its path.
        revision: the repository's commit; empty if they were not fetched.
        licence: as the repository names it; empty if it does not.
    """

    format: str
    source: str
    revision: str = ""
    licence: str = ""

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Origin":
        """The origin that `asdict` gave. Raises `TypeError` if `values` are damaged."""
        names = {field.name for field in fields(cls)}
        if not isinstance(values, dict) or not all(isinstance(value, str) for value in values.values()):
            raise TypeError(f"the origin is {values!r}, which is no description of one")
        return cls(**{name: value for name, value in values.items() if name in names})
