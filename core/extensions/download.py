"""Files from the web: each appears complete and verified, or not at all. No torch."""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from ..errors import AugenmerkError
from ..storage import cannot_write, flush_to_disk
from .wording import Wording

OnDownload = Callable[[str, int, int], None]
WEB_PAGE_STARTS = (b"<!doctype", b"<html", b"<?xml")
"""First bytes of HTML and XML pages, without capitals and leading white space."""
_START_BYTES = 256
_CHUNK_BYTES = 2**16
CONNECT_TIMEOUT_S, READ_TIMEOUT_S = 10.0, 30.0


def is_web_page(start: bytes) -> bool:
    """Whether these are the first bytes of an HTML or XML page."""
    return start[:_START_BYTES].lstrip().lower().startswith(WEB_PAGE_STARTS)


@dataclass(frozen=True)
class RemoteFile:
    """A file to download.

    Attributes:
        name: its name on the server and here.
        num_bytes: its size; None if unknown, and then it may be anything but nothing or a web page.
        sha256: its digest, 64 hexadecimal digits; None if unknown.
        git_sha1: Git's digest of it, 40 hexadecimal digits, for files without the other.
    """

    name: str
    num_bytes: int | None
    sha256: str | None = None
    git_sha1: str | None = None


@dataclass(frozen=True)
class Downloader:
    """A way of downloading files.

    Attributes:
        error: the kind of error to raise.
        advice: the end of its message: what to do instead.
        check: called before the request and between pieces of 64 KiB; raises an error to stop.
        resumes: whether a partial file is kept, and completed by the next download.
        headers: of the request.
    """

    error: type[AugenmerkError]
    advice: str | Wording
    check: Callable[[], None]
    resumes: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)

    def fetch(self, file: RemoteFile, url: str, target: Path, on_progress: OnDownload) -> None:
        """Download a file; `on_progress` receives its name, the bytes that have arrived, and all of
        them (0: unknown).

        Raises:
            StorageError: the file cannot be written.
            AugenmerkError: `error`: the server or the connection failed, or it sent another file;
                or that of `check`.
        """
        part = target.with_name(f".{target.name}.part")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            done = part.stat().st_size if self.resumes and part.is_file() else 0
            if file.num_bytes is None or done > file.num_bytes:
                done = 0
            with part.open("ab") as output:
                output.truncate(done)
                on_progress(file.name, done, file.num_bytes or 0)
                start = b""
                for piece in self._pieces(url, done) if done != file.num_bytes else ():
                    if piece is None:
                        output.truncate(0)
                        done = 0
                        continue
                    done += len(piece)
                    start = start or piece
                    if file.num_bytes is not None and done > file.num_bytes:
                        break  # another file: no need for the rest
                    output.write(piece)
                    on_progress(file.name, done, file.num_bytes or 0)
            self._verify(file, url, part, done, is_page=is_web_page(start))
            flush_to_disk(part)
            os.replace(part, target)
        except OSError as error:
            raise cannot_write(target, error) from error
        finally:
            if not self.resumes:
                with suppress(OSError):
                    part.unlink()

    def _pieces(self, url: str, start: int) -> Iterator[bytes | None]:
        """The body from byte `start` on; None first if the server begins from byte 0."""
        import requests
        import urllib3

        self.check()
        headers = {**self.headers, "Accept-Encoding": "identity"} | (
            {"Range": f"bytes={start}-"} if start else {}
        )
        timeout = CONNECT_TIMEOUT_S, READ_TIMEOUT_S
        codes = requests.codes
        try:
            # redirects too: the library leaves some of them open when it fails
            with ExitStack() as answers:
                hooks = {"response": lambda answer, **_: answers.enter_context(answer)}
                response = requests.get(
                    url, stream=True, timeout=timeout, headers=headers, hooks=hooks
                )
                if start and response.status_code in (
                    codes.ok,
                    codes.requested_range_not_satisfiable,
                ):
                    yield None
                if response.status_code not in (codes.ok, codes.partial_content):
                    raise self._failure(url, f"{response.status_code} {response.reason}")
                for piece in response.iter_content(_CHUNK_BYTES):
                    self.check()
                    yield piece
        except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
            # the first is an `OSError`, which must not look like one of writing; the others escape
            # from redirects
            raise self._failure(url, _explain(error)) from error

    def _failure(self, url: str, reason: str) -> AugenmerkError:
        return self._error(url, f"The download from {{url}} failed: {_literal(reason)}.")

    def _error(self, url: str, template: str) -> AugenmerkError:
        """The error of this problem with `url`, which the window shortens, and the advice."""
        name = Wording(url, f"{urlsplit(url).hostname}/…/{url.rpartition('/')[2]}")
        return self.error(f"{template} {{advice}}", url=name, advice=self.advice)

    def _verify(
        self, file: RemoteFile, url: str, part: Path, num_bytes: int, *, is_page: bool
    ) -> None:
        """Raise an error, and remove the file, unless it has the announced size and digest.

        Args:
            file: as announced.
            url: of it.
            part: with what arrived.
            num_bytes: that arrived.
            is_page: whether they look like a web page.
        """
        digest = hashlib.sha256()
        if file.sha256 is None:
            digest = hashlib.sha1(f"blob {num_bytes}\0".encode(), usedforsecurity=False)
        with part.open("rb") as content:
            while piece := content.read(2**20):
                digest.update(piece)
        expected = file.sha256 or file.git_sha1
        if file.num_bytes in (None, num_bytes) and expected == digest.hexdigest():
            return
        if is_page or (file.num_bytes is None and not num_bytes):
            part.unlink()
            raise self._error(
                url,
                f"The server sent {'a web page' if is_page else 'nothing'} instead of the file "
                "{url}. A proxy or a log-in page may have answered.",
            )
        if file.num_bytes is not None and (num_bytes != file.num_bytes or expected is not None):
            part.unlink()
            mismatch = (
                f"its digest is not {expected[:12]}… ({digest.name}, "
                if expected
                else "it has the wrong size ("
            )
            raise self._error(
                url,
                f"The file from {{url}} is not the right one: {mismatch}{file.num_bytes:,} bytes). "
                "It was deleted. A proxy or a log-in page may have answered.",
            )


def _literal(text: str) -> str:
    """The text as a part of a template."""
    return text.replace("{", "{{").replace("}", "}}")


def _explain(error: Exception) -> str:
    import requests

    match error:
        case requests.exceptions.SSLError():
            return "the server's certificate was not accepted"
        case requests.Timeout():
            return "the server did not answer in time"
        case requests.exceptions.ChunkedEncodingError():
            return "the connection broke before the file was complete"
        case requests.TooManyRedirects():
            return "the server redirects without end"
        case requests.exceptions.ContentDecodingError():
            return "the file is not encoded as the server says"
        case requests.ConnectionError() if "BadStatusLine" in str(error):
            return "the server's answer is not one of a web server"
        case requests.ConnectionError():
            return "the connection to the server failed"
        case _:
            return f"an address that it leads to cannot be opened ({error})"
