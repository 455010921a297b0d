"""Translating and training on two cores, idle and next to five busy processes, with our thread
settings and PyTorch's.

The benchmark creates its own load; run it on an otherwise quiet machine. A process chooses how its
threads wait when it starts, by the load of the last minute: those measured idle start when the load
of earlier benchmarks has fallen, those measured under load start under load. Ours and PyTorch's run
in turn, and no pair starts after `LIMIT_SECONDS`: the whole takes less than ten minutes.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.ratio import Ratio

CORES, OTHERS = 2, 5
TURNS = 25
LIMIT_SECONDS = 45.0
FEWEST_TURNS = 2
SECONDS_TO_BE_QUIET = 180.0
"""The longest wait for the load of what ran before to fall."""
SECONDS_TO_BE_BUSY = 20.0
"""Of load before the processes begin: the mean of the last minute tells it from something short."""
REQUIRED = {"idle": (0.85, 1.0), "busy": (3.0, 5.0)}
"""Ratio required, ratio aimed at.

Threads that soon sleep must be woken: on an idle AMD EPYC (family 25 model 17), 16 sentences took
62 ms with PyTorch's threads and 70 with ours (ratios of three runs: 0.87, 0.88, 0.91), a training
step the same (1.00 to 1.03). Next to busy processes ours took a quarter or a fifth of the time.
"""
SENTENCES, STEP = "16 sentences", "a training step of notebook"


def run() -> list[Ratio]:
    """The ratios in wall seconds. Linux only: elsewhere there is no such choice."""
    if not sys.platform.startswith("linux"):
        return []
    cores = sorted(os.sched_getaffinity(0))[:CORES]
    _wait_for_quiet()
    with _worker("ours", cores) as ours, _worker("plain", cores) as other:
        ratios = _ratios("idle", ours, other)
    with _busy(cores):
        time.sleep(SECONDS_TO_BE_BUSY)
        with _worker("ours", cores) as ours, _worker("plain", cores) as other:
            return [*ratios, *_ratios("busy", ours, other)]


def _wait_for_quiet() -> None:
    """Waits until a process that starts would not take the machine for a busy one."""
    latest = time.monotonic() + SECONDS_TO_BE_QUIET
    while os.getloadavg()[0] >= 1 and time.monotonic() < latest:
        time.sleep(1)


Ask = Callable[[str], float]
"""Does the work of this name once, and tells how many seconds it took."""


def _ratios(load: str, ours: Ask, other: Ask) -> list[Ratio]:
    ratios = []
    for work in (SENTENCES, STEP):
        pairs: list[tuple[float, float]] = []
        began = time.perf_counter()
        while len(pairs) < FEWEST_TURNS or (
            len(pairs) < TURNS and time.perf_counter() - began < LIMIT_SECONDS
        ):
            pairs.append((ours(work), other(work)))
        ours_seconds, other_seconds = (statistics.median(side) for side in zip(*pairs, strict=True))
        ratios.append(
            Ratio(
                f"{work}, {load}: our threads / PyTorch's own",
                ours_seconds,
                other_seconds,
                *REQUIRED[load],
                "wall seconds",
            )
        )
    return ratios


@contextmanager
def _worker(threads: str, cores: Sequence[int]) -> Iterator[Ask]:
    """A process on these cores that has imported torch with `ours` or `plain` threads and does work
    on request.
    """
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_"))
    }
    environment["PYTHONPATH"] = str(Path(__file__).parent.parent)
    command = [sys.executable, "-m", "benchmarks.busy", threads, *map(str, cores)]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        requests, answers = process.stdin, process.stdout

        def ask(work: str) -> float:
            print(work, file=requests, flush=True)
            return float(answers.readline())

        for work in (SENTENCES, STEP):
            ask(work)
        yield ask
        requests.close()


@contextmanager
def _busy(cores: Sequence[int]) -> Iterator[None]:
    """Keep `OTHERS` processes busy on these cores inside the context."""
    endless = f"import os\nos.sched_setaffinity(0, {set(cores)})\nwhile True: pass"
    processes = [subprocess.Popen([sys.executable, "-c", endless]) for _ in range(OTHERS)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _work(threads: str, cores: Sequence[int]) -> None:
    """The worker process: read names of work, write seconds."""
    os.sched_setaffinity(0, set(cores))
    if threads == "ours":
        from augenmerk.core.process import tune_process

        tune_process()
    assert "torch" not in sys.modules
    import torch

    from augenmerk.core.extensions.run_settings.presets import preset
    from augenmerk.core.extensions.training.corpora.batches import collate
    from augenmerk.core.extensions.training.session import TrainingSession
    from augenmerk.core.resources import example_sentences
    from augenmerk.core.translation.translator import Translator
    from benchmarks.training import made_up_corpus

    assert torch.get_num_threads() == len(cores)
    translator = Translator.load(None, "cpu")
    corpus = made_up_corpus()
    sentences = (list(example_sentences()) * 16)[:16]
    session = TrainingSession(preset("notebook"), corpus, "cpu")
    batch = collate(corpus.train, range(128), translator.model.padding_id)
    works: dict[str, Callable[[], object]] = {
        SENTENCES: lambda: translator.translate_corpus(sentences),
        STEP: lambda: session.step([batch]),
    }
    for line in sys.stdin:
        began = time.perf_counter()
        works[line.strip()]()
        print(time.perf_counter() - began, flush=True)


if __name__ == "__main__":
    _work(sys.argv[1], [int(core) for core in sys.argv[2:]])
