"""Units: every constant, count and term carries one, and a sum that is not an energy is an error.

What is counted has a dimension of its own: joules per conversion times spikes is refused, not added.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pint

from oscsim.errors import OscsimError

Quantity = Any  # pint's type has no useful static form: magnitudes are floats or arrays of draws

_COUNTED = (
    "oscillator", "coupler", "span", "write", "conversion", "update", "lookup", "operation", "spike",
    "message", "hop", "step", "flop", "chip", "fin", "stage",
)  # fmt: skip


class UnitError(OscsimError, ValueError):
    """A quantity whose unit is not the one that was expected."""


def _registry() -> Any:
    registry = pint.UnitRegistry()
    for name in _COUNTED:
        registry.define(f"{name} = [{name}]")
    return registry


units: Any = _registry()


def quantity(value: Any, unit: str) -> Quantity:
    """A number (or array) with a unit, as ``quantity(35.5e-12, "J/operation")``.

    Raises
    ------
    UnitError
        pint knows no such unit.

    >>> quantity(2.0, "pJ/conversion") * quantity(3.0, "conversion")
    <Quantity(6.0, 'picojoule')>
    """
    return units.Quantity(value, _parsed(unit))


@lru_cache  # the same few units, for every term and every constant
def _parsed(unit: str) -> Any:
    try:
        return units.Unit(unit)
    except (pint.errors.UndefinedUnitError, ValueError, TypeError) as error:
        raise UnitError(f"unit {unit!r}: {error}") from None


def magnitude(value: Quantity, unit: str) -> Any:
    """The number of a quantity in a unit.

    Raises
    ------
    UnitError
        its dimension is another one.

    >>> magnitude(quantity(2.0, "pJ/conversion") * quantity(3.0, "spike"), "J")
    Traceback (most recent call last):
        ...
    oscsim.energy.units.UnitError: given picojoule * spike / conversion, expected J
    """
    try:
        return value.to(_parsed(unit)).magnitude
    except pint.errors.DimensionalityError:
        raise UnitError(f"given {value.units}, expected {unit}") from None


def multiplies(unit: str) -> bool:
    """Whether a unit can be multiplied: not degrees Celsius (an offset) and not decibels (a logarithm).

    >>> multiplies("kelvin"), multiplies("degC"), multiplies("dB")
    (True, False, False)
    """
    try:
        (quantity(1.0, unit) * quantity(1.0, "second")).to_base_units()
    except (pint.errors.OffsetUnitCalculusError, pint.errors.LogarithmicUnitCalculusError):
        return False
    return True


def same_dimension(unit: str, other: str) -> bool:
    """Whether two units measure the same thing."""
    return bool(_parsed(unit).dimensionality == _parsed(other).dimensionality)


def elementwise(function: Callable[..., Any], *arguments: Any) -> Any:
    """A numpy function of dimensionless quantities; draws stay draws."""
    return function(*(np.asarray(magnitude(argument, "")) for argument in arguments))
