"""All live figures by their names in chapters. Add a new figure here."""

from typing import Final

from .attention import KindsFigure, MapFigure, MaskFigure, OneQueryFigure
from .clarity_vs_importance import ClarityVsImportanceFigure
from .decoding import BeamFigure, DecodingFigure
from .figure import ChapterFigure
from .logits import LayersFigure, SublayersFigure, WordPartsFigure
from .networks import NetworksFigure
from .one_page import OnePageFigure
from .one_weight import OneWeightFigure
from .sizes import PartSizesFigure, SizesFigure
from .tokens import PositionsFigure, TokensFigure
from .training import RatesFigure, SmoothingFigure, TrainHereFigure

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
