"""Draw docs/images/notebook-curve.png: our validation curve of the preset `notebook` and the published one.

python -m tools.notebook_curve [HISTORY.csv [PICTURE.png]]
"""

import sys
from pathlib import Path

from augenmerk.core.checkpoint.history import read_history
from augenmerk.viz_app.export.figures import save_figure
from augenmerk.viz_app.train.charts.published_figure import published_figure

DOCS = Path(__file__).resolve().parent.parent / "docs"


def main(words: list[str]) -> int:
    """Read the history of a run and save the picture. The exit status is 0."""
    history = Path(words[0]) if words else DOCS / "notebook.history.csv"
    target = Path(words[1]) if len(words) > 1 else DOCS / "images" / "notebook-curve.png"
    save_figure(published_figure(read_history(history)), target)
    print(target)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
