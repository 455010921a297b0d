"""Rank heads by word alignment on sentence pairs aligned by hand, or print the word links of one
sentence.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....cli.lines import print_note, print_notes, show_progress
from ....cli.options import (
    CHOOSE_TARGET,
    EXPERIMENT_HELP,
    add_beam,
    add_checkpoint,
    add_experiment,
    add_interventions,
    add_into,
    load_translator,
    parse_head,
    read_general,
    take_experiment,
)
from ....cli.outputs import LINKS, OutputFile
from ....cli.values import origin_values
from ....counting import display_text
from ....errors import ConfigError
from ....maps.left_out import left_out_words
from ....maps.measures import MEASURES
from ....maps.selection import LABEL_MODES
from ....plain_text import one_line
from ....quantities import counted, percent
from ....storage import check_writable, write_text
from ....text.languages import inner_code
from ....translation.experiment import General
from ....translation.experiment_file import part_to_json
from ...names_of_changes import names_of
from ..alignment import (
    IBM_1_NAME,
    GoldPair,
    Links,
    format_links,
    read_gold,
    read_ibm_1,
)
from ..samples import require_languages_of_sample
from .options import (
    CHANGES_OF_A_SENTENCE,
    OneOrTwo,
    check_target,
    check_without_sentence,
    read_experiment,
    read_text,
)

if TYPE_CHECKING:
    from ....translation.translator import Translator
    from ..alignment_ranking import Aligner, AlignerRanking, AlignerScore

NUM_SHOWN = 10
OF_A_SENTENCE = ("target", "head", "rows", "measure", *CHANGES_OF_A_SENTENCE)
"""Options without effect on the ranking."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `align`."""
    parser.epilog = (
        "The best combination of layer, head, row naming and measure is chosen by alignment "
        "error rate (Och & Ney 2003) on one half of the pairs. The reported rate is that on the "
        "other half."
    )
    parser.add_argument(
        "--text", help="link the words of this sentence; - reads it from standard input"
    )
    add_experiment(parser, EXPERIMENT_HELP)
    parser.add_argument(
        "--target", metavar="TEXT", help="link to this translation (default: the model's own)"
    )
    parser.add_argument(
        "--head",
        type=parse_head,
        metavar="HEAD",
        help="link by this head, such as cross:2:5 (default: the best aligner)",
    )
    parser.add_argument(
        "--rows",
        choices=LABEL_MODES,
        help="with --head: rows by token read or predicted (default: predicted)",
    )
    parser.add_argument(
        "--measure",
        choices=[name for name, measure in MEASURES.items() if "cross" in measure.per_head],
        help="with --head: the measure to link by (default: weight)",
    )
    add_interventions(parser)
    add_beam(parser)
    parser.add_argument(
        "--gold",
        type=Path,
        metavar="FILE",
        help="pairs aligned by hand (default: the shipped ones, German to English)",
    )
    parser.add_argument(
        "--ibm-1",
        nargs="+",
        action=OneOrTwo,
        type=Path,
        metavar="FILE",
        help="train IBM model 1 on these lines of source and target, or one file of pairs "
        "(default: its shipped links, trained on Multi30k)",
    )
    parser.add_argument(
        "--write-ibm-1",
        type=OutputFile(LINKS),
        metavar="FILE",
        help="with --ibm-1: write its links to this file",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print JSON, which counts layers, heads and words from 0",
    )
    add_checkpoint(parser)
    add_into(parser)


def run(options: argparse.Namespace) -> int:
    """Print the ranking or the links. Raises `AugenmerkError`."""
    check_target(options)
    if options.text is None and options.experiment is None:
        check_without_sentence(
            options, add_options, OF_A_SENTENCE, "A ranking cannot be combined with"
        )
    if options.head is None and (options.rows or options.measure):
        raise ConfigError("--rows and --measure need a head. Add --head, such as cross:2:5.")
    take_experiment(options)
    if options.write_ibm_1 is not None and options.ibm_1 is None:
        raise ConfigError(
            "--write-ibm-1 needs a training corpus. Add --ibm-1 with lines of source and target."
        )
    if options.head is not None and options.head.kind != "cross":
        raise ConfigError(
            f"--head {display_text(options.head)} cannot align words: only heads of "
            "cross-attention connect the two sentences. Choose one, such as cross:2:5."
        )
    if options.write_ibm_1 is not None:
        check_writable(options.write_ibm_1)
    translator = load_translator(options)
    if options.text is not None:
        _print_links(translator, options)
        return 0
    changes = read_general(options)
    ranking = _rank(translator, changes, options)
    if options.json:
        print(
            json.dumps(origin_values(translator) | _as_json(ranking, changes), ensure_ascii=False)
        )
    else:
        print(_as_table(ranking, names_of(changes, translator)))
    return 0


def _rank(
    translator: "Translator", changes: Sequence[General], options: argparse.Namespace
) -> "AlignerRanking":
    """The ranking. Prints the notes on its pairs to standard error."""
    from ..alignment_ranking import rank_aligners

    if options.gold is None:
        others = ", or a head for the links: --head" if options.text is not None else ""
        advice = f"Name a file of pairs in its languages, aligned by hand: --gold{others}."
        require_languages_of_sample(translator, advice, CHOOSE_TARGET, target_code=options.into)
    gold = read_gold(options.gold)
    baselines = _other_baselines(translator, gold, options)
    with show_progress(" pairs") as show:
        ranking = rank_aligners(
            translator,
            gold,
            baselines,
            changes=changes,
            target_code=options.into or "",
            on_progress=show,
        )
    for note in ranking.notes:
        print_note(note)
    return ranking


