"""A process that was started without standard streams gives their numbers to no other file, and
says what it can."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.builders import first_quick

pytestmark = [
    pytest.mark.subprocess,
    pytest.mark.skipif(os.name != "posix", reason="descriptors can be closed there"),
]

RUNS = "import sys; from augenmerk.viz_app.launch import main; sys.exit(main(sys.argv[1].split()))"
OPENS = """
import os, sys
from augenmerk.core.process import open_standard_streams
open_standard_streams()
with open(sys.argv[1], "wb") as file:
    assert file.fileno() > 2, file.fileno()
    os.write(2, b"a message")
    file.write(b"what belongs there")
assert all(os.get_inheritable(number) for number in range(3))
assert sys.stdin.read() == ""
assert not sys.stdin.isatty() and not sys.stderr.isatty()
print("a message with \\udcff", file=sys.stderr, flush=True)
"""


def run_without(closed: str, code: str, argument: Path | str) -> subprocess.CompletedProcess[str]:
    """Through a shell: `subprocess` itself can give streams away, but not close them."""
    command = ["sh", "-c", f'exec "$0" "$@" {closed}', sys.executable, "-c", code, str(argument)]
    return subprocess.run(
        command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, timeout=60
    )


@pytest.mark.parametrize("closed", ["<&-", "2>&-", "<&- 2>&-", "<&- >&- 2>&-"])
def test_a_file_that_is_opened_gets_no_message(tmp_path: Path, closed: str) -> None:
    result = run_without(closed, OPENS, tmp_path / "checkpoint")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "checkpoint").read_bytes() == b"what belongs there"


@pytest.mark.parametrize("words", first_quick(["data --help", "info", "--help", "--version"]))
def test_a_closed_standard_output_is_reported(words: str) -> None:
    result = run_without(">&-", RUNS, words)
    assert result.returncode == 2
    assert result.stderr == (
        "augenmerk: standard output is closed, so the output is lost. Send it to a file: > FILE.\n"
    )
