"""What the window says while an imported model is open: nothing that was found in the bundled
one."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

os.environ.setdefault("HF_HUB_OFFLINE", "1")

from augenmerk.core.config import ModelConfig
from augenmerk.core.extensions.readers.importing import import_model
from augenmerk.core.maps.roles import read_sample_roles
from augenmerk.core.model.heads import ATTENTION_KINDS, Head
from augenmerk.core.resources import bundled_model_path, example_sentences
from augenmerk.viz_app.extensions.examples.gallery import gallery
from augenmerk.viz_app.extensions.examples.menu import GALLERY_OF_ANOTHER_MODEL, GalleryPopup
from augenmerk.viz_app.extensions.presentation.presentation import caption
from augenmerk.viz_app.extensions.tabs.alignment.view import AlignmentTab
from augenmerk.viz_app.extensions.tabs.compare.view import CompareTab
from augenmerk.viz_app.extensions.tabs.heads.state import SampleChoice, read_sample
from augenmerk.viz_app.extensions.tabs.heads.view import HeadsTab
from augenmerk.viz_app.extensions.tabs.source.view import SourceTab
from augenmerk.viz_app.extensions.tabs.word.view import WordTab
from augenmerk.viz_app.extensions.tour.quick_tour import QuickTour
from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.state.experiment_editor import reset, toggle
from augenmerk.viz_app.state.experiment_state import Stale
from augenmerk.viz_app.state.head_roles import HERE, role_in_short, role_in_words
from augenmerk.viz_app.state.map_view_settings import SHOWN_MAPS
from augenmerk.viz_app.state.number_table import NumberTable
from tests.conftest import open_once
from tests.core.extensions.readers.marian_models import make_folder
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.parts import examples_of, target_menu_of

LIMIT_MS = 60_000

pytestmark = [pytest.mark.slow, pytest.mark.heavy]


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Marian model from German to English, as the bundled one, with random weights."""
    folder = make_folder(tmp_path_factory.mktemp("imported") / "opus-mt-de-en")
    file = folder.parent / "opus-mt-de-en.safetensors"
    import_model(folder).save(file)
    return file


@pytest.fixture
def window(make_window: MakeWindow, imported: Path) -> Iterator[MainWindow]:
    return make_window(imported, sentence="Ein Mann sieht viele Kinder.", loader=open_once)


def test_roles_are_those_of_the_sentence_shown_until_a_sample_was_measured(
    window: MainWindow, imported: Path
) -> None:
    state = window.state
    assert state.model is not None
    assert read_sample_roles(imported, state.model.run.model) is None
    bundled = read_sample_roles(bundled_model_path(), ModelConfig())
    assert bundled is not None, "there is something that could be mistaken for its own"
    assert state.roles.sample is None
    page = window.translate_page
    for kind in ATTENTION_KINDS:
        layers, heads = state.maps.shape(kind)
        for head in (Head(kind, layer, head) for layer in range(layers) for head in range(heads)):
            assert role_in_short(state.roles, head).endswith(HERE)
            assert role_in_words(state.roles, head).startswith(
                ("Its role in this sentence", "It has no clear role in this sentence")
            )
            state.intents.choose_head(head)
            assert not page.head.role.isVisible(), "one sentence is no sample"
            assert caption(state).partition("\n")[0].endswith(f"head {head.head + 1}"), "no role"


