"""The page that runs a model, in Chromium: a student's clicks and keys give the results of the
product."""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from numpy.typing import NDArray

from augenmerk.core.config import ModelConfig
from augenmerk.core.counting import display_text
from augenmerk.core.errors import TextError
from augenmerk.core.extensions.missing_words import missing_words_note
from augenmerk.core.extensions.training.corpora.parallel import read_lines
from augenmerk.core.maps.roles import read_sample_roles
from augenmerk.core.maps.selection import LABEL_MODES
from augenmerk.core.model.heads import Head, Network, heads_of
from augenmerk.core.resources import bundled_model_path
from augenmerk.core.text.phrases import phrase
from augenmerk.core.translation.experiment import (
    AttentionRow,
    Experiment,
    FeedForwardScaled,
    ForcedToken,
    HeadScaled,
    SoftmaxTemperature,
    SourceWordRemoved,
    SourceWordReplaced,
)
from augenmerk.core.translation.result import Translation
from augenmerk.core.translation.translator import Translator
from augenmerk.core.translation.typed_text import room_for_source
from augenmerk.viz_app.extensions.examples.gallery import gallery
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.head_roles import role_over_sample
from augenmerk.viz_app.state.map_text import difference_note, row_meaning
from augenmerk.viz_app.state.map_view_settings import SHOWN_MAPS
from tests.core.extensions.test_missing_words import LIST
from tests.viz_app.extensions.pictures.browser import (
    DOWN,
    ENTER,
    ESCAPE,
    RIGHT,
    SENTENCE,
    TAB,
    Browser,
)

pytestmark = [pytest.mark.slow, pytest.mark.subprocess, pytest.mark.heavy]

ALIGNED = "Zwei Hunde spielen im Schnee."
SPANISH = "El hombre con la camisa roja come una manzana en la calle."
PAIRS = {"two": "zwei", "dogs": "hunde", "in": "im", "snow": "schnee"}
HEAD = Head("cross", 1, 7)
"""In view when the page opens: the clearest for both sentences."""
HALF_A_DIGIT = 0.005 + 1e-4
"""Numbers are shown with two decimals, and computed to 1e-4."""
NUM_SENTENCES, NUM_SENTENCES_IN_FULL = 12, 500
PHONE, DESK = (360, 740), (1440, 900)
NAMED = (
    "const name = (each) => `${each.localName} ${each.id} ${each.getAttribute('aria-label') ?? "
    "each.textContent}`;"
)
FOCUSED = f"{NAMED} return name(document.activeElement);"
REACHABLE = (
    NAMED
    + """
return [...document.querySelectorAll("button, input, select, summary, canvas[tabindex]")]
  .filter((each) => each.checkVisibility({ visibilityProperty: true }) && !each.disabled && each.tabIndex >= 0)
  .map(name);
"""
)
CELLS = """
const canvas = document.getElementById("map"), area = canvas.getBoundingClientRect(), found = {};
for (let y = area.top + 4; y < area.bottom; y += 8) for (let x = area.left + 4; x < area.right; x += 8) {
  canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: x, clientY: y }));
  const cell = document.getElementById("reading").textContent.match(/“(.*)” → .*“(.*)”/);
  if (cell) (found[`${cell[1]} ${cell[2]}`] ??= []).push([x, y]);
}
return Object.fromEntries(Object.entries(found).map(([name, all]) => [name, all[Math.floor(all.length / 2)]]));
"""
"""A place in each cell of the large map, by the words of its row and column, as the page reads
it."""
LOW_CONTRAST = """
const numbers = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
const light = (color) => {
  const linear = (share) => (share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4);
  const [r, g, b] = numbers(color).map((each) => linear(each / 255));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ground = (element) => {
  for (let each = element; each; each = each.parentElement) {
    const color = getComputedStyle(each).backgroundColor, alpha = numbers(color)[3] ?? 1;
    if (alpha === 1) return color;
  }
};
const found = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node = texts.nextNode(); node; node = texts.nextNode()) {
  const element = node.parentElement;
  if (!node.textContent.trim() || !element.checkVisibility() || element.closest(":disabled, script, style")) continue;
  const pair = [light(getComputedStyle(element).color), light(ground(element))];
  const contrast = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
  if (contrast < 4.5) found.push(`${node.textContent.trim().slice(0, 40)}: ${contrast.toFixed(2)}`);
}
return found;
"""
"""Visible texts whose contrast is below the 4.5 of WCAG 2.2, 1.4.3; disabled controls are exempt.
"""


TOPS = """
const top = (selector) => document.querySelector(selector).getBoundingClientRect().top;
return ["#ask", "#source-line", "#translation"].map(top);
"""


@pytest.fixture
def browser(session: Browser, page_file: Path) -> Iterator[Browser]:
    """At a desk, with the page just opened. A script error or a refused request fails the test."""
    session.show_as(*DESK)
    session.logged("browser")
    session.open(page_file)
    yield session
    assert session.logged("browser") == []


def show(browser: Browser, text: str, more: str = "") -> None:
    browser.script("location.hash = arguments[0]", f"#text={quote(text)}{more}")
    browser.settle()


def choose(browser: Browser, control: str, value: object) -> None:
    """Sets a box or a list of the large map."""
    source = (
        "const it = document.getElementById(arguments[0]); it[it.type === 'checkbox' ? 'checked' "
        ": 'value']"
    )
    browser.script(
        f"{source} = arguments[1]; it.dispatchEvent(new Event('change'))", control, value
    )


