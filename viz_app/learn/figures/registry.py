"""All live figures, by the names that the texts of stations use. A new figure is one more line here."""

from typing import Final

from viz_app.learn.figures.decoding import BeamFigure, DecodingFigure
from viz_app.learn.figures.figure import StationFigure
from viz_app.learn.figures.kinds import KindsFigure
from viz_app.learn.figures.layers import LayersFigure
from viz_app.learn.figures.loud_and_needed import LoudAndNeededFigure
from viz_app.learn.figures.map import MapFigure
from viz_app.learn.figures.mask import MaskFigure
from viz_app.learn.figures.one_page import OnePageFigure
from viz_app.learn.figures.one_query import OneQueryFigure
from viz_app.learn.figures.one_weight import OneWeightFigure
from viz_app.learn.figures.positions import PositionsFigure
from viz_app.learn.figures.rates import RatesFigure, SmoothingFigure
from viz_app.learn.figures.tokens import TokensFigure
from viz_app.learn.figures.train_here import TrainHereFigure
from viz_app.learn.figures.word_parts import WordPartsFigure

FIGURES: Final[dict[str, type[StationFigure]]] = {
    "tokens": TokensFigure,
    "positions": PositionsFigure,
    "mask": MaskFigure,
    "kinds": KindsFigure,
    "map": MapFigure,
    "one-weight": OneWeightFigure,
    "one-query": OneQueryFigure,
    "layers": LayersFigure,
    "word-parts": WordPartsFigure,
    "loud-and-needed": LoudAndNeededFigure,
    "one-page": OnePageFigure,
    "rates": RatesFigure,
    "smoothing": SmoothingFigure,
    "train-here": TrainHereFigure,
    "decoding": DecodingFigure,
    "beam": BeamFigure,
}
