"""The polynomial that stands for S: accuracy of every degree, and a choice that sees one row only."""

import pytest
import torch

from hw_targets.triton.ops.native_law import DEGREES, EXPONENTIAL, coefficients, law

# worst relative error of Q over z in [0, 1]
ERROR = {4: 4e-7, 6: 9e-7, 9: 6e-9}


@pytest.mark.parametrize(("degree", "largest"), DEGREES)
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_polynomial_equals_the_exponential_form(degree: int, largest: float, share: float) -> None:
    w = torch.tensor([share * largest], dtype=torch.float64)
    z = torch.linspace(1e-6, 1.0, 2001, dtype=torch.float64)
    exact = (torch.exp(-w) * (torch.expm1(w * z) / z + 1.0)).sqrt()
    q = coefficients(w, degree)[0]
    value = sum(q[k] * z**k for k in range(degree + 1))
    assert (value / exact - 1).abs().max() < ERROR[degree]
    assert value[-1] == pytest.approx(1.0, abs=1e-13)


def test_the_choice_of_a_row_does_not_depend_on_the_others() -> None:
    w = torch.tensor([0.2, 1.0, 1.001, 3.0, 4.9, 5.0, 5.1, 80.0], dtype=torch.float64)
    coupled = torch.ones(8, dtype=torch.bool)
    together = law(w, coupled)
    assert together.kind.tolist() == [4, 4, 6, 6, 9, 9, EXPONENTIAL, EXPONENTIAL]
    for n in range(8):
        alone = law(w[n : n + 1], coupled[:1])
        assert torch.equal(alone.kind[0], together.kind[n])
        assert torch.equal(alone.polynomial[0], together.polynomial[n])