def open_table(browser: Browser) -> None:
    """The weights of pieces as a table."""
    choose(browser, "merges", False)
    if not browser.script("return document.getElementById('values').open"):
        browser.click("#values summary")


def weights(browser: Browser) -> NDArray[np.float64]:
    columns = len(browser.texts("#table thead th"))
    return np.array([float(text) for text in browser.texts("#table tbody td")]).reshape(-1, columns)


def check_same(
    browser: Browser, translator: Translator, experiment: Experiment, head: Head = HEAD
) -> None:
    """Raises unless the page shows the product's result, and its weights of `head`."""
    expected = translator.compare(experiment)
    changed, original = expected.changed, expected.original
    open_table(browser)
    assert browser.text("#translation") == changed.text, experiment
    assert browser.texts("#table tbody th") == list(changed.predicted_tokens), experiment
    assert browser.texts("#table thead th") == list(changed.source_tokens), experiment
    maps = changed.maps.of_kind(head.kind)[head.layer, head.head]
    np.testing.assert_allclose(
        weights(browser), maps, rtol=0, atol=HALF_A_DIGIT, err_msg=str(experiment)
    )
    shown = float(browser.text("#facts").split()[-1].replace("−", "-"))
    assert shown == pytest.approx(sum(changed.log_probabilities), abs=HALF_A_DIGIT + 1e-3)
    if experiment.interventions and original.text != changed.text:
        assert browser.text("#original").startswith(f"Original: {original.text} · "), experiment


def test_words_of_a_right_to_left_language_run_from_right_to_left(browser: Browser) -> None:
    """Words are buttons, in which style alone does not see letters."""
    for place in ("#translation", "#source"):
        lefts = browser.script(
            f"""
            const line = document.querySelector("{place}");
            line.closest("details")?.setAttribute("open", "");
            line.replaceChildren(...["אדם", "עומד"].map((text) => {{
              const word = document.createElement("button");
              word.className = "word";
              word.append(text);
              return word;
            }}));
            return [...line.children].map((word) => word.getBoundingClientRect().left);
            """
        )
        assert lefts[0] > lefts[1]


# --- the tasks of a student -----------------------------------------------------------------------


def test_a_typed_sentence_is_translated_on_return(
    browser: Browser, bundled_translator: Translator
) -> None:
    browser.type("#text", ALIGNED)
    browser.press(ENTER)
    browser.settle()
    check_same(browser, bundled_translator, Experiment(ALIGNED))


ENGLISH = "A man in a blue shirt is standing on a ladder."
PLACES = """
const controls = [...document.querySelectorAll('button, select, canvas')].filter((each) => each.offsetParent);
return controls.filter((each) => !each.closest('#translation') && !each.closest('#notes'))
    .map((each) => [each.id || each.textContent, each.getBoundingClientRect().x, each.getBoundingClientRect().y]);
"""


def type_text(browser: Browser, text: str) -> None:
    browser.type("#text", text)
    browser.press(ENTER)
    browser.settle()


def test_a_message_takes_the_place_of_the_translation_of_english(
    browser: Browser, bundled_translator: Translator
) -> None:
    """The maps stay those of the last sentence, dimmed, and no control moves."""
    before = browser.script(PLACES)
    table = browser.texts("#table thead th")
    type_text(browser, ENGLISH)
    reason = "Not translated. This looks like English. Enter a German sentence."
    assert browser.text("#translation") == f"{reason} Translate anyway"
    assert browser.texts("#table thead th") == table
    is_inert = "return document.querySelector('.maps').inert"
    assert browser.script(is_inert)
    assert browser.script(PLACES) == before
    browser.click("#translation button")
    assert not browser.script(is_inert)
    check_same(browser, bundled_translator, Experiment(ENGLISH))
    type_text(browser, f"{ENGLISH} The dog is in the house.")
    assert "Not translated" not in browser.text("#translation"), "an edit of it"
    type_text(browser, ALIGNED)
    type_text(browser, "Anna Peter Lukas Marie Johannes")
    assert "This model knows picture captions." in browser.text("#translation")
    browser.click("#undo")
    browser.settle()
    check_same(browser, bundled_translator, Experiment(ALIGNED))
    browser.click("#redo")
    browser.settle()
    assert "Not translated." in browser.text("#translation")


def test_a_link_to_an_english_sentence_shows_its_translation(
    browser: Browser, bundled_translator: Translator
) -> None:
    show(browser, ENGLISH)
    check_same(browser, bundled_translator, Experiment(ENGLISH))


def test_the_head_that_aligns_is_found_by_looking_at_all_of_cross_attention(
    browser: Browser, bundled_translator: Translator
) -> None:
    show(browser, ALIGNED)
    open_table(browser)
    translation = bundled_translator.run(Experiment(ALIGNED))
    maps = translation.maps.of_kind("cross")
    places = [
        (translation.predicted_tokens.index(word), translation.source_tokens.index(source))
        for word, source in PAIRS.items()
    ]
    sums: dict[Head, float] = {}
    for head in [
        head for head in heads_of(bundled_translator.checkpoint.run.model) if head.kind == "cross"
    ]:
        browser.click(
            f'[aria-label="Cross-attention · layer {head.layer + 1} · head {head.head + 1}"]'
        )
        seen = weights(browser)
        np.testing.assert_allclose(seen, maps[head.layer, head.head], rtol=0, atol=HALF_A_DIGIT)
        sums[head] = sum(seen[cell] for cell in places)
    expected = max(sums, key=lambda head: sum(maps[head.layer, head.head][cell] for cell in places))
    assert max(sums, key=sums.__getitem__) == expected
    assert sums[expected] > 0.8 * len(PAIRS)


