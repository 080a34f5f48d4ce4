"""Noise, delay, read-out resolution: what they do is what theory says they do."""

import numpy as np
import pytest

from hw_targets.brian2.circuits.config import CircuitConfig
from hw_targets.brian2.circuits.lowering import lower
from hw_targets.brian2.circuits.simulation import Simulation
from hw_targets.brian2.run import numpy_codegen
from hw_targets.registry import get_target
from oscsim import ExplicitCoupling, FixedOrder, FrequencyCoupling, PhaseLayerSpec, SyncStatus
from oscsim.phase import wrap
from oscsim.phase_reduction.locking import PairLaw, locked_phases
from oscsim.target import ConvergenceWarning

TARGET = get_target("circuit")
CARRIER = 1e9
FREE = {
    "lc": {"mu": 0.3},
    "ring": {"family": "ring"},
    "stuart_landau": {"family": "stuart_landau", "shear": 0.5},
}


@pytest.mark.parametrize("family", FREE)
def test_phase_diffusion(family):
    """Var = 2 D t, 2 D = <Z^2> a^2/(2 C^2 V0^2): one-sided density a, all ports; 4.4 sigma of 5 %."""
    count, looks = 3000, (6, 16, 26, 36, 46, 56)
    spec = PhaseLayerSpec(
        omega=np.zeros((1, 2, count)), theta=np.zeros((1, 2, count)), coupling=FrequencyCoupling([0.0]),
        gain=[0.0], dynamics="network", carrier_hz=CARRIER, time_unit_s=1e-8,
    )  # fmt: skip
    quiet = lower(spec, CircuitConfig(**FREE[family]))
    reduction, made = quiet.circuit.reduction, quiet.parts
    response = reduction.cycle.response[:, list(reduction.oscillator.ports)]
    per_second = np.square(response).sum(axis=1).mean() / (
        2.0 * np.square(made.capacitance_f.mean() * made.unit_v)
    )
    density = float(np.sqrt(0.02 / (10.0 / CARRIER) / per_second))  # 0.02 rad^2 in ten cycles
    # stuart_landau: steps of a whole cycle would leave the looks between cycles
    steps = {"steps_per_cycle": 4} if family == "stuart_landau" else {}
    lowering = lower(spec, CircuitConfig(**FREE[family], **steps, noise_a_per_sqrt_hz=density, noise_seed=5))
    phases, blocks = [], round(1.0 / lowering.ticks.cycles)
    with numpy_codegen():
        simulation = Simulation(lowering, lowering.classes[0].batches, 10**6)

        def judge(last):
            phases.append(reduction.phase(simulation.state()).ravel())
            return last

        simulation.run(tuple(look * blocks for look in looks), judge)
    steps_taken = wrap(np.diff(np.array(phases), axis=0))
    # 2 count oscillators, five independent stretches of ten cycles: 0.8 % per sigma
    assert steps_taken.size == 2 * count * 5
    assert np.var(steps_taken) / 0.02 == pytest.approx(1.0, abs=0.05)


def pairs(ratios, **fields):
    omega = np.zeros((len(ratios), 2, 1))
    omega[:, 1, 0] = ratios
    defaults = {
        "omega": omega,
        "theta": np.zeros_like(omega),
        "gain": np.ones(len(ratios)),
        "coupling": ExplicitCoupling(np.ones((len(ratios), 2, 2))),
        "order_parameter": FixedOrder(r=np.ones(len(ratios))),
        "time_unit_s": 1.0 / (2.0 * np.pi * CARRIER * 0.03),
        "carrier_hz": CARRIER,
    }
    return PhaseLayerSpec(**{**defaults, **fields})


def run(spec, **options):
    return TARGET.lower(spec, TARGET.config(**options)).run()


def test_a_little_noise_keeps_decisions_and_seeds():
    spec, noise = pairs([0.3, 0.7, 1.5]), 1e-9
    first = run(spec, mu=0.3, noise_a_per_sqrt_hz=noise, noise_seed=1)
    again = run(spec, mu=0.3, noise_a_per_sqrt_hz=noise, noise_seed=1)
    other = run(spec, mu=0.3, noise_a_per_sqrt_hz=noise, noise_seed=2)
    quiet = run(spec, mu=0.3)
    assert np.array_equal(first.sync, again.sync) and not np.array_equal(first.sync, other.sync)
    assert first.provenance.seeds == {"noise_seed": 1} and quiet.provenance.seeds == {}
    assert first.status is SyncStatus.SETTLED
    assert np.array_equal(first.locked, quiet.locked)
    assert np.allclose(first.sync, quiet.sync, atol=0.05)
    assert any("good to" in note for note in first.provenance.notes)


def test_strong_noise_makes_pairs_slip():
    spec = pairs([0.9])
    quiet = run(spec, mu=0.3)
    with pytest.warns(ConvergenceWarning, match="slip"):  # 600 cycles are too few for a mean that good
        loud = run(spec, mu=0.3, noise_a_per_sqrt_hz=2e-8, noise_seed=2, max_cycles=600.0)
    assert loud.status is SyncStatus.NOT_CONVERGED
    assert quiet.locked[0, 0, 1] and not loud.locked[0, 0, 1]
    assert 0.0 < loud.sync[0, 0, 1] < quiet.sync[0, 0, 1] - 0.05
    assert any("slip" in note and " 0 whole turns" not in note for note in loud.provenance.notes)


def test_delay_is_a_lag_of_the_coupling_function():
    """A delayed pair obeys its own coupling function, late by 2 atan(w tau/2)."""
    spec = pairs([0.4, 0.6], time_unit_s=1.0 / (2.0 * np.pi * CARRIER * 0.01))
    config = TARGET.config(mu=0.1, coupling_delay_s=0.12 / CARRIER)
    executable = TARGET.lower(spec, config)
    circuit, result = executable._lowered.circuit, executable.run()
    couplers, free = circuit.kappa[circuit.matrix], circuit.detuning
    law = PairLaw(free[:, 0] - free[:, 1], couplers[:, 0, 1], couplers[:, 1, 0], circuit.coupling)
    state = locked_phases(law, np.zeros(len(free)))
    cosine = state.mean_cosine[circuit.array.cell[:, 0, 1]]
    late = 2.0 * np.arctan(0.5 * 2.0 * np.pi * 0.12)
    assert circuit.coupling.lag == pytest.approx(circuit.reduction.coupling.lag - late, abs=1e-2)
    assert np.abs(result.sync[:, 0, 1] - np.abs(cosine)).max() < 0.05
    assert np.abs(result.sync[:, 0, 1] - np.sqrt(1 - np.square([0.4, 0.6]))).max() > 0.15
    assert result.accuracy.epsilon == 1.0  # an imperfect chip promises nothing


@pytest.mark.parametrize("bits", [3, 6])
def test_readout_bits(bits):
    spec = pairs([0.5])
    result, exact = run(spec, mu=0.1, readout_bits=bits), run(spec, mu=0.1)
    level = 2.0 * np.pi / 2**bits
    phase = np.arccos(result.sync[0, 0, 1])
    assert abs(phase / level - round(phase / level)) < 1e-9
    assert 0.0 < abs(result.sync[0, 0, 1] - exact.sync[0, 0, 1]) < level
    assert np.array_equal(result.locked, exact.locked)
