"""Multi30k, German–English: downloaded once into the user's cache, from one commit, verified by pinned digests.

Multi30k (Elliott et al. 2016, "Multi30K: Multilingual English-German Image Descriptions", W16-3210) derives from
Flickr30K and is provided for **non-commercial research and educational purposes** only. It is never part of this
product: each user downloads it from its public repository, `multi30k/dataset`, under those terms.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from augenmerk.core.errors import CorpusError, StorageError
from augenmerk.core.storage import atomic_path, read_bytes

COMMIT = "a3d2e0d26b56f3846f66a952536ffed4e401d05a"
BASE_URL = f"https://raw.githubusercontent.com/multi30k/dataset/{COMMIT}/data/task1/raw"
CONNECT_TIMEOUT_S = 10.0
READ_TIMEOUT_S = 20.0
_CHUNK_BYTES = 32 * 1024
_ADVICE = "Check the connection and try again, or choose a folder with your own copy (in a terminal: --data DIR)."


@dataclass(frozen=True)
class RemoteFile:
    """A file to download.

    Attributes:
        name: its name below the base address, and in the cache.
        num_bytes: its size.
        sha256: its digest, 64 hexadecimal digits.
    """

    name: str
    num_bytes: int
    sha256: str


FILES = (
    RemoteFile("train.de.gz", 637_044, "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6"),
    RemoteFile("train.en.gz", 568_929, "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f"),
    RemoteFile("val.de.gz", 24_681, "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a"),
    RemoteFile("val.en.gz", 21_650, "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28"),
    RemoteFile("test_2016_flickr.de.gz", 22_890, "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8"),
    RemoteFile("test_2016_flickr.en.gz", 21_077, "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9"),
)


@dataclass(frozen=True)
class DownloadProgress:
    """Progress of a download.

    Attributes:
        file: name of the current file.
        done_bytes, total_bytes: over all files of this download, without those already in the cache.
    """

    file: str
    done_bytes: int
    total_bytes: int


class DownloadStoppedError(CorpusError):
    """`should_stop` ended the download. Complete files stay in the cache, partial ones are removed."""


def cache_path() -> Path:
    """The user's cache folder of this product."""
    return platformdirs.user_cache_path("augenmerk", appauthor=False)


def download(
    cache_folder: Path | None = None,
    *,
    base_url: str = BASE_URL,
    files: Sequence[RemoteFile] = FILES,
    on_progress: Callable[[DownloadProgress], None] = lambda progress: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Path:
    """The folder with Multi30k's six files, downloading those that are missing or damaged.

    If all files are present with the right digests, there is no network access. `should_stop` is called before each
    file and after each chunk (32 KiB at most).

    Args:
        cache_folder: the parent of the folder `multi30k`; None for the user's cache.
        base_url: URL of the folder with the files.
        files: the files to download, with sizes and digests.
        on_progress: called at the start of each file and after each chunk.
        should_stop: whether to stop now.

    Raises:
        CorpusError: the network or the server failed, or a digest is wrong; no partial file is left.
        DownloadStoppedError: a `CorpusError`; stopped by `should_stop`.
        StorageError: the cache cannot be written.
    """
    folder = (cache_path() if cache_folder is None else Path(cache_folder)) / "multi30k"
    missing = [file for file in files if not _is_whole(folder / file.name, file)]
    total_bytes = sum(file.num_bytes for file in missing)
    done_bytes = 0
    for file in missing:

        def report(file_bytes: int, file: RemoteFile = file, before: int = done_bytes) -> None:
            on_progress(DownloadProgress(file.name, before + file_bytes, total_bytes))

        try:
            _fetch(file, f"{base_url.rstrip('/')}/{file.name}", folder / file.name, report, should_stop)
        except StorageError as error:
            raise StorageError(
                f"{error} Or choose a folder with your own copy of Multi30k (in a terminal: --data DIR)."
            ) from error
        done_bytes += file.num_bytes
    return folder


def _fetch(
    file: RemoteFile, url: str, target: Path, report: Callable[[int], None], should_stop: Callable[[], bool]
) -> None:
    """Downloads one file to `target`; it appears there complete and verified, or not at all."""
    digest = hashlib.sha256()
    num_bytes = 0
    with atomic_path(target) as temporary, temporary.open("wb") as output:
        report(0)
        for piece in _stream(url, should_stop):
            num_bytes += len(piece)
            if num_bytes > file.num_bytes:
                break  # not the pinned file: no need to download the rest
            output.write(piece)
            digest.update(piece)
            report(num_bytes)
        if num_bytes != file.num_bytes or digest.hexdigest() != file.sha256:
            raise CorpusError(
                f"The file from {url} is not the right one: its digest is not {file.sha256[:12]}… (SHA-256, "
                f"{file.num_bytes:,} bytes). It was deleted. A proxy or a log-in page may have answered. {_ADVICE}"
            )


def _stream(url: str, should_stop: Callable[[], bool]) -> Iterator[bytes]:
    """The body at `url`, in chunks. Raises `CorpusError` if anything fails or is stopped.

    The errors of `requests` are `OSError`s: they are converted here, so that they do not look like errors of writing.
    """
    import requests  # 70 modules, which the start of the window does without

    _raise_if_stopped(url, should_stop)
    try:
        with requests.get(
            url, stream=True, timeout=(CONNECT_TIMEOUT_S, READ_TIMEOUT_S), headers={"Accept-Encoding": "identity"}
        ) as response:
            if response.status_code != requests.codes.ok:
                raise CorpusError(
                    f"The download from {url} failed: {response.status_code} {response.reason}. {_ADVICE}"
                )
            for piece in response.iter_content(_CHUNK_BYTES):
                _raise_if_stopped(url, should_stop)
                yield piece
    except requests.RequestException as error:
        raise CorpusError(f"Cannot fetch {url}: {_explain(error)}. {_ADVICE}") from error


def _raise_if_stopped(url: str, should_stop: Callable[[], bool]) -> None:
    if should_stop():
        raise DownloadStoppedError(f"The download of {url} was stopped. Start it again to fetch what is missing.")


def _explain(error: OSError) -> str:
    import requests

    match error:
        case requests.exceptions.SSLError():
            return "the server's certificate was not accepted"
        case requests.Timeout():
            return "the server did not answer in time"
        case requests.exceptions.ChunkedEncodingError():
            return "the connection broke before the file was complete"
        case requests.ConnectionError():
            return "the connection to the server failed"
        case _:
            return str(error)


def _is_whole(path: Path, file: RemoteFile) -> bool:
    try:
        return hashlib.sha256(read_bytes(path)).hexdigest() == file.sha256
    except OSError:
        return False
