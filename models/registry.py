"""The models by name."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from oscsim.errors import ConfigError

from .language_model import LanguageModel

_HOMES = {
    "transformer": ("transformer", "TransformerConfig", "TransformerLanguageModel"),
    "kuramoto": ("kuramoto", "KuramotoConfig", "KuramotoLanguageModel"),
    "osn": ("osn", "OSNConfig", "OSNLanguageModel"),
}


def model_names() -> tuple[str, ...]:
    """Return the names of the models.

    >>> model_names()
    ('transformer', 'kuramoto', 'osn')
    """
    return tuple(_HOMES)


def config_class(name: str) -> type[Any]:
    """Return the configuration dataclass of a model.

    >>> config_class("kuramoto").__name__
    'KuramotoConfig'
    """
    return _member(name, 1)


def model_class(name: str) -> type[LanguageModel]:
    """Return the class of a model.

    >>> model_class("osn").name
    'osn'
    """
    return _member(name, 2)


def _member(name: str, index: int) -> Any:
    if name not in _HOMES:
        raise ConfigError(f"model: given {name!r}, expected one of {', '.join(_HOMES)}")
    home = _HOMES[name]
    return getattr(import_module(f".{home[0]}", __package__), home[index])
