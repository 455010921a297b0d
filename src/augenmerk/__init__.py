"""The public Python API: what scripts and notebooks may rely on. Everything else can change between releases.

    from augenmerk import Experiment, Head, HeadScaled, Translator

    translator = Translator.load()
    translation = translator.run(Experiment("Zwei Hunde spielen.", interventions=(HeadScaled(Head("cross", 1, 4)),)))
    translation.maps.cross  # [layer, head, step, source token]

    import_model("Helsinki-NLP/opus-mt-de-en").save("opus.safetensors")  # or a folder or file of another project
    translator = Translator.load("opus.safetensors")

All counting starts at 0. Importing this module imports nothing heavy: each name is fetched when it is first used, so
torch is there only once `Translator` or `model_digest` is.

Neither importing nor translating changes the process: no environment variable, no setting of torch. A script that has
the process to itself can begin with

    from augenmerk import tune_process

    tune_process()  # before torch is imported, so before `Translator` is

It sets how threads wait for each other, as the commands and the window do, which is faster on a busy machine.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from augenmerk.core import __version__
    from augenmerk.core.checkpoint.file import model_digest
    from augenmerk.core.errors import (
        AnalysisError,
        AugenmerkError,
        CheckpointError,
        ConfigError,
        DeviceError,
        ExperimentError,
        ExperimentFileError,
        ModelImportError,
        StorageError,
        TextError,
    )
    from augenmerk.core.interop.importing import import_model
    from augenmerk.core.interop.model import ImportedModel, ImportOptions, ImportSummary
    from augenmerk.core.model.heads import Head, Network
    from augenmerk.core.process import tune_process
    from augenmerk.core.translation.experiment import (
        AttentionRow,
        Beam,
        CausalMaskLifted,
        Experiment,
        FeedForwardScaled,
        ForcedToken,
        GivenTarget,
        Greedy,
        HeadScaled,
        Intervention,
        Output,
        SoftmaxTemperature,
        SourceWordRemoved,
        SourceWordReplaced,
    )
    from augenmerk.core.translation.experiment_file import (
        ModelReference,
        SavedExperiment,
        experiment_from_json,
        experiment_to_json,
        read_experiment_file,
        write_experiment_file,
    )
    from augenmerk.core.translation.result import (
        Alternative,
        AttentionMaps,
        Coverage,
        ExperimentResult,
        RareWord,
        RespelledWord,
        Translation,
        Word,
    )
    from augenmerk.core.translation.translator import Translator

__all__ = [
    "Alternative",
    "AnalysisError",
    "AttentionMaps",
    "AttentionRow",
    "AugenmerkError",
    "Beam",
    "CausalMaskLifted",
    "CheckpointError",
    "ConfigError",
    "Coverage",
    "DeviceError",
    "Experiment",
    "ExperimentError",
    "ExperimentFileError",
    "ExperimentResult",
    "FeedForwardScaled",
    "ForcedToken",
    "GivenTarget",
    "Greedy",
    "Head",
    "HeadScaled",
    "ImportOptions",
    "ImportSummary",
    "ImportedModel",
    "Intervention",
    "ModelImportError",
    "ModelReference",
    "Network",
    "Output",
    "RareWord",
    "RespelledWord",
    "SavedExperiment",
    "SoftmaxTemperature",
    "SourceWordRemoved",
    "SourceWordReplaced",
    "StorageError",
    "TextError",
    "Translation",
    "Translator",
    "Word",
    "__version__",
    "experiment_from_json",
    "experiment_to_json",
    "import_model",
    "model_digest",
    "read_experiment_file",
    "tune_process",
    "write_experiment_file",
]

_NAMES_BY_MODULE = {
    "augenmerk.core": ("__version__",),
    "augenmerk.core.checkpoint.file": ("model_digest",),
    "augenmerk.core.errors": tuple(name for name in __all__ if name.endswith("Error")),
    "augenmerk.core.interop.importing": ("import_model",),
    "augenmerk.core.interop.model": ("ImportOptions", "ImportSummary", "ImportedModel"),
    "augenmerk.core.model.heads": ("Head", "Network"),
    "augenmerk.core.process": ("tune_process",),
    "augenmerk.core.translation.experiment": (
        "AttentionRow",
        "Beam",
        "CausalMaskLifted",
        "Experiment",
        "FeedForwardScaled",
        "ForcedToken",
        "GivenTarget",
        "Greedy",
        "HeadScaled",
        "Intervention",
        "Output",
        "SoftmaxTemperature",
        "SourceWordRemoved",
        "SourceWordReplaced",
    ),
    "augenmerk.core.translation.experiment_file": (
        "ModelReference",
        "SavedExperiment",
        "experiment_from_json",
        "experiment_to_json",
        "read_experiment_file",
        "write_experiment_file",
    ),
    "augenmerk.core.translation.result": (
        "Alternative",
        "AttentionMaps",
        "Coverage",
        "ExperimentResult",
        "RareWord",
        "RespelledWord",
        "Translation",
        "Word",
    ),
    "augenmerk.core.translation.translator": ("Translator",),
}
_MODULES = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names}


def __getattr__(name: str) -> Any:
    """Fetches a public name when it is first used."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
