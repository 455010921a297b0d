"""How sentences become token ids."""

from dataclasses import dataclass
from typing import Literal

from augenmerk.core.config.settings import (
    COUNT,
    Limits,
    Settings,
    require_language,
    require_language_code,
    setting,
)
from augenmerk.core.errors import ConfigError

Tokenization = Literal["spacy", "symbols", "marian", "joeynmt"]
LetterCase = Literal["keep", "lower", "sentence"]
MAX_SUBWORDS = 1_000_000
MAX_COPIED = 100_000_000
"""Symbols that the copy task draws for an epoch."""


_LANGUAGE = "a language code such as de or en"
_COPIED = Limits(2, 1_000_000)
"""A start symbol, and something to copy."""


@dataclass(frozen=True)
class DataConfig(Settings, owner="data"):
    """Settings that determine how text becomes ids."""

    tokenization: Tokenization = setting(
        "spacy",
        "tokenization",
        "How lines are split into words. spacy: by spaCy's rules for the language; symbols: at spaces (copy task); "
        "marian, joeynmt: by the tokenizer of an imported model.",
    )
    source_language: str = setting(
        "de",
        "source language",
        "Code of the source language, for spaCy's rules and the file suffixes of a corpus folder.",
        values=_LANGUAGE,
    )
    target_language: str = setting(
        "en",
        "target language",
        "Code of the target language, for spaCy's rules and the file suffixes of a corpus folder.",
        values=_LANGUAGE,
    )
    source_case: LetterCase = setting(
        "lower",
        "source case",
        "keep: unchanged; lower: lower-cased; sentence: only the first letter of the sentence is lower-cased, and "
        "restored on output.",
    )
    target_case: LetterCase = setting("lower", "target case", "The same for the target language.")
    keep_spaces: bool = setting(
        True,
        "keep spaces",
        "Whether white space that spaCy makes a token (a double space, a no-break space) counts as a word, as in the "
        "published systems.",
    )
    min_frequency: int = setting(
        2,
        "minimum frequency",
        "Words rarer than this in the training split become <unk> (word vocabularies only).",
        COUNT,
        unit="occurrences",
    )
    num_subwords: int | None = setting(
        None,
        "subwords",
        "Size of one joint BPE vocabulary over both languages. None: a vocabulary of whole words.",
        Limits(1, MAX_SUBWORDS),
    )
    wrap_source: bool = setting(True, "wrap source", "Whether the source is wrapped in <sos> … <eos> like the target.")
    end_source: bool = setting(
        False, "end source", "Whether the source ends with <eos> without being wrapped (imported models)."
    )
    max_length: int | None = setting(
        None,
        "longest sentence",
        "Training pairs with more tokens than this on either side are left out. None: all pairs are kept.",
        COUNT,
        unit="tokens",
    )
    copy_length: int = setting(
        10, "copy task: length", "Length of the sequences of the copy task.", _COPIED, unit="symbols"
    )
    copy_symbols: int = setting(10, "copy task: symbols", "The largest symbol of the copy task.", _COPIED)
    copy_training_pairs: int = setting(
        600, "copy task: training pairs", "Sequences drawn for each epoch of the copy task.", COUNT, unit="pairs"
    )
    copy_validation_pairs: int = setting(
        150, "copy task: validation pairs", "Sequences drawn once for validation.", COUNT, unit="pairs"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require = require_language_code if self.is_imported else require_language
        require("data", source_language=self.source_language, target_language=self.target_language)
        num_copied = (self.copy_training_pairs + self.copy_validation_pairs) * self.copy_length
        if num_copied > MAX_COPIED:
            raise ConfigError(
                f"data: copy_training_pairs, copy_validation_pairs and copy_length ask for {num_copied:,} symbols. "
                f"Lower one of them: at most {MAX_COPIED:,} symbols are possible."
            )

    @property
    def is_imported(self) -> bool:
        """Whether lines are cut by what came with an imported model, so that nothing of it is learned from a corpus."""
        return self.tokenization in ("marian", "joeynmt")
