"""Technology scaling: one named rule between published nodes, refused outside [DENNARD] [NEUROSIM].

Switching energy goes as gate capacitance times supply squared. Gate capacitance per width and supply are
interpolated between the planar nodes of one source, widths go with the node. FinFET nodes have numbers per
fin: they are used at exactly these nodes, never interpolated. A 250 nm ring comes from its own fit. A planar
node that has a row of its own, as ``supply_180nm`` in a user's file, takes the row and not the rule.
"""

import math

import numpy as np

from oscsim.energy.constants import ConstantError
from oscsim.energy.node_names import FIN_NM, FITTED_NM, PLANAR_ROWS, of_node, planar_row
from oscsim.energy.units import Quantity, magnitude, quantity
from oscsim.energy.valuation import Valuation

RULE = "gate capacitance per width times supply squared"
PLANAR_NM = (65.0, 45.0, 32.0, 22.0)


def gate_capacitance(node_nm: float, v: Valuation) -> Quantity:
    """Gate and fringe capacitance per transistor width, F/um.

    Planar nodes: between neighbouring published nodes a straight line in logarithms. FinFET nodes:
    capacitance of a fin over its effective width (twice its height plus its thickness).

    Raises
    ------
    ConstantError
        a node outside the rule: names the rule, its range, and what to do.

    >>> from oscsim.energy import load_constants
    >>> from oscsim.energy.valuation import Nominal
    >>> v = Nominal(load_constants())
    >>> [round(float(magnitude(gate_capacitance(node, v), "fF/um")), 2) for node in (65, 28, 14)]
    [1.11, 0.89, 1.13]
    """
    if node_nm in FIN_NM:
        return v(f"gate_cap_per_fin_{node_nm:g}nm") / v(f"fin_width_{node_nm:g}nm")
    own = own_row("gate_cap_per_width", node_nm, v)
    return _interpolated("gate_cap_per_width", node_nm, "farad/micrometer", v) if own is None else own


def supply_voltage(node_nm: float, v: Valuation) -> Quantity:
    """Nominal supply of a node, V: published, or between neighbouring published planar nodes."""
    if node_nm in FIN_NM or node_nm == FITTED_NM:
        return v(f"supply_{node_nm:g}nm")
    own = own_row("supply", node_nm, v)
    return _interpolated("supply", node_nm, "volt", v) if own is None else own


def own_row(name: str, node_nm: float, v: Valuation) -> Quantity | None:
    """The planar constant of exactly this node, None where there is none and a rule has to give it.

    Raises
    ------
    ConstantError
        a node outside the rule that has rows of its own, but not this one: names those that are missing.
    """
    row = of_node(name, node_nm)
    if row in v.book and planar_row(row) is not None:
        return v(row)
    rows = [of_node(one, node_nm) for one in PLANAR_ROWS]
    inside = PLANAR_NM[-1] <= node_nm <= PLANAR_NM[0]
    if not inside and planar_row(row) is not None and any(one in v.book for one in rows):
        missing = ", ".join(one for one in rows if one not in v.book)
        raise ConstantError(
            f"node {node_nm:g} nm: outside the scaling rule '{RULE}' a node needs all its rows in a file; "
            f"given some of them, still missing: {missing}"
        )
    return None


def width_factor(from_nm: float, to_nm: float) -> float:
    """``to/from``: transistor widths of the same circuit go with the node [DENNARD]; planar nodes only.

    >>> width_factor(65, 32.5)
    0.5
    """
    for node_nm in (from_nm, to_nm):
        _neighbours(node_nm)
    return to_nm / from_nm


def energy_factor(from_nm: float, to_nm: float, v: Valuation) -> Quantity:
    """Switching energy of the same circuit in another planar node, each at its nominal supply.

    ``(W' c' V'^2)/(W c V^2)`` with widths in proportion to the node. Between a planar and a FinFET node there
    is no such factor: how many fins replace a width is a choice of the circuit.

    >>> from oscsim.energy import load_constants
    >>> from oscsim.energy.valuation import Nominal
    >>> round(float(magnitude(energy_factor(65, 32, Nominal(load_constants())), "")), 3)
    0.273
    """
    capacitance = gate_capacitance(to_nm, v) / gate_capacitance(from_nm, v)
    supplies = supply_voltage(to_nm, v) / supply_voltage(from_nm, v)
    return width_factor(from_nm, to_nm) * (capacitance * supplies**2).to("")


def scaled_width(name: str, node_nm: float, v: Valuation) -> Quantity:
    """A length of the 65 nm row in proportion to the node, or the node's own row."""
    own = own_row(name, node_nm, v)
    return width_factor(PLANAR_NM[0], node_nm) * v(of_node(name, PLANAR_NM[0])) if own is None else own


def _interpolated(name: str, node_nm: float, unit: str, v: Valuation) -> Quantity:
    """A constant of the planar nodes at a node between them: straight line in logarithms."""
    below, above = _neighbours(node_nm)
    low = magnitude(v(f"{name}_{below:g}nm"), unit)
    if below == above:
        return quantity(low, unit)
    high = magnitude(v(f"{name}_{above:g}nm"), unit)
    share = math.log(node_nm / below) / math.log(above / below)
    return quantity(np.asarray(low) ** (1.0 - share) * np.asarray(high) ** share, unit)


def _neighbours(node_nm: float) -> tuple[float, float]:
    """The published planar nodes around a node, equal where it is one of them."""
    if not PLANAR_NM[-1] <= node_nm <= PLANAR_NM[0]:
        raise _refusal(node_nm)
    below = max(node for node in PLANAR_NM if node <= node_nm)
    above = min(node for node in PLANAR_NM if node >= node_nm)
    return below, above


def _refusal(node_nm: float) -> ConstantError:
    fins = " and ".join(f"{node:g}" for node in sorted(FIN_NM, reverse=True))
    if node_nm in FIN_NM:
        advice = f"{node_nm:g} nm has numbers per fin: give widths in fins, or take a planar node"
    elif node_nm == FITTED_NM:
        advice = "250 nm is known from its own fit to fabricated rings only: it carries over to no other node"
    else:
        rows = ", ".join(of_node(row, node_nm) for row in PLANAR_ROWS)
        advice = f"take a node inside, or bring {rows} in a file of your own (--constants)"
    return ConstantError(
        f"scaling rule '{RULE}': given {node_nm:g} nm, it holds from {PLANAR_NM[-1]:g} to "
        f"{PLANAR_NM[0]:g} nm (planar), and per fin at exactly {fins} nm; {advice}"
    )
