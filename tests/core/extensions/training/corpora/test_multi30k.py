"""The download brings the pinned files whole, asks for nothing twice, and leaves nothing half."""

import hashlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import platformdirs
import pytest

from augenmerk.core.errors import CorpusError, StorageError
from augenmerk.core.extensions.download import RemoteFile
from augenmerk.core.extensions.training.corpora import multi30k
from augenmerk.core.extensions.training.corpora.multi30k import (
    DownloadProgress,
    DownloadStoppedError,
    download,
)
from augenmerk.core.extensions.training.corpora.parallel import read_folder
from tests.bad_server import BAD_ANSWERS, answering

BODIES = {
    "train.de.gz": b"ein Mann" * 20_000,
    "train.en.gz": b"a man" * 10_000,
    "val.de.gz": b"eine Frau",
}
FILES = [
    RemoteFile(name, len(body), hashlib.sha256(body).hexdigest()) for name, body in BODIES.items()
]


@dataclass
class Site:
    """What the local server answers, and what it was asked.

    Attributes:
        url: its base address.
        bodies: the files it has.
        statuses: other answers than 200, by name.
        promised_bytes: lengths it announces and does not keep, by name.
        silent: names after whose first byte it says nothing until the test ends.
        requests: names asked for, in order.
    """

    url: str
    bodies: dict[str, bytes]
    statuses: dict[str, int] = field(default_factory=dict)
    promised_bytes: dict[str, int] = field(default_factory=dict)
    silent: set[str] = field(default_factory=set)
    requests: list[str] = field(default_factory=list)


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A real web server on this machine, with the made-up files."""
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1")
    end_of_test = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.removeprefix("/raw/")
            answers.requests.append(name)
            body = answers.bodies.get(name, b"")
            self.send_response(answers.statuses.get(name, 200 if name in answers.bodies else 404))
            self.send_header("Content-Type", "application/octet-stream")
            self.send_header("Content-Length", str(answers.promised_bytes.get(name, len(body))))
            self.end_headers()
            try:
                if name in answers.silent:
                    self.wfile.write(body[:1])
                    self.wfile.flush()
                    end_of_test.wait(20)
                else:
                    self.wfile.write(body)
            except ConnectionError:
                pass  # the client had enough

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = False  # so that closing waits for every handler

    server = Server(("127.0.0.1", 0), Handler)
    answers = Site(f"http://127.0.0.1:{server.server_port}/raw", dict(BODIES))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield answers
    finally:
        end_of_test.set()
        server.shutdown()
        thread.join()
        server.server_close()


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_every_file_arrives_as_it_was_served(tmp_path: Path, site: Site) -> None:
    folder = download(tmp_path, base_url=site.url, files=FILES)
    assert folder == tmp_path / "multi30k"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == BODIES
    assert site.requests == list(BODIES)


def test_a_slash_at_the_end_of_the_address_makes_no_difference(tmp_path: Path, site: Site) -> None:
    download(tmp_path, base_url=f"{site.url}/", files=FILES)
    assert names_in(tmp_path) == sorted(BODIES)


def test_what_is_there_and_right_is_not_asked_for_again(tmp_path: Path, site: Site) -> None:
    download(tmp_path, base_url=site.url, files=FILES)
    site.requests.clear()
    reports: list[DownloadProgress] = []
    assert (
        download(tmp_path, base_url=site.url, files=FILES, on_progress=reports.append)
        == tmp_path / "multi30k"
    )
    assert site.requests == []
    assert reports == []


def test_a_complete_cache_needs_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "multi30k").mkdir()
    for name, body in BODIES.items():
        (tmp_path / "multi30k" / name).write_bytes(body)

    def no_network(*_: object, **__: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "create_connection", no_network)
    monkeypatch.setattr("requests.get", no_network)
    assert names_in(download(tmp_path, files=FILES)) == sorted(BODIES)


def test_only_what_is_missing_or_damaged_is_fetched(tmp_path: Path, site: Site) -> None:
    folder = download(tmp_path, base_url=site.url, files=FILES)
    (folder / "train.en.gz").unlink()
    (folder / "val.de.gz").write_bytes(b"eine Frag")
    site.requests.clear()
    download(tmp_path, base_url=site.url, files=FILES)
    assert site.requests == ["train.en.gz", "val.de.gz"]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == BODIES


def test_progress_grows_to_the_whole_and_names_the_files_in_order(
    tmp_path: Path, site: Site
) -> None:
    reports: list[DownloadProgress] = []
    download(tmp_path, base_url=site.url, files=FILES, on_progress=reports.append)
    whole = sum(len(body) for body in BODIES.values())
    assert {report.total_bytes for report in reports} == {whole}
    done = [report.done_bytes for report in reports]
    assert done == sorted(done)
    assert (done[0], done[-1]) == (0, whole)
    assert list(dict.fromkeys(report.file for report in reports)) == list(BODIES)
    assert len(reports) > 2 * len(BODIES), "a large file reports on its way"


def test_progress_counts_only_what_must_be_fetched(tmp_path: Path, site: Site) -> None:
    folder = download(tmp_path, base_url=site.url, files=FILES)
    (folder / "val.de.gz").unlink()
    reports: list[DownloadProgress] = []
    download(tmp_path, base_url=site.url, files=FILES, on_progress=reports.append)
    size = len(BODIES["val.de.gz"])
    assert reports == [
        DownloadProgress("val.de.gz", 0, size),
        DownloadProgress("val.de.gz", size, size),
    ]


@pytest.mark.parametrize(
    "served",
    [b"EIN MANN" * 20_000, b"", b"ein Mann" * 19_999, b"ein Mann" * 20_001],
    ids=["other content", "nothing", "too short", "too long"],
)
def test_a_wrong_digest_is_refused_and_nothing_is_left(
    tmp_path: Path, site: Site, served: bytes
) -> None:
    site.bodies["train.de.gz"] = served
    with pytest.raises(CorpusError) as caught:
        download(tmp_path, base_url=site.url, files=FILES)
    message = str(caught.value)
    assert f"{site.url}/train.de.gz" in message
    assert f"its digest is not {FILES[0].sha256[:12]}" in message
    assert "with --data" in message
    assert names_in(tmp_path) == []


def test_an_endless_answer_is_cut_off(tmp_path: Path, site: Site) -> None:
    site.bodies["val.de.gz"] = bytes(50_000_000)
    reports: list[DownloadProgress] = []
    with pytest.raises(CorpusError, match="not the right one"):
        download(tmp_path, base_url=site.url, files=FILES[2:], on_progress=reports.append)
    assert max(report.done_bytes for report in reports) <= FILES[2].num_bytes
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("status", [403, 404, 429, 500, 503])
def test_a_refusing_server_is_quoted_and_a_way_out_named(
    tmp_path: Path, site: Site, status: int
) -> None:
    site.statuses["train.en.gz"] = status
    with pytest.raises(CorpusError) as caught:
        download(tmp_path, base_url=site.url, files=FILES)
    assert f"The download from {site.url}/train.en.gz failed: {status}" in str(caught.value)
    assert "with --data" in str(caught.value)
    assert names_in(tmp_path) == ["train.de.gz"], "what came whole before it stays"


@pytest.mark.parametrize(("answer", "message"), BAD_ANSWERS.values(), ids=BAD_ANSWERS)
def test_a_server_that_answers_badly_is_described_in_a_short_message(
    tmp_path: Path, answer: bytes, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with answering(answer) as url, pytest.raises(CorpusError, match=message) as caught:
        download(
            tmp_path,
            base_url=url,
            files=[RemoteFile("val.de.gz", 2, hashlib.sha256(b"ab").hexdigest())],
        )
    assert "with --data" in str(caught.value)
    assert len(str(caught.value)) < 400
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("num_bytes", [0, 1, 40_000])
def test_a_cut_connection_leaves_nothing(tmp_path: Path, site: Site, num_bytes: int) -> None:
    site.promised_bytes["train.de.gz"] = len(BODIES["train.de.gz"])
    site.bodies["train.de.gz"] = BODIES["train.de.gz"][:num_bytes]
    with pytest.raises(
        CorpusError, match="the connection broke before the file was complete"
    ) as caught:
        download(tmp_path, base_url=site.url, files=FILES)
    assert "with --data" in str(caught.value)
    assert names_in(tmp_path) == []


def test_a_failure_leaves_the_older_file_as_it_was(tmp_path: Path, site: Site) -> None:
    (tmp_path / "multi30k").mkdir()
    (tmp_path / "multi30k" / "train.de.gz").write_bytes(b"old and damaged")
    site.bodies["train.de.gz"] = b"wrong"
    with pytest.raises(CorpusError):
        download(tmp_path, base_url=site.url, files=FILES)
    assert (tmp_path / "multi30k" / "train.de.gz").read_bytes() == b"old and damaged"
    assert names_in(tmp_path) == ["train.de.gz"]


def test_without_a_network_the_message_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens: connections are refused
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/raw"
        with pytest.raises(CorpusError) as caught:
            download(tmp_path, base_url=url, files=FILES)
    message = str(caught.value)
    assert (
        f"The download from {url}/train.de.gz failed: the connection to the server failed"
        in message
    )
    assert "Check the connection" in message
    assert "with --data" in message
    assert names_in(tmp_path) == []


@pytest.mark.heavy
def test_a_server_that_falls_silent_is_given_up(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("augenmerk.core.extensions.download.READ_TIMEOUT_S", 0.2)
    site.silent.add("train.de.gz")
    with pytest.raises(CorpusError, match=r"The download from .*/train\.de\.gz failed"):
        download(tmp_path, base_url=site.url, files=FILES)
    assert names_in(tmp_path) == []


def test_stopping_acts_within_one_piece_and_leaves_no_part(tmp_path: Path, site: Site) -> None:
    reports: list[DownloadProgress] = []
    with pytest.raises(DownloadStoppedError, match="was stopped"):
        download(
            tmp_path,
            base_url=site.url,
            files=FILES,
            on_progress=reports.append,
            should_stop=lambda: any(report.done_bytes > 0 for report in reports),
        )
    assert sum(report.done_bytes > 0 for report in reports) == 1
    assert names_in(tmp_path) == []


def test_stopping_keeps_whole_files_so_that_the_next_download_goes_on(
    tmp_path: Path, site: Site
) -> None:
    reports: list[DownloadProgress] = []
    with pytest.raises(DownloadStoppedError):
        download(
            tmp_path,
            base_url=site.url,
            files=FILES,
            on_progress=reports.append,
            should_stop=lambda: bool(reports) and reports[-1].file == "train.en.gz",
        )
    assert site.requests == ["train.de.gz"], "nothing is asked of the network after a stop"
    assert names_in(tmp_path) == ["train.de.gz"]
    download(tmp_path, base_url=site.url, files=FILES, should_stop=lambda: False)
    assert site.requests == list(BODIES)


def test_an_error_in_the_listener_leaves_no_part(tmp_path: Path, site: Site) -> None:
    def listener(progress: DownloadProgress) -> None:
        if progress.done_bytes:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        download(tmp_path, base_url=site.url, files=FILES, on_progress=listener)
    assert names_in(tmp_path) == []


def test_a_cache_that_cannot_be_written_is_refused_with_a_way_out(
    tmp_path: Path, site: Site
) -> None:
    (tmp_path / "cache").write_text("not a folder")
    with pytest.raises(StorageError) as caught:
        download(tmp_path / "cache", base_url=site.url, files=FILES)
    assert f"Cannot write {tmp_path / 'cache'}" in str(caught.value)
    assert "with --data" in str(caught.value)
    assert (tmp_path / "cache").read_text() == "not a folder"
    assert site.requests == [], "nothing is fetched that cannot be kept"


def test_a_full_disk_is_no_network_error(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("augenmerk.core.storage.os.fsync", no_space)
    with pytest.raises(StorageError, match="No space left on device"):
        download(tmp_path, base_url=site.url, files=FILES)
    assert names_in(tmp_path) == []


def test_without_a_folder_the_user_s_cache_is_used(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def user_cache_path(name: str, **_: object) -> Path:
        asked.append(name)
        return tmp_path / "cache of the user"

    monkeypatch.setattr(platformdirs, "user_cache_path", user_cache_path)
    assert download(base_url=site.url, files=FILES) == tmp_path / "cache of the user" / "multi30k"
    assert asked == ["augenmerk"]
    assert names_in(tmp_path) == sorted(BODIES)


def test_the_address_is_one_commit_of_the_public_repository() -> None:
    assert multi30k.BASE_URL == (
        "https://raw.githubusercontent.com/multi30k/dataset/a3d2e0d26b56f3846f66a952536ffed4e401d05a/data/task1/raw"
    )


def test_the_real_files_pass_the_pinned_digests(
    tmp_path: Path, site: Site, multi30k_folder: Path
) -> None:
    site.bodies = {path.name: path.read_bytes() for path in multi30k_folder.glob("*.gz")}
    reports: list[DownloadProgress] = []
    folder = download(tmp_path, base_url=site.url, on_progress=reports.append)
    assert len(names_in(folder)) == len(site.requests) == 6
    assert (
        reports[-1].done_bytes
        == reports[-1].total_bytes
        == sum(len(body) for body in site.bodies.values())
    )
    corpus = read_folder(folder, "de", "en")
    assert (corpus.name, len(corpus.train), len(corpus.validation)) == ("multi30k", 29_000, 1_014)
    site.requests.clear()
    download(tmp_path, base_url=site.url)
    assert site.requests == []
