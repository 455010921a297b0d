"""Check what texts claim about the bundled model: `make claims`, or `python -m tools.claims`.

Chapters, gallery, lessons, model card, its notebook, README: each line is one claim, with where it
stands, what it says, and what the model does today. Those of examples and lessons are found in the
files themselves, the others are listed here beside the words of the text that make them: where
these words are no longer in the text, the claim does not hold either.

    python -m tools.claims --scores FOLDER  also scores; Multi30k is in FOLDER; takes minutes

The exit status is 1 if one does not hold. The first steps and most of the chapters say nothing of
their own: their numbers are computed when they are shown.
"""

import argparse
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from augenmerk.core.config import ModelConfig
from augenmerk.core.counting import display_text
from augenmerk.core.extensions.analyses.decoder_lens import decoder_lens
from augenmerk.core.extensions.analyses.logit_attribution import logit_parts, measure_parts
from augenmerk.core.extensions.analyses.logit_lens import Depth, logits_by_depth
from augenmerk.core.extensions.analyses.parts import Component, Origin
from augenmerk.core.extensions.analyses.parts_of_words import WordParts
from augenmerk.core.extensions.info.size import Module, size_rows, total
from augenmerk.core.extensions.lessons.lesson_file import Scene, read_lesson_file
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training.corpora.parallel import read_lines, read_pair
from augenmerk.core.extensions.training.evaluation import evaluate
from augenmerk.core.extensions.training.schedules import rates_of_run
from augenmerk.core.maps.roles import POSITION_SHARE, read_sample_roles
from augenmerk.core.model.heads import ATTENTION_KINDS, Head, Network, heads_of
from augenmerk.core.quantities import percent
from augenmerk.core.resources import bundled_model_path, example_sentences, resource_path
from augenmerk.core.translation.experiment import (
    Beam,
    Experiment,
    FeedForwardScaled,
    GivenTarget,
    Greedy,
    HeadScaled,
)
from augenmerk.core.translation.result import ExperimentResult, Translation
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.extensions.examples.gallery import gallery
from augenmerk.viz_app.extensions.learn.chapter import Chapter, read_chapters
from augenmerk.viz_app.extensions.learn.job import HeadPointsJob, NetworksOffJob
from augenmerk.viz_app.extensions.learn.sentence import FIRST_EXAMPLE
from tools.check_gallery import weights_of

README = Path(__file__).resolve().parent.parent / "README.md"
CARD = "MODEL_CARD.md"
NOTEBOOK = README.with_name("docs") / "model-notebook.md"
MIN_WEIGHT = 0.6
"""Minimum weight of the cell that an example pins, so that it is visible."""
GUITAR = "Der alte Mann, der am Fenster sitzt, spielt Gitarre."
STREET_BAND = "Drei Männer spielen in einer Straßenband."
SHIRT = "Ein Mann trägt kein Hemd."
QUIET = Head("encoder", 0, 3)
"""The head that the chapter “not” chooses for the office."""
SKIERS = "Die Skifahrer befinden sich vor der Hütte."
OFFICE = "Ein Mann telefoniert in einem unaufgeräumten Büro."
BIKINIS = "Frauen in Strandbikinis spielen Volleyball bei sonnigem Wetter."
VIOLIN = "Eine Frau spielt ein Lied auf ihrer Geige."
MADE_UP = "beachyy "
VAIN = Head("cross", 1, 7)
"""The head that the chapter about what attention is not shows with it."""
SMALL_SHARE = 0.25
"""A loss below this share of the bar is small."""
CLEAR, LITTLE = 0.6, 0.03
"""Clarity of a head that points clearly; log-probability that is little to lose."""
FAILURES = {
    SHIRT: "A man is wearing a shirt.",
    "Die Frau lacht nicht.": "The woman is laughing.",
    "Den Ball fängt der Hund.": "The ball is catching the dog.",
    "Die Bank hat heute geschlossen.": "The bench has just got out of a good time.",
}
"""Translations that the gallery's lines about failures speak of."""
SAID_OF_LANGUAGE = {"kein"}
TEST_SET = "test_2016_flickr"
NUM_SEARCHED = 200


