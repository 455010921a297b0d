import subprocess
import sys

import pytest

pytestmark = pytest.mark.subprocess

TWO_THREADS = """
import threading
from augenmerk.viz_app.extensions.pictures.saving import import_matplotlib
other = threading.Thread(target=import_matplotlib)
other.start()
import_matplotlib()
from augenmerk.viz_app.extensions.train.charts.live_chart import LiveChart
other.join()
"""


@pytest.mark.slow
def test_two_threads_may_ask_for_matplotlib_at_once() -> None:
    result = subprocess.run(
        [sys.executable, "-c", TWO_THREADS], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
