"""Word alignment: links, error rates, gold pairs aligned by hand, and two baselines. No torch.

A link is (source word, target word), counted from 0; in files from 1. Gold links are sure (S) or
possible (P, which includes S). Source: Och & Ney 2003, "A Systematic Comparison of Various
Statistical Alignment Models", section 6. Guidelines of the gold pairs:
`docs/alignment-guidelines.md`.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...arguments import CheckedFields, checks_arguments
from ...errors import AnalysisError
from ...plain_text import EncodingError
from ...quantities import counted
from ...resources import resource_path
from ...storage import read_text, reason_of
from ...strict_json import MAX_DIGITS
from .samples import SAMPLE_LANGUAGES, require_translations

Link = tuple[int, int]
Links = frozenset[Link]

GOLD_FILE = "alignments/val.tsv"
IBM_1_NAME = "IBM model 1"
IBM_1_FILE = "alignments/val.ibm1.tsv"
"""Name of an IBM model 1 trained on the training split."""
GOLD_COLUMNS = ("line", "source", "target", "links")
_MAX_BYTES = 5_000_000
"""25,000 pairs with links."""
_LINK = re.compile(r"([1-9][0-9]{0,3})([-?])([1-9][0-9]{0,3})")


@dataclass(frozen=True)
class GoldPair(CheckedFields):
    """A sentence pair linked by hand.

    Attributes:
        line: its line in the corpus, counted from 1.
        source: source words as tokenized by spaCy, in their own case.
        target: target words, likewise.
        sure: the sure links.
        possible: the possible links, which include the sure ones.
        languages: codes of source and target, if they are known: those of the shipped pairs are.
    """

    line: int
    source: tuple[str, ...]
    target: tuple[str, ...]
    sure: Links
    possible: Links
    languages: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("sure", "possible"):
            object.__setattr__(
                self,
                name,
                frozenset((int(source), int(target)) for source, target in getattr(self, name)),
            )
        for source, target in sorted(self.sure | self.possible):
            if source not in range(len(self.source)) or target not in range(len(self.target)):
                raise AnalysisError(
                    "The link ({source}, {target}) leads out of the sentences of line {line}, "
                    "which have {num_source} and {num_target} words. Correct it.",
                    source=source,
                    target=target,
                    line=self.line,
                    num_source=len(self.source),
                    num_target=len(self.target),
                )
        if not self.sure <= self.possible:
            raise AnalysisError(
                f"A sure link of line {self.line} is not possible. Add all sure links to "
                "`possible`."
            )

    @property
    def source_text(self) -> str:
        """The source words joined by spaces."""
        return " ".join(self.source)

    @property
    def target_text(self) -> str:
        """The target words joined by spaces."""
        return " ".join(self.target)


@dataclass(frozen=True)
class AlignmentScore:
    """The match of links with gold links, for one pair or several; `+` adds pairs.

    Attributes:
        num_links: links of the hypothesis, |A|.
        num_sure: sure links of the gold, |S|.
        sure_found: links that are sure, |A ∩ S|.
        possible_found: links that are at least possible, |A ∩ P|.
    """

    num_links: int = 0
    num_sure: int = 0
    sure_found: int = 0
    possible_found: int = 0

    def __add__(self, other: "AlignmentScore") -> "AlignmentScore":
        return AlignmentScore(
            self.num_links + other.num_links,
            self.num_sure + other.num_sure,
            self.sure_found + other.sure_found,
            self.possible_found + other.possible_found,
        )

    @property
    def aer(self) -> float:
        """Alignment error rate, 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|), from 0 (best) to 1; 0 if
        there is no link.
        """
        compared = self.num_links + self.num_sure
        return 1 - (self.sure_found + self.possible_found) / compared if compared else 0.0

    @property
    def precision(self) -> float:
        """|A ∩ P| / |A|; 1 if the hypothesis has no link."""
        return self.possible_found / self.num_links if self.num_links else 1.0

    @property
    def recall(self) -> float:
        """|A ∩ S| / |S|; 1 if the gold has no sure link."""
        return self.sure_found / self.num_sure if self.num_sure else 1.0


def score_links(
    hypothesis: Collection[Link], sure: Collection[Link], possible: Collection[Link]
) -> AlignmentScore:
    """Compare the links of one pair with its gold links. Sure links also count as possible."""
    links, sure_links = frozenset(hypothesis), frozenset(sure)
    possible_links = sure_links | frozenset(possible)
    return AlignmentScore(
        len(links), len(sure_links), len(links & sure_links), len(links & possible_links)
    )


def diagonal_links(num_source: int, num_target: int) -> Links:
    """A baseline without a model: each target word linked to the source word at the same relative
    position.
    """
    return frozenset(
        (diagonal_place(target, num_source, num_target), target) for target in range(num_target)
    )


def diagonal_place(target: int, num_source: int, num_target: int) -> int:
    """The source position of target word j: j (S − 1) / (T − 1), rounded to the nearest, halves
    up.
    """
    return int(target * (num_source - 1) / max(1, num_target - 1) + 0.5)


@checks_arguments
def read_gold(path: Path | str | None = None) -> tuple[GoldPair, ...]:
    """The gold pairs of a file, by default the shipped ones.

    The file is UTF-8 with tabs: a heading, then for each pair its line in the corpus, the words of
    both sides separated by spaces, and links such as `1-1 2-2 3?4`: `-` sure, `?` possible.

    Raises:
        AnalysisError: the file is missing, cannot be read, or is damaged.
    """
    chosen = resource_path(GOLD_FILE) if path is None else Path(path)
    languages = SAMPLE_LANGUAGES if path is None else None
    pairs = tuple(_gold_pair(chosen, *row, languages) for row in _rows(chosen, GOLD_COLUMNS))
    if not pairs:
        raise AnalysisError(
            f"{chosen} contains no sentence pair. Add at least one below the heading."
        )
    return pairs


def read_ibm_1(path: Path | str | None = None) -> dict[int, Links]:
    """The links of IBM model 1 by line of the corpus, by default the shipped ones.

    Raises:
        AnalysisError: the file is missing, cannot be read, or is damaged.
    """
    chosen = resource_path(IBM_1_FILE) if path is None else Path(path)
    links_by_line = {}
    for row, (line, links) in _rows(chosen, ("line", "links")):
        sure, _ = parse_links(links, f"{chosen}, line {row}")
        links_by_line[_line_number(chosen, row, line)] = sure
    return links_by_line


def parse_links(text: str, where: str) -> tuple[Links, Links]:
    """The sure links and the possible ones (sure ones among them) of a line such as `1-1 2-2 3?4`.

    Raises:
        AnalysisError: it has another form, or links a pair of words twice; the message contains
            `where`.
    """
    sure, possible = set(), set()
    for part in text.split():
        match = _LINK.fullmatch(part)
        if match is None:
            raise AnalysisError(
                f"{where}: {part!r} is not a link. Write links as 3-4 (sure) or 3?4 (possible), "
                "with words counted from 1."
            )
        link = int(match[1]) - 1, int(match[3]) - 1
        if link in possible:
            raise AnalysisError(
                f"{where}: words {match[1]} and {match[3]} are linked twice. Remove one of the two."
            )
        possible.add(link)
        if match[2] == "-":
            sure.add(link)
    return frozenset(sure), frozenset(possible)


def format_links(sure: Collection[Link], possible: Collection[Link] = ()) -> str:
    """The line that `parse_links` reads, in the order of the words."""
    certain = frozenset(sure)
    return " ".join(
        f"{source + 1}{'-' if (source, target) in certain else '?'}{target + 1}"
        for source, target in sorted(certain | frozenset(possible))
    )


def _gold_pair(
    path: Path, row: int, columns: tuple[str, ...], languages: tuple[str, str] | None
) -> GoldPair:
    line, source_words, target_words, links = columns
    source, target = tuple(source_words.split()), tuple(target_words.split())
    if not source or not target:
        raise AnalysisError(f"{path}, line {row}: a sentence is empty. Add words on both sides.")
    sure, possible = parse_links(links, f"{path}, line {row}")
    for source_index, target_index in sorted(possible):
        if source_index >= len(source) or target_index >= len(target):
            raise AnalysisError(
                f"{path}, line {row}: the link {source_index + 1}-{target_index + 1} leads out "
                f"of the sentences, which have {len(source)} and {counted(len(target), 'word')}. "
                "Correct the file."
            )
    return GoldPair(_line_number(path, row, line), source, target, sure, possible, languages)


def _line_number(path: Path, row: int, text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS and int(text)):
        raise AnalysisError(
            f"{path}, line {row}: {text!r} is not a line number. Write a number from 1."
        )
    return int(text)


def _rows(path: Path, heading: tuple[str, ...]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The rows below the heading with their line numbers in the file."""
    try:
        lines = read_text(path, _MAX_BYTES).splitlines()
    except (OSError, EncodingError) as error:
        raise AnalysisError(
            f"Cannot read the alignments in {path}: {reason_of(error)}. Use a text file with the "
            f"columns {', '.join(heading)}, separated by tabs."
        ) from error
    for row, line in enumerate(lines, start=1):
        columns = tuple(line.split("\t"))
        # those between are names of languages
        is_heading = (columns[0], columns[-1]) == (heading[0], heading[-1])
        if (row == 1 and not is_heading) or len(columns) != len(heading):
            raise AnalysisError(
                f"{path}, line {row}: found {counted(len(columns), 'column')} starting with "
                f"{line[:40]!r}. Write the columns {', '.join(heading)}, separated by tabs."
            )
        if row > 1:
            yield row, columns