@dataclass(frozen=True)
class Claim:
    """One claim.

    Attributes:
        where: the file, and the part of it.
        says: what it says, in a few words.
        today: what is so today.
        holds: whether that is the same.
    """

    where: str
    says: str
    today: str
    holds: bool


def all_claims(translator: Translator) -> Iterator[Claim]:
    """All that can be computed from the model alone, in seconds."""
    yield from of_gallery(translator)
    yield from of_lessons(translator)
    yield from of_chapters(translator)
    yield from of_card_and_readme(translator)


# --- gallery --------------------------------------------------------------------------------------


def of_gallery(translator: Translator) -> Iterator[Claim]:
    """The pinned cell of each example is strong; failures are still failures."""
    for example in gallery():
        where = f"gallery.toml: {example.text}"
        translation = translator.run(example.experiment)
        says = (
            f"{display_text(example.head.short_name)}: “{example.target}” looks at "
            f"“{example.source}”"
        )
        try:
            weight = weights_of(translation, example)[example.head]
        except StopIteration:
            yield Claim(where, says, f"one of them is not in “{translation.text}”", holds=False)
            continue
        yield Claim(
            where, f"{says}, {percent(MIN_WEIGHT)} at least", percent(weight), weight > MIN_WEIGHT
        )
        if (wrong := FAILURES.get(example.text)) is not None:
            yield Claim(
                where, f"becomes “{wrong}”", f"“{translation.text}”", translation.text == wrong
            )
    yield from of_the_inside(translator)
    last = gallery()[-1].text
    greedy, beam = (translator.run(Experiment(last, output)).text for output in (Greedy(), Beam(4)))
    words = "some kind of"
    holds = words in beam and words not in greedy
    yield Claim(
        f"gallery.toml: {last}",
        f"beam 4 finds “{words}”, greedy does not",
        f"“{beam}”, “{greedy}”",
        holds,
    )


def of_the_inside(translator: Translator) -> Iterator[Claim]:
    """Three examples that the tab Word explains."""
    repeating, from_embeddings, misleading = (
        example for example in gallery() if example.group == "Inside the model"
    )
    translation = translator.run(repeating.experiment)
    pairs = zip(
        logit_parts(translator, translation),
        translation.read_ids,
        translation.predicted_ids,
        strict=True,
    )
    repeated = [_longest(parts) for parts, read, predicted in pairs if read == predicted]
    says = "the model repeats a token, and the token read has the longest bar"
    holds = bool(repeated) and set(repeated) == {Origin.TOKEN}
    yield Claim(f"gallery.toml: {repeating.text}", says, f"“{translation.text}”", holds)
    lens = decoder_lens(translator, translator.run(from_embeddings.experiment))
    where = f"gallery.toml: {from_embeddings.text}"
    yield Claim(where, "the embeddings suffice", f"“{lens.layers[0].text}”", lens.settled_at == 0)
    translation = translator.run(misleading.experiment)
    where = f"gallery.toml: {misleading.text}"
    says = (
        f"feed-forward 2 has the longest bar for “{misleading.target}”, which loses little "
        "without it"
    )
    if misleading.target not in translation.predicted_tokens:
        yield Claim(where, says, f"“{translation.text}”", holds=False)
        return
    parts = logit_parts(translator, translation)[
        translation.predicted_tokens.index(misleading.target)
    ]
    longest = _longest(parts)
    (effect,) = measure_parts(translator, parts, [longest])
    bar = float(np.abs(parts.values).max())
    holds = longest == Network("decoder", 1) and abs(effect) < SMALL_SHARE * bar
    yield Claim(where, says, f"{longest}: bar {bar:.2f}, effect {effect:+.2f}", holds)


def _longest(parts: WordParts) -> Component:
    return parts.components[int(np.argmax(np.abs(parts.values)))]


# --- lessons --------------------------------------------------------------------------------------


def of_lessons(translator: Translator) -> Iterator[Claim]:
    """A percentage is the weight of the pinned cell, the largest of its row; quoted words occur."""
    for path in sorted(resource_path("lessons").glob("*.augenmerk")):
        for number, scene in enumerate(read_lesson_file(path).scenes, start=1):
            where = f"{path.name}, scene {number}"
            result = translator.compare(scene.saved.experiment)
            digest = scene.saved.model.digest
            yield Claim(
                where,
                "was made with this model",
                translator.digest[:8],
                digest == translator.digest,
            )
            yield from _of_scene(where, scene, result)