def test_all_cross_attention_is_switched_off_and_on_by_one_button(
    browser: Browser, bundled_translator: Translator
) -> None:
    config = bundled_translator.checkpoint.run.model
    cross = [head for head in heads_of(config) if head.kind == "cross"]
    off = Experiment(SENTENCE, interventions=tuple(HeadScaled(head, 0.0) for head in cross))
    browser.click('[aria-label="Switch all heads of cross-attention off"]')
    check_same(browser, bundled_translator, off)
    assert browser.texts("#chips li") == ["all cross-attention off ✕"]
    named = (
        "return [...document.querySelectorAll('.head')].map((each) => "
        "each.getAttribute('aria-label'))"
    )
    assert browser.script(named) == [
        f"{display_text(head.title)}{', off' * (head in cross)}" for head in heads_of(config)
    ]
    browser.click("#chips button")
    check_same(browser, bundled_translator, Experiment(SENTENCE))


def test_a_word_is_forced_by_choosing_and_by_typing_it(
    browser: Browser, bundled_translator: Translator
) -> None:
    original = bundled_translator.run(Experiment(SENTENCE))
    step = original.predicted_tokens.index("shirt")
    browser.click(f"#translation button:nth-of-type({step + 1})")
    browser.click("#dialog tr:nth-child(2) .alternative")
    second = ForcedToken(step, original.alternatives[step][1].entry)
    check_same(browser, bundled_translator, Experiment(SENTENCE, interventions=(second,)))
    browser.click("#undo")
    browser.click("#translation button:nth-of-type(2)")
    browser.type("#dialog input", "woman")
    browser.press(ENTER)
    browser.settle()
    typed = ForcedToken(
        1,
        bundled_translator.checkpoint.codecs.target.vocabulary.tokens[
            _id_of(bundled_translator, "woman")
        ],
    )
    check_same(browser, bundled_translator, Experiment(SENTENCE, interventions=(typed,)))


def _id_of(translator: Translator, text: str) -> int:
    (word,) = translator.checkpoint.codecs.target.encode_text(f"a {text}")[1:]
    (token_id,) = word.ids
    return token_id


def test_a_row_is_moved_by_dragging_and_by_keys(
    browser: Browser, bundled_translator: Translator
) -> None:
    show(browser, ALIGNED)
    translation = bundled_translator.run(Experiment(ALIGNED))
    row, start, end = (
        translation.predicted_tokens.index("dogs"),
        translation.source_tokens.index("hunde"),
        translation.source_tokens.index("schnee"),
    )
    browser.script("document.getElementById('map').scrollIntoView({ block: 'center' })")
    cells = browser.script(CELLS)
    browser.drag([cells["dogs hunde"], cells["dogs schnee"]])
    moved = Experiment(ALIGNED, interventions=(_row_to(row, end, translation.source_tokens),))
    check_same(browser, bundled_translator, moved)
    browser.click("#restore")
    check_same(browser, bundled_translator, Experiment(ALIGNED))
    browser.script("document.getElementById('map').focus()")
    browser.press(ESCAPE, *[DOWN] * (row + 1), *[RIGHT] * start, "m")
    browser.settle()
    at = browser.text("#reading").split("“")
    assert at[1].startswith("dogs”")
    column = [f"{source_token}”" in at[2] for source_token in translation.source_tokens].index(True)
    expected = Experiment(ALIGNED, interventions=(_row_to(row, column, translation.source_tokens),))
    check_same(browser, bundled_translator, expected)


def _row_to(row: int, key: int, tokens: tuple[str, ...]) -> AttentionRow:
    return AttentionRow(HEAD, row, tuple(float(column == key) for column in range(len(tokens))))


def test_words_and_differences_are_shown_as_in_the_window(
    browser: Browser, bundled_translator: Translator
) -> None:
    sentence, off = "Auf dem Markt verkauft eine Frau frisches Obst.", HeadScaled(HEAD)
    show(browser, sentence)
    is_visible = (
        "return document.getElementById('shown').checkVisibility({ visibilityProperty: true })"
    )
    assert not browser.script(is_visible), "nothing is changed"
    browser.click("#translation button:nth-of-type(2)")
    browser.type("#dialog input", "man")
    browser.press(ENTER)
    browser.settle()
    browser.click("#factor button")
    forced = ForcedToken(
        1,
        bundled_translator.checkpoint.codecs.target.vocabulary.tokens[
            _id_of(bundled_translator, "man")
        ],
    )
    experiment = Experiment(sentence, interventions=(off, forced))
    state = ExperimentState()
    state.accept(bundled_translator.compare(experiment))
    state.intents.choose_head(HEAD)
    browser.click("#values summary")
    for state.settings.merges_words, state.settings.shown in itertools.product(
        (True, False), SHOWN_MAPS
    ):
        choose(browser, "merges", state.settings.merges_words)
        choose(browser, "shown", state.settings.shown)
        view = state.maps.view()
        assert view is not None
        assert browser.texts("#table tbody th") == list(view.row_labels)
        assert browser.texts("#table thead th") == list(view.column_labels)
        cells = ["NaN" if text == "–" else text for text in browser.texts("#table tbody td")]
        shown = np.array([float(cell) for cell in cells]).reshape(view.values.shape)
        np.testing.assert_allclose(shown, view.values, rtol=0, atol=HALF_A_DIGIT)
        note = browser.text("#shown-note")
        assert note == ("" if state.settings.shown == "changed" else note)
        assert note.startswith(difference_note(state))
    assert "frisches" not in browser.texts("#table thead th"), "pieces"


