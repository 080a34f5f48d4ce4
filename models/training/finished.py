"""Whether a run is complete, and whether what it has left is its own."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import torch

from oscsim.errors import SchemaError

from ..checkpoint import load_parameters, read_checkpoint
from ..language_model import LanguageModel
from .clock import is_seconds
from .folder import MODEL, RESULTS, read_json
from .saved import is_environments, is_whole, saved_environments

_MEASURED = ("validation_bits_per_byte", "test_bits_per_byte")


def finished_results(folder: Path, identity: dict[str, Any], model: LanguageModel) -> dict[str, Any] | None:
    """Return the results of a complete run, or None where the model or the results are not written yet.

    Parameters
    ----------
    folder : the run's folder.
    identity : what makes a run this one and no other, plain JSON.
    model : with the parameters of the run's checkpoint.

    Raises
    ------
    SchemaError
        a file that is damaged or of another run.
    """
    path, results = folder / MODEL, folder / RESULTS
    if not (path.exists() and results.exists()):
        return None
    try:
        record = _record(path, identity, model)
        return _results(results, record, identity)
    except SchemaError as error:
        raise SchemaError(
            f"{error}. This run was complete: remove {results} and resume it, and both files are made again"
        ) from None


def _record(path: Path, identity: dict[str, Any], model: LanguageModel) -> dict[str, Any]:
    """Return the record of a finished model, which has to be what the checkpoint was trained to."""
    header, arrays = read_checkpoint(path)
    record = header["record"]
    data = record.get("data") if isinstance(record.get("data"), dict) else {}
    own = {key: record.get(key) for key in ("model", "config", "training")}
    own["data"] = {key: data.get(key) for key in identity["data"]}  # the data may have another name
    described = {key: header[key] for key in ("model", "config")}
    if "training" in header or own != identity or described != {key: identity[key] for key in described}:
        raise SchemaError(f"{path}: given the state or the model of another run, expected this run's model")
    if not all(_is_number(record.get(key)) for key in _MEASURED):
        raise SchemaError(f"{path}: given a record without measurements, expected {', '.join(_MEASURED)}")
    trained = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    load_parameters(model, arrays, path)
    for name, parameter in model.named_parameters():
        if not torch.equal(parameter, trained[name]):
            raise SchemaError(f"{path}: given a {name} that differs from the checkpoint's, expected the same")
    return record


def _results(path: Path, record: dict[str, Any], identity: dict[str, Any]) -> dict[str, Any]:
    """Return the results, which have to be those of the finished model."""
    results = read_json(path)
    if not isinstance(results, dict):
        raise SchemaError(f"{path}: given {str(results)[:80]}, expected the results of a run")
    seconds, environment = results.get("wall_time_s"), results.get("environment")
    fine = {
        **{key: results.get(key) == value for key, value in record.items()},
        "seed": results.get("seed") == identity["training"]["seed"],
        "parameters": is_whole(results.get("parameters")),
        "environment": isinstance(environment, dict),
        "environments": is_environments(
            saved_environments({"environment": environment, **results}), environment
        ),
        "wall_time_s": "wall_time_s" in results and (seconds is None or is_seconds(seconds)),
    }
    odd = [key for key, value in fine.items() if not value]
    if odd:
        raise SchemaError(
            f"{path}: given {odd[0]} {str(results.get(odd[0]))[:80]}, expected that of {MODEL} or of a run"
        )
    return results


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0.0 <= value < math.inf
