"""What the Train page adds to the application's stylesheet: fields, and values that open a menu."""

from viz_app.theme import CHIP_RADIUS, Theme


def stylesheet(theme: Theme) -> str:
    """The page's own rules in the colours of `theme`."""
    colors = theme.palette
    return f"""
    QToolButton[role="value"] {{ background: transparent; color: {colors.text}; border: 1px solid transparent;
        border-radius: {CHIP_RADIUS}px; padding: 3px 6px; }}
    QToolButton[role="value"]:hover {{ background: {colors.raised}; }}
    QToolButton[role="value"]:focus {{ border-color: {colors.accent}; }}
    QToolButton[role="value"]:disabled {{ color: {colors.muted}; }}
    QToolButton[role="tab"] {{ padding: 3px 9px; }}
    QToolButton[role="value-heading"] {{ background: transparent; color: {colors.text}; font-weight: bold;
        border: 1px solid transparent; border-radius: {CHIP_RADIUS}px; padding: 3px 6px; }}
    QToolButton[role="value-heading"]:hover {{ background: {colors.raised}; }}
    QToolButton[role="value-heading"]:focus {{ border-color: {colors.accent}; }}
    QToolButton[role="value-heading"]::menu-indicator {{ image: none; width: 0px; }}
    QToolButton[role="legend"], QToolButton[role="legend-run"] {{ background: transparent; color: {colors.muted};
        border: 1px solid transparent; border-radius: {CHIP_RADIUS}px; padding: 1px 6px;
        font-size: {theme.pixel_size("small")}px; }}
    QToolButton[role="legend-run"]:hover {{ background: {colors.raised}; color: {colors.text}; }}
    QToolButton[role="legend-run"]:focus {{ border-color: {colors.accent}; }}
    QToolButton[role="value"]::menu-indicator {{ image: none; width: 0px; }}
    QWidget#runPanelContent {{ background: transparent; }}
    QLineEdit {{ background: {colors.panel}; color: {colors.text}; border: 1px solid {colors.border};
        border-radius: {CHIP_RADIUS}px; padding: 3px 6px; selection-background-color: {colors.accent}; }}
    QLineEdit:focus {{ border-color: {colors.accent}; }}
    QLineEdit:disabled {{ background: transparent; color: {colors.muted}; border-color: transparent; }}
    QLabel[role="number"] {{ color: {colors.text}; }}
    QLabel[role="step"] {{ color: {colors.accent}; font-weight: bold; }}
    """
