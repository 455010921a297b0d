"""Which languages a model is of, as somebody or its files say."""

import re

from augenmerk.core.errors import ModelImportError
from augenmerk.core.interop.model import ImportOptions
from augenmerk.core.text.languages import UNDETERMINED, language_code

_LANGUAGE = re.compile(r"[A-Za-z]+([-_][A-Za-z0-9]+)*")


def given_language(side: str, text: str | None) -> str | None:
    """The code of a language that somebody named. Raises `ModelImportError` for what names none."""
    if text is None:
        return None
    code = language_code(text)
    if code is None:
        raise ModelImportError(
            f"The {side} language is {text!r}. Use a code such as de or deu, or an English name such as German."
        )
    return code


def languages_of(options: ImportOptions, *found: tuple[object, object]) -> tuple[str, str]:
    """The codes of source and target: those of `options`, else the first in `found` that look like codes.

    A language that nothing names is `UNDETERMINED`. Raises `ModelImportError` if the options name none.
    """
    given = given_language("source", options.source_language), given_language("target", options.target_language)
    source, target = (next(filter(_is_code, side), UNDETERMINED) for side in zip(given, *found, strict=True))
    return str(source), str(target)


def _is_code(text: object) -> bool:
    return isinstance(text, str) and len(text) <= 40 and _LANGUAGE.fullmatch(text) is not None
