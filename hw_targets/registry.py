"""Target names and their lazy loaders, nothing else."""

from importlib import import_module
from typing import Any

from oscsim.errors import ConfigError
from oscsim.target import AbstractTarget

_LOADERS = {
    "triton": ("hw_targets.triton.target", "TritonTarget"),
    "brian2": ("hw_targets.brian2.target", "Brian2Target"),
    "lava": ("hw_targets.lava.target", "LavaTarget"),
}


def target_names() -> tuple[str, ...]:
    """Names that :func:`get_target` takes.

    >>> target_names()
    ('triton', 'brian2', 'lava')
    """
    return tuple(_LOADERS)


def get_target(name: str) -> AbstractTarget[Any]:
    """The target of that name; imports no backend.

    Raises
    ------
    ConfigError
        unknown name.

    >>> get_target("brian2").name
    'brian2'
    """
    if name not in _LOADERS:
        raise ConfigError(f"target: given {name!r}, expected one of {', '.join(_LOADERS)}")
    module, attribute = _LOADERS[name]
    return getattr(import_module(module), attribute)()
