"""Web servers that answer badly: whatever is asked for, they send the bytes that a test chose."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Answer = bytes | Callable[[str], bytes]
"""The bytes of an answer, or a function of the path that is asked for."""


def answer(status: int, body: bytes = b"", **headers: str) -> bytes:
    """A complete answer; an underscore in the name of a header is a hyphen."""
    lines = {name.replace("_", "-"): value for name, value in headers.items()}
    if "Transfer_Encoding" not in headers:
        lines.setdefault("Content-Length", str(len(body)))
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status} Answer\r\n{head}Connection: close\r\n\r\n".encode("latin-1") + body


@contextmanager
def answering(with_: Answer) -> Iterator[str]:
    """The address of a server that answers in this way within the block."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_serve, args=(server, with_))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}"
        finally:
            server.shutdown(socket.SHUT_RDWR)  # wakes the thread
            thread.join()


def _serve(server: socket.socket, with_: Answer) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection, contextlib.suppress(ConnectionError):
            request = b""
            while b"\r\n\r\n" not in request and (received := connection.recv(65536)):
                request += received
            if request:
                connection.sendall(
                    with_ if isinstance(with_, bytes) else with_(request.split(b" ")[1].decode())
                )


PAGE = answer(200, b"<!DOCTYPE html>\n<html>Please log in</html>", Content_Type="text/html")
BAD_ANSWERS: dict[str, tuple[bytes, str]] = {
    "redirect to [::1": (
        answer(302, Location="http://[::1"),
        r"an address that it leads to cannot be opened \(Invalid IPv6 URL\)",
    ),
    "redirect to a host without a name": (
        answer(302, Location=f"http://{'a' * 70}.com/"),
        "an address that it leads to cannot be opened",
    ),
    "redirect to bytes that are no text": (
        answer(302, Location="http://\xff\xfe/"),
        "an address that it leads to cannot be opened",
    ),
    "redirect to another protocol": (
        answer(302, Location="ftp://host/file"),
        "an address that it leads to cannot be opened",
    ),
    "redirect without end": (answer(302, Location="/again"), "the server redirects without end"),
    "web page": (
        PAGE,
        "The server sent a web page instead of the file .* A proxy or a log-in page",
    ),
    "not HTTP": (b"SSH-2.0-OpenSSH_9.2\r\n", "the server's answer is not one of a web server"),
    "nothing": (b"", "the connection to the server failed"),
    "less than announced": (
        answer(200, b"{", Content_Length="2"),
        "the connection broke before the file was comp",
    ),
    "broken chunks": (
        answer(200, b"zz\r\n{}", Transfer_Encoding="chunked"),
        "the connection broke before the file was complete",
    ),
    "not compressed as announced": (
        answer(200, b"{}", Content_Encoding="gzip"),
        "the file is not encoded as the ser",
    ),
    "too many headers": (
        answer(200, b"{}", **{f"X-{number}": "1" for number in range(200)}),
        "the connection to the server failed",
    ),
    "an error": (answer(503), "503 Answer"),
}
"""Answers to the request for a file, and the message about each."""
