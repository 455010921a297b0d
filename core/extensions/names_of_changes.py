"""The names of changes to a model, for reports on many sentences."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..model.heads import heads_of
from ..translation.experiment import Intervention, in_groups

if TYPE_CHECKING:
    from ..translation.translator import Translator


def names_of(changes: Sequence[Intervention], translator: "Translator") -> str:
    """The changes, separated by commas; heads that form a group are named together."""
    return ", ".join(name for name, _ in in_groups(changes, heads_of(translator.model.config)))