def test_a_pinned_cell_stays_pinned_when_words_are_merged(browser: Browser) -> None:
    show(browser, "Auf dem Markt verkauft eine Frau frisches Obst.")
    choose(browser, "merges", False)
    browser.script("document.getElementById('map').focus()")
    browser.press(DOWN, *[RIGHT] * 8)
    assert "“·isches”" in browser.text("#reading")
    choose(browser, "merges", True)
    assert "“frisches”" in browser.text("#reading")
    browser.press(RIGHT)
    assert "“obst”" in browser.text("#reading")


def test_a_word_of_the_sentence_is_removed(
    browser: Browser, bundled_translator: Translator
) -> None:
    browser.click("#source-words summary")
    browser.click("#source button:nth-of-type(5)")
    browser.command("/element/" + browser.find("#dialog-content p button") + "/click")
    browser.settle()
    check_same(
        browser, bundled_translator, Experiment(SENTENCE, interventions=(SourceWordRemoved(4),))
    )


@pytest.mark.parametrize("selector", ["#reset", "#chips button"])
def test_the_focus_stays_with_the_changes_when_the_last_is_taken_back(
    browser: Browser, selector: str
) -> None:
    browser.click("#factor button")
    browser.click(selector)
    assert browser.script("return document.activeElement.id") == "undo"


def test_the_hint_of_an_example_leaves_with_its_sentence(browser: Browser) -> None:
    example = next(example for example in gallery() if example.see and example.off is not None)
    choose(browser, "examples", example.text)
    browser.settle()
    assert browser.text("#hint") == example.see
    browser.click("#reset")
    assert browser.text("#hint") == "", "the network is on"
    browser.click("#undo")
    assert browser.text("#hint") == example.see
    browser.type("#text", ALIGNED)
    browser.press(ENTER)
    browser.settle()
    assert browser.text("#hint") == ""


@pytest.mark.parametrize("size", [(1280, 900), DESK, (1100, 700)])
def test_no_control_moves_when_the_hint_of_an_example_goes(
    browser: Browser, size: tuple[int, int]
) -> None:
    browser.show_as(*size)
    tops_before = browser.script(TOPS)
    for example in gallery():
        if example.see:
            choose(browser, "examples", example.text)
            browser.settle()
            assert browser.text("#hint") == example.see
            assert browser.script(TOPS) == tops_before, example.text
    browser.type("#text", ALIGNED)
    assert browser.script(TOPS) == tops_before
    browser.press(ENTER)
    browser.settle()
    assert browser.text("#hint") == ""
    assert browser.script(TOPS) == tops_before


def test_examples_and_hints_name_nothing_that_the_page_lacks(browser: Browser) -> None:
    offered = browser.texts("#examples optgroup option")
    assert offered == [example.text for example in gallery() if example.see]
    assert len(offered) < len(gallery())
    hints = " ".join(example.see for example in gallery())
    assert not re.search("Analysis|Measure all|beam", hints)


def test_words_are_marked_as_read_next_to_the_sentence(
    browser: Browser, bundled_translator: Translator
) -> None:
    sentence = "Ein Maedchen klimpert am Qxzt."
    show(browser, sentence)
    coverage = bundled_translator.run(Experiment(sentence)).coverage
    assert coverage is not None
    marked = {
        **{word.text: "rare" for word in coverage.rare_words},
        **{word.text: "respelled" for word in coverage.respelled_words},
    }
    assert set(marked.values()) == {"rare", "respelled"}
    shown = "return document.getElementById('source').checkVisibility()"
    assert not browser.script(shown), "nothing opens unasked"
    assert "some are unusual" in browser.text("#source-words summary")
    browser.click("#source-words summary")
    assert browser.script(shown)
    buttons = (
        "[...document.querySelectorAll('#source button')].map((each) => [each.textContent, "
        "each.className])"
    )
    for word, names in browser.script(f"return {buttons}"):
        assert ("rare" in names.split() or "respelled" in names.split()) == (word in marked), word
    assert browser.text("#source-note").startswith("Dotted words are rare")
    focus = (
        "[...document.querySelectorAll('#source button')].find((e) => e.textContent === "
        "arguments[0]).focus()"
    )
    for note in (*coverage.rare_words, *coverage.respelled_words):
        browser.script(focus, note.text)
        assert note.explanation in browser.text("#source-note")
    show(browser, ALIGNED)
    assert browser.text("#source-note") == ""
    assert browser.script(shown), "it stays as the reader left it"
    assert "unusual" not in browser.text("#source-words summary")


def test_a_typing_error_is_corrected_by_a_click_and_nothing_moves(
    browser: Browser, bundled_translator: Translator
) -> None:
    top = "return document.getElementById('translation').getBoundingClientRect().top"
    shown = "return document.getElementById('correct').checkVisibility()"
    show(browser, ALIGNED)
    before = browser.script(top)
    assert not browser.script(shown)
    browser.type("#text", "Ein Hnud rennt.")
    browser.press(ENTER)
    browser.settle()
    assert browser.text("#correct") == "Did you mean “Hund”?"
    assert browser.script(top) == before
    browser.click("#correct")
    browser.settle()
    assert browser.script("return document.getElementById('text').value") == "Ein Hund rennt."
    assert (
        browser.text("#translation") == bundled_translator.run(Experiment("Ein Hund rennt.")).text
    )
    assert not browser.script(shown)
    assert browser.script(top) == before


