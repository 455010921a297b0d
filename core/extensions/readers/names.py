"""Names of weights without what trainers put around a model: one rule for all families.

No torch.
"""

import re
from collections.abc import Iterable

_WRAPPERS = frozenset(
    (
        "_orig_mod",
        "module",
        "_forward_module",
        "_fsdp_wrapped_module",
        "_checkpoint_wrapped_module",
        "_original_module",
    )
)
"""Parts of names that torch.compile, data parallelism, DeepSpeed, FSDP and activation checkpointing
add anywhere."""
_LANDMARK = re.compile(
    r"(?:^|\.)("
    r"(?:encoder|decoder)\.tok_embedding\.weight$"  # notebook 6
    r"|(?:src|tgt)_embed\.0\.lut\.weight$"  # The Annotated Transformer
    r"|(?:src|trg)_embed\.lut\.weight$"  # JoeyNMT
    # Marian
    r"|model\.(?:encoder|decoder)\.layers\.\d+\.(?:self|encoder)_attn\.[qkv]_proj\.weight$"
    r")"
)
"""Weights whose full names are known, so that anything before them is a prefix."""
_USUAL = frozenset(("model_state_dict", "state_dict", "model_state", "model", "net", "network"))


def _without_wrappers(name: str) -> str:
    return ".".join(part for part in name.split(".") if part not in _WRAPPERS)


def prefixes_of(names: Iterable[str]) -> list[str]:
    """The prefixes of models in these names, each with its dot; empty for plain names."""
    landmarks = (_LANDMARK.search(_without_wrappers(name)) for name in names)
    return list(
        dict.fromkeys(match.string[: match.start(1)] for match in landmarks if match is not None)
    )


def chosen_prefix(prefixes: list[str]) -> str:
    """The prefix of the model to read: the only one, or the only usual one, such as
    “state_dict.model.”.

    Raises `ValueError`, whose message follows the name of a file, if there are several.
    """
    usual = [prefix for prefix in prefixes if set(prefix.split(".")[:-1]) <= _USUAL]
    candidates = usual if len(prefixes) > 1 else prefixes
    if len(candidates) > 1 or (prefixes and not candidates):
        shown = ", ".join(
            prefix.removesuffix(".") or "one without a prefix" for prefix in prefixes[:6]
        )
        raise ValueError(f"holds several models ({shown}). Save the weights of one of them alone")
    return candidates[0] if candidates else ""


def plain_names(names: Iterable[str]) -> dict[str, str]:
    """The names of a model's weights, each with its name in the file.

    Names outside the model are left out.

    Raises `ValueError`, whose message follows the name of a file, if the model is not clear.
    """
    names = list(names)
    prefix = chosen_prefix(prefixes_of(names))
    plain: dict[str, str] = {}
    for name in names:
        unwrapped = _without_wrappers(name)
        if unwrapped.startswith(prefix):
            suffix = unwrapped[len(prefix) :]
            if suffix in plain:
                raise ValueError(
                    f"holds {suffix} twice, as {plain[suffix]} and {name}. Save the weights of "
                    "one model"
                )
            plain[suffix] = name
    return plain
