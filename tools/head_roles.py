"""Measures what the heads of a checkpoint do on Multi30k's validation split, and keeps it beside the checkpoint.

python -m tools.head_roles [MODEL.safetensors [FOLDER]]

Without a model the bundled one is taken: its `resources/multi30k-de-en.roles.json` was written so. FOLDER holds
`val.de.gz` and `val.en.gz`; without it they are those of the user's cache (`augenmerk data prepare` fetches them).
"""

import sys
from pathlib import Path

from augenmerk.core.analysis.profiles import profile_heads
from augenmerk.core.analysis.sample_roles import SampleRoles, write_sample_roles
from augenmerk.core.corpora.multi30k import cache_path
from augenmerk.core.corpora.parallel import read_pair
from augenmerk.core.resources import bundled_model_path
from augenmerk.core.translation.translator import Translator

NUM_PAIRS = 200
WHAT = "pairs of the validation split"


def main(words: list[str]) -> int:
    """Reads the first 200 pairs with forced references and writes the roles; the exit status is 0."""
    model = Path(words[0]) if words else bundled_model_path()
    folder = Path(words[1]) if len(words) > 1 else cache_path() / "multi30k"
    pairs = read_pair(folder / "val.de.gz", folder / "val.en.gz")
    found = profile_heads(Translator.load(model, "cpu"), pairs.source[:NUM_PAIRS], pairs.target[:NUM_PAIRS])
    print(write_sample_roles(SampleRoles.of(found, WHAT), model))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
