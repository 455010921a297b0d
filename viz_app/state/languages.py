"""What source and target are called in sentences. No Qt."""

from core.config import RunConfig
from core.text.languages import language_name

NEUTRAL = ("source", "target")


def language_names(run: RunConfig | None) -> tuple[str, str]:
    """Source and target of a run, such as "German" and "English"; neutral words where there are no languages.

    The copy task has none; those of a run whose settings are lost (None) are not known.
    """
    if run is None or run.is_copy_task:
        return NEUTRAL
    return language_name(run.data.source_language), language_name(run.data.target_language)
