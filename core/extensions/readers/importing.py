"""Import a model by path or by name.

The contents of its files, not just their names, determine the format.
"""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ...arguments import checks_arguments
from ...errors import ModelImportError
from . import foreign_files
from .folder import ModelFolder
from .foreign_files import REPOSITORY, is_safetensors, reader_of, source_of, start_of
from .hub import fetch
from .model import FolderModel, ImportedModel, ImportOptions, ImportSummary
from .pickled import is_pytorch_file
from .reader import choose_one, file_readers, folder_readers
from .weights import check_memory, read_values, weights_among

_COPIES, _COPIES_OF_PICKLED = 2, 3
"""Most copies of the weights in memory: read and converted; for a pickle, read, copied and written
by its process.
"""


@checks_arguments
def import_model(
    source: str | Path,
    options: ImportOptions | None = None,
    *,
    on_summary: Callable[[ImportSummary], None] = lambda summary: None,
    on_phase: Callable[[str], None] = lambda text: None,
    on_download: Callable[[str, int, int], None] = lambda name, done, total: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> ImportedModel:
    """The model at `source`, ready for `save_checkpoint`. Writes nothing but downloads.

    Args:
        source: a folder or a file; or, if there is nothing at this path, the name of a repository
            at Hugging Face.
        options: facts that the files may lack.
        on_summary: receives the summary, before the weights are read if it is known how they will
            be stored.
        on_phase: receives a description of each phase.
        on_download: receives the name of the file that is fetched, the bytes done, and all of them.
        should_stop: called repeatedly.

    Raises:
        ModelImportError: the model is missing, incomplete, or of an unsupported architecture.
        ImportStoppedError: `should_stop` returned True.
    """
    options = options or ImportOptions()
    path = Path(source).expanduser()
    if not os.path.lexists(path) and REPOSITORY.fullmatch(str(source)):
        name = str(source)
        path, commit = fetch(
            name,
            options.revision or None,
            on_phase=on_phase,
            on_download=on_download,
            should_stop=should_stop,
        )
        options = replace(options, name=options.name or name, revision=commit)
    on_phase(f"Looking into {path.name}")
    sources = (path,) if options.data is None else (path, options.data)
    found = recognize(path, options, should_stop=should_stop)
    is_known = found.summary.half_precision is not None
    if is_known:
        on_summary(found.summary)
    read = found.read(on_phase, should_stop) if isinstance(found, FolderModel) else found
    if not is_known:
        on_summary(read.summary)
    return replace(read, sources=sources)


def recognize(
    source: Path,
    options: ImportOptions | None = None,
    *,
    should_stop: Callable[[], bool] = lambda: False,
) -> FolderModel | ImportedModel:
    """The model at `source`: without its weights if it is a folder; a single file is read whole.

    Raises:
        ModelImportError: the model is missing, incomplete, of an unsupported architecture, or
            larger than memory.
        ImportStoppedError: `should_stop` returned True.
    """
    options = options or ImportOptions()
    if not os.path.lexists(source):
        raise ModelImportError(f"There is nothing at {source}. {choose_one()}")
    if (foreign := foreign_files.recognize(source)) is not None and not foreign.can_be_imported:
        raise ModelImportError(foreign.message)
    if source.is_dir():
        folder = ModelFolder(source)
        if (reader := reader_of(source)) is not None:
            with reader.running():
                model: FolderModel = reader.load()(folder, options)
                model.reader = reader
                _ = model.summary  # what the reader left out is known here
            return model
        settings = " and no ".join(
            dict.fromkeys(reader.settings_file for reader in folder_readers())
        )
        found = ", ".join(folder.names()[:12]) or "nothing"
        raise ModelImportError(f"{source} has no {settings}; it holds {found}. {choose_one()}")
    if not source.is_file():
        raise ModelImportError(f"{source} is not a regular file. {choose_one()}")
    return _recognize_file(source, options, should_stop)


def _recognize_file(
    source: Path, options: ImportOptions, should_stop: Callable[[], bool]
) -> ImportedModel:
    try:
        num_bytes = source.stat().st_size
        start, is_pickled = start_of(source), is_pytorch_file(source)
    except OSError as error:
        raise ModelImportError(
            f"Cannot read {source}: {error.strerror or error}. {choose_one()}"
        ) from error
    if not start:
        raise ModelImportError(f"{source} is empty. {choose_one()}")
    if not is_pickled and not is_safetensors(start):
        raise ModelImportError(
            f"{source} is neither a PyTorch file nor a safetensors file. {choose_one()}"
        )
    check_memory(source, (_COPIES_OF_PICKLED if is_pickled else _COPIES) * num_bytes)
    weights = weights_among(source, read_values(source, should_stop))
    for reader in file_readers():
        if reader.weight in weights:
            with reader.running():
                model: ImportedModel = reader.load()(source, weights, options)
                _ = model.summary
            return model
    if "model.source_embedding.tokens.weight" in weights:
        raise ModelImportError(f"{source} is already an Augenmerk checkpoint. Open it directly.")
    if (folder := source_of(source)) != source:
        advice = f"Choose the folder with the whole model, {folder}."
        raise ModelImportError(f"{source} is only one of the files of a model. {advice}")
    shown = ", ".join(sorted(weights)[:3])
    raise ModelImportError(
        f"{source} holds the weights of an unknown model ({shown}, …). {choose_one()}"
    )
