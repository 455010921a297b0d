"""Damage to JSON values and to bytes, drawn from a generator of random numbers: the same seed, the
same damage."""

import copy
import json
from random import Random
from typing import Any

NUMBERS: tuple[Any, ...] = (
    *(
        0,
        1,
        -1,
        2,
        3,
        7,
        63,
        255,
        4_096,
        10**6,
        10**9,
        2**31 - 1,
        2**31,
        2**53,
        2**63 - 1,
        2**63,
        2**64,
        10**30,
        -(10**30),
    ),
    *(0.0, -0.0, 0.5, 1.0, 1.5, 3.0, 1e-300, 1e300, float("nan"), float("inf"), float("-inf")),
)
TEXTS = (
    *(
        "",
        "a",
        "none",
        "None",
        "true",
        "1",
        "-1",
        "<unk>",
        "<pad>",
        "<eos>",
        "▁",
        "·",
        "\x00",
        "\x1b[31m",
        "\ud800",
    ),
    *("x" * 3_000, "../../etc/passwd", "ﷺ" * 20, "e\u0301", "\u202e", "💥"),
    *(
        "learned",
        "sinusoidal",
        "pre",
        "post",
        "torch",
        "annotated",
        "all",
        "output",
        "xavier",
        "xavier-normal-embeddings",
    ),
    *(
        "symbols",
        "spacy",
        "keep",
        "lower",
        "sentence",
        "noam",
        "constant",
        "tokens",
        "sentences",
        "bfloat16",
        "auto",
    ),
    *(
        "de",
        "en",
        "fr",
        "ja",
        "zh",
        "th",
        "xx",
        "lex_attrs",
        "char_classes",
        "tokenizer_exceptions",
        "os",
        "de.de",
    ),
)
OTHERS: tuple[Any, ...] = (
    None,
    True,
    False,
    [],
    {},
    [[]],
    [None],
    [0],
    {"a": 1},
    {"": {}},
    ["x"],
    [1, 2, 3],
)


def nasty_value(rng: Random, like: Any = None) -> Any:
    """A value that a reader may not expect; half of the time of the kind of `like`."""
    if rng.random() < 0.5:
        if isinstance(like, bool):
            return not like
        if isinstance(like, int | float):
            near = (like + 1, like - 1, like * 2, -like, float(like), like * 1000)
            return rng.choice((*NUMBERS, *near))
        if isinstance(like, str):
            cut = rng.randrange(len(like) + 1)
            return rng.choice(
                (*TEXTS, like + like, like[:cut], like[:cut] + rng.choice(TEXTS) + like[cut:])
            )
    if rng.random() < 0.05:
        return _nested(rng.choice((10, 20, 200)))
    if rng.random() < 0.02:
        return [rng.choice((0, "", [], {}))] * rng.choice((1_000, 300_000))
    return copy.deepcopy(rng.choice((*NUMBERS, *TEXTS, *OTHERS)))


def damaged_json(value: Any, rng: Random) -> Any:
    """A copy of a JSON value with one to three of its parts changed, each part as likely as its
    siblings."""
    damaged = copy.deepcopy(value)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        _change_one(damaged, rng)
    return damaged


def _change_one(value: Any, rng: Random) -> None:
    parent, key = None, None
    here = value
    while isinstance(here, dict | list) and here and (parent is None or rng.random() < 0.85):
        key = rng.choice(list(here)) if isinstance(here, dict) else rng.randrange(len(here))
        parent, here = here, here[key]
    if parent is None:
        return
    kind = rng.random()
    if kind < 0.7:
        parent[key] = nasty_value(rng, here)
    elif kind < 0.8:
        del parent[key]
    elif isinstance(parent, list):
        parent.insert(key, copy.deepcopy(rng.choice(parent)))
    elif kind < 0.9:
        parent[rng.choice(TEXTS)] = parent.pop(key)
    else:
        parent[key] = copy.deepcopy(parent[rng.choice(list(parent))])


def damaged_text(text: str, rng: Random) -> str:
    """The text with a few characters or lines changed, and now and then cut or nested."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        position = rng.randrange(len(text) + 1)
        end = min(len(text), position + rng.choice((0, 1, 1, 5, 40)))
        pieces = (
            '"',
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\\",
            "0",
            "-",
            "1e999",
            "NaN",
            "=",
            "#",
            "'''",
            "\n",
            "\x00",
            "ä",
        )
        new = rng.choice(
            (
                *pieces,
                to_json(nasty_value(rng))[:100],
                "[" * 5_000,
                "9" * 5_000,
                text[position : position + 30],
            )
        )
        text = text[:position] + new + text[end:]
    return text if rng.random() < 0.9 else text[: rng.randrange(len(text) + 1)]


def damaged_bytes(data: bytes, rng: Random, end: int | None = None) -> bytes:
    """Some bytes of the first `end` changed; or the file cut, or a part of it doubled, zeroed or
    left out.
    """
    changed = bytearray(data)
    end = max(1, min(len(data), end or len(data)))
    position = rng.randrange(end)
    size = rng.choice((1, 2, 8, 64, 1_000))
    kind = rng.randrange(6)
    if kind < 2:
        for _ in range(rng.choice((1, 1, 2, 8, 50))):
            changed[rng.randrange(end)] = rng.randrange(256)
    elif kind == 2:
        changed[position : position + size] = bytes(len(changed[position : position + size]))
    elif kind == 3:
        del changed[position : position + size]
    elif kind == 4:
        changed[position:position] = changed[position : position + size]
    else:
        del changed[position:]
    return bytes(changed)


def to_json(value: Any) -> str:
    """The value as JSON text, in ASCII."""
    return json.dumps(value)


def _nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value
