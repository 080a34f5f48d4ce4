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
# Circuits agree with their own phase reduction; what that is worth against the closed form each plan says.
_CIRCUITS = {
    "circuit": ("hw_targets.brian2.circuits.target", "CircuitTarget"),
    "spice": ("hw_targets.spice.target", "SpiceTarget"),
}


def target_names() -> tuple[str, ...]:
    """Targets that promise the closed form.

    >>> target_names()
    ('triton', 'brian2', 'lava')
    """
    return tuple(_LOADERS)


def circuit_names() -> tuple[str, ...]:
    """Targets that simulate oscillator circuits, on which the closed form is an approximation.

    >>> "circuit" in circuit_names()
    True
    """
    return tuple(_CIRCUITS)


def get_target(name: str) -> AbstractTarget[Any]:
    """The target of that name; imports no backend.

    Raises
    ------
    ConfigError
        unknown name.

    >>> get_target("brian2").name
    'brian2'
    """
    loaders = _LOADERS | _CIRCUITS
    if name not in loaders:
        raise ConfigError(f"target: given {name!r}, expected one of {', '.join(loaders)}")
    module, attribute = loaders[name]
    return getattr(import_module(module), attribute)()
