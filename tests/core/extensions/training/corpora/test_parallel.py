"""Parallel files become sentence pairs, and whatever is wrong with them is said with its place."""

import gzip
import random
import re
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from augenmerk.core.errors import CorpusError
from augenmerk.core.extensions.training.corpora.parallel import (
    ParallelFolder,
    SentencePairs,
    hold_out,
    read_folder,
    read_line_pairs,
    read_lines,
    read_pair,
)
from augenmerk.core.plain_text import MAX_LINE_CHARACTERS

GERMAN = ["Ein Mann steht auf einer Leiter.", "Zwei Hunde spielen.", "Eine Frau liest."]
ENGLISH = ["A man is standing on a ladder.", "Two dogs are playing.", "A woman is reading."]

PINNED_SPLIT = ("Satz 0", "Satz 11", "Satz 14", "Satz 56", "Satz 99")


def put(path: Path, lines: list[str], end: str = "\n") -> Path:
    """Writes lines, through gzip where the name says so."""
    data = "".join(line + end for line in lines).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def refusal(read: Callable[..., object], *arguments: object) -> str:
    """The message with which `read` refuses; every one says what to do."""
    with pytest.raises(CorpusError) as caught:
        read(*arguments)
    message = str(caught.value)
    assert re.search("Check|Choose|Correct|Add|Convert|Download|Use|Remove|Save", message)
    return message


@pytest.mark.parametrize("read", [read_pair, read_line_pairs])
def test_one_file_is_not_read_for_both_sides(tmp_path: Path, read: Callable[..., object]) -> None:
    source = put(tmp_path / "a.de", GERMAN)
    (tmp_path / "link.en").symlink_to(source)
    for target in source, tmp_path / "link.en", tmp_path / "." / "a.de":
        assert f"{source} would be both the source and the target" in refusal(read, source, target)


def test_a_folder_with_two_codes_of_one_language_is_refused(tmp_path: Path) -> None:
    put(tmp_path / "train.de", GERMAN)
    put(tmp_path / "train.fra", ENGLISH)
    assert f"{tmp_path / 'train.de'} would be both" in refusal(read_folder, tmp_path, "de", "deu")


