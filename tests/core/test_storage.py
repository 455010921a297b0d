"""A file is written whole or not at all, and the older one survives every failure."""

import errno
import os
import stat
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from augenmerk.core import storage
from augenmerk.core.errors import AugenmerkError, CorpusError, StorageError
from augenmerk.core.extensions.download import Downloader, RemoteFile
from augenmerk.core.folder_lock import FolderLock
from augenmerk.core.storage import (
    atomic_path,
    check_writable,
    is_file,
    is_folder,
    is_forbidden,
    write_text,
)
from tests.limits import files_limited


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def write_half(target: Path, error: BaseException) -> None:
    with atomic_path(target) as temporary:
        temporary.write_text("half of the n")
        raise error


def test_the_file_appears_with_its_content_and_nothing_beside_it(tmp_path: Path) -> None:
    write_text(tmp_path / "note.txt", "Ein Mann.\nÄpfel\n")
    assert (tmp_path / "note.txt").read_bytes() == "Ein Mann.\nÄpfel\n".encode().replace(
        b"\n", os.linesep.encode()
    )
    assert names_in(tmp_path) == ["note.txt"]


def test_missing_folders_are_made(tmp_path: Path) -> None:
    write_text(tmp_path / "runs" / "first" / "note.txt", "x")
    assert (tmp_path / "runs" / "first" / "note.txt").read_text() == "x"


def test_a_target_given_as_text_is_a_path(tmp_path: Path) -> None:
    write_text(str(tmp_path / "note.txt"), "x")
    assert names_in(tmp_path) == ["note.txt"]


def test_the_older_file_stands_until_the_block_has_ended(tmp_path: Path) -> None:
    target = tmp_path / "model"
    target.write_text("old")
    with atomic_path(target) as temporary:
        assert temporary.parent == target.parent, "a rename is atomic only within one folder"
        temporary.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert names_in(tmp_path) == ["model"]


def test_an_error_in_the_block_leaves_the_older_file_and_passes_on(tmp_path: Path) -> None:
    target = tmp_path / "model"
    target.write_text("old")
    with pytest.raises(ZeroDivisionError):
        write_half(target, ZeroDivisionError())
    assert target.read_text() == "old"
    assert names_in(tmp_path) == ["model"]


def test_an_error_in_the_block_leaves_nothing_where_nothing_stood(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        write_half(tmp_path / "model", KeyboardInterrupt())
    assert names_in(tmp_path) == []


def test_an_interrupt_while_the_file_is_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, stat_of = [], Path.stat

    def interrupted(path: Path, **options: Any) -> os.stat_result:
        if path.suffix == ".part":
            made.append(path.name in names_in(tmp_path))
            raise KeyboardInterrupt
        return stat_of(path, **options)

    monkeypatch.setattr(Path, "stat", interrupted)
    with pytest.raises(KeyboardInterrupt), atomic_path(tmp_path / "model"):
        pass
    assert (made, names_in(tmp_path)) == ([True], [])


def test_the_content_reaches_the_disk_before_the_rename(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    fsync, replace = os.fsync, os.replace

    def watched_fsync(descriptor: int) -> None:
        order.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        fsync(descriptor)

    def watched_replace(source: Path, target: Path) -> None:
        order.append("rename")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", watched_fsync)
    monkeypatch.setattr(os, "replace", watched_replace)
    write_text(tmp_path / "note.txt", "x")
    assert order == (["file", "rename", "folder"] if os.name == "posix" else ["file", "rename"])


@pytest.mark.skipif(os.name != "posix", reason="file modes are those of POSIX systems")
@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_the_file_has_the_mode_that_the_user_s_mask_gives(
    tmp_path: Path, mask: int, mode: int
) -> None:
    before = os.umask(mask)
    try:
        write_text(tmp_path / "note.txt", "x")
        assert os.umask(mask) == mask, "the mask was changed"
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "note.txt").stat().st_mode) == mode


