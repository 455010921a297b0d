"""Sentences for the reader of a translation.

Pages that run a model print the same ones, so they are data. No torch.
"""

from collections.abc import Mapping

from .vocabulary import UNKNOWN

AS_UNKNOWN = f"read as an unknown word ({UNKNOWN})"
"""The fate of a word that the vocabulary does not know."""

PHRASES: Mapping[str, str] = {
    # notes on a source
    "line_breaks": "Line breaks were read as spaces.",
    "unreadable": "Left out, because this model has no such symbol: {words}.",
    "unknown": f"Unknown to the model, {AS_UNKNOWN}: {{words}}.",
    "partly_unknown": f"Unknown to the model in part, pieces read as {UNKNOWN}: {{words}}.",
    "copy_start": "Every list in the training data begins with {start}. Begin with {start}, or "
    "expect mistakes.",
    "no_readable_word": "This text has no word that the model can read. {expectation}",
    "no_words": "This text has no words, and the model learned to translate words.",
    "no_known_words": "The training data has none of these words.",
    "other_language": "This looks like {typed}. {expectation}",
    "more": "{words} and {count} more",
    "cut_word": "Only the beginning of the first word was translated: the model has room for "
    "{room} tokens. Left out: {text}",
    "cut_words": "Only the beginning was translated, {kept} of {count} words: the model has room "
    "for {room} tokens. Left out: {text}",
    "reads_up_to": "The model reads up to {room} tokens; the rest is left out.",
    # texts that cannot be translated; {text} and {word} stand in straight quotation marks
    "no_text": "There is nothing to translate: the text is empty. {expectation}",
    "many_words": "The text has more than {limit} words. Translate it sentence by sentence.",
    "long_text": "The text has more than {limit} characters. Shorten it, or translate it "
    "sentence by sentence.",
    "long_word": "The word that starts with {word} has more than {limit} characters. Insert "
    "spaces, or remove it.",
    "nothing": "Nothing in {text} can be read by this model. {expectation}",
    "too_little": "Too little in {text} can be read by this model. {expectation}",
    # interventions that do not fit
    "no_word": "Source word {place} cannot be changed (“{edit}”), because the number of words in "
    "{text} is {count}. Choose one of them, counted from {first}.",
    "nothing_left": "With these words removed, too little of {text} is left to read. Keep more words.",
    "no_room": "With these replacements the source has {count} tokens, and the model has room "
    "for {room}. Take shorter ones.",
    "no_replacement": "Nothing in the replacement {text} of source word {place} can be read by "
    "this model. Enter another word.",
    "row_misfit": "Row {row} of {head} has {count} weights. It needs one for each of the "
    "{needed} source tokens. Set the row again.",
    "no_forced_token": "The token {token} forced at step {step} is not in this model's "
    "vocabulary of {count} tokens. Choose another.",
    "forbidden_token": "The token {token} forced at step {step} can never be chosen: it never "
    "occurs in a translation. Choose another.",
    "no_forced_word": "The vocabulary of this model has no {text}. Choose a word of its "
    "language, or one of its {count} tokens.",
    "only_greedy": "This page only computes greedy translations.",
    "not_finite": "The model computes numbers that are infinite or undefined (NaN). Its weights, "
    "or changes to its heads, are too large. Use another copy of the model, or "
    "reset the changes.",
    "unread_link": "The link names {fields}, which this page cannot read. The rest of it is shown.",
    "still_shown": "The previous sentence is still shown.",
    "taken_back": "Not applied: {changes}.",
    "last_change": "the last change",
    # changes that are dropped or moved with others; a name ending in _1 is about one change
    "dropped_sentence": "Dropped with the sentence that they belong to: {changes}. Undo restores them.",
    "dropped_sentence_1": "Dropped with the sentence that it belongs to: {changes}. Undo restores it.",
    "dropped_source": "Dropped because the tokens of the source have changed: {changes}. Undo restores them.",
    "dropped_source_1": "Dropped because the tokens of the source have changed: {changes}. Undo restores it.",
    "dropped_tokens": "Dropped because their tokens are gone: {changes}. Undo restores them.",
    "dropped_tokens_1": "Dropped because its token is gone: {changes}. Undo restores it.",
    "moved_tokens": "Moved with their tokens: {changes}.",
    "moved_tokens_1": "Moved with its token: {changes}.",
    "moved_row": "{part} row {row} is now row {now}",
    "not_reached": "{change} (not reached)",
    "no_effect": "No effect: the translation ends before this step.",
    "same_words": "Same words as without these changes",
    # changes, as they are listed
    "change_removed": "word {place} removed",
    "change_replaced": "word {place} → {text}",
    "change_off": "{part} off",
    "change_scaled": "{part} scaled {factor}",
    "change_temperature": "{part} temperature {temperature}",
    "change_row": "{part} row {row} set",
    "change_forced": "step {step}: {token}",
    "change_forced_word": "steps {first}–{last}: {token}",
    "change_head": "{kind} {layer}·{head}",
    "change_network": "feed-forward {side} {layer}",
    "change_all": "all {kind}",
    "change_layer": "{kind} layer {layer}",
    "change_column": "{kind} head {head} in all layers",
    # notes on the end of a translation
    "cut_off": "The translation was cut off after {count} tokens: the model did not end it.",
    "ended": "The translation was ended at {count} tokens, the most that this model's settings allow.",
    "empty": "The translation is empty: the model ended it before its first word.",
    # words and the training data
    "once": "once",
    "times": "{count} times",
    "only": "only {times} in the training data",
    "at_most": "at most {times} in the training data",
    "never": "not in the training data",
    "rare_unknown": f"{{seen}}; {AS_UNKNOWN}",
    "rare_pieces": "{seen}; the model guesses from its pieces: {pieces}",
    "rare_guess": "{seen}; the model guesses",
    "respelled": "read as “{read_as}”: “{text}” is {seen}",
}
"""Texts by name, with values in braces."""


def counted_phrase(name: str, count: int, **values: object) -> str:
    """The sentence about one thing, or about several; empty if there are none."""
    return phrase(f"{name}_1" if count == 1 else name, **values) if count else ""


def phrase(name: str, **values: object) -> str:
    """A sentence with its values."""
    return PHRASES[name].format(**values)