def test_measure_says_what_its_heads_do_over_a_sample_and_which(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    window.translate_page.arrangement.toggle_analysis()
    tab = next(tab for tab in window.analysis.tabs if isinstance(tab, HeadsTab))
    text = tmp_path / "three.txt"
    text.write_text(
        "Ein Mann läuft.\nEin Hund steht.\nKinder spielen im Schnee.\n", encoding="utf-8"
    )
    tab.use_file(text)
    tab.heads.question = "behaviour"
    qtbot.mouseClick(tab.job.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.state.roles.sample is not None, timeout=LIMIT_MS)
    head = Head("encoder", 0, 0)
    assert "three.txt" in role_in_short(window.state.roles, head)
    assert role_in_words(window.state.roles, head).startswith(
        ("Its role is", "It has no clear role over")
    )


def test_the_gallery_is_about_the_bundled_model_alone(
    window: MainWindow, make_window: MakeWindow, qtbot: QtBot
) -> None:
    panel = window.translate_page.sentence
    entries = [action.text() for action in examples_of(window).menu().actions()]
    assert entries == list(example_sentences()), "sentences, but nothing of what heads are to show"
    examples_of(window).open_gallery()  # as from the list of commands
    assert not panel.findChildren(GalleryPopup)
    assert window.state.notice == GALLERY_OF_ANOTHER_MODEL
    qtbot.waitUntil(lambda: GALLERY_OF_ANOTHER_MODEL in panel.note.text())
    assert gallery()
    with qtbot.waitSignal(window.model_opened, timeout=LIMIT_MS):
        window.open_model(None)
    qtbot.waitUntil(lambda: "gallery" in examples_of(window).menu().actions()[0].text())


def test_the_quick_tour_names_the_training_data_only_where_the_file_tells_it(
    window: MainWindow, qtbot: QtBot
) -> None:
    def last_sentence() -> str:
        steps = QuickTour(window.state)
        qtbot.addWidget(steps)
        while steps.next_button.text() != "Learn more":
            steps.next_button.click()
        qtbot.waitUntil(lambda: not window.state.request.is_running, timeout=LIMIT_MS)
        return steps.text.text()

    said = last_sentence()
    assert "Type a sentence of your own" in said
    assert "has learned from" not in said
    with qtbot.waitSignal(window.model_opened, timeout=LIMIT_MS):
        window.open_model(None)
    qtbot.waitUntil(lambda: not isinstance(window.state.shown, Stale), timeout=LIMIT_MS)
    assert "has learned from picture captions alone" in last_sentence()


def test_no_word_is_marked_as_rare_and_no_other_text_is_said_to_be_unknown(
    window: MainWindow, qtbot: QtBot
) -> None:
    panel = window.translate_page.sentence
    with qtbot.waitSignal(window.translation_shown, timeout=LIMIT_MS):
        panel.input.set_text("Er hat gestern seiner Mutter ein Buch gegeben.")
    assert window.state.translation is not None
    assert window.state.translation.coverage is None
    assert not panel.coverage_notice.isVisible()


def test_a_model_of_several_target_languages_translates_into_the_one_that_is_chosen(
    make_window: MakeWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    file = tmp_path / "opus-mt-de-mul.safetensors"
    import_model(
        make_folder(tmp_path / "opus-mt-de-mul", codes=True, tokenizer={"target_lang": "mul"})
    ).save(file)
    window = make_window(file, sentence="Ein Mann sieht viele Kinder.", loader=None)
    panel, state = window.translate_page.sentence, window.state
    assert target_menu_of(panel).isVisible()
    assert list(target_menu_of(panel).actions_by_name) == [">>nld<<", ">>fra<<", ">>deu<<"], (
        "by their names"
    )
    for code, name in ((">>fra<<", "French"), (">>nld<<", "Dutch")):
        with qtbot.waitSignal(window.translation_shown, timeout=LIMIT_MS):
            target_menu_of(panel).actions_by_name[code].trigger()
        assert state.translation is not None
        assert state.translation.source_text == f"{code} Ein Mann sieht viele Kinder."
        assert state.translation.source_tokens[0] == code
        assert state.languages == ("German", name)
        assert panel.rows._target_name.text() == name


def test_sentences_of_a_file_are_measured_in_the_chosen_target_language_or_their_own(
    make_window: MakeWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    file = tmp_path / "opus-mt-de-mul.safetensors"
    import_model(
        make_folder(tmp_path / "opus-mt-de-mul", codes=True, tokenizer={"target_lang": "mul"})
    ).save(file)
    window = make_window(file, sentence=">>fra<< Ein Mann sieht viele Kinder.", loader=None)
    window.translate_page.arrangement.toggle_analysis()
    tab = next(tab for tab in window.analysis.tabs if isinstance(tab, HeadsTab))
    text = tmp_path / "two.txt"
    text.write_text(
        "Ein Mann läuft.\tUn homme.\n>>nld<< Ein Hund steht.\tEen hond.\n", encoding="utf-8"
    )
    tab.use_file(text)
    qtbot.mouseClick(tab.job.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not tab.request.is_running, timeout=LIMIT_MS)
    importance = tab.heads.importance
    assert importance is not None
    assert importance.num_sentences == 2
    assert not any("without a target language" in note for note in importance.notes)
    assert read_sample(SampleChoice("file", text), 2, ">>fra<<").sources == (
        ">>fra<< Ein Mann läuft.",
        ">>nld<< Ein Hund steht.",
    )


@pytest.fixture(scope="module")
def deep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of 6 + 6 layers with 16 heads, as the tc-big models of OPUS-MT, but narrow: 288 maps."""
    folder = make_folder(
        tmp_path_factory.mktemp("deep") / "opus-mt-tc-big-de-en",
        **{
            "encoder_layers": 6,
            "decoder_layers": 6,
            "encoder_attention_heads": 16,
            "decoder_attention_heads": 16,
        },
    )
    file = folder.parent / "deep.safetensors"
    import_model(folder).save(file)
    return file


def test_every_tab_answers_for_a_model_of_288_heads(
    make_window: MakeWindow, qtbot: QtBot, deep: Path, imported: Path, tmp_path: Path
) -> None:
    window = make_window(deep, sentence="Ein Mann sieht viele Kinder.", loader=None)
    state, panel = window.state, window.analysis
    assert sum(layers * heads for layers, heads in map(state.maps.shape, ATTENTION_KINDS)) == 288
    window.translate_page.arrangement.toggle_analysis()
    for index, button in enumerate(panel.buttons):
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        tab = panel.tab
        assert tab is panel.tabs[index]
        text = tmp_path / "two.txt"
        text.write_text(
            "Ein Mann läuft.\tA man runs.\nEin Hund steht.\tA dog stands.\n", encoding="utf-8"
        )
        if isinstance(tab, HeadsTab):
            tab.use_file(text)
            qtbot.mouseClick(tab.job.start, Qt.MouseButton.LeftButton)
            assert tab.request.is_running
        if isinstance(tab, AlignmentTab):
            qtbot.mouseClick(tab.ranker.start, Qt.MouseButton.LeftButton)
            qtbot.waitUntil(lambda tab=tab: tab.request.progress is not None, timeout=LIMIT_MS)
            qtbot.mouseClick(tab.ranker.stop, Qt.MouseButton.LeftButton)
        if isinstance(tab, CompareTab):
            qtbot.mouseClick(tab.question_buttons["checkpoint"], Qt.MouseButton.LeftButton)
            tab.use_checkpoint(imported)
        qtbot.waitUntil(lambda tab=tab: not tab.request.is_running, timeout=LIMIT_MS)
        assert tab.request.problem == "", tab.tab.name
        if isinstance(tab, HeadsTab):
            assert tab.heads.importance is not None
            assert tab.heads.importance.of_kind("cross").shape == (6, 16)
        if isinstance(tab, SourceTab):
            assert tab.source.findings is not None
            assert all(word.without is not None for word in tab.source.words())
        if isinstance(tab, CompareTab):
            assert tab.comparing.comparison is not None
        state.submit(toggle(Head("cross", 5, 15)))
        for shown in (SHOWN_MAPS[index % len(SHOWN_MAPS)], "difference"):
            state.settings.shown = shown
            qtbot.waitUntil(lambda: not state.request.is_running, timeout=LIMIT_MS)
            assert not tab.grab().isNull()
        state.submit(reset)
        qtbot.waitUntil(lambda: not state.request.is_running, timeout=LIMIT_MS)


def test_the_word_tab_explains_words_of_an_imported_model(window: MainWindow, qtbot: QtBot) -> None:
    window.analysis.open_tab("word")
    tab, state = window.analysis.tab, window.state
    assert isinstance(tab, WordTab)

    def numbers() -> NumberTable:
        qtbot.waitUntil(
            lambda: tab.numbers() is not None or bool(tab.request.problem), timeout=LIMIT_MS
        )
        numbers = tab.numbers()
        assert numbers is not None, tab.request.problem
        return numbers

    parts = numbers()
    difference = parts.facts["difference"]
    assert isinstance(difference, float)
    values = [row[1] for row in parts.rows if isinstance(row[1], float)]
    assert sum(values) == pytest.approx(difference, abs=1e-9)
    assert abs(values[-1]) <= 1e-5 * sum(map(abs, values)), "the remainder"
    translation = state.translation
    assert translation is not None
    for view, num_rows in (
        ("lens", len(translation.predicted_tokens) * (3 * 2 + 1)),
        ("layers", 2 + 1),
    ):
        tab.show_view(view)  # type: ignore[arg-type]
        assert len(numbers().rows) == num_rows
    assert numbers().rows[-1][1] == translation.text
