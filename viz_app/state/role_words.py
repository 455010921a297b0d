"""What a head does, in words: over the sample, if one was measured, and in the sentence shown. No Qt."""

from augenmerk.core.analysis.roles import ROLES, Role
from augenmerk.core.model.heads import Head
from augenmerk.viz_app.state.head_roles import HeadRoles

HERE = "in this sentence"


def role_in_short(roles: HeadRoles, head: Head) -> str:
    """A line, with another one where the head does something else in this sentence than on the sample."""
    role, here, where = roles.of(head), roles.here(head), roles.where_they_hold
    line = f"{role}: {ROLES[role]}, {where}" if role != "mixed" else f"no clear role {where}"
    if here == role:
        return line
    return f"{line}\n{here} {HERE}" if here != "mixed" else f"{line}\nno clear role {HERE}"


def role_in_words(roles: HeadRoles, head: Head) -> str:
    """A sentence."""
    role, here = roles.of(head), roles.here(head)
    if roles.sample is None:
        return f"{HERE.capitalize()} this head {_does(role)}."
    over = f"Over {roles.sample.sample}"
    if role == here:
        return f"{over}, as {HERE}, this head {_does(role)}."
    return f"{over} this head {_does(role)}; {HERE} it {_does(here)}."


def _does(role: Role) -> str:
    if role == "mixed":
        return "has no clear role"
    text = ROLES[role].removesuffix(" (self-attention)").removesuffix(" (cross-attention)")
    if role == "broad":  # a sentence does without the threshold
        text = text.partition(" (")[0]
    return f"{text} (“{role}”)"