NUM_ITERATIONS = 5
_EMPTY = 0
"""The id of the empty word, which precedes the words of every source sentence."""

Ids = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class IbmModel1:
    """A trained IBM model 1: word alignment learned from sentence pairs alone.

    A target word is drawn from one source word of its sentence or from none (the empty word), each
    as likely as the other, with probability t(target | source). Words are lower-cased. Source:
    Brown et al. 1993, "The Mathematics of Statistical Machine Translation", sections 4.2 and 4.4.

    Attributes:
        source_ids: numbers of the source words, lower-cased, from 1.
        target_ids: numbers of the target words, lower-cased.
        keys: [N], sorted: source id × number of target words + target id, for all words that met in
            a sentence pair.
        probabilities: [N], t(target | source) of these.
        log_likelihoods: before each iteration, the natural log of the probability of all target
            sentences, up to a constant.
    """

    source_ids: dict[str, int]
    target_ids: dict[str, int]
    keys: Ids
    probabilities: NDArray[np.float64]
    log_likelihoods: tuple[float, ...]

    def probability(self, source: str | None, target: str) -> float:
        """t(target | source), with None for the empty word; 0 for words that never occur
        together.
        """
        source_id = _EMPTY if source is None else self.source_ids.get(source.lower(), -1)
        return float(
            self._probabilities(
                np.array([source_id]), np.array([self.target_ids.get(target.lower(), -1)])
            )[0]
        )

    def links(self, source: Sequence[str], target: Sequence[str]) -> Links:
        """One link per target word, to the source word with the largest t.

        Among equal ones, the most diagonal is chosen. The empty word is excluded, like start and
        end tokens in links from a map.
        """
        links = set()
        sources = np.array([self.source_ids.get(word.lower(), -1) for word in source])
        for target_index, word in enumerate(target):
            target_id = np.full(len(source), self.target_ids.get(word.lower(), -1))
            values = self._probabilities(sources, target_id)
            distance = np.abs(
                np.arange(len(source)) - diagonal_place(target_index, len(source), len(target))
            )
            links.add((int(np.lexsort((distance, -values))[0]), target_index))
        return frozenset(links)

    def _probabilities(self, sources: Ids, targets: Ids) -> NDArray[np.float64]:
        pair_keys = sources * len(self.target_ids) + targets
        places = np.searchsorted(self.keys, pair_keys).clip(max=len(self.keys) - 1)
        known = (self.keys[places] == pair_keys) & (sources >= 0) & (targets >= 0)
        return np.where(known, self.probabilities[places], 0.0)


