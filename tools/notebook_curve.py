"""Draw docs/images/notebook-curve.png: our validation curve of the preset `notebook` and the
published one.

python -m tools.notebook_curve [HISTORY.csv [PICTURE.png]]
"""

import sys
from pathlib import Path

from augenmerk.core.extensions.training.history_file import read_history
from augenmerk.viz_app.extensions.pictures.figures import save_figure
from augenmerk.viz_app.extensions.train.charts.axes import charts_figure
from augenmerk.viz_app.extensions.train.charts.picture import (
    ChartPicture,
    ChartSettings,
    picture_of,
)
from augenmerk.viz_app.extensions.train.curves import RunCurves
from augenmerk.viz_app.extensions.train.run_files import RunComparison

DOCS = Path(__file__).resolve().parent.parent / "docs"


def published_picture(history: Path) -> ChartPicture:
    """The chart of both curves, as means of batch means like the published one."""
    curves, comparison = RunCurves(), RunComparison()
    curves.add_run(read_history(history))
    comparison.add_published()
    return picture_of(
        curves,
        ChartSettings("loss", smoothing="none"),
        curves.last_step,
        comparison.runs,
        is_live=False,
    )


def main(words: list[str]) -> int:
    """Read the history of a run and save the picture. The exit status is 0."""
    history = Path(words[0]) if words else DOCS / "notebook.history.csv"
    target = Path(words[1]) if len(words) > 1 else DOCS / "images" / "notebook-curve.png"
    caption = (
        "validation losses are means of batch means · preset: notebook · published: "
        "pytorch-seq2seq, notebook 6"
    )
    save_figure(
        charts_figure(
            [published_picture(history)], "Preset notebook and the published curve", caption
        ),
        target,
    )
    print(target)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