def test_rare_words_move_nothing_below_them(browser: Browser) -> None:
    top = "return document.getElementById('translation').getBoundingClientRect().top"
    show(browser, ALIGNED)
    before = browser.script(top)
    show(browser, "Ein Mann klimpert am Qxzt.")
    assert browser.script(top) == before
    browser.click("#source-words summary")
    show(browser, ALIGNED)
    before = browser.script(top)
    browser.script("document.querySelector('#source button').focus()")
    show(browser, "Ein Mann klimpert am Qxzt.")
    assert browser.script(top) == before


def test_numbers_rows_and_scaling_are_named_as_in_the_app(browser: Browser) -> None:
    assert browser.texts("#grid section:first-child .heads > span")[1:9] == list("12345678")
    languages = ("German", "English")
    for kind in ("encoder", "decoder", "cross"):
        head = Head(kind, 1, 2)
        browser.click(f'[aria-label="{display_text(head.title)}"]')
        for mode in LABEL_MODES:
            choose(browser, "mode", mode)
            assert browser.text("#row-meaning") == row_meaning(kind, mode, languages)
    for factor, title, offer in (
        (0.0, " · off", "Switch on"),
        (0.5, " · ×0.5", "Back to × 1"),
        (1.0, "", "Switch off"),
    ):
        show(browser, ALIGNED, f"&scale-head=cross:2:3={factor}")
        assert browser.text("#map-title") == display_text(Head("cross", 1, 2).title) + title
        assert browser.text("#factor button") == offer


def test_the_chosen_theme_is_remembered(session: Browser, page_file: Path) -> None:
    session.show_as(*DESK)
    session.open(page_file)
    theme = "return document.documentElement.dataset.theme"
    assert session.script(theme) == "light"
    session.click("#theme")
    session.open(page_file)
    assert session.script(theme) == "dark"
    session.click("#theme")
    session.open(page_file)
    assert session.script(theme) == "light"
    session.script("localStorage.clear()")


def test_without_scripts_there_is_only_the_reason(session: Browser, page_file: Path) -> None:
    session.devtools("Emulation.setScriptExecutionDisabled", value=True)
    try:
        session.command("/url", {"url": page_file.as_uri()})
        nodes = session.devtools("Accessibility.getFullAXTree")["nodes"]
    finally:
        session.devtools("Emulation.setScriptExecutionDisabled", value=False)
    seen = [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in nodes
        if not node["ignored"]
    ]
    texts = " ".join(name for role, name in seen if role == "StaticText")
    assert "scripts are switched off here" in texts
    assert "Opening the model" not in texts
    assert not {"button", "combobox", "textbox"} & {role for role, _ in seen}


def test_changes_that_are_dropped_or_without_effect_are_reported(browser: Browser) -> None:
    show(
        browser,
        ALIGNED,
        "&force-token=2=▁cat&force-token=30=▁dog&set-row=cross:2:1:3=0,0,1,0,0,0,0,0",
    )
    assert browser.texts("#chips li") == [
        "cross 2·1 row 3 set ✕",
        "step 2: cat ✕",
        "step 30: dog (not reached) ✕",
    ]
    browser.click("#source-words summary")
    browser.click("#source button:nth-of-type(1)")
    browser.command("/element/" + browser.find("#dialog-content p button") + "/click")
    browser.settle()
    assert browser.text("#notice") == (
        "Dropped because the tokens of the source have changed: cross 2·1 row 3 set. Undo "
        "restores it."
    )
    browser.type("#text", SENTENCE)
    browser.press(ENTER)
    browser.settle()
    assert browser.text("#notice").startswith(
        "Dropped with the sentence that they belong to: word 1 removed, step 2: cat"
    )
    browser.click("#undo")
    assert browser.text("#notice") == ""
    browser.click("#reset")
    assert browser.text("#notice") == ""


def test_rows_follow_their_tokens_when_a_word_of_two_pieces_is_forced(browser: Browser) -> None:
    show(browser, ALIGNED, "&set-row=cross:2:1:6=0,0,1,0,0,0,0,0")
    browser.click("#translation button:nth-of-type(2)")
    browser.type("#dialog input", "cats")
    browser.press(ENTER)
    browser.settle()
    assert browser.text("#notice") == "Moved with its token: cross 2·1 row 6 is now row 8."
    assert browser.texts("#chips li") == ["cross 2·1 row 8 set ✕", "steps 2–3: cats ✕"]
    browser.click("#chips li:nth-child(2) button")
    assert browser.texts("#chips li") == ["cross 2·1 row 6 set ✕"]
    assert browser.text("#notice") == "Moved with its token: cross 2·1 row 8 is now row 6."


ONE_WORD = "".join(f"&force-token={step}=eboard" for step in range(3, 19))
"""A piece that continues a word, at 16 steps."""
LONG = "Zwei Kinder spielen im Park mit einem Ball und einem Hund vor einem großen Haus."


def test_a_word_of_a_hundred_letters_leaves_the_map_in_sight(browser: Browser) -> None:
    show(browser, "Zwei Kinder spielen im Park mit einem Ball.", ONE_WORD)
    widths = (
        "const map = document.getElementById('map'); return [map.offsetWidth, "
        "map.parentElement.clientWidth]"
    )
    width, room = browser.script(widths)
    assert width <= room
    browser.click("#values summary")
    assert max(map(len, browser.texts("#table tbody th"))) > 90, "the table has the whole word"


