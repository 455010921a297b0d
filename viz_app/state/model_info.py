"""Facts about an opened model, read from the translator in its own thread. No torch."""

from dataclasses import dataclass
from pathlib import Path

from augenmerk.core.checkpoint.history import EpochRecord
from augenmerk.core.config import ModelConfig, RunConfig
from augenmerk.core.device import DeviceChoice
from augenmerk.core.maps.roles import SampleRoles
from augenmerk.core.plain_text import name_of
from augenmerk.core.quantities import counted
from augenmerk.core.resources import is_bundled_model


@dataclass(frozen=True)
class ModelInfo:
    """An opened checkpoint.

    Attributes:
        name: for display.
        path: the checkpoint file, None if it came from none.
        run: the configuration it was trained with.
        device: the one it runs on, and the reason for the choice.
        num_parameters: trainable parameters.
        roles: of its heads over a sample; None if no file with them is next to it.
        digest: of weights and vocabularies; experiment files name models by it.
        vocabulary_sizes: V of source and target.
        target_codes: tokens at the beginning of a sentence that choose the target language; empty
            for one pair.
        history: the course of its training; empty if unknown.
    """

    name: str
    path: Path | None
    run: RunConfig
    device: DeviceChoice
    num_parameters: int
    roles: SampleRoles | None = None
    digest: str = ""
    vocabulary_sizes: tuple[int, int] = (0, 0)
    target_codes: tuple[str, ...] = ()
    history: tuple[EpochRecord, ...] = ()

    @property
    def is_bundled(self) -> bool:
        """Whether it is the bundled model, which the gallery describes."""
        return is_bundled_model(self.path)

    @property
    def title(self) -> str:
        """The name; with its folder if the name alone ("best", "last") does not identify a run."""
        if self.path is not None and self.name in ("best", "last"):
            return f"{name_of(self.path.absolute().parent)}/{self.name}"
        return self.name

    @property
    def summary(self) -> str:
        """Name, layers and heads in one line."""
        model = self.run.model
        layers = f"{model.num_encoder_layers} + {model.num_decoder_layers} layers"
        return f"{self.title} · {layers} · {heads_in_words(model)}"

    @property
    def device_summary(self) -> str:
        """The device in one line: "CPU", "cuda:0: NVIDIA H200"."""
        return "CPU" if self.device.name == "cpu" else f"{self.device.name}: {self.device.reason}"


def heads_in_words(model: ModelConfig) -> str:
    """The number of heads of each layer: "8 heads", or "8 + 4 heads" of encoder and decoder."""
    heads = counted(model.decoder_heads, "head")
    return heads if model.decoder_heads == model.num_heads else f"{model.num_heads} + {heads}"
