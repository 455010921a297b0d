"""The colours of the window, of pages and of printed marks, light and dark. No Qt."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Palette:
    """Colours as "#rrggbb".

    Attributes:
        background: of the window, around the panels.
        panel: surface of a panel.
        raised: surface of a chip, a pressed tab, a field.
        border: hairlines and panel edges.
        grid: lines inside a chart.
        text: text, at least 4.5 : 1 on `background`, `panel` and `raised`.
        muted: secondary text, likewise.
        accent: selection, the first curve, the primary button; `on_accent` is text upon it.
        warm: items that deserve a second look: low probability, the second curve, notes.
        faint_accent: a pale accent: raw values of a smoothed curve.
        pointer: directs the eye of an audience; unlike all colours of maps.
    """

    background: str
    panel: str
    raised: str
    border: str
    grid: str
    text: str
    muted: str
    accent: str
    on_accent: str
    warm: str
    faint_accent: str
    pointer: str


LIGHT = Palette(
    background="#f7f7f5",
    panel="#ffffff",
    raised="#edf0f5",
    border="#dfe1e5",
    grid="#e8eaed",
    text="#1b1e23",
    muted="#61676f",
    accent="#2a63cc",
    on_accent="#ffffff",
    warm="#a84c08",
    faint_accent="#b7cbf1",
    pointer="#d6246e",
)
DARK = Palette(
    background="#17191c",
    panel="#1f2226",
    raised="#2b3036",
    border="#353a41",
    grid="#31363c",
    text="#e8eaed",
    muted="#a3a9b1",
    accent="#78a6ff",
    on_accent="#10131a",
    warm="#f2a34f",
    faint_accent="#3b5380",
    pointer="#57e0c8",
)
