"""The pages and parts of the window of this project, found by entry points. Their code is imported with the window."""

from augenmerk.viz_app.window_part import Page, Part

IMPORTS = Part("augenmerk.viz_app.models.import_part:ImportPart", order=5)
EXPORTS = Part("augenmerk.viz_app.export.part:ExportsPart", order=10)
EFFECT_OF_CHANGES = Part("augenmerk.viz_app.translate.effect_part:EffectPart", order=15)
PRESENTATION = Part("augenmerk.viz_app.presentation:PresentationPart", order=20)
LEARN = Page("augenmerk.viz_app.learn.part:LearnPart", order=30, title="Learn", key="Ctrl+2")
TRAIN = Page("augenmerk.viz_app.train.part:TrainPart", order=40, title="Train", key="Ctrl+3")
LESSONS = Part("augenmerk.viz_app.documents.lessons_part:LessonsPart", order=50)
QUICK_TOUR = Part("augenmerk.viz_app.translate.tour_part:TourPart", order=60)