def _of_scene(where: str, scene: Scene, result: ExperimentResult) -> Iterator[Claim]:
    claimed = {int(number) for number in re.findall(r"(\d+)%", scene.text)} - {100}
    view: Mapping[str, Any] = scene.saved.view  # checked when the file was read
    pinned = view.get("pinned")
    if pinned is not None:
        kind, layer, head = view["head"]
        weights = result.changed.maps.of_kind(kind)[layer, head]
        query, key = pinned
        inside = query < weights.shape[0] and key < weights.shape[1]
        weight = round(100 * float(weights[query, key])) if inside else -1
        holds = claimed == {weight} and int(weights[query].argmax()) == key
        says = f"{', '.join(map(str, claimed))}%, the largest of its row, at the pinned cell"
        yield Claim(where, says, f"{weight}%" if inside else "no such cell", holds)
    elif claimed:
        yield Claim(where, f"{claimed}% without a pinned cell", "cannot be computed", holds=False)
    tokens: set[str] = set()
    for translation in (result.changed, result.original):
        tokens.update(translation.source_tokens, translation.predicted_tokens)
    quoted = dict.fromkeys(re.findall("“(.*?)”", scene.text + scene.question))
    missing = [text for text in quoted if not _is_said(text, tokens, result)]
    if quoted:
        says = f"speaks of {', '.join(f'“{text}”' for text in quoted)}"
        today = f"not there: {', '.join(missing)}" if missing else f"there; “{result.changed.text}”"
        yield Claim(where, says, today, not missing)


def _is_said(text: str, tokens: set[str], result: ExperimentResult) -> bool:
    both = (result.original, result.changed)
    is_part = any(
        f" {text}" in f" {translation.experiment.source_text} {translation.text}"
        for translation in both
    )
    return text in tokens | SAID_OF_LANGUAGE or text == result.changed.text or is_part


# --- chapters -------------------------------------------------------------------------------------


