"""Save and load a model as one safetensors file that carries its own description."""

from __future__ import annotations

import os
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import torch

from oscsim.errors import SchemaError, SpecError
from oscsim.io import read_file, write_file

from .osn import OSNConfig, OSNLanguageModel
from .text import Vocabulary

KIND = "osn_character_model"
SCHEMA_VERSION = 1


def shipped_checkpoint_path() -> Path:
    """Return where the trained checkpoint of this package lies.

    >>> shipped_checkpoint_path().name
    'alice_osn.safetensors'
    """
    return Path(__file__).parent / "checkpoints" / "alice_osn.safetensors"


def save_checkpoint(model: OSNLanguageModel, path: str | os.PathLike[str]) -> None:
    """Write a model, its vocabulary and its training record; equal models give equal bytes.

    The file appears under its name only when it is complete.

    Parameters
    ----------
    model : float32 model.
    path : file to write; an existing one is replaced.

    Raises
    ------
    SpecError
        the model is not float32.
    """
    state = model.state_dict()
    foreign = {str(tensor.dtype) for tensor in state.values()} - {"torch.float32"}
    if foreign:
        raise SpecError(
            f"given parameters of type {', '.join(sorted(foreign))}; expected float32; "
            "call model.float() before saving"
        )
    header = {
        "config": asdict(model.config),
        "vocabulary": model.vocabulary.characters,
        "record": model.record,
    }
    arrays = {name: tensor.cpu().numpy() for name, tensor in state.items()}
    write_file(path, KIND, SCHEMA_VERSION, header, arrays)


def load_checkpoint(path: str | os.PathLike[str] | None = None) -> OSNLanguageModel:
    """Read a model back, in evaluation mode, with its training record.

    Parameters
    ----------
    path : a file of :func:`save_checkpoint`; None for the shipped one.

    Raises
    ------
    SchemaError
        a foreign, truncated, altered or outdated file, or one whose arrays do not
        fit its own description.
    FileNotFoundError
        no such file.

    >>> load_checkpoint().to_spec("Alice was beginning").n_oscillators
    19
    """
    source = shipped_checkpoint_path() if path is None else Path(path)
    header, arrays = read_file(source, KIND, (SCHEMA_VERSION,))
    model = _empty_model(source, header)
    state = {name: torch.tensor(array) for name, array in arrays.items()}
    wanted = {name: (tensor.shape, tensor.dtype) for name, tensor in model.state_dict().items()}
    given = {name: (tensor.shape, tensor.dtype) for name, tensor in state.items()}
    differing = sorted(name for name in wanted.keys() | given.keys() if wanted.get(name) != given.get(name))
    if differing:
        raise SchemaError(
            f"{source}: given arrays that differ from the model described in the header, first "
            f"{differing[0]}: {given.get(differing[0])}; expected {wanted.get(differing[0])}; "
            "train again with this version"
        )
    model.load_state_dict(state)
    model.record = header["record"]
    return model.eval()


def _empty_model(source: Path, header: dict[str, Any]) -> OSNLanguageModel:
    """Build the described model; its parameters are about to be replaced."""
    names = {field.name for field in fields(OSNConfig)}
    config, vocabulary = header.get("config"), header.get("vocabulary")
    complete = isinstance(vocabulary, str) and isinstance(header.get("record"), dict)
    if not (complete and isinstance(config, dict) and set(config) == names):
        raise SchemaError(
            f"{source}: given a header with {', '.join(sorted(header))}; expected a vocabulary, a record "
            f"and a config of {', '.join(sorted(names))}; train again with this version"
        )
    try:
        with torch.random.fork_rng(devices=[]):  # building draws parameters; the caller's draws stay
            return OSNLanguageModel(OSNConfig(**config), Vocabulary(str(vocabulary)))
    except (SpecError, RuntimeError, TypeError, ValueError) as error:
        raise SchemaError(
            f"{source}: given an impossible config {config} ({error}); expected the config of a "
            "model; train again with this version"
        ) from None
