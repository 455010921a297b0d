"""How an imported model is asked for a translation."""

from dataclasses import dataclass

from core.config.settings import Settings, require_boolean, require_integer, require_positive
from core.errors import ConfigError


@dataclass(frozen=True)
class DecodingConfig(Settings):
    """What a model's own settings say of decoding; the defaults are those of a model that was trained here.

    Attributes:
        forbidden_ids: target ids that are never chosen; None for padding, the start mark and, with subwords, the
            unknown token.
        max_steps: the most tokens of a translation, the end token included; None for a limit by the source's length.
        steps_per_source_token: that limit, for each source token; None for a generous one.
        min_steps: tokens of a translation before the end token may come.
        force_end: whether the last of them is the end token, whatever the model prefers.
        beam: the beam size that is used where none is asked for; 1 is greedy.
    """

    forbidden_ids: tuple[int, ...] | None = None
    max_steps: int | None = None
    steps_per_source_token: float | None = None
    min_steps: int = 0
    force_end: bool = False
    beam: int = 1

    def __post_init__(self) -> None:
        if self.forbidden_ids is not None:
            if not isinstance(self.forbidden_ids, tuple):
                raise ConfigError(
                    f"decoding: forbidden_ids is {self.forbidden_ids!r}; a list of ids was expected. Correct it."
                )
            for place, token_id in enumerate(self.forbidden_ids):
                require_integer("decoding", minimum=0, **{f"forbidden_ids[{place}]": token_id})
        if self.max_steps is not None:
            require_integer("decoding", max_steps=self.max_steps)
        if self.steps_per_source_token is not None:
            require_positive("decoding", steps_per_source_token=self.steps_per_source_token)
        require_integer("decoding", minimum=0, min_steps=self.min_steps)
        require_boolean("decoding", force_end=self.force_end)
        require_integer("decoding", beam=self.beam)
