"""How phases are read, and what is concluded from them; checked on signals with known answers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from oscsim import FixedOrder, FrequencyCoupling, PhaseLayerSpec
from oscsim.circuits import CircuitDesign, lower_circuit
from oscsim.circuits.averages import beat_length, beat_means, rest_distance
from oscsim.circuits.components import component_table
from oscsim.circuits.parts import parts
from oscsim.circuits.recorder import PhaseRecorder
from oscsim.phase import wrap


def circuit(epsilon=0.03, **options):
    spec = PhaseLayerSpec(
        omega=[[[0.0], [0.8]]], theta=[[[0.0], [0.0]]], gain=[1.0], coupling=FrequencyCoupling([0.0]),
        order_parameter=FixedOrder(r=[1.0]), carrier_hz=1e9, time_unit_s=1.0 / (2 * np.pi * 1e9 * epsilon),
    )  # fmt: skip
    return lower_circuit(spec, CircuitDesign(**options))


def waveform(made, cycles, per_cycle, last):
    """States (samples, dimension, B, n) of the last cycles of an accurate run."""
    period, start = made.reduction.cycle.period, made.start
    times = period * (cycles - last + np.arange(last * per_cycle + 1) / per_cycle)
    run = solve_ivp(
        lambda _, x: made.flow(x.reshape(start.shape)).ravel(), (0.0, times[-1]), start.ravel(),
        method="DOP853", rtol=1e-9, atol=1e-10, t_eval=times,
    )  # fmt: skip
    return times / period, run.y.T.reshape(-1, *start.shape)


@pytest.mark.parametrize("mu", [0.1, 0.3])
def test_three_readouts_of_a_tank_agree(mu):
    """Limit-cycle phase, angle of the state and fundamental of the voltage: psi to 1e-4 for mu <= 0.3.

    Zero crossings of one voltage are moved by its third harmonic, which coupling and detuning turn: 0.2 mu
    epsilon apart, and in agreement only as epsilon goes to 0.
    """
    made = circuit(mu=mu)
    cycles, states = waveform(made, cycles=130, per_cycle=64, last=12)
    cell = int(made.array.cell[0, 0, 1])
    recorder = PhaseRecorder(made.reduction, made.array.start, 64, True)
    for time, state in zip(cycles[:-1], states[:-1], strict=True):
        recorder.take(state, time, 2 * np.pi * time)
    recorder.close()
    table = wrap(recorder.record().phase[0, cell, 0] - recorder.record().phase[0, cell, 1])
    v = states[:, 0, cell]
    turn = 2 * np.pi * cycles
    window = np.hanning(len(turn))
    fundamental = np.angle((window[:, None] * v * np.exp(-1j * turn)[:, None]).sum(axis=0))
    crossings = [_rises(turn, v[:, k]) for k in (0, 1)]
    count = min(map(len, crossings))
    lag = np.mean(crossings[1][-count:] - crossings[0][-count:])
    crossing = lag * 2 * np.pi / np.mean(np.diff(crossings[0]))  # the pair does not run at the carrier
    assert wrap(fundamental[0] - fundamental[1]) == pytest.approx(table, abs=1e-4)
    state = np.unwrap(np.angle(v + 1j * states[:, 1, cell]), axis=0) - turn[:, None]
    angle = (window[:, None] * state).sum(axis=0) / window.sum()
    assert wrap(angle[0] - angle[1]) == pytest.approx(table, abs=1e-4)
    assert 0.0 < abs(wrap(crossing) - table) < 0.2 * mu * 0.03


def _rises(turn, v):
    """Phases at which v rises through zero, by a cubic through four samples."""
    found = []
    for k in np.flatnonzero((v[1:-2] < 0) & (v[2:-1] >= 0)) + 1:
        cubic = np.polynomial.Polynomial.fit(v[k - 1 : k + 3], turn[k - 1 : k + 3], 3)
        found.append(float(cubic(0.0)))
    return np.array(found)


@settings(max_examples=20, deadline=None)
@given(st.floats(0.02, 0.4), st.floats(-3.0, 3.0), st.floats(1e-4, 1e-2))
def test_rest_is_recognised_and_drift_is_not(rate, psi, slope):
    time = np.arange(int(14 / rate))
    settled = psi + np.exp(-rate * time)
    assert rest_distance(settled[:, None], 1e-3)[0] <= 1e-3
    early = settled[: int(2 / rate)]
    assert rest_distance(early[:, None], 1e-3)[0] > 1e-3
    assert rest_distance((psi + slope * time)[:, None], 1e-4)[0] == np.inf


@settings(max_examples=20, deadline=None)
@given(st.floats(1.02, 8.0), st.floats(0.0, 6.0))
def test_mean_over_beats(ratio, phase):
    """psi' = ratio - sin psi: the mean of exp(i psi) is i (ratio - sqrt(ratio^2 - 1)) [ADLER]."""
    beat = 2 * np.pi / np.sqrt(ratio**2 - 1.0)
    run = solve_ivp(
        lambda _, y: ratio - np.sin(y), (0.0, 3.2 * beat), [phase], rtol=1e-10, atol=1e-10,
        t_eval=np.linspace(0.0, 3.2 * beat, 3 * 48),
    )  # fmt: skip
    psi = run.y.T
    mean, change = beat_means(psi, np.exp(1j * psi))
    assert mean[0] == pytest.approx(1j * (ratio - np.sqrt(ratio**2 - 1)), abs=2e-3)
    assert change[0] < 1e-2
    assert beat_length(psi)[0] == pytest.approx(beat / (3.2 * beat / (3 * 48 - 1)), rel=2e-3)


def test_too_few_beats_are_no_average():
    psi = np.linspace(0.0, 2 * np.pi * 1.5, 64)[:, None]
    assert beat_means(psi, np.exp(1j * psi))[1][0] == np.inf
    assert np.isfinite(beat_means(psi, np.exp(1j * psi), noisy=True)[1][0])


@pytest.mark.parametrize("family", ["lc", "ring", "relaxation", "stuart_landau"])
def test_components_reproduce_the_equations(family):
    """Kirchhoff in SI units from the parts equals the dimensionless definition."""
    made = circuit(family=family)
    part, x = parts(made), made.start * 1.1 + 0.05
    slope = made.flow(x)[0] * part.unit_v / part.unit_s
    voltage = x * part.unit_v
    conductance = part.coupler_s[made.matrix]
    sent, load = voltage[0], made.oscillator.reciprocal * np.abs(conductance).sum(axis=2) * voltage[0]
    if family == "lc":
        own = part.conductance_s * voltage[0] - part.cubic_a_per_v3 * voltage[0] ** 3 - x[1] * part.unit_a
    elif family == "ring":
        sent = -part.unit_v * np.tanh(voltage[-1] / part.input_v)
        own = -voltage[0] / part.resistance_ohm + part.saturation_a[0] * sent / part.unit_v
    elif family == "relaxation":
        charge, discharge = 1 / part.charge_ohm, 1 / part.discharge_ohm
        leak = 0.5 * (charge + discharge) + 0.5 * (charge - discharge) * x[1]
        own = leak * (0.5 * x[1] * part.unit_v - voltage[0])
    else:
        size = 1.0 - np.square(np.hypot(*voltage) / part.unit_v)
        own = -part.gyration_s * voltage[1] + 0.5 * part.limiting_s * size * voltage[0]
    coupled = np.einsum("bij,bj->bi", conductance, sent) - load
    assert np.allclose((own + coupled) / part.capacitance_f, slope, rtol=1e-9)
    assert all(row.low <= row.high and row.count > 0 for row in component_table(made))