def of_chapters(translator: Translator) -> Iterator[Claim]:
    """Claims in texts and buttons of Learn. Answers to its questions are computed there."""
    texts = {chapter.name: path.read_text("utf-8") for chapter, path in _chapter_files()}
    run = partial(_translated, translator)

    def claim(name: str, words: str, compute: Callable[[], tuple[str, bool]]) -> Claim:
        today, holds = compute()
        is_said = words in " ".join(texts.get(name, "").split())
        return Claim(
            f"learn: {name}",
            words,
            today if is_said else "these words are not in the text",
            holds and is_said,
        )

    def pieces() -> tuple[str, bool]:
        translation = run(STREET_BAND)
        split = [word.text for word in translation.source_words if word.end - word.start > 1]
        rare = translation.coverage.rare_words if translation.coverage is not None else ()
        new = [word.text for word in rare if "not in the training data" in word.explanation]
        today = f"in pieces: {', '.join(split)}; new: {', '.join(new)}; “{translation.text}”"
        return today, new == ["straßenband"] == split and "street band" in translation.text

    def waves() -> tuple[str, bool]:
        shortest = 2 * math.pi
        longest = 2 * math.pi * 10_000 ** (1 - 2 / translator.run_config.model.width)
        is_sinusoidal = translator.run_config.model.positions == "sinusoidal"
        holds = is_sinusoidal and round(shortest) == 6 and 50_000 < longest < 60_000
        return f"{shortest:.1f} and {longest:,.0f} positions, sinusoidal: {is_sinusoidal}", holds

    yield claim("positions", "the shortest is 6 positions long", waves)
    yield claim("positions", "the longest is over 50,000", waves)
    yield claim(
        "heads", "and cost as much as one head of the full width", lambda: _cost_of_one(translator)
    )
    yield claim(
        "layers",
        "the logit of a word is a sum: it has a part from every head",
        lambda: _parts_sum(translator),
    )
    said = "Mostly this makes up for some of the loss"
    yield claim("layers", said, lambda: _parts_and_changes(translator))
    yield claim("feed-forward", "predicts this token once more", lambda: _token_read(translator))
    yield claim(
        "feed-forward",
        "Few choices depend on a single network",
        lambda: _depend_on_networks(translator, None),
    )
    said = f'A sentence that needs one network" text="{GUITAR}'
    yield claim("feed-forward", said, lambda: _depend_on_networks(translator, GUITAR))
    yield claim(
        "heads", "A head that looks at the token before", lambda: _previous_share(translator)
    )
    yield claim("words", f'A word that was not in its training data" text="{STREET_BAND}', pieces)
    for sentence in (SKIERS, BIKINIS):
        yield claim(
            "decoding", sentence, partial(_beam_is_better, run, sentence, texts["decoding"])
        )
    yield claim(
        "decoding", f'ends less probable" text="{VIOLIN}', lambda: _beam_is_less_probable(run)
    )
    yield claim("decoding", "It makes up a word", lambda: _makes_up_a_word(run))
    yield claim("not", "head looks at these for “shirt”", lambda: _looks_in_vain(run(SHIRT)))
    yield claim(
        "not",
        "Switch it off, and “messy” becomes “unfined”",
        lambda: _needs_a_quiet_head(translator),
    )
    said = "this head points clearly, and little is lost without it"
    yield claim("not", said, lambda: _clear_and_not_needed(translator))
    for chapter, name, value in (
        ("model", "width 256", "width"),
        ("model", "networks of 512", "feed_forward_width"),
    ):
        number = getattr(preset("notebook").model, value)
        yield claim(chapter, name, partial(_same_number, name, number))
    model = preset("notebook").model
    shared = model.tied_embeddings
    yield claim(
        "model", "shares no matrix", lambda: (f"tied embeddings: {shared}", shared == "none")
    )
    wraps = translator.run_config.data.wrap_source
    yield claim(
        "words", "The German sentence has them too, as in training", lambda: (str(wraps), wraps)
    )
    yield claim("training", "in the bundled model to zero", lambda: _rate_at_the_end(translator))
    smoothing = preset("annotated-2022").training.label_smoothing
    yield claim(
        "training",
        "the target of the right word is 0.9",
        lambda: (f"{1 - smoothing:g}", f"{1 - smoothing:g}" == "0.9"),
    )


def _cost_of_one(translator: Translator) -> tuple[str, bool]:
    """Parameters and FLOPs of all attention, with several heads and with one of full width."""
    config = translator.run_config.model
    sizes = translator.vocabulary_sizes
    kinds: tuple[Module, ...] = (
        "encoder self-attention",
        "decoder self-attention",
        "cross-attention",
    )
    several = total(size_rows(config, *sizes, 20, 20), *kinds)
    one = total(size_rows(config.replace(num_heads=1), *sizes, 20, 20), *kinds)
    return (
        f"{several.num_parameters:,} parameters, one head {one.num_parameters:,}; FLOPs too",
        several == one,
    )


def _parts_sum(translator: Translator) -> tuple[str, bool]:
    """The parts of the score of every word sum to how far it is ahead of the next best one."""
    parts_by_step = logit_parts(translator, _translated(translator, FIRST_EXAMPLE))
    error = max(abs(parts.remainder) for parts in parts_by_step)
    return f"they sum to it up to {error:.1g}", error < 1e-3


def _parts_and_changes(translator: Translator) -> tuple[str, bool]:
    """How each word loses to its foil without its six largest heads, against their parts."""
    translation = _translated(translator, FIRST_EXAMPLE)
    parts_by_step = logit_parts(translator, translation)
    shown = [_largest_heads(parts)[:6] for parts in parts_by_step]
    changed: dict[Head, tuple[WordParts, ...]] = {}
    for head in {head for heads in shown for head, _ in heads}:
        off = Experiment(FIRST_EXAMPLE, GivenTarget(translation.text), (HeadScaled(head),))
        changed[head] = logit_parts(translator, translator.run(off))
    num_less = num_heads = 0
    for step, heads in enumerate(shown):
        for head, part in heads:
            if changed[head][step].foil.token == parts_by_step[step].foil.token:
                num_heads += 1
                num_less += abs(
                    changed[head][step].difference - parts_by_step[step].difference
                ) < abs(part)
    return f"by less for {num_less} of {num_heads} heads and words", num_less > 0.8 * num_heads