def test_rows_keep_their_labels_in_sight_on_a_phone(browser: Browser) -> None:
    browser.show_as(*PHONE, is_phone=True)
    show(browser, LONG)
    ink = """
    const map = document.getElementById("map"), copy = document.createElement("canvas").getContext("2d");
    copy.drawImage(map, -map.parentElement.scrollLeft, -100);
    const { data } = copy.getImageData(0, 0, 55, 150);
    let dark = 0;
    for (let i = 0; i < data.length; i += 4) dark += data[i + 2] < 60 && data[i + 3] > 200;
    return dark;
    """
    labels = browser.script(ink)
    browser.script("document.getElementById('map').parentElement.scrollLeft = 60")
    browser.script("return new Promise((done) => setTimeout(done, 100))")
    assert labels > 100
    assert browser.script(ink) > labels / 2
    assert browser.text("#reading") == "Tap a cell to read its weight and to pin it."
    assert "tap a cell" in browser.text("#map-keys")


def test_a_printed_page_has_the_whole_map_and_the_bars_of_probabilities(browser: Browser) -> None:
    show(browser, LONG)
    browser.show_as(718, 1000)
    browser.devtools("Emulation.setEmulatedMedia", media="print")
    try:
        right, room, exact = browser.script(
            "const map = document.getElementById('map'); return "
            "[map.getBoundingClientRect().right, innerWidth, "
            "getComputedStyle(document.querySelector('#translation button'), "
            "'::after').printColorAdjust]"
        )
        assert right <= room
        assert exact == "exact"
        assert not browser.script("return document.getElementById('factor').checkVisibility()")
    finally:
        browser.devtools("Emulation.setEmulatedMedia", media="")


# --- equal results --------------------------------------------------------------------------------


def check_sentences(browser: Browser, translator: Translator, lines: list[str]) -> None:
    open_table(browser)
    for line, expected in zip(
        lines, translator.run_many([Experiment(line) for line in lines]), strict=True
    ):
        show(browser, line)
        assert browser.text("#translation") == expected.text, line
        assert browser.texts("#table tbody th") == list(expected.predicted_tokens), line
        assert browser.texts("#table thead th") == list(expected.source_tokens), line


@pytest.mark.corpus
def test_sentences_of_the_corpus_are_translated_alike(
    browser: Browser, bundled_translator: Translator, multi30k_folder: Path
) -> None:
    lines = list(itertools.islice(read_lines(multi30k_folder / "val.de.gz"), NUM_SENTENCES))
    check_sentences(browser, bundled_translator, lines)


@pytest.mark.corpus
@pytest.mark.timeout(900)
def test_five_hundred_sentences_of_the_corpus_are_translated_alike(
    browser: Browser, bundled_translator: Translator, multi30k_folder: Path
) -> None:
    lines = list(itertools.islice(read_lines(multi30k_folder / "val.de.gz"), NUM_SENTENCES_IN_FULL))
    check_sentences(browser, bundled_translator, lines)


def test_a_link_opens_the_experiment_from_which_it_was_copied(
    session: Browser, page_file: Path, bundled_translator: Translator
) -> None:
    session.show_as(*DESK)
    changes = "&off=cross:2:5,encoder:1:*&feed-forward-off=decoder:2&scale-head=cross:1:1=0.5&temperature=cross:2:8=3"
    session.open(
        page_file, f"#text={quote(ALIGNED)}{changes}&force-token=2=▁cat&replace-word=1=drei"
    )
    experiment = Experiment(
        ALIGNED,
        interventions=(
            *(HeadScaled(Head("encoder", 0, head)) for head in range(8)),
            *(HeadScaled(Head("cross", 1, 4)), HeadScaled(Head("cross", 0, 0), 0.5)),
            *(FeedForwardScaled(Network("decoder", 1)), SoftmaxTemperature(HEAD, 3.0)),
            *(ForcedToken(1, "▁cat"), SourceWordReplaced(0, "drei")),
        ),
    )
    open_table(session)
    assert session.text("#problem") == ""
    assert session.text("#translation") == bundled_translator.run(experiment).text
    session.devtools(
        "Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"]
    )
    session.click("#copy-link")
    assert session.text("#link-note").startswith("Link copied. It opens this file on this computer")
    copied = session.script("return navigator.clipboard.readText()")
    session.open(page_file)
    session.open(page_file, copied.removeprefix(page_file.as_uri()))
    assert session.text("#translation") == bundled_translator.run(experiment).text
    assert len(session.texts("#chips li")) == 7


def test_a_browser_that_does_not_copy_shows_the_link(browser: Browser) -> None:
    browser.script("navigator.clipboard.writeText = () => Promise.reject(new Error())")
    browser.click("#copy-link")
    shown = (
        "const field = document.querySelector('#dialog input'); return [field.value, "
        "getSelection().toString()]"
    )
    assert browser.script(shown) == [browser.script("return location.href")] * 2


@pytest.mark.parametrize(
    ("link", "message", "changes"),
    [
        (
            "&off=cross:9:1,x&remove-word=1",
            "The link names “off=cross:9:1,x”, which this page cannot read",
            1,
        ),
        ("&force-token=1=nonsense", "forced at step 1 is not in this model's vocabulary", 0),
        ("&remove-word=99", "Source word 99 cannot be changed", 0),
    ],
)
def test_a_damaged_link_gives_a_message_and_the_page_still_works(
    session: Browser,
    page_file: Path,
    bundled_translator: Translator,
    link: str,
    message: str,
    changes: int,
) -> None:
    session.open(page_file, f"#text={quote(ALIGNED)}{link}")
    assert message in session.text("#problem")
    assert len(session.texts("#chips li")) == changes
    assert session.script("return document.getElementById('text').value") == ALIGNED
    if not changes:
        assert session.text("#translation") == bundled_translator.run(Experiment(ALIGNED)).text
    session.type("#text", SENTENCE)
    session.press(ENTER)
    session.settle()
    assert session.text("#problem") == ""
    assert session.text("#translation") == bundled_translator.run(Experiment(SENTENCE)).text