def _other_baselines(
    translator: "Translator", gold: tuple[GoldPair, ...], options: argparse.Namespace
) -> Mapping[str, Mapping[int, Links]]:
    """IBM model 1, trained now or as shipped; shipped links are only of shipped gold pairs."""
    if options.ibm_1 is None:
        return {} if options.gold else {IBM_1_NAME: read_ibm_1()}
    from ....text.tokenizers import SpacyTokenizer, rules_for
    from ...training.corpora.parallel import read_pair
    from ..alignment import train_ibm_1

    pairs = read_pair(*options.ibm_1)
    source, target = (SpacyTokenizer(rules_for(code)) for code in _languages(translator, options))
    model = train_ibm_1(list(source.pipe(pairs.source)), list(target.pipe(pairs.target)))
    links_by_line = {pair.line: model.links(pair.source, pair.target) for pair in gold}
    if options.write_ibm_1 is not None:
        rows = [f"{line}\t{format_links(links)}\n" for line, links in links_by_line.items()]
        write_text(options.write_ibm_1, "".join(["line\tlinks\n", *rows]))
    return {IBM_1_NAME: links_by_line}


def _languages(translator: "Translator", options: argparse.Namespace) -> tuple[str, str]:
    """The codes of source and target."""
    data = translator.run_config.data
    return data.source_language, data.target_language if options.into is None else inner_code(
        options.into
    )


def _as_table(ranking: "AlignerRanking", changes: str) -> str:
    lines = [
        f"Alignment error rate, in percent, of {counted(len(ranking.scores), 'aligner')}: chosen "
        f"on {counted(ranking.num_choosing, 'pair')}, reported on "
        f"{counted(ranking.num_reporting, 'other')}."
        + (f" Changed: {changes}." if changes else "")
        + (
            f" {counted(ranking.num_skipped, 'pair')} could not be read."
            if ranking.num_skipped
            else ""
        ),
        f"{'chosen':>7}  {'reported':>8}  {'precision':>9}  {'recall':>6}",
        *map(_row, ranking.scores[:NUM_SHOWN]),
        "baselines",
        *map(_row, ranking.baselines),
    ]
    return "\n".join(lines)


def _row(score: "AlignerScore") -> str:
    reporting = score.reporting
    return (
        f"{100 * score.choosing.aer:7.1f}  {100 * reporting.aer:8.1f}  "
        f"{100 * reporting.precision:9.1f}  {100 * reporting.recall:6.1f}  "
        f"{display_text(score.name)}"
    )


def _as_json(ranking: "AlignerRanking", changes: Sequence[General]) -> dict[str, Any]:
    return {
        "interventions": [part_to_json(change) for change in changes],
        "pairs_choosing": ranking.num_choosing,
        "pairs_reporting": ranking.num_reporting,
        "pairs_skipped": ranking.num_skipped,
        "notes": ranking.notes,
        "aligners": list(map(_score_as_json, ranking.scores)),
        "baselines": list(map(_score_as_json, ranking.baselines)),
    }


def _aligner_as_json(aligner: "Aligner") -> dict[str, Any]:
    """The aligner as JSON: layer and head counted from 0, null for a mean."""
    return {
        "kind": aligner.kind,
        "layer": aligner.layer,
        "head": aligner.head,
        "rows": aligner.label_mode,
        "measure": aligner.measure,
    }


def _score_as_json(score: "AlignerScore") -> dict[str, Any]:
    halves = {
        half: {name: round(getattr(part, name), 6) for name in ("aer", "precision", "recall")}
        for half, part in (("choosing", score.choosing), ("reporting", score.reporting))
    }
    return (
        {"name": score.name} if score.aligner is None else _aligner_as_json(score.aligner)
    ) | halves


def _print_links(translator: "Translator", options: argparse.Namespace) -> None:
    """Print each word of the translation with the source word linked to it."""
    from ..alignment_ranking import Aligner, align

    experiment = read_experiment(
        options, read_text(options.text), translator.checkpoint.codecs.target
    )
    translation = translator.run(experiment)
    print_notes([translation], left_out=left_out_words(translator, translation))
    if options.head is not None:
        aligner = Aligner(
            options.head.layer,
            options.head.head,
            options.rows or "predicted",
            options.measure or "weight",
        )
    else:
        best = _rank(translator, experiment.general, options).best
        assert best is not None  # not cancelled
        assert best.aligner is not None
        aligner = best.aligner
    links = align(translator, translation, aligner)
    if options.json:
        values = origin_values(translator) | {
            "output": part_to_json(experiment.output),
            "interventions": [
                part_to_json(intervention) for intervention in experiment.interventions
            ],
            "source": [word.text for word in translation.source_words],
            "target": [word.text for word in translation.target_words],
            "notes": translation.all_notes,
            "aligner": _aligner_as_json(aligner),
            "links": [
                {"source": link.source, "target": link.target, "share": round(link.share, 6)}
                for link in links
            ],
        }
        print(json.dumps(values, ensure_ascii=False))
        return
    width = max((len(word.text) for word in translation.target_words), default=0)
    print(display_text(aligner))
    for link in links:
        source = translation.source_words[link.source].text
        target = translation.target_words[link.target].text
        print(one_line(f"{target:{width}}  {source}  ({percent(link.share)})"))
