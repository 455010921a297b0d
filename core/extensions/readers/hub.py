"""Models by name: downloaded from Hugging Face, pinned to a commit, verified, and resumed after an
interruption.

`huggingface_hub` (the extra `augenmerk[hub]`) lists the files of a repository. They are downloaded
into Augenmerk's own cache. `HF_ENDPOINT` selects another server, as for that library.
"""

import json
import os
import re
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import platformdirs

from ...errors import ImportStoppedError, ModelImportError
from ...plain_text import one_line
from ...storage import write_text
from ..download import CONNECT_TIMEOUT_S, Downloader, OnDownload, RemoteFile, is_web_page
from .folder import ModelFolder
from .foreign_files import recognize_names
from .marian import check_architecture

_SMALL_FILES = (
    *(
        "config.json",
        "generation_config.json",
        "tokenizer_config.json",
        "special_tokens_map.json",
        "README.md",
    ),
    *("vocab.json", "target_vocab.json", "added_tokens.json", "source.spm", "target.spm"),
)
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)
_ADVICE = (
    "Check the connection and try again: what has arrived is kept. Or fetch the repository's "
    "files elsewhere and import the folder that they are in."
)
_LATEST = "latest"
"""The file with the name of the newest commit at the time of the last download."""
_NEWEST = (None, "main")
_CONNECTION_ERRORS = frozenset(("NetworkError", "TimeoutException", "ConnectionError", "Timeout"))
"""Names of classes, as the hub's library uses different HTTP libraries in its versions."""
_COMMIT = re.compile("[0-9a-f]{40}")
_WHOLE = ".whole"
"""Suffix of the empty file next to a commit's folder that marks a complete download."""


