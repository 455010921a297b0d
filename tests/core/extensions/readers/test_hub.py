"""Models by name, from a server that speaks the hub's protocol: progress, cancel, resume, a pinned
revision."""

import hashlib
import json
import os
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import pytest

from augenmerk.core.checkpoint.file import load_checkpoint
from augenmerk.core.cli.main import main
from augenmerk.core.errors import ImportStoppedError, ModelImportError
from augenmerk.core.extensions.readers.hub import fetch
from augenmerk.core.extensions.readers.importing import import_model
from tests.bad_server import BAD_ANSWERS, PAGE, answer, answering
from tests.builders import command_line, run_process
from tests.core.extensions.readers.marian_models import make_folder

# models are made by transformers, which takes three seconds to be imported
pytestmark = pytest.mark.heavy

NAME = "Helsinki-NLP/opus-mt-de-en"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
OLDER = "76543210fedcba9876543210fedcba9876543210"


class Hub:
    """A server with one repository.

    Attributes:
        requests: what was asked for: paths, with the range if there was one.
        break_after: bytes of a weights file after which the connection breaks; None for never.
        gives_sizes: whether sizes and digests are told.
        spoiled: names of files that come otherwise than announced.
        ignores_ranges: whether a file always comes from its beginning.
        refuses_ranges: whether it answers 416 to a request for a part.
    """

    def __init__(self, folder: Path) -> None:
        self.files = {path.name: path.read_bytes() for path in folder.iterdir()}
        self.requests: list[tuple[str, str | None]] = []
        self.break_after: int | None = None
        self.gives_sizes, self.ignores_ranges, self.refuses_ranges = True, False, False
        self.spoiled: set[str] = set()
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                hub.answer(self)

            def log_message(self, *arguments: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        # the end of the server waits for its next look around, which comes twice a second if nobody
        # says otherwise
        self.thread = threading.Thread(
            target=self.server.serve_forever, kwargs={"poll_interval": 0.005}
        )
        self.thread.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        path = request.path.partition("?")[0]
        self.requests.append((path, request.headers.get("Range")))
        if path in (
            f"/api/models/{NAME}",
            f"/api/models/{NAME}/revision/main",
            f"/api/models/{NAME}/revision/{COMMIT}",
            f"/api/models/{NAME}/revision/{OLDER}",
        ):
            commit = OLDER if path.endswith(OLDER) else COMMIT
            data = json.dumps(
                {"id": NAME, "sha": commit, "siblings": [*map(self.sibling, sorted(self.files))]}
            ).encode()
            self.send(request, 200, data, {"Content-Type": "application/json"})
        elif (
            path.startswith((f"/{NAME}/resolve/{COMMIT}/", f"/{NAME}/resolve/{OLDER}/"))
            and path.rpartition("/")[2] in self.files
        ):
            request.send_response(302)  # large files lie on another machine
            request.send_header("Location", f"{self.address}/cdn/{path.rpartition('/')[2]}")
            request.end_headers()
        elif path.startswith("/cdn/"):
            self.send_file(request, path.removeprefix("/cdn/"))
        else:
            code = "RevisionNotFound" if "/revision/" in path else "RepoNotFound"
            self.send(request, 404, b"{}", {"X-Error-Code": code})

    def sibling(self, name: str) -> dict[str, Any]:
        data = self.files[name]
        if not self.gives_sizes:
            return {"rfilename": name}
        blob = hashlib.sha1(f"blob {len(data)}\0".encode() + data).hexdigest()
        described: dict[str, Any] = {"rfilename": name, "size": len(data), "blobId": blob}
        if name.endswith((".safetensors", ".bin", ".spm")):
            described["lfs"] = {
                "sha256": hashlib.sha256(data).hexdigest(),
                "size": len(data),
                "pointerSize": 134,
            }
        return described

    def send_file(self, request: BaseHTTPRequestHandler, name: str) -> None:
        data = self.files[name]
        if name in self.spoiled:
            data = bytes(len(data))
        start = request.headers.get("Range")
        if start and self.refuses_ranges:
            self.send(request, 416, b"", {})
            return
        first = (
            int(start.removeprefix("bytes=").removesuffix("-"))
            if start and not self.ignores_ranges
            else 0
        )
        headers = {"Content-Range": f"bytes {first}-{len(data) - 1}/{len(data)}"} if first else {}
        body = data[first:]
        if self.break_after is not None and name == "model.safetensors":
            body, self.break_after = body[: self.break_after], None
            self.send(request, 206 if first else 200, body, headers, len(data) - first)
            request.close_connection = True
        else:
            self.send(request, 206 if first else 200, body, headers)

    @staticmethod
    def send(
        request: BaseHTTPRequestHandler,
        status: int,
        body: bytes,
        headers: dict[str, str],
        announced: int | None = None,
    ) -> None:
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(body) if announced is None else announced))
        request.end_headers()
        request.wfile.write(body)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make_folder(
        tmp_path_factory.mktemp("repository") / "files", d_model=128, encoder_ffn_dim=600
    )
    (folder / "README.md").write_text("---\nlicense: apache-2.0\n---\n", encoding="utf-8")
    (folder / "added_tokens.json").write_text("{}", encoding="utf-8")
    (folder / "tf_model.h5").write_bytes(b"of no use")
    return folder


