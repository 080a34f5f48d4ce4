"""Copies of noisy LC pairs on Brian2: what their phase differences do, beside what formulas say.

A network of two oscillators per channel is one independent pair per channel, all in one simulation.
"""

from dataclasses import dataclass

import numpy as np

from hw_targets.brian2.circuits.config import CircuitConfig
from hw_targets.brian2.circuits.lowering import CircuitLowering, lower
from hw_targets.brian2.circuits.simulation import Simulation
from hw_targets.brian2.run import numpy_codegen
from oscsim import ExplicitCoupling, FixedOrder, PhaseLayerSpec
from oscsim.phase import wrap
from oscsim.phase_reduction.locking import PairLaw, PairState, locked_phases

CARRIER = 1e9
EPSILON, MU = 0.01, 0.3  # coupling 0.03 of what amplitudes recover with: a phase is all that counts
STRENGTH = EPSILON * 2.0 * np.pi * CARRIER  # a, 1/s
MUTUAL, ONE_WAY = [[0.0, 1.0], [1.0, 0.0]], [[0.0, 2.0], [0.0, 0.0]]  # both: a = 1 per time unit
FIRST, APART = 160, 24  # carrier cycles: 10/a, then one look every 1.5/a


def layer(ratios, copies, coupling, strength=EPSILON):
    """``copies`` pairs for every d/a."""
    half = 0.5 * np.repeat(ratios, copies)
    omega = np.stack([half, -half])[None]
    return PhaseLayerSpec(
        omega=omega, theta=np.zeros_like(omega), coupling=ExplicitCoupling([coupling]), gain=[1.0],
        order_parameter=FixedOrder([1.0]), dynamics="network", carrier_hz=CARRIER,
        time_unit_s=1.0 / (2.0 * np.pi * CARRIER * strength),
    )  # fmt: skip


def diffusion_per_density(lowered: CircuitLowering) -> float:
    """kappa^2 over the square of the current density: ``<Z^2>/(2 C^2 V0^2)``, the phase reduction's."""
    reduction, made = lowered.circuit.reduction, lowered.parts
    response = reduction.cycle.response[:, list(reduction.oscillator.ports)]
    return float(
        np.square(response).sum(axis=1).mean() / (2.0 * np.square(made.capacitance_f.mean() * made.unit_v))
    )


def noisy(spec, diffusion, seed, **design):
    """The layer as a circuit whose oscillators diffuse with this kappa^2 (1/s) when nothing holds them."""
    density = float(np.sqrt(diffusion / diffusion_per_density(lower(spec, CircuitConfig(mu=MU, **design)))))
    return lower(spec, CircuitConfig(mu=MU, **design, noise_a_per_sqrt_hz=density, noise_seed=seed))


def phases(lowered: CircuitLowering, looks, quiet=None):
    """(looks, B, 2) phases; ``quiet``: which oscillator of every pair gets no noise."""
    taken = []
    with numpy_codegen():
        simulation = Simulation(lowered, lowered.classes[0].batches, 10**6)
        if quiet is not None:
            _silence(simulation, quiet)

        def judge(last):
            taken.append(lowered.circuit.reduction.phase(simulation.state()))
            return last

        simulation.run(tuple(looks), judge)
    return np.array(taken)


def _silence(simulation, oscillator):
    """The design has one density for all: what it adds to this oscillator is taken back."""
    kick, port = simulation._noise, simulation._group.variables["v"]

    def kick_the_other():
        before = port.get_value().reshape(simulation._shape)[:, oscillator].copy()
        kick()
        port.get_value().reshape(simulation._shape)[:, oscillator] = before

    simulation._noise = kick_the_other


@dataclass(frozen=True, eq=False)
class Locked:
    """Per d/a: measured variance, rate (1/s), statistical error (relative), slips, pairs times seconds."""

    variance: np.ndarray
    rate: np.ndarray
    error: np.ndarray
    slips: np.ndarray
    pair_seconds: float


def law(lowered: CircuitLowering) -> tuple[PairState, float]:
    """Rest and rate of every pair by the circuit's own phase reduction; seconds per natural unit."""
    circuit = lowered.circuit
    couplers, free = circuit.kappa[circuit.matrix], circuit.detuning
    pair = PairLaw(free[:, 0] - free[:, 1], couplers[:, 0, 1], couplers[:, 1, 0], circuit.coupling)
    return locked_phases(pair, np.zeros(len(free))), circuit.natural_s


def locked(ratios, copies, diffusion, looks=12, coupling=None, quiet=None, seed=3, **design) -> Locked:
    """Pairs of every d/a, held for a while and then looked at again and again."""
    lowered = noisy(layer(ratios, copies, coupling or MUTUAL), diffusion, seed, **design)
    rest, natural_s = law(lowered)
    seen = phases(lowered, [FIRST + APART * k for k in range(looks)], quiet)
    away = wrap(seen[..., 0] - seen[..., 1] - rest.psi)
    turns = np.abs(np.rint((np.cumsum(wrap(np.diff(away, axis=0)), axis=0)[-1] + away[0]) / (2.0 * np.pi)))
    rate = rest.rate.reshape(len(ratios), copies).mean(axis=1) / natural_s
    kept = np.exp(-2.0 * rate * APART / CARRIER)  # of the deviation's square, from one look to the next
    independent = copies * looks * (1.0 - kept) / (1.0 + kept)
    # about the mean of all: where the pairs rest is another matter, and right to first order in epsilon only
    variance = away.reshape(looks, len(ratios), copies).var(axis=(0, 2))
    return Locked(
        variance, rate, np.sqrt(2.0 / independent), turns.reshape(len(ratios), copies).sum(axis=1),
        copies * (looks - 1) * APART / CARRIER,
    )  # fmt: skip
