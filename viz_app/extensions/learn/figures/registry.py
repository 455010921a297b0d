"""All live figures by their names in chapters. Add a new figure here."""

from typing import Final

from augenmerk.viz_app.extensions.learn.figures.attention import KindsFigure, MapFigure, MaskFigure, OneQueryFigure
from augenmerk.viz_app.extensions.learn.figures.clarity_vs_importance import ClarityVsImportanceFigure
from augenmerk.viz_app.extensions.learn.figures.decoding import BeamFigure, DecodingFigure
from augenmerk.viz_app.extensions.learn.figures.figure import ChapterFigure
from augenmerk.viz_app.extensions.learn.figures.logits import LayersFigure, SublayersFigure, WordPartsFigure
from augenmerk.viz_app.extensions.learn.figures.networks import NetworksFigure
from augenmerk.viz_app.extensions.learn.figures.one_page import OnePageFigure
from augenmerk.viz_app.extensions.learn.figures.one_weight import OneWeightFigure
from augenmerk.viz_app.extensions.learn.figures.sizes import PartSizesFigure, SizesFigure
from augenmerk.viz_app.extensions.learn.figures.tokens import PositionsFigure, TokensFigure
from augenmerk.viz_app.extensions.learn.figures.training import RatesFigure, SmoothingFigure, TrainHereFigure

FIGURES: Final[dict[str, type[ChapterFigure]]] = {
    "tokens": TokensFigure,
    "positions": PositionsFigure,
    "mask": MaskFigure,
    "kinds": KindsFigure,
    "map": MapFigure,
    "one-weight": OneWeightFigure,
    "one-query": OneQueryFigure,
    "layers": LayersFigure,
    "word-parts": WordPartsFigure,
    "sublayers": SublayersFigure,
    "networks": NetworksFigure,
    "clarity-vs-importance": ClarityVsImportanceFigure,
    "one-page": OnePageFigure,
    "sizes": SizesFigure,
    "part-sizes": PartSizesFigure,
    "rates": RatesFigure,
    "smoothing": SmoothingFigure,
    "train-here": TrainHereFigure,
    "decoding": DecodingFigure,
    "beam": BeamFigure,
}
