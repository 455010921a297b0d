"""Which languages a model is of, as somebody or its files say."""

import re
from collections.abc import Iterable

from augenmerk.core.errors import ModelImportError
from augenmerk.core.text.languages import UNDETERMINED, language_code

_LANGUAGE = re.compile(r"[A-Za-z]+([-_][A-Za-z0-9]+)*")


def given_language(side: str, text: str | None) -> str | None:
    """The code of a language that somebody named. Raises `ModelImportError` for what names none."""
    if text is None:
        return None
    code = language_code(text)
    if code is None:
        raise ModelImportError(
            f"The {side} language is {text!r}. A code such as de or deu, or an English name such as German, was "
            "expected."
        )
    return code


def first_language(told: Iterable[object]) -> str:
    """The first of these that looks like a code; that of an unknown language if none does."""
    codes = (each for each in told if isinstance(each, str) and len(each) <= 40 and _LANGUAGE.fullmatch(each))
    return next(codes, UNDETERMINED)
