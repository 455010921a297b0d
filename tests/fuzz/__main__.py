"""`make fuzz`: thousands of damaged files.

Each must be refused with an error of `core.errors`, or be usable.

python -m tests.fuzz --checkpoints 10000 --bundled 300 --others 2000 --folders 1000 --seed 1
python -m tests.fuzz --replay words:1-42 --save mutant.safetensors
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # processes are forked, and there are many

from augenmerk.core.resources import bundled_model_path
from tests.fuzz.bases import write_bases
from tests.fuzz.pool import Result, Task, run_tasks
from tests.fuzz.trials import REFUSED, TAKEN, TRIALS, outcome_of

SMALL_KINDS = ("words", "subwords", "copy", "resumable", "marian")
FOLDER_KINDS = ("marian-folder",)
OTHER_KINDS = ("experiment", "config", "history", "prepared", "metrics")


def main() -> int:
    """Try all files and print counts and findings. Returns 1 if there are findings."""
    options = _read_options()
    with tempfile.TemporaryDirectory(prefix="augenmerk-fuzz-bases-") as folder:
        bases = {**write_bases(Path(folder)), "bundled": bundled_model_path()}
        # imports everything, and is the proof that the intact files are of use
        for kind, path in bases.items():
            assert outcome_of(kind, _copy(path, Path(folder))) == TAKEN, kind
        if options.replay:
            return _replay(options, bases)
        tasks = list(_tasks(options, bases))
        results = _gather(run_tasks(tasks, options.jobs), len(tasks))
    _report(results)
    findings = [result for result in results if result.outcome not in (REFUSED, TAKEN)]
    for result in findings[:100]:
        print(f"\n{result.task.kind}:{result.task.seed}  {result.outcome}\n{result.detail}")
    if options.results:
        lines = [
            {"kind": r.task.kind, "seed": r.task.seed, "outcome": r.outcome, "detail": r.detail}
            for r in findings
        ]
        options.results.write_text(
            "".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8"
        )
    return 1 if findings else 0


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "--checkpoints", type=int, default=10_000, help="damaged copies of small checkpoints"
    )
    parser.add_argument("--bundled", type=int, default=300, help="of the bundled model")
    parser.add_argument(
        "--others",
        type=int,
        default=2_000,
        help="of experiments, configs, histories, prepared corpora",
    )
    parser.add_argument("--folders", type=int, default=1_000, help="of folders with a Marian model")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--replay", metavar="KIND:SEED", help="try one again, here, without limits")
    parser.add_argument(
        "--save", type=Path, metavar="FILE", help="with --replay: keep the damaged file"
    )
    parser.add_argument(
        "--results", type=Path, metavar="FILE.jsonl", help="write the findings there"
    )
    return parser.parse_args()


def _tasks(options: argparse.Namespace, bases: dict[str, Path]) -> Iterator[Task]:
    for kinds, count in (
        (SMALL_KINDS, options.checkpoints),
        (("bundled",), options.bundled),
        (OTHER_KINDS, options.others),
        (FOLDER_KINDS, options.folders),
    ):
        for index in range(count):
            kind = kinds[index % len(kinds)]
            yield Task(kind, bases[kind], f"{options.seed}-{index}")


def _gather(results: Iterator[Result], count: int) -> list[Result]:
    began, gathered = time.monotonic(), []
    for result in results:
        gathered.append(result)
        if result.outcome not in (REFUSED, TAKEN):
            print(
                f"{result.task.kind}:{result.task.seed} {result.outcome}",
                file=sys.stderr,
                flush=True,
            )
        if len(gathered) % 500 == 0:
            print(
                f"{len(gathered):,} of {count:,}, {time.monotonic() - began:.0f} s",
                file=sys.stderr,
                flush=True,
            )
    return gathered


def _report(results: list[Result]) -> None:
    by_kind: dict[str, Counter[str]] = defaultdict(Counter)
    for result in results:
        by_kind[result.task.kind][result.outcome] += 1
    for kind, counts in by_kind.items():
        longest = max(
            (result for result in results if result.task.kind == kind),
            key=lambda result: result.seconds,
        )
        largest = max(result.num_bytes for result in results if result.task.kind == kind)
        listed = ", ".join(f"{count:,} {outcome}" for outcome, count in counts.most_common())
        print(
            f"{kind:<11} {listed}; longest {longest.seconds:.1f} s ({longest.task.seed}), "
            f"largest {largest / 1e6:,.0f} MB"
        )
    num_findings = sum(
        count
        for counts in by_kind.values()
        for outcome, count in counts.items()
        if outcome not in (REFUSED, TAKEN)
    )
    print(f"{len(results):,} damaged files, {num_findings:,} findings")


def _replay(options: argparse.Namespace, bases: dict[str, Path]) -> int:
    kind, _, seed = options.replay.partition(":")
    task = Task(kind, bases[kind], seed)
    path = options.save or Path(tempfile.mkdtemp()) / f"mutant{task.base.suffix}"
    path.write_bytes(task.content())
    TRIALS[kind](path)
    return 0


def _copy(path: Path, folder: Path) -> Path:
    target = folder / f"intact{path.suffix}"
    target.write_bytes(path.read_bytes())
    return target


if __name__ == "__main__":
    sys.exit(main())