@pytest.fixture
def hub(repository: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    server = Hub(repository)
    monkeypatch.setenv("HF_ENDPOINT", server.address)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    yield server
    server.close()


@pytest.mark.slow
def test_a_model_is_imported_by_its_name_and_pinned(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "model.safetensors"
    assert main(["import", NAME, "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert f"revision {COMMIT}" in said
    assert "licence apache-2.0" in said
    origin = load_checkpoint(out).origin
    assert origin is not None
    assert (origin.source, origin.revision, origin.licence) == (NAME, COMMIT, "apache-2.0")
    assert not any("tf_model" in path for path, _ in hub.requests)
    assert load_checkpoint(out).run.data.source_language == "de"


def test_progress_is_told_for_every_file(hub: Hub, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    folder, commit = fetch(
        NAME, cache_folder=tmp_path, on_download=lambda *arguments: told.append(arguments)
    )
    assert commit == COMMIT
    weights = [(done, total) for name, done, total in told if name == "model.safetensors"]
    assert weights[0][0] == 0
    assert weights[-1][0] == weights[-1][1] == len(hub.files["model.safetensors"])
    assert len(weights) > 2
    assert weights == sorted(weights)
    assert {path.name for path in folder.iterdir()} == hub.files.keys() - {"tf_model.h5"}
    before = len(hub.requests)
    assert fetch(NAME, cache_folder=tmp_path) == (folder, COMMIT)
    assert len(hub.requests) == before + 1  # which commit is the newest


@pytest.mark.parametrize("ignores_ranges", [False, True])
def test_an_interrupted_download_resumes(hub: Hub, tmp_path: Path, ignores_ranges: bool) -> None:
    hub.break_after, hub.ignores_ranges = 300_000, ignores_ranges
    with pytest.raises(
        ModelImportError, match=r"the connection broke before .*try again: what has arrived is kept"
    ):
        fetch(NAME, cache_folder=tmp_path)
    partial = next((tmp_path / "hub").rglob(".model.safetensors.part"))
    arrived = partial.stat().st_size
    assert 0 < arrived <= 300_000
    folder, _ = fetch(NAME, cache_folder=tmp_path)
    assert ("/cdn/model.safetensors", f"bytes={arrived}-") in hub.requests
    assert (folder / "model.safetensors").read_bytes() == hub.files["model.safetensors"]
    assert not list(folder.glob(".*"))


def test_a_cancelled_download_is_resumed(hub: Hub, tmp_path: Path) -> None:
    arrived: list[int] = []

    def note(name: str, done: int, total: int) -> None:
        if name == "model.safetensors":
            arrived.append(done)

    with pytest.raises(ImportStoppedError):
        fetch(NAME, cache_folder=tmp_path, on_download=note, should_stop=lambda: len(arrived) > 1)
    assert not list((tmp_path / "hub").rglob("model.safetensors"))
    done = arrived[-1]
    folder, _ = fetch(NAME, cache_folder=tmp_path)
    assert ("/cdn/model.safetensors", f"bytes={done}-") in hub.requests
    assert (folder / "model.safetensors").read_bytes() == hub.files["model.safetensors"]


def test_a_file_with_a_wrong_checksum_is_deleted(hub: Hub, tmp_path: Path) -> None:
    for name in ("vocab.json", "model.safetensors"):
        hub.spoiled = {name}
        with pytest.raises(
            ModelImportError, match=f"{name} is not the right one: .*It was deleted"
        ):
            fetch(NAME, cache_folder=tmp_path)
        assert not list((tmp_path / "hub").rglob(f"*{name}*"))
    hub.spoiled = set()
    fetch(NAME, cache_folder=tmp_path)


def test_a_server_that_tells_no_sizes_serves_too(hub: Hub, tmp_path: Path) -> None:
    hub.gives_sizes = False
    folder, _ = fetch(NAME, "main", cache_folder=tmp_path)
    assert (folder / "model.safetensors").read_bytes() == hub.files["model.safetensors"]


def test_without_a_connection_the_message_says_what_to_do(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = hub.address
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # nobody is there
    with pytest.raises(
        ModelImportError, match=r"the server cannot be reached\. Check the connection .* the folder"
    ):
        fetch(NAME, cache_folder=tmp_path)
    monkeypatch.setenv("HF_ENDPOINT", address)
    known = fetch(NAME, cache_folder=tmp_path)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert fetch(NAME, cache_folder=tmp_path) == known
    assert fetch(NAME, COMMIT, cache_folder=tmp_path) == known
    with pytest.raises(ModelImportError, match="cannot be reached"):
        fetch(NAME, "another", cache_folder=tmp_path)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ModelImportError, match="the variable HF_HUB_OFFLINE is set"):
        fetch("Helsinki-NLP/opus-mt-en-de", cache_folder=tmp_path)


@pytest.mark.slow
@pytest.mark.subprocess
def test_variables_that_the_library_cannot_read_are_told(tmp_path: Path) -> None:
    command = command_line(
        "{} -m augenmerk import {} --out {}", sys.executable, NAME, tmp_path / "model.safetensors"
    )
    done = run_process(
        command, env={**os.environ, "HF_ENDPOINT": "http://[::1", "XDG_CACHE_HOME": str(tmp_path)}
    )
    assert done.returncode == 2
    assert "Check the variables whose names begin with HF_" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_older_revision_does_not_become_the_newest(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newest, older = fetch(NAME, cache_folder=tmp_path), fetch(NAME, OLDER, cache_folder=tmp_path)
    assert older[1] == OLDER
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # nobody is there
    assert fetch(NAME, cache_folder=tmp_path) == newest
    assert fetch(NAME, OLDER, cache_folder=tmp_path) == older
    (older[0].parent / f"{OLDER}.whole").unlink()  # as after an interrupted download
    with pytest.raises(ModelImportError, match="cannot be reached"):
        fetch(NAME, OLDER, cache_folder=tmp_path)


def listing(**changes: Any) -> bytes:
    """The answer to the question for the files of the repository, with these changes of its first
    file."""
    files = [
        {"rfilename": "config.json", "size": 2, "blobId": "a" * 40, **changes},
        {"rfilename": "model.safetensors"},
    ]
    return answer(200, json.dumps({"id": NAME, "sha": COMMIT, "siblings": files}).encode())


BAD_LISTINGS: dict[str, tuple[bytes, str]] = {
    "size that is text": (
        listing(size="2"),
        r"as Hugging Face does \(the size of config\.json is '2'\)",
    ),
    "negative size": (listing(size=-2), r"the size of config\.json is -2"),
    "digest that is a number": (
        listing(blobId=7),
        "the server did not answer as Hugging Face does",
    ),
    "digest that is none": (
        listing(lfs={"sha256": "x", "size": 2, "pointerSize": 1}),
        "the digest of .* is 'x'",
    ),
    "digest instead of a description": (
        listing(lfs="x"),
        "the server did not answer as Hugging Face does",
    ),
    "name that is a number": (
        listing(rfilename=7),
        "the server did not answer as Hugging Face does",
    ),
    "commit that is a list": (
        answer(200, json.dumps({"id": NAME, "sha": [1], "siblings": []}).encode()),
        "the server did not answer as Hugging Face does",
    ),
    "commit that is a path": (
        answer(200, json.dumps({"id": NAME, "sha": "../..", "siblings": []}).encode()),
        "it names no commit",
    ),
    "list": (answer(200, b"[]"), "the server did not answer as Hugging Face does"),
    "too deep": (answer(200, b"[" * 200_000), "the server did not answer as Hugging Face does"),
    "web page": (
        PAGE,
        "the server sent a web page instead of a list of files; a proxy or a log-in page may have",
    ),
    "text": (answer(200, b"hello"), "the server sent something else instead of a list of files"),
    "redirect to [::1": (
        answer(302, Location="http://[::1"),
        "the server did not answer as Hugging Face does",
    ),
    "redirect without end": (
        answer(302, Location="/again"),
        "the server did not answer as Hugging Face does",
    ),
    "not HTTP": (b"SSH-2.0-OpenSSH_9.2\r\n", "the server did not answer as Hugging Face does"),
    "nothing": (b"", "the server did not answer as Hugging Face does"),
    "an error": (answer(503), "the server answered 503"),
}


@pytest.mark.parametrize(("bad", "message"), BAD_LISTINGS.values(), ids=BAD_LISTINGS)
def test_a_malformed_list_of_files_is_described_in_a_short_message(
    tmp_path: Path, bad: bytes, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    with answering(bad) as url, pytest.raises(ModelImportError, match=message) as caught:
        monkeypatch.setenv("HF_ENDPOINT", url)
        fetch(NAME, cache_folder=tmp_path)
    assert "Check the connection and try again" in str(caught.value)
    assert len(str(caught.value)) < 400
    assert "cannot be reached" not in str(caught.value)


@pytest.mark.parametrize(("bad", "message"), BAD_ANSWERS.values(), ids=BAD_ANSWERS)
@pytest.mark.parametrize("size", [2, None], ids=["size known", "size unknown"])
def test_a_bad_answer_instead_of_a_file_is_described_in_a_short_message(
    tmp_path: Path, bad: bytes, message: str, size: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    files = listing(size=size, blobId=None)
    with (
        answering(lambda path: files if path.startswith("/api/") else bad) as url,
        pytest.raises(ModelImportError, match=message) as caught,
    ):
        monkeypatch.setenv("HF_ENDPOINT", url)
        fetch(NAME, cache_folder=tmp_path)
    assert "Check the connection and try again" in str(caught.value)
    assert len(str(caught.value)) < 500
    assert not list(tmp_path.rglob("config.json"))


def test_a_download_that_the_server_cannot_resume_begins_again(hub: Hub, tmp_path: Path) -> None:
    hub.break_after = 300_000
    with pytest.raises(ModelImportError, match="the connection broke"):
        fetch(NAME, cache_folder=tmp_path)
    hub.refuses_ranges = True
    with pytest.raises(ModelImportError, match="failed: 416"):
        fetch(NAME, cache_folder=tmp_path)
    folder, _ = fetch(NAME, cache_folder=tmp_path)
    assert (folder / "model.safetensors").read_bytes() == hub.files["model.safetensors"]


def test_names_that_are_not_there_are_told(hub: Hub, tmp_path: Path) -> None:
    with pytest.raises(
        ModelImportError, match="There is no repository Helsinki-NLP/opus-mt-xx-yy at Hugging Face"
    ):
        fetch("Helsinki-NLP/opus-mt-xx-yy", cache_folder=tmp_path)
    with pytest.raises(ModelImportError, match=f"{NAME} has no revision nowhere at Hugging Face"):
        fetch(NAME, "nowhere", cache_folder=tmp_path)


def test_another_kind_of_model_is_refused_before_its_weights_are_fetched(
    hub: Hub, tmp_path: Path
) -> None:
    hub.files["config.json"] = (
        b'{"model_type": "t5", "architectures": ["T5ForConditionalGeneration"]}'
    )
    with pytest.raises(
        ModelImportError, match=r"describes a model of the architecture T5ForConditionalGeneration"
    ):
        fetch(NAME, cache_folder=tmp_path)
    assert not any("model.safetensors" in path for path, _ in hub.requests)
    del hub.files["config.json"]
    with pytest.raises(ModelImportError, match=r"holds no config\.json"):
        fetch(NAME, cache_folder=tmp_path / "other")


def test_a_repository_without_weights_for_pytorch_is_refused(hub: Hub, tmp_path: Path) -> None:
    del hub.files["model.safetensors"]
    with pytest.raises(
        ModelImportError, match=rf"{NAME} is a model of TensorFlow, Keras or Flax\. Import its"
    ):
        fetch(NAME, cache_folder=tmp_path)
    del hub.files["tf_model.h5"]
    with pytest.raises(
        ModelImportError,
        match=rf"{NAME} is a model of Hugging Face transformers without its weights",
    ):
        fetch(NAME, cache_folder=tmp_path)


def test_an_adapter_is_refused_by_the_names_of_its_files(hub: Hub, tmp_path: Path) -> None:
    hub.files = {"adapter_config.json": b"{}", "adapter_model.safetensors": b"x"}
    with pytest.raises(
        ModelImportError, match=rf"{NAME} is an adapter \(LoRA\) for another model\. Merge"
    ):
        fetch(NAME, cache_folder=tmp_path)


def test_a_folder_of_the_same_name_comes_first(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make_folder(tmp_path / NAME)
    assert import_model(NAME).checkpoint.origin.revision == ""
    assert not hub.requests
