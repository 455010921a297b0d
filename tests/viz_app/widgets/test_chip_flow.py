from PySide6.QtCore import QRect

from viz_app.widgets.chip_flow import flow_chips


def test_chips_wrap_where_the_line_is_full() -> None:
    places = flow_chips([40, 40, 40], 20, 100, spacing=4, line_height=26, inset=3)
    assert places == [QRect(3, 0, 40, 20), QRect(47, 0, 40, 20), QRect(3, 26, 40, 20)]


def test_a_chip_wider_than_the_line_has_one_of_its_own() -> None:
    places = flow_chips([30, 500, 30], 20, 100, spacing=4, line_height=26)
    assert [(place.x(), place.y()) for place in places] == [(0, 0), (0, 26), (0, 52)]


def test_a_chip_that_just_fits_stays_in_its_line() -> None:
    assert flow_chips([48, 48], 20, 100, spacing=4, line_height=26)[1].topLeft().toTuple() == (52, 0)
    assert flow_chips([48, 48], 20, 99, spacing=4, line_height=26)[1].topLeft().toTuple() == (0, 26)
