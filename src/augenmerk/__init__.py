"""The public Python API: what scripts and notebooks may rely on.

Everything else can change between releases.

    from augenmerk import Experiment, Head, HeadScaled, Translator

    translator = Translator.load()
    changes = (HeadScaled(Head("cross", 1, 4)),)
    translation = translator.run(Experiment("Zwei Hunde spielen.", interventions=changes))
    translation.maps.cross  # [layer, head, step, source token]

    # a model at Hugging Face, or a folder or file of another project
    import_model("Helsinki-NLP/opus-mt-de-en").save("opus.safetensors")
    translator = Translator.load("opus.safetensors")

All counting starts at 0. Importing this module imports nothing heavy: each name is fetched when it
is first used, so torch is there only once `Translator` or `model_digest` is.

Neither importing nor translating changes the process: no environment variable, no setting of torch.
A script that has the process to itself can begin with

    from augenmerk import tune_process

    tune_process()  # before torch is imported, so before `Translator` is

It sets how threads wait for each other, as the commands and the window do, which is faster on a
busy machine.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from augenmerk.core import __version__
    from augenmerk.core.checkpoint.file import Checkpoint, model_digest
    from augenmerk.core.counting import CountedText
    from augenmerk.core.device import DeviceChoice
    from augenmerk.core.errors import (
        AnalysisError,
        ArgumentError,
        AugenmerkError,
        CheckpointError,
        ConfigError,
        CorpusError,
        DeviceError,
        ExperimentError,
        ExperimentFileError,
        ModelImportError,
        NonFiniteError,
        StorageError,
        TextError,
        TrainingError,
    )
    from augenmerk.core.extensions.analyses.alignment import AlignmentScore, GoldPair, read_gold
    from augenmerk.core.extensions.analyses.alignment_ranking import (
        Aligner,
        AlignerRanking,
        AlignerScore,
        WordLink,
        align,
        rank_aligners,
    )
    from augenmerk.core.extensions.analyses.alti import contributions_of
    from augenmerk.core.extensions.analyses.contributions import Contributions
    from augenmerk.core.extensions.analyses.decoder_lens import DecoderLens, decoder_lens
    from augenmerk.core.extensions.analyses.importance import HeadImportance, head_importance
    from augenmerk.core.extensions.analyses.logit_attribution import (
        encoder_parts,
        logit_parts,
        measure_parts,
        word_parts,
    )
    from augenmerk.core.extensions.analyses.logit_lens import Depth, LogitLens, logit_lens
    from augenmerk.core.extensions.analyses.occlusion import (
        OccludedWord,
        SourceOcclusion,
        occlude_source_words,
    )
    from augenmerk.core.extensions.analyses.pairs import (
        PairAttribution,
        WordPair,
        attribute_pairs,
        pairs_importance,
        read_pairs,
    )
    from augenmerk.core.extensions.analyses.parts import (
        CellParts,
        ComponentGroup,
        Origin,
        PartsTable,
        RowParts,
    )
    from augenmerk.core.extensions.analyses.parts_of_words import EncoderParts, WordParts
    from augenmerk.core.extensions.analyses.query_key import query_key_parts
    from augenmerk.core.extensions.readers.importing import import_model
    from augenmerk.core.extensions.readers.model import ImportedModel, ImportOptions, ImportSummary
    from augenmerk.core.extensions.training.comparison import compare_translations
    from augenmerk.core.extensions.training.events import TrainingEvent, TrainingFinished
    from augenmerk.core.extensions.training.public import evaluate, train
    from augenmerk.core.extensions.training.scores import (
        CorpusScores,
        ScoreDifference,
        SentenceDifference,
        SystemComparison,
    )
    from augenmerk.core.inference.compiled import CompiledTransformer
    from augenmerk.core.maps.comparing import MapDifference, difference
    from augenmerk.core.maps.left_out import left_out_words
    from augenmerk.core.maps.measures import measure
    from augenmerk.core.maps.selection import Axis, LabelledMap, Selection
    from augenmerk.core.model.heads import Head, Network, SentenceChanges
    from augenmerk.core.model.sites import PairPass
    from augenmerk.core.model.transformer import Transformer
    from augenmerk.core.process import tune_process
    from augenmerk.core.translation.compilation import CompiledExperiment
    from augenmerk.core.translation.decoding import DecodingRules
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
    from augenmerk.core.translation.notes import Note
    from augenmerk.core.translation.result import (
        Alternative,
        AttentionMaps,
        Coverage,
        ExperimentResult,
        RareWord,
        RespelledWord,
        Translation,
        TranslationStoppedError,
        Word,
    )
    from augenmerk.core.translation.running import Hypothesis
    from augenmerk.core.translation.translator import Translator
    from augenmerk.viz_app.extensions.notebook.plot import map_provenance, plot_map, save_figure

__all__ = [
    "Aligner",
    "AlignerRanking",
    "AlignerScore",
    "AlignmentScore",
    "Alternative",
    "AnalysisError",
    "ArgumentError",
    "AttentionMaps",
    "AttentionRow",
    "AugenmerkError",
    "Axis",
    "Beam",
    "CausalMaskLifted",
    "CellParts",
    "Checkpoint",
    "CheckpointError",
    "CompiledExperiment",
    "CompiledTransformer",
    "ComponentGroup",
    "ConfigError",
    "Contributions",
    "CorpusError",
    "CorpusScores",
    "CountedText",
    "Coverage",
    "DecoderLens",
    "DecodingRules",
    "Depth",
    "DeviceChoice",
    "DeviceError",
    "EncoderParts",
    "Experiment",
    "ExperimentError",
    "ExperimentFileError",
    "ExperimentResult",
    "FeedForwardScaled",
    "ForcedToken",
    "GivenTarget",
    "GoldPair",
    "Greedy",
    "Head",
    "HeadImportance",
    "HeadScaled",
    "Hypothesis",
    "ImportOptions",
    "ImportSummary",
    "ImportedModel",
    "Intervention",
    "LabelledMap",
    "LogitLens",
    "MapDifference",
    "ModelImportError",
    "ModelReference",
    "Network",
    "NonFiniteError",
    "Note",
    "OccludedWord",
    "Origin",
    "Output",
    "PairAttribution",
    "PairPass",
    "PartsTable",
    "RareWord",
    "RespelledWord",
    "RowParts",
    "SavedExperiment",
    "ScoreDifference",
    "Selection",
    "SentenceChanges",
    "SentenceDifference",
    "SoftmaxTemperature",
    "SourceOcclusion",
    "SourceWordRemoved",
    "SourceWordReplaced",
    "StorageError",
    "SystemComparison",
    "TextError",
    "TrainingError",
    "TrainingEvent",
    "TrainingFinished",
    "Transformer",
    "Translation",
    "TranslationStoppedError",
    "Translator",
    "Word",
    "WordLink",
    "WordPair",
    "WordParts",
    "__version__",
    "align",
    "attribute_pairs",
    "compare_translations",
    "contributions_of",
    "decoder_lens",
    "difference",
    "encoder_parts",
    "evaluate",
    "experiment_from_json",
    "experiment_to_json",
    "head_importance",
    "import_model",
    "left_out_words",
    "logit_lens",
    "logit_parts",
    "map_provenance",
    "measure",
    "measure_parts",
    "model_digest",
    "occlude_source_words",
    "pairs_importance",
    "plot_map",
    "query_key_parts",
    "rank_aligners",
    "read_experiment_file",
    "read_gold",
    "read_pairs",
    "save_figure",
    "train",
    "tune_process",
    "word_parts",
    "write_experiment_file",
]

_NAMES_BY_MODULE = {
    "augenmerk.core.translation.running": ("Hypothesis",),
    "augenmerk.core.translation.notes": ("Note",),
    "augenmerk.core.translation.decoding": ("DecodingRules",),
    "augenmerk.core.translation.compilation": ("CompiledExperiment",),
    "augenmerk.core.model.transformer": ("Transformer",),
    "augenmerk.core.model.sites": ("PairPass",),
    "augenmerk.core.inference.compiled": ("CompiledTransformer",),
    "augenmerk.core.extensions.training.public": (
        "evaluate",
        "train",
    ),
    "augenmerk.core.extensions.training.events": (
        "TrainingEvent",
        "TrainingFinished",
    ),
    "augenmerk.core.counting": ("CountedText",),
    "augenmerk.core.device": ("DeviceChoice",),
    "augenmerk.core": ("__version__",),
    "augenmerk.core.extensions.analyses.alignment": ("AlignmentScore", "GoldPair", "read_gold"),
    "augenmerk.core.extensions.analyses.alignment_ranking": (
        "Aligner",
        "AlignerRanking",
        "AlignerScore",
        "WordLink",
        "align",
        "rank_aligners",
    ),
    "augenmerk.core.extensions.analyses.alti": ("contributions_of",),
    "augenmerk.core.maps.comparing": ("MapDifference", "difference"),
    "augenmerk.core.extensions.analyses.contributions": ("Contributions",),
    "augenmerk.core.extensions.analyses.decoder_lens": ("DecoderLens", "decoder_lens"),
    "augenmerk.core.extensions.analyses.importance": ("HeadImportance", "head_importance"),
    "augenmerk.core.extensions.analyses.logit_attribution": (
        "encoder_parts",
        "logit_parts",
        "measure_parts",
        "word_parts",
    ),
    "augenmerk.core.extensions.analyses.logit_lens": ("Depth", "LogitLens", "logit_lens"),
    "augenmerk.core.maps.left_out": ("left_out_words",),
    "augenmerk.core.maps.measures": ("measure",),
    "augenmerk.core.extensions.analyses.occlusion": (
        "OccludedWord",
        "SourceOcclusion",
        "occlude_source_words",
    ),
    "augenmerk.core.extensions.analyses.pairs": (
        "PairAttribution",
        "WordPair",
        "attribute_pairs",
        "pairs_importance",
        "read_pairs",
    ),
    "augenmerk.core.extensions.analyses.parts_of_words": ("EncoderParts", "WordParts"),
    "augenmerk.core.extensions.analyses.parts": (
        "CellParts",
        "ComponentGroup",
        "Origin",
        "PartsTable",
        "RowParts",
    ),
    "augenmerk.core.extensions.analyses.query_key": ("query_key_parts",),
    "augenmerk.core.maps.selection": ("Axis", "LabelledMap", "Selection"),
    "augenmerk.core.checkpoint.file": (
        "Checkpoint",
        "model_digest",
    ),
    "augenmerk.core.errors": tuple(
        name for name in __all__ if name.endswith("Error") and name != "TranslationStoppedError"
    ),
    "augenmerk.core.extensions.readers.importing": ("import_model",),
    "augenmerk.core.extensions.readers.model": ("ImportOptions", "ImportSummary", "ImportedModel"),
    "augenmerk.core.extensions.training.comparison": ("compare_translations",),
    "augenmerk.core.extensions.training.scores": (
        "CorpusScores",
        "ScoreDifference",
        "SentenceDifference",
        "SystemComparison",
    ),
    "augenmerk.core.model.heads": ("SentenceChanges", "Head", "Network"),
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
        "TranslationStoppedError",
        "Word",
    ),
    "augenmerk.core.translation.translator": ("Translator",),
    "augenmerk.viz_app.extensions.notebook.plot": ("map_provenance", "plot_map", "save_figure"),
}
_MODULES = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names}


def __getattr__(name: str) -> Any:
    """Fetches a public name when it is first used."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value = getattr(import_module(_MODULES[name]), name)
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("augenmerk."):
            raise
        raise ImportError(
            f"augenmerk.{name} needs the extension {error.name}, which is not installed."
        ) from error
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
