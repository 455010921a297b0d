"""What a head does, in words: over the sample, if one was measured, and in the sentence shown. No Qt."""

from core.analysis.roles import ROLES, Role
from core.model.heads import Head
from viz_app.state.map_source import MapSource

HERE = "in this sentence"


def role_in_short(maps: MapSource, head: Head) -> str:
    """A line, with another one where the head does something else in this sentence than on the sample."""
    role, here, where = maps.role(head), maps.role_here(head), maps.where_roles_hold
    line = f"{role}: {ROLES[role]}, {where}" if role != "mixed" else f"no clear role {where}"
    if here == role:
        return line
    return f"{line}\n{here} {HERE}" if here != "mixed" else f"{line}\nno clear role {HERE}"


def role_in_words(maps: MapSource, head: Head) -> str:
    """A sentence."""
    role, here = maps.role(head), maps.role_here(head)
    if maps.sample_roles is None:
        return f"{HERE.capitalize()} this head {_does(role)}."
    over = f"Over {maps.sample_roles.sample}"
    if role == here:
        return f"{over}, as {HERE}, this head {_does(role)}."
    return f"{over} this head {_does(role)}; {HERE} it {_does(here)}."


def _does(role: Role) -> str:
    if role == "mixed":
        return "has no clear role"
    return f"{ROLES[role].removesuffix(' (self-attention)').removesuffix(' (cross-attention)')} (“{role}”)"
