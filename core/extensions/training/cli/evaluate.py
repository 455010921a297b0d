"""Compute BLEU, chrF and loss of a model on sentences and their translations, or compare two."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ....cli.lines import print_note, show_progress
from ....cli.options import (
    add_beam,
    add_checkpoint,
    add_experiment,
    add_general,
    add_into,
    into_language,
    load_translator,
    read_beam,
    read_general,
    take_experiment,
)
from ....cli.outputs import TEXT, OutputFile
from ....cli.values import origin_values
from ....counting import CountedText, display_text
from ....storage import check_writable, write_text
from ....translation.experiment import Beam, Experiment, Greedy
from ....translation.experiment_file import part_to_json
from ....translation.notes import Note
from ...names_of_changes import names_of
from ...note_summaries import sentences_by_kind, share_of, summaries
from ...provenance import save_beside_table
from .comparison import add_comparison, check_comparison, run_comparison

if TYPE_CHECKING:
    from ....translation.running import Hypothesis
    from ....translation.translator import Translator
    from ..evaluation import CorpusLoss
    from ..scores import CorpusScores


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `evaluate`."""
    parser.add_argument(
        "--source",
        type=Path,
        required=True,
        metavar="FILE",
        help="source lines, plain or .gz; without --reference: pairs, in columns separated by a "
        "tab or JSON lines",
    )
    parser.add_argument(
        "--reference", type=Path, metavar="FILE", help="the translations of --source"
    )
    parser.add_argument("--json", action="store_true", help="print the scores as JSON")
    parser.add_argument(
        "--hypotheses",
        type=OutputFile(TEXT),
        metavar="FILE",
        help="write the translations here, one per line, and their origin to a JSON file next to it",
    )
    add_comparison(parser)
    add_experiment(
        parser,
        "use the decoding and the changes of this file, which must fit every sentence: to heads "
        "and networks. Options override what they change in it",
    )
    add_general(parser)
    add_beam(parser)
    add_checkpoint(parser)
    add_into(parser)


def run(options: argparse.Namespace) -> int:
    """Translate, score and print. Raises `AugenmerkError`."""
    if check_comparison(options):
        return run_comparison(options)
    from ..corpora.parallel import read_line_pairs

    take_experiment(options)
    read_beam(options)  # fails before anything is loaded
    if options.hypotheses:
        check_writable(options.hypotheses)
    translator = load_translator(options)
    sources, references = read_line_pairs(
        options.source, options.reference, languages=translator.run_config.data.languages
    )
    sources = [into_language(options, source) for source in sources]
    changes = read_general(options)
    beam, length_penalty = read_beam(options)
    from ..evaluation import evaluate, reference_loss  # torch is imported by now

    with show_progress(" sentences") as show:
        scores, hypotheses = evaluate(
            translator,
            sources,
            references,
            lambda done: show(done, len(sources)),
            beam=beam,
            length_penalty=length_penalty,
            changes=changes,
        )
    loss, too_long = reference_loss(translator, sources, references, changes)
    output = Beam(beam, length_penalty) if beam > 1 else Greedy()
    experiments = [Experiment(source, output, changes) for source in sources]
    notes = _notes(translator, experiments, hypotheses)
    without_reference = [
        index for index, reference in enumerate(references) if not reference.strip()
    ]
    origin = {
        **origin_values(translator),
        "into": options.into,
        "beam": beam,
        "length_penalty": length_penalty,
        "interventions": [part_to_json(change) for change in changes],
    }
    if options.json:
        values = {
            **origin,
            **asdict(scores),
            "warnings": scores.warnings,
            "loss": None if loss is None else asdict(loss),
            "empty_references": without_reference,
            "too_long_pairs": too_long,
            "notes": sentences_by_kind(notes),
        }
        print(json.dumps(values, indent=2))
    else:
        decoding = f"beam {beam}, length penalty {length_penalty:g}" if beam > 1 else "greedy"
        _print(scores, loss, decoding, names_of(changes, translator))
    texts = [
        *summaries(notes),
        *_notes_on_loss(without_reference, too_long, len(references)),
        *scores.warnings,
    ]
    for text in texts:
        if options.json:
            print_note(text)
        else:
            print(f"note: {display_text(text)}")  # part of the report
    if options.hypotheses:  # last, so that a failure does not cost the scores
        save_beside_table(origin, options.hypotheses)
        write_text(options.hypotheses, "".join(f"{hypothesis.text}\n" for hypothesis in hypotheses))
    return 0


def _notes(
    translator: "Translator", experiments: Sequence[Experiment], hypotheses: "Sequence[Hypothesis]"
) -> list[tuple[Note, ...]]:
    """For each sentence, the notes on its translation and on the words that it leaves out."""
    from ..evaluation import notes_on_left_out_words

    with show_progress(" sentences") as show:
        left_out = notes_on_left_out_words(translator, experiments, on_progress=show)
    return [(*hypothesis.notes, *own) for hypothesis, own in zip(hypotheses, left_out, strict=True)]


def _notes_on_loss(
    without_reference: Sequence[int], too_long: Sequence[int], num_pairs: int
) -> list[CountedText]:
    """Notes on the pairs that do not count in the loss."""
    texts = []
    if without_reference:
        problem = "empty and left out of the loss"
        texts.append(share_of("references", without_reference, num_pairs, problem))
    if too_long:
        problem = "too long for the model and left out of the loss"
        texts.append(share_of("pairs", too_long, num_pairs, problem))
    return texts


def _print(scores: "CorpusScores", loss: "CorpusLoss | None", decoding: str, changes: str) -> None:
    def interval(ends: tuple[float, float]) -> str:
        return f"{ends[0]:.2f} to {ends[1]:.2f}"

    print(f"sentences                            {scores.sentences}")
    print(f"decoding                             {decoding}")
    if changes:
        print(f"changed                              {changes}")
    print(f"BLEU, spaCy tokens, lower-cased      {scores.bleu_tokenized_lowercased:.2f}")
    print(
        "  95% bootstrap interval             "
        f"{interval(scores.bleu_tokenized_lowercased_interval)}"
    )
    print(
        f"sacreBLEU, cased, detokenized        {scores.sacrebleu:.2f}   "
        f"{scores.sacrebleu_signature}"
    )
    print(f"  95% bootstrap interval             {interval(scores.sacrebleu_interval)}")
    print(f"chrF                                 {scores.chrf:.2f}")
    print(f"  95% bootstrap interval             {interval(scores.chrf_interval)}")
    if loss is None:
        print("loss of the references, per token    –   no pair can be counted")
    else:
        print(
            f"loss of the references, per token    {loss.token_weighted:.3f}   perplexity "
            f"{loss.perplexity:.2f}"
        )
        print(f"  mean of batch means                {loss.batch_mean:.3f}   as in pytorch-seq2seq")
        if loss.num_sentences < scores.sentences:
            print(f"  sentences counted                  {loss.num_sentences}")
    print(f"seconds                              {scores.seconds:.1f}")
