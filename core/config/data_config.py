"""How sentences become token ids."""

from dataclasses import dataclass
from typing import Literal, get_args

from core.config.settings import (
    LARGEST_NUMBER,
    Settings,
    require_boolean,
    require_choice,
    require_integer,
    require_language,
    require_language_code,
)
from core.errors import ConfigError

Tokenization = Literal["spacy", "symbols", "marian", "joeynmt"]
LetterCase = Literal["keep", "lower", "sentence"]
MAX_SUBWORDS = 1_000_000
MAX_COPIED = 100_000_000
"""Symbols that the copy task draws for an epoch."""


@dataclass(frozen=True)
class DataConfig(Settings):
    """Settings that determine how text becomes ids.

    Attributes:
        tokenization: "spacy": spaCy's rules for the language; "symbols": split at spaces (copy task);
            "marian", "joeynmt": by what came with an imported model.
        source_language, target_language: their codes, for spaCy's rules and the file suffixes of a corpus folder.
        source_case, target_case: "keep"; "lower": lower-cased; "sentence": only the first letter of the sentence is
            lower-cased, and restored on output.
        keep_spaces: whether white space that spaCy cuts off as a token (a doubled space, a no-break space) counts as a
            word, as it did in the published systems.
        min_frequency: words rarer than this in the training split become `<unk>` (word vocabularies only).
        num_subwords: size of one joint BPE vocabulary over both languages; None for a vocabulary of whole words.
        wrap_source: whether the source is wrapped in `<sos> … <eos>` like the target.
        end_source: whether the source ends with `<eos>` though it is not wrapped (imported models).
        max_length: training pairs with more tokens than this on either side are left out; None keeps all.
        copy_length, copy_symbols: length of the sequences of the copy task and its largest symbol.
        copy_training_pairs, copy_validation_pairs: sequences drawn for each epoch, and once for validation.
    """

    tokenization: Tokenization = "spacy"
    source_language: str = "de"
    target_language: str = "en"
    source_case: LetterCase = "lower"
    target_case: LetterCase = "lower"
    keep_spaces: bool = True
    min_frequency: int = 2
    num_subwords: int | None = None
    wrap_source: bool = True
    end_source: bool = False
    max_length: int | None = None
    copy_length: int = 10
    copy_symbols: int = 10
    copy_training_pairs: int = 600
    copy_validation_pairs: int = 150

    def __post_init__(self) -> None:
        require_choice("data", get_args(Tokenization), tokenization=self.tokenization)
        require_choice(
            "data", ("keep", "lower", "sentence"), source_case=self.source_case, target_case=self.target_case
        )
        require = require_language_code if self.is_imported else require_language
        require("data", source_language=self.source_language, target_language=self.target_language)
        require_boolean("data", keep_spaces=self.keep_spaces, wrap_source=self.wrap_source, end_source=self.end_source)
        require_integer(
            "data",
            min_frequency=self.min_frequency,
            copy_training_pairs=self.copy_training_pairs,
            copy_validation_pairs=self.copy_validation_pairs,
        )
        for name in ("max_length", "num_subwords"):
            if (value := getattr(self, name)) is not None:
                most = MAX_SUBWORDS if name == "num_subwords" else LARGEST_NUMBER
                require_integer("data", maximum=most, **{name: value})
        # a start symbol, and something to copy
        require_integer(
            "data", minimum=2, maximum=1_000_000, copy_length=self.copy_length, copy_symbols=self.copy_symbols
        )
        num_copied = (self.copy_training_pairs + self.copy_validation_pairs) * self.copy_length
        if num_copied > MAX_COPIED:
            raise ConfigError(
                f"data: copy_training_pairs, copy_validation_pairs and copy_length ask for {num_copied:,} symbols; at "
                f"most {MAX_COPIED:,} were expected. Lower one of them."
            )

    @property
    def is_imported(self) -> bool:
        """Whether lines are cut by what came with an imported model, so that nothing of it is learned from a corpus."""
        return self.tokenization in ("marian", "joeynmt")