def train_ibm_1(
    sources: Sequence[Sequence[str]],
    targets: Sequence[Sequence[str]],
    num_iterations: int = NUM_ITERATIONS,
) -> IbmModel1:
    """Train by EM from equal probabilities; a few seconds for Multi30k's 29,000 pairs.

    Args:
        sources, targets: words of each side, pair by pair; pairs with an empty side are skipped.
        num_iterations: number of EM iterations.

    Raises:
        AnalysisError: the sides differ in length, or no pair is left.
    """
    require_translations(sources, targets)
    pairs = [
        (source, target)
        for source, target in zip(sources, targets, strict=True)
        if len(source) and len(target)
    ]
    if not pairs:
        raise AnalysisError("Learning an alignment needs at least one sentence pair.")
    source_ids: dict[str, int] = {}
    target_ids: dict[str, int] = {}
    source_rows = [
        [source_ids.setdefault(word.lower(), len(source_ids) + 1) for word in pair[0]]
        for pair in pairs
    ]
    target_rows = [
        [target_ids.setdefault(word.lower(), len(target_ids)) for word in pair[1]] for pair in pairs
    ]
    cell_sources, cell_targets, row_starts = _cells(source_rows, target_rows)
    keys, cell_keys = np.unique(cell_sources * len(target_ids) + cell_targets, return_inverse=True)
    key_sources = keys // len(target_ids)
    row_sizes = np.diff(np.append(row_starts, len(cell_keys)))
    probabilities = np.full(len(keys), 1 / len(target_ids))
    log_likelihoods = []
    for _ in range(num_iterations):
        values = probabilities[cell_keys]
        sums = np.add.reduceat(values, row_starts)
        log_likelihoods.append(float(np.log(sums).sum()))
        expected = np.bincount(cell_keys, values / np.repeat(sums, row_sizes))
        probabilities = expected / np.bincount(key_sources, expected)[key_sources]
    return IbmModel1(source_ids, target_ids, keys, probabilities, tuple(log_likelihoods))


def _cells(source_rows: list[list[int]], target_rows: list[list[int]]) -> tuple[Ids, Ids, Ids]:
    """One cell for each target word and each source word of its sentence, the empty word included.

    Returns:
        Source ids and target ids of all cells, a target word's cells side by side, and where each
            target word's begin.
    """
    cell_sources = [
        np.tile(np.array([_EMPTY, *row]), len(other))
        for row, other in zip(source_rows, target_rows, strict=True)
    ]
    cell_targets = [
        np.repeat(np.array(row), len(other) + 1)
        for row, other in zip(target_rows, source_rows, strict=True)
    ]
    sizes = np.concatenate(
        [
            np.full(len(row), len(other) + 1)
            for row, other in zip(target_rows, source_rows, strict=True)
        ]
    )
    return np.concatenate(cell_sources), np.concatenate(cell_targets), np.cumsum(sizes) - sizes
