"""Train a preset for some steps and record each of them, as in docs/*.history.csv.

    AUGENMERK_MULTI30K=FOLDER python -m tools.first_steps annotated-2018 --steps 470 \
        --change sample_size=0 --out RUN_FOLDER --table docs/annotated-2018.history.csv \
        [--device cuda]

SIGTERM or Ctrl-C ends the run after the current step; the table then contains all steps so far.
"""

import argparse
import csv
import dataclasses
import os
import sys
from pathlib import Path

from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training.cli.stopping import stop_on_interrupt
from augenmerk.core.extensions.training.cli.train import read_changes
from augenmerk.core.extensions.training.corpora.loading import COPY, load_corpus
from augenmerk.core.extensions.training.events import StepDone, TrainingEvent
from augenmerk.core.extensions.training.loop import train

COLUMNS = ("step", "epoch", "loss", "learning_rate", "gradient_norm", "num_tokens")


def main() -> int:
    """Train and write the table. The exit status is 0."""
    options = _options()
    chosen = preset(options.preset)
    changes = read_changes(options.change)
    run = dataclasses.replace(
        chosen, training=chosen.training.replace(max_steps=options.steps, **changes)
    )
    corpus = load_corpus(COPY if run.is_copy_task else os.environ["AUGENMERK_MULTI30K"], run)
    with options.table.open("w", encoding="utf-8", newline="") as file, stop_on_interrupt() as stop:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()

        def write(event: TrainingEvent) -> None:
            if isinstance(event, StepDone):
                table.writerow({name: _short(getattr(event, name)) for name in COLUMNS})
                file.flush()

        device, out = options.device, options.out
        finished = train(
            run, corpus, out, device=device, on_event=write, should_stop=lambda: stop.requested
        )
    print(
        f"{finished.step} steps, {finished.seconds:.0f} s, validation loss "
        f"{finished.best_validation_loss:.4f}"
    )
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("preset")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument(
        "--change",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="change a training setting",
    )
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path, required=True, help="folder of the run")
    parser.add_argument("--table", type=Path, required=True, help="CSV file for the steps")
    return parser.parse_args()


def _short(value: float) -> int | str:
    """Whole numbers unchanged, others with six significant digits."""
    return value if isinstance(value, int) else f"{value:.6g}"


if __name__ == "__main__":
    sys.exit(main())
