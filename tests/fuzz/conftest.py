"""How long Hypothesis searches, and the translators that it types into."""

from hypothesis import HealthCheck, settings

from tests.core.translators import subword_translator, word_translator  # noqa: F401

_ALWAYS = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}
settings.register_profile("short", max_examples=60, derandomize=True, **_ALWAYS)
settings.register_profile("long", max_examples=3_000, **_ALWAYS)
settings.load_profile("short")
