"""Leaving source words out, or putting another in their place, and reading what becomes of the translation.

Shape legend: `core.analysis`; besides, B changed sentences that are read side by side.
"""

from collections.abc import Callable, Collection, Sequence

import torch
from torch import Tensor

from core.analysis.probes import SourceProbes, WordProbe, changed_words
from core.corpora.batches import pad
from core.errors import AnalysisError
from core.model.gates import heads_off
from core.model.heads import Head
from core.translation.decoding import greedy_from
from core.translation.result import Translation, TranslationStoppedError
from core.translation.source import without_marks
from core.translation.translator import Translator

UNKNOWN = "<unk>"
"""As a replacement: the token for words that the vocabulary does not have. A model of subwords never met it while it
learned, so that its answer says less."""
BATCH_SIZE = 8


def probe_source_words(
    translator: Translator,
    text: str,
    *,
    replacement: str | None = None,
    places: Collection[int] | None = None,
    translation: Translation | None = None,
    off: Collection[Head] = (),
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> SourceProbes:
    """Changes one source word at a time, and translates greedily. Not while another thread uses the model.

    The ids of all other words stay as they are, so that nothing else changes with the one.

    Args:
        translator: whose model is asked.
        text: German.
        replacement: what is put in the word's place: a word, or `UNKNOWN`; None to leave the word out.
        places: which of the translation's `source_words`; None for all.
        translation: of this text by this model, its own or a given one, if it is there already.
        off: heads that are switched off for all of it.
        on_progress: told how many words are done, of how many.
        should_stop: asked before each decoding step; what is done by then is returned.

    Raises:
        TextError: the text cannot be translated.
        AnalysisError: there is no such word or head, the replacement cannot be read, or nothing would be left.
    """
    old = translator.translate(text, off=off) if translation is None else translation
    wanted = _checked_places(old, places)
    replacement_ids = _ids_of(translator, replacement)
    changed = [_changed_ids(translator, old, place, replacement_ids) for place in wanted]
    probes: list[WordProbe] = []
    on_progress(0, len(wanted))
    with torch.inference_mode(), heads_off(translator.model, off):
        for first in range(0, len(wanted), BATCH_SIZE):
            group = slice(first, first + BATCH_SIZE)
            try:
                probes += _probe_group(translator, old, wanted[group], changed[group], replacement, should_stop)
            except TranslationStoppedError:
                break
            on_progress(len(probes), len(wanted))
    return SourceProbes(old, tuple(probes), is_complete=len(probes) == len(wanted))


def _checked_places(translation: Translation, places: Collection[int] | None) -> list[int]:
    count = len(translation.source_words)
    wanted = sorted(range(count) if places is None else set(places))
    if not wanted or any(place not in range(count) for place in wanted):
        raise AnalysisError(
            f"The source words {wanted} were asked for. At least one from 0 to {count - 1} was expected; choose from "
            "these."
        )
    return wanted


def _ids_of(translator: Translator, replacement: str | None) -> tuple[int, ...]:
    """What is put in a word's place."""
    codec = translator.checkpoint.codecs.source
    if replacement is None:
        return ()
    if replacement == UNKNOWN:
        if codec.vocabulary.unknown_id is None:
            raise AnalysisError(f"This model has no {UNKNOWN}. One of its symbols was expected; name one.")
        return (codec.vocabulary.unknown_id,)
    ids = [token for word in codec.encode_text(replacement) for token in without_marks(word, codec).ids]
    if not ids:
        raise AnalysisError(
            f"Nothing in the replacement {replacement!r} can be read by this model. A word was expected; type one."
        )
    return tuple(ids)


def _changed_ids(translator: Translator, old: Translation, place: int, ids: Sequence[int]) -> tuple[int, ...]:
    word = old.source_words[place]
    changed = (*old.source_ids[: word.start], *ids, *old.source_ids[word.end :])
    if not changed:
        raise AnalysisError(f"Without {word.text!r} nothing is left to read. A sentence of two words was expected.")
    if len(changed) > translator.run.model.max_positions:
        raise AnalysisError(
            f"With this in the place of {word.text!r} the sentence has {len(changed)} tokens, and the model has room "
            f"for {translator.run.model.max_positions}. Take a shorter one."
        )
    return changed


def _probe_group(
    translator: Translator,
    old: Translation,
    places: Sequence[int],
    sources: Sequence[tuple[int, ...]],
    replacement: str | None,
    should_stop: Callable[[], bool],
) -> list[WordProbe]:
    model = translator.model
    encoding = model.encode(pad(sources, model.padding_id).to(translator.device.name))
    limits = [translator.max_steps(len(ids)) for ids in sources]
    chosen = greedy_from(model, encoding, limits, translator.rules, should_stop)
    read = torch.tensor([old.read_ids], device=translator.device.name).expand(len(sources), -1)
    logits = model.decode(encoding, read).logits
    old_words = [word.text for word in old.target_words]
    probes = []
    for row, place in enumerate(places):
        target = translator.chosen_target(chosen[row], limits[row])
        words = tuple(word.text for word in target.words)
        gone, new = changed_words(old_words, words)
        log_probabilities = _of_tokens(logits[row], old.predicted_ids)
        probes.append(
            WordProbe(place, old.source_words[place], replacement, target.text, words, gone, new, log_probabilities)
        )
    return probes


def _of_tokens(logits: Tensor, ids: Sequence[int]) -> tuple[float, ...]:
    """Natural logs of the probabilities of one token of each row of [T, V]."""
    chosen = torch.tensor(ids, device=logits.device)
    return tuple(logits.float().log_softmax(dim=-1).gather(1, chosen[:, None])[:, 0].tolist())
