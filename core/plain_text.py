"""Text of unknown origin: read from UTF-8, and made safe for terminals and files."""

import re
from pathlib import PurePath

MAX_LINE_CHARACTERS = 100_000
"""Maximum length of a line: a longer one is no sentence, and a megabyte takes seconds."""
MAX_LINE_BYTES = 4 * MAX_LINE_CHARACTERS

_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)
"""Characters that terminals act on, or that formats refuse, drop or cannot hold.

Control characters but tab and line feed; line and paragraph separators; signs that turn the
direction of writing, which hide what is there; the byte-order mark; and noncharacters.
"""
_LINE_BREAKS = re.compile("[\t\n]")


class EncodingError(ValueError):
    """Bytes are not text in UTF-8.

    The message says where: “it is not UTF-8: byte 12 of line 2 is 0xd6”.
    """


def decode_text(data: bytes | bytearray, *, first_line: int = 1) -> str:
    """The text in UTF-8 bytes.

    Args:
        data: the bytes.
        first_line: the number of their first line, for messages.

    Raises:
        EncodingError: they are in another encoding, such as Latin-1 or UTF-16.
    """
    line_end = b"\n" if b"\n" in data else b"\r"
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = first_line + data.count(line_end, 0, error.start)
        byte = error.start - data.rfind(line_end, 0, error.start)
        raise EncodingError(
            f"it is not UTF-8: byte {byte:,} of line {line:,} is {data[error.start]:#04x}"
        ) from error
    if (position := data.find(b"\0")) >= 0:
        line = first_line + data.count(line_end, 0, position)
        raise EncodingError(
            f"it is not UTF-8, but perhaps UTF-16: line {line:,} contains a zero byte"
        )
    return text


def printable(text: str) -> str:
    r"""The text with an escape such as \u001b for each character that a terminal would act on.

    The escapes are those of JSON, so that JSON keeps its values. Tabs and ends of lines stay: see
    `one_line`.
    """
    return _FORBIDDEN.sub(_escape, text)


def one_line(text: object) -> str:
    """The same for one value in a line: tabs and ends of lines are escaped too."""
    return _LINE_BREAKS.sub(_escape, printable(str(text)))


def name_of(path: PurePath) -> str:
    """The last part of a path as text that can be saved, with � for bytes that are not UTF-8."""
    return path.name.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _escape(match: re.Match[str]) -> str:
    return {"\t": "\\t", "\n": "\\n"}.get(match[0]) or f"\\u{ord(match[0]):04x}"
