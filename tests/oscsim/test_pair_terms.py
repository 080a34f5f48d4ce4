"""The numbers a spec contains, against the definitions written out in plain loops."""

import cmath
import math

import numpy as np
import pytest
from layers import layer

from oscsim import EmpiricalOrder, FixedOrder, FrequencyCoupling
from oscsim.pair_terms import (
    coupling,
    held_phasor,
    initial_difference,
    locking_strength,
    mismatch,
    network_matrix,
    spec_order_parameter,
    unmasked,
)

SPECS = {
    "full": layer(),
    "causal": layer(mask="causal", seed=1),
    "padded": layer(padding=np.array([True, False, False, True, False, False]), seed=2),
    "causal padded": layer(mask="causal", padding=np.array([False, True, False, False, False, True])),
    "fixed": layer(order_parameter=FixedOrder(r=[0.3, 0.9])),
}


@pytest.mark.parametrize("name", SPECS)
def test_against_the_definitions(name):
    spec = SPECS[name]
    d, r, allowed = mismatch(spec), spec_order_parameter(spec), unmasked(spec)
    j = coupling(spec, d)
    a, phasor, matrix = locking_strength(spec, j), held_phasor(spec, j), network_matrix(spec, j)
    for h in range(spec.n_heads):
        for i in range(spec.n_oscillators):
            drive, sources = [0j] * spec.n_channels, 0
            for k in range(spec.n_oscillators):
                squares = sum((x - y) ** 2 for x, y in zip(spec.omega[h, i], spec.omega[h, k], strict=True))
                assert d[h, i, k] == pytest.approx(math.sqrt(squares), rel=1e-14)
                expected_j = math.exp(-spec.coupling.alpha[h] * squares)
                assert j[h, i, k] == pytest.approx(expected_j, rel=1e-13)
                assert a[h, i, k] == pytest.approx(spec.gain[h] * r[h, i] * expected_j, rel=1e-13)
                may = spec.valid[i] and spec.valid[k] and (spec.mask == "full" or k <= i)
                assert allowed[i, k] == may
                if may:
                    sources += 1
                    for c in range(spec.n_channels):
                        turn = cmath.exp(1j * spec.theta[h, k, c])
                        drive[c] += spec.gain[h] * expected_j * turn
                else:
                    assert matrix[h, i, k] == 0
            assert phasor[h, i] == pytest.approx(drive, rel=1e-12, abs=1e-13)
            for k in np.flatnonzero(allowed[i]):
                assert matrix[h, i, k] == pytest.approx(spec.gain[h] * j[h, i, k] / sources, rel=1e-13)


@pytest.mark.parametrize("name", ["full", "causal", "padded", "causal padded"])
def test_empirical_order_parameter(name):
    spec = SPECS[name]
    r = spec_order_parameter(spec)
    for h in range(spec.n_heads):
        for i in np.flatnonzero(spec.valid):
            seen = [k for k in np.flatnonzero(spec.valid) if spec.mask == "full" or k <= i]
            means = [
                abs(sum(cmath.exp(1j * spec.theta[h, k, c]) for k in seen)) / len(seen)
                for c in range(spec.n_channels)
            ]
            assert r[h, i] == pytest.approx(sum(means) / len(means), rel=1e-13)


def test_fixed_order_parameter_per_row():
    rows = np.random.default_rng(0).uniform(size=(2, 6))
    assert np.array_equal(spec_order_parameter(layer(order_parameter=FixedOrder(r=rows))), rows)


def test_later_tokens_do_not_reach_earlier_rows():
    """Bit for bit: a causal prefix r must not know the future."""
    spec = layer(mask="causal", order_parameter=EmpiricalOrder())
    theta, omega = spec.theta.copy(), spec.omega.copy()
    theta[:, 4:], omega[:, 4:] = 2.0, -3.0
    other = spec.replace(theta=theta, omega=omega)
    for term in (spec_order_parameter, lambda s: locking_strength(s, coupling(s))[:, :, :4]):
        assert np.array_equal(term(spec)[:, :4], term(other)[:, :4])


def test_clusters_and_offsets_do_not_cancel():
    spread = 1e-6 * np.random.default_rng(0).standard_normal((1, 6, 2))
    near = layer(heads=1, omega=spread, gain=[1.0], coupling=FrequencyCoupling(alpha=[1.0]))
    far = near.replace(omega=spread + 2.0**20)
    # the offset itself rounds omega by 2^-33; nothing else may be lost
    assert np.abs(mismatch(near) - mismatch(far)).max() < 4 * 2.0**-33


def test_extreme_numbers_stay_finite():
    spec = layer(heads=1, gain=[1e100], omega=np.full((1, 6, 2), 1e100) * np.arange(6)[None, :, None] / 6,
                 coupling=FrequencyCoupling(alpha=[0.0]))  # fmt: skip
    assert (coupling(spec) == 1).all() and np.isfinite(mismatch(spec)).all()
    tiny = layer(heads=1, gain=[1.0], omega=1e-200 * np.arange(12.0).reshape(1, 6, 2),
                 coupling=FrequencyCoupling(alpha=[1e100]))  # fmt: skip
    assert mismatch(tiny)[0, 0, 1] > 0


def test_initial_difference_default_and_given():
    j = np.array([[[1.0, -0.5], [0.0, 2.0]]])
    spec = layer(heads=1, count=2, gain=[1.0], coupling=FrequencyCoupling(alpha=[1.0]))
    d = np.array([[[0.0, 0.3], [0.3, 0.0]]])
    assert initial_difference(spec, d, j).tolist() == [[[0.0, math.pi], [0.0, 0.0]]]
    given = np.full((1, 2, 2), 0.3)
    assert np.array_equal(initial_difference(spec.replace(psi_0=given), d, j), given)
    idle = initial_difference(spec.replace(psi_0=given, gain=[0.0]), d, j)
    assert idle.tolist() == [[[0.0, 0.3], [0.3, 0.0]]]  # nothing moves a cell without mismatch and drive