class TestLines:
    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    def test_line_ends_of_every_system_are_read_alike(self, tmp_path: Path, end: str) -> None:
        assert read_lines(put(tmp_path / "a.de", GERMAN, end)) == GERMAN

    def test_the_last_line_needs_no_line_end(self, tmp_path: Path) -> None:
        (tmp_path / "a.de").write_text("eins\nzwei")
        assert read_lines(tmp_path / "a.de") == ["eins", "zwei"]

    def test_carriage_returns_end_lines_where_nothing_else_does(self, tmp_path: Path) -> None:
        (tmp_path / "a.de").write_bytes(b"eins\r\rzwei")
        assert read_lines(tmp_path / "a.de") == ["eins", "", "zwei"]

    def test_a_file_of_carriage_returns_takes_memory_for_each(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "a.de").write_bytes(b"\r" * 1_000_000)
        monkeypatch.setattr(
            "augenmerk.core.extensions.training.corpora.parallel.available_memory",
            lambda: 50_000_000,
        )
        assert "0.2 GB of memory" in refusal(read_lines, tmp_path / "a.de")

    def test_empty_lines_are_kept_so_that_numbers_stay(self, tmp_path: Path) -> None:
        (tmp_path / "a.de").write_text("\neins\n\n\nzwei\n\n")
        assert read_lines(tmp_path / "a.de") == ["", "eins", "", "", "zwei", ""]

    @pytest.mark.parametrize(
        "separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1e", "\r"]
    )
    def test_other_separators_belong_to_the_sentence(self, tmp_path: Path, separator: str) -> None:
        (tmp_path / "a.de").write_bytes(f"eins{separator}zwei\ndrei\n".encode())
        assert read_lines(tmp_path / "a.de") == [f"eins{separator}zwei", "drei"]

    def test_a_byte_order_mark_is_no_part_of_the_first_line(self, tmp_path: Path) -> None:
        (tmp_path / "a.de").write_bytes("Äpfel\nzwei\n".encode("utf-8-sig"))
        assert read_lines(tmp_path / "a.de") == ["Äpfel", "zwei"]

    def test_gzip_is_told_by_content_whatever_the_name(self, tmp_path: Path) -> None:
        packed = put(tmp_path / "a.gz", GERMAN).rename(tmp_path / "packed.de")
        plain = put(tmp_path / "b.de", ENGLISH).rename(tmp_path / "plain.de.gz")
        assert read_lines(packed) == GERMAN
        assert read_lines(plain) == ENGLISH

    def test_gzip_of_several_members_is_read_to_its_end(self, tmp_path: Path) -> None:
        (tmp_path / "a.gz").write_bytes(gzip.compress(b"eins\n") + gzip.compress(b"zwei\n"))
        assert read_lines(str(tmp_path / "a.gz")) == ["eins", "zwei"]

    def test_gzip_that_unpacks_to_more_than_the_free_memory_is_refused_before_it_does(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "a.de.gz").write_bytes(gzip.compress(b"eins\n" * 12_000_000, 1))
        monkeypatch.setattr(
            "augenmerk.core.extensions.training.corpora.parallel.available_memory",
            lambda: 60_000_000,
        )
        tracemalloc.start()
        message = refusal(read_lines, tmp_path / "a.de.gz")
        assert tracemalloc.get_traced_memory()[1] < 55_000_000
        tracemalloc.stop()
        assert f"There are at least 0.0 GB of text in {tmp_path / 'a.de.gz'}. Reading" in message
        assert "0.1 GB are free" in message

    @pytest.mark.parametrize("names", [("a.de.gz", "b.en.gz"), ("a.tsv.gz",)])
    def test_pairs_are_refused_before_more_is_read_than_both_sides_may_take(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...]
    ) -> None:
        line = b"eins\n" if len(names) == 2 else b"eins\tone\n"
        num_lines = 3_000_000
        for name in names:
            (tmp_path / name).write_bytes(gzip.compress(line * num_lines, 1))
        needed = len(names) * num_lines * (5 * len(line) + 200)
        free = round(0.6 * needed)  # enough for one side
        monkeypatch.setattr(
            "augenmerk.core.extensions.training.corpora.parallel.available_memory", lambda: free
        )
        tracemalloc.start()
        message = refusal(read_pair, *(tmp_path / name for name in names))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 2 * len(names) * num_lines * len(line)
        assert (
            f"of text in {' and '.join(str(tmp_path / name) for name in names)}. Reading it takes"
            in message
        )

    @pytest.mark.parametrize("names", [("a.de", "b.en"), ("a.tsv",)])
    @pytest.mark.parametrize("sentence", ["eins", "eins zwei drei vier fünf – sechs"])
    def test_pairs_take_no_more_memory_than_they_are_refused_for(
        self, tmp_path: Path, names: tuple[str, ...], sentence: str
    ) -> None:
        num_lines, needed = 10_000, 0
        for name in names:
            put(
                tmp_path / name,
                [sentence if len(names) == 2 else f"{sentence}\t{sentence}"] * num_lines,
            )
            needed += 5 * (tmp_path / name).stat().st_size + 200 * num_lines
        tracemalloc.start()
        assert len(read_pair(*(tmp_path / name for name in names))) == num_lines
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < needed + 200_000

    def test_pairs_without_tabs_are_refused_at_their_beginning(self, tmp_path: Path) -> None:
        (tmp_path / "a.tsv.gz").write_bytes(gzip.compress(b"ein mann\n" * 2_000_000, 1))
        tracemalloc.start()
        assert "has no tab in its first line" in refusal(read_pair, tmp_path / "a.tsv.gz")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 30_000_000

    def test_a_file_of_line_ends_takes_memory_for_each(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "a.de").write_bytes(b"\n" * 1_000_000)
        monkeypatch.setattr(
            "augenmerk.core.extensions.training.corpora.parallel.available_memory",
            lambda: 50_000_000,
        )
        assert "0.2 GB of memory" in refusal(read_lines, tmp_path / "a.de")

    @pytest.mark.parametrize("packed", [False, True])
    @pytest.mark.parametrize("filler", [b"\0", b"a", b"a b "])
    def test_a_huge_file_without_lines_is_refused_at_its_beginning(
        self, tmp_path: Path, filler: bytes, packed: bool
    ) -> None:
        path = tmp_path / "huge.de"
        with gzip.open(path, "wb", 1) if packed else path.open("wb") as file:
            file.write(filler * (8_000_000 // len(filler)))
        tracemalloc.start()
        message = refusal(read_lines, path)
        assert tracemalloc.get_traced_memory()[1] < 6_000_000
        tracemalloc.stop()
        problem = "line 1 contains a zero byte" if filler == b"\0" else "Line 1 of"
        assert problem in message

    def test_a_line_that_is_too_long_for_a_sentence_is_named(self, tmp_path: Path) -> None:
        longest = "ä" * MAX_LINE_CHARACTERS
        assert read_lines(put(tmp_path / "a.de", ["eins", longest])) == ["eins", longest]
        message = refusal(read_lines, put(tmp_path / "a.de", ["eins", longest + "ä", "drei"]))
        assert f"Line 2 of {tmp_path / 'a.de'} has more than 100,000 characters" in message
        assert "one sentence per line" in message

    def test_a_missing_file_is_named(self, tmp_path: Path) -> None:
        message = refusal(read_lines, tmp_path / "nowhere.de")
        assert f"no file “{tmp_path / 'nowhere.de'}”" in message
        assert "Check the path" in message

    def test_a_folder_is_not_a_file(self, tmp_path: Path) -> None:
        assert f"{tmp_path} is a folder" in refusal(read_lines, tmp_path)

    def test_a_file_below_a_file_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "a.de").write_text("eins\n")
        assert "Cannot read" in refusal(read_lines, tmp_path / "a.de" / "b.de")

    def test_a_file_without_permission_is_refused(
        self, tmp_path: Path, permissions_withheld: Any
    ) -> None:
        path = put(tmp_path / "a.de", GERMAN)
        with permissions_withheld(path, 0o000):
            message = refusal(read_lines, path)
        assert f"Cannot read {path}: Permission denied" in message
        assert "permissions" in message

    @pytest.mark.parametrize("packed", [False, True])
    @pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
    def test_an_empty_file_is_refused(self, tmp_path: Path, mark: bytes, packed: bool) -> None:
        (tmp_path / "a.de").write_bytes(gzip.compress(mark) if packed else mark)
        assert f"{tmp_path / 'a.de'} is empty" in refusal(read_lines, tmp_path / "a.de")

    @pytest.mark.parametrize("packed", [False, True])
    def test_bytes_that_are_not_utf8_are_named_with_their_place(
        self, tmp_path: Path, packed: bool
    ) -> None:
        data = "Ein Mann\nÄpfel und ".encode() + "Öl\n".encode("latin-1")
        (tmp_path / "a.de").write_bytes(gzip.compress(data) if packed else data)
        message = refusal(read_lines, tmp_path / "a.de")
        assert "not UTF-8: byte 12 of line 2 is 0xd6" in message
        assert "iconv" in message

    def test_the_place_counts_from_one_in_the_first_line_and_without_the_mark_s_help(
        self, tmp_path: Path
    ) -> None:
        (tmp_path / "a.de").write_bytes(b"\xff\xfeE\0i\0n\0")
        assert "byte 1 of line 1 is 0xff" in refusal(read_lines, tmp_path / "a.de")
        (tmp_path / "b.de").write_bytes(b"\xef\xbb\xbfab\xff\n")
        assert "byte 6 of line 1 is 0xff" in refusal(read_lines, tmp_path / "b.de")

    def test_a_sentence_cut_within_a_letter_is_not_utf8(self, tmp_path: Path) -> None:
        (tmp_path / "a.de").write_bytes("eins\nÄ".encode()[:-1])
        assert "byte 1 of line 2 is 0xc3" in refusal(read_lines, tmp_path / "a.de")

    def test_two_byte_text_without_a_mark_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "a.de").write_bytes("Ein Mann\n".encode("utf-16-le"))
        message = refusal(read_lines, tmp_path / "a.de")
        assert "line 1 contains a zero byte" in message
        assert "UTF-16" in message

    @pytest.mark.parametrize("num_bytes_left", [2, 5, 12, 30, -9, -8, -4, -1])
    def test_a_gzip_file_cut_short_anywhere_is_refused(
        self, tmp_path: Path, num_bytes_left: int
    ) -> None:
        whole = gzip.compress("".join(f"{n} Äpfel\n" for n in range(200)).encode())
        (tmp_path / "a.gz").write_bytes(whole[:num_bytes_left])
        message = refusal(read_lines, tmp_path / "a.gz")
        assert f"{tmp_path / 'a.gz'} is a damaged or incomplete gzip file" in message
        assert "Download or compress it again" in message

    def test_every_flipped_byte_of_a_gzip_body_is_noticed(self, tmp_path: Path) -> None:
        whole = gzip.compress("".join(f"{n} Äpfel\n" for n in range(50)).encode(), mtime=0)
        for position in range(10, len(whole)):
            damaged = bytearray(whole)
            damaged[position] ^= 0x55
            (tmp_path / "a.gz").write_bytes(damaged)
            assert "damaged" in refusal(read_lines, tmp_path / "a.gz"), position

    @pytest.mark.heavy
    def test_anything_may_come_and_only_corpus_errors_leave(self, tmp_path: Path) -> None:
        generator = random.Random(3)
        for number in range(300):
            data = generator.randbytes(generator.randrange(1, 60))
            (tmp_path / "a").write_bytes((b"\x1f\x8b\x08" if number % 2 else b"") + data)
            with suppress(CorpusError):
                assert read_lines(tmp_path / "a")