def _largest_heads(parts: WordParts) -> list[tuple[Head, float]]:
    components = zip(parts.components, parts.values.tolist(), strict=True)
    heads = [(component, value) for component, value in components if isinstance(component, Head)]
    return sorted(heads, key=lambda item: -abs(item[1]))


def _token_read(translator: Translator) -> tuple[str, bool]:
    """The mean probability of the token read as the next one, with and without network 1."""
    means = {}
    for changes in ((), (FeedForwardScaled(Network("decoder", 0)),)):
        chances_by_depth: dict[str, list[float]] = {}
        for sentence in example_sentences():
            own = _translated(translator, sentence)
            changed = replace(own, experiment=Experiment(sentence, interventions=changes))
            for depth, logits in logits_by_depth(translator.pass_over(changed)):
                chances = logits.softmax(dim=-1)[range(len(own.read_ids)), own.read_ids].tolist()
                # the first token read is <sos>
                chances_by_depth.setdefault(str(depth), []).extend(chances[1:])
        means[bool(changes)] = {
            depth: sum(values) / len(values) for depth, values in chances_by_depth.items()
        }
    on = means[False]
    off = means[True]
    after = str(Depth(0, "feed_forward"))
    today = (
        f"embedding {on['embedding']:.0%}; after network 1: {on[after]:.0%}, off {off[after]:.0%}"
    )
    return today, on["embedding"] > 0.8 and on[after] < off[after] - 0.2


def _depend_on_networks(translator: Translator, sentence: str | None) -> tuple[str, bool]:
    """Tokens that lose the lead without one network: few in the examples, one in a sentence."""
    num_dependent = num_tokens = 0
    for text in example_sentences() if sentence is None else (sentence,):
        experiment = Experiment(text, GivenTarget(_translated(translator, text).text))
        by_network = NetworksOffJob(experiment).run(
            translator, lambda progress: None, lambda: False
        )
        ranks = list(zip(*(translation.ranks for translation in by_network.values()), strict=True))
        num_dependent += sum(rank[0] == 1 and max(rank) > 1 for rank in ranks)
        num_tokens += len(ranks)
    today = f"{num_dependent} of {num_tokens} tokens"
    return today, num_dependent == 1 if sentence else 0 < num_dependent < 0.1 * num_tokens


def _rate_at_the_end(translator: Translator) -> tuple[str, bool]:
    """The share of the highest rate at the last step; and each epoch's rate is the one that its
    training recorded.
    """
    run, history = translator.run_config, translator.history
    if not history:
        return "no history", False
    rates = rates_of_run(history, run.model, run.training)
    holds = all(
        math.isclose(rates[record.step - 1], record.learning_rate, rel_tol=0.01)
        for record in history
    )
    share = rates[-1] / rates.max()
    return f"{share:.2%} of the highest at step {rates.size:,}", holds and share < 0.001


def _previous_share(translator: Translator) -> tuple[str, bool]:
    """By the threshold of the badge that the button looks for."""
    num_heads = _roles_of("encoder")[0]
    return (
        f"{num_heads} encoder heads have at least {percent(POSITION_SHARE)}",
        num_heads > 0 and POSITION_SHARE >= 0.3,
    )


def _same_number(words: str, number: int) -> tuple[str, bool]:
    return str(number), words.endswith(f" {number}")


def _chapter_files() -> list[tuple[Chapter, Path]]:
    folder = resource_path("learn") / "en"
    return list(zip(read_chapters(), sorted(folder.glob("[0-9][0-9]-*.md")), strict=True))


def _translated(
    translator: Translator, text: str, output: Greedy | Beam | GivenTarget | None = None
) -> Translation:
    return translator.run(Experiment(text, output or Greedy()))


def _beam_is_better(run: Callable[..., Translation], start: str, text: str) -> tuple[str, bool]:
    sentence = next(
        quoted for quoted in re.findall(r'text="(.*?)"', text) if quoted.startswith(start)
    )
    greedy = run(sentence)
    beam = run(sentence, Beam(4))
    today = (
        f"log-probability {greedy.log_probability:.2f} greedy, {beam.log_probability:.2f} beam 4"
    )
    return today, beam.log_probability > greedy.log_probability + 0.01


