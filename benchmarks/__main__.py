"""`make bench`: run all benchmarks or the named ones, and print the processor and a table of
ratios.
"""

import argparse
import importlib
import sys
from collections.abc import Sequence

from benchmarks.processor import describe_processor
from benchmarks.ratio import Ratio

BENCHMARKS = (
    "reading",
    "decoding",
    "training",
    "drawing",
    "changing",
    "app_training",
    "gui_load",
    "switching",
    "busy",
    "greedy",
    "imported",
    "typing_letters",
    "importance",
    "explaining",
    "start",
    "running_page",
)


def read_names(arguments: Sequence[str]) -> list[str]:
    """The named benchmarks, or all. Raises `SystemExit` after help or for an unknown name."""
    listed = ", ".join(BENCHMARKS)
    parser = argparse.ArgumentParser(
        "python -m benchmarks", description=__doc__, epilog=f"benchmarks: {listed}"
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmark to run (default: all)")
    names: list[str] = parser.parse_args(arguments).names
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"unknown benchmark {', '.join(unknown)}. Choose from: {listed}")
    return names or list(BENCHMARKS)


def main(names: Sequence[str]) -> int:
    """Run the benchmarks called `names`. The exit status is 1 if a required ratio is missed."""
    results: list[Ratio] = []
    print(describe_processor())
    print(f"{'':58} {'ours':>10} {'other':>10} {'ratio':>8} {'required':>9} {'aim':>6}")
    for name in names:
        for result in importlib.import_module(f"benchmarks.{name}").run():
            results.append(result)
            verdict = "" if result.ratio >= result.required else "   MISSED"
            print(
                f"{result.name:58} {result.ours_seconds * 1e3:7.1f} ms "
                f"{result.other_seconds * 1e3:7.1f} ms {result.ratio:7.2f}x "
                f"{result.required:8.2f}x {result.aim:5.1f}x{verdict}  {result.note}",
                flush=True,
            )
    return 0 if all(result.ratio >= result.required for result in results) else 1


if __name__ == "__main__":
    sys.exit(main(read_names(sys.argv[1:])))
