"""Commands outside the kernel, found by entry points. Imports nothing heavy."""

from ..cli.subcommand import Subcommand

ANALYZE = Subcommand(
    "print what every head does, as numbers",
    "augenmerk.core.extensions.analyses.cli.analyze",
    order=20,
)
ALIGN = Subcommand(
    "rank heads by word alignment, or link the words of a sentence",
    "augenmerk.core.extensions.analyses.cli.align",
    order=30,
)
TRAIN = Subcommand("train a model", "augenmerk.core.extensions.training.cli.train", order=40)
RUNS = Subcommand("list training runs", "augenmerk.core.extensions.training.cli.runs", order=50)
EVALUATE = Subcommand(
    "score a model on a corpus, or compare two",
    "augenmerk.core.extensions.training.cli.evaluate",
    order=60,
)
DATA = Subcommand(
    "prepare a corpus for training elsewhere",
    "augenmerk.core.extensions.training.cli.data",
    order=70,
)
INFO = Subcommand(
    "describe a checkpoint, or the origin of a picture",
    "augenmerk.core.extensions.info.command",
    order=80,
)
AVERAGE = Subcommand(
    "average checkpoints, or halve the size of one",
    "augenmerk.core.extensions.training.cli.average",
    order=90,
)
IMPORT = Subcommand(
    "import a model of another project, such as OPUS-MT",
    "augenmerk.core.extensions.readers.import_command",
    order=100,
)
