"""What source and target are called in sentences. No Qt."""

from core.config import RunConfig

NEUTRAL = ("source", "target")
_NAMES = {"de": "German", "en": "English", "fr": "French", "cs": "Czech"}


def language_names(run: RunConfig | None) -> tuple[str, str]:
    """Source and target of a run, such as "German" and "English"; neutral words where there are no languages.

    The copy task has none; those of a run whose settings are lost (None) are not known.
    """
    if run is None or run.is_copy_task:
        return NEUTRAL
    source, target = run.data.source_language, run.data.target_language
    return _NAMES.get(source, source), _NAMES.get(target, target)
