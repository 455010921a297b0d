"""Commands outside the kernel, found by entry points. Imports nothing heavy."""

from augenmerk.core.cli.subcommand import Subcommand

ANALYZE = Subcommand("print what every head does, as numbers", "augenmerk.core.cli.analyze", order=20)
ALIGN = Subcommand(
    "rank heads by word alignment, or link the words of a sentence", "augenmerk.core.cli.align", order=30
)
TRAIN = Subcommand("train a model", "augenmerk.core.cli.train", order=40)
RUNS = Subcommand("list training runs", "augenmerk.core.cli.runs", order=50)
EVALUATE = Subcommand("score a model on a corpus", "augenmerk.core.cli.evaluate", order=60)
DATA = Subcommand("prepare a corpus for training elsewhere", "augenmerk.core.cli.data", order=70)
AVERAGE = Subcommand("average checkpoints, or halve the size of one", "augenmerk.core.cli.average", order=90)
IMPORT = Subcommand(
    "import a model of Hugging Face Marian (OPUS-MT), JoeyNMT, notebook 6 or The Annotated Transformer",
    "augenmerk.core.cli.import_model",
    order=100,
)
