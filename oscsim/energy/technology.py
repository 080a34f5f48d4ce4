"""What a CMOS node gives to every oscillator: supply, gate capacitance, sizes of layout, leakage."""

from oscsim.energy import scaling
from oscsim.energy.hardware import OscillatorHardware
from oscsim.energy.node_names import FITTED_NM
from oscsim.energy.units import Quantity
from oscsim.energy.valuation import Valuation

_LAYOUT_NM = 65.0


def supply(hardware: OscillatorHardware, v: Valuation) -> Quantity:
    """V_DD: the one that was chosen, or that of the node with its range."""
    return v("supply") if hardware.vdd_v is not None else scaling.supply_voltage(hardware.node_nm, v)


def inverter_width(hardware: OscillatorHardware, v: Valuation) -> Quantity:
    """n plus p width of a ring's stage: 65 nm scaled, fins of both devices, or as the rings of the fit."""
    node = hardware.node_nm
    if node == FITTED_NM:
        return v("ring_width_250nm")
    if node in scaling.FIN_NM:
        return 2.0 * v("fins_per_device") * v(f"fin_width_{node:g}nm")
    return scaling.scaled_width("ring_width", node, v)


def unit_width(hardware: OscillatorHardware, v: Valuation) -> Quantity:
    """Width that one unit of a coupling code switches."""
    node = hardware.node_nm
    if node in scaling.FIN_NM:
        return v("coupler_unit_fins") * v(f"fin_width_{node:g}nm")
    return _layout("coupler_unit_width", node, v)


def cell_pitch(hardware: OscillatorHardware, v: Valuation) -> Quantity:
    """Edge of a square oscillator cell: in proportion to the name of the node [DENNARD]."""
    return _layout("cell_pitch", hardware.node_nm, v)


def gate_capacitance(hardware: OscillatorHardware, v: Valuation, width: Quantity) -> Quantity:
    """Of gates of a total width.

    At 250 nm, where the fit knows only the product of capacitance and cycle energy factor: without the
    factor, and with the drains that the fit cannot tell from gates.
    """
    if hardware.node_nm == FITTED_NM:
        return v("ring_capacitance_per_width_250nm") / v("ring_cycle_energy_factor") * width
    return scaling.gate_capacitance(hardware.node_nm, v) * width


def node_capacitance(hardware: OscillatorHardware, v: Valuation, width: Quantity) -> Quantity:
    """Gates, drains and short wires of nodes whose transistors have this total width."""
    gates = gate_capacitance(hardware, v, width)
    return gates if hardware.node_nm == FITTED_NM else v("ring_node_load") * gates


def leakage(hardware: OscillatorHardware, v: Valuation, width: Quantity) -> Quantity:
    """Power that a total width leaks, W: off current times supply.

    Published planar high-performance devices from 65 to 22 nm all have the off current of the 65 nm row; at
    250 nm it is an upper bound.
    """
    node = hardware.node_nm
    own = None if node in scaling.FIN_NM else scaling.own_row("leakage_per_width", node, v)
    if own is None:
        own = v(f"leakage_per_width_{node if node in scaling.FIN_NM else _LAYOUT_NM:g}nm")
    return own * width * supply(hardware, v)


def _layout(name: str, node_nm: float, v: Valuation) -> Quantity:
    """A length of the layout: in proportion to the name of the node, of fins and the fitted rings, too."""
    if node_nm in scaling.FIN_NM or node_nm == FITTED_NM:
        return node_nm / _LAYOUT_NM * v(f"{name}_{_LAYOUT_NM:g}nm")
    return scaling.scaled_width(name, node_nm, v)
