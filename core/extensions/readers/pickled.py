"""The only reader of pickles: a separate process loads a PyTorch file and returns only tensors
(docs/adr/0002).

That process runs no code from the file (`weights_only=True`) and hands over a safetensors file. Its
memory and time are limited where the system has such limits. Nothing else in this project may load
a pickle.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from ...errors import ImportStoppedError, ModelImportError
from ...memory import is_out_of_memory
from ...storage import reason_of, remedy
from ..memory_limits import gigabytes
from .foreign_files import PYTORCH_STARTS, content_of, is_safetensors, kind_of_other_file, start_of
from .names import chosen_prefix, prefixes_of

TIME_LIMIT_S = 600.0
_MEMORY_BEYOND_FILE = 512 * 2**20
_COPIES = 4
"""Copies of the tensors in memory: as read, as written, and the memory of reading itself."""
_POLL_S = 0.05
_DAMAGED, _CODE = (
    "it cannot be read; it is damaged or cut off",
    "it holds code or objects, which are never run",
)
_DATA_MODULES = (
    "argparse.",
    "collections.",
    "copyreg.",
    "datetime.",
    "decimal.",
    "numpy.",
    "pathlib.",
    "uuid.",
)
"""Modules whose calls in a file make data, which is left out."""
_MAX_DEPTH = 8
_REFUSED, _TOO_BIG, _WHOLE_MODEL, _LIMITED, _NOT_WRITTEN = 3, 4, 5, 6, 7
"""Exit statuses of the other process."""
_SIGXCPU = getattr(signal, "SIGXCPU", 24)
"""The signal at the limit on processor time; Windows has none."""
_MARKS_OF_A_MODULE = (b"_parameters", b"_modules")
"""Attributes of every `torch.nn.Module`; they are in the first bytes of the pickle of one."""
_REFUSED_NAME = re.compile(
    r"\b(?:GLOBAL|global:?|class|function)\s+([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)", re.ASCII
)
"""The name of a class or function that PyTorch did not load, in its messages."""
_CHILD = (
    "import sys; from augenmerk.core.extensions.readers.pickled import convert_for_parent; "
    "sys.exit(convert_for_parent(*sys.argv[1:]))"
)


def read_pickled(
    path: Path,
    *,
    time_limit_s: float = TIME_LIMIT_S,
    should_stop: Callable[[], bool] = lambda: False,
) -> dict[str, Tensor | None]:
    """The tensors of the model in a PyTorch file, by name; None for everything else in it.

    They are those of the dictionary, at any depth, that has weights of a known family; else those
    of the one with most tensors. Names of values elsewhere begin with those of the dictionaries
    around them.

    Args:
        path: written by `torch.save`.
        time_limit_s: for all of it.
        should_stop: called repeatedly.

    Raises:
        ModelImportError: the file is damaged, is of another kind, holds code or a tensor of an
            unusual kind, or asks for too much memory or time.
        ImportStoppedError: `should_stop` returned True.
    """
    if not is_pytorch_file(path):
        raise ModelImportError(
            f"{path} is "
            f"{kind_of_other_file(path) or 'not a PyTorch file: it does not begin as torch.save writes'}. "
            "Use a PyTorch file that holds only the weights of a model."
        )
    try:
        with tempfile.TemporaryDirectory(prefix="augenmerk-import-") as folder:
            status, said = _run_child(path, Path(folder), time_limit_s, should_stop)
            if status != 0:
                raise ModelImportError(_why_not_read(path, status, said))
            tensors = load_file(Path(folder) / "tensors.safetensors")
            names: dict[str, str] = json.loads(
                (Path(folder) / "names.json").read_text(encoding="utf-8")
            )
    except OSError as error:
        raise ModelImportError(_why_not_read(path, _NOT_WRITTEN, reason_of(error))) from error
    return {name: tensors.get(stored) for name, stored in names.items()}


def _why_not_read(path: Path, status: int, said: str) -> str:
    """The message about the other process, by its exit status and its last line."""
    if status in (_REFUSED, _WHOLE_MODEL):
        return f"{path}: {said}{f' {how_to_convert(path)}' if status == _WHOLE_MODEL else ''}"
    if status == _NOT_WRITTEN:
        advice = (remedy(Exception(said)) or "free some space there").capitalize()
        return (
            f"{path} could not be read: its tensors pass through the folder for temporary files, "
            f"{_temporary_folder()}, which cannot be used ({said}). {advice}, or set TMPDIR to "
            "another folder."
        )
    seconds, num_bytes = _limit_of_user("RLIMIT_CPU"), _limit_of_user("RLIMIT_AS")
    is_killed = status == -signal.SIGKILL
    lacks_memory = is_out_of_memory(Exception(said))
    if seconds is not None and seconds <= TIME_LIMIT_S and (status == -_SIGXCPU or is_killed):
        return (
            f"{path} could not be read within the limit on processor time, {seconds} s (ulimit "
            "-t). Raise the limit, and try again."
        )
    if num_bytes is not None and (status == _LIMITED or lacks_memory):
        return (
            f"{path} could not be read within the limit on memory, {gigabytes(num_bytes)} "
            "(ulimit -v). Raise the limit, and try again."
        )
    asked = status == _TOO_BIG or is_killed or lacks_memory
    why = "it asked for too much memory" if asked else "the process that read it died"
    return (
        f"{path} could not be read: {why}{f' ({said})' if said else ''}. It may be damaged: use "
        "another copy."
    )


def _temporary_folder() -> str:
    try:
        return tempfile.gettempdir()
    except OSError:  # none can be written
        return os.environ.get("TMPDIR", "")


def how_to_convert(path: Path) -> str:
    """Advice about a whole model, saved by `torch.save(model)`: the line that saves its weights
    alone.
    """
    target = path.with_name(f"{path.stem}-weights.pt")
    return (
        "It looks like a whole model, saved by torch.save(model). Save its weights alone, in a program that has the "
        "classes of the model. Do this only if you trust the file, as this line can execute code from it: "
        f'torch.save(torch.load({str(path)!r}, map_location="cpu", weights_only=False).state_dict(), {str(target)!r}). '
        f"Then import {target.name}."
    )


def is_pytorch_file(path: Path) -> bool:
    """Whether a file begins as `torch.save` writes: a ZIP archive, or a pickle.

    A safetensors file begins with the length of its header, which in one of 32 cases looks like the
    start of a pickle.
    """
    start = start_of(path)
    return start.lower().startswith(PYTORCH_STARTS) and not is_safetensors(start)


def _run_child(
    path: Path, folder: Path, time_limit_s: float, should_stop: Callable[[], bool]
) -> tuple[int, str]:
    """The exit status of the process that reads `path` into `folder`, and its output."""
    log = folder / "log"
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "OMP_NUM_THREADS": "1",
    }
    command = [
        sys.executable,
        "-P",
        "-c",
        _CHILD,
        str(path.resolve()),
        str(folder),
        str(time_limit_s),
    ]
    with (
        log.open("wb") as output,
        subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=environment)
        as child,
    ):  # fmt: skip
        try:
            ends = time.monotonic() + time_limit_s
            while True:
                try:
                    status = child.wait(_POLL_S)
                    break
                except subprocess.TimeoutExpired:
                    if should_stop():
                        raise ImportStoppedError from None
                    if time.monotonic() > ends:
                        raise ModelImportError(
                            f"{path} was not read within {time_limit_s:g} seconds. Use another "
                            "copy."
                        ) from None
        finally:
            child.kill()
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return status, lines[-1][:500] if lines else ""


def convert_for_parent(source: str, folder: str, time_limit_s: str) -> int:
    """The other process: reads `source` and writes its tensors into `folder`.

    Returns an exit status.
    """
    path = Path(source)
    has_own_limit = _limit_this_process(path.stat().st_size, float(time_limit_s))
    stand_ins: list[str] = []
    try:
        with torch.serialization.safe_globals(_stand_ins_for(path, stand_ins)):
            loaded = torch.load(path, map_location="cpu", weights_only=True)
        if not isinstance(loaded, Mapping) and not stand_ins:
            raise _RefusedError(f"it holds a {type(loaded).__name__}, not a dictionary of weights")
        weights, others = _parts(loaded)
        if not weights and stand_ins and _holds_a_module(path):
            raise _WholeModelError(f"{_CODE} ({stand_ins[0]})")
        tensors, seen = dict[str, Tensor](), dict[tuple[Any, ...], str]()
        names = {name: _stored_name(value, tensors, seen) for name, value in weights.items()}
        names |= {name: "" for name in others if name not in names}
        _check_size(tensors, path.stat().st_size)
        own = {
            name: value.clone(memory_format=torch.contiguous_format)
            for name, value in tensors.items()
        }
    except _RefusedError as error:
        print(_said(str(error)))  # noqa: T201 — to the parent
        return _WHOLE_MODEL if isinstance(error, _WholeModelError) else _REFUSED
    except Exception as error:  # a damaged or hostile file can cause any error
        if isinstance(error, MemoryError | RuntimeError) and is_out_of_memory(error):
            return _LIMITED if has_own_limit else _TOO_BIG
        why = _DAMAGED if isinstance(error, RuntimeError) else _why_refused(error)
        print(_said(why))  # noqa: T201
        return _WHOLE_MODEL if why != _DAMAGED and _holds_a_module(path) else _REFUSED
    try:
        save_file(own, Path(folder) / "tensors.safetensors")
        (Path(folder) / "names.json").write_text(json.dumps(names), encoding="utf-8")
    except (OSError, SafetensorError) as error:
        print(reason_of(error))  # noqa: T201
        return _NOT_WRITTEN
    return 0


def _stand_ins_for(path: Path, made: list[str]) -> list[Any]:
    """Stand-ins for the classes that the file names and PyTorch would refuse.

    They add their names to `made`.

    An object of such a class, such as the options of a training, is left out. Nothing of it is
    imported or run.
    """
    try:
        names = torch.serialization.get_unsafe_globals_in_checkpoint(path)
    except Exception:  # any error of a damaged file, which is reported when it is loaded
        return []
    return [(_stand_in(name, made), name) for name in names]


def _stand_in(name: str, made: list[str]) -> type:
    """A class of this name, whose objects are empty."""

    def make(own: type, *_: object) -> object:
        made.append(name)
        return OrderedDict() if name.lower().endswith("dict") else object.__new__(own)

    return _StandIn(name, (), {"__new__": make, "__setstate__": lambda self, state: None})


class _StandIn(type):
    """The class of stand-ins.

    A call of one is refused, unless it is in the place of a call that makes data.
    """

    def __call__(cls, *arguments: object) -> object:
        """In the place of a call in the file, where the name may have been that of any function."""
        if not cls.__name__.startswith(_DATA_MODULES):
            raise _RefusedError(f"{_CODE} ({cls.__name__[:120]})")
        return super().__call__()


def _parts(loaded: object) -> tuple[dict[str, Tensor], list[str]]:
    """The tensors of the model by name, and the names of all values. Raises `_RefusedError`."""
    dictionaries = dict(_dictionaries(loaded, "", set()))
    tensors = {
        path: {name: value for name, value in values.items() if isinstance(value, Tensor)}
        for path, values in dictionaries.items()
    }
    paths = {
        path + prefix: path for path, weights in tensors.items() for prefix in prefixes_of(weights)
    }
    try:
        path = paths.get(chosen_prefix(list(paths)))
    except ValueError as error:
        raise _RefusedError(f"it {error}") from error
    if path is None:  # of no known family
        path = max(tensors, key=lambda path: len(tensors[path]), default="")
    return tensors.get(path, {}), [
        path + name for path, values in dictionaries.items() for name in values
    ]


def _dictionaries(
    value: object, path: str, seen: set[int]
) -> Iterator[tuple[str, dict[str, object]]]:
    """All dictionaries in a value, each once, with the names of those around it; values by names as
    text.
    """
    if isinstance(value, Mapping) and id(value) not in seen and path.count(".") < _MAX_DEPTH:
        seen.add(id(value))
        values = {str(name): part for name, part in value.items() if isinstance(name, str | int)}
        yield path, values
        for name, part in values.items():
            yield from _dictionaries(part, f"{path}{name}.", seen)


def _holds_a_module(path: Path) -> bool:
    """Whether a file looks like `torch.save` of a module; nothing in it is loaded."""
    content = content_of(path)
    return all(mark in content for mark in _MARKS_OF_A_MODULE)


class _RefusedError(Exception):
    """The content of the file is refused."""


class _WholeModelError(_RefusedError):
    """The file holds a module, not its weights."""


def _said(reason: str) -> str:
    return f"{reason}. Use a PyTorch file that holds only the weights of a model."


def _why_refused(error: Exception) -> str:
    """The reason in our words: PyTorch's own message advises loading the file without its check."""
    text = str(error)
    if "weights_only" not in text and "Unsupported" not in text:
        return _DAMAGED
    named = _REFUSED_NAME.search(text)
    what = f" ({named[1][:120]})" if named is not None else ""
    return _CODE + what


