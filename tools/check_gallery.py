"""Says what the bundled model does today with the gallery's examples: `python -m tools.check_gallery`.

For each example: its translation, the weight that its head gives from one of its words to the other, and the heads that
give most. Change `resources/gallery.toml` where the line in `see` is no longer true.
"""

import numpy as np

from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.result import Translation
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.examples import Example, gallery

NUM_HEADS_NAMED = 3


def weights_of(translation: Translation, example: Example) -> dict[Head, float]:
    """What every cross-attention head gives from the example's first such target word to its source word."""
    target = next(word for word in translation.target_words if word.text.lower() == example.target)
    source = next(word for word in translation.source_words if word.text.lower() == example.source)
    found = translation.maps.cross[:, :, target.start, source.start : source.end].sum(axis=-1)
    return {Head("cross", layer, head): float(found[layer, head]) for layer, head in np.ndindex(*found.shape)}


def main() -> None:
    """Prints what there is to see."""
    translator = Translator.load(device="cpu")
    for example in gallery():
        translation = translator.run(Experiment(example.text))
        weights = weights_of(translation, example)
        best = sorted(weights, key=lambda head: -weights[head])[:NUM_HEADS_NAMED]
        print(f"{example.text}\n  → {translation.text}")
        print(f"  {example.target} → {example.source}: {example.head.short_name} {weights[example.head]:.2f}")
        print("  most: " + ", ".join(f"{head.short_name} {weights[head]:.2f}" for head in best))


if __name__ == "__main__":
    main()