def _beam_is_less_probable(run: Callable[..., Translation]) -> tuple[str, bool]:
    greedy, beam = (run(VIOLIN, output).log_probability for output in (Greedy(), Beam(4, 0.0)))
    return f"log-probability {greedy:.2f} greedy, {beam:.2f} beam 4", beam < greedy - 0.01


def _makes_up_a_word(run: Callable[..., Translation]) -> tuple[str, bool]:
    greedy = run(BIKINIS).text
    beam = run(BIKINIS, Beam(4)).text
    holds = MADE_UP in greedy and MADE_UP not in beam and "beachy " in beam
    return f"greedy “{greedy}”, beam 4 “{beam}”", holds


def _looks_in_vain(translation: Translation) -> tuple[str, bool]:
    weight = 0.0
    for target in (word for word in translation.target_words if word.text == "shirt"):
        for source in (word for word in translation.source_words if word.text == "kein"):
            weight = float(
                translation.maps.cross[
                    VAIN.layer, VAIN.head, target.start, source.start : source.end
                ].sum()
            )
    holds = weight > 0.9 and translation.text == FAILURES[SHIRT]
    return (
        (
            f"“{translation.text}”; {display_text(VAIN.short_name)} gives “kein” {percent(weight)} "
            "at “shirt”"
        ),
        holds,
    )


def _needs_a_quiet_head(translator: Translator) -> tuple[str, bool]:
    """Without the head that the chapter chooses, which is the one that is needed most."""
    original = _translated(translator, OFFICE)
    if QUIET not in heads_of(translator.model.config):
        return f"no head {display_text(QUIET.short_name)}", False
    points = HeadPointsJob(original).run(translator, lambda progress: None, lambda: False)
    most = min(points, key=lambda point: point.effect)
    without = translator.run(Experiment(OFFICE, interventions=(HeadScaled(QUIET),))).text
    needed, quiet = (display_text(head.short_name) for head in (most.head, QUIET))
    today = f"most needed: {needed}, clarity {most.clarity:.2f}; without {quiet} “{without}”"
    is_quiet = most.head == QUIET and most.clarity < 0.3
    return today, is_quiet and without == original.text.replace("a messy", "an unfined")


def _clear_and_not_needed(translator: Translator) -> tuple[str, bool]:
    """Among the heads of the example that point clearly, the one that is needed least."""
    job = HeadPointsJob(_translated(translator, FIRST_EXAMPLE))
    points = job.run(translator, lambda progress: None, lambda: False)
    clear = [point for point in points if point.clarity > CLEAR]
    if not clear:
        return f"no head points clearly in “{FIRST_EXAMPLE}”", False
    least = min(clear, key=lambda point: abs(point.effect))
    name = display_text(least.head.short_name)
    today = (
        f"{name}: clarity {least.clarity:.2f}, changes by {least.effect:+.3f}, in “{FIRST_EXAMPLE}”"
    )
    return today, abs(least.effect) < LITTLE


# --- model card, notebook, README -----------------------------------------------------------------


def of_card_and_readme(translator: Translator) -> Iterator[Claim]:
    """Sizes, counts of heads and roles, and equal scores in both files."""
    card = resource_path(CARD).read_text("utf-8")
    readme = README.read_text("utf-8")
    model = translator.run_config.model
    num_heads = (model.num_encoder_layers + 2 * model.num_decoder_layers) * model.num_heads
    yield Claim("README.md", "all 72 heads", str(num_heads), f"all {num_heads} heads" in readme)
    millions = f"{translator.num_parameters / 1e6:.1f} million parameters"
    yield Claim("README.md", "7.6 million parameters", millions, millions in readme)
    numbers = ("nine", "ten", "eleven", "twelve", "thirteen")
    count = len(read_chapters())
    word = numbers[count - 9] if 9 <= count < 9 + len(numbers) else str(count)
    yield Claim("README.md", f"{word} chapters", word, f"{word} chapters" in readme)
    for name, row in _role_rows(NOTEBOOK.read_text("utf-8")).items():
        counts = _roles_of(name)
        says, today = " ".join(map(str, row)), " ".join(map(str, counts))
        yield Claim(f"{NOTEBOOK.name}: roles, {name}", says, today, row == counts)
    named = _score_of(card, "greedy")
    said = re.search(r"The bundled model scores ([\d.]+) BLEU", " ".join(readme.split()))
    score = said[1] if said is not None else "?"
    yield Claim("README.md", f"BLEU {score}, greedy", f"{named} in {CARD}", score == named)