def test_a_link_with_an_unreadable_sentence_opens_the_first_one(
    session: Browser, page_file: Path, bundled_translator: Translator
) -> None:
    session.open(page_file, "#text=%20")
    assert "the text is empty" in session.text("#problem")
    assert session.text("#translation") == bundled_translator.run(Experiment(SENTENCE)).text


# --- texts are data -------------------------------------------------------------------------------


def test_nothing_is_requested_from_a_network(session: Browser, page_file: Path) -> None:
    session.command("/url", {"url": "about:blank"})
    session.requests()
    session.open(page_file)
    requests = [request for request in session.requests() if request != "about:blank"]
    assert requests[0] == page_file.as_uri()
    assert all(
        request == page_file.as_uri() or request.startswith("blob:") for request in requests
    ), requests


@pytest.mark.parametrize(
    "text",
    [
        "<b>x</b> Hund",
        "Hund </script><script>window.harmed = 1</script>",
        "<img src=x onerror='window.harmed = 1'> Katze",
        "Ein 😀 Hund 👨‍👩‍👧‍👦 spielt.",
        "Hund " * 200,
        "Ein Mann geht über die strasse und klimpert.",
        "  ",
        "x" * 1_001,
    ],
)
def test_typed_text_gives_the_notes_or_the_message_of_the_product_and_never_markup(
    browser: Browser, bundled_translator: Translator, text: str
) -> None:
    count = "return document.querySelectorAll('b, img, script').length"
    before = browser.script(count)
    show(browser, text)
    expected = translation_or_error(bundled_translator, text)
    if isinstance(expected, str):
        assert browser.text("#problem") == f"{expected} The previous sentence is still shown."
        assert browser.text("#translation") == bundled_translator.run(Experiment(SENTENCE)).text
    else:
        assert browser.text("#problem") == ""
        assert browser.text("#translation") == expected.text
        assert set(expected.notes) <= set(browser.texts("#notes li"))
    assert browser.script(count) == before
    assert browser.script("return window.harmed ?? null") is None


def test_a_text_of_which_half_is_missing_is_reported_until_there_is_another(
    browser: Browser, bundled_translator: Translator
) -> None:
    show(browser, LIST)
    translation = bundled_translator.translate(LIST)
    note = missing_words_note(translation, bundled_translator.run_config)
    assert browser.texts("#notes li") == [note]
    assert note.startswith("The translation is much shorter than the text: ")
    show(browser, ALIGNED)
    assert browser.texts("#notes li") == []


def test_a_text_that_is_too_long_says_so_before_it_is_translated(
    browser: Browser, bundled_translator: Translator
) -> None:
    note = phrase("reads_up_to", room=room_for_source(bundled_translator.run_config))
    tops_before = browser.script(TOPS)
    browser.type("#text", "")
    browser.devtools("Input.insertText", text="Hund " * 329)
    browser.wait("return document.getElementById('length-note').checkVisibility()")
    assert browser.text("#length-note") == note
    assert browser.script(TOPS) == tops_before
    browser.press(ENTER)
    browser.settle()
    assert browser.text("#length-note") == "", "the result has a note of its own"
    assert browser.texts("#notes li")[0].startswith("Only the beginning was translated, 254 of 329")
    browser.type("#text", "")
    browser.devtools("Input.insertText", text="Hund " * 1_001)
    browser.wait("return document.getElementById('length-note').checkVisibility()")
    refusal = translation_or_error(bundled_translator, "Hund " * 1_001)
    assert browser.text("#length-note") == refusal
    browser.type("#text", ALIGNED)
    assert browser.text("#length-note") == ""


@pytest.mark.parametrize("text", [SPANISH, "Qxzt wvlk prmf.", LIST])
def test_notes_on_a_text_are_out_of_sight_while_another_is_typed(
    browser: Browser, text: str
) -> None:
    visible = """
      const notes = document.querySelectorAll("#translation > .warm, #notes li, #hint, #length-note");
      const isSeen = (each) => each.textContent && each.checkVisibility({ visibilityProperty: true });
      return [...notes].filter(isSeen).map((each) => each.textContent);
    """
    browser.type("#text", text)
    browser.press(ENTER)
    browser.settle()
    notes, tops = browser.script(visible), browser.script(TOPS)
    assert len(notes) == 1
    browser.type("#text", "Ein Hund")
    assert browser.script(visible) == []
    assert browser.script(TOPS) == tops
    browser.type("#text", text)
    assert browser.script(visible) == notes, "they are about this text"


def test_a_pasted_text_is_refused_and_not_cut(
    browser: Browser, bundled_translator: Translator
) -> None:
    text = "Hund " * 2_000
    browser.type("#text", "")
    browser.devtools("Input.insertText", text=text)
    browser.press(ENTER)
    browser.settle()
    assert browser.text("#problem").startswith(str(translation_or_error(bundled_translator, text)))


def translation_or_error(translator: Translator, text: str) -> Translation | str:
    try:
        return translator.run(Experiment(text))
    except TextError as error:
        return str(error)


# --- every screen, every reader -------------------------------------------------------------------