def _limit_this_process(num_bytes: int, time_limit_s: float) -> bool:
    """Limit address space and processor time of this process where the system can; write no core
    file.

    Returns whether its address space is limited more by its user.
    """
    try:
        import resource
    except ImportError:  # Windows
        return False
    _lower("RLIMIT_CORE", 0)
    _lower("RLIMIT_CPU", int(time_limit_s) + 1)
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    # not Linux, where address space is not counted in a useful way
    except (OSError, ValueError, IndexError):
        return False
    return _lower(
        "RLIMIT_AS", pages * resource.getpagesize() + _COPIES * num_bytes + _MEMORY_BEYOND_FILE
    )


def _lower(name: str, limit: int) -> bool:
    """Set a limit of this process for good, unless its user set a lower one; whether that is so."""
    import resource

    own = _limit_of_user(name)
    lowest = limit if own is None else min(limit, own)
    resource.setrlimit(getattr(resource, name), (lowest, lowest))
    return lowest < limit


def _limit_of_user(name: str) -> int | None:
    """A limit of this process; None if there is none."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    limits = resource.getrlimit(getattr(resource, name))
    return min((limit for limit in limits if limit != resource.RLIM_INFINITY), default=None)


def _check_size(tensors: Mapping[str, Tensor], num_bytes: int) -> None:
    """Refuse a tensor with a small storage and a huge shape: written to a file, it would fill the
    disk.
    """
    total = sum(value.numel() * value.element_size() for value in tensors.values())
    if total > 2 * num_bytes + 2**20:
        raise _RefusedError(
            f"its tensors would take {total:,} bytes, but the file has {num_bytes:,}"
        )


def _stored_name(
    value: Tensor, tensors: dict[str, Tensor], seen: dict[tuple[Any, ...], str]
) -> str:
    """The name of a tensor, which is put into `tensors`; one that occurs twice has one name."""
    if (
        value.layout is not torch.strided
        or value.is_quantized
        or value.is_complex()
        or value.device.type != "cpu"
    ):
        raise _RefusedError("it holds a tensor that is sparse, quantized or complex")
    plain = value.detach()
    view_key = (
        plain.data_ptr(),
        plain.storage_offset(),
        tuple(plain.shape),
        plain.stride(),
        plain.dtype,
    )
    name = seen.setdefault(view_key if plain.numel() else (len(seen),), str(len(seen)))
    tensors.setdefault(name, plain)
    return name
