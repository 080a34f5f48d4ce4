"""Energy of a ring oscillator: every stage charges its node once in a cycle."""

from oscsim.energy.hardware import OscillatorHardware
from oscsim.energy.node_names import FITTED_NM
from oscsim.energy.technology import inverter_width, node_capacitance, supply
from oscsim.energy.units import Quantity
from oscsim.energy.valuation import Valuation


def stage_width(hardware: OscillatorHardware, v: Valuation) -> Quantity:
    """Width of both transistors of a stage: the one that was chosen, or the design range of the node."""
    return v("ring_width") if hardware.width_um is not None else inverter_width(hardware, v)


def stage_capacitance(hardware: OscillatorHardware, v: Valuation) -> Quantity:
    """``kappa C_stage``: capacitance that makes ``C V^2`` the energy of one stage and cycle.

    kappa is 1 for the charge of the node and more for the current that both transistors conduct while they
    switch. 250 nm: ``(c_w W + c_0) residual``, kappa included, fitted on fabricated rings
    (:mod:`oscsim.energy.ring_fit`); other nodes: gate capacitance of the width, times the load, times kappa.
    """
    width = stage_width(hardware, v)
    if hardware.node_nm == FITTED_NM:
        fitted = v("ring_capacitance_per_width_250nm") * width + v("ring_fixed_capacitance_250nm")
        return fitted * v("ring_residual_250nm")
    return v("ring_cycle_energy_factor") * node_capacitance(hardware, v, width)


def cycle_energy(hardware: OscillatorHardware, v: Valuation) -> Quantity:
    """Energy of one oscillator and one carrier cycle, J: ``N_stage kappa C_stage V_DD^2``."""
    return v("ring_stages") * stage_capacitance(hardware, v) * supply(hardware, v) ** 2