def _role_rows(page: str) -> dict[str, list[int]]:
    """The table of roles: how many heads of each kind are previous, self, aligner, broad, mixed."""
    names = {"encoder": "encoder", "decoder": "decoder", "cross-attention": "cross"}
    rows = {}
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 6 and cells[0] in names:
            rows[names[cells[0]]] = [0 if cell == "–" else int(cell) for cell in cells[1:]]
    return rows


def _roles_of(kind: str) -> list[int]:
    roles = read_sample_roles(bundled_model_path(), ModelConfig())
    counted: Counter[str] = Counter()
    if roles is not None:
        for map_kind in ATTENTION_KINDS:
            if map_kind == kind:
                counted.update(role for layer in roles.by_kind[map_kind] for role in layer)
    return [counted[role] for role in ("previous", "self", "aligner", "broad", "mixed")]


def _score_of(card: str, decoding: str) -> str:
    """The first BLEU in the row of this decoding."""
    match = re.search(rf"^\| {re.escape(decoding)}.*?\| \*\*([\d.]+)\*\*", card, re.M)
    return match[1] if match else "none"


def of_scores(translator: Translator, folder: Path) -> Iterator[Claim]:
    """BLEU on the test set, greedy and with the beam; takes minutes. Raises `CorpusError`."""
    card = resource_path(CARD).read_text("utf-8")
    pairs = read_pair(folder / f"{TEST_SET}.de.gz", folder / f"{TEST_SET}.en.gz")
    for decoding, beam in (("greedy", 1), ("beam 4", 4)):
        scores, _ = evaluate(translator, pairs.source, pairs.target, beam=beam)
        bleu = f"{scores.bleu_tokenized_lowercased:.2f}"
        said = _score_of(card, decoding)
        yield Claim(f"{CARD}: {decoding}", f"BLEU {said}", bleu, bleu == said)


def of_beams(translator: Translator, folder: Path) -> Iterator[Claim]:
    """For how many sentences greedy and beam decoding differ, and for how many of these the beam's
    is less probable.
    """
    (text,) = (
        path.read_text("utf-8") for chapter, path in _chapter_files() if chapter.name == "decoding"
    )
    lines = read_lines(folder / "val.de.gz")[:NUM_SEARCHED]
    greedy, beam = (
        translator.run_many([Experiment(line, output) for line in lines], need_maps=False)
        for output in (Greedy(), Beam(4, 0.0))
    )
    changes = [
        after.log_probability - before.log_probability
        for before, after in zip(greedy, beam, strict=True)
        if before.predicted_ids != after.predicted_ids
    ]
    num_less = sum(change < 0 for change in changes)
    says = (
        f"differ for {len(changes)} of the first {NUM_SEARCHED} validation sentences. For "
        f"{num_less} of these"
    )
    yield Claim(
        "learn: decoding",
        "where greedy and beam decoding differ",
        says,
        says in " ".join(text.split()),
    )


def main(words: Sequence[str]) -> int:
    """Print the claims. The exit status is 1 if one fails."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scores", type=Path, metavar="FOLDER", help="Multi30k folder")
    options = parser.parse_args(words)
    translator = Translator.load(device="cpu")
    num_claims = num_stale = 0
    of_data = (of_scores, of_beams)
    for claims in (
        all_claims(translator),
        *(check(translator, options.scores) for check in of_data if options.scores),
    ):
        for claim in claims:
            num_claims += 1
            num_stale += not claim.holds
            print(
                f"{'   ' if claim.holds else 'NO '}{claim.where}\n"
                f"      says:  {claim.says}\n"
                f"      today: {claim.today}"
            )
    print(f"{num_claims} claims, {num_stale} of them stale")
    return 1 if num_stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