def fetch(
    repository: str,
    revision: str | None = None,
    *,
    cache_folder: Path | None = None,
    on_phase: Callable[[str], None] = lambda text: None,
    on_download: OnDownload = lambda name, done, total: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> tuple[Path, str]:
    """Download a Marian model; return the folder with its files, and their commit.

    Without a connection, the newest complete download is used.

    Args:
        repository: such as Helsinki-NLP/opus-mt-de-en.
        revision: a commit, branch or tag; None for the newest.
        cache_folder: None for the user's cache.
        on_phase: receives a description of each phase.
        on_download: receives each file's name, the bytes that have arrived, and all of them.
        should_stop: called between pieces of 64 KiB.

    Raises:
        ModelImportError: huggingface_hub is not installed, there is no such repository, it holds
            another kind of model, or the connection failed.
        ImportStoppedError: `should_stop` returned True; the partial download is kept.
        StorageError: the cache cannot be written.
    """
    root = (
        platformdirs.user_cache_path("augenmerk", appauthor=False)
        if cache_folder is None
        else cache_folder
    ) / "hub"
    home = root / repository.replace("/", "--")
    on_phase(f"Asking for {repository}")
    try:
        commit, files = _ask(repository, revision)
    except _NoAnswerError as error:
        known = _fetched_before(home, revision)
        if known is None:
            raise ModelImportError(f"{repository} cannot be fetched: {error}. {_ADVICE}") from error
        return known
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

    def check() -> None:
        if should_stop():
            raise ImportStoppedError

    folder = home / commit
    downloader = Downloader(
        ModelImportError, _ADVICE, check, resumes=True, headers=build_hf_headers()
    )
    _check_names(repository, files)
    small_files = {name: files[name] for name in _SMALL_FILES if name in files}
    for number, file in enumerate(
        (*small_files.values(), *_weights_of(repository, files)), start=1
    ):
        target = folder / file.name
        if not target.is_file() or file.num_bytes not in (None, target.stat().st_size):
            downloader.fetch(file, _url(repository, commit, file.name), target, on_download)
        if number == 1:  # before hundreds of megabytes are fetched
            check_architecture(ModelFolder(folder))
    write_text(home / f"{commit}{_WHOLE}", "")
    if revision in _NEWEST:
        write_text(home / _LATEST, commit)
    return folder, commit


def _check_names(repository: str, names: Collection[str]) -> None:
    """Raises `ModelImportError` unless these are the names of the files of a model that may be
    imported.
    """
    foreign = recognize_names(repository, [f"/{name}" for name in names])
    if foreign is not None and not foreign.can_be_imported:
        raise ModelImportError(foreign.message)
    if "config.json" not in names:
        raise ModelImportError(
            f"{repository} holds no config.json. Choose a repository with a Marian model."
        )


class _NoAnswerError(Exception):
    """The server does not answer as it should, or must not be asked."""


def _ask(repository: str, revision: str | None) -> tuple[str, Mapping[str, RemoteFile]]:
    """The commit and the files of a repository."""
    try:
        import huggingface_hub
        from huggingface_hub import errors

        api = huggingface_hub.HfApi(endpoint=os.environ.get("HF_ENDPOINT"))  # it is loaded only now
    except ImportError as error:
        raise ModelImportError(
            f"{repository} can only be fetched with the package huggingface_hub, which is not "
            "installed. Install it: pip install 'augenmerk[hub]'. Or fetch the repository's "
            "files elsewhere and import their folder."
        ) from error
    # it reads environment variables on import, and may raise any error about them
    except Exception as error:
        raise ModelImportError(
            f"{repository} cannot be fetched: the package huggingface_hub cannot be used "
            f"({error}). Check the variables whose names begin with HF_, such as HF_ENDPOINT. Or "
            "fetch the repository's files elsewhere and import their folder."
        ) from error
    try:
        info = api.model_info(
            repository, revision=revision, files_metadata=True, timeout=CONNECT_TIMEOUT_S
        )
        files = {
            file.rfilename: _remote_file(file)
            for file in info.siblings or ()
            if _NAME.fullmatch(file.rfilename)
        }
        if info.sha is None or not re.fullmatch(r"[0-9A-Za-z]{1,64}", info.sha):
            raise ValueError("it names no commit")
        return info.sha, files
    except errors.GatedRepoError as error:
        raise ModelImportError(
            f"{repository}: access is restricted. Request access on its page, log in with "
            "huggingface-cli, and try again; or import a folder."
        ) from error
    except (
        errors.RepositoryNotFoundError,
        errors.RevisionNotFoundError,
        errors.HFValidationError,
    ) as error:
        if isinstance(error, errors.RevisionNotFoundError):
            raise ModelImportError(
                f"{repository} has no revision {revision} at Hugging Face. Name a commit, branch "
                "or tag of it, or none for the newest."
            ) from error
        raise ModelImportError(
            f"There is no repository {repository} at Hugging Face. Use a name such as "
            "Helsinki-NLP/opus-mt-de-en."
        ) from error
    except errors.HfHubHTTPError as error:
        raise _NoAnswerError(f"the server answered {error.response.status_code}") from error
    # any error of its HTTP library without a connection, and of its reading of the answer
    except Exception as error:
        if huggingface_hub.constants.HF_HUB_OFFLINE or isinstance(
            error, errors.OfflineModeIsEnabled
        ):
            raise _NoAnswerError(
                "the variable HF_HUB_OFFLINE is set, which forbids connections; unset it to "
                "fetch models"
            ) from error
        raise _NoAnswerError(_explain(error)) from error


def _explain(error: Exception) -> str:
    """The reason why there is no list of files."""
    if _CONNECTION_ERRORS & {kind.__name__ for kind in type(error).__mro__}:
        return "the server cannot be reached"
    if isinstance(error, json.JSONDecodeError):
        sent = "a web page" if is_web_page(error.doc.encode(errors="replace")) else "something else"
        return (
            f"the server sent {sent} instead of a list of files; a proxy or a log-in page may "
            "have answered"
        )
    of_types = isinstance(
        error, TypeError | LookupError | AttributeError | RecursionError
    )  # whose text explains nothing
    return (
        "the server did not answer as Hugging Face "
        f"does{'' if of_types else f' ({one_line(error)[:100]})'}"
    )


def _remote_file(file: Any) -> RemoteFile:
    """The file as it will be fetched.

    Raises `TypeError` or `ValueError` unless its size and digest are ones.
    """
    sha256 = file.lfs.sha256 if file.lfs is not None else None
    size = file.size
    if size is not None and (not isinstance(size, int) or isinstance(size, bool) or size < 0):
        raise ValueError(f"the size of {file.rfilename} is {size!r}")
    for digest, num_digits in ((sha256, 64), (file.blob_id, 40)):
        if digest is not None and not re.fullmatch(rf"[0-9a-f]{{{num_digits}}}", digest):
            raise ValueError(f"the digest of {file.rfilename} is {digest!r}")
    return RemoteFile(file.rfilename, size, sha256, file.blob_id)


def _weights_of(repository: str, files: Mapping[str, RemoteFile]) -> list[RemoteFile]:
    """The files with the weights: safetensors where there is a choice; in parts if there is no
    single file.
    """
    for name in _WEIGHTS:
        if name in files:
            return [files[name]]
        stem, ending = name.rsplit(".", 1)
        parts = sorted(
            file for file in files if re.fullmatch(rf"{re.escape(stem)}-\d+-of-\d+\.{ending}", file)
        )
        if f"{name}.index.json" in files and parts:
            return [files[f"{name}.index.json"], *(files[part] for part in parts)]
    raise ModelImportError(
        f"{repository} holds neither {_WEIGHTS[0]} nor {_WEIGHTS[1]}. Choose a repository with a "
        "Marian model for PyTorch."
    )


def _url(repository: str, commit: str, name: str) -> str:
    from huggingface_hub import hf_hub_url

    return hf_hub_url(repository, name, revision=commit, endpoint=os.environ.get("HF_ENDPOINT"))


def _fetched_before(home: Path, revision: str | None) -> tuple[Path, str] | None:
    """The folder and commit of a complete download of this revision: the newest, or a commit."""
    with suppress(OSError):
        latest = (home / _LATEST).read_text(encoding="utf-8").strip()
        if revision in (*_NEWEST, latest) and (home / latest).is_dir():
            return home / latest, latest
    if (
        revision is not None
        and _COMMIT.fullmatch(revision)
        and (home / f"{revision}{_WHOLE}").exists()
    ):
        return home / revision, revision
    return None
