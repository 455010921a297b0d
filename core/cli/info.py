"""`augenmerk info`: what a checkpoint is: settings, parameters by module, history."""

import argparse
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from core.cli.options import add_device, load_translator
from core.plain_text import one_line
from core.text.languages import language_name

if TYPE_CHECKING:
    from core.checkpoint.history import EpochRecord
    from core.model.transformer import Transformer


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds `info`."""
    parser = commands.add_parser("info", help="describe a checkpoint", description=__doc__)
    parser.add_argument("checkpoint", nargs="?", type=Path, metavar="FILE", help="left out: the bundled model")
    add_device(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Prints the description. Raises `AugenmerkError`."""
    translator = load_translator(options)
    checkpoint = translator.checkpoint
    print(one_line(translator.path))
    print(one_line(f"preset      {translator.run_config.preset}: {translator.run_config.description}"))
    data, origin = translator.run_config.data, checkpoint.origin
    if not translator.run_config.is_copy_task:
        print(f"languages   {language_name(data.source_language)} to {language_name(data.target_language)}")
    if translator.target_codes:
        print(one_line(f"codes       {' '.join(translator.target_codes)}"))
    if origin is not None:
        revision = f", revision {origin.revision}" if origin.revision else ""
        licence = f", licence {origin.licence}" if origin.licence else ""
        print(one_line(f"imported    {origin.source} ({origin.format}{revision}{licence})"))
    if checkpoint.corpus:
        print(one_line(f"trained on  {checkpoint.corpus}"))
    print(one_line(f"written by  Augenmerk {checkpoint.written_by}"))
    print(f"device      {translator.device.name} ({translator.device.reason})")
    if origin is not None:
        print("\ndecoding")
        for name, value in checkpoint.decoding.to_dict().items():
            print(f"  {name:26} {value}")
    for part in ("model", "data") if origin is not None else ("model", "data", "training"):
        print(f"\n{part}")
        for name, value in getattr(translator.run_config, part).to_dict().items():
            print(one_line(f"  {name:26} {value}"))
    _print_parameters(translator.model)
    _print_history(translator.history)
    return 0


def parameters_by_module(model: "Transformer") -> Counter[str]:
    """Parameters of each part of the model; a shared matrix counts where it is met first."""
    counts: Counter[str] = Counter()
    for name, parameter in model.named_parameters():
        parts = name.split(".")
        counts[".".join(parts[:2]) if parts[0].endswith("_layers") else parts[0]] += parameter.numel()
    return counts


def _print_parameters(model: "Transformer") -> None:
    print("\nparameters")
    for name, count in parameters_by_module(model).items():
        print(f"  {_in_words(name):26} {count:>12,}")
    print(f"  {'all':26} {model.num_parameters:>12,}")


def _in_words(module: str) -> str:
    """“encoder layer 1” for `encoder_layers.0`: what is printed counts from 1."""
    name, _, layer = module.partition("_layers.")
    return f"{name} layer {int(layer) + 1}" if layer.isdecimal() else module


def _print_history(history: "tuple[EpochRecord, ...]") -> None:
    if not history:
        return
    print("\nhistory\n  epoch     step   training   validation   (batch mean)        rate   seconds")
    for record in history:
        print(
            f"  {record.epoch:5d} {record.step:8d} {record.training_loss:10.4f} {record.validation_loss:12.4f} "
            f"{record.validation_loss_batch_mean:14.4f} {record.learning_rate:11.2e} {record.seconds:9.1f}"
        )