def test_a_folder_that_is_a_file_is_refused_with_a_message_to_act_on(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("not a folder")
    target = tmp_path / "runs" / "note.txt"
    with pytest.raises(StorageError) as caught:
        write_text(target, "x")
    message = str(caught.value)
    assert f"Cannot write {target}" in message, "what was given"
    assert "choose another folder" in message, "what to do"
    assert isinstance(caught.value, AugenmerkError)
    assert (tmp_path / "runs").read_text() == "not a folder"


def test_a_folder_where_the_file_should_stand_is_refused_and_stays(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "inside").write_text("kept")
    with pytest.raises(StorageError, match="Cannot write"):
        write_text(tmp_path / "model", "x")
    assert names_in(tmp_path) == ["model"]
    assert (tmp_path / "model" / "inside").read_text() == "kept"


def test_a_folder_without_permission_is_refused(tmp_path: Path, permissions_withheld: Any) -> None:
    folder = tmp_path / "locked"
    folder.mkdir()
    (folder / "note.txt").write_text("old")
    with (
        permissions_withheld(folder, 0o500),
        pytest.raises(StorageError, match="Permission denied"),
    ):
        write_text(folder / "note.txt", "new")
    assert (folder / "note.txt").read_text() == "old"
    assert names_in(folder) == ["note.txt"]


def test_a_folder_that_becomes_read_only_during_writing_is_named(
    tmp_path: Path, permissions_withheld: Any
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    with (
        ExitStack() as after,
        pytest.raises(StorageError, match="Permission denied"),
        atomic_path(folder / "note.txt") as temporary,
    ):
        temporary.write_text("new")
        after.enter_context(permissions_withheld(folder, 0o500))
    assert not (folder / "note.txt").exists()


def test_what_may_not_be_read_is_told_from_what_is_missing(
    tmp_path: Path, permissions_withheld: Any
) -> None:
    (tmp_path / "locked").mkdir()
    file = tmp_path / "locked" / "note.txt"
    file.write_text("text")
    assert is_file(file)
    assert is_folder(file.parent)
    assert not is_forbidden(file)
    assert not is_forbidden(tmp_path / "missing")
    with permissions_withheld(file.parent, 0o000):
        assert not is_file(file)
        assert is_forbidden(file)
        assert is_forbidden(file.parent)


def test_a_read_only_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_only(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Path, "touch", read_only)
    with pytest.raises(StorageError, match=os.strerror(errno.EROFS)):
        write_text(tmp_path / "note.txt", "x")


@pytest.mark.skipif(
    sys.platform == "win32", reason="limits of the file size are those of POSIX systems"
)
def test_a_write_that_the_system_cuts_short_leaves_the_older_file(tmp_path: Path) -> None:
    target = tmp_path / "model"
    target.write_text("old")
    with (
        files_limited(1 << 20),
        pytest.raises(StorageError, match=os.strerror(errno.EFBIG)),
        atomic_path(target) as temporary,
    ):
        temporary.write_bytes(bytes(2 << 20))
    assert target.read_text() == "old"
    assert names_in(tmp_path) == ["model"]


def test_more_space_is_only_advised_where_it_is_lacking(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(
        StorageError, match=r"a part of this path is not a folder.*; choose another folder, and try"
    ):
        write_text(tmp_path / "file" / "page.html", "new")


ADVICE = {
    errno.EACCES: "make the folder writable or choose another folder, and try again",
    errno.EPERM: "make the folder writable or choose another folder, and try again",
    errno.EROFS: "make the disk writable or choose another folder, and try again",
    errno.ENOSPC: "free some space or choose another folder, and try again",
    errno.EFBIG: "allow larger files (ulimit -f) or choose another folder, and try again",
    errno.ENAMETOOLONG: "; choose a shorter name, and try again",
    errno.EISDIR: "rename the folder that has this name or choose another name, and try again",
    errno.ENOENT: "; choose another folder, and try again",
    errno.EIO: "; choose another folder, and try again",
}


@pytest.mark.parametrize("number", ADVICE, ids=errno.errorcode.get)
@pytest.mark.parametrize(
    "write",
    [
        lambda path: write_text(path, "x"),
        check_writable,
        lambda path: FolderLock(path / "run"),
        lambda path: Downloader(CorpusError, "", lambda: None).fetch(
            RemoteFile("a", 1), "", path, lambda *_: None
        ),
    ],
    ids=["text", "check", "run", "download"],
)
def test_the_advice_fits_the_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, write: Callable[[Path], object]
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(StorageError) as caught:
        write(tmp_path / "new")
    assert f": {os.strerror(number)}. Nothing there was changed" in str(caught.value)
    assert ADVICE[number] in str(caught.value)


def test_a_name_that_is_too_long_and_a_folder_in_the_way_are_told_by_the_system(
    tmp_path: Path,
) -> None:
    with pytest.raises(StorageError, match="choose a shorter name, and try again"):
        write_text(tmp_path / ("x" * 300), "x")
    with pytest.raises(
        StorageError, match="rename the folder that has this name or choose another name"
    ):
        write_text(tmp_path, "x")


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_the_older_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def no_space(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    target = tmp_path / "model"
    target.write_text("old")
    monkeypatch.setattr(storage.os, step, no_space)
    with pytest.raises(StorageError, match="No space left on device") as caught:
        write_text(target, "new")
    assert "free some space" in str(caught.value)
    assert target.read_text() == "old"
    assert names_in(tmp_path) == ["model"]


def test_what_could_be_written_is_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "new" / "file.txt"
    check_writable(target)
    assert names_in(target.parent) == []
    target.write_text("old")
    check_writable(target)
    assert target.read_text() == "old"


def test_a_folder_and_a_file_for_a_folder_are_refused_beforehand(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    for target in (tmp_path, tmp_path / "file" / "x"):
        with pytest.raises(StorageError, match="Cannot write"):
            check_writable(target)


def test_a_symbolic_link_stays_and_what_it_points_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    file, link, chain = tmp_path / "models" / "first", tmp_path / "newest", tmp_path / "chain"
    try:
        link.symlink_to(Path("models", "first"))
    except OSError:
        pytest.skip("links may not be made here")
    chain.symlink_to(link)
    write_text(link, "made")  # the link pointed to nothing yet
    assert file.read_text() == "made"
    check_writable(chain)
    write_text(chain, "written anew")
    assert file.read_text() == "written anew"
    assert link.is_symlink()
    assert chain.is_symlink()
    assert names_in(tmp_path) == ["chain", "models", "newest"]
    assert names_in(file.parent) == ["first"]


@pytest.mark.skipif(os.name != "posix", reason="pipes and links are those of POSIX systems")
@pytest.mark.parametrize("is_link", [False, True], ids=["a pipe", "a link to a pipe"])
def test_a_pipe_is_refused_and_stays(tmp_path: Path, is_link: bool) -> None:
    pipe = target = tmp_path / "pipe"
    os.mkfifo(pipe)
    if is_link:
        target = tmp_path / "link"
        target.symlink_to(pipe)
    before = names_in(tmp_path)
    with pytest.raises(StorageError, match=r"Choose another file name") as caught:
        write_text(target, "x")
    assert f"Cannot write {target}" in str(caught.value)
    with pytest.raises(StorageError, match="a device, a pipe or a socket"):
        check_writable(target)
    assert names_in(tmp_path) == before
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(os.name != "posix", reason="links are those of POSIX systems")
def test_a_link_that_leads_to_itself_is_refused(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(link)
    with pytest.raises(StorageError, match="Cannot write"):
        write_text(link, "x")
    assert link.is_symlink()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are those of POSIX systems")
class TestReading:
    """A pipe that nobody writes to blocks whoever opens it, and some devices never end."""

    @pytest.fixture
    def pipe(self, tmp_path: Path) -> Path:
        os.mkfifo(tmp_path / "pipe")
        return tmp_path / "pipe"

    def test_what_is_no_regular_file_is_refused_at_once(self, pipe: Path, tmp_path: Path) -> None:
        for path in (pipe, Path("/dev/zero"), Path("/dev/null")):
            with pytest.raises(storage.NotARegularFileError, match="device, a pipe or a socket"):
                storage.open_file(path)
        with pytest.raises(IsADirectoryError):
            storage.open_file(tmp_path)
        with pytest.raises(FileNotFoundError):
            storage.open_file(tmp_path / "none")
        with pytest.raises(OSError, match="null character"):
            storage.open_file("a\0b")

    def test_a_link_to_a_file_is_that_file(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("x")
        (tmp_path / "link").symlink_to(tmp_path / "file")
        assert storage.read_bytes(tmp_path / "link") == b"x"

    def test_more_than_was_asked_for_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_bytes(b"1234")
        assert storage.read_bytes(tmp_path / "file", 4) == b"1234"
        with pytest.raises(OSError, match="more than 3 bytes"):
            storage.read_bytes(tmp_path / "file", 3)

    def test_text_has_one_kind_of_line_end(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_bytes("ä\r\nb\rc\n".encode())
        assert storage.read_text(tmp_path / "file") == "ä\nb\nc\n"

    def test_text_has_no_byte_order_mark(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("\ufeffa\ufeff", encoding="utf-8")
        assert storage.read_text(tmp_path / "file") == "a\ufeff"

    def test_every_reader_of_the_engine_refuses_a_pipe(self, pipe: Path, tmp_path: Path) -> None:
        from augenmerk.core.checkpoint.file import load_checkpoint
        from augenmerk.core.extensions.analyses.alignment import read_gold, read_ibm_1
        from augenmerk.core.extensions.run_settings.presets import preset
        from augenmerk.core.extensions.run_settings.toml_file import read_toml
        from augenmerk.core.extensions.training.corpora.loading import load_corpus
        from augenmerk.core.extensions.training.corpora.parallel import read_lines
        from augenmerk.core.extensions.training.corpora.prepared import load_prepared
        from augenmerk.core.extensions.training.film import read_frame
        from augenmerk.core.extensions.training.folder import (
            describe_checkpoint,
            read_starts,
            summarize,
        )
        from augenmerk.core.extensions.training.history_file import read_history
        from augenmerk.core.maps.roles import read_sample_roles
        from augenmerk.core.translation.experiment_file import kind_of_file, read_experiment_file

        readers = (
            load_checkpoint,
            read_history,
            read_toml,
            read_lines,
            load_prepared,
            read_frame,
            kind_of_file,
        )
        for reader in (*readers, read_experiment_file, read_gold, read_ibm_1):
            with pytest.raises(AugenmerkError, match="device"):
                reader(pipe)
        with pytest.raises(AugenmerkError, match="device"):
            load_corpus(pipe, preset("notebook"))
        for name in ("train.de", "train.en"):
            os.mkfifo(tmp_path / name)
        with pytest.raises(AugenmerkError, match="device"):
            load_corpus(tmp_path, preset("notebook"))
        run = tmp_path / "run"
        run.mkdir()
        for name in (
            "last.safetensors",
            "best.safetensors",
            "run.toml",
            "history.csv",
            "environment.json",
        ):
            os.mkfifo(run / name)
        assert describe_checkpoint(run / "last.safetensors") is None
        assert read_starts(run) == []
        assert summarize(run).run is None
        os.mkfifo(tmp_path / "model.roles.json")
        assert read_sample_roles(tmp_path / "model.safetensors", preset("notebook").model) is None
