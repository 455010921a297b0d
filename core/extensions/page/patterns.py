"""Python's regular expressions as JavaScript's (with the flag `u`), for the patterns of tokenizer
rules.
"""

import re

SPACE = r"\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
r"""The inside of a class of the characters that Python's `\s` matches; JavaScript's differs in
seven.
"""
_CLASSES = {"s": SPACE, "d": r"\p{Nd}", "w": r"\p{L}\p{N}_"}
_SAME_LETTERS = frozenset("uxnrtfv")
_SYNTAX = frozenset("^$\\.*+?()[]{}|/")
_PART = re.compile(r"\\U([0-9A-Fa-f]{8})|\\(.)|(.)", re.DOTALL)


def javascript_pattern(pattern: str) -> str:
    """The pattern for JavaScript, where escapes that are not needed are errors, and classes of
    characters differ.

    Raises:
        ValueError: it has an escape whose meaning differs and which no tokenizer rule has needed so
            far.
    """
    written: list[str] = []
    is_in_class = False
    for match in _PART.finditer(pattern.removeprefix("(?u)")):
        code, escaped, plain = match.groups()
        if code:
            written.append(f"\\u{{{int(code, 16):x}}}")
        elif escaped:
            written.append(_escape(escaped, is_in_class=is_in_class))
        elif plain == "[" and is_in_class:
            written.append("\\[")
        else:
            is_in_class = plain == "[" or (is_in_class and plain != "]")
            written.append(plain)
    return "".join(written)


def _escape(escaped: str, *, is_in_class: bool) -> str:
    if escaped.lower() in _CLASSES:
        inside = _CLASSES[escaped.lower()]
        if escaped.islower():
            return inside if is_in_class else f"[{inside}]"
        if not is_in_class:
            return f"[^{inside}]"
    elif escaped in _SAME_LETTERS or escaped in _SYNTAX or (escaped == "-" and is_in_class):
        return f"\\{escaped}"
    elif not escaped.isalnum():
        return escaped
    raise ValueError(f"the escape \\{escaped} has no translation")