class TestPairs:
    def test_line_n_of_one_goes_with_line_n_of_the_other(self, tmp_path: Path) -> None:
        pairs = read_pair(
            put(tmp_path / "a.de.gz", GERMAN), put(tmp_path / "a.en", ENGLISH, "\r\n")
        )
        assert pairs == SentencePairs(tuple(GERMAN), tuple(ENGLISH))
        assert len(pairs) == 3

    def test_pairs_with_an_empty_side_are_left_out_and_the_others_stay_together(
        self, tmp_path: Path
    ) -> None:
        source = put(tmp_path / "a.de", ["eins", "", "drei", " \t\u00a0", "fünf"])
        target = put(tmp_path / "a.en", ["one", "two", "", "four", "five"])
        assert read_pair(source, target) == SentencePairs(("eins", "fünf"), ("one", "five"))

    def test_spaces_around_a_sentence_are_dropped_and_those_within_kept(
        self, tmp_path: Path
    ) -> None:
        pairs = read_pair(
            put(tmp_path / "a.de", ["  ein  Mann \t"]), put(tmp_path / "a.en", ["a  man "])
        )
        assert pairs == SentencePairs(("ein  Mann",), ("a  man",))

    @pytest.mark.parametrize("num_missing", [1, 2])
    def test_unequal_numbers_of_lines_are_refused_with_both_counts(
        self, tmp_path: Path, num_missing: int
    ) -> None:
        source = put(tmp_path / "a.de", GERMAN * 500)
        target = put(tmp_path / "a.en", (ENGLISH * 500)[:-num_missing])
        message = refusal(read_pair, source, target)
        assert f"{source} has 1,500 lines" in message
        assert f"{target} has {1500 - num_missing:,}" in message
        assert f"{source} has {1500 - num_missing:,}" in refusal(read_pair, target, source).replace(
            str(target), str(source)
        )

    def test_carriage_returns_that_end_no_line_are_named_where_numbers_are_unequal(
        self, tmp_path: Path
    ) -> None:
        (tmp_path / "a.de").write_bytes(b"eins\rzwei\ndrei\n")
        message = refusal(read_pair, tmp_path / "a.de", put(tmp_path / "a.en", ENGLISH))
        assert f"{tmp_path / 'a.de'} has carriage returns (CR) within its lines" in message
        assert "a.en has carriage" not in message

    def test_an_empty_last_line_counts_as_a_line(self, tmp_path: Path) -> None:
        source, target = tmp_path / "a.de", tmp_path / "a.en"
        source.write_text("eins\nzwei\n")
        target.write_text("one\ntwo\n\n")
        assert "has 2 lines" in refusal(read_pair, source, target)

    def test_files_without_a_usable_line_are_refused(self, tmp_path: Path) -> None:
        source = put(tmp_path / "a.de", ["eins", "", "  "])
        target = put(tmp_path / "a.en", ["", "two", "\t"])
        message = refusal(read_pair, source, target)
        assert "no usable line" in message
        assert "each of 3 pairs" in message

    def test_the_file_that_is_wrong_is_the_one_named(self, tmp_path: Path) -> None:
        good, bad = put(tmp_path / "a.de", GERMAN), tmp_path / "a.en"
        bad.write_bytes(b"\xff")
        for files in ((good, bad), (bad, good)):
            message = refusal(read_pair, *files)
            assert str(bad) in message
            assert str(good) not in message

    def test_pairs_cannot_be_made_of_unequal_numbers(self) -> None:
        assert "2 source and 1 target" in refusal(SentencePairs, ("eins", "zwei"), ("one",))


