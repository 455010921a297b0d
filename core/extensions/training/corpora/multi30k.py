"""Multi30k, German–English: downloaded once into the user's cache, from one commit, verified by
pinned digests.

Multi30k (Elliott et al. 2016, "Multi30K: Multilingual English-German Image Descriptions", W16-3210)
derives from Flickr30K and is provided for **non-commercial research and educational purposes**
only. It is never part of this product: each user downloads it from its public repository,
`multi30k/dataset`, under those terms.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from ....errors import CorpusError, StorageError
from ....storage import read_bytes
from ...download import Downloader, RemoteFile
from ...wording import Wording

COMMIT = "a3d2e0d26b56f3846f66a952536ffed4e401d05a"
BASE_URL = f"https://raw.githubusercontent.com/multi30k/dataset/{COMMIT}/data/task1/raw"
_ADVICE = Wording(
    "Check the connection and try again, or choose your own copy with --data.",
    "Check the connection and try again, or choose your own copy under “data” in a new run.",
)
_OWN_COPY = Wording(
    "Or choose your own copy of Multi30k with --data.",
    "Or choose a folder with your own copy of Multi30k under “data” in a new run.",
)


FILES = (
    RemoteFile(
        "train.de.gz", 637_044, "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6"
    ),
    RemoteFile(
        "train.en.gz", 568_929, "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f"
    ),
    RemoteFile(
        "val.de.gz", 24_681, "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a"
    ),
    RemoteFile(
        "val.en.gz", 21_650, "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28"
    ),
    RemoteFile(
        "test_2016_flickr.de.gz",
        22_890,
        "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8",
    ),
    RemoteFile(
        "test_2016_flickr.en.gz",
        21_077,
        "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9",
    ),
)


@dataclass(frozen=True)
class DownloadProgress:
    """Progress of a download.

    Attributes:
        file: name of the current file.
        done_bytes: over all files of this download, without those already in the cache.
        total_bytes: the whole size of the same files.
    """

    file: str
    done_bytes: int
    total_bytes: int


class DownloadStoppedError(CorpusError):
    """`should_stop` ended the download.

    Complete files stay in the cache, partial ones are removed.
    """


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

    If all files are present with the right digests, there is no network access. `should_stop` is
    called before each file and after each chunk (64 KiB at most).

    Args:
        cache_folder: the parent of the folder `multi30k`; None for the user's cache.
        base_url: URL of the folder with the files.
        files: the files to download, with sizes and digests.
        on_progress: called at the start of each file and after each chunk.
        should_stop: whether to stop now.

    Raises:
        CorpusError: the network or the server failed, or a digest is wrong; no partial file is
            left.
        DownloadStoppedError: a `CorpusError`; stopped by `should_stop`.
        StorageError: the cache cannot be written.
    """
    folder = (cache_path() if cache_folder is None else Path(cache_folder)) / "multi30k"
    url = base_url.rstrip("/")

    def check() -> None:
        if should_stop():
            raise DownloadStoppedError(
                f"The download of {url} was stopped. Start it again to fetch what is missing."
            )

    downloader = Downloader(CorpusError, _ADVICE, check)
    missing = [file for file in files if not _is_whole(folder / file.name, file)]
    total_bytes = sum(file.num_bytes or 0 for file in missing)
    done_bytes = 0
    for file in missing:

        def report(name: str, file_bytes: int, _: int, before: int = done_bytes) -> None:
            on_progress(DownloadProgress(name, before + file_bytes, total_bytes))

        try:
            downloader.fetch(file, f"{url}/{file.name}", folder / file.name, report)
        except StorageError as error:
            raise StorageError("{problem} {own_copy}", problem=error, own_copy=_OWN_COPY) from error
        done_bytes += file.num_bytes or 0
    return folder


def _is_whole(path: Path, file: RemoteFile) -> bool:
    try:
        return hashlib.sha256(read_bytes(path, file.num_bytes)).hexdigest() == file.sha256
    except OSError:
        return False
