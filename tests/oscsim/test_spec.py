"""What a spec accepts, refuses, and promises."""

import numpy as np
import pytest
from layers import CHANNELS as D
from layers import COUNT as N
from layers import HEADS as H
from layers import fields

from oscsim import EmpiricalOrder, ExplicitCoupling, FixedOrder, FrequencyCoupling, PhaseLayerSpec
from oscsim.errors import SpecError


def test_equal_content_is_equal_whatever_it_was_made_from():
    spec = PhaseLayerSpec(**fields())
    same = PhaseLayerSpec(**fields(omega=fields()["omega"].tolist(), gain=np.array([1, 2])))
    assert spec == same and hash(spec) == hash(same) and spec.digest == same.digest


def test_minus_zero_is_zero():
    zero = np.zeros((H, N, D))
    assert PhaseLayerSpec(**fields(omega=zero)).digest == PhaseLayerSpec(**fields(omega=-zero)).digest


CHANGES = {
    "omega": np.zeros((H, N, D)),
    "theta": np.zeros((H, N, D)),
    "values": None,
    "coupling": FrequencyCoupling(alpha=[0.5, 1.1]),
    "gain": [1.0, 2.1],
    "order_parameter": FixedOrder(r=[0.5, 0.5]),
    "mask": "causal",
    "padding": np.array([False, True, False]),
    "dynamics": "clamped",
    "phase_0": np.zeros((H, N, D)),
    "duration": 1.0,
    "rate": np.ones((H, N, D)),
    "psi_0": np.zeros((H, N, N)),
    "time_unit_s": 2e-9,
    "carrier_hz": 2e9,
}


def test_every_field_is_listed_here():
    assert set(CHANGES) == set(PhaseLayerSpec.model_fields)


@pytest.mark.parametrize("name", CHANGES)
def test_every_field_changes_the_digest(name):
    spec = PhaseLayerSpec(**fields())
    assert spec.replace(**{name: CHANGES[name]}) != spec


def test_nothing_can_be_changed_in_place():
    spec = PhaseLayerSpec(**fields())
    with pytest.raises(Exception, match="frozen"):
        spec.mask = "causal"
    with pytest.raises(ValueError, match="read-only"):
        spec.omega[0, 0, 0] = 1.0
    with pytest.raises(ValueError, match="cannot set WRITEABLE"):
        spec.omega.setflags(write=True)
    source = np.zeros((H, N, D))
    spec = PhaseLayerSpec(**fields(theta=source))
    source[:] = 7.0
    assert not spec.theta.any()


BAD = {
    "nan": ({"omega": np.full((H, N, D), np.nan)}, r"omega\[0, 0, 0\]: given nan"),
    "inf": ({"theta": np.full((H, N, D), np.inf)}, r"theta\[0, 0, 0\]: given inf"),
    "too large to square": ({"omega": np.full((H, N, D), 1e200)}, "magnitude at most"),
    "phase too far around": ({"theta": np.full((H, N, D), 1e9)}, "magnitude at most 1e"),
    "masked": ({"theta": np.ma.masked_array(np.zeros((H, N, D)))}, "theta: given a masked array"),
    "integer too large": ({"duration": 10**400}, "duration: given an integer too large"),
    "rank": ({"omega": np.zeros((N, D))}, r"omega: expected shape \(H, N, D\), given shape \(3, 4\)"),
    "N": ({"theta": np.zeros((H, N + 1, D))}, r"theta: given shape \(2, 4, 4\), expected \(2, 3, 4\)"),
    "D": ({"rate": np.zeros((H, N, D + 1))}, "rate: given shape"),
    "values": ({"values": np.zeros((H, N + 1, 5))}, "values: given shape"),
    "gain shape": ({"gain": [1.0]}, r"gain: given shape \(1,\), expected \(2,\)"),
    "gain sign": ({"gain": [1.0, -0.5]}, r"gain\[1\]: given -0.5, expected a number >= 0"),
    "no tokens": (
        {"omega": np.zeros((H, 0, D)), "theta": np.zeros((H, 0, D)), "values": None},
        "omega: expected at least one entry",
    ),
    "strings": ({"theta": [["a"]]}, "theta: expected real numbers"),
    "complex": ({"theta": np.zeros((H, N, D), complex)}, "complex128"),
    "ragged": ({"theta": [[[1.0], [1.0, 2.0]]]}, "theta: expected a real array"),
    "mask": ({"mask": "banded"}, "mask: given 'banded'"),
    "dynamics": ({"dynamics": "kuramoto"}, "dynamics: given 'kuramoto'"),
    "unknown": ({"dt": 0.1}, "dt: unknown field; a spec has: omega"),
    "padding type": ({"padding": [0, 1, 0]}, "padding: expected booleans"),
    "padding shape": ({"padding": np.zeros(4, bool)}, "padding: given shape"),
    "all padded": ({"padding": np.ones(3, bool)}, "every token is padding"),
    "duration": ({"duration": -1.0}, "duration: given -1.0"),
    "duration nan": ({"duration": float("nan")}, "duration: given nan"),
    "duration text": ({"duration": "inf"}, "duration: given 'inf', expected a number"),
    "time unit": ({"time_unit_s": 0.0}, "time_unit_s: given 0.0"),
    "carrier": ({"carrier_hz": float("inf")}, "carrier_hz: given inf"),
    "coupling": ({"coupling": 3}, "coupling: given 3"),
    "alpha shape": ({"coupling": FrequencyCoupling(alpha=[1.0])}, "coupling.alpha: given shape"),
    "matrix shape": ({"coupling": ExplicitCoupling(matrix=np.zeros((H, 4, 4)))}, "coupling.matrix: given"),
    "r shape": ({"order_parameter": FixedOrder(r=[0.5])}, "order_parameter.r: given shape"),
    "psi_0": ({"psi_0": np.zeros((H, N, 4))}, "psi_0: given shape"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_names_the_field(name):
    changes, message = BAD[name]
    with pytest.raises(SpecError, match=message):
        PhaseLayerSpec(**fields(**changes))


def test_missing_field_is_named():
    given = fields()
    del given["gain"]
    with pytest.raises(SpecError, match="gain: not given"):
        PhaseLayerSpec(**given)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FrequencyCoupling(alpha=[-0.1]), r"coupling.alpha\[0\]: given -0.1"),
        (lambda: FrequencyCoupling(alpha=0.1), r"coupling.alpha: expected shape \(H,\)"),
        (lambda: ExplicitCoupling(matrix=np.zeros((1, 2, 3))), "coupling.matrix"),
        (lambda: FixedOrder(r=[1.5]), r"order_parameter.r\[0\]: given 1.5, expected a number in \[0, 1\]"),
        (lambda: FixedOrder(r=[-0.5]), "order_parameter.r"),
        (lambda: FixedOrder(r=[float("nan")]), "order_parameter.r"),
    ],
)
def test_bad_parts_name_the_field(make, message):
    with pytest.raises(SpecError, match=message):
        make()


def test_copies_are_validated():
    spec = PhaseLayerSpec(**fields())
    with pytest.raises(SpecError, match="gain"):
        spec.model_copy(update={"gain": [-1.0, 1.0]})
    assert spec.model_copy() == spec


def test_order_parameter_part_is_told_apart():
    spec = PhaseLayerSpec(**fields(order_parameter=EmpiricalOrder()))
    assert spec.replace(order_parameter=FixedOrder(r=[1.0, 1.0])) != spec
    per_row = FixedOrder(r=np.ones((H, N)))
    assert spec.replace(order_parameter=per_row) != spec.replace(order_parameter=FixedOrder(r=[1.0, 1.0]))
