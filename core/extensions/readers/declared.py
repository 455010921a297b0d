"""The readers of this project: what recognizing a model needs to know. No torch."""

from .reader import FileReader, FolderReader

_PACKAGE = "augenmerk.core.extensions.readers"

MARIAN = FolderReader(
    name="Marian (OPUS-MT)",
    code=f"{_PACKAGE}.marian:MarianModel",
    order=10,
    settings_file="config.json",
    settings={"model_type": ["marian"], "architectures": [None, ["MarianMTModel"]]},
    weights="model.safetensors model.safetensors.index.json pytorch_model.bin "
    "pytorch_model.bin.index.json",
)
JOEYNMT = FolderReader(
    name="JoeyNMT",
    code=f"{_PACKAGE}.joeynmt:JoeyNMTModel",
    order=20,
    settings_file="config.yaml",
    weights="*.ckpt",
)
NOTEBOOK = FileReader(
    name="notebook 6",
    code=f"{_PACKAGE}.state_dicts:read_notebook",
    order=30,
    weight="encoder.tok_embedding.weight",
)
ANNOTATED = FileReader(
    name="The Annotated Transformer",
    code=f"{_PACKAGE}.state_dicts:read_annotated",
    order=40,
    weight="src_embed.0.lut.weight",
)