class TestFolder:
    def corpus(self, folder: Path, *names: str) -> Path:
        folder.mkdir(exist_ok=True)
        for name in names:
            lines = GERMAN if ".de" in name else ENGLISH
            put(folder / name, lines if name.startswith("train") else lines[:2])
        return folder

    @pytest.mark.parametrize("split", ["val", "valid", "validation", "dev"])
    @pytest.mark.parametrize("suffix", ["", ".gz"])
    def test_each_name_of_a_validation_split_is_found(
        self, tmp_path: Path, split: str, suffix: str
    ) -> None:
        names = [
            f"{part}.{language}{suffix}" for part in ("train", split) for language in ("de", "en")
        ]
        folder = self.corpus(tmp_path / "flickr", *names, "test.de", "README")
        assert read_folder(folder, "de", "en") == ParallelFolder(
            "flickr",
            SentencePairs(tuple(GERMAN), tuple(ENGLISH)),
            SentencePairs(tuple(GERMAN[:2]), tuple(ENGLISH[:2])),
        )

    def test_the_languages_say_which_side_is_the_source(self, tmp_path: Path) -> None:
        folder = self.corpus(tmp_path / "flickr", "train.de", "train.en.gz", "val.de.gz", "val.en")
        assert read_folder(folder, "en", "de").train == SentencePairs(tuple(ENGLISH), tuple(GERMAN))

    def test_a_folder_is_called_by_its_own_name_however_it_was_given(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = self.corpus(tmp_path / "flickr", "train.de", "train.en", "val.de", "val.en")
        monkeypatch.chdir(folder)
        assert read_folder(".", "en", "de").name == "flickr"
        (folder / "val.de").unlink()
        (folder / "val.en").unlink()
        assert read_folder(".", "de", "en").name == "flickr"
        assert read_folder(f"{folder}/", "de", "en").name == "flickr"

    def test_a_plain_file_goes_before_its_packed_copy(self, tmp_path: Path) -> None:
        folder = self.corpus(tmp_path / "flickr", "train.de", "train.en", "val.de", "val.en")
        put(folder / "train.de.gz", ["alt"])
        assert read_folder(folder, "de", "en").train.source == tuple(GERMAN)

    def test_without_a_validation_split_one_is_held_out_the_same_each_time(
        self, tmp_path: Path
    ) -> None:
        put(tmp_path / "train.de", [f"Satz {n}" for n in range(200)])
        put(tmp_path / "train.en", [f"sentence {n}" for n in range(200)])
        first = read_folder(tmp_path, "de", "en")
        random.seed(99)
        assert read_folder(tmp_path, "de", "en") == first
        assert (len(first.train), len(first.validation)) == (190, 10)
        assert read_folder(tmp_path, "de", "en", seed=1).validation != first.validation

    def test_a_missing_folder_is_named(self, tmp_path: Path) -> None:
        assert f"no folder {tmp_path / 'nowhere'}" in refusal(
            read_folder, tmp_path / "nowhere", "de", "en"
        )

    def test_a_file_is_not_a_folder(self, tmp_path: Path) -> None:
        path = put(tmp_path / "train.de", GERMAN)
        assert f"{path} is not a folder" in refusal(read_folder, path, "de", "en")

    def test_a_folder_without_permission_is_refused(
        self, tmp_path: Path, permissions_withheld: Any
    ) -> None:
        folder = self.corpus(tmp_path / "flickr", "train.de", "train.en")
        with permissions_withheld(folder, 0o000):
            assert f"Cannot read {folder}: Permission denied" in refusal(
                read_folder, folder, "de", "en"
            )

    def test_a_folder_without_training_text_is_told_what_was_expected_and_found(
        self, tmp_path: Path
    ) -> None:
        assert "found nothing at all" in refusal(read_folder, tmp_path, "de", "en")
        message = refusal(
            read_folder, self.corpus(tmp_path / "flickr", "train.fr", "train.es"), "de", "en"
        )
        assert "Add train.de and train.en" in message
        assert ".gz" in message
        assert "found train.es, train.fr" in message

    def test_a_folder_with_very_many_files_is_not_listed_to_its_end(self, tmp_path: Path) -> None:
        for number in range(30):
            (tmp_path / f"file{number:02}").touch()
        message = refusal(read_folder, tmp_path, "de", "en")
        assert "and 22 more" in message
        assert "file08" not in message

    @pytest.mark.parametrize(
        ("names", "present", "missing"),
        [
            (["train.de"], "train.de", "train.en"),
            (["train.en.gz"], "train.en.gz", "train.de"),
            (["train.de", "train.en", "val.en"], "val.en", "val.de"),
            (["train.de", "train.en", "dev.de.gz"], "dev.de.gz", "dev.en"),
        ],
    )
    def test_half_a_split_is_refused_and_never_quietly_replaced(
        self, tmp_path: Path, names: list[str], present: str, missing: str
    ) -> None:
        message = refusal(read_folder, self.corpus(tmp_path / "flickr", *names), "de", "en")
        assert f"contains {present} but not its translation" in message
        assert f"Add {missing} or {missing}.gz" in message

    def test_a_bad_file_in_a_good_folder_is_refused(self, tmp_path: Path) -> None:
        folder = self.corpus(tmp_path / "flickr", "train.de", "train.en", "val.de", "val.en")
        put(folder / "val.en", ENGLISH)
        assert "has 2 lines" in refusal(read_folder, folder, "de", "en")


class TestHoldOut:
    def pairs(self, number: int) -> SentencePairs:
        return SentencePairs(
            tuple(f"Satz {n}" for n in range(number)), tuple(f"sentence {n}" for n in range(number))
        )

    @pytest.mark.parametrize(
        ("number", "held_out"),
        [(2, 1), (19, 1), (20, 1), (39, 1), (40, 2), (200, 10), (20_000, 1000), (29_000, 1000)],
    )
    def test_five_percent_are_held_out_but_at_least_one_and_at_most_a_thousand(
        self, number: int, held_out: int
    ) -> None:
        train, validation = hold_out(self.pairs(number), seed=1)
        assert (len(train), len(validation)) == (number - held_out, held_out)

    def test_no_pair_is_lost_or_in_both_splits_and_order_and_partners_stay(self) -> None:
        pairs = self.pairs(300)
        train, validation = hold_out(pairs, seed=1)
        assert sorted(train.source + validation.source) == sorted(pairs.source)
        for split in (train, validation):
            numbers = [int(sentence.split()[1]) for sentence in split.source]
            assert numbers == sorted(numbers)
            assert split.target == tuple(f"sentence {n}" for n in numbers)

    def test_the_seed_alone_decides(self) -> None:
        first = hold_out(self.pairs(300), seed=1)
        random.seed(5)
        state = random.getstate()
        assert hold_out(self.pairs(300), seed=1) == first
        assert random.getstate() == state, "the global generator was touched"
        assert hold_out(self.pairs(300), seed=2) != first

    def test_the_split_is_the_same_in_every_release_so_that_runs_can_be_resumed(self) -> None:
        _, validation = hold_out(self.pairs(100), seed=1234)
        assert validation.source == PINNED_SPLIT

    def test_the_held_out_pairs_are_spread_over_the_corpus(self) -> None:
        _, validation = hold_out(self.pairs(20_000), seed=1)
        numbers = [int(sentence.split()[1]) for sentence in validation.source]
        quarters = [sum(n // 5000 == quarter for n in numbers) for quarter in range(4)]
        assert all(180 < count < 320 for count in quarters)

    @pytest.mark.parametrize("number", [0, 1])
    def test_a_single_pair_cannot_be_split(self, number: int) -> None:
        message = refusal(hold_out, self.pairs(number), 1)
        assert f"too few sentence pairs: {number}" in message
        assert "at least one each" in message


def test_multi30k_is_read_as_it_is_published(multi30k_folder: Path) -> None:
    corpus = read_folder(multi30k_folder, "de", "en")
    assert (len(corpus.train), len(corpus.validation)) == (29_000, 1_014)
    assert (
        corpus.train.source[0]
        == "Zwei junge weiße Männer sind im Freien in der Nähe vieler Büsche."
    )
    assert corpus.train.target[0] == "Two young, White males are outside near many bushes."
