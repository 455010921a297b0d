"""Text that anybody may have written, on a terminal and in XML."""

import os
import unicodedata
from pathlib import Path
from xml.etree import ElementTree

import pytest

from augenmerk.core.plain_text import name_of, one_line, printable


def test_ordinary_text_stays_as_it_is() -> None:
    text = "Ein Bär → “Straße” ‖α·f(x)‖ ▁dog 日本 😀\u00ad\u200d\n\tzwei"
    assert printable(text) == text


@pytest.mark.heavy
def test_a_terminal_gets_no_control_character() -> None:
    everything = "".join(map(chr, range(0x11_0000)))
    left = {
        character
        for character in printable(everything)
        if unicodedata.category(character) in ("Cc", "Cs")
    }
    assert left == {"\n", "\t"}
    assert printable("\x1b[31mred\x9b0m\r\x00") == r"\u001b[31mred\u009b0m\u000d\u0000"
    assert printable("\u202egpj.exe\ud800") == r"\u202egpj.exe\ud800"
    assert printable("a\ufeffb") == r"a\ufeffb"


@pytest.mark.heavy
def test_any_text_can_stand_in_xml() -> None:
    text = printable("".join(map(chr, range(0x11_0000)))).translate(
        {ord("&"): "&amp;", ord("<"): "&lt;"}
    )
    assert ElementTree.fromstring(f"<text>{text}</text>").text is not None


def test_one_line_stays_one() -> None:
    assert one_line("a\nb\tc\x85d\u2028e") == r"a\nb\tc\u0085d\u2028e"
    assert one_line(None) == "None"


def test_a_name_that_is_not_utf8_can_be_saved() -> None:
    assert name_of(Path(os.fsdecode(b"runs/l\xe4uf"))) == "l\ufffduf"
    assert name_of(Path("runs/läuf 😀")) == "läuf 😀"
