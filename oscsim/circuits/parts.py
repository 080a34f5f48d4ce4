"""Component values in SI units, one record per family: what a simulator or a netlist is made of.

Units: time ``natural_s``, voltage V0 = ``voltage_v``, impedance Z = ``impedance_ohm``, hence current V0/Z and
capacitance natural_s/Z. A state x of :class:`oscsim.circuits.Circuit` is a voltage ``V0 x`` (LC: the second
one a current ``V0 x/Z``; the comparator of a relaxation oscillator keeps its unit of 1).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oscsim.circuits.circuit import Circuit
from oscsim.oscillators.lc import LC
from oscsim.oscillators.relaxation import Relaxation
from oscsim.oscillators.ring import Ring
from oscsim.oscillators.stuart_landau import StuartLandau

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Parts:
    """What every family has.

    Parameters
    ----------
    unit_s, unit_v, unit_a : natural units of time, voltage and current.
    capacitance_f : (B, n) of every capacitor of an oscillator, as built.
    coupler_s : (M, n, n) signed conductance ``kappa/Z`` (resistor: R = 1/|.|, negative = crossed nodes) or
        transconductance; row = driven, 0 where there is none. Inverter: saturation current over V0.
    delay_s : of every coupler. noise_a : one-sided white current density into each port, A/sqrt(Hz).
    """

    unit_s: float
    unit_v: float
    unit_a: float
    capacitance_f: Array
    coupler_s: Array
    delay_s: float
    noise_a: float


@dataclass(frozen=True, eq=False)
class LCParts(Parts):
    """``C V' = -I + g1 V - g3 V^3 + I_c``, ``L I' = V``; g1, g3 (B, n)."""

    inductance_h: float
    conductance_s: Array
    cubic_a_per_v3: Array


@dataclass(frozen=True, eq=False)
class RingParts(Parts):
    """``C V_k' = -V_k/R - I_k tanh(V_(k-1)/V_in) + I_c`` (node 0); I_k ``saturation_a`` (stages, B, n)."""

    resistance_ohm: float
    saturation_a: Array
    input_v: float


@dataclass(frozen=True, eq=False)
class RelaxationParts(Parts):
    """``C V' = G(s) (s V0/2 - V) + I_c``, ``tau s' = tanh((V_h s - V)/V_in) - s``.

    G runs from ``1/charge_ohm`` at s = 1 to ``1/discharge_ohm`` at s = -1; V_h ``hysteresis_v`` and tau
    ``comparator_s`` are (B, n).
    """

    charge_ohm: float
    discharge_ohm: float
    hysteresis_v: Array
    input_v: float
    comparator_s: Array


@dataclass(frozen=True, eq=False)
class StuartLandauParts(Parts):
    """``C Z' = [j g + (G/2)(1 + j shear)(1 - |Z/V0|^2)] Z + I_c``, G ``limiting_s`` (B, n)."""

    gyration_s: float
    limiting_s: Array
    shear: float


def parts(circuit: Circuit) -> LCParts | RingParts | RelaxationParts | StuartLandauParts:
    """The SI values of a circuit.

    >>> from oscsim import FixedOrder, FrequencyCoupling, PhaseLayerSpec
    >>> from oscsim.circuits import CircuitDesign, lower_circuit
    >>> spec = PhaseLayerSpec(omega=[[[0.0], [0.5]]], theta=[[[0.0], [0.0]]], gain=[1.0], carrier_hz=1e9,
    ...     coupling=FrequencyCoupling(alpha=[0.0]), order_parameter=FixedOrder(r=[1.0]), time_unit_s=1e-8)
    >>> tank = parts(lower_circuit(spec, CircuitDesign(mu=0.1)))
    >>> round(tank.inductance_h * 1e9, 3)
    15.906
    """
    design, z = circuit.design, circuit.design.impedance_ohm
    common = {
        "unit_s": circuit.natural_s,
        "unit_v": design.voltage_v,
        "unit_a": design.voltage_v / z,
        "capacitance_f": circuit.capacitance * circuit.natural_s / z,
        "coupler_s": circuit.kappa / z,
        "delay_s": design.coupling_delay_s,
        "noise_a": design.noise_a_per_sqrt_hz,
    }
    shape = circuit.capacitance.shape
    drive = np.ones((circuit.oscillator.devices, *shape)) if circuit.drive is None else circuit.drive
    family = circuit.oscillator
    if isinstance(family, LC):
        g1 = family.mu * drive[0] / z
        return LCParts(**common, inductance_h=circuit.natural_s * z, conductance_s=g1,
                       cubic_a_per_v3=g1 / (3.0 * design.voltage_v**2))  # fmt: skip
    if isinstance(family, Ring):
        return RingParts(**common, resistance_ohm=z, saturation_a=drive * common["unit_a"],
                         input_v=design.voltage_v / family.gain)  # fmt: skip
    if isinstance(family, Relaxation):
        return _relaxation(circuit, family, common, drive)
    if isinstance(family, StuartLandau):
        return StuartLandauParts(
            **common, gyration_s=1.0 / z, limiting_s=family.mu * drive[0] / z, shear=family.shear
        )
    raise TypeError(f"family {family.name}: no component values are known for it")


def _relaxation(circuit: Circuit, family: Relaxation, common: dict, drive: Array) -> RelaxationParts:
    z, v = circuit.design.impedance_ohm, circuit.design.voltage_v
    return RelaxationParts(
        **common,
        charge_ohm=z,
        discharge_ohm=z / family.discharge,
        hysteresis_v=family.hysteresis * drive[0] * v,
        input_v=v / family.comparator_gain,
        comparator_s=family.comparator_time * circuit.capacitance * circuit.natural_s,
    )
