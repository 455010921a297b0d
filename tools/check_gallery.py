"""Print what the bundled model does with the gallery's examples: `python -m tools.check_gallery`.

For each example, this is its translation, the weight of the pinned cell, and the heads with the
largest such weights. Edit `resources/gallery.toml` where a `see` line is no longer true.
"""

import numpy as np

from augenmerk.core.counting import display_text
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.result import Translation
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.extensions.examples.gallery import Example, gallery

NUM_HEADS_NAMED = 3


def weights_of(translation: Translation, example: Example) -> dict[Head, float]:
    """The weight from the example's target word to its source word in every cross head."""
    target = next(word for word in translation.target_words if word.text.lower() == example.target)
    source = next(word for word in translation.source_words if word.text.lower() == example.source)
    weights = translation.maps.cross[:, :, target.start, source.start : source.end].sum(axis=-1)
    return {
        Head("cross", layer, head): float(weights[layer, head])
        for layer, head in np.ndindex(*weights.shape)
    }


def main() -> None:
    """Print the report."""
    translator = Translator.load(device="cpu")
    for example in gallery():
        translation = translator.run(example.experiment)
        weights = weights_of(translation, example)
        best = sorted(weights, key=lambda head: -weights[head])[:NUM_HEADS_NAMED]
        print(f"{example.text}\n  → {translation.text}")
        name = display_text(example.head.short_name)
        print(f"  {example.target} → {example.source}: {name} {weights[example.head]:.2f}")
        print(
            "  most: "
            + ", ".join(f"{display_text(head.short_name)} {weights[head]:.2f}" for head in best)
        )


if __name__ == "__main__":
    main()
