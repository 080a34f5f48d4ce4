"""Save and load a model as one safetensors file that carries its own description.

The same format holds a finished model and, with the state of the optimiser beside it, an unfinished run.
"""

from __future__ import annotations

import os
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from oscsim.errors import ConfigError, SchemaError, SpecError
from oscsim.io import Arrays, read_file, write_file

from .language_model import LanguageModel
from .registry import config_class, model_class

KIND = "language_model"
SCHEMA_VERSION = 1
_CHARACTER_MODEL = "osn_character_model"
_MODEL, _OPTIMISER = "model.", "optimiser."


def shipped_checkpoint_path() -> Path:
    """Return where the trained checkpoint of this package lies.

    >>> shipped_checkpoint_path().name
    'alice_osn.safetensors'
    """
    return Path(__file__).parent / "checkpoints" / "alice_osn.safetensors"


def save_checkpoint(
    model: LanguageModel,
    path: str | os.PathLike[str],
    training: dict[str, Any] | None = None,
    optimiser: dict[str, Tensor] | None = None,
) -> None:
    """Write a model and its training record; equal models give equal bytes.

    The file appears under its name only when it is complete.

    Parameters
    ----------
    model : a model of finite float32 parameters.
    path : file to write; an existing one is replaced.
    training : where a run stands, plain JSON; None for a finished model.
    optimiser : the optimiser's state by name, see :mod:`models.training.state`.

    Raises
    ------
    SpecError
        the parameters are not float32, or something is not finite.
    """
    tensors = {_MODEL + name: tensor for name, tensor in model.state_dict().items()}
    tensors |= {_OPTIMISER + name: tensor for name, tensor in (optimiser or {}).items()}
    _require_savable(model, tensors)
    header = {"model": model.name, "config": asdict(cast(Any, model.config)), "record": model.record}
    if training is not None:
        header["training"] = training
    arrays = {name: tensor.detach().cpu().numpy() for name, tensor in tensors.items()}
    write_file(path, KIND, SCHEMA_VERSION, header, arrays)


def _require_savable(model: LanguageModel, tensors: dict[str, Tensor]) -> None:
    foreign = {str(parameter.dtype) for parameter in model.parameters()} - {"torch.float32"}
    if foreign:
        raise SpecError(
            f"given parameters of type {', '.join(sorted(foreign))}; expected float32; "
            "call model.float() before saving"
        )
    for name, tensor in tensors.items():
        if not bool(torch.isfinite(tensor).all()):
            raise SpecError(
                f"given {name} with NaN or infinity; expected finite numbers; nothing was written"
            )


def load_checkpoint(path: str | os.PathLike[str] | None = None) -> LanguageModel:
    """Read a model back, in evaluation mode, with its training record.

    Parameters
    ----------
    path : a file of :func:`save_checkpoint`, of a finished model or of a run; None for the shipped one.

    Raises
    ------
    SchemaError
        a foreign, truncated, altered or outdated file, or one whose arrays do not
        fit its own description.
    FileNotFoundError
        no such file.
    """
    source = shipped_checkpoint_path() if path is None else Path(path)
    header, arrays = read_checkpoint(source)
    model = _described_model(source, header)
    load_parameters(model, arrays, source)
    model.record = header["record"]
    return model.eval()


def read_checkpoint(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    """Return the header and the arrays of a checkpoint, without building its model.

    Raises
    ------
    SchemaError
        as of :func:`load_checkpoint`.
    """
    try:
        header, arrays = read_file(path, KIND, (SCHEMA_VERSION,))
    except SchemaError as error:
        if f"'{_CHARACTER_MODEL}' file" not in str(error):
            raise
        raise SchemaError(
            f"{path}: this is a character model of an earlier version, and models read bytes now; "
            "train again: oscsim train --model osn --data alice"
        ) from None
    kinds = {"model": str, "config": dict, "record": dict}
    odd = [key for key, kind in kinds.items() if not isinstance(header.get(key), kind)]
    if odd or not isinstance(header.get("training", {}), dict):
        raise SchemaError(
            f"{path}: given a header with {', '.join(sorted(header))}; expected a model, its config and a "
            "record; train again with this version"
        )
    unknown = sorted(name for name in arrays if not name.startswith((_MODEL, _OPTIMISER)))
    if unknown:
        raise SchemaError(
            f"{path}: given the array {unknown[0]!r}; expected names that begin with {_MODEL!r} or "
            f"{_OPTIMISER!r}; train again with this version"
        )
    return header, arrays


def load_parameters(model: LanguageModel, arrays: Arrays, source: str | os.PathLike[str]) -> None:
    """Put the model's arrays of a checkpoint into a model, whose shape they have to have."""
    wanted = {name: (tuple(value.shape), value.dtype) for name, value in model.state_dict().items()}
    state = {name: torch.tensor(array) for name, array in stripped(arrays, _MODEL).items()}
    given = {name: (tuple(value.shape), value.dtype) for name, value in state.items()}
    differing = sorted(name for name in wanted.keys() | given.keys() if wanted.get(name) != given.get(name))
    if differing:
        raise SchemaError(
            f"{source}: given arrays that differ from the model described in the header, first "
            f"{differing[0]}: {given.get(differing[0])}; expected {wanted.get(differing[0])}; "
            "train again with this version"
        )
    for name, value in state.items():  # save_checkpoint writes no such file
        if not bool(torch.isfinite(value).all()):
            raise SchemaError(
                f"{source}: given {name} with NaN or infinity; expected finite numbers; train again"
            )
    model.load_state_dict(state)


def optimiser_arrays(arrays: Arrays) -> dict[str, Tensor]:
    """Return the optimiser's state in a checkpoint, by name; empty for a finished model."""
    return {name: torch.tensor(array) for name, array in stripped(arrays, _OPTIMISER).items()}


def stripped(arrays: Arrays, prefix: str) -> Arrays:
    """Return the arrays whose names begin with a prefix, without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _described_model(source: Path, header: dict[str, Any]) -> LanguageModel:
    """Build the described model; its parameters are about to be replaced."""
    name, config = header["model"], header["config"]
    try:
        shape = config_class(name)
        names = {field.name for field in fields(shape)}
        if set(config) != names:
            raise ConfigError(f"expected a config of {', '.join(sorted(names))}")
        with torch.random.fork_rng(devices=[]):  # building draws parameters; the caller's draws stay
            # JSON has no tuples, and a frozen config no lists
            values = {key: tuple(item) if isinstance(item, list) else item for key, item in config.items()}
            return model_class(name)(shape(**values))
    except (ConfigError, SpecError, RuntimeError, TypeError, ValueError) as error:
        raise SchemaError(
            f"{source}: given the model {name!r} with an impossible config {config} ({error}); expected "
            "the config of a model; train again with this version"
        ) from None
