"""Hands that know beforehand what a page will show."""

import pytest

from augenmerk.viz_app.extensions.widgets import late_clicks


@pytest.fixture(autouse=True)
def _clicks_count_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test presses a button as soon as it appears, since it expects that one."""
    monkeypatch.setattr(late_clicks, "guard_ms", lambda: 0)