def states(browser: Browser) -> Iterator[str]:
    """Brings the page into one state after another."""
    yield "opened"
    browser.click('[aria-label="Switch all heads of cross-attention off"]')
    yield "heads off"
    for details in ("#source-words", "#values", "footer details"):
        browser.click(f"{details} summary")
    yield "everything unfolded"
    browser.click("#translation button")
    yield "dialog"
    browser.click("#dialog-close")
    browser.click('[aria-label^="Feed-forward network of encoder layer 1"]')
    yield "network"
    browser.click("#dialog-close")
    show(browser, "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenverleihungsurkunde")
    yield "a long word"
    show(browser, "x" * 1_001)
    yield "a message"


@pytest.mark.parametrize(("width", "height"), [DESK, (1920, 1080)])
def test_the_large_map_is_wider_than_the_grid_and_both_are_in_sight(
    browser: Browser, width: int, height: int
) -> None:
    browser.show_as(width, height)
    browser.script("return new Promise((done) => setTimeout(done, 200))")  # the map is drawn anew
    boxes = browser.script(
        "return ['grid', 'map', 'reading'].map((id) => "
        "document.getElementById(id).getBoundingClientRect().toJSON())"
    )
    grid, large, reading = boxes
    assert grid["bottom"] <= height
    assert large["bottom"] < reading["bottom"] <= height
    assert large["width"] > 1.5 * grid["width"]
    assert browser.script("return scrollY") == 0


def test_a_head_chosen_on_a_phone_brings_the_large_map_into_sight(browser: Browser) -> None:
    browser.show_as(*PHONE, is_phone=True)
    browser.click('[aria-label="Cross-attention · layer 3 · head 8"]')
    top, bottom = browser.script(
        "const box = document.getElementById('map').getBoundingClientRect(); return [box.top, "
        "box.bottom]"
    )
    assert 0 <= top < bottom <= PHONE[1]


def test_a_phone_repeats_the_translation_while_it_is_out_of_sight(
    browser: Browser, bundled_translator: Translator
) -> None:
    shown = "return document.getElementById('echo').checkVisibility()"
    browser.show_as(*PHONE, is_phone=True)
    assert not browser.script(shown)
    browser.click('[aria-label="Switch all heads of cross-attention off"]')
    browser.script("return new Promise(requestAnimationFrame)")
    assert browser.script(shown)
    assert (
        browser.text("#echo")
        == browser.text("#translation")
        != bundled_translator.run(Experiment(SENTENCE)).text
    )
    browser.show_as(*DESK)
    assert not browser.script(shown)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_texts_have_contrast_under_the_mouse(browser: Browser, theme: str) -> None:
    browser.show_as(*DESK, theme=theme)
    for selector in ("#ask .primary", "#copy-link", "#translation button"):
        x, y = browser.script(
            "const box = document.querySelector(arguments[0]).getBoundingClientRect(); return "
            "[box.x + 5, box.y + 5]",
            selector,
        )
        move = {"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y)}
        browser.command(
            "/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": [move]}]}
        )
        assert browser.script(
            "return document.querySelector(arguments[0]).matches(':hover')", selector
        )
        assert browser.script(LOW_CONTRAST) == [], selector


def test_the_role_of_the_head_in_view_is_named_as_measured(browser: Browser) -> None:
    sample = read_sample_roles(bundled_model_path(), ModelConfig())
    assert sample is not None
    heads = (Head("cross", 1, 7), Head("encoder", 2, 0), Head("decoder", 0, 7), Head("cross", 1, 4))
    assert {sample.role(head) for head in heads} == {"aligner", "previous", "mixed"}
    for head in heads:
        browser.click(f'[aria-label="{display_text(head.title)}"]')
        role = sample.role(head)
        assert browser.text("#role") == ("" if role == "mixed" else f"Usual role: {role}.")
        assert browser.text("#role-meaning") == role_over_sample(sample, head)


def test_the_first_sentence_cannot_be_undone(browser: Browser) -> None:
    assert browser.script("return document.getElementById('undo').disabled")
    show(browser, "Ein Hund.")
    browser.click("#undo")
    browser.settle()
    assert browser.script("return document.getElementById('text').value") == SENTENCE
    assert browser.script("return document.getElementById('undo').disabled")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_scrolls_sideways_on_a_phone_and_texts_have_contrast(
    browser: Browser, theme: str
) -> None:
    browser.show_as(*PHONE, is_phone=True, theme=theme)
    for state in states(browser):
        wide, room = browser.script("return [document.documentElement.scrollWidth, innerWidth]")
        assert wide <= room == PHONE[0], state
        assert browser.script(LOW_CONTRAST) == [], state


def test_the_tab_key_reaches_all_controls(browser: Browser) -> None:
    reachable = set(browser.script(REACHABLE))
    reached = set()
    browser.script("document.activeElement.blur()")
    for _ in range(2 * len(reachable)):
        browser.press(TAB)
        reached.add(browser.script(FOCUSED))
    assert len(reachable) > 20
    assert reachable <= reached, reachable - reached


def test_all_controls_have_a_name_for_screen_readers(browser: Browser) -> None:
    browser.click("#values summary")
    show(browser, "  ")  # a message
    nodes = browser.devtools("Accessibility.getFullAXTree")["nodes"]
    named = [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in nodes
        if not node.get("ignored")
    ]
    controls = [
        control
        for control in named
        if control[0] in {"button", "textbox", "combobox", "slider", "application"}
    ]
    assert len(controls) > 80
    assert [control for control in controls if not control[1].strip()] == []
    roles = {role for role, _ in named}
    assert {"table", "rowheader", "columnheader", "main", "alert", "heading"} <= roles
