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
    QToolButton[role="tab"] {{ padding: 3px 7px; }}
    QToolButton[role="tab"]:checked {{ font-weight: normal; }}
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
    QWidget#samplesContent, QWidget#runPanelContent {{ background: transparent; }}
    QLineEdit {{ background: {colors.panel}; color: {colors.text}; border: 1px solid {colors.border};
        border-radius: {CHIP_RADIUS}px; padding: 3px 6px; selection-background-color: {colors.accent}; }}
    QLineEdit:focus {{ border-color: {colors.accent}; }}
    QLineEdit:disabled {{ background: transparent; color: {colors.muted}; border-color: transparent; }}
    QSlider::groove:horizontal {{ height: 4px; background: {colors.raised}; border-radius: 2px; }}
    QSlider::sub-page:horizontal {{ background: {colors.accent}; border-radius: 2px; }}
    QSlider::handle:horizontal {{ background: {colors.accent}; border: 2px solid {colors.panel}; width: 14px;
        height: 14px; margin: -7px 0; border-radius: 9px; }}
    QSlider::handle:horizontal:focus {{ border-color: {colors.text}; }}
    QSlider::sub-page:horizontal:disabled, QSlider::handle:horizontal:disabled {{ background: {colors.border}; }}
    QLabel[role="number"] {{ color: {colors.text}; }}
    QLabel[role="step"] {{ color: {colors.accent}; font-weight: bold; }}
    """
