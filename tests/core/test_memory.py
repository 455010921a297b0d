"""What is chosen about the memory of a process."""

import sys

import pytest

from augenmerk.core.cli.command import USER_ERROR, run_guarded
from tests.test_import_rules import run_python

COUNT_HEAPS = """
import ctypes, sys, tempfile, threading
from augenmerk.core.process import share_one_heap

if sys.argv[1] == "shared":
    share_one_heap()
kept = []
thread = threading.Thread(target=lambda: kept.extend(bytes(5_000) for _ in range(100)))
thread.start()
thread.join()
library = ctypes.CDLL(None)
if not hasattr(library, "malloc_info"):
    print("no glibc")
    sys.exit()
library.fopen.restype = ctypes.c_void_p
with tempfile.NamedTemporaryFile() as file:
    stream = ctypes.c_void_p(library.fopen(file.name.encode(), b"w"))
    library.malloc_info(0, stream)
    library.fclose(stream)
    print(file.read().count(b"<heap nr="))
"""


@pytest.mark.subprocess
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc is asked")
@pytest.mark.parametrize(("choice", "number"), [("shared", "1"), ("left alone", "2")])
def test_threads_take_memory_from_one_heap(choice: str, number: str) -> None:
    result = run_python("-c", COUNT_HEAPS, choice)
    assert result.returncode == 0, result.stderr
    if "no glibc" in result.stdout:
        pytest.skip("another C library")
    assert result.stdout.strip() == number


def test_a_library_that_does_not_fit_into_memory_is_told_as_such(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As the dynamic loader says it of PyTorch under `ulimit -v`."""

    def load() -> int:
        raise ImportError("libtorch_cpu.so: failed to map segment from shared object")

    assert run_guarded(load) == USER_ERROR
    assert "not enough memory (libtorch_cpu.so" in capsys.readouterr().err
    with pytest.raises(ImportError, match="no module"):
        run_guarded(lambda: int(_raise(ImportError("no module named x"))))


def _raise(error: Exception) -> str:
    raise error


RETURN_MEMORY = """
from tests.viz_app.soak_window import resident_mb
from augenmerk.core.process import return_free_memory, share_one_heap

share_one_heap()
blocks = [bytearray(5_000) for _ in range(40_000)]
in_use = blocks[-1]  # above all others
before = resident_mb()
del blocks
return_free_memory()
print(before - resident_mb())
"""


@pytest.mark.subprocess
@pytest.mark.heavy
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc keeps it")
def test_freed_memory_is_returned_although_something_above_it_is_in_use() -> None:
    result = run_python("-c", RETURN_MEMORY)
    assert result.returncode == 0, result.stderr
    assert float(result.stdout) > 150
