"""How an imported model is asked for a translation."""

from dataclasses import dataclass

from augenmerk.core.config.settings import COUNT, COUNT_OR_ZERO, POSITIVE, Settings, setting
from augenmerk.core.errors import ConfigError


@dataclass(frozen=True)
class DecodingConfig(Settings, owner="decoding"):
    """Decoding according to a model's own settings; the defaults are those of a model that was trained here.

    `forbidden_ids` are target ids that are never chosen; None for padding, the start mark and, with subwords, the
    unknown token.
    """

    forbidden_ids: tuple[int, ...] | None = None
    max_steps: int | None = setting(
        None,
        "longest translation",
        "The most tokens of a translation, the end token included. None: limited by the length of the source.",
        COUNT,
        unit="tokens",
    )
    steps_per_source_token: float | None = setting(
        None, "tokens per source token", "The limit for each source token. None: a generous one.", POSITIVE
    )
    min_steps: int = setting(
        0, "shortest translation", "Tokens of a translation before the end token.", COUNT_OR_ZERO, unit="tokens"
    )
    force_end: bool = setting(
        False, "forced end", "Whether the last possible token is the end token, whatever the model prefers."
    )
    beam: int = setting(1, "beam size", "The beam size used by default; 1 is greedy.", COUNT)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.forbidden_ids is None:
            return
        if not isinstance(self.forbidden_ids, tuple):
            raise ConfigError(f"decoding: forbidden_ids is {self.forbidden_ids!r}. Use a list of ids.")
        for place, token_id in enumerate(self.forbidden_ids):
            if isinstance(token_id, bool) or not isinstance(token_id, int) or not COUNT_OR_ZERO.include(token_id):
                raise ConfigError(
                    f"decoding: forbidden_ids[{place}] is {token_id!r}. Use a whole number of at least 0."
                )
