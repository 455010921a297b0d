"""Numbers of `analyze` about words and weights: lenses, and parts of logits and attention scores.

Names with a slash are members of one object in JSON: “lens/ranks” is `ranks` of `lens`.
"""

import argparse
from typing import TYPE_CHECKING, Any

import numpy as np

from ....cli.lines import print_note
from ....cli.values import Numbers
from ....counting import display_text
from ....errors import AnalysisError, ConfigError

if TYPE_CHECKING:
    from ....model.heads import Head
    from ....translation.result import Translation
    from ....translation.translator import Translator
    from ..parts_of_words import WordParts


def add_explanations(parser: argparse.ArgumentParser) -> None:
    """Add the options about words."""
    group = parser.add_argument_group("why this word")
    group.add_argument(
        "--lens",
        action="store_true",
        help="add the decoder's predictions after each sublayer (logit lens, nostalgebraist 2020)",
    )
    group.add_argument(
        "--decoder-lens",
        action="store_true",
        help="add the translations if the decoder read an earlier layer of the encoder (Langedijk "
        "et al. 2023)",
    )
    group.add_argument(
        "--parts",
        action="store_true",
        help="add the parts of each word's logit minus that of the next best (direct logit "
        "attribution, Elhage et al. 2021)",
    )
    group.add_argument(
        "--word",
        type=int,
        metavar="N",
        help="only the parts of word N of the translation, from 1 to its end, <eos>; those of "
        "cross-attention also by component of the encoder",
    )
    group.add_argument(
        "--foil", metavar="WORD", help="compare word N with WORD instead of the next best"
    )
    group.add_argument("--rival", dest="foil", help=argparse.SUPPRESS)  # its earlier name


def check_explanations(options: argparse.Namespace) -> None:
    """Raises `ConfigError` for options that do not fit together."""
    if options.word is not None and not options.parts:
        raise ConfigError("--word names the word for --parts. Add --parts.")
    if options.foil is not None and options.word is None:
        raise ConfigError("--foil needs a word to compare with. Add --parts and --word N.")


def explanations(
    translator: "Translator", translation: "Translation", options: argparse.Namespace
) -> Numbers:
    """The requested numbers about words."""
    numbers: Numbers = {}
    if options.lens:
        numbers |= _lens(translator, translation)
    if options.decoder_lens:
        numbers |= _decoder_lens(translator, translation)
    if options.parts:
        numbers |= _parts(translator, translation, options)
    return numbers


def _lens(translator: "Translator", translation: "Translation") -> Numbers:
    from ..logit_lens import logit_lens

    lens = logit_lens(translator, translation)
    best = [[step[0] for step in steps] for steps in lens.candidates]
    return {
        "lens/depths": np.array([str(depth) for depth in lens.depths]),
        "lens/tokens": np.array(translation.predicted_tokens),
        "lens/log_probabilities": lens.log_probabilities,
        "lens/ranks": lens.ranks,
        "lens/entropies": lens.entropies,
        "lens/best_tokens": np.array([[candidate.token for candidate in steps] for steps in best]),
        "lens/best_log_probabilities": np.array(
            [[candidate.log_probability for candidate in steps] for steps in best]
        ),
    }


def _decoder_lens(translator: "Translator", translation: "Translation") -> Numbers:
    from ..decoder_lens import decoder_lens

    lens = decoder_lens(translator, translation)

    def words(indices_by_layer: tuple[tuple[int, ...], ...]) -> "np.ndarray[Any, np.dtype[Any]]":
        layers = zip(lens.layers, indices_by_layer, strict=True)
        return np.array(
            [
                " ".join(layer.target_words[index].text for index in indices)
                for layer, indices in layers
            ]
        )

    return {
        "decoder_lens/translations": np.array([layer.text for layer in lens.layers]),
        "decoder_lens/log_probabilities": np.array(
            [layer.log_probability for layer in lens.layers]
        ),
        "decoder_lens/added": words(lens.added),
        "decoder_lens/removed": words(lens.removed),
    }


def _parts(
    translator: "Translator", translation: "Translation", options: argparse.Namespace
) -> Numbers:
    from ..logit_attribution import encoder_parts, logit_parts, word_parts

    words = translation.words_by_step
    if options.word is None:
        every = logit_parts(translator, translation)
        return _of_words([every[step] for step in words])
    if options.word not in range(1, len(words) + 1):
        choice = f"from words 1 to {len(words)}" if len(words) > 1 else "word 1"
        raise AnalysisError(
            f"The translation has no word {options.word}. Choose {choice}: "
            f"{' '.join(words.values())}"
        )
    parts = word_parts(translator, translation, list(words)[options.word - 1], options.foil)
    opened = encoder_parts(translator, parts)
    return _of_words([parts]) | {
        "parts/encoder_components": np.array([str(component) for component in opened.components]),
        "parts/encoder_values": opened.values[None],
    }


def _of_words(parts: "list[WordParts]") -> Numbers:
    """The parts of N words, each about the first token in which word and foil differ."""
    return {
        "parts/words": np.array([part.chosen_word.token for part in parts]),
        "parts/foils": np.array([part.foil_word.token for part in parts]),
        "parts/word_log_probabilities": np.array(
            [part.chosen_word.log_probability for part in parts]
        ),
        "parts/foil_log_probabilities": np.array(
            [part.foil_word.log_probability for part in parts]
        ),
        "parts/steps": np.array([part.step for part in parts]),
        "parts/tokens": np.array([part.chosen.token for part in parts]),
        "parts/foil_tokens": np.array([part.foil.token for part in parts]),
        "parts/difference": np.array([part.difference for part in parts]),
        "parts/components": np.array([str(component) for component in parts[0].components]),
        "parts/values": np.stack([part.values for part in parts]),
        "parts/remainder": np.array([part.remainder for part in parts]),
        "parts/keys": np.stack([part.keys for part in parts]),
        "parts/key_tokens": np.array(parts[0].translation.source_tokens),
    }


def query_key_numbers(
    translator: "Translator", translation: "Translation", head: "Head", query: int, key: int
) -> Numbers:
    """The parts of an attention score, alone and minus the mean over the visible keys; a note where
    there are none.
    """
    from ..query_key import query_key_parts

    try:
        row = query_key_parts(translator, translation, head, query)
        raw = row.of_cell(key, "none")
        centred = row.of_cell(key)
    except AnalysisError as error:
        print_note(f"No parts of the attention score: {display_text(error)}")
        return {}
    return {
        "query_key_parts/query_components": np.array(
            [str(component) for component in row.query_components]
        ),
        "query_key_parts/key_components": np.array(
            [str(component) for component in row.key_components]
        ),
        "query_key_parts/score": np.array(raw.total),
        "query_key_parts/products": raw.products,
        "query_key_parts/remainder": np.array(raw.remainder),
        "query_key_parts/score_minus_mean": np.array(centred.total),
        "query_key_parts/products_minus_mean": centred.products,
        "query_key_parts/remainder_minus_mean": np.array(centred.remainder),
    }
