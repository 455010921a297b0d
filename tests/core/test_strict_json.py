"""Foreign JSON: what is wrong is named by the path of its field, and nothing but `JsonError` is
ever raised."""

import json

import pytest

from augenmerk.core.strict_json import JsonError, parse

WRONG = {
    "empty": (b"  \n", "is empty"),
    "UTF-16": ("{}".encode("utf-16"), "UTF-16"),
    "no UTF-8": (b'{"a": "\xff"}', "not UTF-8: byte 8 is 0xff"),
    "cut off": (b'{"a": [1, 2', "not complete JSON"),
    "two values": (b"{} {}", "not complete JSON"),
    "single quotes": (b"{'a': 1}", "not complete JSON"),
    "control character": (b'{"a": "\n"}', "not complete JSON"),
    "twice": (b'{"a": {"b": 1, "c": 2, "b": 3}}', "a.b is there twice"),
    "twice, escaped": (b'{"a": 1, "\\u0061": 2}', "a is there twice"),
    "NaN": (b'{"a": [0, NaN]}', "a[1] is NaN"),
    "infinite": (b'{"a": {"b": -Infinity}}', "a.b is -Infinity"),
    "too large": (b'{"a": 1e999}', "a is 1e999"),
    "digits": (b'{"a": ' + b"9" * 5000 + b"}", "a is 9999"),
    "surrogate": (b'{"a": ["\\ud800"]}', 'a[0] is "\\ud800"'),
    "surrogate in a name": (b'{"a": {"\\udc00": 1}}', "invalid character (lone surrogate)"),
    "strange name": (b'{"a b": NaN}', '["a b"] is NaN'),
    "deep": (b"[" * 9 + b"]" * 9, "more than 8 deep"),
    "very deep": (b"[" * 500_000, "more than 8 deep"),
    "deep objects": (b'{"a":' * 9 + b"1" + b"}" * 9, "more than 8 deep"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_told_with_its_place(name: str) -> None:
    data, expected = WRONG[name]
    with pytest.raises(JsonError) as told:
        parse(data, max_depth=8)
    assert expected in str(told.value)
    str(told.value).encode("utf-8")


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        None,
        True,
        "ä😀\u2028",
        {"a": [[[[[[[1]]]]]]]},
        "[" * 9,
        'a"[\\"' + "[" * 9,
        [0.1, -0.0, 1e-300, 2**60],
    ],
)
def test_what_is_right_is_read_exactly(value: object) -> None:
    for ascii_only in (True, False):
        parsed = parse(json.dumps(value, ensure_ascii=ascii_only).encode(), max_depth=8).value
        assert repr(parsed) == repr(value)


def test_a_byte_order_mark_is_left_out() -> None:
    assert parse(b'\xef\xbb\xbf{"a": "\xef\xbb\xbf"}', max_depth=8).value == {"a": "\ufeff"}


def test_a_megabyte_of_anything_is_cheap_enough_to_need_no_mark() -> None:
    """Without the mark `heavy`, a test that computes for long fails."""
    for data in (
        b'"' + b'\\"' * 500_000,
        b"\\" * 1_000_000,
        b'"' * 1_000_000,
        b"[]," * 333_333,
        b"1" * 1_000_000,
    ):
        with pytest.raises(JsonError):
            parse(data, max_depth=8)


def test_fields_know_their_paths_and_types() -> None:
    field = parse(b'{"a": {"b": [1, true, 2.5, "x", null]}}', max_depth=8)
    items = field.members("a")["a"].members("b")["b"].items(9)
    assert items[0].whole_number(0, 1) == 1
    assert (items[0].number(0, 1), type(items[0].number(0, 1))) == (1.0, float)
    for wrong, message in (
        (lambda: items[1].whole_number(0, 1), "a.b[1] is true. Use a whole number from 0 to 1."),
        (lambda: items[1].number(0, 1), "a.b[1] is true. Use a number from 0 to 1."),
        (lambda: items[2].whole_number(0, 9), "a.b[2] is 2.5. Use a whole number from 0 to 9."),
        (lambda: items[0].whole_number(2, 9_000), "a.b[0] is 1. Use a whole number from 2 to 9,000."),
        (lambda: items[4].text(), "a.b[4] is null. Use a text."),
        (lambda: items[3].choice(["y", "z"]), 'a.b[3] is "x". Use one of "y", "z".'),
        (lambda: items[3].members("c"), 'a.b[3] is "x". Use an object { … }.'),
        (lambda: field.members("a", "c"), "c is missing. Add this field."),
        (lambda: field.members("c"), "a is not a known field. Use one of these: c."),
        (lambda: field.members("a")["a"].items(3), "a is an object with 1 field. Use a list [ … ]."),
        (lambda: field.members("a")["a"].members("b")["b"].items(3), "a.b has 5 items. Use at most 3."),
    ):  # fmt: skip
        with pytest.raises(JsonError) as told:
            wrong()
        assert str(told.value) == message
