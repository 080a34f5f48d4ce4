"""What integrates an ODE does so once for each accuracy, and seldom for large networks."""

import numpy as np
import pytest

from oscsim import FixedOrder, FrequencyCoupling, PhaseLayerSpec
from oscsim.energy import OscillatorHardware, load_constants
from oscsim.energy import network_settling as module
from oscsim.energy.report import energy_report

BOOK = load_constants()


def network(heads=1, channels=1, at=0.3):
    omega = np.tile(np.array([0.0, at])[None, :, None], (heads, 1, channels))
    return PhaseLayerSpec(
        omega=omega, theta=np.zeros(omega.shape), values=np.ones((heads, 2, 2)), dynamics="network",
        coupling=FrequencyCoupling(alpha=[0.0] * heads), gain=[1.0] * heads, time_unit_s=2e-8,
        order_parameter=FixedOrder(r=[1.0] * heads),
    )  # fmt: skip


@pytest.fixture
def runs(monkeypatch):
    """Accuracies that an ODE was integrated for."""
    seen, inner = [], module._HeadRun

    def counted(spec, states, off, started):
        seen.append(off)
        return inner(spec, states, off, started)

    monkeypatch.setattr(module, "_HeadRun", counted)
    return seen


def test_a_network_is_integrated_once_for_each_accuracy(runs):
    found = energy_report(network(at=0.31), OscillatorHardware(readout_bits=9), {}, BOOK)
    assert found.rows[0].remedies and found.curve_note == ""
    assert len(runs) == len(set(runs))
    energy_report(network(at=0.31), OscillatorHardware(readout_bits=9, carrier_hz=2e9), {}, BOOK)
    assert len(runs) == len(set(runs)), "another clock is no other ODE"


def test_a_large_network_has_few_points_and_says_so():
    found = energy_report(network(3, 171), OscillatorHardware(accuracy=0.02), {}, BOOK)
    assert [point.accuracy for point in found.curve] == pytest.approx([0.2, 0.02])
    note = "2 points only: each integrates the ODE of 1026 oscillators"
    assert found.curve_note == found.to_json()["energy_against_accuracy_note"] == note
    short = energy_report(network(3, 171), OscillatorHardware(accuracy=0.5), {}, BOOK)
    assert [point.accuracy for point in short.curve] == [0.5] and short.curve_note.startswith("1 point only")
