"""Files that hold both sides of a corpus become sentence pairs, and other forms are named."""

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from augenmerk.core.errors import CorpusError
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training.corpora.loading import load_corpus
from augenmerk.core.extensions.training.corpora.parallel import (
    SentencePairs,
    read_folder,
    read_line_pairs,
    read_pair,
    read_sentences,
)

GERMAN = ("Ein Mann, der läuft.", "Zwei Hunde spielen.", "Eine Frau liest.")
ENGLISH = ("A man running.", "Two dogs are playing.", "A woman is reading.")
PAIRS = SentencePairs(GERMAN, ENGLISH)


def columns(*rows: tuple[str, ...]) -> str:
    return "".join("\t".join(row) + "\n" for row in rows)


def json_lines(*values: object) -> str:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


BOTH = list(zip(GERMAN, ENGLISH, strict=True))
FORMS = {
    "columns": columns(*BOTH),
    "columns with line ends of Windows": columns(*BOTH).replace("\n", "\r\n"),
    "columns with a heading": columns(("de", "en"), *BOTH),
    "columns in another order": columns(
        ("English", "id", "German"), *((en, "7", de) for de, en in BOTH)
    ),
    "JSON lines": json_lines(*({"en": en, "de": de} for de, en in BOTH)),
    "JSON lines of Hugging Face": json_lines(
        *({"id": 1, "translation": {"de": de, "en": en}} for de, en in BOTH)
    ),
    "JSON lines with three-letter codes": json_lines(
        *({"deu": de, "eng": en, "score": [0.5]} for de, en in BOTH)
    ),
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "pairs.txt"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("packed", [False, True])
def test_pairs_are_read_in_every_form(file: Path, form: str, packed: bool) -> None:
    data = FORMS[form].encode()
    file.write_bytes(gzip.compress(data) if packed else data)
    assert read_pair(file) == PAIRS
    assert read_sentences(file, 2) == (GERMAN[:2], ENGLISH[:2])


@pytest.mark.parametrize("form", FORMS)
def test_the_languages_decide_which_side_is_the_source(file: Path, form: str) -> None:
    file.write_text(FORMS[form], encoding="utf-8")
    pairs = read_pair(file, languages=("en", "de"))
    names_languages = "JSON" in form or "heading" in form or "order" in form
    assert pairs == (SentencePairs(ENGLISH, GERMAN) if names_languages else PAIRS)


@pytest.mark.parametrize(
    ("suffix", "form"), [("tsv", "columns"), ("jsonl", "JSON lines"), ("json.gz", "JSON lines")]
)
def test_a_folder_may_hold_files_of_pairs(tmp_path: Path, suffix: str, form: str) -> None:
    data = FORMS[form].encode()
    for split in ("train", "validation"):
        (tmp_path / f"{split}.{suffix}").write_bytes(
            gzip.compress(data) if suffix.endswith("gz") else data
        )
    texts = read_folder(tmp_path, "de", "en")
    assert (texts.train, texts.validation) == (PAIRS, PAIRS)


@pytest.mark.parametrize("form", ["columns", "JSON lines"])
def test_a_corpus_is_prepared_from_a_file_of_pairs(file: Path, form: str) -> None:
    file.write_text(4 * FORMS[form], encoding="utf-8")
    phases: list[str] = []
    corpus = load_corpus(file, preset("notebook"), phases.append)
    assert (phases[0], corpus.name) == ("Reading pairs.txt", "pairs")
    assert (len(corpus.train), len(corpus.validation)) == (11, 1)
    assert "hunde" in corpus.codecs.source.vocabulary.ids
    assert "dogs" in corpus.codecs.target.vocabulary.ids


def test_empty_sides_keep_their_place_for_those_who_count_lines(file: Path) -> None:
    file.write_text(
        columns(("eins", "one"), ("", "two"), ("",), ("vier", "four")), encoding="utf-8"
    )
    assert read_line_pairs(file) == (["eins", "", "", "vier"], ["one", "two", "", "four"])
    assert read_pair(file) == SentencePairs(("eins", "vier"), ("one", "four"))
    assert read_sentences(file, None) == (("eins", "vier"), ("one", "four"))


def test_a_sentence_in_json_is_one_line(file: Path) -> None:
    file.write_text(json_lines({"de": "eins\r\nzwei", "en": "one\ntwo"}), encoding="utf-8")
    assert read_pair(file) == SentencePairs(("eins zwei",), ("one two",))


WRONG: dict[str, tuple[str, tuple[str, ...]]] = {
    "CSV": (
        "Ein Mann,A man\n",
        ("no tab in its first line", "CSV", "TSV", "JSON lines", "its own file"),
    ),
    "one language": (
        "Ein Mann, der läuft.\n",
        (
            "text in one language",
            "each language to its own file, such as train.de and train.en in a folder",
        ),
    ),
    "three columns": (
        columns(*BOTH, ("a", "b", "c")),
        ("line 4 has 3 columns instead of 2", "de and en"),
    ),
    "one column": (columns(*BOTH, ("a",)), ("line 4 has 1 column instead of 2",)),
    "other columns": (columns(("fr", "en"), *BOTH), ("columns of", "fr, en, not de and en")),
    "other fields": (
        json_lines({"fr": "un", "en": "one"}),
        ("line 1: There is no field “de” among fr, en", "de and en"),
    ),
    "no text": (
        json_lines({"de": "eins", "en": "one"}, {"de": None, "en": "one"}),
        ("line 2: de is null", "Use a text"),
    ),
    "nested": (
        json_lines({"translation": {"de": "eins", "en": 7}}),
        ("line 1: translation.en is 7",),
    ),
    "torn": (
        json_lines({"de": "eins", "en": "one"})[:-4],
        ("line 1: It is not complete JSON", "an object per line"),
    ),
    "over several lines": (
        json.dumps({"de": "eins", "en": "one"}, indent=1),
        ("line 1:", "an object per line"),
    ),
    "a list": (json.dumps([{"de": "eins", "en": "one"}]), ("is a JSON list", "JSON lines such as")),
    "TMX": ('<?xml version="1.0"?>\n<tmx>', ("is XML, such as TMX", "TSV")),
    "deep": (
        '{"de":' + "[" * 10_000 + "\n",
        ("line 1: Lists and objects are nested more than 16 deep",),
    ),
    "empty sides": (columns(("eins", ""), ("", "two")), ("one side is empty in each of 2 pairs",)),
}


def copied(path: Path) -> Path:
    return Path(shutil.copy(path, path.with_suffix(".copy")))


@pytest.mark.parametrize(
    ("text", "side"),
    [
        ("de\tfr\nein Mann\tun homme\n", "column “de”"),
        ('{"de": "ein Mann", "fr": "un homme"}\n', "field “de”"),
    ],
)
def test_one_column_or_field_is_not_read_for_both_sides(file: Path, text: str, side: str) -> None:
    file.write_text(text, encoding="utf-8")
    for read in read_pair, read_line_pairs:
        with pytest.raises(
            CorpusError, match=f"The {side} of .* would be both the source and the target"
        ):
            read(file, languages=("de", "deu"))


@pytest.mark.parametrize("problem", WRONG)
def test_another_form_is_refused_with_the_forms_that_are_read(file: Path, problem: str) -> None:
    text, words = WRONG[problem]
    file.write_text(text, encoding="utf-8")
    with pytest.raises(CorpusError) as caught:
        load_corpus(file, preset("notebook"))
    message = str(caught.value)
    assert str(file) in message
    for word in words:
        assert word in message
    with pytest.raises(CorpusError):
        read_pair(file)


@pytest.mark.parametrize(
    ("beginning", "kind"),
    [
        (b"PAR1\x15\x04", "a Parquet file"),
        (b"PK\x03\x04\x14\0\0\0", "a spreadsheet (XLSX, ODS)"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old spreadsheet"),
        (b"ARROW1\0\0", "an Arrow file"),
        (b"\xfd7zXZ\0\0\x04", "compressed by xz"),
        (b"\x28\xb5\x2f\xfd\0\0\0\0", "compressed by zstd"),
    ],
)
@pytest.mark.parametrize(
    "read",
    [
        lambda path: load_corpus(path, preset("notebook")),
        read_pair,
        lambda path: read_pair(path, copied(path)),
    ],
)
def test_binary_formats_are_named(file: Path, beginning: bytes, kind: str, read: Any) -> None:
    file.write_bytes(beginning + bytes(100))
    with pytest.raises(CorpusError) as caught:
        read(file)
    assert kind in str(caught.value)
    assert "two columns separated by a tab (TSV), or as JSON lines" in str(caught.value)


@pytest.mark.parametrize(
    "beginning", ["é".encode("latin-1"), b"\xff\xfea\0", b"\0\0\0\0\0\0\0\0\0", b"a\0b\0"]
)
def test_other_encodings_are_refused(file: Path, beginning: bytes) -> None:
    file.write_bytes(beginning)
    with pytest.raises(CorpusError, match=r"not (a )?UTF-8"):
        load_corpus(file, preset("notebook"))
