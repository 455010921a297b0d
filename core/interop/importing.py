"""Importing by path or by name."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from augenmerk.core.interop.hub import REPOSITORY, fetch
from augenmerk.core.interop.model import ImportedModel, ImportOptions, ImportSummary
from augenmerk.core.interop.recognition import recognize


def import_model(
    source: str | Path,
    options: ImportOptions | None = None,
    *,
    on_summary: Callable[[ImportSummary], None] = lambda summary: None,
    on_phase: Callable[[str], None] = lambda text: None,
    on_download: Callable[[str, int, int], None] = lambda name, done, total: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> ImportedModel:
    """The model at `source`, ready to be saved by `save_checkpoint`. Nothing is written before that.

    Args:
        source: a folder or a file; or, if there is nothing at this path, the name of a repository at Hugging Face.
        options: what the files do not say.
        on_summary: told what will be done, before the weights are read where the format allows it.
        on_phase: told what is being done.
        on_download: told of the file that is fetched: its name, bytes done, and all of them.
        should_stop: asked now and then.

    Raises:
        ModelImportError: there is no such model, it is not whole, or of an architecture that is not read.
        ImportStoppedError: `should_stop` said so.
    """
    options = options or ImportOptions()
    path = Path(source).expanduser()
    if not os.path.lexists(path) and REPOSITORY.fullmatch(str(source)):
        name = str(source)
        path, commit = fetch(
            name, options.revision or None, on_phase=on_phase, on_download=on_download, should_stop=should_stop
        )
        options = replace(options, name=options.name or name, revision=commit)
    on_phase(f"Looking into {path.name}")
    sources = (path,) if options.data is None else (path, options.data)
    found = recognize(path, options, should_stop=should_stop)
    on_summary(found.summary)
    return replace(found.read(on_phase, should_stop), sources=sources)
