"""The pages and parts of the window of this project, found by entry points.

Their code is imported with the window.
"""

from ..window_part import Page, Part

CLICKS = Part("augenmerk.viz_app.extensions.clicks.part:ClicksPart", order=1)
EXAMPLES = Part("augenmerk.viz_app.extensions.examples.part:ExamplesPart", order=2)
# after the examples, which it stands before
TARGET_LANGUAGE = Part("augenmerk.viz_app.extensions.words.target_menu:TargetPart", order=4)
DOCUMENTS = Part("augenmerk.viz_app.extensions.documents.part:DocumentsPart", order=3)
IMPORTS = Part("augenmerk.viz_app.extensions.imports.part:ImportPart", order=5)
EXPORTS = Part("augenmerk.viz_app.extensions.pictures.part:ExportsPart", order=10)
ROWS = Part("augenmerk.viz_app.extensions.rows.part:RowsPart", order=12)
WEIGHTS = Part("augenmerk.viz_app.extensions.weights.part:WeightsPart", order=13)
EFFECT_OF_CHANGES = Part("augenmerk.viz_app.extensions.words.effect_part:EffectPart", order=15)
CORRECTIONS = Part("augenmerk.viz_app.extensions.words.corrections_part:CorrectionsPart", order=16)
OVERLONG = Part("augenmerk.viz_app.extensions.words.overlong_part:OverlongPart", order=17)
LEFT_OUT = Part("augenmerk.viz_app.extensions.words.left_out_part:LeftOutPart", order=18)
PRESENTATION = Part(
    "augenmerk.viz_app.extensions.presentation.presentation:PresentationPart", order=20
)
LEARN = Page(
    "augenmerk.viz_app.extensions.learn.part:LearnPart", order=30, title="Learn", key="Ctrl+2"
)
TRAIN = Page(
    "augenmerk.viz_app.extensions.train.part:TrainPart", order=40, title="Train", key="Ctrl+3"
)
LESSONS = Part("augenmerk.viz_app.extensions.lessons.part:LessonsPart", order=50)
QUICK_TOUR = Part("augenmerk.viz_app.extensions.tour.part:TourPart", order=60)
CRASHES = Part("augenmerk.viz_app.extensions.crashes.part:CrashesPart", order=65)
HELP = Part("augenmerk.viz_app.extensions.help.part:HelpPart", order=70)
