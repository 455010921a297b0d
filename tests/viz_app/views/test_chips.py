import math

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from tests.viz_app.synthetic import make_translation
from viz_app.state.translate_state import TranslateState
from viz_app.theme import Theme
from viz_app.views.alternatives_card import alternatives_html
from viz_app.views.chips import WordChips


@pytest.fixture
def chips(qtbot: QtBot, theme: Theme) -> WordChips:
    state = TranslateState()
    state.show(make_translation(target="a man is sleep|ing on a bench ."))
    chips = WordChips(state, theme)
    qtbot.addWidget(chips)
    chips.resize(300, 120)
    chips.show()
    chips.rebuild()
    return chips


def test_chips_wrap_within_the_width(chips: WordChips) -> None:
    places = [place for _, place in chips._chips]
    assert len(places) == 8
    assert all(place.right() <= 300 for place in places)
    assert len({place.top() for place in places}) > 1
    assert chips.heightForWidth(2000) < chips.heightForWidth(300)


def test_hovering_shows_probability_and_five_alternatives_of_every_piece(qtbot: QtBot, chips: WordChips) -> None:
    word, place = chips._chips[3]
    assert word.text == "sleeping"
    with qtbot.waitSignal(chips.word_hovered) as hovered:
        qtbot.mouseMove(chips, place.center())
    assert hovered.args == [word]
    assert chips.card.isVisible()
    text = chips.card.label.text()
    assert text.count("other0") == 2
    assert "sleep" in text
    qtbot.mouseMove(chips, chips.rect().bottomRight())
    assert not chips.card.isVisible()


def test_the_card_names_log_probability_and_probability() -> None:
    translation = make_translation(target="a man .")
    word = translation.target_words[2]
    text = alternatives_html(translation, word)
    assert "−1.25" in text
    assert f"{100 * math.exp(-1.25):.1f} %" in text


def test_tokens_are_shown_as_text_never_as_markup() -> None:
    translation = make_translation(target="<b>bold</b> .")
    assert "&lt;b&gt;bold" in alternatives_html(translation, translation.target_words[0])


def test_a_click_tells_the_word(qtbot: QtBot, chips: WordChips) -> None:
    word, place = chips._chips[1]
    with qtbot.waitSignal(chips.word_clicked) as clicked:
        qtbot.mouseClick(chips, Qt.MouseButton.LeftButton, pos=place.center())
    assert clicked.args == [word, "alone"]
