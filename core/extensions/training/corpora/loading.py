"""Loads the corpus that a user names, ready for training."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ....config import RunConfig
from ....errors import ConfigError, CorpusError
from ....plain_text import name_of
from ....storage import is_folder, is_forbidden, open_file
from ....text.codec import CodecPair
from ....text.languages import language_name, two_letter_code
from ...wording import Wording
from . import multi30k
from .parallel import (
    HOLD_OUT_SEED,
    DataSource,
    hold_out,
    kind_of_text,
    read_folder,
    read_pair,
)
from .prepared import (
    PreparedCorpus,
    limited,
    load_prepared,
    prepare,
    prepare_copy_task,
)

USE_TEXT = (
    "Use text (a folder, or two files), which is read with the model's vocabulary, or data "
    "prepared with it"
)
COPY = "copy"
MULTI30K = "multi30k"


def load_corpus(
    source: DataSource,
    run: RunConfig,
    on_phase: Callable[[str], None] = lambda text: None,
    should_stop: Callable[[], bool] = lambda: False,
    codecs: CodecPair | None = None,
) -> PreparedCorpus:
    """Reads and prepares the corpus that `source` names.

    Args:
        source: a folder with train.de, train.en …, a file of sentence pairs (TSV or JSON lines, see
            `read_pair`) or of prepared data, "multi30k" (downloaded once into the user's cache),
            "copy" for the copy task, or two files for `load_pair`.
        run: its data settings determine how text becomes ids.
        on_phase: called with a description of each phase.
        should_stop: called during a download.
        codecs: of a model whose vocabularies are kept, made with the same data settings; None to
            learn them from the text. Prepared data and the copy task have their own vocabularies.

    Raises:
        CorpusError: the source is missing or unusable.
        ConfigError: the corpus does not fit the preset, or both of its languages are the same.
    """
    if not run.is_copy_task and (codecs is None or run.data.target_code is not None):
        _require_two_languages(run)  # of other models, these are their own
    return replace(_load(source, run, on_phase, should_stop, codecs), source=located(source))


def located(source: DataSource) -> DataSource:
    """The same source, independent of the current folder."""
    if isinstance(source, tuple):
        return source[0].absolute(), source[1].absolute()
    is_word = str(source) == COPY or (str(source) == MULTI30K and not Path(source).exists())
    return str(source) if is_word else Path(source).expanduser().absolute()


def _load(
    source: DataSource,
    run: RunConfig,
    on_phase: Callable[[str], None],
    should_stop: Callable[[], bool],
    codecs: CodecPair | None,
) -> PreparedCorpus:
    if isinstance(source, tuple):
        return load_pair(*source, run, on_phase, codecs)
    if run.is_copy_task != (str(source) == COPY):
        raise ConfigError(_wrong_kind(run, str(source)))
    if run.is_copy_task:
        return prepare_copy_task(run.data, run.training.seed)
    if str(source) == MULTI30K and not Path(source).exists():
        on_phase("Downloading Multi30k")
        folder = multi30k.download(
            on_progress=lambda p: on_phase(describe_progress(p)), should_stop=should_stop
        )
        return _prepare_folder(folder, run, on_phase, codecs)
    path = Path(source).expanduser()
    if is_folder(path):
        return _prepare_folder(path, run, on_phase, codecs)
    if not os.path.exists(path):  # noqa: PTH110
        if is_forbidden(path):
            raise CorpusError(
                f"{path} cannot be read: no permission. Make its folder readable, or choose "
                "other data."
            )
        raise CorpusError(
            f"Nothing readable was found at {path}. Check the path: it must be a folder with "
            f"train.{run.data.source_language} and train.{run.data.target_language}, a file of "
            "sentence pairs (TSV or JSON lines), or a file of prepared data."
        )
    if not _is_tensor_file(path):
        return load_pair(path, None, run, on_phase, codecs)
    on_phase(f"Reading {path.name}")
    return _matching(load_prepared(path), run, path, codecs)


def load_pair(
    source_path: Path,
    target_path: Path | None,
    run: RunConfig,
    on_phase: Callable[[str], None] = lambda text: None,
    codecs: CodecPair | None = None,
) -> PreparedCorpus:
    """Prepares two parallel files, or one of pairs; holds out a part for validation, independent of
    the run's seed.

    Args:
        source_path, target_path: the files, see `read_pair`.
        run, on_phase, codecs: as for `load_corpus`.

    Raises:
        CorpusError: a file is missing or damaged, or has another number of lines than the other.
        ConfigError: the preset generates its own data.
    """
    if run.is_copy_task:
        raise ConfigError(_wrong_kind(run, f"{source_path} and {target_path}"))
    on_phase(
        "Reading "
        + " and ".join(path.name for path in (source_path, target_path) if path is not None)
    )
    pairs = read_pair(source_path, target_path, languages=run.data.languages)
    train, validation = hold_out(pairs, HOLD_OUT_SEED)
    kind = kind_of_text(pairs.source, pairs.target)
    return prepare(
        name_of(source_path.with_suffix("")), run.data, train, validation, on_phase, kind, codecs
    )


def describe_progress(progress: multi30k.DownloadProgress) -> str:
    """One line for the user: the file and its progress."""
    total = f" of {progress.total_bytes / 1e6:.1f}" if progress.total_bytes else ""
    return f"Downloading Multi30k: {progress.file}, {progress.done_bytes / 1e6:.1f}{total} MB"


def _prepare_folder(
    folder: Path, run: RunConfig, on_phase: Callable[[str], None], codecs: CodecPair | None
) -> PreparedCorpus:
    corpus = read_folder(
        folder, run.data.source_language, run.data.target_language, on_phase=on_phase
    )
    return prepare(
        corpus.name, run.data, corpus.train, corpus.validation, on_phase, corpus.kind, codecs
    )


def _require_two_languages(run: RunConfig) -> None:
    source, target = (
        two_letter_code(code) if code.isalpha() else code for code in run.data.languages
    )
    if source == target:
        raise ConfigError(
            f"The source and the target are both {language_name(source)}: source_language is "
            f"{run.data.source_language}, target_language is {run.data.target_language}. Choose "
            "two languages."
        )


def _wrong_kind(run: RunConfig, data: str) -> str:
    suitable = (
        "the word copy" if run.is_copy_task else "sentence pairs: a folder, a file, or multi30k"
    )
    return (
        f"The preset {run.preset} cannot learn from {data}. Choose {suitable}, or another preset."
    )


def _matching(
    corpus: PreparedCorpus, run: RunConfig, path: Path, codecs: CodecPair | None
) -> PreparedCorpus:
    """`corpus` within `run`'s length limit. Raises `CorpusError` if other settings differ."""
    limit = run.data.max_length
    own_limit = corpus.config.max_length
    is_shorter = limit is not None and (own_limit is None or limit < own_limit)
    config = corpus.config.replace(max_length=limit) if is_shorter else corpus.config
    prepared_settings = config.to_dict()
    run_settings = run.data.to_dict()
    different = [
        f"{name} is {prepared_settings[name]}, not {value}"
        for name, value in run_settings.items()
        if prepared_settings[name] != value
    ]
    if different:
        reader = "the model"
        advice: str | Wording = USE_TEXT
        if codecs is None:
            reader = f"the preset {run.preset}"
            advice = Wording(
                f"Prepare it again with --preset {run.preset}, or choose the preset it was made "
                "for",
                "Choose the preset it was made for, or the text files it was made from",
            )
        raise CorpusError(
            "{path} was prepared with other settings than {reader} has: {different}. {advice}.",
            path=path,
            reader=reader,
            different="; ".join(different),
            advice=advice,
        )
    return limited(corpus, config) if is_shorter else corpus


def _is_tensor_file(path: Path) -> bool:
    """Whether name or first bytes are those of a safetensors file, perhaps a damaged one."""
    if path.suffix == ".safetensors":
        return True
    try:
        with open_file(path) as file:
            return file.read(9)[4:] == b"\0\0\0\0{"  # the length of the header, and its beginning
    except OSError:
        return False
