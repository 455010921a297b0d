"""Measure the roles of a checkpoint's heads on Multi30k's validation split, and store them next to
the checkpoint.

python -m tools.head_roles [MODEL.safetensors [FOLDER]]

The default model is the bundled one, with `resources/multi30k-de-en.roles.json`. FOLDER contains
`val.de.gz` and `val.en.gz`. The default is the folder that AUGENMERK_MULTI30K names, or the cache
of `augenmerk data prepare --data multi30k`.
"""

import os
import sys
from pathlib import Path

from augenmerk.core.extensions.analyses.head_profiles import profile_heads
from augenmerk.core.extensions.training.corpora.multi30k import cache_path
from augenmerk.core.extensions.training.corpora.parallel import read_pair
from augenmerk.core.maps.roles import SampleRoles, write_sample_roles
from augenmerk.core.resources import bundled_model_path
from augenmerk.core.translation.translator import Translator

NUM_PAIRS = 200
WHAT = "pairs of the validation split"


def main(words: list[str]) -> int:
    """Read 200 pairs with forced references and write the roles. The exit status is 0."""
    model = Path(words[0]) if words else bundled_model_path()
    default = os.environ.get("AUGENMERK_MULTI30K") or cache_path() / "multi30k"
    folder = Path(words[1] if len(words) > 1 else default)
    pairs = read_pair(folder / "val.de.gz", folder / "val.en.gz")
    profiles = profile_heads(
        Translator.load(model, "cpu"), pairs.source[:NUM_PAIRS], pairs.target[:NUM_PAIRS]
    )
    print(write_sample_roles(SampleRoles.of(profiles, WHAT), model))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
